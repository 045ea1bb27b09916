//! Cases against theory and experiment. Each has a page beside this crate, `<case>.md`, that gives the reference, the
//! tolerance and why it is what it is.

mod coupling;
mod fem;
mod momentum;
mod no_leak_soft;
mod particles;
mod plate;
mod sph;
mod stuffing;
mod twophase;
mod unified;
mod vessels;
mod wall_integral;
mod worlds;

use serde::Serialize;

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

/// One quantity compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub case: String,
    /// What is compared, with its unit.
    pub quantity: String,
    /// The reference; zero for a bound.
    pub reference: f64,
    /// What we measure.
    pub measured: f64,
    /// The error, in the unit of the tolerance.
    pub error: f64,
    /// The largest error allowed.
    pub tolerance: f64,
    /// Whether it holds.
    pub pass: bool,
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
    Case { name: "stuffing", run: stuffing::run },
];

/// A value that must be near a reference; the tolerance is relative.
pub(crate) fn compare(case: &str, quantity: &str, reference: f64, measured: f64, tolerance: f64) -> Row {
    row(case, quantity, [reference, measured], (measured / reference - 1.0).abs(), tolerance)
}

/// A case that could not be run.
pub(crate) fn failed(case: &str, error: &str) -> Vec<Row> {
    vec![row(case, error, [0.0, f64::NAN], f64::NAN, 0.0)]
}

/// A value that must not exceed a bound.
pub(crate) fn bound(case: &str, quantity: &str, measured: f64, most: f64) -> Row {
    row(case, quantity, [0.0, measured], measured.abs(), most)
}

/// A value that may depart from a reference by an amount.
pub(crate) fn absolute(case: &str, quantity: &str, [reference, measured]: [f64; 2], amount: f64) -> Row {
    row(case, quantity, [reference, measured], (measured - reference).abs(), amount)
}

fn row(case: &str, quantity: &str, [reference, measured]: [f64; 2], error: f64, tolerance: f64) -> Row {
    // A NaN does not pass.
    let pass = error <= tolerance;
    Row { case: case.into(), quantity: quantity.into(), reference, measured, error, tolerance, pass }
}

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
            for word in ["reference", "tolerance", "measured"] {
                assert!(text.contains(word), "{} does not give the {word}", page.display());
            }
        }
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
