//! What breaking promises: no mass, momentum or volume is lost, pieces are sound, the surface follows.

use glam::DVec3;
use meniscus_core::StepReport;
use meniscus_fem::{Body, Fracture, Material, Order, Params};
use meniscus_geometry::{TetMesh, TriangleMesh};
use std::collections::BTreeMap;

/// A glass bar thrown so that it flies apart: its ends move away from each other.
fn flying(order: Order, fracture: Fracture) -> Body {
    let mesh = TetMesh::block(DVec3::ZERO, DVec3::new(1.0, 0.2, 0.2), [15, 3, 3]);
    let material = Material { young: 1e6, fracture: Some(fracture), ..Material::default() };
    let mut body = Body::new("bar", &mesh, Params { order, ..Params::default() }, material).unwrap();
    let rest = body.rest_positions().to_vec();
    for (v, p) in body.motion_mut().1.iter_mut().zip(&rest) {
        *v = DVec3::new(3.0 * (p.x - 0.5), 0.3 + p.z, 2.0 * (p.x - 0.2));
    }
    body
}

const BRITTLE: Fracture = Fracture { strength: 2e4, smoothing: 0.002, max_cracks: 16, min_piece: 4 };

fn step(body: &mut Body) -> f64 {
    let mut report = StepReport::default();
    body.step(0.002, DVec3::ZERO, &mut report).unwrap();
    report.counter("cracks").unwrap()
}

#[test]
fn mass_momentum_and_volume_are_unchanged_to_round_off() {
    for order in [Order::Linear, Order::Quadratic] {
        let mut body = flying(order, BRITTLE);
        let (mass, momentum) = (body.mass(), body.momentum());
        let mut cracks = 0.0;
        for _ in 0..100 {
            cracks += step(&mut body);
            assert!((body.mass() / mass - 1.0).abs() < 1e-14, "{order:?}");
            assert!((body.momentum() - momentum).length() < 1e-13 * momentum.length(), "{order:?}");
        }
        assert!(cracks > 10.0 && body.pieces().count > 1, "{order:?} {cracks} {}", body.pieces().count);
        let (p, l, e) = (body.momentum(), body.angular_momentum(), body.kinetic_energy() + body.elastic_energy());
        let pieces = body.into_pieces().unwrap();
        let sum = |of: fn(&Body) -> DVec3| pieces.iter().map(of).sum::<DVec3>();
        let energy: f64 = pieces.iter().map(|b| b.kinetic_energy() + b.elastic_energy()).sum();
        assert!((pieces.iter().map(Body::mass).sum::<f64>() / mass - 1.0).abs() < 1e-14);
        assert!((sum(Body::momentum) - p).length() < 1e-13 * p.length());
        assert!((sum(Body::angular_momentum) - l).length() < 1e-13 * l.length());
        assert!((energy / e - 1.0).abs() < 1e-12);
    }
}

/// At every node the elements around it hang together through faces that hold it.
fn fans_are_whole(body: &Body) -> bool {
    let mesh = &body.state().mesh;
    let mut around: BTreeMap<u32, Vec<[u32; 4]>> = BTreeMap::new();
    for e in 0..mesh.element_count() {
        let tet: [u32; 4] = mesh.element(e)[..4].try_into().unwrap();
        tet.iter().for_each(|&node| around.entry(node).or_default().push(tet));
    }
    around.iter().all(|(node, tets)| {
        let share_a_face = |a: &[u32; 4], b: &[u32; 4]| {
            let common: Vec<&u32> = a.iter().filter(|n| b.contains(n)).collect();
            common.len() == 3 && common.contains(&node)
        };
        let mut fan = vec![tets[0]];
        let mut next = 0;
        while next < fan.len() {
            let here = fan[next];
            let new: Vec<[u32; 4]> =
                tets.iter().filter(|t| share_a_face(&here, t) && !fan.contains(t)).copied().collect();
            fan.extend(new);
            next += 1;
        }
        fan.len() == tets.len()
    })
}

#[test]
fn fans_pieces_and_surfaces_are_sound() {
    let mut body = flying(Order::Linear, BRITTLE);
    for _ in 0..100 {
        if step(&mut body) == 0.0 {
            continue;
        }
        assert!(fans_are_whole(&body), "elements hang together by a node or an edge only");
        let surface = TriangleMesh::new(body.rest_positions().to_vec(), body.surface().triangles().to_vec()).unwrap();
        assert!((surface.signed_volume() - 0.04).abs() < 1e-14, "the surface follows the cracks");
    }
    let pieces = body.pieces();
    for number in 0..pieces.count {
        let tets = pieces.of_element.iter().filter(|&&piece| piece as usize == number).count();
        assert!(tets >= BRITTLE.min_piece as usize, "piece {number} has {tets} elements");
    }
    for mut piece in body.into_pieces().unwrap() {
        let surface = TriangleMesh::new(piece.rest_positions().to_vec(), piece.surface().triangles().to_vec()).unwrap();
        let volume: f64 = piece.mass() / 1000.0;
        assert!((surface.signed_volume() - volume).abs() < 1e-14, "{}", piece.name());
        step(&mut piece);
    }
}

#[test]
fn limits_are_kept() {
    let few = Fracture { max_cracks: 2, ..BRITTLE };
    let mut body = flying(Order::Linear, few);
    for _ in 0..40 {
        assert!(step(&mut body) <= 2.0);
    }
    let large = Fracture { min_piece: 400, ..BRITTLE };
    let mut body = flying(Order::Linear, large);
    (0..60).for_each(|_| _ = step(&mut body));
    assert!(body.pieces().count <= 1, "675 elements cannot fall into two pieces of 400");
    let strong = Fracture { strength: 1e9, ..BRITTLE };
    let mut body = flying(Order::Linear, strong);
    assert_eq!((0..40).map(|_| step(&mut body)).sum::<f64>(), 0.0);
}

/// Stress that lasts for less than the time of smoothing does not break.
#[test]
fn short_blows_are_smoothed() {
    let blow = |smoothing: f64| {
        let mut body = flying(Order::Linear, Fracture { smoothing, ..BRITTLE });
        (0..6).map(|_| step(&mut body)).sum::<f64>()
    };
    assert!(blow(0.0) > 0.0);
    assert_eq!(blow(1.0), 0.0);
}
