use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_geometry::Aabb;
use meniscus_twophase::{Flow, Fluid, Params, Setup};
fn main() {
    let n = 32;
    let sigma: f64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(0.072);
    let end: f64 = std::env::args().nth(2).and_then(|a| a.parse().ok()).unwrap_or(1.0);
    let params = Params { spacing: 1.0 / n as f64, gas: Fluid { density: 1.0, viscosity: 1.8e-5 }, surface_tension: sigma, ..Params::default() };
    let domain = Aabb::new(DVec3::ZERO, DVec3::ONE);
    let mut flow = Flow::new(Setup { params, domain, gravity: DVec3::new(0.0, -9.81, 0.0), solid: None }).unwrap();
    flow.fill(|x| (x.x - 0.4).max(x.y - 0.8).min(x.y - 0.1));
    let (mut t, mut step, mut its) = (0.0, 0, 0.0);
    let mut next = 0.0;
    let mut report = StepReport::default();
    while t < end {
        let dt = flow.stable_step();
        flow.step(dt, &mut report).unwrap();
        t += dt; step += 1; its += report.counter("pressure iterations").unwrap();
        if t >= next {
            next += end / 20.0;
            let f = &flow.state().volume_fraction;
            let (mut g, mut l, mut m) = (0.0f64, 0.0f64, 0.0f64);
            for p in 0..f.len() { if flow.grid().contains(p) { let s = flow.cell_velocity(p).length(); if f[p] == 0.0 { g = g.max(s) } else if f[p] == 1.0 { l = l.max(s) } else { m = m.max(s) } } }
            let e = flow.energy();
            println!("t {t:.3} step {step} dt {dt:.2e} its {:.1} gas {g:.2} mixed {m:.2} liquid {l:.2} ke {:.2} pe {:.2} rough {}", its / step as f64, e.kinetic, e.potential, report.counter("curvatures not from heights").unwrap());
        }
    }
}
