//! Bodies that answer: surfaces that move as their nodes do and carry the liquid's push back to them \[MSTHG04 sec. 4\].
//!
//! In each step the triangles that liquid is near to give each particle within reach its 1 − γ and ∇γ, as any wall does
//! ([`crate::wall_quadrature`]), and what part of ∇γ belongs to which node:
//!
//! > Bᵢₖ = ∫ λₖ W n dA,  ∇γᵢ = Σₖ Bᵢₖ
//!
//! The integrals are taken along the edges of the triangles ([`edges`]), or summed over their pieces with seven Gauss points
//! each ([`gauss_quadrature`]). Pressure qᵢ pushes the particle with V0 qᵢ Σₖ Bᵢₖ and node k with −V0 Σᵢ qᵢ Bᵢₖ: equal and opposite. Dry
//! triangles cost nothing.
//!
//! A light body would be thrown about by a liquid that takes it for a wall which moves as it did: the added mass of the
//! liquid exceeds its own. So the pressure is found with a body that gives way,
//!
//! > u = v + Δt H (f − f°),
//!
//! f° being the force of the last step, which its velocity knows already. H is how the body answers to a force that is new in
//! the step, stiffness and all ([`Compliance`]); where that is not known, the inverse masses of loose nodes. What the body does
//! otherwise is made good in the next step, and at rest nothing is left. A stiff body that is taken for loose nodes shakes:
//! with the liquid's mass six times its own, steps of 6 ms grow by 4 % each.

mod ccd;
mod closest_point;
mod compaction;
mod coupled;
mod edges;
mod gauss_quadrature;
mod prescribed;

use crate::liquid::dfsph::corrected::Symmetric;
use crate::simd::KernelLanes;
use crate::wall_quadrature::{Bevel, MAX_PIECES, Miter, whole_wall_fraction};
pub(crate) use ccd::Passed;
use ccd::Sweep;
use fearless_simd::{Level, dispatch};
pub(crate) use gauss_quadrature::{FARTHEST, IntegrationScheme, PointHold, SortedParticles, TractionKernel};
use gauss_quadrature::{Face, Scratch};
use glam::{DVec3, Vec3};
use meniscus_boundary::Compliance;
use meniscus_core::par;
use meniscus_geometry::{NeighbourGrid, quadrature};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A surface that moves, and what it does when it is pushed.
#[derive(Debug, Default)]
pub struct Body {
    /// Nodes at the start of the step \[m\].
    pub positions: Vec<DVec3>,
    /// Their velocities \[m/s\].
    pub velocities: Vec<DVec3>,
    /// Accelerations of the nodes in the last step by all that goes on, gravity and blows excepted \[m/s²\]; none where they are not known.
    pub accelerations: Vec<DVec3>,
    /// Triangles that face the liquid, as nodes.
    pub triangles: Vec<[u32; 3]>,
    /// What it does when it is pushed.
    pub compliance: Compliance,
}

/// A part of ∇γ of a particle that belongs to a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NodeWeight {
    pub(crate) particle: u32,
    /// Number of the node among those of all bodies.
    pub(crate) node: u32,
    /// Bᵢₖ \[1/m\].
    pub(crate) weight: Vec3,
}

/// Nodes that feel the friction of a particle, and in what parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FrictionContact {
    pub(crate) particle: u32,
    pub(crate) nodes: [u32; 3],
    pub(crate) lambda: Vec3,
}

/// A triangle near to liquid.
#[derive(Debug, Clone, Copy)]
struct WetTriangle {
    /// Nodes, numbered over all bodies.
    nodes: [u32; 3],
    face: Face,
}

/// What a triangle does to a particle.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    particle: u32,
    /// Part of 1 − γ.
    wall_fraction: f32,
    /// Part of ∇γ for each corner \[1/m\].
    parts: [Vec3; 3],
}

/// Where a particle is nearest to a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ClosestPoint {
    /// \[m\]; infinite out of reach.
    distance: f32,
    lambda: Vec3,
}

/// The nearest of all wet triangles.
#[derive(Debug, Clone, Copy, PartialEq)]
struct NearestWet {
    point: ClosestPoint,
    triangle: u32,
}

impl NearestWet {
    const NONE: Self = Self { point: ClosestPoint { distance: f32::INFINITY, lambda: Vec3::ZERO }, triangle: 0 };
}

/// The particles that a triangle touches.
#[derive(Debug, Clone, Default)]
struct Pairs {
    pairs: Vec<Pair>,
    /// Where particles within reach of its friction are nearest to it.
    closest_points: Vec<(u32, ClosestPoint)>,
}

/// Triangles that a thread takes at a time.
const TASK: usize = 2;

/// Lists of links sorted by node: so many can be sorted side by side. Part of the result's definition.
const LISTS: usize = 4;

/// Links sorted by node, and where those of each node begin.
#[derive(Debug, Clone, Default)]
struct ByNode {
    links: Vec<(u32, Vec3)>,
    begin: Vec<u32>,
}

impl ByNode {
    /// Sorts the links of some blocks to wet nodes, of all `nodes`; those of a node keep their order.
    fn sort(&mut self, blocks: &[Vec<NodeWeight>], wet: &[Range<usize>], nodes: usize) {
        let Self { links, begin } = self;
        begin.resize(nodes + 1, 0);
        wet.iter().for_each(|wet| begin[wet.clone()].fill(0));
        for link in blocks.iter().flatten() {
            begin[link.node as usize] += 1;
        }
        let mut sum = 0;
        for wet in wet {
            for count in &mut begin[wet.clone()] {
                sum += *count;
                *count = sum;
            }
            begin[wet.end] = sum;
        }
        links.resize(sum as usize, (0, Vec3::ZERO));
        for link in blocks.iter().rev().flat_map(|block| block.iter().rev()) {
            let next = &mut begin[link.node as usize];
            *next -= 1;
            links[*next as usize] = (link.particle, link.weight);
        }
    }

    fn of(&self, node: usize) -> &[(u32, Vec3)] {
        &self.links[self.begin[node] as usize..self.begin[node + 1] as usize]
    }
}

/// All bodies, and what they touch in a step.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// Animated walls first, then those that answer.
    bodies: Vec<Body>,
    /// The walls that count as bodies.
    prescribed: Vec<usize>,
    /// Number of the first node of each body, and of all nodes.
    first: Vec<u32>,
    /// Positions \[m\] and velocities of all nodes \[m/s\].
    position: Vec<Vec3>,
    velocity: Vec<Vec3>,
    /// How fast each node gives way to a force on it alone, at most \[1/kg\], and the largest of these.
    node_compliance: Vec<f64>,
    largest_compliance: f64,
    wet: Vec<WetTriangle>,
    /// Which bodies have some, and the nodes of these: ranges that do not touch each other.
    is_wet: Vec<bool>,
    wet_nodes: Vec<Range<usize>>,
    /// Which triangles of a body are near to liquid.
    near: Vec<bool>,
    /// Those that touch wet ones, and how the nodes of a body move with them.
    bevels: Vec<Option<Bevel>>,
    miters: Vec<Miter>,
    /// How far the nodes of a body are moved into the liquid \[m\]; those of dry triangles not.
    shifts: Vec<Option<DVec3>>,
    /// For each wet triangle; there may be more lists than triangles.
    pairs: Vec<Pairs>,
    /// Memory of each thread: what all triangles use stays in its cache.
    scratch: Vec<Mutex<Scratch>>,
    /// For each block of particles: particle, wet triangle, index in its list, in this order.
    touched: Vec<Vec<[u32; 3]>>,
    unsorted: Vec<Vec<[u32; 3]>>,
    /// Whose friction each particle feels.
    nearest: Vec<NearestWet>,
    /// Links of the first blocks, the next ones and so on.
    by_node: [ByNode; LISTS],
    /// Forces or accelerations of all nodes in the course of a solve.
    response: Vec<DVec3>,
    /// Accelerations of all nodes if they feel what they felt in the last step \[m/s²\], with corrected gradients; zero where not known.
    predicted: Vec<DVec3>,
    /// What the nodes feel already at the start of a solve \[N\].
    start: Vec<DVec3>,
    /// Force on each node in the last step \[N\].
    force: Vec<DVec3>,
    /// Whether the nodes of a body are other ones than in the last step.
    renumbered: Vec<bool>,
    /// Where the nodes are at the end of the step \[m\], how wet triangles came there, and what they have stopped, for each
    /// block of particles.
    ends: Vec<DVec3>,
    sweeps: Vec<Sweep>,
    stopped: Vec<Vec<Passed>>,
}

/// What all bodies do to a particle.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BodyContact {
    pub(crate) wall_fraction: f32,
    /// ∇γ \[1/m\].
    pub(crate) gamma_gradient: Vec3,
    /// ∫ W n⊗(x − y) dA over the surface, the symmetric part: what it adds to the moments of gradients, dimensionless.
    pub(crate) moment: Symmetric,
    /// ∇γ times the velocity of the surface \[1/s\].
    pub(crate) gamma_rate: f32,
    /// Distance of the surface \[m\], if friction reaches that far, and the velocity there \[m/s\].
    pub(crate) distance: Option<f32>,
    pub(crate) velocity: Vec3,
    /// Whose nodes feel the friction, and in what parts.
    pub(crate) friction_nodes: [u32; 3],
    pub(crate) lambda: Vec3,
    /// Which animated wall these belong to, if they do.
    pub(crate) prescribed: Option<usize>,
}

impl Bodies {
    pub(crate) fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// The nodes of a body among those of all.
    pub(crate) fn nodes_of(&self, body: usize) -> Range<usize> {
        self.first[body] as usize..self.first[body + 1] as usize
    }

    /// Acceleration of a node as it has response_of in a solve \[m/s²\].
    pub(crate) fn response_of(&self, node: u32) -> Vec3 {
        self.response[node as usize].as_vec3()
    }

    /// Nodes feel nothing yet at the start of a solve.
    pub(crate) fn start_from_nothing(&mut self) {
        self.start.fill(DVec3::ZERO);
    }

    /// Numbers the nodes.
    pub(crate) fn number(&mut self) {
        self.first.clear();
        self.first.push(0);
        self.position.clear();
        self.velocity.clear();
        for body in &self.bodies {
            self.position.extend(body.positions.iter().map(|x| x.as_vec3()));
            self.velocity.extend(body.velocities.iter().map(|v| v.as_vec3()));
            self.first.push(self.velocity.len() as u32);
        }
        let count = self.velocity.len();
        self.node_compliance.clear();
        self.node_compliance.extend(self.bodies.iter().flat_map(Body::compliances));
        self.largest_compliance = self.node_compliance.iter().copied().fold(0.0, f64::max);
        self.response.resize(count, DVec3::ZERO);
        self.start.resize(count, DVec3::ZERO);
        self.predicted.clear();
        self.predicted.resize(count, DVec3::ZERO);
        self.force.clear();
        self.force.resize(count, DVec3::ZERO);
    }

    /// Integrates over the triangles that liquid may touch, for each particle that is near one.
    pub(crate) fn integrate<K: KernelLanes>(
        &mut self,
        level: Level,
        scheme: IntegrationScheme,
        liquid: SortedParticles<'_>,
    ) {
        self.find_wet(scheme, liquid.0);
        if self.pairs.len() < self.wet.len() {
            self.pairs.resize_with(self.wet.len(), Pairs::default);
        }
        let threads = rayon::current_num_threads().max(self.scratch.len());
        self.scratch.resize_with(threads, Mutex::default);
        self.share_room();
        let scratch = &self.scratch;
        let tasks = self.pairs[..self.wet.len()].par_chunks_mut(TASK).zip(self.wet.par_chunks(TASK));
        tasks.for_each(|(found, wet)| {
            let own = &scratch[rayon::current_thread_index().unwrap_or(0) % threads];
            let mut scratch = own.lock().unwrap_or_else(PoisonError::into_inner);
            for (found, wet) in found.iter_mut().zip(wet) {
                found.pairs.clear();
                found.closest_points.clear();
                let out = (found, &mut *scratch);
                dispatch!(level, simd => gauss_quadrature::integrate::<_, K>(simd, &wet.face, scheme, liquid, out));
            }
        });
        let particles = liquid.0.order().len();
        self.nearest.clear();
        self.nearest.resize(particles, NearestWet::NONE);
        let blocks = particles.div_ceil(par::PIECE);
        let lists = blocks.max(self.touched.len());
        self.touched.resize_with(lists, Vec::new);
        self.unsorted.resize_with(lists, Vec::new);
        // Also those of blocks that are no longer there.
        self.touched.iter_mut().chain(&mut self.unsorted).for_each(Vec::clear);
        let Self { pairs, wet, unsorted, nearest, .. } = self;
        let pairs = &pairs[..wet.len()];
        let list_pairs = || {
            for (t, pairs) in (0..).zip(pairs) {
                for (k, pair) in (0..).zip(&pairs.pairs) {
                    unsorted[pair.particle as usize / par::PIECE].push([pair.particle, t, k]);
                }
            }
        };
        let find_nearest = || {
            for (triangle, pairs) in (0..).zip(pairs) {
                for &(particle, point) in &pairs.closest_points {
                    let nearest = &mut nearest[particle as usize];
                    if point.distance < nearest.point.distance {
                        *nearest = NearestWet { point, triangle };
                    }
                }
            }
        };
        rayon::join(list_pairs, find_nearest);
        let lists = self.touched[..blocks].par_iter_mut().zip(&self.unsorted);
        lists.enumerate().for_each(|(block, (touched, unsorted))| group(unsorted, touched, block * par::PIECE));
    }

    /// What one thread had to make room for, all do: which triangle comes to which of them is chance.
    fn share_room(&mut self) {
        let mut room = [0; 2];
        for scratch in &mut self.scratch {
            let own = scratch.get_mut().unwrap_or_else(PoisonError::into_inner).room();
            room = [room[0].max(own[0]), room[1].max(own[1])];
        }
        for scratch in &mut self.scratch {
            scratch.get_mut().unwrap_or_else(PoisonError::into_inner).make_room(room);
        }
    }

    fn find_wet(&mut self, scheme: IntegrationScheme, liquid: &NeighbourGrid) {
        self.wet.clear();
        self.wet_nodes.clear();
        self.is_wet.clear();
        self.is_wet.resize(self.bodies.len(), false);
        let offset = scheme.kernel.offset();
        let margin = scheme.friction_reach.unwrap_or(0.0).max(f64::from(scheme.reach()) + offset.abs());
        for (b, body) in self.bodies.iter().enumerate() {
            let first_wet = self.wet.len();
            let is_near = |points: &[DVec3]| {
                let low = points.iter().fold(DVec3::INFINITY, |low, p| low.min(*p)) - margin;
                let high = points.iter().fold(DVec3::NEG_INFINITY, |high, p| high.max(*p)) + margin;
                let mut near = false;
                liquid.for_each_range_in(low.as_vec3(), high.as_vec3(), |range| near |= !range.is_empty());
                near
            };
            if !is_near(&body.positions) {
                continue;
            }
            let corners = |triangle: &[u32; 3]| triangle.map(|v| body.positions[v as usize]);
            let near = body.triangles.par_iter().with_min_len(128).map(|triangle| is_near(&corners(triangle)));
            near.collect_into_vec(&mut self.near);
            for (triangle, near) in body.triangles.iter().zip(&self.near) {
                if *near {
                    let own = corners(triangle);
                    let nodes = triangle.map(|v| self.first[b] + v);
                    self.wet.push(WetTriangle {
                        nodes,
                        face: Face { own, moved: own, velocity: nodes.map(|v| self.velocity[v as usize]) },
                    });
                }
            }
            if self.wet.len() == first_wet {
                continue;
            }
            self.is_wet[b] = true;
            let nodes = self.first[b] as usize..self.first[b + 1] as usize;
            match self.wet_nodes.last_mut() {
                Some(last) if last.end == nodes.start => last.end = nodes.end,
                _ => self.wet_nodes.push(nodes),
            }
            let wet = &mut self.wet[first_wet..];
            self.shifts.clear();
            self.shifts.resize(body.positions.len(), None);
            wet.iter().flat_map(|wet| wet.nodes).for_each(|node| {
                self.shifts[(node - self.first[b]) as usize] = Some(DVec3::ZERO);
            });
            self.miters.clear();
            self.miters.resize(body.positions.len(), Miter::default());
            // The corners of wet triangles touch dry ones too.
            let shifts = &self.shifts;
            let bevels = body.triangles.par_iter().with_min_len(64).map(|triangle| {
                triangle.iter().any(|&v| shifts[v as usize].is_some()).then(|| Bevel::new(corners(triangle)))
            });
            bevels.collect_into_vec(&mut self.bevels);
            for (triangle, bevel) in body.triangles.iter().zip(&self.bevels) {
                if let Some(bevel) = bevel {
                    Miter::add(&mut self.miters, *triangle, bevel);
                }
            }
            for (shift, miter) in self.shifts.iter_mut().zip(&self.miters) {
                *shift = shift.map(|_| miter.shift() * offset);
            }
            for wet in wet {
                for (corner, node) in wet.face.moved.iter_mut().zip(wet.nodes) {
                    *corner += self.shifts[(node - self.first[b]) as usize].unwrap_or_default();
                }
            }
        }
    }

    /// Gauss points of the triangles that liquid feels \[m\], carried along for a time \[s\] from the start of the last step: those
    /// of pieces not longer than `longest` \[m\].
    pub(crate) fn show_points(&self, longest: f64, time: f64, points: &mut Vec<Vec3>) {
        let felt = self.wet.iter().zip(&self.pairs).filter(|(_, felt)| !felt.pairs.is_empty());
        for (wet, _) in felt {
            let moved = |k: usize| wet.face.own[k] + self.velocity[wet.nodes[k] as usize].as_dvec3() * time;
            let corners = [0, 1, 2].map(moved);
            let pieces = quadrature::subdivisions(corners, longest, MAX_PIECES);
            points.extend(quadrature::subdivided(pieces).map(|sample| sample.at(corners).as_vec3()));
        }
    }

    /// How many triangles liquid was near to in the last step.
    pub(crate) fn wet_triangles(&self) -> usize {
        self.wet.len()
    }

    /// Calls `visit` with each particle of a block that bodies touch, and puts down its links to their nodes; `at` gives the position of a
    /// particle \[m\].
    pub(crate) fn for_each_contact(
        &self,
        block: usize,
        links: &mut Vec<NodeWeight>,
        at: impl Fn(u32) -> Vec3,
        mut visit: impl FnMut(u32, BodyContact),
    ) {
        let Some(touched) = self.touched.get(block) else { return };
        let mut groups = touched.chunk_by(|a, b| a[0] == b[0]).peekable();
        let start = block * par::PIECE;
        let end = (start + par::PIECE).min(self.nearest.len());
        for (particle, nearest) in (start as u32..).zip(&self.nearest[start.min(end)..end]) {
            let group = groups.next_if(|group| group[0][0] == particle).unwrap_or_default();
            if group.is_empty() && nearest.point.distance.is_infinite() {
                continue;
            }
            let first = links.len();
            let mut sum = BodyContact::default();
            for &[_, t, k] in group {
                let (pair, nodes) = (&self.pairs[t as usize].pairs[k as usize], self.wet[t as usize].nodes);
                sum.wall_fraction += pair.wall_fraction;
                for (node, part) in nodes.into_iter().zip(pair.parts) {
                    match links[first..].iter_mut().find(|link| link.node == node) {
                        Some(link) => link.weight += part,
                        None => links.push(NodeWeight { particle, node, weight: part }),
                    }
                }
            }
            sum.wall_fraction = whole_wall_fraction(sum.wall_fraction);
            for link in &links[first..] {
                sum.gamma_gradient += link.weight;
                // A triangle's λₖ are linear, so that the sum over its corners is the integral over its points.
                add_moment(&mut sum.moment, link.weight, at(particle) - self.position[link.node as usize]);
                sum.gamma_rate += link.weight.dot(self.velocity[link.node as usize]);
            }
            let NearestWet { point, triangle } = nearest;
            if point.distance.is_finite() {
                sum.distance = Some(point.distance);
                sum.lambda = point.lambda;
                sum.friction_nodes = self.wet[*triangle as usize].nodes;
                sum.prescribed = self.prescribed_of(sum.friction_nodes[0]);
                let [a, b, c] = sum.friction_nodes.map(|node| self.velocity[node as usize]);
                sum.velocity = point.lambda.x * a + point.lambda.y * b + point.lambda.z * c;
            }
            visit(particle, sum);
        }
    }

    /// Sorts links by node, so that nodes can be summed up side by side.
    pub(crate) fn sort_links(&mut self, links: &[Vec<NodeWeight>]) {
        let (nodes, blocks) = (self.velocity.len(), links.len().div_ceil(LISTS).max(1));
        let wet = &self.wet_nodes;
        self.by_node.par_iter_mut().enumerate().for_each(|(k, by_node)| {
            by_node.sort(links.chunks(blocks).nth(k).unwrap_or_default(), wet, nodes);
        });
    }

    /// Adds what pressures push each node with \[N\] to `to`; a particle has this volume \[m³\].
    pub(crate) fn push_nodes(&self, volume: f64, pressure: impl Fn(usize) -> f32 + Sync, to: &mut [DVec3]) {
        for wet in &self.wet_nodes {
            let nodes = to[wet.clone()].par_iter_mut().with_min_len(64).enumerate();
            nodes.for_each(|(k, to)| {
                for (particle, weight) in self.by_node.iter().flat_map(|list| list.of(wet.start + k)) {
                    *to -= weight.as_dvec3() * (f64::from(pressure(*particle as usize)) * volume);
                }
            });
        }
    }

    /// How nodes are accelerated under gravity \[m/s²\] by what goes on as in the last step.
    pub(crate) fn predict(&mut self, gravity: DVec3) {
        for (b, body) in self.bodies.iter().enumerate() {
            let Compliance::Rigid(rigid) = &body.compliance else { continue };
            let falls = rigid.inverse_mass.cmpgt(DVec3::ZERO);
            let weight = DVec3::select(falls, gravity, DVec3::ZERO);
            let predicted = &mut self.predicted[self.first[b] as usize..self.first[b + 1] as usize];
            predicted.iter_mut().zip(&body.accelerations).for_each(|(to, felt)| *to = *felt + weight);
        }
    }

    /// Adds to the accelerations with which wet nodes give way what is predicted of them anyhow.
    pub(crate) fn add_predicted(&mut self) {
        for wet in &self.wet_nodes {
            let response = self.response[wet.clone()].iter_mut();
            response.zip(&self.predicted[wet.clone()]).for_each(|(response, predicted)| *response += *predicted);
        }
    }

    /// Forces on the wet nodes \[N\] at the start of a solve, or none, to which bodies are to give way.
    pub(crate) fn start_response(&mut self, from_start: bool) {
        for wet in &self.wet_nodes {
            if from_start {
                self.response[wet.clone()].copy_from_slice(&self.start[wet.clone()]);
            } else {
                self.response[wet.clone()].fill(DVec3::ZERO);
            }
        }
    }

    /// Velocity of a node at the start of the step \[m/s\].
    pub(crate) fn velocity_of(&self, node: u32) -> Vec3 {
        self.velocity[node as usize]
    }

    /// The body that a node belongs to.
    fn body_of(&self, node: u32) -> usize {
        self.first.partition_point(|&first| first <= node) - 1
    }

    /// Turns the forces on wet nodes \[N\] into the accelerations with which they give way \[m/s²\].
    pub(crate) fn give_way(&mut self) {
        for (b, body) in self.bodies.iter_mut().enumerate().filter(|(b, _)| self.is_wet[*b]) {
            let nodes = self.first[b] as usize..self.first[b + 1] as usize;
            let response = &mut self.response[nodes];
            // Nobody gives way to nothing.
            if response.iter().all(|force| *force == DVec3::ZERO) {
                continue;
            }
            body.compliance.accelerations(&body.positions, response);
        }
    }

    /// The largest [`Bodies::node_compliance`] of all nodes \[1/kg\].
    pub(crate) fn largest_compliance(&self) -> f64 {
        self.largest_compliance
    }

    /// How fast a node gives way to a force on it alone, at most \[1/kg\].
    pub(crate) fn node_compliance(&self, node: u32) -> f64 {
        self.node_compliance[node as usize]
    }
}

impl Body {
    /// How fast its nodes give way to a force on one alone, at most \[1/kg\].
    fn compliances(&self) -> impl Iterator<Item = f64> {
        self.positions.iter().enumerate().map(|(node, position)| self.compliance.bound(node, *position))
    }
}

/// Adds the symmetric part of a⊗b.
fn add_moment(to: &mut Symmetric, a: Vec3, b: Vec3) {
    let mixed = [a.x * b.y + a.y * b.x, a.x * b.z + a.z * b.x, a.y * b.z + a.z * b.y].map(|m| 0.5 * m);
    let more = [a.x * b.x, a.y * b.y, a.z * b.z, mixed[0], mixed[1], mixed[2]];
    to.iter_mut().zip(more).for_each(|(to, more)| *to += more);
}

/// Puts what touches the particles of a block, which begins with particle `first`, in their order; what touches one keeps its own.
fn group(unsorted: &[[u32; 3]], touched: &mut Vec<[u32; 3]>, first: usize) {
    let mut begin = [0; par::PIECE + 1];
    for [particle, ..] in unsorted {
        begin[*particle as usize - first + 1] += 1;
    }
    for k in 0..par::PIECE {
        begin[k + 1] += begin[k];
    }
    touched.resize(unsorted.len(), [0; 3]);
    for of in unsorted {
        let next = &mut begin[of[0] as usize - first];
        touched[*next] = *of;
        *next += 1;
    }
}
