//! The energy guard: the energy of a world grows by work that is known, or a warning says when, where and by how much it did not.
//!
//! > E = Σ kinetic + potential + elastic + compression,  E(t) − E(s) ≤ W(s, t) + D(s, t) + 0.01 S + U
//!
//! | | | |
//! |---|---|---|
//! | W | J | work between two frames: moving walls (what they feel, times their way), hands (force times way), what nozzles bring (its energy, and p/ρ for being pushed in), minus what drains and the domain take away |
//! | D | J | doubt about W: a tenth of what walls and hands do, whose forces are those of the ends of steps, and all of p/ρ, which is that of frames |
//! | S | J | the largest kinetic and elastic energy so far, what all matter would have by falling through its own height, and by crossing that in ten seconds |
//! | U | J | what E does not have: surface tension (on a grid the largest energy of the surface so far, which is not seen where it lies between cells; of particles one face of each), suction in pores |
//!
//! It looks at every second frame, and at the last `WINDOW` of them: the lowest E − W among them is what the newest is held against, twice in a row: what an
//! overlap holds for a moment and gives back to nobody has harmed nobody. Friction,
//! plastic flow and fracture only take energy. What drives a world with forces that nobody adds up (animated meshes, held
//! nodes and rigid bodies that are led, solids and open sides of a grid, a periodic box along gravity) ends a window, as do
//! commands, and cracks, whose new faces may lie in each other: the frames in which these act are not guarded.

use crate::methods::Method;
use crate::part::{Part, Totals};
use glam::DVec3;
use meniscus_boundary::{Motion, Pose};
use meniscus_core::{BodyKind, Frame, Wrench};
use meniscus_scene::{self as scene, Loaded, Scene};
use std::collections::VecDeque;

/// Frames from one look to the next.
pub(crate) const EVERY: u32 = 2;
/// Looks over which growth is looked for.
const WINDOW: usize = 10;
/// Part of the scale by which energy may grow for no reason, dimensionless.
const UNEXPLAINED: f64 = 0.01;
/// Part of the work of walls and hands that is in doubt, dimensionless.
const FELT: f64 = 0.1;
/// The same of liquid that is pushed in against pressure.
pub(crate) const PUSHED_IN: f64 = 1.0;
/// In this time matter that hardly moves crosses its own height \[s\]: a motion that counts where nothing else does.
const SLOWLY: f64 = 10.0;
/// Part of the mass on a grid that comes and goes by rounding and by what its volume correction leaves, dimensionless.
const SAME_MASS: f64 = 1e-6;

/// Energy at a frame, and the work up to then.
#[derive(Debug, Clone, Default)]
struct Sample {
    time: f64,
    /// Of each part \[J\].
    energy: Vec<f64>,
    /// Since the guard began, and the doubt about it \[J\].
    work: [f64; 2],
    /// Of everything \[kg\].
    mass: f64,
}

impl Sample {
    /// What no work explains, but for a constant \[J\].
    fn unexplained(&self) -> f64 {
        self.energy.iter().sum::<f64>() - self.work[0]
    }
}

/// Energy that came from nowhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Growth {
    /// When it was lowest, and now \[s\].
    pub(crate) between: [f64; 2],
    /// \[J\].
    pub(crate) energy: f64,
    /// In units of the scale, dimensionless.
    pub(crate) part_of_scale: f64,
    /// The part that gained most.
    pub(crate) part: usize,
}

/// Guards the energy of a world.
pub(crate) struct EnergyGuard {
    drivers: Drivers,
    window: VecDeque<Sample>,
    work: [f64; 2],
    /// Height of all matter along gravity at the start, nozzles included \[m\].
    height: f64,
    /// Largest kinetic and elastic energy so far \[J\].
    liveliest: f64,
    /// Largest energy of the surface on a grid so far \[J\].
    surface: f64,
    /// Whether something acted since the last frame that is not added up.
    interrupted: bool,
    /// Where hands held at the end of the last step \[m\].
    springs: Vec<(u64, DVec3)>,
    /// Whether the frame before had too much.
    suspected: bool,
    told: bool,
    /// What no work explains at the last frame, in units of what is allowed, dimensionless.
    reached: f64,
}

/// What acts on a world from outside.
struct Drivers {
    /// Motions of walls whose forces are known.
    walls: Vec<Motion>,
    /// Motions of what is led, and nobody knows by which force.
    prescribed: Vec<Motion>,
    /// Whether something unknown acts all the time.
    always: bool,
    /// Whether liquid can pass open sides of a grid: nobody knows with which energy.
    on_grid: bool,
    hands: bool,
    /// Energy of particles' surfaces for each particle, and of pores \[J\].
    unseen: [f64; 2],
}

impl Drivers {
    fn new(loaded: &Loaded) -> Self {
        let scene = &loaded.scene;
        let on_grid = scene.method == scene::Method::Twophase;
        let walls = scene.wall.values().map(|wall| wall.motion.clone());
        let bodies = scene.bodies().flat_map(|(.., body)| body.motions()).cloned();
        let (known, unknown): (Vec<_>, Vec<_>) = walls.partition(|_| !on_grid);
        Self {
            walls: known,
            prescribed: bodies.chain(unknown).filter(Motion::moves).collect(),
            always: !scene.animated.is_empty() || falls_for_ever(scene),
            on_grid,
            hands: !scene.pull.is_empty(),
            unseen: [if on_grid { 0.0 } else { surface_energy(scene) }, suction_energy(loaded)],
        }
    }

    /// Whether something is led in a step between two times \[s\].
    fn is_prescribed(&self, [start, end]: [f64; 2]) -> bool {
        self.always || self.prescribed.iter().any(|motion| motion.pose(start) != motion.pose(end))
    }

    /// Work of walls that felt this in a step between two times \[J\].
    fn work_of_walls(&self, felt: &[Wrench], [start, end]: [f64; 2]) -> f64 {
        let moving = self.walls.iter().zip(felt).filter(|(motion, _)| motion.moves());
        moving.map(|(motion, felt)| work_of_pose(&motion.pose(start), &motion.pose(end), felt)).sum()
    }
}

/// Work of a body that felt this about the origin on its way between two poses \[J\].
fn work_of_pose(before: &Pose, after: &Pose, felt: &Wrench) -> f64 {
    let turn = after.rotation * before.rotation.conjugate();
    let shift = after.translation - turn * before.translation;
    -(felt.force.dot(shift) + felt.torque.dot(turn.to_scaled_axis()))
}

/// Whether what leaves a periodic box comes back higher up.
fn falls_for_ever(scene: &Scene) -> bool {
    scene
        .periodic
        .as_ref()
        .is_some_and(|periodic| periodic.axes.iter().any(|&axis| scene.gravity[axis as usize] != 0.0))
}

/// Of one face of a particle \[J\].
fn surface_energy(scene: &Scene) -> f64 {
    let tension = scene.liquid.values().map(|liquid| liquid.surface_tension).fold(0.0, f64::max);
    tension * scene.sph.spacing * scene.sph.spacing
}

/// Of liquid that all pores suck in \[J\].
fn suction_energy(loaded: &Loaded) -> f64 {
    let of = |solid: &scene::Solid| {
        let size = crate::build::bounds_at_rest(loaded, &solid.shape).size();
        solid.suction * solid.porosity * size.x * size.y * size.z
    };
    loaded.scene.solid.values().filter(|solid| solid.suction > 0.0).map(of).sum()
}

impl EnergyGuard {
    pub(crate) fn new(loaded: &Loaded, start: &Frame) -> Self {
        Self {
            drivers: Drivers::new(loaded),
            window: VecDeque::with_capacity(WINDOW),
            work: [0.0; 2],
            height: height(&loaded.scene, start),
            liveliest: 0.0,
            surface: 0.0,
            interrupted: false,
            springs: Vec::new(),
            suspected: false,
            told: false,
            reached: 0.0,
        }
    }

    /// Something acts that is not added up: the window ends.
    pub(crate) fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// A hand of a person is about to hold something.
    pub(crate) fn expect_hands(&mut self) {
        self.drivers.hands = true;
    }

    /// Adds work \[J\], of which a part is in doubt.
    pub(crate) fn add_work(&mut self, work: f64, in_doubt: f64) {
        self.work[0] += work;
        self.work[1] += in_doubt * work.abs();
    }

    /// Adds up what is known to have acted in a step between two times \[s\].
    pub(crate) fn follow(&mut self, method: &dyn Method, times: [f64; 2]) {
        self.interrupted |= self.drivers.is_prescribed(times);
        if self.drivers.walls.iter().any(Motion::moves) {
            let mut felt = vec![Wrench::ZERO; method.walls().len()];
            method.parts().iter().for_each(|part| part.add_wall_forces(&mut felt));
            self.add_work(self.drivers.work_of_walls(&felt, times), FELT);
        }
        if self.drivers.hands {
            self.follow_hands(&method.parts());
        }
    }

    fn follow_hands(&mut self, parts: &[&dyn Part]) {
        let before = std::mem::take(&mut self.springs);
        for part in parts {
            for (id, _, [point, _, force]) in part.tied() {
                if let Some((_, held)) = before.iter().find(|(of, _)| *of == id) {
                    self.add_work(force.dot(point - *held), FELT);
                }
                self.springs.push((id, point));
            }
        }
    }

    /// Holds a frame against those before it.
    pub(crate) fn check(&mut self, time: f64, parts: &[&dyn Part], gravity: DVec3) -> Option<Growth> {
        let totals = |part: &&dyn Part| {
            let mut totals = Totals::default();
            part.add_totals(gravity, &mut totals);
            totals
        };
        let of_parts: Vec<Totals> = parts.iter().map(totals).collect();
        let (energy, mass) = (of_parts.iter().map(Totals::energy).collect(), of_parts.iter().map(|t| t.mass).sum());
        let sample = Sample { time, energy, work: self.work, mass };
        let [scale, unseen] = self.scales(&of_parts, gravity);
        if std::mem::take(&mut self.interrupted) || self.passed_sides(mass) {
            self.window.clear();
        }
        let growth = self.growth(&sample, scale, unseen);
        if self.window.len() == WINDOW {
            self.window.pop_front();
        }
        self.window.push_back(sample);
        let again = std::mem::replace(&mut self.suspected, growth.is_some());
        growth.filter(|_| again && !std::mem::replace(&mut self.told, true))
    }

    /// Whether mass has come or gone through the sides of a grid.
    fn passed_sides(&self, mass: f64) -> bool {
        let before = self.window.back().map_or(mass, |last| last.mass);
        self.drivers.on_grid && (mass - before).abs() > SAME_MASS * before
    }

    /// What no work explains at the last frame, in units of what is allowed, dimensionless.
    pub(crate) fn reached(&self) -> f64 {
        self.reached
    }

    /// The energy that there is, and what the sums do not see \[J\].
    fn scales(&mut self, of_parts: &[Totals], gravity: DVec3) -> [f64; 2] {
        let sum = |of: fn(&Totals) -> f64| of_parts.iter().map(of).sum::<f64>();
        self.liveliest = self.liveliest.max(sum(|t| t.kinetic_energy + t.elastic_energy));
        self.surface = self.surface.max(sum(|t| t.surface_energy));
        let [faces, pores] = self.drivers.unseen;
        let slow = self.height / SLOWLY;
        let possible = sum(|t| t.mass) * (gravity.length() * self.height + 0.5 * slow * slow);
        [self.liveliest + possible, faces * sum(|t| t.particles as f64) + pores + self.surface]
    }

    fn growth(&mut self, now: &Sample, scale: f64, unseen: f64) -> Option<Growth> {
        self.reached = 0.0;
        let lowest = self.window.iter().min_by(|a, b| a.unexplained().total_cmp(&b.unexplained()))?;
        let energy = now.unexplained() - lowest.unexplained();
        let doubt = now.work[1] - lowest.work[1];
        self.reached = energy / (UNEXPLAINED * scale + doubt + unseen).max(f64::MIN_POSITIVE);
        if self.reached <= 1.0 {
            return None;
        }
        let gains = now.energy.iter().zip(&lowest.energy).map(|(now, then)| now - then);
        let part = gains.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(part, _)| part);
        Some(Growth { between: [lowest.time, now.time], energy, part_of_scale: energy / scale, part })
    }
}

/// Height of all matter along gravity, nozzles included \[m\].
fn height(scene: &Scene, start: &Frame) -> f64 {
    let up = -DVec3::from_array(scene.gravity).normalize_or_zero();
    let matter = |body: u16| {
        start.bodies.get(usize::from(body)).is_some_and(|info| matches!(info.kind, BodyKind::Liquid | BodyKind::Solid))
    };
    let surfaces = start.surfaces.iter().filter(|surface| matter(surface.body)).flat_map(|surface| &surface.positions);
    let points = start.particles.positions.iter().chain(surfaces).map(|p| p.as_dvec3());
    let nozzles = scene.emitter.values().map(|emitter| DVec3::from_array(emitter.center));
    let of = |(low, high): (f64, f64), x: DVec3| (low.min(up.dot(x)), high.max(up.dot(x)));
    let (low, high) = points.chain(nozzles).fold((f64::INFINITY, f64::NEG_INFINITY), of);
    (high - low).max(scene.sph.spacing)
}

/// The body whose fastest point is the fastest of all, and its speed \[m/s\].
pub(crate) fn fastest_body(frame: &Frame) -> Option<(&str, f64)> {
    let particles = frame.particles.bodies.iter().zip(&frame.particles.velocities).map(|(&body, v)| (body, v));
    let surfaces = frame.surfaces.iter().flat_map(|s| s.velocities.iter().map(move |v| (s.body, v)));
    let speeds = particles.chain(surfaces).map(|(body, v)| (body, f64::from(v.length())));
    let (body, speed) = speeds.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((frame.bodies.get(usize::from(body))?.name.as_str(), speed))
}
