//! Which nodes may touch which triangles and obstacles within a step.

use super::law::Overlap;
use super::obstacle::{Inertia, Obstacle, Sample};
use super::pairs::{Against, Hold, Pair, corners};
use super::skin::Skin;
use super::{Contact, ContactParams};
use crate::body::Body;
use crate::linear::{End, Float, Twist};
use glam::DVec3;
use meniscus_geometry::Closest;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// Gaps below this part of an edge take their direction from the surface.
const ON_SURFACE: f64 = 1e-6;

/// Gaps below this part of an edge are watched at any speed: what is slow may become fast within the step.
const WATCHED: f64 = 0.05;

/// Cosine between a face and the mean direction at its border from which on the border is no rim.
const SHARP: f64 = 0.9;

/// Cosine from which on a border looks at a node rather than past it.
const SAME_SIDE: f64 = 0.5;

/// A body looks for itself this much farther than it has to, in edges, so that it need not look again soon.
const ROOM: f64 = 0.25;

/// Where a node stands against a triangle.
struct Foot {
    /// d \[m\].
    gap: f64,
    /// n.
    normal: DVec3,
    /// λ.
    lambda: [f64; 3],
}

/// Everything that a node is held against.
struct Scene<'a> {
    params: &'a ContactParams,
    bodies: &'a [Body],
    skins: &'a [Skin],
    obstacles: &'a [&'a dyn Obstacle],
    /// Numbers of those that answer, among themselves.
    compliant: &'a [Option<(u32, Inertia)>],
    /// How far each body looks for itself \[m\], and whether it has seen anything; none if it need not look.
    own: &'a [Option<(f64, AtomicBool)>],
    dt: f64,
    /// How far obstacles have gone on.
    gone: Gone<'a>,
}

/// How obstacles have moved since they were placed.
#[derive(Clone, Copy, Default)]
pub(super) struct Gone<'a> {
    /// For so long \[s\].
    pub(super) time: f64,
    /// Velocity and spin of each beyond what was expected of it; empty if none answers.
    pub(super) beyond: &'a [Twist],
}

impl Gone<'_> {
    /// Velocity of an obstacle at a position beyond what was expected of it \[m/s\].
    pub(super) fn beyond(&self, obstacle: usize, own: Option<&Inertia>, position: DVec3) -> DVec3 {
        match (self.beyond.get(obstacle), own) {
            (Some([velocity, spin]), Some(own)) => *velocity + spin.cross(position - own.center),
            _ => DVec3::ZERO,
        }
    }
}

impl Contact {
    /// Finds the pairs that overlap or may do so within `dt` \[s\], in the order of bodies and nodes.
    pub(super) fn find(&mut self, bodies: &[Body], obstacles: &[&dyn Obstacle], dt: f64) {
        let pairs = self.search(bodies, obstacles, dt, Gone::default());
        let float = |own: Inertia| Float::new(own.mass, own.inertia, [dt * own.force, dt * own.torque]);
        self.contacts.start(pairs, obstacles.iter().filter_map(|obstacle| obstacle.inertia()).map(float));
    }

    /// The pairs that overlap or may do so within `dt` \[s\], obstacles having moved on.
    pub(super) fn search(
        &mut self,
        bodies: &[Body],
        obstacles: &[&dyn Obstacle],
        dt: f64,
        gone: Gone<'_>,
    ) -> Vec<Pair> {
        self.skins.resize_with(bodies.len(), Skin::default);
        self.skins.par_iter_mut().zip(bodies).for_each(|(skin, body)| skin.follow(body));
        let own: Vec<_> =
            self.skins.iter().zip(bodies).map(|(skin, body)| self.looks_for_itself(skin, body, dt)).collect();
        let alone = bodies.len() == 1 && obstacles.iter().all(|obstacle| obstacle.samples().is_empty());
        let searched = self.skins.par_iter_mut().zip(bodies).zip(&own).filter(|(_, own)| !alone || own.is_some());
        searched.for_each(|((skin, body), _)| skin.turn(body));
        let mut count = 0;
        let compliant: Vec<Option<(u32, Inertia)>> = obstacles
            .iter()
            .map(|obstacle| {
                let inertia = obstacle.inertia()?;
                count += 1;
                Some((count - 1, inertia))
            })
            .collect();
        let scene = Scene {
            params: &self.params,
            bodies,
            skins: &self.skins,
            obstacles,
            compliant: &compliant,
            own: &own,
            dt,
            gone,
        };
        let mut pairs = Vec::new();
        for (body, skin) in self.skins.iter().enumerate() {
            let found = (0..skin.nodes.len()).into_par_iter().with_min_len(64);
            pairs.par_extend(found.flat_map_iter(|k| scene.pairs_of(body, k)));
        }
        for (number, obstacle) in obstacles.iter().enumerate() {
            let samples = obstacle.samples().par_iter().with_min_len(64);
            pairs.par_extend(samples.flat_map_iter(|sample| scene.pairs_of_sample(number, sample)));
        }
        for ((skin, body), own) in self.skins.iter_mut().zip(bodies).zip(own) {
            if let Some((reach, seen)) = own {
                skin.note_clearance(body, (!seen.into_inner()).then_some(reach));
            }
        }
        pairs
    }

    /// How far a body looks for itself, if it has to.
    fn looks_for_itself(&self, skin: &Skin, body: &Body, dt: f64) -> Option<(f64, AtomicBool)> {
        // No node is faster against the others than twice the spread.
        let reach = (self.params.max_penetration * skin.edge).max(WATCHED * skin.edge + 2.0 * dt * skin.spread);
        let looks = self.params.self_contact && !skin.is_quiet(body, reach);
        looks.then(|| (reach + ROOM * skin.edge, AtomicBool::new(false)))
    }
}

impl Scene<'_> {
    /// The pairs of the k-th node on the surface of a body.
    fn pairs_of(&self, body: usize, k: usize) -> impl Iterator<Item = Pair> {
        let with_bodies = (0..self.bodies.len())
            .filter(move |&other| other != body || self.own[body].is_some())
            .filter_map(move |other| self.pair_with_body(body, k, other));
        let with_obstacles = (0..self.obstacles.len()).filter_map(move |o| self.pair_with_obstacle(body, k, o));
        with_bodies.chain(with_obstacles)
    }

    /// κ of a body \[Pa/m\].
    fn pressure_per_overlap(&self, body: usize) -> f64 {
        self.params.stiffness * self.bodies[body].material().young / self.skins[body].edge
    }

    fn pair_with_body(&self, body: usize, k: usize, other: usize) -> Option<Pair> {
        let (skin, there) = (&self.skins[body], &self.skins[other]);
        let (node, tree) = (skin.nodes[k], there.tree.as_ref()?);
        let position = self.bodies[body].positions()[node as usize];
        let speed = self.bodies[body].velocities()[node as usize].distance(there.velocity) + there.spread;
        let (depth, near) = (self.params.max_penetration * there.edge, WATCHED * there.edge + self.dt * speed);
        let reach = depth.max(near);
        if tree.bounds().distance_squared(position) > reach * reach {
            return None;
        }
        let own = other == body;
        let closest = match &self.own[body] {
            Some((farthest, seen)) if own => {
                let closest =
                    tree.closest_of(position, farthest.max(reach), |triangle| !there.are_neighbours(node, triangle))?;
                seen.store(true, Ordering::Relaxed);
                closest
            }
            _ => {
                let (normal, positions) = (skin.normal(node), self.bodies[other].positions());
                tree.closest_of(position, reach, |triangle| there.faces(normal, triangle, positions))?
            }
        };
        // What is seen from farther is only noted.
        let is_within_reach = closest.distance() <= reach;
        if !is_within_reach {
            return None;
        }
        let (toward, positions) = (skin.normal(node), self.bodies[other].positions());
        let rim = if own { None } else { beside_rim(position, toward, &closest, there, positions) };
        let Foot { gap, normal, lambda } = rim.unwrap_or_else(|| {
            let (gap, normal) = gap_and_normal(position, &closest, there, &self.bodies[other]);
            Foot { gap, normal, lambda: closest.barycentric.to_array() }
        });
        let tangled = || {
            let positions = self.bodies[other].positions();
            there.faces_as(node, &closest, positions) || there.is_inverted_between(node, &closest)
        };
        if gap < -depth || gap > near || own && tangled() {
            return None;
        }
        let softer = self.pressure_per_overlap(body).min(self.pressure_per_overlap(other));
        let nodes = there.triangles[closest.triangle as usize];
        let against = Against::Triangle { body: other as u32, nodes, barycentric: lambda, tau: self.tau(other) };
        let stiffness = 0.5 * softer * skin.area[k];
        let overlap = Overlap { gap, normal, stiffness, stretch: self.stretch(&[body, other]) };
        Some(Pair::new(self.params, overlap, End { body: body as u32, node, lever: self.tau(body) }, against))
    }

    fn pair_with_obstacle(&self, body: usize, k: usize, obstacle: usize) -> Option<Pair> {
        let skin = &self.skins[body];
        let node = skin.nodes[k];
        // Between what is held and what does not yield there is nothing to be found.
        if self.compliant[obstacle].is_none() && self.bodies[body].state.mesh.fixed[node as usize].all() {
            return None;
        }
        let position = self.bodies[body].positions()[node as usize];
        let (gap, normal) = self.obstacles[obstacle].distance(position - self.way_of(obstacle, position));
        let velocity = self.obstacles[obstacle].velocity(position);
        let speed = self.bodies[body].velocities()[node as usize].distance(velocity) + skin.spread;
        // A gap that is not a number is none.
        let near = gap <= WATCHED * skin.edge + self.dt * speed;
        if !near {
            return None;
        }
        // Where the obstacle's own points push too, each does half.
        let share = if self.obstacles[obstacle].samples().is_empty() { 1.0 } else { 0.5 };
        let stiffness = share * self.pressure_per_overlap(body) * skin.area[k];
        let overlap = Overlap { gap, normal, stiffness, stretch: self.stretch(&[body]) };
        let against = Against::Obstacle(self.hold(obstacle, position, position));
        Some(Pair::new(self.params, overlap, End { body: body as u32, node, lever: self.tau(body) }, against))
    }

    /// An obstacle whose matter at `point` touches at a position.
    fn hold(&self, obstacle: usize, point: DVec3, position: DVec3) -> Hold {
        let velocity = self.obstacles[obstacle].velocity(point);
        let compliant = self.compliant[obstacle].map(|(number, own)| (number, position - own.center));
        Hold { number: obstacle as u32, velocity, position, compliant }
    }

    /// How far an obstacle has gone on at a position \[m\].
    fn way_of(&self, obstacle: usize, position: DVec3) -> DVec3 {
        if self.gone.time == 0.0 {
            return DVec3::ZERO;
        }
        let beyond = self.gone.beyond(obstacle, self.compliant[obstacle].as_ref().map(|(_, own)| own), position);
        (self.obstacles[obstacle].velocity(position) + beyond) * self.gone.time
    }

    /// The pairs of a point of an obstacle.
    fn pairs_of_sample(&self, obstacle: usize, sample: &Sample) -> impl Iterator<Item = Pair> {
        (0..self.bodies.len()).filter_map(move |body| self.pair_of_sample(obstacle, sample, body))
    }

    fn pair_of_sample(&self, obstacle: usize, sample: &Sample, body: usize) -> Option<Pair> {
        let skin = &self.skins[body];
        let tree = skin.tree.as_ref()?;
        let speed = self.obstacles[obstacle].velocity(sample.position).distance(skin.velocity) + skin.spread;
        let (depth, near) = (self.params.max_penetration * skin.edge, WATCHED * skin.edge + self.dt * speed);
        let reach = depth.max(near);
        let position = sample.position + self.way_of(obstacle, sample.position);
        if tree.bounds().distance_squared(position) > reach * reach {
            return None;
        }
        let closest = tree.closest_within(position, reach)?;
        let (gap, normal) = gap_and_normal(position, &closest, skin, &self.bodies[body]);
        if gap < -depth || gap > near {
            return None;
        }
        let stiffness = 0.5 * self.pressure_per_overlap(body) * sample.area;
        let overlap = Overlap { gap, normal, stiffness, stretch: self.stretch(&[body]) };
        let (nodes, lambda) = (skin.triangles[closest.triangle as usize], closest.barycentric.to_array());
        let ends = corners(body as u32, nodes, lambda, self.tau(body));
        // Pushed where the triangle pushes back, so that both have one line of action.
        let hold = self.hold(obstacle, sample.position, closest.point);
        Some(Pair::of_sample(self.params, overlap, ends, self.tau(body), &hold))
    }

    /// How far a step goes over the stage that is solved for; bodies that are moved by different rules meet as by implicit Euler.
    fn stretch(&self, bodies: &[usize]) -> f64 {
        let stretch = |body: usize| if self.dt > 0.0 { self.dt / self.tau(body) } else { 1.0 };
        bodies.iter().map(|&body| stretch(body)).fold(f64::INFINITY, f64::min)
    }

    /// τ of a body's step \[s\]; one where nothing moves.
    fn tau(&self, body: usize) -> f64 {
        if self.dt > 0.0 { self.bodies[body].work.problem.tau } else { 1.0 }
    }
}

/// d, n and λ of a node that is seen from the side by a sharp rim: the face goes on in its plane for half an edge, so that what stands
/// on a block as wide as itself does not slip off its rim with the least slip. λ are those of the node's foot in the plane,
/// one of them negative, so that both still have one line of action.
fn beside_rim(position: DVec3, normal: DVec3, closest: &Closest, skin: &Skin, positions: &[DVec3]) -> Option<Foot> {
    let (face, outward) =
        (skin.face(closest.triangle, positions), skin.outward(closest, positions).normalize_or_zero());
    let is_rim = outward.dot(face) < SHARP && outward.dot(normal) > -SAME_SIDE * normal.length();
    let gap = face.dot(position - closest.point);
    let foot = position - gap * face;
    let near = foot.distance_squared(closest.point) < 0.25 * skin.edge * skin.edge;
    let lambda = || barycentric(foot, skin.triangles[closest.triangle as usize].map(|node| positions[node as usize]));
    (is_rim && near).then(|| Foot { gap, normal: face, lambda: lambda() })
}

/// Barycentric coordinates of a point in the plane of a triangle, which may be outside of it.
fn barycentric(point: DVec3, [a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let normal = (b - a).cross(c - a);
    let part = |from: DVec3, to: DVec3| (from - point).cross(to - point).dot(normal) / normal.length_squared();
    [part(b, c), part(c, a), part(a, b)]
}

/// d and n of a node against the nearest point of a surface.
fn gap_and_normal(position: DVec3, closest: &Closest, skin: &Skin, body: &Body) -> (f64, DVec3) {
    let from = position - closest.point;
    let outward = skin.outward(closest, body.positions());
    let distance = closest.distance();
    if distance > ON_SURFACE * skin.edge {
        let gap = if from.dot(outward) < 0.0 { -distance } else { distance };
        (gap, from / gap)
    } else {
        let normal = outward.normalize_or(DVec3::Y);
        (from.dot(normal), normal)
    }
}
