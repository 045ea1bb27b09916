//! How a picture looks.

use meniscus_core::Frame;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Bounds;
use crate::coloring::automatic_range;

/// Size, colours, light and labels of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Style {
    /// Width \[px\], default 1280.
    pub width: u32,
    /// Height \[px\], default 720.
    pub height: u32,
    /// What the colour of particles and liquid surfaces tells, default `speed`.
    pub color: Coloring,
    /// Values at the two ends of the colours, in the unit of the quantity \[m/s, kg/m³ or Pa\];
    /// default: from the frame, rounded. Give it, or use [`Style::settled`], to keep colours still in a film.
    pub range: Option<[f32; 2]>,
    /// Drawn diameter of a particle over the particle spacing, dimensionless, default 1.
    pub particle_scale: f32,
    /// Light or dark surroundings, default `light`.
    pub theme: Theme,
    /// Whether there is a ground, default true.
    pub ground: bool,
    /// Height of the ground \[m\]; default: just below the lowest thing in the frame.
    pub ground_height: Option<f32>,
    /// What is drawn on the ground, default `grid`.
    pub pattern: Pattern,
    /// How triangle surfaces of walls are drawn, default `auto`.
    pub walls: Walls,
    /// Width of outlines \[px\] in a picture 720 pixels high (it grows with the picture), default 1.6.
    pub line_width: f32,
    /// Whether the key light and the sky cast shadows, default true.
    pub shadows: bool,
    /// Strength of the darkening of creases, 0 (off) to 1, dimensionless, default 0.85.
    pub occlusion: f32,
    /// Direction of the key light about the y axis, seen from the camera: 0 behind it, positive from its right
    /// \[degrees\], default -50.
    pub light_azimuth: f32,
    /// Height of the key light above the horizon \[degrees\], 5 to 90, default 52.
    pub light_elevation: f32,
    /// Whether colour bar, unit and grid size are written into the picture, default true.
    pub legend: bool,
    /// Whether the simulated time is written into the picture, default false.
    pub clock: bool,
    /// Pixels shaded per pixel of the picture and axis, 1 to 4, dimensionless, default 1. Outlines always have four
    /// samples per shaded pixel.
    pub supersample: u32,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            color: Coloring::Speed,
            range: None,
            particle_scale: 1.0,
            theme: Theme::Light,
            ground: true,
            ground_height: None,
            pattern: Pattern::Grid,
            walls: Walls::Auto,
            line_width: 1.6,
            shadows: true,
            occlusion: 0.85,
            light_azimuth: -50.0,
            light_elevation: 52.0,
            legend: true,
            clock: false,
            supersample: 1,
        }
    }
}

impl Style {
    /// The same style with everything automatic fixed to what suits all of these frames, so that colours and ground
    /// stand still in a film. What was given stays.
    #[must_use]
    pub fn settled<'a>(&self, frames: impl IntoIterator<Item = &'a Frame>) -> Self {
        let (mut range, mut lowest) = (None, f32::INFINITY);
        for frame in frames {
            range = widest(range, automatic_range(frame, self.color));
            lowest = lowest.min(Bounds::of(frame).min.y);
        }
        let lowest = lowest.is_finite().then_some(lowest);
        Self { range: self.range.or(range), ground_height: self.ground_height.or(lowest), ..self.clone() }
    }

    /// Size of the picture compared with one 720 pixels high: lines grow with it.
    pub(crate) fn scale(&self) -> f32 {
        (self.height.min(self.width / 16 * 9).max(1) as f32 / 720.0).max(0.25)
    }

    /// The same for labels, which shrink less, to stay legible.
    pub(crate) fn label_scale(&self) -> f32 {
        let scale = self.scale();
        if scale < 1.0 { libm::powf(scale, 0.6) } else { scale }
    }
}

fn widest(a: Option<[f32; 2]>, b: Option<[f32; 2]>) -> Option<[f32; 2]> {
    match (a, b) {
        (Some([a0, a1]), Some([b0, b1])) => Some([a0.min(b0), a1.max(b1)]),
        (a, b) => a.or(b),
    }
}

/// What the colour of particles and liquid surfaces tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Coloring {
    /// Speed: slow is red, fast is yellow \[MSTHG04\].
    #[default]
    Speed,
    /// Density, from blue over white to red.
    Density,
    /// Pressure, from blue over white to red.
    Pressure,
    /// The colour of the body in the scene file.
    Body,
    /// One colour for all.
    Plain,
    /// Like water: deep blue, brighter at grazing angles, white where it is fast.
    Water,
}

/// Light or dark surroundings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Theme {
    /// A white studio.
    #[default]
    Light,
    /// A dark one.
    Dark,
}

/// What is drawn on the ground.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pattern {
    /// Nothing.
    Plain,
    /// Thin lines, one, two or five times a power of ten metres apart.
    #[default]
    Grid,
    /// Fields of the same size in two shades.
    Checker,
}

/// How triangle surfaces of walls are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Walls {
    /// As glass when they enclose the particles or are turned inside out, as solids otherwise.
    #[default]
    Auto,
    /// As solids.
    Solid,
    /// As clear glass.
    Glass,
    /// Not at all.
    Hidden,
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for schema in [schemars::schema_for!(Style), schemars::schema_for!(crate::Camera)] {
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
