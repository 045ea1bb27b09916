//! What holds bodies feels them: the forces of contact on walls and prescribed bodies.
//!
//! rapier says the normal impulse of every contact, and of friction its last sub-step only. What that leaves out is found from
//! the momentum of the bodies that touch each other: their change less weight and loads came from what holds them. It is
//! shared out by the size of the pushes, so that forces on both sides are equal and opposite to rounding.

use crate::world::{SUB_STEPS, World};
use glam::DVec3;
use meniscus_core::Wrench;
use rapier3d_f64::geometry::ContactPair;
use rapier3d_f64::prelude::{ColliderHandle, ContactManifold};

/// Where a free body pushes what holds it.
struct Push {
    /// Number of the holder among all handles.
    holder: usize,
    /// Number of the body among all handles.
    body: usize,
    /// On the holder \[N\].
    force: DVec3,
    position: DVec3,
}

impl World {
    /// Forces \[N\] and torques about the origin \[N·m\] of contact on every wall and led body, by handle, after a step of
    /// `dt` \[s\]; `start` are the centres of all at its beginning, `felt` the forces of contact on the bodies \[N\].
    pub(crate) fn reactions(&self, dt: f64, start: &[DVec3], felt: &[DVec3]) -> Vec<Wrench> {
        let mut pushes = Vec::new();
        let mut group: Vec<usize> = (0..start.len()).collect();
        for pair in self.state.narrow_phase.contact_pairs() {
            let [Some(a), Some(b)] = [pair.collider1, pair.collider2].map(|collider| self.number_of(collider)) else {
                continue;
            };
            if !self.holds(a) && !self.holds(b) {
                join(&mut group, a, b);
                continue;
            }
            for manifold in pair.solver_manifolds() {
                push(manifold, self.holds(a), [a, b], start, dt, &mut pushes);
            }
        }
        pushes.retain(|push| !self.holds(push.body));
        self.share_out(&mut group, felt, &mut pushes);
        let mut sums = vec![Wrench::ZERO; start.len()];
        for Push { holder, force, position, .. } in pushes {
            sums[holder].push(position, force);
        }
        sums
    }

    /// Number of contacts that push.
    #[must_use]
    pub fn contacts(&self) -> usize {
        let pairs = self.state.narrow_phase.contact_pairs();
        let points = pairs.flat_map(ContactPair::solver_manifolds).flat_map(|manifold| &manifold.points);
        points.filter(|point| point.data.impulse > 0.0).count()
    }

    /// Makes the pushes of bodies that touch each other add up to what those bodies felt.
    fn share_out(&self, group: &mut [usize], felt: &[DVec3], pushes: &mut [Push]) {
        let mut missing = vec![DVec3::ZERO; group.len()];
        let mut weight = vec![0.0; group.len()];
        for (handle, force) in self.free_bodies().zip(felt) {
            missing[find(group, handle)] -= *force;
        }
        for push in &*pushes {
            let of = find(group, push.body);
            missing[of] -= push.force;
            weight[of] += push.force.length();
        }
        for push in pushes {
            let of = find(group, push.body);
            if weight[of] > 0.0 {
                push.force += missing[of] * (push.force.length() / weight[of]);
            }
        }
    }

    /// Number of a collider's body or wall among all handles: they were added in that order.
    fn number_of(&self, collider: ColliderHandle) -> Option<usize> {
        let parent = self.state.colliders.get(collider)?.parent()?;
        Some(parent.into_raw_parts().0 as usize)
    }
}

/// Adds the pushes of a group of contacts; the first of two handles holds the second, or the other way round.
fn push(manifold: &ContactManifold, first: bool, [a, b]: [usize; 2], start: &[DVec3], dt: f64, pushes: &mut Vec<Push>) {
    let (holder, body) = if first { (a, b) } else { (b, a) };
    // The first body is pushed against the normal, and along what friction says.
    let sign = if first { 1.0 } else { -1.0 };
    let active = || manifold.points.iter().filter(|point| point.data.impulse > 0.0);
    let count = active().count() as f64;
    for point in active() {
        let arm = if first { point.data.solver_dp2 } else { point.data.solver_dp1 };
        let friction = point.data.warmstart_tangent_world * (SUB_STEPS as f64 / count);
        let impulse = sign * (friction - point.data.impulse * manifold.data.normal);
        pushes.push(Push { holder, body, force: impulse / dt, position: start[body] + arm });
    }
}

/// The first of those that touch each other.
fn find(group: &mut [usize], mut member: usize) -> usize {
    while group[member] != member {
        group[member] = group[group[member]];
        member = group[member];
    }
    member
}

fn join(group: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(group, a), find(group, b));
    group[a.max(b)] = a.min(b);
}
