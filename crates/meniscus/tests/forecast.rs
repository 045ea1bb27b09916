//! What `check` foretells against what runs take.

use meniscus::record::RunFolder;
use meniscus::sim::World;
use meniscus::{Forecast, RunOptions, forecast, gallery};

/// Foretold and taken: steps, and seconds \[s\].
struct Row {
    steps: [f64; 2],
    seconds: [f64; 2],
}

/// Foretells a scene of the gallery, runs it, and prints its row of the table.
fn row(scene: &str, set: &[&str]) -> Row {
    let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
    let loaded = gallery::load(scene, &set).unwrap();
    let Forecast { steps, seconds, .. } = forecast(&loaded, &mut World::new(&loaded).unwrap()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = || RunFolder::create(place.path(), scene);
    let (_, summary) = meniscus::run(&loaded, folder, &RunOptions::default(), &mut |_| {}).unwrap();
    let row = Row { steps: [steps, summary.steps as f64], seconds: [seconds, summary.wall_seconds] };
    let [of_steps, of_seconds] = [row.steps, row.seconds].map(|[foretold, taken]| foretold / taken);
    println!(
        "{scene:16} steps {:6} of {:6} ({of_steps:.2})   seconds {:6.1} of {:6.1} ({of_seconds:.2})",
        row.steps[0], row.steps[1], row.seconds[0], row.seconds[1]
    );
    row
}

fn within_a_factor_of_two([foretold, taken]: [f64; 2]) -> bool {
    foretold < 2.0 * taken && taken < 2.0 * foretold
}

/// Steps do not depend on how busy a machine is; seconds do, and are only printed here.
#[test]
fn steps_are_foretold_within_a_factor_of_two() {
    for scene in ["beam", "vat", "pool", "vat-liquid", "square-drop"] {
        let Row { steps, .. } = row(scene, &["output.picture_every=0"]);
        assert!(within_a_factor_of_two(steps), "{scene}: {steps:?}");
    }
    let Row { steps, .. } = row("dam-break", &["output.picture_every=0", "resolution=0.05"]);
    assert!(within_a_factor_of_two(steps), "dam-break: {steps:?}");
}

/// Twenty minutes on two quiet cores.
#[test]
#[ignore = "runs the whole gallery with its pictures, on a quiet machine"]
fn every_scene_of_the_gallery_is_foretold() {
    let mut missed = Vec::new();
    for scene in gallery::GALLERY {
        let Row { steps, seconds } = row(scene.name, &[]);
        if !within_a_factor_of_two(steps) || !within_a_factor_of_two(seconds) {
            missed.push(scene.name);
        }
    }
    assert!(missed.is_empty(), "beyond a factor of two: {missed:?}");
}
