//! How a picture looks, as plain data: a scene holds it, the renderer reads it.

use glam::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A perspective camera with the y axis upright: placed by hand, or placed so that it sees all of a box.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Camera {
    /// Position of the eye \[m\]; default: in the direction of `azimuth` and `elevation`, far enough to see `subject`.
    pub eye: Option<[f32; 3]>,
    /// Point that the eye looks at \[m\]; default: so that `subject` is in the middle of the picture.
    pub target: Option<[f32; 3]>,
    /// Vertical field of view \[degrees\], default 28.
    pub field_of_view: f32,
    /// Where the eye stands when it is not given: angle about the y axis, from +z towards +x \[degrees\], default 28.
    pub azimuth: f32,
    /// Where the eye stands when it is not given: angle above the horizon \[degrees\], default 18.
    pub elevation: f32,
    /// Two corners of the box that fills the picture \[m\]; default: everything in the first frame.
    pub subject: Option<[[f32; 3]; 2]>,
    /// Free border round `subject` as a part of the picture, dimensionless, default 0.08.
    pub margin: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self {
            eye: None,
            target: None,
            field_of_view: 28.0,
            azimuth: 28.0,
            elevation: 18.0,
            subject: None,
            margin: 0.08,
        }
    }
}

impl Camera {
    /// A camera at `eye` that looks at `target` \[m\] with a vertical field of view \[degrees\].
    #[must_use]
    pub fn looking(eye: Vec3, target: Vec3, field_of_view: f32) -> Self {
        Self { eye: Some(eye.into()), target: Some(target.into()), field_of_view, ..Self::default() }
    }
}

/// Size, colours, light and labels of a picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Style {
    /// Width \[px\], default 1280.
    pub width: u32,
    /// Height \[px\], default 720.
    pub height: u32,
    /// What the colour of liquids tells, default `water`. With `water` and `body` a liquid is shown by its surface, with the
    /// others by its particles.
    pub color: Coloring,
    /// Values at the two ends of the colours, in the unit of the quantity \[m/s, kg/m³ or Pa\];
    /// default: from the frame, rounded; for speed in a run, from the scene.
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
    /// How surfaces of liquids are drawn, default `deep`.
    pub liquids: Liquids,
    /// The way through a liquid after which its colour is that of its body \[m\]; default: half the radius of the first frame.
    pub clarity: Option<f32>,
    /// How solids and rigid bodies are drawn, default `opaque`.
    pub solids: Solids,
    /// A point and a normal \[m\]: what lies on the normal's side of the plane through the point is cut away, to look inside; default:
    /// nothing.
    pub cut: Option<[[f32; 3]; 2]>,
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
    /// How much work a picture is worth, default `draft`.
    pub quality: Quality,
    /// Paths of light per pixel of a `final` picture, 1 to 4096, default 32.
    pub samples: u32,
    /// Time for which the shutter of a `final` picture is open \[s\], default: half of the time between frames.
    pub shutter: Option<f32>,
}

impl Style {
    /// Whether liquids are shown by their surfaces: the colours tell no quantity that only particles have.
    #[must_use]
    pub fn shows_surfaces(&self) -> bool {
        matches!(self.color, Coloring::Water | Coloring::Body)
    }
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 1280,
            height: 720,
            color: Coloring::Water,
            range: None,
            particle_scale: 1.0,
            theme: Theme::Light,
            ground: true,
            ground_height: None,
            pattern: Pattern::Grid,
            walls: Walls::Auto,
            liquids: Liquids::Deep,
            clarity: None,
            solids: Solids::Opaque,
            cut: None,
            line_width: 1.6,
            shadows: true,
            occlusion: 0.85,
            light_azimuth: -50.0,
            light_elevation: 52.0,
            legend: true,
            clock: false,
            supersample: 1,
            quality: Quality::Draft,
            samples: 32,
            shutter: None,
        }
    }
}

/// What the colour of particles and liquid surfaces tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Coloring {
    /// Speed: slow is red, fast is yellow \[MSTHG04\].
    Speed,
    /// Density, from blue over white to red.
    Density,
    /// Pressure, from blue over white to red.
    Pressure,
    /// The colour of the body in the scene file.
    Body,
    /// One colour for all.
    Plain,
    /// Like water: blue in its depth, bright at grazing angles; drops are white where they are fast.
    #[default]
    Water,
}

/// Light or dark surroundings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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

/// How surfaces of liquids are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Liquids {
    /// As liquids: they mirror, bend what is behind them, and tint it the more the deeper they are; where colours tell a
    /// quantity, as `opaque`.
    #[default]
    Deep,
    /// Nothing is seen through them.
    Opaque,
    /// Clear: bubbles and bodies inside are seen.
    Clear,
}

/// How solids and rigid bodies are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Solids {
    /// Nothing is seen through them.
    #[default]
    Opaque,
    /// As clear glass of their colour: what flows inside is seen.
    Glass,
}

/// How much work a picture is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quality {
    /// Drawn in a fraction of a second: for every frame of a run.
    #[default]
    Draft,
    /// Paths of light are followed: refraction, reflection, caustics, soft shadows, motion blur.
    Final,
}

/// What a body is made of, in `final` pictures. Colours come from `color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Material {
    /// A clear liquid: mirrors, bends, tints what is behind it by its depth.
    Water,
    /// A liquid that hides what is behind it after a short way, lit from within.
    Blood,
    /// A thick clear liquid of strong colour.
    Honey,
    /// Coloured all through, with a gloss.
    Rubber,
    /// Soft, wet, dull below its gloss.
    Tissue,
    /// A thin clear sheet.
    Glass,
    /// Glazed, with joints.
    Tile,
    /// With rings, varnished.
    Wood,
    /// Rough and speckled.
    Stone,
}

/// How a body looks in `final` pictures.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    /// What it is made of; `None`: water if it is a liquid, rubber otherwise.
    pub material: Option<Material>,
    /// Way through a liquid after which 1/e is left of the colour that it takes most of, over the size of the scene,
    /// dimensionless; `None`: as its material has it.
    pub clarity: Option<f32>,
}
