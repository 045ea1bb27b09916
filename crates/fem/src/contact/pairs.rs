//! Pairs that touch, and what they add to the implicit problem of a step.

use super::ContactParams;
use super::law::Overlap;
use crate::body::Body;
use crate::linear::{ContactRow, ContactRows, End, Float, Rider};
use glam::{DMat3, DVec3};

/// A place where a body touches another, itself or an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactPoint {
    /// Number of the body whose node touches.
    pub body: u32,
    /// Number of the node; where an obstacle touches between nodes, one of the triangle's.
    pub node: u32,
    /// Number of the body touched; none for an obstacle.
    pub other: Option<u32>,
    /// Number of the obstacle touched; none for a body.
    pub obstacle: Option<u32>,
    /// Normal towards the node.
    pub normal: DVec3,
    /// Force on the node, friction included \[N\].
    pub force: DVec3,
}

/// What a node may touch.
pub(super) enum Against {
    Triangle { body: u32, nodes: [u32; 3], barycentric: [f64; 3], tau: f64 },
    Obstacle(Hold),
}

/// An obstacle at a position.
pub(super) struct Hold {
    pub(super) number: u32,
    /// Its velocity there \[m/s\].
    pub(super) velocity: DVec3,
    /// The position \[m\].
    pub(super) position: DVec3,
    /// Its number among those that answer, and the arm of the position \[m\].
    pub(super) compliant: Option<(u32, DVec3)>,
}

/// A node and what it may touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(super) body: u32,
    pub(super) node: u32,
    pub(super) other: Option<u32>,
    /// Number of the obstacle, and where it touches \[m\].
    pub(super) obstacle: Option<(u32, DVec3)>,
    pub(super) overlap: Overlap,
    /// The force on the node, or on the point of an obstacle \[N\].
    force: DVec3,
    /// Whether it is a point of an obstacle that touches the body's triangle.
    sample: bool,
    link: ContactRow,
    /// How far an obstacle moves, as seen from the nodes \[m\].
    prescribed: DVec3,
    friction: f64,
    /// Slip below which friction is not full \[m\].
    creep: f64,
    /// s where the force was found \[m\].
    found_at: DVec3,
    /// Friction over slip \[N/m\].
    drag: f64,
}

impl Pair {
    /// A node against what it may touch.
    pub(super) fn new(params: &ContactParams, overlap: Overlap, node: End, against: Against) -> Self {
        match against {
            Against::Triangle { body, nodes, barycentric, tau } => {
                let mut ends = [node; 4];
                ends[1..].copy_from_slice(&corners(body, nodes, barycentric, tau));
                Self { other: Some(body), ..Self::between(params, overlap, &ends, node.lever) }
            }
            Against::Obstacle(hold) => Self::between(params, overlap, &[node], node.lever).held(&hold, -node.lever),
        }
    }

    /// A point of an obstacle against a triangle of a body.
    pub(super) fn of_sample(
        params: &ContactParams,
        overlap: Overlap,
        corners: [End; 3],
        tau: f64,
        hold: &Hold,
    ) -> Self {
        Self { sample: true, ..Self::between(params, overlap, &corners, tau).held(hold, tau) }
    }

    fn between(params: &ContactParams, overlap: Overlap, ends: &[End], tau: f64) -> Self {
        Self {
            body: ends[0].body,
            node: ends[0].node,
            other: None,
            obstacle: None,
            overlap,
            force: DVec3::ZERO,
            sample: false,
            link: ContactRow::new(ends),
            prescribed: DVec3::ZERO,
            friction: params.friction,
            creep: params.creep_speed * tau,
            found_at: DVec3::ZERO,
            drag: 0.0,
        }
    }

    fn held(mut self, hold: &Hold, lever: f64) -> Self {
        self.prescribed = lever * hold.velocity;
        self.obstacle = Some((hold.number, hold.position));
        self.link.rider = hold.compliant.map(|(float, arm)| Rider { float, arm, lever });
        self
    }

    /// Hands a force on the node to everyone: −λ of it to the corners. For pairs of bodies that stand still.
    pub(super) fn spread(&self, force: DVec3, add: impl FnMut(usize, usize, DVec3)) {
        self.link.spread(force, add);
    }

    pub(super) fn contact_point(&self) -> ContactPoint {
        let &Self { body, node, other, .. } = self;
        let normal = if self.sample { -self.overlap.normal } else { self.overlap.normal };
        let obstacle = self.obstacle.map(|(number, _)| number);
        ContactPoint { body, node, other, obstacle, normal, force: self.on_soft() }
    }

    /// The force on the node, or on the triangle that an obstacle touches \[N\].
    pub(super) fn on_soft(&self) -> DVec3 {
        if self.sample { -self.force } else { self.force }
    }

    /// Number of its body among those that are solved together.
    fn group_number(&self) -> usize {
        self.link.ends()[0].body as usize
    }

    /// Its share of what obstacles feel \[N\].
    fn weight(&self) -> f64 {
        if self.obstacle.is_some() { self.force.length() } else { 0.0 }
    }

    /// s: what its nodes, its obstacle and what that answers make of it \[m\].
    fn displacement(&self, links: &ContactRows, nodes: DVec3) -> DVec3 {
        let response = self.link.rider.map(|rider| rider.displacement(links.floats[rider.float as usize].motion));
        nodes + self.prescribed + response.unwrap_or_default()
    }

    /// The slip in a displacement \[m\].
    fn slip(&self, s: DVec3) -> DVec3 {
        s - self.overlap.normal * self.overlap.normal.dot(s)
    }

    /// Force and resistance after a displacement.
    fn evaluate(&mut self, s: DVec3) {
        let (push, slip, normal) = (self.overlap.push(s), self.slip(s), self.overlap.normal);
        self.found_at = s;
        self.drag = self.friction * push / slip.length().max(self.creep);
        self.force = push * normal - self.drag * slip;
        self.link.active = push > 0.0;
        let across = outer(normal);
        self.link.block = across * self.overlap.resistance(s) + (DMat3::IDENTITY - across) * self.drag;
    }

    /// Energy of the overlap as it is \[J\].
    pub(super) fn energy(&self) -> f64 {
        self.overlap.energy()
    }

    /// Energy of the overlap and of friction with the present push \[J\].
    fn potential(&self, s: DVec3) -> f64 {
        self.overlap.potential(s) + 0.5 * self.drag * self.slip(s).length_squared()
    }
}

/// The corners of a triangle as ends of a link that a point of it belongs to.
pub(super) fn corners(body: u32, nodes: [u32; 3], barycentric: [f64; 3], tau: f64) -> [End; 3] {
    std::array::from_fn(|k| End { body, node: nodes[k], lever: -barycentric[k] * tau })
}

fn outer(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}

/// All pairs of a step.
#[derive(Default)]
pub(crate) struct ContactPairs {
    pub(crate) pairs: Vec<Pair>,
    /// Their resistance, for the bodies that are solved together.
    pub(crate) links: ContactRows,
    /// The bodies that are solved together, in the order of their numbers there.
    pub(super) members: Vec<usize>,
}

impl ContactPairs {
    /// Takes the pairs of a new step, and the rigid bodies that answer.
    pub(super) fn start(&mut self, pairs: Vec<Pair>, floats: impl Iterator<Item = Float>) {
        self.pairs = pairs;
        self.links.all.clear();
        self.links.floats.clear();
        self.links.floats.extend(floats);
    }

    /// Whether a body has a pair.
    pub(super) fn involves(&self, body: usize) -> bool {
        self.pairs.iter().any(|pair| pair.link.ends().iter().any(|end| end.body as usize == body))
    }

    /// Numbers the bodies as they are solved together.
    pub(super) fn renumber(&mut self, number: &[u32]) {
        for pair in &mut self.pairs {
            pair.link.renumber(number);
        }
        self.links.all.clear();
        self.links.all.extend(self.pairs.iter().map(|pair| pair.link));
    }

    /// Forces and resistance at u + δ.
    pub(crate) fn evaluate(&mut self, bodies: &[&mut Body]) {
        let at = |body: usize, node: usize| bodies[body].work.unknown[node] + bodies[body].work.change[node];
        for (number, pair) in self.pairs.iter_mut().enumerate().take(self.links.all.len()) {
            pair.evaluate(pair.displacement(&self.links, pair.link.displacement(at)));
            self.links.all[number] = pair.link;
        }
        self.links.prepare();
    }

    /// Tells the bodies how much contact adds to the diagonals of their matrices, for their preconditioners.
    pub(crate) fn add_diagonals(&self, bodies: &mut [&mut Body]) {
        for link in self.links.all.iter().filter(|link| link.active) {
            for end in link.ends() {
                let diagonal = &mut bodies[end.body as usize].work.contact_diagonal;
                diagonal.push((end.node, link.block * (end.lever * end.lever)));
            }
        }
    }

    /// Adds to r the impulses at u, by the line through those at u + δ, and the response of rigid bodies to them.
    pub(crate) fn add_impulses(&mut self, bodies: &mut [&mut Body]) {
        let at_u = |pair: &Pair| {
            let back = pair.link.displacement(|body, node| bodies[body].work.change[node]);
            pair.force + pair.link.block * back
        };
        self.links.balance(|number| at_u(&self.pairs[number]));
        for pair in self.pairs.iter().filter(|pair| pair.link.active) {
            let back = pair.link.displacement(|body, node| bodies[body].work.change[node]);
            let response =
                pair.link.rider.map(|rider| rider.displacement(self.links.floats[rider.float as usize].change));
            let force = pair.force + pair.link.block * (back - response.unwrap_or_default());
            pair.link.spread(force, |body, node, impulse| {
                let free = bodies[body].state.mesh.fixed[node].free_part(impulse);
                bodies[body].work.imbalance[node] += free;
            });
        }
    }

    /// Lets rigid bodies answer to δ.
    pub(crate) fn follow(&mut self, bodies: &[&mut Body]) {
        self.links.follow(|link| link.displacement(|body, node| bodies[body].work.change[node]));
    }

    /// Moves rigid bodies on by a part of their change.
    pub(crate) fn go(&mut self, s: f64) {
        self.links.floats.iter_mut().for_each(|float| float.go(s));
    }

    /// The potential at u + s δ \[J\].
    pub(crate) fn potential(&self, bodies: &[&mut Body], s: f64) -> f64 {
        let moved = |pair: &Pair| {
            let nodes = pair.link.displacement(|body, node| bodies[body].along(s, node));
            let float = |rider: Rider| rider.displacement(self.links.floats[rider.float as usize].change) * s;
            pair.displacement(&self.links, nodes) + pair.link.rider.map(float).unwrap_or_default()
        };
        let rigid: f64 = self.links.floats.iter().map(|float| float.energy(s)).sum();
        rigid + self.pairs.iter().map(|pair| pair.potential(moved(pair))).sum::<f64>()
    }

    /// Whether a common translation of all bodies meets no resistance.
    pub(crate) fn keeps_momentum(&self) -> bool {
        let balanced = |pair: &Pair| {
            let sum: f64 = pair.link.ends().iter().map(|end| end.lever).sum();
            sum.abs() <= 1e-12 * pair.link.ends()[0].lever
        };
        self.pairs.iter().all(|pair| !pair.link.active || balanced(pair))
    }

    /// Brings the forces to where the solution ended: those that acted, on both sides.
    pub(super) fn note_forces(&mut self, bodies: &mut [&mut Body]) {
        for pair in &mut self.pairs {
            let nodes = pair.link.displacement(|body, node| bodies[body].work.unknown[node]);
            let s = pair.displacement(&self.links, nodes);
            let force = if pair.link.active { pair.force - pair.link.block * (s - pair.found_at) } else { DVec3::ZERO };
            pair.force = force;
        }
    }

    /// The work \[J\] in a step of `dt` \[s\] of a pair's force on nodes that are led, which whoever leads them has to do.
    pub(super) fn work_on_prescribed(&self, pair: &Pair, bodies: &[Body], dt: f64) -> f64 {
        let mut work = 0.0;
        pair.link.spread(pair.force, |number, node, impulse| {
            let body = &bodies[self.members[number]];
            let prescribed = body.work.unknown[node] - body.state.mesh.fixed[node].free_part(body.work.unknown[node]);
            work += dt / body.work.problem.tau * impulse.dot(prescribed);
        });
        work
    }

    /// Shares out among the obstacles that a free body touches what is missing in its momentum, since the solution is not
    /// exact: obstacles feel exactly what bodies feel.
    pub(super) fn keep_momentum(&mut self, bodies: &[&mut Body]) {
        let mut missing: Vec<DVec3> = bodies.iter().map(|body| body.missing_momentum()).collect();
        let mut weight = vec![0.0; bodies.len()];
        for pair in &self.pairs {
            pair.link.spread(pair.force, |body, _, impulse| missing[body] += impulse);
            weight[pair.group_number()] += pair.weight();
        }
        for pair in &mut self.pairs {
            let body = pair.group_number();
            if pair.weight() > 0.0 && bodies[body].is_free() {
                let lever: f64 = pair.link.ends().iter().map(|end| end.lever).sum();
                pair.force -= missing[body] * (pair.weight() / (weight[body] * lever));
            }
        }
    }
}
