//! Surfaces of liquids on their way to a browser: other triangles in every frame, so they travel with it.
//!
//! ```text
//! u32 body, u32 vertices, u32 triangles, u32 bytes of triangles, f32 × 3 lower corner [m], f32 × 3 extent [m], f32 fastest [m/s];
//! per vertex: u16 × 3 position as a part of the extent, u16 speed as a part of the fastest,
//!             i8 × 3 normal out of the liquid, u8 zero;
//! triangles:  each corner as the difference from the one before (n: 2n, or −2n − 1 if negative), seven bits to a byte, the
//!             highest of all but the last byte set; filled up to a multiple of four
//! ```
//!
//! Marching cubes number the corners of a triangle close to each other: a difference takes one or two bytes.

use crate::protocol::{Out, STEPS, bounds, is_liquid};
use glam::Vec3;
use meniscus_core::{Frame, Surface};
use meniscus_surface::{Extractor, LiquidSurface, Spray};
use std::collections::BTreeMap;

/// More particles than this have no surface made: it would take too long.
const MAX_PARTICLES: usize = 200_000;

/// Cosine of the angle between a triangle and the normal of its vertex from which on there is a crease.
const CREASE: f32 = 0.7;

/// The same between a triangle of a grid's surface and larger ones around a vertex, for it to share their normal,
const SAME_FAN: f32 = 0.6;
/// and to have a part in it.
const SAME_SIDE: f32 = 0.85;

/// The surface of a liquid as it travels.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiquidMesh {
    body: u16,
    positions: Vec<Vec3>,
    speeds: Vec<f32>,
    normals: Vec<Vec3>,
    triangles: Vec<u8>,
    count: u32,
}

impl LiquidMesh {
    fn new(surface: Surface, normals: Vec<Vec3>) -> Self {
        let Surface { body, positions, velocities, mut triangles, .. } = surface;
        let used = number_by_use(&mut triangles, positions.len());
        let positions = used.iter().map(|&k| positions[k as usize]).collect();
        let normals = used.iter().map(|&k| normals.get(k as usize).copied().unwrap_or(Vec3::ZERO)).collect();
        let speeds = used.iter().map(|&k| velocities.get(k as usize).map_or(0.0, |v| v.length())).collect();
        Self {
            body,
            positions,
            speeds,
            normals,
            count: triangles.len() as u32,
            triangles: packed(triangles.as_flattened()),
        }
    }

    /// That of particles.
    fn of(liquid: LiquidSurface) -> Self {
        let LiquidSurface { mut surface, mut normals, on_wall } = liquid;
        crease(&mut surface, &mut normals, &on_wall);
        Self::new(surface, normals)
    }

    /// How many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        44 + 12 * self.positions.len() + self.triangles.len()
    }

    pub(crate) fn put(&self, out: &mut Out) {
        [u32::from(self.body), self.positions.len() as u32, self.count, self.triangles.len() as u32]
            .into_iter()
            .for_each(|v| out.u32(v));
        let (low, extent) = bounds(&self.positions);
        let fastest = self.speeds.iter().copied().filter(|v| v.is_finite()).fold(0.0, f32::max);
        out.vec3(low);
        out.vec3(extent);
        out.f32(fastest);
        let scale = Vec3::select(extent.cmpgt(Vec3::ZERO), STEPS / extent, Vec3::ZERO);
        for (i, &position) in self.positions.iter().enumerate() {
            let [x, y, z] = ((position - low) * scale + 0.5).to_array().map(|v| v as u16);
            let speed = self.speeds.get(i).map_or(0.0, |v| v / fastest.max(f32::MIN_POSITIVE) * STEPS + 0.5) as u16;
            out.0.extend_from_slice([x, y, z, speed].map(u16::to_le_bytes).as_flattened());
            let normal = self.normals.get(i).copied().unwrap_or(Vec3::ZERO);
            // Rounded; a NaN casts to zero.
            let [x, y, z] = (normal * 127.0).round().to_array().map(|v| v as i8 as u8);
            out.0.extend_from_slice(&[x, y, z, 0]);
        }
        out.0.extend_from_slice(&self.triangles);
    }
}

/// Makes the surfaces of frames.
#[derive(Debug, Default)]
pub(crate) struct Pourer {
    extractor: Extractor,
    /// What was spray in the last frame, if frames follow each other; those of a record may come in any order.
    memory: Option<Spray>,
}

impl Pourer {
    pub(crate) fn new(settings: meniscus_surface::Settings, follows: bool) -> Self {
        Self { extractor: Extractor::new(settings), memory: follows.then(Spray::default) }
    }

    /// The surfaces of all liquids of a frame, of particles or of a grid; marks its spray, if nobody has. Nothing where there are so many
    /// particles that their surface would take too long.
    pub(crate) fn pour(&mut self, frame: &mut Frame) -> Option<Vec<LiquidMesh>> {
        let count = frame.particles.positions.len();
        if count > MAX_PARTICLES {
            return None;
        }
        let unmarked = frame.particles.spray.len() != count;
        if let Some(memory) = self.memory.as_mut().filter(|_| unmarked) {
            memory.mark(frame);
        }
        let found = self.extractor.extract(frame);
        if frame.particles.spray.len() != count {
            frame.particles.spray = vec![false; count];
            found.spray.iter().for_each(|&i| frame.particles.spray[i as usize] = true);
        }
        Some(found.liquids.into_iter().map(LiquidMesh::of).chain(of_grid(frame)).collect())
    }
}

/// Surfaces of liquids that a frame holds already.
pub(crate) fn of_grid(frame: &Frame) -> impl Iterator<Item = LiquidMesh> {
    let liquids = frame.surfaces.iter().filter(|surface| is_liquid(frame, surface.body));
    liquids.map(|surface| {
        let (surface, normals) = split(surface.clone());
        LiquidMesh::new(surface, normals)
    })
}

/// Numbers vertices in the order in which triangles use them, so that differences are small; which they were. Triangles with corners that are
/// nowhere go.
fn number_by_use(triangles: &mut Vec<[u32; 3]>, vertices: usize) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut number = vec![NONE; vertices];
    let mut used = Vec::with_capacity(vertices);
    triangles.retain(|triangle| triangle.iter().all(|&k| (k as usize) < vertices));
    for corner in triangles.as_flattened_mut() {
        let number = &mut number[*corner as usize];
        if *number == NONE {
            *number = used.len() as u32;
            used.push(*corner);
        }
        *corner = *number;
    }
    used
}

/// Gives triangles on walls, and those that look elsewhere than their vertices, vertices of their own with their normals: one between two
/// faces would glitter.
fn crease(surface: &mut Surface, normals: &mut Vec<Vec3>, on_wall: &[bool]) {
    let Surface { positions, velocities, triangles, .. } = surface;
    velocities.resize(positions.len(), Vec3::ZERO);
    normals.resize(positions.len(), Vec3::ZERO);
    let mut own: BTreeMap<(u32, [i8; 3]), u32> = BTreeMap::new();
    for triangle in triangles {
        let [a, b, c] = triangle.map(|k| positions.get(k as usize).copied().unwrap_or(Vec3::ZERO));
        let area = (b - a).cross(c - a);
        let face = area.normalize_or_zero();
        let flat = triangle.iter().all(|&k| on_wall.get(k as usize).copied().unwrap_or(false));
        for corner in triangle {
            let vertex = *corner as usize;
            let Some(&normal) = normals.get(vertex) else { continue };
            if face == Vec3::ZERO || !flat && normal.dot(face) > CREASE {
                continue;
            }
            let key = (*corner, (face * 2.0).round().to_array().map(|v| v as i8));
            let next = positions.len() as u32;
            *corner = *own.entry(key).or_insert(next);
            if *corner == next {
                positions.push(positions[vertex]);
                velocities.push(velocities[vertex]);
                normals.push(Vec3::ZERO);
            }
            normals[*corner as usize] += area;
        }
    }
    for &made in own.values() {
        let normal = &mut normals[made as usize];
        *normal = normal.normalize_or_zero();
    }
}

/// Triangles around a vertex that look the same way.
struct Fan {
    vertex: u32,
    area: Vec3,
}

/// Gives every vertex as many copies as its triangles look different ways, as at the edge of a side that lies on a wall; unit normals by the
/// areas of the triangles. Large ones come first: the narrow ones that bevel such an edge, which would glitter, look as one of its sides does.
fn split(mut surface: Surface) -> (Surface, Vec<Vec3>) {
    let Surface { positions, velocities, triangles, .. } = &mut surface;
    velocities.resize(positions.len(), Vec3::ZERO);
    let area = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|k| positions.get(k as usize).copied().unwrap_or(Vec3::ZERO));
        (b - a).cross(c - a)
    };
    let mut order: Vec<(Vec3, &mut [u32; 3])> =
        triangles.iter_mut().map(|triangle| (area(triangle), triangle)).collect();
    order.sort_by(|a, b| b.0.length_squared().total_cmp(&a.0.length_squared()));
    let mut fans: Vec<Vec<Fan>> = positions.iter().map(|_| Vec::new()).collect();
    for (area, triangle) in order {
        for corner in triangle {
            let vertex = *corner as usize;
            let Some(around) = fans.get_mut(vertex) else { continue };
            let cosine = |fan: &Fan| fan.area.dot(area) / (fan.area.length() * area.length()).max(f32::MIN_POSITIVE);
            let nearest = (0..around.len()).max_by(|&j, &k| cosine(&around[j]).total_cmp(&cosine(&around[k])));
            if let Some(nearest) = nearest.filter(|&k| area == Vec3::ZERO || cosine(&around[k]) >= SAME_FAN) {
                let fan = &mut around[nearest];
                fan.area += if cosine(fan) >= SAME_SIDE { area } else { Vec3::ZERO };
                *corner = fan.vertex;
                continue;
            }
            if !around.is_empty() {
                *corner = positions.len() as u32;
                positions.push(positions[vertex]);
                velocities.push(velocities[vertex]);
            }
            around.push(Fan { vertex: *corner, area });
        }
    }
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for fan in fans.iter().flatten() {
        normals[fan.vertex as usize] = fan.area.normalize_or_zero();
    }
    (surface, normals)
}

/// Differences of numbers in as few bytes as they need.
fn packed(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * numbers.len());
    let mut last = 0;
    for &number in numbers {
        let difference = (number as i32).wrapping_sub(last);
        last = number as i32;
        let mut rest = ((difference << 1) ^ (difference >> 31)) as u32;
        while rest >= 128 {
            bytes.push(rest as u8 | 128);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, BodyKind};

    /// As the page does it.
    fn unpacked(bytes: &[u8], count: usize) -> Vec<u32> {
        let (mut numbers, mut at, mut last) = (Vec::new(), 0, 0i32);
        while numbers.len() < count {
            let (mut rest, mut shift) = (0u32, 0);
            loop {
                rest |= u32::from(bytes[at] & 127) << shift;
                shift += 7;
                at += 1;
                if bytes[at - 1] < 128 {
                    break;
                }
            }
            last = last.wrapping_add((rest >> 1) as i32 ^ -((rest & 1) as i32));
            numbers.push(last as u32);
        }
        numbers
    }

    #[test]
    fn corners_come_back_as_they_were() {
        let numbers = [0, 1, 2, 2, 1, 3, 70_000, 69_999, 5, 0, 4_000_000, 1];
        let bytes = packed(&numbers);
        assert_eq!(unpacked(&bytes, numbers.len()), numbers);
        assert!(bytes.len().is_multiple_of(4) && bytes.len() <= 24, "{}", bytes.len());
        assert!(packed(&[]).is_empty());
    }

    #[test]
    fn a_corner_of_a_block_has_a_normal_for_each_of_its_sides() {
        let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(Vec3::from).to_vec();
        let triangles = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let (surface, normals) = split(Surface { positions, triangles, ..Surface::default() });
        assert_eq!(surface.positions.len(), 12, "four corners with three sides each");
        assert_eq!(surface.velocities.len(), 12);
        for triangle in surface.triangles {
            let [a, b, c] = triangle.map(|k| surface.positions[k as usize]);
            let face = (b - a).cross(c - a).normalize();
            assert!(triangle.iter().all(|&k| normals[k as usize].distance(face) < 1e-6), "{triangle:?}");
        }
    }

    /// A block of water, and a particle above it with so many others around.
    fn splash(companions: u32) -> Frame {
        let mut frame = Frame::default();
        frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.2, 0.5, 0.9] });
        frame.particles.spacing = 0.1;
        let block = (0..512u32).map(|i| Vec3::from([i % 8, i / 8 % 8, i / 64].map(|k| 0.1 * k as f32)));
        let drop = (0..=companions).map(|k| Vec3::new(0.3, 2.0, 0.01 * k as f32));
        frame.particles.positions = block.chain(drop).collect();
        let count = frame.particles.positions.len();
        frame.particles.ids = (0..count as u32).collect();
        frame.particles.velocities = vec![Vec3::X; count];
        frame.particles.bodies = vec![0; count];
        frame
    }

    #[test]
    fn pictures_of_a_record_do_not_depend_on_what_was_seen_before() {
        let settings = meniscus_surface::Settings::default();
        let [mut alone, mut seen, mut anew] = [splash(3), splash(8), splash(8)];
        let mut pourer = Pourer::new(settings, false);
        pourer.pour(&mut alone);
        let (after, fresh) = (pourer.pour(&mut seen), Pourer::new(settings, false).pour(&mut anew));
        assert_eq!((after, &seen.particles.spray), (fresh, &anew.particles.spray));
        assert_eq!(seen.particles.spray.len(), seen.particles.positions.len());
        // In a world, what was spray stays so for a while.
        let [mut alone, mut then] = [splash(3), splash(8)];
        let mut pourer = Pourer::new(settings, true);
        pourer.pour(&mut alone);
        pourer.pour(&mut then);
        assert!(then.particles.spray[512] && !seen.particles.spray[512]);
    }

    #[test]
    fn nothing_and_too_much_have_no_surface() {
        let mut pourer = Pourer::new(meniscus_surface::Settings::default(), true);
        assert_eq!(pourer.pour(&mut Frame::default()), Some(Vec::new()));
        let mut lone = splash(0);
        lone.particles.positions.truncate(1);
        lone.particles.ids.truncate(1);
        assert_eq!(pourer.pour(&mut lone), Some(Vec::new()), "all of it is spray");
        let mut many = splash(0);
        many.particles.positions = vec![Vec3::ZERO; MAX_PARTICLES + 1];
        assert_eq!(pourer.pour(&mut many), None);
    }

    #[test]
    fn a_cube_of_water_becomes_a_surface_and_a_lone_drop_spray() {
        let mut frame = Frame::default();
        frame.bodies.push(BodyInfo { name: "water".into(), kind: BodyKind::Liquid, color: [0.2, 0.5, 0.9] });
        frame.particles.spacing = 0.1;
        for i in 0..513u32 {
            let at = [i % 8, i / 8 % 8, i / 64].map(|k| 0.1 * k as f32);
            frame.particles.ids.push(i);
            frame.particles.positions.push(Vec3::from(at) * if i == 512 { 3.0 } else { 1.0 });
            frame.particles.velocities.push(Vec3::X);
            frame.particles.bodies.push(0);
        }
        let liquids = Pourer::new(meniscus_surface::Settings::default(), true).pour(&mut frame).unwrap();
        assert_eq!(frame.particles.spray.iter().filter(|s| **s).count(), 1);
        let [liquid] = &liquids[..] else { panic!("{}", liquids.len()) };
        let mut out = Out(Vec::new());
        liquid.put(&mut out);
        assert_eq!(out.0.len(), liquid.bytes());
        assert!(liquid.triangles.len() < 6 * liquid.count as usize, "{} triangles", liquid.count);
        let corners = unpacked(&liquid.triangles, 3 * liquid.count as usize);
        assert!(corners.iter().all(|&k| (k as usize) < liquid.positions.len()));
        assert!((0..liquid.positions.len() as u32).all(|k| corners.contains(&k)), "no vertex is sent that nobody uses");
        assert!(liquid.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
    }
}
