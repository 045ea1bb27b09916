//! A simulation that runs while people look at it and reach into it.
//!
//! One thread owns the world. Between two steps it takes orders; after a step it shows a picture, if somebody would look at it at
//! once and the frame is complete, or the last picture is old, or somebody has done something. It only copies the frame: bytes are
//! made of it beside the next steps.
//!
//! A step that may be long (the first, one after a parameter was changed, one after a long one) is taken apart ([`crate::mill`]): orders are
//! answered meanwhile, and a world that nobody wants to wait for is left behind.

use crate::hub::{Camera, Hub, Source};
use crate::message::{CardMessage, HandMessage, Mode, Order, Request, SceneMessage, Series, Status};
use crate::mill::{Lost, Mill};
use crate::pace::{Meter, Pace};
use crate::protocol::{self, Extras};
use crate::session::Session;
use meniscus_core::{StepError, StepReport, par};
use meniscus_scene::{Command, Loaded, Set, Value};
use meniscus_sim::{Hand, Totals, World};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

/// Frames per simulated second at which a scene should be loaded to be played \[1/s\].
pub const PLAY_RATE: f64 = 60.0;
/// A picture older than this is replaced in the middle of a frame.
const OLD: Duration = Duration::from_millis(33);
/// The same when somebody has done something: the answer is shown as soon as a step has it.
const OLD_WHEN_TOUCHED: Duration = Duration::from_millis(8);
/// How often the state is told.
const TELL: Duration = Duration::from_millis(66);
/// The same after commands.
const TELL_TOUCHED: Duration = Duration::from_millis(16);
/// A step longer than this is expected to be followed by others.
const LONG: Duration = Duration::from_millis(100);
/// How often orders are looked for while a step is taken apart.
const LOOK: Duration = Duration::from_millis(20);
/// How long to wait for orders when there is nothing to do.
const REST: Duration = Duration::from_millis(100);

/// A scene that can be chosen.
#[derive(Debug, Clone)]
pub struct Card {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is to be seen.
    pub summary: String,
    /// A small picture, PNG.
    pub thumbnail: Option<&'static [u8]>,
}

type Load = dyn Fn(&str) -> Result<Loaded, String> + Send;

/// What can be chosen, and how it is loaded.
pub struct Gallery {
    /// The scenes, in the order in which they are shown.
    pub cards: Vec<Card>,
    /// Loads a scene by the name on its card, at [`PLAY_RATE`].
    pub load: Box<Load>,
}

impl Default for Gallery {
    fn default() -> Self {
        Self { cards: Vec::new(), load: Box::new(|name| Err(format!("there is no scene `{name}`"))) }
    }
}

impl Gallery {
    pub(crate) fn thumbnails(&self) -> Vec<(String, &'static [u8])> {
        self.cards.iter().filter_map(|card| Some((card.name.clone(), card.thumbnail?))).collect()
    }
}

/// A world on stage.
struct Stage {
    loaded: Loaded,
    world: World,
    /// Live parameters that are not as in the scene file.
    settings: BTreeMap<String, Value>,
    session: Option<Session>,
    profile: StepReport,
    profiled: u64,
    failed: Option<String>,
    /// Warnings that the scene message has told.
    told: usize,
    /// Whether it is at the time of a frame.
    arrived: bool,
    /// The step that the last picture shows.
    shown: Option<u64>,
    /// Whether the next step may be long.
    suspect: bool,
    /// How the step went that was taken apart.
    result: Option<Result<bool, StepError>>,
}

/// What is told of a world while it is away.
#[derive(Clone, Copy, Default)]
struct LastTold {
    time: f64,
    step: u64,
    frame: u32,
    particles: u64,
    tets: u64,
    cells: u64,
}

/// The thread's own things.
pub(crate) struct Live {
    hub: Arc<Hub>,
    camera: Camera,
    gallery: Gallery,
    sessions: Option<PathBuf>,
    running: bool,
    /// Frames that are still to be taken while it stands.
    single: u32,
    pace: Pace,
    meter: Meter,
    pictured: Instant,
    /// Whether a command was given since the last picture.
    touched: bool,
    told: Instant,
    last: LastTold,
    threads: usize,
    mill: Option<Mill<Stage>>,
}

impl Live {
    pub(crate) fn new(hub: Arc<Hub>, gallery: Gallery, sessions: Option<PathBuf>, threads: usize) -> io::Result<Self> {
        let now = Instant::now();
        Ok(Self {
            camera: Camera::new(hub.clone(), Source::World, threads)?,
            hub,
            gallery,
            sessions,
            running: true,
            single: 0,
            pace: Pace::new(),
            meter: Meter::default(),
            pictured: now,
            touched: false,
            told: now,
            last: LastTold::default(),
            threads,
            mill: None,
        })
    }

    /// Plays until the server is gone.
    pub(crate) fn run(mut self, loaded: Loaded, world: World, orders: &Receiver<Order>) {
        let mut stage = self.present(loaded, world, BTreeMap::new());
        while let Ok(order) = next(orders, self.wait(&stage)) {
            if let Some(order) = order {
                self.obey(&mut stage, &order);
            } else if stage.suspect && self.moves(&stage) {
                stage = match self.advance_apart(stage, orders) {
                    Ok(stage) => stage,
                    Err(Gone) => return,
                };
            } else if par::awake(|| self.keep_up(&mut stage, orders)).is_err() {
                return;
            }
            self.show(&mut stage, false);
        }
    }

    fn moves(&self, stage: &Stage) -> bool {
        stage.failed.is_none() && (self.running || self.single > 0)
    }

    /// How long nothing is due.
    fn wait(&mut self, stage: &Stage) -> Duration {
        if !self.moves(stage) {
            REST
        } else if self.single > 0 {
            Duration::ZERO
        } else {
            // What somebody does is answered at once.
            let in_one_go = !stage.arrived || self.touched;
            self.pace.wait(stage.world.time(), in_one_go, Instant::now())
        }
    }

    /// Takes steps while they are due, and orders between them.
    fn keep_up(&mut self, stage: &mut Stage, orders: &Receiver<Order>) -> Result<(), Gone> {
        while self.wait(stage).is_zero() && !stage.suspect {
            self.advance(stage);
            self.show(stage, false);
            while let Some(order) = next(orders, Duration::ZERO)? {
                self.obey(stage, &order);
            }
        }
        Ok(())
    }

    fn obey(&mut self, stage: &mut Stage, order: &Order) {
        match &order.request {
            Request::Pause { on } => {
                self.running = !on;
                self.single = 0;
                self.halt();
            }
            Request::Step => {
                self.running = false;
                self.single += 1;
                self.halt();
            }
            Request::Speed { factor } => {
                self.pace.speed = *factor;
                self.halt();
            }
            Request::Command { command } => self.command(stage, command, order),
            Request::Reset => {
                if let Some(new) = self.reset(order, &stage.loaded, &stage.settings) {
                    *stage = new;
                }
            }
            Request::Load { scene } => {
                if let Some(new) = self.load(order, scene) {
                    *stage = new;
                    self.running = true;
                }
            }
            Request::Seek { .. } => order.refuse("a live simulation has no frames to go to"),
            // A world that stands is shown again.
            Request::Extras { .. } => stage.shown = None,
            Request::Shown { .. } => {}
        }
        // A hand that moves sends many commands.
        let of_many = matches!(order.request, Request::Command { .. });
        self.show(stage, !of_many || self.told.elapsed() > TELL_TOUCHED);
    }

    fn reset(&mut self, order: &Order, loaded: &Loaded, settings: &BTreeMap<String, Value>) -> Option<Stage> {
        self.tell_loading(&loaded.name);
        match World::new(loaded) {
            Ok(world) => Some(self.present(loaded.clone(), world, settings.clone())),
            Err(error) => {
                order.refuse(&error.to_string());
                None
            }
        }
    }

    /// Time begins anew: what was measured before says nothing about what follows.
    fn halt(&mut self) {
        self.pace.restart();
        self.meter.restart();
    }

    fn command(&mut self, stage: &mut Stage, command: &Command, order: &Order) {
        match stage.world.apply(command.clone()) {
            Err(why) => order.refuse(&why),
            Ok(()) => {
                self.touched = true;
                if let Command::Set(Set { key, value }) = command {
                    stage.suspect = true;
                    stage.settings.insert(key.clone(), value.clone());
                }
            }
        }
    }

    /// A world may take long to build.
    fn tell_loading(&self, name: &str) {
        self.hub.tell(&Status { loading: Some(name), generation: self.camera.generation(), ..Status::default() });
    }

    fn load(&mut self, order: &Order, name: &str) -> Option<Stage> {
        if !self.gallery.cards.iter().any(|card| card.name == name) {
            order.refuse("the gallery has no such scene");
            return None;
        }
        self.tell_loading(name);
        let load = || {
            let loaded = (self.gallery.load)(name)?;
            let world = World::new(&loaded).map_err(|e| e.to_string())?;
            Ok::<_, String>((loaded, world))
        };
        match load() {
            Ok((loaded, world)) => Some(self.present(loaded, world, BTreeMap::new())),
            Err(why) => {
                order.refuse(&why);
                None
            }
        }
    }

    /// Puts a new world on stage, with parameters that were changed before, and shows it.
    fn present(&mut self, loaded: Loaded, mut world: World, settings: BTreeMap<String, Value>) -> Stage {
        for (key, value) in &settings {
            // They suited the same scene before.
            let _ = world.apply(Command::Set(Set { key: key.clone(), value: value.clone() }));
        }
        let cards = &self.gallery.cards;
        self.camera
            .turn_to(loaded.scene.surface, |generation| scene_text(&loaded, world.warnings(), cards, None, generation));
        self.halt();
        let session = self.sessions.as_deref().map(Session::new);
        let (profile, profiled) = (StepReport::default(), 0);
        let told = world.warnings().len();
        let mut stage = Stage {
            loaded,
            world,
            settings,
            session,
            profile,
            profiled,
            failed: None,
            told,
            arrived: true,
            shown: None,
            suspect: true,
            result: None,
        };
        self.show(&mut stage, true);
        stage
    }

    /// Takes one step.
    fn advance(&mut self, stage: &mut Stage) {
        stage.step();
        self.follow(stage);
    }

    /// Takes one step on threads of its own, and orders meanwhile; the world that is on stage then.
    fn advance_apart(&mut self, stage: Stage, orders: &Receiver<Order>) -> Result<Stage, Gone> {
        let (began, scene) = (Instant::now(), (stage.loaded.clone(), stage.settings.clone()));
        let mut stage = match self.give_to_mill(stage) {
            None => None,
            // Without threads it is taken here.
            Some(mut stage) => {
                stage.step();
                Some(stage)
            }
        };
        let mut later: Vec<Order> = Vec::new();
        while stage.is_none() {
            match self.mill.as_ref().map_or(Ok(None), |mill| mill.wait(LOOK)) {
                Ok(back) => stage = back,
                Err(Lost) => return self.begin_again(scene, "the step broke down: this is an error of the program"),
            }
            while let Some(order) = next(orders, Duration::ZERO)? {
                match self.obey_meanwhile(&order, &scene) {
                    Meanwhile::New(mut new) => {
                        // The old one goes when its step is done.
                        self.mill = None;
                        if matches!(order.request, Request::Reset) {
                            // What was changed before the reset holds after it.
                            let changes = later.iter().filter(|order| order.changes_setting());
                            changes.for_each(|order| self.obey(&mut new, order));
                            self.show(&mut new, true);
                        }
                        return Ok(*new);
                    }
                    Meanwhile::Done => {
                        // Single steps that were asked for before a pause are not taken after it.
                        let pauses = matches!(order.request, Request::Pause { .. });
                        later.retain(|order| !(pauses && matches!(order.request, Request::Step)));
                        self.tell_busy(began.elapsed());
                    }
                    Meanwhile::Later => later.push(order),
                }
            }
            if stage.is_none() && began.elapsed() > LONG && self.told.elapsed() > TELL {
                self.tell_busy(began.elapsed());
            }
        }
        let mut stage = stage.ok_or(Gone)?;
        self.follow(&mut stage);
        later.iter().for_each(|order| self.obey(&mut stage, order));
        Ok(stage)
    }

    /// Begins a step apart; gives the stage back if there are no threads for it.
    fn give_to_mill(&mut self, stage: Stage) -> Option<Stage> {
        if self.mill.is_none() {
            self.mill = Mill::new(self.threads, Stage::step).ok();
        }
        match &self.mill {
            Some(mill) => mill.begin(stage).err(),
            None => Some(stage),
        }
    }

    /// The same scene from its start, stopped for a reason.
    fn begin_again(&mut self, (loaded, settings): (Loaded, BTreeMap<String, Value>), why: &str) -> Result<Stage, Gone> {
        self.mill = None;
        // It could be built before.
        let world = World::new(&loaded).map_err(|_| Gone)?;
        let mut stage = self.present(loaded, world, settings);
        stage.failed = Some(why.to_owned());
        Ok(stage)
    }

    /// Does what can be done while the world is away.
    fn obey_meanwhile(&mut self, order: &Order, (loaded, settings): &(Loaded, BTreeMap<String, Value>)) -> Meanwhile {
        match &order.request {
            Request::Pause { on } => {
                self.running = !on;
                self.single = 0;
                self.halt();
                Meanwhile::Done
            }
            Request::Speed { factor } => {
                self.pace.speed = *factor;
                self.halt();
                Meanwhile::Done
            }
            Request::Reset => {
                self.reset(order, loaded, settings).map_or(Meanwhile::Done, |new| Meanwhile::New(Box::new(new)))
            }
            Request::Load { scene } => match self.load(order, scene) {
                Some(new) => {
                    self.running = true;
                    Meanwhile::New(Box::new(new))
                }
                None => Meanwhile::Done,
            },
            Request::Step
            | Request::Command { .. }
            | Request::Seek { .. }
            | Request::Extras { .. }
            | Request::Shown { .. } => Meanwhile::Later,
        }
    }

    /// Tells that a step is under way, and since when.
    fn tell_busy(&mut self, since: Duration) {
        self.told = Instant::now();
        let LastTold { time, step, frame, particles, tets, cells } = self.last;
        self.hub.tell(&Status {
            generation: self.camera.generation(),
            running: self.running,
            speed: self.pace.speed,
            time,
            step,
            frame,
            particles,
            tets,
            cells,
            viewers: self.hub.viewers(),
            busy: Some(since.as_secs_f64()),
            ..Status::default()
        });
    }

    /// What follows a step.
    fn follow(&mut self, stage: &mut Stage) {
        match stage.result.take().unwrap_or(Ok(stage.arrived)) {
            Ok(arrived) => {
                stage.arrived = arrived;
                stage.profile.absorb(stage.world.report());
                stage.profiled += 1;
                self.meter.note(stage.world.time(), Instant::now());
                self.single = self.single.saturating_sub(u32::from(arrived));
                let old = if self.touched { OLD_WHEN_TOUCHED } else { OLD };
                if arrived || self.pictured.elapsed() > old {
                    self.picture(stage);
                }
            }
            Err(error) => {
                stage.failed = Some(error.to_string());
                self.single = 0;
            }
        }
        if let Some(Err(error)) = stage.session.as_mut().map(|s| s.follow(&stage.loaded, &stage.world)) {
            stage.failed = Some(format!("the session cannot be written: {error}"));
        }
    }

    /// Shows a picture, if anybody would look.
    fn picture(&mut self, stage: &mut Stage) {
        if !self.hub.is_hungry() {
            return;
        }
        let Stage { world, profile, .. } = stage;
        let (frame, extras) = profile.stage("copy frame", || (world.frame(), extras(world, self.hub.wishes())));
        if self.camera.try_shoot(frame, extras) {
            stage.shown = Some(world.steps());
            self.pictured = Instant::now();
            self.touched = false;
        }
    }

    /// Tells how it goes, now and then or at once; a world that stands is shown as it is.
    fn show(&mut self, stage: &mut Stage, at_once: bool) {
        if stage.shown.is_none() || (!self.moves(stage) && stage.shown != Some(stage.world.steps())) {
            self.camera.shoot(stage.world.frame(), extras(&stage.world, self.hub.wishes()));
            stage.shown = Some(stage.world.steps());
        }
        if at_once || (self.told.elapsed() > TELL && self.hub.viewers() > 0) {
            self.told = Instant::now();
            self.tell(stage);
        }
    }

    fn tell(&mut self, stage: &mut Stage) {
        let Stage { world, settings, profile, profiled, failed, told, .. } = stage;
        let Totals { particles, tets, cells, kinetic_energy, potential_energy, elastic_energy, volume_change, .. } =
            world.totals();
        self.last =
            LastTold { time: world.time(), step: world.steps(), frame: world.frame_number(), particles, tets, cells };
        let steps = (*profiled).max(1) as f64;
        let stages = profile.stages().iter().map(|stage| (stage.name, stage.time.as_secs_f64() * 1e3 / steps));
        self.hub.tell(&Status {
            generation: self.camera.generation(),
            running: self.running && failed.is_none(),
            speed: self.pace.speed,
            rate: if self.running { self.meter.rate() } else { None },
            time: world.time(),
            step: world.steps(),
            frame: world.frame_number(),
            particles,
            tets,
            cells,
            pieces: world.report().counter("pieces"),
            energy: Some([kinetic_energy, potential_energy, elastic_energy]),
            volume: (particles + cells > 0).then_some(volume_change),
            stages: stages.collect(),
            encoding: self.hub.take_developing().as_secs_f64() * 1e3 / steps,
            steps: *profiled,
            settings: settings.iter().map(|(key, value)| (key.as_str(), value)).collect(),
            hands: world.hands().iter().map(hand_message).collect(),
            commands: world.log().len(),
            viewers: self.hub.viewers(),
            failed: failed.as_deref(),
            warning: world.warnings()[*told..].last().map(String::as_str),
            ..Status::default()
        });
        if *profiled > 0 {
            profile.clear();
            *profiled = 0;
        }
    }
}

impl Stage {
    /// Takes one step and notes how it went.
    fn step(&mut self) {
        let began = Instant::now();
        self.result = Some(self.world.step_to_frame());
        self.suspect = began.elapsed() > LONG;
    }
}

/// What became of an order while the world was away.
enum Meanwhile {
    /// Another world is on stage.
    New(Box<Stage>),
    /// It is done, or refused.
    Done,
    /// It has to wait for the world.
    Later,
}

/// Nobody can order any more.
struct Gone;

/// The next order, if one comes in time.
fn next(orders: &Receiver<Order>, wait: Duration) -> Result<Option<Order>, Gone> {
    if wait.is_zero() {
        return match orders.try_recv() {
            Err(TryRecvError::Disconnected) => Err(Gone),
            order => Ok(order.ok()),
        };
    }
    match orders.recv_timeout(wait) {
        Err(RecvTimeoutError::Disconnected) => Err(Gone),
        order => Ok(order.ok()),
    }
}

/// What is wished for beside a frame: tetrahedra, Gauss points.
fn extras(world: &World, [tets, points, _]: [bool; 3]) -> Extras {
    Extras {
        tets: if tets { world.tets() } else { Vec::new() },
        points: if points { world.gauss_points() } else { Vec::new() },
        ..Extras::default()
    }
}

fn hand_message(hand: &Hand) -> HandMessage {
    let Hand { point, target, force, .. } = hand;
    HandMessage { point: point.to_array(), target: target.to_array(), force: force.to_array() }
}

/// What is shown, as JSON; with what was measured if it is a record.
pub(crate) fn scene_text(
    loaded: &Loaded,
    warnings: &[String],
    cards: &[Card],
    series: Option<&Series>,
    generation: u32,
) -> String {
    let mode = if series.is_some() { Mode::Replay } else { Mode::Live };
    let scene = &loaded.scene;
    let card = cards.iter().find(|card| card.name == loaded.name);
    let parameters = match mode {
        Mode::Live => meniscus_scene::live::parameters(scene).into_iter().map(Into::into).collect(),
        Mode::Replay => Vec::new(),
    };
    let message = SceneMessage {
        protocol: protocol::VERSION,
        version: env!("CARGO_PKG_VERSION"),
        generation,
        mode,
        name: &loaded.name,
        title: if scene.title.is_empty() { &loaded.name } else { &scene.title },
        summary: card.map_or("", |card| &card.summary),
        figure: &scene.figure,
        method: scene.method.name(),
        gallery: cards
            .iter()
            .map(|card| CardMessage {
                name: &card.name,
                title: &card.title,
                summary: &card.summary,
                thumbnail: card.thumbnail.is_some(),
            })
            .collect(),
        parameters,
        camera: &scene.camera,
        picture: &scene.picture,
        speed_scale: meniscus_sim::speed_scale(loaded),
        warnings,
        series,
    };
    serde_json::to_string(&message).unwrap_or_default()
}
