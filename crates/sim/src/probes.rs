//! Measurements: what stands in probes.csv.

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

/// Reads a probe; `displacement` is that of a solid, by name, at a place at rest \[m\].
pub(crate) fn measure(
    liquid: &Liquid,
    displacement: &dyn Fn(&str, DVec3) -> DVec3,
    probe: &Probe,
    values: &mut Vec<f64>,
) {
    match probe {
        Probe::Point(point) => values.extend(at_point(liquid, DVec3::from_array(*point))),
        Probe::Solid(at) => values.extend(displacement(&at.name, DVec3::from_array(at.point)).to_array()),
        Probe::Plane(plane) => values.extend(through_plane(liquid, plane)),
        // Particles show no level; scenes that ask for one are refused.
        Probe::Gauge(_) => values.push(f64::NAN),
    }
}

/// Velocity, density and pressure as kernel-weighted means round a point; velocity and pressure are NaN where there is
/// no liquid.
fn at_point(liquid: &Liquid, point: DVec3) -> [f64; 5] {
    let h = liquid.support_radius();
    let particles = &liquid.state().particles;
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
    let particles = &liquid.state().particles;
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
