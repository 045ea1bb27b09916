//! What every pair promises: action is minus reaction, rest stays rest, no work comes from nothing, position and direction do not
//! matter, nobody is nothing, threads do not matter. One suite, run over all pairs by a macro.
//!
//! The set-up is always the same: a block of 0.5 m goes along x into another of its size, without gravity; both may be turned and
//! moved. The first is liquid where there is one.

use glam::{DQuat, DVec3, Vec3};
use meniscus_boundary::{Boundaries, Obstacles, Pose};
use meniscus_core::StepReport;
use meniscus_coupling::fem_rigid::{self, Samples};
use meniscus_coupling::liquid_fem::{Lent, Soft, Whole};
use meniscus_coupling::liquid_particles::Joined;
use meniscus_coupling::liquid_skin::Skins;
use meniscus_coupling::liquid_springs::{self, Pushed};
use meniscus_coupling::{Wetted, elastic_rigid, exchange, liquid_elastic, liquid_porous};
use meniscus_elastic::{ElasticMaterial, Solids};
use meniscus_fem::Body;
use meniscus_fem::contact::{Contact, ContactParams, Obstacle, Sample};
use meniscus_geometry::{Aabb, TetMesh, TriangleMesh, solids};
use meniscus_particles::{Elastic, InterfaceKind, Matter, Pushes, Skin, System};
use meniscus_rigid::{Form, Motion, World};
use meniscus_sph::{Hooks, Liquid, Material, Params, Pores, Setup};

const SPACING: f64 = 0.1;
const DENSITY: f64 = 1000.0;
/// Edge of a block, in spacings.
const N: usize = 5;
const DT: f64 = 5e-4;

/// How the two begin.
#[derive(Clone, Copy)]
struct Start {
    pose: Pose,
    /// Between the blocks, in spacings; where they are at rest beside each other is zero.
    gap: f64,
    /// Of the first towards the second \[m/s\].
    speed: f64,
    /// Whether there is a second.
    both: bool,
}

const MEET: Start =
    Start { pose: Pose { rotation: DQuat::IDENTITY, translation: DVec3::ZERO }, gap: 0.0, speed: 1.0, both: true };

impl Start {
    fn velocity(&self) -> DVec3 {
        self.pose.rotation * DVec3::X * self.speed
    }

    /// Lattice points of the first block, or of the second, a gap away.
    fn positions(&self, second: bool) -> Vec<DVec3> {
        let shift = if second { self.gap } else { -(N as f64) };
        let position =
            |k: usize| DVec3::new((k % N) as f64 + 0.5 + shift, (k / N % N) as f64 + 0.5, (k / N / N) as f64 + 0.5);
        (0..N * N * N).map(|k| self.pose.apply(position(k) * SPACING)).collect()
    }

    /// Bounds of the second block before it is turned.
    fn bounds(&self) -> Aabb {
        let min = DVec3::X * self.gap * SPACING;
        Aabb::new(min, min + N as f64 * SPACING)
    }

    fn surface(&self) -> TriangleMesh {
        let mut surface = solids::cuboid(&self.bounds());
        surface.vertices_mut().iter_mut().for_each(|x| *x = self.pose.apply(*x));
        surface
    }
}

/// Two that act on each other.
trait Pair: Sized {
    /// Momentum that is lost of what is exchanged at most, dimensionless: sums in f32, or what a solver leaves.
    const LOST: f64;

    fn new(start: &Start) -> Self;

    fn step(&mut self);

    /// Momenta of both \[kg·m/s\].
    fn momenta(&self) -> [DVec3; 2];

    /// Kinetic energy and that of deformation \[J\].
    fn energy(&self) -> f64;

    /// Where the first is \[m\].
    fn first(&self) -> Vec<DVec3>;

    /// Where the second is \[m\].
    fn second(&self) -> Vec<DVec3>;
}

fn report() -> StepReport {
    StepReport::default()
}

fn run<P: Pair>(start: &Start, steps: usize) -> P {
    let mut pair = P::new(start);
    (0..steps).for_each(|_| pair.step());
    pair
}

fn all<P: Pair>(pair: &P) -> Vec<DVec3> {
    [pair.first(), pair.second()].concat()
}

/// The largest distance between two lists of positions \[m\]; NaN if one is.
fn farthest(a: impl IntoIterator<Item = DVec3>, b: Vec<DVec3>) -> f64 {
    let ways = a.into_iter().zip(b).map(|(a, b)| a.distance(b));
    ways.fold(0.0, |most, way| if way <= most { most } else { way })
}

fn action_is_minus_reaction<P: Pair>() {
    let mut pair = P::new(&MEET);
    let before = pair.momenta();
    (0..8).for_each(|_| pair.step());
    let after = pair.momenta();
    let given = (after[0] - before[0]).length();
    let lost = (after[0] + after[1] - before[0] - before[1]).length();
    assert!(given > 1e-3 * before[0].length(), "they do not push each other: {given} of {}", before[0].length());
    assert!(lost <= P::LOST * given, "{lost} of {given} kg·m/s is lost");
}

fn rest_stays_rest<P: Pair>() {
    let start = Start { speed: 0.0, ..MEET };
    let (mut pair, thrown) = (P::new(&start), P::new(&MEET).energy());
    let positions = all(&pair);
    (0..8).for_each(|_| pair.step());
    let moved = farthest(positions, all(&pair));
    assert!(moved <= 1e-4 * SPACING, "something goes {moved} m");
    assert!(pair.energy() <= 1e-6 * thrown, "{} J come from nothing", pair.energy());
}

fn no_work_comes_from_nothing<P: Pair>() {
    let mut pair = P::new(&MEET);
    let first = pair.energy();
    assert!(first > 0.0);
    for step in 0..40 {
        pair.step();
        assert!(pair.energy() <= first * (1.0 + 1e-5), "step {step}: {} J of {first}", pair.energy());
    }
}

fn position_and_direction_do_not_matter<P: Pair>() {
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
    for rotation in [DQuat::IDENTITY, turn] {
        let pose = Pose { rotation, translation: DVec3::new(0.3, -0.7, 0.2) };
        let (here, there) = (run::<P>(&MEET, 5), run::<P>(&Start { pose, ..MEET }, 5));
        let way = 5.0 * DT * MEET.speed;
        // Moved, they differ by rounding; turned, by where solves end, at residuals of 1e-3.
        let off = farthest(all(&here).into_iter().map(|x| pose.apply(x)), all(&there));
        assert!(off <= 5e-3 * way, "{off} m off on a way of {way}");
    }
}

fn nobody_is_nothing<P: Pair>() {
    let far = run::<P>(&Start { gap: 40.0, ..MEET }, 5).first();
    let alone = run::<P>(&Start { gap: 40.0, both: false, ..MEET }, 5).first();
    assert_eq!(far, alone);
}

fn threads_do_not_matter<P: Pair>() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| all(&run::<P>(&MEET, 5)))
    };
    let one = with(1);
    assert!([2, 3, 8].iter().all(|&threads| with(threads) == one));
}

macro_rules! contract {
    ($($name:ident: $pair:ty;)*) => {$(
        mod $name {
            contract!(@ $pair: action_is_minus_reaction rest_stays_rest no_work_comes_from_nothing
                position_and_direction_do_not_matter nobody_is_nothing threads_do_not_matter);
        }
    )*};
    (@ $pair:ty: $($promise:ident)*) => {$(
        #[test]
        fn $promise() {
            crate::$promise::<$pair>();
        }
    )*};
}

mod pairs {
    contract! {
        liquid_fem: crate::Wet<crate::SoftBlock>;
        liquid_rigid: crate::Wet<crate::RigidBlock>;
        liquid_skin: crate::Wet<crate::SkinBlock>;
        liquid_springs: crate::Joint<{ crate::SPRINGS }>;
        liquid_projection: crate::Joint<{ crate::PROJECTION }>;
        liquid_particles: crate::Joint<{ crate::SPH }>;
        liquid_elastic: crate::Embedded<false>;
        liquid_porous: crate::Embedded<true>;
        fem_rigid: crate::SoftRigid;
        elastic_rigid: crate::ElasticRigid;
    }
}

// Liquid and what has a surface.

/// The first block as liquid, among no walls.
fn liquid(start: &Start) -> Liquid {
    let mut liquid = Liquid::new(Setup {
        params: Params { spacing: SPACING, ..Params::default() },
        materials: vec![("water".into(), Material { density: DENSITY, ..Material::default() })],
        walls: Boundaries::planes([]),
        coupling: Default::default(),
        emitters: Vec::new(),
        periodic: Default::default(),
        stiffness: 100.0,
        speed: 1.0,
    });
    let velocity = start.velocity().as_vec3();
    for x in start.positions(false) {
        liquid.particles_mut().push(0, x.as_vec3(), velocity, DENSITY as f32);
    }
    liquid
}

fn walls() -> Boundaries {
    let mut walls = Boundaries::planes([]);
    walls.place(0.0, DT);
    walls
}

/// Particles of the first block, by id.
fn own(liquid: &Liquid) -> impl Iterator<Item = usize> {
    let ids = &liquid.state().particles.id;
    (0..(N * N * N) as u32).filter_map(|id| ids.iter().position(|other| *other == id))
}

fn liquid_momentum(liquid: &Liquid) -> DVec3 {
    own(liquid).map(|i| liquid.state().particles.velocity[i].as_dvec3()).sum::<DVec3>() * liquid.mass(0)
}

fn liquid_energy(liquid: &Liquid) -> f64 {
    let squares = own(liquid).map(|i| liquid.state().particles.velocity[i].as_dvec3().length_squared());
    0.5 * liquid.mass(0) * squares.sum::<f64>()
}

fn liquid_positions(liquid: &Liquid) -> Vec<DVec3> {
    own(liquid).map(|i| liquid.state().particles.position[i].as_dvec3()).collect()
}

/// The second block, with a surface that a liquid meets.
trait Block {
    const LOST: f64;
    fn new(start: &Start) -> Self;
    fn wetted(&mut self) -> impl Wetted;
    fn advance(&mut self);
    fn momentum(&self) -> DVec3;
    fn energy(&self) -> f64;
    fn positions(&self) -> Vec<DVec3>;
}

struct Wet<B> {
    liquid: Liquid,
    block: Option<B>,
}

impl<B: Block> Pair for Wet<B> {
    const LOST: f64 = B::LOST;

    fn new(start: &Start) -> Self {
        Self { liquid: liquid(start), block: start.both.then(|| B::new(start)) }
    }

    fn step(&mut self) {
        let Self { liquid, block } = self;
        let Some(block) = block else {
            exchange::show(liquid, &mut (), DT);
            liquid.step(&walls(), DVec3::ZERO, &mut (), &mut report()).unwrap();
            exchange::keep_out(liquid, &(), DT);
            return;
        };
        exchange::show(liquid, &mut block.wetted(), DT);
        liquid.step(&walls(), DVec3::ZERO, &mut (), &mut report()).unwrap();
        block.wetted().take_back();
        block.wetted().take_forces(liquid, 0);
        block.advance();
        exchange::keep_out(liquid, &block.wetted(), DT);
    }

    fn momenta(&self) -> [DVec3; 2] {
        // What was stopped at the end of the step is still owed.
        let owed: DVec3 = self.liquid.state().body_impulses.iter().flatten().sum();
        [liquid_momentum(&self.liquid), self.block.as_ref().map_or(DVec3::ZERO, B::momentum) + owed]
    }

    fn energy(&self) -> f64 {
        liquid_energy(&self.liquid) + self.block.as_ref().map_or(0.0, B::energy)
    }

    fn first(&self) -> Vec<DVec3> {
        liquid_positions(&self.liquid)
    }

    fn second(&self) -> Vec<DVec3> {
        self.block.as_ref().map_or_else(Vec::new, B::positions)
    }
}

struct SoftBlock {
    body: Body,
    whole: Whole,
    lent: Lent,
}

fn soft_body(start: &Start) -> Body {
    let bounds = start.bounds();
    let mesh = TetMesh::block(bounds.min, bounds.max, [3; 3]);
    let mut body = Body::new("block", &mesh, Default::default(), Default::default()).unwrap();
    body.motion_mut().0.iter_mut().for_each(|x| *x = start.pose.apply(*x));
    body
}

impl Block for SoftBlock {
    /// The solid's own solve ends at a residual.
    const LOST: f64 = 1e-4;

    fn new(start: &Start) -> Self {
        let body = soft_body(start);
        let whole = Whole { nodes: body.positions().len(), frequency: body.lowest_frequency() };
        Self { body, whole, lent: Lent::default() }
    }

    fn wetted(&mut self) -> impl Wetted {
        let whole = self.whole;
        Soft { bodies: std::slice::from_mut(&mut self.body), whole: move |_| whole, lent: &mut self.lent }
    }

    fn advance(&mut self) {
        self.body.step(DT, DVec3::ZERO, &mut report()).unwrap();
    }

    fn momentum(&self) -> DVec3 {
        self.body.momentum()
    }

    fn energy(&self) -> f64 {
        self.body.kinetic_energy() + self.body.elastic_energy()
    }

    fn positions(&self) -> Vec<DVec3> {
        self.body.positions().to_vec()
    }
}

struct RigidBlock(World);

fn rigid_block(start: &Start) -> World {
    let mut world = World::default();
    world.add("block", start.surface(), Form::Surface, Default::default(), false).unwrap();
    world
}

impl Block for RigidBlock {
    const LOST: f64 = 1e-5;

    fn new(start: &Start) -> Self {
        Self(rigid_block(start))
    }

    fn wetted(&mut self) -> impl Wetted {
        &mut self.0
    }

    fn advance(&mut self) {
        self.0.step(DT, DVec3::ZERO).unwrap();
    }

    fn momentum(&self) -> DVec3 {
        self.0.momentum(0)
    }

    fn energy(&self) -> f64 {
        self.0.kinetic_energy(0)
    }

    fn positions(&self) -> Vec<DVec3> {
        self.0.positions(0).collect()
    }
}

struct SkinBlock {
    system: System,
    skins: Vec<Skin>,
    compliance: Vec<Vec<f64>>,
}

/// The second block as particles and springs.
fn springs(start: &Start, interface: InterfaceKind) -> System {
    let params = meniscus_particles::Params { interface, damping_ratio: 1.0, ..Default::default() };
    let mut system = System::new(params, 2e4, 0.4).with_liquid_modulus(3e3);
    let matter = Matter { spacing: SPACING, density: DENSITY };
    let elastic = Elastic { young: 1e5, damping: 0.1 };
    system.add_deformable(&matter.deformable("block", &start.positions(true), elastic).unwrap()).unwrap();
    system
}

fn step_springs(system: &mut System) {
    system.step(&mut walls(), DVec3::ZERO, [0.0, DT], &mut report()).unwrap();
}

fn springs_momentum(system: &System) -> DVec3 {
    system.masses().iter().zip(&system.state().velocity).map(|(m, v)| *v * *m).sum()
}

impl Block for SkinBlock {
    const LOST: f64 = 1e-5;

    fn new(start: &Start) -> Self {
        let (system, surface) = (springs(start, InterfaceKind::Springs), start.surface());
        let skin = Skin::new(surface.vertices(), surface.triangles(), &system.state().position, SPACING);
        let compliance = vec![skin.compliance(system.inverse_masses())];
        Self { system, skins: vec![skin], compliance }
    }

    fn wetted(&mut self) -> impl Wetted {
        Skins { system: &mut self.system, skins: &self.skins, compliance: &self.compliance }
    }

    fn advance(&mut self) {
        step_springs(&mut self.system);
    }

    fn momentum(&self) -> DVec3 {
        springs_momentum(&self.system)
    }

    fn energy(&self) -> f64 {
        self.system.kinetic_energy(0) + self.system.elastic_energy(0)
    }

    fn positions(&self) -> Vec<DVec3> {
        self.system.state().position.clone()
    }
}

// Liquid and particles of bodies.

const SPRINGS: u8 = 0;
const SPH: u8 = 1;
const PROJECTION: u8 = 2;

struct Joint<const KIND: u8> {
    liquid: Liquid,
    system: Option<System>,
    joined: Joined,
    pushes: Pushes,
}

impl<const KIND: u8> Pair for Joint<KIND> {
    const LOST: f64 = 1e-5;

    fn new(start: &Start) -> Self {
        let kind = match KIND {
            SPH => InterfaceKind::Sph,
            PROJECTION => InterfaceKind::Projection,
            _ => InterfaceKind::Springs,
        };
        // Springs hold the liquid half a spacing farther off than its own particles are.
        let gap = if KIND == SPH { start.gap } else { start.gap + 0.5 };
        let beside = Start { gap, ..*start };
        let mut liquid = liquid(start);
        let system = start.both.then(|| springs(&beside, kind));
        let joined = Joined::starting_at(liquid.state().particles.next_id);
        if let (Some(system), SPH) = (&system, KIND) {
            for x in &system.state().position {
                liquid.particles_mut().push(0, x.as_vec3(), Vec3::ZERO, DENSITY as f32);
            }
        }
        Self { liquid, system, joined, pushes: Pushes::default() }
    }

    fn step(&mut self) {
        let Self { liquid, system, joined, pushes } = self;
        let Some(system) = system else {
            return liquid.step(&walls(), DVec3::ZERO, &mut Pushed(pushes), &mut report()).unwrap();
        };
        match KIND {
            SPH => {
                joined.join(liquid, system);
                liquid.step(&walls(), DVec3::ZERO, &mut Pushed(pushes), &mut report()).unwrap();
                joined.leave(liquid, system, DVec3::ZERO, DT);
            }
            PROJECTION => liquid.step(&walls(), DVec3::ZERO, &mut Pushed(pushes), &mut report()).unwrap(),
            _ => {
                liquid.begin_step(&walls(), &mut report());
                liquid_springs::connect(liquid, system, &[liquid.mass(0)], pushes);
                liquid.finish_step(&walls(), DVec3::ZERO, &mut Pushed(pushes), &mut report()).unwrap();
            }
        }
        step_springs(system);
        if KIND == PROJECTION {
            let masses = [liquid.mass(0)];
            liquid_springs::resolve_overlaps(liquid, system, &masses, DT);
        }
    }

    fn momenta(&self) -> [DVec3; 2] {
        [liquid_momentum(&self.liquid), self.system.as_ref().map_or(DVec3::ZERO, springs_momentum)]
    }

    fn energy(&self) -> f64 {
        let of_bodies = |system: &System| system.kinetic_energy(0) + system.elastic_energy(0);
        liquid_energy(&self.liquid) + self.system.as_ref().map_or(0.0, of_bodies)
    }

    fn first(&self) -> Vec<DVec3> {
        liquid_positions(&self.liquid)
    }

    fn second(&self) -> Vec<DVec3> {
        self.system.as_ref().map_or_else(Vec::new, |system| system.state().position.clone())
    }
}

// Liquid and elastic solids.

struct Embedded<const POROUS: bool> {
    liquid: Liquid,
    solids: Solids,
}

fn elastic_block(start: &Start) -> Solids {
    let mut solids = Solids::new(SPACING, 0.0);
    if start.both {
        let volume = (N as f64 * SPACING).powi(3);
        solids.add(
            "block",
            start.positions(true),
            volume,
            ElasticMaterial { young: 1e5, ..ElasticMaterial::default() },
        );
    }
    solids
}

/// What stands between the stages of the liquid's step.
struct Between<'a>(&'a mut Solids, Vec<DVec3>);

impl Hooks for Between<'_> {
    fn after_walls(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), meniscus_core::StepError> {
        liquid.find_pores(DT);
        Ok(())
    }

    fn after_divergence(&mut self, _: &mut Liquid, _: &mut StepReport) -> Result<(), meniscus_core::StepError> {
        self.1.clone_from(&self.0.state().force);
        self.0.advance(DT, DVec3::ZERO, &mut Obstacles::walls(&walls()))
    }

    fn after_forces(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), meniscus_core::StepError> {
        liquid_porous::add_porous_drag(liquid, self.0, DVec3::ZERO, DT);
        liquid_elastic::predict(liquid, self.0, &self.1, DVec3::ZERO, DT);
        Ok(())
    }

    fn after_pressure(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), meniscus_core::StepError> {
        liquid.drag_solids();
        Ok(())
    }

    fn after_advance(&mut self, liquid: &mut Liquid, _: &mut StepReport) -> Result<(), meniscus_core::StepError> {
        liquid_elastic::give(liquid, self.0, DT);
        Ok(())
    }
}

impl<const POROUS: bool> Pair for Embedded<POROUS> {
    const LOST: f64 = 1e-4;

    fn new(start: &Start) -> Self {
        let (mut liquid, mut solids) = (liquid(start), elastic_block(start));
        let pores = POROUS.then_some(Pores { porosity: 0.6, permeability: 1e-9, suction: 0.0 });
        if start.both {
            liquid_elastic::embed(&mut liquid, &mut solids, &[pores], 0.0);
        }
        Self { liquid, solids }
    }

    fn step(&mut self) {
        let Self { liquid, solids } = self;
        if solids.is_empty() {
            return liquid.step(&walls(), DVec3::ZERO, &mut (), &mut report()).unwrap();
        }
        liquid_elastic::place(liquid, solids, DT);
        liquid.step(&walls(), DVec3::ZERO, &mut Between(solids, Vec::new()), &mut report()).unwrap();
        solids.finish();
    }

    fn momenta(&self) -> [DVec3; 2] {
        let mass = self.solids.bodies().first().map_or(0.0, |body| body.elastic.mass());
        let of_particles = self.solids.state().velocity.iter().sum::<DVec3>() * mass;
        [liquid_momentum(&self.liquid), of_particles + self.solids.state().owed.iter().sum::<DVec3>()]
    }

    fn energy(&self) -> f64 {
        liquid_energy(&self.liquid) + elastic_energy(&self.solids)
    }

    fn first(&self) -> Vec<DVec3> {
        liquid_positions(&self.liquid)
    }

    fn second(&self) -> Vec<DVec3> {
        self.solids.state().position.clone()
    }
}

fn elastic_energy(solids: &Solids) -> f64 {
    let of_body = |body: &meniscus_elastic::SolidBody| {
        let speeds = solids.state().velocity[body.particles.clone()].iter();
        0.5 * body.elastic.mass() * speeds.map(|v| v.length_squared()).sum::<f64>()
    };
    let kinetic: f64 = solids.bodies().iter().map(of_body).sum();
    kinetic + (0..solids.bodies().len()).map(|body| solids.elastic_energy(body)).sum::<f64>()
}

// Solids and rigid bodies. The rigid block is the second.

struct SoftRigid {
    body: Body,
    contact: Contact,
    world: World,
    samples: Samples,
}

/// The corners of the block.
fn samples(start: &Start) -> Vec<Sample> {
    let surface = start.surface();
    let edge = N as f64 * SPACING;
    let area = 6.0 * edge * edge / surface.vertices().len() as f64;
    surface.vertices().iter().map(|&position| Sample { position, area }).collect()
}

/// The first block, soft, a little off and aside: edges on edges have no normal, and a step must not end just where they touch.
fn thrown_body(start: &Start) -> Body {
    let left = Start { gap: -(N as f64) - 0.013, ..*start };
    let mut body = soft_body(&left);
    let aside = start.pose.rotation * DVec3::new(0.0, 1.0, 1.0) * (SPACING / 3.0);
    let (position, velocity) = body.motion_mut();
    position.iter_mut().for_each(|x| *x += aside);
    velocity.fill(start.velocity());
    body
}

impl Pair for SoftRigid {
    const LOST: f64 = 1e-4;

    fn new(start: &Start) -> Self {
        let (mut world, mut all) = (World::default(), Samples::default());
        if start.both {
            world = rigid_block(start);
            all.push(samples(start));
        }
        Self { body: thrown_body(start), contact: Contact::new(ContactParams::default()).unwrap(), world, samples: all }
    }

    fn step(&mut self) {
        let Self { body, contact, world, samples } = self;
        let sides = fem_rigid::sides(world, samples, [DT, SPACING], DVec3::ZERO);
        let obstacles: Vec<&dyn Obstacle> = sides.iter().map(|side| side as &dyn Obstacle).collect();
        contact.step(std::slice::from_mut(body), &obstacles, DT, DVec3::ZERO, &mut report()).unwrap();
        drop(sides);
        fem_rigid::give(world, contact.obstacle_forces());
        world.step(DT, DVec3::ZERO).unwrap();
    }

    fn momenta(&self) -> [DVec3; 2] {
        [self.body.momentum(), rigid_momentum(&self.world)]
    }

    fn energy(&self) -> f64 {
        self.body.kinetic_energy() + self.body.elastic_energy() + rigid_energy(&self.world)
    }

    fn first(&self) -> Vec<DVec3> {
        self.body.positions().to_vec()
    }

    fn second(&self) -> Vec<DVec3> {
        rigid_positions(&self.world)
    }
}

fn rigid_momentum(world: &World) -> DVec3 {
    (0..world.len()).map(|body| world.momentum(body)).sum()
}

fn rigid_energy(world: &World) -> f64 {
    (0..world.len()).map(|body| world.kinetic_energy(body)).sum()
}

fn rigid_positions(world: &World) -> Vec<DVec3> {
    (0..world.len()).flat_map(|body| world.positions(body)).collect()
}

struct ElasticRigid {
    solids: Solids,
    world: World,
}

impl Pair for ElasticRigid {
    const LOST: f64 = 1e-9;

    fn new(start: &Start) -> Self {
        let mut solids = Solids::new(SPACING, 0.0);
        let volume = (N as f64 * SPACING).powi(3);
        let material = ElasticMaterial { young: 1e5, ..ElasticMaterial::default() };
        solids.add("block", start.positions(false), volume, material);
        solids.state_mut().velocity.fill(start.velocity());
        Self { solids, world: if start.both { rigid_block(start) } else { World::default() } }
    }

    fn step(&mut self) {
        let Self { solids, world } = self;
        let walls = walls();
        let bodies = elastic_rigid::movers(world, [DT, SPACING], DVec3::ZERO);
        solids.advance(DT, DVec3::ZERO, &mut Obstacles { walls: &walls, bodies }).unwrap();
        let felt: Vec<_> = solids.reactions().iter().map(|impulse| *impulse / DT).collect();
        fem_rigid::give(world, &felt);
        world.step(DT, DVec3::ZERO).unwrap();
        solids.finish();
    }

    fn momenta(&self) -> [DVec3; 2] {
        let mass = self.solids.bodies()[0].elastic.mass();
        [self.solids.state().velocity.iter().sum::<DVec3>() * mass, rigid_momentum(&self.world)]
    }

    fn energy(&self) -> f64 {
        elastic_energy(&self.solids) + rigid_energy(&self.world)
    }

    fn first(&self) -> Vec<DVec3> {
        self.solids.state().position.clone()
    }

    fn second(&self) -> Vec<DVec3> {
        rigid_positions(&self.world)
    }
}

/// The blocks are as the pairs say: a thrown one has the energy and momentum of its mass.
#[test]
fn blocks_are_thrown_as_told() {
    let mass = DENSITY * (N as f64 * SPACING).powi(3);
    let pair = ElasticRigid::new(&MEET);
    assert!((pair.energy() - 0.5 * mass).abs() < 1e-9 * mass && (pair.momenta()[0].x - mass).abs() < 1e-9 * mass);
    assert_eq!(pair.world.motion(0), Motion::default());
}
