//! The definitions of the paper as types \[B definitions 0.1 to 0.6\].
//!
//! | definition | type |
//! |---|---|
//! | 0.1 particle {p, v, m, r} | [`Particle`] |
//! | 0.2 connection {e₁, e₂, k, l}, static or dynamic | [`Connection`]; a dynamic one is a [`crate::DynamicConnection`] |
//! | 0.3 deformable body {E, C} | [`Deformable`] |
//! | 0.4 rigid body {r_cm, R, v_cm, ω, M, I_body, E} | [`Rigid`] |
//! | 0.5 liquid body {E, C}, C dynamic only | a `Liquid` of `meniscus-sph`; its connections are found anew in each step |
//! | 0.6 interface {C} | [`crate::Interface`] |

use crate::error::BodyError;
use glam::{DMat3, DQuat, DVec3};

/// Definition 0.1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Particle {
    /// Position p \[m\].
    pub position: DVec3,
    /// Velocity v \[m/s\].
    pub velocity: DVec3,
    /// Mass m \[kg\]; infinite for one that stays where it is.
    pub mass: f64,
    /// Radius r \[m\]: half the distance at which two of them touch.
    pub radius: f64,
}

/// Definition 0.2: a spring between two particles, with a damper beside it that the paper does not have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Connection {
    /// The particles that it connects: numbers within the body.
    pub ends: [u32; 2],
    /// Spring constant k \[N/m\].
    pub stiffness: f64,
    /// Nominal distance l \[m\].
    pub length: f64,
    /// Damping of the distance \[N·s/m\].
    pub damping: f64,
}

impl Connection {
    /// Force on the first end \[N\], given the first end's position and velocity relative to the second's; the other end feels
    /// the opposite \[B eq. 3, damping added\]. Nothing when both ends are at one position: there is no direction.
    #[must_use]
    #[inline]
    pub fn force(&self, distance: DVec3, velocity: DVec3) -> DVec3 {
        let squared = distance.length_squared();
        if squared == 0.0 {
            return DVec3::ZERO;
        }
        let inverse = 1.0 / squared.sqrt();
        let stretch = squared * inverse - self.length;
        let along = distance.dot(velocity) * inverse;
        distance * (-(self.stiffness * stretch + self.damping * along) * inverse)
    }

    /// Elastic energy \[J\] at a distance \[m\].
    #[must_use]
    pub fn energy(&self, distance: f64) -> f64 {
        0.5 * self.stiffness * (distance - self.length) * (distance - self.length)
    }
}

/// Definition 0.3: particles and the static connections between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Deformable {
    /// Its name.
    pub name: String,
    /// The set E.
    pub particles: Vec<Particle>,
    /// The static part of the set C.
    pub connections: Vec<Connection>,
}

/// Definition 0.4: particles whose distances stay. The angular momentum L stands for ω = I⁻¹ L: the paper's eq. 7 takes the
/// torque for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rigid {
    /// Its name.
    pub name: String,
    /// Centre, orientation, velocity and angular momentum.
    pub motion: RigidMotion,
    /// Mass M \[kg\].
    pub mass: f64,
    /// Inertia about the centre in body space \[kg·m²\].
    pub inertia: DMat3,
    /// The set E.
    pub particles: Vec<Particle>,
}

/// The motion of a rigid body.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct RigidMotion {
    /// Centre of mass r_cm \[m\].
    pub center: DVec3,
    /// Orientation R, of length one at the end of a step.
    pub orientation: DQuat,
    /// Velocity of the centre v_cm \[m/s\].
    pub velocity: DVec3,
    /// Angular momentum L about the centre \[kg·m²/s\].
    pub angular_momentum: DVec3,
}

impl Rigid {
    /// A body from its particles as they are now: mass properties are theirs, each one a cube of edge 2r. Momentum and
    /// angular momentum are those of the particles' velocities.
    ///
    /// # Errors
    /// Without particles, or when a mass is not positive and finite, or all lie on a line and have no extent.
    pub fn new(name: &str, particles: Vec<Particle>) -> Result<Self, BodyError> {
        check(&particles, false)?;
        let mass: f64 = particles.iter().map(|e| e.mass).sum();
        let mean = |value: fn(&Particle) -> DVec3| particles.iter().map(|e| value(e) * e.mass).sum::<DVec3>() / mass;
        let (center, velocity) = (mean(|e| e.position), mean(|e| e.velocity));
        let (mut inertia, mut angular_momentum) = (DMat3::ZERO, DVec3::ZERO);
        for e in &particles {
            let r = e.position - center;
            let own = 4.0 * e.radius * e.radius / 6.0;
            inertia += (DMat3::from_diagonal(DVec3::splat(r.length_squared() + own)) - outer(r, r)) * e.mass;
            angular_momentum += r.cross(e.velocity - velocity) * e.mass;
        }
        let scale = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        if inertia.determinant() <= 1e-12 * scale * scale * scale {
            return Err(BodyError::NoExtent);
        }
        let motion = RigidMotion { center, orientation: DQuat::IDENTITY, velocity, angular_momentum };
        Ok(Self { name: name.into(), motion, mass, inertia, particles })
    }

    /// Lets it turn with an angular velocity ω \[rad/s\].
    pub fn spin(&mut self, angular_velocity: DVec3) {
        let r = DMat3::from_quat(self.motion.orientation);
        self.motion.angular_momentum = r * (self.inertia * (r.transpose() * angular_velocity));
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// What every body must satisfy; particles of infinite mass stay where they are, which a rigid body cannot.
pub(crate) fn check(particles: &[Particle], may_stay: bool) -> Result<(), BodyError> {
    if particles.is_empty() {
        return Err(BodyError::Empty);
    }
    for (index, e) in particles.iter().enumerate() {
        if !(e.mass > 0.0 && (may_stay || e.mass.is_finite())) {
            return Err(BodyError::Mass { index, mass: e.mass });
        }
        if !(e.radius >= 0.0 && e.radius.is_finite() && e.position.is_finite() && e.velocity.is_finite()) {
            return Err(BodyError::NotFinite { index });
        }
    }
    Ok(())
}
