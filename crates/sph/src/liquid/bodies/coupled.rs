//! The liquid and the bodies that answer it \[MSTHG04 sec. 4\]: what its stages do about them.

use crate::liquid::bodies::{IntegrationScheme, PointHold, TractionKernel};
use crate::liquid::{Liquid, State};
use crate::params::{BodyWall, Coupling, Integral, KernelFamily};
use crate::simd::{CubicSpline, Packed, Papers, QuarticSpline};
use crate::traction::{LAYER, Traction};
use crate::wall_contacts::Contact;
use glam::{DVec3, Vec3};

impl Liquid {
    /// The paper's wall, made for the head that the scene can have where nothing else is said.
    #[must_use]
    pub fn traction(&self) -> Traction {
        let (spacing, coupling) = (self.setup.params.spacing, &self.setup.coupling);
        let resting = Traction::resting_at(0.5 * spacing, self.h, 1.0, coupling.adhesion);
        let traction = Traction { zero: coupling.rest_distance.map_or(resting.zero, |zero| zero * self.h), ..resting };
        let head = 0.5 * self.heaviest() * self.setup.speed * self.setup.speed;
        match coupling.stiffness {
            Some(stiffness) => Traction { stiffness, ..traction },
            None => traction.holding(head, spacing * spacing),
        }
    }

    /// What the points of the paper's wall hold liquid with: μ \[Pa·s\], zero for nothing.
    pub(crate) fn point_viscosity(&self) -> f64 {
        let Coupling { wall, point_viscosity, .. } = self.setup.coupling;
        if wall == BodyWall::Traction { point_viscosity.unwrap_or(0.0) } else { 0.0 }
    }

    /// What the surfaces of bodies push particles with by the paper's traction, and these them; accelerations must have been
    /// summed.
    pub(crate) fn add_tractions(&mut self) {
        if self.bodies.is_empty() || self.setup.coupling.wall == BodyWall::Pressure {
            return;
        }
        let volume = self.rest_volume();
        for link in self.work.tractions.iter().flatten() {
            let i = link.particle as usize;
            let rest_density = f64::from(self.work.rest_density[usize::from(self.state.particles.liquid[i])]);
            self.work.acceleration[i] += link.weight / (rest_density * volume) as f32;
            self.bodies.force[link.node as usize] -= link.weight.as_dvec3();
        }
    }

    /// Integrals over the bodies where they are now. What particles that were stopped at them owe them counts as a force
    /// of this step.
    pub(crate) fn place_bodies(&mut self, dt: f64) {
        if self.bodies.is_empty() {
            return;
        }
        self.bodies.number();
        let level = self.level;
        let sorted = (&self.work.grid, &self.work.columns, &self.work.position[..]);
        let Coupling { wall, integral, longest_edge, distribution, .. } = self.setup.coupling;
        let (viscosity, volume, h) = (self.point_viscosity(), self.rest_volume(), self.h);
        let factor = viscosity * volume * LAYER * h * 45.0 / (std::f64::consts::PI * h * h * h * h * h);
        let hold = PointHold { factor: factor as f32, velocity: &self.state.particles.velocity };
        let scheme = IntegrationScheme {
            kernel: self.walls.sample_kernel(),
            longest: longest_edge as f32,
            friction_reach: self.walls.any_body_has_friction().then_some(self.h),
            by_edges: wall == BodyWall::Pressure && integral == Integral::Edges,
            traction: (wall == BodyWall::Traction).then(|| TractionKernel::new(&self.traction(), distribution)),
            hold: (viscosity > 0.0).then_some(hold),
        };
        match self.setup.params.kernel {
            KernelFamily::Papers => self.bodies.integrate::<Papers>(level, scheme, sorted),
            KernelFamily::CubicSpline => self.bodies.integrate::<CubicSpline>(level, scheme, sorted),
            KernelFamily::QuarticSpline => self.bodies.integrate::<QuarticSpline>(level, scheme, sorted),
        }
        let State { body_forces, body_impulses, .. } = &mut self.state;
        let parted = body_forces.len() != self.bodies.bodies.len();
        body_forces.resize_with(self.bodies.bodies.len(), Vec::new);
        body_impulses.resize_with(self.bodies.bodies.len(), Vec::new);
        self.bodies.renumbered.clear();
        for (body, (forces, impulses)) in body_forces.iter_mut().zip(body_impulses).enumerate() {
            let nodes = self.bodies.nodes_of(body);
            // A body that broke has other nodes; if it came apart, others have other numbers too.
            let renumbered = parted || forces.len() != nodes.len() || impulses.len() != nodes.len();
            self.bodies.renumbered.push(renumbered);
            if renumbered {
                for of_nodes in [&mut *forces, &mut *impulses] {
                    of_nodes.clear();
                    of_nodes.resize(nodes.len(), DVec3::ZERO);
                }
            }
            for (force, impulse) in self.bodies.force[nodes].iter_mut().zip(impulses) {
                *force += std::mem::take(impulse) / dt;
            }
        }
    }

    /// Nodes feel the friction of particles the other way round; `force` is that on a particle before a body \[N\]. Notes how fast friction
    /// may change the velocity of a node at most.
    pub(crate) fn add_friction_to_bodies(&mut self, force: impl Fn(&Self, &Contact) -> DVec3) {
        let bodies = self.walls.len() as u16;
        let mut on_nodes = std::mem::take(&mut self.bodies.force);
        let mut rates = std::mem::take(&mut self.work.partial);
        rates.clear();
        rates.resize(on_nodes.len(), 0.0);
        for (contacts, friction_contacts) in self.work.contacts.iter().zip(&self.work.friction_contacts) {
            let mut contacts = contacts.iter().filter(|contact| contact.wall >= bodies);
            for friction in friction_contacts {
                let Some(contact) = contacts.find(|contact| contact.particle == friction.particle) else { break };
                let force = force(self, contact);
                let viscosity = self.wall_viscosity(contact.wall, contact.particle as usize).unwrap_or(0.0);
                let drag = f64::from(viscosity * contact.drag) * self.rest_volume();
                for (node, share) in friction.nodes.into_iter().zip(friction.lambda.to_array()) {
                    on_nodes[node as usize] -= force * f64::from(share);
                    rates[node as usize] += drag * f64::from(share) * self.bodies.node_compliance(node);
                }
            }
        }
        self.state.body_rate = rates.iter().copied().fold(0.0, f64::max);
        (self.bodies.force, self.work.partial) = (on_nodes, rates);
    }

    /// Puts particles that the step has taken through the surface of a body back before it; `ends` appends where the nodes
    /// of a body that answers are now \[m\], new ones last. Must come after the bodies' own step. Embedded solids meet bodies by themselves.
    pub fn keep_before_bodies(&mut self, ends: impl Fn(usize, &mut Vec<DVec3>), dt: f64) {
        if self.bodies.is_empty() {
            return;
        }
        let (volume, shifted) = (self.rest_volume(), self.corrects_gradients());
        let Self { state, bodies, setup, work, walls, phases, .. } = self;
        let State { particles, body_impulses, .. } = state;
        let (position, velocity) = (&mut particles.position, &mut particles.velocity);
        let way = |i: usize| {
            let x = position[i];
            // Where velocities are not those of positions, the way is not theirs either.
            let way = if shifted {
                setup.periodic.shortest(x - Vec3::from_slice(&work.position[i])).as_dvec3()
            } else {
                velocity[i].as_dvec3() * dt
            };
            [x.as_dvec3() - way, x.as_dvec3()]
        };
        bodies.find_passed(way, ends, [walls.nearest(), dt]);
        let liquid = &particles.liquid;
        for passed in bodies.passed().filter(|passed| !phases.is_solid(liquid[passed.particle as usize])) {
            let i = passed.particle as usize;
            let v = velocity[i].as_dvec3();
            let change = passed.normal * -(v - passed.velocity).dot(passed.normal).min(0.0);
            position[i] = passed.position.as_vec3();
            velocity[i] = (v + change).as_vec3();
            let mass = setup.materials[usize::from(particles.liquid[i])].1.density * volume;
            for (k, &node) in passed.nodes.iter().enumerate() {
                let (body, own) = bodies.own_number(node);
                body_impulses[body][own] -= change * (mass * passed.lambda[k]);
            }
            work.kept_inside += 1;
        }
    }

    /// What the nodes of bodies feel when the density solve starts: the divergence solve's pressure, less what their
    /// velocities know already.
    pub(crate) fn start_bodies(&mut self) {
        if self.bodies.is_empty() {
            return;
        }
        let volume = self.rest_volume();
        self.force_renumbered(volume);
        let mut start = std::mem::take(&mut self.bodies.start);
        for (node, old) in start.iter_mut().zip(self.state.body_forces.iter().flatten()) {
            *node = -*old;
        }
        self.bodies.push_nodes(volume, |i| self.work.divergence_pressure[i], &mut start);
        self.bodies.start = start;
    }

    /// A body that broke has new nodes: what they felt in the last step is what its pressures do to them now.
    fn force_renumbered(&mut self, volume: f64) {
        if !self.bodies.renumbered.contains(&true) {
            return;
        }
        let mut response = std::mem::take(&mut self.bodies.response);
        response.fill(DVec3::ZERO);
        let multiplier = &self.state.particles.multiplier;
        self.bodies.push_nodes(volume, |i| multiplier[i], &mut response);
        for (body, forces) in self.state.body_forces.iter_mut().enumerate() {
            if self.bodies.renumbered[body] {
                forces.copy_from_slice(&response[self.bodies.nodes_of(body)]);
            }
        }
        self.bodies.response = response;
    }

    /// Puts down what the liquid does to the nodes of bodies: `of` gives the pressure of a particle \[Pa\], the one that
    /// goes into [`Liquid::mirror_pressure`], and its volume over that at rest.
    pub(crate) fn push_bodies(&mut self, gravity: Vec3, of: impl Fn(&Self, usize) -> [f32; 3] + Sync) {
        if self.bodies.is_empty() {
            return;
        }
        let volume = self.rest_volume();
        let mut force = std::mem::take(&mut self.bodies.force);
        let mut pressure_force = std::mem::take(&mut self.bodies.response);
        pressure_force.fill(DVec3::ZERO);
        let pressure = |i: usize| {
            let [pressure, _, swelling] = of(self, i);
            pressure * swelling
        };
        self.bodies.push_nodes(volume, pressure, &mut pressure_force);
        for (force, by_pressure) in force.iter_mut().zip(&pressure_force) {
            *force += *by_pressure;
        }
        let old = self.state.body_forces.iter_mut().flatten();
        old.zip(&pressure_force).for_each(|(old, new)| *old = *new);
        // The part of the walls' pressure that does not depend on the liquid's.
        let body_wall = self.walls.len() as u16;
        for (contacts, links) in self.work.contacts.iter().zip(&self.work.links) {
            let mut links = links.iter().peekable();
            for contact in contacts.iter().filter(|contact| contact.wall >= body_wall) {
                let i = contact.particle as usize;
                let [_, own, swelling] = of(self, i);
                let mirror = f64::from(self.mirror_pressure(contact, gravity, own) * swelling) * volume;
                if mirror == 0.0 {
                    continue;
                }
                while links.next_if(|link| link.particle < contact.particle).is_some() {}
                while let Some(link) = links.next_if(|link| link.particle == contact.particle) {
                    if self.feels_head(link.node) {
                        force[link.node as usize] -= link.weight.as_dvec3() * mirror;
                    }
                }
            }
        }
        (self.bodies.force, self.bodies.response) = (force, pressure_force);
    }

    /// How bodies give way to multipliers on top of the start of the solve: accelerations of wet nodes into `bodies.response`.
    pub(crate) fn yield_bodies(&mut self, q: &[f32]) {
        if self.bodies.is_empty() || self.work.corrected.leaves_bodies() {
            return;
        }
        self.bodies.start_response(true);
        let mut response = std::mem::take(&mut self.bodies.response);
        self.bodies.push_nodes(self.rest_volume(), |i| q[i], &mut response);
        self.bodies.response = response;
        self.bodies.give_way();
        self.bodies.add_predicted();
    }

    /// How particles and the nodes of bodies answer to the multipliers that are the companions of the positions, on top of the start of
    /// the solve or of nothing: accelerations into `push` and `bodies.response`.
    pub(crate) fn response(&mut self, push: &mut Vec<Packed>, from_start: bool) {
        self.press();
        if self.bodies.is_empty() || self.work.corrected.leaves_bodies() {
            return self.accelerate(push);
        }
        let mut bodies = std::mem::take(&mut self.bodies);
        let (position, volume) = (&self.work.position, self.rest_volume());
        let yield_bodies = || {
            bodies.start_response(from_start);
            let mut response = std::mem::take(&mut bodies.response);
            bodies.push_nodes(volume, |i| position[i][3], &mut response);
            bodies.response = response;
            bodies.give_way();
            if from_start {
                bodies.add_predicted();
            }
        };
        rayon::join(|| self.accelerate(push), yield_bodies);
        self.bodies = bodies;
    }
}
