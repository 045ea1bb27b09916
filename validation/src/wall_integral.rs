//! `wall-integral`: the closed forms of γ against plain volume integrals, samples against both, and the calibration.

use crate::{Plot, Row, Size, bound, largest};
use glam::DVec3;
use meniscus::geometry::{Aabb, solids};
use meniscus::sph::kernel::Kernel;
use meniscus::sph::wall_integral::{Calibration, WallIntegral};
use meniscus::sph::wall_quadrature::{SampleKernel, Samples, Wet};

pub(crate) fn run(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 160 } else { 80 };
    let kernels = [("poly6", Kernel::POLY6), ("spiky", Kernel::SPIKY), ("cubic spline", Kernel::CUBIC_SPLINE)];
    let cases = [("plane", [0.2, 9.0, 9.0]), ("edge", [0.4, 0.2, 9.0]), ("corner", [0.2, 0.4, 0.6])];
    let mut rows = Vec::new();
    for (kernel_name, kernel) in kernels {
        let wall = WallIntegral::new(&kernel);
        for (name, position) in cases {
            let p = DVec3::from_array(position);
            let exact = wall.tank(p, DVec3::ZERO, DVec3::INFINITY).wall_fraction;
            let error = (exact - by_volume(&kernel, p, n)).abs();
            rows.push(bound("wall-integral", &format!("error of 1 − γ, {kernel_name}, {name}"), error, 2e-4));
        }
    }
    rows[0].plots.push(before_a_plane(n / 2));
    rows.extend(samples_against_closed_form());
    rows.push(samples_against_polyhedron(n));
    rows.extend(calibration());
    rows
}

/// 1 − γ before a plane: the closed form, and as a sum over cells.
fn before_a_plane(n: i32) -> Plot {
    let kernel = Kernel::CUBIC_SPLINE;
    let exact = WallIntegral::new(&kernel);
    let at = |k: u32, of: &dyn Fn(f64) -> f64| [f64::from(k) / 20.0, of(f64::from(k) / 20.0)];
    let closed: Vec<[f64; 2]> = (0..=20).map(|k| at(k, &|z| exact.plane(z).0)).collect();
    let sums: Vec<[f64; 2]> =
        (0..=20).step_by(2).map(|k| at(k, &|z| by_volume(&kernel, DVec3::new(z, 9.0, 9.0), n))).collect();
    Plot::new("distance from the plane over h", "1 − γ").measured("closed form", &closed).rings("sum over cells", &sums)
}

/// The worst error of samples at positions from 0.2 h, before a plane, in an edge and in a corner.
fn samples_against_closed_form() -> Vec<Row> {
    let kernel = Kernel::CUBIC_SPLINE;
    let (exact, plain) = (WallIntegral::new(&kernel), SampleKernel::plain(&kernel, 1.0));
    let tank = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::splat(10.0)));
    let samples = Samples::new(&tank, Wet::Back, &plain);
    let near = [0.2, 0.27, 0.35, 0.5, 0.8];
    let planes = near.map(|z| [z, 5.03, 4.91]);
    let edges = near.map(|z| [z, 0.2 + 0.5 * z, 4.91]);
    let corners = near.map(|z| [z, 0.3, 0.2 + 0.3 * z]);
    let mut rows = Vec::new();
    for (name, positions) in [("plane", planes), ("edge", edges), ("corner", corners)] {
        let errors = positions.map(|position| {
            let p = DVec3::from_array(position);
            let cut = exact.tank(p, DVec3::ZERO, DVec3::splat(10.0));
            let sampled = samples.integrate(p.as_vec3(), &plain).unwrap_or_default();
            let wall_fraction = (f64::from(sampled.wall_fraction) - cut.wall_fraction).abs();
            [wall_fraction, (sampled.gamma_gradient.as_dvec3() - cut.gradient).length() / cut.gradient.length()]
        });
        let worst = |k: usize| largest(errors.iter().map(|e| e[k]));
        rows.push(bound("wall-integral", &format!("error of γ by samples, {name}"), worst(0), 0.005).asked());
        rows.push(bound("wall-integral", &format!("error of ∇γ by samples, {name}, relative"), worst(1), 0.01));
    }
    rows
}

/// Samples of a sphere of triangles, radius 1.5 h, against the volume of its polyhedron.
fn samples_against_polyhedron(n: i32) -> Row {
    let kernel = Kernel::CUBIC_SPLINE;
    let plain = SampleKernel::plain(&kernel, 1.0);
    let mesh = solids::icosphere(DVec3::ZERO, 1.5, 3);
    let samples = Samples::new(&mesh, Wet::Front, &plain);
    let planes: Vec<[DVec3; 2]> = mesh.corners().map(|[a, b, c]| [(b - a).cross(c - a).normalize(), a]).collect();
    let errors = [[0.0, 1.7, 0.0], [1.0, 1.2, 0.8], [-0.3, 0.2, 1.9]].map(|position| {
        let p = DVec3::from_array(position);
        let inside = |x: DVec3| planes.iter().all(|[normal, point]| (x - *point).dot(*normal) <= 0.0);
        let wall_fraction =
            samples.integrate(p.as_vec3(), &plain).map_or(0.0, |sampled| f64::from(sampled.wall_fraction));
        (wall_fraction - by_cells(&kernel, p, n / 2, inside)).abs()
    });
    bound("wall-integral", "error of γ by samples, sphere, against its polyhedron", largest(errors), 0.005).asked()
}

/// On half of a lattice at h = 2 s: density of the first layer, and the wall's push over what holds that layer.
fn calibration() -> Vec<Row> {
    let (kernel, spacing) = (Kernel::CUBIC_SPLINE, 0.5);
    let calibration = Calibration::new(&kernel, &kernel, spacing);
    let (wall_fraction, weight) = WallIntegral::new(&kernel).plane(calibration.read(0.5 * spacing));
    let above = kernel.lattice_sum_above(spacing, -0.5 * spacing) / kernel.lattice_sum(spacing);
    let push = calibration.stretch * weight / (2.0 * kernel.half_lattice_push(spacing));
    vec![
        bound("wall-integral", "density error of a layer half a spacing away", wall_fraction + above - 1.0, 1e-9),
        bound("wall-integral", "push on that layer over what holds it, minus one", push - 1.0, 1e-9),
    ]
}

/// The part of the kernel beyond the planes x = 0, y = 0, z = 0.
fn by_volume(kernel: &Kernel, p: DVec3, n: i32) -> f64 {
    by_cells(kernel, p, n, |x| x.cmplt(DVec3::ZERO).any())
}

/// The part of the kernel about a point that lies in a solid, as a sum over cells of edge h/n.
fn by_cells(kernel: &Kernel, p: DVec3, n: i32, solid: impl Fn(DVec3) -> bool) -> f64 {
    let dx = 1.0 / f64::from(n);
    let mut sum = 0.0;
    for i in -n..n {
        for j in -n..n {
            for k in -n..n {
                let r = (DVec3::new(i.into(), j.into(), k.into()) + 0.5) * dx;
                if r.length_squared() < 1.0 && solid(p + r) {
                    sum += kernel.value(r.length());
                }
            }
        }
    }
    sum * dx * dx * dx
}
