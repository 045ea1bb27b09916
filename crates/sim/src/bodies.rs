//! Bodies of particles in a world: their system, their skins, the walls they meet.

use crate::grips::{Grips, Matter};
use crate::hands::{self, Hand, Hands, Holds, Spring};
use glam::{DVec3, Vec3};
use meniscus_boundary::{Boundaries, Compliance, RigidCompliance};
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface};
use meniscus_particles::{Skin, State, System};
use meniscus_scene::Pick;
use meniscus_sph::Liquid;
use std::ops::Range;

/// All bodies of particles of a world.
pub(crate) struct Bodies {
    pub(crate) system: System,
    pub(crate) groups: Vec<Group>,
    /// One for each body.
    pub(crate) skins: Vec<Skin>,
    /// How fast the vertices of each skin yield to a liquid \[1/kg\]; none of rigid bodies.
    pub(crate) yielding: Vec<Vec<f64>>,
    /// The walls, which they place as often as they look at them.
    pub(crate) walls: Boundaries,
    /// Whether the bodies have begun the step under way; it ends when all of the world has taken it.
    pub(crate) begun: bool,
    pub(crate) grips: Grips,
    /// Distance between particles \[m\].
    pub(crate) spacing: f64,
}

/// Bodies alike: one entry of the scene.
pub(crate) struct Group {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    /// Numbers of its bodies.
    pub(crate) bodies: Range<usize>,
}

impl Holds for Bodies {
    fn take(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let mut grips = std::mem::take(&mut self.grips);
        let matter = self.matter();
        let place = Grips::pick(name, at, &matter).map(|(_, found)| grips.take(id, found, spring, &matter));
        self.grips = grips;
        place
    }

    fn drag(&mut self, id: u64, target: DVec3) {
        self.grips.drag(id, target);
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) {
        self.grips.stiffen(id, spring);
    }

    fn let_go(&mut self, id: u64) {
        self.grips.let_go(id);
    }
}

impl Bodies {
    pub(crate) fn step(
        &mut self,
        gravity: DVec3,
        [time, dt]: [f64; 2],
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        self.begun = true;
        let mut pulls = Vec::new();
        if !self.grips.is_empty() {
            let mut grips = std::mem::take(&mut self.grips);
            grips.pull(&self.matter(), dt, |i, force| pulls.push((i, force)));
            self.grips = grips;
        }
        // Forces from outside are those of the liquid, which not every step finds anew.
        let external = self.system.external_mut();
        pulls.iter().for_each(|(i, force)| external[*i] += *force);
        let done = self.system.step(&mut self.walls, gravity, [time, dt], report);
        let external = self.system.external_mut();
        pulls.iter().for_each(|(i, force)| external[*i] -= *force);
        done
    }

    /// What hands do now.
    pub(crate) fn hands(&self) -> Vec<Hand> {
        Hands::default().hold(self.grips.tied())
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

    /// Shows a liquid where the skins are and how the bodies yield.
    pub(crate) fn place_in(&self, liquid: &mut Liquid) {
        let (system, bodies) = (&self.system, liquid.bodies_mut(self.skins.len()));
        let state = system.state();
        for (number, (to, skin)) in bodies.iter_mut().zip(&self.skins).enumerate() {
            let particles = system.particles_of(number);
            to.positions.clear();
            to.positions.extend(skin.carry(&state.position[particles.clone()]));
            to.velocities.clear();
            to.velocities.extend(skin.carry(&state.velocity[particles]));
            if to.triangles != skin.triangles() {
                to.triangles = skin.triangles().to_vec();
            }
            match (system.inverse_inertia(number), &mut to.compliance) {
                (Some(inverse_inertia), compliance) => {
                    let inverse_mass = DVec3::splat(1.0 / system.mass(number));
                    let center = system.center(number);
                    *compliance = Compliance::Rigid(RigidCompliance { inverse_mass, inverse_inertia, center });
                }
                (None, Compliance::Lumped(_)) => {}
                (None, compliance) => *compliance = Compliance::Lumped(self.yielding[number].clone()),
            }
        }
    }

    /// Hands the liquid's forces on the skins to the particles.
    pub(crate) fn take_forces(&mut self, liquid: &Liquid) {
        self.system.external_mut().fill(DVec3::ZERO);
        for (number, skin) in self.skins.iter().enumerate() {
            let particles = self.system.particles_of(number);
            skin.hand_down(liquid.body_forces(number), &mut self.system.external_mut()[particles]);
        }
    }

    /// Puts liquid back that a skin has passed in the step.
    pub(crate) fn keep_liquid_out(&self, liquid: &mut Liquid, dt: f64) {
        let ends = |body: usize, ends: &mut Vec<DVec3>| ends.extend(self.carried(body));
        liquid.keep_before_bodies(ends, dt);
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

    pub(crate) fn load(&mut self, state: State, grips: Grips) -> bool {
        let walls = state.walls.is_empty() || state.walls.len() == self.walls.sides().len() * state.position.len();
        let fits = walls && grips.fit(state.position.len());
        self.begun = false;
        self.grips = grips;
        fits && self.system.restore(state)
    }

    pub(crate) fn digest(&self, mut digest: Digest) -> Digest {
        let state = self.system.state();
        let turns = state.rigid.iter().flat_map(|motion| [motion.orientation.xyz(), motion.angular_momentum]);
        for vector in state.position.iter().chain(&state.velocity).copied().chain(turns) {
            digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
        }
        digest
    }

    /// One surface for each group.
    pub(crate) fn show(&self, frame: &mut Frame) {
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
        hands::show(&self.hands(), frame);
    }

    /// Columns of the probe file for every group.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]"];
        self.groups.iter().flat_map(move |group| quantities.map(|quantity| format!("{}.{quantity}", group.name)))
    }

    /// Their values: centre of mass and energies, of all bodies of a group together.
    pub(crate) fn measure(&self, values: &mut Vec<f64>) {
        let system = &self.system;
        for group in &self.groups {
            let mass: f64 = group.bodies.clone().map(|body| system.mass(body)).sum();
            let center = group.bodies.clone().map(|body| system.center(body) * system.mass(body)).sum::<DVec3>() / mass;
            values.extend(center.to_array());
            values.push(group.bodies.clone().map(|body| system.kinetic_energy(body)).sum());
            values.push(group.bodies.clone().map(|body| system.elastic_energy(body)).sum());
        }
    }

    /// Adds what the bodies do to each wall to values of force and torque, six for each wall.
    pub(crate) fn add_wall_forces(&self, values: &mut [f64]) {
        for (side, felt) in self.walls.sides().iter().zip(self.system.reactions()) {
            let own = &mut values[6 * side.wall..6 * side.wall + 6];
            own.iter_mut().zip(felt.to_array()).for_each(|(value, more)| *value += more);
        }
    }

    /// Positions in single precision, and velocities, as a liquid has them.
    pub(crate) fn as_liquid(&self) -> impl Iterator<Item = (Vec3, Vec3)> {
        let state = self.system.state();
        state.position.iter().zip(&state.velocity).map(|(x, v)| (x.as_vec3(), v.as_vec3()))
    }
}
