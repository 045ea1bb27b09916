//! How a surface answers a force within a step: H of u = v + Δt H f.

use glam::{DMat3, DVec3};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

/// How a body with stiffness answers forces that are new in a step: symmetric and positive.
pub trait Implicit: Debug + Send {
    /// Turns forces on the nodes \[N\] into accelerations \[m/s²\].
    fn accelerations(&mut self, forces: &mut [DVec3]);
}

/// What is there while it is there: a body that has taken its compliance back does not answer.
impl<T: Implicit> Implicit for Option<T> {
    fn accelerations(&mut self, forces: &mut [DVec3]) {
        match self {
            Some(own) => own.accelerations(forces),
            None => forces.fill(DVec3::ZERO),
        }
    }
}

/// A rigid body's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RigidCompliance {
    /// Inverse mass along each axis \[1/kg\], zero where it is held.
    pub inverse_mass: DVec3,
    /// Inverse inertia about the centre, along the axes of space \[1/(kg·m²)\].
    pub inverse_inertia: DMat3,
    /// Centre of mass \[m\].
    pub center: DVec3,
}

impl RigidCompliance {
    /// Acceleration and angular acceleration under a force \[N\] and a torque about the centre \[N·m\].
    #[must_use]
    pub fn motion(&self, force: DVec3, torque: DVec3) -> [DVec3; 2] {
        [force * self.inverse_mass, self.inverse_inertia * torque]
    }

    /// That acceleration at a point \[m\].
    #[must_use]
    pub fn at(&self, [linear, angular]: [DVec3; 2], point: DVec3) -> DVec3 {
        linear + angular.cross(point - self.center)
    }

    /// How fast it gives way at a point \[m\] to an impulse along a unit vector \[1/kg\].
    #[must_use]
    pub fn along(&self, point: DVec3, along: DVec3) -> f64 {
        let turn = (point - self.center).cross(along);
        along.dot(self.inverse_mass * along) + turn.dot(self.inverse_inertia * turn)
    }

    /// How fast it gives way at a point \[m\] in any direction, at most \[1/kg\].
    #[must_use]
    pub fn bound(&self, point: DVec3) -> f64 {
        let arm = point - self.center;
        let trace = self.inverse_inertia.x_axis.x + self.inverse_inertia.y_axis.y + self.inverse_inertia.z_axis.z;
        self.inverse_mass.max_element() + trace * arm.length_squared()
    }

    /// Turns forces \[N\] at positions \[m\] into the accelerations of those positions \[m/s²\].
    pub fn accelerations(&self, positions: &[DVec3], forces: &mut [DVec3]) {
        let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for (f, x) in forces.iter().zip(positions) {
            force += *f;
            torque += (*x - self.center).cross(*f);
        }
        let motion = self.motion(force, torque);
        for (a, x) in forces.iter_mut().zip(positions) {
            *a = self.at(motion, *x);
        }
    }
}

/// How a surface answers forces on its nodes.
#[derive(Debug, Clone, Default)]
pub enum Compliance {
    /// It moves as prescribed.
    #[default]
    Fixed,
    /// Each node for itself: inverse masses \[1/kg\], zero where it is held.
    Lumped(Vec<f64>),
    /// As one.
    Rigid(RigidCompliance),
    /// As its stiffness lets it.
    Implicit {
        /// The compliance of all nodes, which its owner holds too.
        all: Arc<Mutex<dyn Implicit>>,
        /// How fast each node gives way about, if the others stay \[1/kg\].
        alone: Vec<f64>,
    },
}

impl Compliance {
    /// Turns forces on nodes \[N\] at positions \[m\] into the accelerations with which they give way \[m/s²\].
    pub fn accelerations(&mut self, positions: &[DVec3], forces: &mut [DVec3]) {
        match self {
            Self::Fixed => forces.fill(DVec3::ZERO),
            Self::Lumped(inverse_masses) => {
                forces.iter_mut().zip(inverse_masses).for_each(|(a, inverse)| *a *= *inverse);
            }
            Self::Implicit { all, .. } => {
                all.lock().unwrap_or_else(PoisonError::into_inner).accelerations(forces);
            }
            Self::Rigid(rigid) => rigid.accelerations(positions, forces),
        }
    }

    /// How fast a node at a position \[m\] gives way to a force on it alone, at most \[1/kg\].
    #[must_use]
    pub fn bound(&self, node: usize, position: DVec3) -> f64 {
        match self {
            Self::Fixed => 0.0,
            Self::Lumped(alone) | Self::Implicit { alone, .. } => alone[node],
            Self::Rigid(rigid) => rigid.bound(position),
        }
    }

    /// Inverse masses \[1/kg\] of loose nodes, in the memory that is there.
    pub fn set_lumped(&mut self, inverse_masses: impl Iterator<Item = f64>) {
        match self {
            Self::Lumped(old) => {
                old.clear();
                old.extend(inverse_masses);
            }
            other => *other = Self::Lumped(inverse_masses.collect()),
        }
    }

    /// The compliance of a body with stiffness, and how fast each node gives way about if the others stay \[1/kg\], in the memory that
    /// is there.
    pub fn set_implicit(&mut self, all: &Arc<Mutex<impl Implicit + 'static>>, alone: impl Iterator<Item = f64>) {
        match self {
            Self::Implicit { all: own, alone: old } => {
                old.clear();
                old.extend(alone);
                *own = Arc::clone(all) as Arc<Mutex<dyn Implicit>>;
            }
            other => {
                *other = Self::Implicit { all: Arc::clone(all) as Arc<Mutex<dyn Implicit>>, alone: alone.collect() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rigid() -> RigidCompliance {
        RigidCompliance { inverse_mass: DVec3::splat(0.5), inverse_inertia: DMat3::IDENTITY * 0.25, center: DVec3::X }
    }

    #[test]
    fn a_rigid_body_answers_as_one() {
        let corners = [DVec3::ZERO, 2.0 * DVec3::X, 2.0 * DVec3::Y];
        let mut acceleration = [DVec3::ZERO, DVec3::Y, DVec3::ZERO];
        Compliance::Rigid(rigid()).accelerations(&corners, &mut acceleration);
        // Force y at 1 m from the centre: 0.5 m/s² and 0.25 rad/s² about z.
        assert!((acceleration[0] - DVec3::new(0.0, 0.25, 0.0)).length() < 1e-12);
        assert!((acceleration[1] - DVec3::new(0.0, 0.75, 0.0)).length() < 1e-12);
        assert!((acceleration[2] - DVec3::new(-0.5, 0.25, 0.0)).length() < 1e-12);
        assert!((rigid().along(corners[1], DVec3::Y) - 0.75).abs() < 1e-12);
        assert!(rigid().bound(corners[1]) >= 0.75);
    }

    #[derive(Debug)]
    struct Half;

    impl Implicit for Half {
        fn accelerations(&mut self, forces: &mut [DVec3]) {
            forces.iter_mut().for_each(|f| *f *= 0.5);
        }
    }

    #[test]
    fn all_kinds_are_symmetric_and_positive() {
        let positions = [DVec3::ZERO, DVec3::new(0.3, 0.2, 0.1)];
        let lent = Arc::new(Mutex::new(Some(Half)));
        let mut implicit = Compliance::default();
        implicit.set_implicit(&lent, [0.5, 0.5].into_iter());
        let (a, b) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(-2.0, 0.5, 1.0));
        for mut compliance in [Compliance::Lumped(vec![2.0, 0.0]), Compliance::Rigid(rigid()), implicit.clone()] {
            let (mut of_a, mut of_b) = ([a, DVec3::ZERO], [DVec3::ZERO, b]);
            compliance.accelerations(&positions, &mut of_a);
            compliance.accelerations(&positions, &mut of_b);
            assert!((of_a[1].dot(b) - of_b[0].dot(a)).abs() < 1e-12 && of_a[0].dot(a) > 0.0, "{compliance:?}");
            assert!(of_a[0].length() <= compliance.bound(0, positions[0]) * a.length() + 1e-12);
        }
        let mut forces = [a, b];
        Compliance::Fixed.accelerations(&positions, &mut forces);
        assert_eq!(forces, [DVec3::ZERO; 2]);
        // What has been taken back answers no more.
        lent.lock().unwrap().take();
        let mut forces = [a, b];
        implicit.accelerations(&positions, &mut forces);
        assert_eq!(forces, [DVec3::ZERO; 2]);
    }
}
