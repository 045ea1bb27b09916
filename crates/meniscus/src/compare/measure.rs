//! What is measured of every method in the same way.
//!
//! Liquid is a set of volumes with positions: particles, or the liquid in the cells of a grid.

use meniscus_core::{BodyKind, Frame};
use meniscus_scene::{Probe, Scene};
use meniscus_sim::World;

/// Part of the liquid that may be before its front: spray.
const SPRAY: f64 = 0.005;

/// What a comparison reads.
pub(super) struct Gauges {
    /// Columns of the scene's gauges.
    names: Vec<String>,
    /// Axis against gravity.
    up: usize,
    sign: f64,
}

impl Gauges {
    pub(super) fn new(scene: &Scene) -> Self {
        let levels = scene.probe.iter().filter(|(_, probe)| matches!(probe, Probe::Gauge(_)));
        let names = levels.map(|(name, _)| format!("{name}.level [m]")).collect();
        let gravity = scene.gravity;
        let up = (0..3).max_by(|&a, &b| gravity[a].abs().total_cmp(&gravity[b].abs())).unwrap_or(1);
        Self { names, up, sign: if gravity[up] > 0.0 { -1.0 } else { 1.0 } }
    }

    /// Names with units.
    pub(super) fn quantities(&self, frame: &Frame) -> Vec<String> {
        let mut names: Vec<String> = ["time [s]", "front [m]"].map(str::to_owned).into();
        names.extend(self.names.iter().cloned());
        names.extend(bodies(frame).map(|(name, _)| format!("{name}.draught [m]")));
        names.extend(["kinetic energy [J]", "potential energy [J]", "volume change"].map(str::to_owned));
        names
    }

    /// Their values now.
    pub(super) fn read(&self, world: &World, frame: &Frame) -> Vec<f64> {
        let (columns, values) = (world.columns(), world.measure());
        let levels = self.names.iter().filter_map(|name| columns.iter().position(|column| column == name));
        let levels: Vec<f64> = levels.map(|column| values[column]).collect();
        let floor = lowest(world, self.up, self.sign);
        let level = floor + levels.iter().sum::<f64>() / levels.len().max(1) as f64;
        let mut read = vec![world.time(), front(&liquid(world, frame))];
        read.extend(&levels);
        // Without a gauge there is no level to measure a draught from.
        let draught = |keel: f64| if levels.is_empty() { 0.0 } else { (level - keel).max(0.0) };
        read.extend(bodies(frame).map(|(_, surface)| draught(self.keel(frame, surface))));
        let totals = world.totals();
        read.extend([totals.kinetic_energy, totals.potential_energy, totals.volume_change]);
        read
    }

    /// The lowest point of a surface \[m\].
    fn keel(&self, frame: &Frame, surface: usize) -> f64 {
        let heights = frame.surfaces[surface].positions.iter().map(|p| self.sign * f64::from(p[self.up]));
        heights.fold(f64::INFINITY, f64::min)
    }
}

/// Bodies that float or sink: their names and surfaces.
fn bodies(frame: &Frame) -> impl Iterator<Item = (&str, usize)> {
    frame.surfaces.iter().enumerate().filter_map(|(number, surface)| {
        let body = frame.bodies.get(usize::from(surface.body))?;
        (body.kind == BodyKind::Solid).then_some((body.name.as_str(), number))
    })
}

/// Where the floor of the tank is \[m\], from which gauges count: the lowest wall that is a box.
fn lowest(world: &World, up: usize, sign: f64) -> f64 {
    let floors = world.scene().wall.values().filter_map(|wall| match &wall.shape {
        meniscus_scene::WallShape::Box(tank) => Some((sign * tank.min[up]).min(sign * tank.max[up])),
        _ => None,
    });
    let floor = floors.fold(f64::INFINITY, f64::min);
    if floor.is_finite() { floor } else { 0.0 }
}

/// Positions along x \[m\] and volumes \[m³\] of all liquid.
fn liquid(world: &World, frame: &Frame) -> Vec<(f64, f64)> {
    if let Some(fields) = world.fields() {
        let Some((_, fraction)) = fields.scalars.first() else { return Vec::new() };
        let h = fields.spacing;
        let x = |p: usize| fields.origin[0] + (0.5 + (p % fields.cells[0] as usize) as f64) * h;
        return fraction.iter().enumerate().map(|(p, &f)| (x(p), f64::from(f) * h * h * h)).collect();
    }
    frame.particles.positions.iter().map(|p| (f64::from(p.x), 1.0)).collect()
}

/// The position along x that all liquid but spray has not passed \[m\].
fn front(liquid: &[(f64, f64)]) -> f64 {
    let mut sorted: Vec<(f64, f64)> = liquid.iter().copied().filter(|(_, volume)| *volume > 0.0).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let spray = SPRAY * sorted.iter().map(|(_, volume)| volume).sum::<f64>();
    let mut passed = 0.0;
    for (x, volume) in &sorted {
        passed += volume;
        if passed > spray {
            return *x;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::front;

    #[test]
    fn spray_is_no_front() {
        let block: Vec<(f64, f64)> = (0..1000).map(|k| (f64::from(k % 10), 2.0)).collect();
        assert_eq!(front(&block), 9.0);
        let sprayed = [block, vec![(50.0, 2.0); 3]].concat();
        assert_eq!(front(&sprayed), 9.0);
        assert_eq!(front(&[]), 0.0);
    }
}
