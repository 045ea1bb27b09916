//! Particles do not pass the surface of a body.

use super::{Bodies, Body, WetTriangle};
use glam::DVec3;
use rayon::prelude::*;

/// A particle that was stopped by a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    pub(crate) particle: u32,
    /// Where it is put \[m\].
    pub(crate) position: DVec3,
    pub(crate) normal: DVec3,
    /// Velocity of the surface there \[m/s\].
    pub(crate) velocity: DVec3,
    pub(crate) nodes: [u32; 3],
    pub(crate) lambda: DVec3,
}

impl Bodies {
    /// Finds every particle that a triangle passed in the step of length `dt`, from outside to inside only: particles went
    /// their `way` while nodes went from where they were to where `ends` appends those of a body that answers \[m\]. They are put `gap`
    /// before it. A body that has broken may have more nodes now: its new ones come last.
    pub(crate) fn find_passed(
        &mut self,
        way: impl Fn(usize) -> [DVec3; 2] + Sync,
        ends: impl Fn(usize, &mut Vec<DVec3>),
        [gap, dt]: [f64; 2],
    ) {
        self.ends.clear();
        for (body, &last) in self.first[1..].iter().enumerate() {
            match body.checked_sub(self.prescribed.len()) {
                Some(given) => ends(given, &mut self.ends),
                None => {
                    let Body { positions, velocities, .. } = &self.bodies[body];
                    self.ends.extend(positions.iter().zip(velocities).map(|(x, v)| *x + *v * dt));
                }
            }
            self.ends.truncate(last as usize);
        }
        let mut stopped = std::mem::take(&mut self.stopped);
        stopped.resize_with(self.touched.len(), Vec::new);
        stopped.iter_mut().for_each(Vec::clear);
        if self.ends.len() == self.velocity.len() {
            let sweep = |wet: &WetTriangle| Sweep::new(wet.face.own, wet.nodes.map(|node| self.ends[node as usize]));
            self.sweeps.clear();
            self.sweeps.extend(self.wet.iter().map(sweep));
            stopped.par_iter_mut().zip(&self.touched).for_each(|(stopped, block)| {
                for group in block.chunk_by(|a, b| a[0] == b[0]) {
                    let particle = group[0][0];
                    let way = way(particle as usize);
                    let hits =
                        group.iter().filter_map(|&[_, triangle, _]| self.pass(triangle, particle, way, [gap, dt]));
                    stopped.extend(hits.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, first)| first));
                }
            });
        }
        self.stopped = stopped;
    }

    /// What [`Bodies::find_passed`] has found.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &Passed> {
        self.stopped.iter().flatten()
    }

    /// Body and own number of a node.
    pub(crate) fn own_number(&self, node: u32) -> (usize, usize) {
        let body = self.body_of(node);
        (body, (node - self.first[body]) as usize)
    }

    fn pass(&self, triangle: u32, particle: u32, way: [DVec3; 2], [gap, dt]: [f64; 2]) -> Option<(f64, Passed)> {
        let sweep = &self.sweeps[triangle as usize];
        let (time, lambda) = sweep.crossing(way)?;
        let at = |corners: [DVec3; 3]| lambda.x * corners[0] + lambda.y * corners[1] + lambda.z * corners[2];
        let [from, to] = sweep.corners.map(at);
        let (velocity, normal, nodes) = ((to - from) / dt, sweep.normals[1], self.wet[triangle as usize].nodes);
        Some((time, Passed { particle, position: to + normal * gap, normal, velocity, nodes, lambda }))
    }
}

/// A triangle at the start and at the end of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sweep {
    /// \[m\].
    corners: [[DVec3; 3]; 2],
    /// Of length one.
    normals: [DVec3; 2],
}

impl Sweep {
    fn new(starts: [DVec3; 3], ends: [DVec3; 3]) -> Self {
        let corners = [starts, ends];
        Self { corners, normals: corners.map(|[a, b, c]| (b - a).cross(c - a).normalize_or_zero()) }
    }

    /// Part of the step after which a point on its way passes the triangle from its front to its back, and where in the
    /// triangle. The height above the plane is taken to change evenly over the step.
    fn crossing(&self, [from, to]: [DVec3; 2]) -> Option<(f64, DVec3)> {
        let [starts, ends] = self.corners;
        // Most points stay where they can be seen.
        let after = (to - ends[0]).dot(self.normals[1]);
        if after >= 0.0 {
            return None;
        }
        let before = (from - starts[0]).dot(self.normals[0]);
        if before < 0.0 {
            return None;
        }
        let time = before / (before - after);
        let at = |k: usize| starts[k].lerp(ends[k], time);
        let [a, b, c] = [at(0), at(1), at(2)];
        let (p, normal) = (from.lerp(to, time), (b - a).cross(c - a));
        let part = |u: DVec3, v: DVec3| (u - p).cross(v - p).dot(normal) / normal.length_squared();
        let lambda = DVec3::new(part(b, c), part(c, a), part(a, b));
        // A hair more than the triangle: nothing slips between two.
        (lambda.min_element() > -1e-3).then_some((time, lambda))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moving_triangle_is_passed_from_its_front_only() {
        let triangle = [DVec3::ZERO, DVec3::Z, DVec3::X];
        let up = triangle.map(|p| p + DVec3::Y);
        let inside = DVec3::new(0.2, 0.5, 0.2);
        let (time, lambda) = Sweep::new(triangle, up).crossing([inside, inside]).unwrap();
        assert!((time - 0.5).abs() < 1e-12 && (lambda - DVec3::new(0.6, 0.2, 0.2)).length() < 1e-12);
        assert!(Sweep::new(up, triangle).crossing([inside, inside]).is_none(), "it comes out of the back");
        let beside = DVec3::new(0.7, 0.5, 0.7);
        assert!(Sweep::new(triangle, up).crossing([beside, beside]).is_none());
    }
}
