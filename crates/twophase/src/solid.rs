//! What stands or moves in the box, as a signed distance that is negative inside.
//!
//! A [`Solid`] is made of parts: surfaces of `meniscus-boundary`, in closed form or of triangles, at rest or led along a path, or with
//! vertices that move. An open mesh is a shell: both of its sides are wet, and it is made thick enough to be tight.

use crate::error::SetupError;
use glam::DVec3;
use meniscus_boundary::{
    Distance, Field, Friction, Planes, Pose, Surface, Vertices, Wall, WallShape, Wet, tank_planes,
};
use meniscus_geometry::TriangleMesh;
use std::fmt;
use std::sync::Arc;

/// To which side of its triangles a shell is thick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thicken {
    /// Half of the thickness on either side.
    #[default]
    Centred,
    /// Against the normals: the outer face is the mesh.
    Inside,
    /// Along the normals: the inner face is the mesh.
    Outside,
}

/// Both sides of a mesh are wet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shell {
    /// T \[m\].
    pub(crate) thickness: f64,
    pub(crate) side: Thicken,
}

type Path = Arc<dyn Fn(f64) -> Pose + Send + Sync>;

/// What a part is made of.
#[derive(Clone)]
pub(crate) enum Form {
    /// A distance in its own frame.
    Shape(Arc<dyn Distance + Send + Sync>),
    /// A mesh in its own frame.
    Mesh(Arc<Surface>),
    /// A mesh whose vertices move.
    Vertices(Arc<dyn Vertices>),
}

/// One part of a solid.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) form: Form,
    pub(crate) path: Option<Path>,
    pub(crate) shell: Option<Shell>,
    pub(crate) inside_out: bool,
    /// Whether the fluids stick to it.
    pub(crate) sticks: bool,
}

/// A solid in the box, at rest or moving.
#[derive(Clone)]
pub struct Solid {
    pub(crate) parts: Vec<Part>,
}

impl fmt::Debug for Solid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sticky = self.parts.iter().filter(|part| part.sticks).count();
        f.debug_struct("Solid").field("parts", &self.parts.len()).field("sticky", &sticky).finish_non_exhaustive()
    }
}

impl Solid {
    fn one(form: Form) -> Self {
        Self { parts: vec![Part { form, path: None, shell: None, inside_out: false, sticks: false }] }
    }

    /// From a signed distance \[m\], negative inside; the fluids slip along it.
    #[must_use]
    pub fn new(distance: impl Fn(DVec3) -> f64 + Send + Sync + 'static) -> Self {
        Self::shape(Field(distance))
    }

    /// From a shape; the fluids slip along it.
    #[must_use]
    pub fn shape(shape: impl Distance + Send + 'static) -> Self {
        Self::one(Form::Shape(Arc::new(shape)))
    }

    /// A wall, as it moves and holds by friction in every method.
    ///
    /// # Errors
    /// When a mesh is not closed.
    pub fn wall(wall: &Wall) -> Result<Self, SetupError> {
        let one = match (&wall.shape, wall.vertices()) {
            (WallShape::Mesh { .. }, Some(vertices)) => Self::from_vertices(vertices)?,
            (WallShape::Mesh { mesh, .. }, None) => Self::from_mesh(mesh)?,
            (&WallShape::Tank { min, max }, _) => Self::shape(Planes(tank_planes([min, max]).collect())),
            (&WallShape::Plane { point, normal }, _) => Self::shape(Planes(vec![[point, normal]])),
        };
        let vessel = matches!(wall.shape, WallShape::Mesh { wet: Wet::Back, .. });
        let one = if vessel { one.inside_out() } else { one };
        let one = if wall.friction == Friction::NoSlip { one.sticky() } else { one };
        if !wall.motion.moves() || wall.deforms() {
            return Ok(one);
        }
        let motion = wall.motion.clone();
        Ok(one.moving(move |time| motion.pose(time)))
    }

    /// From a closed mesh whose triangles face outwards; the fluids slip along it.
    ///
    /// # Errors
    /// When the mesh is not closed.
    pub fn from_mesh(mesh: &TriangleMesh) -> Result<Self, SetupError> {
        mesh.closed().map_err(|error| SetupError::OpenMesh(error.to_string()))?;
        Ok(Self::one(Form::Mesh(Arc::new(surface(mesh)))))
    }

    /// From a mesh whose vertices move, closed and facing outwards; the fluids slip along it. What is inside is told by winding numbers, so
    /// that it may cross itself.
    ///
    /// # Errors
    /// When the mesh is not closed, or its triangles and vertices do not fit together.
    pub fn from_vertices(vertices: Arc<dyn Vertices>) -> Result<Self, SetupError> {
        let mesh = mesh_at(&*vertices, 0.0)?;
        mesh.closed().map_err(|error| SetupError::OpenMesh(error.to_string()))?;
        Ok(Self::one(Form::Vertices(vertices)))
    }

    /// A shell of a thickness \[m\] around a mesh, open or closed, that both fluids can meet on both sides.
    ///
    /// It is tight when T is at least √3 h and a quarter: two cells.
    ///
    /// # Errors
    /// When the thickness is not positive.
    pub fn shell(mesh: &TriangleMesh, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        Self::one(Form::Mesh(Arc::new(surface(mesh)))).thick(thickness, side)
    }

    /// The same around a mesh whose vertices move.
    ///
    /// # Errors
    /// When the thickness is not positive, or triangles and vertices do not fit together.
    pub fn shell_of_vertices(vertices: Arc<dyn Vertices>, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        mesh_at(&*vertices, 0.0)?;
        Self::one(Form::Vertices(vertices)).thick(thickness, side)
    }

    fn thick(mut self, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        crate::error::in_range("the thickness of a shell", "positive", thickness, thickness > 0.0)?;
        self.parts.iter_mut().for_each(|part| part.shell = Some(Shell { thickness, side }));
        Ok(self)
    }

    /// The same, led along a path: where it is at each time \[s\], smoothly.
    #[must_use]
    pub fn moving(mut self, path: impl Fn(f64) -> Pose + Send + Sync + 'static) -> Self {
        let path: Path = Arc::new(path);
        self.parts.iter_mut().for_each(|part| part.path = Some(path.clone()));
        self
    }

    /// Both solids, each with its own friction.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// What is around it, with the fluids inside: a vessel.
    #[must_use]
    pub fn inside_out(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.inside_out = !part.inside_out);
        self
    }

    /// The same, with fluids that stick to it.
    #[must_use]
    pub fn sticky(mut self) -> Self {
        self.parts.iter_mut().for_each(|part| part.sticks = true);
        self
    }

    /// Whether it ever moves.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.parts.iter().any(Part::moves)
    }
}

impl Part {
    pub(crate) fn moves(&self) -> bool {
        self.path.is_some() || matches!(self.form, Form::Vertices(_))
    }

    /// Where a rigid part is at a time \[s\].
    pub(crate) fn pose(&self, time: f64) -> Pose {
        self.path.as_ref().map_or_else(Pose::default, |path| path(time))
    }

    /// ψ \[m\] from the distance to the surface, which is signed unless the mesh is that of a shell; `outward` is its side along the normal.
    pub(crate) fn wet_distance(&self, distance: f64, outward: bool) -> f64 {
        let Some(Shell { thickness, side }) = self.shell else {
            return if self.inside_out { -distance } else { distance };
        };
        let (half, away) = (0.5 * thickness, distance.abs());
        let signed = if outward { away } else { -away };
        match side {
            Thicken::Centred => away - half,
            Thicken::Inside => (signed + half).abs() - half,
            Thicken::Outside => (signed - half).abs() - half,
        }
    }
}

/// A mesh to be asked for distances.
pub(crate) fn surface(mesh: &TriangleMesh) -> Surface {
    Surface::new(mesh.clone(), Wet::Front)
}

/// The mesh at a time.
pub(crate) fn mesh_at(vertices: &dyn Vertices, time: f64) -> Result<TriangleMesh, SetupError> {
    let mut positions = Vec::new();
    vertices.positions(time, &mut positions);
    TriangleMesh::new(positions, vertices.triangles().to_vec()).map_err(|error| SetupError::OpenMesh(error.to_string()))
}
