//! Ctrl-C and SIGTERM: a run finishes its step, saves its state and ends; a second signal ends it at once.

use crate::failure::Failure;
use meniscus::RunError;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What signals ask for.
#[derive(Default)]
pub(crate) struct Signals {
    stop: Arc<AtomicBool>,
    /// The number of the last signal.
    which: Arc<AtomicUsize>,
}

impl Signals {
    /// Set when the run is to stop.
    pub(crate) fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Takes signals from now on; before, there is nothing to save and they end the program as usual.
    pub(crate) fn listen(&self) {
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal sets the flag, the second finds it set. Where the system refuses, signals
            // end the program at once, as they do elsewhere.
            let _ = flag::register_conditional_shutdown(signal, 128 + signal, self.stop.clone());
            let _ = flag::register_usize(signal, self.which.clone(), signal as usize);
            let _ = flag::register(signal, self.stop.clone());
        }
    }

    /// A failure, with the exit code that shells expect of a program that a signal has stopped.
    pub(crate) fn failure(&self, error: RunError) -> Failure {
        let stopped = matches!(error, RunError::Stopped { .. });
        let failure = Failure::from(error);
        if stopped { failure.with_exit_code(128 + self.which.load(Ordering::Relaxed) as u8) } else { failure }
    }
}
