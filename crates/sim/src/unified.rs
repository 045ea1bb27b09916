//! The `unified` method: liquid and elastic solids as one system of particles \[SZW\].
//!
//! One step; the names are those of the step report. Stages with numbers are the liquid's, as in the method `gauss`:
//!
//! | | stage | what happens |
//! |---|---|---|
//! | | place solids | particles of solids take their places among the liquid's |
//! | 1–4 | sort particles … sum density | ρ̃ᵢ = mᵢ Σⱼ Wᵢⱼ over liquid and solids alike \[SZW eq. 5\]; `find pores`: which liquid is in pores |
//! | 5 | remove divergence | solids yield |
//! | | move solids | in steps of their own, under the forces of the last step |
//! | 6 | sum forces | friction between all particles \[SZW eq. 7\], gravity |
//! | | pull surfaces | surface tension \[SZW eqs 8–12\] |
//! | | seep | drag and suction of pores \[BJWB25\] |
//! | | expect solids | where they will be |
//! | 8 | find pressure | pressure of the liquid, with what a change of it does to the solids \[SZW eq. 6\] |
//! | | drag solids | what liquid in pores does to them under that pressure |
//! | 9 | advance | the liquid |
//! | | give to solids | what the liquid did beyond the forces of the last step |
//! | | rigid bodies | their step, with what the liquid did to their surfaces and what the solids did |
//! | 11 | keep before bodies | liquid that a rigid body has passed is put back before it |
//! | 12 | drain | |
//!
//! With the state equation forces come first, and solids are moved under them.

use crate::gauss::{Gauss, SHIFT_WORK};
use crate::grips::{Grips, Matter};
use crate::hands::{self, Grip, Hand, Hands, Holds, Spring};
use crate::method::{Method, Totals};
use crate::probes;
use crate::solids::Held;
use glam::{DVec3, Vec3};
use meniscus_boundary::{Boundaries, Obstacles};
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface, Wrench};
use meniscus_particles::Skin;
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Grab, Move, Pick, Poke, Probe, Release};
use meniscus_sph::unified::{SolidState, Solids};
use meniscus_sph::{PressureSolver, ViscositySolver};

/// The method with its state.
pub(crate) struct Unified {
    /// Liquid, walls, nozzles, rigid bodies.
    pub(crate) wet: Gauss,
    pub(crate) solids: Solids,
    pub(crate) kinds: Vec<Kind>,
    /// The walls where they are at the end of the step.
    pub(crate) at_end: Boundaries,
    pub(crate) probes: Vec<(String, Probe)>,
    /// Forces of the last step \[N\].
    pub(crate) before: Vec<DVec3>,
    pub(crate) hands: Hands,
    pub(crate) grips: Grips,
}

/// What is measured of a porous solid: part of the pores that liquid fills, its mass, and that with the solid's own.
const IN_PORES: [&str; 3] = ["saturation [1]", "liquid held [kg]", "mass with liquid [kg]"];

/// What the scene says about a solid.
pub(crate) struct Kind {
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) skin: Skin,
    pub(crate) holds: Vec<Held>,
    /// Which hold leads each led particle.
    pub(crate) held_by: Vec<u16>,
}

impl Holds for Unified {
    /// Particles and rigid bodies alike.
    fn take(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let mut grips = std::mem::take(&mut self.grips);
        let matter = self.matter();
        let particle = Grips::pick(name, at, &matter);
        let rigid = self.wet.solids.rigids.pick(name, at);
        let place = match (particle, rigid) {
            (Some((near, found)), rigid) if rigid.is_none_or(|(distance, ..)| near <= distance) => {
                Some(grips.take(id, found, spring, &matter))
            }
            (_, Some((_, body, place))) => {
                self.wet.solids.rigids.tie(id, body, place, spring);
                Some(place)
            }
            _ => None,
        };
        self.grips = grips;
        place
    }

    fn drag(&mut self, id: u64, target: DVec3) {
        if !self.grips.drag(id, target) {
            self.wet.solids.rigids.world.pull_to(id, target);
        }
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) {
        if !self.grips.stiffen(id, spring) {
            self.wet.solids.rigids.stiffen(id, spring);
        }
    }

    fn let_go(&mut self, id: u64) {
        self.grips.let_go(id);
        self.wet.solids.rigids.world.detach(id);
    }
}

impl Method for Unified {
    fn step(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        self.wet.walls.place(time, dt);
        self.wet.solids.place_in(&mut self.wet.liquid, dt);
        if self.wet.dry {
            self.wet.liquid.sort(time, dt);
            self.wet.liquid.touch_placed_walls(&self.wet.walls);
            self.move_solids(time, dt, report)?;
        } else {
            report.stage("place solids", || self.wet.liquid.place_solids(&self.solids, dt));
            match self.wet.liquid.setup().params.pressure {
                PressureSolver::Dfsph => self.step_dfsph(time, dt, report)?,
                PressureSolver::StateEquation => self.step_state_equation(time, dt, report)?,
            }
        }
        self.move_rigids(dt, report)?;
        self.wet.drain(report); // 12
        self.solids.finish();
        self.wet.solids.rigids.end();
        report.count("kept inside walls", self.wet.liquid.kept_inside() as f64);
        report.count("solid sub-steps", self.solids.substeps().into());
        Ok(())
    }

    fn roll_back(&mut self) {
        self.wet.roll_back();
        self.solids.roll_back();
    }

    fn stable_step(&self) -> f64 {
        // A particle of a solid crosses half a spacing in a step.
        let spacing = self.wet.liquid.setup().params.spacing;
        let by_solids = (0.5 * spacing / self.solids.max_speed().max(1e-12)).min(self.wet.solids.stable_step());
        if self.wet.dry { by_solids } else { by_solids.min(self.wet.stable_step()) }
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        let solids = self.solids.bodies_mut();
        match (key, value) {
            (LiveKey::Young(number), &[value]) => solids[*number].elastic.set_material(|m| m.young = value),
            (LiveKey::StiffnessDamping(number), &[value]) => {
                solids[*number].elastic.set_material(|m| m.damping = value);
            }
            (LiveKey::SolidDensity(number), &[value]) => {
                solids[*number].elastic.set_material(|m| m.density = value);
                self.wet.liquid.weigh_solids(&self.solids);
            }
            (LiveKey::PullStiffness(number), &[value]) => {
                let mut hands = std::mem::take(&mut self.hands);
                hands.set_pull(self, *number, value);
                self.hands = hands;
            }
            _ => self.wet.set(key, value),
        }
    }

    fn poke(&mut self, poke: &Poke) {
        self.wet.poke(poke);
        let [center, velocity] = [poke.center, poke.velocity].map(DVec3::from_array);
        let state = self.solids.state_mut();
        for (x, v) in state.position.iter().zip(&mut state.velocity) {
            let q = x.distance(center) / poke.radius;
            if q < 1.0 {
                *v += velocity * ((1.0 - q * q) * (1.0 - q * q));
            }
        }
    }

    fn grab(&mut self, grab: &Grab) {
        Holds::grab(self, grab);
    }

    fn move_hand(&mut self, to: &Move) {
        Holds::move_hand(self, to);
    }

    fn release(&mut self, release: &Release) {
        Holds::release(self, release);
    }

    fn hands(&self) -> Vec<Hand> {
        self.hands.hold(self.grips.tied().chain(self.wet.solids.rigids.tied()))
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(&(self.wet.save()?, self.solids.state(), &self.grips, &self.hands.grips))
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        let (wet, state, grips, of_scene): (Vec<u8>, SolidState, Grips, Vec<Grip>) = postcard::from_bytes(bytes)?;
        self.wet.load(&wet)?;
        let fits = grips.fit(state.position.len());
        self.grips = grips;
        self.hands.grips = of_scene;
        if fits && self.solids.restore(state) { Ok(()) } else { Err(postcard::Error::DeserializeBadEncoding) }
    }

    fn digest(&self, digest: Digest) -> Digest {
        let state = self.solids.state();
        let mut digest = self.wet.digest(digest);
        for vector in state.position.iter().chain(&state.velocity) {
            digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
        }
        digest
    }

    fn show(&self, frame: &mut Frame) {
        self.wet.show(frame);
        let state = self.solids.state();
        for (kind, body) in self.kinds.iter().zip(self.solids.bodies()) {
            let own = body.particles.clone();
            frame.surfaces.push(Surface {
                body: kind.shown_as,
                positions: kind.skin.carry(&state.position[own.clone()]).map(DVec3::as_vec3).collect(),
                velocities: kind.skin.carry(&state.velocity[own]).map(DVec3::as_vec3).collect(),
                triangles: kind.skin.triangles().to_vec(),
            });
        }
        hands::show(&self.hands.hold(self.grips.tied()), frame);
    }

    fn gauss_points(&self) -> Vec<Vec3> {
        self.wet.gauss_points()
    }

    fn totals(&self) -> Totals {
        let mut totals = self.wet.totals();
        totals.body_particles = self.solids.state().position.len() as u64;
        totals.max_speed = totals.max_speed.max(self.solids.max_speed());
        for number in 0..self.solids.bodies().len() {
            let [mass, kinetic] = self.mass_and_kinetic(number);
            totals.kinetic_energy += kinetic;
            totals.potential_energy -= mass * self.wet.gravity.dot(self.center(number));
            totals.elastic_energy += self.solids.elastic_energy(number);
            totals.momentum += self.momentum(number);
        }
        totals
    }

    fn columns(&self) -> Vec<String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]"];
        let solids = self.solids.bodies().iter().flat_map(|body| {
            let of_pores: &[&str] = if body.elastic.material().pores.is_some() { &IN_PORES } else { &[] };
            quantities.iter().chain(of_pores).map(|q| format!("{}.{q}", body.name)).collect::<Vec<_>>()
        });
        let probes = self.probes.iter().flat_map(|(name, probe)| probes::columns(name, probe));
        self.wet.columns().into_iter().chain(solids).chain(self.hands.columns()).chain(probes).collect()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        let first = values.len();
        self.wet.measure(values);
        self.add_wall_forces(&mut values[first..]);
        for number in 0..self.solids.bodies().len() {
            values.extend(self.center(number).to_array());
            values.push(self.mass_and_kinetic(number)[1]);
            values.push(self.solids.elastic_energy(number));
            if let Some(held) = self.wet.liquid.held_by(&self.solids, number) {
                values.extend([held.saturation, held.mass, held.mass + self.mass_and_kinetic(number)[0]]);
            }
        }
        self.hands.measure(|| self.hands(), values);
        for (_, probe) in &self.probes {
            probes::measure(&self.wet.liquid, &|name, place| self.displacement(name, place), probe, values);
        }
    }
}

impl Unified {
    /// The incompressible liquid.
    fn step_dfsph(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let gravity = self.wet.gravity;
        let Gauss { liquid, walls, .. } = &mut self.wet;
        report.stage("sort particles", || liquid.sort(time, dt)); // 1
        report.stage("find neighbours", || liquid.find_neighbours()); // 2
        report.stage("touch walls", || liquid.touch_placed_walls(walls)); // 3
        report.stage("find pores", || liquid.find_pores(dt));
        report.stage("sum density", || liquid.sum_density_and_gradients())?; // 4  [SZW eq. 5]
        let divergence = report.stage("remove divergence", || liquid.remove_divergence(dt))?; // 5
        self.before.clone_from(&self.solids.state().force);
        self.move_solids(time, dt, report)?;
        let Self { wet, solids, before, .. } = self;
        let liquid = &mut wet.liquid;
        report.stage("sum forces", || liquid.sum_forces(gravity, dt))?; // 6  [SZW eq. 7]
        report.stage("pull surfaces", || liquid.pull_surfaces())?; // [SZW eqs 8–12]
        if liquid.setup().params.viscosity == ViscositySolver::Implicit {
            report.stage("solve viscosity", || liquid.solve_viscosity(dt))?;
        }
        let drag = report.stage("seep", || liquid.seep(solids, gravity, dt)); // [BJWB25]
        report.stage("expect solids", || liquid.expect_solids(before, solids, gravity, dt));
        let density = report.stage("find pressure", || liquid.find_pressure(gravity, dt))?; // 8  [SZW eq. 6]
        report.stage("drag solids", || liquid.drag_solids());
        report.stage("advance", || liquid.advance(time, dt))?; // 9
        report.stage("give to solids", || liquid.give_to_solids(solids, dt));
        report.count("drag iterations", drag.iterations.into());
        report.count("divergence iterations", divergence.iterations.into());
        report.count("density iterations", density.iterations.into());
        report.count("density error", density.error);
        report.count(SHIFT_WORK, liquid.shift_work());
        Ok(())
    }

    /// The liquid of the paper.
    fn step_state_equation(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let gravity = self.wet.gravity;
        let Self { wet, solids, .. } = self;
        let Gauss { liquid, walls, .. } = wet;
        report.stage("sort particles", || liquid.sort(time, dt)); // 1
        report.stage("find neighbours", || liquid.find_neighbours()); // 2
        report.stage("touch walls", || liquid.touch_placed_walls(walls)); // 3
        report.stage("sum density", || liquid.sum_density())?; // 4  [SZW eq. 5]
        report.stage("find pressure", || liquid.apply_state_equation()); // 8
        report.stage("sum forces", || liquid.sum_all_forces(gravity))?; // 6  [SZW eqs 6, 7]
        report.stage("pull surfaces", || liquid.pull_surfaces())?; // [SZW eqs 8–12]
        report.stage("give to solids", || liquid.push_solids(solids, gravity));
        report.stage("advance", || liquid.advance(time, dt))?; // 9
        self.move_solids(time, dt, report)?;
        self.wet.liquid.show_solids(&self.solids);
        Ok(())
    }

    /// The solids as hands find them; what is led cannot be pulled.
    fn matter(&self) -> Matter<'_> {
        let state = self.solids.state();
        let mut mass = vec![0.0; state.position.len()];
        for body in self.solids.bodies() {
            mass[body.particles.clone()].fill(body.elastic.mass());
            body.led.iter().for_each(|led| mass[body.particles.start + led.particle as usize] = f64::INFINITY);
        }
        Matter {
            bodies: self.solids.bodies().iter().map(|body| (body.name.as_str(), body.particles.clone())).collect(),
            position: &state.position,
            velocity: &state.velocity,
            mass: mass.into(),
            spacing: self.wet.liquid.setup().params.spacing,
        }
    }

    /// Lets hands pull in the step to come.
    fn pull(&mut self, dt: f64) {
        if self.grips.is_empty() {
            self.solids.pulls_mut().clear();
            return;
        }
        let mut pulls = std::mem::take(self.solids.pulls_mut());
        pulls.clear();
        let mut grips = std::mem::take(&mut self.grips);
        grips.pull(&self.matter(), dt, |i, force| pulls.push((i as u32, force)));
        self.grips = grips;
        *self.solids.pulls_mut() = pulls;
    }

    /// Hands, rigid bodies and what holds solids lead them; then they move.
    fn move_solids(&mut self, time: f64, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let mut hands = std::mem::take(&mut self.hands);
        hands.pull(self, time, dt);
        self.hands = hands;
        self.pull(dt);
        let Self { wet, solids, kinds, at_end, .. } = self;
        at_end.place_at(time + dt);
        for (body, kind) in solids.bodies_mut().iter_mut().zip(kinds) {
            if !kind.holds.iter().any(|hold| hold.motion.moves()) {
                continue;
            }
            for (led, &by) in body.led.iter_mut().zip(&kind.held_by) {
                let pose = kind.holds[usize::from(by)].motion.pose(time + dt);
                led.end = pose.apply(body.rest[led.particle as usize]);
            }
        }
        let (rigids, liquid) = (&mut wet.solids.rigids, &wet.liquid);
        rigids.lead(&wet.walls, [time, dt]);
        // Expected of them: what the liquid did in the last step, or in this one if it is known.
        rigids.take_forces(|body| liquid.last_body_forces(body));
        let reach = wet.liquid.setup().params.spacing;
        let mut obstacles = Obstacles { walls: at_end, bodies: rigids.movers([dt, reach], wet.gravity) };
        report.stage("move solids", || solids.advance(dt, wet.gravity, &mut obstacles))?;
        rigids.world.clear_forces();
        let on_rigids = &solids.reactions()[at_end.sides().len()..];
        rigids.give(&on_rigids.iter().map(|impulse| *impulse / dt).collect::<Vec<Wrench>>());
        Ok(())
    }

    /// The step of the rigid bodies, with what liquid and solids did to them.
    fn move_rigids(&mut self, dt: f64, report: &mut StepReport) -> Result<(), StepError> {
        let Self { wet, solids, .. } = self;
        let (bodies, liquid) = (&mut wet.solids, &mut wet.liquid);
        if !bodies.rigids.is_empty() {
            if !wet.dry {
                bodies.take_forces(liquid);
            }
            report.stage("rigid bodies", || bodies.rigids.step(dt, wet.gravity))?;
            report.count("rigid contacts", bodies.rigids.world.contacts() as f64);
        }
        // Animated walls count as bodies.
        if !wet.dry && liquid.has_bodies() {
            report.stage("keep before bodies", || bodies.keep_liquid_out(liquid, dt)); // 11
            // Solids are stopped by themselves.
            liquid.show_solids(solids);
        }
        Ok(())
    }

    fn center(&self, number: usize) -> DVec3 {
        let places = &self.solids.state().position[self.solids.bodies()[number].particles.clone()];
        places.iter().sum::<DVec3>() / places.len() as f64
    }

    fn momentum(&self, number: usize) -> DVec3 {
        let body = &self.solids.bodies()[number];
        let state = self.solids.state();
        let moving = state.velocity[body.particles.clone()].iter().sum::<DVec3>() * body.elastic.mass();
        moving + state.owed[body.particles.clone()].iter().sum::<DVec3>()
    }

    fn mass_and_kinetic(&self, number: usize) -> [f64; 2] {
        let body = &self.solids.bodies()[number];
        let mass = body.elastic.mass();
        let squares = self.solids.state().velocity[body.particles.clone()].iter().map(|v| v.length_squared());
        [mass * body.rest.len() as f64, 0.5 * mass * squares.sum::<f64>()]
    }

    /// Displacement of a point of a rigid body, or of the particle that was nearest to a place at rest \[m\].
    fn displacement(&self, name: &str, place: DVec3) -> DVec3 {
        if let Some(moved) = self.wet.solids.rigids.displacement(name, place) {
            return moved;
        }
        let Some(body) = self.solids.bodies().iter().find(|body| body.name == name) else { return DVec3::NAN };
        let now = &self.solids.state().position[body.particles.clone()];
        let distance = |(rest, _): &(&DVec3, &DVec3)| rest.distance_squared(place);
        let nearest = body.rest.iter().zip(now).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(DVec3::NAN, |(rest, now)| *now - *rest)
    }

    /// Adds what the solids do to each wall to values of force and torque, six for each wall.
    fn add_wall_forces(&self, values: &mut [f64]) {
        let dt = self.wet.liquid.state().last_step[1];
        for (side, impulse) in self.at_end.sides().iter().zip(self.solids.reactions()) {
            let own = &mut values[6 * side.wall..6 * side.wall + 6];
            own.iter_mut().zip((*impulse / dt).to_array()).for_each(|(value, more)| *value += more);
        }
    }
}
