//! The `unified` method: liquid and elastic solids as one system of particles \[SZW\].
//!
//! One step; the names are those of the step report. Stages with numbers are the liquid's, as in the method `gauss`:
//!
//! | | stage | what happens |
//! |---|---|---|
//! | | place solids | particles of solids take their places among the liquid's |
//! | 1–4 | sort particles, find neighbours, wall integrals, find pores, sum density | ρ̃ᵢ = mᵢ Σⱼ Wᵢⱼ over liquid and solids alike \[SZW eq. 5\] |
//! | 5 | remove divergence | solids give way |
//! | | move solids | in steps of their own, under the forces of the last step |
//! | 6 | sum forces | friction between all particles \[SZW eq. 7\], gravity |
//! | | surface tension | surface tension \[SZW eqs 8–12\] |
//! | | porous drag | drag and suction of pores \[BJWB25\] |
//! | | predict solids | where they will be |
//! | 8 | find pressure | pressure of the liquid, with what a change of it does to the solids \[SZW eq. 6\] |
//! | | drag solids | what liquid in pores does to them under that pressure |
//! | 9 | advance | the liquid |
//! | | give to solids | what the liquid did beyond the forces of the last step |
//! | | rigid bodies | their step, with what the liquid did to their surfaces and what the solids did |
//! | 11 | keep before bodies | liquid that a rigid body has passed is put back before it |
//! | 12 | drain | |
//!
//! With the state equation forces come first, and solids are moved under them.

use super::{Method, Step};
use crate::build::{self, BuildError, clearance};
use crate::hands::Hands;
use crate::part::Part;
use crate::parts::{self, ElasticPart, LiquidPart, RigidPart};
use crate::substeps::Finest;
use glam::DVec3;
use meniscus_boundary::{Boundaries, Obstacles};
use meniscus_core::{StepError, StepReport, Wrench};
use meniscus_coupling::liquid_rigid::add_forces;
use meniscus_coupling::{Wetted, elastic_rigid, exchange, fem_rigid, liquid_elastic, liquid_porous};
use meniscus_scene::Loaded;
use meniscus_scene::live::LiveKey;
use meniscus_sph::{Hooks, Liquid, PressureSolver};

/// The method.
pub(crate) struct Unified {
    pub(crate) water: LiquidPart,
    pub(crate) rigid: RigidPart,
    pub(crate) elastic: ElasticPart,
    /// Forces of the last step \[N\].
    pub(crate) before: Vec<DVec3>,
}

/// What is measured of a porous solid: part of the pores that liquid fills, its mass, and that with the solid's own.
const IN_PORES: [&str; 3] = ["saturation [1]", "liquid held [kg]", "mass with liquid [kg]"];

impl Method for Unified {
    fn step(&mut self, step: Step<'_>, report: &mut StepReport) -> Result<(), StepError> {
        let Step { time, dt, gravity, hands } = step;
        let Self { water, rigid, elastic, .. } = self;
        water.walls.place(time, dt);
        exchange::show(&mut water.liquid, &mut &mut rigid.world, dt);
        hands.pull(&mut [&mut *elastic, &mut *rigid], time, dt);
        elastic.pull(dt);
        elastic.dt = dt;
        if water.dry {
            water.follow_walls();
            let (liquid, mut embedding) = self.embed(gravity);
            embedding.move_solids(liquid, report)?;
        } else {
            report.stage("place solids", || liquid_elastic::place(&mut water.liquid, &elastic.solids, dt));
            let (liquid, mut embedding) = self.embed(gravity);
            let walls = embedding.walls;
            liquid.step(walls, gravity, &mut embedding, report)?; // 1 to 9
        }
        self.move_rigid(dt, gravity, report)?;
        self.water.drain(gravity, report); // 12
        self.elastic.solids.finish();
        self.rigid.end();
        report.count("kept inside walls", self.water.liquid.kept_inside() as f64);
        report.count("solid sub-steps", self.elastic.solids.substeps().into());
        Ok(())
    }

    fn roll_back(&mut self, _: &mut Hands) {
        self.water.roll_back();
        self.rigid.roll_back();
        self.elastic.solids.roll_back();
    }

    fn stable_step(&self, gravity: DVec3) -> f64 {
        let by_solids = self.elastic.stable_step().min(self.rigid.stable_step());
        if self.water.dry { by_solids } else { by_solids.min(self.water.stable_step(gravity)) }
    }

    fn finest_substep(&self) -> Option<Finest<'_>> {
        let particles = self.elastic.solids.state().position.len();
        let bodies = self.elastic.solids.bodies().iter();
        let steps = bodies.map(|body| Finest { body: &body.name, step: body.elastic.stable_step(), particles });
        // A NaN comes first.
        steps.min_by(|a, b| a.step.max(0.0).total_cmp(&b.step.max(0.0)))
    }

    fn typical_step(&self, gravity: DVec3) -> f64 {
        self.stable_step(gravity).min(self.water.typical_step())
    }

    fn parts(&self) -> Vec<&dyn Part> {
        vec![&self.water, &self.rigid, &self.elastic]
    }

    fn parts_mut(&mut self) -> Vec<&mut dyn Part> {
        vec![&mut self.water, &mut self.rigid, &mut self.elastic]
    }

    fn walls(&self) -> Vec<&str> {
        self.water.wall_names()
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        self.parts_mut().into_iter().for_each(|part| part.set(key, value));
        liquid_elastic::weigh(&mut self.water.liquid, &self.elastic.solids);
    }

    fn columns(&self) -> Vec<String> {
        let porous = self.water.liquid.phases().iter().filter(|phase| phase.pores.is_some());
        porous.flat_map(|phase| IN_PORES.map(|quantity| format!("{}.{quantity}", phase.name))).collect()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        for number in 0..self.elastic.solids.bodies().len() {
            if let Some(held) = liquid_porous::held(&self.water.liquid, &self.elastic.solids, number) {
                let [mass, _] = self.elastic.mass_and_kinetic(number);
                values.extend([held.saturation, held.mass, held.mass + mass]);
            }
        }
    }
}

impl Unified {
    /// That of a scene; says what is odd.
    pub(crate) fn build(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<Self, BuildError> {
        let scene = &loaded.scene;
        let mut water = build::water(loaded, warnings)?;
        let rigid = build::rigid::rigid(loaded, &water.walls, parts::first("rigid", scene), f64::INFINITY)?;
        clearance::meet(&mut water, &[&rigid], warnings);
        let elastic = build::elastic::elastic(loaded, &mut water, parts::first("solid", scene), warnings)?;
        let mut unified = Self { water, rigid, elastic, before: Vec::new() };
        clearance::relax_embedded(&mut unified, DVec3::from_array(scene.gravity), warnings);
        Ok(unified)
    }

    /// The liquid, and the solids that take part in its step.
    fn embed(&mut self, gravity: DVec3) -> (&mut Liquid, Embedding<'_>) {
        let Self { water: LiquidPart { liquid, walls, .. }, rigid, elastic, before } = self;
        (liquid, Embedding { elastic, before, rigid, walls, gravity })
    }

    /// The step of the rigid bodies, with what liquid and solids did to them.
    fn move_rigid(&mut self, dt: f64, gravity: DVec3, report: &mut StepReport) -> Result<(), StepError> {
        let Self { water: LiquidPart { liquid, dry, .. }, rigid, elastic, .. } = self;
        let mut world = &mut rigid.world;
        if !*dry {
            world.take_forces(liquid, 0);
        }
        rigid.step(dt, gravity, report)?;
        // Animated walls count as bodies.
        if !*dry && liquid.has_bodies() {
            report.stage("keep before bodies", || exchange::keep_out(liquid, &&mut rigid.world, dt)); // 11
            // Solids are stopped by themselves.
            liquid_elastic::show(liquid, &elastic.solids);
        }
        Ok(())
    }
}

/// Solids of particles, between the stages of the liquid's step.
struct Embedding<'a> {
    elastic: &'a mut ElasticPart,
    before: &'a mut Vec<DVec3>,
    rigid: &'a mut RigidPart,
    walls: &'a Boundaries,
    gravity: DVec3,
}

/// Whether pressure is found by a solve in which solids give way; else it follows from density and pushes them.
fn solves_pressure(liquid: &Liquid) -> bool {
    liquid.setup().params.pressure == PressureSolver::Dfsph
}

impl Hooks for Embedding<'_> {
    fn after_walls(&mut self, liquid: &mut Liquid, report: &mut StepReport) -> Result<(), StepError> {
        if solves_pressure(liquid) {
            report.stage("find pores", || liquid.find_pores(self.walls.step()[1]));
        }
        Ok(())
    }

    fn after_divergence(&mut self, liquid: &mut Liquid, report: &mut StepReport) -> Result<(), StepError> {
        self.before.clone_from(&self.elastic.solids.state().force);
        self.move_solids(liquid, report)
    }

    fn after_forces(&mut self, liquid: &mut Liquid, report: &mut StepReport) -> Result<(), StepError> {
        let Self { elastic: ElasticPart { solids, .. }, before, gravity, walls, .. } = self;
        let [_, dt] = walls.step();
        if solves_pressure(liquid) {
            let drag = report.stage("porous drag", || liquid_porous::add_porous_drag(liquid, solids, *gravity, dt)); // [BJWB25]
            report.stage("predict solids", || liquid_elastic::predict(liquid, solids, before, *gravity, dt));
            report.count("drag iterations", drag.iterations.into());
        } else {
            report.stage("give to solids", || liquid_elastic::push(liquid, solids, *gravity));
        }
        Ok(())
    }

    fn after_pressure(&mut self, liquid: &mut Liquid, report: &mut StepReport) -> Result<(), StepError> {
        report.stage("drag solids", || liquid.drag_solids());
        Ok(())
    }

    fn after_advance(&mut self, liquid: &mut Liquid, report: &mut StepReport) -> Result<(), StepError> {
        if solves_pressure(liquid) {
            let [_, dt] = self.walls.step();
            report.stage("give to solids", || liquid_elastic::give(liquid, &mut self.elastic.solids, dt));
        } else {
            self.move_solids(liquid, report)?;
            liquid_elastic::show(liquid, &self.elastic.solids);
        }
        Ok(())
    }
}

impl Embedding<'_> {
    /// Rigid bodies and what holds solids lead them; then they move.
    fn move_solids(&mut self, liquid: &Liquid, report: &mut StepReport) -> Result<(), StepError> {
        let Self { elastic, rigid, walls, gravity, .. } = self;
        let [time, dt] = walls.step();
        elastic.prescribe(time + dt);
        rigid.prescribe(walls);
        let world = &mut rigid.world;
        // Predicted of them: what the liquid did in the last step, or in this one if it is known.
        add_forces(world, |body| liquid.last_body_forces(body));
        let bodies = elastic_rigid::movers(world, [dt, liquid.setup().params.spacing], *gravity);
        let ElasticPart { solids, at_end, .. } = &mut **elastic;
        let mut obstacles = Obstacles { walls: at_end, bodies };
        report.stage("move solids", || solids.advance(dt, *gravity, &mut obstacles))?;
        world.clear_forces();
        let on_rigid = &solids.reactions()[at_end.sides().len()..];
        fem_rigid::give(world, &on_rigid.iter().map(|impulse| *impulse / dt).collect::<Vec<Wrench>>());
        Ok(())
    }
}
