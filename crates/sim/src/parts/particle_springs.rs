//! Hands on bodies of particles: a spring that pulls at a handful of them, as on other bodies ([`crate::hands`]).
//!
//! > f = k (a − x − dt v) − d v
//!
//! x and v are the mean position and velocity of what is held, a where the hand pulls it to. The force stays as it is in a step,
//! so k and d are not more than its mass m can follow: k dt + d ≤ m/2dt.

use crate::hands::{Spring, Tied};
use glam::DVec3;
use meniscus_scene::{Pick, Ray};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// How far from the point that is taken particles are held too, in spacings.
const HANDFUL: f64 = 1.8;

/// A ray meets a particle that is not farther from it than this, in spacings: half a diagonal of a lattice's cell.
const NEAR_RAY: f64 = 0.87;

/// Particles of bodies as hands find them.
pub(crate) struct Matter<'a> {
    /// Names of the bodies and their particles.
    pub(crate) bodies: Vec<(&'a str, Range<usize>)>,
    pub(crate) position: &'a [DVec3],
    pub(crate) velocity: &'a [DVec3],
    /// Mass of a particle \[kg\]; infinite if it is held.
    pub(crate) mass: Cow<'a, [f64]>,
    /// Distance between particles \[m\].
    pub(crate) spacing: f64,
}

/// A particle that was picked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    /// Number of its body in [`Matter::bodies`].
    body: usize,
    particle: usize,
}

/// What hands hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ParticleSprings(Vec<HeldSpring>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HeldSpring {
    id: u64,
    /// Name of the body.
    body: String,
    /// Mass of the body \[kg\].
    body_mass: f64,
    particles: Vec<u32>,
    anchor: DVec3,
    /// \[N/m\] and \[N·s/m\].
    stiffness: f64,
    damping: f64,
    /// Where it holds \[m\], and the force on it \[N\], in the last step.
    point: DVec3,
    force: DVec3,
}

impl Matter<'_> {
    /// Mean of a quantity over particles, by mass, and their mass \[kg\].
    fn mean(&self, particles: &[u32], of: &[DVec3]) -> (DVec3, f64) {
        let sum = particles.iter().fold((DVec3::ZERO, 0.0), |(sum, mass), &i| {
            let own = self.mass[i as usize];
            (sum + of[i as usize] * own, mass + own)
        });
        (sum.0 / sum.1, sum.1)
    }

    /// How far a particle is from where it is looked for \[m\]: along a ray, or from a point; nothing if a ray passes it.
    fn distance(&self, particle: usize, at: &Pick) -> Option<f64> {
        let x = self.position[particle];
        match at {
            Pick::Point(point) => Some(x.distance(DVec3::from_array(*point))),
            Pick::Ray(Ray { origin, direction }) => {
                let from = x - DVec3::from_array(*origin);
                let along = from.dot(DVec3::from_array(*direction).normalize());
                let apart = (from.length_squared() - along * along).max(0.0).sqrt();
                (along > 0.0 && apart < NEAR_RAY * self.spacing).then_some(along)
            }
        }
    }
}

impl ParticleSprings {
    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How far the nearest particle of a body of this name, or any, is from where it is looked for \[m\].
    pub(crate) fn pick(name: Option<&str>, at: &Pick, matter: &Matter) -> Option<(f64, Found)> {
        let wanted = matter.bodies.iter().enumerate().filter(|(_, (of, _))| name.is_none_or(|name| name == *of));
        let found = wanted.flat_map(|(body, (_, own))| {
            let free = own.clone().filter(|&i| matter.mass[i].is_finite());
            let near = free.filter_map(|particle| Some((matter.distance(particle, at)?, Found { body, particle })));
            near.min_by(|a, b| a.0.total_cmp(&b.0))
        });
        found.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Takes hold of a particle and of those around it; their middle \[m\].
    pub(crate) fn take(&mut self, id: u64, Found { body, particle }: Found, spring: &Spring, matter: &Matter) -> DVec3 {
        let (name, own) = &matter.bodies[body];
        let free = |i: &usize| matter.mass[*i].is_finite();
        let near = |i: &usize| matter.position[*i].distance(matter.position[particle]) <= HANDFUL * matter.spacing;
        let particles: Vec<u32> = own.clone().filter(free).filter(near).map(|i| i as u32).collect();
        let (point, _) = matter.mean(&particles, matter.position);
        let body_mass = own.clone().filter(free).map(|i| matter.mass[i]).sum();
        let (stiffness, damping) = spring.numbers(body_mass);
        self.0.push(HeldSpring {
            id,
            body: (*name).to_owned(),
            body_mass,
            particles,
            anchor: point,
            stiffness,
            damping,
            point,
            force: DVec3::ZERO,
        });
        point
    }

    /// Moves the far end of a spring; whether there is one of that number.
    pub(crate) fn drag(&mut self, id: u64, target: DVec3) -> bool {
        let held = self.0.iter_mut().find(|held| held.id == id);
        held.map(|held| held.anchor = target).is_some()
    }

    /// Changes what a spring is like; whether there is one of that number.
    pub(crate) fn stiffen(&mut self, id: u64, spring: &Spring) -> bool {
        let held = self.0.iter_mut().find(|held| held.id == id);
        held.map(|held| (held.stiffness, held.damping) = spring.numbers(held.body_mass)).is_some()
    }

    /// Takes a spring away.
    pub(crate) fn let_go(&mut self, id: u64) {
        self.0.retain(|held| held.id != id);
    }

    /// Finds the forces of a step of `dt` \[s\] and gives each particle that is held its share by mass \[N\].
    pub(crate) fn pull(&mut self, matter: &Matter, dt: f64, mut give: impl FnMut(usize, DVec3)) {
        for held in &mut self.0 {
            let (x, mass) = matter.mean(&held.particles, matter.position);
            let (v, _) = matter.mean(&held.particles, matter.velocity);
            let most = 0.5 * mass / dt;
            let stiffness = held.stiffness.min(0.5 * most / dt);
            let resistance = (stiffness * dt + held.damping).min(most);
            held.point = x;
            held.force = stiffness * (held.anchor - x) - resistance * v;
            for &i in &held.particles {
                give(i as usize, held.force * (matter.mass[i as usize] / mass));
            }
        }
    }

    /// The springs.
    pub(crate) fn tied(&self) -> impl Iterator<Item = Tied<'_>> {
        self.0.iter().map(|held| (held.id, held.body.as_str(), [held.point, held.anchor, held.force]))
    }

    /// Whether these particles exist.
    pub(crate) fn fit(&self, particles: usize) -> bool {
        self.0.iter().flat_map(|held| &held.particles).all(|&i| (i as usize) < particles)
    }
}
