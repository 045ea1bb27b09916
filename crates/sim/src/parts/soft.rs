//! Deformable solids in a world: their bodies and pieces, how they are led, what they touch.

use super::skin::{TornSkin, add_triangles};
use crate::hands::{Spring, Tied};
use crate::part::{Part, Totals, fits, take};
use glam::DVec3;
use meniscus_boundary::{Boundaries, Motion};
use meniscus_core::{Digest, Frame, StepError, StepReport, Surface, Tets, Wrench};
use meniscus_coupling::Wetted;
use meniscus_coupling::fem_rigid::RigidSide;
use meniscus_coupling::liquid_fem::{Lent, Soft, Whole};
use meniscus_fem::contact::{Contact, Obstacle};
use meniscus_fem::{Body, Fracture, Material, Picked, State};
use meniscus_geometry::{Region, TriangleMesh};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Pick, Probe, Ray};
use serde::{Deserialize, Serialize};

/// Edges of the surface that a node may cross in a step, dimensionless: contact sees what comes, but turns are linear.
const EDGES_PER_STEP: f64 = 1.0;

/// All deformable solids of a world.
pub(crate) struct SoftPart {
    pub(crate) kinds: Vec<SoftKind>,
    /// Bodies: at first one per solid, then one per piece.
    pub(crate) bodies: Vec<Body>,
    /// The solid that a body belongs to.
    pub(crate) kind_of: Vec<u16>,
    pub(crate) contact: Contact,
    /// For each wall, the sides that solids meet.
    pub(crate) sides: Vec<usize>,
    /// What they lend the liquid.
    pub(crate) lent: Lent,
    /// Whether the bodies have begun the step under way.
    pub(crate) begun: bool,
}

/// What the scene says about a solid, and what follows from it.
pub(crate) struct SoftKind {
    pub(crate) name: String,
    /// Index into the bodies of a frame.
    pub(crate) shown_as: u16,
    pub(crate) holds: Vec<Held>,
    /// A surface that is shown instead of the tetrahedra.
    pub(crate) skin: Option<TornSkin>,
    /// Mean edge of the surface \[m\].
    pub(crate) edge: f64,
    /// While it is whole.
    pub(crate) whole: Whole,
}

/// Nodes that are held or led.
pub(crate) struct Held {
    pub(crate) region: Region,
    pub(crate) motion: Motion,
}

impl Held {
    /// Whether a position at rest belongs to it; what lies on the border does.
    pub(crate) fn holds(&self, position: DVec3) -> bool {
        self.region.is_nearer(position, 1e-9 * self.region.bounds().size().max_element())
    }
}

/// A body in a checkpoint.
#[derive(Serialize, Deserialize)]
struct SavedBody {
    kind: u16,
    name: String,
    state: State,
}

/// All solids in a checkpoint.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedSoft(Vec<SavedBody>);

impl SoftPart {
    /// The bodies as a liquid meets them.
    pub(crate) fn wetted(&mut self) -> impl Wetted {
        let Self { kinds, bodies, kind_of, lent, .. } = self;
        Soft { bodies, whole: |body| kinds[usize::from(kind_of[body])].whole, lent }
    }

    /// The step of all solids under gravity \[m/s²\], with walls and rigid bodies, which feel what the last return value says.
    pub(crate) fn step(
        &mut self,
        walls: &Boundaries,
        rigid: &[RigidSide<'_>],
        gravity: DVec3,
        report: &mut StepReport,
    ) -> Result<(), StepError> {
        let [_, dt] = walls.step();
        self.begun = true;
        let sides: Vec<_> = (0..walls.sides().len()).map(|side| walls.side(side)).collect();
        let of_walls = sides.iter().map(|side| side as &dyn Obstacle);
        let obstacles: Vec<&dyn Obstacle> = of_walls.chain(rigid.iter().map(|side| side as &dyn Obstacle)).collect();
        self.contact.step(&mut self.bodies, &obstacles, dt, gravity, report)
    }

    /// What rigid bodies felt in the last step.
    pub(crate) fn on_rigid(&self) -> &[Wrench] {
        &self.contact.obstacle_forces()[self.sides.len()..]
    }

    /// How far the distance of what is met in a step must be exact \[m\]; others move at this speed at most \[m/s\].
    pub(crate) fn reach(&self, dt: f64, speed: f64) -> f64 {
        let edge = self.kinds.iter().map(|kind| kind.edge).fold(0.0, f64::max);
        2.0 * (edge + dt * (self.bodies.iter().map(fastest).fold(0.0, f64::max) + speed))
    }

    /// Tells held nodes where they are at a time \[s\].
    pub(crate) fn prescribe(&mut self, time: f64) {
        for (body, &kind) in self.bodies.iter_mut().zip(&self.kind_of) {
            let holds = &self.kinds[usize::from(kind)].holds;
            if !holds.iter().any(|hold| hold.motion.moves()) {
                continue;
            }
            let poses: Vec<_> = holds.iter().map(|hold| hold.motion.pose(time)).collect();
            body.prescribe(|_, rest| {
                let prescribed = holds.iter().zip(&poses).rfind(|(hold, _)| hold.holds(rest));
                prescribed.map_or(rest, |(_, pose)| pose.apply(rest))
            });
        }
    }

    /// Makes bodies of what has come apart in the step.
    pub(crate) fn split_broken(&mut self, report: &mut StepReport) {
        if report.counter("cracks").is_some_and(|cracks| cracks > 0.0) {
            report.stage("split pieces", || self.split());
        }
        if !self.bodies.is_empty() {
            report.count("pieces", self.bodies.len() as f64);
        }
    }

    /// New pieces come last, so that the others keep their numbers.
    fn split(&mut self) {
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
    fn set_material(&mut self, number: usize, change: impl Fn(&mut Material)) {
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
            self.kinds[number].whole.frequency *= softened.sqrt();
        }
    }

    /// Undoes a step that failed in the solids; nothing if it failed before them.
    pub(crate) fn roll_back(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.bodies.iter_mut().for_each(Body::roll_back);
        }
    }

    /// Largest step that follows their motion \[s\].
    pub(crate) fn stable_step(&self) -> f64 {
        let steps = self.bodies.iter().zip(&self.kind_of).map(|(body, &kind)| {
            let speed = fastest(body);
            EDGES_PER_STEP * self.kinds[usize::from(kind)].edge / speed.max(1e-12)
        });
        steps.fold(f64::INFINITY, f64::min)
    }

    /// All bodies as they are.
    pub(crate) fn saved(&self) -> SavedSoft {
        let pairs = self.bodies.iter().zip(&self.kind_of);
        let saved = |(b, &kind): (&Body, &u16)| SavedBody { kind, name: b.name().to_owned(), state: b.state().clone() };
        SavedSoft(pairs.map(saved).collect())
    }

    /// Takes over saved bodies; whether they belong to these solids.
    pub(crate) fn restore(&mut self, SavedSoft(saved): SavedSoft) -> bool {
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
        if (0..self.kinds.len() as u16).any(|kind| !kinds.clone().any(|of| of == kind)) || !self.skins_fit(&saved) {
            return false;
        }
        self.kind_of = kinds.collect();
        self.bodies = bodies;
        self.begun = false;
        true
    }

    /// Whether the surfaces that are shown hang in the saved tetrahedra.
    fn skins_fit(&self, saved: &[SavedBody]) -> bool {
        self.kinds.iter().zip(0..).all(|(kind, number)| {
            let pieces = saved.iter().filter(|body| body.kind == number).map(|body| &body.state);
            kind.skin.as_ref().is_none_or(|skin| skin.fits(pieces))
        })
    }

    /// The bodies of a solid.
    fn pieces(&self, number: usize) -> impl Iterator<Item = &Body> + Clone {
        self.bodies.iter().zip(&self.kind_of).filter(move |(_, kind)| usize::from(**kind) == number).map(|(b, _)| b)
    }

    /// The nearest body of this name, or any, that a pick finds, and its point.
    fn find(&self, name: Option<&str>, at: &Pick) -> Option<(usize, Picked)> {
        let wanted = |of: &str| name.is_none_or(|name| name == of);
        let found = self.bodies.iter().enumerate().filter_map(|(number, body)| {
            let kind = &self.kinds[usize::from(self.kind_of[number])];
            wanted(&kind.name).then(|| picked(body, at)).flatten().map(|picked| (number, picked))
        });
        found.min_by(|a, b| a.1.distance.total_cmp(&b.1.distance))
    }
}

fn picked(body: &Body, at: &Pick) -> Option<Picked> {
    match at {
        Pick::Point(point) => body.nearest_point(DVec3::from_array(*point)),
        Pick::Ray(Ray { origin, direction }) => {
            body.first_hit(DVec3::from_array(*origin), DVec3::from_array(*direction))
        }
    }
}

impl Part for SoftPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(&self.saved(), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let saved = take(bytes)?;
        fits(self.restore(saved))
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        for (body, &kind) in self.bodies.iter().zip(&self.kind_of) {
            digest = digest.u64(u64::from(kind)).u64(body.tets() as u64);
            for vector in body.positions().iter().chain(body.velocities()) {
                digest = digest.f64(vector.x).f64(vector.y).f64(vector.z);
            }
            for strain in body.state().motion.plastic_strain.as_flattened() {
                digest = digest.f64(*strain);
            }
        }
        digest
    }

    /// One surface for each solid: of its pieces together, or the one that they carry along.
    fn show(&self, frame: &mut Frame) {
        for (number, kind) in self.kinds.iter().enumerate() {
            let mut surface = Surface { body: kind.shown_as, ..Surface::default() };
            let pieces: Vec<&Body> = self.pieces(number).collect();
            match &kind.skin {
                Some(skin) => skin.show(&pieces, &mut surface),
                None => pieces.iter().for_each(|body| {
                    add_triangles(body, body.surface().triangles().iter().copied(), &mut surface);
                }),
            }
            frame.surfaces.push(surface);
        }
    }

    fn wet_surfaces(&self) -> Vec<(&str, Option<TriangleMesh>)> {
        let surface = |body: &Body| TriangleMesh::new(body.positions().to_vec(), body.surface().triangles().to_vec());
        let named = self.bodies.iter().zip(&self.kind_of);
        named.map(|(body, &kind)| (self.kinds[usize::from(kind)].name.as_str(), surface(body).ok())).collect()
    }

    fn moved_in(&self) -> &'static str {
        "solve"
    }

    fn add_totals(&self, gravity: DVec3, totals: &mut Totals) {
        totals.elastic_energy += self.contact.stored_energy();
        for body in &self.bodies {
            totals.tets += body.tets() as u64;
            totals.kinetic_energy += body.kinetic_energy();
            totals.potential_energy += body.gravitational_energy(gravity);
            totals.elastic_energy += body.elastic_energy();
            totals.spring_energy += body.spring_energy();
            totals.momentum += body.momentum();
            totals.mass += body.mass();
            totals.max_speed = totals.max_speed.max(fastest(body));
        }
    }

    fn columns(&self) -> Vec<String> {
        let quantities = ["x [m]", "y [m]", "z [m]", "kinetic energy [J]", "elastic energy [J]", "pieces"];
        self.kinds.iter().flat_map(|kind| quantities.map(|q| format!("{}.{q}", kind.name))).collect()
    }

    /// Centre of mass, energies, number of pieces.
    fn measure(&self, values: &mut Vec<f64>) {
        for number in 0..self.kinds.len() {
            let bodies = || self.pieces(number);
            let mass: f64 = bodies().map(Body::mass).sum();
            let center = bodies().map(|body| body.center() * body.mass()).sum::<DVec3>() / mass;
            values.extend(center.to_array());
            values.push(bodies().map(Body::kinetic_energy).sum());
            values.push(bodies().map(Body::elastic_energy).sum());
            values.push(bodies().count() as f64);
        }
    }

    /// Displacement of the node of a solid that was nearest to a position at rest \[m\].
    fn read(&self, probe: &Probe, _: DVec3, values: &mut Vec<f64>) -> bool {
        let Probe::Solid(at) = probe else { return false };
        let position = DVec3::from_array(at.point);
        let Some(number) = self.kinds.iter().position(|kind| kind.name == at.name) else { return false };
        let nodes = self.pieces(number).flat_map(|body| body.rest_positions().iter().zip(body.positions()));
        let distance = |(rest, _): &(&DVec3, &DVec3)| rest.distance_squared(position);
        let nearest = nodes.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        values.extend(nearest.map_or(DVec3::NAN, |(rest, now)| *now - *rest).to_array());
        true
    }

    fn add_wall_forces(&self, walls: &mut [Wrench]) {
        self.sides.iter().zip(self.contact.obstacle_forces()).for_each(|(&wall, felt)| walls[wall] += *felt);
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        let &[value] = value else { return };
        match *key {
            LiveKey::SolidDensity(number) => self.set_material(number, |m| m.density = value),
            LiveKey::Young(number) => self.set_material(number, |m| m.young = value),
            LiveKey::StiffnessDamping(number) => self.set_material(number, |m| m.stiffness_damping = value),
            LiveKey::Strength(number) => self.set_material(number, |m| {
                m.fracture = m.fracture.map(|fracture| Fracture { strength: value, ..fracture });
            }),
            _ => {}
        }
    }

    fn pick(&self, name: Option<&str>, at: &Pick) -> Option<f64> {
        self.find(name, at).map(|(_, picked)| picked.distance)
    }

    fn tie(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let (number, picked) = self.find(name, at)?;
        let body = &mut self.bodies[number];
        let (stiffness, damping) = spring.numbers(body.mass());
        body.attach(id, picked.point, picked.position, stiffness, damping).ok()?;
        Some(picked.position)
    }

    fn drag(&mut self, id: u64, target: DVec3) -> bool {
        // The other bodies have no such spring.
        self.bodies.iter_mut().any(|body| body.pull(id, target).is_ok())
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) -> bool {
        self.bodies.iter_mut().any(|body| {
            let (stiffness, damping) = spring.numbers(body.mass());
            body.stiffen(id, stiffness, damping).is_ok()
        })
    }

    fn let_go(&mut self, id: u64) {
        let _had_one = self.bodies.iter_mut().any(|body| body.detach(id).is_ok());
    }

    fn tied(&self) -> Vec<Tied<'_>> {
        let springs = self.bodies.iter().zip(&self.kind_of).flat_map(|(body, &kind)| {
            let name = self.kinds[usize::from(kind)].name.as_str();
            body.springs().map(move |pull| (pull.id, name, [pull.point, pull.anchor, pull.force]))
        });
        springs.collect()
    }

    fn tets(&self) -> Vec<Tets> {
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
}

fn fastest(body: &Body) -> f64 {
    let velocity = body.velocities();
    meniscus_core::par::max(velocity.len(), 0.0, |i| velocity[i].length_squared()).sqrt()
}
