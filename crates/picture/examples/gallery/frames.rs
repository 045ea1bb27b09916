//! Synthetic frames to look at and to measure.

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Particles, Surface, Wire};

fn body(name: &str, kind: BodyKind, color: [f32; 3]) -> BodyInfo {
    BodyInfo { name: name.into(), kind, color }
}

/// A column of liquid collapsing in a tank, at a time after the gate opened \[s\].
pub(crate) fn dam_break(count: usize, time: f32) -> Frame {
    let (tank, depth) = (Vec3::new(1.6, 0.8, 0.5), 0.5);
    // A column 0.6 m high that has spread: the height falls from the wall to the front, where a tongue runs.
    let front = (0.55 + 1.9 * time).min(1.55);
    let height = |x: f32| {
        let s = (x / front).clamp(0.0, 1.0);
        (0.62 - 0.35 * time) * (1.0 - s * s).max(0.0).powf(0.8) + 0.035 * (1.0 - s * s * s)
    };
    let volume: f32 = (0..400).map(|i| height(front * (i as f32 + 0.5) / 400.0)).sum::<f32>() * front / 400.0 * depth;
    let spacing = (volume / count as f32).cbrt();
    let mut particles = Particles { spacing, ..Particles::default() };
    let mut random = Random(7);
    let (columns, layers, rows) = ((front / spacing) as i32, (0.8 / spacing) as i32, (depth / spacing) as i32);
    for i in 0..columns {
        for j in 0..layers {
            for k in 0..rows {
                let jitter = Vec3::new(random.next(), random.next(), random.next()) - 0.5;
                let p = (Vec3::new(i as f32, j as f32, k as f32) + 0.5 + jitter * 0.35) * spacing;
                let ripple = 0.012 * (23.0 * p.z + 31.0 * p.x).sin();
                if p.y < height(p.x) + ripple && p.y > 0.0 {
                    let s = (p.x / front).clamp(0.0, 1.0);
                    let velocity = Vec3::new(2.2 * s, -0.8 * (1.0 - s) * p.y / 0.5, 0.0) + jitter * 0.12;
                    add(&mut particles, p, velocity);
                }
            }
        }
    }
    for _ in 0..90 {
        let p = Vec3::new(front - 0.15 * random.next(), 0.02 + 0.16 * random.next(), depth * random.next());
        add(&mut particles, p, Vec3::new(2.4, 0.8, 0.0));
    }
    Frame {
        time: f64::from(time),
        bodies: vec![
            body("water", BodyKind::Liquid, [0.2, 0.45, 0.8]),
            body("tank", BodyKind::Wall, [0.25, 0.30, 0.36]),
        ],
        particles,
        wires: vec![Wire { body: 1, segments: box_edges(Vec3::ZERO, tank) }],
        ..Frame::default()
    }
}

fn add(particles: &mut Particles, position: Vec3, velocity: Vec3) {
    particles.ids.push(particles.ids.len() as u32);
    particles.bodies.push(0);
    particles.positions.push(position);
    particles.velocities.push(velocity);
    particles.densities.push(1000.0 + 4.0 * velocity.y);
    particles.pressures.push(9810.0 * (0.5 - position.y).max(0.0));
}

fn box_edges(min: Vec3, max: Vec3) -> Vec<[Vec3; 2]> {
    let corner = |i: usize| {
        let pick = |bit: usize, a: f32, b: f32| if i >> bit & 1 == 0 { a } else { b };
        Vec3::new(pick(0, min.x, max.x), pick(1, min.y, max.y), pick(2, min.z, max.z))
    };
    (0..8)
        .flat_map(|i| [1, 2, 4].map(|bit| (i, i | bit)))
        .filter(|(i, j)| i != j)
        .map(|(i, j)| [corner(i), corner(j)])
        .collect()
}

/// A torus knot, a ball and a box on the ground, with a glass tank that holds a few particles.
pub(crate) fn solids() -> Frame {
    let bodies = vec![
        body("knot", BodyKind::Liquid, [0.85, 0.35, 0.20]),
        body("ball", BodyKind::Wall, [0.25, 0.55, 0.80]),
        body("box", BodyKind::Wall, [0.90, 0.72, 0.30]),
        body("tank", BodyKind::Wall, [0.45, 0.60, 0.70]),
    ];
    let ball = sphere_mesh(1, Vec3::new(1.15, 0.3, 0.25), 0.3);
    let cube = box_mesh(2, Vec3::new(-1.35, 0.0, -0.35), Vec3::new(-0.8, 0.55, 0.2), false);
    let tank = box_mesh(3, Vec3::new(0.3, 0.0, 0.75), Vec3::new(0.8, 0.4, 1.25), true);
    let mut particles = Particles { spacing: 0.05, ..Particles::default() };
    for i in 0..8 * 8 * 3 {
        let p = Vec3::new((i % 8) as f32, (i / 64) as f32, (i / 8 % 8) as f32);
        add(&mut particles, Vec3::new(0.35, 0.03, 0.80) + p * 0.055, Vec3::new(0.0, i as f32 * 0.005, 0.0));
    }
    Frame { bodies, particles, surfaces: vec![knot(0), ball, cube, tank], ..Frame::default() }
}

fn knot(body: u16) -> Surface {
    let (around, across) = (240u32, 20u32);
    let curve = |t: f32| {
        let r = 0.42 + 0.17 * (3.0 * t).cos();
        Vec3::new(r * (2.0 * t).cos(), 0.45 + 0.2 * (3.0 * t).sin(), r * (2.0 * t).sin())
    };
    let mut surface = Surface { body, ..Surface::default() };
    for i in 0..around {
        let t = i as f32 / around as f32 * std::f32::consts::TAU;
        let tangent = (curve(t + 1e-3) - curve(t - 1e-3)).normalize();
        let (u, v) = (tangent.cross(Vec3::Y).normalize(), tangent.cross(tangent.cross(Vec3::Y)).normalize());
        for j in 0..across {
            let angle = j as f32 / across as f32 * std::f32::consts::TAU;
            surface.positions.push(curve(t) + (u * angle.cos() + v * angle.sin()) * 0.1);
            surface.velocities.push(Vec3::X * (1.0 + (3.0 * t).sin()));
            let (i2, j2) = ((i + 1) % around, (j + 1) % across);
            let at = |i: u32, j: u32| i * across + j;
            surface.triangles.extend([[at(i, j), at(i2, j2), at(i2, j)], [at(i, j), at(i, j2), at(i2, j2)]]);
        }
    }
    surface
}

fn sphere_mesh(body: u16, center: Vec3, radius: f32) -> Surface {
    let (rings, sectors) = (24u32, 48u32);
    let mut surface = Surface { body, ..Surface::default() };
    for i in 0..=rings {
        for j in 0..sectors {
            let (a, b) =
                (i as f32 / rings as f32 * std::f32::consts::PI, j as f32 / sectors as f32 * std::f32::consts::TAU);
            surface.positions.push(center + Vec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin()) * radius);
            if i < rings {
                let at = |i: u32, j: u32| i * sectors + j % sectors;
                surface
                    .triangles
                    .extend([[at(i, j), at(i, j + 1), at(i + 1, j + 1)], [at(i, j), at(i + 1, j + 1), at(i + 1, j)]]);
            }
        }
    }
    surface
}

fn box_mesh(body: u16, min: Vec3, max: Vec3, open: bool) -> Surface {
    let corner = |i: u32| {
        let pick = |bit: u32, a: f32, b: f32| if i >> bit & 1 == 0 { a } else { b };
        Vec3::new(pick(0, min.x, max.x), pick(1, min.y, max.y), pick(2, min.z, max.z))
    };
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [0, 4, 6, 2], [1, 3, 7, 5], [2, 6, 7, 3]];
    let faces = if open { &faces[..5] } else { &faces[..] };
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    Surface { body, positions: (0..8).map(corner).collect(), triangles, ..Surface::default() }
}

pub(crate) fn one_sphere() -> Frame {
    let mut particles = Particles { spacing: 0.2, ..Particles::default() };
    add(&mut particles, Vec3::new(0.0, 0.1, 0.0), Vec3::X * 0.4);
    Frame { particles, bodies: vec![body("ball", BodyKind::Liquid, [0.2, 0.4, 0.8])], ..Frame::default() }
}

struct Random(u32);

impl Random {
    /// The next of a fixed sequence of numbers in 0..1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }
}
