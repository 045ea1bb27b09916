//! Pictures along paths of light.

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Look, Material, Particles, Surface, Wall, WallShape, Wire};
use meniscus_geometry::{Aabb, solids};
use meniscus_picture::{Camera, Image, Style, Tracer};

/// A body of boxes and balls: water with drops in a tank, a ball half in it.
fn scene() -> Frame {
    let body = |name: &str, kind, color| BodyInfo { name: name.into(), kind, color };
    let surface = |body: u16, mesh: meniscus_geometry::TriangleMesh, velocity: Vec3| Surface {
        body,
        positions: mesh.vertices().iter().map(|p| p.as_vec3()).collect(),
        velocities: vec![velocity; mesh.vertices().len()],
        triangles: mesh.triangles().to_vec(),
        ..Surface::default()
    };
    let (low, high) = (Vec3::new(-1.0, 0.0, -1.0), Vec3::new(1.0, 1.0, 1.0));
    let corner = |k: usize| Vec3::new([low.x, high.x][k & 1], [0.0, 1.6][k >> 1 & 1], [low.z, high.z][k >> 2]);
    let edges = (0..8).flat_map(|k| [1, 2, 4].map(|bit| (k, k | bit))).filter(|(a, b)| a != b);
    let plane = |point: Vec3, normal: Vec3| Wall { body: 2, shape: WallShape::Plane { point, normal } };
    let water = solids::cuboid(&Aabb { min: low.as_dvec3(), max: high.as_dvec3() });
    let ball = solids::icosphere(Vec3::new(0.2, 1.0, 0.0).as_dvec3(), 0.5, 4);
    Frame {
        time: 0.5,
        bodies: vec![
            body("water", BodyKind::Liquid, [0.1, 0.4, 0.8]),
            body("ball", BodyKind::Solid, [0.9, 0.4, 0.1]),
            body("tank", BodyKind::Wall, [0.4; 3]),
        ],
        surfaces: vec![surface(0, water, Vec3::ZERO), surface(1, ball, Vec3::X)],
        particles: Particles {
            ids: vec![0],
            bodies: vec![0],
            positions: vec![Vec3::new(-0.5, 1.4, 0.5)],
            velocities: vec![Vec3::NEG_Y],
            spacing: 0.2,
            ..Particles::default()
        },
        wires: vec![Wire { body: 2, segments: edges.map(|(a, b)| [corner(a), corner(b)]).collect() }],
        walls: [(low, Vec3::X), (low, Vec3::Y), (low, Vec3::Z), (high, Vec3::NEG_X), (high, Vec3::NEG_Z)]
            .map(|(p, n)| plane(p, n))
            .to_vec(),
        ..Frame::default()
    }
}

fn style() -> Style {
    Style { width: 96, height: 64, samples: 8, shutter: Some(0.05), ..Style::default() }
}

fn shot(frame: &Frame, style: Style, threads: usize) -> Image {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let looks = vec![("ball".into(), Look { material: Some(Material::Wood), clarity: None })];
    let mut tracer = Tracer::new(style, looks, frame);
    let mut rows = 0;
    let image =
        pool.install(|| tracer.render(frame, &Camera::default(), &mut |done, of| rows = of - done).unwrap().clone());
    assert_eq!(rows, 0, "the bar reaches its end");
    image
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let frame = scene();
    let alone = shot(&frame, style(), 1);
    assert!(alone == shot(&frame, style(), 2), "one thread and two");
    assert!(alone == shot(&frame, style(), 3), "one thread and three");
    // And they show something: water is bluer than the floor in front of it.
    let blue = |x, y| {
        let [r, _, b] = alone.pixel(x, y).unwrap().map(f32::from);
        b / r.max(1.0)
    };
    assert!(blue(44, 44) > 1.15 * blue(10, 58), "{} {}", blue(44, 44), blue(10, 58));
}

#[test]
fn nothing_and_garbage_give_a_picture_too() {
    assert_eq!(shot(&Frame::default(), style(), 1).width(), 96);
    let mut broken = scene();
    broken.surfaces[0].positions[3] = Vec3::NAN;
    broken.surfaces[1].velocities[0] = Vec3::splat(f32::INFINITY);
    broken.surfaces[1].triangles.push([0, 1, 90_000]);
    broken.particles.positions[0] = Vec3::splat(1e30);
    broken.wires[0].segments.push([Vec3::NAN; 2]);
    assert_eq!(shot(&broken, style(), 1).height(), 64);
    let empty = Style { width: 0, ..style() };
    let mut tracer = Tracer::new(empty, Vec::new(), &broken);
    assert!(tracer.render(&broken, &Camera::default(), &mut |_, _| {}).is_err());
}
