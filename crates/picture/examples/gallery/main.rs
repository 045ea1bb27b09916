//! Draws a few synthetic frames into a folder: `cargo run --release --example gallery -- FOLDER`.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::time::Instant;

use meniscus_core::Frame;
use meniscus_picture::{
    Camera, Coloring, GifWriter, Image, Renderer, Style, Theme, film_strip, settled_camera, settled_style,
};

mod frames;

use frames::{dam_break, one_sphere, solids};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: gallery FOLDER")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let heap = dam_break(20_000, 0.45);
    let plain = Style::default();
    let dark = Style { theme: Theme::Dark, ..Style::default() };
    let water = Style { color: Coloring::Water, ..Style::default() };
    draw(folder, "heap", &heap, &plain)?;
    draw(folder, "heap-dark", &heap, &dark)?;
    draw(folder, "heap-water", &heap, &water)?;
    draw(folder, "solids", &solids(), &plain)?;
    draw(folder, "solids-dark", &solids(), &dark)?;
    draw(folder, "sphere", &one_sphere(), &plain)?;
    film(folder)?;
    draw(folder, "empty", &Frame::default(), &plain)?;
    Ok(())
}

/// Draws a film of the collapse as a GIF and as a strip.
fn film(folder: &Path) -> Result<(), Box<dyn Error>> {
    let frames: Vec<Frame> = (0..24).map(|i| dam_break(20_000, i as f32 * 0.02)).collect();
    let style = settled_style(&Style { clock: true, ..Style::default() }, &frames);
    let camera = settled_camera(&Camera::default(), &frames);
    let mut renderer = Renderer::new(style);
    let mut film = GifWriter::new(BufWriter::new(File::create(folder.join("film.gif"))?), 640, 12.5);
    for frame in &frames {
        film.push(renderer.render(frame, &camera)?)?;
    }
    let start = Instant::now();
    let bytes = film.finish()?.into_inner()?.metadata()?.len();
    println!("film: {:.0} ms to finish, {} kB", 1e3 * start.elapsed().as_secs_f64(), bytes / 1000);
    let mut renderer =
        Renderer::new(Style { width: 640, height: 360, legend: false, clock: false, ..renderer.style().clone() });
    let mut shots = Vec::new();
    for frame in frames.iter().step_by(4) {
        shots.push(renderer.render(frame, &camera)?.clone());
    }
    std::fs::write(folder.join("strip.png"), film_strip(&shots, 3).to_png()?)?;
    Ok(())
}

fn draw(folder: &Path, name: &str, frame: &Frame, style: &Style) -> Result<Image, Box<dyn Error>> {
    let mut renderer = Renderer::new(style.clone());
    let camera = Camera::default();
    renderer.render(frame, &camera)?;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        renderer.render(frame, &camera)?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    let image = renderer.render(frame, &camera)?.clone();
    let start = Instant::now();
    let png = image.to_png()?;
    println!(
        "{name}: {:.1} ms, PNG {:.1} ms, {} kB",
        1e3 * best,
        1e3 * start.elapsed().as_secs_f64(),
        png.len() / 1000
    );
    for stage in renderer.report().stages() {
        println!("    {:<20} {:.1} ms", stage.name, 1e3 * stage.time.as_secs_f64());
    }
    std::fs::write(folder.join(format!("{name}.png")), png)?;
    Ok(image)
}
