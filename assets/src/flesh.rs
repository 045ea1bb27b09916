//! Values that shape a body: negative inside, about the signed distance near the surface \[m\].

use glam::{DMat3, DVec3};

/// A cone with round ends: spheres of radius `radii[0]` at `ends[0]` to `radii[1]` at `ends[1]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cone {
    pub(crate) ends: [DVec3; 2],
    pub(crate) radii: [f64; 2],
}

impl Cone {
    /// The sphere that the closest point of the axis carries; a little more than the distance where it tapers.
    pub(crate) fn value(&self, p: DVec3) -> f64 {
        let t = along(p, self.ends);
        p.distance(self.ends[0].lerp(self.ends[1], t)) - (self.radii[0] + t * (self.radii[1] - self.radii[0]))
    }
}

/// Where on a segment the closest point lies, from 0 to 1.
pub(crate) fn along(p: DVec3, [a, b]: [DVec3; 2]) -> f64 {
    let ab = b - a;
    if ab.length_squared() > 0.0 { ((p - a).dot(ab) / ab.length_squared()).clamp(0.0, 1.0) } else { 0.0 }
}

/// An ellipsoid with its own axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ellipsoid {
    pub(crate) center: DVec3,
    pub(crate) radii: DVec3,
    /// From its own axes to ours.
    pub(crate) axes: DMat3,
}

impl Ellipsoid {
    /// About the signed distance: the value of the quadric over the length of its gradient.
    pub(crate) fn value(&self, p: DVec3) -> f64 {
        let q = self.axes.transpose() * (p - self.center);
        let (scaled, twice) = ((q / self.radii).length(), (q / (self.radii * self.radii)).length());
        if twice > 0.0 { scaled * (scaled - 1.0) / twice } else { -self.radii.min_element() }
    }
}

/// A piece of flesh.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Piece {
    Cone(Cone),
    Ellipsoid(Ellipsoid),
}

impl Piece {
    pub(crate) fn value(&self, p: DVec3) -> f64 {
        match self {
            Self::Cone(cone) => cone.value(p),
            Self::Ellipsoid(ellipsoid) => ellipsoid.value(p),
        }
    }
}

/// A cone from millimetres.
pub(crate) fn cone(a: DVec3, b: DVec3, radii: [f64; 2]) -> Piece {
    Piece::Cone(Cone { ends: [a, b], radii })
}

/// An ellipsoid along our axes.
pub(crate) fn ball(center: DVec3, radii: [f64; 3]) -> Piece {
    turned(center, radii, DMat3::IDENTITY)
}

/// An ellipsoid with its own axes.
pub(crate) fn turned(center: DVec3, radii: [f64; 3], axes: DMat3) -> Piece {
    Piece::Ellipsoid(Ellipsoid { center, radii: DVec3::from(radii), axes })
}

/// Axes whose first points along a direction and whose third lies as close to another as it can.
pub(crate) fn axes(along: DVec3, third: DVec3) -> DMat3 {
    let x = along.normalize();
    let y = third.cross(x).normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

/// The smaller of two values, blended where they differ by less than `blend`.
pub(crate) fn melt(a: f64, b: f64, blend: f64) -> f64 {
    let h = (blend - (a - b).abs()).max(0.0) / blend;
    a.min(b) - 0.25 * blend * h * h
}

/// All pieces melted together.
pub(crate) fn melted(pieces: &[Piece], blend: f64, p: DVec3) -> f64 {
    pieces.iter().fold(f64::MAX, |value, piece| {
        let next = piece.value(p);
        if value == f64::MAX { next } else { melt(value, next, blend) }
    })
}
