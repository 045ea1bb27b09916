//! Between the thread that shows something and those who look at it.

use crate::liquids::{Pourer, of_grid};
use crate::protocol::{Extras, Surfaces, Topology, encode_frame};
use axum::body::Bytes;
use meniscus_core::Frame;
use meniscus_surface::Settings;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What all viewers see, and how many look.
pub(crate) struct Hub {
    picture: watch::Sender<Option<Arc<Picture>>>,
    status: watch::Sender<Arc<str>>,
    viewers: AtomicUsize,
    hungry: AtomicUsize,
    /// How many want tetrahedra, Gauss points, surfaces of liquids.
    wishes: [AtomicUsize; 3],
    /// Viewers that ever came.
    guests: AtomicU32,
    /// Time spent on making pictures since it was last asked for \[ns\].
    developing: AtomicU64,
}

/// The newest picture with all that is needed to read it.
pub(crate) struct Picture {
    pub(crate) scene: Arc<SceneText>,
    pub(crate) topology: Arc<Encoded>,
    pub(crate) sequence: u32,
    pub(crate) frame: Bytes,
}

/// What is shown, as JSON.
pub(crate) struct SceneText {
    pub(crate) generation: u32,
    pub(crate) text: String,
}

/// A message with its number.
pub(crate) struct Encoded {
    pub(crate) id: u32,
    pub(crate) bytes: Bytes,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            picture: watch::Sender::new(None),
            status: watch::Sender::new(Arc::from("")),
            viewers: AtomicUsize::new(0),
            hungry: AtomicUsize::new(0),
            wishes: Default::default(),
            guests: AtomicU32::new(0),
            developing: AtomicU64::new(0),
        }
    }

    pub(crate) fn pictures(&self) -> watch::Receiver<Option<Arc<Picture>>> {
        self.picture.subscribe()
    }

    pub(crate) fn statuses(&self) -> watch::Receiver<Arc<str>> {
        self.status.subscribe()
    }

    pub(crate) fn publish(&self, picture: Picture) {
        self.picture.send_replace(Some(Arc::new(picture)));
    }

    pub(crate) fn tell(&self, status: &impl serde::Serialize) {
        if let Ok(text) = serde_json::to_string(status) {
            self.status.send_replace(text.into());
        }
    }

    /// How many look.
    pub(crate) fn viewers(&self) -> usize {
        self.viewers.load(Ordering::Relaxed)
    }

    /// Whether somebody would take a picture at once: if nobody would, none need be made.
    pub(crate) fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    /// Whether somebody wants tetrahedra, Gauss points, surfaces of liquids.
    pub(crate) fn wishes(&self) -> [bool; 3] {
        [0, 1, 2].map(|k| self.wishes[k].load(Ordering::Relaxed) > 0)
    }

    /// Time that making pictures took since the last call.
    pub(crate) fn take_developing(&self) -> Duration {
        Duration::from_nanos(self.developing.swap(0, Ordering::Relaxed))
    }

    /// Takes a seat, unless there are `most` already.
    pub(crate) fn seat(self: &Arc<Self>, most: usize) -> Option<Seat> {
        let free = |n: usize| (n < most).then_some(n + 1);
        self.viewers.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()?;
        let number = self.guests.fetch_add(1, Ordering::Relaxed);
        Some(Seat { hub: self.clone(), number, hungry: false, wishes: [false; 3] })
    }
}

/// A viewer's place; it is free again when this goes.
pub(crate) struct Seat {
    hub: Arc<Hub>,
    /// Its number: every viewer gets another.
    pub(crate) number: u32,
    hungry: bool,
    wishes: [bool; 3],
}

impl Seat {
    /// Says whether this viewer would take a picture at once.
    pub(crate) fn set_hungry(&mut self, hungry: bool) {
        count(&self.hub.hungry, &mut self.hungry, hungry);
    }

    /// Says whether this viewer wants tetrahedra, Gauss points, surfaces of liquids.
    pub(crate) fn wish(&mut self, wishes: [bool; 3]) {
        for (k, wish) in wishes.into_iter().enumerate() {
            count(&self.hub.wishes[k], &mut self.wishes[k], wish);
        }
    }
}

/// Counts one who changes from `before` to `now`.
fn count(counter: &AtomicUsize, before: &mut bool, now: bool) {
    if now && !*before {
        counter.fetch_add(1, Ordering::Relaxed);
    } else if !now && *before {
        counter.fetch_sub(1, Ordering::Relaxed);
    }
    *before = now;
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.set_hungry(false);
        self.wish([false; 3]);
        self.hub.viewers.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Turns frames into pictures on a thread of its own, beside the next steps.
pub(crate) struct Camera {
    scene: Arc<SceneText>,
    settings: Settings,
    film: SyncSender<Shot>,
}

/// Where frames come from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Each follows the one before it.
    World,
    /// In the order in which somebody wants to see them.
    Record,
}

/// What is to become a picture.
struct Shot {
    scene: Arc<SceneText>,
    settings: Settings,
    frame: Frame,
    extras: Extras,
}

impl Camera {
    /// A camera whose pictures are made on so many threads.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn new(hub: Arc<Hub>, source: Source, threads: usize) -> io::Result<Self> {
        let scene = Arc::new(SceneText { generation: 0, text: String::new() });
        let (film, shots) = mpsc::sync_channel(1);
        let room = Darkroom::new(hub, source);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
        let develop = move || pool.install(move || room.develop(shots));
        std::thread::Builder::new().name("meniscus-camera".into()).spawn(develop)?;
        Ok(Self { scene, settings: Settings::default(), film })
    }

    /// The pictures that follow show something else, with such surfaces of its liquids. `text` is given its number.
    pub(crate) fn turn_to(&mut self, settings: Settings, text: impl FnOnce(u32) -> String) {
        self.settings = settings;
        let generation = self.scene.generation + 1;
        self.scene = Arc::new(SceneText { generation, text: text(generation) });
    }

    pub(crate) fn generation(&self) -> u32 {
        self.scene.generation
    }

    fn shot(&self, frame: Frame, extras: Extras) -> Shot {
        Shot { scene: self.scene.clone(), settings: self.settings, frame, extras }
    }

    /// Takes a picture, after those that wait.
    pub(crate) fn shoot(&self, frame: Frame, extras: Extras) {
        // The other end is there as long as this one.
        let _ = self.film.send(self.shot(frame, extras));
    }

    /// Takes a picture unless one waits already; whether it did.
    pub(crate) fn try_shoot(&self, frame: Frame, extras: Extras) -> bool {
        self.film.try_send(self.shot(frame, extras)).is_ok()
    }
}

/// Where pictures are made; keeps topology and numbers, and the surfaces of the scene of the last picture.
struct Darkroom {
    hub: Arc<Hub>,
    source: Source,
    pourer: (u32, Pourer),
    topology: Topology,
    encoded: Arc<Encoded>,
    sequence: u32,
}

impl Darkroom {
    fn new(hub: Arc<Hub>, source: Source) -> Self {
        let encoded = Arc::new(Encoded { id: 0, bytes: Bytes::new() });
        Self { hub, source, pourer: (0, Pourer::default()), topology: Topology::default(), encoded, sequence: 0 }
    }

    /// Works until there can be no more shots.
    fn develop(mut self, shots: Receiver<Shot>) {
        for Shot { scene, settings, mut frame, mut extras } in shots {
            let start = Instant::now();
            if self.pourer.0 != scene.generation {
                self.pourer = (scene.generation, Pourer::new(settings, self.source == Source::World));
            }
            let wished = self.hub.wishes()[2];
            let poured = wished.then(|| self.pourer.1.pour(&mut frame));
            extras.surfaces = match &poured {
                None => Surfaces::NobodyAsks,
                Some(None) => Surfaces::TooMany,
                Some(Some(_)) => Surfaces::Here,
            };
            extras.liquids = poured.flatten().unwrap_or_else(|| of_grid(&frame).collect());
            if self.topology.follow(&frame, &extras) {
                self.encoded = Arc::new(Encoded { id: self.topology.id(), bytes: self.topology.encode().into() });
            }
            self.sequence += 1;
            let (topology, sequence) = (self.encoded.clone(), self.sequence);
            let frame = encode_frame(&frame, &extras, topology.id, sequence).into();
            self.hub.developing.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            self.hub.publish(Picture { scene, topology, sequence, frame });
        }
    }
}
