use proptest::prelude::*;

use super::*;
use crate::solids;

/// Faces match, the surface is closed, volumes are positive and none overlap.
fn assert_sound(mesh: &TetMesh) {
    let surface = TriangleMesh::new(mesh.vertices().to_vec(), mesh.surface()).unwrap();
    surface.closed().unwrap();
    assert!((surface.signed_volume() / mesh.volume() - 1.0).abs() < 1e-9, "no tetrahedron lies in another");
    assert!(mesh.corners().all(|corners| crate::tet_volume(corners) > 0.0));
    let mut used = vec![false; mesh.vertices().len()];
    mesh.tets().iter().flatten().for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|&used| used));
}

fn assert_well_shaped(mesh: &TetMesh) {
    let quality = mesh.quality();
    assert!(quality.min_dihedral > 10.5 && quality.max_dihedral < 165.0, "{quality:?}");
}

#[test]
fn bodies_are_filled_to_number_volume_and_quality() {
    let c = DVec3::new(0.3, -0.1, 0.2);
    let bodies = [
        solids::icosphere(c, 0.1, 4),
        solids::torus(c, 0.1, 0.035, [90, 30]),
        solids::cuboid(&Aabb::new(c, c + DVec3::new(0.2, 0.1, 0.1))),
        solids::cylinder(c, c + DVec3::new(0.1, 0.2, 0.05), 0.08, 40),
    ];
    for surface in bodies {
        for count in [500, 2000, 8000] {
            let stuffed = mesh_tets(&surface, &TetOptions::count(count)).unwrap();
            let got = stuffed.mesh.tets().len() as f64 / count as f64;
            assert!((got - 1.0).abs() < 0.2, "{got}");
            assert!(stuffed.volume_error.abs() < 0.003, "{}", stuffed.volume_error);
            assert!(stuffed.level.abs() <= FARTHEST_LEVEL * stuffed.edge);
            assert_sound(&stuffed.mesh);
            assert_well_shaped(&stuffed.mesh);
            assert!(stuffed.mesh.components().iter().all(|&piece| piece == 0));
        }
    }
}

#[test]
fn edges_have_the_length_that_is_asked_for() {
    let ball = solids::icosphere(DVec3::ZERO, 0.1, 3);
    let stuffed = mesh_tets(&ball, &TetOptions::edge(0.02)).unwrap();
    assert_eq!(stuffed.edge, 0.02);
    let edges = stuffed.mesh.corners().map(|[a, b, ..]| a.distance(b));
    let (sum, count) = edges.fold((0.0, 0.0), |(sum, n), length| (sum + length, n + 1.0));
    assert!((0.014..0.022).contains(&(sum / count)), "{}", sum / count);
}

#[test]
fn cavities_stay_empty_and_pieces_apart() {
    let mut walls = solids::icosphere(DVec3::ZERO, 0.6, 3);
    walls.flip(|_| true);
    let bodies = [solids::icosphere(DVec3::ZERO, 1.0, 3), walls, solids::icosphere(3.0 * DVec3::X, 0.5, 3)];
    let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
    for body in &bodies {
        let first = vertices.len() as u32;
        vertices.extend_from_slice(body.vertices());
        triangles.extend(body.triangles().iter().map(|t| t.map(|v| v + first)));
    }
    let stuffed = mesh_tets(&TriangleMesh::new(vertices, triangles).unwrap(), &TetOptions::count(6000)).unwrap();
    assert!(stuffed.volume_error.abs() < 0.003 && stuffed.turned == 0);
    assert_eq!(stuffed.mesh.components().iter().max(), Some(&1));
    assert!(stuffed.mesh.vertices().iter().all(|v| v.length() > 0.5));
    assert_sound(&stuffed.mesh);
}

#[test]
fn surfaces_that_face_inwards_are_turned() {
    let mut ball = solids::icosphere(DVec3::ZERO, 1.0, 3);
    let right = mesh_tets(&ball, &TetOptions::count(500)).unwrap();
    ball.flip(|_| true);
    let turned = mesh_tets(&ball, &TetOptions::count(500)).unwrap();
    assert_eq!((turned.turned, &turned.mesh), (1, &right.mesh));
}

#[test]
fn bad_surfaces_and_sizes_are_refused_with_a_reason() {
    let ball = solids::icosphere(DVec3::ZERO, 1.0, 2);
    let open = TriangleMesh::new(ball.vertices().to_vec(), ball.triangles()[1..].to_vec()).unwrap();
    let error = mesh_tets(&open, &TetOptions::count(100)).unwrap_err();
    assert!(matches!(&error, TetError::NotClosed(defects) if defects.open == 3), "{error}");
    assert!(error.to_string().contains("the edge at [-0.609756, 0.776349, 0.080311] m is open"), "{error}");
    let flat = TriangleMesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::Y], vec![[0, 1, 2], [0, 2, 1]]).unwrap();
    let error = mesh_tets(&flat, &TetOptions::count(100)).unwrap_err();
    assert!(matches!(error, TetError::NoVolume { .. }) && error.to_string().contains("no volume"), "{error}");
    for options in [TetOptions::count(0), TetOptions::edge(0.0), TetOptions::edge(-1.0), TetOptions::edge(f64::NAN)] {
        assert!(matches!(mesh_tets(&ball, &options), Err(TetError::Size { .. })));
    }
    for options in [TetOptions::count(usize::MAX), TetOptions::edge(1e-9)] {
        let error = mesh_tets(&ball, &options).unwrap_err();
        assert!(matches!(error, TetError::TooFine { .. }), "{error}");
    }
    let wire = solids::torus(DVec3::ZERO, 1.0, 0.01, [60, 8]);
    let error = mesh_tets(&wire, &TetOptions::edge(0.8)).unwrap_err();
    assert!(matches!(error, TetError::NothingLeft { .. }) && error.to_string().contains("shorter edges"), "{error}");
}

#[test]
fn surfaces_that_pass_through_themselves_are_refused_or_filled_and_flagged() {
    let balls = [DVec3::ZERO, DVec3::new(0.9, 0.1, 0.2)].map(|center| solids::icosphere(center, 1.0, 3));
    let second = balls[1].triangles().iter().map(|t| t.map(|v| v + balls[0].vertices().len() as u32));
    let triangles = balls[0].triangles().iter().copied().chain(second).collect();
    let both = TriangleMesh::new([balls[0].vertices(), balls[1].vertices()].concat(), triangles).unwrap();
    let error = mesh_tets(&both, &TetOptions::count(500)).unwrap_err();
    assert!(
        matches!(error, TetError::SelfCrossing(_)) && error.to_string().contains("passes through itself"),
        "{error}"
    );
    let fill = TetOptions { self_crossings: SelfCrossings::Fill, ..TetOptions::count(4000) };
    let stuffed = mesh_tets(&both, &fill).unwrap();
    assert!(stuffed.self_crossing.is_some() && stuffed.volume_error.is_nan());
    // Two balls less their common lens.
    let (d, r) = (balls[1].bounds().center().length(), 1.0);
    let lens = std::f64::consts::PI * (4.0 * r + d) * (2.0 * r - d) * (2.0 * r - d) / 12.0;
    let volume = balls[0].signed_volume() + balls[1].signed_volume() - lens;
    assert!((stuffed.mesh.volume() / volume - 1.0).abs() < 0.03);
    assert_sound(&stuffed.mesh);
    assert_well_shaped(&stuffed.mesh);
}

#[test]
fn bodies_that_touch_in_a_point_come_apart() {
    let vertices = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z].to_vec();
    let mut soup = Soup { vertices, tets: vec![[0, 1, 2, 3], [4, 0, 5, 6]] };
    soup.part_fans();
    assert_eq!(soup.tets, [[0, 1, 2, 3], [4, 7, 5, 6]]);
    assert_eq!((soup.vertices.len(), soup.vertices[7]), (8, DVec3::ZERO));
    let whole = TetMesh::block(DVec3::ZERO, DVec3::ONE, [2, 2, 2]);
    let mut soup = Soup { vertices: whole.vertices().to_vec(), tets: whole.tets().to_vec() };
    soup.part_fans();
    assert_eq!((&soup.vertices[..], &soup.tets[..]), (whole.vertices(), whole.tets()));
}

#[test]
fn a_body_that_touches_itself_along_an_edge_loses_the_smaller_side() {
    // Three layers of two by two cells; the middle one has only two, that meet at the edge in the middle.
    let whole = TetMesh::block(DVec3::ZERO, DVec3::new(2.0, 2.1, 3.0), [2, 2, 3]);
    let mut soup = Soup { vertices: whole.vertices().to_vec(), tets: Vec::new() };
    for (&tet, corners) in whole.tets().iter().zip(whole.corners()) {
        let center = corners.iter().sum::<DVec3>() / 4.0;
        let gap = (1.0..2.0).contains(&center.z) && ((center.x < 1.0) != (center.y < 1.05));
        if !gap {
            soup.tets.push(tet);
        }
    }
    let before = soup.volume();
    soup.part();
    let lost = before - soup.volume();
    let mesh = TetMesh::new(soup.vertices, soup.tets).unwrap();
    assert_sound(&mesh);
    assert!(lost > 0.1 && lost < 1.05, "some tetrahedra of one cell are gone, not more: {lost}");
}

/// A union of balls, blended where they meet.
fn blob(balls: &[([f64; 3], f64)], blend: f64) -> impl Fn(DVec3) -> f64 + Sync {
    move |p| {
        let distances = balls.iter().map(|&(center, radius)| p.distance(DVec3::from(center)) - radius);
        distances
            .reduce(|a, b| {
                let h = (blend - (a - b).abs()).max(0.0) / blend;
                a.min(b) - 0.25 * h * h * blend
            })
            .unwrap_or(1.0)
    }
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn smooth_solids_give_sound_well_shaped_meshes(
        balls in prop::collection::vec((prop::array::uniform3(-0.5..0.5f64), 0.2..0.5f64), 1..5), edge in 0.06..0.2f64,
    ) {
        let solid = blob(&balls, 0.2);
        let bounds = Aabb::new(DVec3::splat(-1.1), DVec3::splat(1.1));
        let stuffed = stuff(&solid, &bounds, TetSize::Edge(edge)).unwrap();
        assert_sound(&stuffed.mesh);
        prop_assert!(stuffed.mesh.quality().min_dihedral > 10.7);
        let surface = stuffed.mesh.surface();
        let heights = surface.iter().flatten().map(|&vertex| solid(stuffed.mesh.vertices()[vertex as usize]));
        let (mut on, mut below) = (0, 0);
        for height in heights {
            prop_assert!(height < 1e-5 && height > -edge);
            if height > -1e-5 { on += 1 } else { below += 1 }
        }
        prop_assert!(below * 50 <= on, "only where it touched itself: {below} of {on}");
    }

    #[test]
    fn the_number_of_threads_does_not_matter(
        balls in prop::collection::vec((prop::array::uniform3(-0.5..0.5f64), 0.2..0.5f64), 1..3),
    ) {
        let bounds = Aabb::new(DVec3::splat(-1.1), DVec3::splat(1.1));
        let stuffed = || stuff(blob(&balls, 0.2), &bounds, TetSize::Count(1500)).unwrap().mesh;
        prop_assert_eq!(in_pool(1, stuffed), in_pool(3, stuffed));
    }
}
