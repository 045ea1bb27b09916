use glam::DVec3;
use meniscus_geometry::Aabb;
use meniscus_twophase::*;
use std::f64::consts::PI;
fn run(name: &str, n: usize, phi: bool) {
    let three = name == "deform";
    let h = 1.0 / n as f64;
    let params = Params { spacing: h, ..Params::default() };
    let max = DVec3::new(1.0, 1.0, if three { 1.0 } else { h });
    let mut flow = Flow::new(Setup { params, domain: Aabb { min: DVec3::ZERO, max }, gravity: DVec3::ZERO }).unwrap();
    let (end, umax): (f64, f64) = match name { "vortex" => (8.0, 1.0), "zalesak" => (1.0, 2.0 * PI * 0.7*1.2), _ => (3.0, 2.0) };
    let field = move |t: f64, x: DVec3| -> DVec3 {
        let c = libm::cos(PI * t / end);
        let s = |a: f64| libm::sin(PI * a);
        let s2 = |a: f64| libm::sin(2.0 * PI * a);
        match name {
            "vortex" => DVec3::new(s(x.x) * s(x.x) * s2(x.y), -s(x.y) * s(x.y) * s2(x.x), 0.0) * c,
            "zalesak" => DVec3::new(0.5 - x.y, x.x - 0.5, 0.0) * 2.0 * PI,
            _ => DVec3::new(2.0*s(x.x)*s(x.x)*s2(x.y)*s2(x.z), -s2(x.x)*s(x.y)*s(x.y)*s2(x.z), -s2(x.x)*s2(x.y)*s(x.z)*s(x.z))*c,
        }
    };
    match name {
        "vortex" => flow.fill(|x| ((x.x - 0.5).powi(2) + (x.y - 0.75).powi(2)).sqrt() - 0.15),
        "zalesak" => flow.fill(|x| {
            let d = ((x.x - 0.5).powi(2) + (x.y - 0.75).powi(2)).sqrt() - 0.15;
            let slot = ((x.x - 0.5).abs() - 0.025).max(x.y - 0.85);
            d.max(-slot)
        }),
        _ => flow.fill(|x| x.distance(DVec3::splat(0.35)) - 0.15),
    }
    let f0 = flow.state().volume_fraction.clone();
    let v0 = flow.state().liquid_cells;
    let cfl: f64 = std::env::var("CFL").map_or(0.5, |v| v.parse().unwrap()); let steps = (end * umax / (cfl * h)).ceil() as usize;
    let dt = end / steps as f64;
    for k in 0..steps {
        if !phi { flow.debug_mode(false); }
        flow.set_velocity(|x| field((k as f64 + 0.5) * dt, x));
        flow.keep();
        flow.advect(dt);
        if phi { flow.measure_distance(); }
    }
    let f = &flow.state().volume_fraction;
    let g = flow.grid();
    let mut e = 0.0; let mut v = 0.0;
    for k in 0..g.cells()[2] { for j in 0..n { for i in 0..n { let p = g.index([i,j,k]); e += (f[p]-f0[p]).abs(); v += f[p]; } } }
    let cell = if three { h*h*h } else { h*h };
    println!("{name} {n} steps {steps} L1 {:.4e} relvol {:.2e}", e*cell, v/v0-1.0);
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let phi = a.get(3).is_some();
    run(&a[1], a[2].parse().unwrap(), phi);
}
