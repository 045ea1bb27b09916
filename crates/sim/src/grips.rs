//! People's hands on bodies of particles: a spring that pulls at a handful of them, as on other bodies ([`crate::hands`]).
//!
//! > f = k (a − x − dt v) − d v
//!
//! x and v are the mean place and velocity of what is held, a where the hand pulls it to. The force stays as it is in a step,
//! so k and d are not more than its mass m can follow: k dt + d ≤ m/2dt.

use crate::hands::{Hand, Spring};
use glam::DVec3;
use meniscus_core::{Frame, Wire};
use meniscus_scene::{Grab, Move, Pick, Ray, Release};
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

/// What hands hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Grips(Vec<Grip>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Grip {
    hand: u32,
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

impl Grips {
    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes hold of the particle that is picked and of those around it.
    pub(crate) fn grab(&mut self, grab: &Grab, matter: &Matter) {
        self.release(&Release { hand: grab.hand });
        let wanted = matter.bodies.iter().filter(|(name, _)| grab.body.as_ref().is_none_or(|body| body == name));
        let free = |i: &usize| matter.mass[*i].is_finite();
        let found = wanted.flat_map(|(name, own)| {
            let near = own.clone().filter(free).filter_map(|i| Some((matter.distance(i, &grab.at)?, i)));
            near.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(distance, i)| (distance, i, name, own))
        });
        let Some((_, first, name, own)) = found.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        let near = |i: &usize| matter.position[*i].distance(matter.position[first]) <= HANDFUL * matter.spacing;
        let particles: Vec<u32> = own.clone().filter(free).filter(near).map(|i| i as u32).collect();
        let (point, _) = matter.mean(&particles, matter.position);
        let body_mass = own.clone().filter(free).map(|i| matter.mass[i]).sum();
        let (stiffness, damping) = Spring::of(grab).numbers(body_mass);
        self.0.push(Grip {
            hand: grab.hand,
            body: (*name).to_owned(),
            body_mass,
            particles,
            anchor: point,
            stiffness,
            damping,
            point,
            force: DVec3::ZERO,
        });
    }

    /// Moves a hand.
    pub(crate) fn move_hand(&mut self, to: &Move) {
        if let Some(grip) = self.0.iter_mut().find(|grip| grip.hand == to.hand) {
            grip.anchor = DVec3::from_array(to.target);
            if let Some(strength) = to.strength {
                (grip.stiffness, grip.damping) = Spring::of_strength(strength).numbers(grip.body_mass);
            }
        }
    }

    /// Lets go.
    pub(crate) fn release(&mut self, release: &Release) {
        self.0.retain(|grip| grip.hand != release.hand);
    }

    /// Finds the forces of a step of `dt` \[s\] and gives each particle that is held its share by mass \[N\].
    pub(crate) fn pull(&mut self, matter: &Matter, dt: f64, mut give: impl FnMut(usize, DVec3)) {
        for grip in &mut self.0 {
            let (x, mass) = matter.mean(&grip.particles, matter.position);
            let (v, _) = matter.mean(&grip.particles, matter.velocity);
            let most = 0.5 * mass / dt;
            let stiffness = grip.stiffness.min(0.5 * most / dt);
            let resistance = (stiffness * dt + grip.damping).min(most);
            grip.point = x;
            grip.force = stiffness * (grip.anchor - x) - resistance * v;
            for &i in &grip.particles {
                give(i as usize, grip.force * (matter.mass[i as usize] / mass));
            }
        }
    }

    /// What they do.
    pub(crate) fn hands(&self) -> Vec<Hand> {
        let hand = |grip: &Grip| Hand {
            hand: Some(grip.hand),
            pull: String::new(),
            body: grip.body.clone(),
            point: grip.point,
            target: grip.anchor,
            force: grip.force,
        };
        self.0.iter().map(hand).collect()
    }

    /// Lines from what is held to where it is pulled.
    pub(crate) fn show(&self, frame: &mut Frame) {
        for grip in &self.0 {
            let shown = frame.bodies.iter().position(|body| body.name == grip.body);
            let segments = vec![[grip.point.as_vec3(), grip.anchor.as_vec3()]];
            frame.wires.extend(shown.map(|body| Wire { body: body as u16, segments }));
        }
    }

    /// Whether these particles exist.
    pub(crate) fn fit(&self, particles: usize) -> bool {
        self.0.iter().flat_map(|grip| &grip.particles).all(|&i| (i as usize) < particles)
    }
}
