//! Bodies of a run as one binary glTF file, for web pages, games and Blender: whatever keeps its triangles.
//!
//! | body | in the file |
//! |---|---|
//! | rigid | a mesh round its middle, and a node that moves: translations and rotations at every frame |
//! | soft, animated | the mesh of the first frame, and a morph target for each other frame whose weight is 1 there |
//!
//! Between frames vertices of morphs move on straight lines. Lengths are metres, y points up.

use std::path::Path;

use glam::{DQuat, DVec3, Quat, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Frame, Surface};
use serde_json::{Value, json};

use super::rigid_motion::carry;
use super::{Destination, ExportReport, joined};
use crate::RunFolder;
use crate::error::{PROGRAM_VERSION, Result};

/// What glTF wants to know that frames do not tell.
#[derive(Debug, Clone)]
pub struct GltfScene {
    /// Name of the file.
    pub name: String,
    /// Names of bodies that never change their shape.
    pub rigid: Vec<String>,
}

/// Exports the bodies of a run that keep their triangles. What does not is named in the report as left out, and so are liquids.
///
/// # Errors
/// When the run cannot be listed or a file cannot be written. Frames that cannot be read are in the report.
pub fn export_glb(
    run: &RunFolder,
    out_dir: impl AsRef<Path>,
    scene: &GltfScene,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ExportReport> {
    let mut out = Destination::new(out_dir.as_ref())?;
    let mut cast: Option<Cast> = None;
    out.each_frame(run, progress, |_, frame| {
        cast.get_or_insert_with(|| Cast::new(frame, scene)).follow(frame);
        Ok(())
    })?;
    if let Some(cast) = cast {
        out.report.left_out = cast.left_out();
        out.write(&format!("{}.glb", plain(&scene.name)), &cast.encode(&scene.name))?;
    }
    Ok(out.report)
}

/// A name that every file system has.
fn plain(name: &str) -> String {
    name.chars().take(80).map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// The bodies that play.
struct Cast {
    /// Times of frames \[s\].
    times: Vec<f32>,
    bodies: Vec<Player>,
    liquids: Vec<String>,
}

/// A body from frame to frame.
struct Player {
    info: BodyInfo,
    first: Surface,
    /// Its triangles changed, or it was not there.
    changed: bool,
    part: Part,
}

enum Part {
    /// Middle of the first frame's points \[m\], and translation and rotation at every frame.
    Rigid(DVec3, Vec<(Vec3, Quat)>),
    /// Points at every frame \[m\].
    Soft(Vec<Vec<Vec3>>),
}

impl Cast {
    fn new(frame: &Frame, scene: &GltfScene) -> Self {
        let has_surface = |body: u16| frame.surfaces.iter().any(|surface| surface.body == body);
        let numbered = || (0u16..).zip(&frame.bodies);
        let liquids = numbered().filter(|(_, info)| info.kind == BodyKind::Liquid);
        let solids = numbered().filter(|&(body, info)| info.kind != BodyKind::Liquid && has_surface(body));
        let player = |(body, info): (u16, &BodyInfo)| {
            let first = joined(frame, body);
            let part = if scene.rigid.contains(&info.name) {
                Part::Rigid(middle(&first.positions), Vec::new())
            } else {
                Part::Soft(Vec::new())
            };
            Player { info: info.clone(), first, changed: false, part }
        };
        Self {
            times: Vec::new(),
            bodies: solids.map(player).collect(),
            liquids: liquids.map(|(_, info)| info.name.clone()).collect(),
        }
    }

    fn follow(&mut self, frame: &Frame) {
        self.times.push(frame.time as f32);
        self.bodies.iter_mut().for_each(|body| body.follow(frame));
    }

    /// What glTF cannot hold.
    fn left_out(&self) -> Vec<String> {
        let liquids = self.liquids.iter().map(|name| format!("{name}: a liquid, whose triangles change"));
        let changed = self.bodies.iter().filter(|body| body.changed);
        liquids.chain(changed.map(|body| format!("{}: its triangles change", body.info.name))).collect()
    }

    fn encode(&self, name: &str) -> Vec<u8> {
        let mut file = Document::default();
        let times = file.scalars(&self.times);
        for body in self.bodies.iter().filter(|body| !body.changed) {
            body.write(&mut file, times);
        }
        file.finish(name)
    }
}

fn middle(points: &[Vec3]) -> DVec3 {
    points.iter().map(|p| p.as_dvec3()).sum::<DVec3>() / points.len().max(1) as f64
}

impl Player {
    fn follow(&mut self, frame: &Frame) {
        let now = joined(frame, self.first.body);
        self.changed |= now.triangles != self.first.triangles || now.positions.len() != self.first.positions.len();
        if self.changed {
            return;
        }
        match &mut self.part {
            Part::Rigid(middle, poses) => {
                let (turn, shift) = carry(&self.first.positions, &now.positions);
                let rotation = DQuat::from_mat3(&turn).as_quat().normalize();
                // A rotation and its negative are the same, but players turn from one to the other.
                let before = poses.last().map_or(Quat::IDENTITY, |pose| pose.1);
                let rotation = if before.dot(rotation) < 0.0 { -rotation } else { rotation };
                poses.push(((turn * *middle + shift).as_vec3(), rotation));
            }
            Part::Soft(frames) => frames.push(now.positions),
        }
    }

    fn write(&self, file: &mut Document, times: usize) {
        let material = file.material(&self.info);
        let indices = file.indices(self.first.triangles.as_flattened());
        let mut primitive = json!({ "indices": indices, "material": material });
        let mut mesh = json!({ "name": self.info.name });
        let node = file.nodes.len();
        let mut body = json!({ "name": self.info.name, "mesh": file.meshes.len() });
        match &self.part {
            Part::Rigid(middle, poses) => {
                let points: Vec<Vec3> =
                    self.first.positions.iter().map(|p| (p.as_dvec3() - *middle).as_vec3()).collect();
                primitive["attributes"] = json!({ "POSITION": file.vectors(&points, true) });
                let translations: Vec<Vec3> = poses.iter().map(|pose| pose.0).collect();
                let rotations: Vec<[f32; 4]> = poses.iter().map(|pose| pose.1.to_array()).collect();
                let (translations, rotations) = (file.vectors(&translations, false), file.rotations(&rotations));
                body["translation"] = json!(middle.as_vec3().to_array());
                file.channel(node, "translation", times, translations);
                file.channel(node, "rotation", times, rotations);
            }
            Part::Soft(frames) => {
                primitive["attributes"] = json!({ "POSITION": file.vectors(&self.first.positions, true) });
                let deltas = |points: &Vec<Vec3>| -> Vec<Vec3> {
                    points.iter().zip(&self.first.positions).map(|(now, first)| now - first).collect()
                };
                let moved = frames.iter().skip(1);
                let targets: Vec<Value> =
                    moved.map(|points| json!({ "POSITION": file.vectors(&deltas(points), true) })).collect();
                if !targets.is_empty() {
                    mesh["weights"] = json!(vec![0.0; targets.len()]);
                    let weights = file.scalars(&weights(frames.len()));
                    file.channel(node, "weights", times, weights);
                    primitive["targets"] = json!(targets);
                }
            }
        }
        mesh["primitives"] = json!([primitive]);
        file.meshes.push(mesh);
        file.nodes.push(body);
    }
}

/// Weights of all targets at every frame: none at the first, then one after the other.
fn weights(frames: usize) -> Vec<f32> {
    let targets = frames - 1;
    (0..frames).flat_map(|frame| (0..targets).map(move |target| f32::from(u8::from(target + 1 == frame)))).collect()
}

/// Numbers of the glTF specification.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const MAGIC: &[u8; 4] = b"glTF";
const JSON_CHUNK: &[u8; 4] = b"JSON";
const BINARY_CHUNK: &[u8; 4] = b"BIN\0";

/// A file that is being written.
#[derive(Default)]
struct Document {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    materials: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Document {
    fn accessor(&mut self, bytes: &[u8], kind: &str, component: u32, count: usize) -> usize {
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }));
        self.bytes.extend_from_slice(bytes);
        let view = self.views.len() - 1;
        self.accessors.push(json!({ "bufferView": view, "componentType": component, "type": kind, "count": count }));
        self.accessors.len() - 1
    }

    /// Numbers with the range that times must have.
    fn scalars(&mut self, values: &[f32]) -> usize {
        let number = self.accessor(bytemuck::cast_slice(values), "SCALAR", FLOAT, values.len());
        let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(low, high), &v| (low.min(v), high.max(v)));
        self.accessors[number]["min"] = json!([low]);
        self.accessors[number]["max"] = json!([high]);
        number
    }

    /// Vectors, with the range that positions must have.
    fn vectors(&mut self, values: &[Vec3], ranged: bool) -> usize {
        let number = self.accessor(bytemuck::cast_slice(values), "VEC3", FLOAT, values.len());
        if ranged {
            let low = values.iter().copied().reduce(Vec3::min).unwrap_or_default();
            let high = values.iter().copied().reduce(Vec3::max).unwrap_or_default();
            self.accessors[number]["min"] = json!(low.to_array());
            self.accessors[number]["max"] = json!(high.to_array());
        }
        number
    }

    fn rotations(&mut self, values: &[[f32; 4]]) -> usize {
        self.accessor(bytemuck::cast_slice(values), "VEC4", FLOAT, values.len())
    }

    fn indices(&mut self, values: &[u32]) -> usize {
        self.accessor(bytemuck::cast_slice(values), "SCALAR", UNSIGNED_INT, values.len())
    }

    fn material(&mut self, info: &BodyInfo) -> usize {
        // glTF wants colours linear.
        let [r, g, b] = info.color.map(|c| c.powf(2.2));
        let look = json!({ "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.45 });
        self.materials.push(json!({ "name": info.name, "pbrMetallicRoughness": look }));
        self.materials.len() - 1
    }

    fn channel(&mut self, node: usize, path: &str, times: usize, values: usize) {
        self.samplers.push(json!({ "input": times, "output": values, "interpolation": "LINEAR" }));
        let sampler = self.samplers.len() - 1;
        self.channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": path } }));
    }

    fn finish(mut self, name: &str) -> Vec<u8> {
        let mut document = json!({
            "asset": { "version": "2.0", "generator": format!("Meniscus {PROGRAM_VERSION}") },
            "scene": 0,
            "scenes": [{ "name": name, "nodes": (0..self.nodes.len()).collect::<Vec<_>>() }],
            "buffers": [{ "byteLength": self.bytes.len() }],
            "bufferViews": self.views,
            "accessors": self.accessors,
        });
        for (key, list) in [("meshes", self.meshes), ("nodes", self.nodes), ("materials", self.materials)] {
            // The specification does not allow empty lists.
            if !list.is_empty() {
                document[key] = json!(list);
            }
        }
        if document.get("nodes").is_none() {
            document["scenes"] = json!([{ "name": name }]);
        }
        if !self.channels.is_empty() {
            document["animations"] = json!([{ "name": name, "samplers": self.samplers, "channels": self.channels }]);
        }
        let mut text = document.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let chunks = [(JSON_CHUNK, text), (BINARY_CHUNK, self.bytes)];
        let length: usize = 12 + chunks.iter().map(|chunk| 8 + chunk.1.len()).sum::<usize>();
        let mut file = [*MAGIC, 2u32.to_le_bytes(), (length as u32).to_le_bytes()].concat();
        for (kind, bytes) in chunks {
            file.extend((bytes.len() as u32).to_le_bytes());
            file.extend(kind);
            file.extend(bytes);
        }
        file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_target_after_the_other_has_weight() {
        assert_eq!(weights(3), [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]);
        assert!(weights(1).is_empty());
    }

    fn frame(number: u32, positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Frame {
        let body = |name: &str, kind| BodyInfo { name: name.into(), kind, color: [1.0, 0.5, 0.0] };
        let bodies = vec![body("water", BodyKind::Liquid), body("cube", BodyKind::Solid)];
        let surface = Surface { body: 1, positions, triangles, ..Surface::default() };
        Frame { number, time: f64::from(number), bodies, surfaces: vec![surface], ..Frame::default() }
    }

    #[test]
    fn what_changes_its_triangles_is_left_out_by_name() {
        let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let first = frame(0, corners.clone(), vec![[0, 1, 2]]);
        let mut cast = Cast::new(&first, &GltfScene { name: "x".into(), rigid: Vec::new() });
        cast.follow(&first);
        cast.follow(&frame(1, corners.clone(), vec![[0, 1, 2]]));
        assert_eq!(cast.left_out(), ["water: a liquid, whose triangles change"]);
        cast.follow(&frame(2, corners, vec![[0, 2, 1]]));
        assert_eq!(cast.left_out()[1], "cube: its triangles change");
        let bytes = cast.encode("x");
        assert_eq!(bytes.len() as u32, u32::from_le_bytes(bytes[8..12].try_into().unwrap()));
    }
}
