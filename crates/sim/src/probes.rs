//! Measurements: what stands in probes.csv.

use crate::part::Part;
use glam::{DVec3, Vec3};
use meniscus_core::par;
use meniscus_scene::{FlowPlane, Probe};
use meniscus_sph::{Liquid, Particles, kernel::Kernel};

/// The columns of a probe: `name.quantity [unit]`.
pub(crate) fn columns(name: &str, probe: &Probe) -> Vec<String> {
    let quantities: &[&str] = match probe {
        Probe::Point(_) => &["vx [m/s]", "vy [m/s]", "vz [m/s]", "density [kg/m3]", "pressure [Pa]"],
        Probe::Solid(_) => &["dx [m]", "dy [m]", "dz [m]"],
        Probe::Gauge(_) => &["level [m]"],
        Probe::Plane(_) => &["flow [m3/s]", "speed [m/s]"],
    };
    quantities.iter().map(|quantity| format!("{name}.{quantity}")).collect()
}

/// Reads a probe by the first part that can; nothing is NaN.
pub(crate) fn measure(parts: &[&dyn Part], gravity: DVec3, probe: &Probe, values: &mut Vec<f64>) {
    if !parts.iter().any(|part| part.read(probe, gravity, values)) {
        values.extend(columns("", probe).iter().map(|_| f64::NAN));
    }
}

/// Reads a probe of a particle liquid, if it is one; gauges stand along gravity.
pub(crate) fn read_liquid(liquid: &Liquid, gravity: DVec3, probe: &Probe, values: &mut Vec<f64>) -> bool {
    match probe {
        Probe::Point(point) => values.extend(at_point(liquid, DVec3::from_array(*point))),
        Probe::Plane(plane) => values.extend(through_plane(liquid, plane)),
        Probe::Gauge(point) => values.push(gauge(liquid, gravity, DVec3::from_array(*point))),
        Probe::Solid(_) => return false,
    }
    true
}

/// The axis along which gravity is strongest.
pub(crate) fn upright(gravity: DVec3) -> usize {
    let gravity = gravity.abs();
    (0..3).max_by(|&a, &b| gravity[a].total_cmp(&gravity[b])).unwrap_or(1)
}

/// Length of liquid \[m\] on the line along gravity through a point: of all that particles within a spacing of it cover, each as far
/// as a cube of its volume. Gaps of less than a quarter of a spacing are none.
fn gauge(liquid: &Liquid, gravity: DVec3, point: DVec3) -> f64 {
    let (up, point) = (Vec3::AXES[upright(gravity)], point.as_vec3());
    let spacing = liquid.setup().params.spacing as f32;
    let particles = liquid.particles();
    let near = particles.position.iter().filter_map(|&x| {
        let from = liquid.setup().periodic.shortest(x - point);
        let height = from.dot(up);
        ((from - up * height).length() < spacing).then_some(height)
    });
    let mut heights: Vec<f32> = near.collect();
    heights.sort_by(f32::total_cmp);
    if heights.is_empty() {
        return 0.0;
    }
    let covered = heights.windows(2).map(|pair| {
        let apart = pair[1] - pair[0];
        if apart < 1.25 * spacing { apart } else { spacing }
    });
    // Half a particle below the lowest, half above the highest.
    f64::from(spacing) + covered.map(f64::from).sum::<f64>()
}

/// Velocity, density and pressure as kernel-weighted means round a point; velocity and pressure are NaN where there is
/// no liquid.
fn at_point(liquid: &Liquid, point: DVec3) -> [f64; 5] {
    let h = liquid.support_radius();
    let particles = liquid.particles();
    let sums = par::reduce(
        particles.len(),
        &|range| {
            let mut sums = [0.0; 6];
            for i in range {
                let weight = weight_at(particles, i, point, h, liquid);
                if weight > 0.0 {
                    let v = particles.velocity[i];
                    let mass = liquid.mass(particles.liquid[i]);
                    let volume = weight * mass / f64::from(particles.density[i]);
                    let fields = [f64::from(v.x), f64::from(v.y), f64::from(v.z), f64::from(particles.pressure[i])];
                    sums[0] += volume;
                    sums[1] += weight * mass;
                    fields.iter().zip(&mut sums[2..]).for_each(|(field, sum)| *sum += volume * field);
                }
            }
            sums
        },
        &|a, b| std::array::from_fn(|k| a[k] + b[k]),
    )
    .unwrap_or([0.0; 6]);
    let mean = |k: usize| sums[k] / sums[0];
    [mean(2), mean(3), mean(4), sums[1], mean(5)]
}

fn weight_at(particles: &Particles, i: usize, point: DVec3, h: f64, liquid: &Liquid) -> f64 {
    let difference = (point - particles.position[i].as_dvec3()).as_vec3();
    let r = f64::from(liquid.setup().periodic.shortest(difference).length());
    if r < h { Kernel::POLY6.value(r / h) / (h * h * h) } else { 0.0 }
}

/// Flow through a plane \[m³/s\] and mean speed along its normal \[m/s\], over a layer two spacings thick.
fn through_plane(liquid: &Liquid, plane: &FlowPlane) -> [f64; 2] {
    let normal = DVec3::from_array(plane.normal).normalize().as_vec3();
    let point = DVec3::from_array(plane.point).as_vec3();
    let spacing = liquid.setup().params.spacing as f32;
    let radius = plane.radius.map_or(f32::INFINITY, |r| r as f32);
    let particles = liquid.particles();
    let sums = par::reduce(
        particles.len(),
        &|range| {
            range.fold([0.0, 0.0], |[flow, volume], i| {
                let from: Vec3 = particles.position[i] - point;
                let height = from.dot(normal);
                let off_axis = (from - normal * height).length();
                // A hat of height one over a spacing: a particle counts fully while it crosses.
                let share = f64::from((1.0 - height.abs() / spacing).max(0.0) / spacing);
                if share == 0.0 || off_axis > radius {
                    return [flow, volume];
                }
                let own = share * liquid.mass(particles.liquid[i]) / f64::from(particles.density[i]);
                [flow + own * f64::from(particles.velocity[i].dot(normal)), volume + own]
            })
        },
        &|a, b| [a[0] + b[0], a[1] + b[1]],
    )
    .unwrap_or([0.0, 0.0]);
    [sums[0], if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 }]
}

#[cfg(test)]
mod tests {
    use crate::World;
    use meniscus_scene::Loaded;

    /// A gauge of particles shows the depth that was filled in, beside walls too, and both parts of a liquid in two layers.
    #[test]
    fn gauges_show_the_depth() {
        let text = "resolution = 0.05\n[liquid.water]\nfill = [{ box = { min = [0, 0, 0], max = [1, 0.4, 0.5] } }, \
            { box = { min = [0, 0.7, 0], max = [0.5, 0.9, 0.5] } }]\n\
            [wall.tank]\nshape = { box = { min = [0, 0, 0], max = [1, 1, 0.5], open = [\"+y\"] } }\n\
            [probe.middle]\ngauge = [0.7, 0, 0.26]\n[probe.corner]\ngauge = [0.99, 0, 0.01]\n[probe.twice]\ngauge = [0.2, 0, 0.2]\n";
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let world = World::new(&Loaded::from_text("g", "g.toml", text, &[], &none).unwrap()).unwrap();
        let (columns, values) = (world.columns(), world.measure());
        for (name, depth) in [("middle", 0.4), ("corner", 0.4), ("twice", 0.6)] {
            let column = columns.iter().position(|column| *column == format!("{name}.level [m]")).unwrap();
            assert!((values[column] - depth).abs() < 1e-5, "{name}: {}", values[column]);
        }
    }
}
