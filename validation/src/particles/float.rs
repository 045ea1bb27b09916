//! A box of springs floats.

use super::{Measured, rows};
use crate::worlds::{run_until, world};
use crate::{Plot, Row, Size, absolute, mean};
use std::error::Error;

/// Distance between particles, of box and water \[m\].
const SPACING: f64 = 0.025;
/// Edges of the box \[m\].
const BOX: [f64; 3] = [0.2, 0.15, 0.2];
/// Its density over that of water.
const LIGHT: f64 = 0.5;
/// Floor of the tank \[m\] and the water in it.
const TANK: [f64; 2] = [0.5, 0.2];

pub(crate) fn run(size: Size) -> Vec<Row> {
    const CASE: &str = "float-springs";
    let measure = || -> Measured {
        let (mut found, mut plot) = (Vec::<Row>::new(), Plot::new("t [s]", "draught [m]"));
        let seconds = if size == Size::Fine { 6.0 } else { 2.5 };
        for interface in ["springs", "sph", "projection"] {
            let how = format!("method = \"connections\"\n[connections]\ninterface = \"{interface}\"\n");
            let (draught, track) = draught(&how, seconds)?;
            plot = plot.measured(interface, &track);
            found
                .push(absolute(CASE, &format!("draught, {interface} [m]"), [LIGHT * BOX[1], draught], SPACING).asked());
        }
        let (draught, track) = draught("method = \"gauss\"\n", seconds)?;
        found.push(absolute(CASE, "draught, skin under gauss [m]", [LIGHT * BOX[1], draught], SPACING).asked());
        let plot = plot.measured("skin under gauss", &track).level("Archimedes", [0.0, seconds], LIGHT * BOX[1]);
        found[0].plots.push(plot);
        Ok(found)
    };
    rows(CASE, measure())
}

/// How deep the box lies, as the mean over the last second and on the way; `how` is how it and the water meet.
fn draught(how: &str, seconds: f64) -> Result<(f64, crate::History), Box<dyn Error>> {
    let [floor, depth] = TANK;
    let volume: f64 = BOX.iter().product();
    let level = depth + LIGHT * volume / (floor * floor);
    let bottom = level - LIGHT * BOX[1];
    let scene = format!(
        "{how}[sph]\nspacing = {SPACING}\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [{floor}, {depth}, {floor}] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, 0, 0], max = [{floor}, 1, {floor}] }} }}\n\
         [body.box]\ndensity = {}\nyoung = 1e5\n\
         shape = {{ box = {{ min = [{:?}, {:?}, {:?}], max = [{:?}, {:?}, {:?}] }} }}\n",
        1000.0 * LIGHT,
        0.5 * (floor - BOX[0]),
        depth + 0.5 * SPACING,
        0.5 * (floor - BOX[2]),
        0.5 * (floor + BOX[0]),
        depth + 0.5 * SPACING + BOX[1],
        0.5 * (floor + BOX[2]),
    );
    let mut world = world("float-springs", &scene)?;
    let column = world.columns().iter().position(|name| name == "box.y [m]").ok_or("no column of the box")?;
    // The volume of the water is what was put in: the box takes the place of what it displaces.
    let draught = |y: f64| LIGHT * BOX[1] + bottom - (y - 0.5 * BOX[1]);
    let (mut late, mut track) = (Vec::new(), Vec::new());
    for k in 1..=50 {
        run_until(&mut world, (seconds - 1.0) * f64::from(k) / 50.0)?;
        track.push([world.time(), draught(world.measure()[column])]);
    }
    while world.time() < seconds {
        world.step(seconds)?;
        late.push(draught(world.measure()[column]));
        track.push([world.time(), draught(world.measure()[column])]);
    }
    Ok((mean(late), track))
}
