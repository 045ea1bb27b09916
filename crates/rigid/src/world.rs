//! Rigid bodies in motion.

use crate::body::{Form, Motion, RigidError, collider};
use crate::mass::{MassProperties, of_surface};
use crate::params::{Lock, Material};
use crate::spring::{Pull, Spring, compliance_at};
use crate::state::State;
use crate::walls::Part;
use glam::{DMat3, DQuat, DVec3};
use meniscus_boundary::{RigidCompliance, Surface, Wet};
use meniscus_core::{StepError, Wrench};
use meniscus_geometry::TriangleMesh;
use rapier3d_f64::prelude::{
    CCDSolver, ImpulseJointSet, IntegrationParameters, LockedAxes, MassProperties as RapierMass, MultibodyJointSet,
    PhysicsPipeline, Pose, RigidBody, RigidBodyBuilder, RigidBodyHandle, SoftBodySet,
};
use std::sync::Arc;

/// Sub-steps of rapier in a step.
pub(crate) const SUB_STEPS: usize = 8;

/// A body that others hold yields by this part of what it would freely at least, dimensionless.
const LEAST_SOFTNESS: f64 = 1e-3;

/// What is to be expected of a body in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Predicted {
    /// How it would move at the end.
    pub motion: Motion,
    /// How it would move at the end without what was noted in the last step.
    pub unpushed: Motion,
    /// How much it yields to what was noted in the last step, over what it would if nothing held it, dimensionless, at most 1.
    pub softness: f64,
}

/// All rigid bodies, and the walls that they meet.
#[derive(Default)]
pub struct World {
    bodies: Vec<Body>,
    /// Handles of the bodies, then of the walls.
    pub(crate) handles: Vec<RigidBodyHandle>,
    pub(crate) walls: Vec<Part>,
    pub(crate) state: State,
    before: Option<Box<State>>,
    pipeline: PhysicsPipeline,
    /// Smallest of the bodies' largest extents \[m\]: the scale of rapier's tolerances.
    scale: Option<f64>,
    /// Forces \[N\] and torques about the centres \[N·m\] from outside, until the end of the step.
    external: Vec<Wrench>,
}

struct Body {
    name: String,
    handle: usize,
    prescribed: bool,
    surface: Arc<Surface>,
    /// Mass properties where the body is at the start.
    rest: MassProperties,
}

fn check_density(density: f64) -> Result<(), RigidError> {
    let sound = density > 0.0 && density.is_finite();
    if sound { Ok(()) } else { Err(RigidError::Number { key: "density", range: "greater than 0", value: density }) }
}

fn rapier_mass(MassProperties { mass, center, inertia }: &MassProperties) -> RapierMass {
    RapierMass::with_inertia_matrix(*center, *mass, *inertia)
}

impl World {
    /// Adds a body with a closed surface, where it is at the start. One that is `prescribed` does not answer. Returns its number.
    ///
    /// # Errors
    /// When the surface has no inside or a number is out of range.
    pub fn add(
        &mut self,
        name: &str,
        surface: TriangleMesh,
        form: Form,
        material: Material,
        prescribed: bool,
    ) -> Result<usize, RigidError> {
        surface.closed()?;
        let Material { density, friction, restitution } = material;
        let require = |holds: bool, key, range, value| {
            if holds { Ok(()) } else { Err(RigidError::Number { key, range, value }) }
        };
        check_density(density)?;
        require(friction >= 0.0 && friction.is_finite(), "friction", "0 or more", friction)?;
        require((0.0..=1.0).contains(&restitution), "restitution", "between 0 and 1", restitution)?;
        let rest = of_surface(&surface, density);
        let heavy = rest.mass > 0.0 && rest.mass.is_finite() && rest.inertia.determinant() > 0.0;
        if !heavy {
            return Err(RigidError::Empty);
        }
        let mass = rapier_mass(&rest);
        let kind = if prescribed { RigidBodyBuilder::kinematic_position_based() } else { RigidBodyBuilder::dynamic() };
        let handle = self
            .state
            .bodies
            .insert(kind.additional_mass_properties(mass).can_sleep(false).gyroscopic_forces_enabled(true));
        let collider = collider(&surface, form)?.density(0.0).friction(friction).restitution(restitution);
        self.state.colliders.insert_with_parent(collider, handle, &mut self.state.bodies);
        if let Some(body) = self.state.bodies.get_mut(handle) {
            body.recompute_mass_properties_from_colliders(&self.state.colliders);
        }
        let size = surface.bounds().size().max_element();
        self.scale = Some(self.scale.map_or(size, |scale| scale.min(size)));
        let surface = Arc::new(Surface::new(surface, Wet::Front));
        self.bodies.push(Body { name: name.to_owned(), handle: self.handles.len(), prescribed, surface, rest });
        self.handles.push(handle);
        self.external.push(Wrench::ZERO);
        self.state.felt.push(Wrench::ZERO);
        self.state.steady.push(Wrench::ZERO);
        self.state.given.push(Wrench::ZERO);
        Ok(self.bodies.len() - 1)
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    fn rapier(&self, body: usize) -> &RigidBody {
        &self.state.bodies[self.handles[self.bodies[body].handle]]
    }

    pub(crate) fn rapier_mut(&mut self, handle: usize) -> &mut RigidBody {
        &mut self.state.bodies[self.handles[handle]]
    }

    /// Changes the density of a body \[kg/m³\] between steps; its velocity stays.
    ///
    /// # Errors
    /// When it is not greater than zero, or not finite.
    pub fn set_density(&mut self, body: usize, density: f64) -> Result<(), RigidError> {
        check_density(density)?;
        let rest = of_surface(self.bodies[body].surface.mesh(), density);
        let handle = self.handles[self.bodies[body].handle];
        if let Some(rapier) = self.state.bodies.get_mut(handle) {
            rapier.set_additional_mass_properties(rapier_mass(&rest), true);
            rapier.recompute_mass_properties_from_colliders(&self.state.colliders);
        }
        self.bodies[body].rest = rest;
        Ok(())
    }

    /// Gives a body a velocity \[m/s\] and an angular velocity \[rad/s\].
    pub fn throw(&mut self, body: usize, motion: Motion) {
        let handle = self.bodies[body].handle;
        let body = self.rapier_mut(handle);
        body.set_linvel(motion.velocity, true);
        body.set_angvel(motion.spin, true);
    }

    /// Puts a body somewhere between steps: x = R x₀ + t.
    pub fn place(&mut self, body: usize, rotation: DQuat, translation: DVec3) {
        let handle = self.bodies[body].handle;
        self.rapier_mut(handle).set_position(Pose::from_parts(translation, rotation), true);
    }

    /// Takes directions from a body that is free: from now on it neither moves nor turns along them. Those of an earlier call are
    /// given back.
    pub fn lock(&mut self, body: usize, locks: &[Lock]) {
        let flags = locks.iter().fold(LockedAxes::empty(), |flags, lock| flags | flag(*lock));
        let handle = self.bodies[body].handle;
        self.rapier_mut(handle).set_locked_axes(flags, true);
    }

    /// How a body answers a force at its centre of mass, inverse masses along the axes \[1/kg\], and a torque, inverse inertia
    /// \[1/(kg·m²)\]: zero in directions that are locked, and everywhere for a prescribed body. A body that cannot turn about an axis
    /// turns about the others as if it could, in rapier as here.
    #[must_use]
    pub fn compliance(&self, body: usize) -> RigidCompliance {
        let MassProperties { mass, inertia, center } = self.mass_properties(body);
        if self.bodies[body].prescribed {
            return RigidCompliance { center, ..RigidCompliance::default() };
        }
        let locked = self.rapier(body).locked_axes();
        let [x, y, z, rx, ry, rz] = Lock::ALL.map(|lock| if locked.contains(flag(lock)) { 0.0 } else { 1.0 });
        let turns = DMat3::from_diagonal(DVec3::new(rx, ry, rz));
        let inverse_inertia = turns * inertia.inverse() * turns;
        RigidCompliance { inverse_mass: DVec3::new(x, y, z) / mass, inverse_inertia, center }
    }

    /// Says where a prescribed body is at the end of the next step: x = R x₀ + t.
    pub fn prescribe(&mut self, body: usize, rotation: DQuat, translation: DVec3) {
        if self.bodies[body].prescribed {
            let handle = self.bodies[body].handle;
            self.place_handle(handle, rotation, translation);
        }
    }

    pub(crate) fn place_handle(&mut self, handle: usize, rotation: DQuat, translation: DVec3) {
        let pose = Pose::from_parts(translation, rotation);
        self.rapier_mut(handle).set_next_kinematic_position(pose);
    }

    /// Adds a force \[N\] and a torque about the centre of mass \[N·m\] to those from outside, until the end of the next step.
    pub fn add_force(&mut self, body: usize, force: DVec3, torque: DVec3) {
        self.external[body] += Wrench { force, torque };
    }

    /// Adds a force \[N\] at a point \[m\] to those from outside, until the end of the next step.
    pub fn add_force_at(&mut self, body: usize, point: DVec3, force: DVec3) {
        let arm = point - self.mass_properties(body).center;
        self.add_force(body, force, arm.cross(force));
    }

    /// Takes all forces from outside away.
    pub fn clear_forces(&mut self) {
        self.external.fill(Wrench::ZERO);
    }

    /// What is to be expected of the bodies in a step with the forces from outside and those that were
    /// [noted](Self::note_given) in the last: contact between rigid bodies included. Nothing changes.
    #[must_use]
    pub fn predict(&mut self, dt: f64, gravity: DVec3) -> Vec<Predicted> {
        let given = self.state.given.clone();
        let with = self.try_step(&given, dt, gravity);
        let touched = given.iter().any(|given| *given != Wrench::ZERO);
        let without = if touched { self.try_step(&vec![Wrench::ZERO; given.len()], dt, gravity) } else { with.clone() };
        let softness_of = |body: usize| {
            let Wrench { force, torque } = given[body];
            let work = |a: Motion, b: Motion| (a.velocity - b.velocity).dot(force) + (a.spin - b.spin).dot(torque);
            let MassProperties { mass, inertia, .. } = self.mass_properties(body);
            let free = Motion { velocity: force / mass * dt, spin: inertia.inverse() * torque * dt };
            let softness = work(with[body], without[body]) / work(free, Motion::default());
            // Nothing to compare: it is taken to be free.
            if softness.is_finite() { softness.clamp(LEAST_SOFTNESS, 1.0) } else { 1.0 }
        };
        let predicted =
            |body: usize| Predicted { motion: with[body], unpushed: without[body], softness: softness_of(body) };
        (0..self.len()).map(predicted).collect()
    }

    /// How the bodies would move at the end of a step with more forces and torques.
    fn try_step(&mut self, more: &[Wrench], dt: f64, gravity: DVec3) -> Vec<Motion> {
        let before = self.state.clone();
        let mut loads = self.external.clone();
        loads.iter_mut().zip(more).for_each(|(load, more)| *load += *more);
        self.advance(&mut loads, dt, gravity);
        let tried = (0..self.len()).map(|body| self.motion(body)).collect();
        self.state = before;
        self.pipeline = PhysicsPipeline::new();
        tried
    }

    /// Notes what a solver that asked for a [prediction](Self::predict) did to a body: the guess for the next step.
    pub fn note_given(&mut self, body: usize, force: DVec3, torque: DVec3) {
        self.state.given[body] = Wrench { force, torque };
    }

    /// What was noted for a body, about its centre.
    #[must_use]
    pub fn given(&self, body: usize) -> Wrench {
        self.state.given[body]
    }

    /// Moves all bodies on by `dt` \[s\] under gravity \[m/s²\]. A step that fails can be [undone](Self::roll_back).
    ///
    /// # Errors
    /// When a body's position or velocity is not finite.
    pub fn step(&mut self, dt: f64, gravity: DVec3) -> Result<(), StepError> {
        self.before = Some(Box::new(self.state.clone()));
        let momenta: Vec<[DVec3; 2]> = (0..self.len()).map(|body| self.momenta(body)).collect();
        let centers = self.handles.iter().map(|handle| self.state.bodies[*handle].center_of_mass()).collect::<Vec<_>>();
        let mut loads = std::mem::take(&mut self.external);
        self.advance(&mut loads, dt, gravity);
        let changes = (0..self.len()).map(|body| {
            let ([before, turning_before], [now, turning]) = (momenta[body], self.momenta(body));
            let weight = self.bodies[body].rest.mass * gravity;
            Wrench { force: (now - before) / dt - weight, torque: (turning - turning_before) / dt }
        });
        self.state.felt = changes.collect();
        self.leave_out_blows(&loads, gravity);
        self.feel_contacts(dt, &centers, &loads);
        self.external = loads;
        self.clear_forces();
        self.check()
    }

    /// Notes of what bodies felt what may go on: loads, and contact as far as it may hold a body at rest against loads and weight. What exceeds
    /// that is a blow, and over.
    fn leave_out_blows(&mut self, loads: &[Wrench], gravity: DVec3) {
        let steady = (0..self.len()).map(|body| {
            let (MassProperties { mass, inertia, .. }, load) = (self.mass_properties(body), loads[body]);
            let felt = self.state.felt[body];
            let contact = Wrench { force: felt.force - load.force, torque: felt.torque - load.torque };
            let most = (load.force + mass * gravity).length();
            let reach = ((inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z) / mass).sqrt();
            let turning = load.torque.length() + most * reach;
            Wrench {
                force: load.force + contact.force.clamp_length_max(most),
                torque: load.torque + contact.torque.clamp_length_max(turning),
            }
        });
        self.state.steady = steady.collect();
    }

    /// Tells walls and prescribed bodies what they felt, besides the loads.
    fn feel_contacts(&mut self, dt: f64, centers: &[DVec3], loads: &[Wrench]) {
        let free = (0..self.len()).filter(|&body| !self.bodies[body].prescribed);
        let by_contact: Vec<DVec3> = free.map(|body| self.state.felt[body].force - loads[body].force).collect();
        let reactions = self.reactions(dt, centers, &by_contact);
        for (number, body) in self.bodies.iter().enumerate().filter(|(_, body)| body.prescribed) {
            let (Wrench { force, torque }, load) = (reactions[body.handle], loads[number]);
            let torque = load.torque + torque - centers[body.handle].cross(force);
            self.state.felt[number] = Wrench { force: load.force + force, torque };
        }
        for (felt, part) in self.state.on_walls.iter_mut().zip(&self.walls) {
            *felt = reactions[part.handle];
        }
    }

    /// Whether a handle belongs to a wall or a prescribed body.
    pub(crate) fn holds(&self, handle: usize) -> bool {
        !self.free_bodies().any(|free| free == handle)
    }

    /// Handles of the bodies that move freely.
    pub(crate) fn free_bodies(&self) -> impl Iterator<Item = usize> {
        self.bodies.iter().filter(|body| !body.prescribed).map(|body| body.handle)
    }

    fn check(&self) -> Result<(), StepError> {
        for (number, body) in self.bodies.iter().enumerate() {
            let (_, translation) = self.pose(number);
            let Motion { velocity, spin } = self.motion(number);
            if !(translation.is_finite() && velocity.is_finite() && spin.is_finite()) {
                return Err(StepError::not_finite("rigid bodies", &body.name, number as u64, "velocity"));
            }
        }
        Ok(())
    }

    /// The step itself, with these forces and torques from outside, to which it adds those of the springs.
    fn advance(&mut self, loads: &mut [Wrench], dt: f64, gravity: DVec3) {
        self.pull(loads, dt, gravity);
        for (number, body) in self.bodies.iter().enumerate() {
            let Wrench { force, torque } = loads[number];
            let rapier = &mut self.state.bodies[self.handles[body.handle]];
            rapier.reset_forces(true);
            rapier.reset_torques(true);
            rapier.add_force(force, true);
            rapier.add_torque(torque, true);
        }
        let parameters = IntegrationParameters {
            dt,
            length_unit: self.scale.unwrap_or(1.0),
            num_solver_iterations: SUB_STEPS,
            // No speed is cut: momentum stays.
            normalized_max_linear_velocity: 1e30,
            max_ccd_substeps: 0,
            contact_recycling: false,
            ..IntegrationParameters::default()
        };
        let State { bodies, colliders, islands, broad_phase, narrow_phase, .. } = &mut self.state;
        self.pipeline.step(
            gravity,
            &parameters,
            islands,
            broad_phase,
            narrow_phase,
            bodies,
            colliders,
            &mut ImpulseJointSet::new(),
            &mut MultibodyJointSet::new(),
            &mut SoftBodySet::new(),
            &mut CCDSolver::new(),
            &(),
            &(),
        );
    }

    /// Undoes the last step.
    pub fn roll_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.state = *before;
            self.pipeline = PhysicsPipeline::new();
        }
    }

    /// Where a body is: x = R x₀ + t, x₀ its positions at the start.
    #[must_use]
    pub fn pose(&self, body: usize) -> (DQuat, DVec3) {
        let pose = self.rapier(body).position();
        (pose.rotation, pose.translation)
    }

    /// How a body moves.
    #[must_use]
    pub fn motion(&self, body: usize) -> Motion {
        let body = self.rapier(body);
        Motion { velocity: body.linvel(), spin: body.angvel() }
    }

    /// Mass, centre and inertia of a body as it is now.
    #[must_use]
    pub fn mass_properties(&self, body: usize) -> MassProperties {
        let (rotation, translation) = self.pose(body);
        let MassProperties { mass, center, inertia } = self.bodies[body].rest;
        let r = DMat3::from_quat(rotation);
        MassProperties { mass, center: rotation * center + translation, inertia: r * inertia * r.transpose() }
    }

    /// Momentum \[kg·m/s\] and angular momentum about the centre \[kg·m²/s\].
    fn momenta(&self, body: usize) -> [DVec3; 2] {
        let (MassProperties { mass, inertia, .. }, motion) = (self.mass_properties(body), self.motion(body));
        [mass * motion.velocity, inertia * motion.spin]
    }

    /// Momentum of a body \[kg·m/s\].
    #[must_use]
    pub fn momentum(&self, body: usize) -> DVec3 {
        self.momenta(body)[0]
    }

    /// Angular momentum of a body about the origin \[kg·m²/s\].
    #[must_use]
    pub fn angular_momentum(&self, body: usize) -> DVec3 {
        let [momentum, own] = self.momenta(body);
        self.mass_properties(body).center.cross(momentum) + own
    }

    /// Kinetic energy of a body \[J\]; none for one that is led.
    #[must_use]
    pub fn kinetic_energy(&self, body: usize) -> f64 {
        if self.bodies[body].prescribed {
            return 0.0;
        }
        let ([momentum, own], motion) = (self.momenta(body), self.motion(body));
        0.5 * (momentum.dot(motion.velocity) + own.dot(motion.spin))
    }

    /// Whether a body is led.
    #[must_use]
    pub fn is_prescribed(&self, body: usize) -> bool {
        self.bodies[body].prescribed
    }

    /// Name of a body.
    #[must_use]
    pub fn name(&self, body: usize) -> &str {
        &self.bodies[body].name
    }

    /// Surface of a body, where it was at the start.
    #[must_use]
    pub fn surface(&self, body: usize) -> &TriangleMesh {
        self.bodies[body].surface.mesh()
    }

    /// The same with its tree.
    #[must_use]
    pub fn boundary(&self, body: usize) -> &Arc<Surface> {
        &self.bodies[body].surface
    }

    /// Positions of the vertices of a body's surface \[m\].
    pub fn positions(&self, body: usize) -> impl Iterator<Item = DVec3> {
        let (rotation, translation) = self.pose(body);
        self.surface(body).vertices().iter().map(move |&vertex| rotation * vertex + translation)
    }

    /// Velocities of the vertices of a body's surface \[m/s\].
    pub fn velocities(&self, body: usize) -> impl Iterator<Item = DVec3> {
        let (center, motion) = (self.mass_properties(body).center, self.motion(body));
        self.positions(body).map(move |position| motion.at(position - center))
    }

    /// Of what a body [felt](Self::felt) in the last step what may go on in the next: all but blows.
    #[must_use]
    pub fn steady(&self, body: usize) -> Wrench {
        self.state.steady[body]
    }

    /// What a body felt in the last step, gravity excepted: force \[N\] and torque about its centre \[N·m\].
    #[must_use]
    pub fn felt(&self, body: usize) -> Wrench {
        self.state.felt[body]
    }

    /// Ties a point of a body, where it is now \[m\], to the position where it is. Stiffness in N/m, damping in N·s/m; an older spring
    /// of that number goes.
    pub fn attach(&mut self, id: u64, body: usize, point: DVec3, stiffness: f64, damping: f64) {
        let (rotation, translation) = self.pose(body);
        let at_start = rotation.conjugate() * (point - translation);
        self.detach(id);
        let body = body as u32;
        let force = DVec3::ZERO;
        self.state.springs.push(Spring { id, body, point: at_start, anchor: point, stiffness, damping, force });
    }

    /// Moves the far end of a spring \[m\]; whether there is such a spring.
    pub fn pull_to(&mut self, id: u64, anchor: DVec3) -> bool {
        let spring = self.state.springs.iter_mut().find(|spring| spring.id == id);
        spring.map(|spring| spring.anchor = anchor).is_some()
    }

    /// Changes the stiffness \[N/m\] and the damping \[N·s/m\] of a spring; whether there is such a spring.
    pub fn stiffen(&mut self, id: u64, stiffness: f64, damping: f64) -> bool {
        let spring = self.state.springs.iter_mut().find(|spring| spring.id == id);
        spring.map(|spring| (spring.stiffness, spring.damping) = (stiffness, damping)).is_some()
    }

    /// Removes a spring; whether there was one.
    pub fn detach(&mut self, id: u64) -> bool {
        let before = self.state.springs.len();
        self.state.springs.retain(|spring| spring.id != id);
        self.state.springs.len() < before
    }

    /// The springs and what they do.
    pub fn springs(&self) -> impl Iterator<Item = Pull> {
        self.state.springs.iter().map(|spring| {
            let body = spring.body as usize;
            let (rotation, translation) = self.pose(body);
            let point = rotation * spring.point + translation;
            Pull { id: spring.id, body, point, anchor: spring.anchor, force: spring.force }
        })
    }

    /// Finds the forces of the springs in this step, one after the other, and adds them to those from outside.
    fn pull(&mut self, loads: &mut [Wrench], dt: f64, gravity: DVec3) {
        for number in 0..self.state.springs.len() {
            let spring = self.state.springs[number];
            let body = spring.body as usize;
            let MassProperties { mass, center, .. } = self.mass_properties(body);
            let (rotation, translation) = self.pose(body);
            let x = rotation * spring.point + translation;
            let arm = x - center;
            let Wrench { force, torque } = loads[body];
            let Motion { velocity, spin } = self.motion(body);
            let RigidCompliance { inverse_mass, inverse_inertia, .. } = self.compliance(body);
            let without = Motion {
                velocity: velocity + dt * inverse_mass * (mass * gravity + force),
                spin: spin + dt * (inverse_inertia * torque),
            };
            let compliance_at = compliance_at(inverse_mass, inverse_inertia, arm);
            let pull = spring.force_in_step(x, without.at(arm), compliance_at, dt);
            self.state.springs[number].force = pull;
            loads[body] += Wrench::at(arm, pull);
        }
    }

    /// The state, as a checkpoint holds it.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes over a state of the same bodies.
    ///
    /// # Errors
    /// When the state does not fit; the world is then unchanged.
    pub fn restore(&mut self, state: State) -> Result<(), RigidError> {
        if !state.fits(&self.handles, self.bodies.len(), self.state.colliders.len()) {
            return Err(RigidError::Unsound);
        }
        self.state = state;
        self.before = None;
        self.pipeline = PhysicsPipeline::new();
        Ok(())
    }
}

/// What rapier calls a lock.
fn flag(lock: Lock) -> LockedAxes {
    match lock {
        Lock::X => LockedAxes::TRANSLATION_LOCKED_X,
        Lock::Y => LockedAxes::TRANSLATION_LOCKED_Y,
        Lock::Z => LockedAxes::TRANSLATION_LOCKED_Z,
        Lock::Rx => LockedAxes::ROTATION_LOCKED_X,
        Lock::Ry => LockedAxes::ROTATION_LOCKED_Y,
        Lock::Rz => LockedAxes::ROTATION_LOCKED_Z,
    }
}
