//! Connections that have not shown the token yet.
//!
//! A connection costs nothing to open, and whoever opens many without a word must not lock others out. Strangers have few
//! places; when these are taken the one that has waited longest must go, first of those from the same address.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// Strangers at once.
const MAX_STRANGERS: usize = 64;
/// Strangers from one address.
const MAX_PER_ADDRESS: usize = 32;

/// Who waits at the door.
#[derive(Debug, Default)]
pub(crate) struct Door {
    waiting: Mutex<VecDeque<(IpAddr, Arc<Pass>)>>,
}

/// One connection at the door.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    /// Whether it has shown the token.
    known: AtomicBool,
    sent_away: Notify,
}

impl Pass {
    /// The token was right: from now on it may stay.
    pub(crate) fn let_in(&self) {
        self.known.store(true, Ordering::Relaxed);
    }

    /// Waits until it has to go.
    pub(crate) async fn sent_away(&self) {
        self.sent_away.notified().await;
    }

    fn waits(&self) -> bool {
        !self.known.load(Ordering::Relaxed)
    }
}

impl Door {
    /// A new connection; for it another may have to go.
    pub(crate) fn enter(&self, from: IpAddr) -> Arc<Pass> {
        let pass = Arc::new(Pass::default());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // A connection that has ended is held by nobody else.
        waiting.retain(|(_, pass)| pass.waits() && Arc::strong_count(pass) > 1);
        if waiting.iter().filter(|(address, _)| *address == from).count() >= MAX_PER_ADDRESS {
            send_away(&mut waiting, |address| address == from);
        } else if waiting.len() >= MAX_STRANGERS {
            send_away(&mut waiting, |_| true);
        }
        waiting.push_back((from, pass.clone()));
        pass
    }
}

/// Sends away the first of those that are meant.
fn send_away(waiting: &mut VecDeque<(IpAddr, Arc<Pass>)>, meant: impl Fn(IpAddr) -> bool) {
    let first = waiting.iter().position(|(address, _)| meant(*address));
    if let Some((_, pass)) = first.and_then(|place| waiting.remove(place)) {
        pass.sent_away.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a connection has been told to go.
    fn is_sent_away(pass: &Pass) -> bool {
        let mut waiting = std::pin::pin!(pass.sent_away());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        waiting.as_mut().poll(&mut context).is_ready()
    }

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    #[test]
    fn who_floods_sends_away_its_own() {
        let door = Door::default();
        let other = door.enter(address(1));
        let flood: Vec<_> = (0..MAX_PER_ADDRESS + 3).map(|_| door.enter(address(2))).collect();
        assert!(!is_sent_away(&other));
        let gone: Vec<bool> = flood.iter().map(|pass| is_sent_away(pass)).collect();
        assert!(gone[..3].iter().all(|&gone| gone) && gone[3..].iter().all(|&gone| !gone));
    }

    #[test]
    fn who_has_shown_the_token_stays() {
        let door = Door::default();
        let known = door.enter(address(1));
        known.let_in();
        let flood: Vec<_> = (0..=255).map(|last| door.enter(address(last))).collect();
        assert!(!is_sent_away(&known));
        assert_eq!(flood.iter().filter(|pass| !is_sent_away(pass)).count(), MAX_STRANGERS);
    }

    #[test]
    fn who_has_gone_takes_no_place() {
        let door = Door::default();
        let first = door.enter(address(1));
        (0..1000).for_each(|_| drop(door.enter(address(1))));
        assert!(!is_sent_away(&first));
    }
}
