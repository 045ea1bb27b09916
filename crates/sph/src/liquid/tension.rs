//! Surface tension: a force along the normal, as strong as the surface is curved \[SZW eqs 8–12\].
//!
//! > fᵢ = 2 σ κᵢ nᵢ,  κ = −∇·n̂  \[N/m³\]
//!
//! | symbol | meaning |
//! |---|---|
//! | nᵢ | ∇c over all that counts as matter, walls and solids too: into the liquid \[1/m\]; ∫ n across a free surface is ½ |
//! | n̂ᵢ | unit normal, from the mean of n over neighbours, taken twice; neighbours with n the other way belong to another surface |
//! | κᵢ | sum of the principal curvatures \[1/m\]; 2/R for a drop |
//!
//! The surface needs no air: where matter ends, ∇c of the liquid's own particles is the normal. A force 2 p nᵢ with one p is what
//! equal pressures p of all particles hold, particle by particle: a drop whose curvature is even rests.
//!
//! Between two liquids n counts the other liquid alone, nᵢ = −Σⱼ V0 ∇Wᵢⱼ, and 2σ becomes 2σ ρᵢ/(ρᵢ + ρⱼ): the heavier side
//! drives the interface \[SZW eqs 9, 10\]. Neighbours across it have the opposite normal; it is turned round before normals are
//! compared, which the paper's eq. 12 forgets. σ is the difference of the liquids' own (Antonow's rule).
//!
//! Curvature, `"fitted"`: the normals of neighbours in the surface, as a linear function of their position in the tangent plane, by least
//! squares. Particles lie half a spacing z below the surface that they make; the curvature of the parallel surface there is
//! (κ + 2Kz)/(1 + κz + Kz²) with Gauss' curvature K. `"paper"`: κ = −d Σ (n̂ᵢ − n̂ⱼ)·∇W / Σ r dW/dr with d = 3 \[SZW eq. 12\].
//!
//! Contact angle θ: before a wall or a solid with unit normal w into the liquid, the surface is taken to stand as
//! n̂ = t sin θ − w cos θ, with t along the wall. Where a drop ends on a wall, the wall beyond has air before it: it counts as
//! matter only as far as n then has that direction. If all of it counted, n at the rim would point into the wall, and a rim that is curved more
//! than the drop would press its particles flat until they squirt out along the wall.
//!
//! What is kept: pair by pair, nothing; the force is the integral of κn over a closed surface, which vanishes for the surface and
//! nearly for its particles.

use crate::liquid::Liquid;
use crate::neighbours::{Block, for_each_block};
use crate::params::TensionModel;
use crate::simd::{LANES, Packed, pack};
use glam::{Vec2, Vec3};
use meniscus_core::{StepError, par};
use rayon::prelude::*;

/// Where there is a surface, by the mean normal of the neighbours times a spacing: nothing below the first, all from the second
/// on. The outermost layer of a flat surface has 0.37, the next 0.13; disorder inside makes up to 0.08.
const SURFACE_NORMALS: [f32; 2] = [0.14, 0.22];

/// How near a wall governs the normal: its ∇γ over a spacing, as above.
const BESIDE: [f32; 2] = [0.1, 0.3];

/// A workspace.
#[derive(Default)]
pub(crate) struct Tension {
    /// nᵢ \[1/m\].
    raw: Vec<Vec3>,
    /// Unit normal of walls and solids nearby, into the liquid, and how near they are, 0 to 1.
    ground: Vec<Packed>,
    /// Mean of the n around, and how much of a surface it shows, 0 to 1.
    mean: Vec<Packed>,
    /// n̂ᵢ and the same.
    normal: Vec<Packed>,
    /// σ, with the share of the particle's own side \[N/m\].
    strength: Vec<f32>,
    /// κᵢ \[1/m\].
    curvature: Vec<f32>,
    /// Sine and cosine of the contact angle of each liquid.
    angles: Vec<[f32; 2]>,
}

/// Which surfaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surface {
    /// Where matter ends.
    Free,
    /// Where another liquid begins.
    Between,
}

impl Liquid {
    /// Whether any liquid has a surface tension.
    pub(crate) fn has_tension(&self) -> bool {
        self.liquids().iter().any(|m| m.1.surface_tension > 0.0)
    }

    /// Largest surface tension over density of the liquids \[m³/s²\]; between two of them it is less over the sum of their densities.
    pub(crate) fn strongest_tension(&self) -> f64 {
        self.liquids().iter().map(|m| m.1.surface_tension / m.1.density).fold(0.0, f64::max)
    }

    /// Adds surface tension to the accelerations, after the forces have been summed.
    ///
    /// # Errors
    /// When an acceleration is not finite.
    pub fn add_surface_tension(&mut self) -> Result<(), StepError> {
        if !self.has_tension() {
            return Ok(());
        }
        let mut tension = std::mem::take(&mut self.work.tension);
        self.pull(Surface::Free, &mut tension);
        let first = self.liquids()[0].1.surface_tension;
        if self.liquids().iter().any(|m| m.1.surface_tension != first) {
            self.pull(Surface::Between, &mut tension);
        }
        self.work.tension = tension;
        let acceleration = &self.work.acceleration;
        self.check("surface tension", "acceleration", |_, i| acceleration[i].is_finite())
    }

    fn pull(&mut self, surface: Surface, tension: &mut Tension) {
        let count = self.state.particles.len();
        let Tension { raw, ground, mean, normal, strength, curvature, angles } = tension;
        raw.resize(count, Vec3::ZERO);
        ground.resize(count, [0.0; 4]);
        mean.resize(count, [0.0; 4]);
        normal.resize(count, [0.0; 4]);
        strength.resize(count, 0.0);
        curvature.resize(count, 0.0);
        angles.clear();
        angles.extend(self.setup.materials.iter().map(|m| {
            let (sin, cos) = libm::sincos(m.1.contact_angle.to_radians());
            [sin as f32, cos as f32]
        }));
        match surface {
            Surface::Free => self.find_free_surface((raw, ground, strength), angles),
            Surface::Between => self.find_interfaces(raw, strength),
        }
        self.find_surface(surface, (raw, strength), mean);
        self.smooth_normals(surface, mean, normal);
        if surface == Surface::Free {
            self.stand_on_walls(ground, normal, angles);
        }
        self.find_curvature(surface, normal, curvature);
        self.add_pull((raw, normal, strength), curvature);
    }

    /// Normals where matter ends, of liquids with a surface tension, and the walls and solids that they stand on.
    fn find_free_surface(
        &self,
        (raw, ground, strength): (&mut [Vec3], &mut [Packed], &mut [f32]),
        angles: &[[f32; 2]],
    ) {
        let (sums, liquids) = (&self.work.sums, &self.state.particles.liquid);
        let spacing = self.setup.params.spacing as f32;
        let blocks = self.work.neighbours.blocks.par_iter().zip(&self.work.slopes).zip(&self.work.contacts);
        let pieces = raw.par_chunks_mut(par::PIECE).zip(ground.par_chunks_mut(par::PIECE));
        let pieces = pieces.zip(strength.par_chunks_mut(par::PIECE));
        blocks.zip(pieces).for_each(|(((block, slopes), contacts), ((raw, ground), strength))| {
            let mut contacts = contacts.iter().peekable();
            for (k, ((raw, ground), strength)) in raw.iter_mut().zip(ground).zip(strength).enumerate() {
                let i = block.start + k;
                let mut away = Vec3::ZERO;
                while let Some(contact) = contacts.next_if(|contact| contact.particle as usize <= i) {
                    away += contact.gamma_gradient;
                }
                (*raw, *ground, *strength) = (Vec3::ZERO, [0.0; 4], 0.0);
                if self.phases.is_solid(liquids[i]) {
                    continue;
                }
                let solids = self.gradient_of_solids(block, slopes, k);
                let (liquid, away) = (sums[i].gradient + solids, away + solids);
                *raw = liquid - away * covered(liquid, away, angles[usize::from(liquids[i])]);
                *ground = pack(away.normalize_or_zero(), ramp(away.length() * spacing, BESIDE));
                // In pores it is their suction.
                let seen = !self.phases.in_pores.holds(i);
                *strength = if seen { self.material(liquids[i]).surface_tension as f32 } else { 0.0 };
            }
        });
    }

    /// −∇c of particles of solids alone \[1/m\], as walls push.
    fn gradient_of_solids(&self, block: &Block, slopes: &[[f32; LANES]], k: usize) -> Vec3 {
        if self.phases.is_empty() {
            return Vec3::ZERO;
        }
        let (liquids, norm) = (&self.state.particles.liquid, self.gradient_norm());
        let solids = self.pairs(block, slopes, k).filter(|&(j, ..)| self.phases.is_solid(liquids[j]));
        solids.map(|(_, d, slope)| d * (slope * norm)).sum()
    }

    /// Normals away from other liquids \[SZW eqs 9, 10\].
    fn find_interfaces(&self, raw: &mut [Vec3], strength: &mut [f32]) {
        let (liquids, norm) = (&self.state.particles.liquid, self.gradient_norm());
        let blocks = self.work.neighbours.blocks.par_iter().zip(&self.work.slopes);
        let pieces = raw.par_chunks_mut(par::PIECE).zip(strength.par_chunks_mut(par::PIECE));
        blocks.zip(pieces).for_each(|((block, slopes), (raw, strength))| {
            for (k, (raw, strength)) in raw.iter_mut().zip(strength).enumerate() {
                let own = liquids[block.start + k];
                let (mut n, mut sum, mut weight) = (Vec3::ZERO, 0.0, 0.0);
                let among = |j: usize| liquids[j] != own && !self.phases.is_solid(liquids[j]);
                let others = self.pairs(block, slopes, k).filter(|&(j, ..)| among(j));
                for (j, d, slope) in others.filter(|_| !self.phases.is_solid(own)) {
                    let (a, b) = (self.material(own), self.material(liquids[j]));
                    let sigma = (a.surface_tension - b.surface_tension).abs();
                    n += d * (slope * norm);
                    sum += slope * (sigma * a.density / (a.density + b.density)) as f32;
                    weight += slope;
                }
                *strength = if weight < 0.0 { sum / weight } else { 0.0 };
                *raw = n;
            }
        });
    }

    /// Where there is a surface, and its mean normal.
    fn find_surface(&self, surface: Surface, (raw, strength): (&[Vec3], &[f32]), mean: &mut [Packed]) {
        let (inverse, spacing) = ((1.0 / (self.h * self.h)) as f32, self.setup.params.spacing as f32);
        let blocks = self.work.neighbours.blocks.par_iter().zip(&self.work.slopes);
        blocks.zip(mean.par_chunks_mut(par::PIECE)).for_each(|((block, slopes), mean)| {
            for (k, mean) in mean.iter_mut().enumerate() {
                let i = block.start + k;
                *mean = [0.0; 4];
                if strength[i] == 0.0 {
                    continue;
                }
                let (mut sum, mut total) = (raw[i], 1.0);
                for (j, d, _) in self.pairs(block, slopes, k).filter(|&(j, ..)| strength[j] > 0.0) {
                    let (other, weight) = (raw[j] * self.turned(surface, i, j), weight(d, inverse));
                    // The far sides of threads and sheets must not cancel.
                    if other.dot(raw[i]) > 0.0 {
                        sum += other * weight;
                    }
                    total += weight;
                }
                let n = sum / total;
                *mean = pack(n, ramp(n.length() * spacing, SURFACE_NORMALS));
            }
        });
    }

    fn material(&self, liquid: u16) -> &crate::Material {
        &self.setup.materials[usize::from(liquid)].1
    }

    /// Neighbours of the k-th particle of a block: their index, where they are from it \[m\], and h⁵ (dW/dr)/r.
    fn pairs<'a>(
        &'a self,
        block: &'a Block,
        slopes: &'a [[f32; LANES]],
        k: usize,
    ) -> impl Iterator<Item = (usize, Vec3, f32)> + 'a {
        let (position, i) = (&self.work.position, block.start + k);
        let (here, nobody) = (Vec3::from_slice(&position[i]), position.len() - 1);
        let lists = block.of(k).as_flattened().iter().zip(slopes[block.range(k)].as_flattened());
        lists
            .map(|(&j, &slope)| (j as usize, slope))
            .filter(move |&(j, _)| j != nobody && j != i)
            .map(move |(j, slope)| (j, self.setup.periodic.shortest(Vec3::from_slice(&position[j]) - here), slope))
    }

    /// One for liquids that have the same normal, minus one for those that have the opposite.
    fn turned(&self, surface: Surface, i: usize, j: usize) -> f32 {
        let liquids = &self.state.particles.liquid;
        if surface == Surface::Between && liquids[i] != liquids[j] { -1.0 } else { 1.0 }
    }

    fn smooth_normals(&self, surface: Surface, mean: &[Packed], normal: &mut [Packed]) {
        let blocks = self.work.neighbours.blocks.par_iter().zip(&self.work.slopes);
        let inverse = (1.0 / (self.h * self.h)) as f32;
        blocks.zip(normal.par_chunks_mut(par::PIECE)).for_each(|((block, slopes), normal)| {
            for (k, normal) in normal.iter_mut().enumerate() {
                let i = block.start + k;
                *normal = [0.0; 4];
                if mean[i][3] == 0.0 {
                    continue;
                }
                let own = Vec3::from_slice(&mean[i]);
                let mut sum = own * mean[i][3];
                for (j, d, _) in self.pairs(block, slopes, k).filter(|&(j, ..)| mean[j][3] > 0.0) {
                    let other = Vec3::from_slice(&mean[j]) * self.turned(surface, i, j);
                    // The other side of a sheet is another surface.
                    if other.dot(own) > 0.0 {
                        sum += other * (mean[j][3] * weight(d, inverse));
                    }
                }
                *normal = pack(sum.normalize_or_zero(), mean[i][3]);
            }
        });
    }

    /// Beside walls and solids the surface stands at its contact angle.
    fn stand_on_walls(&self, ground: &[Packed], normal: &mut [Packed], angles: &[[f32; 2]]) {
        let liquids = &self.state.particles.liquid;
        normal.par_iter_mut().with_min_len(par::PIECE).enumerate().for_each(|(i, normal)| {
            let (n, w, share) = (Vec3::from_slice(normal), Vec3::from_slice(&ground[i]), ground[i][3]);
            let along = (n - w * n.dot(w)).normalize_or_zero();
            if share > 0.0 && along != Vec3::ZERO {
                let [sin, cos] = angles[usize::from(liquids[i])];
                *normal = pack(n.lerp(along * sin - w * cos, share).normalize_or_zero(), normal[3]);
            }
        });
    }

    fn find_curvature(&self, surface: Surface, normal: &[Packed], curvature: &mut [f32]) {
        let fitted = self.setup.params.tension == TensionModel::Fitted;
        let (inverse, spacing) = ((1.0 / (self.h * self.h)) as f32, self.setup.params.spacing as f32);
        let blocks = self.work.neighbours.blocks.par_iter().zip(&self.work.slopes);
        blocks.zip(curvature.par_chunks_mut(par::PIECE)).for_each(|((block, slopes), curvature)| {
            for (k, curvature) in curvature.iter_mut().enumerate() {
                let i = block.start + k;
                *curvature = 0.0;
                if normal[i][3] == 0.0 {
                    continue;
                }
                let n = Vec3::from_slice(&normal[i]);
                let others = self.pairs(block, slopes, k).filter_map(|(j, d, slope)| {
                    let other = Vec3::from_slice(&normal[j]) * self.turned(surface, i, j);
                    (normal[j][3] > 0.0 && other.dot(n) > 0.0).then_some((d, slope, other - n, normal[j][3]))
                });
                let found = if fitted {
                    Fit::new(n)
                        .add_all(others.map(|(d, _, change, seen)| (d, change, weight(d, inverse) * seen)))
                        .curvature(0.5 * spacing)
                } else {
                    let sums = others.fold([0.0; 2], |[change_sum, sum], (d, slope, change, _)| {
                        [change_sum + slope * d.dot(change), sum + slope * d.length_squared()]
                    });
                    if sums[1] < 0.0 { -3.0 * sums[0] / sums[1] } else { 0.0 }
                };
                // A ball of two spacings is the smallest that there is.
                *curvature = found.clamp(-1.0 / spacing, 1.0 / spacing);
            }
        });
    }

    fn add_pull(&mut self, (raw, normal, strength): (&[Vec3], &[Packed], &[f32]), curvature: &[f32]) {
        let mut output = std::mem::take(&mut self.work.acceleration);
        let inverse = (1.0 / (self.h * self.h)) as f32;
        let (rest, liquids) = (&self.work.rest_density, &self.state.particles.liquid);
        let slopes = &self.work.slopes;
        for_each_block(&self.work.neighbours.blocks, &mut output, |block, piece| {
            let slopes = &slopes[block.start / par::PIECE];
            for (k, a) in piece.iter_mut().enumerate() {
                let i = block.start + k;
                if normal[i][3] == 0.0 {
                    continue;
                }
                let n = Vec3::from_slice(&normal[i]);
                let (mut sum, mut total) = (curvature[i] * normal[i][3], normal[i][3]);
                for (j, d, _) in self.pairs(block, slopes, k).filter(|&(j, ..)| normal[j][3] > 0.0) {
                    if liquids[i] == liquids[j] && Vec3::from_slice(&normal[j]).dot(n) > 0.0 {
                        let weight = weight(d, inverse) * normal[j][3];
                        sum += curvature[j] * weight;
                        total += weight;
                    }
                }
                let force = raw[i] * (2.0 * strength[i] * normal[i][3] * sum / total);
                *a += force / rest[usize::from(liquids[i])];
            }
        });
        self.work.acceleration = output;
    }
}

/// How much of what stands before a liquid counts as matter, 0 to 1, by the gradient of the liquid and what pushes it `away` \[1/m\]:
/// all of it under a drop, and at the rim as much as turns the sum to the contact angle with this sine and cosine.
fn covered(liquid: Vec3, away: Vec3, [sin, cos]: [f32; 2]) -> f32 {
    let steepness = away.length();
    if steepness == 0.0 {
        return 0.0;
    }
    let w = away / steepness;
    let up = liquid.dot(w);
    let along = (liquid - w * up).length();
    ((up + along * cos / sin.max(1e-3)) / steepness).clamp(0.0, 1.0)
}

/// From nothing at the first to one at the second.
fn ramp(value: f32, [low, high]: [f32; 2]) -> f32 {
    ((value - low) / (high - low)).clamp(0.0, 1.0)
}

/// (1 − r²/h²)².
fn weight(d: Vec3, inverse_square: f32) -> f32 {
    let t = (1.0 - d.length_squared() * inverse_square).max(0.0);
    t * t
}

/// Normals around a particle as a linear function of position in its tangent plane, by least squares.
struct Fit {
    axes: [Vec3; 2],
    /// Σ w x², Σ w y², Σ w xy.
    moments: [f32; 3],
    /// Σ w Δn x and Σ w Δn y, in the plane.
    changes: [Vec2; 2],
}

impl Fit {
    fn new(n: Vec3) -> Self {
        let (x, y) = n.any_orthonormal_pair();
        Self { axes: [x, y], moments: [0.0; 3], changes: [Vec2::ZERO; 2] }
    }

    fn add_all(mut self, others: impl Iterator<Item = (Vec3, Vec3, f32)>) -> Self {
        let flat = |v: Vec3, [x, y]: [Vec3; 2]| Vec2::new(v.dot(x), v.dot(y));
        for (d, change, weight) in others {
            let (r, change) = (flat(d, self.axes), flat(change, self.axes) * weight);
            let [xx, yy, xy] = self.moments;
            self.moments = [xx + weight * r.x * r.x, yy + weight * r.y * r.y, xy + weight * r.x * r.y];
            self.changes = [self.changes[0] + change * r.x, self.changes[1] + change * r.y];
        }
        self
    }

    /// Sum of the principal curvatures \[1/m\] of the parallel surface `depth` \[m\] outside.
    fn curvature(&self, depth: f32) -> f32 {
        let [xx, yy, xy] = self.moments;
        let determinant = xx * yy - xy * xy;
        let mean = 0.5 * (xx + yy);
        if mean <= 0.0 {
            return 0.0;
        }
        // Neighbours in one line tell of one curvature only. So do neighbours at the end of the reach of millimetres, whose moments
        // squared are nothing in single precision.
        if determinant <= 0.05 * mean * mean {
            return -(self.changes[0].x + self.changes[1].y) / (2.0 * mean);
        }
        // −∂n/∂x and −∂n/∂y.
        let along_x = (self.changes[1] * xy - self.changes[0] * yy) / determinant;
        let along_y = (self.changes[0] * xy - self.changes[1] * xx) / determinant;
        let (sum, gauss) = (along_x.x + along_y.y, along_x.x * along_y.y - along_x.y * along_y.x);
        (sum + 2.0 * gauss * depth) / (1.0 + sum * depth + gauss * depth * depth).max(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Curvature at the origin, seen from particles `depth` below a surface with the principal curvatures a and b.
    fn of_paraboloid(a: f32, b: f32, depth: f32) -> f32 {
        let n = |x: f32, y: f32| Vec3::new(-a * x, -b * y, -1.0).normalize();
        let around = (-3..=3).flat_map(|x| (-3..=3).map(move |y| (0.02 * x as f32, 0.02 * y as f32)));
        let others = around.map(|(x, y)| {
            let position = Vec3::new(x, y, -0.5 * (a * x * x + b * y * y)) + n(x, y) * depth;
            (position - Vec3::NEG_Z * depth, n(x, y) - Vec3::NEG_Z, 1.0)
        });
        Fit::new(Vec3::NEG_Z).add_all(others).curvature(depth)
    }

    #[test]
    fn curvatures_of_drops_threads_and_saddles() {
        for depth in [0.0, 0.05] {
            for (a, b) in [(1.0, 1.0), (1.0, 0.0), (1.0, -1.0), (-0.5, -0.5)] {
                let found = of_paraboloid(a, b, depth);
                assert!((found - (a + b)).abs() < 0.02, "{a} {b} at {depth}: {found}");
            }
        }
    }

    /// Neighbours at the end of a reach of millimetres weigh so little that their moments squared are nothing in single precision.
    #[test]
    fn what_weighs_next_to_nothing_is_no_curvature_but_a_number() {
        for weight in [1.0, 1e-8, 1e-14, 1e-18, 1e-30] {
            let others = [(Vec3::X * 4e-3, Vec3::X * 0.1, weight), (Vec3::Y * 4e-3, Vec3::Y * 0.1, weight)];
            let found = Fit::new(Vec3::NEG_Z).add_all(others.into_iter()).curvature(1e-3);
            assert!(found.is_finite(), "{weight}: {found}");
        }
    }

    /// Under a drop a wall is matter. At its rim the normal has the contact angle. A wall that wets altogether is like liquid, one
    /// that does not wet is like air.
    #[test]
    fn walls_count_as_the_contact_angle_asks() {
        let of = |liquid: Vec3, angle: f32| covered(liquid, Vec3::Y, angle.to_radians().sin_cos().into());
        assert_eq!(of(Vec3::Y, 120.0), 1.0);
        let rim = Vec3::new(0.6, 0.5, 0.0);
        for angle in [60.0, 90.0, 120.0] {
            let n = rim - Vec3::Y * of(rim, angle);
            assert!((n.x.atan2(-n.y).to_degrees() - angle).abs() < 1e-3, "{angle}: {n}");
        }
        assert_eq!([of(rim, 0.0), of(rim, 180.0)], [1.0, 0.0]);
        assert_eq!(covered(rim, Vec3::ZERO, [1.0, 0.0]), 0.0);
    }

    #[test]
    fn neighbours_in_a_line_tell_of_one_curvature() {
        let others = (-3..=3).map(|k| {
            let x = 0.02 * k as f32;
            (Vec3::X * x, Vec3::new(-x, 0.0, -1.0).normalize() - Vec3::NEG_Z, 1.0)
        });
        assert!((Fit::new(Vec3::NEG_Z).add_all(others).curvature(0.0) - 1.0).abs() < 0.01);
        assert_eq!(Fit::new(Vec3::NEG_Z).curvature(0.1), 0.0);
    }
}
