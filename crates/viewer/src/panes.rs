//! Panes of glass between the outlines of tanks.

use glam::Vec3;
use meniscus_core::{BodyKind, Frame, WallShape, Wire};

/// How near to a plane a corner is that lies on it, over the size of the outline.
const SAME: f32 = 1e-4;

/// How far outside of the liquid a pane stands, over the size of the outline: at the same place both would glitter.
const APART: f32 = 2e-3;

/// A pane for each plane of a tank's walls on which four corners of its outline lie, corner after corner round it \[m\]; floors have
/// none, one looks at them from above.
pub(crate) fn panes(frame: &Frame) -> Vec<[Vec3; 4]> {
    let mut panes = Vec::new();
    for wire in &frame.wires {
        let corners = corners(wire);
        let walls = frame.walls.iter().filter(|wall| wall.body == wire.body);
        let mut planes: Vec<(Vec3, Vec3)> = walls
            .filter_map(|wall| match wall.shape {
                WallShape::Plane { point, normal } => Some((point, normal)),
                _ => None,
            })
            .collect();
        let is_wall = frame.bodies.get(usize::from(wire.body)).is_some_and(|body| body.kind == BodyKind::Wall);
        if planes.is_empty() && is_wall {
            planes = sides(wire, &corners);
        }
        for (point, normal) in planes.into_iter().filter(|(_, normal)| normal.y < 0.9) {
            panes.extend(pane(&corners, point, normal));
        }
    }
    panes
}

/// The sides of an outline of eight corners, such as that of a grid, which has no walls: a point and the normal into it.
fn sides(wire: &Wire, corners: &[Vec3]) -> Vec<(Vec3, Vec3)> {
    let (Some(&first), 8) = (corners.first(), corners.len()) else { return Vec::new() };
    let middle = corners.iter().sum::<Vec3>() / 8.0;
    let edges = wire.segments.iter().filter_map(|&[a, b]| match (a == first, b == first) {
        (true, _) => Some((b - a).normalize_or_zero()),
        (_, true) => Some((a - b).normalize_or_zero()),
        _ => None,
    });
    edges.flat_map(|normal| [(first, normal), (2.0 * middle - first, -normal)]).collect()
}

/// Ends of the segments of an outline, each once.
fn corners(wire: &Wire) -> Vec<Vec3> {
    let mut corners: Vec<Vec3> = Vec::new();
    for &end in wire.segments.as_flattened() {
        if !corners.iter().any(|corner| corner.distance(end) < SAME * (1.0 + end.length())) {
            corners.push(end);
        }
    }
    corners
}

fn pane(corners: &[Vec3], point: Vec3, normal: Vec3) -> Option<[Vec3; 4]> {
    let size = corners.iter().map(|c| c.distance(corners[0])).fold(0.0, f32::max);
    let on: Vec<Vec3> = corners.iter().copied().filter(|c| (*c - point).dot(normal).abs() < SAME * size).collect();
    let &[a, b, c, d] = &on[..] else { return None };
    // The corner across from the first is the farthest from it.
    let far = |x: Vec3, y: Vec3, z: Vec3| {
        (x.distance(a) >= y.distance(a) && x.distance(a) >= z.distance(a)).then_some([a, y, x, z])
    };
    let corners = far(b, c, d).or_else(|| far(c, b, d)).or_else(|| far(d, b, c))?;
    Some(corners.map(|corner| corner - APART * size * normal))
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::{BodyInfo, Wall};

    #[test]
    fn a_tank_has_a_pane_for_each_of_its_sides_but_its_floor() {
        let corner = |k: u32| Vec3::new((k & 1) as f32 * 2.0, (k >> 1 & 1) as f32, (k >> 2) as f32 * 3.0);
        let mut segments = Vec::new();
        for k in 0..8 {
            segments.extend([1, 2, 4].into_iter().filter(|bit| k & bit == 0).map(|bit| [corner(k), corner(k | bit)]));
        }
        let sides = [(Vec3::ZERO, Vec3::X), (Vec3::X * 2.0, Vec3::NEG_X), (Vec3::ZERO, Vec3::Y), (Vec3::ZERO, Vec3::Z)];
        let walls = sides.map(|(point, normal)| Wall { body: 0, shape: WallShape::Plane { point, normal } });
        let frame = Frame { wires: vec![Wire { body: 0, segments }], walls: walls.to_vec(), ..Frame::default() };
        let found = panes(&frame);
        assert_eq!(found.len(), 3);
        // A grid has an outline, and no walls: all its sides but the floor.
        let info = BodyInfo { name: "box".into(), kind: BodyKind::Wall, color: [0.5; 3] };
        let of_grid = panes(&Frame { walls: Vec::new(), bodies: vec![info], ..frame });
        assert_eq!(of_grid.len(), 5);
        for [a, b, c, d] in found.into_iter().chain(of_grid) {
            assert!(
                ((b - a).length() * (d - a).length() - (c - a).cross(b - a).length()).abs() < 1e-5,
                "{a} {b} {c} {d}"
            );
        }
    }
}
