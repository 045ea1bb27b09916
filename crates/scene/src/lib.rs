//! The scene file.
mod animated;
mod body;
mod error;
pub mod live;
mod load;
mod model;
mod parse;
mod pull;
mod rigid;
mod schema;
mod solid;
mod spelling;
pub mod support;
mod validate;
mod validate_grid;

pub use animated::{Animated, MeshWetting, ShellSide};
pub use body::{Body, Cohesion, Kept, Repeat};
pub use error::SceneError;
pub use load::{Asset, Loaded};
pub use model::*;
pub use parse::{Settings, nearest, parse, parse_with_hints, to_text};
pub use pull::{Grab, Move, Pick, Pull, Ray, Release};
pub use rigid::Rigid;
pub use schema::schema;
pub use solid::{Cylinder, Hold, Pool, Solid, SolidShape, Tube};
