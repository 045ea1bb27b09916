//! Frames for the tests: a tiny one with everything in it and a breaking dam of realistic entropy.
#![allow(dead_code, unreachable_pub)] // Every test binary uses its own part of this.

use glam::Vec3;
use meniscus_core::{BodyInfo, BodyKind, Frame, Particles, Surface, Wall, WallShape, Wire};

/// Random numbers with a fixed seed (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// In -1..1.
    pub fn signed(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub fn vec3(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }
}

pub fn body(name: &str, kind: BodyKind) -> BodyInfo {
    BodyInfo { name: name.into(), kind, color: [0.1, 0.4, 0.9] }
}

/// Two liquids, two surfaces (one empty), a wire; awkward names.
pub fn tiny(number: u32) -> Frame {
    let mut random = Random(u64::from(number));
    let mut vectors = |n: usize| (0..n).map(|_| random.vec3()).collect::<Vec<_>>();
    Frame {
        number,
        time: f64::from(number) / 24.0,
        step: u64::from(number) * 10,
        bodies: vec![body("wa<t>er & \"oil\"", BodyKind::Liquid), body("Fußball", BodyKind::Wall)],
        particles: Particles {
            ids: vec![3, 4, 9, 1000, 4_000_000_000],
            bodies: vec![0, 0, 0, 1, 1],
            positions: vectors(5),
            velocities: vectors(5),
            densities: vec![999.0, 1000.0, 1001.5, f32::MIN_POSITIVE, -0.0],
            pressures: vec![0.0, 12.5, f32::INFINITY, -3.0, 1.0e-30],
            spacing: 0.01,
            spray: vec![false, true, false, false, true],
        },
        surfaces: vec![
            Surface {
                body: 1,
                positions: vectors(4),
                velocities: vectors(4),
                pressures: vec![0.0, 9.81, -0.0, f32::MAX],
                triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
            },
            Surface { body: 0, ..Surface::default() },
        ],
        wires: vec![Wire { body: 1, segments: vec![[Vec3::ZERO, Vec3::X], [Vec3::X, Vec3::Y]] }],
        walls: vec![
            Wall { body: 1, shape: WallShape::Plane { point: Vec3::ONE, normal: Vec3::Y } },
            Wall { body: 1, shape: WallShape::Vessel },
        ],
        ..Frame::default()
    }
}

/// A column of water `n`³ × 2.5 that has begun to collapse: smooth flow, particles off their lattice, pressure with
/// depth, no pressure near the surface.
pub fn breaking_dam(n: u32) -> Frame {
    let mut random = Random(7);
    let spacing = 1.0 / n as f32;
    let (nx, ny, nz) = (n, n * 5 / 2, n);
    let mut particles = Particles { spacing, ..Particles::default() };
    for i in 0..nx * ny * nz {
        let lattice = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / nx / ny) as f32);
        let rest = (lattice + 0.5 + 0.3 * random.vec3()) * spacing;
        let depth = (2.2 + 0.2 * (3.0 * rest.x).sin() - rest.y).max(0.0);
        let flow = Vec3::new(rest.x * (0.6 + 0.4 * depth), -0.9 * rest.y, 0.1 * (4.0 * rest.z).sin());
        particles.ids.push(i);
        particles.bodies.push(0);
        particles.positions.push(rest + 0.3 * flow);
        particles.velocities.push(flow + 0.02 * random.vec3());
        particles.densities.push(1000.0 * (1.0 + 1e-3 * random.signed()));
        particles.pressures.push(if depth < 2.0 * spacing {
            0.0
        } else {
            9810.0 * depth * (1.0 + 0.05 * random.signed())
        });
    }
    let bodies = vec![body("water", BodyKind::Liquid), body("tank", BodyKind::Wall)];
    let wires = vec![Wire { body: 1, segments: vec![[Vec3::ZERO, Vec3::X]; 12] }];
    Frame { number: 40, time: 40.0 / 30.0, step: 1234, bodies, particles, wires, ..Frame::default() }
}
