//! Liquid with corrected gradients around a body at the start: as much is left out as the body displaces, and none is in it.

use glam::Vec3;
use meniscus_scene::Loaded;
use meniscus_sim::World;
use std::f64::consts::PI;

const SPACING: f64 = 0.05;
const CENTER: Vec3 = Vec3::new(0.51, 0.48, 0.5);

/// A cube of 1 m of water with a ball of this radius \[m\] in it, as heavy as water.
fn with_a_ball(radius: f64) -> World {
    let [x, y, z] = CENTER.to_array();
    let text = format!(
        "[sph]\nspacing = {SPACING}\ngradients = \"corrected\"\n[liquid.water]\n\
         fill = [{{ box = {{ min = [0, 0, 0], max = [1, 1, 1] }} }}]\n\
         [wall.tank]\nshape = {{ box = {{ min = [0, 0, 0], max = [1, 2, 1] }} }}\n\
         [rigid.ball]\nshape = {{ sphere = {{ center = [{x}, {y}, {z}], radius = {radius} }} }}\nedge = 0.05\n"
    );
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let loaded = Loaded::from_text("ball", "ball.toml", &text, &[], &none).unwrap();
    World::new(&loaded).unwrap()
}

/// A lattice that a ball cuts gave way: the floor felt 80 % of the weight at first.
#[test]
fn the_floor_bears_the_water_from_the_first_step_on() {
    let mut world = with_a_ball(0.3);
    let floor = world.columns().iter().position(|column| column == "tank.fy [N]").unwrap();
    for _ in 0..5 {
        world.step(f64::INFINITY).unwrap();
        let borne = -world.measure()[floor] / (1000.0 * 9.81);
        println!("{borne}");
        assert!((borne - 1.0).abs() < 0.05, "{borne}");
    }
}

#[test]
fn a_ball_displaces_its_volume() {
    for (radius, off) in [(0.15, 0.03), (0.3, 0.015)] {
        let positions = with_a_ball(radius).frame().particles.positions;
        let displaced = (8000 - positions.len()) as f64 * SPACING.powi(3);
        let volume = 4.0 / 3.0 * PI * f64::powi(radius, 3);
        assert!((displaced / volume - 1.0).abs() < off, "{displaced} {volume}");
        let nearest = positions.iter().map(|x| f64::from(x.distance(CENTER))).fold(f64::INFINITY, f64::min);
        // Facets lie a little within the ball.
        assert!(nearest > 0.97 * radius, "{nearest}");
    }
}
