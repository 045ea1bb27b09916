//! Frames come back bit for bit, and contradictions do not come back at all.

mod scenery;

use glam::Vec3;
use meniscus_core::{BodyKind, Frame, Particles, Surface, Wire};
use meniscus_record::{FrameFault, RecordError, decode_frame, encode_frame};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any bits: NaNs with payloads, -0.0, denormals.
fn bits() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), Just(-0.0), Just(f32::from_bits(0x7fa0_1234))]
}

fn vectors(count: usize) -> impl Strategy<Value = Vec<Vec3>> {
    vec([bits(), bits(), bits()].prop_map(Vec3::from_array), count)
}

fn particles(bodies: u16) -> impl Strategy<Value = Particles> {
    prop::collection::btree_set(any::<u32>(), 0..40).prop_flat_map(move |ids| {
        let n = ids.len();
        (vec(0..bodies, n), vectors(n), vectors(n), vec(bits(), n), vec(bits(), n), bits()).prop_map(
            move |(bodies, positions, velocities, densities, pressures, spacing)| Particles {
                ids: ids.iter().copied().collect(),
                bodies,
                positions,
                velocities,
                densities,
                pressures,
                spacing,
                spray: ids.iter().map(|id| id % 3 == 0).collect(),
            },
        )
    })
}

fn surface(bodies: u16) -> impl Strategy<Value = Surface> {
    (1usize..10).prop_flat_map(move |n| {
        let corner = 0..n as u32;
        let triangle = [corner.clone(), corner.clone(), corner];
        let pressures = prop_oneof![Just(Vec::new()), vec(any::<f32>().prop_filter("compared", |p| !p.is_nan()), n)];
        (0..bodies, vectors(n), vectors(n), pressures, vec(triangle, 0..10)).prop_map(
            |(body, positions, velocities, pressures, triangles)| Surface {
                body,
                positions,
                velocities,
                pressures,
                triangles,
            },
        )
    })
}

fn wire(bodies: u16) -> impl Strategy<Value = Wire> {
    let segment = [vectors(1), vectors(1)].prop_map(|[a, b]| [a[0], b[0]]);
    (0..bodies, vec(segment, 0..5)).prop_map(|(body, segments)| Wire { body, segments })
}

fn frame() -> impl Strategy<Value = Frame> {
    let bodies = vec((any::<String>(), any::<bool>(), [bits(), bits(), bits()]), 1..4);
    (any::<u32>(), any::<u64>(), any::<u64>(), bodies).prop_flat_map(|(number, time, step, bodies)| {
        let n = bodies.len() as u16;
        let infos: Vec<_> = bodies
            .into_iter()
            .map(|(name, liquid, color)| meniscus_core::BodyInfo {
                name,
                kind: if liquid { BodyKind::Liquid } else { BodyKind::Wall },
                color,
            })
            .collect();
        (particles(n), vec(surface(n), 0..3), vec(wire(n), 0..3)).prop_map(move |(particles, surfaces, wires)| Frame {
            number,
            time: f64::from_bits(time),
            step,
            bodies: infos.clone(),
            particles,
            surfaces,
            wires,
            walls: Vec::new(),
            ..Frame::default()
        })
    })
}

/// Everything in a frame as integers, so that NaN equals NaN and 0.0 differs from -0.0.
fn fingerprint(frame: &Frame) -> Vec<u64> {
    let mut all = vec![u64::from(frame.number), frame.time.to_bits(), frame.step];
    let float = |v: f32| u64::from(v.to_bits());
    let mut vector = |v: &Vec3| all.extend(v.to_array().map(float));
    let p = &frame.particles;
    p.positions.iter().chain(&p.velocities).for_each(&mut vector);
    frame.surfaces.iter().flat_map(|s| s.positions.iter().chain(&s.velocities)).for_each(&mut vector);
    frame.wires.iter().flat_map(|w| w.segments.iter().flatten()).for_each(&mut vector);
    frame.bodies.iter().for_each(|b| vector(&Vec3::from_array(b.color)));
    all.extend(p.densities.iter().chain(&p.pressures).chain([&p.spacing]).map(|&v| float(v)));
    all
}

/// A frame without its floats, which `fingerprint` compares.
fn skeleton(mut frame: Frame) -> Frame {
    let p = &mut frame.particles;
    (p.spacing, frame.time) = (0.0, 0.0);
    p.positions.iter_mut().chain(&mut p.velocities).for_each(|v| *v = Vec3::ZERO);
    p.densities.iter_mut().chain(&mut p.pressures).for_each(|v| *v = 0.0);
    frame.bodies.iter_mut().for_each(|b| b.color = [0.0; 3]);
    for surface in &mut frame.surfaces {
        surface.positions.iter_mut().chain(&mut surface.velocities).for_each(|v| *v = Vec3::ZERO);
    }
    frame.wires.iter_mut().flat_map(|w| &mut w.segments).for_each(|s| *s = [Vec3::ZERO; 2]);
    frame
}

proptest! {
    #[test]
    fn every_bit_comes_back(frame in frame()) {
        let back = decode_frame(&encode_frame(&frame)).unwrap();
        prop_assert_eq!(fingerprint(&back), fingerprint(&frame));
        prop_assert_eq!(skeleton(back), skeleton(frame));
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(decode_frame(&bytes).is_err());
    }
}

#[test]
fn the_empty_frame_and_the_tiny_frame_come_back() {
    for frame in [Frame::default(), scenery::tiny(3)] {
        assert_eq!(decode_frame(&encode_frame(&frame)).unwrap(), frame);
    }
}

#[test]
fn a_frame_of_several_blocks_comes_back() {
    let frame = scenery::breaking_dam(40);
    assert!(frame.particles.len() > 2 * 65_536);
    assert_eq!(decode_frame(&encode_frame(&frame)).unwrap(), frame);
}

#[test]
fn contradictions_are_refused() {
    let refused = |change: fn(&mut Frame)| {
        let mut frame = scenery::tiny(1);
        change(&mut frame);
        match decode_frame(&encode_frame(&frame)) {
            Err(RecordError::BadFrame(fault)) => fault,
            other => panic!("{other:?}"),
        }
    };
    let fault = refused(|f| f.particles.densities.truncate(4));
    assert_eq!(fault, FrameFault::Lengths { array: "particles/densities", expected: 5, found: 4 });
    let fault = refused(|f| f.particles.bodies[3] = 2);
    assert_eq!(fault, FrameFault::BodyOutOfRange { what: "particle", index: 3, body: 2, bodies: 2 });
    let fault = refused(|f| f.surfaces[0].triangles[2][1] = 4);
    assert_eq!(fault, FrameFault::CornerOutOfRange { surface: 0, triangle: 2, corner: 4, vertices: 4 });
    let fault = refused(|f| f.particles.ids[1] = 3);
    assert_eq!(fault, FrameFault::IdsNotAscending { index: 1 });
    let fault = refused(|f| f.surfaces[0].velocities.push(Vec3::ZERO));
    assert_eq!(fault, FrameFault::Lengths { array: "surfaces/velocities", expected: 4, found: 5 });
    assert!(matches!(refused(|f| f.wires[0].body = 9), FrameFault::BodyOutOfRange { what: "wire", .. }));
    assert!(matches!(refused(|f| f.surfaces[1].body = 9), FrameFault::BodyOutOfRange { what: "surface", .. }));
    let fault = refused(|f| f.wires = vec![Wire::default(); 65_537]);
    assert!(matches!(fault, FrameFault::TooMany { what: "wires", .. }));
}

#[test]
fn walls_and_spray_come_back_and_older_files_have_none() {
    let frame = scenery::tiny(3);
    let back = decode_frame(&encode_frame(&frame)).unwrap();
    assert_eq!((&back.walls, &back.particles.spray), (&frame.walls, &frame.particles.spray));
    assert_eq!((back.walls.len(), back.particles.spray.len()), (2, 5));
    // Written before frames had either.
    let old = decode_frame(include_bytes!("../../../fuzz/corpus/frame/small.mnf")).unwrap();
    assert!(old.walls.is_empty() && old.particles.spray.is_empty() && old.particles.len() == 3);
    let mut wrong = frame.clone();
    wrong.particles.spray.pop();
    assert!(decode_frame(&encode_frame(&wrong)).is_err());
    wrong = frame;
    wrong.walls[0].body = 9;
    assert!(decode_frame(&encode_frame(&wrong)).is_err());
}
