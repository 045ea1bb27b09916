//! What a run will take, before it runs: steps, and seconds with its pictures.
//!
//! Steps follow from the step that is expected when a scene is under way ([`World::foretold_steps`]). What a step takes is measured
//! on the first ones, for a fraction of a second; what a picture takes, on one of them. Nozzles add particles: on the mean half of what
//! they send is there.

use crate::film::Film;
use crate::recorder::frame_count;
use crate::run::RunError;
use meniscus_core::par;
use meniscus_scene::Loaded;
use meniscus_sim::{World, estimate};
use meniscus_sph::ViscositySolver;
use std::time::{Duration, Instant};

/// Time for steps that are only looked at.
const TRIAL: Duration = Duration::from_millis(400);
/// Steps that are looked at, unless they take longer than that.
const STEPS: u32 = 100;
/// Time to force a frame, its probes and now and then a checkpoint onto a disk \[s\].
const RECORD: f64 = 0.01;
/// Steps that are looked at in any case; the first only warms up.
const FEWEST: u32 = 4;

/// What a run will take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// Steps.
    pub steps: f64,
    /// Time of all of it \[s\].
    pub seconds: f64,
    /// Of that, for pictures \[s\].
    pub picture_seconds: f64,
}

/// Foretells the run of a scene whose world was just built, and takes its first steps. Call it inside the thread pool that is to be used.
///
/// # Errors
/// When a step or a picture fails.
pub fn forecast(loaded: &Loaded, world: &mut World) -> Result<Forecast, RunError> {
    let first = world.frame();
    let per_step = try_steps(loaded, world)?;
    let scene = &loaded.scene;
    let totals = world.totals();
    let items = (totals.particles + totals.body_particles + totals.tets + totals.cells) as f64;
    let estimate = estimate(loaded);
    let to_come = 0.5 * (estimate.most_particles - estimate.particles).max(0.0);
    let steps = world.foretold_steps();
    let frames = frame_count(scene.seconds, scene.fps);
    let per_step = per_step + to_come * seconds_per_item(per_step, items, scene.sph.viscosity);
    let mut picture_seconds = 0.0;
    if let Some(pictures) = frames.checked_div(scene.output.picture_every) {
        picture_seconds = f64::from(pictures + 1) * Film::new(loaded, &first).rehearse(&world.frame())?;
    }
    let seconds = steps * per_step + f64::from(frames) * RECORD + picture_seconds;
    Ok(Forecast { steps, seconds, picture_seconds })
}

/// Takes steps for a while; the time that one takes \[s\]: of the later half of them, when bodies have met.
fn try_steps(loaded: &Loaded, world: &mut World) -> Result<f64, RunError> {
    let last = frame_count(loaded.scene.seconds, loaded.scene.fps);
    let mut times = Vec::new();
    let began = Instant::now();
    par::awake(|| {
        for number in 0..STEPS {
            let step = Instant::now();
            world.step_to_frame()?;
            times.push(step.elapsed().as_secs_f64());
            let enough = number + 1 >= FEWEST && began.elapsed() > TRIAL;
            if enough || world.frame_number() >= last {
                break;
            }
        }
        Ok::<_, RunError>(())
    })?;
    let later = &times[times.len().div_ceil(2).min(times.len() - 1)..];
    Ok(later.iter().sum::<f64>() / later.len() as f64)
}

/// What one item more costs in a step \[s\], judged by a thousand and more; fewer tell little, and a particle takes about a microsecond,
/// five with an implicit solve of its friction.
fn seconds_per_item(per_step: f64, items: f64, viscosity: ViscositySolver) -> f64 {
    match viscosity {
        _ if items >= 1000.0 => per_step / items,
        ViscositySolver::Implicit => 5e-6,
        _ => 1e-6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_scene_does_not_foretell_hours() {
        let per_item = |per_step, items| seconds_per_item(per_step, items, ViscositySolver::default());
        assert_eq!(per_item(1e-4, 1.0), 1e-6);
        assert_eq!(per_item(1e-2, 10_000.0), 1e-6);
    }
}
