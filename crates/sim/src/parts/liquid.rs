//! The particle liquid of a world: with its walls, nozzles and drains.

use super::shown_walls;
use crate::part::{Part, Totals, fits, take};
use crate::probes;
use glam::{DVec3, Vec3};
use meniscus_boundary::{Boundaries, WallShape};
use meniscus_core::{BodyInfo, BodyKind, Digest, Frame, StepReport, Surface, Wire, Wrench, par};
use meniscus_geometry::Aabb;
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Poke, Probe};
use meniscus_sph::{BodyWall, Liquid, PressureSolver, State};

/// A region where particles vanish.
pub(crate) type Drain = Box<dyn Fn(DVec3) -> bool + Send + Sync>;

/// The counter of particles that have left the domain in a step.
pub(crate) const LEFT_DOMAIN: &str = "left the domain";

/// The counter of the energy of particles that drains and the domain have taken in a step \[J\].
pub(crate) const ENERGY_TAKEN: &str = "energy taken away [J]";

/// Speed between that of falling and that of resting liquid, over the former, dimensionless.
const BETWEEN: f64 = 0.85;
/// A liquid of this kinematic viscosity hardly falls \[m²/s\].
const CREEPS: f64 = 1e-3;

/// A liquid among walls.
pub(crate) struct LiquidPart {
    pub(crate) liquid: Liquid,
    pub(crate) walls: Boundaries,
    /// Liquids of the scene; what comes after them in the liquid are particles of bodies.
    pub(crate) liquids: u16,
    /// Whether there is no liquid and none will come.
    pub(crate) dry: bool,
    /// Whether the scene has soft or rigid bodies that it meets by their surfaces.
    pub(crate) meets_bodies: bool,
    pub(crate) courant: f64,
    pub(crate) domain: Aabb,
    pub(crate) drains: Vec<Drain>,
    /// The first id whose energy is not yet counted among what has come in.
    pub(crate) entering: u32,
    pub(crate) look: Look,
}

/// How the bodies are drawn.
pub(crate) struct Look {
    /// Liquids, then walls, then nozzles, then solids, then rigid bodies.
    pub(crate) bodies: Vec<BodyInfo>,
    /// Edges of each wall, where it is at the start; none for meshes and planes.
    pub(crate) tanks: Vec<Vec<[Vec3; 2]>>,
    pub(crate) nozzles: Vec<Wire>,
}

impl Part for LiquidPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(self.liquid.state(), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let state: State = take(bytes)?;
        fits(self.liquid.restore(state))?;
        self.entering = self.liquid.particles().next_id;
        self.put_walls_back();
        Ok(())
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        let particles = self.liquid.particles();
        for i in particles.in_id_order() {
            digest = digest.u64(u64::from(particles.id[i]) << 16 | u64::from(particles.liquid[i]));
            digest.vec3(particles.position[i]);
            digest.vec3(particles.velocity[i]);
            digest.bytes(&particles.density[i].to_le_bytes());
        }
        digest
    }

    fn show(&self, frame: &mut Frame) {
        frame.bodies.extend(self.look.bodies.iter().cloned());
        frame.wires.extend(self.look.nozzles.iter().cloned());
        self.show_walls(frame);
        let (from, to) = (&self.liquid.state().particles, &mut frame.particles);
        to.spacing = self.liquid.setup().params.spacing as f32;
        let mut order = from.in_id_order();
        order.retain(|&i| from.liquid[i] < self.liquids);
        to.ids.extend(order.iter().map(|&i| from.id[i]));
        to.bodies.extend(order.iter().map(|&i| from.liquid[i]));
        to.positions.extend(order.iter().map(|&i| from.position[i]));
        to.velocities.extend(order.iter().map(|&i| from.velocity[i]));
        to.densities.extend(order.iter().map(|&i| from.density[i]));
        to.pressures.extend(order.iter().map(|&i| from.pressure[i]));
    }

    fn moved_in(&self) -> &'static str {
        "find pressure"
    }

    fn add_totals(&self, gravity: DVec3, totals: &mut Totals) {
        let liquid = &self.liquid;
        let particles = liquid.particles();
        let zero = ([0.0; 6], DVec3::ZERO);
        let ([kinetic, potential, volume, at_rest, mass, squeezed], momentum) = par::reduce(
            particles.len(),
            &|range| {
                let own = range.filter(|&i| particles.liquid[i] < self.liquids);
                own.fold(zero, |(mut sums, mut momentum), i| {
                    let mass = liquid.mass(particles.liquid[i]);
                    let rest_density = liquid.setup().materials[usize::from(particles.liquid[i])].1.density;
                    let v = particles.velocity[i].as_dvec3();
                    sums[0] += 0.5 * mass * v.length_squared();
                    sums[1] -= mass * gravity.dot(particles.position[i].as_dvec3());
                    sums[2] += mass / f64::from(particles.density[i]).max(rest_density);
                    sums[3] += mass / rest_density;
                    sums[4] += mass;
                    let pressure = f64::from(particles.pressure[i]);
                    sums[5] += 0.5 * pressure * pressure * mass / rest_density;
                    momentum += v * mass;
                    (sums, momentum)
                })
            },
            &|a, b| (std::array::from_fn(|k| a.0[k] + b.0[k]), a.1 + b.1),
        )
        .unwrap_or(zero);
        totals.particles += particles.liquid.iter().filter(|&&liquid| liquid < self.liquids).count() as u64;
        totals.kinetic_energy += kinetic;
        totals.potential_energy += potential;
        totals.mass += mass;
        totals.compression_energy += squeezed / self.bulk_modulus();
        totals.volume_change = if at_rest > 0.0 { volume / at_rest - 1.0 } else { 0.0 };
        totals.max_speed = totals.max_speed.max(liquid.state().fastest[0]);
        totals.momentum += momentum;
    }

    fn read(&self, probe: &Probe, gravity: DVec3, values: &mut Vec<f64>) -> bool {
        probes::read_liquid(&self.liquid, gravity, probe, values)
    }

    fn add_wall_forces(&self, walls: &mut [Wrench]) {
        walls.iter_mut().zip(self.liquid.reactions()).for_each(|(wall, felt)| *wall += felt);
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        let &[value] = value else { return };
        self.liquid.set_parameters(|setup| match *key {
            LiveKey::ArtificialViscosity => setup.params.artificial_viscosity = Some(value),
            LiveKey::LiquidViscosity(number) => setup.materials[number].1.viscosity = value,
            LiveKey::LiquidDensity(number) => setup.materials[number].1.density = value,
            LiveKey::LiquidTension(number) => setup.materials[number].1.surface_tension = value,
            LiveKey::ContactAngle(number) => setup.materials[number].1.contact_angle = value,
            LiveKey::EmitterSpeed(number) => setup.emitters[number].speed = value,
            LiveKey::RestDistance => setup.coupling.rest_distance = Some(value),
            _ => {}
        });
    }

    fn poke(&mut self, poke: &Poke) {
        let center = DVec3::from_array(poke.center).as_vec3();
        let (radius, velocity) = (poke.radius as f32, DVec3::from_array(poke.velocity).as_vec3());
        self.liquid.kick(|_, position| {
            let q = position.distance(center) / radius;
            if q < 1.0 { velocity * ((1.0 - q * q) * (1.0 - q * q)) } else { Vec3::ZERO }
        });
    }

    /// Liquid is pushed in against its pressure: p/ρ for every kilogram.
    fn entered(&mut self, gravity: DVec3) -> [f64; 2] {
        if self.liquid.setup().emitters.is_empty() {
            return [0.0; 2];
        }
        let particles = self.liquid.particles();
        let new =
            (0..particles.len()).filter(|&i| particles.id[i] >= self.entering && particles.liquid[i] < self.liquids);
        let pushed = |i: usize| {
            let mass = self.liquid.mass(particles.liquid[i]);
            mass * f64::from(particles.pressure[i]) / f64::from(particles.density[i]).max(f64::MIN_POSITIVE)
        };
        let sum = new.fold([0.0; 2], |[energy, work], i| [energy + self.energy(i, gravity), work + pushed(i)]);
        self.entering = particles.next_id;
        sum
    }

    fn gauss_points(&self) -> Vec<Vec3> {
        self.liquid.gauss_points()
    }

    fn rest_distance(&self) -> Option<f64> {
        let setup = self.liquid.setup();
        (!self.dry && self.meets_bodies).then(|| match setup.coupling.wall {
            BodyWall::Traction => self.liquid.traction().rest_distance(),
            // What the wall kernel is calibrated for.
            BodyWall::Pressure => 0.5 * setup.params.spacing,
        })
    }
}

impl LiquidPart {
    /// ρ dp/dρ of the heaviest liquid at rest \[Pa\]; endless where liquids do not give way to pressure.
    fn bulk_modulus(&self) -> f64 {
        let setup = self.liquid.setup();
        let heaviest = setup.materials.iter().map(|(_, material)| material.density).fold(0.0, f64::max);
        match setup.params.pressure {
            PressureSolver::StateEquation => setup.stiffness * heaviest,
            PressureSolver::Dfsph => f64::INFINITY,
        }
    }

    /// Kinetic energy of a particle and that of its height \[J\].
    fn energy(&self, i: usize, gravity: DVec3) -> f64 {
        let particles = self.liquid.particles();
        let (x, v) = (particles.position[i].as_dvec3(), particles.velocity[i].as_dvec3());
        self.liquid.mass(particles.liquid[i]) * (0.5 * v.length_squared() - gravity.dot(x))
    }

    /// Largest stable step, under gravity \[m/s²\] \[s\].
    pub(crate) fn stable_step(&self, gravity: DVec3) -> f64 {
        self.liquid.stable_step(self.courant, gravity.length())
    }

    /// Step that is to be expected of a liquid under way \[s\]: what falls goes up to v = √2gH, and what rests rattles at √gH
    /// under its own pressure.
    pub(crate) fn typical_step(&self) -> f64 {
        let setup = self.liquid.setup();
        let kinematic = setup.materials.iter().map(|(_, m)| m.viscosity / m.density).fold(0.0, f64::max);
        match setup.params.pressure {
            PressureSolver::Dfsph if !self.dry && kinematic < CREEPS => {
                self.courant * setup.params.spacing / (BETWEEN * setup.speed)
            }
            _ => f64::INFINITY,
        }
    }

    /// Names of the walls.
    pub(crate) fn wall_names(&self) -> Vec<&str> {
        let walls = self.look.bodies.iter().filter(|body| body.kind == BodyKind::Wall);
        walls.map(|wall| wall.name.as_str()).collect()
    }

    /// Without liquid: walls are shown where they are.
    pub(crate) fn follow_walls(&mut self) {
        let [time, dt] = self.walls.step();
        self.liquid.sort(time, dt);
        self.liquid.find_wall_integrals(&self.walls);
    }

    /// Undoes a step that failed.
    pub(crate) fn roll_back(&mut self) {
        self.liquid.roll_back();
        match self.liquid.state().last_step {
            [time, dt] if dt > 0.0 => self.walls.place(time, dt),
            _ => self.walls.place_at(0.0),
        }
        self.put_walls_back();
    }

    /// Walls are where the last step that was taken has left them.
    fn put_walls_back(&mut self) {
        match self.liquid.state().last_step {
            [time, dt] if dt > 0.0 => self.walls.place(time, dt),
            _ => self.walls.put_back(),
        }
    }

    /// Walls as outlines or surfaces, where they are now.
    fn show_walls(&self, frame: &mut Frame) {
        for number in 0..self.walls.len() {
            let body = self.liquids + number as u16;
            let pose = self.walls.poses(number)[1];
            let position = |p: DVec3| pose.apply(p).as_vec3();
            frame.walls.extend(shown_walls::shown(body, &self.walls.wall(number).shape, &pose));
            if let Some(surface) = self.walls.surface(number) {
                let (positions, velocities) =
                    self.walls.vertices(number).map(|(x, v)| (x.as_vec3(), v.as_vec3())).unzip();
                frame.surfaces.push(Surface {
                    body,
                    positions,
                    velocities,
                    triangles: surface.mesh().triangles().to_vec(),
                    ..Surface::default()
                });
            }
            let segments: Vec<_> = self.look.tanks[number].iter().map(|s| s.map(|p| position(p.as_dvec3()))).collect();
            if !segments.is_empty() {
                frame.wires.push(Wire { body, segments });
            }
        }
    }

    /// Takes away what is in drains or has left the domain, under gravity \[m/s²\], and counts the latter.
    pub(crate) fn drain(&mut self, gravity: DVec3, report: &mut StepReport) {
        let (lost, energy) = report.stage("drain", || self.take_away(gravity));
        report.count(LEFT_DOMAIN, lost as f64);
        if energy != 0.0 {
            report.count(ENERGY_TAKEN, energy);
        }
    }

    /// How many have left the domain, and the energy of all that is taken away \[J\].
    fn take_away(&mut self, gravity: DVec3) -> (usize, f64) {
        let (domain, drains) = (self.domain, &self.drains);
        let inner = domain.inner();
        let goes = |position: Vec3| {
            if drains.is_empty() && inner.contains(position) {
                return false;
            }
            let position = position.as_dvec3();
            !domain.contains(position) || drains.iter().any(|drain| drain(position))
        };
        let liquids = self.liquids;
        let particles = self.liquid.particles();
        if par::find_first(particles.len(), |i| goes(particles.position[i])).is_none() {
            return (0, 0.0);
        }
        let lost = |i: &usize| particles.liquid[*i] < liquids && !domain.contains(particles.position[*i].as_dvec3());
        let lost = (0..particles.len()).filter(lost).count();
        // What came in since the last frame was never counted.
        let known = |i: &usize| particles.liquid[*i] < liquids && particles.id[*i] < self.entering;
        let gone = (0..particles.len()).filter(known).filter(|&i| goes(particles.position[i]));
        let energy = gone.map(|i| self.energy(i, gravity)).sum();
        self.liquid.retain(|particles, i| particles.liquid[i] >= liquids || !goes(particles.position[i]));
        (lost, energy)
    }
}

/// The edges of a tank; an open side has none of its own.
pub(crate) fn tank_edges(shape: &WallShape, domain: &Aabb) -> Vec<[Vec3; 2]> {
    let WallShape::Tank { min, max } = *shape else { return Vec::new() };
    let corner = |bits: usize| {
        let pick = |axis: usize| {
            if bits >> axis & 1 == 0 { min[axis].max(domain.min[axis]) } else { max[axis].min(domain.max[axis]) }
        };
        DVec3::new(pick(0), pick(1), pick(2)).as_vec3()
    };
    let mut edges = Vec::new();
    for axis in 0..3 {
        for bits in (0..8).filter(|bits| bits >> axis & 1 == 0) {
            edges.push([corner(bits), corner(bits | 1 << axis)]);
        }
    }
    edges
}
