//! The surface of every liquid in a frame, from its particles.
//!
//! A function of a [`Frame`] alone, never of a solver: old records can be surfaced again with other settings. Lengths
//! inside this room are in particle spacings.
//!
//! | symbol | meaning |
//! |---|---|
//! | W | 315/(64π R³) (1 − q²)³, q = r/R, R = 2 |
//! | n_i | Σ_j W(x_i − x_j): how full the neighbourhood of a particle is; 1 inside, 0.82 in the top layer |
//! | V_i | max(1, 0.7/n_i): the volume that a particle stands for; more than its own where it has few neighbours |
//! | c(x) | Σ_i V_i W(x − x_i), the colour field; the surface is where it is [`LEVEL`] |
//! | f(x) | (LEVEL − c)/0.66, about the distance to a flat surface, negative inside |
//!
//! The pipeline is that of [`Extractor::extract`]: spray is set apart, particles are mirrored at walls and continued
//! into bodies, neighbours are counted, the field is summed in the blocks where it can pass the level, cut by walls and
//! by heavier liquids, meshed by marching cubes, smoothed, and given back the volume that smoothing took.
//!
//! Every sum runs over particles in one order, so that the bits do not depend on the number of threads.
//!
//! ```
//! use glam::Vec3;
//! use meniscus_core::{BodyInfo, BodyKind, Frame};
//! use meniscus_surface::{Extractor, Settings};
//!
//! let mut frame = Frame::default();
//! frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.2, 0.5, 0.9] });
//! frame.particles.spacing = 0.1;
//! for i in 0..1000u32 {
//!     let at = [i % 10, i / 10 % 10, i / 100].map(|k| 0.1 * k as f32);
//!     frame.particles.positions.push(Vec3::from(at));
//!     frame.particles.velocities.push(Vec3::X);
//!     frame.particles.bodies.push(0);
//! }
//! let drops = Extractor::new(Settings::default()).extract(&frame);
//! assert_eq!(drops.liquids.len(), 1);
//! assert!((drops.liquids[0].volume() - 1.0).abs() < 0.05, "{} m³", drops.liquids[0].volume());
//! ```

mod blocks;
mod carry;
mod cloud;
mod foam;
mod ghosts;
mod lanes;
mod mesh;
mod shapes;
mod spray;
#[cfg(test)]
mod tests;

use blocks::{Blocks, Field};
use carry::Carrier;
use cloud::Cloud;
use ghosts::{Plane, Solids, Vessel};
use glam::Vec3;
use meniscus_core::{BodyKind, Frame, Surface};
use mesh::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use foam::{Limits, Survey, Whitewater};
pub use spray::Spray;

/// R: reach of the kernel \[spacings\].
pub(crate) const REACH: f32 = 2.0;

/// The colour at a flat surface, half a spacing above the topmost layer of a lattice: computed, see the tests.
pub const LEVEL: f32 = 0.498;

/// The same of ellipsoids, which are narrower across the surface: measured in a tank at rest with cubes up to 0.5, a guard.
const LEVEL_OF_ELLIPSOIDS: f32 = 0.44;

/// How fast the colour falls across a flat surface \[1/spacing\].
pub(crate) const SLOPE: f32 = 0.66;

/// Farther away from the origin than this many spacings nothing is meshed.
pub(crate) const FARTHEST: f32 = 65536.0;

/// How surfaces are made: the table `[surface]` of a scene.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Edge of the cubes that the surface is cut into, over the particle spacing, dimensionless, 0.2 to 1; default 0.6.
    pub cube: f64,
    /// Shape of the particles, default "isotropic".
    pub kernel: Kernel,
    /// Steps of smoothing, at most 100; default 4.
    pub smoothing: u32,
    /// In a run, a surface is written after every so many frames; default 0: none.
    pub every: u32,
    /// Whether pictures and exports of a record have foam, bubbles and fine drops, which are made of its frames; default false.
    pub foam: bool,
    /// How much of them, dimensionless, at most 100; default 1.
    pub foam_amount: f64,
    /// The longest that they last \[s\], default 3; the shortest is two fifths of it.
    pub foam_life: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cube: 0.6,
            kernel: Kernel::Isotropic,
            smoothing: 4,
            every: 0,
            foam: false,
            foam_amount: 1.0,
            foam_life: 3.0,
        }
    }
}

/// Shapes of particles in the field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// Balls: quick.
    #[default]
    Isotropic,
    /// Ellipsoids that lie along the surface \[YT13\]: smoother, for pictures that may take longer.
    Anisotropic,
}

impl Kernel {
    /// The colour at a flat surface.
    fn level(self) -> f32 {
        match self {
            Self::Isotropic => LEVEL,
            Self::Anisotropic => LEVEL_OF_ELLIPSOIDS,
        }
    }
}

/// What has been found in a frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surfaces {
    /// One closed surface for each liquid that has one, in the order of the bodies.
    pub liquids: Vec<LiquidSurface>,
    /// Particles that belong to no surface, as indices into those of the frame, ascending.
    pub spray: Vec<u32>,
}

/// The surface of a liquid.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiquidSurface {
    /// Vertices, velocities and triangles.
    pub surface: Surface,
    /// Unit normals of the vertices, out of the liquid; where it meets a wall, those of its free side.
    pub normals: Vec<Vec3>,
    /// Which vertices lie on a wall.
    pub on_wall: Vec<bool>,
}

impl LiquidSurface {
    /// Volume inside \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        mesh::volume(&self.surface.positions, &self.surface.triangles)
    }
}

/// Makes surfaces, one frame after the other.
#[derive(Debug, Default)]
pub struct Extractor {
    settings: Settings,
    cloud: Cloud,
}

impl Extractor {
    /// An extractor with settings that are kept within their limits.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let cube = if settings.cube.is_finite() { settings.cube.clamp(0.2, 1.0) } else { 0.6 };
        let settings = Settings { cube, smoothing: settings.smoothing.min(100), ..settings };
        Self { settings, cloud: Cloud::default() }
    }

    /// The surfaces of all liquids of particles in a frame.
    pub fn extract(&mut self, frame: &Frame) -> Surfaces {
        let spacing = frame.particles.spacing;
        let good = spacing > 0.0 && spacing.is_finite();
        if !good || frame.particles.positions.is_empty() {
            return Surfaces::default();
        }
        let cube = self.settings.cube as f32;
        let cloud = &mut self.cloud;
        let alone = spray::alone(frame, &mut cloud.grid);
        let planes = Plane::all(frame, spacing);
        let vessels = Vessel::all(frame, spacing);
        cloud.take(frame, &alone);
        cloud.mirror(&planes, &vessels); // walls: the field goes on behind them
        cloud.run_into(&Solids::all(frame, spacing)); // bodies: overlapped, so that no film of air is left
        cloud.count_neighbours(); // n_i, V_i
        cloud.shape(self.settings.kernel);
        let blocks = Blocks::around(cloud, &planes, cube, self.settings.kernel.level());
        let carrier = Carrier::new(cloud, frame);
        let mut heavier: Option<Field> = None;
        let mut liquids = Vec::new();
        for liquid in 0..cloud.liquids.len() {
            let field = blocks.sum(cloud, liquid, heavier.as_ref());
            let mut mesh = Mesh::cut(&blocks, cloud, &field, heavier.as_ref(), (&planes, &vessels));
            mesh.smooth(&carrier, (&planes, &vessels), self.settings.smoothing);
            if !mesh.triangles.is_empty() {
                liquids.push(mesh.finish(cloud.liquids[liquid], spacing, &carrier));
            }
            heavier = Some(field);
        }
        liquids.sort_by_key(|found| found.surface.body);
        let spray = (0u32..).zip(&alone).filter(|(_, alone)| **alone).map(|(i, _)| i).collect();
        Surfaces { liquids, spray }
    }
}

/// Whether a body of a frame is a liquid.
pub(crate) fn is_liquid(frame: &Frame, body: u16) -> bool {
    frame.bodies.get(usize::from(body)).is_some_and(|b| b.kind == BodyKind::Liquid)
}
