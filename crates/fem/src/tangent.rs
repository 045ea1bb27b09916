//! The stiffness of one point of an element: two ways to keep it, one way to read it.

use crate::element::Element;
use crate::model::{Elastic, Energy, PAIRS};
use crate::symmetric::eigen;
use glam::{DMat3, DVec3};
use std::f64::consts::FRAC_1_SQRT_2;

/// What happens at one point of an element.
pub(crate) struct Point<'a> {
    /// The deformation gradient F.
    pub(crate) f: DMat3,
    /// Its rotation R.
    pub(crate) r: DMat3,
    /// Gradients of the corners \[1/m\].
    pub(crate) g: &'a [DVec3; 4],
    /// Volume that the point stands for \[m³\].
    pub(crate) volume: f64,
}

/// What all points of a body share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Law {
    /// The elastic energy.
    pub(crate) elastic: Elastic,
    /// Lamé's constants λ and μ \[Pa\].
    pub(crate) lame: [f64; 2],
    /// The factor c of the stiffness in the matrix a M + c K \[s²\], or 1.
    pub(crate) stiffness: f64,
    /// Whether negative eigenvalues of the Hessian are dropped.
    pub(crate) project: bool,
}

/// The stiffness of a point.
pub(crate) trait Tangent: Copy + Default + Send + Sync {
    /// The stiffness at a point.
    fn new(law: &Law, point: &Point<'_>) -> Self;
    /// Adds c Kₐᵦ to `row[b]` for every node b of the element.
    fn add_row<E: Element<N>, const N: usize>(&self, law: &Law, point: usize, a: usize, row: &mut [DMat3; N]);
}

/// The stiffness at rest turned with the element \[MG04 eq. 10\]:
/// R Kₐᵦ Rᵀ = V (λ Gₐ Gᵦᵀ + μ Gᵦ Gₐᵀ + μ Gₐ·Gᵦ I) with G = R g. Kept as √(c V μ) G.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Warped([DVec3; 4]);

impl Tangent for Warped {
    #[inline(always)]
    fn new(law: &Law, point: &Point<'_>) -> Self {
        let scale = (law.stiffness * point.volume * law.lame[1]).sqrt();
        let turn = point.r * scale;
        let [_, b, c, d] = point.g.map(|g| turn * g);
        Self([-(b + c + d), b, c, d])
    }

    #[inline(always)]
    fn add_row<E: Element<N>, const N: usize>(&self, law: &Law, point: usize, a: usize, row: &mut [DMat3; N]) {
        let ratio = law.lame[0] / law.lame[1];
        let g = E::gradients(point, &self.0);
        let ga = g[a];
        for (block, gb) in row.iter_mut().zip(g) {
            let dot = ga.dot(gb);
            // Written so that Kᵦₐ is the transpose of Kₐᵦ to the last bit.
            let entry = |r: usize, c: usize| ratio * (ga[r] * gb[c]) + gb[r] * ga[c];
            let column = |c: usize| DVec3::new(entry(0, c), entry(1, c), entry(2, c));
            block.x_axis += column(0) + DVec3::new(dot, 0.0, 0.0);
            block.y_axis += column(1) + DVec3::new(0.0, dot, 0.0);
            block.z_axis += column(2) + DVec3::new(0.0, 0.0, dot);
        }
    }
}

/// Where only forces are asked for.
impl Tangent for () {
    fn new(_: &Law, _: &Point<'_>) -> Self {}
    fn add_row<E: Element<N>, const N: usize>(&self, _: &Law, _: usize, _: usize, _: &mut [DMat3; N]) {}
}

/// ∂P/∂F as a 3×3 table of blocks: ∂(column j of P)/∂(column k of F).
pub(crate) type Hessian = [[DMat3; 3]; 3];

/// The stiffness of any model: Kₐᵦ = V Σⱼₖ gₐⱼ gᵦₖ Hⱼₖ. Keeps c V H and g.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct General {
    hessian: Hessian,
    g: [DVec3; 4],
}

impl Tangent for General {
    fn new(law: &Law, point: &Point<'_>) -> Self {
        let hessian = hessian(&law.elastic, &point.f, &point.r, law.project);
        let scale = law.stiffness * point.volume;
        Self { hessian: hessian.map(|row| row.map(|block| block * scale)), g: *point.g }
    }

    #[inline(always)]
    fn add_row<E: Element<N>, const N: usize>(&self, _: &Law, point: usize, a: usize, row: &mut [DMat3; N]) {
        let g = E::gradients(point, &self.g);
        let h = &self.hessian;
        let along = |k: usize| h[0][k] * g[a].x + h[1][k] * g[a].y + h[2][k] * g[a].z;
        let [x, y, z] = [along(0), along(1), along(2)];
        row.iter_mut().zip(g).for_each(|(block, gb)| *block += x * gb.x + y * gb.y + z * gb.z);
    }
}

/// ∂P/∂F from the curvature in principal stretches, F = U diag(s) Vᵀ with U = R V; optionally without its negative
/// eigenvalues \[TSIF05\].
pub(crate) fn hessian(elastic: &Elastic, f: &DMat3, r: &DMat3, project: bool) -> Hessian {
    let stretch = r.transpose() * *f;
    let (s, v) = eigen(&((stretch + stretch.transpose()) * 0.5));
    let u = *r * v;
    let curvature = elastic.curvature(s);
    let mut hessian = [[DMat3::ZERO; 3]; 3];
    let mut add = |value: f64, mode: DMat3| {
        let value = if project { value.max(0.0) } else { value };
        for (j, row) in hessian.iter_mut().enumerate() {
            for (k, block) in row.iter_mut().enumerate() {
                *block += outer(mode.col(j) * value, mode.col(k));
            }
        }
    };
    let (values, axes) = eigen(&curvature.stretch);
    for k in 0..3 {
        add(values[k], u * DMat3::from_diagonal(axes.col(k)) * v.transpose());
    }
    for (k, [i, j]) in PAIRS.into_iter().enumerate() {
        let (ij, ji) = (outer(u.col(i), v.col(j)), outer(u.col(j), v.col(i)));
        add(curvature.twist[k], (ij - ji) * FRAC_1_SQRT_2);
        add(curvature.shear[k], (ij + ji) * FRAC_1_SQRT_2);
    }
    hessian
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
