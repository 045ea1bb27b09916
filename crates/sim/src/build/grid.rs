//! From a scene to air and water on a grid.

use super::animated::{self, Shown};
use super::{BuildError, speed_squared, to_shape};
use crate::parts::{GridPart, tank_edges};
use glam::DVec3;
use meniscus_boundary::{Friction, Motion, Wall, WallShape};
use meniscus_core::{BodyInfo, BodyKind, Surface, Wire};
use meniscus_geometry::{Aabb, FillError, Region};
use meniscus_scene::{self as scene, Loaded, Shape};
use meniscus_twophase::{Flow, Fluid, GHOSTS, Open, Outflow, Params, Setup, SetupError, Side, Solid};

/// Bytes that a cell needs, ghosts included: state twice, sweeps, coefficients, the pressure and its coarse grids.
const BYTES_PER_CELL: f64 = 355.0;

/// Walls this near to the sides of the box, in cells, are its sides.
const SIDE_TOLERANCE: f64 = 1e-3;

/// The number of cells and the memory of a grid \[bytes\].
pub(crate) fn size_estimate(loaded: &Loaded) -> (f64, f64) {
    let Some(bounds) = loaded.scene.grid_box() else { return (0.0, 0.0) };
    let edges = box_of(&bounds).size() / loaded.scene.twophase.spacing;
    let all = (edges + 2.0 * GHOSTS as f64).element_product();
    (edges.element_product().round(), all * BYTES_PER_CELL)
}

/// Builds the flow.
pub(crate) fn grid(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<GridPart, BuildError> {
    let scene = &loaded.scene;
    let Some(bounds) = scene.grid_box() else { return Err(BuildError::NoBox) };
    let domain = box_of(&bounds);
    let walls: Vec<Wall> = scene.wall.values().map(|wall| super::wall(loaded, wall)).collect();
    let spacing = scene.twophase.spacing;
    animated::check(loaded, spacing, warnings)?;
    let animated = animated::solids(loaded, spacing).map_err(BuildError::Grid)?;
    let setup = Setup {
        params: params(scene, &domain, &walls),
        domain,
        gravity: DVec3::from_array(scene.gravity),
        solid: solid(&walls, animated, &domain, spacing).map_err(BuildError::Grid)?,
    };
    let mut flow = Flow::new(setup).map_err(BuildError::Grid)?;
    seed(loaded, &mut flow)?;
    let volume_at_start = flow.liquid_volume();
    if volume_at_start <= 0.0 {
        warnings.push("the scene has no liquid: no shape is filled within the box".into());
    }
    let (bodies, wires, surfaces) = look(loaded, &walls, &domain);
    let motions = [Motion::Still].into_iter().chain(walls.iter().map(|wall| wall.motion.clone())).collect();
    let frame = scene.grid_motion().cloned();
    warn_of_sides(scene, frame.as_ref(), warnings);
    let fastest_step = flow.setup().params.courant * flow.grid().spacing() / speed_squared(loaded).sqrt();
    let animated = shown(loaded);
    Ok(GridPart { flow, volume_at_start, fastest_step, bodies, wires, walls: surfaces, animated, motions, frame })
}

/// A box that moves carries its open sides along: they hold their level in its own frame.
fn warn_of_sides(scene: &scene::Scene, frame: Option<&Motion>, warnings: &mut Vec<String>) {
    if frame.is_some() && scene.wall.len() > 1 {
        warnings.push("the box of the grid moves: the other walls move with it".into());
    }
    let open = scene.twophase.sides.pairs().as_flattened().iter().any(|side| matches!(side, Side::Inflow(_)));
    if frame.is_some() && open {
        warnings
            .push("the box of the grid moves: what flows in does so at its velocity in the frame of the box".into());
    }
}

fn box_of(bounds: &scene::Bounds) -> Aabb {
    Aabb { min: DVec3::from_array(bounds.min), max: DVec3::from_array(bounds.max) }
}

/// The parameters of the grid: the liquid from the scene's, sides from the tanks around the box unless the scene gives them.
fn params(scene: &scene::Scene, domain: &Aabb, walls: &[Wall]) -> Params {
    let mut params = scene.twophase.clone();
    if let Some((_, liquid)) = scene.liquid.first() {
        params.liquid = Fluid { density: liquid.density, viscosity: liquid.viscosity };
        params.surface_tension = liquid.surface_tension;
    }
    let near = SIDE_TOLERANCE * params.spacing;
    for (wall, given) in walls.iter().zip(scene.wall.values()) {
        let scene::WallShape::Box(tank) = &given.shape else { continue };
        let WallShape::Tank { min: open_min, max: open_max } = wall.shape else { continue };
        let sticky = wall.friction == Friction::NoSlip;
        for (axis, [low, high]) in params.sides.pairs_mut().into_iter().enumerate() {
            let at_low = (tank.min[axis] - domain.min[axis]).abs() <= near;
            let at_high = (tank.max[axis] - domain.max[axis]).abs() <= near;
            // What falls out of a tank falls on.
            let [floor_low, floor_high] = [-1.0, 1.0].map(|sign| sign * scene.gravity[axis] > 0.0);
            inherit(low, at_low, open_min[axis].is_infinite().then_some(floor_low), sticky);
            inherit(high, at_high, open_max[axis].is_infinite().then_some(floor_high), sticky);
        }
    }
    params
}

/// What a side takes over from a tank whose side it is; if it is open, whether gravity points to it.
fn inherit(side: &mut Side, same: bool, open: Option<bool>, sticky: bool) {
    if !same || *side != Side::Slip {
        return;
    }
    match open {
        Some(true) => *side = Side::Outflow(Outflow::default()),
        Some(false) => *side = Side::Open(Open::default()),
        None if sticky => *side = Side::NoSlip,
        None => {}
    }
}

/// All walls that are not sides of the box, as one solid.
fn solid(walls: &[Wall], animated: Vec<Solid>, domain: &Aabb, spacing: f64) -> Result<Option<Solid>, SetupError> {
    let near = DVec3::splat(SIDE_TOLERANCE * spacing);
    let mut all: Vec<Solid> = Vec::new();
    for wall in walls {
        let is_box = matches!(&wall.shape, &WallShape::Tank { min, max }
            if (min - near).cmple(domain.min).all() && (max + near).cmpge(domain.max).all());
        if !is_box {
            all.push(Solid::wall(wall)?);
        }
    }
    all.extend(animated);
    Ok(all.into_iter().reduce(Solid::and))
}

/// Shapes together: a function of a position that is negative inside one of them \[m\].
struct Shapes(Vec<Region>);

impl Shapes {
    fn new(loaded: &Loaded, liquid: &str, shapes: &[Shape]) -> Result<Self, BuildError> {
        let region = |(index, shape): (usize, &Shape)| {
            Region::new(&to_shape(loaded, shape)).map_err(|source| BuildError::Fill {
                liquid: liquid.to_owned(),
                index,
                source: FillError::Shape(source),
            })
        };
        Ok(Self(shapes.iter().enumerate().map(region).collect::<Result<_, _>>()?))
    }

    fn signed_distance(&self, x: DVec3) -> f64 {
        self.0.iter().map(|region| region.signed_distance(x)).fold(f64::INFINITY, f64::min)
    }

    /// Of what is in these shapes but not in the others.
    fn without(&self, others: &Self, x: DVec3) -> f64 {
        self.signed_distance(x).max(-others.signed_distance(x))
    }
}

/// Fills the shapes of all liquids and sets them in motion.
fn seed(loaded: &Loaded, flow: &mut Flow) -> Result<(), BuildError> {
    let mut liquids = Vec::new();
    for (name, liquid) in &loaded.scene.liquid {
        let (full, cutouts) = (Shapes::new(loaded, name, &liquid.fill)?, Shapes::new(loaded, name, &liquid.cutouts)?);
        liquids.push((liquid, full, cutouts));
    }
    flow.fill(|x| liquids.iter().map(|(_, full, cutouts)| full.without(cutouts, x)).fold(f64::INFINITY, f64::min));
    // So far around it the faces of its cells move with it.
    let reach = flow.grid().spacing();
    for (liquid, full, cutouts) in &liquids {
        let (velocity, spin) = (DVec3::from_array(liquid.velocity), DVec3::from_array(liquid.spin));
        if velocity == DVec3::ZERO && spin == DVec3::ZERO {
            continue;
        }
        let center = center(flow, |x| full.without(cutouts, x) < 0.0);
        flow.add_velocity(|x| {
            if full.without(cutouts, x) < reach { velocity + spin.cross(x - center) } else { DVec3::ZERO }
        });
    }
    Ok(())
}

/// The mean of the centres of cells in a region \[m\].
fn center(flow: &Flow, contains: impl Fn(DVec3) -> bool) -> DVec3 {
    let grid = flow.grid();
    let centers = (0..grid.len()).filter(|&p| grid.contains(p)).map(|p| grid.center(p)).filter(|&x| contains(x));
    let (sum, count) = centers.fold((DVec3::ZERO, 0.0), |(sum, count), x| (sum + x, count + 1.0));
    sum / f64::max(count, 1.0)
}

/// The animated meshes, which come after the liquid and the walls.
fn shown(loaded: &Loaded) -> Vec<Shown> {
    let first = 1 + loaded.scene.wall.len() as u16;
    let animations = (first..).zip(loaded.animations());
    animations.map(|(body, (_, _, animation))| Shown { body, animation: animation.clone() }).collect()
}

/// How the liquid and the walls are drawn.
fn look(loaded: &Loaded, walls: &[Wall], domain: &Aabb) -> (Vec<BodyInfo>, Vec<Wire>, Vec<Surface>) {
    let scene = &loaded.scene;
    let liquid = scene.liquid.first().map(|(name, l)| (name.clone(), l.color.map(|c| c as f32)));
    let (name, color) = liquid.unwrap_or_default();
    let mut bodies = vec![BodyInfo { name, kind: BodyKind::Liquid, color }];
    let (mut wires, mut surfaces) = (Vec::new(), Vec::new());
    let grey = |name: &str| BodyInfo { name: name.to_owned(), kind: BodyKind::Wall, color: [0.35, 0.38, 0.42] };
    for (name, wall) in scene.wall.keys().zip(walls) {
        let body = bodies.len() as u16;
        bodies.push(grey(name));
        let segments = tank_edges(&wall.shape, domain);
        if !segments.is_empty() {
            wires.push(Wire { body, segments });
        }
        if let WallShape::Mesh { mesh, .. } = &wall.shape {
            surfaces.push(Surface {
                body,
                positions: mesh.vertices().iter().map(|p| p.as_vec3()).collect(),
                velocities: vec![glam::Vec3::ZERO; mesh.vertices().len()],
                triangles: mesh.triangles().to_vec(),
                ..Surface::default()
            });
        }
    }
    bodies.extend(animated::bodies(loaded));
    if wires.is_empty() {
        let segments = tank_edges(&WallShape::Tank { min: domain.min, max: domain.max }, domain);
        wires.push(Wire { body: bodies.len() as u16, segments });
        bodies.push(grey("domain"));
    }
    (bodies, wires, surfaces)
}
