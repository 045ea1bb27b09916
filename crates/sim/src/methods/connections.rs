//! The `connections` method: liquid, deformable and rigid bodies of particles that meet through connections \[B\].
//!
//! One step; the names are those of the step report. Stages 1 to 6 and 8 to 10 are the liquid's, as in the method `gauss`:
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 0 | join liquid | with the interface "sph": particles of bodies take their places among the liquid's |
//! | 1, 2 | sort particles, find neighbours | |
//! | 7 | connect liquid | springs between particles of bodies and of the liquid: forces on both |
//! | 3–9 | wall integrals … advance | the liquid, which feels its part of 7 beside its own forces |
//! | 10 | leave liquid | with the interface "sph": what the liquid did to the particles of bodies becomes a force on them |
//! | 11 | connect bodies … remember | steps of their own, as `meniscus_particles` describes them |
//! | 12 | resolve liquid overlaps | with the projection: bodies and liquid that overlap are moved apart |
//! | 13 | drain | |
//!
//! A scene of the method `gauss` may have bodies of particles too. The liquid then meets their skins, as it meets the surface of
//! any body there: `carry skins` takes these along with their bodies, stages 1 to 9 are those of `gauss`, forces on the vertices of
//! a skin are handed to the particles that it hangs on, 11 follows, and `keep before bodies` puts back liquid that a skin has
//! passed. Between the bodies nothing changes.
//!
//! With springs, liquid and bodies know all they need of each other after stage 7: they take the rest of the step side by side.
//!
//! The interface "sph" is that of Koshizuka and others \[SK98\], to which the paper looks ahead: the particles of a body are moved as
//! liquid of the body's density, and the body takes their mean.

use super::{Method, Step};
use crate::build::{self, BuildError, bodies, clearance};
use crate::hands::Hands;
use crate::part::Part;
use crate::parts::{BodiesPart, LiquidPart};
use crate::substeps::Finest;
use glam::DVec3;
use meniscus_core::{StepError, StepReport};
use meniscus_coupling::liquid_particles::Joined;
use meniscus_coupling::liquid_springs::{self, Pushed, drop_radius};
use meniscus_coupling::{Wetted, exchange};
use meniscus_particles::{InterfaceKind, Pushes};
use meniscus_scene::{self as scene, Loaded, Scene};

/// How bodies and liquid meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LiquidCoupling {
    /// Springs between their particles.
    Springs,
    /// Their particles are moved apart.
    Projection,
    /// Particles of bodies join the liquid.
    Sph,
    /// The liquid pushes the skins of bodies, as it does all surfaces with the method `gauss`.
    Skins,
}

impl LiquidCoupling {
    fn of(scene: &Scene) -> Self {
        match (scene.method, scene.connections.interface) {
            (scene::Method::Gauss, _) => Self::Skins,
            (_, InterfaceKind::Springs) => Self::Springs,
            (_, InterfaceKind::Projection) => Self::Projection,
            (_, InterfaceKind::Sph) => Self::Sph,
        }
    }
}

/// The method.
pub(crate) struct Connections {
    pub(crate) water: LiquidPart,
    pub(crate) bodies: BodiesPart,
    pub(crate) liquid_coupling: LiquidCoupling,
    /// With the interface "sph": the particles of bodies among the liquid's.
    pub(crate) joined: Joined,
    /// Mass of a particle of each liquid \[kg\].
    pub(crate) masses: Vec<f64>,
    pub(crate) pushes: Pushes,
    /// Report of the bodies' step where it is taken beside the liquid's.
    pub(crate) beside: StepReport,
}

impl Method for Connections {
    fn step(&mut self, step: Step<'_>, report: &mut StepReport) -> Result<(), StepError> {
        let Step { time, dt, gravity, hands } = step;
        self.water.walls.place(time, dt);
        hands.pull(&mut [&mut self.bodies], time, dt);
        self.weigh();
        if self.water.dry {
            self.water.follow_walls();
            self.bodies.step(gravity, [time, dt], report)?; // 11
            self.bodies.begun = false;
            return Ok(());
        }
        match self.liquid_coupling {
            LiquidCoupling::Springs => self.step_side_by_side(gravity, report)?,
            LiquidCoupling::Projection | LiquidCoupling::Sph => self.step_in_turn(gravity, report)?,
            LiquidCoupling::Skins => self.step_with_skins(gravity, report)?,
        }
        self.bodies.begun = false;
        let Self { water, bodies, masses, .. } = self;
        if self.liquid_coupling == LiquidCoupling::Projection {
            let system = &mut bodies.system;
            report.stage("resolve liquid overlaps", || {
                liquid_springs::resolve_overlaps(&mut water.liquid, system, masses, dt);
            }); // 12
        }
        water.drain(gravity, report); // 13
        report.count("kept inside walls", water.liquid.kept_inside() as f64);
        Ok(())
    }

    fn roll_back(&mut self, _: &mut Hands) {
        self.water.roll_back();
        self.bodies.roll_back();
    }

    fn stable_step(&self, gravity: DVec3) -> f64 {
        if self.water.dry {
            return f64::INFINITY;
        }
        let liquid = &self.water.liquid;
        let by_liquid = self.water.stable_step(gravity);
        let masses = (0..liquid.setup().materials.len()).map(|number| liquid.mass(number as u16));
        let lightest = masses.fold(f64::INFINITY, f64::min);
        match self.liquid_coupling {
            LiquidCoupling::Springs => by_liquid.min(self.bodies.system.liquid_step(lightest, drop_radius(liquid))),
            LiquidCoupling::Projection | LiquidCoupling::Sph => by_liquid,
            LiquidCoupling::Skins => by_liquid.min(self.bodies.stable_step()),
        }
    }

    fn finest_substep(&self) -> Option<Finest<'_>> {
        let system = &self.bodies.system;
        let particles = system.masses().len();
        system.finest_step().map(|(step, body)| Finest { body, step, particles })
    }

    fn typical_step(&self, gravity: DVec3) -> f64 {
        self.stable_step(gravity).min(self.water.typical_step())
    }

    fn parts(&self) -> Vec<&dyn Part> {
        vec![&self.water, &self.bodies]
    }

    fn parts_mut(&mut self) -> Vec<&mut dyn Part> {
        vec![&mut self.water, &mut self.bodies]
    }

    fn walls(&self) -> Vec<&str> {
        self.water.wall_names()
    }
}

impl Connections {
    /// That of a scene; says what is odd.
    pub(crate) fn build(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<Self, BuildError> {
        let scene = &loaded.scene;
        let mut water = build::water(loaded, warnings)?;
        clearance::relax_alone(&mut water, DVec3::from_array(scene.gravity), warnings);
        let lumps = bodies::lumps(loaded)?;
        // They come last among what the liquid's part shows.
        let first = water.look.bodies.len() - lumps.len();
        let bodies = bodies::bodies(loaded, &lumps, &water.walls, first, warnings)?;
        let liquid_coupling = LiquidCoupling::of(scene);
        bodies::make_room(&bodies, liquid_coupling, &mut water.liquid, warnings);
        let joined = Joined::starting_at(water.liquid.particles().next_id);
        if liquid_coupling == LiquidCoupling::Sph && !water.dry {
            bodies::join(loaded, &lumps, &bodies, &mut water.liquid);
        }
        let (pushes, masses, beside) = (Pushes::default(), Vec::new(), StepReport::default());
        Ok(Self { water, bodies, liquid_coupling, joined, masses, pushes, beside })
    }

    /// Springs: bodies and liquid at once.
    fn step_side_by_side(&mut self, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        let Self { water: LiquidPart { liquid, walls, .. }, bodies, masses, pushes, beside, .. } = self;
        liquid.begin_step(walls, report); // 1, 2
        report.stage("connect liquid", || liquid_springs::connect(liquid, &mut bodies.system, masses, pushes)); // 7
        beside.clear();
        let (by_liquid, by_bodies) = rayon::join(
            || liquid.finish_step(walls, gravity, &mut Pushed(pushes), report), // 3 to 9
            || bodies.step(gravity, walls.step(), beside),                      // 11
        );
        report.absorb(beside);
        by_liquid.and(by_bodies)
    }

    /// Skins: the liquid as with the method `gauss`, then the bodies with what it did to their skins.
    fn step_with_skins(&mut self, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        let Self { water: LiquidPart { liquid, walls, .. }, bodies, .. } = self;
        let [_, dt] = walls.step();
        report.stage("carry skins", || exchange::show(liquid, &mut bodies.wetted(), dt));
        liquid.step(walls, gravity, &mut (), report)?; // 1 to 9
        bodies.wetted().take_forces(liquid, 0);
        bodies.step(gravity, walls.step(), report)?; // 11
        report.stage("keep before bodies", || exchange::keep_out(liquid, &bodies.wetted(), dt));
        report.count("wet triangles", liquid.wet_triangles() as f64);
        Ok(())
    }

    /// Projection and SPH: bodies after the liquid.
    fn step_in_turn(&mut self, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        let Self { water: LiquidPart { liquid, walls, .. }, bodies, joined, pushes, liquid_coupling, .. } = self;
        let [_, dt] = walls.step();
        if *liquid_coupling == LiquidCoupling::Sph {
            report.stage("join liquid", || joined.join(liquid, &bodies.system)); // 0
        }
        liquid.step(walls, gravity, &mut Pushed(pushes), report)?; // 1 to 9
        if *liquid_coupling == LiquidCoupling::Sph {
            report.stage("leave liquid", || joined.leave(liquid, &mut bodies.system, gravity, dt)); // 10
        }
        bodies.step(gravity, walls.step(), report) // 11
    }

    /// Densities may have been changed.
    fn weigh(&mut self) {
        let liquid = &self.water.liquid;
        self.masses.clear();
        self.masses.extend((0..liquid.setup().materials.len()).map(|number| liquid.mass(number as u16)));
    }
}
