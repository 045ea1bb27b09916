//! Pressure and traction on the surface.

use crate::body::Body;
use crate::state::Mesh;
use crate::supports::NoSuch;
use crate::surface::{Face, face_nodes};
use glam::DVec3;
use meniscus_geometry::quadrature::seven_points;

impl Body {
    /// Adds a force \[N\] to those from outside, at a point of a triangle of the [surface](Self::surface): each corner takes its
    /// barycentric share, so that force and torque are kept. What a coupling does with its samples.
    ///
    /// # Errors
    /// When there is no such triangle.
    pub fn add_force_at(&mut self, triangle: usize, barycentric: [f64; 3], force: DVec3) -> Result<(), NoSuch> {
        let nodes = self.surface.triangles().get(triangle).ok_or(NoSuch("triangle"))?;
        for (&node, share) in nodes.iter().zip(barycentric) {
            self.external_force[node as usize] += share * force;
        }
        Ok(())
    }

    /// Positions \[m\] and velocities \[m/s\] of the corners of a triangle of the surface.
    ///
    /// # Errors
    /// When there is no such triangle.
    pub fn corners_of(&self, triangle: usize) -> Result<([DVec3; 3], [DVec3; 3]), NoSuch> {
        let nodes = *self.surface.triangles().get(triangle).ok_or(NoSuch("triangle"))?;
        let of = |values: &[DVec3]| nodes.map(|node| values[node as usize]);
        Ok((of(self.positions()), of(self.velocities())))
    }

    /// Adds a pressure \[Pa\] to the forces from outside: against the present normal of the present area. `pressure` is asked
    /// for the middle of each face \[m\] as it is now.
    pub fn add_pressure(&mut self, pressure: impl Fn(DVec3) -> f64) {
        let position = &self.state.motion.position;
        add_face_loads(&self.state.mesh, self.surface.faces(), position, &mut self.external_force, |middle| {
            let p = pressure(middle);
            move |area: DVec3| -p * area
        });
    }

    /// Adds a traction \[Pa\], force per area at rest, to the forces from outside. `traction` is asked for the middle of each
    /// face at rest \[m\].
    pub fn add_traction(&mut self, traction: impl Fn(DVec3) -> DVec3) {
        let (mesh, force) = (&self.state.mesh, &mut self.external_force);
        add_face_loads(mesh, self.surface.faces(), &mesh.rest_position, force, |middle| {
            let t = traction(middle);
            move |area: DVec3| t * area.length()
        });
    }
}

/// Adds the loads of faces to their nodes. `load` gives, for the middle of a face, a function from an area vector \[m²\] to
/// a force \[N\].
fn add_face_loads<L: Fn(DVec3) -> DVec3>(
    mesh: &Mesh,
    faces: &[Face],
    position: &[DVec3],
    force: &mut [DVec3],
    load: impl Fn(DVec3) -> L,
) {
    for face in faces {
        let nodes = mesh.element(face.element as usize);
        let (corners, middles) = face_nodes(mesh.order, face.side);
        let corners = corners.map(|k| nodes[k] as usize);
        let corner = corners.map(|node| position[node]);
        let load = load((corner[0] + corner[1] + corner[2]) / 3.0);
        match middles {
            None => {
                let area = 0.5 * (corner[1] - corner[0]).cross(corner[2] - corner[0]);
                corners.iter().for_each(|&node| force[node] += load(area) / 3.0);
            }
            Some(middles) => {
                let [a, b, c] = corners;
                let [d, e, f] = middles.map(|k| nodes[k] as usize);
                add_curved_face(position, [a, b, c, d, e, f], load, force);
            }
        }
    }
}

/// The load of a curved face of six nodes by quadrature: exact for the parabolic face under constant pressure, which is a
/// polynomial of degree four.
fn add_curved_face(position: &[DVec3], nodes: [usize; 6], load: impl Fn(DVec3) -> DVec3, force: &mut [DVec3]) {
    let x = nodes.map(|node| position[node]);
    for sample in seven_points() {
        let [a, b, c] = sample.lambda.to_array();
        let values =
            [a * (2.0 * a - 1.0), b * (2.0 * b - 1.0), c * (2.0 * c - 1.0), 4.0 * a * b, 4.0 * b * c, 4.0 * c * a];
        // Derivatives along the second and third coordinate, the first falling.
        let along = |d: [f64; 6]| x.iter().zip(d).fold(DVec3::ZERO, |sum, (x, d)| sum + *x * d);
        let u = along([1.0 - 4.0 * a, 4.0 * b - 1.0, 0.0, 4.0 * (a - b), 4.0 * c, -4.0 * c]);
        let v = along([1.0 - 4.0 * a, 0.0, 4.0 * c - 1.0, -4.0 * b, 4.0 * b, 4.0 * (a - c)]);
        let sample_force = load(0.5 * sample.weight * u.cross(v));
        nodes.iter().zip(values).for_each(|(&node, value)| force[node] += sample_force * value);
    }
}
