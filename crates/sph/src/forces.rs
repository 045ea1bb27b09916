//! Pressure and viscosity forces of the state-equation liquid \[MCG03 eqs 10, 14; B, unnumbered\].
//!
//! As forces per volume, with Vⱼ = mⱼ/ρⱼ:
//!
//! > fᵢ = −Σⱼ Vⱼ (pᵢ + pⱼ + Πᵢⱼ) ∇Wᵢⱼ + Σⱼ Vⱼ μᵢⱼ (vⱼ − vᵢ) ∇²Wᵢⱼ
//!
//! Deviations. MCG03 and Boldt take *half* of pᵢ + pⱼ: since Σ V pⱼ ∇W alone is the gradient and Σ V pᵢ ∇W vanishes inside
//! the liquid, that is half of the gradient of any smooth pressure, and water at rest would show twice its pressure (a
//! test holds on to this). Boldt also prints + for −, and densities for pressures. Each pair's force is equal and
//! opposite. Πᵢⱼ = ρ α c u, with u = −v·d (h/2)/(r² + 0.01 (h/2)²) for pairs that approach, is Monaghan's artificial
//! viscosity written as a pair pressure \[Mon92\]; it calms the ringing of the stiff gas and acts on no rigid motion.

use crate::lanes::{
    KernelLanes, Packed, Space, add_up3, dot, gather, gather1, minus, plus_scaled, splat, splat3, viscosity_laplacian,
};
use crate::neighbours::Block;
use fearless_simd::{Simd, SimdBase, SimdFloat};
use glam::Vec3;

/// What the force pass reads.
#[derive(Clone, Copy)]
pub(crate) struct ForceInput<'a> {
    /// Position \[m\] and volume Vⱼ \[m³\].
    pub(crate) place: &'a [Packed],
    /// Velocity \[m/s\] and pressure \[Pa\].
    pub(crate) flow: &'a [Packed],
    /// Dynamic viscosity of each particle \[Pa·s\].
    pub(crate) viscosity: Viscosity<'a>,
    /// 1/h \[1/m\].
    pub(crate) inverse_h: f32,
    /// ρ α c (h/2) \[Pa·s\]: strength of the artificial viscosity.
    pub(crate) shock: f32,
}

/// Viscosity of the particles \[Pa·s\].
#[derive(Clone, Copy)]
pub(crate) enum Viscosity<'a> {
    /// The same everywhere.
    Uniform(f32),
    /// Per particle; a pair takes the mean.
    Mixed(&'a [f32]),
}

/// Sums forces per volume \[N/m³\] on the particles of a block.
#[inline(always)]
pub(crate) fn sum<S: Simd, K: KernelLanes, P: Space>(
    simd: S,
    (_, space): (K, P),
    block: &Block,
    input: &ForceInput,
    output: &mut [Vec3],
) {
    simd.vectorize(
        #[inline(always)]
        || {
            let h = 1.0 / input.inverse_h;
            let inverse_h = splat(simd, input.inverse_h);
            let zero = splat(simd, 0.0);
            // Keeps 1/r finite for a particle and itself; far below any distance that matters.
            let tiny = splat(simd, 1e-9 * h);
            let (shock, softening) = (splat(simd, input.shock), splat(simd, 0.0025 * h * h));
            let slope_norm = splat(simd, input.inverse_h * input.inverse_h * input.inverse_h * input.inverse_h);
            let laplacian_norm = slope_norm * inverse_h;
            for (k, output) in output.iter_mut().enumerate() {
                let i = block.start + k;
                let (x_i, v_i) = (splat3(simd, input.place[i]), splat3(simd, input.flow[i]));
                let p_i = splat(simd, input.flow[i][3]);
                let mut force = [zero; 3];
                for eight in block.of(k) {
                    let (x_j, volume_j) = gather(simd, input.place, eight);
                    let (v_j, p_j) = gather(simd, input.flow, eight);
                    let d = space.shortest(simd, minus(x_i, x_j));
                    let v = minus(v_i, v_j);
                    let r_squared = dot(d, d);
                    let r = r_squared.sqrt();
                    let q = r * inverse_h;
                    let approach = (zero - dot(v, d)).max(zero) / (r_squared + softening);
                    let pressure = p_i + p_j + shock * approach;
                    let slope = K::slope(simd, q) * slope_norm;
                    let mu = match input.viscosity {
                        Viscosity::Uniform(mu) => splat(simd, mu),
                        Viscosity::Mixed(mu) => (splat(simd, mu[i]) + gather1(simd, mu, eight)) * splat(simd, 0.5),
                    };
                    let friction = mu * viscosity_laplacian(simd, q) * laplacian_norm;
                    force = plus_scaled(force, zero - volume_j * pressure * slope / (r + tiny), d);
                    force = plus_scaled(force, zero - volume_j * friction, v);
                }
                *output = add_up3(force);
            }
        },
    );
}
