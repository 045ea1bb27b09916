//! Zones before open sides in which motion dies out.

use crate::boundary::Outside;
use crate::flow::Flow;
use crate::params::Side;

/// Rate at the side, in units of √(g / width).
const STRENGTH: f64 = 0.5;

impl Flow {
    /// What lies beyond open sides.
    pub(crate) fn outside(&self) -> Outside {
        Outside { up: -self.setup.gravity.normalize_or_zero(), still_level: self.state.still_level }
    }

    /// u ← u / (1 + r dt) in the sponges, r growing with the square of the way into them.
    pub(crate) fn calm(&mut self, dt: f64) {
        for axis in 0..3 {
            for end in 0..2 {
                if let Side::Open(open) = self.boundary.side(axis, end)
                    && open.sponge > 0.0
                {
                    self.calm_before(axis, end, open.sponge, dt);
                }
            }
        }
    }

    fn calm_before(&mut self, axis: usize, end: usize, width: f64, dt: f64) {
        let grid = &self.grid;
        let domain = grid.domain();
        let rate = STRENGTH * (self.setup.gravity.length() / width).sqrt();
        for (component, field) in self.state.velocity.iter_mut().enumerate() {
            grid.rows().each([field], |row, [u]| {
                for (i, u) in u.iter_mut().enumerate() {
                    let position = grid.face_center(component, row.start + i)[axis];
                    let from_side = if end == 0 { position - domain.min[axis] } else { domain.max[axis] - position };
                    let inside = (1.0 - from_side / width).max(0.0);
                    *u /= 1.0 + rate * dt * inside * inside;
                }
            });
        }
    }
}
