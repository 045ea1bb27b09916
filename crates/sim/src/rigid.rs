//! Rigid bodies in a world: how they are led, what soft bodies do to them, what is seen of them.

use glam::{DQuat, DVec3};
use meniscus_boundary::{Boundaries, Compliance, Distance, Motion as Lead, Mover, Pose, RigidCompliance};
use meniscus_core::{Digest, Frame, StepError, Surface, Wrench};
use meniscus_fem::contact::{Inertia, Obstacle, Sample};
use meniscus_rigid::{Expected, MassProperties, Motion, State, World};
use std::sync::Arc;

/// Part of the smallest extent of a body that it may cross in a step, dimensionless.
const CROSSED: f64 = 0.25;

/// All rigid bodies of a world.
#[derive(Default)]
pub(crate) struct Rigids {
    pub(crate) world: World,
    pub(crate) kinds: Vec<RigidKind>,
    /// Points of all surfaces where they are now.
    samples: Vec<Vec<Sample>>,
    /// Whether the step under way has begun.
    begun: bool,
}

/// What the scene says about a rigid body, and what follows from it.
pub(crate) struct RigidKind {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) motion: Option<Lead>,
    /// Points of the surface that are held against soft bodies, where they were at the start.
    pub(crate) samples: Vec<Sample>,
    /// Smallest extent \[m\].
    pub(crate) thickness: f64,
}

/// A rigid body as soft bodies meet it in a step.
pub(crate) struct RigidSide<'a> {
    rigids: &'a Rigids,
    body: usize,
    pose: (DQuat, DVec3),
    center: DVec3,
    /// How it is expected to move.
    expected: Motion,
    inertia: Option<Inertia>,
    /// Farther from its bounds the distance need not be exact \[m\].
    reach: f64,
}

impl Distance for RigidSide<'_> {
    fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let (rotation, translation) = self.pose;
        let own = rotation.conjugate() * (point - translation);
        let surface = self.rigids.world.boundary(self.body);
        let far = surface.tree().bounds().distance_squared(own).sqrt();
        if far > self.reach {
            return (far, (point - self.center).normalize_or(DVec3::Y));
        }
        let (distance, normal) = surface.outward_distance(own);
        (distance, rotation * normal)
    }

    fn velocity(&self, point: DVec3) -> DVec3 {
        self.expected.at(point - self.center)
    }
}

impl Obstacle for RigidSide<'_> {
    fn samples(&self) -> &[Sample] {
        &self.rigids.samples[self.body]
    }

    fn inertia(&self) -> Option<Inertia> {
        self.inertia
    }
}

impl Rigids {
    /// Changes the density of a body \[kg/m³\].
    pub(crate) fn set_density(&mut self, body: usize, density: f64) {
        // A value out of range was refused before it came here.
        let _ = self.world.set_density(body, density);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Shows the liquid where the surfaces are and how the bodies yield.
    pub(crate) fn place_in(&self, bodies: &mut [meniscus_sph::Body]) {
        for (body, to) in bodies.iter_mut().enumerate() {
            to.positions.clear();
            to.positions.extend(self.world.positions(body));
            to.velocities.clear();
            to.velocities.extend(self.world.velocities(body));
            let triangles = self.world.surface(body).triangles();
            if to.triangles != triangles {
                to.triangles = triangles.to_vec();
            }
            to.compliance = match self.world.is_led(body) {
                true => Compliance::Fixed,
                false => Compliance::Rigid(self.world.compliance(body)),
            };
        }
    }

    /// Hands the liquid's forces on the vertices to the bodies.
    pub(crate) fn take_forces<'a>(&mut self, of: impl Fn(usize) -> &'a [DVec3]) {
        for body in 0..self.kinds.len() {
            let center = self.world.mass_properties(body).center;
            let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
            for (x, f) in self.world.positions(body).zip(of(body)) {
                force += *f;
                torque += (x - center).cross(*f);
            }
            self.world.add_force(body, force, torque);
        }
    }

    /// Where the vertices of a body are \[m\].
    pub(crate) fn positions(&self, body: usize) -> impl Iterator<Item = DVec3> {
        self.world.positions(body)
    }

    /// Tells led bodies and walls where they are at the end of the step.
    pub(crate) fn lead(&mut self, walls: &Boundaries, [time, dt]: [f64; 2]) {
        if self.is_empty() {
            return;
        }
        self.world.place_walls(walls);
        for (body, kind) in self.kinds.iter().enumerate() {
            if let Some(motion) = &kind.motion {
                let pose = motion.pose(time + dt);
                self.world.lead(body, pose.rotation, pose.translation);
            }
        }
    }

    /// The bodies as soft ones meet them in the step to come; exact within a reach \[m\].
    pub(crate) fn sides(&mut self, dt: f64, gravity: DVec3, reach: f64) -> Vec<RigidSide<'_>> {
        let expected = self.world.expect(dt, gravity);
        self.samples.resize_with(self.kinds.len(), Vec::new);
        for (body, kind) in self.kinds.iter().enumerate() {
            let (rotation, translation) = self.world.pose(body);
            let placed = |sample: &Sample| Sample { place: rotation * sample.place + translation, ..*sample };
            self.samples[body].clear();
            self.samples[body].extend(kind.samples.iter().map(placed));
        }
        let side = |(body, Expected { motion, yielding, .. }): (usize, Expected)| {
            let MassProperties { mass, center, inertia } = self.world.mass_properties(body);
            let Wrench { force, torque } = self.world.given(body);
            let free = !self.world.is_led(body);
            RigidSide {
                rigids: self,
                body,
                pose: self.world.pose(body),
                center,
                expected: motion,
                // What others hold gives way as something heavier would.
                inertia: free.then_some(Inertia {
                    mass: mass / yielding,
                    center,
                    inertia: inertia * (1.0 / yielding),
                    force,
                    torque,
                }),
                reach,
            }
        };
        expected.into_iter().enumerate().map(side).collect()
    }

    /// The bodies as solids that take many sub-steps bump into them in a step of `dt` \[s\]; exact within a reach \[m\].
    pub(crate) fn movers(&mut self, [dt, reach]: [f64; 2], gravity: DVec3) -> Vec<Mover> {
        let expected = if self.is_empty() { Vec::new() } else { self.world.expect(dt, gravity) };
        let world = &self.world;
        let mover = |(body, Expected { unpushed, yielding, .. }): (usize, &Expected)| {
            let (rotation, translation) = world.pose(body);
            let motion = if world.is_led(body) { *unpushed } else { world.motion(body) };
            let RigidCompliance { inverse_mass, inverse_inertia, center } = world.compliance(body);
            Mover {
                surface: Arc::clone(world.boundary(body)),
                pose: Pose { rotation, translation },
                motion: [motion.velocity, motion.spin],
                gain: [(unpushed.velocity - motion.velocity) / dt, (unpushed.spin - motion.spin) / dt],
                // What others hold gives way as something heavier would.
                compliance: RigidCompliance {
                    inverse_mass: inverse_mass * *yielding,
                    inverse_inertia: inverse_inertia * *yielding,
                    center,
                },
                radius: world.positions(body).map(|x| x.distance(center)).fold(0.0, f64::max),
                reach,
            }
        };
        expected.iter().enumerate().map(mover).collect()
    }

    /// Hands the bodies what they felt from soft ones, about the origin.
    pub(crate) fn give(&mut self, felt: &[Wrench]) {
        for (body, felt) in felt.iter().enumerate() {
            let torque = felt.torque - self.world.mass_properties(body).center.cross(felt.force);
            self.world.add_force(body, felt.force, torque);
            self.world.note_given(body, felt.force, torque);
        }
    }

    /// Moves the bodies on.
    pub(crate) fn step(&mut self, dt: f64, gravity: DVec3) -> Result<(), StepError> {
        self.begun = true;
        self.world.step(dt, gravity)
    }

    /// The step is over.
    pub(crate) fn end(&mut self) {
        self.begun = false;
    }

    /// Undoes a step that failed; forces from outside have to be found anew.
    pub(crate) fn roll_back(&mut self) {
        self.world.clear_forces();
        if std::mem::take(&mut self.begun) {
            self.world.roll_back();
        }
    }

    /// Largest step that follows their motion \[s\].
    pub(crate) fn stable_step(&self) -> f64 {
        let steps =
            self.kinds.iter().enumerate().map(|(body, kind)| CROSSED * kind.thickness / self.speed(body).max(1e-12));
        steps.fold(f64::INFINITY, f64::min)
    }

    pub(crate) fn max_speed(&self) -> f64 {
        (0..self.kinds.len()).map(|body| self.speed(body)).fold(0.0, f64::max)
    }

    /// Largest speed of a body's surface \[m/s\].
    fn speed(&self, body: usize) -> f64 {
        self.world.velocities(body).map(DVec3::length_squared).fold(0.0, f64::max).sqrt()
    }

    pub(crate) fn save(&self) -> Option<State> {
        (!self.is_empty()).then(|| self.world.state().clone())
    }

    /// Takes over a saved state; whether it belongs to these bodies.
    pub(crate) fn load(&mut self, state: Option<State>) -> bool {
        self.begun = false;
        match state {
            None => self.is_empty(),
            Some(state) => self.world.restore(state).is_ok(),
        }
    }

    pub(crate) fn digest(&self, mut digest: Digest) -> Digest {
        for body in 0..self.kinds.len() {
            let ((rotation, translation), motion) = (self.world.pose(body), self.world.motion(body));
            let numbers = [translation, motion.velocity, motion.spin].into_iter().flat_map(|v| v.to_array());
            for number in rotation.to_array().into_iter().chain(numbers) {
                digest = digest.f64(number);
            }
        }
        digest
    }

    pub(crate) fn show(&self, frame: &mut Frame) {
        for (body, kind) in self.kinds.iter().enumerate() {
            frame.surfaces.push(Surface {
                body: kind.shown_as,
                positions: self.world.positions(body).map(DVec3::as_vec3).collect(),
                velocities: self.world.velocities(body).map(DVec3::as_vec3).collect(),
                triangles: self.world.surface(body).triangles().to_vec(),
            });
        }
    }

    /// Displacement of a point of a body \[m\]; none for an unknown name.
    pub(crate) fn displacement(&self, name: &str, place: DVec3) -> Option<DVec3> {
        let body = self.kinds.iter().position(|kind| kind.name == name)?;
        let (rotation, translation) = self.world.pose(body);
        Some(rotation * place + translation - place)
    }

    /// What a wall of the scene feels from the bodies in the last step.
    pub(crate) fn wall_force(&self, wall: usize) -> Wrench {
        self.world.on_wall(wall)
    }

    /// Columns of the probe file for every body.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let place = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]"];
        let felt = ["fx [N]", "fy [N]", "fz [N]", "tx [N m]", "ty [N m]", "tz [N m]"];
        let quantities = move || place.into_iter().chain(felt);
        self.kinds.iter().flat_map(move |kind| quantities().map(|quantity| format!("{}.{quantity}", kind.name)))
    }

    /// Their values: centre of mass, energy, force and torque about the centre, gravity excepted.
    pub(crate) fn measure(&self, values: &mut Vec<f64>) {
        for body in 0..self.kinds.len() {
            values.extend(self.world.mass_properties(body).center.to_array());
            values.push(self.world.kinetic_energy(body));
            values.extend(self.world.felt(body).to_array());
        }
    }

    /// Kinetic energy and energy in the field of gravity \[J\], and momentum \[kg·m/s\], of those that are free.
    pub(crate) fn totals(&self, gravity: DVec3) -> (f64, f64, DVec3) {
        let free = (0..self.kinds.len()).filter(|&body| !self.world.is_led(body));
        free.fold((0.0, 0.0, DVec3::ZERO), |(kinetic, potential, momentum), body| {
            let MassProperties { mass, center, .. } = self.world.mass_properties(body);
            let kinetic = kinetic + self.world.kinetic_energy(body);
            (kinetic, potential - mass * gravity.dot(center), momentum + self.world.momentum(body))
        })
    }
}
