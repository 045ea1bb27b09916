//! How long a picture takes: `cargo test --release -p meniscus-picture --test speed -- --ignored --nocapture`.

#[path = "../examples/gallery/frames.rs"]
#[allow(dead_code)]
mod frames;

use meniscus_picture::{Camera, Renderer, Style};

const ROUNDS: usize = 40;

/// Prints the shortest time of each stage for 20,000 spheres in a tank, 1280 × 720.
#[test]
#[ignore = "a measurement, not a check"]
fn milliseconds_per_picture() {
    let frame = frames::dam_break(20_000, 0.45);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (total, stages) = pool.install(|| measure(&frame));
        println!("{} spheres, {threads} threads: {total:.1} ms", frame.particles.len());
        for (name, time) in stages {
            println!("    {name:<20} {time:.1} ms");
        }
    }
}

fn measure(frame: &meniscus_core::Frame) -> (f64, Vec<(&'static str, f64)>) {
    let mut renderer = Renderer::new(Style::default());
    let mut total = f64::INFINITY;
    let mut best: Vec<(&'static str, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        renderer.render(frame, &Camera::default()).unwrap();
        total = total.min(1e3 * renderer.report().total().as_secs_f64());
        for (i, stage) in renderer.report().stages().iter().enumerate() {
            let time = 1e3 * stage.time.as_secs_f64();
            match best.get_mut(i) {
                Some(entry) => entry.1 = entry.1.min(time),
                None => best.push((stage.name, time)),
            }
        }
    }
    (total, best)
}
