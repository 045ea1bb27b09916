//! Rigid bodies that links push: six unknowns each, eliminated from the system.
//!
//! | symbol | meaning |
//! |---|---|
//! | y | velocity and spin beyond what is expected of the body |
//! | M | its mass and inertia |
//! | G y = y₀ + y₁ × r | velocity at the arm r of a link |
//! | l | lever of the body in the link \[s\] |
//!
//! A link's displacement is s = L u + l G y. From the body's own balance S y = r − Σ l Gᵀ B L u with S = M + Σ l² Gᵀ B G, follows
//! what the nodes feel: B (L u + l G y).

use super::contact_rows::ContactRow;
use glam::{DMat3, DVec3};

/// A velocity and a spin, or a force and a torque.
pub(crate) type Twist = [DVec3; 2];

/// A rigid body among the links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Float {
    mass: f64,
    inertia: DMat3,
    /// Impulse that the expectation reckons with already \[N·s\], \[N·m·s\].
    reckoned: Twist,
    /// y.
    pub(crate) motion: Twist,
    /// Its change in a Newton iteration.
    pub(crate) change: Twist,
    /// What is out of balance \[N·s\], \[N·m·s\].
    imbalance: Twist,
    /// S⁻¹ in blocks: of velocity, of spin by velocity, of spin.
    inverse: [DMat3; 3],
    /// Σ l Gᵀ B L u.
    sum: Twist,
}

/// How a link holds a rigid body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rider {
    /// Number of the body.
    pub(crate) float: u32,
    /// r \[m\].
    pub(crate) arm: DVec3,
    /// l \[s\].
    pub(crate) lever: f64,
}

impl Rider {
    /// l G y.
    pub(crate) fn displacement(&self, [velocity, spin]: Twist) -> DVec3 {
        self.lever * (velocity + spin.cross(self.arm))
    }

    /// l Gᵀ f.
    fn pull(&self, force: DVec3) -> Twist {
        [self.lever * force, self.lever * self.arm.cross(force)]
    }
}

impl Float {
    /// A body of a mass \[kg\] and an inertia about its centre \[kg·m²\] that moves as expected, under an impulse that links
    /// are expected to have.
    pub(crate) fn new(mass: f64, inertia: DMat3, reckoned: Twist) -> Self {
        let nothing = [DVec3::ZERO; 2];
        Self {
            mass,
            inertia,
            reckoned,
            motion: nothing,
            change: nothing,
            imbalance: nothing,
            inverse: [DMat3::ZERO; 3],
            sum: nothing,
        }
    }

    /// M y.
    fn momentum(&self, [velocity, spin]: Twist) -> Twist {
        [self.mass * velocity, self.inertia * spin]
    }

    /// S⁻¹ r.
    fn apply_compliance(&self, [force, torque]: Twist) -> Twist {
        let [a, b, c] = self.inverse;
        [a * force + b.transpose() * torque, b * force + c * torque]
    }

    /// ½ yᵀM y and the work against what is reckoned with, after a part of the change \[J\].
    pub(crate) fn energy(&self, s: f64) -> f64 {
        let y = add(self.motion, scaled(self.change, s));
        let [p, l] = self.momentum(y);
        let work = y[0].dot(self.reckoned[0]) + y[1].dot(self.reckoned[1]);
        0.5 * (y[0].dot(p) + y[1].dot(l)) + work
    }

    /// y ← y + s δ.
    pub(crate) fn go(&mut self, s: f64) {
        self.motion = add(self.motion, scaled(self.change, s));
        self.change = [DVec3::ZERO; 2];
    }
}

/// ContactRows between nodes, and the rigid bodies that some of them hold.
#[derive(Debug, Default)]
pub(crate) struct ContactRows {
    pub(crate) all: Vec<ContactRow>,
    pub(crate) floats: Vec<Float>,
}

impl ContactRows {
    /// Whether there is no link.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Finds S⁻¹ of every rigid body for the links as they are.
    pub(crate) fn prepare(&mut self) {
        for number in 0..self.floats.len() {
            let Float { mass, inertia, .. } = self.floats[number];
            let (mut a, mut b, mut c) = (DMat3::from_diagonal(DVec3::splat(mass)), DMat3::ZERO, inertia);
            for (link, rider) in riders(&self.all).filter(|(_, rider)| rider.float as usize == number) {
                let (square, cross) = (rider.lever * rider.lever, skew(rider.arm));
                let turned = cross * link.block;
                a += link.block * square;
                b += turned * square;
                c += turned * cross.transpose() * square;
            }
            // Blocks of the inverse, by the Schur complement of the first.
            let inverse = a.inverse();
            let lower = (c - b * inverse * b.transpose()).inverse();
            let mixed = -(lower * b * inverse);
            self.floats[number].inverse = [inverse - inverse * b.transpose() * mixed, mixed, lower];
        }
    }

    /// Finds the responses −S⁻¹ Σ l Gᵀ B s of the rigid bodies to displacements of the links without them.
    pub(super) fn find_responses(&mut self, mut displacement: impl FnMut(&ContactRow) -> DVec3) {
        self.floats.iter_mut().for_each(|float| float.sum = [DVec3::ZERO; 2]);
        for (link, rider) in riders(&self.all) {
            let sum = &mut self.floats[rider.float as usize].sum;
            *sum = add(*sum, rider.pull(link.block * displacement(link)));
        }
        self.floats.iter_mut().for_each(|float| float.sum = scaled(float.apply_compliance(float.sum), -1.0));
    }

    /// The displacement of a link by the responses.
    pub(super) fn response(&self, link: &ContactRow) -> DVec3 {
        link.rider.map_or(DVec3::ZERO, |rider| rider.displacement(self.floats[rider.float as usize].sum))
    }

    /// Finds what is out of balance of the rigid bodies under forces of the links \[N\], and S⁻¹ r as their change.
    pub(crate) fn balance(&mut self, force: impl Fn(usize) -> DVec3) {
        for float in &mut self.floats {
            float.imbalance = scaled(add(float.momentum(float.motion), float.reckoned), -1.0);
        }
        for (number, link) in self.all.iter().enumerate().filter(|(_, link)| link.active) {
            if let Some(rider) = link.rider {
                let float = &mut self.floats[rider.float as usize];
                float.imbalance = add(float.imbalance, rider.pull(force(number)));
            }
        }
        self.floats.iter_mut().for_each(|float| float.change = float.apply_compliance(float.imbalance));
    }

    /// Adds to the change of the rigid bodies their response to displacements of the links without them.
    pub(crate) fn follow(&mut self, displacement: impl Fn(&ContactRow) -> DVec3) {
        self.find_responses(displacement);
        self.floats.iter_mut().for_each(|float| float.change = add(float.change, float.sum));
    }
}

fn riders(links: &[ContactRow]) -> impl Iterator<Item = (&ContactRow, Rider)> {
    links.iter().filter(|link| link.active).filter_map(|link| Some((link, link.rider?)))
}

fn add(a: Twist, b: Twist) -> Twist {
    [a[0] + b[0], a[1] + b[1]]
}

fn scaled(a: Twist, factor: f64) -> Twist {
    [a[0] * factor, a[1] * factor]
}

/// The matrix of r ×.
fn skew(r: DVec3) -> DMat3 {
    DMat3::from_cols(r.cross(DVec3::X), r.cross(DVec3::Y), r.cross(DVec3::Z))
}
