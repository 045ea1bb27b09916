//! What a scene must satisfy to be simulated on a grid.

use crate::model::{Bounds, Scene, Vector, Wall, WallShape, WetSide};
use crate::validate::Checks;
use meniscus_boundary::Motion;
use meniscus_twophase::{Params, Side};

/// Names of the sides in the scene file, low and high along each axis.
const SIDES: [[&str; 2]; 3] = [["x_min", "x_max"], ["y_min", "y_max"], ["z_min", "z_max"]];

/// Sizes may miss a whole number of cells by this part of a cell.
const WHOLE: f64 = 1e-6;

impl Scene {
    /// The box of the grid: `domain`, or the first wall that is a box.
    #[must_use]
    pub fn grid_box(&self) -> Option<Bounds> {
        self.domain.clone().or_else(|| self.wall.values().find_map(|wall| bounds_of(&wall.shape)))
    }

    /// The motion of the box of the grid, if one of its walls is that box and moves.
    #[must_use]
    pub fn grid_motion(&self) -> Option<&Motion> {
        let bounds = self.grid_box();
        let is_box = |wall: &&Wall| bounds.is_some() && bounds_of(&wall.shape) == bounds;
        self.wall.values().find(is_box).map(|wall| &wall.motion).filter(|motion| motion.moves())
    }
}

/// The box of a wall that is one.
pub(crate) fn bounds_of(shape: &WallShape) -> Option<Bounds> {
    match shape {
        WallShape::Box(tank) => Some(Bounds { min: tank.min, max: tank.max }),
        _ => None,
    }
}

impl Checks {
    /// The numbers of the grid, whatever the method.
    pub(crate) fn grid(&mut self, params: &Params) {
        self.positive("spacing", params.spacing);
        self.within(["gas"], |c| {
            c.positive("density", params.gas.density);
            c.not_negative("viscosity", params.gas.viscosity);
        });
        self.range("courant", params.courant, [0.001, 0.95]);
        self.range("tolerance", params.tolerance, [1e-15, 0.1]);
        self.require("max_iterations", params.max_iterations > 0, "must be at least 1");
        for (pair, names) in params.sides.pairs().iter().zip(SIDES) {
            let both = (pair[0] == Side::Periodic) == (pair[1] == Side::Periodic);
            let [low, high] = names;
            self.require("sides", both, format!("{low} and {high} must both be periodic, or neither"));
            for (side, name) in pair.iter().zip(names) {
                self.within(["sides", name], |c| {
                    if let Side::Open(open) = side {
                        c.within(["open"], |c| {
                            c.not_negative("wave_speed", open.wave_speed);
                            c.not_negative("sponge", open.sponge);
                        });
                    }
                });
            }
        }
    }

    /// What a grid needs, and what it cannot do.
    pub(crate) fn on_grid(&mut self, scene: &Scene) {
        match scene.grid_box() {
            Some(bounds) => self.whole_cells(&bounds, scene),
            None => self.require("domain", false, "is needed by \"twophase\", or a wall that is a box"),
        }
        self.require("liquid", !scene.liquid.is_empty(), "must hold a liquid");
        if let Some((first, like)) = scene.liquid.first() {
            for (name, liquid) in &scene.liquid {
                self.within(["liquid", name], |c| {
                    let same = |value: f64| format!("must be that of `{first}`, {value}: a grid holds one liquid");
                    c.require("density", liquid.density == like.density, same(like.density));
                    c.require("viscosity", liquid.viscosity == like.viscosity, same(like.viscosity));
                    let tension = like.surface_tension;
                    c.require("surface_tension", liquid.surface_tension == tension, same(tension));
                });
            }
        }
        for (name, wall) in &scene.wall {
            self.within(["wall", name], |c| {
                let turns = match &wall.motion {
                    Motion::Turn(_) | Motion::Swing(_) => true,
                    Motion::Keys(keys) => keys.iter().any(|key| key.rotation != [0.0; 3]),
                    Motion::Still | Motion::Slide(_) | Motion::Frames(_) => false,
                };
                let whole = "moves the box of the grid, which can slide but not turn: give a `domain` that holds the wall wherever it goes";
                let is_box = bounds_of(&wall.shape).is_some_and(|own| scene.grid_box() == Some(own));
                c.require("motion", !(turns && is_box), whole);
                let one_sided = wall.wet != Some(WetSide::Both);
                c.require("wet", one_sided, "must be \"inside\" or \"outside\" with \"twophase\"");
            });
        }
    }

    fn whole_cells(&mut self, bounds: &Bounds, scene: &Scene) {
        let spacing = scene.twophase.spacing;
        let from_resolution = scene.resolution == Some(spacing);
        let (min, max): (Vector, Vector) = (bounds.min, bounds.max);
        for axis in 0..3 {
            let cells = (max[axis] - min[axis]) / spacing;
            let whole = cells.round() >= 1.0 && (cells - cells.round()).abs() <= WHOLE * cells.max(1.0);
            let name = ["x", "y", "z"][axis];
            let message = format!(
                "makes {cells} cells of the box along {name}, from {} m to {} m: must be a whole number",
                min[axis], max[axis]
            );
            let table = (!from_resolution).then_some("twophase");
            let key = if from_resolution { "resolution" } else { "spacing" };
            self.within(table, |c| c.require(key, whole, message));
        }
    }
}
