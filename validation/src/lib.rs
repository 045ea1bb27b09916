//! Cases against theory and experiment. Each has a page beside this crate, `<case>.md`, that gives the reference, the
//! tolerance and why it is what it is.

mod coupling;
mod fem;
mod figure;
mod momentum;
mod no_leak_soft;
mod particles;
mod plate;
mod plot;
mod row;
mod sph;
mod stuffing;
mod sums;
mod twophase;
mod unified;
mod vessels;
mod wall_integral;
mod worlds;

pub use figure::figure;
pub use plot::{Curve, Plot, Style};
pub use row::{Bound, Row};
pub(crate) use row::{absolute, at_least, bound, compare, failed, row};
pub(crate) use sums::{History, given, half_period, interpolate, is_sound, largest, least, mean, rms};

/// How much is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// At most a minute.
    Quick,
    /// As large and as long as the references ask.
    Fine,
}

/// A case.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Runs it.
    pub run: fn(Size) -> Vec<Row>,
}

/// All cases, in the order in which they run.
pub const CASES: &[Case] = &[
    Case { name: "wall-integral", run: wall_integral::run },
    Case { name: "hydrostatic", run: sph::hydrostatic::run },
    Case { name: "dam-break", run: sph::dam_break::run },
    Case { name: "sloshing", run: sph::sloshing::run },
    Case { name: "poiseuille-plane", run: sph::poiseuille_plane::run },
    Case { name: "momentum", run: momentum::run },
    Case { name: "spin", run: sph::spin::run },
    Case { name: "standing-wave-sph", run: sph::living::standing_wave },
    Case { name: "taylor-green", run: sph::living::taylor_green },
    Case { name: "pool-shear", run: sph::living::pool_shear },
    Case { name: "pool-rest", run: sph::living::pool_rest },
    Case { name: "no-leak", run: sph::no_leak::run },
    Case { name: "vessel-profile", run: vessels::profile::run },
    Case { name: "vessel-pulse", run: vessels::pulse::run },
    Case { name: "vessel-burst", run: vessels::burst::run },
    Case { name: "water-on-plate", run: plate::run },
    Case { name: "no-leak-soft", run: no_leak_soft::run },
    Case { name: "pool-yanked", run: coupling::yanked::run },
    Case { name: "boundary-field", run: coupling::boundary_field::run },
    Case { name: "action-reaction", run: coupling::action::run },
    Case { name: "neutral-body", run: coupling::neutral::run },
    Case { name: "draught", run: coupling::draught::run },
    Case { name: "coupling-convergence", run: coupling::draught::convergence },
    Case { name: "heave", run: coupling::heave::run },
    Case { name: "patch-test", run: fem::patch::run },
    Case { name: "bar", run: fem::bar::run },
    Case { name: "beam-deflection", run: fem::beam::deflection },
    Case { name: "elastica", run: fem::beam::elastica },
    Case { name: "beam-frequency", run: fem::beam::frequency },
    Case { name: "csm1", run: fem::csm::csm1 },
    Case { name: "csm2", run: fem::csm::csm2 },
    Case { name: "csm3", run: fem::csm::csm3 },
    Case { name: "free-body", run: fem::free::free_body },
    Case { name: "rotation", run: fem::free::rotation },
    Case { name: "inversion", run: fem::free::inversion },
    Case { name: "bar-fracture", run: fem::fracture::run },
    Case { name: "plastic-residual", run: fem::plastic::run },
    Case { name: "contact-energy", run: fem::contact::run },
    Case { name: "spring-oscillator", run: particles::springs::oscillator },
    Case { name: "spring-chain", run: particles::springs::chain },
    Case { name: "free-top", run: particles::tops::free },
    Case { name: "symmetric-top", run: particles::tops::symmetric },
    Case { name: "order", run: particles::order::run },
    Case { name: "body-momentum", run: particles::piles::momentum },
    Case { name: "stack", run: particles::piles::stack },
    Case { name: "float-springs", run: particles::float::run },
    Case { name: "pair-momentum", run: unified::liquids::momentum },
    Case { name: "layers-at-rest", run: unified::liquids::layers },
    Case { name: "no-spurious-tension", run: unified::liquids::square },
    Case { name: "laplace-jump", run: unified::drops::laplace },
    Case { name: "drop-oscillation", run: unified::drops::oscillation },
    Case { name: "contact-angle", run: unified::drops::contact },
    Case { name: "sph-rotation", run: unified::body::rotation },
    Case { name: "elastic-energy", run: unified::body::energy },
    Case { name: "plastic-shear", run: unified::body::plastic_shear },
    Case { name: "sph-beam", run: unified::beam::run },
    Case { name: "unified-draught", run: unified::draught::run },
    Case { name: "darcy", run: unified::porous::run },
    Case { name: "zalesak", run: twophase::zalesak },
    Case { name: "single-vortex", run: twophase::vortex },
    Case { name: "deformation-3d", run: twophase::deformation },
    Case { name: "hydrostatic-rest", run: twophase::hydrostatic },
    Case { name: "static-drop", run: twophase::static_drop },
    Case { name: "box-volume", run: twophase::box_volume },
    Case { name: "dam-break-grid", run: twophase::dam_break },
    Case { name: "sloshing-grid", run: twophase::sloshing },
    Case { name: "capillary-wave", run: twophase::capillary_wave },
    Case { name: "drop-oscillation-grid", run: twophase::drop_oscillation },
    Case { name: "rising-bubble", run: twophase::rising },
    Case { name: "rayleigh-taylor", run: twophase::rayleigh_taylor },
    Case { name: "standing-wave", run: twophase::standing_wave },
    Case { name: "moving-drop", run: twophase::moving_drop },
    Case { name: "open-hump", run: twophase::open_hump },
    Case { name: "entry-volume", run: twophase::entry_volume },
    Case { name: "piston", run: twophase::piston },
    Case { name: "gas-chamber", run: twophase::gas_chamber },
    Case { name: "shell-tight", run: twophase::shell_tight },
    Case { name: "oscillating-cylinder", run: twophase::oscillating_cylinder },
    Case { name: "translate-invariance", run: twophase::translate_invariance },
    Case { name: "heart-stroke", run: twophase::heart_stroke },
    Case { name: "led-sphere-grid", run: twophase::led_sphere },
    Case { name: "outflow", run: twophase::outflow },
    Case { name: "stuffing", run: stuffing::run },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases that take a second or so; the others run with `meniscus validate`.
    const QUICKEST: &[&str] = &[
        "wall-integral",
        "momentum",
        "boundary-field",
        "action-reaction",
        "patch-test",
        "bar",
        "beam-deflection",
        "elastica",
        "csm1",
        "csm2",
        "rotation",
        "bar-fracture",
        "plastic-residual",
        "spring-oscillator",
        "spring-chain",
        "free-top",
        "symmetric-top",
        "order",
        "body-momentum",
        "stack",
        "sph-rotation",
        "elastic-energy",
        "plastic-shear",
    ];

    #[test]
    fn every_case_has_a_page() {
        for case in CASES {
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{}.md", case.name));
            let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
            assert!(text.starts_with(&format!("# {}\n", case.name)), "{}", page.display());
            let figure = format!("({}.svg)", case.name);
            for word in ["reference", "tolerance", "measured", "bound", &figure] {
                assert!(text.contains(word), "{} does not give the {word}", page.display());
            }
        }
    }

    fn figure_of(case: &str) -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{case}.svg"))
    }

    #[test]
    fn figures_are_small() {
        for case in CASES {
            let size = std::fs::metadata(figure_of(case.name)).map_or(0, |file| file.len());
            assert!(size <= 40 * 1024, "{} has a figure of {size} bytes", case.name);
        }
    }

    #[test]
    fn every_case_has_a_figure() {
        let missing: Vec<&str> = CASES.iter().map(|case| case.name).filter(|case| !figure_of(case).exists()).collect();
        assert!(missing.is_empty(), "no figures of {missing:?}");
    }

    /// What was measured of nothing, and of nonsense.
    const NOTHING: [&[f64]; 4] = [&[], &[f64::NAN], &[0.0, f64::NAN, 0.0], &[f64::NAN, 0.0]];

    #[test]
    fn nothing_and_nan_fail_every_kind_of_row() {
        let sums: [fn(&[f64]) -> f64; 4] = [
            |set| largest(set.iter().copied()),
            |set| least(set.iter().copied()),
            |set| mean(set.iter().copied()),
            |set| rms(set.iter().copied()),
        ];
        for (sum, set) in sums.iter().flat_map(|sum| NOTHING.map(|set| (sum, set))) {
            all_fail(sum(set));
        }
        all_fail(f64::NAN);
        all_fail(given(false, 0.0));
        assert!(failed("case", "why").iter().all(|row| !row.pass));
    }

    fn all_fail(value: f64) {
        let rows = [
            bound("case", "", value, 1.0),
            compare("case", "", 1.0, value, 1.0),
            compare("case", "", value, 1.0, 1.0),
            absolute("case", "", [0.0, value], 1.0),
            at_least("case", "", value, -1.0),
            row("case", "", [0.0, value], value, 1.0),
        ];
        assert!(rows.iter().all(|row| !row.pass), "{rows:?}");
    }

    #[test]
    fn nothing_and_nan_have_no_period_and_no_value() {
        for history in [&[][..], &[[0.0, f64::NAN]], &[[0.0, -1.0], [1.0, f64::NAN], [2.0, 1.0], [3.0, -1.0]]] {
            assert!(half_period(history, 0.0).is_err() && !is_sound(history));
            assert!(interpolate(history, 0.5).is_nan());
        }
        let swing = [[0.0, -1.0], [1.0, 1.0], [2.0, -1.0]];
        assert_eq!(half_period(&swing, 0.0), Ok(1.0));
        assert!(half_period(&swing, f64::NAN).is_err() && half_period(&swing[..2], 0.0).is_err());
        assert!(interpolate(&swing, f64::NAN).is_nan());
        assert!(particles::mean_period(&[]).is_nan() && particles::mean_period(&[1.0]).is_nan());
        assert!(particles::mean_period(&[1.0, f64::NAN]).is_nan());
    }

    #[test]
    fn a_row_is_a_guard_unless_it_says_that_it_was_asked_for() {
        let row = bound("case", "", 0.5, 1.0);
        assert_eq!((row.bound, row.pass, row.asked().bound), (Bound::Guard, true, Bound::Asked));
    }

    #[test]
    fn the_quickest_cases_pass() {
        for case in CASES.iter().filter(|case| QUICKEST.contains(&case.name)) {
            for row in (case.run)(Size::Quick) {
                assert!(row.pass, "{row:?}");
            }
        }
    }
}
