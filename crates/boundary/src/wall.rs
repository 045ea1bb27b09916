//! Walls: surfaces that move as prescribed and do not answer.

use crate::frames::{Frames, FramesError, Vertices};
use crate::motion::Motion;
use crate::surface::Wet;
use glam::DVec3;
use meniscus_geometry::{NotClosed, TriangleMesh};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A wall.
#[derive(Debug, Clone, PartialEq)]
pub struct Wall {
    /// Its shape, where it is at the start.
    pub shape: WallShape,
    /// What it does to liquid that slides along it.
    pub friction: Friction,
    /// How it moves.
    pub motion: Motion,
}

/// Shapes of walls.
#[derive(Debug, Clone, PartialEq)]
pub enum WallShape {
    /// Liquid inside an axis-aligned box; an infinite coordinate opens that side.
    Tank {
        /// Lower corner \[m\].
        min: DVec3,
        /// Upper corner \[m\].
        max: DVec3,
    },
    /// Liquid on the side that the normal points to.
    Plane {
        /// A point of the plane \[m\].
        point: DVec3,
        /// Unit normal into the liquid.
        normal: DVec3,
    },
    /// A surface of triangles.
    Mesh {
        /// The surface.
        mesh: TriangleMesh,
        /// Its wet side.
        wet: Wet,
    },
}

/// Friction between a wall and the liquid beside it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Friction {
    /// None.
    #[default]
    Slip,
    /// The liquid's own viscosity, so that the velocity at the wall is that of the wall.
    NoSlip,
    /// A viscosity of its own \[Pa·s\], as in MSTHG04 eq. 17.
    Viscosity(f64),
}

/// An animated wall that cannot be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WallError {
    /// Frames of another mesh.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// Without an inside.
    #[error("an animated surface must be closed: {0}")]
    Open(#[from] NotClosed),
    /// Planes and tanks have no vertices.
    #[error("frames of vertices move a mesh, wet on one side")]
    Shape,
}

impl Wall {
    /// A closed mesh that is animated: `mesh` has its triangles.
    ///
    /// # Errors
    /// When the frames are not of this mesh, or it is not closed.
    pub fn animated(mesh: TriangleMesh, frames: Frames, wet: Wet, friction: Friction) -> Result<Self, WallError> {
        let motion = Motion::Frames(Arc::new(frames));
        let wall = Self { shape: WallShape::Mesh { mesh, wet }, friction, motion };
        wall.check()?;
        Ok(wall)
    }

    /// Whether it moves vertex by vertex.
    #[must_use]
    pub fn deforms(&self) -> bool {
        matches!(self.motion, Motion::Frames(_))
    }

    /// Its vertices over time, if it moves vertex by vertex.
    #[must_use]
    pub fn vertices(&self) -> Option<Arc<dyn Vertices>> {
        let (Motion::Frames(frames), WallShape::Mesh { mesh, .. }) = (&self.motion, &self.shape) else { return None };
        Some(Arc::new(Framed { triangles: mesh.triangles().to_vec(), frames: frames.clone() }))
    }

    /// Whether frames of vertices fit the shape.
    pub(crate) fn check(&self) -> Result<(), WallError> {
        match (&self.motion, &self.shape) {
            (Motion::Frames(frames), WallShape::Mesh { mesh, wet: Wet::Front | Wet::Back }) => {
                frames.fit(mesh)?;
                mesh.closed()?;
                Ok(())
            }
            (Motion::Frames(_), _) => Err(WallError::Shape),
            _ => Ok(()),
        }
    }
}

/// The triangles of a wall and its frames.
struct Framed {
    triangles: Vec<[u32; 3]>,
    frames: Arc<Frames>,
}

impl Vertices for Framed {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        self.frames.at(time, positions);
    }
}

/// A point and the inward normal of every side of a tank that is there.
pub fn tank_planes(corners: [DVec3; 2]) -> impl Iterator<Item = [DVec3; 2]> {
    let sides = corners.into_iter().zip([1.0, -1.0]).flat_map(|(corner, inwards)| {
        DVec3::AXES.into_iter().enumerate().map(move |(k, axis)| (corner[k], axis, inwards))
    });
    sides.filter(|(height, ..)| height.is_finite()).map(|(height, axis, inwards)| [axis * height, axis * inwards])
}
