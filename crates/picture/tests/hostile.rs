//! Frames full of garbage give a picture or a typed error, never a panic.

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Particles, Surface, Wire};
use meniscus_picture::{Camera, Coloring, Pattern, Style, Theme, Walls, render};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -2.0f32..2.0,
        1 => prop::sample::select(vec![
            f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-40, 1e20, -1e9, 0.0, -0.0,
        ]),
    ]
}

fn point() -> impl Strategy<Value = Vec3> {
    [number(), number(), number()].prop_map(Vec3::from)
}

fn points(most: usize) -> impl Strategy<Value = Vec<Vec3>> {
    prop::collection::vec(point(), 0..most)
}

fn numbers(most: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(number(), 0..most)
}

fn particles() -> impl Strategy<Value = Particles> {
    (points(30), points(30), numbers(30), numbers(30), number(), prop::collection::vec(any::<u16>(), 0..30)).prop_map(
        |(positions, velocities, densities, pressures, spacing, bodies)| Particles {
            ids: (0..positions.len() as u32 / 2).collect(),
            bodies,
            positions,
            velocities,
            densities,
            pressures,
            spacing,
            spray: Vec::new(),
        },
    )
}

fn surface() -> impl Strategy<Value = Surface> {
    let triangles = prop::collection::vec(prop::array::uniform3(prop_oneof![9 => 0u32..12, 1 => any::<u32>()]), 0..12);
    (0u16..4, points(12), points(12), triangles).prop_map(|(body, positions, velocities, triangles)| Surface {
        body,
        positions,
        velocities,
        triangles,
        ..Surface::default()
    })
}

fn frame() -> impl Strategy<Value = Frame> {
    let wires = prop::collection::vec([point(), point()], 0..6).prop_map(|segments| Wire { body: 1, segments });
    let colors = prop::array::uniform3(number());
    (particles(), prop::collection::vec(surface(), 0..3), wires, colors, any::<f64>()).prop_map(
        |(particles, surfaces, wire, color, time)| Frame {
            time,
            bodies: vec![
                BodyInfo { name: "liquid".into(), kind: BodyKind::Liquid, color },
                BodyInfo { name: "wall".into(), kind: BodyKind::Wall, color },
            ],
            particles,
            surfaces,
            wires: vec![wire],
            ..Frame::default()
        },
    )
}

fn style() -> impl Strategy<Value = Style> {
    use Coloring::{Body, Density, Plain, Pressure, Speed, Water};
    let looks = (
        prop::sample::select(vec![Speed, Density, Pressure, Body, Plain, Water]),
        prop::sample::select(vec![Pattern::Grid, Pattern::Checker, Pattern::Plain]),
        prop::sample::select(vec![Walls::Auto, Walls::Solid, Walls::Glass, Walls::Hidden]),
        any::<bool>(),
    );
    let size = (1u32..60, 1u32..40, 0u32..4);
    (looks, size, prop::option::of([number(), number()]), prop::array::uniform6(number())).prop_map(
        |((color, pattern, walls, on), (width, height, supersample), range, numbers)| Style {
            width,
            height,
            supersample,
            color,
            pattern,
            walls,
            range,
            theme: if on { Theme::Light } else { Theme::Dark },
            clock: on,
            ground_height: on.then_some(numbers[0]),
            particle_scale: numbers[1],
            line_width: numbers[2],
            occlusion: numbers[3],
            light_azimuth: numbers[4],
            light_elevation: numbers[5],
            ..Style::default()
        },
    )
}

fn camera() -> impl Strategy<Value = Camera> {
    let optional = || prop::option::of(prop::array::uniform3(number()));
    (optional(), optional(), prop_oneof![3 => 5.0f32..120.0, 1 => number()], number(), number()).prop_map(
        |(eye, target, field_of_view, azimuth, margin)| Camera {
            eye,
            target,
            field_of_view,
            azimuth: 90.0 * azimuth,
            elevation: 60.0 * margin,
            margin,
            ..Camera::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn garbage_never_panics(frame in frame(), camera in camera(), style in style()) {
        if let Ok(image) = render(&frame, &camera, &style) {
            prop_assert_eq!((image.width(), image.height()), (style.width, style.height));
        }
    }
}

#[test]
fn an_eye_inside_a_sphere_sees_past_it() {
    let positions = vec![Vec3::ZERO, Vec3::new(0.0, 0.0, -4.0)];
    let particles = Particles { positions, bodies: vec![0, 0], spacing: 2.0, ..Particles::default() };
    let bodies = vec![BodyInfo { name: "ball".into(), kind: BodyKind::Liquid, color: [0.9, 0.1, 0.1] }];
    let frame = Frame { particles, bodies, ..Frame::default() };
    let style = Style { width: 64, height: 64, color: Coloring::Body, legend: false, ..Style::default() };
    let image = render(&frame, &Camera::looking(Vec3::ZERO, -Vec3::Z, 40.0), &style).unwrap();
    let [r, g, _] = image.pixel(32, 32).unwrap();
    assert!(r > 2 * g);
}
