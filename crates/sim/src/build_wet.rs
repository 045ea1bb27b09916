//! Solids in liquid at the start: what gives way, and what may go wrong.

use crate::gauss::Gauss;
use crate::solids::Solids;
use glam::DVec3;
use meniscus_geometry::{Bvh, TriangleMesh};
use meniscus_sph::surface::LONGEST_EDGE;
use meniscus_sph::{BodyWall, Coupling, Integral, Liquid};

/// Where liquid may rest before the paper's wall, off half a spacing, in spacings.
const REST_OFF: f64 = 0.1;

/// Step for which walls and bodies are placed before the first one \[s\].
const START: f64 = 1e-3;

/// Takes liquid out of solids, and says what will not go well between them.
pub(crate) fn meet(liquid: &mut Liquid, solids: &Solids, warnings: &mut Vec<String>) {
    leave_out_of_solids(liquid, solids, warnings);
    let none = solids.bodies.is_empty() && solids.rigids.is_empty();
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

/// Lets liquid make room before the first step, among walls, soft and rigid bodies and solids that it embeds.
pub(crate) fn relax(wet: &mut Gauss, warnings: &mut Vec<String>) {
    if !wet.liquid.corrects_gradients() {
        return;
    }
    let mut walls = wet.walls.clone();
    walls.place(0.0, START);
    wet.solids.place_in(&mut wet.liquid, START);
    match wet.liquid.relax(&walls) {
        Ok(relaxed) if relaxed.converged => {}
        Ok(relaxed) => warnings.push(format!(
            "the liquid starts {:.2} % too dense in the mean, and has not found more room in {} rounds",
            100.0 * relaxed.compression[1],
            relaxed.rounds
        )),
        Err(error) => warnings.push(format!("the liquid cannot make room before the start: {error}")),
    }
    wet.solids.take_compliances();
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

/// Removes liquid that was filled into solids.
fn leave_out_of_solids(liquid: &mut Liquid, solids: &Solids, warnings: &mut Vec<String>) {
    let soft = solids.bodies.iter().zip(&solids.kind_of).map(|(body, &kind)| {
        let surface = TriangleMesh::new(body.positions().to_vec(), body.surface().triangles().to_vec());
        (&solids.kinds[usize::from(kind)].name, surface.ok())
    });
    let rigids = &solids.rigids;
    let rigid = rigids.kinds.iter().enumerate().map(|(body, kind)| {
        let triangles = rigids.world.surface(body).triangles().to_vec();
        (&kind.name, TriangleMesh::new(rigids.world.positions(body).collect(), triangles).ok())
    });
    for (name, surface) in soft.chain(rigid) {
        leave_out(liquid, name, surface, warnings);
    }
}

/// Removes liquid that lies in the surfaces of a body of this name, or too near to them.
pub(crate) fn leave_out(
    liquid: &mut Liquid,
    name: &str,
    surfaces: impl IntoIterator<Item = TriangleMesh>,
    warnings: &mut Vec<String>,
) {
    let params = &liquid.setup().params;
    let clearance = params.clearance() * params.spacing;
    let particles = liquid.particles_mut();
    let before = particles.len();
    for surface in surfaces {
        let tree = Bvh::new(&surface);
        let clear = |p: DVec3| tree.closest_within(p, clearance).is_none() && !tree.inside(p);
        particles.retain(|particles, i| clear(particles.position[i].as_dvec3()));
    }
    let inside = before - particles.len();
    if inside > 0 {
        warnings.push(format!("{inside} liquid particles lie in `{name}` and are left out"));
    }
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
