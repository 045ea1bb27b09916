//! Lights and surroundings of the two themes.

use glam::{Vec2, Vec3};

use crate::camera::View;
use crate::color::{Light, linear_of_bytes, tone};
use crate::drawing::{Hit, Material};
use meniscus_core::{Style, Theme};

/// Contrast of lines with the ground, as a ratio of luminances, dimensionless.
const CONTRAST: f32 = 4.0;

/// Lights in view space, and colours (linear).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Studio {
    /// Unit direction to the key light (world).
    pub(crate) to_light_world: Vec3,
    to_light: Vec3,
    up: Vec3,
    /// Key light, dimensionless: what a white surface facing it sends back.
    key: Light,
    /// Light from above and from below.
    sky: Light,
    bounce: Light,
    /// Backdrop at the top and at the bottom of the picture.
    top: Light,
    bottom: Light,
    /// Ground in full light, in shadow, and its lines.
    ground: Light,
    ground_shadow: Light,
    ground_line: Light,
    /// Ground in full light, tone-mapped.
    pub(crate) plain_ground: Light,
    /// Lines that would not stand out in their own colour.
    line: Light,
    /// Text.
    pub(crate) ink: Light,
    /// What text is laid on where it crosses the scene.
    pub(crate) paper: Light,
    /// What glass adds.
    pub(crate) glass: Light,
}

impl Studio {
    /// The studio of a style, its key light placed relative to the camera.
    pub(crate) fn new(style: &Style, view: &View) -> Self {
        let to_light_world = key_direction(style, view);
        let base = match style.theme {
            Theme::Light => light(),
            Theme::Dark => dark(),
        };
        let (to_light, up) = (view.turn(to_light_world), view.turn(Vec3::Y));
        Self { to_light_world, to_light, up, plain_ground: tone(base.ground), ..base }
    }

    /// The backdrop at a height in the picture, 0 (top) to 1 (bottom).
    #[inline]
    pub(crate) fn backdrop(&self, height: f32) -> Light {
        let t = height * height * (3.0 - 2.0 * height);
        self.top + (self.bottom - self.top) * t
    }

    /// A colour for lines that stands out from the ground: the given one, moved as far as needed.
    pub(crate) fn visible(&self, color: Light) -> Light {
        const LUMINANCE: Light = Light::new(0.2126, 0.7152, 0.0722);
        let of = |light: Light| light.dot(LUMINANCE) + 0.05;
        let (around, line) = (of(self.ground), of(self.line));
        let contrast = |light: f32| light.max(around) / light.min(around);
        let same_side = (of(color) > around) == (line > around);
        let missing = if same_side { (CONTRAST - contrast(of(color))) / (CONTRAST - 1.0) } else { 1.0 };
        color + (self.line - color) * missing.clamp(0.0, 1.0)
    }

    /// Light sent to the eye from a ground point: `open` part of the sky, `lit` part of the key light, amount of `pattern`.
    #[inline]
    pub(crate) fn ground(&self, open: f32, lit: f32, pattern: f32) -> Light {
        let base = self.ground + (self.ground_line - self.ground) * pattern;
        base * (self.ground_shadow + (Light::ONE - self.ground_shadow) * lit) * open
    }

    /// Whether the key light can reach the front of a surface: when not, its shadows do not matter.
    #[inline]
    pub(crate) fn sees_key(&self, hit: &Hit) -> bool {
        hit.material == Material::Water || hit.normal.dot(self.to_light) > 0.0
    }

    /// Light sent to the eye from a body: `open` part of the sky, `lit` part of the key light.
    #[inline]
    pub(crate) fn body(&self, hit: &Hit, open: f32, lit: f32) -> Light {
        let to_eye = -hit.point / hit.point.length_squared().sqrt().max(1e-30);
        let facing = hit.normal.dot(to_eye).clamp(0.0, 1.0);
        let cosine = hit.normal.dot(self.to_light);
        let key = cosine.max(0.0) * lit;
        let ambient = self.hemisphere(hit.normal);
        // Light trapped in a crease is coloured by its walls: open / (1 − a (1 − open)), with a below the albedo to
        // leave creases some depth.
        let trapped = open / (Light::ONE - hit.albedo * (0.55 * (1.0 - open)));
        let shine = self.shine(hit.normal, to_eye, if cosine > 0.0 { lit } else { 0.0 });
        match hit.material {
            Material::Satin => {
                let diffuse = hit.albedo * (self.key * key + ambient * trapped);
                let rim = fifth(1.0 - facing) * 0.22 * open;
                diffuse + self.key * (shine.x * 0.16) + ambient * rim
            }
            Material::Water => {
                // Light that entered comes out from all around: wrap it, and let it glow a little where it is thin.
                let wrapped = ((cosine + 0.45) / 1.45).max(0.0) * (0.35 + 0.65 * lit);
                let inside = hit.albedo * (self.key * wrapped * 0.85 + ambient * trapped * 1.1);
                let mirror = 0.03 + 0.75 * fifth(1.0 - facing);
                let reflected = self.hemisphere(2.0 * facing * hit.normal - to_eye) * open * 1.3;
                inside * (1.0 - mirror) + reflected * mirror + self.key * (shine.y * 0.7)
            }
        }
    }

    /// Light from all around that meets a surface with this normal.
    #[inline]
    fn hemisphere(&self, normal: Vec3) -> Light {
        let height = 0.5 + 0.5 * normal.dot(self.up);
        self.bounce + (self.sky - self.bounce) * height
    }

    /// The key light's wide and narrow highlights.
    #[inline]
    fn shine(&self, normal: Vec3, to_eye: Vec3, lit: f32) -> Vec2 {
        let half = self.to_light + to_eye;
        let cosine = normal.dot(half).max(0.0) / half.length_squared().sqrt().max(1e-30);
        let c4 = (cosine * cosine) * (cosine * cosine);
        let c16 = (c4 * c4) * (c4 * c4);
        let c32 = c16 * c16;
        Vec2::new(c32, c32 * c32 * c32) * lit
    }
}

#[inline]
fn fifth(x: f32) -> f32 {
    let x2 = x * x;
    x2 * x2 * x
}

/// Unit direction to the key light (world).
pub(crate) fn key_direction(style: &Style, view: &View) -> Vec3 {
    let finite = |v: f32, default: f32| if v.is_finite() { v } else { default };
    let azimuth = finite(style.light_azimuth, 0.0).to_radians();
    let elevation = finite(style.light_elevation, 90.0).clamp(5.0, 90.0).to_radians();
    let (sin_a, cos_a) = libm::sincosf(azimuth);
    let (sin_e, cos_e) = libm::sincosf(elevation);
    // `right` is level, so this is the level direction from the scene to the eye.
    let back = view.right.cross(Vec3::Y);
    (back * cos_a + view.right * sin_a) * cos_e + Vec3::Y * sin_e
}

fn light() -> Studio {
    Studio {
        to_light_world: Vec3::Y,
        to_light: Vec3::Y,
        up: Vec3::Y,
        key: Light::new(1.14, 1.08, 1.0),
        sky: Light::new(0.48, 0.51, 0.56),
        bounce: Light::new(0.34, 0.29, 0.24),
        top: linear_of_bytes([214, 222, 231]),
        bottom: linear_of_bytes([240, 242, 244]),
        ground: linear_of_bytes([238, 240, 242]),
        ground_shadow: Light::new(0.40, 0.43, 0.48),
        ground_line: linear_of_bytes([196, 203, 211]),
        plain_ground: Light::ONE,
        line: linear_of_bytes([58, 66, 78]),
        ink: linear_of_bytes([44, 52, 62]),
        paper: linear_of_bytes([244, 246, 248]),
        glass: linear_of_bytes([196, 216, 232]),
    }
}

fn dark() -> Studio {
    Studio {
        to_light_world: Vec3::Y,
        to_light: Vec3::Y,
        up: Vec3::Y,
        key: Light::new(1.12, 1.05, 0.97),
        sky: Light::new(0.34, 0.39, 0.47),
        bounce: Light::new(0.13, 0.13, 0.14),
        top: linear_of_bytes([25, 29, 36]),
        bottom: linear_of_bytes([44, 49, 58]),
        ground: linear_of_bytes([51, 57, 66]),
        ground_shadow: Light::new(0.30, 0.31, 0.34),
        ground_line: linear_of_bytes([73, 81, 93]),
        plain_ground: Light::ONE,
        line: linear_of_bytes([158, 168, 180]),
        ink: linear_of_bytes([216, 222, 230]),
        paper: linear_of_bytes([20, 23, 29]),
        glass: linear_of_bytes([120, 150, 180]),
    }
}
