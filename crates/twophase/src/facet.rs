//! The polygon that a plane cuts out of a unit cell.

use crate::plic::Plane;
use glam::DVec3;

/// A plane cuts at most six edges of a cube.
const MAX_EDGES: usize = 6;

/// A convex polygon in a unit cell, counter-clockwise seen from the gas. Lengths in cells.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Facet {
    vertices: [DVec3; MAX_EDGES],
    count: usize,
    /// Unit normal out of the liquid.
    normal: DVec3,
}

impl Facet {
    /// The part of a plane inside the cell: the plane over the unit square across its main axis, cut at 0 and 1.
    pub(crate) fn new(plane: &Plane) -> Self {
        let n = DVec3::from_array(plane.normal);
        let main = if n.x.abs() >= n.y.abs() && n.x.abs() >= n.z.abs() {
            0
        } else if n.y.abs() >= n.z.abs() {
            1
        } else {
            2
        };
        let (s, t) = ((main + 1) % 3, (main + 2) % 3);
        let mut facet = Self { normal: n.normalize_or_zero(), ..Self::default() };
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        for k in 0..4 {
            // The other way round where the normal points down.
            let [a, b] = corners[if n[main] > 0.0 { k } else { 3 - k }];
            let mut vertex = DVec3::ZERO;
            vertex[s] = a;
            vertex[t] = b;
            vertex[main] = (plane.constant - n[s] * a - n[t] * b) / n[main];
            facet.push(vertex);
        }
        facet.clip(|v| v[main]);
        facet.clip(|v| 1.0 - v[main]);
        facet
    }

    fn push(&mut self, vertex: DVec3) {
        if let Some(slot) = self.vertices.get_mut(self.count) {
            *slot = vertex;
            self.count += 1;
        }
    }

    /// Keeps the part where `height`, which is linear, is not negative.
    fn clip(&mut self, height: impl Fn(DVec3) -> f64) {
        let old = *self;
        self.count = 0;
        for (a, b) in old.edges() {
            let (ha, hb) = (height(a), height(b));
            if ha >= 0.0 {
                self.push(a);
            }
            if (ha >= 0.0) != (hb >= 0.0) {
                self.push(a + (b - a) * (ha / (ha - hb)));
            }
        }
    }

    pub(crate) fn vertices(&self) -> &[DVec3] {
        &self.vertices[..self.count]
    }

    fn edges(&self) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
        let v = self.vertices();
        v.iter().copied().zip(v.iter().copied().cycle().skip(1))
    }

    /// Area and centroid; the mean of the vertices if there is no area.
    pub(crate) fn area_and_centroid(&self) -> (f64, DVec3) {
        let v = self.vertices();
        let mean = v.iter().copied().sum::<DVec3>() / (v.len().max(1) as f64);
        let (mut area, mut moment) = (0.0, DVec3::ZERO);
        for (a, b) in self.edges() {
            let triangle = 0.5 * (a - mean).cross(b - mean).dot(self.normal);
            area += triangle;
            moment += triangle * (a + b + mean) / 3.0;
        }
        if area > 1e-12 { (area, moment / area) } else { (area.max(0.0), mean) }
    }

    /// Distance of a point, or `best` if that is smaller.
    #[inline(always)]
    pub(crate) fn distance(&self, x: DVec3, best: f64) -> f64 {
        let Some(&first) = self.vertices().first() else { return best };
        let height = (x - first).dot(self.normal);
        if height.abs() >= best {
            return best;
        }
        let foot = x - height * self.normal;
        let mut nearest = f64::INFINITY;
        let mut inside = true;
        for (a, b) in self.edges() {
            let (edge, arm) = (b - a, foot - a);
            if edge.cross(arm).dot(self.normal) < 0.0 {
                inside = false;
                let along = (arm.dot(edge) / edge.length_squared().max(1e-30)).clamp(0.0, 1.0);
                nearest = nearest.min((arm - along * edge).length_squared());
            }
        }
        let distance = if inside { height.abs() } else { (height * height + nearest).sqrt() };
        distance.min(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn facets_lie_on_their_plane_inside_the_cell(
            normal in prop::array::uniform3(-1.0..1.0f64), fraction in 0.001..0.999f64,
        ) {
            let plane = Plane::with_volume(normal, fraction);
            let facet = Facet::new(&plane);
            prop_assert!(facet.count >= 3);
            for &v in facet.vertices() {
                prop_assert!(plane.depth(v.to_array()).abs() < 1e-12);
                prop_assert!(v.min_element() > -1e-12 && v.max_element() < 1.0 + 1e-12);
            }
            // dV = area times distance moved.
            let step = 1e-5;
            let size = DVec3::from_array(plane.normal).length();
            let moved = |by: f64| Plane { constant: plane.constant + by * size, ..plane }.volume();
            let (area, centroid) = facet.area_and_centroid();
            prop_assert!((area - (moved(step) - moved(-step)) / (2.0 * step)).abs() < 1e-4);
            prop_assert!(plane.depth(centroid.to_array()).abs() < 1e-12);
        }

        #[test]
        fn distances_are_those_of_the_nearest_of_many_points(
            normal in prop::array::uniform3(-1.0..1.0f64), fraction in 0.01..0.99f64,
            x in prop::array::uniform3(-2.0..3.0f64).prop_map(DVec3::from),
        ) {
            let facet = Facet::new(&Plane::with_volume(normal, fraction));
            let distance = facet.distance(x, f64::INFINITY);
            let (_, middle) = facet.area_and_centroid();
            let mut nearest = f64::INFINITY;
            for (a, b) in facet.edges() {
                for i in 0..=60 {
                    for j in 0..=60 {
                        let (s, t) = (f64::from(i) / 60.0, f64::from(j) / 60.0);
                        nearest = nearest.min(x.distance(middle.lerp(a.lerp(b, t), s)));
                    }
                }
            }
            prop_assert!(distance <= nearest + 1e-12 && distance > nearest - 0.02);
            prop_assert_eq!(facet.distance(x, 0.5 * distance), 0.5 * distance);
        }
    }
}
