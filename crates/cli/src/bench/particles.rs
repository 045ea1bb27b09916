//! Bodies of particles: the gallery's vats, frame by frame, and a dry vat with more and more bodies. Items are particles of
//! bodies and of liquid.

use super::{Case, Measurement};
use crate::failure::Failure;
use crate::machine;
use meniscus::core::StepReport;
use meniscus::gallery;
use meniscus::scene::Loaded;
use meniscus::sim::World;
use std::time::Instant;

/// `size` bodies of 64 particles each, three of five soft, in a pile of five layers: the larger, the wider.
pub(super) const BODIES: Case = Case {
    name: "particles/bodies",
    sizes: &[25, 50, 100, 200, 400],
    measure: |case, at| {
        let text = pile(at[0]);
        let loaded = Loaded::from_text("pile", "pile", &text, &[], &|_| Err(std::io::ErrorKind::NotFound.into()))?;
        measure(case, at, &loaded, [30, 30])
    },
};

pub(super) const VAT_LIQUID: Case = Case {
    name: "particles/vat-liquid",
    sizes: &[12],
    measure: |case, at| gallery_scene(case, at, "vat-liquid", [30, 150]),
};

pub(super) const VAT_100: Case =
    Case { name: "particles/vat-100", sizes: &[100], measure: |case, at| gallery_scene(case, at, "vat-100", [30, 30]) };

pub(super) fn gallery_scene(case: &Case, at: [usize; 2], name: &str, frames: [u64; 2]) -> Result<Measurement, Failure> {
    measure(case, at, &gallery::load(name, &[])?, frames)
}

fn pile(bodies: usize) -> String {
    let columns = bodies.div_ceil(5);
    let wide = (1..=columns).filter(|n| columns.is_multiple_of(*n) && n * n >= columns).min().unwrap_or(1);
    let [wide, deep] = [wide, columns / wide].map(|n| n as f64);
    let [half_wide, half_deep] = [0.13 * wide, 0.13 * deep];
    let body = |name: &str, kind: &str, rows: u32, low: f64| {
        let min = [-0.125 * (wide - 1.0) - 0.05, low, -0.125 * (deep - 1.0) - 0.05];
        format!(
            "[body.{name}]\nkind = \"{kind}\"\ndensity = 500\nyoung = 1e5\n\
             shape = {{ box = {{ min = {min:?}, max = [{:?}, {:?}, {:?}] }} }}\n\
             repeat = {{ count = [{wide}, {rows}, {deep}], step = [0.25, 0.28, 0.25], rotation = [13, 29, 17] }}\n",
            min[0] + 0.1,
            min[1] + 0.1,
            min[2] + 0.1
        )
    };
    format!(
        "method = \"connections\"\nfps = 60\n[sph]\nspacing = 0.025\n\
         [wall.vat]\nshape = {{ box = {{ min = [-{half_wide:?}, 0, -{half_deep:?}], max = [{half_wide:?}, 1, {half_deep:?}], open = [\"+y\"] }} }}\n\
         {}{}",
        body("soft", "deformable", 3, 0.04),
        body("hard", "rigid", 2, 0.18)
    )
}

pub(super) fn measure(
    case: &Case,
    [size, threads]: [usize; 2],
    loaded: &Loaded,
    [warm, frames]: [u64; 2],
) -> Result<Measurement, Failure> {
    let mut world = World::new(loaded)?;
    let mut profile = StepReport::default();
    let run = |world: &mut World, frames: u64, profile: &mut StepReport| -> Result<(), Failure> {
        for _ in 0..frames {
            world.advance_frame(|world| profile.absorb(world.report())).map_err(meniscus::RunError::from)?;
        }
        Ok(())
    };
    run(&mut world, warm, &mut profile)?;
    profile.clear();
    let (start, before) = (Instant::now(), world.steps());
    run(&mut world, frames, &mut profile)?;
    let seconds = start.elapsed().as_secs_f64();
    let totals = world.totals();
    let (items, steps) = (totals.particles + totals.body_particles, world.steps() - before);
    let per_item = |seconds: f64| seconds * 1e9 / (items * steps) as f64;
    Ok(Measurement {
        case: case.name.into(),
        size,
        threads,
        ns_per_item_step: per_item(seconds),
        items,
        steps,
        rounds: 1,
        least_ns_per_item_step: per_item(seconds),
        peak_rss_mb: machine::peak_memory().unwrap_or(0.0),
        ms_per_frame: Some(seconds * 1e3 / frames as f64),
        error: None,
        stages: profile.stages().iter().map(|s| (s.name.to_owned(), per_item(s.time.as_secs_f64()))).collect(),
    })
}
