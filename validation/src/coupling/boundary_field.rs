//! `boundary-field`: the paper's traction at Gauss points against its closed form, and how smooth it is round corners.

use crate::{Plot, Row, Size, absolute, bound, largest};
use glam::DVec3;
use meniscus::geometry::{Aabb, Bvh, TriangleMesh, solids};
use meniscus::sph::traction::{ADHESION, Traction};

const CASE: &str = "boundary-field";

/// Longest edge of the pieces, in units of h, with room for rounding.
const EDGE: f64 = 0.5 * (1.0 + 1e-9);

/// Steps in which gradients are compared, in units of h.
const STEPS: [f64; 2] = [1e-3, 1e-4];

pub(crate) fn run(size: Size) -> Vec<Row> {
    let paper = Traction { reach: 1.0, zero: 0.5, stiffness: 1.0, adhesion: 1.0 };
    let across = if size == Size::Fine { 40 } else { 12 };
    let strongest = paper.strongest();
    let worst = worst_over_plane(&paper, 0.2, across) / strongest;
    let mut rows = vec![
        bound(CASE, "error over a plane at z = 0.2 h, worst place, over F_max", worst, 0.01)
            .asked()
            .with(over_the_plane(&paper)),
        absolute(CASE, "F_max over k h²", [0.049_016, strongest], 1e-6),
        absolute(CASE, "z*/h by Gauss points", [0.354_503, zero_over_plane(&paper)], 0.002),
    ];
    let gentle = Traction { adhesion: ADHESION, ..paper };
    for (name, traction) in [("as in the paper", paper), ("β = 0.1", gentle)] {
        for (corner, paths) in [("a convex corner", CONVEX), ("a concave corner", CONCAVE)] {
            let [coarse, fine] = STEPS.map(|step| jump(step, paths, |p, mesh| field(&traction, p, mesh)));
            rows.push(bound(CASE, &format!("jump of the gradient round {corner}, {name}"), fine, 0.01));
            // With β the force of a single point has a kink at r₀.
            if traction.adhesion == 1.0 {
                rows.push(bound(
                    CASE,
                    &format!("the same over that at ten times the step, {corner}"),
                    fine / coarse,
                    0.2,
                ));
            }
        }
    }
    // What the paper holds against distances: a kink, a tenth of a step beside the places compared, 2 (1 − 0.1).
    let distance = jump(STEPS[1], CONCAVE, |p, mesh| DVec3::X * Bvh::new(mesh).closest_point(p).distance());
    rows.push(absolute(CASE, "jump of the gradient of the distance, a concave corner", [1.8, distance], 0.01));
    rows
}

/// The force over a plane: the closed form, and Gauss points over the middle of a piece.
fn over_the_plane(traction: &Traction) -> Plot {
    let heights = || (2..=40).map(|k| f64::from(k) / 40.0);
    let exact: Vec<[f64; 2]> = heights().map(|z| [z, traction.plane(z)]).collect();
    let found = heights().step_by(2).map(|z| [z, over_plane(traction, DVec3::new(0.12, z, 0.06)).y]);
    let plot = Plot::new("distance from the plane over h", "force over k h²").reference("closed form", &exact);
    plot.dots("seven Gauss points a piece", &found.collect::<Vec<_>>())
}

/// A plane of pieces with a longest edge of just 0.5 h, seen from places over one of them: the worst error of the force.
fn worst_over_plane(traction: &Traction, z: f64, across: u32) -> f64 {
    let exact = DVec3::Y * traction.plane(z);
    let mut errors = Vec::new();
    for i in 0..across {
        for j in 0..across {
            let part = |k: u32| (f64::from(k) + 0.5) / f64::from(across) * 0.5 / 2f64.sqrt();
            let force = over_plane(traction, DVec3::new(part(i), z, part(j)));
            errors.push((force - exact).length());
        }
    }
    largest(errors)
}

/// The force of a square of 16 pieces a side, about the origin.
fn over_plane(traction: &Traction, p: DVec3) -> DVec3 {
    let half = 8.0 * 0.5 / 2f64.sqrt();
    let corner = |x: f64, z: f64| DVec3::new(half * x, 0.0, half * z);
    let [a, b, c, d] = [corner(-1.0, -1.0), corner(-1.0, 1.0), corner(1.0, 1.0), corner(1.0, -1.0)];
    traction.of_triangle(p, [a, b, c], EDGE) + traction.of_triangle(p, [a, c, d], EDGE)
}

/// Where the force over the middle of a piece turns from push to pull.
fn zero_over_plane(traction: &Traction) -> f64 {
    let (mut near, mut far) = (0.2, 0.6);
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        let force = over_plane(traction, DVec3::new(0.12, middle, 0.06));
        if force.y > 0.0 { near = middle } else { far = middle }
    }
    near
}

fn field(traction: &Traction, p: DVec3, mesh: &TriangleMesh) -> DVec3 {
    mesh.corners().map(|corners| traction.of_triangle(p, corners, EDGE)).sum()
}

/// Middles of paths past an edge and past a corner of a cube at the origin, outside and inside of it.
const CONVEX: [DVec3; 2] = [DVec3::new(-0.3, -0.3, 1.0), DVec3::splat(-0.3)];
const CONCAVE: [DVec3; 2] = [DVec3::new(0.3, 0.3, 1.0), DVec3::splat(0.3)];

/// The largest change of a field's gradient within a step along paths that cross the planes of symmetry, over the largest gradient.
/// It falls with the step where the gradient is continuous.
fn jump(step: f64, paths: [DVec3; 2], field: impl Fn(DVec3, &TriangleMesh) -> DVec3) -> f64 {
    let cube = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::splat(2.0)));
    let (mut slopes, mut changes) = (Vec::new(), Vec::new());
    for (middle, rise) in paths.into_iter().zip([0.0, 0.4]) {
        let along = DVec3::new(1.0, -1.0, rise).normalize();
        for k in -10..=10 {
            // Not symmetric about the planes themselves.
            let at = middle + along * (0.03 * f64::from(k) + 0.1 * step);
            let [before, here, after] = [-step, 0.0, step].map(|s| field(at + along * s, &cube));
            let [left, right] = [(here - before) / step, (after - here) / step];
            slopes.push(left.length());
            changes.push((right - left).length());
        }
    }
    largest(changes) / largest(slopes)
}
