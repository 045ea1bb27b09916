//! Pairs that touch, and what they add to the implicit problem of a step.

use super::ContactParams;
use crate::body::Body;
use crate::linear::{End, Link};
use glam::{DMat3, DVec3};

/// A place where a body touches another, itself or an obstacle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Touching {
    /// Number of the body whose node touches.
    pub body: u32,
    /// Number of the node.
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
    Obstacle { number: u32, velocity: DVec3 },
}

/// How a node is placed against what it may touch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overlap {
    /// d at the start of the step \[m\].
    pub(super) gap: f64,
    /// n.
    pub(super) normal: DVec3,
    /// κ A \[N/m\].
    pub(super) stiffness: f64,
}

/// A node and what it may touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(super) body: u32,
    pub(super) node: u32,
    pub(super) other: Option<u32>,
    pub(super) obstacle: Option<u32>,
    pub(super) overlap: Overlap,
    /// The force on the node \[N\].
    pub(super) force: DVec3,
    link: Link,
    /// How far an obstacle moves \[m\].
    lead: DVec3,
    friction: f64,
    /// Slip below which friction is not full \[m\].
    creep: f64,
    /// s where the force was found \[m\].
    found_at: DVec3,
    /// Friction over slip \[N/m\].
    drag: f64,
}

impl Pair {
    pub(super) fn new(params: &ContactParams, overlap: Overlap, node: End, against: Against) -> Self {
        let mut ends = [node; 4];
        let (mut lead, mut count) = (DVec3::ZERO, 1);
        let (mut other, mut obstacle) = (None, None);
        match against {
            Against::Triangle { body, nodes, barycentric, tau } => {
                for (end, (node, l)) in ends[1..].iter_mut().zip(nodes.into_iter().zip(barycentric)) {
                    *end = End { body, node, lever: -l * tau };
                }
                (other, count) = (Some(body), 4);
            }
            Against::Obstacle { number, velocity } => (lead, obstacle) = (node.lever * velocity, Some(number)),
        }
        Self {
            body: node.body,
            node: node.node,
            other,
            obstacle,
            overlap,
            force: DVec3::ZERO,
            link: Link::new(&ends[..count]),
            lead,
            friction: params.friction,
            creep: params.creep_speed * node.lever,
            found_at: DVec3::ZERO,
            drag: 0.0,
        }
    }

    /// Hands a force on the node to everyone: −λ of it to the corners. For pairs of bodies that stand still.
    pub(super) fn spread(&self, force: DVec3, add: impl FnMut(usize, usize, DVec3)) {
        self.link.spread(force, add);
    }

    pub(super) fn touching(&self) -> Touching {
        let &Self { body, node, other, obstacle, force, .. } = self;
        Touching { body, node, other, obstacle, normal: self.overlap.normal, force }
    }

    /// p \[N\] after a displacement.
    pub(super) fn push(&self, s: DVec3) -> f64 {
        let Overlap { gap, normal, stiffness } = self.overlap;
        stiffness * (-gap - normal.dot(s)).max(0.0)
    }

    /// The slip in a displacement \[m\].
    fn slip(&self, s: DVec3) -> DVec3 {
        s - self.overlap.normal * self.overlap.normal.dot(s)
    }

    /// Force and resistance after a displacement.
    fn evaluate(&mut self, s: DVec3) {
        let Overlap { normal, stiffness, .. } = self.overlap;
        let (push, slip) = (self.push(s), self.slip(s));
        self.found_at = s;
        self.drag = self.friction * push / slip.length().max(self.creep);
        self.force = push * normal - self.drag * slip;
        self.link.active = push > 0.0;
        let across = outer(normal);
        self.link.block = across * stiffness + (DMat3::IDENTITY - across) * self.drag;
    }

    /// Energy of the overlap as it is \[J\].
    pub(super) fn energy(&self) -> f64 {
        let push = self.push(DVec3::ZERO);
        0.5 * push * push / self.overlap.stiffness
    }

    /// Energy of the overlap and of friction with the present push \[J\].
    fn potential(&self, s: DVec3) -> f64 {
        let push = self.push(s);
        0.5 * push * push / self.overlap.stiffness + 0.5 * self.drag * self.slip(s).length_squared()
    }
}

fn outer(n: DVec3) -> DMat3 {
    DMat3::from_cols(n * n.x, n * n.y, n * n.z)
}

/// All pairs of a step.
#[derive(Default)]
pub(crate) struct Touch {
    pub(crate) pairs: Vec<Pair>,
    /// Their resistance, for the bodies that are solved together.
    pub(crate) links: Vec<Link>,
}

impl Touch {
    /// Takes the pairs of a new step.
    pub(super) fn start(&mut self, pairs: Vec<Pair>) {
        self.pairs = pairs;
        self.links.clear();
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
        self.links.clear();
        self.links.extend(self.pairs.iter().map(|pair| pair.link));
    }

    /// Forces and resistance at u + δ.
    pub(crate) fn evaluate(&mut self, bodies: &[&mut Body]) {
        let at = |body: usize, node: usize| bodies[body].work.unknown[node] + bodies[body].work.change[node];
        for (pair, link) in self.pairs.iter_mut().zip(&mut self.links) {
            pair.evaluate(pair.link.displacement(at) - pair.lead);
            *link = pair.link;
        }
    }

    /// Tells the bodies how much contact adds to the diagonals of their matrices, for their preconditioners.
    pub(crate) fn add_diagonals(&self, bodies: &mut [&mut Body]) {
        for link in self.links.iter().filter(|link| link.active) {
            for end in link.ends() {
                let diagonal = &mut bodies[end.body as usize].work.contact_diagonal;
                diagonal.push((end.node, link.block * (end.lever * end.lever)));
            }
        }
    }

    /// Adds to r the impulses at u, by the line through those at u + δ.
    pub(crate) fn add_impulses(&self, bodies: &mut [&mut Body]) {
        for pair in self.pairs.iter().filter(|pair| pair.link.active) {
            let back = pair.link.displacement(|body, node| bodies[body].work.change[node]);
            pair.link.spread(pair.force + pair.link.block * back, |body, node, impulse| {
                let free = bodies[body].state.mesh.fixed[node].free_part(impulse);
                bodies[body].work.imbalance[node] += free;
            });
        }
    }

    /// The potential at u + s δ \[J\].
    pub(crate) fn potential(&self, bodies: &[&mut Body], s: f64) -> f64 {
        let moved = |pair: &Pair| pair.link.displacement(|body, node| bodies[body].along(s, node)) - pair.lead;
        self.pairs.iter().map(|pair| pair.potential(moved(pair))).sum()
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
            let s = pair.link.displacement(|body, node| bodies[body].work.unknown[node]) - pair.lead;
            let force = if pair.link.active { pair.force - pair.link.block * (s - pair.found_at) } else { DVec3::ZERO };
            pair.force = force;
        }
    }
}
