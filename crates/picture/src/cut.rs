//! Frames cut open by a plane.

use crate::Style;
use glam::Vec3;
use meniscus_core::{Foam, Frame, Particles, Surface};
use std::borrow::Cow;

/// The frame without what lies beyond the plane of a style: particles, triangles and lines whose middle does.
pub(crate) fn cut_open<'a>(frame: &'a Frame, style: &Style) -> Cow<'a, Frame> {
    let Some([point, normal]) = style.cut.map(|plane| plane.map(Vec3::from)) else { return Cow::Borrowed(frame) };
    let stays = |middle: Vec3| (middle - point).dot(normal) <= 0.0;
    let mut cut = frame.clone();
    cut.particles = particles(&frame.particles, stays);
    for Surface { positions, triangles, .. } in &mut cut.surfaces {
        let at = |k: u32| positions.get(k as usize).copied().unwrap_or(Vec3::NAN);
        triangles.retain(|&[a, b, c]| stays((at(a) + at(b) + at(c)) / 3.0));
    }
    let foam: Vec<usize> = (0..frame.foam.positions.len()).filter(|&i| stays(frame.foam.positions[i])).collect();
    let Foam { ids, bodies, kinds, positions, velocities, size } = &frame.foam;
    cut.foam = Foam {
        ids: some(ids, &foam),
        bodies: some(bodies, &foam),
        kinds: some(kinds, &foam),
        positions: some(positions, &foam),
        velocities: some(velocities, &foam),
        size: *size,
    };
    for wire in &mut cut.wires {
        wire.segments.retain(|&[a, b]| stays(0.5 * (a + b)));
    }
    Cow::Owned(cut)
}

fn some<T: Copy>(of: &[T], chosen: &[usize]) -> Vec<T> {
    chosen.iter().filter_map(|&i| of.get(i).copied()).collect()
}

fn particles(all: &Particles, stays: impl Fn(Vec3) -> bool) -> Particles {
    let chosen: Vec<usize> = (0..all.positions.len()).filter(|&i| stays(all.positions[i])).collect();
    Particles {
        ids: some(&all.ids, &chosen),
        bodies: some(&all.bodies, &chosen),
        positions: some(&all.positions, &chosen),
        velocities: some(&all.velocities, &chosen),
        densities: some(&all.densities, &chosen),
        pressures: some(&all.pressures, &chosen),
        spacing: all.spacing,
        spray: some(&all.spray, &chosen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_core::Wire;

    #[test]
    fn only_what_lies_before_the_plane_stays() {
        let positions = vec![Vec3::NEG_X, Vec3::ZERO, Vec3::X];
        let particles = Particles { ids: vec![3, 4, 5], positions: positions.clone(), ..Particles::default() };
        let foam = Foam { ids: vec![7, 8, 9], positions: positions.clone(), ..Foam::default() };
        let surface = Surface { positions, triangles: vec![[0, 0, 1], [2, 1, 2]], ..Surface::default() };
        let wire = Wire { body: 0, segments: vec![[Vec3::X, Vec3::X * 2.0], [Vec3::NEG_X, Vec3::ZERO]] };
        let frame = Frame { particles, surfaces: vec![surface], wires: vec![wire], foam, ..Frame::default() };
        let whole = cut_open(&frame, &Style::default());
        assert!(matches!(whole, Cow::Borrowed(_)));
        let cut = cut_open(&frame, &Style { cut: Some([[0.5, 0.0, 0.0], [2.0, 0.0, 0.0]]), ..Style::default() });
        assert_eq!(cut.particles.ids, [3, 4]);
        assert_eq!(cut.foam.ids, [7, 8]);
        assert_eq!(cut.surfaces[0].triangles, [[0, 0, 1]]);
        assert_eq!(cut.wires[0].segments.len(), 1);
    }
}
