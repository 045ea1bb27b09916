//! Rigid bodies in a world: how they are led, what soft bodies do to them, what is seen of them.

use crate::hands::{Spring, Tied};
use crate::part::{Part, Totals, fits, take};
use glam::DVec3;
use meniscus_boundary::{Boundaries, Motion};
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface, Wrench};
use meniscus_coupling::fem_rigid::Samples;
use meniscus_geometry::TriangleMesh;
use meniscus_rigid::{MassProperties, Picked, State, World};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Pick, Probe, Ray};

/// Part of the smallest extent of a body that it may cross in a step, dimensionless.
const CROSSED: f64 = 0.25;

/// All rigid bodies of a world.
#[derive(Default)]
pub(crate) struct RigidPart {
    pub(crate) world: World,
    pub(crate) kinds: Vec<RigidKind>,
    /// Points of all surfaces that are held against soft bodies.
    pub(crate) samples: Samples,
    /// Whether the step under way has begun.
    begun: bool,
}

/// What the scene says about a rigid body, and what follows from it.
pub(crate) struct RigidKind {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) motion: Option<Motion>,
    /// Smallest extent \[m\].
    pub(crate) thickness: f64,
}

impl RigidPart {
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Tells led bodies and walls where they are at the end of the step for which walls are placed.
    pub(crate) fn prescribe(&mut self, walls: &Boundaries) {
        if self.is_empty() {
            return;
        }
        let [time, dt] = walls.step();
        self.world.place_walls(walls);
        for (body, kind) in self.kinds.iter().enumerate() {
            if let Some(motion) = &kind.motion {
                let pose = motion.pose(time + dt);
                self.world.prescribe(body, pose.rotation, pose.translation);
            }
        }
    }

    /// Moves the bodies on.
    pub(crate) fn step(&mut self, dt: f64, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        if self.is_empty() {
            return Ok(());
        }
        self.begun = true;
        report.stage("rigid bodies", || self.world.step(dt, gravity))?;
        report.count("rigid contacts", self.world.contacts() as f64);
        Ok(())
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

    /// Largest speed of all surfaces \[m/s\].
    pub(crate) fn max_speed(&self) -> f64 {
        (0..self.kinds.len()).map(|body| self.speed(body)).fold(0.0, f64::max)
    }

    /// Largest speed of a body's surface \[m/s\].
    fn speed(&self, body: usize) -> f64 {
        self.world.velocities(body).map(DVec3::length_squared).fold(0.0, f64::max).sqrt()
    }

    /// The bodies as they are.
    pub(crate) fn saved(&self) -> Option<State> {
        (!self.is_empty()).then(|| self.world.state().clone())
    }

    /// Takes over a saved state; whether it belongs to these bodies.
    pub(crate) fn restore(&mut self, state: Option<State>) -> bool {
        self.begun = false;
        match state {
            None => self.is_empty(),
            Some(state) => self.world.restore(state).is_ok(),
        }
    }

    /// The nearest body of this name, or any, that a pick finds, and its point.
    fn find(&self, name: Option<&str>, at: &Pick) -> Option<(usize, Picked)> {
        let wanted = |of: &str| name.is_none_or(|name| name == of);
        let named = self.kinds.iter().enumerate().filter(|(_, kind)| wanted(&kind.name));
        let found = named.filter_map(|(body, _)| Some((body, picked(&self.world, body, at)?)));
        found.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
    }
}

fn picked(world: &World, body: usize, at: &Pick) -> Option<Picked> {
    match at {
        Pick::Point(point) => Some(world.nearest_point(body, DVec3::from_array(*point))),
        Pick::Ray(Ray { origin, direction }) => {
            world.first_hit(body, DVec3::from_array(*origin), DVec3::from_array(*direction))
        }
    }
}

impl Part for RigidPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(&self.saved(), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let state = take(bytes)?;
        fits(self.restore(state))
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        for body in 0..self.kinds.len() {
            let ((rotation, translation), motion) = (self.world.pose(body), self.world.motion(body));
            let numbers = [translation, motion.velocity, motion.spin].into_iter().flat_map(|v| v.to_array());
            for number in rotation.to_array().into_iter().chain(numbers) {
                digest = digest.f64(number);
            }
        }
        digest
    }

    fn show(&self, frame: &mut Frame) {
        for (body, kind) in self.kinds.iter().enumerate() {
            frame.surfaces.push(Surface {
                body: kind.shown_as,
                positions: self.world.positions(body).map(DVec3::as_vec3).collect(),
                velocities: self.world.velocities(body).map(DVec3::as_vec3).collect(),
                triangles: self.world.surface(body).triangles().to_vec(),
                ..Surface::default()
            });
        }
    }

    fn wet_surfaces(&self) -> Vec<(&str, Option<TriangleMesh>)> {
        let triangles = |body| self.world.surface(body).triangles().to_vec();
        let surface = |body| TriangleMesh::new(self.world.positions(body).collect(), triangles(body)).ok();
        self.kinds.iter().enumerate().map(|(body, kind)| (kind.name.as_str(), surface(body))).collect()
    }

    fn moved_in(&self) -> &'static str {
        "rigid bodies"
    }

    /// Of those that are free.
    fn add_totals(&self, gravity: DVec3, totals: &mut Totals) {
        totals.max_speed = totals.max_speed.max(self.max_speed());
        for body in (0..self.kinds.len()).filter(|&body| !self.world.is_prescribed(body)) {
            let MassProperties { mass, center, .. } = self.world.mass_properties(body);
            totals.kinetic_energy += self.world.kinetic_energy(body);
            totals.potential_energy -= mass * gravity.dot(center);
            totals.momentum += self.world.momentum(body);
            totals.mass += mass;
        }
    }

    fn columns(&self) -> Vec<String> {
        let own = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]"];
        let felt = ["fx [N]", "fy [N]", "fz [N]", "tx [N m]", "ty [N m]", "tz [N m]"];
        let quantities = || own.into_iter().chain(felt);
        self.kinds.iter().flat_map(|kind| quantities().map(|quantity| format!("{}.{quantity}", kind.name))).collect()
    }

    /// Centre of mass, energy, force and torque about the centre, gravity excepted.
    fn measure(&self, values: &mut Vec<f64>) {
        for body in 0..self.kinds.len() {
            values.extend(self.world.mass_properties(body).center.to_array());
            values.push(self.world.kinetic_energy(body));
            values.extend(self.world.felt(body).to_array());
        }
    }

    /// Displacement of a point of a body \[m\].
    fn read(&self, probe: &Probe, _: DVec3, values: &mut Vec<f64>) -> bool {
        let Probe::Solid(at) = probe else { return false };
        let Some(body) = self.kinds.iter().position(|kind| kind.name == at.name) else { return false };
        let position = DVec3::from_array(at.point);
        let (rotation, translation) = self.world.pose(body);
        values.extend((rotation * position + translation - position).to_array());
        true
    }

    fn add_wall_forces(&self, walls: &mut [Wrench]) {
        walls.iter_mut().enumerate().for_each(|(wall, sum)| *sum += self.world.on_wall(wall));
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        if let (LiveKey::RigidDensity(body), &[density]) = (key, value) {
            // A value out of range was refused before it came here.
            let _ = self.world.set_density(*body, density);
        }
    }

    fn pick(&self, name: Option<&str>, at: &Pick) -> Option<f64> {
        self.find(name, at).map(|(_, picked)| picked.distance)
    }

    fn tie(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let (body, picked) = self.find(name, at)?;
        let (stiffness, damping) = spring.numbers(self.world.mass_properties(body).mass);
        self.world.attach(id, body, picked.position, stiffness, damping);
        Some(picked.position)
    }

    fn drag(&mut self, id: u64, target: DVec3) -> bool {
        self.world.pull_to(id, target)
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) -> bool {
        let Some(body) = self.world.springs().find(|pull| pull.id == id).map(|pull| pull.body) else { return false };
        let (stiffness, damping) = spring.numbers(self.world.mass_properties(body).mass);
        self.world.stiffen(id, stiffness, damping)
    }

    fn let_go(&mut self, id: u64) {
        self.world.detach(id);
    }

    fn tied(&self) -> Vec<Tied<'_>> {
        let springs = self.world.springs();
        springs
            .map(|pull| (pull.id, self.kinds[pull.body].name.as_str(), [pull.point, pull.anchor, pull.force]))
            .collect()
    }
}
