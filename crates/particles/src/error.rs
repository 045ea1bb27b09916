//! What cannot be a body.

/// Why particles are not a body.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// There are none.
    #[error("there is no particle in it: it is smaller than the spacing")]
    Empty,
    /// A mass makes no sense.
    #[error("the mass of particle {index} must be greater than zero, not {mass} kg")]
    Mass {
        /// Number of the particle.
        index: usize,
        /// Its mass \[kg\].
        mass: f64,
    },
    /// A number is infinite or not a number, or a radius negative.
    #[error("particle {index} must have a finite place, velocity and radius")]
    NotFinite {
        /// Number of the particle.
        index: usize,
    },
    /// The particles of a rigid body lie on a line and have no extent.
    #[error("its particles lie on a line and have no extent: it has no inertia about that line")]
    NoExtent,
    /// A connection names a particle that is not there, or has no sense.
    #[error("connection {index} is between particles that are not there, or its numbers make no sense")]
    Connection {
        /// Number of the connection.
        index: usize,
    },
}
