//! From the rigid bodies of a scene to surfaces with mass.

use super::BuildError;
use super::soft::{bounds_at_rest, tetrahedra, turn_about};
use crate::parts::{RigidKind, RigidPart};
use glam::DVec3;
use meniscus_boundary::Boundaries;
use meniscus_fem::contact::Sample;
use meniscus_geometry::{TetMesh, TriangleMesh};
use meniscus_rigid::{Form, Motion};
use meniscus_scene::{Loaded, Rigid, Solid, SolidShape};

/// Most points of a surface that are held against soft bodies.
const MAX_SAMPLES: usize = 20_000;

/// A wrong body: `why` says it.
fn wrong(name: &str, why: &dyn std::fmt::Display) -> BuildError {
    BuildError::Solid { solid: name.to_owned(), message: why.to_string() }
}

/// Builds all rigid bodies; `first` is the number of the first one among the bodies that are shown. Points of their surfaces
/// are no farther apart than `edge` \[m\], the edges of soft bodies.
pub(crate) fn rigid(loaded: &Loaded, walls: &Boundaries, first: usize, edge: f64) -> Result<RigidPart, BuildError> {
    let mut rigids = RigidPart::default();
    for (number, (name, rigid)) in loaded.scene.rigid.iter().enumerate() {
        let surface = surface(loaded, name, rigid)?;
        let form = form(loaded, rigid);
        let extent = surface.bounds().size();
        rigids.kinds.push(RigidKind {
            name: name.clone(),
            shown_as: (first + number) as u16,
            motion: rigid.motion.clone(),
            thickness: extent.min_element(),
        });
        rigids.samples.push(samples(&surface, edge));
        let prescribed = rigid.motion.is_some();
        let body = rigids.world.add(name, surface, form, rigid.material(), prescribed).map_err(|e| wrong(name, &e))?;
        if let Some(motion) = &rigid.motion {
            let pose = motion.pose(0.0);
            rigids.world.place(body, pose.rotation, pose.translation);
        } else {
            let [velocity, spin] = [rigid.velocity, rigid.spin].map(DVec3::from_array);
            rigids.world.lock(body, &rigid.locked);
            rigids.world.throw(body, Motion { velocity, spin });
        }
    }
    if !rigids.is_empty() {
        let name = |wall: usize| {
            loaded.scene.wall.keys().chain(loaded.scene.animated.keys()).nth(wall).map_or("", String::as_str)
        };
        rigids.world.meet(walls).map_err(|(wall, error)| wrong(name(wall), &error))?;
    }
    Ok(rigids)
}

/// The surface of a body, turned.
fn surface(loaded: &Loaded, name: &str, rigid: &Rigid) -> Result<TriangleMesh, BuildError> {
    let as_solid = as_solid(loaded, rigid);
    if let SolidShape::Mesh(file) = &rigid.shape {
        let mut surface = loaded.mesh(file).clone();
        let turned = turn_about(loaded, &as_solid);
        surface.vertices_mut().iter_mut().for_each(|p| *p = turned(*p));
        return Ok(surface);
    }
    let (tets, _) = tetrahedra(loaded, name, &as_solid)?;
    outside(&tets).map_err(|e| wrong(name, &e))
}

/// A soft body of the same shape: how its surface is made.
fn as_solid(loaded: &Loaded, rigid: &Rigid) -> Solid {
    let solid = Solid { rotation: rigid.rotation, edge: rigid.edge, ..Solid::new(rigid.shape.clone()) };
    let edge = bounds_at_rest(loaded, &solid.shape).size().max_element() / 8.0;
    Solid { edge: rigid.edge.or(Some(edge)), ..solid }
}

/// The surface of tetrahedra, without the vertices inside.
fn outside(tets: &TetMesh) -> Result<TriangleMesh, meniscus_geometry::MeshError> {
    let mut triangles = tets.surface();
    let mut used: Vec<u32> = triangles.as_flattened().to_vec();
    used.sort_unstable();
    used.dedup();
    for corner in triangles.as_flattened_mut() {
        *corner = used.partition_point(|vertex| vertex < corner) as u32;
    }
    TriangleMesh::new(used.iter().map(|&vertex| tets.vertices()[vertex as usize]).collect(), triangles)
}

/// How rapier meets the body: round things as what they are.
fn form(loaded: &Loaded, rigid: &Rigid) -> Form {
    let turned = turn_about(loaded, &as_solid(loaded, rigid));
    let at = |position| turned(DVec3::from_array(position));
    match &rigid.shape {
        SolidShape::Sphere(sphere) => Form::Ball { center: at(sphere.center), radius: sphere.radius },
        SolidShape::Cylinder(c) => Form::Cylinder { ends: [at(c.start), at(c.end)], radius: c.radius },
        _ => Form::Surface,
    }
}

/// The corners of the surface, its triangles split until no edge is longer than `edge` \[m\], with the areas that they stand for.
fn samples(surface: &TriangleMesh, edge: f64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for corners in surface.corners() {
        let longest = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3])).fold(0.0, f64::max);
        let wanted = (longest / edge).ceil().clamp(1.0, 64.0);
        let room = (MAX_SAMPLES / surface.triangles().len().max(1)) as f64;
        let parts = wanted.min(room.sqrt().max(1.0)) as u32;
        split(corners, parts, &mut samples);
    }
    merge(samples)
}

/// Adds the corners of a triangle split into `parts`² equal ones, each with a third of its area.
fn split([a, b, c]: [DVec3; 3], parts: u32, samples: &mut Vec<Sample>) {
    let n = f64::from(parts);
    let area = 0.5 * (b - a).cross(c - a).length() / (3.0 * n * n);
    let at = |i: u32, j: u32| a + (b - a) * (f64::from(i) / n) + (c - a) * (f64::from(j) / n);
    for i in 0..parts {
        for j in 0..parts - i {
            let mut add = |i, j| samples.push(Sample { position: at(i, j), area });
            [(i, j), (i + 1, j), (i, j + 1)].into_iter().for_each(|(i, j)| add(i, j));
            if i + j + 1 < parts {
                [(i + 1, j), (i + 1, j + 1), (i, j + 1)].into_iter().for_each(|(i, j)| add(i, j));
            }
        }
    }
}

/// Makes one of the points that share a position.
fn merge(mut samples: Vec<Sample>) -> Vec<Sample> {
    // Rounding moves the same point of two triangles apart by far less than this.
    let key = |sample: &Sample| (sample.position * 1e7).round().to_array().map(|x| x as i64);
    samples.sort_by_key(key);
    samples
        .chunk_by(|a, b| key(a) == key(b))
        .map(|group| Sample { position: group[0].position, area: group.iter().map(|sample| sample.area).sum() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use meniscus_geometry::{Aabb, solids};

    #[test]
    fn samples_cover_the_surface_once() {
        let cube = solids::cuboid(&Aabb::new(DVec3::ZERO, DVec3::ONE));
        // Three parts along the diagonals, which are the longest edges: 6 n² + 2 corners.
        for (edge, expected) in [(9.0, 8), (0.5, 56)] {
            let samples = samples(&cube, edge);
            assert_eq!(samples.len(), expected);
            let area: f64 = samples.iter().map(|sample| sample.area).sum();
            assert!((area - 6.0).abs() < 1e-12);
        }
        let many = samples(&cube, 1e-6);
        assert!(many.len() <= MAX_SAMPLES + 8, "{}", many.len());
    }
}
