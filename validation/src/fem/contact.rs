//! Contact of soft bodies makes no energy, by any integrator.

use super::{Measured, rows};
use crate::{Plot, Row, Size, absolute, bound, given, largest};
use glam::DVec3;
use meniscus::core::StepReport;
use meniscus::fem::contact::{Contact, ContactParams, Obstacle, Plane};
use meniscus::fem::{Body, Integrator, Material, Params};
use meniscus::geometry::TetMesh;
use std::error::Error;

const CASE: &str = "contact-energy";
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// The integrators, with the names that rows have for them.
const INTEGRATORS: [(&str, Integrator); 2] =
    [("Euler", Integrator::ImplicitEuler), ("midpoint", Integrator::ImplicitMidpoint)];

/// Bodies and walls, and how they are moved.
struct Trial {
    name: &'static str,
    bodies: Vec<Body>,
    walls: Vec<Plane>,
    /// \[s\].
    dt: f64,
    /// \[s\].
    seconds: f64,
    /// What weight is lifted by, for the measure of energy \[m\].
    height: f64,
}

/// What a trial has shown.
struct Shown {
    /// Time \[s\] and energy above start and work, over the measure.
    rise: Vec<[f64; 2]>,
    /// Work of the walls \[J\].
    work: f64,
    /// Most contacts in a step.
    contacts: f64,
    bodies: Vec<Body>,
}

/// Energy of motion, elasticity, height and overlaps \[J\].
fn energy(contact: &mut Contact, bodies: &[Body], walls: &[Plane]) -> f64 {
    let obstacles: Vec<&dyn Obstacle> = walls.iter().map(|wall| wall as &dyn Obstacle).collect();
    let own = |b: &Body| b.kinetic_energy() + b.elastic_energy() + b.gravitational_energy(GRAVITY);
    bodies.iter().map(own).sum::<f64>() + contact.energy(bodies, &obstacles)
}

impl Trial {
    /// max(start energy, m g × height, contact stiffness × spacing²) \[J\]; contact is 10 E times an edge stiff.
    fn measure(&self, start: f64) -> f64 {
        let weight: f64 = self.bodies.iter().map(|body| 9.81 * body.mass()).sum();
        let stiff = |body: &Body| 10.0 * body.material().young * mean_edge(body).powi(3);
        self.bodies.iter().map(stiff).fold(start.abs().max(weight * self.height), f64::max)
    }

    fn run(mut self) -> Result<Shown, Box<dyn Error>> {
        let mut contact = Contact::new(ContactParams::default())?;
        let start = energy(&mut contact, &self.bodies, &self.walls);
        let measure = self.measure(start);
        let (mut work, mut contacts, mut rise) = (0.0, 0.0f64, Vec::new());
        for step in 1..=(self.seconds / self.dt).round() as u32 {
            let mut report = StepReport::default();
            let obstacles: Vec<&dyn Obstacle> = self.walls.iter().map(|wall| wall as &dyn Obstacle).collect();
            contact.step(&mut self.bodies, &obstacles, self.dt, GRAVITY, &mut report)?;
            contacts = contacts.max(report.counter("contacts").unwrap_or(0.0));
            for (wall, felt) in self.walls.iter_mut().zip(contact.obstacle_forces()) {
                work -= self.dt * felt.force.dot(wall.velocity);
                wall.point += self.dt * wall.velocity;
            }
            let now = energy(&mut contact, &self.bodies, &self.walls);
            rise.push([f64::from(step) * self.dt, (now - start - work) / measure]);
        }
        Ok(Shown { rise, work, contacts, bodies: self.bodies })
    }
}

/// Mean length of the sides of a body's surface \[m\].
fn mean_edge(body: &Body) -> f64 {
    let (triangles, rest) = (body.surface().triangles(), body.rest_positions());
    let side = |t: &[u32; 3], k: usize| rest[t[k] as usize].distance(rest[t[(k + 1) % 3] as usize]);
    triangles.iter().map(|t| side(t, 0) + side(t, 1) + side(t, 2)).sum::<f64>() / (3 * triangles.len()) as f64
}

fn block(min: DVec3, size: DVec3, cells: [u32; 3], material: Material, params: Params) -> Result<Body, Box<dyn Error>> {
    Ok(Body::new("block", &TetMesh::block(min, min + size, cells), params, material)?)
}

fn soft(young: f64) -> Material {
    Material { young, ..Material::default() }
}

/// A plate that just fits between a floor and a lid, which comes down at a speed \[m/s\].
fn plate(name: &'static str, speed: f64, params: Params) -> Result<Trial, Box<dyn Error>> {
    let size = DVec3::new(0.6, 0.1, 0.6);
    let velocity = DVec3::new(0.0, -speed, 0.0);
    let lid = Plane { point: DVec3::new(0.0, 0.1, 0.0), normal: -DVec3::Y, velocity };
    let bodies = vec![block(DVec3::ZERO, size, [6, 1, 6], soft(1e6), params)?];
    Ok(Trial { name, bodies, walls: vec![Plane::floor(0.0), lid], dt: 0.002, seconds: 0.25, height: 0.1 })
}

/// A ball falls from 0.3 m and bounces.
fn ball(seconds: f64, params: Params) -> Result<Trial, Box<dyn Error>> {
    let mesh = TetMesh::ball(DVec3::new(0.0, 0.4, 0.0), 0.1, 4)?;
    let bodies = vec![Body::new("ball", &mesh, params, soft(1e5))?];
    Ok(Trial { name: "ball", bodies, walls: vec![Plane::floor(0.0)], dt: 0.002, seconds, height: 0.3 })
}

/// Three equal cubes on each other.
fn stack(material: Material, dt: f64, seconds: f64, params: Params) -> Result<Trial, Box<dyn Error>> {
    let cube = |k: u32| block(DVec3::Y * (0.2 * f64::from(k)), DVec3::splat(0.2), [4, 4, 4], material, params);
    let bodies = (0..3).map(cube).collect::<Result<_, _>>()?;
    Ok(Trial { name: "stack", bodies, walls: vec![Plane::floor(0.0)], dt, seconds, height: 0.3 })
}

/// A cube falls on a slab by 2 mm.
fn block_on_block(params: Params) -> Result<Trial, Box<dyn Error>> {
    let bodies = vec![
        block(DVec3::ZERO, DVec3::new(0.4, 0.1, 0.4), [8, 2, 8], soft(1e6), params)?,
        block(DVec3::new(0.1, 0.102, 0.1), DVec3::splat(0.2), [4, 4, 4], soft(1e6), params)?,
    ];
    let walls = vec![Plane::floor(0.0)];
    Ok(Trial { name: "block on block", bodies, walls, dt: 0.002, seconds: 0.3, height: 0.2 })
}

/// All trials of an integrator.
fn trials(size: Size, params: Params) -> Result<Vec<Trial>, Box<dyn Error>> {
    let long = if size == Size::Quick { 0.5 } else { 2.0 };
    Ok(vec![
        plate("plate at rest", 0.0, params)?,
        plate("plate pressed", 0.05, params)?,
        ball(2.0 * long, params)?,
        stack(soft(1e5), 0.002, long, params)?,
        block_on_block(params)?,
    ])
}

fn energy_row(integrator: &str, name: &str, shown: &Shown) -> Row {
    let most = largest(shown.rise.iter().map(|point| point[1])).max(0.0);
    // Bodies that never meet keep their energy too, and a lid that does nothing does no work.
    let met = shown.contacts > 0.0 && (name != "plate pressed" || shown.work > 1.0);
    let quantity = format!("energy above start and work, over its measure: {name}, {integrator}");
    bound(CASE, &quantity, given(met, most), 1e-6).asked()
}

/// The mean height of nodes that are at a level at rest \[m\].
fn height_of(body: &Body, level: f64) -> f64 {
    let nodes = body.positions().iter().zip(body.rest_positions());
    let (sum, count) = nodes
        .filter(|(_, rest)| (rest.y - level).abs() < 1e-9)
        .fold((0.0, 0.0), |(sum, count), (x, _)| (sum + x.y, count + 1.0));
    sum / count
}

/// The overlaps of a stack that has come to rest, over weight / κ ΣA: A of a face and of half of the row of cells around it.
fn overlap_rows(params: Params) -> Measured {
    let material = Material { stiffness_damping: 0.01, ..soft(1e5) };
    let shown = stack(material, 0.01, 1.5, params)?.run()?;
    let area = 0.2 * 0.2 + 0.5 * 4.0 * 0.2 * 0.05;
    let kappa = 10.0 * 1e5 / mean_edge(&shown.bodies[0]);
    let row = |k: usize| {
        let (lower, upper, level) = (&shown.bodies[k], &shown.bodies[k + 1], 0.2 * (k + 1) as f64);
        let weight: f64 = shown.bodies[k + 1..].iter().map(|body| 9.81 * body.mass()).sum();
        let overlap = (height_of(lower, level) - height_of(upper, level)) / (weight / (kappa * area));
        absolute(CASE, &format!("overlap over weight / κ ΣA, {} cubes above", 2 - k), [1.0, overlap], 0.1)
    };
    Ok(vec![row(0), row(1)])
}

fn measure(size: Size) -> Measured {
    let mut found = Vec::new();
    let mut plot = Plot::new("t [s], ball", "energy above start and work, over its measure");
    for (integrator, kind) in INTEGRATORS {
        let params = Params { integrator: kind, ..Params::default() };
        for trial in trials(size, params)? {
            let name = trial.name;
            let shown = trial.run()?;
            if name == "ball" {
                plot = plot.measured(integrator, &shown.rise);
            }
            found.push(energy_row(integrator, name, &shown));
        }
    }
    found.extend(overlap_rows(Params::default())?);
    found[0] = found[0].clone().with(plot);
    Ok(found)
}

/// Runs the case.
pub(crate) fn run(size: Size) -> Vec<Row> {
    rows(CASE, measure(size))
}
