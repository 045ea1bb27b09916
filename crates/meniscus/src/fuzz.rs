//! What fuzzers feed: every way in which bytes of strangers enter. Nothing here may panic, hang or ask for memory that
//! the bytes do not justify. `fuzz/` runs these under cargo-fuzz; an ordinary test runs them over a bounded corpus.

use meniscus_geometry::ImportOptions;
use std::hint::black_box;

/// Parses a scene file.
pub fn scene(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        if let Ok(scene) = meniscus_scene::parse("fuzz.toml", text, &[]) {
            black_box(meniscus_scene::to_text(&scene).is_ok());
        }
        black_box(meniscus_scene::parse("fuzz.toml", "", &[text.to_owned()]).is_ok());
    }
}

/// Parses an OBJ mesh.
pub fn obj(bytes: &[u8]) {
    black_box(meniscus_geometry::parse_obj(bytes, &ImportOptions::default()).is_ok());
}

/// Parses an STL mesh.
pub fn stl(bytes: &[u8]) {
    black_box(meniscus_geometry::parse_stl(bytes, &ImportOptions::default()).is_ok());
}

/// Parses a PLY mesh.
pub fn ply(bytes: &[u8]) {
    black_box(meniscus_geometry::parse_ply(bytes, &ImportOptions::default()).is_ok());
}

/// Parses an animation from a `.glb` file and poses it.
pub fn glb(bytes: &[u8]) {
    use meniscus_geometry::animation::{AnimationOptions, parse_glb};
    if let Ok(animation) = parse_glb("fuzz.glb".as_ref(), bytes, &AnimationOptions::default()) {
        black_box(animation.mesh_at(0.5).area());
    }
}

/// Parses tetrahedra as every kind of file; TetGen's two are divided by a zero byte.
pub fn tets(bytes: &[u8]) {
    use meniscus_geometry::{parse_msh, parse_tetgen, parse_vtk, parse_vtu};
    let options = ImportOptions::default();
    black_box(parse_msh(bytes, &options).is_ok());
    black_box(parse_vtk(bytes, &options).is_ok());
    black_box(parse_vtu(bytes, &options).is_ok());
    let middle = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
    let (nodes, tets) = bytes.split_at(middle);
    black_box(parse_tetgen(nodes, tets.strip_prefix(&[0]).unwrap_or(tets), &options).is_ok());
}

/// Decodes a frame file.
pub fn frame(bytes: &[u8]) {
    black_box(meniscus_record::decode_frame(bytes).is_ok());
}

/// Decodes a checkpoint.
pub fn checkpoint(bytes: &[u8]) {
    black_box(meniscus_record::decode_checkpoint(bytes).is_ok());
}
