//! Filling shapes with particles on a cubic lattice.

use glam::{DVec3, UVec3};
use rayon::prelude::*;

use crate::{Region, Shape, ShapeError};

/// No more particles than this are made at once: 2.4 GB of positions.
pub const LARGEST_FILL: f64 = 1e8;

/// Below this expected number of particles two lattices are compared; above it they differ by less than a percent.
const COARSE: f64 = 1e5;

/// Distances within this share of a spacing count as equal.
const ROUND_OFF: f64 = 1e-6;

/// Something that particles must stay out of.
#[derive(Debug, Clone, PartialEq)]
pub struct KeepOut {
    /// The forbidden region.
    pub shape: Shape,
    /// How far to stay away from it \[m\], zero or more.
    pub clearance: f64,
}

/// Why a shape cannot be filled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FillError {
    /// The spacing makes no sense.
    #[error("the spacing must be positive and finite, not {spacing} m")]
    Spacing {
        /// What was given \[m\].
        spacing: f64,
    },
    /// The clearance makes no sense.
    #[error("the clearance of exclusion {index} must be zero or more and finite, not {clearance} m")]
    Clearance {
        /// Number of the exclusion, from 0.
        index: usize,
        /// What was given \[m\].
        clearance: f64,
    },
    /// More particles than can be held.
    #[error(
        "a spacing of {spacing} m asks for about {estimate:.1e} particles; at most {LARGEST_FILL:.0e} are made at once"
    )]
    TooMany {
        /// About how many particles it would be.
        estimate: f64,
        /// The spacing that asks for them \[m\].
        spacing: f64,
    },
    /// The shape to fill has no inside.
    #[error("cannot fill the shape: {0}")]
    Shape(ShapeError),
    /// A shape to stay out of has no inside.
    #[error("cannot keep particles out of exclusion {index}: {error}")]
    Exclusion {
        /// Number of the exclusion, from 0.
        index: usize,
        /// What is wrong with it.
        error: ShapeError,
    },
}

/// About how many particles fill a shape, from volumes alone: nothing is allocated.
#[must_use]
pub fn count_estimate(shape: &Shape, spacing: f64) -> f64 {
    shape.volume() / (spacing * spacing * spacing)
}

/// Positions \[m\] of particles `spacing` \[m\] apart that fill `shape` and stay out of `exclude`: in rising order of
/// z, then y, then x.
///
/// In a box the first layer sits half a spacing inside its lower faces, so that n spacings hold exactly n particles. In
/// other shapes the lattice is centred on the bounding box, with a particle or a gap in the middle: for small numbers
/// whichever comes closer to the volume, otherwise as in a box.
///
/// # Errors
/// Sizes that make no sense, open meshes (with the place), or more than [`LARGEST_FILL`] particles.
pub fn fill(shape: &Shape, spacing: f64, exclude: &[KeepOut]) -> Result<Vec<DVec3>, FillError> {
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(FillError::Spacing { spacing });
    }
    let region = Region::new(shape).map_err(FillError::Shape)?;
    let forbidden =
        exclude.iter().enumerate().map(|(i, e)| Forbidden::new(i, e, spacing)).collect::<Result<Vec<_>, _>>()?;
    let lattices = Lattice::candidates(shape, spacing)?;
    let wanted = region.volume() / (spacing * spacing * spacing);
    let full = lattices.iter().map(|lattice| lattice.inside(&region)).min_by(|a, b| {
        let miss = |points: &Vec<DVec3>| (points.len() as f64 - wanted).abs();
        miss(a).total_cmp(&miss(b))
    });
    let mut points = full.unwrap_or_default();
    if !forbidden.is_empty() {
        points = points.into_par_iter().filter(|&p| !forbidden.iter().any(|f| f.holds(p))).collect();
    }
    Ok(points)
}

/// A region with its clearance, less what rounding may take away.
struct Forbidden {
    region: Region,
    reach: f64,
}

impl Forbidden {
    fn new(index: usize, keep_out: &KeepOut, spacing: f64) -> Result<Self, FillError> {
        let clearance = keep_out.clearance;
        if !(clearance >= 0.0 && clearance.is_finite()) {
            return Err(FillError::Clearance { index, clearance });
        }
        let region = Region::new(&keep_out.shape).map_err(|error| FillError::Exclusion { index, error })?;
        Ok(Self { region, reach: clearance - ROUND_OFF * spacing })
    }

    fn holds(&self, p: DVec3) -> bool {
        self.region.is_nearer(p, self.reach)
    }
}

/// Points on a cubic lattice, along the axes.
struct Lattice {
    first: DVec3,
    spacing: f64,
    count: UVec3,
}

impl Lattice {
    /// The lattices to choose from, none of them too large.
    fn candidates(shape: &Shape, spacing: f64) -> Result<Vec<Self>, FillError> {
        let bounds = shape.bounds();
        let across = (bounds.size() / spacing + ROUND_OFF).floor();
        let estimate = count_estimate(shape, spacing);
        // Thin bodies in large boxes cost time for the whole box.
        if !(estimate <= LARGEST_FILL && across.element_product() <= 100.0 * LARGEST_FILL && across.max_element() < 1e9)
        {
            return Err(FillError::TooMany { estimate, spacing });
        }
        let centered = |across: DVec3| Self {
            first: bounds.center() - 0.5 * spacing * (across - 1.0),
            spacing,
            count: across.as_uvec3(),
        };
        Ok(match shape {
            Shape::Box(_) => vec![Self { first: bounds.min + 0.5 * spacing, spacing, count: across.as_uvec3() }],
            _ if estimate < COARSE => vec![centered(across), centered(across + 1.0)],
            _ => vec![centered(across)],
        })
    }

    /// The points inside a region, row by row. The order does not depend on the number of threads.
    fn inside(&self, region: &Region) -> Vec<DVec3> {
        let [nx, ny, nz] = self.count.to_array().map(u64::from);
        let slack = ROUND_OFF * self.spacing;
        let row = |row: u64| {
            let points = (0..nx).map(move |x| self.point(x, row % ny, row / ny));
            points.filter(move |&p| region.contains_up_to(p, slack))
        };
        (0..ny * nz).into_par_iter().flat_map_iter(row).collect()
    }

    fn point(&self, x: u64, y: u64, z: u64) -> DVec3 {
        self.first + self.spacing * DVec3::new(x as f64, y as f64, z as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, TriangleMesh, solids};
    use proptest::prelude::*;

    fn sphere(radius: f64) -> Shape {
        Shape::Sphere { center: DVec3::new(0.3, -0.2, 0.1), radius }
    }

    fn filled(shape: &Shape, spacing: f64) -> Vec<DVec3> {
        fill(shape, spacing, &[]).unwrap()
    }

    /// Filled volume over true volume, less one.
    fn excess(shape: &Shape, spacing: f64) -> f64 {
        filled(shape, spacing).len() as f64 / count_estimate(shape, spacing) - 1.0
    }

    #[test]
    fn a_box_of_n_spacings_holds_n_particles_per_axis() {
        let tank = Shape::Box(Aabb::new(DVec3::ZERO, DVec3::new(0.5, 1.0, 0.1)));
        let points = filled(&tank, 0.025);
        assert_eq!(points.len(), 20 * 40 * 4);
        assert_eq!(points[0], DVec3::splat(0.0125));
        assert!(points[points.len() - 1].distance(DVec3::new(0.4875, 0.9875, 0.0875)) < 1e-12);
        assert!(points.is_sorted_by_key(|p| {
            p.to_array().map(|x| (x * 1e6).round() as i64).into_iter().rev().collect::<Vec<_>>()
        }));
    }

    #[test]
    fn a_box_thinner_than_a_spacing_holds_nothing() {
        assert!(filled(&Shape::Box(Aabb::new(DVec3::ZERO, DVec3::new(1.0, 0.09, 1.0))), 0.1).is_empty());
    }

    #[test]
    fn a_sphere_of_ten_spacings_has_its_volume() {
        for spacing in [0.1, 0.025, 1.0, 0.3] {
            assert!(excess(&sphere(10.0 * spacing), spacing).abs() < 0.02, "radius of ten");
            assert!(excess(&sphere(5.0 * spacing), spacing).abs() < 0.02, "diameter of ten");
        }
    }

    #[test]
    fn a_cylinder_along_an_axis_is_filled_layer_by_layer() {
        let pipe = Shape::Cylinder { start: DVec3::ZERO, end: DVec3::new(0.0, 1.0, 0.0), radius: 0.5 };
        let points = filled(&pipe, 0.1);
        assert!(excess(&pipe, 0.1).abs() < 0.02);
        let lowest = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!((lowest - 0.05).abs() < 1e-12);
    }

    #[test]
    fn lattices_are_centred() {
        for shape in [sphere(0.77), Shape::Mesh(solids::torus(DVec3::ONE, 0.6, 0.2, [30, 12]))] {
            let points = filled(&shape, 0.05);
            let middle = points.iter().sum::<DVec3>() / points.len() as f64;
            assert!(middle.distance(shape.bounds().center()) < 0.01);
        }
    }

    #[test]
    fn meshes_are_filled_like_the_bodies_they_stand_for() {
        let bounds = Aabb::new(DVec3::ZERO, DVec3::new(0.5, 0.4, 0.3));
        let [formula, mesh] = [Shape::Box(bounds), Shape::Mesh(solids::cuboid(&bounds))].map(|s| filled(&s, 0.025));
        assert_eq!((formula.len(), mesh.len()), (20 * 16 * 12, 20 * 16 * 12));
        assert!(formula.iter().zip(&mesh).all(|(a, b)| a.distance(*b) < 1e-12));
        let ball = Shape::Mesh(solids::icosphere(DVec3::ZERO, 1.0, 5));
        assert!(excess(&ball, 0.1).abs() < 0.02);
    }

    #[test]
    fn a_mesh_gives_the_same_particles_at_any_thread_count() {
        let ring = Shape::Mesh(solids::torus(DVec3::ZERO, 0.6, 0.2, [30, 12]));
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let [one, two, five] = [1, 2, 5].map(|n| pool(n).install(|| filled(&ring, 0.03)));
        assert!(one == two && one == five && one.len() > 1000);
    }

    #[test]
    fn particles_keep_their_clearance() {
        let tank = Shape::Box(Aabb::new(DVec3::ZERO, DVec3::ONE));
        let body = solids::icosphere(DVec3::splat(0.5), 0.2, 4);
        let region = Region::new(&Shape::Mesh(body.clone())).unwrap();
        let points = fill(&tank, 0.05, &[KeepOut { shape: Shape::Mesh(body), clearance: 0.05 }]).unwrap();
        let expected = filled(&tank, 0.05).into_iter().filter(|&p| region.signed_distance(p) >= 0.05);
        assert!(points.iter().copied().eq(expected) && points.len() < 8000);
    }

    #[test]
    fn a_particle_exactly_at_its_clearance_stays() {
        let tank = Shape::Box(Aabb::new(DVec3::ZERO, DVec3::ONE));
        let block = Aabb::new(DVec3::new(0.3, -1.0, -1.0), DVec3::new(0.6, 2.0, 2.0));
        for shape in [Shape::Box(block), Shape::Mesh(solids::cuboid(&block))] {
            for (clearance, layers) in [(0.0, 7), (0.05, 7), (0.06, 5)] {
                let points = fill(&tank, 0.1, &[KeepOut { shape: shape.clone(), clearance }]).unwrap();
                assert_eq!(points.len(), layers * 100);
            }
        }
    }

    #[test]
    fn hopeless_requests_are_refused_at_once() {
        let tank = Shape::Box(Aabb::new(DVec3::ZERO, DVec3::ONE));
        assert!((count_estimate(&tank, 1e-6) - 1e18).abs() < 1e6);
        let error = fill(&tank, 1e-6, &[]).unwrap_err();
        assert!(matches!(error, FillError::TooMany { .. }) && error.to_string().contains("1.0e18"), "{error}");
        for spacing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(fill(&tank, spacing, &[]), Err(FillError::Spacing { .. })));
        }
        let needle = Shape::Cylinder { start: DVec3::ZERO, end: DVec3::ONE * 1e3, radius: 1e-5 };
        assert!(matches!(fill(&needle, 1e-4, &[]), Err(FillError::TooMany { .. })));
        let exclude = [KeepOut { shape: sphere(1.0), clearance: -0.1 }];
        assert!(matches!(fill(&tank, 0.1, &exclude), Err(FillError::Clearance { index: 0, .. })));
    }

    #[test]
    fn open_meshes_are_refused_with_the_place() {
        let full = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        let open = TriangleMesh::new(full.vertices().to_vec(), full.triangles()[2..].to_vec()).unwrap();
        let error = fill(&Shape::Mesh(open.clone()), 0.1, &[]).unwrap_err();
        assert!(error.to_string().contains("[0, 0.5, 0] m is open (4 open"), "{error}");
        let exclude = [KeepOut { shape: Shape::Mesh(open), clearance: 0.0 }];
        assert!(matches!(fill(&sphere(1.0), 0.1, &exclude), Err(FillError::Exclusion { index: 0, .. })));
    }

    proptest! {
        #[test]
        fn boxes_of_whole_spacings_are_exact(
            n in prop::array::uniform3(1u32..12), spacing in 1e-4..10.0f64,
            corner in prop::array::uniform3(-10.0..10.0f64),
        ) {
            let corner = DVec3::from(corner);
            let size = spacing * DVec3::from(n.map(f64::from));
            let count = filled(&Shape::Box(Aabb::new(corner, corner + size)), spacing).len();
            prop_assert_eq!(count as u32, n.iter().product::<u32>());
        }

        #[test]
        fn spheres_hold_their_volume(radius in 0.9..1.1f64, spacing in 0.05..0.1f64) {
            prop_assert!(excess(&sphere(radius), spacing).abs() < 0.025);
        }
    }
}
