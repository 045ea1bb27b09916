//! The left heart as a thin wall with liquid on both sides: ventricle, atrium, aorta, pulmonary veins and the leaflets
//! of the mitral and the aortic valve, each a mesh of its own.
//!
//! y points from the apex to the base, x to the aorta's side, z to the front. The wall is the surface of chambers and
//! vessels melted together, cut open at the vessels' ends. It moves by four shapes, scaled over time:
//!
//! 1. the base descends towards the apex, 2. the ventricle narrows, 3. the atrium contracts, 4. the aorta widens.
//!
//! The first follows the volume that is to be ejected; the second is *solved*, key by key, so that the volume between
//! the two rings is V(t): 120 ml to 49 ml, constant while both valves are shut.

use glam::DVec3;
use meniscus_geometry::Aabb;

use crate::flesh::{Piece, ball, cone, melt, melted, turned};
use crate::glb::{Glb, Morphs};
use crate::keys::{curve, ease};
use crate::skin::surface;
use crate::valves::{Ring, Valve};
use crate::wall::{SHAPES, Wall, split};

/// Length of a beat \[s\].
pub const BEAT: f64 = 0.8;
/// Volume of the ventricle before and after it ejects \[m³\].
pub const END_DIASTOLIC: f64 = 120e-6;
/// See [`END_DIASTOLIC`] \[m³\].
pub const END_SYSTOLIC: f64 = 49e-6;
/// Stroke volume \[m³\]: 59 % of what was there.
pub const EJECTED: f64 = END_DIASTOLIC - END_SYSTOLIC;
/// When both valves are shut \[s\]: while the ventricle tightens, and while it relaxes.
pub const SHUT: [[f64; 2]; 2] = [[0.10, 0.15], [0.43, 0.50]];

const SPACING: f64 = 2.7e-3;
/// Vertices closer to a cut are put on it, so that no thin triangles arise \[m\].
const NEAR: f64 = 0.15 * SPACING;
const MM: f64 = 1e-3;
/// Keys of a beat.
const KEYS: usize = 80;
/// How far the base comes down \[m\].
const DESCENT: f64 = 0.013;
/// Openings at which the shape of a leaflet is given; linear between.
const OPENINGS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

fn mm(x: f64, y: f64, z: f64) -> DVec3 {
    MM * DVec3::new(x, y, z)
}

fn mitral() -> Valve {
    let normal = DVec3::new(0.34, -0.92, 0.16).normalize();
    let start = normal.cross(DVec3::new(0.1, 0.0, 1.0)).normalize();
    let ring = Ring { center: mm(-12.5, -7.0, -3.0), normal, radius: 16.2 * MM, start };
    Valve { ring, leaflets: 2, leans: [16.0, 76.0], overlap: 2.0 * MM }
}

fn aortic() -> Valve {
    let normal = DVec3::new(0.42, 0.88, 0.22).normalize();
    let start = normal.cross(DVec3::new(0.0, 0.1, 1.0)).normalize();
    let ring = Ring { center: mm(15.0, -2.5, 4.5), normal, radius: 12.5 * MM, start };
    Valve { ring, leaflets: 3, leans: [14.0, 80.0], overlap: 2.0 * MM }
}

/// The end of a vessel: everything of that vessel beyond is cut off.
struct End {
    center: DVec3,
    outwards: DVec3,
    reach: f64,
}

/// Chambers and vessels, not yet melted.
struct Chambers {
    ventricle: Vec<Piece>,
    atrium: Vec<Piece>,
    veins: Vec<Piece>,
    aorta: Vec<Piece>,
    ends: Vec<End>,
}

/// The way of the aorta: up from its ring, round the arch to the back and left. Centres and radii \[mm\].
const AORTA: [[f64; 4]; 11] = [
    [9.0, -15.0, 1.5, 12.5],
    [15.0, -2.5, 4.5, 11.8],
    [20.0, 9.0, 7.0, 14.2],
    [23.5, 19.0, 8.5, 12.6],
    [25.5, 30.0, 9.0, 12.6],
    [26.0, 41.0, 8.0, 12.6],
    [23.5, 51.5, 5.0, 12.4],
    [16.5, 60.0, 0.0, 12.0],
    [6.0, 64.5, -7.0, 11.6],
    [-5.5, 64.0, -14.5, 11.2],
    [-13.5, 59.5, -20.5, 10.8],
];

impl Chambers {
    fn new() -> Self {
        let mut ends = Vec::new();
        let mut veins = Vec::new();
        // Two veins from each lung, into the back of the atrium: from and to \[mm\].
        for (from, to) in [
            ([-38.0, 34.0, -16.0], [-70.0, 45.0, -24.0]),
            ([-38.0, 20.0, -18.0], [-70.0, 13.0, -28.0]),
            ([-6.0, 33.0, -24.0], [22.0, 40.0, -46.0]),
            ([-8.0, 18.0, -24.0], [20.0, 9.0, -46.0]),
        ] {
            let [a, b] = [from, to].map(|[x, y, z]| mm(x, y, z));
            let outwards = (b - a).normalize();
            veins.push(cone(a - 8.0 * MM * outwards, b, [8.4 * MM, 6.8 * MM]));
            ends.push(End { center: b, outwards, reach: 11.0 * MM });
        }
        let mut aorta: Vec<Piece> = Vec::new();
        for pair in AORTA.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            aorta.push(cone(mm(a[0], a[1], a[2]), mm(b[0], b[1], b[2]), [a[3] * MM, b[3] * MM]));
        }
        let [.., before, last] = AORTA;
        let (before, tip) = (mm(before[0], before[1], before[2]), mm(last[0], last[1], last[2]));
        let outwards = (tip - before).normalize();
        ends.push(End { center: tip, outwards, reach: 16.0 * MM });
        // The three sinuses bulge above the ring, and three arteries leave the arch, tied off.
        let ring = aortic().ring;
        for n in 0..3 {
            let (sin, cos) = libm::sincos(std::f64::consts::TAU * f64::from(n) / 3.0);
            let out = cos * ring.start + sin * ring.normal.cross(ring.start);
            aorta.push(ball(ring.center + 9.5 * MM * ring.normal + 6.5 * MM * out, [9.8 * MM; 3]));
        }
        for (foot, top) in [
            ([17.0, 63.0, 1.0], [20.0, 86.0, 3.0]),
            ([6.0, 69.0, -6.0], [6.0, 89.0, -5.0]),
            ([-5.0, 69.0, -13.0], [-8.5, 87.0, -14.0]),
        ] {
            let [a, b] = [foot, top].map(|[x, y, z]: [f64; 3]| mm(x, y, z));
            aorta.push(cone(a, b, [5.4 * MM, 4.9 * MM]));
        }
        Self {
            ventricle: vec![
                turned(mm(0.0, -46.0, 0.0), [27.5 * MM, 44.0 * MM, 27.0 * MM], glam::DMat3::IDENTITY),
                ball(mm(-1.0, -24.0, 0.0), [27.0 * MM, 20.0 * MM, 25.0 * MM]),
            ],
            atrium: vec![
                cone(mm(-9.0, -14.0, -1.5), mm(-16.5, 6.0, -5.0), [15.2 * MM, 16.0 * MM]),
                ball(mm(-22.0, 26.0, -11.0), [27.0 * MM, 18.5 * MM, 20.0 * MM]),
                // The auricle, in front.
                cone(mm(-35.0, 22.0, 0.0), mm(-37.0, 14.0, 9.0), [11.0 * MM, 8.0 * MM]),
            ],
            veins,
            aorta,
            ends,
        }
    }

    fn left(&self, p: DVec3) -> f64 {
        melt(melted(&self.atrium, 8.0 * MM, p), melted(&self.veins, 1.0 * MM, p), 6.0 * MM)
    }

    fn right(&self, p: DVec3) -> f64 {
        // Along the way no melting, which would thicken it at every bend.
        let (way, more) = self.aorta.split_at(AORTA.len() - 1);
        let way = way.iter().map(|piece| piece.value(p)).fold(f64::MAX, f64::min);
        melt(way, melted(more, 2.0 * MM, p), 5.0 * MM)
    }

    fn value(&self, p: DVec3) -> f64 {
        let vessels = melt(self.left(p), melted(&self.ventricle, 5.0 * MM, p), 5.0 * MM);
        // The aorta melts with the ventricle, but only touches the atrium.
        let ventricle = melted(&self.ventricle, 5.0 * MM, p);
        melt(vessels, self.right(p), if ventricle < 8.0 * MM { 4.0 * MM } else { 1.5 * MM })
    }

    /// Negative in the ventricle, positive beyond its rings.
    fn beyond(&self, p: DVec3) -> f64 {
        if self.left(p) < self.right(p) { -mitral().ring.height(p) } else { aortic().ring.height(p) }
    }

    /// Positive beyond the ends of the vessels.
    fn outside(&self, p: DVec3) -> f64 {
        let of = |end: &End| {
            let near = p.distance(end.center) < end.reach;
            if near { (p - end.center).dot(end.outwards) } else { -1.0 }
        };
        self.ends.iter().map(of).fold(-1.0, f64::max)
    }
}

/// The four shapes that move the wall \[m\], as displacements of a point at rest (end of filling).
fn shapes(p: DVec3) -> [DVec3; SHAPES] {
    // Apex −90 mm, rings about −5 mm, top of the atrium 50 mm.
    let height = p.y / MM;
    let descends = if height < -5.0 {
        ease(height, [-88.0, -5.0]).sqrt().min(1.0) * ((height + 88.0) / 83.0).clamp(0.0, 1.0).sqrt()
    } else {
        1.0 - ease(height, [2.0, 42.0])
    };
    let narrows = 1.0 - ease(height, [-34.0, -8.0]);
    let axis = DVec3::new(0.0, p.y, 0.0);
    let middle = mm(-22.0, 26.0, -11.0);
    let atrium = ease(height, [2.0, 18.0]) * (1.0 - ease(p.distance(middle) / MM, [30.0, 46.0]));
    let in_aorta = ease(height, [6.0, 16.0]) * (1.0 - ease(-p.x + 0.4 * height * MM, [0.02, 0.035]));
    let way = AORTA.windows(2).map(|pair| {
        let ends = [mm(pair[0][0], pair[0][1], pair[0][2]), mm(pair[1][0], pair[1][1], pair[1][2])];
        ends[0].lerp(ends[1], crate::flesh::along(p, ends))
    });
    let closest = way.fold(DVec3::MAX, |best, next| if next.distance(p) < best.distance(p) { next } else { best });
    let aorta = if closest.distance(p) < 20.0 * MM { in_aorta } else { 0.0 };
    [-DESCENT * descends * DVec3::Y, narrows * (axis - p), atrium * (middle - p), aorta * (p - closest)]
}

/// Volume that the ventricle should have at a time of the beat \[m³\].
fn volume(time: f64) -> f64 {
    const ML: f64 = 1e-6;
    let before_kick = 98.0 * ML;
    match time {
        t if t < SHUT[0][0] => before_kick + (END_DIASTOLIC - before_kick) * ease(t, [0.0, SHUT[0][0]]),
        t if t < SHUT[0][1] => END_DIASTOLIC,
        t if t < SHUT[1][0] => {
            END_DIASTOLIC - EJECTED * curve(&[(0.15, 0.0), (0.25, 0.52), (0.35, 0.88), (0.43, 1.0)], t)
        }
        t if t < SHUT[1][1] => END_SYSTOLIC,
        t => curve(&[(0.50, END_SYSTOLIC), (0.58, 80.0 * ML), (0.66, 94.0 * ML), (0.80, before_kick)], t),
    }
}

/// Weights of the shapes at a time, the second still to be solved.
fn weights(time: f64) -> [f64; SHAPES] {
    let filling = (END_DIASTOLIC - volume(time)) / EJECTED;
    let atrium = 0.20
        * (curve(&[(0.0, 0.0), (0.08, 1.0), (0.2, 0.6), (0.43, 0.0)], time)
            + curve(&[(0.5, 0.0), (0.62, 0.35), (0.8, 0.0)], time));
    let aorta = 0.07 * curve(&[(0.15, 0.0), (0.28, 1.0), (0.55, 0.35), (0.8, 0.0)], time);
    // While it tightens the base moves a little before anything leaves.
    let tighten = 0.05 * curve(&[(0.10, 0.0), (0.15, 1.0), (0.30, 0.0)], time)
        - 0.06 * curve(&[(0.43, 0.0), (0.50, 1.0), (0.62, 0.0)], time);
    [filling + tighten, 0.0, atrium, aorta]
}

/// How far the mitral and the aortic valve are open, from 0 to 1.
fn opening(time: f64) -> [f64; 2] {
    let mitral = curve(
        &[(0.0, 0.75), (0.04, 1.0), (0.075, 0.7), (0.10, 0.0), (0.50, 0.0), (0.545, 1.0), (0.66, 0.65), (0.8, 0.75)],
        time,
    );
    let aortic = curve(&[(0.15, 0.0), (0.185, 1.0), (0.36, 0.85), (0.43, 0.0)], time);
    [mitral, aortic].map(|open| open.clamp(0.0, 1.0))
}

/// Makes the left heart as a `.glb` file.
#[must_use]
pub fn heart() -> Vec<u8> {
    let chambers = Chambers::new();
    let bounds = Aabb::new(mm(-90.0, -96.0, -64.0), mm(48.0, 100.0, 36.0));
    let mesh = surface(&bounds, SPACING, &|p| chambers.value(p));
    let mut vertices = mesh.vertices().to_vec();
    let [kept, _] = split(&mut vertices, mesh.triangles(), (&|p| chambers.outside(p), NEAR));
    let [ventricle, rest] = split(&mut vertices, &kept, (&|p| chambers.beyond(p), NEAR));
    let middle = |t: &[u32; 3]| t.iter().map(|&v| vertices[v as usize]).sum::<DVec3>() / 3.0;
    let (left, aorta): (Vec<_>, Vec<_>) =
        rest.iter().partition(|t| chambers.left(middle(t)) < chambers.right(middle(t)));
    let in_vein = |t: &[u32; 3]| melted(&chambers.veins, MM, middle(t)) < melted(&chambers.atrium, MM, middle(t));
    let (veins, atrium): (Vec<_>, Vec<_>) = left.into_iter().partition(in_vein);

    let mut glb = Glb::default();
    let times: Vec<f64> = (0..=KEYS).map(|n| BEAT * n as f64 / KEYS as f64).collect();
    let input = glb.floats("SCALAR", 1, &times);
    let ventricle = Wall::new(&vertices, &ventricle, &shapes);
    let solved: Vec<[f64; SHAPES]> = (0..=KEYS)
        .map(|n| {
            let time = times[n % KEYS];
            let mut of_time = weights(time);
            of_time[1] = ventricle.narrowing(of_time, volume(time));
            of_time
        })
        .collect();
    let parts = [("atrium", atrium), ("aorta", aorta), ("pulmonary veins", veins)];
    let others = parts.iter().map(|(name, triangles)| (*name, Wall::new(&vertices, triangles, &shapes)));
    for (name, wall) in std::iter::once(("ventricle", ventricle)).chain(others) {
        add_wall(&mut glb, name, &wall, &solved, input);
    }
    for (name, valve, which) in [("mitral valve", mitral(), 0), ("aortic valve", aortic(), 1)] {
        let open: Vec<f64> = (0..=KEYS).map(|n| opening(times[n % KEYS])[which]).collect();
        add_valve(&mut glb, name, &valve, (&solved, &open), input);
    }
    glb.finish("beat")
}

/// A part of the wall, with those shapes only that move it.
fn add_wall(glb: &mut Glb, name: &str, wall: &Wall, weights: &[[f64; SHAPES]], input: usize) {
    let moving: Vec<usize> = (0..SHAPES).filter(|&k| wall.shapes[k].iter().any(|d| *d != DVec3::ZERO)).collect();
    let targets = moving.iter().map(|&k| wall.shapes[k].clone()).collect();
    let weights = weights.iter().map(|of_time| moving.iter().map(|&k| of_time[k]).collect()).collect();
    glb.shape(name, &wall.vertices, &wall.triangles, &Morphs { targets, weights }, input);
}

/// Leaflets: shut at rest, each line carried along by the wall that it hangs on, opened through shapes that are blended
/// two by two.
fn add_valve(glb: &mut Glb, name: &str, valve: &Valve, (solved, open): (&[[f64; SHAPES]], &[f64]), input: usize) {
    let shut = valve.vertices(0.0);
    let carried = [0, 1].map(|k| Valve::rims(&shut).map(|rim| shapes(rim)[k]).collect());
    let opened = OPENINGS[1..].iter().map(|&o| valve.vertices(o).iter().zip(&shut).map(|(b, a)| *b - *a).collect());
    let targets = carried.into_iter().chain(opened).collect();
    let blend = |o: f64, n: usize| (1.0 - (o - OPENINGS[n]).abs() * (OPENINGS.len() - 1) as f64).max(0.0);
    let opening = |o: f64| (1..OPENINGS.len()).map(move |n| blend(o, n));
    let weights = solved.iter().zip(open).map(|(of_time, &o)| of_time[..2].iter().copied().chain(opening(o)).collect());
    glb.shape(name, &shut, &valve.triangles(), &Morphs { targets, weights: weights.collect() }, input);
}
