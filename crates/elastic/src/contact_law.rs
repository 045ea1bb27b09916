//! Elastic bodies of particles touch each other: a push along their surfaces' normals, and Coulomb's friction.
//!
//! | symbol | meaning |
//! |---|---|
//! | s | spacing \[m\] |
//! | Nᵢ | normals of the faces that a particle belongs to: one on a face, two or three at edges and corners; F⁻ᵀN now |
//! | n | from i to j: along Nᵢ − Nⱼ of the two that oppose each other most; of a face alone against edges; along xᵢⱼ where faces do not oppose |
//! | m = max(0, s − n·xᵢⱼ) | overlap \[m\]: surfaces that touch are a spacing apart |
//! | l, w = (1 − (l/R)²)² | distance across n and its weight, R = 3s/2; over a square grid ws add up to nearly the same everywhere |
//! | k = E s / Σ w | stiffness \[N/m\], E of the softer body |
//! | p = w max(0, k m − c ṁ') | push of a pair \[N\], with c a fifth of the critical damping and ṁ' the speed of parting |
//! | ξ, u | slip \[m\] that a particle remembers and its speed \[m/s\], weighted by its pushes |
//!
//! Pushes along lines between particles would make a surface as rough as its grid: bodies would roll off each other's
//! particles, or lock in each other's hollows. With normals and weights a flat face is flat.
//!
//! Friction is a spring that gives way: |k_t ξ + c_t u| ≤ μ P/2 with P the sum of a particle's pushes; ξ grows with the slip and is
//! cut where the spring would be stronger. Each of two particles that touch bears half. What it holds in its springs is given back
//! at most once; all else is taken. Forces on two particles are opposite to the last bit; their lines of action are up to R
//! apart, so that angular momentum is kept only in the mean over a face.

use crate::elastic::{Elastic, Strain};
use crate::solids::SolidBody;
use glam::{DVec3, Vec3};
use meniscus_geometry::{NeighbourGrid, Periodic};

/// R over s.
pub(crate) const WIDTH: f64 = 1.5;
/// Particles farther apart than this, in s, do not touch: √(1 + R²).
pub(crate) const REACH: f64 = 1.81;
/// Σ w over a square grid: π R²/3.
const SUM: f64 = std::f64::consts::PI * WIDTH * WIDTH / 3.0;
/// Damping over the critical one, twice.
const DAMPING: f64 = 0.4;
/// Stiffness of the springs of friction over that of a push.
const TANGENT: f64 = 0.25;
/// Shorter sums over neighbours, in s, are those of particles inside; a face has 5.
const INSIDE: f64 = 1.5;
/// Length of the mean of normals around a particle from which on it is on a face.
const FLAT: f64 = 0.85;
/// Normals with a larger cosine between them are of one face.
const SAME: f64 = 0.7;
/// Normals with at least this cosine look to the same side of a body.
const ASIDE: f64 = 0.2;

/// The faces that a particle belongs to: normals at rest, those that it has first.
type Faces = [DVec3; 3];

/// A pair that pushes.
#[derive(Debug, Clone, Copy)]
struct Push {
    pair: [u32; 2],
    /// p \[N\].
    force: f64,
}

/// What pushes on a particle.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// P \[N\].
    load: f64,
    /// Σ p n, towards the particle \[N\].
    normal: DVec3,
    /// Σ p times the velocity against the other \[N·m/s\].
    slip: DVec3,
    /// Largest k Σw \[N/m\], and the largest √(k m) of its pairs \[N·s/m\].
    stiffness: f64,
    damping: f64,
    /// Friction over load, dimensionless.
    friction: DVec3,
}

/// Memory of contacts between bodies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contacts {
    /// Nᵢ at rest.
    faces: Vec<Faces>,
    pushes: Vec<Push>,
    held: Vec<Held>,
}

/// The particles of a sub-step.
pub(crate) struct Moving<'a> {
    pub(crate) bodies: &'a [SolidBody],
    pub(crate) strains: &'a [Strain],
    pub(crate) position: &'a [DVec3],
    pub(crate) velocity: &'a [DVec3],
    /// s \[m\].
    pub(crate) spacing: f64,
}

impl Moving<'_> {
    fn body_of(&self, particle: usize) -> Option<usize> {
        self.bodies.iter().position(|body| body.particles.contains(&particle))
    }

    /// N of a particle now.
    fn faces(&self, rest: &[Faces], particle: usize, body: usize) -> Faces {
        if rest[particle][0] == DVec3::ZERO {
            return rest[particle];
        }
        let f = Elastic::gradient(&self.strains[body], particle - self.bodies[body].particles.start);
        let turn = f.inverse().transpose();
        // A body that is flat has no inverse.
        rest[particle]
            .map(|normal| Some(turn * normal).filter(|n| n.is_finite()).unwrap_or_default().normalize_or_zero())
    }
}

/// n of two particles, if their faces oppose each other.
fn between(a: Faces, b: Faces) -> Option<DVec3> {
    let pairs = a.iter().flat_map(|m| b.iter().map(move |n| (m.dot(*n), *m, *n)));
    let (cosine, m, n) = pairs.reduce(|best, next| if next.0 < best.0 { next } else { best })?;
    let single = |faces: &Faces| faces[1] == DVec3::ZERO;
    let towards = match (single(&a), single(&b)) {
        (true, false) => m,
        (false, true) => -n,
        _ => m - n,
    };
    (cosine < -ASIDE).then(|| towards.normalize_or_zero())
}

/// Sums over the neighbours of a body's particles at rest.
struct Neighbourhood<'a> {
    rest: &'a [DVec3],
    near: Vec<Vec<usize>>,
    /// s \[m\].
    spacing: f64,
}

impl<'a> Neighbourhood<'a> {
    fn new(rest: &'a [DVec3], spacing: f64) -> Self {
        let singles: Vec<Vec3> = rest.iter().map(|p| p.as_vec3()).collect();
        let (mut grid, reach) = (NeighbourGrid::default(), WIDTH * spacing);
        grid.sort(&singles, reach as f32, Periodic::default());
        let near = |i: usize| {
            let (around, mut near) = (Vec3::splat(reach as f32), Vec::new());
            grid.for_each_range_in(singles[i] - around, singles[i] + around, |range| {
                near.extend(grid.order()[range].iter().map(|&j| j as usize));
            });
            near.retain(|&j| rest[i].distance(rest[j]) < reach);
            near.sort_unstable();
            near
        };
        Self { rest, near: (0..rest.len()).map(near).collect(), spacing }
    }

    /// The normal at a particle; zero inside.
    fn normal(&self, i: usize) -> DVec3 {
        let sum: DVec3 = self.near[i].iter().map(|&j| self.rest[i] - self.rest[j]).sum();
        if sum.length() > INSIDE * self.spacing { sum.normalize() } else { DVec3::ZERO }
    }

    /// Neighbours on the same side of the body.
    fn beside<'b>(&'b self, normals: &'b [DVec3], i: usize) -> impl Iterator<Item = usize> + 'b {
        self.near[i].iter().copied().filter(move |&j| normals[j].dot(normals[i]) > ASIDE)
    }

    /// How flat the surface is: the length of the mean of the normals around.
    fn flatness(&self, normals: &[DVec3], i: usize) -> f64 {
        let sum: DVec3 = self.beside(normals, i).map(|j| normals[j]).sum();
        sum.length() / (self.beside(normals, i).count().max(1) as f64)
    }

    /// The faces that a particle belongs to.
    fn faces(&self, normals: &[DVec3], flatness: &[f64], i: usize) -> Faces {
        let mut faces = [normals[i], DVec3::ZERO, DVec3::ZERO];
        if normals[i] == DVec3::ZERO || flatness[i] >= FLAT {
            return faces;
        }
        let mut count = 0;
        for j in self.beside(normals, i).filter(|&j| flatness[j] >= FLAT) {
            if count < 3 && faces[..count].iter().all(|face| face.dot(normals[j]) < SAME) {
                faces[count] = normals[j];
                count += 1;
            }
        }
        faces
    }
}

impl Contacts {
    /// Learns the surface of a further body from its particles at rest.
    pub(crate) fn add(&mut self, rest: &[DVec3], spacing: f64) {
        let around = Neighbourhood::new(rest, spacing);
        let normals: Vec<DVec3> = (0..rest.len()).map(|i| around.normal(i)).collect();
        let flatness: Vec<f64> = (0..rest.len()).map(|i| around.flatness(&normals, i)).collect();
        self.faces.extend((0..rest.len()).map(|i| around.faces(&normals, &flatness, i)));
    }

    /// Adds the forces of pairs that touch, after a sub-step of `step` \[s\]; `slip` is what particles remember of friction.
    pub(crate) fn add_forces(
        &mut self,
        moving: &Moving<'_>,
        near: &[(u32, u32)],
        friction: f64,
        step: f64,
        [slip, forces]: [&mut [DVec3]; 2],
    ) {
        self.held.clear();
        self.held.resize(moving.position.len(), Held::default());
        self.pushes.clear();
        near.iter().for_each(|&(i, j)| self.push(moving, [i as usize, j as usize], forces));
        for (held, slip) in self.held.iter_mut().zip(slip) {
            held.hold(friction, step, slip);
        }
        for &Push { pair: [a, b], force } in &self.pushes {
            let (a, b) = (a as usize, b as usize);
            let tangential = (self.held[a].friction - self.held[b].friction) * force;
            forces[a] += tangential;
            forces[b] -= tangential;
        }
    }

    /// The push of a pair.
    fn push(&mut self, moving: &Moving<'_>, [a, b]: [usize; 2], forces: &mut [DVec3]) {
        let (s, apart) = (moving.spacing, moving.position[b] - moving.position[a]);
        if apart.length_squared() >= (REACH * s).powi(2) {
            return;
        }
        let (Some(first), Some(second)) = (moving.body_of(a), moving.body_of(b)) else { return };
        let faces = [(a, first), (b, second)].map(|(i, body)| moving.faces(&self.faces, i, body));
        let normal = between(faces[0], faces[1]).filter(|normal| normal.dot(apart) > 0.0);
        let normal = normal.unwrap_or_else(|| apart.normalize_or(DVec3::Y));
        let along = normal.dot(apart);
        let across = (apart - normal * along).length_squared() / (WIDTH * s).powi(2);
        let overlap = s - along;
        if across >= 1.0 || overlap <= 0.0 {
            return;
        }
        let [first, second] = [first, second].map(|body| &moving.bodies[body].elastic);
        let whole = first.material().young.min(second.material().young) * s;
        let mass = first.mass().min(second.mass());
        let weight = (1.0 - across).powi(2) / SUM;
        let velocity = moving.velocity[a] - moving.velocity[b];
        let damping = (whole * mass).sqrt();
        let force = weight * (whole * overlap + DAMPING * damping * velocity.dot(normal)).max(0.0);
        forces[a] -= normal * force;
        forces[b] += normal * force;
        self.pushes.push(Push { pair: [a as u32, b as u32], force });
        self.held[a].note(force, -normal, velocity, [whole, damping]);
        self.held[b].note(force, normal, -velocity, [whole, damping]);
    }
}

impl Held {
    fn note(&mut self, force: f64, normal: DVec3, velocity: DVec3, [stiffness, damping]: [f64; 2]) {
        self.load += force;
        self.normal += force * normal;
        self.slip += force * velocity;
        self.stiffness = self.stiffness.max(stiffness);
        self.damping = self.damping.max(damping);
    }

    /// Finds the friction of a particle, and what it remembers.
    fn hold(&mut self, coefficient: f64, step: f64, slip: &mut DVec3) {
        if self.load <= 0.0 {
            *slip = DVec3::ZERO;
            return;
        }
        let normal = self.normal.normalize_or_zero();
        let flat = |v: DVec3| v - normal * normal.dot(v);
        let speed = flat(self.slip / self.load);
        let (most, stiffness) = (0.5 * coefficient * self.load, TANGENT * self.stiffness);
        *slip = (flat(*slip) + step * speed).clamp_length_max(most / stiffness);
        let pull = *slip * stiffness + speed * (0.5 * DAMPING * TANGENT * self.damping);
        self.friction = -pull.clamp_length_max(most) / self.load;
    }
}
