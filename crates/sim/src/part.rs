//! A part: one solver in a world, with its state and what the scene says about it.
//!
//! Save, load, digest, frames, totals, probes, live parameters and hands are loops of the [`crate::World`] over its parts; what is
//! special about a method is the order in which these take their steps ([`crate::methods`]).

use crate::hands::{Spring, Tied};
use glam::{DVec3, Vec3};
use meniscus_core::{Digest, Frame, Tets, Wrench};
use meniscus_geometry::TriangleMesh;
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Pick, Poke, Probe};
use serde::de::DeserializeOwned;

/// One solver in a world.
pub(crate) trait Part: Send {
    /// Adds the whole state to bytes.
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error>;

    /// Takes over a saved state; what follows it in the bytes is left.
    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error>;

    /// Adds the state to a digest, in id order.
    fn digest(&self, digest: Digest) -> Digest;

    /// Adds bodies, particles and surfaces to a frame.
    fn show(&self, frame: &mut Frame);

    /// The stage of a step in which it is moved.
    fn moved_in(&self) -> &'static str;

    /// Adds its sums, under gravity \[m/s²\].
    fn add_totals(&self, gravity: DVec3, totals: &mut Totals);

    /// Its columns of the probe file.
    fn columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Their values now.
    fn measure(&self, _: &mut Vec<f64>) {}

    /// Reads a probe, if it is one that this part can read.
    fn read(&self, _: &Probe, _gravity: DVec3, _values: &mut Vec<f64>) -> bool {
        false
    }

    /// Adds what it does to each wall to their forces and torques.
    fn add_wall_forces(&self, _: &mut [Wrench]) {}

    /// Changes a live parameter, if it is one of its own; `value` has one element for a number, three for a vector.
    fn set(&mut self, _: &LiveKey, _value: &[f64]) {}

    /// Is pushed, if it can be.
    fn poke(&mut self, _: &Poke) {}

    /// How far the nearest point is that a pick finds on a body of this name, or any \[m\].
    fn pick(&self, _name: Option<&str>, _: &Pick) -> Option<f64> {
        None
    }

    /// Ties a spring to the point that is picked; where that is \[m\].
    fn tie(&mut self, _id: u64, _name: Option<&str>, _: &Pick, _: &Spring) -> Option<DVec3> {
        None
    }

    /// Moves the far end of a spring \[m\]; whether there is one of that number.
    fn drag(&mut self, _id: u64, _target: DVec3) -> bool {
        false
    }

    /// Changes what a spring is like; whether there is one of that number.
    fn stiffen(&mut self, _id: u64, _: &Spring) -> bool {
        false
    }

    /// Takes a spring away, if there is one of that number.
    fn let_go(&mut self, _id: u64) {}

    /// The springs that are tied to it.
    fn tied(&self) -> Vec<Tied<'_>> {
        Vec::new()
    }

    /// Energy of the matter that has come in since this was last asked, under gravity \[m/s²\], and the work of pushing it in \[J\].
    fn entered(&mut self, _gravity: DVec3) -> [f64; 2] {
        [0.0; 2]
    }

    /// Surfaces that liquid meets, by the names of their bodies; none for one that is not closed.
    fn wet_surfaces(&self) -> Vec<(&str, Option<TriangleMesh>)> {
        Vec::new()
    }

    /// The tetrahedra of soft bodies.
    fn tets(&self) -> Vec<Tets> {
        Vec::new()
    }

    /// Points on surfaces through which liquid and solids feel each other \[m\].
    fn gauss_points(&self) -> Vec<Vec3> {
        Vec::new()
    }

    /// How far from the surfaces of solids its liquid comes to rest \[m\], if it meets any.
    fn rest_distance(&self) -> Option<f64> {
        None
    }

    /// Fields on a grid.
    fn fields(&self) -> Option<Fields> {
        None
    }
}

/// Takes the next value from saved bytes.
pub(crate) fn take<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, postcard::Error> {
    let (value, rest) = postcard::take_from_bytes(bytes)?;
    *bytes = rest;
    Ok(value)
}

/// An error unless a saved state fits.
pub(crate) fn fits(fits: bool) -> Result<(), postcard::Error> {
    if fits { Ok(()) } else { Err(postcard::Error::DeserializeBadEncoding) }
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
    /// Energy of deformed solids and of where they press on each other \[J\].
    pub elastic_energy: f64,
    /// The part of it that is in springs by which hands pull \[J\].
    pub spring_energy: f64,
    /// Energy of liquid that gives way to pressure, p²/2K per volume \[J\].
    pub compression_energy: f64,
    /// Energy of the surface between the fluids of a grid \[J\]; that of particles is not known.
    pub surface_energy: f64,
    /// Mass of all that is free to move \[kg\].
    pub mass: f64,
    /// Liquid volume over what it would be at rest, minus one, dimensionless: negative when compressed.
    pub volume_change: f64,
    /// Largest speed \[m/s\].
    pub max_speed: f64,
    /// Momentum \[kg·m/s\].
    pub momentum: DVec3,
}

impl Totals {
    /// Energy of motion, of heights, of deformation and of compression \[J\], that of hands' springs excepted.
    #[must_use]
    pub fn energy(&self) -> f64 {
        let stored = self.elastic_energy - self.spring_energy + self.compression_energy;
        self.kinetic_energy + self.potential_energy + stored
    }
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
