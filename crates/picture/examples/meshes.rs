//! Draws bodies and their tetrahedra into a folder: `cargo run --release -p meniscus-picture --example meshes -- FOLDER`.
//!
//! The duck from three sides; then tetrahedral meshes with their front half taken away.

use std::error::Error;
use std::path::Path;

use glam::{DVec3, Vec3};
use meniscus_core::{BodyInfo, BodyKind, Frame, Surface, Wire};
use meniscus_geometry::{Aabb, Pool, TetMesh, TetOptions, TetSize, TriangleMesh, Tube, mesh_tets, solids, surface_of};
use meniscus_picture::{Camera, Coloring, Style, Walls, film_strip, render};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: meshes FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let duck = solids::duck(0.2, 44);
    draw_duck(folder, &duck)?;
    let filled =
        |surface: &TriangleMesh, count| mesh_tets(surface, &TetOptions::count(count)).map(|stuffed| stuffed.mesh);
    draw_tets(folder, "duck-500", &filled(&duck, 500)?)?;
    draw_tets(folder, "duck-2000", &filled(&duck, 2000)?)?;
    draw_tets(folder, "duck-10000", &filled(&duck, 10_000)?)?;
    draw_tets(folder, "sphere-2000", &filled(&solids::icosphere(DVec3::ZERO, 0.1, 4), 2000)?)?;
    draw_tets(folder, "torus-2000", &filled(&solids::torus(DVec3::ZERO, 0.1, 0.035, [90, 30]), 2000)?)?;
    draw_tets(folder, "ball", &TetMesh::ball(DVec3::ZERO, 0.1, 5)?)?;
    draw_tets(folder, "cylinder", &TetMesh::cylinder([DVec3::ZERO, 0.3 * DVec3::X], 0.08, 3, 10)?)?;
    let tube = Tube { start: DVec3::ZERO, end: 0.4 * DVec3::X, radii: [0.06, 0.1], around: 24, along: 16, through: 2 };
    draw_tets(folder, "tube", &TetMesh::tube(&tube)?)?;
    let pool =
        Pool { inside: Aabb::new(DVec3::ZERO, DVec3::new(1.0, 0.4, 0.7)), wall: 0.08, size: TetSize::Count(800) };
    draw_tets(folder, "pool", &TetMesh::pool(&pool)?)
}

fn draw_duck(folder: &Path, duck: &TriangleMesh) -> Result<(), Box<dyn Error>> {
    let bodies = vec![info("duck", [0.98, 0.78, 0.10])];
    let frame = Frame { bodies, surfaces: vec![surface(0, duck.vertices(), duck.triangles())], ..Frame::default() };
    let style = Style {
        width: 800,
        height: 640,
        supersample: 2,
        legend: false,
        color: Coloring::Body,
        walls: Walls::Solid,
        ..Style::default()
    };
    let mut views = Vec::new();
    for (azimuth, elevation) in [(0.0, 8.0), (40.0, 18.0), (90.0, 8.0), (-120.0, 35.0)] {
        views.push(render(&frame, &Camera { azimuth, elevation, ..Camera::default() }, &style)?);
    }
    println!("duck: {} triangles", duck.triangles().len());
    std::fs::write(folder.join("duck.png"), film_strip(&views, 2).to_png()?)?;
    Ok(())
}

/// The whole, and what is left when the tetrahedra in front of the middle are hidden, each face by itself.
fn draw_tets(folder: &Path, name: &str, mesh: &TetMesh) -> Result<(), Box<dyn Error>> {
    let middle = Aabb::around(mesh.vertices().iter().copied()).center();
    let behind = |tet: &&[u32; 4]| tet.iter().map(|&v| mesh.vertices()[v as usize].z).sum::<f64>() < 4.0 * middle.z;
    let half: Vec<[u32; 4]> = mesh.tets().iter().filter(behind).copied().collect();
    let style = Style {
        width: 1000,
        height: 700,
        supersample: 2,
        legend: false,
        color: Coloring::Body,
        walls: Walls::Solid,
        line_width: 0.6,
        ..Style::default()
    };
    let camera = Camera { azimuth: 25.0, elevation: 25.0, ..Camera::default() };
    let mut views = Vec::new();
    for tets in [mesh.tets(), &half] {
        let faces = surface_of(tets);
        // Every triangle has corners of its own, so that it is shaded flat.
        let corners: Vec<DVec3> = faces.iter().flatten().map(|&v| mesh.vertices()[v as usize]).collect();
        let triangles: Vec<[u32; 3]> = (0..faces.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        let edges = corners.chunks_exact(3).flat_map(|c| [[c[0], c[1]], [c[1], c[2]], [c[2], c[0]]]);
        let wires = vec![Wire { body: 1, segments: edges.map(|edge| edge.map(DVec3::as_vec3)).collect() }];
        let bodies = vec![info("tets", [0.55, 0.70, 0.85]), info("edges", [0.10, 0.12, 0.20])];
        let frame = Frame { bodies, surfaces: vec![surface(0, &corners, &triangles)], wires, ..Frame::default() };
        views.push(render(&frame, &camera, &style)?);
    }
    let quality = mesh.quality();
    println!("{name}: {} tets, {:.1}° to {:.1}°", mesh.tets().len(), quality.min_dihedral, quality.max_dihedral);
    std::fs::write(folder.join(format!("{name}.png")), film_strip(&views, 2).to_png()?)?;
    Ok(())
}

fn info(name: &str, color: [f32; 3]) -> BodyInfo {
    BodyInfo { name: name.into(), kind: BodyKind::Wall, color }
}

fn surface(body: u16, vertices: &[DVec3], triangles: &[[u32; 3]]) -> Surface {
    let positions: Vec<Vec3> = vertices.iter().map(|v| v.as_vec3()).collect();
    Surface { body, positions, triangles: triangles.to_vec(), ..Surface::default() }
}
