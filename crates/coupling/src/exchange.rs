//! The two moves between a liquid and bodies with surfaces, and the compliance in between \[MSTHG04 sec. 4\].
//!
//! Before the liquid's step, bodies show their surfaces: nodes, velocities, and how fast the nodes give way to a force that is new
//! in the step, H of u = v + Δt H (f − f°). After it they take the forces on their nodes; what a particle feels, nodes feel with the
//! opposite sign, for both are one sum over the same links (`meniscus_sph`). `()` is nobody.

use glam::DVec3;
use meniscus_sph::{Body, Liquid};

/// Bodies with surfaces that a liquid meets.
pub trait Wetted {
    /// How many surfaces they have.
    fn surfaces(&self) -> usize;

    /// The first move: shows the surfaces as they are at the start of a step of `dt` \[s\], and how they give way.
    fn show(&mut self, dt: f64, surfaces: &mut [Body]);

    /// Takes back what was lent for the liquid's step.
    fn take_back(&mut self) {}

    /// The second move: takes the forces on the nodes; the first surface is the liquid's of this number.
    fn take_forces(&mut self, liquid: &Liquid, first: usize);

    /// Adds where the nodes of a surface are at the end of the step \[m\].
    fn ends(&self, surface: usize, ends: &mut Vec<DVec3>);
}

/// Nobody.
impl Wetted for () {
    fn surfaces(&self) -> usize {
        0
    }

    fn show(&mut self, _: f64, _: &mut [Body]) {}

    fn take_forces(&mut self, _: &Liquid, _: usize) {}

    fn ends(&self, _: usize, _: &mut Vec<DVec3>) {}
}

/// The first, then the second.
impl<A: Wetted, B: Wetted> Wetted for (A, B) {
    fn surfaces(&self) -> usize {
        self.0.surfaces() + self.1.surfaces()
    }

    fn show(&mut self, dt: f64, surfaces: &mut [Body]) {
        let (first, second) = surfaces.split_at_mut(self.0.surfaces());
        self.0.show(dt, first);
        self.1.show(dt, second);
    }

    fn take_back(&mut self) {
        self.0.take_back();
        self.1.take_back();
    }

    fn take_forces(&mut self, liquid: &Liquid, first: usize) {
        self.0.take_forces(liquid, first);
        self.1.take_forces(liquid, first + self.0.surfaces());
    }

    fn ends(&self, surface: usize, ends: &mut Vec<DVec3>) {
        match surface.checked_sub(self.0.surfaces()) {
            None => self.0.ends(surface, ends),
            Some(surface) => self.1.ends(surface, ends),
        }
    }
}

/// Shows a liquid the surfaces that it will meet in a step of `dt` \[s\]; until [`Wetted::take_back`].
pub fn show(liquid: &mut Liquid, wetted: &mut impl Wetted, dt: f64) {
    let surfaces = liquid.bodies_mut(wetted.surfaces());
    wetted.show(dt, surfaces);
}

/// Puts liquid back that a surface has passed in a step of `dt` \[s\].
pub fn keep_out(liquid: &mut Liquid, wetted: &impl Wetted, dt: f64) {
    liquid.keep_before_bodies(|surface, ends| wetted.ends(surface, ends), dt);
}

/// Takes over triangles, unless they are the same.
pub(crate) fn take_triangles(to: &mut Vec<[u32; 3]>, from: &[[u32; 3]]) {
    if to != from {
        to.clear();
        to.extend_from_slice(from);
    }
}
