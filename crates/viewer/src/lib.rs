//! Meniscus in the browser: a local web server and its page.
//!
//! * [`Server`]: serves one simulation that runs live, or one record, to any number of browsers.
//! * `live`, `replay`: the thread that owns the world, or the record; it takes orders and publishes pictures.
//! * `hub`: what that thread shows and what the viewers ask for. A viewer that is slow misses pictures; it never lags.
//! * [`protocol`]: pictures as bytes.
//! * `guard`, `socket`, `bucket`: who may come in, and how much a visitor may say.
//! * `page/`: the page, plain ES modules and WebGL2, embedded in the program.
//!
//! What a person does is a [`Command`](meniscus_scene::Command), given at a step boundary and logged: a live session can be
//! repeated bit for bit.
//!
//! ```no_run
//! use meniscus_viewer::{Gallery, Options, Server, Show};
//! # fn scene() -> meniscus_scene::Loaded { unimplemented!() }
//! let show = Show::Live { scene: Box::new(scene()), gallery: Gallery::default(), threads: 2, sessions: None };
//! let server = Server::start(show, &Options::default())?;
//! println!("{}", server.link());
//! server.wait();
//! # Ok::<(), meniscus_viewer::ViewerError>(())
//! ```

mod assets;
mod bucket;
mod door;
mod guard;
mod hub;
mod liquids;
mod live;
mod message;
mod mill;
mod pace;
mod panes;
pub mod protocol;
mod replay;
mod server;
mod session;
mod socket;

pub use live::{Card, Gallery, PLAY_RATE};
pub use server::{DEFAULT_PORT, Options, Server, Show, ViewerError};
