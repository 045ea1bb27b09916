//! Vertices, triangles and skins of the meshes in the scene.

use glam::{DAffine3, DMat4, DVec3};

use super::accessor::Document;
use super::json::{Mesh, Node, Primitive};
use super::rig::Rig;
use crate::animation::{GltfError, MAX_VERTICES, Part};

/// A mesh at a node of the scene.
struct Instance<'a> {
    node: usize,
    about: &'a Node,
    mesh: usize,
    /// Carriers of the skin's joints, or of the node alone.
    carriers: Vec<u32>,
    /// Whether its triangles must be turned over.
    mirrored: bool,
}

/// Hangs the meshes of the scene on the rig. Returns their triangles and names.
pub(super) fn fill(
    document: &Document,
    rig: &mut Rig,
    warnings: &mut Vec<String>,
) -> Result<(Vec<[u32; 3]>, Vec<Part>), GltfError> {
    let (mut triangles, mut parts) = (Vec::new(), Vec::new());
    let mirrors = rig.mirrors();
    for node in in_scene(document, rig)? {
        let about = &document.json.nodes[node];
        let Some(mesh) = about.mesh else { continue };
        let count = document.json.meshes.len();
        let missing = || GltfError::Missing { owner: format!("node {node}"), kind: "mesh", index: mesh, count };
        let contents = document.json.meshes.get(mesh).ok_or_else(missing)?;
        let carriers = carriers(document, rig, node, about)?;
        let mirrored = about.skin.is_none() && mirrors[node];
        let instance = Instance { node, about, mesh, carriers, mirrored };
        let first = triangles.len();
        for primitive in &contents.primitives {
            add(document, rig, &instance, primitive, &mut triangles, warnings)?;
        }
        parts.push(Part { name: name_of(contents, about, mesh), triangles: first..triangles.len() });
    }
    if triangles.is_empty() { Err(GltfError::NoTriangles) } else { Ok((triangles, parts)) }
}

fn name_of(mesh: &Mesh, node: &Node, number: usize) -> String {
    node.name.clone().or_else(|| mesh.name.clone()).unwrap_or_else(|| format!("mesh {number}"))
}

/// Nodes of the scene that is shown, or all when the file has no scene.
fn in_scene(document: &Document, rig: &Rig) -> Result<Vec<usize>, GltfError> {
    let scenes = &document.json.scenes;
    let index = document.json.scene.unwrap_or_default();
    let all = || rig.nodes().iter().map(|&n| n as usize).collect();
    let Some(scene) = scenes.get(index) else {
        let missing = GltfError::Missing { owner: "the file".into(), kind: "scene", index, count: scenes.len() };
        return if document.json.scene.is_none() { Ok(all()) } else { Err(missing) };
    };
    let count = document.json.nodes.len();
    let mut shown = vec![false; count];
    let mut found = Vec::new();
    let mut waiting: Vec<usize> = scene.nodes.iter().rev().copied().collect();
    while let Some(node) = waiting.pop() {
        let missing = || GltfError::Missing { owner: format!("scene {index}"), kind: "node", index: node, count };
        let about = document.json.nodes.get(node).ok_or_else(missing)?;
        if !std::mem::replace(&mut shown[node], true) {
            found.push(node);
            waiting.extend(about.children.iter().rev());
        }
    }
    Ok(found)
}

/// The matrices that a mesh at a node is moved by.
fn carriers(document: &Document, rig: &mut Rig, node: usize, about: &Node) -> Result<Vec<u32>, GltfError> {
    let Some(index) = about.skin else { return Ok(vec![rig.carrier(node, DAffine3::IDENTITY)]) };
    let count = document.json.skins.len();
    let missing = || GltfError::Missing { owner: format!("node {node}"), kind: "skin", index, count };
    let skin = document.json.skins.get(index).ok_or_else(missing)?;
    let owner = format!("skin {index}");
    let binds = match skin.inverse_bind_matrices {
        Some(accessor) => document.numbers(accessor, &owner, &["MAT4"])?.0,
        None => DMat4::IDENTITY.to_cols_array().repeat(skin.joints.len()),
    };
    let mut found = Vec::new();
    for (n, &joint) in skin.joints.iter().enumerate() {
        let count = document.json.nodes.len();
        if joint >= count {
            return Err(GltfError::Missing { owner, kind: "node", index: joint, count });
        }
        let wrong = |problem: &str| GltfError::Node { node: joint, problem: format!("{problem} in skin {index}") };
        let bind = binds.get(16 * n..16 * n + 16).ok_or_else(|| wrong("it has no inverse bind matrix"))?;
        let bind = DAffine3::from_mat4(DMat4::from_cols_slice(bind));
        if !bind.is_finite() {
            return Err(wrong("its inverse bind matrix is not finite"));
        }
        found.push(rig.carrier(joint, bind));
    }
    Ok(found)
}

/// Adds one primitive.
fn add(
    document: &Document,
    rig: &mut Rig,
    instance: &Instance<'_>,
    primitive: &Primitive,
    triangles: &mut Vec<[u32; 3]>,
    warnings: &mut Vec<String>,
) -> Result<(), GltfError> {
    let wrong = |problem: String| GltfError::Mesh { mesh: instance.mesh, problem };
    let mode = primitive.mode.unwrap_or(4);
    if mode < 4 {
        warnings.push(format!("mesh {}: points and lines are not wetted", instance.mesh));
        return Ok(());
    }
    let &accessor = primitive.attributes.get("POSITION").ok_or_else(|| wrong("it has no positions".into()))?;
    let corners = document.announced(primitive.indices.unwrap_or(accessor));
    if rig.vertex_count().saturating_add(document.announced(accessor)) > MAX_VERTICES {
        return Err(GltfError::TooMany("vertices"));
    }
    if triangles.len().saturating_add(corners) > 2 * MAX_VERTICES {
        return Err(GltfError::TooMany("corners of triangles"));
    }
    let positions = vectors(document, accessor, instance.mesh, "positions")?;
    let first = rig.vertex_count();
    add_vertices(document, rig, instance, primitive, &positions)?;
    let corners = match primitive.indices {
        Some(indices) => document.numbers(indices, "a mesh's indices", &["SCALAR"])?.0,
        None => (0..positions.len()).map(|n| n as f64).collect(),
    };
    if let Some(bad) = corners.iter().find(|&&n| n >= positions.len() as f64) {
        return Err(wrong(format!("an index is {bad}, but it has {} vertices", positions.len())));
    }
    let corner = |n: usize| corners[n] as u32 + first as u32;
    let turned = |[a, b, c]: [u32; 3]| if instance.mirrored { [a, c, b] } else { [a, b, c] };
    let count = corners.len();
    match mode {
        4 => triangles.extend((0..count / 3).map(|t| turned([3 * t, 3 * t + 1, 3 * t + 2].map(corner)))),
        5 => triangles.extend((2..count).map(|n| turned([n - 2, n - 1 + n % 2, n - n % 2].map(corner)))),
        6 => triangles.extend((2..count).map(|n| turned([n - 1, n, 0].map(corner)))),
        _ => return Err(wrong(format!("its mode {mode} is unknown"))),
    }
    Ok(())
}

/// Vectors of an accessor, all finite.
fn vectors(document: &Document, accessor: usize, mesh: usize, what: &str) -> Result<Vec<DVec3>, GltfError> {
    let (numbers, _) = document.numbers(accessor, &format!("mesh {mesh}"), &["VEC3"])?;
    let vectors: Vec<_> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
    match vectors.iter().position(|v| !v.is_finite()) {
        Some(bad) => Err(GltfError::Mesh { mesh, problem: format!("number {bad} of its {what} is not finite") }),
        None => Ok(vectors),
    }
}

fn add_vertices(
    document: &Document,
    rig: &mut Rig,
    instance: &Instance<'_>,
    primitive: &Primitive,
    positions: &[DVec3],
) -> Result<(), GltfError> {
    let mesh = instance.mesh;
    let targets = targets(document, primitive, mesh, positions.len())?;
    let influences = influences(document, primitive, instance, positions.len())?;
    let first = rig.first_weight(instance.node);
    for (v, &position) in positions.iter().enumerate() {
        let of_target = |(k, deltas): (usize, &Vec<DVec3>)| Some((first + k as u32, *deltas.get(v)?));
        let moved = targets.iter().enumerate().filter_map(of_target).filter(|(_, delta)| *delta != DVec3::ZERO);
        let here = &influences[v * influences.len() / positions.len()..][..influences.len() / positions.len()];
        rig.vertex(position, here.iter().copied().filter(|(_, weight)| *weight > 0.0), moved);
    }
    Ok(())
}

/// Displacements by each morph target, empty for those that leave positions alone.
fn targets(
    document: &Document,
    primitive: &Primitive,
    mesh: usize,
    count: usize,
) -> Result<Vec<Vec<DVec3>>, GltfError> {
    let mut held = 0;
    let mut read = |(k, target): (usize, &std::collections::BTreeMap<String, usize>)| {
        let Some(&accessor) = target.get("POSITION") else { return Ok(Vec::new()) };
        held += count;
        if held > 4 * MAX_VERTICES {
            return Err(GltfError::TooMany("displaced vertices"));
        }
        let deltas = vectors(document, accessor, mesh, "displacements")?;
        let problem = || format!("morph target {k} has {} displacements for {count} vertices", deltas.len());
        if deltas.len() == count { Ok(deltas) } else { Err(GltfError::Mesh { mesh, problem: problem() }) }
    };
    primitive.targets.iter().enumerate().map(&mut read).collect()
}

/// Carriers and weights of the vertices, the same number for each, weights adding up to one.
fn influences(
    document: &Document,
    primitive: &Primitive,
    instance: &Instance<'_>,
    count: usize,
) -> Result<Vec<(u32, f64)>, GltfError> {
    let mesh = instance.mesh;
    let wrong = |problem: String| GltfError::Mesh { mesh, problem };
    if instance.about.skin.is_none() {
        return Ok(vec![(instance.carriers[0], 1.0); count]);
    }
    let (mut joints, mut weights) = (Vec::new(), Vec::new());
    for set in 0..4 {
        let of = |name: &str| primitive.attributes.get(&format!("{name}_{set}"));
        let (Some(&j), Some(&w)) = (of("JOINTS"), of("WEIGHTS")) else { break };
        let owner = format!("mesh {mesh}");
        joints.push(document.numbers(j, &owner, &["VEC4"])?.0);
        weights.push(document.numbers(w, &owner, &["VEC4"])?.0);
    }
    if joints.is_empty() {
        return Err(wrong("its node has a skin, but it has no JOINTS_0 and WEIGHTS_0".into()));
    }
    if joints.iter().chain(&weights).any(|set| set.len() != 4 * count) {
        return Err(wrong(format!("it has {count} vertices, but not as many joints and weights")));
    }
    let mut found = Vec::with_capacity(4 * joints.len() * count);
    for v in 0..count {
        let sets = || joints.iter().zip(&weights).flat_map(|(j, w)| (4 * v..4 * v + 4).map(|n| (j[n], w[n])));
        let sum: f64 = sets().map(|(_, w)| w).sum();
        if !(sum > 0.0 && sum.is_finite() && sets().all(|(_, w)| w >= 0.0)) {
            return Err(wrong(format!("the weights of vertex {v} (counted from 0) add up to {sum}: nothing holds it")));
        }
        for (joint, weight) in sets() {
            // Joints of no weight may be anything.
            let carrier = if weight > 0.0 { instance.carriers.get(joint as usize).copied() } else { Some(0) };
            let joints = instance.carriers.len();
            let missing = || wrong(format!("vertex {v} hangs on joint {joint}, but its skin has {joints}"));
            found.push((carrier.ok_or_else(missing)?, weight / sum));
        }
    }
    Ok(found)
}
