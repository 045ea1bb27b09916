//! What fuzzers feed: every way in which bytes of strangers enter. Nothing here may panic, hang or ask for memory that
//! the bytes do not justify. `fuzz/` runs these under cargo-fuzz; an ordinary test runs them over a bounded corpus.

use meniscus_geometry::ImportOptions;
use meniscus_sim::{Logged, World};
use std::cell::RefCell;
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

/// Decodes a frame file whose length and checksum are right, whatever stands between.
pub fn sealed_frame(bytes: &[u8]) {
    black_box(meniscus_record::decode_frame(&sealed(bytes)).is_ok());
}

/// The same file with the length and the checksum that belong to its contents: `crates/record/src/envelope.rs`.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.get(..bytes.len().saturating_sub(8)).unwrap_or_default().to_vec();
    let length = bytes.len() as u64 + 8;
    if let Some(field) = bytes.get_mut(12..20) {
        field.copy_from_slice(&length.to_le_bytes());
    }
    let sum = meniscus_core::checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Small worlds of every method.
const WORLDS: [&str; 4] = [
    "[sph]\nspacing = 0.1\n[liquid.w]\nfill = [{ box = { min = [0, 0, 0], max = [0.3, 0.3, 0.3] } }]\n\
     [solid.s]\nedge = 0.2\nshape = { box = { min = [0, 1, 0], max = [0.4, 1.2, 0.2] } }\n\
     [rigid.r]\nshape = { box = { min = [2, 1, 0], max = [2.2, 1.2, 0.2] } }\n",
    "method = \"connections\"\n[sph]\nspacing = 0.1\n[liquid.w]\nfill = [{ box = { min = [0, 0, 0], max = [0.3, 0.3, 0.3] } }]\n\
     [body.b]\nshape = { box = { min = [0, 1, 0], max = [0.3, 1.3, 0.3] } }\n",
    "method = \"unified\"\n[sph]\nspacing = 0.1\n[liquid.w]\nfill = [{ box = { min = [0, 0, 0], max = [0.3, 0.3, 0.3] } }]\n\
     [solid.s]\nshape = { box = { min = [0, 1, 0], max = [0.3, 1.3, 0.3] } }\n",
    "method = \"twophase\"\ndomain = { min = [0, 0, 0], max = [0.8, 0.8, 0.8] }\n[twophase]\nspacing = 0.1\n\
     [liquid.w]\nfill = [{ box = { min = [0, 0, 0], max = [0.4, 0.4, 0.8] } }]\n",
];

thread_local! {
    static BUILT: RefCell<Vec<World>> = RefCell::new(WORLDS.iter().filter_map(|text| build(text)).collect());
}

fn build(text: &str) -> Option<World> {
    let nothing = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    World::new(&meniscus_scene::Loaded::from_text("fuzz", "fuzz.toml", text, &[], &nothing).ok()?).ok()
}

/// Works on one of the small worlds, chosen by the first byte.
fn with_world(bytes: &[u8], work: impl FnOnce(&mut World, &[u8])) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    BUILT.with_borrow_mut(|worlds| {
        assert_eq!(worlds.len(), WORLDS.len(), "all of them can be built");
        work(&mut worlds[usize::from(first) % WORLDS.len()], rest);
    });
}

/// Loads a saved state; one that fits can be shown and saved.
pub fn world(bytes: &[u8]) {
    with_world(bytes, |world, rest| {
        if world.load(rest).is_ok() {
            black_box((world.frame(), world.save().is_ok(), world.measure()));
        }
    });
}

/// What `world` takes for the state in which a small world begins.
#[must_use]
pub fn saved_world(number: u8) -> Vec<u8> {
    let state = build(WORLDS[usize::from(number) % WORLDS.len()]).and_then(|world| world.save().ok());
    std::iter::once(number).chain(state.unwrap_or_default()).collect()
}

/// Reads logged commands, one per line, and gives them to a world.
pub fn commands(bytes: &[u8]) {
    with_world(bytes, |world, rest| {
        for line in rest.split(|&byte| byte == b'\n') {
            if let Ok(logged) = serde_json::from_slice::<Logged>(line) {
                black_box(world.apply(logged.command.clone()).is_ok());
                black_box(world.replay(vec![logged]).is_ok());
            }
        }
    });
}
