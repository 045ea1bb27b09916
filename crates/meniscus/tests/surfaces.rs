//! Surfaces and foam of simulated liquids. What takes minutes is ignored here and run by `.ci/nightly`.

use glam::{DVec3, Vec3};
use meniscus::core::{BodyKind, Foam, Frame};
use meniscus::geometry::{Bvh, TriangleMesh};
use meniscus::scene::{Loaded, Settings as Given};
use meniscus::sim::World;
use meniscus::surface::{Extractor, LiquidSurface, Settings, Spray, Survey, Whitewater};
use meniscus::{core::Surface, gallery};

fn gallery_world(name: &str, set: &[&str]) -> World {
    let set: Vec<String> = set.iter().map(|&word| word.to_owned()).collect();
    World::new(&gallery::load(name, &set).unwrap()).unwrap()
}

/// Frames of a world at so many evenly spread moments, with their spray marked as a record has it.
fn frames(mut world: World, seconds: f64, count: u32) -> Vec<Frame> {
    let (mut spray, mut found) = (Spray::default(), Vec::new());
    while found.len() < count as usize {
        let mut frame = world.frame();
        spray.mark(&mut frame);
        if frame.time + 1e-9 >= seconds * found.len() as f64 / f64::from(count.max(2) - 1) {
            found.push(frame);
        }
        world.advance_frame(|_| {}).unwrap();
    }
    found
}

/// Every edge belongs to two triangles that run along it in opposite directions.
fn is_closed(found: &LiquidSurface) -> bool {
    let triangles = &found.surface.triangles;
    let mut sides: Vec<[u32; 2]> = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
    sides.sort_unstable();
    let once = sides.windows(2).all(|pair| pair[0] != pair[1]);
    once && sides.iter().all(|&[a, b]| a != b && sides.binary_search(&[b, a]).is_ok())
}

/// Particles that are no spray, times their volume \[m³\].
fn liquid_volume(frame: &Frame) -> f64 {
    let inside = frame.particles.spray.iter().filter(|alone| !**alone).count();
    inside as f64 * f64::from(frame.particles.spacing).powi(3)
}

fn mesh(surface: &Surface) -> TriangleMesh {
    let vertices = surface.positions.iter().map(|x| x.as_dvec3()).collect();
    TriangleMesh::new(vertices, surface.triangles.clone()).unwrap()
}

/// Volume of the part of a liquid that lies in a body, which it overlaps so that no film of air shows \[m³\].
fn overlap(liquid: &Surface, body: &Surface, step: f64) -> f64 {
    let (liquid, body) = (Bvh::new(&mesh(liquid)), Bvh::new(&mesh(body)));
    let bounds = body.bounds();
    let [nx, ny, nz] = ((bounds.max - bounds.min) / step).ceil().to_array().map(|n| n as u32);
    let count = (0..nx * ny * nz)
        .map(|i| DVec3::new(f64::from(i % nx), f64::from(i / nx % ny), f64::from(i / (nx * ny))) + 0.5)
        .filter(|at| body.inside(bounds.min + *at * step) && liquid.inside(bounds.min + *at * step))
        .count();
    count as f64 * step.powi(3)
}

const TANK: &str = r#"
title = "Tank at rest"
resolution = 0.04
seconds = 2
fps = 30
[liquid.water]
fill = [{ box = { min = [0, 0, 0], max = [0.64, 0.4, 0.4] } }]
[wall.tank]
shape = { box = { min = [0, 0, 0], max = [0.64, 0.8, 0.4], open = ["+y"] } }
"#;

/// Frames of a simulated tank of water at rest.
fn still_tank(seconds: f64, count: u32) -> Vec<Frame> {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Loaded::with_settings("tank", "tank.toml", TANK, &Given::default(), &none).unwrap();
    frames(World::new(&loaded).unwrap(), seconds, count)
}

#[test]
fn a_tank_that_was_simulated_has_its_volume_flat_walls_and_a_calm_surface() {
    let frames = still_tank(1.0, 31);
    let mut extractor = Extractor::default();
    let mut before: Option<Vec<Vec3>> = None;
    for frame in &frames {
        let found = extractor.extract(frame).liquids.remove(0);
        assert!(is_closed(&found));
        let error = found.volume() / liquid_volume(frame) - 1.0;
        assert!(error.abs() < 5e-3, "{error:+.4} at {} s", frame.time);
        walls_are_flat(&found.surface);
        // The first half second is that of settling.
        if frame.time < 0.5 {
            continue;
        }
        let inside = |x: &Vec3| x.y > 0.3 && (0.02..0.62).contains(&x.x) && (0.02..0.38).contains(&x.z);
        let top: Vec<Vec3> = found.surface.positions.iter().copied().filter(inside).collect();
        if let Some(before) = before.replace(top.clone()) {
            let moved = mean_distance(&top, &before) / f64::from(frame.particles.spacing);
            println!("{:.2} s: {moved:.4} spacings, {error:+.5}", frame.time);
            assert!(moved <= 0.02, "{moved} spacings at {} s", frame.time);
        }
    }
}

/// Triangles that lie on a side of the tank have its normal.
fn walls_are_flat(surface: &Surface) {
    let mut area = 0.0;
    for corners in &surface.triangles {
        let [a, b, c] = corners.map(|v| surface.positions[v as usize]);
        let cross = (b - a).cross(c - a);
        if [a, b, c].iter().all(|x| x.z < 1e-6) && cross.length() > 1e-9 {
            assert!((cross.normalize() + Vec3::Z).length() < 1e-3, "{cross}");
            area += 0.5 * cross.length();
        }
    }
    assert!((area / (0.64 * 0.4) - 1.0).abs() < 0.02, "{area} m² are wet");
}

/// How far vertices are from those over the same position before, in height.
fn mean_distance(now: &[Vec3], before: &[Vec3]) -> f64 {
    let aside = |a: Vec3, b: Vec3| (a - b).with_y(0.0).length_squared();
    let moved = now.iter().filter_map(|x| {
        let over = before.iter().min_by(|p, q| aside(**p, *x).total_cmp(&aside(**q, *x)))?;
        Some(f64::from((over.y - x.y).abs()))
    });
    moved.sum::<f64>() / now.len() as f64
}

/// Surfaces of ten moments of a scene.
fn closed_at_ten_moments(name: &str, set: &[&str], seconds: f64) {
    let mut extractor = Extractor::default();
    for frame in frames(gallery_world(name, set), seconds, 10) {
        for found in extractor.extract(&frame).liquids {
            assert!(is_closed(&found), "{name}, {} s", frame.time);
            assert!(found.surface.positions.iter().all(|x| x.is_finite()), "{name}, {} s", frame.time);
        }
    }
}

#[test]
fn surfaces_of_a_dam_break_are_closed() {
    closed_at_ten_moments("dam-break", &["resolution=0.04"], 1.5);
}

#[test]
#[ignore = "minutes: .ci/nightly"]
fn surfaces_of_five_scenes_are_closed() {
    closed_at_ten_moments("dam-break", &[], 2.0);
    closed_at_ten_moments("pool", &[], 4.0);
    closed_at_ten_moments("vessel-injury", &[], 0.2);
    closed_at_ten_moments("two-liquids", &[], 1.0);
    closed_at_ten_moments("duck-floats", &[], 1.5);
}

#[test]
#[ignore = "minutes: .ci/nightly"]
fn the_water_round_a_floating_duck_has_its_volume() {
    let mut extractor = Extractor::new(Settings { cube: 0.5, ..Settings::default() });
    for frame in frames(gallery_world("duck-floats", &[]), 3.0, 7) {
        let found = extractor.extract(&frame).liquids.remove(0);
        let duck = frame.surfaces.iter().find(|s| frame.bodies[usize::from(s.body)].kind == BodyKind::Solid).unwrap();
        let own = found.volume() - overlap(&found.surface, duck, 0.25 * f64::from(frame.particles.spacing));
        let error = own / liquid_volume(&frame) - 1.0;
        println!("{:.2} s: {error:+.4}", frame.time);
        assert!(error.abs() < 1e-2, "{error:+.4} at {} s", frame.time);
    }
}

/// Foam of successive frames.
fn foam_of(frames: &[Frame]) -> Vec<Foam> {
    let mut survey = Survey::default();
    frames.iter().for_each(|frame| survey.look(frame));
    let mut water = Whitewater::new(&Settings::default(), survey.limits(9.81), Vec3::new(0.0, -9.81, 0.0));
    let foam = |frame: &Frame| {
        water.advance(frame);
        water.foam(frame)
    };
    frames.iter().map(foam).collect()
}

#[test]
fn a_breaking_dam_is_white_at_its_front_and_a_still_tank_is_not() {
    let still = still_tank(1.0, 31);
    assert!(foam_of(&still).iter().all(Foam::is_empty), "{:?}", foam_of(&still).iter().map(Foam::len).max());
    let frames = frames(gallery_world("dam-break", &["resolution=0.04"]), 1.5, 46);
    let foam = foam_of(&frames);
    let counts: Vec<usize> = foam.iter().map(Foam::len).collect();
    // The dam slides smoothly until it meets the far wall, 1.2 m away.
    assert!(counts[..8].iter().all(|&n| n == 0), "{counts:?}");
    let first = counts.iter().position(|&n| n > 20).unwrap_or_else(|| panic!("{counts:?}"));
    let front = foam[first].positions.iter().filter(|x| x.x > 0.8).count();
    assert!(10 * front > 9 * foam[first].len(), "{front} of {} are at the front", foam[first].len());
    assert!(*counts.iter().max().unwrap() > 300, "{counts:?}");
}
