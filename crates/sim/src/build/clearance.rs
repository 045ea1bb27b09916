//! Solids in liquid at the start: what gives way, and what may go wrong.

use super::clear_of;
use crate::methods::{Gauss, Unified};
use crate::part::Part;
use crate::parts::LiquidPart;
use glam::DVec3;
use meniscus_coupling::{Wetted, exchange};
use meniscus_geometry::{Bvh, TriangleMesh};
use meniscus_sph::wall_quadrature::LONGEST_EDGE;
use meniscus_sph::{BodyWall, Coupling, Integral, Liquid, Particles};

/// Where liquid may rest before the paper's wall, off half a spacing, in spacings.
const REST_OFF: f64 = 0.1;

/// Step for which walls and bodies are placed before the first one \[s\].
const START: f64 = 1e-3;

/// Takes liquid out of solids, and says what will not go well between them.
pub(crate) fn meet(water: &mut LiquidPart, solids: &[&dyn Part], warnings: &mut Vec<String>) {
    let surfaces: Vec<_> = solids.iter().flat_map(|part| part.wet_surfaces()).collect();
    let (none, liquid) = (surfaces.is_empty(), &mut water.liquid);
    surfaces.into_iter().for_each(|(name, surface)| leave_out(liquid, name, surface, warnings));
    water.meets_bodies = !none;
    if none || liquid.setup().materials.is_empty() {
        return;
    }
    let Coupling { wall, integral, longest_edge: edge, .. } = liquid.setup().coupling;
    let has_points = wall == BodyWall::Traction || integral == Integral::Points;
    if has_points && edge > LONGEST_EDGE {
        warnings.push(format!(
            "coupling.longest_edge = {edge}: surfaces are cut into pieces coarser than {LONGEST_EDGE} of the support radius, and what \
             they do to liquid is wrong by 5 % at 0.75 and 16 % at 1"
        ));
    }
    if wall == BodyWall::Traction {
        look_at_traction(liquid, warnings);
    }
}

/// Lets liquid make room before the first step, among walls, soft and rigid bodies.
pub(crate) fn relax(gauss: &mut Gauss, gravity: DVec3, warnings: &mut Vec<String>) {
    if gauss.water.liquid.corrects_gradients() {
        gauss.show_solids(START);
        relax_alone(&mut gauss.water, gravity, warnings);
        gauss.soft.wetted().take_back();
    }
}

/// The same, among rigid bodies and the solids that it embeds.
pub(crate) fn relax_embedded(unified: &mut Unified, gravity: DVec3, warnings: &mut Vec<String>) {
    let Unified { water, rigid, .. } = unified;
    exchange::show(&mut water.liquid, &mut &mut rigid.world, START);
    relax_alone(water, gravity, warnings);
}

/// The same, among walls and what it has been shown.
pub(crate) fn relax_alone(water: &mut LiquidPart, gravity: DVec3, warnings: &mut Vec<String>) {
    if !water.liquid.corrects_gradients() {
        return;
    }
    let mut walls = water.walls.clone();
    walls.place(0.0, START);
    match water.liquid.relax(&walls, gravity) {
        Ok(relaxed) if relaxed.converged && relaxed.pressure_found => {}
        Ok(relaxed) if relaxed.converged => warnings.push(format!(
            "the pressure of the liquid at the start is not found in {} iterations",
            relaxed.pressure_iterations
        )),
        Ok(relaxed) => warnings.push(format!(
            "the liquid starts {:.2} % too dense in the mean, and has not found more room in {} rounds",
            100.0 * relaxed.compression[1],
            relaxed.rounds
        )),
        Err(error) => warnings.push(format!("the liquid cannot make room before the start: {error}")),
    }
}

/// Where liquid will rest, and whether the wall is strong enough.
fn look_at_traction(liquid: &Liquid, warnings: &mut Vec<String>) {
    let (setup, traction) = (liquid.setup(), liquid.traction());
    let spacing = setup.params.spacing;
    let rest = traction.rest_distance();
    if rest <= 0.0 {
        warnings.push(
            "coupling: with this `rest_distance` and `adhesion` surfaces only hold liquid and never push it".into(),
        );
        return;
    }
    if (rest / spacing - 0.5).abs() > REST_OFF {
        warnings.push(format!(
            "coupling: liquid rests {rest:.3e} m from surfaces, {:.2} spacings; bodies displace their volume at half a spacing",
            rest / spacing
        ));
    }
    let heaviest = setup.materials.iter().map(|(_, material)| material.density).fold(0.0, f64::max);
    let (holds, head) = (traction.held_pressure(spacing * spacing), 0.5 * heaviest * setup.speed * setup.speed);
    if holds < head {
        let enough = traction.holding(head, spacing * spacing).stiffness;
        warnings.push(format!(
            "coupling: surfaces hold {holds:.3e} Pa, but the scene can have {head:.3e} Pa; a stiffness of {enough:.3e} Pa would do"
        ));
    }
}

/// Removes liquid that lies in the surfaces of a body of this name, or too near to them. Where liquid can make room, as much is removed
/// as the body displaces, or there would be a gap around it.
pub(crate) fn leave_out(
    liquid: &mut Liquid,
    name: &str,
    surfaces: impl IntoIterator<Item = TriangleMesh>,
    warnings: &mut Vec<String>,
) {
    let setup = liquid.setup();
    let (spacing, clearance) = (setup.params.spacing, setup.params.clearance() * setup.params.spacing);
    let makes_room = setup.params.relax && liquid.corrects_gradients();
    let walls: Vec<_> = (0..setup.walls.len()).map(|wall| clear_of(&setup.walls, wall, clearance)).collect();
    let particles = liquid.particles_mut();
    let before = particles.len();
    for surface in surfaces {
        let tree = Bvh::new(&surface);
        if makes_room {
            let leaves = displace(particles, &tree, [spacing, clearance]);
            let clear = |p: DVec3| walls.iter().all(|clear| clear(p));
            particles.retain(|particles, i| !leaves[i] && clear(particles.position[i].as_dvec3()));
        } else {
            let clear = |p: DVec3| tree.closest_within(p, clearance).is_none() && !tree.inside(p);
            particles.retain(|particles, i| clear(particles.position[i].as_dvec3()));
        }
    }
    let inside = before - particles.len();
    if inside > 0 {
        warnings.push(format!("{inside} liquid particles lie in `{name}` and are left out"));
    }
}

/// Which particles a body displaces: as many as fill the part of their cells that lies in it, those deepest in it first. The others are
/// moved out of it, so that they are `clearance` before it.
fn displace(particles: &mut Particles, tree: &Bvh, [spacing, clearance]: [f64; 2]) -> Vec<bool> {
    let near = tree.bounds().grow(spacing);
    let mut share = 0.0;
    let mut depths = Vec::new();
    for (i, x) in particles.position.iter().enumerate().filter(|(_, x)| near.contains(x.as_dvec3())) {
        let (distance, part) = immersion(tree, x.as_dvec3(), spacing);
        share += part;
        depths.push((distance, i));
    }
    depths.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut leaves = vec![false; particles.len()];
    let displaced = share.round() as usize;
    depths.iter().take(displaced).for_each(|&(_, i)| leaves[i] = true);
    for &(distance, i) in depths.iter().skip(displaced).take_while(|(distance, _)| *distance < clearance) {
        let x = particles.position[i].as_dvec3();
        let foot = tree.closest_point(x).point;
        let out = ((x - foot) * distance.signum()).normalize_or_zero();
        // On the surface itself there is no way out to be seen.
        leaves[i] = out == DVec3::ZERO;
        particles.position[i] = (foot + out * (1.01 * clearance)).as_vec3();
    }
    leaves
}

/// Distance of a particle from a body \[m\], negative inside, infinite beyond a spacing; and the part of its cell that lies in the body:
/// from eight points, each with a ramp as wide as they are apart.
fn immersion(tree: &Bvh, x: DVec3, spacing: f64) -> (f64, f64) {
    if tree.closest_within(x, spacing).is_none() {
        return if tree.inside(x) { (f64::NEG_INFINITY, 1.0) } else { (f64::INFINITY, 0.0) };
    }
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) - 0.5;
    let ramp = |k: u32| (0.5 - 2.0 * tree.signed_distance(x + corner(k) * (0.5 * spacing)) / spacing).clamp(0.0, 1.0);
    (tree.signed_distance(x), (0..8).map(ramp).sum::<f64>() / 8.0)
}

#[cfg(test)]
mod tests {
    use meniscus_scene::Loaded;

    fn world(coupling: &str) -> crate::World {
        let text = format!(
            "[sph]\nspacing = 0.05\n[coupling]\n{coupling}\n[liquid.water]\n\
             fill = [{{ box = {{ min = [0, 0, 0], max = [0.5, 0.4, 0.5] }} }}]\n\
             [rigid.cube]\nshape = {{ box = {{ min = [0.1, 0.5, 0.1], max = [0.3, 0.7, 0.3] }} }}\n"
        );
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let loaded = Loaded::from_text("wet", "wet.toml", &text, &[], &none).unwrap();
        crate::World::new(&loaded).unwrap()
    }

    fn warnings(coupling: &str) -> Vec<String> {
        world(coupling).warnings().to_vec()
    }

    #[test]
    fn where_liquid_will_rest_is_known() {
        let rests = |coupling: &str| world(coupling).rest_distance().unwrap();
        assert_eq!(rests(""), 0.025);
        assert!((rests("wall = \"traction\"") - 0.025).abs() < 1e-6);
        // z* = h − √(5/3) (h − r₀) with r₀ = h/2, h two spacings.
        let papers = rests("wall = \"traction\"\nrest_distance = 0.5\nadhesion = 1.0");
        assert!((papers - 0.1 * 0.354_503).abs() < 1e-6, "{papers}");
    }

    #[test]
    fn walls_that_will_not_do_are_told() {
        assert!(warnings("").is_empty());
        assert!(warnings("wall = \"traction\"").is_empty());
        let told = |coupling: &str, what: &str| {
            let all = warnings(coupling);
            assert!(all.len() == 1 && all[0].contains(what), "{all:?}");
        };
        assert!(warnings("longest_edge = 0.8").is_empty(), "there are no points");
        told("longest_edge = 0.8\nintegral = \"points\"", "coarser than 0.5");
        // r₀ = h/2 rests at 0.3545 h, 0.71 spacings if h is two.
        told("wall = \"traction\"\nrest_distance = 0.5\nadhesion = 1.0", "spacings; bodies displace");
        told("wall = \"traction\"\nrest_distance = 0.2\nadhesion = 1.0", "never push");
        told("wall = \"traction\"\nstiffness = 100.0", "would do");
    }
}
