//! Where foam is made, where it is not, how long it lasts.

use super::*;
use crate::tests::{frame_of, lattice, noise, resting, tank};

const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// All points of a run of frames, with limits of their own.
fn foam_of(frames: &[Frame], settings: &Settings) -> Vec<Foam> {
    let mut survey = Survey::default();
    frames.iter().for_each(|frame| survey.look(frame));
    let mut water = Whitewater::new(settings, survey.limits(GRAVITY.length()), GRAVITY);
    let foam = |frame| {
        water.advance(frame);
        water.foam(frame)
    };
    frames.iter().map(foam).collect()
}

fn at(frame: Frame, number: u32) -> Frame {
    Frame { number, time: f64::from(number) / 30.0, ..frame }
}

/// A block of water that falls into a pool: above 0.25 m it moves down with 4 m/s, below it stands still.
fn splash(number: u32) -> Frame {
    let spacing = 0.05;
    let depth = 0.3 - 0.02 * number as f32;
    let pool = lattice([20, 5, 10], spacing, 0.1).map(|x| (x, 0));
    let block = lattice([6, 6, 6], spacing, 0.1).map(|x| (x + Vec3::new(0.3, depth, 0.1), 0));
    let mut frame = frame_of(spacing, pool.chain(block), &[1000.0]);
    let count = frame.particles.len();
    frame.particles.velocities =
        (0..count).map(|i| if i < 1000 { Vec3::ZERO } else { Vec3::new(0.0, -4.0, 0.0) }).collect();
    tank(&mut frame, Vec3::new(1.0, 1.0, 0.5));
    at(frame, number)
}

/// A pool whose particles tremble a little.
fn calm(number: u32) -> Frame {
    let (mut frame, _) = resting(0.1);
    for (i, v) in (0u32..).zip(&mut frame.particles.velocities) {
        let seed = 7919 * (i + 1) + 31 * number;
        *v = 0.05 * Vec3::new(noise(seed), noise(seed + 1), noise(seed + 2));
    }
    at(frame, number)
}

#[test]
fn a_pool_at_rest_has_none() {
    let frames: Vec<Frame> = (0..10).map(calm).collect();
    assert!(foam_of(&frames, &Settings::default()).iter().all(Foam::is_empty));
}

#[test]
fn water_that_falls_into_water_is_white_where_they_meet() {
    let frames: Vec<Frame> = (0..5).map(splash).collect();
    let foam = foam_of(&frames, &Settings::default());
    assert!(foam[0].is_empty(), "nothing has happened before the first frame");
    let last = foam.last().unwrap();
    assert!(last.len() > 100, "{} points", last.len());
    assert!(last.positions.iter().all(|x| (0.1..0.8).contains(&x.x) && x.y > 0.0 && x.z > 0.0 && x.z < 0.5));
    assert!(last.ids.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!([last.bodies.len(), last.kinds.len(), last.velocities.len()], [last.len(); 3]);
    let still: Vec<Vec3> = last.positions.iter().copied().filter(|x| x.x < 0.15 || x.x > 0.75).collect();
    assert!(still.len() < last.len() / 50, "{} of {} are far away", still.len(), last.len());
}

#[test]
fn bits_do_not_depend_on_threads() {
    let frames: Vec<Frame> = (0..4).map(splash).collect();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| foam_of(&frames, &Settings::default()))
    };
    let one = run(1);
    assert!(!one[3].is_empty());
    assert_eq!(one, run(2));
    assert_eq!(one, run(5));
}

#[test]
fn it_lasts_for_its_time_and_no_longer() {
    // Three frames of violence, then the same pool without the block.
    let quiet = |number| {
        let mut frame = splash(number);
        frame.particles.velocities.fill(Vec3::ZERO);
        frame
    };
    let frames: Vec<Frame> = (0..3).map(splash).chain((3..40).map(quiet)).collect();
    let count = |life: f64| -> Vec<usize> {
        let settings = Settings { foam_life: life, ..Settings::default() };
        foam_of(&frames, &settings).iter().map(Foam::len).collect()
    };
    let (short, long) = (count(0.5), count(1.0));
    assert_eq!(short[3], long[3], "they are made alike");
    assert!(long[3] > 100, "{} points", long[3]);
    assert!(long[3..].windows(2).all(|pair| pair[1] <= pair[0]), "{long:?}");
    // 0.5 s are fifteen frames.
    assert_eq!(short[18], 0, "{short:?}");
    assert!(long[18] > long[3] / 4 && long[33] == 0, "{long:?}");
    let none = foam_of(&frames, &Settings { foam_amount: 0.0, ..Settings::default() });
    assert!(none.iter().all(Foam::is_empty));
}

#[test]
fn kinds_follow_from_the_water_around() {
    let (frame, _) = resting(0.0);
    let mut air = Air::default();
    assert!(air.take(&frame));
    let spacing = frame.particles.spacing;
    let kind = |at: [f32; 3]| sort(air.around(Vec3::from(at) / spacing, &frame).0);
    // The water is 0.6 m deep: beside a wall and in the middle it is as full.
    for (x, z) in [(0.5, 0.25), (0.01, 0.25), (0.01, 0.01)] {
        assert_eq!(kind([x, 0.3, z]), FoamKind::Bubble, "{x} {z}");
        assert_eq!(kind([x, 0.61, z]), FoamKind::Foam, "{x} {z}");
        assert_eq!(kind([x, 0.68, z]), FoamKind::Spray, "{x} {z}");
    }
}

#[test]
fn spray_falls_bubbles_rise_and_walls_hold_them() {
    let (mut frame, _) = resting(0.0);
    frame.particles.velocities.fill(Vec3::ZERO);
    let mut water = Whitewater::new(&Settings::default(), Limits::default(), GRAVITY);
    water.advance(&at(frame.clone(), 0));
    let point = |at, velocity, kind| Point { id: 0, body: 0, kind, at, velocity, left: 3.0 };
    water.points = vec![
        point(Vec3::new(0.5, 1.0, 0.25), Vec3::X, FoamKind::Spray),
        point(Vec3::new(0.5, 0.3, 0.25), Vec3::ZERO, FoamKind::Bubble),
        point(Vec3::new(0.01, 0.9, 0.25), -5.0 * Vec3::X, FoamKind::Spray),
    ];
    water.advance(&at(frame.clone(), 1));
    let [drop, bubble, held] = water.points[..] else { panic!("{} points", water.points.len()) };
    let step = 1.0 / 30.0;
    let fallen = Vec3::new(0.5 + step, 1.0 - 0.5 * 9.81 * step * step, 0.25);
    assert!((drop.at - fallen).length() < 1e-5 && drop.kind == FoamKind::Spray, "{drop:?}");
    let rise = RISE * (SIZE * 0.05f32 * 9.81).sqrt();
    assert!((bubble.velocity.y - rise).abs() < 1e-5 && bubble.at.y > 0.3, "{bubble:?}");
    assert!(held.at.x > 0.0 && held.velocity.x >= 0.0, "{held:?}");
}

#[test]
fn nothing_breaks_it() {
    let mut frame = at(Frame::default(), 1);
    let mut water =
        Whitewater::new(&Settings { foam_amount: f64::NAN, ..Settings::default() }, Limits::default(), GRAVITY);
    water.advance(&at(Frame::default(), 0));
    water.advance(&frame);
    frame = splash(2);
    frame.particles.positions[3] = Vec3::NAN;
    frame.particles.velocities[1100] = Vec3::splat(f32::INFINITY);
    frame.particles.velocities.truncate(1150);
    let mut survey = Survey::default();
    survey.look(&frame);
    survey.look(&Frame::default());
    let mut water = Whitewater::new(&Settings::default(), survey.limits(f32::NAN), GRAVITY);
    (0..3).for_each(|number| water.advance(&Frame { time: f64::from(number), ..frame.clone() }));
    assert!(water.foam(&frame).positions.iter().all(|x| x.is_finite()));
}
