//! `beam-deflection`, `elastica`, `beam-frequency`: cantilevers.

use super::{Beam, Measured, mean_displacement, rows, settle, step};
use crate::{Plot, Row, Size, compare};
use glam::DVec3;
use meniscus::fem::{Body, Integrator, Material, Order, Params};
use std::error::Error;

const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// Statics are solved to more digits than are compared.
fn fine() -> Params {
    Params { tolerance: 1e-8, ..Params::default() }
}

/// Beams A and B: 1 × 0.25 × 0.25 m, n cells across.
fn thick(n: u32, order: Order, young: f64) -> Beam {
    let material = Material { young, poisson: 0.3, density: 1000.0, ..Material::default() };
    Beam { length: 1.0, height: 0.25, cells: [4 * n, n], order, material }
}

fn tip(body: &Body) -> DVec3 {
    mean_displacement(body, |p| p.x > 1.0 - 1e-9)
}

pub(crate) fn deflection(_: Size) -> Vec<Row> {
    const CASE: &str = "beam-deflection";
    let measure = || -> Measured {
        let mut rows = Vec::new();
        for (n, y, x) in [(4, -0.21019, -0.02384), (8, -0.22870, -0.02835)] {
            let mut body = thick(n, Order::Linear, 1e6).clamped(fine())?;
            settle(&mut body, GRAVITY)?;
            let tip = tip(&body);
            rows.push(compare(CASE, &format!("beam A, linear, n = {n}: tip y [m]"), y, tip.y, 0.005).asked());
            rows.push(compare(CASE, &format!("beam A, linear, n = {n}: tip x [m]"), x, tip.x, 0.005).asked());
        }
        let mut body = thick(4, Order::Quadratic, 1e7).held_as_in_theory(fine())?;
        settle(&mut body, GRAVITY)?;
        // Timoshenko's deflection is the mean over a section.
        let section = mean_displacement(&body, |p| p.x < 1e-9);
        let sag = (tip(&body) - section).y;
        rows.push(compare(CASE, "beam B, quadratic, n = 4: tip y [m]", -0.025045, sag, 0.02).asked());
        Ok(rows)
    };
    rows(CASE, measure())
}

/// P L²/(E I), and the tip's displacement across and along over L, of a beam that neither shears nor stretches.
const ELASTICA: [(f64, f64, f64); 3] = [(1.0, 0.30172, 0.05643), (2.0, 0.49346, 0.16064), (5.0, 0.71379, 0.38763)];

pub(crate) fn elastica(size: Size) -> Vec<Row> {
    const CASE: &str = "elastica";
    let measure = || -> Measured {
        let height = 0.05;
        let cells = if size == Size::Fine { [40, 2] } else { [20, 1] };
        let material = Material { young: 1e7, poisson: 0.3, ..Material::default() };
        let mut body = Beam { length: 1.0, height, cells, order: Order::Quadratic, material }.clamped(fine())?;
        let stiffness = material.young * height * height * height * height / 12.0;
        let (mut rows, mut tips) = (Vec::new(), [Vec::new(), Vec::new()]);
        for (load, across, along) in ELASTICA {
            let traction = -load * stiffness / (height * height);
            body.clear_forces();
            body.add_traction(|p| if p.x > 1.0 - 1e-9 { traction * DVec3::Y } else { DVec3::ZERO });
            settle(&mut body, DVec3::ZERO)?;
            let tip = tip(&body);
            rows.push(compare(CASE, &format!("P L²/(E I) = {load}: −y/L"), across, -tip.y, 0.03).asked());
            rows.push(compare(CASE, &format!("P L²/(E I) = {load}: −x/L"), along, -tip.x, 0.03).asked());
            tips[0].push([load, -tip.y]);
            tips[1].push([load, -tip.x]);
        }
        rows[0].plots.push(bent(&tips));
        Ok(rows)
    };
    rows(CASE, measure())
}

/// Displacements of the tip, across and along, against the load.
fn bent([across, along]: &[Vec<[f64; 2]>; 2]) -> Plot {
    let exact = |of: fn(&(f64, f64, f64)) -> f64| ELASTICA.iter().map(|row| [row.0, of(row)]).collect::<Vec<_>>();
    Plot::new("P L²/(E I)", "displacement of the tip over L")
        .rings("theory, across", &exact(|row| row.1))
        .dots("ours, across", across)
        .rings("theory, along", &exact(|row| row.2))
        .dots("ours, along", along)
}

pub(crate) fn frequency(size: Size) -> Vec<Row> {
    const CASE: &str = "beam-frequency";
    let measure = || -> Measured {
        let periods = if size == Size::Fine { 10 } else { 3 };
        let (linear, first) = vibration(&thick(8, Order::Linear, 1e7), 3.962, periods)?;
        let (quadratic, second) = vibration(&thick(3, Order::Quadratic, 1e7), 3.852, periods)?;
        let plot =
            Plot::new("t [s]", "height of the tip [m]").measured("linear", &first).measured("quadratic", &second);
        Ok(vec![
            compare(CASE, "beam B, linear, n = 8: first frequency [Hz]", 3.962, linear, 0.02).asked().with(plot),
            compare(CASE, "beam B, quadratic, n = 3: first frequency [Hz]", 3.852, quadratic, 0.02).asked(),
        ])
    };
    rows(CASE, measure())
}

/// The frequency \[Hz\] of a beam that is let go from a slight bend: from the first to the last passage of its tip.
fn vibration(beam: &Beam, expected: f64, periods: u32) -> Result<(f64, crate::History), Box<dyn Error>> {
    let integrator = Integrator::ImplicitMidpoint;
    let params = Params { integrator, newton_iterations: 2, tolerance: 1e-6, ..Params::default() };
    let mut body = beam.clamped(params)?;
    settle(&mut body, 0.01 * GRAVITY)?;
    let dt = 1.0 / (100.0 * expected);
    let mut passages: Vec<f64> = Vec::new();
    let mut before = tip(&body).y;
    let mut track = vec![[0.0, before]];
    for k in 0.. {
        step(&mut body, dt, DVec3::ZERO)?;
        let now = tip(&body).y;
        track.push([f64::from(k + 1) * dt, now]);
        if before < 0.0 && now >= 0.0 {
            passages.push((f64::from(k) + before / (before - now)) * dt);
            if passages.len() > periods as usize {
                break;
            }
        }
        if k > 200 * (periods as i32 + 2) || !now.is_finite() {
            return Err("the beam does not swing".into());
        }
        before = now;
    }
    Ok((f64::from(periods) / (passages[periods as usize] - passages[0]), track))
}
