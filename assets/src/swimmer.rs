//! A swimmer of 1.8 m doing the crawl, in place.
//!
//! At rest it lies prone along x, head at +x, face down, arms out along z (its right is +z). y = 0 is the still water.
//! One cycle holds a stroke of each arm, half a cycle apart, and six kicks; shoulders roll by 80° in all, hips by 50°,
//! and the head turns to breathe on the right. Lengths of the segments as parts of the height.

use glam::{DMat3, DQuat, DVec3};
use meniscus_geometry::Aabb;

use crate::flesh::{Piece, axes, ball, cone, melt, melted, turned};
use crate::glb::Glb;
use crate::keys::{cycle, turn, turn_of, wave};
use crate::skeleton::{Skeleton, Stance};
use crate::skin::{hang, surface};

/// Length of a cycle \[s\].
pub const STROKE: f64 = 1.4;
/// The phase at which the animation begins: right elbow high, head turned to breathe.
const FIRST: f64 = 0.74;
/// Keys of a cycle.
const KEYS: usize = 42;
/// Spacing of the grid that the surface is cut from \[m\].
const SPACING: f64 = 0.0122;

const UPPER_ARM: f64 = 0.186 * 1.8;
const FOREARM: f64 = 0.146 * 1.8;
const THIGH: f64 = 0.245 * 1.8;
const SHANK: f64 = 0.246 * 1.8;
const FOOT: f64 = 0.152 * 1.8;
const HAND: f64 = 0.108 * 1.8;

const PELVIS: DVec3 = DVec3::new(0.0, 0.0, 0.0);
const WAIST: DVec3 = DVec3::new(0.15, 0.0, 0.0);
const CHEST: DVec3 = DVec3::new(0.33, 0.01, 0.0);
const NECK: DVec3 = DVec3::new(0.555, 0.015, 0.0);
const HEAD: DVec3 = DVec3::new(0.635, 0.005, 0.0);

/// Joints of a limb on one side: `side` is +1 for the right.
fn shoulder(side: f64) -> DVec3 {
    DVec3::new(0.495, 0.01, 0.182 * side)
}

fn hip(side: f64) -> DVec3 {
    DVec3::new(-0.06, 0.0, 0.092 * side)
}

fn arm(side: f64) -> [DVec3; 4] {
    let out = side * DVec3::Z;
    let start = shoulder(side);
    let elbow = start + UPPER_ARM * out;
    let wrist = elbow + FOREARM * out;
    [start, elbow, wrist, wrist + HAND * out]
}

fn leg(side: f64) -> [DVec3; 4] {
    let back = DVec3::new(-1.0, 0.0, 0.012 * side).normalize();
    let start = hip(side);
    let knee = start + THIGH * back;
    let ankle = knee + SHANK * back;
    [start, knee, ankle, ankle + 0.72 * FOOT * DVec3::new(-0.95, -0.31, 0.0)]
}

fn skeleton() -> (Skeleton, Vec<f64>) {
    let mut skeleton = Skeleton::default();
    let mut radius = Vec::new();
    let pelvis = skeleton.add("pelvis", None, [PELVIS, WAIST]);
    let waist = skeleton.add("waist", Some(pelvis), [WAIST, CHEST]);
    let chest = skeleton.add("chest", Some(waist), [CHEST, NECK - 0.03 * DVec3::X]);
    let neck = skeleton.add("neck", Some(chest), [NECK, HEAD]);
    skeleton.add("head", Some(neck), [HEAD, HEAD + 0.10 * DVec3::X]);
    radius.extend([0.13, 0.13, 0.14, 0.055, 0.09]);
    for (name, side) in [("right", 1.0), ("left", -1.0)] {
        let mut parent = chest;
        for (n, part) in ["shoulder", "elbow", "wrist"].iter().enumerate() {
            let joints = arm(side);
            parent = skeleton.add(&format!("{name} {part}"), Some(parent), [joints[n], joints[n + 1]]);
            radius.push([0.052, 0.04, 0.035][n]);
        }
        let mut parent = pelvis;
        for (n, part) in ["hip", "knee", "ankle"].iter().enumerate() {
            let joints = leg(side);
            parent = skeleton.add(&format!("{name} {part}"), Some(parent), [joints[n], joints[n + 1]]);
            radius.push([0.08, 0.05, 0.035][n]);
        }
    }
    (skeleton, radius)
}

/// Chest, belly and hips.
fn trunk() -> Vec<Piece> {
    let mut trunk = vec![
        ball(DVec3::new(0.40, 0.01, 0.0), [0.17, 0.112, 0.160]),
        ball(DVec3::new(0.18, 0.0, 0.0), [0.20, 0.092, 0.132]),
        ball(DVec3::new(-0.01, 0.0, 0.0), [0.12, 0.098, 0.158]),
        cone(DVec3::new(0.50, 0.015, 0.0), DVec3::new(0.62, 0.01, 0.0), [0.068, 0.054]),
    ];
    for side in [-1.0, 1.0] {
        let [start, ..] = arm(side);
        // Collar and shoulder blade, chest muscle, flank, buttock.
        trunk.push(cone(DVec3::new(0.515, 0.03, 0.05 * side), start + DVec3::new(0.0, 0.01, 0.0), [0.066, 0.060]));
        trunk.push(turned(DVec3::new(0.405, -0.062, 0.078 * side), [0.085, 0.045, 0.085], DMat3::IDENTITY));
        trunk.push(cone(DVec3::new(0.43, 0.01, 0.135 * side), DVec3::new(0.22, 0.005, 0.088 * side), [0.062, 0.055]));
        trunk.push(ball(DVec3::new(-0.055, 0.048, 0.072 * side), [0.098, 0.068, 0.080]));
    }
    trunk
}

/// Head with cap, face, nose and chin. It looks down, −y.
fn head() -> Vec<Piece> {
    vec![
        ball(DVec3::new(0.700, 0.022, 0.0), [0.098, 0.092, 0.077]),
        ball(DVec3::new(0.655, -0.030, 0.0), [0.078, 0.072, 0.061]),
        cone(DVec3::new(0.690, -0.088, 0.0), DVec3::new(0.662, -0.112, 0.0), [0.012, 0.016]),
        ball(DVec3::new(0.595, -0.062, 0.0), [0.030, 0.030, 0.036]),
        ball(DVec3::new(0.715, -0.060, 0.0), [0.020, 0.026, 0.052]),
        ball(DVec3::new(0.668, 0.0, 0.078), [0.026, 0.016, 0.012]),
        ball(DVec3::new(0.668, 0.0, -0.078), [0.026, 0.016, 0.012]),
    ]
}

/// Arms and legs.
fn limbs() -> [Vec<Vec<Piece>>; 2] {
    let (mut arms, mut legs) = (Vec::new(), Vec::new());
    for side in [-1.0, 1.0] {
        let [start, elbow, wrist, tip] = arm(side);
        let palm = wrist.lerp(tip, 0.5);
        arms.push(vec![
            ball(start + DVec3::new(0.0, 0.005, 0.030 * side), [0.062, 0.060, 0.078]),
            cone(start, elbow, [0.054, 0.041]),
            turned(start.lerp(elbow, 0.5) + DVec3::new(0.0, -0.010, 0.0), [0.048, 0.046, 0.11], DMat3::IDENTITY),
            cone(elbow, wrist, [0.041, 0.027]),
            ball(elbow.lerp(wrist, 0.28), [0.044, 0.040, 0.085]),
            ball(palm, [0.047, 0.0175, 0.105]),
            cone(
                wrist.lerp(tip, 0.22) + 0.022 * DVec3::X,
                wrist.lerp(tip, 0.52) + DVec3::new(0.066, -0.004, 0.0),
                [0.018, 0.0125],
            ),
        ]);
        let [start, knee, ankle, toes] = leg(side);
        legs.push(vec![
            cone(start, knee, [0.084, 0.054]),
            ball(start.lerp(knee, 0.35) + DVec3::new(0.0, -0.012, 0.0), [0.17, 0.082, 0.080]),
            cone(knee, ankle, [0.052, 0.035]),
            ball(knee.lerp(ankle, 0.28) + DVec3::new(0.0, 0.020, 0.0), [0.125, 0.050, 0.052]),
            cone(ankle + DVec3::new(0.004, 0.026, 0.0), ankle, [0.026, 0.033]),
            cone(ankle, ankle.lerp(toes, 0.45), [0.033, 0.028]),
            turned(ankle.lerp(toes, 0.58), [0.105, 0.023, 0.043], axes(toes - ankle, DVec3::Z)),
        ]);
    }
    [arms, legs]
}

/// Where the wrist is relative to the shoulder, in the chest's axes: x forwards, y backs, z outwards; and where the
/// elbow points. Reach, catch, pull, push, exit, high-elbow recovery.
fn stroke(phase: f64) -> (DVec3, DVec3) {
    let at = |keys: &[(f64, f64)]| cycle(keys, phase);
    let wrist = DVec3::new(
        at(&[
            (0.0, 0.53),
            (0.10, 0.575),
            (0.22, 0.52),
            (0.34, 0.33),
            (0.44, -0.02),
            (0.53, -0.36),
            (0.60, -0.45),
            (0.70, -0.27),
            (0.80, 0.08),
            (0.90, 0.38),
        ]),
        at(&[
            (0.0, -0.03),
            (0.10, -0.08),
            (0.22, -0.20),
            (0.34, -0.37),
            (0.44, -0.43),
            (0.53, -0.28),
            (0.60, -0.05),
            (0.70, 0.07),
            (0.80, 0.10),
            (0.90, 0.06),
        ]),
        at(&[
            (0.0, 0.0),
            (0.10, 0.02),
            (0.22, 0.06),
            (0.34, 0.05),
            (0.44, -0.04),
            (0.53, 0.04),
            (0.60, 0.12),
            (0.70, 0.27),
            (0.80, 0.27),
            (0.90, 0.13),
        ]),
    );
    let elbow = DVec3::new(
        at(&[(0.0, 0.1), (0.34, 0.55), (0.53, 0.1), (0.60, -0.2), (0.72, 0.0), (0.85, 0.15)]),
        at(&[(0.0, 0.7), (0.34, 0.35), (0.53, 0.35), (0.60, 0.8), (0.72, 1.0), (0.85, 1.0)]),
        at(&[(0.0, 0.5), (0.34, 0.75), (0.53, 0.8), (0.60, 0.6), (0.72, 0.35), (0.85, 0.35)]),
    );
    (wrist, elbow)
}

/// Turns of shoulder, elbow and hand that bring the wrist to a position, the elbow pointing as wished.
fn reach(side: f64, wrist: DVec3, elbow: DVec3) -> [DQuat; 3] {
    let mirrored = |v: DVec3| DVec3::new(v.x, v.y, v.z * side);
    let (target, pole) = (mirrored(wrist), mirrored(elbow));
    let far = target.length().min(0.995 * (UPPER_ARM + FOREARM));
    let ahead = target.normalize();
    let up = (pole - ahead * pole.dot(ahead)).normalize();
    // The law of cosines: how far along and how far aside the elbow is.
    let along = (far * far + UPPER_ARM * UPPER_ARM - FOREARM * FOREARM) / (2.0 * far);
    let aside = (UPPER_ARM * UPPER_ARM - along * along).max(0.0).sqrt();
    let joint = along * ahead + aside * up;
    let upper = joint.normalize();
    let fore = (far * ahead - joint).normalize();
    // Each part has its length along z at rest, and the elbow up.
    let normal = upper.cross(up).normalize();
    let frame = |direction: DVec3| DMat3::from_cols(normal, normal.cross(direction), direction);
    let rest = |direction: DVec3| {
        let n = direction.cross(DVec3::Y);
        DMat3::from_cols(n, n.cross(direction), direction)
    };
    let home = rest(side * DVec3::Z).transpose();
    let shoulder = turn_of(frame(upper) * home);
    let forearm = turn_of(frame(fore) * home);
    [shoulder, shoulder.inverse() * forearm, DQuat::IDENTITY]
}

/// The swimmer at a phase of the cycle of the right arm, from 0 to 1.
fn stance(skeleton: &Skeleton, phase: f64) -> Stance {
    let mut stance = skeleton.rest();
    // The right side is up in the middle of the right arm's recovery. About −x, so that up is positive.
    let [shoulders, hips] = [40.0, 25.0].map(|most| most * wave(phase - 0.76));
    let mut set = |name: &str, turn: DQuat| stance.turns[skeleton.find(name)] = turn;
    let roll = |degrees: f64| turn(-DVec3::X, degrees);
    let breath = cycle(&[(0.0, 0.0), (0.50, 0.0), (0.62, 0.75), (0.70, 1.0), (0.80, 0.7), (0.92, 0.0)], phase);
    set("pelvis", turn(DVec3::Z, 2.0) * roll(hips));
    set("waist", roll(0.5 * (shoulders - hips)));
    set("chest", roll(0.5 * (shoulders - hips)) * turn(DVec3::Z, 3.0));
    // The head keeps looking down while the body rolls, and turns to the right to breathe.
    let look = 82.0 * breath - shoulders;
    set("neck", roll(0.4 * look) * turn(DVec3::Z, 6.0));
    set("head", roll(0.6 * look) * turn(DVec3::Z, 8.0));
    for (name, side, ahead) in [("right", 1.0, 0.0), ("left", -1.0, 0.5)] {
        let (wrist, elbow) = stroke(phase + ahead);
        let [shoulder, bent, hand] = reach(side, wrist, elbow);
        set(&format!("{name} shoulder"), shoulder);
        set(&format!("{name} elbow"), bent);
        set(&format!("{name} wrist"), hand);
        // Three kicks of each leg, the knee and the foot a little later.
        let kick = |late: f64| wave(3.0 * phase + ahead - late);
        set(&format!("{name} hip"), turn(DVec3::Z, 2.0 + 8.5 * kick(0.0)));
        set(&format!("{name} knee"), turn(-DVec3::Z, 12.0 + 11.0 * kick(0.32)));
        set(&format!("{name} ankle"), turn(-DVec3::Z, 6.0 + 9.0 * kick(0.45)));
    }
    stance.root = DVec3::new(0.0, -0.085 + 0.012 * wave(2.0 * phase - 0.4), 0.0);
    stance
}

/// Makes the swimmer as a `.glb` file.
#[must_use]
pub fn swimmer() -> Vec<u8> {
    let (skeleton, radius) = skeleton();
    let (trunk, head, [arms, legs]) = (trunk(), head(), limbs());
    let value = |p: DVec3| {
        let nearest = |limbs: &[Vec<Piece>]| limbs.iter().map(|limb| melted(limb, 0.018, p)).fold(f64::MAX, f64::min);
        let body = melt(melted(&trunk, 0.045, p), melted(&head, 0.02, p), 0.03);
        melt(melt(body, nearest(&arms), 0.045), nearest(&legs), 0.045)
    };
    let bounds = Aabb::new(DVec3::new(-1.27, -0.16, -1.02), DVec3::new(0.83, 0.16, 1.02));
    let mesh = surface(&bounds, SPACING, &value);
    let holds = hang(&mesh, &skeleton, &radius, 4);
    let times: Vec<f64> = (0..=KEYS).map(|n| STROKE * n as f64 / KEYS as f64).collect();
    let stances: Vec<Stance> = (0..=KEYS).map(|n| stance(&skeleton, FIRST + (n % KEYS) as f64 / KEYS as f64)).collect();
    let mut glb = Glb::default();
    glb.body("swimmer", &mesh, &skeleton, &holds);
    glb.stances(&times, &stances);
    glb.finish("crawl")
}
