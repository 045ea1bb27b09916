//! Hands that pull at solids with springs: those of the scene and those of people.

use crate::solids::Solids;
use glam::DVec3;
use meniscus_core::{Frame, Wire};
use meniscus_fem::Picked;
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
    /// Name of the solid.
    pub body: String,
    /// The point that is held, where it is now \[m\].
    pub point: DVec3,
    /// Where it is pulled to \[m\].
    pub target: DVec3,
    /// Force on the solid \[N\].
    pub force: DVec3,
}

/// The pulls of a scene and what they hold.
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

/// A spring to be.
struct Spring {
    id: u64,
    stiffness: Option<f64>,
    damping: Option<f64>,
}

impl Hands {
    pub(crate) fn new(scene: &Scene) -> Self {
        Self { pulls: scene.pull.iter().map(|(name, pull)| (name.clone(), pull.clone())).collect(), grips: Vec::new() }
    }

    /// Columns of the probe file for every pull.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let quantities = ["fx [N]", "fy [N]", "fz [N]", "x [m]", "y [m]", "z [m]"];
        self.pulls.iter().flat_map(move |(name, _)| quantities.map(|quantity| format!("{name}.{quantity}")))
    }
}

impl Solids {
    /// Takes hold for a person.
    pub(crate) fn grab(&mut self, grab: &Grab) {
        let id = u64::from(grab.hand);
        self.let_go(id);
        let spring = Spring { id, stiffness: grab.stiffness, damping: grab.damping };
        self.take(grab.body.as_deref(), &grab.at, &spring);
    }

    /// Moves a person's hand.
    pub(crate) fn move_hand(&mut self, to: &Move) {
        self.drag(u64::from(to.hand), DVec3::from_array(to.target));
    }

    /// Lets go for a person.
    pub(crate) fn release(&mut self, release: &Release) {
        self.let_go(u64::from(release.hand));
    }

    /// Lets the pulls of the scene take hold, move to where they are at the end of the step, and let go.
    pub(crate) fn pull(&mut self, time: f64, dt: f64) {
        let pulls = std::mem::take(&mut self.hands.pulls);
        for (number, (_, pull)) in pulls.iter().enumerate() {
            let id = FIRST_OF_SCENE + number as u64;
            let holds = (pull.from..pull.until.unwrap_or(f64::INFINITY)).contains(&time);
            let mut grip = self.hands.grips.iter().find(|grip| usize::from(grip.pull) == number).copied();
            if holds && grip.is_none() {
                let spring = Spring { id, stiffness: pull.stiffness, damping: pull.damping };
                let start = self.take(pull.body.as_deref(), &pull.at, &spring);
                grip = start.map(|start| Grip { pull: number as u16, start });
                self.hands.grips.extend(grip);
            }
            match grip {
                Some(grip) if holds => {
                    self.drag(id, pull.motion.pose(time + dt - pull.from).apply(grip.start));
                }
                Some(_) => {
                    self.let_go(id);
                    self.hands.grips.retain(|grip| usize::from(grip.pull) != number);
                }
                None => {}
            }
        }
        self.hands.pulls = pulls;
    }

    /// Ties a spring to the point that is picked; where that is \[m\].
    fn take(&mut self, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
        let mut best: Option<(usize, Picked)> = None;
        for (number, body) in self.bodies.iter().enumerate() {
            let kind = &self.kinds[usize::from(self.kind_of[number])];
            if name.is_some_and(|name| name != kind.name) {
                continue;
            }
            let picked = match at {
                Pick::Point(point) => body.nearest_point(DVec3::from_array(*point)),
                Pick::Ray(Ray { origin, direction }) => {
                    body.first_hit(DVec3::from_array(*origin), DVec3::from_array(*direction))
                }
            };
            let nearer = |picked: &Picked| best.is_none_or(|(_, best)| picked.distance < best.distance);
            best = picked.filter(nearer).map(|picked| (number, picked)).or(best);
        }
        let (number, picked) = best?;
        let body = &mut self.bodies[number];
        let stiffness = spring.stiffness.unwrap_or(STIFFNESS_PER_MASS * body.mass());
        let damping = spring.damping.unwrap_or(2.0 * DAMPING_RATIO * (stiffness * body.mass()).sqrt());
        body.attach(spring.id, picked.point, picked.place, stiffness, damping).ok()?;
        Some(picked.place)
    }

    fn drag(&mut self, id: u64, target: DVec3) {
        // The other bodies have no such spring.
        let _ = self.bodies.iter_mut().find_map(|body| body.pull(id, target).ok());
    }

    fn let_go(&mut self, id: u64) {
        let _ = self.bodies.iter_mut().find_map(|body| body.detach(id).ok());
    }

    /// What hands do now, those of the scene first.
    pub(crate) fn hands(&self) -> Vec<Hand> {
        let mut hands: Vec<(u64, Hand)> = Vec::new();
        for (body, &kind) in self.bodies.iter().zip(&self.kind_of) {
            hands.extend(body.springs().map(|pull| {
                let of_scene = pull.id.checked_sub(FIRST_OF_SCENE).and_then(|n| self.hands.pulls.get(n as usize));
                let hand = Hand {
                    hand: of_scene.is_none().then_some(pull.id as u32),
                    pull: of_scene.map(|(name, _)| name.clone()).unwrap_or_default(),
                    body: self.kinds[usize::from(kind)].name.clone(),
                    point: pull.point,
                    target: pull.anchor,
                    force: pull.force,
                };
                (pull.id, hand)
            }));
        }
        hands.sort_by_key(|(id, hand)| (hand.hand.is_some(), *id));
        hands.into_iter().map(|(_, hand)| hand).collect()
    }

    /// Lines from points that are held to where they are pulled.
    pub(crate) fn show_hands(&self, frame: &mut Frame) {
        for hand in self.hands() {
            let shown = self.kinds.iter().find(|kind| kind.name == hand.body);
            let segments = vec![[hand.point.as_vec3(), hand.target.as_vec3()]];
            frame.wires.extend(shown.map(|kind| Wire { body: kind.shown_as, segments }));
        }
    }

    /// Force and place of every pull of the scene; no force and no place while it holds nothing.
    pub(crate) fn measure_pulls(&self, values: &mut Vec<f64>) {
        if self.hands.pulls.is_empty() {
            return;
        }
        let hands = self.hands();
        for (name, _) in &self.hands.pulls {
            let hand = hands.iter().find(|hand| hand.hand.is_none() && hand.pull == *name);
            values.extend(hand.map_or(DVec3::ZERO, |hand| hand.force).to_array());
            values.extend(hand.map_or(DVec3::NAN, |hand| hand.point).to_array());
        }
    }
}
