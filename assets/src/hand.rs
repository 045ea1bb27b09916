//! A right hand that scoops water: 21 joints and the arm that carries them.
//!
//! At rest it lies palm down, fingers along x, back of the hand along y, thumb towards −z; origin in the wrist. In the
//! animation its palm looks up and y = 0 is where the water should stand. Lengths of the bones after Buryanov & Kotiuk.

use glam::{DQuat, DVec3};
use meniscus_geometry::Aabb;

use crate::flesh::{Piece, axes, ball, cone, melt, melted, turned};
use crate::glb::Glb;
use crate::keys::{curve, turn};
use crate::skeleton::{Skeleton, Stance};
use crate::skin::{hang, surface};

/// Spacing of the grid that the surface is cut from \[m\].
const SPACING: f64 = 2.3e-3;
const MM: f64 = 1e-3;
/// Length of the animation \[s\], and keys per second.
const LENGTH: f64 = 3.0;
const RATE: f64 = 24.0;

/// A finger: where its knuckle is \[mm\], how far it points to the side \[degrees\], lengths of its bones \[mm\], and its
/// radius at the knuckle, at the joints and at the tip \[mm\].
struct Finger {
    name: &'static str,
    knuckle: [f64; 3],
    aside: f64,
    bones: [f64; 3],
    radii: [f64; 4],
}

const FINGERS: [Finger; 4] = [
    Finger {
        name: "index",
        knuckle: [90.0, 2.0, -23.5],
        aside: -6.0,
        bones: [43.0, 25.0, 20.0],
        radii: [10.4, 9.3, 8.5, 6.8],
    },
    Finger {
        name: "middle",
        knuckle: [93.0, 4.0, -3.5],
        aside: 0.0,
        bones: [47.0, 29.0, 21.0],
        radii: [10.6, 9.5, 8.7, 6.9],
    },
    Finger {
        name: "ring",
        knuckle: [88.0, 2.5, 15.5],
        aside: 5.5,
        bones: [43.0, 28.0, 21.0],
        radii: [10.0, 9.0, 8.2, 6.6],
    },
    Finger {
        name: "little",
        knuckle: [79.0, -2.0, 32.0],
        aside: 13.5,
        bones: [34.0, 21.0, 18.0],
        radii: [9.0, 8.0, 7.2, 5.8],
    },
];

/// How much the joints of a finger are bent at rest \[degrees\].
const DROOP: [f64; 3] = [6.0, 9.0, 7.0];

fn mm(p: [f64; 3]) -> DVec3 {
    MM * DVec3::from(p)
}

/// The axis that bends a finger towards the palm.
fn hinge(aside: f64) -> DVec3 {
    turn(DVec3::Y, -aside) * -DVec3::Z
}

/// Joints of a finger at rest: knuckle, middle joints, tip.
fn joints_of(finger: &Finger) -> [DVec3; 4] {
    let mut direction = turn(DVec3::Y, -finger.aside) * DVec3::X;
    let mut joints = [mm(finger.knuckle); 4];
    for n in 0..3 {
        direction = turn(hinge(finger.aside), DROOP[n]) * direction;
        joints[n + 1] = joints[n] + MM * finger.bones[n] * direction;
    }
    joints
}

/// Joints of the thumb at rest: base, knuckle, middle joint, tip. It stands 50° off the hand and faces the fingers.
fn thumb() -> [DVec3; 4] {
    let base = mm([20.0, -9.0, -21.0]);
    let knuckle = base + 0.046 * DVec3::new(0.66, -0.30, -0.69).normalize();
    let joint = knuckle + 0.034 * DVec3::new(0.86, -0.22, -0.46).normalize();
    [base, knuckle, joint, joint + 0.025 * DVec3::new(0.96, -0.16, -0.22).normalize()]
}

fn skeleton() -> (Skeleton, Vec<f64>) {
    let mut skeleton = Skeleton::default();
    let mut radius = Vec::new();
    let arm = skeleton.add("arm", None, [mm([-130.0, 0.0, 0.0]), DVec3::ZERO]);
    let wrist = skeleton.add("wrist", Some(arm), [DVec3::ZERO, mm([80.0, 0.0, 3.0])]);
    radius.extend([25.0 * MM, 30.0 * MM]);
    let mut chain = |name: &str, joints: [DVec3; 4], parts: [&str; 4], radii: [f64; 4]| {
        let mut parent = wrist;
        for n in 0..4 {
            let end = joints.get(n + 1).copied().unwrap_or(joints[3]);
            parent = skeleton.add(&format!("{name} {}", parts[n]), Some(parent), [joints[n], end]);
            radius.push(MM * radii[n]);
        }
    };
    chain("thumb", thumb(), ["base", "knuckle", "joint", "tip"], [14.0, 11.0, 9.0, 6.0]);
    for finger in &FINGERS {
        chain(finger.name, joints_of(finger), ["knuckle", "middle", "joint", "tip"], finger.radii);
    }
    (skeleton, radius)
}

/// Palm and fleshy mounds, which melt together softly.
fn palm() -> Vec<Piece> {
    let mut palm: Vec<Piece> = FINGERS
        .iter()
        .zip([[14.5, -2.0, -11.0], [13.0, 1.0, -2.0], [13.0, 1.0, 6.0], [14.0, -1.0, 13.0]])
        .map(|(finger, from)| {
            cone(mm(from), mm(finger.knuckle) - DVec3::new(4.0, 1.5, 0.0) * MM, [13.5 * MM, 10.6 * MM])
        })
        .collect();
    let [base, knuckle, ..] = thumb();
    // The thenar mound, at the root of the thumb, and its counterpart below the little finger.
    palm.push(turned(
        base.lerp(knuckle, 0.42) + mm([2.0, -3.0, 4.0]),
        [29.0 * MM, 14.0 * MM, 14.5 * MM],
        axes(knuckle - base, DVec3::Y),
    ));
    palm.push(turned(
        mm([38.0, -8.0, 25.0]),
        [33.0 * MM, 11.0 * MM, 11.5 * MM],
        axes(DVec3::new(1.0, 0.05, 0.2), DVec3::Y),
    ));
    // The web between thumb and index finger.
    palm.push(cone(mm([34.0, -4.0, -18.0]), mm([62.0, -3.0, -30.0]), [11.0 * MM, 7.0 * MM]));
    // Wrist and forearm: broad and flat, rounder and thicker towards the elbow.
    for side in [-1.0, 1.0] {
        palm.push(cone(mm([8.0, 0.0, 9.5 * side]), mm([-34.0, 0.0, 10.0 * side]), [16.5 * MM, 18.0 * MM]));
        palm.push(cone(mm([-34.0, 0.0, 10.0 * side]), mm([-170.0, -2.0, 12.0 * side]), [18.0 * MM, 27.0 * MM]));
    }
    palm
}

/// Fingers and thumb, each sharp towards its neighbours.
fn digits() -> Vec<Vec<Piece>> {
    let bones = |joints: [DVec3; 4], radii: [f64; 4]| -> Vec<Piece> {
        (0..3).map(|n| cone(joints[n], joints[n + 1], [MM * radii[n], MM * radii[n + 1]])).collect()
    };
    let mut digits: Vec<Vec<Piece>> = FINGERS.iter().map(|finger| bones(joints_of(finger), finger.radii)).collect();
    let joints = thumb();
    let mut thumb = bones(joints, [12.5, 10.4, 9.6, 7.2]);
    let last = joints[3] - joints[2];
    thumb.push(turned(
        joints[2] + 0.5 * last,
        [17.0 * MM, 8.6 * MM, 10.2 * MM],
        axes(last, DVec3::new(0.3, -0.5, -0.8)),
    ));
    digits.push(thumb);
    digits
}

/// The hand at a time \[s\].
fn stance(skeleton: &Skeleton, time: f64) -> Stance {
    let mut stance = skeleton.rest();
    let cup = curve(&[(0.0, 0.0), (0.45, 0.0), (1.0, 1.0), (1.8, 1.0), (2.55, 0.0), (LENGTH, 0.0)], time);
    let open = curve(&[(0.0, 0.3), (0.5, 0.0), (1.8, 0.0), (2.6, 1.0), (LENGTH, 1.0)], time);
    let mut set = |name: String, turn: DQuat| stance.turns[skeleton.find(&name)] = turn;
    // Bent together, the fingers make a bowl: each leans on its neighbour, the outer ones are bent more.
    let bends = [[31.0, 27.0, 16.0], [29.0, 27.0, 16.0], [29.0, 28.0, 17.0], [32.0, 28.0, 16.0]];
    for ((finger, bend), lean) in FINGERS.iter().zip(bends).zip([4.5, 1.2, -2.6, -7.0]) {
        let close = cup * (finger.aside - lean) - 0.35 * open * finger.aside;
        let axis = hinge(finger.aside);
        for (n, part) in ["knuckle", "middle", "joint"].iter().enumerate() {
            let bent = cup * bend[n] + (1.0 - cup) * (1.0 - open) * 3.0 - open * 0.6 * DROOP[n];
            let aside = if n == 0 { turn(DVec3::Y, close) } else { DQuat::IDENTITY };
            set(format!("{} {part}", finger.name), aside * turn(axis, bent));
        }
    }
    let thumb = [[15.0, 12.0], [9.0, 14.0], [0.0, 12.0]];
    for (part, [inwards, bend]) in ["base", "knuckle", "joint"].iter().zip(thumb) {
        let adducted = turn(DVec3::Y, -cup * inwards) * turn(DVec3::new(0.5, 0.3, -0.8), cup * bend);
        set(format!("thumb {part}"), adducted);
    }
    let wrist = curve(&[(0.0, -6.0), (0.7, 4.0), (1.1, 14.0), (1.8, 12.0), (2.6, -4.0), (LENGTH, -4.0)], time);
    set("wrist".into(), turn(-DVec3::Z, wrist));
    carry(&mut stance, time);
    stance
}

/// Where the arm holds the hand: dip 0–0.7 s, level out 1.0, lift to 1.7, tilt and pour 1.8–2.6.
fn carry(stance: &mut Stance, time: f64) {
    let x = curve(&[(0.0, -0.170), (0.35, -0.155), (0.7, -0.105), (1.0, -0.055), (1.7, -0.03), (LENGTH, -0.03)], time);
    let y = curve(&[(0.0, 0.150), (0.35, 0.055), (0.7, -0.052), (1.0, -0.072), (1.7, 0.110), (LENGTH, 0.115)], time);
    let down =
        curve(&[(0.0, 24.0), (0.35, 36.0), (0.7, 24.0), (1.0, 10.0), (1.7, 6.0), (2.6, 14.0), (LENGTH, 14.0)], time);
    let tilt = curve(&[(0.0, 0.0), (1.8, 0.0), (2.6, 95.0), (LENGTH, 95.0)], time);
    // Palm up, then tilted towards the little finger, then pointing down.
    let turned = turn(DVec3::Z, -down) * turn(DVec3::X, 180.0 + tilt);
    stance.turns[0] = turned;
    // The root is the far end of the arm; x and y say where the wrist is.
    stance.root = DVec3::new(x, y, 0.0) - turned * (0.130 * DVec3::X);
}

/// Makes the hand as a `.glb` file.
#[must_use]
pub fn hand() -> Vec<u8> {
    let (skeleton, radius) = skeleton();
    let (palm, digits) = (palm(), digits());
    let hollow = ball(mm([52.0, -27.0, 4.0]), [30.0 * MM, 14.0 * MM, 17.0 * MM]);
    let value = |p: DVec3| {
        let fingers = digits[..4].iter().map(|d| melted(d, 3.0 * MM, p)).fold(f64::MAX, f64::min);
        let hand = melt(melted(&palm, 10.0 * MM, p), fingers, 8.0 * MM);
        let hand = melt(hand, melted(&digits[4], 3.0 * MM, p), 9.0 * MM);
        // The palm's hollow.
        let hand = -melt(-hand, hollow.value(p), 8.0 * MM);
        // The arm ends flat.
        -melt(-hand, p.x + 0.125, 6.0 * MM)
    };
    let bounds = Aabb::new(mm([-130.0, -60.0, -90.0]), mm([200.0, 40.0, 80.0]));
    let mesh = surface(&bounds, SPACING, &value);
    let holds = hang(&mesh, &skeleton, &radius, 4);
    let times: Vec<f64> = (0..=(LENGTH * RATE) as usize).map(|n| n as f64 / RATE).collect();
    let stances: Vec<Stance> = times.iter().map(|&time| stance(&skeleton, time)).collect();
    let mut glb = Glb::default();
    glb.body("hand", &mesh, &skeleton, &holds);
    glb.stances(&times, &stances);
    glb.finish("scoop")
}
