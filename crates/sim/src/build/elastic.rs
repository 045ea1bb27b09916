//! From the solids of a scene to bodies of particles among a liquid's.

use super::bodies::compact;
use super::soft::{tetrahedra, turn_about, wrong};
use super::{BuildError, to_shape};
use crate::parts::{ElasticKind, ElasticPart, Held, LiquidPart, ParticleSprings};
use glam::{DVec3, Vec3};
use meniscus_coupling::liquid_elastic;
use meniscus_elastic::{ElasticMaterial, Prescribed, Solids, Yield, pack};
use meniscus_geometry::{Aabb, FillError, NeighbourGrid, Periodic, Region, Shape, TriangleMesh, fill};
use meniscus_particles::Skin;
use meniscus_scene::{Axis, Loaded, Solid, SolidShape};
use meniscus_sph::{Liquid, Pores};

/// Builds all solids of particles and takes them in among those of the liquid; `first` is the number of the first one among the
/// bodies that are shown.
pub(crate) fn elastic(
    loaded: &Loaded,
    water: &mut LiquidPart,
    first: usize,
    warnings: &mut Vec<String>,
) -> Result<ElasticPart, BuildError> {
    let scene = &loaded.scene;
    let mut solids = Solids::new(scene.sph.spacing, scene.contact.friction);
    let (mut kinds, mut soaked) = (Vec::new(), Vec::new());
    for (number, (name, solid)) in scene.solid.iter().enumerate() {
        let (positions, surface, volume) = particles(loaded, name, solid)?;
        if positions.is_empty() {
            return Err(wrong(name, &format!("no particle fits in; `sph.spacing` is {}", scene.sph.spacing)));
        }
        if solid.porosity > 0.0 {
            soaked.extend(soak(&water.liquid, &surface, &positions, solid.porosity).map_err(|e| wrong(name, &e))?);
        }
        let skin = Skin::new(surface.vertices(), surface.triangles(), &positions, scene.sph.spacing);
        let (holds, prescribed, held_by) = hold(loaded, name, solid, &positions, warnings)?;
        solids.add(name, positions, volume, material(solid));
        let body = &mut solids.bodies_mut()[number];
        body.prescribed = prescribed;
        let own = body.particles.clone();
        throw(solids.state_mut(), own, solid);
        kinds.push(ElasticKind { shown_as: (first + number) as u16, skin, holds, held_by });
    }
    let inside = make_room(&mut water.liquid, &solids);
    for &(liquid, position) in &soaked {
        water.liquid.add(liquid, [[position, Vec3::ZERO]]);
    }
    if inside > soaked.len() {
        let out = inside - soaked.len();
        warnings.push(format!("{out} particles of liquid lie in solids and are left out"));
    }
    if !water.dry && !solids.is_empty() {
        let viscosity = scene.liquid.values().map(|liquid| liquid.viscosity).fold(0.0, f64::max);
        let pores: Vec<_> = scene.solid.values().map(pores).collect();
        liquid_elastic::embed(&mut water.liquid, &mut solids, &pores, viscosity);
    }
    let (at_end, springs) = (water.walls.clone(), ParticleSprings::default());
    Ok(ElasticPart { solids, kinds, at_end, springs, spacing: scene.sph.spacing, dt: 0.0 })
}

fn material(solid: &Solid) -> ElasticMaterial {
    ElasticMaterial {
        young: solid.young,
        poisson: solid.poisson,
        density: solid.density,
        damping: solid.stiffness_damping,
        plasticity: solid.plasticity.map(|p| Yield { strain: p.yield_strain, creep: p.creep, most: p.max_strain }),
        ..ElasticMaterial::default()
    }
}

fn pores(solid: &Solid) -> Option<Pores> {
    let Solid { porosity, suction, .. } = *solid;
    (porosity > 0.0).then(|| Pores { porosity, permeability: solid.permeability(), suction })
}

/// Positions \[m\], the surface that they carry along, and the volume \[m³\] of a solid.
fn particles(loaded: &Loaded, name: &str, solid: &Solid) -> Result<(Vec<DVec3>, TriangleMesh, f64), BuildError> {
    let spacing = loaded.scene.sph.spacing;
    let turn = turn_about(loaded, solid);
    if let SolidShape::Box(bounds) = &solid.shape {
        let bounds = Aabb { min: DVec3::from_array(bounds.min), max: DVec3::from_array(bounds.max) };
        let cells = bounds.size() / spacing;
        if (cells - cells.round()).abs().max_element() < 1e-3 && cells.min_element() > 0.5 {
            // Cells of a lattice fill it exactly.
            let positions = fill(&Shape::Box(bounds), spacing, &[]).map_err(|e| wrong(name, &e))?;
            let block = meniscus_geometry::TetMesh::block(bounds.min, bounds.max, cells.round().as_uvec3().to_array());
            let mut surface = compact(block.vertices(), &block.surface());
            surface.vertices_mut().iter_mut().for_each(|p| *p = turn(*p));
            return Ok((positions.into_iter().map(turn).collect(), surface, bounds.size().element_product()));
        }
    }
    let (mesh, surface) = tetrahedra(loaded, name, solid)?;
    let surface = surface.unwrap_or_else(|| compact(mesh.vertices(), &mesh.surface()));
    let positions = pack(&surface, spacing).map_err(|e| wrong(name, &e))?;
    let volume = surface.signed_volume();
    Ok((positions, surface, volume))
}

type Holding = (Vec<Held>, Vec<Prescribed>, Vec<u16>);

fn hold(
    loaded: &Loaded,
    name: &str,
    solid: &Solid,
    positions: &[DVec3],
    warnings: &mut Vec<String>,
) -> Result<Holding, BuildError> {
    let (mut holds, mut prescribed, mut held_by) = (Vec::new(), Vec::new(), Vec::new());
    for (index, hold) in solid.fixed.iter().enumerate() {
        let region = Region::new(&to_shape(loaded, &hold.region)).map_err(|e| wrong(name, &e))?;
        let held = Held { region, motion: hold.motion.clone() };
        let along = |axis| f64::from(u8::from(hold.axes.contains(&axis)));
        let axes = DVec3::new(along(Axis::X), along(Axis::Y), along(Axis::Z));
        let before = prescribed.len();
        // A particle is the matter within half a spacing of it.
        let reach = 0.5 * loaded.scene.sph.spacing * (1.0 + 1e-6);
        for (particle, &end) in
            positions.iter().enumerate().filter(|(_, position)| held.region.is_nearer(**position, reach))
        {
            prescribed.push(Prescribed { particle: particle as u32, axes, end });
            held_by.push(index as u16);
        }
        if prescribed.len() == before {
            warnings.push(format!("solid `{name}`, fixed {index}: there is no particle in the region"));
        }
        holds.push(held);
    }
    Ok((holds, prescribed, held_by))
}

/// Velocities at the start.
fn throw(state: &mut meniscus_elastic::SolidState, own: std::ops::Range<usize>, solid: &Solid) {
    let (velocity, spin) = (DVec3::from_array(solid.velocity), DVec3::from_array(solid.spin));
    let positions = &state.position[own.clone()];
    let center = positions.iter().sum::<DVec3>() / positions.len() as f64;
    let spun: Vec<DVec3> = positions.iter().map(|x| velocity + spin.cross(*x - center)).collect();
    state.velocity[own].copy_from_slice(&spun);
}

/// Liquid that starts in the pores of a solid: where there is liquid, as densely as they hold it. Which one, and where \[m\].
fn soak(
    liquid: &Liquid,
    surface: &TriangleMesh,
    positions: &[DVec3],
    porosity: f64,
) -> Result<Vec<(u16, Vec3)>, FillError> {
    let particles = liquid.particles();
    let spacing = liquid.setup().params.spacing;
    let near = Near::new(&particles.position, spacing);
    if !positions.iter().any(|x| near.find(x.as_vec3()).is_some()) {
        return Ok(Vec::new());
    }
    let all = fill(&Shape::Mesh(surface.clone()), spacing / libm::cbrt(porosity), &[])?;
    let of = |x: Vec3| near.find(x).map(|i| (particles.liquid[i], x));
    Ok(all.into_iter().filter_map(|x| of(x.as_vec3())).collect())
}

/// Particles of a lattice, to be found again.
struct Near<'a> {
    positions: &'a [Vec3],
    reach: f32,
    grid: NeighbourGrid,
}

impl<'a> Near<'a> {
    /// Between particles of a lattice no position is farther than √3/2 spacings from all of them.
    fn new(positions: &'a [Vec3], spacing: f64) -> Self {
        let reach = 0.87 * spacing as f32;
        let mut grid = NeighbourGrid::default();
        grid.sort(positions, reach, Periodic::default());
        Self { positions, reach, grid }
    }

    /// The first particle at a position \[m\].
    fn find(&self, x: Vec3) -> Option<usize> {
        let (around, mut found) = (Vec3::splat(self.reach), None);
        self.grid.for_each_range_in(x - around, x + around, |range| {
            let near = |j: &&u32| self.positions[**j as usize].distance(x) < self.reach;
            found = found.or(self.grid.order()[range].iter().find(near).copied());
        });
        found.map(|j| j as usize)
    }
}

/// Takes away liquid that starts inside solids; returns how much.
fn make_room(liquid: &mut Liquid, solids: &Solids) -> usize {
    if solids.is_empty() {
        return 0;
    }
    let positions: Vec<_> = solids.state().position.iter().map(|p| p.as_vec3()).collect();
    let near = Near::new(&positions, liquid.setup().params.spacing);
    liquid.retain(|particles, i| near.find(particles.position[i]).is_none())
}
