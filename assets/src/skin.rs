//! The surface of a body and how it hangs on its joints.

use glam::DVec3;
use meniscus_geometry::{Aabb, IsoGrid, TriangleMesh};

use crate::flesh::along;
use crate::skeleton::Skeleton;

/// Rounds that even out the triangles.
const ROUNDS: usize = 3;

/// The surface of value zero within a box, its triangles evened out.
pub(crate) fn surface(bounds: &Aabb, spacing: f64, value: &(impl Fn(DVec3) -> f64 + Sync)) -> TriangleMesh {
    let grid = IsoGrid::covering(bounds, spacing).expect("a box of our own");
    let samples: Vec<f64> = {
        let [nx, ny, nz] = grid.samples();
        let at = |i, j, k| value(grid.position([i, j, k]));
        (0..nz)
            .flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j, k))))
            .map(|(i, j, k)| at(i, j, k))
            .collect()
    };
    let iso = grid.surface(&samples, 0.0).expect("as many samples as the grid has");
    let mut mesh = iso.into_mesh().expect("a body with a surface");
    for _ in 0..ROUNDS {
        even_out(&mut mesh, spacing, value);
    }
    mesh
}

/// Moves each vertex half way to the middle of its neighbours and back to the surface.
fn even_out(mesh: &mut TriangleMesh, spacing: f64, value: &impl Fn(DVec3) -> f64) {
    let middles = averaged(mesh, mesh.vertices());
    for (vertex, middle) in mesh.vertices_mut().iter_mut().zip(middles) {
        let mut p = vertex.lerp(middle, 0.5);
        for _ in 0..2 {
            let g = gradient(value, p, 0.1 * spacing);
            let step = value(p) / g.length_squared().max(0.25);
            p -= (g * step).clamp_length_max(0.5 * spacing);
        }
        *vertex = p;
    }
}

fn gradient(value: &impl Fn(DVec3) -> f64, p: DVec3, h: f64) -> DVec3 {
    let slope = |axis: DVec3| (value(p + h * axis) - value(p - h * axis)) / (2.0 * h);
    DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z))
}

/// The mean over the neighbours of each vertex. Each edge is met twice in a closed surface.
fn averaged(mesh: &TriangleMesh, values: &[DVec3]) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); values.len()];
    for &[a, b, c] in mesh.triangles() {
        for (v, w) in [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)] {
            sums[v as usize].0 += values[w as usize];
            sums[v as usize].1 += 1.0;
        }
    }
    sums.iter().zip(values).map(|((sum, n), own)| if *n > 0.0 { *sum / *n } else { *own }).collect()
}

/// Four joints and weights of a vertex; the weights add up to 255.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hold {
    pub(crate) joints: [u8; 4],
    pub(crate) weights: [u8; 4],
}

/// Hangs vertices on joints. `radius` is how thick the flesh about each bone is \[m\]: it decides whose a vertex is.
/// Only that joint, its parent and its children hold it, with the −4th power of the distance to their bones; then
/// weights are smoothed over the surface.
pub(crate) fn hang(mesh: &TriangleMesh, skeleton: &Skeleton, radius: &[f64], rounds: usize) -> Vec<Hold> {
    let joints = skeleton.joints.len();
    let mut weights: Vec<Vec<f64>> = mesh.vertices().iter().map(|&p| pulls(p, skeleton, radius)).collect();
    for _ in 0..rounds {
        let mut sums = weights.clone();
        for &[a, b, c] in mesh.triangles() {
            for (v, w) in [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)] {
                (0..joints).for_each(|j| sums[v as usize][j] += 0.5 * weights[w as usize][j]);
            }
        }
        weights = sums;
        for of_vertex in &mut weights {
            let sum: f64 = of_vertex.iter().sum();
            of_vertex.iter_mut().for_each(|w| *w /= sum);
        }
    }
    weights.iter().map(|w| best_four(w)).collect()
}

fn pulls(p: DVec3, skeleton: &Skeleton, radius: &[f64]) -> Vec<f64> {
    let far = |j: usize| {
        let bone = [skeleton.joints[j].position, skeleton.joints[j].end];
        p.distance(bone[0].lerp(bone[1], along(p, bone)))
    };
    let mut own = 0;
    for j in 1..skeleton.joints.len() {
        if far(j) - radius[j] < far(own) - radius[own] {
            own = j;
        }
    }
    let kin = |j: usize| j == own || skeleton.joints[own].parent == Some(j) || skeleton.joints[j].parent == Some(own);
    (0..skeleton.joints.len()).map(|j| if kin(j) { (far(j) / radius[j]).max(0.05).powi(-4) } else { 0.0 }).collect()
}

fn best_four(weights: &[f64]) -> Hold {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let best = &order[..4.min(order.len())];
    let sum: f64 = best.iter().map(|&j| weights[j]).sum();
    let mut hold = Hold::default();
    let mut left = 255;
    for (n, &j) in best.iter().enumerate().skip(1) {
        let share = (255.0 * weights[j] / sum).round() as u8;
        if share > 0 {
            (hold.joints[n], hold.weights[n]) = (j as u8, share);
            left -= share;
        }
    }
    (hold.joints[0], hold.weights[0]) = (best[0] as u8, left);
    hold
}
