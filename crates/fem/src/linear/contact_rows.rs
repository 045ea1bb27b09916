//! Resistance between nodes that share no element, of one body or of several: a few rows that join conjugate gradients.

use crate::linear::cg::{Part, Unknowns};
use crate::linear::rigid_unknowns::{ContactRows, Rider};
use glam::{DMat3, DVec3};

/// A node that takes part in a link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct End {
    /// Number of the body.
    pub(crate) body: u32,
    /// Number of the node in it.
    pub(crate) node: u32,
    /// How much the link moves when the node's unknown is one: a weight times τ \[s\].
    pub(crate) lever: f64,
}

/// Up to four nodes whose joint displacement s = Σ lever u is resisted: B s on the link, lever B s on each node.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ContactRow {
    ends: [End; 4],
    count: usize,
    /// B \[N/m\], symmetric and not negative.
    pub(crate) block: DMat3,
    /// Whether B is not zero.
    pub(crate) active: bool,
    /// A rigid body that takes part.
    pub(crate) rider: Option<Rider>,
}

impl ContactRow {
    /// A link of some nodes that does not resist yet.
    pub(crate) fn new(nodes: &[End]) -> Self {
        let mut link = Self { count: nodes.len().min(4), ..Self::default() };
        link.ends.iter_mut().zip(nodes).for_each(|(end, node)| *end = *node);
        link
    }

    /// The nodes.
    pub(crate) fn ends(&self) -> &[End] {
        &self.ends[..self.count]
    }

    /// Gives the bodies new numbers.
    pub(crate) fn renumber(&mut self, number: &[u32]) {
        self.ends[..self.count].iter_mut().for_each(|end| end.body = number[end.body as usize]);
    }

    /// s of a nodal quantity.
    pub(crate) fn displacement(&self, value: impl Fn(usize, usize) -> DVec3) -> DVec3 {
        self.ends().iter().fold(DVec3::ZERO, |s, end| s + end.lever * value(end.body as usize, end.node as usize))
    }

    /// Hands a force \[N\] to the nodes, times their levers.
    pub(crate) fn spread(&self, force: DVec3, mut add: impl FnMut(usize, usize, DVec3)) {
        self.ends().iter().for_each(|end| add(end.body as usize, end.node as usize, end.lever * force));
    }
}

/// `to` += factor Σ B s(`from`) in the free directions, rigid bodies eliminated; returns Σ s·B s.
pub(super) fn add_links<U: Unknowns>(
    all: &mut [U],
    links: &mut ContactRows,
    factor: f64,
    from: impl Fn(&Part<'_>, usize) -> DVec3,
    to: impl for<'a> Fn(&'a mut Part<'_>, usize) -> &'a mut DVec3,
) -> f64 {
    if !links.floats.is_empty() {
        links.find_responses(|link| moved(all, link, &from));
    }
    let mut sum = 0.0;
    for link in links.all.iter().filter(|link| link.active) {
        let s = moved(all, link, &from);
        let force = link.block * (s + links.response(link));
        sum += s.dot(force);
        link.spread(factor * force, |body, node, force| {
            let mut part = all[body].part();
            let free = part.fixed[node].free_part(force);
            *to(&mut part, node) += free;
        });
    }
    sum
}

/// s of a link without its rigid body; zero where it does not resist.
fn moved<U: Unknowns>(all: &mut [U], link: &ContactRow, from: &impl Fn(&Part<'_>, usize) -> DVec3) -> DVec3 {
    let mut s = DVec3::ZERO;
    for end in link.ends().iter().filter(|_| link.active) {
        s += end.lever * from(&all[end.body as usize].part(), end.node as usize);
    }
    s
}
