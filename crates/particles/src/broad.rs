//! Which bodies can touch: a hierarchy of bounding volumes over the boxes of all bodies.
//!
//! Boxes that overlap make a pair of bodies, and only particles in the part of space that both share are looked at one by one. A
//! deformable body can touch itself only if it is far from its shape at rest: with u the farthest that a particle is from where
//! a rotation of the rest shape has it, particles that are R apart at rest are at least R − 2u apart now.
//!
//! The pairs are those of boxes that overlap, whatever the tree is like: they depend on positions alone.

use crate::interface::{Matter, NO_NEIGHBOURS};
use crate::motion::{Body, Kind};
use glam::{DMat3, DVec3};
use meniscus_geometry::Aabb;
use parry3d_f64::bounding_volume;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// How far particles reach for each other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// Stickiness, in distances of touch, dimensionless.
    pub(crate) sticky: f64,
    /// Distance beyond that \[m\].
    pub(crate) skin: f64,
}

impl Reach {
    /// Distance up to which two particles whose radii have this sum \[m\] are listed \[m\].
    pub(crate) fn of(&self, radii: f64) -> f64 {
        radii * (1.0 + self.sticky) + self.skin
    }
}

/// The tree of bodies, and what it finds.
#[derive(Clone, Default)]
pub(crate) struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Boxes around the centres of the particles of each body \[m\].
    boxes: Vec<Aabb>,
    pairs: Vec<[u32; 2]>,
    wanted: Vec<bool>,
}

impl BroadPhase {
    /// Lists, in rising order, the particles that another one may be within reach of.
    pub(crate) fn find(
        &mut self,
        position: &[DVec3],
        reach: Reach,
        (bodies, matter): (&[Body], &Matter),
        found: &mut Vec<u32>,
    ) {
        self.find_pairs(position, reach, bodies);
        let Self { boxes, pairs, wanted, .. } = self;
        wanted.clear();
        wanted.resize(position.len(), false);
        for &[a, b] in &*pairs {
            for (own, other) in [(a, b), (b, a)].map(|(a, b)| (&bodies[a as usize], b as usize)) {
                let near = boxes[other].grow(reach.of(own.radius + bodies[other].radius));
                let range = own.range.clone();
                let own = wanted[range.clone()].iter_mut().zip(&position[range]);
                own.for_each(|(wanted, x)| *wanted |= near.contains(*x));
            }
        }
        for body in bodies {
            if !wanted[body.range.clone()].iter().all(|wanted| *wanted) && touches_itself(body, position, reach, matter)
            {
                wanted[body.range.clone()].fill(true);
            }
        }
        found.clear();
        found.extend((0..).zip(&*wanted).filter(|(_, wanted)| **wanted).map(|(i, _)| i));
    }

    /// Pairs of bodies whose boxes overlap.
    fn find_pairs(&mut self, position: &[DVec3], reach: Reach, bodies: &[Body]) {
        let Self { tree, workspace, boxes, pairs, .. } = self;
        boxes.clear();
        boxes.extend(bodies.iter().map(|body| Aabb::around(position[body.range.clone()].iter().copied())));
        for (number, (own, body)) in (0..).zip(boxes.iter().zip(bodies)) {
            // Half of what two bodies of this kind reach.
            let grown = own.grow(0.5 * reach.of(2.0 * body.radius));
            tree.insert_or_update_partially(bounding_volume::Aabb::new(grown.min, grown.max), number, 0.0);
        }
        tree.rebuild(workspace, BvhBuildStrategy::Binned);
        pairs.clear();
        tree.traverse_bvtt_single_tree::<false>(workspace, &mut |a, b| pairs.push([a.min(b), a.max(b)]));
    }
}

/// Whether two particles of a body that are no neighbours at rest may be within reach of each other.
fn touches_itself(body: &Body, position: &[DVec3], reach: Reach, matter: &Matter) -> bool {
    let Kind::Deformable(_) = &body.kind else { return false };
    let (now, rest) = (&position[body.range.clone()], &matter.rest[body.range.clone()]);
    let count = now.len() as f64;
    let middle = now.iter().sum::<DVec3>() / count;
    let rest_middle = rest.iter().sum::<DVec3>() / count;
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let [moment, rest_moment] = now.iter().zip(rest).fold([DMat3::ZERO; 2], |[moment, at_rest], (x, rest)| {
        let (x, rest) = (*x - middle, *rest - rest_middle);
        [moment + outer(x, rest), at_rest + outer(rest, rest)]
    });
    let turn = rotation(moment * rest_moment.inverse());
    let off = |(x, rest): (&DVec3, &DVec3)| (*x - middle).distance_squared(turn * (*rest - rest_middle));
    let farthest = now.iter().zip(rest).map(off).fold(0.0, f64::max).sqrt();
    let smallest = matter.radius[body.range.clone()].iter().copied().fold(f64::INFINITY, f64::min);
    let surely_apart = NO_NEIGHBOURS * 2.0 * smallest - 2.0 * farthest > reach.of(2.0 * body.radius);
    // Not sure either where there is no rotation, as for particles on a line.
    !surely_apart
}

/// A rotation near to a deformation: its columns made orthonormal, one after the other. Any one would do; a near one lets more
/// bodies pass.
fn rotation(deformation: DMat3) -> DMat3 {
    let x = deformation.x_axis.normalize();
    let y = (deformation.y_axis - x * x.dot(deformation.y_axis)).normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Elastic, Matter as Stuff, Params, System};
    use glam::DQuat;
    use meniscus_geometry::{Shape, fill};
    use proptest::prelude::*;

    const SPACING: f64 = 0.05;

    /// Bodies of 64 particles, every other one rigid; soft ones are bent and pressed together by a part `squeeze`.
    fn bodies(positions: &[(DVec3, DVec3)], squeeze: f64, params: Params) -> System {
        let stuff = Stuff { spacing: SPACING, density: 500.0 };
        let half = 2.0 * SPACING;
        let cube = fill(&Shape::Box(Aabb::new(DVec3::splat(-half), DVec3::splat(half))), SPACING, &[]).unwrap();
        let mut system = System::new(params, 1e5, 0.4);
        for (number, &(middle, turn)) in positions.iter().enumerate() {
            let turn = DQuat::from_scaled_axis(turn);
            let placed: Vec<DVec3> = cube.iter().map(|&p| middle + turn * p).collect();
            if number % 2 == 0 {
                let elastic = Elastic { young: 1e5, damping: 0.1 };
                system.add_deformable(&stuff.deformable("soft", &placed, elastic).unwrap()).unwrap();
                let bent = |p: &DVec3| DVec3::new(p.x, squeeze * p.y, p.z + 2.0 * (1.0 - squeeze) * p.y * p.y / half);
                let now = system.particles_of(number).zip(cube.iter().map(bent));
                now.for_each(|(i, p)| system.state.position[i] = middle + turn * p);
            } else {
                system.add_rigid(&stuff.rigid("hard", &placed).unwrap()).unwrap();
            }
        }
        system
    }

    /// Every pair within reach, looked at one by one.
    fn all_pairs(system: &System, reach: Reach) -> Vec<[u32; 2]> {
        let (x, matter) = (&system.state.position, &system.matter);
        let mut pairs = Vec::new();
        for i in 0..x.len() {
            for j in i + 1..x.len() {
                let (radii, same) = (matter.radius[i] + matter.radius[j], matter.body[i] == matter.body[j]);
                let rigid = matches!(system.bodies[matter.body[i] as usize].kind, Kind::Rigid(_));
                let near_at_rest = matter.rest[i].distance(matter.rest[j]) < NO_NEIGHBOURS * radii;
                if x[i].distance(x[j]) < reach.of(radii) && !(same && (rigid || near_at_rest)) {
                    pairs.push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }

    fn vector(most: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-most..most).prop_map(DVec3::from_array)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn the_tree_finds_what_all_pairs_give(
            positions in prop::collection::vec((vector(0.5), vector(3.0)), 1..9),
            squeeze in 0.2f64..1.0,
            sticky in 0.0f64..0.5,
            again in vector(0.3),
        ) {
            let mut system = bodies(&positions, squeeze, Params { sticky, ..Params::default() });
            let reach = Reach { sticky, skin: crate::interface::SKIN * SPACING };
            // A second time with other positions: the tree is made anew from the old one.
            for step in 0..2 {
                let law = system.law;
                system.interface.forget_search();
                let now = [&system.state.position[..], &system.state.velocity[..]];
                system.interface.update(now, 0.0, &law, (&system.bodies, &system.matter));
                let found: Vec<[u32; 2]> = system.interface.dynamic_connections.iter().map(|pair| pair.ends).collect();
                prop_assert_eq!(found, all_pairs(&system, reach), "search {}", step);
                let moved = system.particles_of(0);
                system.state.position[moved].iter_mut().for_each(|x| *x += again);
            }
        }
    }

    #[test]
    fn only_particles_that_can_touch_are_looked_at() {
        let reach = Reach { sticky: 0.0, skin: 0.02 };
        let looked_at = |apart: f64, squeeze: f64| {
            let system =
                bodies(&[(DVec3::ZERO, DVec3::ONE), (DVec3::X * apart, DVec3::ZERO)], squeeze, Params::default());
            let mut found = Vec::new();
            let of = (&system.bodies[..], &system.matter);
            BroadPhase::default().find(&system.state.position, reach, of, &mut found);
            found.len()
        };
        // Far apart, turned but whole: none. Pressed together: all of the soft one. Near: the sides that face each other.
        assert_eq!(looked_at(1.0, 1.0), 0);
        assert_eq!(looked_at(1.0, 0.4), 64);
        let few = looked_at(0.22, 1.0);
        assert!(0 < few && few < 100, "{few}");
    }
}
