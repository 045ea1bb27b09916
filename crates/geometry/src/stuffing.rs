//! Tetrahedral meshes of solids by isosurface stuffing \[LS07\].
//!
//! 1. A lattice of tetrahedra, all alike, is laid over the solid, and the signed distance φ to its surface is asked at
//!    every node.
//! 2. Where an edge of the lattice goes from inside (φ < c) to outside, the point with φ = c is found: a cut.
//! 3. A node that has a cut nearer than a part α of the edge moves onto it, so that no piece gets too thin.
//! 4. Of each tetrahedron the part inside is kept, cut into at most three by a few stencils that match at faces.
//!
//! All angles between faces lie between 10.7° and 164.8°, whatever the surface does. \[LS07\] prove these bounds for
//! their thresholds; [`ALPHA_LONG`] and [`ALPHA_SHORT`] were found by a search over all stencils with their corners and
//! cuts at the ends of their ranges, which a test repeats. Sharp edges and corners of the surface are rounded off at
//! the size of the lattice: what is shown is the surface itself, carried along as a [`Skin`](crate::Skin). Where sheets
//! of the solid are so near to each other that the mesh touches itself along an edge, the smaller side is left out.
//!
//! The surface of such a mesh has its vertices on the solid's, so a round solid loses volume between them. Level c is
//! therefore not zero but chosen such that the volume is that of the solid, which costs no quality. Where a coarse
//! lattice jumps from too little to too much, a small move of the surface vertices along their normals does the rest.

mod filling;
mod lattice;
mod stencil;
mod surface;
mod volume;

use glam::DVec3;

use crate::{Aabb, Bvh, NotClosed, SelfCrossing, TetMesh, TetMeshError, TriangleMesh};
use filling::Soup;
use lattice::Lattice;
use surface::{Cuts, Warped};

/// A node moves onto a cut that is nearer than this part of a long edge, dimensionless.
const ALPHA_LONG: f64 = 0.285;
/// A node moves onto a cut that is nearer than this part of a short edge, dimensionless.
const ALPHA_SHORT: f64 = 0.3985;

/// A surface that encloses less than this part of the cube of its longest side encloses nothing, dimensionless.
const FLAT: f64 = 1e-12;

/// Triangles of the surface of a body, at most. Ten million would take about three gigabytes and half a minute to fill.
pub const LARGEST_SURFACE: usize = 5_000_000;

/// Nodes of the lattice, at most: with more, memory is measured in gigabytes.
pub const LARGEST_LATTICE: f64 = 1e8;

/// The level may move this far from the surface, as a part of the lattice spacing.
const FARTHEST_LEVEL: f64 = 0.3;
/// Levels that are tried with rough cuts, and with exact ones.
const ROUGH_STEPS: usize = 10;
const FINE_STEPS: usize = 4;
/// Edge lengths that are tried to come near to a number of tetrahedra.
const MAX_SIZES: usize = 14;
/// Good enough as a part of the number of tetrahedra.
const COUNT_TOLERANCE: f64 = 0.03;
/// Good enough not to try a shifted lattice, as a part of the number of tetrahedra.
const COUNT_TOLERANCE_OF_FIRST: f64 = 0.13;
/// A shift of the lattice that has nothing to do with its symmetries, in edges.
const ODD_SHIFT: DVec3 = DVec3::new(0.11, 0.23, 0.37);

/// How fine a mesh of tetrahedra is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TetSize {
    /// About so many tetrahedra: within a fifth, where the lattice can do so.
    Count(usize),
    /// Edges of about this length \[m\]: inside, two of the six edges of a tetrahedron have it, the others √¾ of it.
    Edge(f64),
}

/// What to do with a surface that passes through itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SelfCrossings {
    /// Refuse it, and say where.
    #[default]
    Refuse,
    /// Fill whatever it goes round more than half a time. Its volume is then not known, and not matched.
    Fill,
}

/// How a surface is filled with tetrahedra.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TetOptions {
    /// How fine.
    pub size: TetSize,
    /// What to do with a surface that passes through itself, default: refuse.
    pub self_crossings: SelfCrossings,
}

impl TetOptions {
    /// About so many tetrahedra.
    #[must_use]
    pub fn count(tets: usize) -> Self {
        Self { size: TetSize::Count(tets), self_crossings: SelfCrossings::default() }
    }

    /// Edges of about this length \[m\].
    #[must_use]
    pub fn edge(length: f64) -> Self {
        Self { size: TetSize::Edge(length), self_crossings: SelfCrossings::default() }
    }
}

/// A solid filled with tetrahedra.
#[derive(Debug, Clone, PartialEq)]
pub struct Stuffed {
    /// The mesh.
    pub mesh: TetMesh,
    /// Length of the long edges inside \[m\].
    pub edge: f64,
    /// How far outside the given surface that of the mesh was put to match the volume \[m\].
    pub level: f64,
    /// Volume of the mesh over that of the solid, less 1, dimensionless; not a number when the latter is not known.
    pub volume_error: f64,
    /// Connected pieces of the surface that were turned to face outwards.
    pub turned: usize,
    /// Where the surface passes through itself, if it does and was filled nevertheless.
    pub self_crossing: Option<SelfCrossing>,
}

/// Why a surface cannot be filled with tetrahedra.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TetError {
    /// The surface has holes or other defects.
    #[error(transparent)]
    NotClosed(#[from] NotClosed),
    /// The surface passes through itself.
    #[error(transparent)]
    SelfCrossing(#[from] SelfCrossing),
    /// The surface is flat or a point.
    #[error("the surface encloses no volume: {volume:.3e} m³ in a box of {} m", size)]
    NoVolume {
        /// What it encloses \[m³\].
        volume: f64,
        /// Edges of the box around it \[m\].
        size: DVec3,
    },
    /// The surface is too large.
    #[error("the surface has {triangles} triangles: make it coarser, a body has at most {LARGEST_SURFACE}")]
    TooManyTriangles {
        /// Number of triangles.
        triangles: usize,
    },
    /// The size makes no sense.
    #[error("{what} must be positive and finite, not {value}")]
    Size {
        /// What must be positive.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// The lattice would be too large.
    #[error(
        "a lattice with edges of {edge:.3e} m over a box of {} m has {nodes:.1e} nodes; the largest has {LARGEST_LATTICE:e}",
        bounds.size()
    )]
    TooFine {
        /// Length of the long edges \[m\].
        edge: f64,
        /// The box around the solid \[m\].
        bounds: Aabb,
        /// Number of nodes.
        nodes: f64,
    },
    /// No node of the lattice is inside.
    #[error(
        "nothing is left of the solid: it is thinner than the edges of {edge:.3e} m; ask for more tetrahedra or shorter edges"
    )]
    NothingLeft {
        /// Length of the long edges \[m\].
        edge: f64,
    },
    /// What came out is no mesh.
    #[error(transparent)]
    Mesh(#[from] TetMeshError),
}

/// Fills a closed surface with tetrahedra.
///
/// # Errors
/// A surface that is open (with the place), flat, that passes through itself (with the place, unless
/// [allowed](SelfCrossings::Fill)), and sizes that cannot be had.
pub fn mesh_tets(surface: &TriangleMesh, options: &TetOptions) -> Result<Stuffed, TetError> {
    options.size.check()?;
    let triangles = surface.triangles().len();
    if triangles > LARGEST_SURFACE {
        return Err(TetError::TooManyTriangles { triangles });
    }
    let mut surface = surface.clone();
    let turned = surface.orient_outward()?;
    let (volume, size) = (surface.signed_volume(), surface.bounds().size());
    let longest = size.max_element();
    if volume.abs() <= FLAT * longest * longest * longest {
        return Err(TetError::NoVolume { volume, size });
    }
    let tree = Bvh::new(&surface);
    let self_crossing = tree.self_crossing();
    if let (Some(crossing), SelfCrossings::Refuse) = (self_crossing, options.self_crossings) {
        return Err(crossing.into());
    }
    let solid = Solid {
        signed_distance: |p: DVec3| tree.signed_distance(p),
        bounds: tree.bounds(),
        volume: self_crossing.is_none().then_some(volume),
    };
    let stuffed = solid.stuffed(options.size)?;
    Ok(Stuffed { turned, self_crossing, ..stuffed })
}

/// Fills the inside of a signed distance \[m\], negative inside, with tetrahedra. The function must not change by more
/// than the way between two points. `bounds` \[m\] hold all that is inside.
///
/// # Errors
/// Sizes that cannot be had.
pub fn stuff(signed_distance: impl Fn(DVec3) -> f64 + Sync, bounds: &Aabb, size: TetSize) -> Result<Stuffed, TetError> {
    size.check()?;
    Solid { signed_distance, bounds: *bounds, volume: None }.stuffed(size)
}

impl TetSize {
    fn check(self) -> Result<(), TetError> {
        let (what, value) = match self {
            Self::Count(count) => ("the number of tetrahedra", count as f64),
            Self::Edge(edge) => ("the length of edges", edge),
        };
        if value > 0.0 && value.is_finite() { Ok(()) } else { Err(TetError::Size { what, value }) }
    }
}

/// What is to be filled.
struct Solid<F> {
    signed_distance: F,
    bounds: Aabb,
    /// Volume \[m³\], if it is known.
    volume: Option<f64>,
}

impl<F: Fn(DVec3) -> f64 + Sync> Solid<F> {
    fn stuffed(&self, size: TetSize) -> Result<Stuffed, TetError> {
        let grid = match size {
            TetSize::Edge(edge) => Grid { edge, shift: DVec3::ZERO },
            TetSize::Count(count) => self.grid_for(count)?,
        };
        let edge = grid.edge;
        let samples = self.sampled(grid)?;
        let guess = samples.level_for(self.volume, 0.0, ROUGH_STEPS, &Cuts::<F>::Even).0;
        let (level, mut soup) = samples.level_for(self.volume, guess, FINE_STEPS, &Cuts::Exact(&self.signed_distance));
        if soup.tets.is_empty() {
            return Err(TetError::NothingLeft { edge });
        }
        soup.part();
        let mut mesh = TetMesh::new(soup.vertices, soup.tets)?;
        if let Some(volume) = self.volume {
            mesh = volume::swollen(mesh, volume);
        }
        let volume_error = self.volume.map_or(f64::NAN, |volume| mesh.volume() / volume - 1.0);
        Ok(Stuffed { mesh, edge, level, volume_error, turned: 0, self_crossing: None })
    }

    fn sampled(&self, Grid { edge, shift }: Grid) -> Result<Samples, TetError> {
        let nodes = Lattice::count_around(&self.bounds, edge);
        // Also false for what is not a number.
        let fits = nodes <= LARGEST_LATTICE;
        if !fits {
            return Err(TetError::TooFine { edge, bounds: self.bounds, nodes });
        }
        let lattice = Lattice::around(&self.bounds, edge, shift);
        let values = lattice.sample(&self.signed_distance, 2.0 * FARTHEST_LEVEL * edge);
        Ok(Samples { lattice, values })
    }

    /// The grid \[m\] that gives about so many tetrahedra. Flat sides along the axes meet whole layers of the lattice at
    /// once, so that numbers jump; a lattice that is shifted by odd amounts then does better.
    fn grid_for(&self, count: usize) -> Result<Grid, TetError> {
        let (grid, off) = self.best_edge(count, DVec3::ZERO)?;
        if off <= COUNT_TOLERANCE_OF_FIRST {
            return Ok(grid);
        }
        let (shifted, shifted_off) = self.best_edge(count, ODD_SHIFT)?;
        Ok(if shifted_off < off { shifted } else { grid })
    }

    /// The best edge length for a number of tetrahedra, and how far off the number is: the logarithm of the ratio.
    fn best_edge(&self, count: usize, shift: DVec3) -> Result<(Grid, f64), TetError> {
        let wanted = count as f64;
        // Twelve tetrahedra per cube; where the volume is not known, half the box is a guess.
        let volume = self.volume.unwrap_or(0.5 * self.bounds.volume());
        let mut edge = libm::cbrt(12.0 * volume / wanted);
        let (mut best, mut best_off) = (Grid { edge, shift }, f64::INFINITY);
        // Edges that gave too many and too few, as far as they are known.
        let (mut short, mut long) = (0.0, f64::INFINITY);
        for _ in 0..MAX_SIZES {
            let samples = self.sampled(Grid { edge, shift })?;
            let (_, soup) = samples.level_for(self.volume, 0.0, ROUGH_STEPS, &Cuts::<F>::Even);
            let ratio = soup.tets.len() as f64 / wanted;
            let off = libm::log(ratio).abs();
            if off < best_off {
                (best, best_off) = (Grid { edge, shift }, off);
            }
            if best_off <= COUNT_TOLERANCE {
                break;
            }
            if ratio > 1.0 {
                short = edge;
            } else {
                long = edge;
            }
            let next = edge * libm::cbrt(ratio).clamp(0.5, 2.0);
            edge = if next > short && next < long { next } else { 0.5 * (short + long) };
        }
        Ok((best, best_off))
    }
}

/// Size and place of a lattice.
#[derive(Clone, Copy)]
struct Grid {
    /// Length of the long edges \[m\].
    edge: f64,
    /// How far it is moved from where it is centred on the solid, in edges.
    shift: DVec3,
}

/// Signed distances at the nodes of a lattice \[m\].
struct Samples {
    lattice: Lattice,
    values: Vec<f64>,
}

impl Samples {
    /// The level \[m\] at which the volume is right, if one is given, and what is inside it. The search starts at
    /// `guess` and tries so many levels.
    fn level_for<F>(&self, volume: Option<f64>, guess: f64, tries: usize, cuts: &Cuts<'_, F>) -> (f64, Soup)
    where
        F: Fn(DVec3) -> f64 + Sync,
    {
        let fill = |level: f64| Soup::inside(&Warped::new(self.lattice, &self.values, level, cuts));
        match volume {
            None => (guess, fill(guess)),
            Some(volume) => volume::level_for(volume, guess, FARTHEST_LEVEL * self.lattice.spacing(), tries, fill),
        }
    }
}

#[cfg(test)]
mod tests;
