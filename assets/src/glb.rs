//! Writing glTF: a small part of it, in one `.glb` file.

use glam::DVec3;
use meniscus_geometry::TriangleMesh;
use serde_json::{Value, json};

use crate::skeleton::{Skeleton, Stance};
use crate::skin::Hold;

const FLOAT: u32 = 5126;
const U16: u32 = 5123;
const U8: u32 = 5121;

/// A file under way.
#[derive(Debug, Default)]
pub(crate) struct Glb {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    skins: Vec<Value>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
}

/// Shapes that a mesh can take on: displacements of all its vertices \[m\], scaled by weights over time.
pub(crate) struct Morphs {
    pub(crate) targets: Vec<Vec<DVec3>>,
    /// For each time, the weights of all targets.
    pub(crate) weights: Vec<Vec<f64>>,
}

impl Glb {
    fn view(&mut self, bytes: &[u8]) -> usize {
        self.views.push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.len() - 1
    }

    fn accessor(&mut self, about: Value, bytes: &[u8]) -> usize {
        let view = self.view(bytes);
        let mut about = about;
        about["bufferView"] = view.into();
        self.accessors.push(about);
        self.accessors.len() - 1
    }

    pub(crate) fn floats(&mut self, kind: &str, components: usize, values: &[f64]) -> usize {
        let values: Vec<f32> = values.iter().map(|&x| x as f32 + 0.0).collect();
        let ends = |of: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
            let one = |c: usize| values.iter().skip(c).step_by(components).copied().fold(start, of);
            (0..components).map(one).collect()
        };
        let count = values.len() / components;
        let mut about = json!({"componentType": FLOAT, "count": count, "type": kind});
        if components <= 3 {
            about["min"] = json!(ends(f32::min, f32::INFINITY));
            about["max"] = json!(ends(f32::max, f32::NEG_INFINITY));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.accessor(about, &bytes)
    }

    fn vectors(&mut self, values: &[DVec3]) -> usize {
        let numbers: Vec<f64> = values.iter().flat_map(DVec3::to_array).collect();
        self.floats("VEC3", 3, &numbers)
    }

    fn indices(&mut self, triangles: &[[u32; 3]]) -> usize {
        let bytes: Vec<u8> = triangles.iter().flatten().flat_map(|&v| (v as u16).to_le_bytes()).collect();
        self.accessor(json!({"componentType": U16, "count": 3 * triangles.len(), "type": "SCALAR"}), &bytes)
    }

    fn holds(&mut self, holds: &[Hold]) -> [usize; 2] {
        let joints: Vec<u8> = holds.iter().flat_map(|hold| hold.joints).collect();
        let weights: Vec<u8> = holds.iter().flat_map(|hold| hold.weights).collect();
        let count = holds.len();
        [
            self.accessor(json!({"componentType": U8, "count": count, "type": "VEC4"}), &joints),
            self.accessor(json!({"componentType": U8, "normalized": true, "count": count, "type": "VEC4"}), &weights),
        ]
    }

    /// Adds a skeleton with its skin.
    pub(crate) fn body(&mut self, name: &str, mesh: &TriangleMesh, skeleton: &Skeleton, holds: &[Hold]) {
        let positions = self.vectors(mesh.vertices());
        let indices = self.indices(mesh.triangles());
        let [joints, weights] = self.holds(holds);
        let attributes = json!({"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights});
        self.meshes.push(json!({"name": name, "primitives": [{"attributes": attributes, "indices": indices}]}));
        for (n, joint) in skeleton.joints.iter().enumerate() {
            let origin = joint.parent.map_or(DVec3::ZERO, |parent| skeleton.joints[parent].position);
            let offset = (joint.position - origin).as_vec3().to_array();
            let mut node = json!({"name": joint.name, "translation": offset});
            let children: Vec<usize> =
                (0..skeleton.joints.len()).filter(|&c| skeleton.joints[c].parent == Some(n)).collect();
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            self.nodes.push(node);
        }
        let bind = |p: DVec3| [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -p.x, -p.y, -p.z, 1.0];
        let binds: Vec<f64> = skeleton.joints.iter().flat_map(|joint| bind(joint.position)).collect();
        let binds = self.floats("MAT4", 16, &binds);
        let all: Vec<usize> = (0..skeleton.joints.len()).collect();
        self.skins.push(json!({"joints": all, "inverseBindMatrices": binds, "skeleton": 0}));
        self.nodes.push(json!({"name": name, "mesh": self.meshes.len() - 1, "skin": 0}));
    }

    /// Moves the skeleton: a stance for each time \[s\].
    pub(crate) fn stances(&mut self, times: &[f64], stances: &[Stance]) {
        let input = self.floats("SCALAR", 1, times);
        let roots: Vec<DVec3> = stances.iter().map(|stance| stance.root).collect();
        if roots.iter().any(|root| *root != roots[0]) {
            let output = self.vectors(&roots);
            self.channel(input, output, 0, "translation");
        }
        for joint in 0..stances[0].turns.len() {
            if stances.iter().all(|stance| stance.turns[joint] == glam::DQuat::IDENTITY) {
                continue;
            }
            let turns: Vec<f64> = stances.iter().flat_map(|stance| stance.turns[joint].to_array()).collect();
            let output = self.floats("VEC4", 4, &turns);
            self.channel(input, output, joint, "rotation");
        }
    }

    /// Adds a mesh that changes its shape; `input` numbers the accessor of its times.
    pub(crate) fn shape(
        &mut self,
        name: &str,
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        morphs: &Morphs,
        input: usize,
    ) {
        let position = self.vectors(positions);
        let indices = self.indices(triangles);
        let targets: Vec<Value> =
            morphs.targets.iter().map(|target| json!({"POSITION": self.vectors(target)})).collect();
        let rest = &morphs.weights[0];
        let primitive = json!({"attributes": {"POSITION": position}, "indices": indices, "targets": targets});
        self.meshes.push(json!({"name": name, "primitives": [primitive], "weights": rest}));
        self.nodes.push(json!({"name": name, "mesh": self.meshes.len() - 1}));
        let weights: Vec<f64> = morphs.weights.iter().flatten().copied().collect();
        let output = self.floats("SCALAR", 1, &weights);
        self.channel(input, output, self.nodes.len() - 1, "weights");
    }

    fn channel(&mut self, input: usize, output: usize, node: usize, path: &str) {
        self.samplers.push(json!({"input": input, "output": output, "interpolation": "LINEAR"}));
        self.channels.push(json!({"sampler": self.samplers.len() - 1, "target": {"node": node, "path": path}}));
    }

    /// The file.
    pub(crate) fn finish(self, animation: &str) -> Vec<u8> {
        let child =
            |n: usize| self.nodes.iter().any(|node| node["children"].as_array().is_some_and(|c| c.contains(&json!(n))));
        let roots: Vec<usize> = (0..self.nodes.len()).filter(|&n| !child(n)).collect();
        let mut about = json!({
            "asset": {"version": "2.0", "generator": "meniscus-assets"},
            "scene": 0,
            "scenes": [{"nodes": roots}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "animations": [{"name": animation, "channels": self.channels, "samplers": self.samplers}],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": self.bytes.len()}],
        });
        if !self.skins.is_empty() {
            about["skins"] = json!(self.skins);
        }
        let mut text = about.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut file = b"glTF".to_vec();
        let length = 12 + 8 + text.len() + 8 + self.bytes.len();
        file.extend([2u32, length as u32, text.len() as u32].iter().flat_map(|n| n.to_le_bytes()));
        file.extend_from_slice(b"JSON");
        file.extend(text);
        file.extend((self.bytes.len() as u32).to_le_bytes());
        file.extend_from_slice(b"BIN\0");
        file.extend(self.bytes);
        file
    }
}
