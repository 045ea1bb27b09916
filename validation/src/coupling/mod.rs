//! Liquid and solids together.

pub(crate) mod action;
pub(crate) mod boundary_field;
pub(crate) mod draught;
pub(crate) mod heave;
pub(crate) mod neutral;
pub(crate) mod yanked;

use meniscus::geometry::TriangleMesh;
use meniscus::sim::World;

/// Number of a column of the probes.
fn column(world: &World, name: &str) -> Result<usize, String> {
    world.columns().iter().position(|column| column == name).ok_or(format!("no column `{name}`"))
}

/// Mean of a column over the next seconds.
fn mean_of(world: &mut World, name: &str, seconds: f64) -> Result<f64, String> {
    let number = column(world, name)?;
    let (start, mut sum) = (world.time(), 0.0);
    while world.time() < start + seconds {
        let before = world.time();
        world.step(start + seconds).map_err(|e| e.to_string())?;
        sum += world.measure()[number] * (world.time() - before);
    }
    Ok(sum / (world.time() - start))
}

/// Volume inside the surfaces of all bodies \[m³\].
fn volume_of(world: &World) -> Result<f64, String> {
    let volume = |surface: &meniscus::core::Surface| {
        let positions = surface.positions.iter().map(|p| p.as_dvec3()).collect();
        TriangleMesh::new(positions, surface.triangles.clone()).map(|mesh| mesh.signed_volume())
    };
    world.frame().surfaces.iter().map(volume).sum::<Result<f64, _>>().map_err(|e| e.to_string())
}
