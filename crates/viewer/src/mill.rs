//! Where steps are taken that may be long: on a thread and a pool of their own, so that orders are answered meanwhile.
//!
//! A step cannot be stopped half way. Whoever does not want to wait for it leaves it behind: what it works on is dropped when it
//! is done, and its threads end.

use meniscus_core::par;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

/// Works on one thing at a time.
pub(crate) struct Mill<T> {
    give: SyncSender<T>,
    done: Receiver<T>,
}

impl<T: Send + 'static> Mill<T> {
    /// # Errors
    /// When the system has no thread left.
    pub(crate) fn new(threads: usize, mut work: impl FnMut(&mut T) + Send + 'static) -> io::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
        let (give, taken) = mpsc::sync_channel(1);
        let (hand_back, done) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("meniscus-mill".into()).spawn(move || {
            for mut thing in taken {
                pool.install(|| par::awake(|| work(&mut thing)));
                if hand_back.send(thing).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { give, done })
    }

    /// Begins to work on a thing; it comes back if the mill has broken down.
    pub(crate) fn begin(&self, thing: T) -> Result<(), T> {
        self.give.send(thing).map_err(|failed| failed.0)
    }

    /// The thing, if it is done in time.
    ///
    /// # Errors
    /// When the work has panicked: the thing is lost.
    pub(crate) fn wait(&self, time: Duration) -> Result<Option<T>, Lost> {
        match self.done.recv_timeout(time) {
            Ok(thing) => Ok(Some(thing)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Lost),
        }
    }
}

/// What was worked on is gone.
#[derive(Debug)]
pub(crate) struct Lost;
