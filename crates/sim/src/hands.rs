//! Hands that pull at solids with springs: those of the scene and those of people.

use crate::rigid::Rigids;
use crate::solids::Solids;
use glam::DVec3;
use meniscus_core::{BodyKind, Frame, Wire};
use meniscus_fem::{Body, Picked};
use meniscus_rigid::World;
use meniscus_scene::{Grab, Move, Pick, Pull, Ray, Release, Scene};
use serde::{Deserialize, Serialize};

/// Stiffness of a spring for every kilogram of what it pulls, where none is given \[N/m/kg\]: it follows twice a second.
const STIFFNESS_PER_MASS: f64 = 160.0;

/// Damping over what is critical, where none is given, dimensionless.
const DAMPING_RATIO: f64 = 0.5;

/// Numbers of springs: those of people as they are, those of the scene from here on.
const FIRST_OF_SCENE: u64 = 1 << 32;

/// A hand that holds a solid.
#[derive(Debug, Clone, PartialEq)]
pub struct Hand {
    /// Number of a person's hand; none for one of the scene.
    pub hand: Option<u32>,
    /// Name of a pull of the scene; empty for a person's.
    pub pull: String,
    /// Name of the solid or rigid body.
    pub body: String,
    /// The point that is held, where it is now \[m\].
    pub point: DVec3,
    /// Where it is pulled to \[m\].
    pub target: DVec3,
    /// Force on it \[N\].
    pub force: DVec3,
}

/// The pulls of a scene and what they hold.
#[derive(Default)]
pub(crate) struct Hands {
    pulls: Vec<(String, Pull)>,
    pub(crate) grips: Vec<Grip>,
}

/// What a pull of the scene holds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Grip {
    /// Number of the pull.
    pull: u16,
    /// Where the point was when it was taken \[m\].
    start: DVec3,
}

/// Bodies that springs can be tied to. Springs have numbers: those of people as they are, those of the scene from
/// [`FIRST_OF_SCENE`] on.
pub(crate) trait Holds {
    /// Ties a spring to the point that is picked; where that is \[m\].
    fn take(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3>;
    /// Moves the far end of a spring \[m\].
    fn drag(&mut self, id: u64, target: DVec3);
    /// Changes what a spring is like, if there is one of that number.
    fn stiffen(&mut self, id: u64, spring: &Spring);
    /// Takes a spring away, if there is one of that number.
    fn let_go(&mut self, id: u64);

    /// Takes hold for a person.
    fn grab(&mut self, grab: &Grab) {
        let id = u64::from(grab.hand);
        self.let_go(id);
        self.take(id, grab.body.as_deref(), &grab.at, &Spring::of(grab));
    }

    /// Moves a person's hand.
    fn move_hand(&mut self, to: &Move) {
        let id = u64::from(to.hand);
        self.drag(id, DVec3::from_array(to.target));
        if let Some(strength) = to.strength {
            self.stiffen(id, &Spring::of_strength(strength));
        }
    }

    /// Lets go for a person.
    fn release(&mut self, release: &Release) {
        self.let_go(u64::from(release.hand));
    }
}

/// A spring as it is: its number, the name of the body, and point, target and force of a [`Hand`].
pub(crate) type Tied<'a> = (u64, &'a str, [DVec3; 3]);

/// A spring to be.
pub(crate) struct Spring {
    strength: f64,
    stiffness: Option<f64>,
    damping: Option<f64>,
}

impl Spring {
    /// That of a person's hand.
    pub(crate) fn of(grab: &Grab) -> Self {
        Self { strength: grab.strength.unwrap_or(1.0), stiffness: grab.stiffness, damping: grab.damping }
    }

    /// That of a pull of the scene.
    fn of_pull(pull: &Pull) -> Self {
        Self { strength: 1.0, stiffness: pull.stiffness, damping: pull.damping }
    }

    /// So many times as stiff as by default.
    pub(crate) fn of_strength(strength: f64) -> Self {
        Self { strength, stiffness: None, damping: None }
    }

    /// Stiffness \[N/m\] and damping \[N·s/m\] for a body of a mass \[kg\].
    pub(crate) fn numbers(&self, mass: f64) -> (f64, f64) {
        let stiffness = self.strength * self.stiffness.unwrap_or(STIFFNESS_PER_MASS * mass);
        (stiffness, self.damping.unwrap_or(2.0 * DAMPING_RATIO * (stiffness * mass).sqrt()))
    }
}

/// What a pick has found: a body and a point of it.
enum Held {
    Soft(usize, Picked),
    Rigid(usize, DVec3),
}

fn pick_soft(body: &Body, at: &Pick) -> Option<Picked> {
    match at {
        Pick::Point(point) => body.nearest_point(DVec3::from_array(*point)),
        Pick::Ray(Ray { origin, direction }) => {
            body.first_hit(DVec3::from_array(*origin), DVec3::from_array(*direction))
        }
    }
}

fn pick_rigid(world: &World, body: usize, at: &Pick) -> Option<meniscus_rigid::Picked> {
    match at {
        Pick::Point(point) => Some(world.nearest_point(body, DVec3::from_array(*point))),
        Pick::Ray(Ray { origin, direction }) => {
            world.first_hit(body, DVec3::from_array(*origin), DVec3::from_array(*direction))
        }
    }
}

impl Hands {
    pub(crate) fn new(scene: &Scene) -> Self {
        Self { pulls: scene.pull.iter().map(|(name, pull)| (name.clone(), pull.clone())).collect(), grips: Vec::new() }
    }

    /// Lets the pulls of the scene take hold, move to where they are at the end of the step, and let go.
    pub(crate) fn pull(&mut self, bodies: &mut impl Holds, time: f64, dt: f64) {
        for (number, (_, pull)) in self.pulls.iter().enumerate() {
            let id = FIRST_OF_SCENE + number as u64;
            let holds = (pull.from..pull.until.unwrap_or(f64::INFINITY)).contains(&time);
            let mut grip = self.grips.iter().find(|grip| usize::from(grip.pull) == number).copied();
            if holds && grip.is_none() {
                let start = bodies.take(id, pull.body.as_deref(), &pull.at, &Spring::of_pull(pull));
                grip = start.map(|start| Grip { pull: number as u16, start });
                self.grips.extend(grip);
            }
            match grip {
                Some(grip) if holds => {
                    bodies.drag(id, pull.motion.pose(time + dt - pull.from).apply(grip.start));
                }
                Some(_) => {
                    bodies.let_go(id);
                    self.grips.retain(|grip| usize::from(grip.pull) != number);
                }
                None => {}
            }
        }
    }

    /// Changes the stiffness of a pull of the scene \[N/m\].
    pub(crate) fn set_pull(&mut self, bodies: &mut impl Holds, number: usize, stiffness: f64) {
        let Some((_, pull)) = self.pulls.get_mut(number) else { return };
        pull.stiffness = Some(stiffness);
        bodies.stiffen(FIRST_OF_SCENE + number as u64, &Spring::of_pull(pull));
    }

    /// What hands do with their springs, those of the scene first.
    pub(crate) fn hold<'a>(&self, tied: impl Iterator<Item = Tied<'a>>) -> Vec<Hand> {
        let hand = |(id, body, [point, target, force]): Tied| {
            let of_scene = id.checked_sub(FIRST_OF_SCENE).and_then(|n| self.pulls.get(n as usize));
            let hand = Hand {
                hand: of_scene.is_none().then_some(id as u32),
                pull: of_scene.map(|(name, _)| name.clone()).unwrap_or_default(),
                body: body.to_owned(),
                point,
                target,
                force,
            };
            (id, hand)
        };
        let mut hands: Vec<(u64, Hand)> = tied.map(hand).collect();
        hands.sort_by_key(|(id, hand)| (hand.hand.is_some(), *id));
        hands.into_iter().map(|(_, hand)| hand).collect()
    }

    /// Columns of the probe file for every pull.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let quantities = ["fx [N]", "fy [N]", "fz [N]", "x [m]", "y [m]", "z [m]"];
        self.pulls.iter().flat_map(move |(name, _)| quantities.map(|quantity| format!("{name}.{quantity}")))
    }

    /// Force and place of every pull of the scene; no force and no place while it holds nothing.
    pub(crate) fn measure(&self, hands: impl FnOnce() -> Vec<Hand>, values: &mut Vec<f64>) {
        if self.pulls.is_empty() {
            return;
        }
        let hands = hands();
        for (name, _) in &self.pulls {
            let hand = hands.iter().find(|hand| hand.hand.is_none() && hand.pull == *name);
            values.extend(hand.map_or(DVec3::ZERO, |hand| hand.force).to_array());
            values.extend(hand.map_or(DVec3::NAN, |hand| hand.point).to_array());
        }
    }
}

/// Lines from points that are held to where they are pulled.
pub(crate) fn show(hands: &[Hand], frame: &mut Frame) {
    for hand in hands {
        let shown = frame.bodies.iter().position(|body| body.kind == BodyKind::Solid && body.name == hand.body);
        let segments = vec![[hand.point.as_vec3(), hand.target.as_vec3()]];
        frame.wires.extend(shown.map(|body| Wire { body: body as u16, segments }));
    }
}

impl Rigids {
    /// The rigid body of a name, or any, that a pick finds: how far it is \[m\], its number, and the point \[m\].
    pub(crate) fn pick(&self, name: Option<&str>, at: &Pick) -> Option<(f64, usize, DVec3)> {
        let wanted = |of: &str| name.is_none_or(|name| name == of);
        let named = self.kinds.iter().enumerate().filter(|(_, kind)| wanted(&kind.name));
        let found = named.filter_map(|(body, _)| {
            let picked = pick_rigid(&self.world, body, at)?;
            Some((picked.distance, body, picked.place))
        });
        found.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Ties a spring to a point of a body.
    pub(crate) fn tie(&mut self, id: u64, body: usize, place: DVec3, spring: &Spring) {
        let (stiffness, damping) = spring.numbers(self.world.mass_properties(body).mass);
        self.world.attach(id, body, place, stiffness, damping);
    }

    /// Changes what a spring is like, if there is one of that number.
    pub(crate) fn stiffen(&mut self, id: u64, spring: &Spring) {
        let held = self.world.springs().find(|pull| pull.id == id).map(|pull| pull.body);
        if let Some(body) = held {
            let (stiffness, damping) = spring.numbers(self.world.mass_properties(body).mass);
            self.world.stiffen(id, stiffness, damping);
        }
    }

    /// Springs on rigid bodies.
    pub(crate) fn tied(&self) -> impl Iterator<Item = Tied<'_>> {
        self.world
            .springs()
            .map(|pull| (pull.id, self.kinds[pull.body].name.as_str(), [pull.point, pull.anchor, pull.force]))
    }
}

impl Holds for Solids {
    fn take(&mut self, id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let wanted = |of: &str| name.is_none_or(|name| name == of);
        let soft = self.bodies.iter().enumerate().filter_map(|(number, body)| {
            let kind = &self.kinds[usize::from(self.kind_of[number])];
            wanted(&kind.name)
                .then(|| pick_soft(body, at))
                .flatten()
                .map(|picked| (picked.distance, Held::Soft(number, picked)))
        });
        let rigid = self.rigids.pick(name, at).map(|(distance, body, place)| (distance, Held::Rigid(body, place)));
        let (_, held) = soft.chain(rigid).min_by(|a, b| a.0.total_cmp(&b.0))?;
        match held {
            Held::Soft(number, picked) => {
                let body = &mut self.bodies[number];
                let (stiffness, damping) = spring.numbers(body.mass());
                body.attach(id, picked.point, picked.place, stiffness, damping).ok()?;
                Some(picked.place)
            }
            Held::Rigid(number, place) => {
                self.rigids.tie(id, number, place, spring);
                Some(place)
            }
        }
    }

    fn drag(&mut self, id: u64, target: DVec3) {
        // The other bodies have no such spring.
        let soft = self.bodies.iter_mut().find_map(|body| body.pull(id, target).ok());
        if soft.is_none() {
            self.rigids.world.pull_to(id, target);
        }
    }

    fn stiffen(&mut self, id: u64, spring: &Spring) {
        for body in &mut self.bodies {
            let (stiffness, damping) = spring.numbers(body.mass());
            if body.stiffen(id, stiffness, damping).is_ok() {
                return;
            }
        }
        self.rigids.stiffen(id, spring);
    }

    fn let_go(&mut self, id: u64) {
        let soft = self.bodies.iter_mut().find_map(|body| body.detach(id).ok());
        if soft.is_none() {
            self.rigids.world.detach(id);
        }
    }
}

impl Solids {
    /// Lets the pulls of the scene do their part.
    pub(crate) fn pull(&mut self, time: f64, dt: f64) {
        let mut hands = std::mem::take(&mut self.hands);
        hands.pull(self, time, dt);
        self.hands = hands;
    }

    /// Changes the stiffness of a pull of the scene \[N/m\].
    pub(crate) fn set_pull(&mut self, number: usize, stiffness: f64) {
        let mut hands = std::mem::take(&mut self.hands);
        hands.set_pull(self, number, stiffness);
        self.hands = hands;
    }

    /// What hands do now, those of the scene first.
    pub(crate) fn hands(&self) -> Vec<Hand> {
        let soft = self.bodies.iter().zip(&self.kind_of).flat_map(|(body, &kind)| {
            let name = self.kinds[usize::from(kind)].name.as_str();
            body.springs().map(move |pull| (pull.id, name, [pull.point, pull.anchor, pull.force]))
        });
        self.hands.hold(soft.chain(self.rigids.tied()))
    }
}
