//! The particle liquid.

pub(crate) mod dam_break;
pub(crate) mod hydrostatic;
pub(crate) mod living;
pub(crate) mod no_leak;
pub(crate) mod poiseuille_plane;
pub(crate) mod sloshing;
pub(crate) mod spin;
