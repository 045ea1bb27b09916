//! Leaflets of valves: surfaces of straight lines from a ring to a free edge, which turn about the ring.

use glam::DVec3;

/// The ring that leaflets hang on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    pub(crate) center: DVec3,
    /// The way that liquid takes through it.
    pub(crate) normal: DVec3,
    /// \[m\]
    pub(crate) radius: f64,
    /// Where angles are counted from, across the normal.
    pub(crate) start: DVec3,
}

impl Ring {
    fn point(&self, radius: f64, angle: f64) -> DVec3 {
        let (sin, cos) = libm::sincos(angle);
        self.center + radius * (cos * self.start + sin * self.normal.cross(self.start))
    }

    /// Signed distance along the flow \[m\].
    pub(crate) fn height(&self, p: DVec3) -> f64 {
        (p - self.center).dot(self.normal)
    }
}

/// A valve of equal leaflets side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Valve {
    pub(crate) ring: Ring,
    pub(crate) leaflets: usize,
    /// How much the leaflets lean with the flow when shut and when open \[degrees\].
    pub(crate) leans: [f64; 2],
    /// How far a leaflet reaches beyond the middle between it and the next, when shut \[m\].
    pub(crate) overlap: f64,
}

/// Lines of a leaflet, and points of a line.
const LINES: usize = 18;
const POINTS: usize = 8;

impl Valve {
    /// Vertices of all leaflets, opened from 0 (shut) to 1.
    pub(crate) fn vertices(&self, open: f64) -> Vec<DVec3> {
        let lean = (self.leans[0] + open * (self.leans[1] - self.leans[0])).to_radians();
        let half = std::f64::consts::PI / self.leaflets as f64;
        let mut vertices = Vec::new();
        for leaflet in 0..self.leaflets {
            let middle = 2.0 * half * leaflet as f64;
            for line in 0..=LINES {
                let t = 2.0 * line as f64 / LINES as f64 - 1.0;
                let (rim, edge) = (self.ring.point(self.ring.radius, middle + t * half), self.edge(middle, half, t));
                let across = edge - rim;
                let inwards = across.normalize_or_zero();
                // Leaning with the flow, a line must be longer to meet its neighbour when shut.
                let shut = libm::cos(self.leans[0].to_radians());
                let length = (across.length() + self.overlap * (1.0 - t.abs())) / shut;
                let (sin, cos) = libm::sincos(lean);
                let direction = cos * inwards + sin * self.ring.normal;
                vertices.extend((0..POINTS).map(|n| rim + length * n as f64 / (POINTS - 1) as f64 * direction));
            }
        }
        vertices
    }

    /// For each of the vertices, where its line begins on the ring.
    pub(crate) fn rims(vertices: &[DVec3]) -> impl Iterator<Item = DVec3> {
        (0..vertices.len()).map(|v| vertices[v - v % POINTS])
    }

    /// Where a line ends when shut: on the lines from the commissures to the middle of the ring.
    fn edge(&self, middle: f64, half: f64, t: f64) -> DVec3 {
        let commissure = self.ring.point(self.ring.radius, middle + half * t.signum());
        self.ring.center.lerp(commissure, t.abs())
    }

    pub(crate) fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles = Vec::new();
        for leaflet in 0..self.leaflets {
            let vertex = |line: usize, point: usize| (((leaflet * (LINES + 1)) + line) * POINTS + point) as u32;
            for (line, point) in (0..LINES).flat_map(|line| (0..POINTS - 1).map(move |point| (line, point))) {
                let [a, b] = [vertex(line, point), vertex(line + 1, point)];
                let [c, d] = [vertex(line + 1, point + 1), vertex(line, point + 1)];
                // At the commissures a line has no length.
                triangles.extend((line < LINES - 1).then_some([a, b, c]));
                triangles.extend((line > 0).then_some([a, c, d]));
            }
        }
        triangles
    }
}
