//! A scene brought to life: the time loop, commands, save and load.

use crate::build::{self, BuildError};
use crate::energy_guard::{self, EnergyGuard, Growth};
use crate::hands::{self, Hand, Hands};
use crate::methods::{Method, Step};
use crate::part::{Fields, Totals, take};
use crate::parts::{ENERGY_TAKEN, LEFT_DOMAIN};
use crate::{overlap, probes};
use glam::{DVec3, Vec3};
use meniscus_core::{Digest, Fault, Frame, StepError, StepReport, Tets, Wrench, par};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{Command, Loaded, Scene, Set, Value, live};
use serde::{Deserialize, Serialize};

/// How often a failed step is tried again at half its length.
const RETRIES: u32 = 5;

/// The step \[s\] that takes the time `left`, which may be endless, in the fewest even steps, each as long as `wanted` at most (but
/// for rounding). Particles at rest slip where the length of the step jumps, and forces at a frame are those of a whole step.
fn even_step(left: f64, wanted: f64) -> f64 {
    let steps = (left / wanted - 1e-9).ceil().max(1.0);
    if steps.is_finite() { left / steps } else { wanted }
}

/// A fixed step this many times longer than what is stable is warned of, dimensionless.
const TOO_LONG: f64 = 2.0;

/// What to say about a fixed step \[s\] that is far above the stable one \[s\].
fn too_long(dt: f64, stable: f64) -> Option<String> {
    (dt > TOO_LONG * stable).then(|| {
        format!("`time.dt` = {dt:.3e} s is {:.1} times the {stable:.3e} s that are stable at the start", dt / stable)
    })
}

/// A scene brought to life. Touches no file and no clock; the caller owns both.
pub struct World {
    scene: Scene,
    method: Box<dyn Method>,
    hands: Hands,
    /// \[m/s²\].
    gravity: DVec3,
    clock: Clock,
    /// `set` commands in force, newest last.
    settings: Vec<Set>,
    /// Commands that wait for the next step.
    waiting: Vec<Command>,
    /// Commands to be repeated at their steps, newest first.
    replay: Vec<Logged>,
    log: Vec<Logged>,
    report: StepReport,
    /// What kept the last step from being longer.
    limited_by: &'static str,
    warnings: Vec<String>,
    guard: EnergyGuard,
}

/// Where a world is in time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Clock {
    time: f64,
    step: u64,
    frame: u32,
    /// Length of the last step, unless it was cut short to meet a frame \[s\]; zero before the first.
    dt: f64,
    /// Number of scripted commands that have been given.
    scripted: u32,
    /// Particles that have left the domain so far.
    lost: u64,
}

/// A command and the step before which it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    /// Steps taken when it was given.
    pub step: u64,
    /// The command.
    pub command: Command,
}

/// What a checkpoint holds.
#[derive(Serialize, Deserialize)]
struct Saved {
    clock: Clock,
    /// As JSON: the values are numbers or vectors.
    settings: String,
    state: Vec<u8>,
}

/// A saved world could not be taken over.
#[derive(Debug, thiserror::Error)]
#[error("the saved state does not fit this scene: {0}")]
pub struct LoadError(String);

impl World {
    /// Builds the world of a scene.
    ///
    /// # Errors
    /// When the scene needs more memory than there is, or its meshes cannot be used.
    pub fn new(loaded: &Loaded) -> Result<Self, BuildError> {
        let (method, odd) = build::build(loaded)?;
        let mut warnings: Vec<String> = loaded.hints.iter().cloned().chain(odd).collect();
        if let Some(dt) = loaded.scene.time.dt {
            warnings.extend(too_long(dt, method.stable_step(DVec3::from_array(loaded.scene.gravity))));
        }
        if let Some(finest) = method.finest_substep() {
            finest.check(&loaded.scene)?;
        }
        let mut start = Frame::default();
        method.parts().iter().for_each(|part| part.show(&mut start));
        warnings.extend(overlap::check(loaded, &start)?);
        let mut scene = loaded.scene.clone();
        scene.script.sort_by(|a, b| a.time.total_cmp(&b.time));
        let mut world = Self {
            guard: EnergyGuard::new(loaded, &start),
            hands: Hands::new(&scene),
            gravity: DVec3::from_array(scene.gravity),
            scene,
            method,
            clock: Clock { time: 0.0, step: 0, frame: 0, dt: 0.0, scripted: 0, lost: 0 },
            settings: Vec::new(),
            waiting: Vec::new(),
            replay: Vec::new(),
            log: Vec::new(),
            report: StepReport::default(),
            limited_by: "",
            warnings,
        };
        world.guard_energy();
        Ok(world)
    }

    /// The scene.
    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// What was odd about the scene, and about its energy up to now.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Simulated time \[s\].
    #[must_use]
    pub fn time(&self) -> f64 {
        self.clock.time
    }

    /// Steps taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.clock.step
    }

    /// Particles that have left the domain so far, and are gone.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.clock.lost
    }

    /// Number of the last frame reached.
    #[must_use]
    pub fn frame_number(&self) -> u32 {
        self.clock.frame
    }

    /// Report of the last step.
    #[must_use]
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// What kept the last step from being longer: what is stable, `time.dt`, `time.max_dt`, the time of a frame, or trouble in
    /// the steps before.
    #[must_use]
    pub fn limited_by(&self) -> &'static str {
        self.limited_by
    }

    /// Sums over the state.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.method.parts().iter().for_each(|part| part.add_totals(self.gravity, &mut totals));
        totals
    }

    /// How much energy no work explains at the last frame, in units of what is let pass, dimensionless: above one
    /// twice after each other there is a warning.
    #[must_use]
    pub fn unexplained_energy(&self) -> f64 {
        self.guard.reached()
    }

    /// Hands that hold a solid now: those of the scene in its order, then those of people.
    #[must_use]
    pub fn hands(&self) -> Vec<Hand> {
        self.hands.hold(&self.method.parts())
    }

    /// Steps to the time of the next frame, calling `each` after every step.
    ///
    /// # Errors
    /// When a step fails at every length allowed; the world is then as it was before that step.
    pub fn advance_frame(&mut self, mut each: impl FnMut(&World)) -> Result<(), StepError> {
        par::awake(|| {
            loop {
                let arrived = self.step_to_frame()?;
                each(self);
                if arrived {
                    return Ok(());
                }
            }
        })
    }

    /// Takes one step, not beyond the next frame, and tells whether that frame is reached: commands can be given in between.
    ///
    /// # Errors
    /// When the step fails at every length allowed; the world is then as it was before.
    pub fn step_to_frame(&mut self) -> Result<bool, StepError> {
        let until = f64::from(self.clock.frame + 1) / self.scene.fps;
        if self.clock.time < until {
            self.step(until)?;
        }
        let arrived = self.clock.time >= until;
        self.clock.frame += u32::from(arrived);
        if arrived && self.clock.frame.is_multiple_of(energy_guard::EVERY) {
            let mut report = std::mem::take(&mut self.report);
            report.stage("guard energy", || self.guard_energy());
            self.report = report;
        }
        Ok(arrived)
    }

    /// Takes one step, not beyond the time `until` \[s\].
    ///
    /// # Errors
    /// When the step fails at every length allowed; the world is then as it was before.
    pub fn step(&mut self, until: f64) -> Result<(), StepError> {
        self.give_commands();
        let (wanted, limit) = self.wanted_step()?;
        let left = until - self.clock.time;
        let mut dt = even_step(left, wanted);
        self.limited_by = if wanted * self.scene.fps >= 1.0 { "frame" } else { limit };
        self.report.clear();
        for retries in 0.. {
            self.report.retries = retries;
            self.report.dt = dt;
            let step = Step { time: self.clock.time, dt, gravity: self.gravity, hands: &mut self.hands };
            match self.method.step(step, &mut self.report) {
                Ok(()) => break,
                Err(error) => {
                    self.method.roll_back(&mut self.hands);
                    dt *= 0.5;
                    if retries == RETRIES || dt < self.scene.time.min_dt {
                        return Err(error);
                    }
                }
            }
        }
        let (arrived, start) = (dt == left, self.clock.time);
        self.clock.time = if arrived { until } else { start + dt };
        self.clock.step += 1;
        self.clock.lost += self.report.counter(LEFT_DOMAIN).unwrap_or(0.0) as u64;
        self.clock.dt = if self.report.retries > 0 { dt } else { wanted };
        self.guard.add_work(-self.report.counter(ENERGY_TAKEN).unwrap_or(0.0), 0.0);
        self.guard.follow(&*self.method, [start, self.clock.time]);
        if self.report.counter("cracks").is_some_and(|cracks| cracks > 0.0) {
            self.guard.interrupt();
        }
        Ok(())
    }

    /// Holds the energy of a frame against those before it: what no work explains becomes a warning, once.
    fn guard_energy(&mut self) {
        let gravity = self.gravity;
        for part in self.method.parts_mut() {
            let [energy, pushed] = part.entered(gravity);
            self.guard.add_work(energy, 0.0);
            self.guard.add_work(pushed, energy_guard::PUSHED_IN);
        }
        if let Some(growth) = self.guard.check(self.clock.time, &self.method.parts(), gravity) {
            self.warnings.push(self.tell_growth(&growth));
        }
    }

    fn tell_growth(&self, Growth { between: [from, to], energy, part_of_scale, part }: &Growth) -> String {
        let stage = self.method.parts().get(*part).map_or("", |part| part.moved_in());
        let frame = self.frame();
        let fastest = energy_guard::fastest_body(&frame)
            .map_or(String::new(), |(body, speed)| format!("; `{body}` is fastest, {speed:.3} m/s"));
        format!(
            "energy grew by {energy:.3e} J between {from:.4} and {to:.4} s, {:.0} % of all there is, and no known work explains it: \
             most of it in what stage \"{stage}\" moves{fastest}",
            100.0 * part_of_scale
        )
    }

    /// The step that the method and the scene agree on \[s\], and what keeps it from being longer.
    fn wanted_step(&self) -> Result<(f64, &'static str), StepError> {
        let time = &self.scene.time;
        let finest = self.method.finest_substep();
        if let Some(finest) = finest.filter(|finest| finest.step.is_nan() || finest.step < time.min_dt) {
            let fault = Fault::StepTooSmall { needed: finest.step, smallest: time.min_dt };
            return Err(StepError { stage: "choose step".into(), body: finest.body.into(), index: None, fault });
        }
        let longest = finest.map_or(f64::INFINITY, |finest| finest.longest_step());
        if let Some(dt) = time.dt.filter(|dt| *dt <= longest) {
            return Ok((dt, "time.dt"));
        }
        let stable = self.method.stable_step(self.gravity);
        // After trouble the step grows back gently.
        let gentle = if self.clock.dt > 0.0 { 1.25 * self.clock.dt } else { f64::INFINITY };
        let most = time.dt.unwrap_or(time.max_dt);
        let dt = stable.min(most).min(gentle).min(longest);
        // A NaN is refused too.
        if dt >= time.min_dt {
            let limits = [(stable, "stable"), (longest, "sub-steps"), (time.max_dt, "time.max_dt")];
            let limit = limits.iter().find(|(limit, _)| dt == *limit).map_or("trouble before", |(_, name)| name);
            return Ok((dt, limit));
        }
        Err(StepError {
            stage: "choose step".into(),
            body: "scene".into(),
            index: None,
            fault: Fault::StepTooSmall { needed: dt, smallest: time.min_dt },
        })
    }

    /// Steps from the start to the end of the scene, foretold from how it is now.
    #[must_use]
    pub fn foretold_steps(&self) -> f64 {
        let time = &self.scene.time;
        let longest = self.method.finest_substep().map_or(f64::INFINITY, |finest| finest.longest_step());
        let dt = time.dt.unwrap_or_else(|| self.method.typical_step(self.gravity).min(time.max_dt)).min(longest);
        let interval = 1.0 / self.scene.fps;
        (self.scene.seconds * self.scene.fps - 1e-9).ceil().max(1.0) * (interval / even_step(interval, dt)).round()
    }

    /// Asks for a command at the next step.
    ///
    /// # Errors
    /// With what is wrong with it.
    pub fn apply(&mut self, command: Command) -> Result<(), String> {
        live::check_command(&self.scene, &command)?;
        self.waiting.push(command);
        Ok(())
    }

    /// Repeats logged commands at the steps at which they were given.
    ///
    /// # Errors
    /// With what is wrong with the first that does not suit the scene.
    pub fn replay(&mut self, log: Vec<Logged>) -> Result<(), String> {
        log.iter().try_for_each(|logged| live::check_command(&self.scene, &logged.command))?;
        self.replay = log;
        self.replay.reverse();
        Ok(())
    }

    /// Commands given so far, scripted ones excepted.
    #[must_use]
    pub fn log(&self) -> &[Logged] {
        &self.log
    }

    fn give_commands(&mut self) {
        while let Some(next) = self.scene.script.get(self.clock.scripted as usize) {
            if next.time > self.clock.time {
                break;
            }
            self.clock.scripted += 1;
            self.give(&next.command.clone());
        }
        while self.replay.last().is_some_and(|logged| logged.step <= self.clock.step) {
            if let Some(logged) = self.replay.pop() {
                self.waiting.push(logged.command);
            }
        }
        for command in std::mem::take(&mut self.waiting) {
            self.give(&command);
            self.log.push(Logged { step: self.clock.step, command });
        }
    }

    fn give(&mut self, command: &Command) {
        self.guard.interrupt();
        match command {
            Command::Poke(poke) => self.method.parts_mut().into_iter().for_each(|part| part.poke(poke)),
            Command::Grab(grab) => {
                self.guard.expect_hands();
                hands::grab(&mut self.method.parts_mut(), grab);
            }
            Command::Move(target) => hands::move_hand(&mut self.method.parts_mut(), target),
            Command::Release(hand) => hands::release(&mut self.method.parts_mut(), hand),
            Command::Set(set) => {
                self.set(set);
                self.settings.retain(|old| old.key != set.key);
                self.settings.push(set.clone());
            }
        }
    }

    fn set(&mut self, set: &Set) {
        let Ok(key) = live::find(&self.scene, &set.key) else { return };
        let number;
        let value: &[f64] = match &set.value {
            Value::Number(one) => {
                number = [*one];
                &number
            }
            Value::Vector(vector) => vector,
        };
        match (&key, value) {
            (LiveKey::Gravity, &[x, y, z]) => self.gravity = DVec3::new(x, y, z),
            (LiveKey::PullStiffness(pull), &[value]) => {
                self.hands.set_pull(&mut self.method.parts_mut(), *pull, value);
            }
            _ => {}
        }
        self.method.set(&key, value);
    }

    /// A copy of the world for files, pictures and viewers.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let mut frame =
            Frame { number: self.clock.frame, time: self.clock.time, step: self.clock.step, ..Frame::default() };
        let parts = self.method.parts();
        parts.iter().for_each(|part| part.show(&mut frame));
        hands::show(&self.hands.hold(&parts), &mut frame);
        frame
    }

    /// The tetrahedra of soft bodies, as a frame taken now would refer to them.
    #[must_use]
    pub fn tets(&self) -> Vec<Tets> {
        self.method.parts().iter().flat_map(|part| part.tets()).collect()
    }

    /// Gauss points on surfaces near to liquid, through which it feels them and they it \[m\].
    #[must_use]
    pub fn gauss_points(&self) -> Vec<Vec3> {
        self.method.parts().iter().flat_map(|part| part.gauss_points()).collect()
    }

    /// How far from the surfaces of solids liquid comes to rest \[m\], if it meets any through Gauss points.
    #[must_use]
    pub fn rest_distance(&self) -> Option<f64> {
        self.method.parts().iter().find_map(|part| part.rest_distance())
    }

    /// The fields of a method that has a grid.
    #[must_use]
    pub fn fields(&self) -> Option<Fields> {
        self.method.parts().iter().find_map(|part| part.fields())
    }

    /// The whole state as bytes.
    ///
    /// # Errors
    /// When a part of it has no byte form.
    pub fn save(&self) -> Result<Vec<u8>, LoadError> {
        let fail = |e: &dyn std::fmt::Display| LoadError(e.to_string());
        let saved = Saved {
            clock: self.clock,
            settings: serde_json::to_string(&self.settings).map_err(|e| fail(&e))?,
            state: self.state().map_err(|e| fail(&e))?,
        };
        postcard::to_stdvec(&saved).map_err(|e| fail(&e))
    }

    /// The states of all parts, then what the pulls of the scene hold.
    fn state(&self) -> Result<Vec<u8>, postcard::Error> {
        let bytes = self.method.parts().iter().try_fold(Vec::new(), |bytes, part| part.save(bytes))?;
        postcard::to_extend(&self.hands.active, bytes)
    }

    /// Takes over what `save` gave: the next steps are, bit for bit, those that would have followed then.
    ///
    /// # Errors
    /// When the bytes are not a state of this scene; the world is then not to be used.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), LoadError> {
        let fail = |e: &dyn std::fmt::Display| LoadError(e.to_string());
        let saved: Saved = postcard::from_bytes(bytes).map_err(|e| fail(&e))?;
        let settings: Vec<Set> = serde_json::from_str(&saved.settings).map_err(|e| fail(&e))?;
        for set in &settings {
            live::check(&self.scene, &set.key, &set.value).map_err(|e| fail(&e))?;
            self.set(set);
        }
        let mut state = saved.state.as_slice();
        self.method.parts_mut().into_iter().try_for_each(|part| part.load(&mut state)).map_err(|e| fail(&e))?;
        self.hands.active = take(&mut state).map_err(|e| fail(&e))?;
        if !state.is_empty() {
            return Err(fail(&"there is more than its state"));
        }
        self.settings = settings;
        self.clock = saved.clock;
        self.guard.interrupt();
        self.guard_energy();
        Ok(())
    }

    /// A fingerprint of the state: equal digests are equal bits, whatever the number of threads. It covers all that a checkpoint
    /// holds, and so all that later steps depend on.
    #[must_use]
    pub fn digest(&self) -> String {
        let clock = Digest::default().u64(self.clock.step).f64(self.clock.time);
        let mut digest = self.method.parts().iter().fold(clock, |digest, part| part.digest(digest));
        if let Ok(bytes) = self.save() {
            digest.bytes(&bytes);
        }
        digest.finish()
    }

    /// The columns of the probe file.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        let own = ["time [s]", "step", "particles", "kinetic energy [J]", "potential energy [J]", "volume change"];
        let units = ["fx [N]", "fy [N]", "fz [N]", "tx [N m]", "ty [N m]", "tz [N m]"];
        let mut columns: Vec<String> = own.map(str::to_owned).into();
        columns.extend(self.method.walls().iter().flat_map(|wall| units.map(|unit| format!("{wall}.{unit}"))));
        columns.extend(self.method.parts().iter().flat_map(|part| part.columns()));
        columns.extend(self.method.columns());
        columns.extend(self.hands.columns());
        columns.extend(self.scene.probe.iter().flat_map(|(name, probe)| probes::columns(name, probe)));
        columns
    }

    /// The values of the probe file's columns now.
    #[must_use]
    pub fn measure(&self) -> Vec<f64> {
        let Totals { particles, kinetic_energy, potential_energy, volume_change, .. } = self.totals();
        let (time, step) = (self.clock.time, self.clock.step as f64);
        let mut values = vec![time, step, particles as f64, kinetic_energy, potential_energy, volume_change];
        let parts = self.method.parts();
        let mut walls = vec![Wrench::ZERO; self.method.walls().len()];
        parts.iter().for_each(|part| part.add_wall_forces(&mut walls));
        values.extend(walls.iter().flat_map(|wall| wall.to_array()));
        parts.iter().for_each(|part| part.measure(&mut values));
        self.method.measure(&mut values);
        self.hands.measure(&parts, &mut values);
        self.scene.probe.values().for_each(|probe| probes::measure(&parts, self.gravity, probe, &mut values));
        values
    }
}
