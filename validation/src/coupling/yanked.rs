//! `pool-yanked`: a pool whose walls are yanked at random stays sound, and so does its water.

use crate::no_leak_soft::inside;
use crate::{Plot, Row, Size, at_least, bound, failed, given};
use glam::DVec3;
use meniscus::gallery;
use meniscus::scene::{Command, Grab, Move, Pick, Release};
use meniscus::sim::World;

const CASE: &str = "pool-yanked";
/// A yank begins every so often \[s\].
const PERIOD: f64 = 1.0;
/// Stiffness of the hand's spring, that of the scene's own \[N/m\].
const STIFFNESS: f64 = 1e4;
/// How far the hand goes away at most \[m\]: as far as a wall is high.
const FARTHEST: f64 = 0.45;
/// Energy of the water in the pool above its ground, ½ρgH²A \[J\].
const WATER: f64 = 0.5 * 1000.0 * 9.81 * 0.4 * 0.4 * 0.64;
/// The pool stands in a basin, so that water which runs over its walls stays and can be counted.
const BASIN: &str = "wall.floor.shape={ box = { min = [-2, 0, -2], max = [2, 4, 2] } }";
/// What each yank has to give, in the mean, to be one \[J\].
const LEAST: f64 = 10.0;

pub(crate) fn run(size: Size) -> Vec<Row> {
    match yank(if size == Size::Fine { 60.0 } else { 3.0 }) {
        Err(error) => failed(CASE, &error),
        Ok(Found { lost, passed, work, rise, track }) => {
            // A pool that nobody pulls at loses nothing.
            let [lost, passed, rise] = [lost, passed, rise / WATER].map(|value| given(work >= LEAST, value));
            let plot = Plot::new("t [s]", "energy less the hand's work [J]").measured("ours: it must not rise", &track);
            vec![
                bound(CASE, "particles lost", lost, 0.0).asked().with(plot),
                bound(CASE, "particles found in walls or below the floor", passed, 0.0).asked(),
                at_least(CASE, "work per yank [J]", work, LEAST),
                bound(CASE, "rise of the energy without work, over that of the water", rise, 0.01),
            ]
        }
    }
}

/// What a run has shown.
struct Found {
    lost: f64,
    passed: f64,
    /// Work of the hand in each yank, in the mean \[J\].
    work: f64,
    /// The largest rise, from any time to any later one, of the energy less the hand's work \[J\].
    rise: f64,
    /// Time \[s\] and energy less the hand's work \[J\].
    track: Vec<[f64; 2]>,
}

fn yank(seconds: f64) -> Result<Found, String> {
    let mut loaded = gallery::load("pool", &[BASIN.into()]).map_err(|e| e.to_string())?;
    loaded.scene.pull.clear();
    let mut world = World::new(&loaded).map_err(|e| e.to_string())?;
    let particles = world.totals().particles as f64;
    let (mut hand, mut rng) = (Hand::default(), TestRng(5));
    let (mut passed, mut lowest, mut rise) = (0, f64::INFINITY, 0.0f64);
    let (mut frames, mut track) = (0, Vec::new());
    while world.time() < seconds {
        hand.guide(&mut world, &mut rng)?;
        world.step(seconds).map_err(|e| format!("{e} at {} s", world.time()))?;
        hand.feel(&world);
        let totals = world.totals();
        let left = totals.kinetic_energy + totals.potential_energy + totals.elastic_energy - hand.work;
        if !left.is_finite() {
            return Err(format!("no energy at {} s", world.time()));
        }
        lowest = lowest.min(left);
        rise = rise.max(left - lowest);
        if world.time() * loaded.scene.fps >= f64::from(frames) {
            frames += 1;
            track.push([world.time(), left]);
            let frame = world.frame();
            passed += inside(&frame)? + frame.particles.positions.iter().filter(|x| x.y < 0.0).count();
        }
    }
    let lost = particles - world.totals().particles as f64;
    Ok(Found { lost, passed: passed as f64, work: hand.work / f64::from(hand.yanks), rise, track })
}

/// One pull at a wall.
struct Yank {
    /// Near the point that is taken \[m\].
    at: DVec3,
    /// How far the hand goes \[m\].
    by: DVec3,
    /// How long it takes to get there, and when it lets go \[s\].
    out: f64,
    until: f64,
}

/// The hand, and what it has done.
#[derive(Default)]
struct Hand {
    yank: Option<Yank>,
    yanks: u32,
    held: Option<Held>,
    /// \[J\].
    work: f64,
}

/// What the hand holds, at the ends of its spring.
#[derive(Clone, Copy)]
struct Held {
    /// Where it took hold \[m\].
    start: DVec3,
    /// Where it is, and where the point is after the last step \[m\].
    target: DVec3,
    point: DVec3,
}

impl Held {
    /// Energy of the spring with the hand at a position \[J\]; the world counts it as elastic.
    fn energy(&self, target: DVec3) -> f64 {
        0.5 * STIFFNESS * (target - self.point).length_squared()
    }
}

impl Hand {
    /// Tells the world what the hand does in the next step, and adds the work of that: it moves between steps, or lets go with what the
    /// spring still holds.
    fn guide(&mut self, world: &mut World, rng: &mut TestRng) -> Result<(), String> {
        let since = world.time() - PERIOD * f64::from(self.yanks);
        match (&self.yank, self.held) {
            (None, _) if since >= 0.0 => {
                let yank = rng.yank();
                let (at, body, stiffness) = (Pick::Point(yank.at.to_array()), Some("pool".into()), Some(STIFFNESS));
                world.apply(Command::Grab(Grab { hand: 0, body, at, strength: None, stiffness, damping: None }))?;
                self.yank = Some(yank);
                self.yanks += 1;
            }
            (Some(yank), Some(held)) => {
                // Counted from the begin of this yank.
                let since = since + PERIOD;
                if since < yank.until {
                    let target = held.start + yank.by * (since / yank.out).min(1.0);
                    self.work += held.energy(target) - held.energy(held.target);
                    world.apply(Command::Move(Move { hand: 0, target: target.to_array(), strength: None }))?;
                } else {
                    self.work -= held.energy(held.target);
                    world.apply(Command::Release(Release { hand: 0 }))?;
                    (self.yank, self.held) = (None, None);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks where the ends of the spring are after a step.
    fn feel(&mut self, world: &World) {
        self.held = world.hands().first().map(|hand| Held {
            start: self.held.map_or(hand.target, |held| held.start),
            target: hand.target,
            point: hand.point,
        });
    }
}

/// Numbers that look random and are the same every time (splitmix64).
struct TestRng(u64);

impl TestRng {
    /// A number between two.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A yank at the upper half of one of the four walls, in any direction.
    fn yank(&mut self) -> Yank {
        let [height, along] = [self.between(0.3, 0.55), self.between(-0.4, 0.4)];
        let side = if self.between(-1.0, 1.0) < 0.0 { -0.5 } else { 0.5 };
        let at = if self.between(-1.0, 1.0) < 0.0 {
            DVec3::new(side, height, along)
        } else {
            DVec3::new(along, height, side)
        };
        let direction = DVec3::from_array(std::array::from_fn(|_| self.between(-1.0, 1.0)));
        let by = direction.normalize_or_zero() * self.between(0.3 * FARTHEST, FARTHEST);
        let out = self.between(0.05, 0.3);
        Yank { at, by, out, until: out + self.between(0.0, 0.4) }
    }
}
