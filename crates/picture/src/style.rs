//! Fixing what a style leaves open.

use meniscus_core::{Frame, Style};

use crate::Bounds;
use crate::coloring::automatic_range;

/// The same style with everything automatic fixed to what suits all of these frames, so that colours and ground stand
/// still in a film. What was given stays.
#[must_use]
pub fn settled_style<'a>(style: &Style, frames: impl IntoIterator<Item = &'a Frame>) -> Style {
    let (mut range, mut lowest, mut clarity) = (None, f32::INFINITY, style.clarity);
    for frame in frames {
        clarity = clarity.or_else(|| Some(0.5 * Bounds::of(frame).radius()).filter(|c| *c > 0.0));
        range = widest(range, automatic_range(frame, style.color));
        lowest = lowest.min(Bounds::of(frame).min.y);
    }
    let lowest = lowest.is_finite().then_some(lowest);
    Style { range: style.range.or(range), ground_height: style.ground_height.or(lowest), clarity, ..style.clone() }
}

/// Size of the picture compared with one 720 pixels high: lines grow with it.
pub(crate) fn line_scale(style: &Style) -> f32 {
    (style.height.min(style.width / 16 * 9).max(1) as f32 / 720.0).max(0.25)
}

/// The same for labels, which shrink less, to stay legible.
pub(crate) fn label_scale(style: &Style) -> f32 {
    let scale = line_scale(style);
    if scale < 1.0 { libm::powf(scale, 0.6) } else { scale }
}

fn widest(a: Option<[f32; 2]>, b: Option<[f32; 2]>) -> Option<[f32; 2]> {
    match (a, b) {
        (Some([a0, a1]), Some([b0, b1])) => Some([a0.min(b0), a1.max(b1)]),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{Coloring, Theme};

    #[test]
    fn tables_reject_unknown_keys_and_speak_kebab_case() {
        assert_eq!(toml::from_str::<Style>("").unwrap(), Style::default());
        let style: Style = toml::from_str("color = \"water\"\ntheme = \"dark\"\nrange = [0.0, 2.0]").unwrap();
        assert_eq!((style.color, style.theme, style.range), (Coloring::Water, Theme::Dark, Some([0.0, 2.0])));
        assert!(toml::from_str::<Style>("colour = \"speed\"").is_err());
        assert!(toml::from_str::<Style>("color = \"Speed\"").is_err());
    }

    #[test]
    fn every_field_is_documented_in_the_schema() {
        for schema in [schemars::schema_for!(Style), schemars::schema_for!(meniscus_core::Camera)] {
            let schema = serde_json::to_value(schema).unwrap();
            let fields = schema["properties"].as_object().unwrap();
            for (name, field) in fields {
                let text = field["description"].as_str().unwrap_or_default();
                assert!(text.contains("default"), "{name}: {text}");
            }
        }
    }

    #[test]
    fn styles_survive_a_round_trip() {
        let style = Style { range: Some([0.0, 3.0]), ground_height: Some(-1.0), ..Style::default() };
        assert_eq!(toml::from_str::<Style>(&toml::to_string(&style).unwrap()).unwrap(), style);
    }
}
