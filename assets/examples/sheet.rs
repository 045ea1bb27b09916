//! Draws a model from four sides at several times, to be looked at:
//! `cargo run --release -p meniscus-assets --example sheet -- hand OUT.png [TIMES [PART]]`.

use std::error::Error;
use std::path::Path;

use meniscus_core::{BodyInfo, BodyKind, Frame, Surface};
use meniscus_geometry::animation::{Animation, AnimationOptions, Wetting, parse_glb};
use meniscus_picture::{Camera, Image, Renderer, Style, film_strip};

/// Azimuth and elevation of the four eyes \[degrees\].
const SIDES: [[f32; 2]; 4] = [[25.0, 30.0], [-65.0, 12.0], [180.0, 8.0], [5.0, 88.0]];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(out)) = (arguments.next(), arguments.next()) else {
        return Err("usage: sheet hand|swimmer|heart OUT.png [TIMES [PART]]".into());
    };
    let count: usize = arguments.next().map_or(Ok(4), |n| n.parse())?;
    let part = arguments.next().unwrap_or_default();
    let file = format!("{name}.glb");
    let make = meniscus_assets::MODELS.iter().find(|(model, _)| *model == file).ok_or("no such model")?.1;
    let bytes = make();
    let animation = parse_glb(Path::new(&file), &bytes, &AnimationOptions::default())?;
    println!(
        "{file}: {} kB, {} vertices, {} triangles, {:?}, {:.2} s, {:?}",
        bytes.len() / 1000,
        animation.vertex_count(),
        animation.triangles().len(),
        animation.wetting(),
        animation.duration(),
        animation.warnings()
    );
    let mut renderer =
        Renderer::new(Style { width: 520, height: 400, ground: false, legend: false, ..Style::default() });
    let mut images: Vec<Image> = Vec::new();
    for n in 0..count {
        let time = animation.duration() * n as f64 / count as f64;
        let frame = frame_at(&animation, time, &part);
        for [azimuth, elevation] in SIDES {
            let camera = Camera { azimuth, elevation, ..Camera::default() };
            images.push(renderer.render(&frame, &camera)?.clone().at_time(Some(time)));
        }
    }
    std::fs::write(&out, film_strip(&images, 4).to_png()?)?;
    Ok(())
}

/// The model at a time, or those of its parts whose names hold a word.
fn frame_at(animation: &Animation, time: f64, word: &str) -> Frame {
    let colors = [
        [0.80, 0.42, 0.38],
        [0.62, 0.38, 0.62],
        [0.86, 0.30, 0.26],
        [0.36, 0.48, 0.78],
        [0.92, 0.84, 0.60],
        [0.60, 0.85, 0.62],
    ];
    let skin = [0.87, 0.68, 0.56];
    let shell = animation.wetting() == Wetting::Shell;
    let mut frame = Frame { time, ..Frame::default() };
    let mesh = animation.mesh_at(time);
    for (n, part) in animation.parts().iter().filter(|part| part.name.contains(word)).enumerate() {
        let color = if shell { colors[n % colors.len()] } else { skin };
        frame.bodies.push(BodyInfo { name: part.name.clone(), kind: BodyKind::Solid, color });
        let positions: Vec<_> = mesh.vertices().iter().map(|p| p.as_vec3()).collect();
        let velocities = vec![glam::Vec3::ZERO; positions.len()];
        frame.surfaces.push(Surface {
            body: n as u16,
            positions,
            velocities,
            triangles: mesh.triangles()[part.triangles.clone()].to_vec(),
            ..Surface::default()
        });
    }
    frame
}
