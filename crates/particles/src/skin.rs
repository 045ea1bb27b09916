//! A surface carried along by particles.
//!
//! A vertex X hangs on the particles Xⱼ near it with weights of moving least squares: with θⱼ = (1 − d²/R²)², the mean X̄ and the
//! moment A = Σ θⱼ (Xⱼ − X̄)(Xⱼ − X̄)ᵀ
//!
//! > wⱼ = θⱼ (1/Σθ + (Xⱼ − X̄)·A⁻¹(X − X̄))
//!
//! so that Σ wⱼ = 1 and Σ wⱼ Xⱼ = X: any affine motion of the particles is that of the surface, also outside of them. Forces on
//! vertices go back to particles by the same weights, and keep their sum.

use glam::{DMat3, DVec3};

/// Σ |w| of a vertex at most, dimensionless: so many times may it be as fast as its particles.
const MAX_GAIN: f64 = 4.0;
/// How often its reach grows by half a spacing to that end.
const MAX_WIDENINGS: u32 = 12;

/// A surface that hangs on the particles of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// Where the particles of each vertex start in `anchors`; one more than vertices.
    first: Vec<u32>,
    /// Particle within the body, and its weight.
    anchors: Vec<(u32, f64)>,
    triangles: Vec<[u32; 3]>,
}

impl Skin {
    /// Hangs vertices \[m\] on particles \[m\] that are `spacing` \[m\] apart.
    #[must_use]
    pub fn new(vertices: &[DVec3], triangles: &[[u32; 3]], particles: &[DVec3], spacing: f64) -> Self {
        let (mut first, mut anchors) = (vec![0], Vec::new());
        for &x in vertices {
            // A vertex is about half a spacing outside of a particle, more at corners; sharp tips reach further.
            let nearest = particles.iter().map(|p| p.distance(x)).fold(f64::INFINITY, f64::min);
            let mut reach = (nearest + spacing).max(2.1 * spacing);
            let mut own = hang(x, particles, reach);
            // Few particles, or flat ones, would throw their noise at a tip: it hangs on more of them.
            for _ in 0..MAX_WIDENINGS {
                if own.iter().map(|(_, weight)| weight.abs()).sum::<f64>() <= MAX_GAIN {
                    break;
                }
                reach += 0.5 * spacing;
                own = hang(x, particles, reach);
            }
            anchors.extend(own);
            first.push(anchors.len() as u32);
        }
        Self { first, anchors, triangles: triangles.to_vec() }
    }

    /// Triangles of the surface.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Positions, or velocities, of the vertices from those of the particles of the body.
    pub fn carry(&self, particles: &[DVec3]) -> impl ExactSizeIterator<Item = DVec3> {
        self.first.windows(2).map(|ends| {
            let anchors = &self.anchors[ends[0] as usize..ends[1] as usize];
            anchors.iter().map(|&(particle, weight)| particles[particle as usize] * weight).sum()
        })
    }

    /// Hands the forces on the vertices \[N\] to the particles of the body, on top of what they feel.
    pub fn hand_down(&self, forces: &[DVec3], particles: &mut [DVec3]) {
        for (ends, force) in self.first.windows(2).zip(forces) {
            for &(particle, weight) in &self.anchors[ends[0] as usize..ends[1] as usize] {
                particles[particle as usize] += *force * weight;
            }
        }
    }

    /// How fast each vertex gives way to forces at most \[1/kg\], if nothing holds the particles together: with the weights W and
    /// the masses M it does with W M⁻¹ Wᵀ, and a diagonal of the sums of the absolute values in its rows is no less.
    #[must_use]
    pub fn compliance(&self, inverse_masses: &[f64]) -> Vec<f64> {
        let mut hanging = vec![0.0; inverse_masses.len()];
        self.anchors.iter().for_each(|&(particle, weight)| hanging[particle as usize] += weight.abs());
        let yields = |&(particle, weight): &(u32, f64)| {
            weight.abs() * inverse_masses[particle as usize] * hanging[particle as usize]
        };
        let of_vertex = |ends: &[u32]| self.anchors[ends[0] as usize..ends[1] as usize].iter().map(yields).sum();
        self.first.windows(2).map(of_vertex).collect()
    }
}

fn hang(x: DVec3, particles: &[DVec3], reach: f64) -> Vec<(u32, f64)> {
    let near = particles.iter().enumerate().filter_map(|(j, p)| {
        let theta = (1.0 - p.distance_squared(x) / (reach * reach)).max(0.0);
        (theta > 0.0).then_some((j as u32, *p, theta * theta))
    });
    let near: Vec<(u32, DVec3, f64)> = near.collect();
    let sum: f64 = near.iter().map(|n| n.2).sum();
    let mean = near.iter().map(|n| n.1 * n.2).sum::<DVec3>() / sum;
    let moment = near.iter().fold(DMat3::ZERO, |a, &(_, p, theta)| {
        let r = p - mean;
        a + DMat3::from_cols(r * r.x, r * r.y, r * r.z) * theta
    });
    // Where the particles lie in a plane or on a line, the vertex does not move across it on its own.
    let floor = 1e-6 * sum * reach * reach;
    let moment = moment + DMat3::from_diagonal(DVec3::splat(floor));
    let lean = moment.inverse() * (x - mean);
    near.iter().map(|&(j, p, theta)| (j, theta * (1.0 / sum + (p - mean).dot(lean)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{Aabb, Shape, fill, solids};

    #[test]
    fn a_skin_follows_affine_motion() {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::new(0.3, 0.2, 0.4));
        let particles = fill(&Shape::Box(bounds), 0.05, &[]).unwrap();
        let surface = solids::cuboid(&bounds);
        let skin = Skin::new(surface.vertices(), surface.triangles(), &particles, 0.05);
        let motion = |x: DVec3| DVec3::new(1.1 * x.x + 0.3 * x.y, 0.9 * x.y - 0.2 * x.z, x.z + 0.1 * x.x + 1.0);
        let moved: Vec<DVec3> = particles.iter().map(|&p| motion(p)).collect();
        for (vertex, carried) in surface.vertices().iter().zip(skin.carry(&moved)) {
            assert!(motion(*vertex).distance(carried) < 1e-4 * 0.05, "{carried}");
        }
    }

    /// Tips that few particles carry are no faster than a few times these.
    #[test]
    fn a_duck_does_not_throw_the_noise_of_its_particles() {
        let spacing = 0.05;
        let surface = solids::duck(1.0, 24);
        let particles = fill(&Shape::Mesh(surface.clone()), spacing, &[]).unwrap();
        let skin = Skin::new(surface.vertices(), surface.triangles(), &particles, spacing);
        let noise = |i: usize| {
            DVec3::new((i % 7) as f64 - 3.0, (i % 5) as f64 - 2.0, (i % 3) as f64 - 1.0).normalize_or(DVec3::X)
        };
        let speeds: Vec<DVec3> = (0..particles.len()).map(noise).collect();
        let fastest = skin.carry(&speeds).map(DVec3::length).fold(0.0, f64::max);
        assert!(fastest > 0.1 && fastest <= MAX_GAIN, "{fastest}");
    }

    #[test]
    fn forces_keep_their_sum_torque_and_work() {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::new(0.3, 0.2, 0.4));
        let particles = fill(&Shape::Box(bounds), 0.05, &[]).unwrap();
        let surface = solids::cuboid(&bounds);
        let skin = Skin::new(surface.vertices(), surface.triangles(), &particles, 0.05);
        let forces: Vec<DVec3> = surface.vertices().iter().map(|x| DVec3::new(1.0 + x.z, x.x, -x.y * x.z)).collect();
        let mut felt = vec![DVec3::ZERO; particles.len()];
        skin.hand_down(&forces, &mut felt);
        let sums = |positions: &[DVec3], forces: &[DVec3]| {
            let pairs = || positions.iter().zip(forces);
            [pairs().map(|(_, f)| *f).sum::<DVec3>(), pairs().map(|(x, f)| x.cross(*f)).sum()]
        };
        for (above, below) in sums(surface.vertices(), &forces).into_iter().zip(sums(&particles, &felt)) {
            assert!(above.distance(below) < 1e-5, "{above} became {below}");
        }
        // Work of any motion: f · W v = Wᵀ f · v, and W M⁻¹ Wᵀ is no more than the diagonal that stands for it.
        let squared = |f: &DVec3| f.length_squared();
        let exact: f64 = felt.iter().map(squared).sum();
        let compliance = skin.compliance(&vec![1.0; particles.len()]);
        let bound: f64 = forces.iter().zip(compliance).map(|(f, y)| f.length_squared() * y).sum();
        assert!(exact <= bound && bound < 30.0 * exact, "{exact} {bound}");
    }
}
