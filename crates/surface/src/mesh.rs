//! From the field to a mesh: cut at walls, smoothed, with its volume.
//!
//! The field ends a little behind a wall, and what lies behind it is laid onto it. Where the liquid meets the wall the mesh then
//! has a sharp edge, and on the wall it is flat to the last bit of the plane. All stays a closed manifold: nothing is cut.

use crate::LiquidSurface;
use crate::blocks::{Blocks, Field};
use crate::carry::Carrier;
use crate::cloud::Cloud;
use crate::ghosts::{Plane, Vessel};
use glam::{DVec3, Vec3};
use meniscus_core::{Surface, par};
use meniscus_geometry::IsoGrid;
use rayon::prelude::*;

/// How far behind a wall the field ends, over the cube.
const BEHIND: f32 = 0.75;

/// Slope of the cut against that of the field: inside, the cut must be the larger at every node next to a wall.
const STEEP: f32 = 0.5;

/// How far a vertex moves towards the mean of its neighbours in a step of smoothing.
const STRIDE: f32 = 0.5;

/// The farthest that a surface is moved to give it its volume back \[spacings\].
const FARTHEST_OFFSET: f32 = 0.1;

/// Planes and vessels that cut the field.
pub(crate) type Walls<'a> = (&'a [Plane], &'a [Vessel]);

/// A surface in the making. Lengths in spacings.
#[derive(Debug, Default)]
pub(crate) struct Mesh {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Which planes each vertex lies on, bit by bit, and whether it lies on a vessel.
    planes: Vec<u32>,
    /// Vertices that are there because of a wall alone.
    held: Vec<bool>,
}

/// The bit of vertices that lie on a vessel.
const ON_VESSEL: u32 = 1 << 31;

impl Mesh {
    /// The surface of a liquid, without what is heavier, laid onto the walls.
    pub(crate) fn cut(blocks: &Blocks, cloud: &Cloud, field: &Field, heavier: Option<&Field>, walls: Walls) -> Self {
        let Some(iso) = &blocks.iso else { return Self::default() };
        let behind = BEHIND * blocks.cube;
        let found = iso.surface_in_blocks(&blocks.list, 0.0, |first, out: &mut [f32]| {
            let block = first.map(|k| k / IsoGrid::BLOCK);
            blocks.gather(field, cloud, block, out);
            if let Some(heavier) = heavier {
                let mut other = [0.0; IsoGrid::BLOCK_SAMPLES];
                blocks.gather(heavier, cloud, block, &mut other);
                out.iter_mut().zip(other).for_each(|(f, h)| *f = f.max(-h));
            }
            cut_block(blocks, first, walls, behind, out);
        });
        let count = found.positions.len();
        let mut mesh = Self { triangles: found.triangles, ..Self::default() };
        let placed = |x: &DVec3| lay_on(x.as_vec3(), walls, behind, blocks.cube);
        let laid: Vec<(Vec3, u32, bool)> = found.positions.par_iter().with_min_len(par::PIECE).map(placed).collect();
        mesh.positions.reserve(count);
        for (x, planes, held) in laid {
            mesh.positions.push(x);
            mesh.planes.push(planes);
            mesh.held.push(held);
        }
        mesh
    }

    /// Moves vertices towards the mean of their neighbours, drops and sheets less, then all outwards until the volume is what it was.
    pub(crate) fn smooth(&mut self, carrier: &Carrier, (planes, _): Walls, steps: u32) {
        if steps == 0 || self.triangles.is_empty() {
            return;
        }
        let volume = volume(&self.positions, &self.triangles);
        let ring = Ring::new(self.positions.len(), &self.triangles, &self.held);
        let freedom = |(x, held): (&Vec3, &bool)| if *held { 0.0 } else { STRIDE * carrier.freedom(*x) };
        let vertices = self.positions.par_iter().zip(&self.held).with_min_len(par::PIECE);
        let freedom: Vec<f32> = vertices.map(freedom).collect();
        let mut next = self.positions.clone();
        for _ in 0..steps {
            let now = &self.positions;
            next.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, next)| {
                if let (Some(mean), true) = (ring.mean(now, i), freedom[i] > 0.0) {
                    *next = slide(now[i], freedom[i] * (mean - now[i]), self.planes[i], planes);
                }
            });
            std::mem::swap(&mut self.positions, &mut next);
        }
        self.restore(volume, planes);
    }

    /// One offset along the normals of what is free: δ = (V* − V)/A.
    fn restore(&mut self, wanted: f64, planes: &[Plane]) {
        let missing = wanted - volume(&self.positions, &self.triangles);
        let area = self.free_area();
        if area <= 0.0 {
            return;
        }
        let offset = ((missing / area) as f32).clamp(-FARTHEST_OFFSET, FARTHEST_OFFSET);
        let normals = self.normals();
        let moved = |(i, x): (usize, &Vec3)| {
            let way = if self.held[i] { Vec3::ZERO } else { offset * normals[i] };
            slide(*x, way, self.planes[i], planes)
        };
        self.positions = self.positions.par_iter().enumerate().with_min_len(par::PIECE).map(moved).collect();
    }

    /// Area of the triangles that are not on a wall.
    fn free_area(&self) -> f64 {
        par::sum(self.triangles.len(), |t| {
            let corners = self.triangles[t].map(|v| v as usize);
            let wall = self.wall_of(self.triangles[t]);
            let [a, b, c] = corners.map(|v| self.positions[v].as_dvec3());
            if wall { 0.0 } else { 0.5 * (b - a).cross(c - a).length() }
        })
    }

    /// Whether a triangle lies on a wall.
    fn wall_of(&self, triangle: [u32; 3]) -> bool {
        triangle.iter().fold(u32::MAX, |all, &v| all & self.planes[v as usize]) != 0
    }

    /// Unit normals: of vertices of the free surface, those of its triangles alone.
    fn normals(&self) -> Vec<Vec3> {
        let mut sums = vec![Vec3::ZERO; self.positions.len()];
        for &triangle in &self.triangles {
            let [a, b, c] = triangle.map(|v| self.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            let wall = self.wall_of(triangle);
            for v in triangle.map(|v| v as usize) {
                if self.held[v] || !wall {
                    sums[v] += normal;
                }
            }
        }
        sums.iter().map(|sum| sum.normalize_or_zero()).collect()
    }

    /// The surface in metres, with its velocities and pressures.
    pub(crate) fn finish(self, body: u16, spacing: f32, carrier: &Carrier) -> LiquidSurface {
        let normals = self.normals();
        let carried = self.positions.par_iter().with_min_len(par::PIECE).map(|&x| carrier.carried(x));
        let (velocities, pressures) = carried.unzip();
        let positions = self.positions.iter().map(|x| *x * spacing).collect();
        let on_wall = self.planes.iter().map(|planes| *planes != 0).collect();
        let surface = Surface { body, positions, velocities, pressures, triangles: self.triangles };
        LiquidSurface { surface, normals, on_wall }
    }
}

/// Cuts the field of a block at walls.
fn cut_block(blocks: &Blocks, first: [u32; 3], (planes, vessels): Walls, behind: f32, out: &mut [f32]) {
    const WIDE: usize = IsoGrid::BLOCK_SIDE;
    let origin = blocks.node(first).as_vec3();
    let size = blocks.cube * IsoGrid::BLOCK as f32;
    // Farther inside than this, no cut is felt.
    let felt = 2.5 + size * 1.8;
    let middle = origin + 0.5 * size;
    let node = |i: usize| {
        let steps = [i % WIDE, i / WIDE % WIDE, i / (WIDE * WIDE)];
        origin + blocks.cube * Vec3::from(steps.map(|k| k as f32))
    };
    for plane in planes.iter().filter(|plane| plane.distance(middle) < felt) {
        for (i, f) in out.iter_mut().enumerate() {
            *f = f.max(-STEEP * (plane.distance(node(i)) + behind));
        }
    }
    for vessel in vessels.iter().filter(|vessel| vessel.depth(middle, felt) < felt) {
        for (i, f) in out.iter_mut().enumerate().filter(|(_, f)| **f < 1.0) {
            *f = f.max(-STEEP * (vessel.depth(node(i), 2.0) + behind));
        }
    }
}

/// A vertex, laid onto the walls that it lies behind; which they are; and whether a wall alone has put it there.
fn lay_on(mut x: Vec3, (planes, vessels): Walls, behind: f32, cube: f32) -> (Vec3, u32, bool) {
    let (mut on, mut held) = (0, false);
    // Three times: where walls are not at right angles, one leads behind the other.
    for _ in 0..3 {
        for (bit, plane) in planes.iter().enumerate() {
            let distance = plane.distance(x);
            held |= on >> bit & 1 == 0 && (distance + behind).abs() < 0.02 * cube;
            if distance <= 0.0 {
                x -= distance * plane.normal;
                on |= 1 << bit;
            }
        }
    }
    for vessel in vessels {
        let depth = vessel.depth(x, 2.0 * cube);
        held |= (depth + behind).abs() < 0.05 * cube;
        if depth <= 0.0 {
            x = vessel.nearest(x);
            on |= ON_VESSEL;
        }
    }
    (x, on, held)
}

/// A position moved by a way, along the planes that it lies on and not through others.
fn slide(x: Vec3, mut way: Vec3, on: u32, planes: &[Plane]) -> Vec3 {
    if on & ON_VESSEL != 0 {
        return x;
    }
    for (bit, plane) in planes.iter().enumerate() {
        let along = way.dot(plane.normal);
        if on >> bit & 1 == 1 {
            way -= along * plane.normal;
        } else {
            let distance = plane.distance(x);
            if distance + along < 0.0 {
                way -= (distance + along) * plane.normal;
            }
        }
    }
    x + way
}

/// Neighbours of the vertices that move.
struct Ring {
    starts: Vec<u32>,
    others: Vec<u32>,
}

impl Ring {
    /// In a closed mesh every edge is run along once in each direction: each neighbour is there once.
    fn new(vertices: usize, triangles: &[[u32; 3]], held: &[bool]) -> Self {
        let edges = || triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let counts = |(a, b): (u32, u32)| !held[a as usize] && !held[b as usize];
        let mut starts = vec![0u32; vertices + 1];
        edges().filter(|&e| counts(e)).for_each(|(a, _)| starts[a as usize + 1] += 1);
        for i in 0..vertices {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut others = vec![0; starts[vertices] as usize];
        for (a, b) in edges().filter(|&e| counts(e)) {
            others[next[a as usize] as usize] = b;
            next[a as usize] += 1;
        }
        Self { starts, others }
    }

    fn mean(&self, positions: &[Vec3], i: usize) -> Option<Vec3> {
        let others = &self.others[self.starts[i] as usize..self.starts[i + 1] as usize];
        let sum: Vec3 = others.iter().map(|&j| positions[j as usize]).sum();
        (!others.is_empty()).then(|| sum / others.len() as f32)
    }
}

/// Volume inside of a closed surface, in the unit of its positions.
pub(crate) fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    // From a point nearby, or digits are lost far away from the origin.
    let origin = positions.first().map_or(DVec3::ZERO, |x| x.as_dvec3());
    par::sum(triangles.len(), |t| {
        let [a, b, c] = triangles[t].map(|v| positions[v as usize].as_dvec3() - origin);
        a.dot(b.cross(c)) / 6.0
    })
}
