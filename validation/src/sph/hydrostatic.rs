//! `hydrostatic`: a column of water comes to rest.

use crate::worlds::{calm, run_until, world};
use crate::{Plot, Row, Size, bound, failed, given, largest, mean, rms};
use glam::{DVec3, Vec3};
use meniscus::sim::World;

const CASE: &str = "hydrostatic";
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;
const HEIGHT: f64 = 1.0;
const SECONDS: f64 = 5.0;

pub(crate) fn run(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.025 } else { 0.05 };
    // The default liquid is guarded only.
    let calm = format!("gradients = \"plain\"\n{}", calm(2.2));
    let calm = column(spacing, "calm: ", &calm, [0.02, 0.01]).into_iter().map(Row::asked);
    calm.chain(column(spacing, "default: ", "", [0.04, 0.03])).collect()
}

/// Rows of a column with some parameters; `bounds` are those of the pressure over ρgH and of the largest speed of a particle
/// over √(gH).
fn column(spacing: f64, label: &str, parameters: &str, bounds: [f64; 2]) -> Vec<Row> {
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\n{parameters}\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [0.5, {HEIGHT:?}, 0.5] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, 0, 0], max = [0.5, 1.5, 0.5], open = [\"+y\"] }} }}\n"
    );
    let result = world(CASE, &scene).and_then(|mut world| {
        run_until(&mut world, SECONDS - 0.5)?;
        let mut layers = vec![[0.0; 3]; (1.5 * HEIGHT / spacing) as usize + 1];
        for number in 1..=50 {
            run_until(&mut world, SECONDS - 0.5 + 0.01 * f64::from(number))?;
            add_layers(&world, spacing, &mut layers);
        }
        Ok(compare(&world, spacing, &layers, label, bounds))
    });
    result.unwrap_or_else(|error| failed(CASE, &error))
}

fn compare(world: &World, spacing: f64, layers: &[[f64; 3]], label: &str, bounds: [f64; 2]) -> Vec<Row> {
    let particles = world.frame().particles;
    let layers = layers.iter().filter(|sum| sum[0] > 0.0).map(|sum| [sum[1] / sum[0], sum[2] / sum[0]]);
    let layers: Vec<[f64; 2]> = layers.collect();
    let full = DENSITY * GRAVITY * HEIGHT;
    let below = HEIGHT - 2.0 * spacing;
    let deep = || layers.iter().filter(|[height, _]| *height < below);
    let off = |[height, pressure]: &[f64; 2]| (pressure - DENSITY * GRAVITY * (HEIGHT - height)).abs() / full;
    let pressure = largest(deep().map(off));
    // A column that carries nothing is not at rest, it has not begun.
    let carries = mean(deep().map(|layer| layer[1])) > 0.25 * full;
    let speeds: Vec<f64> = particles.velocities.iter().map(|v| f64::from(v.length())).collect();
    let slip = largest(speeds.iter().copied());
    let fastest = fastest_of_field(&particles.positions, &particles.velocities, 2.0 * spacing);
    let scale = (GRAVITY * HEIGHT).sqrt();
    let inside = particles.positions.iter().zip(&particles.densities).filter(|(x, _)| f64::from(x.y) < below);
    let density = inside.map(|(_, &d)| (f64::from(d) / DENSITY - 1.0).abs());
    // The centre of mass of a layer of height H lies at H/2: the level, without asking for single particles.
    let level = 2.0 * mean(particles.positions.iter().map(|x| f64::from(x.y)));
    let row = |name: &str, value: f64, limit: f64| bound(CASE, &format!("{label}{name}"), given(carries, value), limit);
    let exact = [[0.0, HEIGHT], [full, 0.0]];
    let found: Vec<[f64; 2]> = layers.iter().map(|[height, pressure]| [*pressure, *height]).collect();
    let plot = Plot::new(&format!("pressure [Pa], {label}means of layers"), "height [m]");
    let plot = plot.reference("ρg(H − y)", &exact).dots("ours", &found);
    vec![
        row("pressure, worst layer, over ρgH", pressure, bounds[0]).with(plot),
        row("rms speed over √(gH)", rms(speeds) / scale, 0.01),
        row("largest speed of the liquid over √(gH)", fastest / scale, 0.01),
        row("largest speed of a particle over √(gH)", slip / scale, bounds[1]),
        row("mean density error", mean(density), 0.005),
        row("error of the level, in spacings", (level - HEIGHT) / spacing, 0.5),
    ]
}

/// The largest speed \[m/s\] of the velocity field at the particles: the mean of the velocities within the support radius,
/// weighted by (1 − q²)³.
fn fastest_of_field(positions: &[Vec3], velocities: &[Vec3], radius: f64) -> f64 {
    let at = |x: Vec3| {
        let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
        for (y, v) in positions.iter().zip(velocities) {
            let t = (1.0 - f64::from(x.distance_squared(*y)) / (radius * radius)).max(0.0);
            sum += v.as_dvec3() * (t * t * t);
            weights += t * t * t;
        }
        (sum / weights).length()
    };
    largest(positions.iter().map(|&x| at(x)))
}

/// Adds count, heights \[m\] and pressures \[Pa\] to layers as thick as the spacing.
fn add_layers(world: &World, spacing: f64, layers: &mut [[f64; 3]]) {
    let particles = world.frame().particles;
    for (x, &pressure) in particles.positions.iter().zip(&particles.pressures) {
        let height = f64::from(x.y);
        if let Some(sum) = layers.get_mut((height / spacing) as usize) {
            *sum = [sum[0] + 1.0, sum[1] + height, sum[2] + f64::from(pressure)];
        }
    }
}
