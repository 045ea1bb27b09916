//! The particles that make the field: those of liquids, and their images behind walls and in bodies.

use crate::ghosts::{Plane, Solids, Vessel};
use crate::lanes::{self, Columns, PEAK};
use crate::shapes::{self, Shape};
use crate::{Kernel, REACH, is_liquid};
use glam::Vec3;
use meniscus_core::{Frame, par};
use meniscus_geometry::{NeighbourGrid, Periodic};
use rayon::prelude::*;
use std::ops::Range;

/// n of a neighbourhood that a free surface does not pass through; the top layer of a lattice has 0.82.
const FULL: f32 = 0.87;

/// n from which on a particle stands for its own volume only. Of a lattice, an edge has 0.66 and a sheet 0.62.
const SPARSE: f32 = 0.7;

/// Where a point of the cloud comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    Particle,
    /// An image behind a wall.
    Mirror,
    /// An image on the skin of a body.
    Skin,
}

/// All points, first as they come, then in the order of cells.
#[derive(Debug, Default)]
pub(crate) struct Cloud {
    pub(crate) grid: NeighbourGrid,
    /// Bodies of the liquids, heaviest first: their index here is their rank.
    pub(crate) liquids: Vec<u16>,
    /// As they come \[spacings\]; particles first.
    points: Vec<Vec3>,
    origin: Vec<Origin>,
    /// The point that each is the image of, or itself.
    source: Vec<u32>,
    /// Of particles: their number in the frame and the rank of their liquid.
    number: Vec<u32>,
    rank: Vec<u8>,
    /// Of particles: whether a surface may be near.
    open: Vec<bool>,
    /// Of particles: V_i \[spacings³\].
    volume: Vec<f32>,
    pub(crate) sorted: Sorted,
    /// Of sorted points, where they are not balls.
    pub(crate) shapes: Vec<Option<Shape>>,
}

/// Points in the order of their cells.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    pub(crate) x: Vec<f32>,
    pub(crate) y: Vec<f32>,
    pub(crate) z: Vec<f32>,
    pub(crate) rank: Vec<u8>,
    /// V_i \[spacings³\].
    pub(crate) volume: Vec<f32>,
    pub(crate) open: Vec<bool>,
    /// Images behind a wall; the surface ends there.
    pub(crate) mirror: Vec<bool>,
    /// Number of the particle in the frame.
    pub(crate) number: Vec<u32>,
}

impl Sorted {
    pub(crate) fn len(&self) -> usize {
        self.x.len()
    }

    pub(crate) fn at(&self, index: usize) -> Vec3 {
        Vec3::new(self.x[index], self.y[index], self.z[index])
    }

    pub(crate) fn columns<'a>(&'a self, weight: &'a [f32]) -> Columns<'a> {
        Columns { x: &self.x, y: &self.y, z: &self.z, weight }
    }
}

impl Cloud {
    /// Takes the particles of liquids that are not spray.
    pub(crate) fn take(&mut self, frame: &Frame, alone: &[bool]) {
        let particles = &frame.particles;
        self.liquids = liquids_by_weight(frame);
        let inverse = 1.0 / particles.spacing;
        self.points.clear();
        self.number.clear();
        self.rank.clear();
        for (i, &body) in particles.bodies.iter().enumerate().take(particles.positions.len()) {
            let rank = self.liquids.iter().position(|&liquid| liquid == body);
            if let (Some(rank), Some(false)) = (rank, alone.get(i)) {
                self.points.push(particles.positions[i] * inverse);
                self.number.push(i as u32);
                self.rank.push(rank as u8);
            }
        }
        self.origin.clear();
        self.origin.resize(self.points.len(), Origin::Particle);
        self.source = (0..self.points.len() as u32).collect();
        self.open.clear();
        self.open.resize(self.points.len(), false);
    }

    /// Adds the images of points within reach of walls. Images are mirrored at the walls that follow: corners are full.
    pub(crate) fn mirror(&mut self, planes: &[Plane], vessels: &[Vessel]) {
        for plane in planes {
            for i in 0..self.points.len() {
                let distance = plane.distance(self.points[i]);
                if (0.0..REACH).contains(&distance) {
                    let image = self.points[i] - 2.0 * distance * plane.normal;
                    self.add(image, Origin::Mirror, self.source[i]);
                }
            }
        }
        for vessel in vessels {
            let image = |&point: &Vec3| vessel.image(point);
            let images: Vec<_> = self.points[..self.number.len()].par_iter().map(image).collect();
            self.add_all(&images, Origin::Mirror);
        }
    }

    /// Adds an image near the skin of a body for every particle beside it: the liquid then ends inside.
    pub(crate) fn run_into(&mut self, solids: &Solids) {
        if solids.is_empty() {
            return;
        }
        let image = |&point: &Vec3| solids.image(point);
        let images: Vec<_> = self.points[..self.number.len()].par_iter().map(image).collect();
        for (open, image) in self.open.iter_mut().zip(&images) {
            *open |= image.is_some();
        }
        self.add_all(&images, Origin::Skin);
    }

    fn add_all(&mut self, images: &[Option<Vec3>], origin: Origin) {
        for (i, image) in (0u32..).zip(images) {
            if let Some(image) = image {
                self.add(*image, origin, i);
            }
        }
    }

    fn add(&mut self, point: Vec3, origin: Origin, source: u32) {
        self.points.push(point);
        self.origin.push(origin);
        self.source.push(source);
    }

    /// Sorts all points and finds n_i and V_i.
    pub(crate) fn count_neighbours(&mut self) {
        self.grid.sort(&self.points, REACH, Periodic::default());
        let order = self.grid.order();
        let sorted = &mut self.sorted;
        fill(&mut sorted.x, order, |i| self.points[i].x);
        fill(&mut sorted.y, order, |i| self.points[i].y);
        fill(&mut sorted.z, order, |i| self.points[i].z);
        fill(&mut sorted.rank, order, |i| self.rank[self.source[i] as usize]);
        fill(&mut sorted.number, order, |i| self.number[self.source[i] as usize]);
        fill(&mut sorted.mirror, order, |i| self.origin[i] == Origin::Mirror);
        let particles = self.number.len();
        let mut total = vec![0.0; particles];
        let mut sums = vec![0.0; order.len()];
        for rank in 0..self.liquids.len() {
            let weight: Vec<f32> =
                self.sorted.rank.iter().map(|&r| f32::from(u8::from(usize::from(r) == rank))).collect();
            self.sum_neighbours(&weight, &mut sums);
            for (index, &i) in self.grid.order().iter().enumerate().filter(|(_, i)| (**i as usize) < particles) {
                let i = i as usize;
                let n = PEAK * sums[index];
                total[i] += n;
                self.open[i] |= usize::from(self.rank[i]) == rank && n < FULL;
            }
        }
        self.volume.clear();
        self.volume.extend(total.iter().map(|&n| (SPARSE / n.max(1e-3)).max(1.0)));
        let order = self.grid.order();
        fill(&mut self.sorted.volume, order, |i| self.volume[self.source[i] as usize]);
        fill(&mut self.sorted.open, order, |i| self.origin[i] == Origin::Skin || self.open[self.source[i] as usize]);
    }

    /// Σ_j weight_j (1 − q²)³ for every particle, at its sorted index.
    fn sum_neighbours(&self, weight: &[f32], sums: &mut [f32]) {
        let (grid, points, level) = (&self.grid, self.sorted.columns(weight), lanes::level());
        let particles = self.number.len() as u32;
        sums.par_chunks_mut(par::PIECE).enumerate().for_each_init(Vec::new, |ranges, (piece, sums)| {
            let first = piece * par::PIECE;
            let mut start = 0;
            while start < sums.len() {
                let key = grid.key(first + start);
                let end = (grid.cell(key).end - first).min(sums.len());
                let own = |k: &usize| grid.order()[first + k] < particles;
                if (start..end).any(|k| own(&k)) {
                    ranges.clear();
                    grid.for_each_range_around(key, |range, _| ranges.push(range));
                    for run in runs(start..end, own) {
                        let indices = first + run.start..first + run.end;
                        lanes::neighbour_sums(level, points, indices, ranges, &mut sums[run]);
                    }
                }
                start = end;
            }
        });
    }

    /// Whether the point at a sorted index is no particle.
    pub(crate) fn is_image(&self, index: usize) -> bool {
        self.grid.order()[index] as usize >= self.number.len()
    }

    /// Finds the ellipsoids of particles near a surface.
    pub(crate) fn shape(&mut self, kernel: Kernel) {
        self.shapes.clear();
        if kernel == Kernel::Anisotropic {
            let (grid, sorted) = (&self.grid, &self.sorted);
            let shape = |index: usize| sorted.open[index].then(|| shapes::shape(grid, sorted, index)).flatten();
            self.shapes = (0..sorted.len()).into_par_iter().map(shape).collect();
        }
    }
}

/// Runs of indices that belong.
fn runs(indices: Range<usize>, own: impl Fn(&usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut next = indices.start;
    std::iter::from_fn(move || {
        let start = (next..indices.end).find(|k| own(k))?;
        next = (start..indices.end).find(|k| !own(k)).unwrap_or(indices.end);
        Some(start..next)
    })
}

fn fill<T: Send>(to: &mut Vec<T>, order: &[u32], value: impl Fn(usize) -> T + Sync) {
    to.clear();
    order.par_iter().with_min_len(par::LIGHT).map(|&i| value(i as usize)).collect_into_vec(to);
}

/// Liquids that have particles, the heaviest first, as their densities tell.
fn liquids_by_weight(frame: &Frame) -> Vec<u16> {
    let mut sums = vec![(0.0f64, 0u64); frame.bodies.len()];
    for (i, &body) in frame.particles.bodies.iter().enumerate() {
        if let Some(sum) = sums.get_mut(usize::from(body)) {
            *sum = (sum.0 + frame.particles.densities.get(i).copied().map_or(0.0, f64::from), sum.1 + 1);
        }
    }
    let mut liquids: Vec<(u16, f64)> = (0u16..)
        .zip(&sums)
        .filter(|&(body, sum)| sum.1 > 0 && is_liquid(frame, body))
        .map(|(body, sum)| (body, sum.0 / sum.1 as f64))
        .collect();
    liquids.sort_by(|a, b| b.1.total_cmp(&a.1));
    liquids.truncate(usize::from(u8::MAX));
    liquids.into_iter().map(|(body, _)| body).collect()
}
