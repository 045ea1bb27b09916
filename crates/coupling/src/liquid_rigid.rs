//! Liquid and rigid bodies: the vertices of their surface meet the liquid, force and torque about the centre answer.

use crate::exchange::{Wetted, take_triangles};
use glam::DVec3;
use meniscus_boundary::Compliance;
use meniscus_rigid::World;
use meniscus_sph::{Body, Liquid};

impl Wetted for &mut World {
    fn surfaces(&self) -> usize {
        self.len()
    }

    fn show(&mut self, _: f64, surfaces: &mut [Body]) {
        for (body, to) in surfaces.iter_mut().enumerate() {
            to.positions.clear();
            to.positions.extend(self.positions(body));
            to.velocities.clear();
            to.velocities.extend(self.velocities(body));
            take_triangles(&mut to.triangles, self.surface(body).triangles());
            to.accelerations.clear();
            to.compliance = match self.is_prescribed(body) {
                true => Compliance::Fixed,
                false => {
                    let (rigid, steady) = (self.compliance(body), self.steady(body));
                    let motion = rigid.motion(steady.force, steady.torque);
                    to.accelerations.extend(to.positions.iter().map(|x| rigid.at(motion, *x)));
                    Compliance::Rigid(rigid)
                }
            };
        }
    }

    fn take_forces(&mut self, liquid: &Liquid, first: usize) {
        add_forces(self, |body| liquid.body_forces(first + body));
    }

    fn ends(&self, surface: usize, ends: &mut Vec<DVec3>) {
        ends.extend(self.positions(surface));
    }
}

/// Hands forces on the vertices of each body \[N\] to the bodies.
pub fn add_forces<'a>(world: &mut World, of: impl Fn(usize) -> &'a [DVec3]) {
    for body in 0..world.len() {
        let center = world.mass_properties(body).center;
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for (x, f) in world.positions(body).zip(of(body)) {
            force += *f;
            torque += (x - center).cross(*f);
        }
        world.add_force(body, force, torque);
    }
}
