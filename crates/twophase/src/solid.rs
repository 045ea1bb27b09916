//! What stands or moves in the box, as a signed distance that is negative inside.
//!
//! A [`Solid`] is made of parts: a distance or a closed mesh, at rest or led along a path, or a mesh whose vertices move. An open mesh is
//! a shell: both of its sides are wet, and it is made thick enough to be tight.

use crate::error::SetupError;
use glam::{DQuat, DVec3};
use meniscus_geometry::{Bvh, TriangleMesh};
use std::fmt;
use std::sync::Arc;

/// Where a rigid part is: x = R x₀ + t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// R.
    pub rotation: DQuat,
    /// t \[m\].
    pub translation: DVec3,
}

impl Default for Placement {
    fn default() -> Self {
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO }
    }
}

impl Placement {
    /// Where a point of the part is \[m\].
    #[must_use]
    pub fn apply(&self, rest: DVec3) -> DVec3 {
        self.rotation * rest + self.translation
    }

    /// Which point of the part is here \[m\].
    #[must_use]
    pub fn unapply(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.translation)
    }
}

/// Vertices of a mesh over time, with triangles that stay the same.
pub trait Vertices: Send + Sync {
    /// Corners of the triangles, counter-clockwise seen from outside.
    fn triangles(&self) -> &[[u32; 3]];

    /// Where the vertices are at a time \[s\], in \[m\]; always the same number of them.
    fn positions(&self, time: f64, positions: &mut Vec<DVec3>);
}

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

type Distance = Arc<dyn Fn(DVec3) -> f64 + Send + Sync>;
type Path = Arc<dyn Fn(f64) -> Placement + Send + Sync>;

/// What a part is made of.
#[derive(Clone)]
pub(crate) enum Form {
    /// A signed distance in its own frame \[m\].
    Distance(Distance),
    /// A mesh in its own frame.
    Mesh(Arc<Model>),
    /// A mesh whose vertices move.
    Vertices(Arc<dyn Vertices>),
}

/// A connected piece of a mesh whose vertices move.
struct Piece {
    whole: Arc<dyn Vertices>,
    triangles: Vec<[u32; 3]>,
}

impl Vertices for Piece {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        self.whole.positions(time, positions);
    }
}

/// Triangles that hang together by their corners, of so many vertices; pieces in the order of their first triangles.
fn pieces(triangles: &[[u32; 3]], vertices: usize) -> Vec<Vec<[u32; 3]>> {
    let mut parent: Vec<usize> = (0..vertices).collect();
    let root = |parent: &mut Vec<usize>, mut v: usize| {
        while parent[v] != v {
            parent[v] = parent[parent[v]];
            v = parent[v];
        }
        v
    };
    for corners in triangles {
        let [a, b, c] = corners.map(|v| root(&mut parent, v as usize));
        let least = a.min(b).min(c);
        [a, b, c].into_iter().for_each(|v| parent[v] = least);
    }
    let mut number = vec![usize::MAX; vertices];
    let mut pieces: Vec<Vec<[u32; 3]>> = Vec::new();
    for &corners in triangles {
        let of = root(&mut parent, corners[0] as usize);
        if number[of] == usize::MAX {
            number[of] = pieces.len();
            pieces.push(Vec::new());
        }
        pieces[number[of]].push(corners);
    }
    pieces
}

/// A mesh to be asked for distances.
pub(crate) struct Model {
    pub(crate) tree: Bvh,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// At the vertices, of any length.
    pub(crate) normals: Vec<DVec3>,
}

impl Model {
    pub(crate) fn new(mesh: &TriangleMesh) -> Self {
        let mut model = Self { tree: Bvh::new(mesh), triangles: mesh.triangles().to_vec(), normals: Vec::new() };
        model.turn_normals(mesh.vertices());
        model
    }

    /// Moves the vertices; a number of them that does not fit leaves it where it is.
    pub(crate) fn place(&mut self, vertices: &[DVec3]) {
        if self.tree.refit(vertices).is_ok() {
            self.turn_normals(vertices);
        }
    }

    fn turn_normals(&mut self, vertices: &[DVec3]) {
        self.normals.clear();
        self.normals.resize(vertices.len(), DVec3::ZERO);
        for &corners in &self.triangles {
            let [a, b, c] = corners.map(|v| vertices[v as usize]);
            let area = (b - a).cross(c - a);
            corners.iter().for_each(|&v| self.normals[v as usize] += area);
        }
    }

    /// Distance of a place from the triangles \[m\], and whether it lies on the side of their normals.
    pub(crate) fn beside(&self, x: DVec3) -> (f64, bool) {
        let closest = self.tree.closest_point(x);
        let corners = self.triangles[closest.triangle as usize];
        let normal: DVec3 =
            (0..3).map(|i| self.normals[corners[i] as usize].normalize_or_zero() * closest.barycentric[i]).sum();
        (closest.distance(), (x - closest.point).dot(normal) >= 0.0)
    }
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

    fn several(forms: impl Iterator<Item = Form>) -> Self {
        forms.map(Self::one).reduce(Self::and).unwrap_or(Self { parts: Vec::new() })
    }

    /// From a signed distance \[m\], negative inside; the fluids slip along it.
    #[must_use]
    pub fn new(distance: impl Fn(DVec3) -> f64 + Send + Sync + 'static) -> Self {
        Self::one(Form::Distance(Arc::new(distance)))
    }

    /// From a closed mesh whose triangles face outwards; the fluids slip along it.
    ///
    /// # Errors
    /// When the mesh is not closed.
    pub fn from_mesh(mesh: &TriangleMesh) -> Result<Self, SetupError> {
        mesh.closed().map_err(|error| SetupError::OpenMesh(error.to_string()))?;
        Ok(Self::one(Form::Mesh(Arc::new(Model::new(mesh)))))
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
    /// It is tight when T is at least √3 h and a quarter: two cells. Each connected piece is thick by itself: where a leaflet meets a wall,
    /// places nearer to the wall belong to the leaflet, too, or it would be as thin as a blade there.
    ///
    /// # Errors
    /// When the thickness is not positive, or a piece is no mesh.
    pub fn shell(mesh: &TriangleMesh, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        let piece = |triangles| {
            let piece = TriangleMesh::new(mesh.vertices().to_vec(), triangles);
            piece.map_err(|error| SetupError::OpenMesh(error.to_string()))
        };
        let pieces: Vec<_> =
            pieces(mesh.triangles(), mesh.vertices().len()).into_iter().map(piece).collect::<Result<_, _>>()?;
        Self::several(pieces.iter().map(|piece| Form::Mesh(Arc::new(Model::new(piece))))).thick(thickness, side)
    }

    /// The same around a mesh whose vertices move.
    ///
    /// # Errors
    /// When the thickness is not positive, or triangles and vertices do not fit together.
    pub fn shell_of_vertices(vertices: Arc<dyn Vertices>, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        let count = mesh_at(&*vertices, 0.0)?.vertices().len();
        let piece = |triangles| Form::Vertices(Arc::new(Piece { whole: vertices.clone(), triangles }));
        Self::several(pieces(vertices.triangles(), count).into_iter().map(piece)).thick(thickness, side)
    }

    fn thick(mut self, thickness: f64, side: Thicken) -> Result<Self, SetupError> {
        crate::error::in_range("the thickness of a shell", "positive", thickness, thickness > 0.0)?;
        self.parts.iter_mut().for_each(|part| part.shell = Some(Shell { thickness, side }));
        Ok(self)
    }

    /// The same, led along a path: where it is at each time \[s\], smoothly.
    #[must_use]
    pub fn moving(mut self, path: impl Fn(f64) -> Placement + Send + Sync + 'static) -> Self {
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
    pub(crate) fn placement(&self, time: f64) -> Placement {
        self.path.as_ref().map_or_else(Placement::default, |path| path(time))
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

/// The mesh at a time.
pub(crate) fn mesh_at(vertices: &dyn Vertices, time: f64) -> Result<TriangleMesh, SetupError> {
    let mut positions = Vec::new();
    vertices.positions(time, &mut positions);
    TriangleMesh::new(positions, vertices.triangles().to_vec()).map_err(|error| SetupError::OpenMesh(error.to_string()))
}
