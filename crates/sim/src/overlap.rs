//! Bodies that lie in each other, in walls or round a nozzle at the start: contact would throw them apart with energy from
//! nowhere. Vertices and middles of triangles are looked at, and points of a lattice in what two bodies have in common, which may be all of
//! them; a needle that passes through between these is not seen.

use crate::build::BuildError;
use glam::DVec3;
use meniscus_core::{BodyKind, Frame};
use meniscus_geometry::{Aabb, Bvh, TriangleMesh};
use meniscus_scene::{Loaded, Method, Scene, Side, Tank, WallShape, WetSide};

/// Depth over the thickness of the thinner body beyond which an overlap is warned of, dimensionless.
const MIN_OVERLAP: f64 = 0.03;
/// The same beyond which it is refused.
const REFUSED: f64 = 0.15;

/// Points of the lattice along each axis, an odd number: the middle is one of them.
const LATTICE: usize = 7;
/// How often the lattice is laid anew around the best of its points, finer each time.
const LATTICES: usize = 3;

/// A body as it is met.
struct Solid {
    name: String,
    /// Whether contact can move it.
    free: bool,
    /// How thick a skin is drawn round it that is no body \[m\]: bodies of particles touch where their particles do, within a spacing.
    skin: f64,
    points: Vec<DVec3>,
    bounds: Aabb,
    tree: Bvh,
}

/// An overlap.
struct Overlap {
    what: String,
    with: String,
    /// How deep \[m\].
    depth: f64,
    /// Over the thickness, dimensionless.
    part: f64,
    /// Whether something can be thrown by it.
    free: bool,
}

/// What is to be said about a world that begins as in `frame`.
///
/// # Errors
/// For free bodies that lie deep in something.
pub(crate) fn check(loaded: &Loaded, frame: &Frame) -> Result<Vec<String>, BuildError> {
    let bodies = bodies(loaded, frame);
    let mut found = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        found.extend(bodies[number + 1..].iter().filter_map(|other| between(body, other)));
        found.extend(with_walls(loaded, body));
    }
    let mut warnings = Vec::new();
    for Overlap { what, with, depth, part, free } in found {
        if free && part > REFUSED {
            return Err(BuildError::Overlap { what, with, depth });
        }
        if part > MIN_OVERLAP {
            warnings.push(format!("`{what}` lies {depth:.2e} m deep in `{with}` at the start"));
        }
    }
    for (name, emitter) in &loaded.scene.emitter {
        let center = DVec3::from_array(emitter.center);
        if let Some(body) = bodies.iter().find(|body| body.bounds.contains(center) && body.tree.inside(center)) {
            let depth = -body.tree.signed_distance(center);
            return Err(BuildError::Overlap { what: name.clone(), with: body.name.clone(), depth });
        }
    }
    Ok(warnings)
}

fn bodies(loaded: &Loaded, frame: &Frame) -> Vec<Solid> {
    let of = |surface: &meniscus_core::Surface| {
        let info = frame.bodies.get(usize::from(surface.body)).filter(|info| info.kind == BodyKind::Solid)?;
        let vertices: Vec<DVec3> = surface.positions.iter().map(|p| p.as_dvec3()).collect();
        let mesh = TriangleMesh::new(vertices, surface.triangles.clone()).ok()?;
        let free = is_free(&loaded.scene, &info.name);
        Some(Solid { skin: skin(&loaded.scene, &info.name), ..Solid::new(info.name.clone(), free, &mesh) })
    };
    frame.surfaces.iter().filter_map(of).collect()
}

/// Spacing of the particles of a body, 0 if it has none \[m\].
fn skin(scene: &Scene, name: &str) -> f64 {
    match scene.body.get(name) {
        Some(body) => body.spacing.unwrap_or(scene.sph.spacing),
        None if scene.method == Method::Connections => scene.sph.spacing,
        None => 0.0,
    }
}

/// Whether nothing holds or leads a body.
fn is_free(scene: &Scene, name: &str) -> bool {
    !scene.bodies().any(|(_, other, body)| other == name && body.is_held())
}

impl Solid {
    fn new(name: String, free: bool, mesh: &TriangleMesh) -> Self {
        let vertices = mesh.vertices();
        let middle = |t: &[u32; 3]| t.iter().map(|&corner| vertices[corner as usize]).sum::<DVec3>() / 3.0;
        let points = vertices.iter().copied().chain(mesh.triangles().iter().map(middle)).collect();
        Self { name, free, skin: 0.0, points, bounds: mesh.bounds(), tree: Bvh::new(mesh) }
    }

    fn thickness(&self) -> f64 {
        self.bounds.size().min_element().max(f64::MIN_POSITIVE)
    }

    /// How deep this body lies in a closed surface \[m\].
    fn depth_in(&self, bounds: &Aabb, tree: &Bvh) -> f64 {
        let near = self.points.iter().filter(|point| bounds.contains(**point));
        let inside = near.filter(|point| tree.inside(**point));
        inside.map(|&point| -tree.signed_distance(point)).fold(self.shared_with(bounds, tree), f64::max)
    }

    /// How thick what this body shares with a closed surface is about \[m\]: twice the depth of the point that is deepest in both. Of bodies that
    /// coincide no vertex lies in the other.
    fn shared_with(&self, bounds: &Aabb, tree: &Bvh) -> f64 {
        let shared = Aabb { min: self.bounds.min.max(bounds.min), max: self.bounds.max.min(bounds.max) };
        if shared.is_empty() {
            return 0.0;
        }
        let depth = |x: DVec3| match self.tree.inside(x) && tree.inside(x) {
            true => -self.tree.signed_distance(x).max(tree.signed_distance(x)),
            false => 0.0,
        };
        let (mut deepest, mut around, mut size) = (0.0f64, shared.center(), shared.size());
        for _ in 0..LATTICES {
            let (middle, step) = (around, size / (LATTICE - 1) as f64);
            for k in 0..LATTICE * LATTICE * LATTICE {
                let at = [k % LATTICE, k / LATTICE % LATTICE, k / (LATTICE * LATTICE)];
                let x = middle + step * (DVec3::from(at.map(|k| k as f64)) - 0.5 * (LATTICE - 1) as f64);
                let own = depth(x);
                if own > deepest {
                    (deepest, around) = (own, x);
                }
            }
            size = 2.0 * step;
        }
        2.0 * deepest
    }
}

fn between(a: &Solid, b: &Solid) -> Option<Overlap> {
    if !a.bounds.intersects(&b.bounds) {
        return None;
    }
    let depth = a.depth_in(&b.bounds, &b.tree).max(b.depth_in(&a.bounds, &a.tree)) - a.skin.min(b.skin);
    let part = depth / a.thickness().min(b.thickness());
    Some(Overlap { what: a.name.clone(), with: b.name.clone(), depth, part, free: a.free || b.free })
}

fn with_walls<'a>(loaded: &'a Loaded, body: &'a Solid) -> impl Iterator<Item = Overlap> + 'a {
    loaded.scene.wall.iter().map(|(name, wall)| {
        let pose = wall.motion.pose(0.0);
        let behind = |distance: &dyn Fn(DVec3) -> f64| {
            body.points.iter().map(|&point| -distance(pose.unapply(point))).fold(0.0, f64::max)
        };
        let depth = match &wall.shape {
            WallShape::Plane(plane) => {
                let normal = DVec3::from_array(plane.normal).normalize();
                behind(&|p| (p - DVec3::from_array(plane.point)).dot(normal))
            }
            WallShape::Box(tank) => behind(&|p| inside_tank(tank, p)),
            WallShape::Mesh(mesh) => {
                let surface = loaded.mesh(mesh);
                let solid = surface.closed().is_ok() && !matches!(wall.wet, Some(WetSide::Inside | WetSide::Both));
                let still = !wall.motion.moves();
                if solid && still { body.depth_in(&surface.bounds(), &Bvh::new(surface)) } else { 0.0 }
            }
        };
        let part = depth / body.thickness();
        Overlap { what: body.name.clone(), with: name.clone(), depth, part, free: body.free }
    })
}

/// Distance of a point from the nearest closed side of a tank, negative behind it \[m\].
fn inside_tank(tank: &Tank, p: DVec3) -> f64 {
    let (low, high) = (p - DVec3::from_array(tank.min), DVec3::from_array(tank.max) - p);
    let sides = [
        (Side::LowX, low.x),
        (Side::LowY, low.y),
        (Side::LowZ, low.z),
        (Side::HighX, high.x),
        (Side::HighY, high.y),
        (Side::HighZ, high.z),
    ];
    let closed = sides.into_iter().filter(|(side, _)| !tank.open.contains(side));
    closed.map(|(_, distance)| distance).fold(f64::INFINITY, f64::min)
}
