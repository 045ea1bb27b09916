//! Bodies from particles on a cubic lattice: springs whose sum is an elastic solid.
//!
//! Springs run to the six neighbours at a spacing s (structural) and to the twelve at √2 s (shear), all with the same k. Such
//! a lattice is isotropic: λ = μ = k/s, so Poisson's ratio is ¼ and Young's modulus 5k/2s. Hence k = ⅖ E s.

use crate::definitions::{Connection, Deformable, Particle, Rigid};
use crate::error::BodyError;
use glam::DVec3;
use meniscus_geometry::{NeighbourGrid, Periodic};

/// What a body from a lattice is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Matter {
    /// Distance between particles \[m\].
    pub spacing: f64,
    /// Density \[kg/m³\].
    pub density: f64,
}

/// How a deformable body resists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elastic {
    /// Young's modulus E \[Pa\].
    pub young: f64,
    /// Damping of each spring over its critical one, dimensionless.
    pub damping: f64,
}

impl Matter {
    /// A particle of it at rest: a cube of edge s.
    #[must_use]
    pub fn particle(&self, position: DVec3) -> Particle {
        let s = self.spacing;
        Particle { position, velocity: DVec3::ZERO, mass: self.density * s * s * s, radius: 0.5 * s }
    }

    /// A rigid body of particles at positions \[m\].
    ///
    /// # Errors
    /// When they are no body.
    pub fn rigid(&self, name: &str, positions: &[DVec3]) -> Result<Rigid, BodyError> {
        Rigid::new(name, positions.iter().map(|&p| self.particle(p)).collect())
    }

    /// A deformable body of particles at positions \[m\] of a cubic lattice, which may be turned.
    ///
    /// # Errors
    /// When there are no positions.
    pub fn deformable(&self, name: &str, positions: &[DVec3], elastic: Elastic) -> Result<Deformable, BodyError> {
        let particles: Vec<Particle> = positions.iter().map(|&p| self.particle(p)).collect();
        crate::definitions::check(&particles, true)?;
        let stiffness = 0.4 * elastic.young * self.spacing;
        let reduced_mass = 0.5 * particles[0].mass;
        let damping = 2.0 * elastic.damping * (stiffness * reduced_mass).sqrt();
        // Half way between the shear springs and what lies beyond them, √3 s.
        let reach = 1.57 * self.spacing;
        let connections = neighbours(positions, reach)
            .map(|(ends, length)| Connection { ends, stiffness, length, damping })
            .collect();
        Ok(Deformable { name: name.into(), particles, connections })
    }
}

/// Pairs of positions nearer than a reach \[m\] and their distances, in rising order.
fn neighbours(positions: &[DVec3], reach: f64) -> impl Iterator<Item = ([u32; 2], f64)> {
    // Near the origin, where single precision is fine.
    let origin = positions[0];
    let near: Vec<_> = positions.iter().map(|&p| (p - origin).as_vec3()).collect();
    let mut grid = NeighbourGrid::default();
    grid.sort(&near, 1.01 * reach as f32, Periodic::default());
    let mut pairs = Vec::new();
    for index in 0..positions.len() {
        let i = grid.order()[index];
        grid.for_each_range_around(grid.key(index), |range, _| {
            for &j in &grid.order()[range] {
                let distance = positions[i as usize].distance(positions[j as usize]);
                if i < j && distance < reach {
                    pairs.push(([i, j], distance));
                }
            }
        });
    }
    pairs.sort_unstable_by_key(|pair| pair.0);
    pairs.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;
    use meniscus_geometry::{Aabb, Shape, fill};

    fn block(n: usize) -> Deformable {
        let s = 0.1;
        let positions = fill(&Shape::Box(Aabb::new(DVec3::ZERO, DVec3::splat(n as f64 * s))), s, &[]).unwrap();
        let matter = Matter { spacing: s, density: 500.0 };
        matter.deformable("block", &positions, Elastic { young: 1e5, damping: 0.1 }).unwrap()
    }

    #[test]
    fn a_particle_inside_has_eighteen_springs_and_the_body_its_mass() {
        let body = block(5);
        let middle = 62;
        assert_eq!(body.connections.iter().filter(|c| c.ends.contains(&middle)).count(), 18);
        assert!((body.particles.iter().map(|e| e.mass).sum::<f64>() - 500.0 * 0.125).abs() < 1e-9);
    }

    /// Energy per volume of the springs at an inner particle under a small strain against λ/2 tr² + μ ε:ε with λ = μ = ⅖ E.
    #[test]
    fn the_lattice_is_an_isotropic_solid() {
        let body = block(5);
        for (strain, law) in [
            (DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0)), 0.5 + 1.0),
            (DMat3::from_diagonal(DVec3::splat(1.0)), 4.5 + 3.0),
            (DMat3::from_cols(DVec3::Y, DVec3::X, DVec3::ZERO), 2.0),
        ] {
            let size = 1e-4;
            let stretched = |x: DVec3| x + strain * x * size;
            let at = |i: u32| stretched(body.particles[i as usize].position);
            let own = body.connections.iter().filter(|c| c.ends.contains(&62));
            let energy: f64 = own.map(|c| 0.5 * c.energy(at(c.ends[0]).distance(at(c.ends[1])))).sum();
            let expected = law * 0.4e5 * size * size * 1e-3;
            assert!((energy / expected - 1.0).abs() < 1e-3, "{energy} {expected}");
        }
    }

    #[test]
    fn a_rigid_box_has_the_inertia_of_a_box() {
        let positions: Vec<DVec3> = block(4).particles.iter().map(|e| e.position).collect();
        let body = Matter { spacing: 0.1, density: 500.0 }.rigid("box", &positions).unwrap();
        assert!((body.mass - 32.0).abs() < 1e-12);
        let expected = DMat3::from_diagonal(DVec3::splat(32.0 * 0.16 / 6.0));
        assert!(body.inertia.abs_diff_eq(expected, 1e-12), "{}", body.inertia);
        assert!(body.motion.center.distance(DVec3::splat(0.2)) < 1e-12);
    }

    #[test]
    fn a_line_of_points_is_no_rigid_body() {
        let line = [DVec3::ZERO, DVec3::X].map(|position| Particle {
            position,
            velocity: DVec3::ZERO,
            mass: 1.0,
            radius: 0.0,
        });
        assert_eq!(Rigid::new("line", line.to_vec()), Err(BodyError::NoExtent));
        assert_eq!(Rigid::new("nothing", vec![]), Err(BodyError::Empty));
    }
}
