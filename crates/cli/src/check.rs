//! `check`: what a scene will be, before it runs.

use crate::arguments::Check;
use crate::failure::Failure;
use crate::machine;
use crate::output::{self, count};
use meniscus::scene::Loaded;
use meniscus::sim::{World, animated_bounds, estimate};
use meniscus::{Forecast, RunError, check_memory, forecast, gallery};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn check(arguments: &Check) -> Result<ExitCode, Failure> {
    let loaded = gallery::load(&arguments.scene, &arguments.set)?;
    check_memory(&loaded, machine::free_memory())?;
    output::warn_of_sizes(&loaded)?;
    let estimate = estimate(&loaded);
    let threads = machine::threads(None)?;
    let (world, forecast) = machine::in_pool(threads, || {
        let mut world = World::new(&loaded)?;
        let forecast = forecast(&loaded, &mut world)?;
        Ok::<_, RunError>((world, forecast))
    })??;
    let Forecast { steps, seconds, picture_seconds } = forecast;
    let totals = world.totals();
    let to_come = (estimate.most_particles - estimate.particles).max(0.0);
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
            "picture_seconds": picture_seconds,
            "gradients": loaded.scene.named_gradients(),
            "rest_distance": world.rest_distance(),
            "animated": animated(&loaded).map(Motion::json).collect::<Vec<_>>(),
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
    if let Some(gradients) = loaded.scene.named_gradients() {
        say!("  gradients  {gradients}");
    }
    if totals.tets > 0 {
        say!("  tetrahedra {}", count(totals.tets));
    }
    if let Some(distance) = world.rest_distance() {
        let spacings = distance / loaded.scene.sph.spacing;
        say!("  liquid     rests {distance:.3e} m from solids, {spacings:.2} spacings");
    }
    for motion in animated(&loaded) {
        say!("  animated   {}", motion.words());
    }
    say!("  memory     about {:.0} MB", (estimate.bytes / 1e6).max(1.0));
    let pictures =
        if picture_seconds > 0.0 { format!(", {picture_seconds:.0} of them for pictures") } else { String::new() };
    say!("  time       about {} steps, {seconds:.0} s on {threads} threads{pictures}", count(steps as u64));
    for warning in world.warnings() {
        say!("  warning    {warning}");
    }
    say!("  ok");
    Ok(ExitCode::SUCCESS)
}

/// Where and when an animated mesh moves.
struct Motion {
    name: String,
    /// Corners of the box in which it moves \[m\].
    corners: [[f64; 3]; 2],
    /// When it begins and ends \[s\].
    times: [f64; 2],
}

fn animated(loaded: &Loaded) -> impl Iterator<Item = Motion> {
    let times = loaded.animations().map(|(_, _, animation)| animation.moving());
    let boxes = animated_bounds(loaded).into_iter();
    boxes.zip(times).map(|((name, bounds), times)| Motion {
        name,
        corners: [bounds.min.to_array(), bounds.max.to_array()],
        times,
    })
}

impl Motion {
    fn words(&self) -> String {
        let [low, high] = self.corners.map(|corner| corner.map(|x| format!("{x:.2}")).join(", "));
        let [begins, ends] = self.times;
        let until = if ends.is_finite() { format!("to {ends:.2} s") } else { "s on, without end".to_owned() };
        format!("{} moves between ({low}) and ({high}) m, from {begins:.2} {until}", self.name)
    }

    /// Of a motion without end the end is null.
    fn json(self) -> Value {
        let [low, high] = self.corners;
        let [begins, ends] = self.times;
        json!({ "name": self.name, "min": low, "max": high, "from": begins, "until": ends })
    }
}
