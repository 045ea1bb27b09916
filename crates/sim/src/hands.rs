//! Hands that pull at solids with springs: those of the scene and those of people.

use crate::part::Part;
use glam::DVec3;
use meniscus_core::{BodyKind, Frame, Wire};
use meniscus_scene::{Grab, Move, Pick, Pull, Release, Scene};
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
    pub(crate) active: Vec<ActivePull>,
}

/// What a pull of the scene holds.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ActivePull {
    /// Number of the pull.
    pull: u16,
    /// Where the point was when it was taken \[m\].
    start: DVec3,
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

impl Hands {
    pub(crate) fn new(scene: &Scene) -> Self {
        Self { pulls: scene.pull.iter().map(|(name, pull)| (name.clone(), pull.clone())).collect(), active: Vec::new() }
    }

    /// Lets the pulls of the scene take hold, move to where they are at the end of the step, and let go.
    pub(crate) fn pull(&mut self, parts: &mut [&mut dyn Part], time: f64, dt: f64) {
        for (number, (_, pull)) in self.pulls.iter().enumerate() {
            let id = FIRST_OF_SCENE + number as u64;
            let holds = (pull.from..pull.until.unwrap_or(f64::INFINITY)).contains(&time);
            let mut active = self.active.iter().find(|active| usize::from(active.pull) == number).copied();
            if holds && active.is_none() {
                let start = tie(parts, id, pull.body.as_deref(), &pull.at, &Spring::of_pull(pull));
                active = start.map(|start| ActivePull { pull: number as u16, start });
                self.active.extend(active);
            }
            match active {
                Some(active) if holds => {
                    drag(parts, id, pull.motion.pose(time + dt - pull.from).apply(active.start));
                }
                Some(_) => {
                    parts.iter_mut().for_each(|part| part.let_go(id));
                    self.active.retain(|active| usize::from(active.pull) != number);
                }
                None => {}
            }
        }
    }

    /// Changes the stiffness of a pull of the scene \[N/m\].
    pub(crate) fn set_pull(&mut self, parts: &mut [&mut dyn Part], number: usize, stiffness: f64) {
        let Some((_, pull)) = self.pulls.get_mut(number) else { return };
        pull.stiffness = Some(stiffness);
        stiffen(parts, FIRST_OF_SCENE + number as u64, &Spring::of_pull(pull));
    }

    /// What hands do with their springs, those of the scene first.
    pub(crate) fn hold(&self, parts: &[&dyn Part]) -> Vec<Hand> {
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
        let mut hands: Vec<(u64, Hand)> = parts.iter().flat_map(|part| part.tied()).map(hand).collect();
        hands.sort_by_key(|(id, hand)| (hand.hand.is_some(), *id));
        hands.into_iter().map(|(_, hand)| hand).collect()
    }

    /// Columns of the probe file for every pull.
    pub(crate) fn columns(&self) -> impl Iterator<Item = String> {
        let quantities = ["fx [N]", "fy [N]", "fz [N]", "x [m]", "y [m]", "z [m]"];
        self.pulls.iter().flat_map(move |(name, _)| quantities.map(|quantity| format!("{name}.{quantity}")))
    }

    /// Force and position of every pull of the scene; no force and no position while it holds nothing.
    pub(crate) fn measure(&self, parts: &[&dyn Part], values: &mut Vec<f64>) {
        if self.pulls.is_empty() {
            return;
        }
        let hands = self.hold(parts);
        for (name, _) in &self.pulls {
            let hand = hands.iter().find(|hand| hand.hand.is_none() && hand.pull == *name);
            values.extend(hand.map_or(DVec3::ZERO, |hand| hand.force).to_array());
            values.extend(hand.map_or(DVec3::NAN, |hand| hand.point).to_array());
        }
    }
}

/// Ties a spring to the nearest of all points that are picked; where that is \[m\].
fn tie(parts: &mut [&mut dyn Part], id: u64, name: Option<&str>, at: &Pick, spring: &Spring) -> Option<DVec3> {
    let near = parts.iter_mut().filter_map(|part| Some((part.pick(name, at)?, part)));
    let (_, nearest) = near.min_by(|a, b| a.0.total_cmp(&b.0))?;
    nearest.tie(id, name, at, spring)
}

fn drag(parts: &mut [&mut dyn Part], id: u64, target: DVec3) {
    let _had_one = parts.iter_mut().any(|part| part.drag(id, target));
}

fn stiffen(parts: &mut [&mut dyn Part], id: u64, spring: &Spring) {
    let _had_one = parts.iter_mut().any(|part| part.stiffen(id, spring));
}

/// Takes hold for a person.
pub(crate) fn grab(parts: &mut [&mut dyn Part], grab: &Grab) {
    let id = u64::from(grab.hand);
    parts.iter_mut().for_each(|part| part.let_go(id));
    tie(parts, id, grab.body.as_deref(), &grab.at, &Spring::of(grab));
}

/// Moves a person's hand.
pub(crate) fn move_hand(parts: &mut [&mut dyn Part], to: &Move) {
    let id = u64::from(to.hand);
    drag(parts, id, DVec3::from_array(to.target));
    if let Some(strength) = to.strength {
        stiffen(parts, id, &Spring::of_strength(strength));
    }
}

/// Lets go for a person.
pub(crate) fn release(parts: &mut [&mut dyn Part], release: &Release) {
    parts.iter_mut().for_each(|part| part.let_go(u64::from(release.hand)));
}

/// Lines from points that are held to where they are pulled.
pub(crate) fn show(hands: &[Hand], frame: &mut Frame) {
    for hand in hands {
        let shown = frame.bodies.iter().position(|body| body.kind == BodyKind::Solid && body.name == hand.body);
        let segments = vec![[hand.point.as_vec3(), hand.target.as_vec3()]];
        frame.wires.extend(shown.map(|body| Wire { body: body as u16, segments }));
    }
}
