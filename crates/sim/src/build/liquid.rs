//! The liquids of a scene, as particles in their places.

use super::{BuildError, clear_of, to_shape};
use glam::{DVec3, Vec3};
use meniscus_geometry::{Aabb, FillError, Region, Shape, fill};
use meniscus_scene::{self as scene, Loaded};
use meniscus_sph::Liquid;

/// Part of the volume of a liquid that may be missing, or be too much, without a word.
const VOLUME_OFF: f64 = 0.005;
/// What rounding may take from a distance, over the spacing.
const ROUND_OFF: f64 = 1e-6;
/// How far liquids stay away from each other at the start, over the spacing.
const CLEARANCE: f64 = 0.4;

/// Fills the shapes of all liquids, each staying out of those before it and of the walls.
pub(crate) fn seed(loaded: &Loaded, liquid: &mut Liquid, warnings: &mut Vec<String>) -> Result<(), BuildError> {
    let spacing = loaded.scene.sph.spacing;
    let walls = &liquid.setup().walls;
    let clearance = liquid.setup().params.clearance() * spacing;
    let clear: Vec<_> = (0..walls.len()).map(|wall| clear_of(walls, wall, clearance)).collect();
    let free = |p: DVec3| clear.iter().all(|clear| clear(p));
    let mut taken: Vec<Taken> = Vec::new();
    for (number, (name, body)) in loaded.scene.liquid.iter().enumerate() {
        let velocity = DVec3::from_array(body.velocity).as_vec3();
        let (mut wanted, mut made, before) = (0.0, 0.0, liquid.particles().len());
        for index in 0..body.fill.len() {
            let fill = Filling::new(loaded, (name, body), index, &mut taken)?;
            wanted += fill.volume;
            made += fill.lattice as f64 * spacing * spacing * spacing;
            let all = fill.positions.len();
            let mut inside = fill.positions;
            inside.retain(|&p| free(p));
            warnings.extend(of_fill(name, index, [all, inside.len()], fill.given_up));
            liquid.add(number as u16, inside.iter().map(|p| [p.as_vec3(), velocity]));
        }
        warnings.extend(of_volume(name, made, wanted));
        let sent = loaded.scene.emitter.values().any(|emitter| emitter.liquid == *name);
        if liquid.particles().len() == before && !sent {
            warnings.push(format!("liquid `{name}` is empty: nothing of it is filled in, and no emitter sends it"));
        }
        spin(liquid, number as u16, DVec3::from_array(body.spin));
    }
    Ok(())
}

/// A shape full of particles.
struct Filling {
    /// Those that are in no cutout and in no liquid before.
    positions: Vec<DVec3>,
    /// How many there are in the whole shape.
    lattice: usize,
    /// How many of those that are in no cutout lie where a liquid before is.
    given_up: usize,
    /// Volume of the shape \[m³\].
    volume: f64,
}

impl Filling {
    /// Fills a shape of a liquid, which is then taken.
    fn new(
        loaded: &Loaded,
        (name, body): (&str, &scene::Liquid),
        index: usize,
        taken: &mut Vec<Taken>,
    ) -> Result<Self, BuildError> {
        let spacing = loaded.scene.sph.spacing;
        let fail = |source| BuildError::Fill { liquid: name.to_owned(), index, source };
        let shape = to_shape(loaded, &body.fill[index]);
        let own = Taken::new(loaded, &shape, body, spacing).map_err(fail)?;
        let mut positions = fill(&shape, spacing, &[]).map_err(fail)?;
        let lattice = positions.len();
        // There may be thousands, of which few are near.
        let near: Vec<&Taken> = taken.iter().filter(|taken| taken.bounds.intersects(&own.bounds)).collect();
        let is_cut = |p| own.hollows.iter().any(|hollow| hollow.is_nearer(p, -ROUND_OFF * spacing));
        positions.retain(|&p| !is_cut(p));
        let uncut = positions.len();
        positions.retain(|&p| !near.iter().any(|taken| taken.holds(p)));
        let given_up = uncut - positions.len();
        let volume = own.region.volume();
        taken.push(own);
        Ok(Self { positions, lattice, given_up, volume })
    }
}

/// A place that a liquid has taken: a shape without its cutouts.
struct Taken {
    bounds: Aabb,
    region: Region,
    hollows: Vec<Region>,
    /// How far others stay away \[m\].
    clearance: f64,
}

impl Taken {
    fn new(loaded: &Loaded, shape: &Shape, body: &scene::Liquid, spacing: f64) -> Result<Self, FillError> {
        let hollow = |(index, shape)| {
            Region::new(&to_shape(loaded, shape)).map_err(|error| FillError::Exclusion { index, error })
        };
        Ok(Self {
            bounds: shape.bounds().grow(CLEARANCE * spacing),
            region: Region::new(shape).map_err(FillError::Shape)?,
            hollows: body.cutouts.iter().enumerate().map(hollow).collect::<Result<_, _>>()?,
            clearance: (CLEARANCE - ROUND_OFF) * spacing,
        })
    }

    /// Whether another liquid must stay out of a point: its hollows are free, away from their rims.
    fn holds(&self, p: DVec3) -> bool {
        self.bounds.contains(p)
            && self.region.is_nearer(p, self.clearance)
            && !self.hollows.iter().any(|hollow| hollow.is_nearer(p, -self.clearance))
    }
}

/// What is odd about a fill of so many particles, of which some are in no wall.
fn of_fill(name: &str, index: usize, [all, inside]: [usize; 2], given_up: usize) -> Option<String> {
    let outside = all - inside;
    if given_up as f64 > VOLUME_OFF * (all + given_up) as f64 {
        let of = all + given_up;
        return Some(format!(
            "liquid `{name}`, fill {index}: {given_up} of {of} particles lie in a liquid before it and are left out; give that one `cutouts`"
        ));
    }
    if all == 0 {
        return Some(format!("liquid `{name}`, fill {index}: no particle fits in; is the spacing too large?"));
    }
    (outside > 0)
        .then(|| format!("liquid `{name}`, fill {index}: {outside} of {all} particles lie in a wall or an animated mesh and are left out"))
}

/// A lattice holds whole particles: what its volume \[m³\] lacks of the shape's, if that is to be told.
fn of_volume(name: &str, made: f64, wanted: f64) -> Option<String> {
    let off = made / wanted - 1.0;
    let word = if off < 0.0 { "less" } else { "more" };
    (made > 0.0 && off.abs() > VOLUME_OFF).then(|| {
        format!(
            "liquid `{name}` has {:.1} % {word} volume than its shapes, {made:.3e} instead of {wanted:.3e} m³: they are no whole number of spacings",
            100.0 * off.abs()
        )
    })
}

/// Turns a liquid about its centre of mass.
fn spin(liquid: &mut Liquid, number: u16, spin: DVec3) {
    let particles = liquid.particles();
    let of_it: Vec<usize> = (0..particles.len()).filter(|&i| particles.liquid[i] == number).collect();
    if spin == DVec3::ZERO || of_it.is_empty() {
        return;
    }
    let center = of_it.iter().map(|&i| particles.position[i].as_dvec3()).sum::<DVec3>() / of_it.len() as f64;
    liquid.kick(|liquid, x| if liquid == number { spin.cross(x.as_dvec3() - center).as_vec3() } else { Vec3::ZERO });
}

#[cfg(test)]
mod tests {
    use crate::World;
    use meniscus_scene::Loaded;

    fn world(liquids: &str) -> World {
        let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
        let text = format!("resolution = 0.05\n{liquids}");
        World::new(&Loaded::from_text("fill", "fill.toml", &text, &[], &none).unwrap()).unwrap()
    }

    #[test]
    fn a_volume_that_whole_particles_cannot_make_is_told() {
        let fill = |size: f64| {
            format!("[liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [{size}, 0.5, 0.5] }} }}]\n")
        };
        assert_eq!(world(&fill(0.5)).warnings(), [""; 0]);
        // 10 layers instead of 10.8.
        let told = world(&fill(0.54)).warnings().join("\n");
        assert!(told.contains("`water` has 7.4 % less volume") && told.contains("1.350e-1"), "{told}");
    }

    #[test]
    fn a_hollow_of_one_liquid_can_be_filled_by_another() {
        let hollow = "{ box = { min = [0.2, 0.2, 0.2], max = [0.4, 0.4, 0.4] } }";
        let oil = format!("[liquid.oil]\ndensity = 900\nfill = [{hollow}]\n");
        let water = |cutouts: &str| {
            format!("[liquid.water]\nfill = [{{ box = {{ min = [0, 0, 0], max = [0.6, 0.6, 0.6] }} }}]\n{cutouts}")
        };
        let both = world(&(water(&format!("cutouts = [{hollow}]\n")) + &oil));
        let frame = both.frame();
        let of_oil = frame.particles.bodies.iter().filter(|&&body| body == 1).count();
        assert_eq!((of_oil, frame.particles.positions.len()), (4 * 4 * 4, 12 * 12 * 12));
        // Without the hollow there is no room for it, and that is said.
        let full = world(&(water("") + &oil));
        let told = full.warnings().join("\n");
        assert!(told.contains("`oil`, fill 0: 64 of 64 particles lie in a liquid before it"), "{told}");
        assert!(told.contains("`oil` is empty"), "{told}");
        assert_eq!(full.frame().particles.positions.len(), 12 * 12 * 12);
    }

    #[test]
    fn a_liquid_that_is_nowhere_is_told() {
        let told =
            world("[liquid.water]\nfill = [{ box = { min = [0, 0, 0], max = [0.5, 0.5, 0.5] } }]\n[liquid.oil]\n");
        assert!(told.warnings().join("\n").contains("liquid `oil` is empty"), "{:?}", told.warnings());
    }
}
