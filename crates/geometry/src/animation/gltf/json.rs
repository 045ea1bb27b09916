//! The part of glTF's JSON that we read. Everything else is passed over.

use serde::Deserialize;

/// Fields with defaults from the specification.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(default, rename_all = "camelCase")]
        pub(super) struct $name { $($(#[$about])* pub(super) $field: $kind),* }
    };
}

table! { Json {
    asset: Asset,
    extensions_required: Vec<String>,
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Mesh>,
    skins: Vec<Skin>,
    animations: Vec<Animation>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<BufferView>,
    buffers: Vec<Buffer>,
} }
table! { Asset { version: String } }
table! { Scene { nodes: Vec<usize> } }
table! { Node {
    name: Option<String>,
    children: Vec<usize>,
    mesh: Option<usize>,
    skin: Option<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
    weights: Option<Vec<f64>>,
} }
table! { Mesh { name: Option<String>, primitives: Vec<Primitive>, weights: Option<Vec<f64>> } }
table! { Primitive {
    attributes: std::collections::BTreeMap<String, usize>,
    indices: Option<usize>,
    mode: Option<u32>,
    targets: Vec<std::collections::BTreeMap<String, usize>>,
} }
table! { Skin { joints: Vec<usize>, inverse_bind_matrices: Option<usize> } }
table! { Animation { name: Option<String>, channels: Vec<Channel>, samplers: Vec<Sampler> } }
table! { Channel { sampler: usize, target: Target } }
table! { Target { node: Option<usize>, path: String } }
table! { Sampler { input: usize, output: usize, interpolation: Option<String> } }
table! { Accessor {
    buffer_view: Option<usize>,
    byte_offset: usize,
    component_type: u32,
    normalized: bool,
    count: usize,
    #[serde(rename = "type")]
    kind: String,
    sparse: Option<Sparse>,
} }
table! { Sparse { count: usize, indices: SparseIndices, values: SparseValues } }
table! { SparseIndices { buffer_view: usize, byte_offset: usize, component_type: u32 } }
table! { SparseValues { buffer_view: usize, byte_offset: usize } }
table! { BufferView { buffer: usize, byte_offset: usize, byte_length: usize, byte_stride: Option<usize> } }
table! { Buffer { uri: Option<String>, byte_length: usize } }
