//! Bodies that answer, of whatever kind: what checks, sizes, pictures and exports ask of them.
//!
//! A kind is a file with its keys and its [`Described`]; [`Scene::bodies`] lists the kinds, in the order of frames.

use crate::model::{Mesh, Scene, Shape, SolidShape, Vector};
use crate::validate::Checks;
use meniscus_boundary::Motion;
use meniscus_core::Material;

/// A body that answers, as a scene file describes it.
pub trait Described {
    /// Its shape at the start, before it is turned.
    fn shape(&self) -> BodyShape<'_>;

    /// Whether it, or one of its copies, is turned about the middle of its bounds before the start.
    fn is_turned(&self) -> bool;

    /// Where its copies are moved to \[m\], itself the first.
    fn copies(&self) -> Vec<Vector> {
        vec![[0.0; 3]]
    }

    /// Red, green, blue, 0 to 1.
    fn color(&self) -> Vector;

    /// What it looks like in `final` pictures.
    fn look(&self) -> Option<Material>;

    /// Its velocity at the start \[m/s\].
    fn velocity(&self) -> Vector;

    /// Regions in which it is held, those of its key `fixed`.
    fn regions(&self) -> Vec<&Shape>;

    /// How it, or what holds it, is led; nothing if it moves freely.
    fn motions(&self) -> Vec<&Motion>;

    /// Whether something holds or leads it.
    fn is_held(&self) -> bool {
        !self.regions().is_empty() || !self.motions().is_empty()
    }

    /// Whether forces of a liquid change its shape.
    fn deforms(&self) -> bool {
        true
    }

    /// The meshes that it names.
    fn meshes_mut(&mut self) -> Vec<&mut Mesh>;

    /// Says what is wrong with its keys, those of the scene around them considered.
    #[doc(hidden)]
    fn check(&self, scene: &Scene, checks: &mut Checks);
}

/// A shape of a body.
#[derive(Debug, Clone, Copy)]
pub enum BodyShape<'a> {
    /// Filled with tetrahedra, or their surface.
    Solid(&'a SolidShape),
    /// Filled with particles.
    Region(&'a Shape),
}

impl BodyShape<'_> {
    /// The file that it comes from, if it does.
    #[must_use]
    pub fn mesh(&self) -> Option<&Mesh> {
        match self {
            Self::Solid(SolidShape::Mesh(mesh) | SolidShape::Tets(mesh)) | Self::Region(Shape::Mesh(mesh)) => {
                Some(mesh)
            }
            _ => None,
        }
    }
}

impl Scene {
    /// Bodies that answer, with the tables in which they stand and their names.
    pub fn bodies(&self) -> impl Iterator<Item = (&'static str, &String, &dyn Described)> {
        let solids = self.solid.iter().map(|(name, solid)| ("solid", name, solid as &dyn Described));
        let rigid = self.rigid.iter().map(|(name, rigid)| ("rigid", name, rigid as &dyn Described));
        let bodies = self.body.iter().map(|(name, body)| ("body", name, body as &dyn Described));
        solids.chain(rigid).chain(bodies)
    }

    /// The same, to be changed.
    pub(crate) fn bodies_mut(&mut self) -> impl Iterator<Item = &mut dyn Described> {
        let solids = self.solid.values_mut().map(|solid| solid as &mut dyn Described);
        let rigid = self.rigid.values_mut().map(|rigid| rigid as &mut dyn Described);
        let bodies = self.body.values_mut().map(|body| body as &mut dyn Described);
        solids.chain(rigid).chain(bodies)
    }
}

impl Shape {
    /// The file that it comes from, if it does.
    pub(crate) fn mesh_mut(&mut self) -> Option<&mut Mesh> {
        if let Self::Mesh(mesh) = self { Some(mesh) } else { None }
    }
}

impl SolidShape {
    pub(crate) fn mesh_mut(&mut self) -> Option<&mut Mesh> {
        if let Self::Mesh(mesh) | Self::Tets(mesh) = self { Some(mesh) } else { None }
    }
}
