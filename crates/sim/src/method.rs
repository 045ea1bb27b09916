//! What the time loop asks of a method.

use crate::hands::Hand;
use glam::{DVec3, Vec3};
use meniscus_core::{Digest, Frame, StepError, StepReport, Tets};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Grab, Move, Poke, Release};

/// A method with its state: one file of this crate each.
pub(crate) trait Method: Send {
    /// One step from `time` to `time + dt`: the algorithm box of the method.
    fn step(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError>;

    /// Undoes the last step, which failed.
    fn roll_back(&mut self);

    /// Largest stable step from here \[s\].
    fn stable_step(&self) -> f64;

    /// Changes a live parameter; `value` has one element for a number, three for a vector.
    fn set(&mut self, key: &LiveKey, value: &[f64]);

    /// Pushes the liquid.
    fn poke(&mut self, poke: &Poke);

    /// Takes hold of a solid; methods without solids have none.
    fn grab(&mut self, _: &Grab) {}

    /// Moves what is held.
    fn move_hand(&mut self, _: &Move) {}

    /// Lets go.
    fn release(&mut self, _: &Release) {}

    /// Hands that hold a solid.
    fn hands(&self) -> Vec<Hand> {
        Vec::new()
    }

    /// The whole state as bytes.
    fn save(&self) -> Result<Vec<u8>, postcard::Error>;

    /// Takes over a saved state.
    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error>;

    /// Adds the state to a digest, in id order.
    fn digest(&self, digest: Digest) -> Digest;

    /// Adds bodies, particles and surfaces to a frame.
    fn show(&self, frame: &mut Frame);

    /// The tetrahedra of soft bodies, for methods that have them.
    fn tets(&self) -> Vec<Tets> {
        Vec::new()
    }

    /// Points on surfaces through which liquid and solids feel each other \[m\], for methods that have them.
    fn gauss_points(&self) -> Vec<Vec3> {
        Vec::new()
    }

    /// Fields on a grid, for methods that have one.
    fn fields(&self) -> Option<Fields> {
        None
    }

    /// How far from the surfaces of solids liquid comes to rest \[m\], for methods in which it meets them through points.
    fn rest_distance(&self) -> Option<f64> {
        None
    }

    /// Sums over the whole state.
    fn totals(&self) -> Totals;

    /// The method's own columns of the probe file.
    fn columns(&self) -> Vec<String>;

    /// Their values now.
    fn measure(&self, values: &mut Vec<f64>);
}

/// Sums over a world.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Liquid particles.
    pub particles: u64,
    /// Particles of bodies.
    pub body_particles: u64,
    /// Tetrahedra.
    pub tets: u64,
    /// Grid cells.
    pub cells: u64,
    /// Kinetic energy \[J\].
    pub kinetic_energy: f64,
    /// Energy in the field of gravity \[J\].
    pub potential_energy: f64,
    /// Energy of deformed solids \[J\].
    pub elastic_energy: f64,
    /// Liquid volume over what it would be at rest, minus one, dimensionless: negative when compressed.
    pub volume_change: f64,
    /// Largest speed \[m/s\].
    pub max_speed: f64,
    /// Momentum \[kg·m/s\].
    pub momentum: DVec3,
}

/// Fields on a regular grid, one value per cell, x running fastest.
#[derive(Debug, Clone, PartialEq)]
pub struct Fields {
    /// Number of cells along x, y, z.
    pub cells: [u32; 3],
    /// The lowest corner \[m\].
    pub origin: [f64; 3],
    /// Edge of a cell \[m\].
    pub spacing: f64,
    /// Names with units, and values.
    pub scalars: Vec<(&'static str, Vec<f32>)>,
    /// Names with units, and values.
    pub vectors: Vec<(&'static str, Vec<Vec3>)>,
}
