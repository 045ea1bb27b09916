//! `heave`: a box bobs up and down with its own mass and that of the water it carries.

use super::column;
use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, compare, failed, half_period, mean};

const CASE: &str = "heave";
/// Period of linear theory in this tank \[s\], see the page.
const PERIOD: f64 = 2.04;
/// Largest error, relative: a guard.
const TOLERANCE: f64 = 0.15;
/// Thickness of the slice of water that is computed \[m\], and its draught.
const SLICE: f64 = 0.4;
const DRAUGHT: f64 = 0.7;
/// How far the box is lifted at the start \[m\].
const LIFT: f64 = 0.15;

pub(crate) fn run(size: Size) -> Vec<Row> {
    period(size).map_or_else(
        |error| failed(CASE, &error),
        |(period, track)| {
            let plot = Plot::new("t [s]", "height of the box's centre [m]").measured("ours", &track);
            vec![compare(CASE, "period of heave [s]", PERIOD, period, TOLERANCE).with(plot)]
        },
    )
}

/// Twice the mean time between crossings of the level at which it comes to rest.
fn period(size: Size) -> Result<(f64, Vec<[f64; 2]>), String> {
    let spacing = if size == Size::Fine { 0.05 } else { 0.1 };
    let bottom = 2.0 - DRAUGHT + LIFT;
    // The box goes on beyond the slice, which repeats: all of its mass is that of a slice.
    let density = 700.0 * SLICE / (SLICE + 1.0);
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\n[periodic]\naxes = [\"z\"]\nmin = [-2, -1, 0]\nmax = [2, 5, {SLICE:?}]\n\
         [liquid.water]\nfill = [{{ box = {{ min = [-1.5, 0, 0], max = [1.5, 2, {SLICE:?}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [-1.5, 0, -2], max = [1.5, 4, 2], open = [\"+y\", \"-z\", \"+z\"] }} }}\n\
         [rigid.box]\nshape = {{ box = {{ min = [-0.5, {bottom:?}, -0.5], max = [0.5, {:?}, {:?}] }} }}\n\
         density = {density:?}\nlocked = [\"x\", \"z\", \"rx\", \"ry\", \"rz\"]\n",
        bottom + 1.0,
        SLICE + 0.5,
    );
    let mut world = world(CASE, &scene)?;
    let height = column(&world, "box.y [m]")?;
    let (mut track, seconds) = (Vec::new(), 4.5);
    while world.time() < seconds {
        let until = world.time() + 0.02;
        run_until(&mut world, until)?;
        track.push([world.time(), world.measure()[height]]);
    }
    // The mean over about one period.
    let late = track.iter().filter(|[time, _]| *time > seconds - PERIOD);
    let rest = mean(late.map(|point| point[1]));
    Ok((2.0 * half_period(&track, rest)?, track))
}
