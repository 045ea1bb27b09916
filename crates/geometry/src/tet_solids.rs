//! Tetrahedral meshes of simple bodies, from regular patterns: tube, cylinder, ball and pool. A box is
//! [`TetMesh::block`].
//!
//! Round bodies have the volume of the round body, not of a polyhedron inside it: their vertices lie a little outside
//! the circles and spheres, the middles of their faces a little inside.

mod disc;
mod onion;
mod patchwork;
mod pool;

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use crate::{Aabb, TetMesh, TetMeshError, TetSize};
use disc::{disc, prism};
use onion::Onion;
use patchwork::Patchwork;
use pool::PoolLines;

/// Tetrahedra of a body, at most.
pub const LARGEST_BODY: f64 = 1e8;

/// Why a body cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A size is zero, negative, infinite or not a number.
    #[error("{what} must be positive and finite, not {value}")]
    Size {
        /// What must be positive.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// The inner radius of a tube is not smaller than the outer one.
    #[error("the inner radius of a tube, {inner} m, must be smaller than its outer radius, {outer} m")]
    Radii {
        /// Inner radius \[m\].
        inner: f64,
        /// Outer radius \[m\].
        outer: f64,
    },
    /// There would be too many tetrahedra.
    #[error("the body would have {tets:.1e} tetrahedra; the largest has {LARGEST_BODY:e}")]
    TooMany {
        /// How many.
        tets: f64,
    },
    /// What came out is no mesh: a size is too small for the numbers around it.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

fn positive(what: &'static str, value: f64) -> Result<(), BodyError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(BodyError::Size { what, value }) }
}

fn few_enough(tets: f64) -> Result<(), BodyError> {
    // Also false for what is not a number.
    let few = tets <= LARGEST_BODY;
    if few { Ok(()) } else { Err(BodyError::TooMany { tets }) }
}

/// A straight tube: a cylinder with a cylindrical hole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tube {
    /// Centre of one end \[m\].
    pub start: DVec3,
    /// Centre of the other end \[m\].
    pub end: DVec3,
    /// Inner and outer radius \[m\].
    pub radii: [f64; 2],
    /// Cells around: made even, at least 6.
    pub around: u32,
    /// Cells along the axis, at least 1.
    pub along: u32,
    /// Cells through the wall, at least 1.
    pub through: u32,
}

/// An open box with thick walls and a thick floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// What the pool holds when it is full to the brim \[m\].
    pub inside: Aabb,
    /// Thickness of walls and floor \[m\].
    pub wall: f64,
    /// How fine: edges of cells are at most this long, or there are about so many tetrahedra.
    pub size: TetSize,
}

impl TetMesh {
    /// A tube of cells, five tetrahedra each.
    ///
    /// # Errors
    /// When a size is not positive or there are too many tetrahedra.
    pub fn tube(tube: &Tube) -> Result<Self, BodyError> {
        let [inner, outer] = tube.radii;
        positive("the inner radius of a tube", inner)?;
        positive("the outer radius of a tube", outer)?;
        positive("the length of a tube", tube.start.distance(tube.end))?;
        if inner >= outer {
            return Err(BodyError::Radii { inner, outer });
        }
        // The split alternates from cell to cell, also across the seam.
        let around = tube.around.max(6).saturating_add(1) / 2 * 2;
        let cells = [around, tube.along.max(1), tube.through.max(1)];
        few_enough(5.0 * cells.map(f64::from).iter().product::<f64>())?;
        let swell = polygon_swell(around);
        let (u, v) = (tube.end - tube.start).normalize_or(DVec3::Y).any_orthonormal_pair();
        let part = |k: u32, n: u32| f64::from(k) / f64::from(n);
        let vertex = |[i, j, k]: [u32; 3]| {
            let (sin, cos) = libm::sincos(TAU * part(i, around));
            let radius = swell * (inner + (outer - inner) * part(k, cells[2]));
            tube.start.lerp(tube.end, part(j, cells[1])) + radius * (cos * u + sin * v)
        };
        let wrapped = move |[i, j, k]: [u32; 3]| [i % around, j, k];
        Ok(Patchwork::new(cells, |_| true, wrapped).mesh(vertex)?)
    }

    /// A cylinder between the centres of its ends \[m\]: `rings` of triangles, six in the innermost, in each of `along`
    /// layers, three tetrahedra on each triangle.
    ///
    /// # Errors
    /// When a size is not positive or there are too many tetrahedra.
    pub fn cylinder([start, end]: [DVec3; 2], radius: f64, rings: u32, along: u32) -> Result<Self, BodyError> {
        positive("the radius of a cylinder", radius)?;
        positive("the length of a cylinder", start.distance(end))?;
        let (rings, along) = (rings.max(1), along.max(1));
        few_enough(18.0 * f64::from(rings) * f64::from(rings) * f64::from(along))?;
        let radius = radius * polygon_swell(6 * rings);
        let (u, v) = (end - start).normalize_or(DVec3::Y).any_orthonormal_pair();
        let (points, triangles) = disc(rings);
        let mut vertices = Vec::new();
        for layer in 0..=along {
            let center = start.lerp(end, f64::from(layer) / f64::from(along));
            vertices.extend(points.iter().map(|&[x, y]| center + radius * (x * u + y * v)));
        }
        let mut tets = Vec::new();
        for layer in 0..along {
            for triangle in &triangles {
                tets.extend(prism(*triangle, layer, points.len() as u32));
            }
        }
        Ok(Self::new(vertices, tets)?)
    }

    /// A ball of 20 n³ tetrahedra: an icosahedron cut into `n` layers of equal thickness, each lifted onto its sphere.
    ///
    /// # Errors
    /// When the radius is not positive or there are too many tetrahedra.
    pub fn ball(center: DVec3, radius: f64, n: u32) -> Result<Self, BodyError> {
        positive("the radius of a ball", radius)?;
        let n = n.max(1);
        few_enough(20.0 * f64::from(n).powi(3))?;
        let unit = Onion::new(n).mesh()?;
        let swell = libm::cbrt(4.0 / 3.0 * PI / unit.volume());
        let vertices = unit.vertices().iter().map(|&v| center + radius * swell * v).collect();
        Ok(Self::new(vertices, unit.tets().to_vec())?)
    }

    /// A pool: an open box of cells, five tetrahedra each, that match at the corners.
    ///
    /// # Errors
    /// When a size is not positive or there are too many tetrahedra.
    pub fn pool(pool: &Pool) -> Result<Self, BodyError> {
        positive("the smallest edge of the inside of a pool", pool.inside.size().min_element())?;
        positive("the largest edge of the inside of a pool", pool.inside.size().max_element())?;
        positive("the walls of a pool", pool.wall)?;
        let lines = match pool.size {
            TetSize::Edge(edge) => {
                positive("the length of edges", edge)?;
                PoolLines::with_edges(pool, edge)
            }
            TetSize::Count(count) => {
                positive("the number of tetrahedra", count as f64)?;
                PoolLines::with_about(pool, count as f64)
            }
        };
        few_enough(lines.tets())?;
        lines.mesh()
    }
}

/// A regular polygon with the area of a circle has its corners this many times farther out.
fn polygon_swell(corners: u32) -> f64 {
    let n = f64::from(corners);
    (TAU / (n * libm::sin(TAU / n))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TriangleMesh;

    fn near(value: f64, expected: f64, relative: f64) -> bool {
        (value / expected - 1.0).abs() <= relative
    }

    /// In one piece, with a closed surface, no overlaps, and the smallest angle no smaller than this \[degrees\].
    fn assert_sound(mesh: &TetMesh, angle: f64) -> TriangleMesh {
        let surface = TriangleMesh::new(mesh.vertices().to_vec(), mesh.surface()).unwrap();
        surface.closed().unwrap();
        assert!(near(surface.signed_volume(), mesh.volume(), 1e-12));
        assert!(mesh.components().iter().all(|&piece| piece == 0));
        let quality = mesh.quality();
        assert!(quality.min_dihedral > angle, "{quality:?}");
        let mut used = vec![false; mesh.vertices().len()];
        mesh.tets().iter().flatten().for_each(|&v| used[v as usize] = true);
        assert!(used.iter().all(|&used| used));
        surface
    }

    #[test]
    fn tubes_close_round_the_seam() {
        for (around, made) in [(3, 6), (7, 8), (24, 24)] {
            let tube = Tube {
                start: DVec3::new(0.1, 0.2, 0.3),
                end: DVec3::new(0.4, 0.2, 0.9),
                radii: [0.08, 0.1],
                around,
                along: 9,
                through: 1,
            };
            let mesh = TetMesh::tube(&tube).unwrap();
            assert_eq!(mesh.tets().len(), 5 * made * 9);
            assert!(near(mesh.volume(), PI * (0.01 - 0.0064) * tube.start.distance(tube.end), 1e-12));
            assert_sound(&mesh, 8.0);
        }
        let thick = Tube { start: DVec3::ZERO, end: DVec3::X, radii: [0.1, 0.3], around: 20, along: 10, through: 3 };
        assert_sound(&TetMesh::tube(&thick).unwrap(), 25.0);
    }

    #[test]
    fn cylinders_are_full() {
        let ends = [DVec3::new(0.0, 1.0, 0.0), DVec3::new(1.0, 1.5, 0.2)];
        for (rings, along) in [(1, 3), (2, 5), (5, 12)] {
            let mesh = TetMesh::cylinder(ends, 0.4, rings, along).unwrap();
            assert_eq!(mesh.tets().len() as u32, 18 * rings * rings * along);
            assert!(near(mesh.volume(), PI * 0.16 * ends[0].distance(ends[1]), 1e-12));
            assert_sound(&mesh, 25.0);
        }
    }

    #[test]
    fn balls_are_round() {
        let center = DVec3::new(0.0, 1.0, 0.0);
        for n in 1..=7u32 {
            let mesh = TetMesh::ball(center, 0.4, n).unwrap();
            assert_eq!(mesh.tets().len() as u32, 20 * n.pow(3));
            assert!(near(mesh.volume(), 4.0 / 3.0 * PI * 0.064, 1e-12));
            let surface = assert_sound(&mesh, 25.0);
            let radii = surface.corners().flatten().map(|v| v.distance(center));
            let (low, high) = radii.fold((f64::INFINITY, 0.0f64), |(low, high), r| (low.min(r), high.max(r)));
            assert!(high - low < 1e-12 && low > 0.4 && (n < 3 || high < 0.42));
        }
    }

    #[test]
    fn pools_have_walls_of_their_thickness_and_the_number_asked_for() {
        let inside = Aabb::new(DVec3::ZERO, DVec3::new(1.0, 0.5, 1.0));
        let volume = 1.2 * 0.6 * 1.2 - 0.5;
        let mesh = TetMesh::pool(&Pool { inside, wall: 0.1, size: TetSize::Edge(0.1) }).unwrap();
        assert!(near(mesh.volume(), volume, 1e-12));
        assert_eq!(mesh.tets().len(), 5 * (12 * 6 * 12 - 10 * 5 * 10));
        let surface = assert_sound(&mesh, 50.0);
        assert_eq!(surface.bounds(), Aabb::new(DVec3::splat(-0.1), DVec3::new(1.1, 0.5, 1.1)));
        for (count, slack) in [(400, 0.2), (800, 0.1), (3000, 0.1)] {
            let mesh = TetMesh::pool(&Pool { inside, wall: 0.1, size: TetSize::Count(count) }).unwrap();
            assert!(near(mesh.tets().len() as f64, count as f64, slack), "{count} {}", mesh.tets().len());
            assert!(near(mesh.volume(), volume, 1e-12));
            assert_sound(&mesh, 20.0);
        }
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        let tube = Tube { start: DVec3::ZERO, end: DVec3::X, radii: [0.1, 0.2], around: 8, along: 2, through: 1 };
        assert!(TetMesh::tube(&tube).is_ok());
        let bad = [
            Tube { radii: [0.2, 0.2], ..tube },
            Tube { radii: [0.0, 0.2], ..tube },
            Tube { radii: [0.1, f64::NAN], ..tube },
            Tube { end: DVec3::ZERO, ..tube },
            Tube { end: DVec3::NAN, ..tube },
            Tube { around: u32::MAX, along: u32::MAX, ..tube },
        ];
        assert!(bad.iter().all(|tube| TetMesh::tube(tube).is_err()));
        assert!(TetMesh::ball(DVec3::ZERO, -1.0, 3).is_err() && TetMesh::ball(DVec3::ZERO, 1.0, u32::MAX).is_err());
        assert!(TetMesh::ball(DVec3::NAN, 1.0, 3).is_err());
        assert!(TetMesh::cylinder([DVec3::ZERO; 2], 1.0, 3, 3).is_err());
        assert!(TetMesh::cylinder([DVec3::ZERO, DVec3::X], 1.0, u32::MAX, u32::MAX).is_err());
        let pool = Pool { inside: Aabb::new(DVec3::ZERO, DVec3::ONE), wall: 0.1, size: TetSize::Count(800) };
        let bad = [
            Pool { wall: 0.0, ..pool },
            Pool { inside: Aabb::EMPTY, ..pool },
            Pool { size: TetSize::Count(0), ..pool },
            Pool { size: TetSize::Count(usize::MAX), ..pool },
            Pool { size: TetSize::Edge(1e-9), ..pool },
            Pool { size: TetSize::Edge(f64::NAN), ..pool },
        ];
        assert!(bad.iter().all(|pool| TetMesh::pool(pool).is_err()));
    }
}
