//! Bodies of particles in a world: their system, their skins, the walls they meet.

use super::particle_springs::{Matter, ParticleSprings};
use crate::hands::{Spring, Tied};
use crate::part::{Part, Totals, fits, take};
use glam::{DVec3, Vec3};
use meniscus_boundary::Boundaries;
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface, Wrench};
use meniscus_coupling::liquid_skin::Skins;
use meniscus_particles::{Skin, State, System};
use meniscus_scene::{Pick, Poke, Probe};
use std::ops::Range;

/// All bodies of particles of a world.
pub(crate) struct BodiesPart {
    pub(crate) system: System,
    pub(crate) groups: Vec<Group>,
    /// One for each body.
    pub(crate) skins: Vec<Skin>,
    /// How fast the vertices of each skin give way to a liquid \[1/kg\]; none of rigid bodies.
    pub(crate) compliance: Vec<Vec<f64>>,
    /// The walls, which they place as often as they look at them.
    pub(crate) walls: Boundaries,
    /// Whether the bodies have begun the step under way; it ends when all of the world has taken it.
    pub(crate) begun: bool,
    pub(crate) springs: ParticleSprings,
    /// Distance between particles \[m\].
    pub(crate) spacing: f64,
    /// Where the particles are at the start \[m\].
    pub(crate) rest: Vec<DVec3>,
}

/// Bodies alike: one entry of the scene.
pub(crate) struct Group {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    /// Numbers of its bodies.
    pub(crate) bodies: Range<usize>,
}

impl BodiesPart {
    /// Their step, with what hands do to them.
    pub(crate) fn step(
        &mut self,
        gravity: DVec3,
        [time, dt]: [f64; 2],
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        self.begun = true;
        let mut pulls = Vec::new();
        if !self.springs.is_empty() {
            let mut springs = std::mem::take(&mut self.springs);
            springs.pull(&self.matter(), dt, |i, force| pulls.push((i, force)));
            self.springs = springs;
        }
        // Forces from outside are those of the liquid, which not every step finds anew.
        let external = self.system.external_mut();
        pulls.iter().for_each(|(i, force)| external[*i] += *force);
        let done = self.system.step(&mut self.walls, gravity, [time, dt], report);
        let external = self.system.external_mut();
        pulls.iter().for_each(|(i, force)| external[*i] -= *force);
        done
    }

    /// The bodies in their skins, as a liquid meets them.
    pub(crate) fn wetted(&mut self) -> Skins<'_> {
        Skins { system: &mut self.system, skins: &self.skins, compliance: &self.compliance }
    }

    /// Bodies as hands find them.
    fn matter(&self) -> Matter<'_> {
        let state = self.system.state();
        let bodies = self.groups.iter().flat_map(|group| {
            group.bodies.clone().map(move |body| (group.name.as_str(), self.system.particles_of(body)))
        });
        Matter {
            bodies: bodies.collect(),
            position: &state.position,
            velocity: &state.velocity,
            mass: self.system.masses().into(),
            spacing: self.spacing,
        }
    }

    /// Where the vertices of a body's skin are \[m\].
    pub(crate) fn carried(&self, body: usize) -> impl Iterator<Item = DVec3> {
        self.skins[body].carry(&self.system.state().position[self.system.particles_of(body)])
    }

    /// Largest step in which no particle moves farther than its size \[s\].
    pub(crate) fn stable_step(&self) -> f64 {
        let smallest = 2.0 * self.system.radii().iter().copied().fold(f64::INFINITY, f64::min);
        smallest / self.system.max_speed().max(1e-12)
    }

    /// Undoes a step that failed after the bodies had begun it.
    pub(crate) fn roll_back(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.system.roll_back();
        }
    }

    /// Positions in single precision, and velocities, as a liquid has them.
    pub(crate) fn as_liquid(&self) -> impl Iterator<Item = (Vec3, Vec3)> {
        let state = self.system.state();
        state.position.iter().zip(&state.velocity).map(|(x, v)| (x.as_vec3(), v.as_vec3()))
    }
}

impl Part for BodiesPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(&(self.system.save(), &self.springs), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let (state, springs): (State, ParticleSprings) = take(bytes)?;
        let walls = state.walls.is_empty() || state.walls.len() == self.walls.sides().len() * state.position.len();
        fits(walls && springs.fit(state.position.len()))?;
        self.begun = false;
        self.springs = springs;
        fits(self.system.restore(state))
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        let state = self.system.state();
        let turns = state.rigid.iter().flat_map(|motion| [motion.orientation.xyz(), motion.angular_momentum]);
        for vector in state.position.iter().chain(&state.velocity).copied().chain(turns) {
            digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
        }
        digest
    }

    /// One surface for each group.
    fn show(&self, frame: &mut Frame) {
        let state = self.system.state();
        for group in &self.groups {
            let mut surface = Surface { body: group.shown_as, ..Surface::default() };
            for body in group.bodies.clone() {
                let (skin, particles) = (&self.skins[body], self.system.particles_of(body));
                let first = surface.positions.len() as u32;
                surface.triangles.extend(skin.triangles().iter().map(|t| t.map(|vertex| first + vertex)));
                surface.positions.extend(skin.carry(&state.position[particles.clone()]).map(DVec3::as_vec3));
                surface.velocities.extend(skin.carry(&state.velocity[particles]).map(DVec3::as_vec3));
            }
            frame.surfaces.push(surface);
        }
    }

    fn moved_in(&self) -> &'static str {
        "move bodies"
    }

    fn add_totals(&self, gravity: DVec3, totals: &mut Totals) {
        let system = &self.system;
        totals.body_particles += system.masses().len() as u64;
        totals.max_speed = totals.max_speed.max(system.max_speed());
        totals.elastic_energy += system.contact_energy();
        for body in 0..system.bodies() {
            totals.kinetic_energy += system.kinetic_energy(body);
            totals.potential_energy -= system.mass(body) * gravity.dot(system.center(body));
            totals.elastic_energy += system.elastic_energy(body);
            totals.mass += system.mass(body);
            totals.momentum += system.momentum(body);
        }
    }

    fn columns(&self) -> Vec<String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]"];
        self.groups.iter().flat_map(|group| quantities.map(|quantity| format!("{}.{quantity}", group.name))).collect()
    }

    /// Centre of mass and energies, of all bodies of a group together.
    fn measure(&self, values: &mut Vec<f64>) {
        let system = &self.system;
        for group in &self.groups {
            let mass: f64 = group.bodies.clone().map(|body| system.mass(body)).sum();
            let center = group.bodies.clone().map(|body| system.center(body) * system.mass(body)).sum::<DVec3>() / mass;
            values.extend(center.to_array());
            values.push(group.bodies.clone().map(|body| system.kinetic_energy(body)).sum());
            values.push(group.bodies.clone().map(|body| system.elastic_energy(body)).sum());
        }
    }

    /// Displacement of the particle of a body nearest to a point at the start \[m\].
    fn read(&self, probe: &Probe, _: DVec3, values: &mut Vec<f64>) -> bool {
        let Probe::Solid(at) = probe else { return false };
        let Some(group) = self.groups.iter().find(|group| group.name == at.name) else { return false };
        let position = DVec3::from_array(at.point);
        let particles = group.bodies.clone().flat_map(|body| self.system.particles_of(body));
        let distance = |&i: &usize| self.rest[i].distance_squared(position);
        let nearest = particles.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let moved = nearest.map_or(DVec3::NAN, |i| self.system.state().position[i] - self.rest[i]);
        values.extend(moved.to_array());
        true
    }

    fn add_wall_forces(&self, walls: &mut [Wrench]) {
        self.walls.sides().iter().zip(self.system.reactions()).for_each(|(side, felt)| walls[side.wall] += *felt);
    }

    fn poke(&mut self, poke: &Poke) {
        let [center, velocity] = [poke.center, poke.velocity].map(DVec3::from_array);
        self.system.poke(center, poke.radius, velocity);
    }

    fn pick(&self, name: Option<&str>, at: &Pick) -> Option<f64> {
        ParticleSprings::pick(name, at, &self.matter()).map(|(distance, _)| distance)
    }

    fn tie(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let mut springs = std::mem::take(&mut self.springs);
        let matter = self.matter();
        let position =
            ParticleSprings::pick(name, at, &matter).map(|(_, found)| springs.take(id, found, spring, &matter));
        self.springs = springs;
        position
    }

    fn drag(&mut self, id: u64, target: DVec3) -> bool {
        self.springs.drag(id, target)
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) -> bool {
        self.springs.stiffen(id, spring)
    }

    fn let_go(&mut self, id: u64) {
        self.springs.let_go(id);
    }

    fn tied(&self) -> Vec<Tied<'_>> {
        self.springs.tied().collect()
    }
}
