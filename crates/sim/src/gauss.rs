//! The `gauss` method: a particle liquid whose walls are met through their surface \[MSTHG04\].
//!
//! One step; the names are those of the step report. Stages 1 to 9 are the liquid's, as `meniscus_sph` describes them ([`Liquid::step`]):
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 1–9 | sort particles … advance | the liquid among walls and bodies that are in their places |
//! | 10 | step of the solids | with what the liquid does to their nodes, as `meniscus_fem` describes it; then that of the rigid bodies | |
//! | 11 | keep before bodies | particles that a surface has passed are put back before it | |
//! | 12 | drain | particles in drains and outside the domain go | |

use crate::hands::{Hand, Holds};
use crate::method::{Method, Totals};
use crate::probes;
use crate::solids::{SavedSolids, Solids};
use glam::{DVec3, Vec3};
use meniscus_boundary::{Boundaries, WallShape};
use meniscus_core::{BodyInfo, BodyKind, Digest, Frame, StepError, StepReport, Surface, Tets, Wire, par};
use meniscus_fem::{Body, Fracture};
use meniscus_geometry::Aabb;
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Grab, Move, Poke, Probe, Release};
use meniscus_sph::{BodyWall, Liquid, State};

/// A region where particles vanish.
pub(crate) type Region = Box<dyn Fn(DVec3) -> bool + Send + Sync>;

/// The method with its state.
pub(crate) struct Gauss {
    pub(crate) liquid: Liquid,
    pub(crate) walls: Boundaries,
    /// Liquids of the scene; what comes after them in the liquid are particles of bodies.
    pub(crate) liquids: u16,
    pub(crate) solids: Solids,
    /// The solids at the start of the step under way, if they take several.
    pub(crate) before: Option<SavedSolids>,
    /// Whether there is no liquid and none will come.
    pub(crate) dry: bool,
    pub(crate) gravity: DVec3,
    pub(crate) courant: f64,
    pub(crate) domain: Aabb,
    pub(crate) drains: Vec<Region>,
    pub(crate) look: Look,
    pub(crate) probes: Vec<(String, Probe)>,
}

/// How the bodies are drawn.
pub(crate) struct Look {
    /// Liquids, then walls, then nozzles, then solids, then rigid bodies.
    pub(crate) bodies: Vec<BodyInfo>,
    /// Edges of each wall, where it is at the start; none for meshes and planes.
    pub(crate) tanks: Vec<Vec<[Vec3; 2]>>,
    pub(crate) nozzles: Vec<Wire>,
}

impl Method for Gauss {
    fn step(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        self.walls.place(time, dt);
        self.solids.place_in(&mut self.liquid, dt);
        self.liquid.step(&self.walls, self.gravity, &mut (), report)?; // 1 to 9
        self.solids.take_compliances();
        self.step_solids(time, dt, report)?; // 10
        let Self { liquid, solids, .. } = self;
        if !self.dry {
            report.stage("keep before bodies", || solids.keep_liquid_out(liquid, dt)); // 11
        }
        solids.part_broken(report);
        self.drain(report); // 12
        report.count("kept inside walls", self.liquid.kept_inside() as f64);
        report.count("wet triangles", self.liquid.wet_triangles() as f64);
        Ok(())
    }

    fn roll_back(&mut self) {
        self.solids.take_compliances();
        self.liquid.roll_back();
        match self.liquid.state().last_step {
            [time, dt] if dt > 0.0 => self.walls.place(time, dt),
            _ => self.walls.place_at(0.0),
        }
        self.solids.roll_back();
        self.put_walls_back();
        if let Some(before) = self.before.take() {
            // Saved by these very solids.
            let _fits = self.solids.load(before);
        }
    }

    fn stable_step(&self) -> f64 {
        let solids = self.solids.stable_step();
        if self.dry && solids.is_finite() {
            return solids;
        }
        let most = f64::from(self.liquid.setup().coupling.substeps);
        (solids * most).min(self.liquid.stable_step(self.courant, self.gravity.length()))
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        match (key, value) {
            (LiveKey::Gravity, &[x, y, z]) => self.gravity = DVec3::new(x, y, z),
            (LiveKey::ArtificialViscosity, &[value]) => {
                self.liquid.set_parameters(|setup| setup.params.artificial_viscosity = Some(value));
            }
            (LiveKey::LiquidViscosity(number), &[value]) => {
                self.liquid.set_parameters(|setup| setup.materials[*number].1.viscosity = value);
            }
            (LiveKey::LiquidDensity(number), &[value]) => {
                self.liquid.set_parameters(|setup| setup.materials[*number].1.density = value);
            }
            (LiveKey::RestDistance, &[value]) => {
                self.liquid.set_parameters(|setup| setup.coupling.rest_distance = Some(value));
            }
            (LiveKey::SolidDensity(number), &[value]) => self.solids.set_material(*number, |m| m.density = value),
            (LiveKey::RigidDensity(number), &[value]) => self.solids.rigids.set_density(*number, value),
            (LiveKey::PullStiffness(number), &[value]) => self.solids.set_pull(*number, value),
            (LiveKey::LiquidTension(number), &[value]) => {
                self.liquid.set_parameters(|setup| setup.materials[*number].1.surface_tension = value);
            }
            (LiveKey::ContactAngle(number), &[value]) => {
                self.liquid.set_parameters(|setup| setup.materials[*number].1.contact_angle = value);
            }
            (LiveKey::EmitterSpeed(number), &[value]) => {
                self.liquid.set_parameters(|setup| setup.emitters[*number].speed = value);
            }
            (LiveKey::Young(number), &[value]) => self.solids.set_material(*number, |m| m.young = value),
            (LiveKey::StiffnessDamping(number), &[value]) => {
                self.solids.set_material(*number, |m| m.stiffness_damping = value);
            }
            (LiveKey::Strength(number), &[value]) => self.solids.set_material(*number, |m| {
                m.fracture = m.fracture.map(|fracture| Fracture { strength: value, ..fracture });
            }),
            _ => {}
        }
    }

    fn poke(&mut self, poke: &Poke) {
        let center = DVec3::from_array(poke.center).as_vec3();
        let (radius, velocity) = (poke.radius as f32, DVec3::from_array(poke.velocity).as_vec3());
        let particles = self.liquid.particles_mut();
        for (position, v) in particles.position.iter().zip(&mut particles.velocity) {
            let q = position.distance(center) / radius;
            if q < 1.0 {
                *v += velocity * ((1.0 - q * q) * (1.0 - q * q));
            }
        }
    }

    fn grab(&mut self, grab: &Grab) {
        self.solids.grab(grab);
    }

    fn move_hand(&mut self, to: &Move) {
        self.solids.move_hand(to);
    }

    fn release(&mut self, release: &Release) {
        self.solids.release(release);
    }

    fn hands(&self) -> Vec<Hand> {
        self.solids.hands()
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(self.liquid.state(), self.solids.save()))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let (state, solids): (State, SavedSolids) = postcard::from_bytes(bytes)?;
        if self.liquid.restore(state) && self.solids.load(solids) {
            self.put_walls_back();
            Ok(())
        } else {
            Err(postcard::Error::DeserializeBadEncoding)
        }
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        let particles = &self.liquid.state().particles;
        for i in particles.in_id_order() {
            digest = digest.u64(u64::from(particles.id[i]) << 16 | u64::from(particles.liquid[i]));
            digest.vec3(particles.position[i]);
            digest.vec3(particles.velocity[i]);
            digest.bytes(&particles.density[i].to_le_bytes());
        }
        self.solids.digest(digest)
    }

    fn show(&self, frame: &mut Frame) {
        frame.bodies.extend(self.look.bodies.iter().cloned());
        frame.wires.extend(self.look.nozzles.iter().cloned());
        self.show_walls(frame);
        self.solids.show(frame);
        let (from, to) = (&self.liquid.state().particles, &mut frame.particles);
        to.spacing = self.liquid.setup().params.spacing as f32;
        for i in from.in_id_order().into_iter().filter(|&i| from.liquid[i] < self.liquids) {
            to.ids.push(from.id[i]);
            to.bodies.push(from.liquid[i]);
            to.positions.push(from.position[i]);
            to.velocities.push(from.velocity[i]);
            to.densities.push(from.density[i]);
            to.pressures.push(from.pressure[i]);
        }
    }

    fn tets(&self) -> Vec<Tets> {
        self.solids.tets()
    }

    fn gauss_points(&self) -> Vec<Vec3> {
        self.liquid.gauss_points()
    }

    fn rest_distance(&self) -> Option<f64> {
        let none = self.dry || self.solids.bodies.is_empty() && self.solids.rigids.is_empty();
        let setup = self.liquid.setup();
        (!none).then(|| match setup.coupling.wall {
            BodyWall::Traction => self.liquid.traction().rest_distance(),
            // What the wall kernel is calibrated for.
            BodyWall::Pressure => 0.5 * setup.params.spacing,
        })
    }

    fn totals(&self) -> Totals {
        let liquid = &self.liquid;
        let particles = &liquid.state().particles;
        let zero = ([0.0; 4], DVec3::ZERO);
        let ([kinetic, potential, volume, at_rest], momentum) = par::reduce(
            particles.len(),
            &|range| {
                let own = range.filter(|&i| particles.liquid[i] < self.liquids);
                own.fold(zero, |(mut sums, mut momentum), i| {
                    let mass = liquid.mass(particles.liquid[i]);
                    let rest_density = liquid.setup().materials[usize::from(particles.liquid[i])].1.density;
                    let v = particles.velocity[i].as_dvec3();
                    sums[0] += 0.5 * mass * v.length_squared();
                    sums[1] -= mass * self.gravity.dot(particles.position[i].as_dvec3());
                    sums[2] += mass / f64::from(particles.density[i]).max(rest_density);
                    sums[3] += mass / rest_density;
                    momentum += v * mass;
                    (sums, momentum)
                })
            },
            &|a, b| (std::array::from_fn(|k| a.0[k] + b.0[k]), a.1 + b.1),
        )
        .unwrap_or(zero);
        let bodies = &self.solids.bodies;
        let (rigid_kinetic, rigid_potential, rigid_momentum) = self.solids.rigids.totals(self.gravity);
        let of_bodies = |value: &dyn Fn(&Body) -> f64| bodies.iter().map(value).sum::<f64>();
        Totals {
            particles: particles.liquid.iter().filter(|&&liquid| liquid < self.liquids).count() as u64,
            tets: bodies.iter().map(|body| body.tets() as u64).sum(),
            kinetic_energy: kinetic + rigid_kinetic + of_bodies(&Body::kinetic_energy),
            potential_energy: potential + rigid_potential + of_bodies(&|body| body.gravitational_energy(self.gravity)),
            elastic_energy: of_bodies(&Body::elastic_energy),
            volume_change: if at_rest > 0.0 { volume / at_rest - 1.0 } else { 0.0 },
            max_speed: liquid.state().fastest[0].max(self.solids.max_speed()),
            momentum: momentum + rigid_momentum + bodies.iter().map(Body::momentum).sum::<DVec3>(),
            ..Totals::default()
        }
    }

    fn columns(&self) -> Vec<String> {
        let walls = self.look.bodies.iter().filter(|body| body.kind == BodyKind::Wall);
        let units = ["fx [N]", "fy [N]", "fz [N]", "tx [N m]", "ty [N m]", "tz [N m]"];
        let forces = walls.flat_map(|wall| units.map(|unit| format!("{}.{unit}", wall.name)));
        let forces = forces.chain(self.solids.columns());
        forces.chain(self.probes.iter().flat_map(|(name, probe)| probes::columns(name, probe))).collect()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        let by_solids = self.solids.wall_forces(&self.walls);
        for (wall, reaction) in self.liquid.reactions().iter().enumerate() {
            let felt = by_solids(wall);
            values.extend((*reaction + felt).to_array());
        }
        self.solids.measure(values);
        for (_, probe) in &self.probes {
            probes::measure(
                &self.liquid,
                self.gravity,
                &|name, place| self.solids.displacement(name, place),
                probe,
                values,
            );
        }
    }
}

impl Gauss {
    /// Walls as outlines or surfaces, where they are now.
    /// Walls are where the last step that was taken has left them.
    fn put_walls_back(&mut self) {
        match self.liquid.state().last_step {
            [time, dt] if dt > 0.0 => self.walls.place(time, dt),
            _ => self.walls.put_back(),
        }
    }

    fn show_walls(&self, frame: &mut Frame) {
        for number in 0..self.walls.len() {
            let body = self.liquids + number as u16;
            let pose = self.walls.poses(number)[1];
            let place = |p: DVec3| pose.apply(p).as_vec3();
            frame.walls.extend(crate::shown_walls::shown(body, &self.walls.wall(number).shape, &pose));
            if let Some(surface) = self.walls.surface(number) {
                let (positions, velocities) =
                    self.walls.vertices(number).map(|(x, v)| (x.as_vec3(), v.as_vec3())).unzip();
                frame.surfaces.push(Surface {
                    body,
                    positions,
                    velocities,
                    triangles: surface.mesh().triangles().to_vec(),
                });
            }
            let segments: Vec<_> = self.look.tanks[number].iter().map(|s| s.map(|p| place(p.as_dvec3()))).collect();
            if !segments.is_empty() {
                frame.wires.push(Wire { body, segments });
            }
        }
    }

    /// Solids that move faster than the liquid take several steps while its forces stay.
    fn step_solids(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let most = f64::from(self.liquid.setup().coupling.substeps);
        let parts = if self.dry { 1.0 } else { (dt / self.solids.stable_step()).ceil().clamp(1.0, most) };
        self.before = (parts > 1.0).then(|| self.solids.save());
        let step = dt / parts;
        for part in 0..parts as u32 {
            if !self.dry {
                self.solids.take_forces(&self.liquid);
            }
            self.walls.place(time + f64::from(part) * step, step);
            self.solids.step(&self.walls, self.gravity, report)?;
        }
        self.walls.place(time, dt);
        report.count("steps of solids", parts);
        Ok(())
    }

    /// Takes away what is in drains or has left the domain, and counts the latter.
    pub(crate) fn drain(&mut self, report: &mut StepReport) {
        let lost = report.stage("drain", || self.take_away());
        report.count(LEFT_DOMAIN, lost as f64);
    }

    fn take_away(&mut self) -> usize {
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
        let particles = self.liquid.particles_mut();
        if par::find_first(particles.len(), |i| goes(particles.position[i])).is_none() {
            return 0;
        }
        let lost = |i: &usize| particles.liquid[*i] < liquids && !domain.contains(particles.position[*i].as_dvec3());
        let lost = (0..particles.len()).filter(lost).count();
        particles.retain(|particles, i| particles.liquid[i] >= liquids || !goes(particles.position[i]));
        lost
    }
}

/// The counter of particles that have left the domain in a step.
pub(crate) const LEFT_DOMAIN: &str = "left the domain";

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
