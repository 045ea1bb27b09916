use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_fem::contact::{Contact, ContactParams, Obstacle, Plane};
use meniscus_fem::{Body, Integrator, Material, Params};
use meniscus_geometry::TetMesh;
const G: DVec3 = DVec3::new(0.0, -9.81, 0.0);
fn run(label: &str, mut bodies: Vec<Body>, obstacles: &[&dyn Obstacle], cp: ContactParams, dt: f64, seconds: f64, scale_h: f64) {
    let mut contact = Contact::new(cp).unwrap();
    let energy = |b: &[Body], c: &mut Contact| {
        let k: f64 = b.iter().map(Body::kinetic_energy).sum();
        let e: f64 = b.iter().map(Body::elastic_energy).sum();
        let g: f64 = b.iter().map(|b| b.gravitational_energy(G)).sum();
        let o = c.energy(b, obstacles);
        [k, e, g, o]
    };
    let e0 = energy(&bodies, &mut contact);
    let s0: f64 = e0.iter().sum();
    let mass: f64 = bodies.iter().map(Body::mass).sum();
    let young = bodies[0].material().young;
    let scale = (mass * 9.81 * scale_h).max(s0.abs()).max(10.0 * young * 0.05f64.powi(3));
    let (mut most, mut at) = (0.0f64, 0.0);
    let steps = (seconds / dt) as usize;
    let mut heights = vec![];
    for n in 0..steps {
        let mut report = StepReport::default();
        if let Err(e) = contact.step(&mut bodies, obstacles, dt, G, &mut report) { println!("{label}: error {e:?}"); return; }
        let e: f64 = energy(&bodies, &mut contact).iter().sum();
        if e - s0 > most { most = e - s0; at = n as f64 * dt; }
        heights.push(bodies[0].center().y);
    }
    let e = energy(&bodies, &mut contact);
    let y: Vec<String> = bodies.iter().map(|b| { let p = b.positions(); let lo = p.iter().map(|p| p.y).fold(f64::MAX, f64::min); let hi = p.iter().map(|p| p.y).fold(f64::MIN, f64::max); format!("{lo:.5}..{hi:.5}") }).collect();
    let mut peaks = vec![];
    for w in heights.windows(3) { if w[1] > w[0] && w[1] >= w[2] && w[1] > 0.005 + heights[heights.len()-1].min(0.3) { peaks.push(format!("{:.3}", w[1])); } }
    println!("{label:40} rise {most:.3e} J ({:.1e} of scale) at {at:.3} s; end k {:.2e} el {:.2e} g {:.3e} ov {:.2e} total-start {:.2e} y {} peaks {}", most / scale, e[0], e[1], e[2], e[3], e.iter().sum::<f64>() - s0, y.join(" "), peaks[..peaks.len().min(5)].join(" "));
}
fn main() {
    for integrator in [Integrator::ImplicitEuler, Integrator::ImplicitMidpoint] {
        for newton in [1] {
        let params = Params { integrator, newton_iterations: newton, ..Params::default() };
        let soft = |young: f64| Material { young, ..Material::default() };
        let tag = format!("{integrator:?} n{newton}");
        let blk = |name: &str, min: DVec3, size: DVec3, c: [u32;3], y: f64| Body::new(name, &TetMesh::block(min, min+size, c), params, soft(y)).unwrap();
        let floor = Plane::floor(0.0);
        let ceiling = Plane { point: DVec3::new(0.0, 0.1, 0.0), normal: -DVec3::Y, velocity: DVec3::ZERO };
        let left = Plane { point: DVec3::ZERO, normal: DVec3::X, velocity: DVec3::ZERO };
        let right = Plane { point: DVec3::new(1.0, 0.0, 0.0), normal: -DVec3::X, velocity: DVec3::ZERO };
        run(&format!("{tag} plate floor+ceiling"), vec![blk("p", DVec3::ZERO, DVec3::new(1.0,0.1,1.0), [8,1,8], 1e6)], &[&floor, &ceiling], ContactParams::default(), 0.002, 0.25, 0.1);
        run(&format!("{tag} plate left+right"), vec![blk("p", DVec3::ZERO, DVec3::new(1.0,0.05,0.5), [16,1,8], 1e6)], &[&floor, &left, &right], ContactParams::default(), 0.002, 0.25, 0.1);
        run(&format!("{tag} hung l+r"), vec![blk("p", DVec3::new(0.0,1.0,0.0), DVec3::new(1.0,0.05,0.5), [16,1,8], 1e6)], &[&left, &right], ContactParams::default(), 0.002, 0.25, 0.1);
        let ball = Body::new("ball", &TetMesh::ball(DVec3::new(0.0,0.4,0.0), 0.1, 4).unwrap(), params, soft(1e5)).unwrap();
        run(&format!("{tag} ball 1ms"), vec![ball], &[&floor], ContactParams::default(), 0.001, 1.5, 0.3);
        let ball = Body::new("ball", &TetMesh::ball(DVec3::new(0.0,0.4,0.0), 0.1, 4).unwrap(), params, soft(1e5)).unwrap();
        run(&format!("{tag} ball 4ms"), vec![ball], &[&floor], ContactParams::default(), 0.004, 1.5, 0.3);
        let cubes = (0..3).map(|k| blk("c", DVec3::new(0.0, 0.2*k as f64, 0.0), DVec3::splat(0.2), [4,4,4], 1e5)).collect();
        run(&format!("{tag} stack"), cubes, &[&floor], ContactParams::default(), 0.002, 1.0, 0.3);
        let cubes = vec![blk("a", DVec3::ZERO, DVec3::new(0.4,0.1,0.4), [8,2,8], 1e6), blk("b", DVec3::new(0.1,0.102,0.1), DVec3::splat(0.2), [4,4,4], 1e6)];
        run(&format!("{tag} block on block"), cubes, &[&floor], ContactParams::default(), 0.002, 0.5, 0.2);
        }
    }
}
