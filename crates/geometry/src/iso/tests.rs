use std::f64::consts::PI;

use proptest::prelude::*;

use super::*;

fn ball(grid: &IsoGrid, center: DVec3, radius: f64) -> Vec<f64> {
    samples_of(grid).map(|s| grid.position(s).distance(center) - radius).collect()
}

fn samples_of(grid: &IsoGrid) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = grid.samples();
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// Closed, oriented, and every vertex inside one fan of triangles.
fn assert_sound(surface: &IsoSurface) -> TriangleMesh {
    let mesh = TriangleMesh::new(surface.positions.clone(), surface.triangles.clone()).unwrap();
    assert_eq!(mesh.triangles(), surface.triangles, "no triangle without area");
    mesh.closed().unwrap();
    let mut around = vec![Vec::new(); surface.positions.len()];
    for &[a, b, c] in &surface.triangles {
        for (tip, from, to) in [(a, b, c), (b, c, a), (c, a, b)] {
            around[tip as usize].push((from, to));
        }
    }
    for fan in around {
        let mut at = fan[0].0;
        for step in 1..=fan.len() {
            at = fan.iter().find(|side| side.0 == at).unwrap().1;
            assert!((at == fan[0].0) == (step == fan.len()), "one ring round each vertex");
        }
    }
    mesh
}

#[test]
fn a_ball_has_its_volume_and_area() {
    let center = DVec3::new(0.03, -0.02, 0.01);
    for (n, error) in [(16, 2e-2), (32, 5e-3), (64, 1.3e-3)] {
        let spacing = 2.0 / f64::from(n);
        let grid = IsoGrid::covering(&Aabb { min: center, max: center }.grow(0.9), spacing).unwrap();
        let values = ball(&grid, center, 0.8);
        let surface = grid.surface(&values, 0.0).unwrap();
        let mesh = assert_sound(&surface);
        assert!((mesh.signed_volume() / (4.0 / 3.0 * PI * 0.512) - 1.0).abs() < error);
        assert!((mesh.area() / (4.0 * PI * 0.64) - 1.0).abs() < error);
        let normals = surface.normals(|s| grid.gradient(&values, s));
        for (normal, position) in normals.iter().zip(&surface.positions).step_by(97) {
            assert!(normal.distance((*position - center).normalize()) < 0.05);
        }
    }
}

#[test]
fn triangles_of_a_ball_are_not_slivers_on_the_whole() {
    let grid = IsoGrid::covering(&Aabb::new(-DVec3::ONE, DVec3::ONE), 0.05).unwrap();
    let mesh = grid.surface_of(|p| p.length() - 0.9, 0.0).into_mesh().unwrap();
    let mut angles: Vec<f64> =
        mesh.corners().map(|c| crate::triangle::angles(c).into_iter().fold(9.0, f64::min).to_degrees()).collect();
    angles.sort_by(f64::total_cmp);
    assert!(angles[angles.len() / 2] > 30.0 && angles[angles.len() / 10] > 5.0);
}

#[test]
fn stored_computed_and_listed_samples_give_the_same_surface() {
    let grid = IsoGrid::new(DVec3::new(-1.0, -0.9, -1.1), 0.07, [31, 27, 33]).unwrap();
    let f = |p: DVec3| p.distance(DVec3::new(0.05, 0.0, 0.02)) - 0.8;
    let stored = grid.surface(&samples_of(&grid).map(|s| f(grid.position(s))).collect::<Vec<_>>(), 0.01).unwrap();
    assert_eq!(grid.surface_of(f, 0.01), stored);
    let mut blocks = grid.all_blocks();
    blocks.reverse();
    blocks.extend([[0, 0, 0], [999, 0, 0]]);
    let fill = |first: [u32; 3], out: &mut [f64]| {
        for (i, value) in out.iter_mut().enumerate() {
            let step = [i % 9, i / 9 % 9, i / 81];
            *value = f(grid.position([0, 1, 2].map(|k| first[k] + step[k] as u32)));
        }
    };
    assert_eq!(grid.surface_in_blocks(&blocks, 0.01, fill), stored);
    assert_sound(&stored);
    for (vertex, cut) in stored.positions.iter().zip(&stored.edges) {
        let [a, b] = cut.ends().map(|s| grid.position(s));
        assert!(a.lerp(b, cut.t).distance(*vertex) < 1e-12);
        assert!((f(a) < 0.01) != (f(b) < 0.01));
    }
}

#[test]
fn single_precision_serves_as_well() {
    let grid = IsoGrid::covering(&Aabb::new(-DVec3::ONE, DVec3::ONE), 0.1).unwrap();
    let values = ball(&grid, DVec3::ZERO, 0.7);
    let double = grid.surface(&values, 0.0).unwrap();
    let single = grid.surface(&values.iter().map(|&v| v as f32).collect::<Vec<_>>(), 0.0).unwrap();
    assert_eq!(single.triangles.len(), double.triangles.len());
    assert!(single.positions.iter().zip(&double.positions).all(|(a, b)| a.distance(*b) < 1e-6));
}

#[test]
fn values_that_are_not_numbers_still_give_a_surface() {
    let grid = IsoGrid::new(DVec3::ZERO, 1.0, [4, 4, 4]).unwrap();
    let mut values = vec![1.0; 64];
    values[grid.index([1, 1, 1])] = f64::NEG_INFINITY;
    values[grid.index([2, 1, 1])] = f64::NAN;
    values[grid.index([1, 2, 1])] = f64::INFINITY;
    let surface = grid.surface(&values, 0.0).unwrap();
    assert!(surface.positions.iter().all(|p| p.is_finite()));
    assert_sound(&surface);
}

#[test]
fn blocks_around_points_hold_all_cells_within_reach() {
    let grid = IsoGrid::new(DVec3::splat(-1.0), 0.05, [41, 41, 37]).unwrap();
    let points = [DVec3::ZERO, DVec3::new(0.61, -0.2, 0.3), DVec3::splat(50.0), DVec3::splat(-50.0), DVec3::NAN];
    let blocks = grid.blocks_around(points, 0.21);
    let reached = |block: &[u32; 3]| {
        let first = grid.position(block.map(|b| b * IsoGrid::BLOCK));
        let bounds = Aabb::new(first, first + DVec3::splat(0.4)).grow(0.21);
        points.iter().any(|&p| bounds.contains(p))
    };
    let mut expected: Vec<_> = grid.all_blocks().into_iter().filter(reached).collect();
    expected.sort_unstable();
    assert!(expected.iter().all(|block| blocks.contains(block)) && blocks.len() <= expected.len() + 1);
    let drops = |p: DVec3| points[..2].iter().map(|c| c.distance(p)).fold(9.0, f64::min) - 0.2;
    let whole = grid.surface_of(drops, 0.0);
    let fill = |first: [u32; 3], out: &mut [f64]| {
        for (i, value) in out.iter_mut().enumerate() {
            let step = [i % 9, i / 9 % 9, i / 81];
            *value = drops(grid.position([0, 1, 2].map(|k| first[k] + step[k] as u32)));
        }
    };
    assert_eq!(grid.surface_in_blocks(&blocks, 0.0, fill), whole);
    assert_sound(&whole);
}

#[test]
fn bad_grids_are_refused_with_a_reason() {
    let unit = Aabb::new(DVec3::ZERO, DVec3::ONE);
    for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(IsoGrid::covering(&unit, spacing), Err(IsoError::Spacing { .. })));
        assert!(matches!(IsoGrid::new(DVec3::ZERO, spacing, [2; 3]), Err(IsoError::Spacing { .. })));
    }
    assert!(matches!(IsoGrid::covering(&unit, 1e-9), Err(IsoError::TooLarge { .. })));
    assert!(matches!(IsoGrid::covering(&Aabb::EMPTY, 1.0), Err(IsoError::Bounds { .. })));
    assert!(matches!(IsoGrid::new(DVec3::NAN, 1.0, [2; 3]), Err(IsoError::Bounds { .. })));
    let grid = IsoGrid::new(DVec3::ZERO, 1.0, [3, 3, 3]).unwrap();
    assert_eq!(grid.surface(&[0.0; 26], 0.0), Err(IsoError::Count { expected: 27, given: 26 }));
    for samples in [[0, 0, 0], [1, 1, 1], [1, 5, 5]] {
        let grid = IsoGrid::new(DVec3::ZERO, 1.0, samples).unwrap();
        assert_eq!(grid.surface(&vec![0.0; grid.sample_count()], 1.0).unwrap(), IsoSurface::default());
    }
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    /// Every neighbourhood of cells: the inside samples of a small grid are drawn at random.
    #[test]
    fn any_inside_gives_a_closed_oriented_manifold(
        inside in prop::collection::vec(any::<bool>(), 27), cut in prop::collection::vec(0.05..1.0f64, 125),
    ) {
        let grid = IsoGrid::new(DVec3::ZERO, 1.0, [5, 5, 5]).unwrap();
        let mut values = cut.clone();
        for (n, _) in inside.iter().enumerate().filter(|(_, inside)| **inside) {
            let at = [n % 3, n / 3 % 3, n / 9].map(|x| x as u32 + 1);
            values[grid.index(at)] *= -1.0;
        }
        let surface = grid.surface(&values, 0.0).unwrap();
        if inside.contains(&true) {
            prop_assert!(assert_sound(&surface).signed_volume() > 0.0);
        } else {
            prop_assert!(surface.triangles.is_empty());
        }
    }

    /// The same across the borders of blocks, and at any number of threads.
    #[test]
    fn blocks_agree_on_their_borders(seed in prop::collection::vec(-1.0..1.0f64, 6), level in -0.3..0.3f64) {
        let grid = IsoGrid::new(DVec3::ZERO, 1.0, [20, 19, 18]).unwrap();
        let wave = |p: DVec3| {
            let [a, b, c, d, e, f] = seed[..] else { unreachable!() };
            (p.x * (1.0 + a) + d).sin() + (p.y * (1.0 + b) + e).sin() + (p.z * (1.0 + c) + f).sin()
        };
        let inner = |s: [u32; 3]| (0..3).all(|k| s[k] > 0 && s[k] + 1 < grid.samples()[k]);
        let values: Vec<f32> =
            samples_of(&grid).map(|s| if inner(s) { wave(grid.position(s)) as f32 } else { 9.0 }).collect();
        let one = in_pool(1, || grid.surface(&values, level).unwrap());
        prop_assert_eq!(&one, &in_pool(3, || grid.surface(&values, level).unwrap()));
        if !one.triangles.is_empty() {
            assert_sound(&one);
        }
    }
}
