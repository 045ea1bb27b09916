//! `wall-integral`: the closed forms of γ against plain volume integrals.

use crate::{Row, Size, bound};
use glam::DVec3;
use meniscus::sph::kernel::Kernel;
use meniscus::sph::wall::WallIntegral;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let n = if size == Size::Fine { 160 } else { 80 };
    let kernels = [("poly6", Kernel::POLY6), ("spiky", Kernel::SPIKY), ("cubic spline", Kernel::CUBIC_SPLINE)];
    let places = [("plane", [0.2, 9.0, 9.0]), ("edge", [0.4, 0.2, 9.0]), ("corner", [0.2, 0.4, 0.6])];
    let mut rows = Vec::new();
    for (kernel_name, kernel) in kernels {
        let wall = WallIntegral::new(&kernel);
        for (place_name, place) in places {
            let p = DVec3::from_array(place);
            let exact = wall.tank(p, DVec3::ZERO, DVec3::INFINITY).deficit;
            let error = (exact - by_volume(&kernel, p, n)).abs();
            rows.push(bound("wall-integral", &format!("error of 1 − γ, {kernel_name}, {place_name}"), error, 2e-4));
        }
    }
    rows
}

/// The part of the kernel beyond the planes x = 0, y = 0, z = 0, as a sum over cells of edge h/n.
fn by_volume(kernel: &Kernel, p: DVec3, n: i32) -> f64 {
    let dx = 1.0 / f64::from(n);
    let mut sum = 0.0;
    for i in -n..n {
        for j in -n..n {
            for k in -n..n {
                let r = (DVec3::new(i.into(), j.into(), k.into()) + 0.5) * dx;
                if (p + r).cmplt(DVec3::ZERO).any() {
                    sum += kernel.value(r.length());
                }
            }
        }
    }
    sum * dx * dx * dx
}
