//! The scene file.
mod error;
pub mod live;
mod load;
mod model;
mod parse;
mod schema;
mod spelling;
pub mod support;
mod validate;
mod validate_grid;

pub use error::SceneError;
pub use load::{Asset, Loaded};
pub use model::*;
pub use parse::{Settings, nearest, parse, parse_with_hints, to_text};
pub use schema::schema;
