//! Solids at work: where they are at both ends of an interval of time, and ψ at the nodes of the grid.
//!
//! In an interval no point of a solid moves farther than a quarter of a cell. ψ is measured anew only at nodes that the surface can have
//! come near to since they were last measured; the others keep their value, whose sign is right. So what an interval costs goes with the
//! wet area, not with the box, and the result does not depend on how one got there.
//!
//! Where ψ is bent, the linear parts of `aperture` overrate it by h²/12 ∇²ψ in the mean (a ball of 8 cells' radius loses 0.8 % of its
//! volume): this is taken off beforehand.

use crate::error::SetupError;
use crate::grid::Grid;
use crate::solid::{Form, Part, Solid, mesh_at, surface};
use glam::DVec3;
use meniscus_boundary::{Pose, Surface};
use meniscus_geometry::{Aabb, Closest};
use rayon::prelude::*;

/// Cells that a solid may move in an interval.
pub(crate) const MAX_MOTION: f64 = 0.25;

/// Nodes nearer to a surface than this are measured anew, in cells: the corners of cut cells, their neighbours, and a quarter.
const BAND_CELLS: f64 = 3.1;

/// Most that the bend of ψ takes off it, in cells.
const MAX_BEND: f64 = 0.1;

/// Parts of a solid with their placements.
pub(crate) struct Bodies {
    solid: Solid,
    placements: Vec<Placement>,
    /// Bounds of the parts in their own frames, where they are known.
    bounds: Vec<Option<Aabb>>,
    /// The interval \[s\].
    times: [f64; 2],
    /// ψ at the nodes at the ends of the interval \[m\].
    pub(crate) nodes: [Vec<f64>; 2],
    /// ψ as measured, and how far solids had moved by then \[m\].
    raw: Vec<f64>,
    stamp: Vec<f64>,
    travelled: f64,
}

/// Where a part is at the ends of the interval.
enum Placement {
    Rigid([Pose; 2]),
    Vertices { surface: Box<Surface>, positions: [Vec<DVec3>; 2] },
}

impl Bodies {
    /// Solids at rest, or at a time zero.
    pub(crate) fn new(solid: &Solid, grid: &Grid) -> Result<Self, SetupError> {
        let placement = |part: &Part| match &part.form {
            Form::Vertices(vertices) => {
                let mesh = mesh_at(&**vertices, 0.0)?;
                let positions = [mesh.vertices().to_vec(), mesh.vertices().to_vec()];
                Ok(Placement::Vertices { surface: Box::new(surface(&mesh)), positions })
            }
            _ => Ok(Placement::Rigid([part.pose(0.0); 2])),
        };
        let bounds = solid.parts.iter().map(|part| match &part.form {
            Form::Mesh(surface) => Some(surface.tree().bounds()),
            _ => None,
        });
        let mut bodies = Self {
            placements: solid.parts.iter().map(placement).collect::<Result<_, SetupError>>()?,
            bounds: bounds.collect(),
            solid: solid.clone(),
            times: [0.0; 2],
            nodes: [grid.zeros(), grid.zeros()],
            raw: vec![0.0; grid.len()],
            stamp: vec![f64::NEG_INFINITY; grid.len()],
            travelled: 0.0,
        };
        bodies.measure(grid);
        bodies.nodes[0] = bodies.nodes[1].clone();
        Ok(bodies)
    }

    /// Whether any part moves.
    pub(crate) fn moves(&self) -> bool {
        self.solid.moves()
    }

    /// Whether a part of it is wet on both sides.
    pub(crate) fn is_shell(&self) -> bool {
        self.solid.parts.iter().any(|part| part.shell.is_some())
    }

    /// Whether the fluids slip along the part that is nearest to a position.
    pub(crate) fn slips_at(&self, x: DVec3) -> bool {
        let first = self.solid.parts.first().is_some_and(|part| part.sticks);
        let mixed = self.solid.parts.iter().any(|part| part.sticks != first);
        let nearest = if mixed { self.nearest(x).1 } else { 0 };
        self.solid.parts.get(nearest).is_some_and(|part| !part.sticks)
    }

    /// The end of an interval that starts at a time \[s\] and is no longer than `longest` \[s\]: nothing in the box moves farther than a quarter
    /// of a cell.
    pub(crate) fn interval_end(&mut self, grid: &Grid, from: f64, longest: f64) -> f64 {
        const HALVINGS: usize = 60;
        let limit = MAX_MOTION * grid.spacing();
        let mut length = longest;
        for _ in 0..HALVINGS {
            if self.motion(grid, from, from + 0.5 * length) <= limit && self.motion(grid, from, from + length) <= limit
            {
                break;
            }
            length *= 0.5;
        }
        from + length
    }

    /// How far a point of the solid in the box moves at most between two times \[m\].
    fn motion(&mut self, grid: &Grid, from: f64, to: f64) -> f64 {
        let reach = 4.0 * grid.spacing();
        let domain = Aabb { min: grid.domain().min - reach, max: grid.domain().max + reach };
        let mut most = 0.0f64;
        for (k, part) in self.solid.parts.iter().enumerate() {
            let own = match (&part.form, &mut self.placements[k]) {
                (Form::Vertices(vertices), Placement::Vertices { positions, .. }) => {
                    let [a, b] = positions;
                    vertices.positions(from, a);
                    vertices.positions(to, b);
                    let moved = a.iter().zip(b.iter()).filter(|(a, b)| domain.contains(**a) || domain.contains(**b));
                    moved.map(|(a, b)| a.distance_squared(*b)).fold(0.0, f64::max).sqrt()
                }
                _ if part.path.is_none() => 0.0,
                _ => rigid_motion([part.pose(from), part.pose(to)], self.bounds[k], &domain),
            };
            // A NaN is motion too.
            most = if own.is_nan() { f64::INFINITY } else { most.max(own) };
        }
        most
    }

    /// Goes to an interval \[s\] and measures ψ at its ends.
    pub(crate) fn go(&mut self, grid: &Grid, times: [f64; 2]) {
        if self.times == times {
            return;
        }
        if self.times[1] == times[0] {
            self.nodes.swap(0, 1);
        } else {
            if (self.times[0]..self.times[1]).contains(&times[0]) {
                // The interval ended early.
                self.travelled += self.motion(grid, self.times[1], times[0]);
            } else {
                // Somewhere else: nothing that was measured holds.
                self.stamp.fill(f64::NEG_INFINITY);
            }
            self.place([times[0]; 2]);
            self.measure(grid);
            self.nodes.swap(0, 1);
        }
        self.travelled += self.motion(grid, times[0], times[1]);
        self.place(times);
        self.times = times;
        self.measure(grid);
    }

    fn place(&mut self, times: [f64; 2]) {
        for (part, placement) in self.solid.parts.iter().zip(&mut self.placements) {
            match (&part.form, placement) {
                (Form::Vertices(vertices), Placement::Vertices { surface, positions }) => {
                    let [a, b] = positions;
                    vertices.positions(times[0], a);
                    vertices.positions(times[1], b);
                    surface.place(b);
                }
                (_, Placement::Rigid(poses)) => *poses = times.map(|time| part.pose(time)),
                _ => {}
            }
        }
    }

    /// ψ at the nodes at the end of the interval.
    fn measure(&mut self, grid: &Grid) {
        let near = BAND_CELLS * grid.spacing();
        let mut raw = std::mem::take(&mut self.raw);
        let mut stamp = std::mem::take(&mut self.stamp);
        let travelled = self.travelled;
        raw.par_iter_mut().zip(&mut stamp).enumerate().with_min_len(512).for_each(|(p, (psi, stamp))| {
            if psi.abs() - (travelled - *stamp) < near {
                *psi = self.signed_distance(grid.position(p, DVec3::ZERO));
                *stamp = travelled;
            }
        });
        (self.raw, self.stamp) = (raw, stamp);
        let (raw, h) = (&self.raw, grid.spacing());
        let bends = self.solid.parts.iter().all(|part| part.shell.is_none());
        let strides = [grid.stride(0), grid.stride(1), grid.stride(2)];
        self.nodes[1].par_iter_mut().enumerate().with_min_len(4096).for_each(|(p, psi)| {
            let around = strides.iter().map(|&s| (p.checked_sub(s), p + s));
            let second = around.map(|(low, high)| match (low, raw.get(high)) {
                (Some(low), Some(above)) => raw[low] + above - 2.0 * raw[p],
                _ => 0.0,
            });
            let near_surface = bends && raw[p].abs() < 2.0 * h;
            let bend = if near_surface { second.sum::<f64>() / 12.0 } else { 0.0 };
            *psi = raw[p] - bend.clamp(-MAX_BEND * h, MAX_BEND * h);
        });
    }

    /// ψ of a position at the end of the interval \[m\], negative inside.
    pub(crate) fn signed_distance(&self, x: DVec3) -> f64 {
        self.nearest(x).0
    }

    /// ψ of a position, and the part that it belongs to.
    fn nearest(&self, x: DVec3) -> (f64, usize) {
        let of = |k: usize| (self.distance_from(k, x), k);
        (0..self.placements.len()).map(of).fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a })
    }

    fn distance_from(&self, k: usize, x: DVec3) -> f64 {
        let part = &self.solid.parts[k];
        match (&part.form, &self.placements[k]) {
            (Form::Shape(shape), Placement::Rigid([_, now])) => {
                part.wet_distance(shape.signed_distance(now.unapply(x)), true)
            }
            (Form::Mesh(surface), Placement::Rigid([_, now])) => from_mesh(part, surface, now.unapply(x)),
            (_, Placement::Vertices { surface, .. }) => from_mesh(part, surface, x),
            _ => f64::INFINITY,
        }
    }

    /// Mean velocity of the solid over the interval, at the point nearest to a position \[m/s\].
    pub(crate) fn velocity(&self, x: DVec3) -> DVec3 {
        let duration = self.times[1] - self.times[0];
        if !(duration > 0.0 && duration.is_finite()) {
            return DVec3::ZERO;
        }
        let (_, k) = self.nearest(x);
        let Some(placement) = self.placements.get(k) else { return DVec3::ZERO };
        match placement {
            Placement::Rigid([first, last]) => (last.apply(first.unapply(x)) - x) / duration,
            Placement::Vertices { surface, positions: [first, last] } => {
                let Closest { triangle, barycentric, .. } = surface.tree().closest_point(x);
                let corners = surface.mesh().triangles()[triangle as usize].map(|v| v as usize);
                let moved = |i: usize| (last[corners[i]] - first[corners[i]]) * barycentric[i];
                (moved(0) + moved(1) + moved(2)) / duration
            }
        }
    }
}

/// ψ of a position in the frame of a mesh.
fn from_mesh(part: &Part, surface: &Surface, x: DVec3) -> f64 {
    if part.shell.is_none() {
        return part.wet_distance(surface.tree().signed_distance(x), true);
    }
    let (distance, outward) = surface.beside(x);
    part.wet_distance(distance, outward)
}

/// How far a rigid part moves at most: an affine motion moves a corner of a box farthest. The box is that of the part, or where the fluids are.
fn rigid_motion([from, to]: [Pose; 2], bounds: Option<Aabb>, domain: &Aabb) -> f64 {
    let corners = |b: &Aabb| -> [DVec3; 8] {
        let pick = |k: usize, d: usize| if k >> d & 1 == 0 { b.min[d] } else { b.max[d] };
        std::array::from_fn(|k| DVec3::new(pick(k, 0), pick(k, 1), pick(k, 2)))
    };
    let farthest = |points: [DVec3; 8], ends: &dyn Fn(DVec3) -> [DVec3; 2]| {
        points.into_iter().map(ends).map(|[a, b]| a.distance(b)).fold(0.0, f64::max)
    };
    let of_box = farthest(corners(domain), &|x| [x, to.apply(from.unapply(x))]);
    match bounds {
        Some(own) => farthest(corners(&own), &|x| [from.apply(x), to.apply(x)]).min(of_box),
        None => of_box,
    }
}
