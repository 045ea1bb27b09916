//! Elastic solids of particles in a world: how they are led, what is seen of them.

use super::particle_springs::{Matter, ParticleSprings};
use super::soft::Held;
use crate::hands::{Spring, Tied};
use crate::part::{Part, Totals, fits, take};
use glam::DVec3;
use meniscus_boundary::Boundaries;
use meniscus_core::{Digest, Frame, Surface, Wrench};
use meniscus_elastic::{SolidState, Solids};
use meniscus_particles::Skin;
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Pick, Poke, Probe};

/// All elastic solids of a world.
pub(crate) struct ElasticPart {
    pub(crate) solids: Solids,
    pub(crate) kinds: Vec<ElasticKind>,
    /// The walls where they are at the end of the step.
    pub(crate) at_end: Boundaries,
    pub(crate) springs: ParticleSprings,
    /// Distance between particles \[m\].
    pub(crate) spacing: f64,
    /// Length of the last step \[s\].
    pub(crate) dt: f64,
}

/// What the scene says about a solid.
pub(crate) struct ElasticKind {
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) skin: Skin,
    pub(crate) holds: Vec<Held>,
    /// Which hold leads each led particle.
    pub(crate) held_by: Vec<u16>,
}

impl ElasticPart {
    /// The solids as hands find them; what is led cannot be pulled.
    fn matter(&self) -> Matter<'_> {
        let state = self.solids.state();
        let mut mass = vec![0.0; state.position.len()];
        for body in self.solids.bodies() {
            mass[body.particles.clone()].fill(body.elastic.mass());
            body.prescribed
                .iter()
                .for_each(|prescribed| mass[body.particles.start + prescribed.particle as usize] = f64::INFINITY);
        }
        Matter {
            bodies: self.solids.bodies().iter().map(|body| (body.name.as_str(), body.particles.clone())).collect(),
            position: &state.position,
            velocity: &state.velocity,
            mass: mass.into(),
            spacing: self.spacing,
        }
    }

    /// Lets hands pull in the step to come.
    pub(crate) fn pull(&mut self, dt: f64) {
        if self.springs.is_empty() {
            self.solids.pulls_mut().clear();
            return;
        }
        let mut pulls = std::mem::take(self.solids.pulls_mut());
        pulls.clear();
        let mut springs = std::mem::take(&mut self.springs);
        springs.pull(&self.matter(), dt, |i, force| pulls.push((i as u32, force)));
        self.springs = springs;
        *self.solids.pulls_mut() = pulls;
    }

    /// Tells held particles and walls where they are at a time \[s\].
    pub(crate) fn prescribe(&mut self, time: f64) {
        self.at_end.place_at(time);
        for (body, kind) in self.solids.bodies_mut().iter_mut().zip(&self.kinds) {
            if !kind.holds.iter().any(|hold| hold.motion.moves()) {
                continue;
            }
            for (prescribed, &by) in body.prescribed.iter_mut().zip(&kind.held_by) {
                let pose = kind.holds[usize::from(by)].motion.pose(time);
                prescribed.end = pose.apply(body.rest[prescribed.particle as usize]);
            }
        }
    }

    /// Largest step in which no particle crosses more than half a spacing \[s\].
    pub(crate) fn stable_step(&self) -> f64 {
        0.5 * self.spacing / self.solids.max_speed().max(1e-12)
    }

    fn center(&self, number: usize) -> DVec3 {
        let positions = &self.solids.state().position[self.solids.bodies()[number].particles.clone()];
        positions.iter().sum::<DVec3>() / positions.len() as f64
    }

    fn momentum(&self, number: usize) -> DVec3 {
        let body = &self.solids.bodies()[number];
        let state = self.solids.state();
        let moving = state.velocity[body.particles.clone()].iter().sum::<DVec3>() * body.elastic.mass();
        moving + state.owed[body.particles.clone()].iter().sum::<DVec3>()
    }

    /// Mass \[kg\] and kinetic energy \[J\] of a solid.
    pub(crate) fn mass_and_kinetic(&self, number: usize) -> [f64; 2] {
        let body = &self.solids.bodies()[number];
        let mass = body.elastic.mass();
        let squares = self.solids.state().velocity[body.particles.clone()].iter().map(|v| v.length_squared());
        [mass * body.rest.len() as f64, 0.5 * mass * squares.sum::<f64>()]
    }
}

impl Part for ElasticPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(&(self.solids.state(), &self.springs), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let (state, springs): (SolidState, ParticleSprings) = take(bytes)?;
        fits(springs.fit(state.position.len()))?;
        self.springs = springs;
        fits(self.solids.restore(state))
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        let state = self.solids.state();
        for vector in state.position.iter().chain(&state.velocity) {
            digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
        }
        digest
    }

    fn show(&self, frame: &mut Frame) {
        let state = self.solids.state();
        for (kind, body) in self.kinds.iter().zip(self.solids.bodies()) {
            let own = body.particles.clone();
            frame.surfaces.push(Surface {
                body: kind.shown_as,
                positions: kind.skin.carry(&state.position[own.clone()]).map(DVec3::as_vec3).collect(),
                velocities: kind.skin.carry(&state.velocity[own]).map(DVec3::as_vec3).collect(),
                triangles: kind.skin.triangles().to_vec(),
                ..Surface::default()
            });
        }
    }

    fn moved_in(&self) -> &'static str {
        "move solids"
    }

    fn add_totals(&self, gravity: DVec3, totals: &mut Totals) {
        totals.body_particles += self.solids.state().position.len() as u64;
        totals.max_speed = totals.max_speed.max(self.solids.max_speed());
        for number in 0..self.solids.bodies().len() {
            let [mass, kinetic] = self.mass_and_kinetic(number);
            totals.kinetic_energy += kinetic;
            totals.mass += mass;
            totals.potential_energy -= mass * gravity.dot(self.center(number));
            totals.elastic_energy += self.solids.elastic_energy(number);
            totals.momentum += self.momentum(number);
        }
    }

    fn columns(&self) -> Vec<String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]"];
        self.solids.bodies().iter().flat_map(|body| quantities.map(|q| format!("{}.{q}", body.name))).collect()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        for number in 0..self.solids.bodies().len() {
            values.extend(self.center(number).to_array());
            values.extend([self.mass_and_kinetic(number)[1], self.solids.elastic_energy(number)]);
        }
    }

    /// Displacement of the particle that was nearest to a position at rest \[m\].
    fn read(&self, probe: &Probe, _: DVec3, values: &mut Vec<f64>) -> bool {
        let Probe::Solid(at) = probe else { return false };
        let Some(body) = self.solids.bodies().iter().find(|body| body.name == at.name) else { return false };
        let position = DVec3::from_array(at.point);
        let now = &self.solids.state().position[body.particles.clone()];
        let distance = |(rest, _): &(&DVec3, &DVec3)| rest.distance_squared(position);
        let nearest = body.rest.iter().zip(now).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        values.extend(nearest.map_or(DVec3::NAN, |(rest, now)| *now - *rest).to_array());
        true
    }

    fn add_wall_forces(&self, walls: &mut [Wrench]) {
        for (side, impulse) in self.at_end.sides().iter().zip(self.solids.reactions()) {
            walls[side.wall] += *impulse / self.dt;
        }
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        let &[value] = value else { return };
        let solids = self.solids.bodies_mut();
        match *key {
            LiveKey::Young(number) => solids[number].elastic.set_material(|m| m.young = value),
            LiveKey::StiffnessDamping(number) => solids[number].elastic.set_material(|m| m.damping = value),
            LiveKey::SolidDensity(number) => solids[number].elastic.set_material(|m| m.density = value),
            _ => {}
        }
    }

    fn poke(&mut self, poke: &Poke) {
        let [center, velocity] = [poke.center, poke.velocity].map(DVec3::from_array);
        let state = self.solids.state_mut();
        for (x, v) in state.position.iter().zip(&mut state.velocity) {
            let q = x.distance(center) / poke.radius;
            if q < 1.0 {
                *v += velocity * ((1.0 - q * q) * (1.0 - q * q));
            }
        }
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
