//! The animated models of the gallery, made by code: an articulated [hand](hand()), a [swimmer](swimmer()) and the
//! [left heart](heart()); and two rigid ones, a [paddle wheel](wheel()) and a [diving bell](bell()). `cargo run --release -p meniscus-assets` writes them to `scenes/assets`; the same code gives
//! the same bytes.
//!
//! A body is a skeleton with flesh of rounded cones and ellipsoids that melt into each other; its skin is the surface
//! of value zero, hung on the joints by weights. The heart's walls move by morph targets. Lengths in metres, y up.

mod flesh;
mod glb;
mod hand;
mod heart;
mod keys;
mod skeleton;
mod skin;
mod swimmer;
mod tools;
mod valves;
mod wall;

pub use hand::hand;
pub use heart::{BEAT, EJECTED, END_DIASTOLIC, END_SYSTOLIC, SHUT, heart};
pub use swimmer::{STROKE, swimmer};
pub use tools::{bell, wheel};

/// What makes the bytes of a model.
pub type Make = fn() -> Vec<u8>;

/// Every model: its file's name and what makes it.
pub const MODELS: [(&str, Make); 5] =
    [("hand.glb", hand), ("swimmer.glb", swimmer), ("heart.glb", heart), ("wheel.obj", wheel), ("bell.obj", bell)];
