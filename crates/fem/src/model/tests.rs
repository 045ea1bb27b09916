use super::*;
use crate::rotation::polar;
use crate::symmetric::norm;
use glam::DQuat;
use proptest::prelude::*;

const MODELS: [Model; 3] = [Model::Corotational, Model::NeoHookean, Model::StVenantKirchhoff];

fn elastic(model: Model) -> Elastic {
    Elastic::new(&Material { model, young: 3.0, poisson: 0.35, ..Material::default() })
}

fn rotation(f: &DMat3) -> DMat3 {
    DMat3::from_quat(polar(f, DQuat::IDENTITY))
}

fn density(elastic: &Elastic, f: DMat3) -> f64 {
    elastic.density(&f, &rotation(&f))
}

fn stress(elastic: &Elastic, f: DMat3) -> DMat3 {
    elastic.stress(&f, &rotation(&f))
}

/// Central difference of a function of F along one of its nine entries.
fn difference<T: std::ops::Sub<Output = T> + std::ops::Mul<f64, Output = T>>(
    f: &DMat3,
    entry: usize,
    value: impl Fn(DMat3) -> T,
) -> T {
    const STEP: f64 = 1e-5;
    let moved = |step: f64| {
        let mut f = *f;
        f.col_mut(entry / 3)[entry % 3] += step;
        value(f)
    };
    (moved(STEP) - moved(-STEP)) * (0.5 / STEP)
}

/// Deformations with stretches apart from each other and from zero, also inside out, in any orientation.
fn deformation() -> impl Strategy<Value = DMat3> {
    let turn = || {
        let some = prop::array::uniform4(-1.0f64..1.0).prop_map(DQuat::from_array);
        some.prop_filter("not zero", |q| q.length() > 0.1).prop_map(DQuat::normalize)
    };
    (turn(), turn(), 0.1f64..0.4, 0.5f64..0.9, 1.0f64..2.0, any::<bool>()).prop_map(|(u, v, a, b, c, inverted)| {
        let stretch = DVec3::new(c, b, if inverted { -a } else { a });
        DMat3::from_quat(u) * DMat3::from_diagonal(stretch) * DMat3::from_quat(v)
    })
}

proptest! {
    #[test]
    fn stress_is_the_slope_of_energy(f in deformation()) {
        for model in MODELS {
            let elastic = elastic(model);
            let p = stress(&elastic, f).to_cols_array();
            for (entry, p) in p.iter().enumerate() {
                let slope = difference(&f, entry, |f| density(&elastic, f));
                prop_assert!((slope - p).abs() < 1e-7, "{model:?}: {slope} {p}");
            }
        }
    }

    #[test]
    fn rotations_change_neither_energy_nor_stress_in_their_frame(f in deformation(), q in prop::array::uniform4(-1.0f64..1.0)) {
        let r = DMat3::from_quat(DQuat::from_array(q).normalize());
        for model in MODELS {
            let elastic = elastic(model);
            prop_assert!((density(&elastic, r * f) - density(&elastic, f)).abs() < 1e-12);
            prop_assert!(norm(&(stress(&elastic, r * f) - r * stress(&elastic, f))) < 1e-12);
            // Isotropic: P Rᵀ is symmetric, so that elements do not turn themselves.
            let biot = rotation(&f).transpose() * stress(&elastic, f);
            prop_assert!(norm(&(biot - biot.transpose())) < 1e-12);
        }
    }

    #[test]
    fn small_strains_obey_hooke(e in prop::array::uniform9(-1.0f64..1.0)) {
        let size = 1e-6;
        let strain = DMat3::from_cols_array(&e) * size;
        let f = DMat3::IDENTITY + strain;
        let symmetric = (strain + strain.transpose()) * 0.5;
        for model in MODELS {
            let material = Material { model, young: 3.0, poisson: 0.35, ..Material::default() };
            let [lambda, mu] = material.lame();
            let trace = e[0] + e[4] + e[8];
            let hooke = symmetric * (2.0 * mu) + DMat3::from_diagonal(DVec3::splat(lambda * trace * size));
            prop_assert!(norm(&(stress(&Elastic::new(&material), f) - hooke)) < 1e-4 * size, "{model:?}");
        }
    }
}

#[test]
fn rest_has_neither_energy_nor_stress() {
    for model in MODELS {
        let elastic = elastic(model);
        assert!(density(&elastic, DMat3::IDENTITY).abs() < 1e-15, "{model:?}");
        assert!(norm(&stress(&elastic, DMat3::IDENTITY)) < 1e-15, "{model:?}");
    }
}

mod hessian {
    use super::*;
    use crate::tangent::hessian;

    proptest! {
        #[test]
        fn the_hessian_is_the_slope_of_stress(f in deformation()) {
            for model in MODELS {
                let elastic = elastic(model);
                let h = hessian(&elastic, &f, &rotation(&f), false);
                for entry in 0..9 {
                    let slope = difference(&f, entry, |f| stress(&elastic, f));
                    for j in 0..3 {
                        let column = h[j][entry / 3].col(entry % 3);
                        prop_assert!(column.distance(slope.col(j)) < 1e-5, "{model:?} {column} {}", slope.col(j));
                    }
                }
            }
        }

        #[test]
        fn the_projected_hessian_is_symmetric_and_not_negative(f in deformation(), x in prop::array::uniform9(-1.0f64..1.0)) {
            for model in MODELS {
                let h = hessian(&elastic(model), &f, &rotation(&f), true);
                let mut quadratic = 0.0;
                for j in 0..3 {
                    for k in 0..3 {
                        prop_assert!(norm(&(h[j][k] - h[k][j].transpose())) < 1e-12);
                        let (a, b) = (DVec3::from_slice(&x[3 * j..]), DVec3::from_slice(&x[3 * k..]));
                        quadratic += a.dot(h[j][k] * b);
                    }
                }
                prop_assert!(quadratic > -1e-12, "{model:?} {quadratic}");
            }
        }
    }
}
