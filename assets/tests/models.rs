//! The models that are committed are what the code makes, and the importer that a user uses reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use meniscus_assets::{BEAT, EJECTED, END_DIASTOLIC, END_SYSTOLIC, MODELS, SHUT, STROKE};
use meniscus_geometry::animation::{Animation, AnimationOptions, Wetting, read_animation};
use meniscus_geometry::{Bvh, TriangleMesh};

fn path_of(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scenes/assets")).join(name)
}

fn read(name: &str) -> Animation {
    read_animation(path_of(name), &AnimationOptions::default()).unwrap()
}

#[test]
fn the_files_are_what_the_code_makes() {
    for (name, make) in MODELS {
        let found = std::fs::read(path_of(name)).unwrap();
        assert!(found.len() <= 600 * 1024, "{name} has {} bytes", found.len());
        assert!(found == make(), "{name}: run cargo run --release -p meniscus-assets");
    }
}

#[test]
fn hand_and_swimmer_are_closed_at_all_times_and_keep_their_volume() {
    for (name, change) in [("hand.glb", 0.08), ("swimmer.glb", 0.06)] {
        let animation = read(name);
        assert_eq!((animation.wetting(), animation.warnings()), (Wetting::Closed, &[][..]), "{name}");
        let rest = animation.mesh_at(0.0);
        rest.closed().unwrap();
        let volume = rest.signed_volume();
        for n in 0..=12 {
            let now = animation.mesh_at(animation.duration() * f64::from(n) / 12.0).signed_volume();
            // A guard: blended turns lose some flesh in bent joints.
            assert!((now / volume - 1.0).abs() < change, "{name}, {n}: {now} of {volume} m³");
        }
    }
}

#[test]
fn the_hand_dips_lifts_and_moves_no_faster_than_a_hand() {
    let hand = read("hand.glb");
    assert!((hand.duration() - 3.0).abs() < 1e-6);
    let lowest = |time: f64| hand.mesh_at(time).bounds().min.y;
    assert!(
        lowest(0.0) > 0.0 && lowest(0.85) < -0.08 && lowest(1.75) > 0.0,
        "{} {} {}",
        lowest(0.0),
        lowest(0.85),
        lowest(1.75)
    );
    // 2 m/s at the finger tips within 1/24 s.
    assert!(hand.jumps(2.0 / 24.0, 1.0 / 24.0).is_empty(), "{:?}", hand.jumps(2.0 / 24.0, 1.0 / 24.0));
}

#[test]
fn the_swimmer_is_as_long_as_a_swimmer_and_its_cycle_closes() {
    let swimmer = read("swimmer.glb");
    assert!((swimmer.duration() - STROKE).abs() < 1e-6);
    let (first, last) = (swimmer.mesh_at(0.0), swimmer.mesh_at(STROKE));
    let farthest = first.vertices().iter().zip(last.vertices()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(farthest < 1e-6, "{farthest} m");
    // 70 to 85 litres for 1.8 m.
    assert!((0.055..0.090).contains(&first.signed_volume()), "{} m³", first.signed_volume());
    // One arm stretched out ahead, toes pointed: about 2.3 m.
    assert!((2.0..2.6).contains(&first.bounds().size().x), "{}", first.bounds().size());
}

/// Volume within the ventricle, its two rings closed by flat lids \[m³\].
fn ventricle(heart: &Animation, time: f64) -> f64 {
    lumen(&heart.part_at("ventricle", time).unwrap())
}

/// Border edges, those of one hole together.
fn holes(wall: &TriangleMesh) -> Vec<Vec<[u32; 2]>> {
    let mut groups: Vec<Vec<[u32; 2]>> = Vec::new();
    for edge in wall.boundary_edges() {
        let touches = |group: &Vec<[u32; 2]>| group.iter().any(|other| other.iter().any(|v| edge.contains(v)));
        let (mut joined, rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        groups = rest;
        joined.push(vec![edge]);
        groups.push(joined.concat());
    }
    groups
}

fn lumen(wall: &TriangleMesh) -> f64 {
    let groups = holes(wall);
    assert_eq!(groups.len(), 2, "a mitral and an aortic ring");
    let mut vertices = wall.vertices().to_vec();
    let mut triangles = wall.triangles().to_vec();
    for group in groups {
        let middle = vertices.len() as u32;
        let mean =
            group.iter().flatten().map(|&v| vertices[v as usize]).sum::<glam::DVec3>() / (2 * group.len()) as f64;
        vertices.push(mean);
        for [a, b] in group {
            let runs = |t: &[u32; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]].contains(&[a, b]);
            let forwards = wall.triangles().iter().any(runs);
            triangles.push(if forwards { [b, a, middle] } else { [a, b, middle] });
        }
    }
    let closed = TriangleMesh::new(vertices, triangles).unwrap();
    closed.closed().unwrap();
    closed.signed_volume()
}

#[test]
fn the_heart_ejects_59_percent_and_keeps_its_volume_while_both_valves_are_shut() {
    let heart = read("heart.glb");
    assert_eq!((heart.wetting(), heart.warnings()), (Wetting::Shell, &[][..]));
    let volumes: Vec<f64> = (0..=160).map(|n| ventricle(&heart, BEAT * f64::from(n) / 160.0)).collect();
    let [most, least] = [volumes.iter().copied().fold(0.0, f64::max), volumes.iter().copied().fold(1.0, f64::min)];
    assert!((most / END_DIASTOLIC - 1.0).abs() < 1e-3 && (least / END_SYSTOLIC - 1.0).abs() < 1e-3, "{most} {least}");
    assert!(((most - least) / most - 0.5917).abs() < 0.005, "EF {}", (most - least) / most);
    assert!(((most - least) / EJECTED - 1.0).abs() < 2e-3);
    for [from, until] in SHUT {
        let first = ventricle(&heart, from);
        for n in 0..=40 {
            let now = ventricle(&heart, from + (until - from) * f64::from(n) / 40.0);
            assert!((now / first - 1.0).abs() < 1e-3, "{n}: {now} of {first} m³");
        }
        // It does move meanwhile.
        let [a, b] = [from, until].map(|time| heart.part_at("ventricle", time).unwrap());
        let moved = a.vertices().iter().zip(b.vertices()).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max);
        assert!(moved > 2e-4, "{moved} m");
    }
    let gap = |a: f64, b: f64| (ventricle(&heart, a) - ventricle(&heart, b)).abs();
    assert!(gap(0.0, BEAT) < 1e-12, "the beat closes");
}

#[test]
fn the_heart_has_its_parts_and_open_vessels() {
    let heart = read("heart.glb");
    let names: Vec<&str> = heart.parts().iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["ventricle", "atrium", "aorta", "pulmonary veins", "mitral valve", "aortic valve"]);
    // The wall without its leaflets has five holes: the ends of the aorta and of four veins.
    let mesh = heart.mesh_at(0.0);
    let wall = mesh.triangles()[..heart.parts()[3].triangles.end].to_vec();
    let wall = TriangleMesh::from_soup(mesh.vertices().to_vec(), wall).unwrap();
    assert_eq!((holes(&wall).len(), wall.components().iter().max()), (5, Some(&0)));
}

#[test]
fn leaflets_overlap_by_two_millimetres_when_shut_and_leave_the_way_free_when_open() {
    let heart = read("heart.glb");
    // Time when shut, time when open.
    for (name, shut, open) in [("mitral valve", 0.13, 0.545), ("aortic valve", 0.46, 0.2)] {
        let [shut, open] = [shut, open].map(|time| heart.part_at(name, time).unwrap());
        let middle = rim_middle(&shut);
        let nearest = |mesh: &TriangleMesh, middle: glam::DVec3, axis: glam::DVec3| {
            let off = |p: &glam::DVec3| ((*p - middle) - (*p - middle).dot(axis) * axis).length();
            mesh.vertices().iter().map(off).fold(f64::MAX, f64::min)
        };
        let axis = axis_of(&shut);
        // Shut: leaflets reach across the middle. Open: nothing within half of the radius.
        assert!(nearest(&shut, middle, axis) < 2.1e-3, "{name}");
        assert!(nearest(&open, rim_middle(&open), axis) > 5e-3, "{name}: {}", nearest(&open, rim_middle(&open), axis));
    }
}

/// Middle of the ring: the vertices that a valve has in the same place when shut and open are its rim, all at one
/// distance from it; their mean is that of the first points of all lines.
fn rim_middle(valve: &TriangleMesh) -> glam::DVec3 {
    let farthest = |from: glam::DVec3| {
        valve.vertices().iter().copied().max_by(|a, b| a.distance(from).total_cmp(&b.distance(from)))
    };
    let a = farthest(valve.bounds().center()).unwrap();
    let b = farthest(a).unwrap();
    a.midpoint(b)
}

fn axis_of(valve: &TriangleMesh) -> glam::DVec3 {
    valve.corners().map(|[a, b, c]| (b - a).cross(c - a)).sum::<glam::DVec3>().normalize()
}

#[test]
fn leaflets_hang_on_the_wall() {
    let heart = read("heart.glb");
    // Times just before and after a valve opens: what does not move is its rim.
    for (name, shut, open) in [("mitral valve", 0.10, 0.08), ("aortic valve", 0.15, 0.17)] {
        let [shut, open] = [shut, open].map(|time| heart.mesh_at(time));
        let of = |name: &str| heart.parts().iter().find(|part| part.name == name).unwrap().triangles.clone();
        let walls: Vec<[u32; 3]> =
            ["ventricle", "atrium", "aorta"].iter().flat_map(|n| shut.triangles()[of(n)].to_vec()).collect();
        let wall = Bvh::new(&TriangleMesh::new(shut.vertices().to_vec(), walls).unwrap());
        let leaflets: BTreeSet<u32> = shut.triangles()[of(name)].iter().flatten().copied().collect();
        let (mut rim, mut farthest) = (0, 0.0_f64);
        for v in leaflets.into_iter().map(|v| v as usize) {
            if shut.vertices()[v].distance(open.vertices()[v]) < 0.8e-3 {
                rim += 1;
                farthest = farthest.max(wall.closest_point(shut.vertices()[v]).distance_squared.sqrt());
            }
        }
        // A guard (2.46 mm measured): on the grid of the scenes wall and leaflet reach 2.1 mm to each side, so that
        // they join up to 4.2 mm.
        assert!(rim > 30 && farthest < 2.6e-3, "{name}: {rim} vertices, {farthest} m");
    }
}
