//! Writes the seeds of the binary fuzz targets: `cargo run -p meniscus --example seeds -- fuzz/corpus`.

use meniscus::core::{BodyInfo, BodyKind, Frame, Particles, Surface, Wire};
use meniscus::geometry::{TriangleMesh, solids, write_obj, write_ply};
use meniscus::record::{CheckpointHeader, encode_checkpoint, encode_frame};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give the corpus folder")?);
    let ball = solids::icosphere(Default::default(), 1.0, 1);
    let (mut obj, mut ply) = (Vec::new(), Vec::new());
    write_obj(&ball, &mut obj)?;
    write_ply(&ball, &mut ply)?;
    std::fs::write(folder.join("obj/ball.obj"), obj)?;
    std::fs::write(folder.join("ply/ball.ply"), ply)?;
    std::fs::write(folder.join("stl/binary.stl"), binary_stl(&ball))?;
    std::fs::write(folder.join("frame/small.mnf"), encode_frame(&small_frame()))?;
    let header =
        CheckpointHeader { frame: 3, step: 70, time: 0.1, probes_rows: 4, commands_rows: 0, scene_digest: "x".into() };
    std::fs::write(folder.join("checkpoint/small.mnc"), encode_checkpoint(&header, b"a state"))?;
    Ok(())
}

fn binary_stl(mesh: &TriangleMesh) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for corners in mesh.corners() {
        bytes.extend([0; 12]);
        for coordinate in corners.iter().flat_map(glam::DVec3::to_array) {
            bytes.extend((coordinate as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn small_frame() -> Frame {
    let body = |name: &str, kind| BodyInfo { name: name.into(), kind, color: [0.1, 0.4, 0.8] };
    Frame {
        number: 3,
        time: 0.1,
        step: 70,
        bodies: vec![body("water", BodyKind::Liquid), body("tank", BodyKind::Wall)],
        particles: Particles {
            ids: vec![0, 2, 7],
            bodies: vec![0; 3],
            positions: vec![Default::default(); 3],
            velocities: vec![Default::default(); 3],
            densities: vec![1000.0; 3],
            pressures: vec![0.0; 3],
            spacing: 0.1,
            spray: Vec::new(),
        },
        surfaces: vec![Surface {
            body: 1,
            positions: vec![Default::default(); 3],
            velocities: vec![Default::default(); 3],
            pressures: vec![0.0; 3],
            triangles: vec![[0, 1, 2]],
        }],
        wires: vec![Wire { body: 1, segments: vec![[Default::default(); 2]] }],
        walls: Vec::new(),
        ..Frame::default()
    }
}
