//! `heart-stroke`: what the left heart of the gallery ejects in a beat.

use super::run;
use crate::{Row, Size, bound, compare, failed};
use glam::DVec3;
use meniscus::gallery;
use meniscus::geometry::Aabb;
use meniscus::geometry::animation::{Animation, Pose};
use meniscus::twophase::{Flow, Open, Params, Setup, Side, Sides, Solid, Thicken, Vertices};
use std::sync::{Arc, Mutex, PoisonError};

/// What the ventricle ejects \[m³\], by the model: 120 ml to 49 ml.
const EJECTED: f64 = 71e-6;

/// Instants at which both valves are shut, before and after \[s\].
const SHUT: [f64; 2] = [0.125, 0.465];

/// The heart of the gallery.
struct Heart {
    animation: Arc<Animation>,
    pose: Mutex<Pose>,
}

impl Vertices for Heart {
    fn triangles(&self) -> &[[u32; 3]] {
        self.animation.triangles()
    }

    fn positions(&self, time: f64, positions: &mut Vec<DVec3>) {
        let mut pose = self.pose.lock().unwrap_or_else(PoisonError::into_inner);
        self.animation.pose(time, &mut pose);
        positions.clear();
        positions.extend_from_slice(pose.positions());
    }
}

/// The heart under water, from before it tightens until it has ejected.
pub(crate) fn stroke(size: Size) -> Vec<Row> {
    let spacing = if size == Size::Fine { 0.002 } else { 0.004 };
    let [ejected, withheld, volume] = match beat(spacing) {
        Ok(found) => found,
        Err(error) => return failed("heart-stroke", &error),
    };
    vec![
        compare("heart-stroke", "ejected [ml]", 1e6 * EJECTED, 1e6 * ejected, 0.01).asked(),
        bound("heart-stroke", "largest part of the shut ventricle that walls withhold", withheld, 0.02),
        bound("heart-stroke", "relative change of visible, hidden, let out less let in", volume, 1e-9).asked(),
    ]
}

/// A box of water with an open top around the heart, whose walls are thick outwards: the lumen is that of the model.
fn under_water(spacing: f64) -> Result<Flow, String> {
    let scene = gallery::load("heart-bubbles", &[]).map_err(|e| e.to_string())?;
    let (_, _, animation) = scene.animations().next().ok_or("no heart")?;
    let heart = Heart { animation: animation.clone(), pose: Mutex::default() };
    let solid = Solid::shell_of_vertices(Arc::new(heart), 2.0 * spacing, Thicken::Outside);
    let sides = Sides { y_max: Side::Open(Open::default()), ..Sides::default() };
    let params = Params { spacing, sides, surface_tension: 0.0, still_level: Some(1.0), ..Params::default() };
    let domain = Aabb::new(DVec3::new(-0.096, -0.104, -0.096), DVec3::new(0.064, 0.112, 0.064));
    let (gravity, solid) = (DVec3::new(0.0, -9.81, 0.0), Some(solid.map_err(|e| e.to_string())?));
    let mut flow = Flow::new(Setup { params, domain, gravity, solid }).map_err(|e| e.to_string())?;
    flow.fill(|_| -1.0);
    Ok(flow)
}

/// What leaves the ventricle \[m³\], the largest part of it that walls withhold while it is shut, and the change of the ledger.
fn beat(spacing: f64) -> Result<[f64; 3], String> {
    let mut flow = under_water(spacing)?;
    let start = flow.ledger().start();
    let (mut held, mut withheld, mut time) = ([f64::NAN; 2], 0.0f64, 0.0);
    for (held, shut) in held.iter_mut().zip(SHUT) {
        run(&mut flow, shut - time, |_, _| {})?;
        time = shut;
        let largest = flow.chambers().into_iter().max_by(|a, b| a.volume.total_cmp(&b.volume));
        let ventricle = largest.ok_or("the valves are not tight")?;
        *held = ventricle.volume;
        withheld = withheld.max(ventricle.withheld.abs() / ventricle.volume);
    }
    Ok([held[0] - held[1], withheld, (flow.ledger().start() / start - 1.0).abs()])
}
