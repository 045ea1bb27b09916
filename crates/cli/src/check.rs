//! `check`: what a scene will be, before it runs.

use crate::arguments::Check;
use crate::failure::Failure;
use crate::machine;
use crate::output::{self, count};
use meniscus::sim::{World, estimate};
use meniscus::{check_memory, gallery};
use serde_json::json;
use std::process::ExitCode;
use std::time::Instant;

pub(crate) fn check(arguments: &Check) -> Result<ExitCode, Failure> {
    let loaded = gallery::load(&arguments.scene, &arguments.set)?;
    check_memory(&loaded, machine::free_memory())?;
    let estimate = estimate(&loaded);
    let threads = machine::threads(None)?;
    let (mut world, seconds_per_step) = machine::in_pool(threads, || {
        let mut world = World::new(&loaded)?;
        let start = Instant::now();
        // The time estimate: three steps, the first of which only warms up.
        let mut timed = start;
        for k in 0..4 {
            if k == 1 {
                timed = Instant::now();
            }
            if world.step(f64::INFINITY).is_err() {
                break;
            }
        }
        Ok::<_, meniscus::sim::BuildError>((world, timed.elapsed().as_secs_f64() / 3.0))
    })??;
    let steps = (loaded.scene.seconds / (world.time() / world.steps().max(1) as f64)).ceil();
    let totals = world.totals();
    let items = (totals.particles + totals.body_particles + totals.tets + totals.cells) as f64;
    let to_come = (estimate.most_particles - estimate.particles).max(0.0);
    // Nozzles fill up evenly: on the mean half of what they send is there.
    let seconds = steps * (seconds_per_step + 0.5 * to_come * seconds_per_item(seconds_per_step, items));
    world.step(f64::INFINITY).map_err(meniscus::RunError::from)?;
    if arguments.json {
        return output::print_json(&json!({
            "scene": loaded.name,
            "method": loaded.scene.method.name(),
            "particles": totals.particles,
            "most_particles": estimate.most_particles.round(),
            "tets": totals.tets,
            "cells": totals.cells,
            "memory_bytes": estimate.bytes.round(),
            "steps": steps,
            "wall_seconds": seconds,
            "rest_distance": world.rest_distance(),
            "warnings": world.warnings(),
        }));
    }
    say!("{}: {}", loaded.name, loaded.scene.title);
    say!("  method     {}", loaded.scene.method.name());
    let most =
        if to_come >= 1.0 { format!(", up to {}", count(estimate.most_particles as u64)) } else { String::new() };
    if totals.cells > 0 {
        say!("  cells      {}", count(totals.cells));
    } else if totals.particles > 0 || to_come >= 1.0 || totals.tets == 0 {
        say!("  particles  {}{most}", count(totals.particles));
    }
    if totals.tets > 0 {
        say!("  tetrahedra {}", count(totals.tets));
    }
    if let Some(distance) = world.rest_distance() {
        let spacings = distance / loaded.scene.sph.spacing;
        say!("  liquid     rests {distance:.3e} m from solids, {spacings:.2} spacings");
    }
    say!("  memory     about {:.0} MB", (estimate.bytes / 1e6).max(1.0));
    say!("  time       about {} steps, {seconds:.0} s on {threads} threads", count(steps as u64));
    for warning in world.warnings() {
        say!("  warning    {warning}");
    }
    say!("  ok");
    Ok(ExitCode::SUCCESS)
}

/// What one item more costs in a step, judged by a thousand and more; fewer tell little, and a particle takes about a microsecond.
fn seconds_per_item(seconds_per_step: f64, items: f64) -> f64 {
    if items < 1000.0 { 1e-6 } else { seconds_per_step / items }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_scene_does_not_foretell_hours() {
        assert_eq!(seconds_per_item(1e-4, 1.0), 1e-6);
        assert_eq!(seconds_per_item(1e-2, 10_000.0), 1e-6);
    }
}
