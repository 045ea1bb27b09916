//! One viewer's WebSocket: pictures and words out, requests in.

use crate::bucket::Bucket;
use crate::hub::{Hub, Picture, Seat};
use crate::message::{Order, Request};
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use meniscus_scene::{Command, Release};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::{interval, timeout};

/// Largest message that is read \[bytes\].
pub(crate) const LARGEST_MESSAGE: usize = 16 * 1024;
/// Viewers at once.
const MAX_VIEWERS: usize = 32;
/// Pictures under way to a viewer: one is drawn while the next travels.
const UNDER_WAY: usize = 2;
/// Hands of one viewer.
const HANDS: u32 = 16;
/// How often a viewer is asked whether it is still there.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// A viewer that gives no sign of life for so long is gone.
const SILENCE: Duration = Duration::from_secs(16);
/// A message that cannot be sent in this time will not be.
const SENDING: Duration = Duration::from_secs(10);

/// How long a viewer has to hear why it must go.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why a connection ends.
struct End(u16, String);

/// Serves one viewer until it goes, or has to.
pub(crate) async fn serve(mut socket: WebSocket, hub: Arc<Hub>, orders: SyncSender<Order>) {
    let end = match hub.seat(MAX_VIEWERS) {
        None => Some(End(close_code::AGAIN, "too many viewers".into())),
        Some(seat) => {
            let (replies, inbox) = mpsc::channel(16);
            let viewer = Viewer {
                hub,
                orders,
                seat,
                bucket: Bucket::new(Instant::now()),
                under_way: VecDeque::new(),
                generation: 0,
                topology: 0,
                heard: Instant::now(),
                holding: Vec::new(),
                replies,
            };
            viewer.run(&mut socket, inbox).await.err()
        }
    };
    if let Some(End(code, reason)) = end {
        let close = Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from(reason) }));
        let _ = timeout(Duration::from_secs(1), socket.send(close)).await;
        // What the viewer has still sent must be read: a socket that is dropped over it is reset, and the viewer may lose the
        // words that tell why.
        let farewell = async { while let Some(Ok(_)) = socket.recv().await {} };
        let _ = timeout(FAREWELL, farewell).await;
    }
}

struct Viewer {
    hub: Arc<Hub>,
    orders: SyncSender<Order>,
    seat: Seat,
    bucket: Bucket,
    /// Numbers of pictures that were sent and not yet drawn.
    under_way: VecDeque<u32>,
    /// The scene and the topology that this viewer knows.
    generation: u32,
    topology: u32,
    heard: Instant,
    /// Hands of this viewer that may hold something.
    holding: Vec<u32>,
    replies: mpsc::Sender<String>,
}

impl Viewer {
    async fn run(mut self, socket: &mut WebSocket, mut inbox: mpsc::Receiver<String>) -> Result<(), End> {
        let (mut pictures, mut statuses) = (self.hub.pictures(), self.hub.statuses());
        pictures.mark_changed();
        statuses.mark_changed();
        let mut heartbeat = interval(HEARTBEAT);
        loop {
            let hungry = self.under_way.len() < UNDER_WAY;
            self.seat.set_hungry(hungry);
            tokio::select! {
                message = socket.recv() => match message {
                    Some(Ok(message)) => if !self.hear(message)? { return Ok(()) },
                    Some(Err(error)) => return Err(End(close_code::SIZE, short(&error.to_string()))),
                    None => return Ok(()),
                },
                changed = pictures.changed(), if hungry => {
                    changed.map_err(|_| going_away())?;
                    let picture = pictures.borrow_and_update().clone();
                    if let Some(picture) = picture {
                        self.show(socket, &picture).await?;
                    }
                }
                changed = statuses.changed() => {
                    changed.map_err(|_| going_away())?;
                    let status = statuses.borrow_and_update().to_string();
                    if !status.is_empty() {
                        send(socket, Message::text(status)).await?;
                    }
                }
                Some(reply) = inbox.recv() => send(socket, Message::text(reply)).await?,
                _ = heartbeat.tick() => {
                    if self.heard.elapsed() > SILENCE {
                        return Err(End(close_code::AWAY, "silent for too long".into()));
                    }
                    send(socket, Message::Ping(Default::default())).await?;
                }
            }
        }
    }

    /// Sends a picture, before it what is needed to read it.
    async fn show(&mut self, socket: &mut WebSocket, picture: &Picture) -> Result<(), End> {
        if self.generation != picture.scene.generation {
            self.generation = picture.scene.generation;
            send(socket, Message::text(picture.scene.text.clone())).await?;
        }
        if self.topology != picture.topology.id {
            self.topology = picture.topology.id;
            send(socket, Message::Binary(picture.topology.bytes.clone())).await?;
        }
        self.under_way.push_back(picture.sequence);
        send(socket, Message::Binary(picture.frame.clone())).await
    }

    /// Reads a message; false when the viewer says goodbye.
    fn hear(&mut self, message: Message) -> Result<bool, End> {
        self.heard = Instant::now();
        if !self.bucket.take(self.heard) {
            return Err(End(close_code::POLICY, "too many messages".into()));
        }
        let text = match message {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Ok(true),
            Message::Close(_) => return Ok(false),
            Message::Binary(_) => {
                return Err(End(close_code::UNSUPPORTED, "binary messages are not understood".into()));
            }
        };
        let mut request = Request::parse(&text).map_err(|why| End(close_code::POLICY, short(&why)))?;
        if let Request::Shown { sequence } = request {
            // A viewer counts what it has drawn; it cannot have drawn what was not sent.
            while self.under_way.front().is_some_and(|&sent| sent <= sequence) {
                self.under_way.pop_front();
            }
            return Ok(true);
        }
        if let Request::Extras { tets, points, surfaces } = request {
            self.seat.wish([tets, points, surfaces]);
        }
        if let Request::Command { command } = &mut request {
            self.own_hands(command);
        }
        let order = Order { request, from: self.replies.clone() };
        if self.orders.try_send(order).is_err() {
            let _ = self.replies.try_send(r#"{"type":"refused","why":"too much is waiting already"}"#.into());
        }
        Ok(true)
    }
}

impl Viewer {
    /// Gives the hands of this viewer numbers that no other viewer's hands have, and remembers those that hold something.
    fn own_hands(&mut self, command: &mut Command) {
        let hand = match command {
            Command::Grab(grab) => &mut grab.hand,
            Command::Move(target) => &mut target.hand,
            Command::Release(release) => &mut release.hand,
            Command::Set(_) | Command::Poke(_) => return,
        };
        *hand = self.seat.number.wrapping_mul(HANDS) + *hand % HANDS;
        let hand = *hand;
        self.holding.retain(|&held| held != hand);
        if !matches!(command, Command::Release(_)) {
            self.holding.push(hand);
        }
    }
}

impl Drop for Viewer {
    /// A viewer that goes lets go.
    fn drop(&mut self) {
        for &hand in &self.holding {
            let request = Request::Command { command: Command::Release(Release { hand }) };
            let order = Order { request, from: self.replies.clone() };
            if let Err(TrySendError::Full(order)) = self.orders.try_send(order) {
                // Behind a flood it must wait for its place; were it lost, the hand would hold for ever.
                let orders = self.orders.clone();
                // Nobody holds anything when the simulation is gone.
                std::thread::spawn(move || drop(orders.send(order)));
            }
        }
    }
}

async fn send(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    match timeout(SENDING, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(End(close_code::AWAY, "cannot send".into())),
    }
}

fn going_away() -> End {
    End(close_code::AWAY, "the server stops".into())
}

/// A reason as short as a close frame wants it.
fn short(reason: &str) -> String {
    reason.chars().take(100).filter(char::is_ascii).collect()
}
