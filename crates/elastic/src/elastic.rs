//! An elastic body of particles: total-Lagrangian SPH with corrected gradients \[SZW eq. 4\].
//!
//! | symbol | meaning |
//! |---|---|
//! | Xᵢ, xᵢ | position at rest and now \[m\]; Xᵢⱼ = Xⱼ − Xᵢ, xᵢⱼ alike |
//! | V̄ | volume of a particle at rest \[m³\], the same for all of a body |
//! | ωᵢⱼ | V̄ \|W'(Xᵢⱼ)\|/\|Xᵢⱼ\| \[1/m²\], with W at rest: neighbours never change |
//! | Aᵢ | Σⱼ ωᵢⱼ Xᵢⱼ ⊗ Xᵢⱼ, dimensionless: the identity in the limit |
//! | Fᵢ | deformation gradient Σⱼ ωᵢⱼ xᵢⱼ ⊗ Xᵢⱼ Aᵢ⁻¹ |
//! | Eᵢ, Sᵢ | Green strain ½(FᵀF − I) and its stress 2μE + λ tr(E) I \[Pa\] |
//!
//! The energy, and the force as its exact gradient:
//!
//! > U = Σᵢ V̄ (μ Eᵢ:Eᵢ + ½λ tr(Eᵢ)² + ½ζE Σⱼ ωᵢⱼ |xᵢⱼ − FᵢXᵢⱼ|²)
//! >
//! > fᵢ = Σⱼ V̄ωᵢⱼ ((Bᵢ + Bⱼ) Xᵢⱼ + 2ζE xᵢⱼ),  B = F S A⁻¹ − ζE F
//!
//! Deviations from the paper. It prints V̄ⱼ² for V̄ᵢV̄ⱼ, a transpose that depends on convention, and a factor 2 that belongs to
//! FᵀF − I. Its plain gradient strains a body that is only turned: A⁻¹ mends that. One strain per particle does not see
//! patterns that alternate from neighbour to neighbour: the ζ term resists them, as in \[Gan15\]. F is the least-squares fit
//! to the xᵢⱼ with the weights ω; with the same weights in the ζ term its own derivative by F vanishes, so that the sum above
//! is all of the gradient.
//!
//! A plastic body remembers a strain Eₚ per particle and answers to E − Eₚ. Where the deviator D of that is larger than the yield
//! strain ε_y in its Frobenius norm, what is beyond flows at the creep rate: Eₚ += min(1, c dt) (1 − ε_y/|D|) D. Strains of the
//! shape at rest do not see rotation, so force stays the gradient of an energy that does not either.

use crate::bonds::{self, Bond, Stress};
use fearless_simd::{Level, dispatch};
use glam::{DMat3, DVec3};
use meniscus_core::kernel::Kernel;
use meniscus_core::par;
use meniscus_geometry::{NeighbourGrid, Periodic};
use rayon::prelude::*;

/// What an elastic body is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ElasticMaterial {
    /// Young's modulus E \[Pa\].
    pub young: f64,
    /// Poisson's ratio ν, dimensionless, 0 to below 0.5.
    pub poisson: f64,
    /// Density at rest, without liquid in its pores \[kg/m³\].
    pub density: f64,
    /// Rayleigh damping of deformation β \[s\].
    pub damping: f64,
    /// Strength ζ of the resistance to patterns that the strain does not see, dimensionless.
    pub hourglass: f64,
    /// How it yields; by default it does not.
    pub plasticity: Option<Yield>,
}

/// How a body yields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yield {
    /// Norm of the deviator of the elastic strain from which it flows, dimensionless.
    pub strain: f64,
    /// Rate at which strain beyond that turns plastic \[1/s\].
    pub creep: f64,
    /// Largest norm of the plastic strain, dimensionless.
    pub most: f64,
}

impl Default for ElasticMaterial {
    fn default() -> Self {
        Self { young: 1e6, poisson: 0.3, density: 1000.0, damping: 0.0, hourglass: 0.1, plasticity: None }
    }
}

impl ElasticMaterial {
    /// Lamé's constants λ and μ \[Pa\].
    #[must_use]
    pub fn lame(&self) -> [f64; 2] {
        let (e, nu) = (self.young, self.poisson);
        [e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), e / (2.0 * (1.0 + nu))]
    }

    /// Speed of pressure waves √((λ + 2μ)/ρ) \[m/s\].
    #[must_use]
    pub fn sound_speed(&self) -> f64 {
        let [lambda, mu] = self.lame();
        ((lambda + 2.0 * mu) / self.density).sqrt()
    }
}

/// Particles per piece of parallel work: bodies are smaller than liquids.
pub const PIECE: usize = par::PIECE / 8;

/// Support radius of the kernel at rest, in spacings.
const SUPPORT: f64 = 2.0;

/// A particle whose neighbours lie nearly in a plane has no strain of its own: least det A.
const FLAT: f64 = 0.01;

/// The rest shape of a body and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Elastic {
    material: ElasticMaterial,
    volume: f64,
    spacing: f64,
    /// Where the bonds of each particle start; one more than particles.
    first: Vec<u32>,
    bonds: Vec<Bond>,
    /// Aᵢ⁻¹; nothing where the neighbours lie in a plane.
    inverse_moment: Vec<Option<DMat3>>,
}

/// Strain of a body where its particles are: a workspace.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strain {
    of: Vec<ParticleStrain>,
    stress: Vec<Stress>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct ParticleStrain {
    /// Fᵢ.
    gradient: DMat3,
    /// Elastic part of Eᵢ.
    elastic: DMat3,
    /// ζE, or nothing without a strain of its own \[Pa\].
    resistance: f64,
}

impl ParticleStrain {
    const NONE: Self = Self { gradient: DMat3::IDENTITY, elastic: DMat3::ZERO, resistance: 0.0 };
}

impl Elastic {
    /// A body of particles at positions \[m\] about a spacing \[m\] apart that share a volume \[m³\].
    #[must_use]
    pub fn new(positions: &[DVec3], spacing: f64, volume: f64, material: ElasticMaterial) -> Self {
        let volume = volume / positions.len().max(1) as f64;
        let h = SUPPORT * spacing;
        let singles: Vec<_> = positions.iter().map(|p| p.as_vec3()).collect();
        let mut grid = NeighbourGrid::default();
        grid.sort(&singles, h as f32, Periodic::default());
        let (mut first, mut bonds, mut inverse_moment) = (vec![0], Vec::new(), Vec::new());
        for (i, &x) in positions.iter().enumerate() {
            let start = bonds.len();
            let reach = glam::Vec3::splat(1.01 * h as f32);
            grid.for_each_range_in(singles[i] - reach, singles[i] + reach, |range| {
                for &to in grid.order()[range].iter().filter(|&&to| to as usize != i) {
                    let rest = positions[to as usize] - x;
                    let r = rest.length();
                    let slope = -Kernel::CUBIC_SPLINE.slope(r / h) / (h * h * h * h);
                    if slope > 0.0 && r > 0.0 {
                        bonds.push(Bond { to, rest, weight: volume * volume * slope / r });
                    }
                }
            });
            bonds[start..].sort_unstable_by_key(|bond| bond.to);
            let moment =
                bonds[start..].iter().fold(DMat3::ZERO, |a, b| a + outer(b.rest, b.rest) * (b.weight / volume));
            inverse_moment.push((moment.determinant() > FLAT).then(|| moment.inverse()));
            first.push(bonds.len() as u32);
        }
        Self { material, volume, spacing, first, bonds, inverse_moment }
    }

    /// Number of particles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inverse_moment.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inverse_moment.is_empty()
    }

    /// What it is made of.
    #[must_use]
    pub fn material(&self) -> &ElasticMaterial {
        &self.material
    }

    /// Changes what it is made of.
    pub fn set_material(&mut self, change: impl FnOnce(&mut ElasticMaterial)) {
        change(&mut self.material);
    }

    /// Mass of a particle \[kg\].
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.material.density * self.volume
    }

    /// Volume of a particle at rest \[m³\].
    #[must_use]
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Largest stable step \[s\] of the leapfrog: 2/Ω for the fastest vibration Ω, shortened by damping.
    #[must_use]
    pub fn stable_step(&self) -> f64 {
        let fastest = FASTEST * self.material.sound_speed() / self.spacing;
        let damped = 0.5 * self.material.damping * fastest;
        SAFETY * 2.0 / (fastest * ((1.0 + damped * damped).sqrt() + damped))
    }

    fn bonds_of(&self, i: usize) -> &[Bond] {
        &self.bonds[self.first[i] as usize..self.first[i + 1] as usize]
    }

    /// Deformation gradients and stresses of particles at positions \[m\] that have not flowed.
    pub fn strain(&self, positions: &[DVec3], strain: &mut Strain) {
        self.strain_beyond(positions, &[], strain);
    }

    /// Deformation gradients and stresses of particles at positions \[m\], beyond their plastic strains if there are any.
    pub fn strain_beyond(&self, positions: &[DVec3], plastic: &[DMat3], strain: &mut Strain) {
        let Strain { of, stress } = strain;
        of.resize(self.len(), ParticleStrain::NONE);
        stress.resize(self.len(), Stress::default());
        let level = Level::new();
        let pieces = of.par_chunks_mut(PIECE).zip(stress.par_chunks_mut(PIECE)).enumerate();
        pieces.for_each(|(number, (of, stress))| {
            let first = number * PIECE;
            dispatch!(level, simd => {
                for ((i, of), stress) in (first..).zip(of).zip(stress) {
                    (*of, *stress) = self.strain_of(i, |i| bonds::gradient(simd, self.bonds_of(i), positions, positions[i]), plastic);
                }
            });
        });
    }

    /// Strain and stress of a particle; `sum` is Σⱼ xᵢⱼ ⊗ V̄ωᵢⱼXᵢⱼ \[m³\].
    #[inline(always)]
    fn strain_of(&self, i: usize, sum: impl Fn(usize) -> DMat3, plastic: &[DMat3]) -> (ParticleStrain, Stress) {
        let Some(inverse) = self.inverse_moment[i] else { return (ParticleStrain::NONE, Stress::default()) };
        let [lambda, mu] = self.material.lame();
        let (inverse_volume, resistance) = (1.0 / self.volume, self.material.hourglass * self.material.young);
        let f = sum(i) * inverse * inverse_volume;
        let elastic = green(f) - plastic.get(i).copied().unwrap_or(DMat3::ZERO);
        let b = f * stress(elastic, lambda, mu) * inverse - f * resistance;
        (ParticleStrain { gradient: f, elastic, resistance }, Stress::new(b, resistance))
    }

    /// Turns strain beyond yield plastic for a time `dt` \[s\].
    pub fn flow(&self, strain: &Strain, plastic: &mut [DMat3], dt: f64) {
        let Some(law) = self.material.plasticity else { return };
        plastic.par_iter_mut().with_min_len(PIECE).zip(&strain.of).for_each(|(plastic, of)| {
            let deviator = of.elastic - DMat3::from_diagonal(DVec3::splat(trace(of.elastic) / 3.0));
            let size = norm(deviator);
            // Strain that is not a number does not flow.
            if size > law.strain {
                let flowed = *plastic + deviator * ((dt * law.creep).min(1.0) * (1.0 - law.strain / size));
                *plastic = flowed * (law.most / norm(flowed).max(1e-30)).min(1.0);
            }
        });
    }

    /// Adds the elastic forces \[N\] at positions \[m\], and damping under velocities \[m/s\].
    // (6) of docs/src/unified.md
    pub fn add_forces(&self, positions: &[DVec3], velocities: &[DVec3], strain: &Strain, forces: &mut [DVec3]) {
        // A net of central springs with all its stiffness in c has E = c/2.
        let damping = 4.0 * self.material.damping * self.material.young;
        let level = Level::new();
        forces.par_chunks_mut(PIECE).enumerate().for_each(|(number, forces)| {
            let first = number * PIECE;
            dispatch!(level, simd => {
                for (i, force) in (first..).zip(forces) {
                    let own = (i, self.bonds_of(i));
                    *force += bonds::force(simd, own, (positions, velocities), &strain.stress, damping);
                }
            });
        });
    }

    /// Elastic energy \[J\] at positions \[m\] whose strain has been found.
    #[must_use]
    // (5) of docs/src/unified.md
    pub fn energy(&self, positions: &[DVec3], strain: &Strain) -> f64 {
        let [lambda, mu] = self.material.lame();
        par::sum(self.len(), |i| {
            let ParticleStrain { gradient: f, elastic: e, resistance, .. } = strain.of[i];
            if self.inverse_moment[i].is_none() {
                return 0.0;
            }
            let (trace, size) = (trace(e), norm(e));
            let unseen = self.bonds_of(i).iter().map(|bond| {
                bond.weight * (positions[bond.to as usize] - positions[i] - f * bond.rest).length_squared()
            });
            self.volume * (mu * size * size + 0.5 * lambda * trace * trace) + 0.5 * resistance * unseen.sum::<f64>()
        })
    }

    /// The deformation gradient of a particle.
    #[must_use]
    pub fn gradient(strain: &Strain, i: usize) -> DMat3 {
        strain.of[i].gradient
    }
}

/// Ω of the fastest vibration over c/s, an estimate: a test and the case `sph-beam` hold on to it.
const FASTEST: f64 = 2.0;

/// Part of the stable step that is taken.
const SAFETY: f64 = 0.8;

/// a ⊗ b.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

fn green(f: DMat3) -> DMat3 {
    (f.transpose() * f - DMat3::IDENTITY) * 0.5
}

fn trace(m: DMat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

/// Frobenius' norm.
fn norm(m: DMat3) -> f64 {
    (m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()).sqrt()
}

/// The second Piola–Kirchhoff stress 2μE + λ tr(E) I \[Pa\].
fn stress(e: DMat3, lambda: f64, mu: f64) -> DMat3 {
    e * (2.0 * mu) + DMat3::from_diagonal(DVec3::splat(lambda * trace(e)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;
    use meniscus_geometry::{Aabb, Shape, fill};

    const S: f64 = 0.02;

    /// A block whose positions at rest are a little uneven.
    fn block() -> (Vec<DVec3>, Elastic) {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::new(0.1, 0.08, 0.06));
        let mut positions = fill(&Shape::Box(bounds), S, &[]).unwrap();
        for (i, p) in positions.iter_mut().enumerate() {
            *p += DVec3::new((i as f64 * 1.7).sin(), (i as f64 * 2.3).sin(), (i as f64 * 3.1).sin()) * (0.1 * S);
        }
        let material = ElasticMaterial { poisson: 0.35, ..ElasticMaterial::default() };
        let elastic = Elastic::new(&positions, S, bounds.size().element_product(), material);
        (positions, elastic)
    }

    fn forces(elastic: &Elastic, positions: &[DVec3]) -> (Vec<DVec3>, f64) {
        let (mut strain, mut forces) = (Strain::default(), vec![DVec3::ZERO; positions.len()]);
        elastic.strain(positions, &mut strain);
        elastic.add_forces(positions, &vec![DVec3::ZERO; positions.len()], &strain, &mut forces);
        (forces, elastic.energy(positions, &strain))
    }

    fn bent(x: DVec3) -> DVec3 {
        x + DVec3::new(3.0 * x.x * x.y, 2.0 * x.x * x.x - x.z * x.y, x.x * x.z) + DVec3::new(0.1 * x.y, 0.0, 0.05 * x.x)
    }

    #[test]
    fn a_turned_body_feels_nothing() {
        let (rest, elastic) = block();
        let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4));
        let turned: Vec<DVec3> = rest.iter().map(|&x| turn * x + DVec3::new(0.3, 0.2, -0.1)).collect();
        let (forces, energy) = forces(&elastic, &turned);
        let typical = elastic.material().young * S * S;
        assert!(forces.iter().all(|f| f.length() < 1e-12 * typical), "{:?}", forces[0]);
        assert!(energy < 1e-20, "{energy}");
    }

    #[test]
    fn strain_of_affine_motion_is_exact() {
        let (rest, elastic) = block();
        let f = DMat3::from_cols_array(&[1.1, 0.2, 0.0, -0.1, 0.9, 0.3, 0.05, 0.0, 1.2]);
        let positions: Vec<DVec3> = rest.iter().map(|&x| f * x).collect();
        let mut strain = Strain::default();
        elastic.strain(&positions, &mut strain);
        for i in 0..positions.len() {
            assert!((Elastic::gradient(&strain, i) - f).abs_diff_eq(DMat3::ZERO, 1e-12));
        }
    }

    #[test]
    fn force_is_the_slope_of_energy() {
        let (rest, elastic) = block();
        let positions: Vec<DVec3> = rest.iter().map(|&x| bent(x)).collect();
        let (exact, _) = forces(&elastic, &positions);
        let step = 1e-6 * S;
        for i in [0, 7, 23, 41, positions.len() - 1] {
            for axis in 0..3 {
                let energy = |by: f64| {
                    let mut moved = positions.clone();
                    moved[i][axis] += by;
                    forces(&elastic, &moved).1
                };
                let slope = (energy(step) - energy(-step)) / (2.0 * step);
                let scale = exact[i].length().max(1e-3);
                assert!((exact[i][axis] + slope).abs() < 1e-6 * scale, "{i} {axis}: {} {slope}", exact[i][axis]);
            }
        }
    }

    #[test]
    fn forces_keep_momentum_and_spin() {
        let (rest, elastic) = block();
        let positions: Vec<DVec3> = rest.iter().map(|&x| bent(x)).collect();
        let velocities: Vec<DVec3> = rest.iter().map(|&x| DVec3::new(x.y, x.z * x.x, -x.x) * 30.0).collect();
        let mut damped = elastic;
        damped.set_material(|m| m.damping = 0.01);
        let (mut strain, mut forces) = (Strain::default(), vec![DVec3::ZERO; positions.len()]);
        damped.strain(&positions, &mut strain);
        damped.add_forces(&positions, &velocities, &strain, &mut forces);
        let size: f64 = forces.iter().map(|f| f.length()).sum();
        let torque: DVec3 = positions.iter().zip(&forces).map(|(x, f)| x.cross(*f)).sum();
        assert!(forces.iter().sum::<DVec3>().length() < 1e-13 * size);
        assert!(torque.length() < 1e-13 * size * 0.1, "{torque}");
    }

    #[test]
    fn strain_beyond_yield_flows_and_no_more() {
        let (rest, mut elastic) = block();
        let law = Yield { strain: 0.02, creep: 10.0, most: 0.5 };
        elastic.set_material(|m| m.plasticity = Some(law));
        let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.1, 1.0, 0.0), DVec3::Z);
        let positions: Vec<DVec3> = rest.iter().map(|&x| shear * x).collect();
        let (mut strain, mut plastic) = (Strain::default(), vec![DMat3::ZERO; rest.len()]);
        elastic.strain_beyond(&positions, &plastic, &mut strain);
        elastic.flow(&strain, &mut plastic, 0.01);
        let deviator = green(shear) - DMat3::from_diagonal(DVec3::splat(trace(green(shear)) / 3.0));
        let beyond = deviator * (1.0 - law.strain / norm(deviator));
        assert!(
            (plastic[7] - beyond * 0.1).abs_diff_eq(DMat3::ZERO, 1e-12),
            "a tenth of it in a hundredth of a second"
        );
        for _ in 0..2 {
            elastic.strain_beyond(&positions, &plastic, &mut strain);
            elastic.flow(&strain, &mut plastic, 1.0);
            assert!(plastic.iter().all(|p| (*p - beyond).abs_diff_eq(DMat3::ZERO, 1e-12)));
        }
        elastic.set_material(|m| m.plasticity = Some(Yield { most: 0.01, ..law }));
        elastic.strain_beyond(&positions, &vec![DMat3::ZERO; rest.len()], &mut strain);
        elastic.flow(&strain, &mut plastic, 1.0);
        assert!((norm(plastic[3]) - 0.01).abs() < 1e-12);
    }

    /// Noise does not grow at the step that we take.
    #[test]
    fn the_stable_step_is_stable() {
        for poisson in [0.0, 0.3, 0.45] {
            let bounds = Aabb::new(DVec3::ZERO, DVec3::splat(0.12));
            let rest = fill(&Shape::Box(bounds), S, &[]).unwrap();
            let material = ElasticMaterial { poisson, ..ElasticMaterial::default() };
            let elastic = Elastic::new(&rest, S, bounds.size().element_product(), material);
            let noise = |i: usize, k: f64| ((i as f64 + 1.0) * k).sin();
            let mut x: Vec<DVec3> = rest
                .iter()
                .enumerate()
                .map(|(i, &p)| p + DVec3::new(noise(i, 1.7), noise(i, 2.9), noise(i, 4.3)) * (1e-3 * S))
                .collect();
            let mut v = vec![DVec3::ZERO; x.len()];
            let start = forces(&elastic, &x).1;
            let dt = elastic.stable_step();
            for _ in 0..400 {
                let (f, _) = forces(&elastic, &x);
                for i in 0..x.len() {
                    v[i] += f[i] * (dt / elastic.mass());
                    x[i] += v[i] * dt;
                }
            }
            let end = forces(&elastic, &x).1;
            assert!(end < 3.0 * start, "{poisson}: {start} became {end}");
        }
    }
}
