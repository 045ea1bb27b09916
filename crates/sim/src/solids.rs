//! Deformable solids in a world: their bodies and pieces, how they are led, what they touch.

use crate::cover::{Cover, add_triangles};
use crate::hands::{self, Grip, Hands};
use crate::rigid::Rigids;
use glam::DVec3;
use meniscus_boundary::{Boundaries, Motion};
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface, Tets, Wrench};
use meniscus_fem::contact::{Contact, Obstacle};
use meniscus_fem::{Body, Material, State, StepCompliance};
use meniscus_geometry::Region;
use meniscus_sph::Liquid;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// Edges of the surface that a node may cross in a step, dimensionless: contact sees what comes, but turns are linear.
const EDGES_PER_STEP: f64 = 1.0;

/// All solids of a world.
pub(crate) struct Solids {
    pub(crate) kinds: Vec<Kind>,
    /// Bodies: at first one per solid, then one per piece.
    pub(crate) bodies: Vec<Body>,
    /// The solid that a body belongs to.
    pub(crate) kind_of: Vec<u16>,
    pub(crate) rigids: Rigids,
    pub(crate) contact: Contact,
    /// How each body answers to the liquid, while it has lent that.
    pub(crate) lent: Vec<Arc<Mutex<Option<StepCompliance>>>>,
    pub(crate) hands: Hands,
    /// Whether the bodies have begun the step under way.
    pub(crate) begun: bool,
}

/// What the scene says about a solid, and what follows from it.
pub(crate) struct Kind {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) holds: Vec<Held>,
    /// A surface that is shown instead of the tetrahedra.
    pub(crate) cover: Option<Cover>,
    /// Mean edge of the surface \[m\].
    pub(crate) edge: f64,
    /// Angular frequency of its slowest vibration \[rad/s\]; zero if nothing holds it.
    pub(crate) frequency: f64,
    /// Nodes while it is whole.
    pub(crate) nodes: usize,
}

/// Nodes that are held or led.
pub(crate) struct Held {
    pub(crate) region: Region,
    pub(crate) motion: Motion,
}

impl Held {
    /// Whether a place at rest belongs to it; what lies on the border does.
    pub(crate) fn holds(&self, place: DVec3) -> bool {
        self.region.is_nearer(place, 1e-9 * self.region.bounds().size().max_element())
    }
}

/// A body in a checkpoint.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedBody {
    kind: u16,
    name: String,
    state: State,
}

/// All solids in a checkpoint.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSolids {
    bodies: Vec<SavedBody>,
    rigid: Option<meniscus_rigid::State>,
    grips: Vec<Grip>,
}

impl Solids {
    /// The step of all solids: those that touch each other, themselves, walls or rigid bodies together; then that of the rigid
    /// bodies, which feel what the soft ones felt.
    pub(crate) fn step(
        &mut self,
        walls: &Boundaries,
        gravity: DVec3,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let [time, dt] = walls.step();
        if self.bodies.is_empty() && self.rigids.is_empty() {
            return Ok(());
        }
        report.stage("lead", || self.lead(walls, [time, dt]));
        if !self.bodies.is_empty() {
            self.step_soft(walls, gravity, report)?;
        }
        if !self.rigids.is_empty() {
            report.stage("rigid bodies", || self.rigids.step(dt, gravity))?;
            report.count("rigid contacts", self.rigids.world.contacts() as f64);
        }
        self.begun = false;
        self.rigids.end();
        Ok(())
    }

    /// The step of the soft bodies; rigid ones are told what they felt.
    fn step_soft(&mut self, walls: &Boundaries, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        let [_, dt] = walls.step();
        self.begun = true;
        let edge = self.kinds.iter().map(|kind| kind.edge).fold(0.0, f64::max);
        let reach = 2.0 * (edge + dt * (self.bodies.iter().map(fastest).fold(0.0, f64::max) + self.rigids.max_speed()));
        let rigid = match self.rigids.is_empty() {
            true => Vec::new(),
            false => report.stage("expect", || self.rigids.sides(dt, gravity, reach)),
        };
        let sides: Vec<_> = (0..walls.sides().len()).map(|side| walls.side(side)).collect();
        let of_walls = sides.iter().map(|side| side as &dyn Obstacle);
        let obstacles: Vec<&dyn Obstacle> = of_walls.chain(rigid.iter().map(|side| side as &dyn Obstacle)).collect();
        self.contact.step(&mut self.bodies, &obstacles, dt, gravity, report)?;
        self.rigids.give(&self.contact.obstacle_forces()[sides.len()..]);
        Ok(())
    }

    /// Shows the liquid where the surfaces of the solids are and how they yield in a step of `dt` \[s\]; until
    /// [`Solids::take_compliances`].
    pub(crate) fn place_in(&mut self, liquid: &mut Liquid, dt: f64) {
        let bodies = liquid.bodies_mut(self.bodies.len() + self.rigids.len());
        self.lent.resize_with(self.bodies.len(), Arc::default);
        let (soft, rigid) = bodies.split_at_mut(self.bodies.len());
        self.rigids.place_in(rigid);
        for (((from, &kind), to), lent) in self.bodies.iter_mut().zip(&self.kind_of).zip(soft).zip(&self.lent) {
            let kind = &self.kinds[usize::from(kind)];
            to.positions.clear();
            to.positions.extend_from_slice(from.positions());
            to.velocities.clear();
            to.velocities.extend_from_slice(from.velocities());
            if to.triangles != from.surface().triangles() {
                to.triangles.clear();
                to.triangles.extend_from_slice(from.surface().triangles());
            }
            // What is broken may be loose.
            let whole = from.positions().len() == kind.nodes;
            match whole.then(|| from.lend_compliance(dt)).flatten() {
                Some(compliance) => {
                    to.compliance.set_implicit(lent, (0..compliance.nodes()).map(|node| compliance.alone(node)));
                    *lent.lock().unwrap_or_else(PoisonError::into_inner) = Some(compliance);
                }
                None => {
                    let lighter = 1.0 / from.stiffening(if whole { kind.frequency } else { 0.0 }, dt);
                    let inverse_masses = (0..from.positions().len()).map(|node| lighter * from.inverse_mass(node));
                    to.compliance.set_lumped(inverse_masses);
                }
            }
        }
    }

    /// Takes back what was lent to the liquid.
    pub(crate) fn take_compliances(&mut self) {
        for (body, lent) in self.bodies.iter_mut().zip(&self.lent) {
            if let Some(compliance) = lent.lock().unwrap_or_else(PoisonError::into_inner).take() {
                body.take_compliance(compliance);
            }
        }
    }

    /// Hands the liquid's forces to the nodes.
    pub(crate) fn take_forces(&mut self, liquid: &Liquid) {
        for (number, body) in self.bodies.iter_mut().enumerate() {
            body.clear_forces();
            // A body that has broken in this step has new nodes at its end, which the liquid does not know yet.
            let forces = liquid.body_forces(number);
            body.external_force_mut().iter_mut().zip(forces).for_each(|(to, force)| *to = *force);
        }
        let soft = self.bodies.len();
        self.rigids.take_forces(|body| liquid.body_forces(soft + body));
    }

    /// Puts particles back that a surface has passed in the step. Bodies that have broken must not have parted yet.
    pub(crate) fn keep_liquid_out(&self, liquid: &mut Liquid, dt: f64) {
        let soft = self.bodies.len();
        let ends = |body: usize, ends: &mut Vec<DVec3>| match self.bodies.get(body) {
            Some(body) => ends.extend_from_slice(body.positions()),
            None => ends.extend(self.rigids.positions(body - soft)),
        };
        liquid.keep_before_bodies(ends, dt);
    }

    /// Tells held nodes, walls and hands where they are at the end of the step.
    fn lead(&mut self, walls: &Boundaries, [time, dt]: [f64; 2]) {
        self.pull(time, dt);
        self.rigids.lead(walls, [time, dt]);
        for (body, &kind) in self.bodies.iter_mut().zip(&self.kind_of) {
            let holds = &self.kinds[usize::from(kind)].holds;
            if !holds.iter().any(|hold| hold.motion.moves()) {
                continue;
            }
            let poses: Vec<_> = holds.iter().map(|hold| hold.motion.pose(time + dt)).collect();
            body.lead(|_, rest| {
                let led = holds.iter().zip(&poses).rfind(|(hold, _)| hold.holds(rest));
                led.map_or(rest, |(_, pose)| pose.apply(rest))
            });
        }
    }

    /// Makes bodies of what has come apart in the step.
    pub(crate) fn part_broken(&mut self, report: &mut StepReport) {
        if report.counter("cracks").is_some_and(|cracks| cracks > 0.0) {
            report.stage("part", || self.part());
        }
        if !(self.bodies.is_empty() && self.rigids.is_empty()) {
            report.count("pieces", self.bodies.len() as f64);
        }
    }

    /// New pieces come last, so that the others keep their numbers.
    fn part(&mut self) {
        let (mut first, mut new) = (Vec::new(), Vec::new());
        for (body, &kind) in std::mem::take(&mut self.bodies).into_iter().zip(&self.kind_of) {
            if body.pieces().count == 1 {
                first.push(body);
                continue;
            }
            // Pieces of a sound body are sound: none is lost.
            let mut pieces = body.into_pieces().unwrap_or_default().into_iter();
            first.extend(pieces.next());
            new.extend(pieces.map(|piece| (piece, kind)));
        }
        self.bodies = first;
        for (piece, kind) in new {
            self.bodies.push(piece);
            self.kind_of.push(kind);
        }
    }

    /// Changes what all pieces of a solid are made of.
    pub(crate) fn set_material(&mut self, number: usize, change: impl Fn(&mut Material)) {
        let mut softened = f64::INFINITY;
        for (body, _) in self.bodies.iter_mut().zip(&self.kind_of).filter(|(_, kind)| usize::from(**kind) == number) {
            let mut material = *body.material();
            change(&mut material);
            let old = body.material();
            softened = softened.min(material.young / old.young * old.density / material.density);
            // A value out of range was refused before it came here.
            let _ = body.set_material(material);
        }
        if softened.is_finite() && softened > 0.0 {
            self.kinds[number].frequency *= softened.sqrt();
        }
    }

    /// Undoes a step that failed in the solids; nothing if it failed before them.
    pub(crate) fn roll_back(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.bodies.iter_mut().for_each(Body::roll_back);
        }
        self.rigids.roll_back();
    }

    /// Largest step that follows their motion \[s\].
    pub(crate) fn stable_step(&self) -> f64 {
        let steps = self.bodies.iter().zip(&self.kind_of).map(|(body, &kind)| {
            let speed = fastest(body);
            EDGES_PER_STEP * self.kinds[usize::from(kind)].edge / speed.max(1e-12)
        });
        steps.fold(self.rigids.stable_step(), f64::min)
    }

    pub(crate) fn max_speed(&self) -> f64 {
        self.bodies.iter().map(fastest).fold(self.rigids.max_speed(), f64::max)
    }

    pub(crate) fn save(&self) -> SavedSolids {
        let pairs = self.bodies.iter().zip(&self.kind_of);
        let saved = |(b, &kind): (&Body, &u16)| SavedBody { kind, name: b.name().to_owned(), state: b.state().clone() };
        SavedSolids { bodies: pairs.map(saved).collect(), rigid: self.rigids.save(), grips: self.hands.grips.clone() }
    }

    /// Takes over saved bodies; whether they belong to these solids.
    pub(crate) fn load(&mut self, SavedSolids { bodies: saved, rigid, grips }: SavedSolids) -> bool {
        let mut bodies = Vec::new();
        for SavedBody { kind, name, state } in &saved {
            let Some(first) = self.kind_of.iter().position(|of| of == kind).map(|k| &self.bodies[k]) else {
                return false;
            };
            match Body::from_state(name, *first.params(), *first.material(), state.clone()) {
                Ok(body) => bodies.push(body),
                Err(_) => return false,
            }
        }
        let kinds = saved.iter().map(|body| body.kind);
        if (0..self.kinds.len() as u16).any(|kind| !kinds.clone().any(|of| of == kind)) || !self.covers_fit(&saved) {
            return false;
        }
        if !self.rigids.load(rigid) {
            return false;
        }
        self.kind_of = kinds.collect();
        self.bodies = bodies;
        self.hands.grips = grips;
        self.begun = false;
        true
    }

    /// Whether the surfaces that are shown hang in the saved tetrahedra.
    fn covers_fit(&self, saved: &[SavedBody]) -> bool {
        self.kinds.iter().zip(0..).all(|(kind, number)| {
            let pieces = saved.iter().filter(|body| body.kind == number).map(|body| &body.state);
            kind.cover.as_ref().is_none_or(|cover| cover.fits(pieces))
        })
    }

    pub(crate) fn digest(&self, mut digest: Digest) -> Digest {
        for (body, &kind) in self.bodies.iter().zip(&self.kind_of) {
            digest = digest.u64(u64::from(kind)).u64(body.tets() as u64);
            for vector in body.positions().iter().chain(body.velocities()) {
                digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
            }
            for strain in body.state().motion.plastic_strain.as_flattened() {
                digest = digest.f64(*strain);
            }
        }
        self.rigids.digest(digest)
    }

    /// One surface for each solid: of its pieces together, or the one that they carry along.
    pub(crate) fn show(&self, frame: &mut Frame) {
        for (number, kind) in self.kinds.iter().enumerate() {
            let mut surface = Surface { body: kind.shown_as, ..Surface::default() };
            let pieces = self.bodies.iter().zip(&self.kind_of).filter(|(_, of)| usize::from(**of) == number);
            let pieces: Vec<&Body> = pieces.map(|(body, _)| body).collect();
            match &kind.cover {
                Some(cover) => cover.show(&pieces, &mut surface),
                None => pieces.iter().for_each(|body| {
                    add_triangles(body, body.surface().triangles().iter().copied(), &mut surface);
                }),
            }
            frame.surfaces.push(surface);
        }
        self.rigids.show(frame);
        hands::show(&self.hands(), frame);
    }

    /// The tetrahedra of every body.
    pub(crate) fn tets(&self) -> Vec<Tets> {
        let of_body = |(body, &kind): (&Body, &u16)| {
            let mesh = &body.state().mesh;
            let corners = |number| std::array::from_fn(|k| mesh.element(number)[k]);
            Tets {
                body: self.kinds[usize::from(kind)].shown_as,
                positions: body.positions().iter().map(|p| p.as_vec3()).collect(),
                corners: (0..mesh.element_count()).map(corners).collect(),
            }
        };
        self.bodies.iter().zip(&self.kind_of).map(of_body).collect()
    }

    /// Displacement of a point of a rigid body, or of the node of a solid that was nearest to a place at rest \[m\].
    pub(crate) fn displacement(&self, name: &str, place: DVec3) -> DVec3 {
        if let Some(moved) = self.rigids.displacement(name, place) {
            return moved;
        }
        let bodies = self.bodies.iter().zip(&self.kind_of).filter(|(_, k)| self.kinds[usize::from(**k)].name == name);
        let nodes = bodies.flat_map(|(body, _)| body.rest_positions().iter().zip(body.positions()));
        let distance = |(rest, _): &(&DVec3, &DVec3)| rest.distance_squared(place);
        let nearest = nodes.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.map_or(DVec3::NAN, |(rest, now)| *now - *rest)
    }

    /// What a wall feels from the solids in the last step.
    pub(crate) fn wall_forces(&self, walls: &Boundaries) -> impl Fn(usize) -> Wrench {
        move |wall| {
            let felt = walls.sides().iter().zip(self.contact.obstacle_forces()).filter(|(side, _)| side.wall == wall);
            felt.fold(self.rigids.wall_force(wall), |sum, (_, felt)| sum + *felt)
        }
    }

    /// Columns of the probe file for every solid.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]", "pieces"];
        let of_solids = self.kinds.iter().flat_map(move |kind| quantities.map(|q| format!("{}.{q}", kind.name)));
        of_solids.chain(self.rigids.columns()).chain(self.hands.columns())
    }

    /// Their values: centre of mass, energies, number of pieces.
    pub(crate) fn measure(&self, values: &mut Vec<f64>) {
        for number in 0..self.kinds.len() {
            let bodies = || {
                self.bodies.iter().zip(&self.kind_of).filter(move |(_, k)| usize::from(**k) == number).map(|(b, _)| b)
            };
            let mass: f64 = bodies().map(Body::mass).sum();
            let center = bodies().map(|body| body.center() * body.mass()).sum::<DVec3>() / mass;
            values.extend(center.to_array());
            values.push(bodies().map(Body::kinetic_energy).sum());
            values.push(bodies().map(Body::elastic_energy).sum());
            values.push(bodies().count() as f64);
        }
        self.rigids.measure(values);
        self.hands.measure(|| self.hands(), values);
    }
}

fn fastest(body: &Body) -> f64 {
    let velocity = body.velocities();
    meniscus_core::par::max(velocity.len(), 0.0, |i| velocity[i].length_squared()).sqrt()
}
