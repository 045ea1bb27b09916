//! A step allocates nothing once it has warmed up, on any thread.
//!
//! Without the usual harness: that one speaks up when a test has run for a minute, and what it allocates for that would be counted.

use meniscus_scene::Loaded;
use meniscus_sim::World;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SCENE: &str = r#"
[sph]
spacing = 0.04
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.6, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
"#;

const GRID: &str = r#"
method = "twophase"
[twophase]
spacing = 0.05
[twophase.gas]
viscosity = 0.1
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.4, 0.6, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [1, 1, 0.4] } }
[wall.floor]
shape = { plane = { point = [0, 0.03, 0], normal = [0.1, 1, 0] } }
"#;

/// A drop comes to rest on a floor.
const DROP: &str = r#"
method = "unified"
[sph]
spacing = 0.001
[liquid.water]
viscosity = 0.1
surface_tension = 0.07
contact_angle = 110
fill = [{ box = { min = [-0.005, 0, -0.005], max = [0.005, 0.008, 0.005] } }]
[wall.floor]
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
"#;

/// A sponge soaks in a tank.
const SPONGE: &str = r#"
method = "unified"
[sph]
spacing = 0.04
[liquid.water]
fill = [{ box = { min = [-0.2, 0, -0.2], max = [0.2, 0.2, 0.2] } }]
[wall.tank]
shape = { box = { min = [-0.2, 0, -0.2], max = [0.2, 0.8, 0.2], open = ["+y"] } }
[solid.block]
shape = { box = { min = [-0.08, 0.2, -0.08], max = [0.08, 0.36, 0.08] } }
young = 1e5
density = 300
porosity = 0.8
permeability = 1e-7
suction = 100
"#;

fn count_allocations(scene: &str, threads: usize, warm: usize) -> usize {
    let loaded = Loaded::from_text("a", "a.toml", scene, &[], &|_| Err(std::io::ErrorKind::NotFound.into())).unwrap();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let mut world = World::new(&loaded).unwrap();
        // The column has collapsed: lists have had their longest.
        (0..warm).for_each(|_| world.step(f64::INFINITY).unwrap());
        let region = Region::new(COUNTING);
        (0..100).for_each(|_| world.step(f64::INFINITY).unwrap());
        let change = region.change();
        change.allocations + change.reallocations
    })
}

fn main() {
    assert_eq!(count_allocations(SCENE, 1, 2500), 0, "on one thread");
    assert_eq!(count_allocations(SCENE, 2, 2500), 0, "on two threads");
    assert_eq!(count_allocations(DROP, 2, 500), 0, "with surface tension");
    assert_eq!(count_allocations(GRID, 1, 1000), 0, "on a grid, on one thread");
    assert_eq!(count_allocations(GRID, 2, 1000), 0, "on a grid, on two threads");
    assert_eq!(count_allocations(SPONGE, 2, 1500), 0, "with a porous solid");
    println!("a warm step allocates nothing");
}
