//! Pictures as bytes: what travels through the WebSocket as binary messages, little-endian, every part four-aligned.
//!
//! ```text
//! both       4 bytes "MNV" and the version, u32 kind
//! topology   kind 1: u32 id, u32 surfaces, u32 meshes, u32 length of JSON, JSON {bodies} filled up with spaces to a
//!            multiple of four;
//!            per surface: u32 body, u32 vertices, u32 triangles, u32 × 3 per triangle;
//!            per mesh of tetrahedra, if they are asked for: u32 body, u32 nodes, u32 tetrahedra, u32 × 4 per tetrahedron
//! frame      kind 2: u32 topology, u32 sequence, u32 number, u32 particles, f64 time [s], f64 step, f32 spacing [m],
//!            f32 × 3 lower corner of the particles [m], f32 × 3 extent [m], f32 × 2 lowest and highest
//!            speed [m/s], density [kg/m³], pressure [Pa], u32 segments, u32 surfaces, u32 Gauss points, u32 liquids, u32 panes,
//!            u32 whether surfaces of particles are among the liquids: 0 nobody asks, 1 they are, 2 too many particles;
//!            per segment: u32 body, f32 × 6 ends [m];
//!            per surface: f32 × 3 per vertex [m];
//!            per mesh of tetrahedra: f32 × 3 per node [m]; per Gauss point, if they are asked for: f32 × 3 [m];
//!            per pane of a tank: f32 × 12 corners [m], in a row round it;
//!            per surface of a liquid, if they are asked for: see [`crate::liquids`];
//!            per particle: u16 × 3 position as a part of the extent, u16 body, plus 32768 if it is spray;
//!            per particle: u16 × 3 speed, density, pressure as parts of their ranges
//! ```
//!
//! Positions are rounded to 1/65535 of the extent: for a scene of two metres to 0.03 mm. A topology is sent before the first frame
//! that refers to it, and again only when it changes.

use crate::liquids::{LiquidMesh, of_grid};
use crate::panes::panes;
use glam::Vec3;
use meniscus_core::{BodyKind, Frame, Particles, Surface, Tets};

/// Version of the binary messages and of the JSON beside them.
pub const VERSION: u8 = 3;

const TOPOLOGY: u32 = 1;
const FRAME: u32 = 2;

/// The largest value of a rounded number.
pub(crate) const STEPS: f32 = 65535.0;

/// What is added to the number of the body of a particle that flies alone.
const SPRAY: u16 = 1 << 15;

/// What goes with a frame because somebody asks for it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// Tetrahedra of soft bodies.
    pub tets: Vec<Tets>,
    /// Gauss points \[m\].
    pub points: Vec<Vec3>,
    /// Surfaces of liquids: they are other ones in every frame.
    pub liquids: Vec<LiquidMesh>,
    /// Whether surfaces of particles are among them.
    pub surfaces: Surfaces,
}

impl Extras {
    /// What nobody has to ask for: the surface that a liquid on a grid brings itself.
    #[must_use]
    pub fn plain(frame: &Frame) -> Self {
        Self { liquids: of_grid(frame).collect(), ..Self::default() }
    }
}

/// Whether the surfaces of liquids of particles are with a frame: none may be there because all of a liquid is spray.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Surfaces {
    /// Nobody asks for them.
    #[default]
    NobodyAsks,
    /// They are.
    Here,
    /// There are too many particles.
    TooMany,
}

/// What is remembered of a topology to see whether the next frame still has it.
#[derive(Debug, Default)]
pub struct Topology {
    id: u32,
    bodies: String,
    surfaces: Vec<Connected<3>>,
    meshes: Vec<Connected<4>>,
}

/// Body, number of vertices, and which of them belong together.
type Connected<const N: usize> = (u16, usize, Vec<[u32; N]>);

impl Topology {
    /// Takes over the topology of a frame; tells whether it is another than before.
    pub fn follow(&mut self, frame: &Frame, extras: &Extras) -> bool {
        let same = |(known, new): (&Connected<3>, &Surface)| {
            known.0 == new.body && known.1 == new.positions.len() && known.2 == new.triangles
        };
        let same_mesh = |(known, new): (&Connected<4>, &Tets)| {
            known.0 == new.body && known.1 == new.positions.len() && known.2 == new.corners
        };
        let bodies = bodies(frame);
        let unchanged = self.id > 0
            && self.bodies == bodies
            && self.surfaces.len() == bodies_of(frame).count()
            && self.surfaces.iter().zip(bodies_of(frame)).all(same)
            && self.meshes.len() == extras.tets.len()
            && self.meshes.iter().zip(&extras.tets).all(same_mesh);
        if !unchanged {
            self.id += 1;
            self.bodies = bodies;
            self.surfaces = bodies_of(frame).map(|s| (s.body, s.positions.len(), s.triangles.clone())).collect();
            self.meshes = extras.tets.iter().map(|t| (t.body, t.positions.len(), t.corners.clone())).collect();
        }
        !unchanged
    }

    /// Its number; a new one for every change.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The message.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Out::begin(TOPOLOGY);
        out.u32(self.id);
        out.u32(self.surfaces.len() as u32);
        out.u32(self.meshes.len() as u32);
        let filled = self.bodies.len().next_multiple_of(4);
        out.u32(filled as u32);
        out.0.extend_from_slice(self.bodies.as_bytes());
        out.0.resize(out.0.len() + filled - self.bodies.len(), b' ');
        self.surfaces.iter().for_each(|surface| out.connected(surface));
        self.meshes.iter().for_each(|mesh| out.connected(mesh));
        out.0
    }
}

/// Surfaces of all that is no liquid.
fn bodies_of(frame: &Frame) -> impl Iterator<Item = &Surface> {
    frame.surfaces.iter().filter(|surface| !is_liquid(frame, surface.body))
}

/// Whether a body of a frame is a liquid.
pub(crate) fn is_liquid(frame: &Frame, body: u16) -> bool {
    frame.bodies.get(usize::from(body)).is_some_and(|body| body.kind == BodyKind::Liquid)
}

fn bodies(frame: &Frame) -> String {
    serde_json::json!({ "bodies": frame.bodies }).to_string()
}

/// The message of a frame.
#[must_use]
pub fn encode_frame(frame: &Frame, extras: &Extras, topology: u32, sequence: u32) -> Vec<u8> {
    let particles = &frame.particles;
    let nodes = extras.tets.iter().flat_map(|mesh| &mesh.positions);
    let vertices: usize = bodies_of(frame).map(|s| s.positions.len()).sum();
    let liquids: usize = extras.liquids.iter().map(LiquidMesh::bytes).sum();
    let panes = panes(frame);
    let segments: usize = frame.wires.iter().map(|wire| wire.segments.len()).sum();
    let mut out = Out::begin(FRAME);
    out.0.reserve(
        128 + 28 * segments
            + 12 * vertices
            + 12 * (nodes.clone().count() + extras.points.len())
            + 48 * panes.len()
            + liquids
            + 14 * particles.len(),
    );
    [topology, sequence, frame.number, particles.len() as u32].into_iter().for_each(|v| out.u32(v));
    out.0.extend_from_slice(&frame.time.to_le_bytes());
    out.0.extend_from_slice(&(frame.step as f64).to_le_bytes());
    let (low, extent) = bounds(&particles.positions);
    out.f32(particles.spacing);
    out.vec3(low);
    out.vec3(extent);
    let ranges = ranges(particles);
    ranges.as_flattened().iter().for_each(|&v| out.f32(v));
    out.u32(segments as u32);
    out.u32(bodies_of(frame).count() as u32);
    out.u32(extras.points.len() as u32);
    out.u32(extras.liquids.len() as u32);
    out.u32(panes.len() as u32);
    out.u32(extras.surfaces as u32);
    for wire in &frame.wires {
        for [start, end] in &wire.segments {
            out.u32(u32::from(wire.body));
            out.vec3(*start);
            out.vec3(*end);
        }
    }
    bodies_of(frame).flat_map(|surface| &surface.positions).for_each(|&p| out.vec3(p));
    nodes.chain(&extras.points).for_each(|&p| out.vec3(p));
    panes.as_flattened().iter().for_each(|&p| out.vec3(p));
    extras.liquids.iter().for_each(|liquid| liquid.put(&mut out));
    put_particles(&mut out, particles, low, extent, &ranges);
    out.0
}

fn put_particles(out: &mut Out, particles: &Particles, low: Vec3, extent: Vec3, ranges: &[[f32; 2]; 3]) {
    let scale = Vec3::select(extent.cmpgt(Vec3::ZERO), STEPS / extent, Vec3::ZERO);
    for (i, &position) in particles.positions.iter().enumerate() {
        // A NaN casts to zero.
        let [x, y, z] = ((position - low) * scale + 0.5).to_array().map(|v| (v as u16).to_le_bytes());
        let spray = if particles.spray.get(i).copied().unwrap_or(false) { SPRAY } else { 0 };
        let body = (particles.bodies.get(i).copied().unwrap_or(SPRAY - 1) | spray).to_le_bytes();
        out.0.extend_from_slice([x, y, z, body].as_flattened());
    }
    let part = |[low, high]: [f32; 2], value: f32| {
        let scale = if high > low { STEPS / (high - low) } else { 0.0 };
        (((value - low) * scale + 0.5) as u16).to_le_bytes()
    };
    for i in 0..particles.positions.len() {
        let [speed, density, pressure] = values(particles, i);
        let parts = [part(ranges[0], speed), part(ranges[1], density), part(ranges[2], pressure)];
        out.0.extend_from_slice(parts.as_flattened());
    }
    out.0.resize(out.0.len().next_multiple_of(4), 0);
}

/// Speed, density and pressure of a particle.
fn values(particles: &Particles, i: usize) -> [f32; 3] {
    [
        particles.velocities.get(i).map_or(0.0, |v| v.length()),
        particles.densities.get(i).copied().unwrap_or(0.0),
        particles.pressures.get(i).copied().unwrap_or(0.0),
    ]
}

/// Lowest and highest finite speed, density and pressure.
fn ranges(particles: &Particles) -> [[f32; 2]; 3] {
    let mut ranges = [[f32::INFINITY, f32::NEG_INFINITY]; 3];
    for i in 0..particles.positions.len() {
        for (range, value) in ranges.iter_mut().zip(values(particles, i)) {
            if value.is_finite() {
                *range = [range[0].min(value), range[1].max(value)];
            }
        }
    }
    ranges.map(|range| if range[0] <= range[1] { range } else { [0.0; 2] })
}

/// Lower corner and extent of finite points \[m\].
pub(crate) fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let finite = points.iter().filter(|p| p.is_finite());
    let (low, high) = finite.fold(none, |(low, high), &p| (low.min(p), high.max(p)));
    if low.x <= high.x { (low, high - low) } else { (Vec3::ZERO, Vec3::ZERO) }
}

/// Bytes of a message.
pub(crate) struct Out(pub(crate) Vec<u8>);

impl Out {
    fn begin(kind: u32) -> Self {
        let mut out = Self(vec![b'M', b'N', b'V', VERSION]);
        out.u32(kind);
        out
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn connected<const N: usize>(&mut self, (body, vertices, parts): &Connected<N>) {
        [u32::from(*body), *vertices as u32, parts.len() as u32].into_iter().for_each(|v| self.u32(v));
        parts.as_flattened().iter().for_each(|&corner| self.u32(corner));
    }

    pub(crate) fn f32(&mut self, value: f32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn vec3(&mut self, value: Vec3) {
        value.to_array().into_iter().for_each(|v| self.f32(v));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, Wire};

    fn body(name: &str, kind: BodyKind) -> BodyInfo {
        BodyInfo { name: name.into(), kind, color: [0.5; 3] }
    }

    fn frame() -> Frame {
        Frame {
            number: 7,
            time: 0.25,
            step: 99,
            bodies: vec![body("water", BodyKind::Liquid), body("jelly", BodyKind::Solid)],
            particles: Particles {
                ids: vec![0, 1, 2],
                bodies: vec![0, 0, 1],
                positions: vec![Vec3::new(-1.0, 0.0, 0.5), Vec3::new(1.0, 0.25, 0.5), Vec3::new(0.0, 1.0, 0.5)],
                velocities: vec![Vec3::X, Vec3::ZERO, Vec3::new(0.0, 3.0, 4.0)],
                densities: vec![1000.0, f32::NAN, 1010.0],
                pressures: vec![0.0, 10.0, -10.0],
                spacing: 0.02,
                spray: Vec::new(),
            },
            surfaces: vec![Surface {
                body: 1,
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                velocities: vec![Vec3::ZERO; 3],
                triangles: vec![[0, 1, 2]],
                ..Surface::default()
            }],
            wires: vec![Wire { body: 0, segments: vec![[Vec3::ZERO, Vec3::ONE]] }],
            walls: Vec::new(),
            ..Frame::default()
        }
    }

    fn extras() -> Extras {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let tets = vec![Tets { body: 1, positions, corners: vec![[0, 1, 2, 3]] }];
        Extras {
            tets,
            points: vec![Vec3::NEG_X, Vec3::new(0.0, 7.0, 0.0)],
            liquids: Vec::new(),
            surfaces: Surfaces::TooMany,
        }
    }

    fn u32_at(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    fn f32_at(bytes: &[u8], at: usize) -> f32 {
        f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
    }

    fn u16_at(bytes: &[u8], at: usize) -> u16 {
        u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap())
    }

    #[test]
    fn a_frame_has_the_layout_that_is_written_above() {
        let bytes = encode_frame(&frame(), &extras(), 3, 12);
        assert_eq!((&bytes[..3], bytes[3], u32_at(&bytes, 4)), (&b"MNV"[..], VERSION, FRAME));
        assert_eq!([8, 12, 16, 20].map(|at| u32_at(&bytes, at)), [3, 12, 7, 3]);
        assert_eq!(f64::from_le_bytes(bytes[24..32].try_into().unwrap()), 0.25);
        assert_eq!([44, 48, 52, 56, 60, 64].map(|at| f32_at(&bytes, at)), [-1.0, 0.0, 0.5, 2.0, 1.0, 0.0]);
        assert_eq!([68, 72, 76, 80, 84, 88].map(|at| f32_at(&bytes, at)), [0.0, 5.0, 1000.0, 1010.0, -10.0, 10.0]);
        assert_eq!([92, 96, 100, 104, 108, 112].map(|at| u32_at(&bytes, at)), [1, 1, 2, 0, 0, 2]);
        let extra = 116 + 28 + 3 * 12;
        assert_eq!(f32_at(&bytes, extra + 4 * 12), -1.0);
        assert_eq!(f32_at(&bytes, extra + 5 * 12 + 4), 7.0);
        let particles = extra + 6 * 12;
        assert_eq!([0, 2, 4, 6].map(|k| u16_at(&bytes, particles + 8 + k)), [65535, 16384, 0, 0]);
        assert_eq!([0, 2, 4, 6].map(|k| u16_at(&bytes, particles + 16 + k)), [32768, 65535, 0, 1]);
        let values = particles + 24;
        assert_eq!([0, 2, 4].map(|k| u16_at(&bytes, values + k)), [13107, 0, 32768]);
        assert_eq!([6, 8, 10].map(|k| u16_at(&bytes, values + k)), [0, 0, 65535]);
        assert_eq!(bytes.len(), (values + 18usize).next_multiple_of(4));
    }

    #[test]
    fn topology_is_new_only_when_something_changed() {
        let mut topology = Topology::default();
        let mut frame = frame();
        let none = Extras::default();
        assert!(topology.follow(&frame, &none) && !topology.follow(&frame, &none));
        frame.surfaces[0].positions[0] = Vec3::splat(5.0);
        frame.particles.positions[0] = Vec3::splat(5.0);
        assert!(!topology.follow(&frame, &none));
        frame.surfaces[0].triangles[0] = [2, 1, 0];
        assert!(topology.follow(&frame, &none) && topology.id() == 2);
        let bytes = topology.encode();
        let json = u32_at(&bytes, 20) as usize;
        let parsed: serde_json::Value = serde_json::from_slice(&bytes[24..24 + json]).unwrap();
        assert_eq!(parsed["bodies"][1]["kind"], "solid");
        assert_eq!([0, 4, 8, 12].map(|k| u32_at(&bytes, 24 + json + k)), [1, 3, 1, 2]);
        // Who asks for tetrahedra gets them, and again when they break.
        let mut extras = extras();
        assert!(topology.follow(&frame, &extras) && !topology.follow(&frame, &extras));
        let bytes = topology.encode();
        assert_eq!(
            [-28, -24, -20, -16].map(|k: isize| u32_at(&bytes, (bytes.len() as isize + k) as usize)),
            [1, 4, 1, 0]
        );
        extras.tets[0].corners[0] = [1, 0, 3, 2];
        assert!(topology.follow(&frame, &extras));
        frame.surfaces.clear();
        assert!(topology.follow(&frame, &none));
    }

    #[test]
    fn nothing_and_garbage_can_be_encoded() {
        assert_eq!(encode_frame(&Frame::default(), &Extras::default(), 1, 1).len(), 116);
        let mut frame = frame();
        frame.particles.positions[1] = Vec3::NAN;
        frame.particles.velocities.clear();
        assert_eq!(u16_at(&encode_frame(&frame, &Extras::default(), 1, 1), 116 + 28 + 36 + 8), 0);
    }
}
