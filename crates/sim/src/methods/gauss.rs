//! The `gauss` method: a particle liquid whose walls are met through their surface \[MSTHG04\].
//!
//! One step; the names are those of the step report. Stages 1 to 9 are the liquid's, as `meniscus_sph` describes them ([`Liquid::step`]):
//!
//! | | stage | what happens |
//! |---|---|---|
//! | 1–9 | sort particles … advance | the liquid among walls and bodies that are in their places |
//! | 10 | prescribe | what follows a motion is told where it goes |
//! | 10 | predict | where rigid bodies will be, for soft ones that they touch |
//! | 10 | keep … break | the step of the soft bodies, with what the liquid does to their nodes, as `meniscus_fem` describes it |
//! | 10 | rigid bodies | their step, with what the liquid and the soft ones did to them |
//! | 11 | keep before bodies | particles that a surface has passed are put back before it |
//! | | split pieces | of a body that has come apart become bodies |
//! | 12 | drain | particles in drains and outside the domain go |
//!
//! Solids that move faster than the liquid take stage 10 several times, while its forces stay.

use super::{Method, Step};
use crate::build::{self, BuildError, clearance};
use crate::hands::{ActivePull, Hands};
use crate::part::Part;
use crate::parts::{self, LiquidPart, RigidPart, SavedSoft, SoftPart};
use glam::DVec3;
use meniscus_core::{StepError, StepReport};
use meniscus_coupling::{Wetted, exchange, fem_rigid};
use meniscus_scene::Loaded;

/// The method.
pub(crate) struct Gauss {
    pub(crate) water: LiquidPart,
    pub(crate) soft: SoftPart,
    pub(crate) rigid: RigidPart,
    /// The solids at the start of the step under way, if they take several.
    pub(crate) before: Option<Before>,
}

/// Solids and what holds them, before a step.
pub(crate) struct Before {
    soft: SavedSoft,
    rigid: Option<meniscus_rigid::State>,
    active_pulls: Vec<ActivePull>,
}

impl Method for Gauss {
    fn step(&mut self, step: Step<'_>, report: &mut StepReport) -> Result<(), StepError> {
        let (dt, gravity) = (step.dt, step.gravity);
        self.water.walls.place(step.time, dt);
        self.show_solids(dt);
        self.water.liquid.step(&self.water.walls, gravity, &mut (), report)?; // 1 to 9
        self.soft.wetted().take_back();
        self.step_solids(step, report)?; // 10
        self.keep_liquid_out(dt, report); // 11
        self.soft.split_broken(report);
        self.water.drain(gravity, report); // 12
        report.count("kept inside walls", self.water.liquid.kept_inside() as f64);
        report.count("wet triangles", self.water.liquid.wet_triangles() as f64);
        Ok(())
    }

    fn roll_back(&mut self, hands: &mut Hands) {
        self.soft.wetted().take_back();
        self.water.roll_back();
        self.soft.roll_back();
        self.rigid.roll_back();
        if let Some(Before { soft, rigid, active_pulls }) = self.before.take() {
            // Saved by these very solids.
            let _fits = self.soft.restore(soft) && self.rigid.restore(rigid);
            hands.active = active_pulls;
        }
    }

    fn stable_step(&self, gravity: DVec3) -> f64 {
        let solids = self.stable_step_of_solids();
        if self.water.dry && solids.is_finite() {
            return solids;
        }
        let most = f64::from(self.water.liquid.setup().coupling.substeps);
        (solids * most).min(self.water.stable_step(gravity))
    }

    fn typical_step(&self, gravity: DVec3) -> f64 {
        self.stable_step(gravity).min(self.water.typical_step())
    }

    fn parts(&self) -> Vec<&dyn Part> {
        vec![&self.water, &self.soft, &self.rigid]
    }

    fn parts_mut(&mut self) -> Vec<&mut dyn Part> {
        vec![&mut self.water, &mut self.soft, &mut self.rigid]
    }

    fn walls(&self) -> Vec<&str> {
        self.water.wall_names()
    }
}

impl Gauss {
    /// That of a scene: the liquid, then what meets it; says what is odd.
    pub(crate) fn build(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<Self, BuildError> {
        let scene = &loaded.scene;
        let mut water = build::water(loaded, warnings)?;
        let soft = build::soft::soft(loaded, &water.walls, parts::first("solid", scene), warnings)?;
        let finest = soft.kinds.iter().map(|kind| kind.edge).fold(f64::INFINITY, f64::min);
        let rigid = build::rigid::rigid(loaded, &water.walls, parts::first("rigid", scene), finest)?;
        clearance::meet(&mut water, &[&soft, &rigid], warnings);
        let mut gauss = Self { water, soft, rigid, before: None };
        clearance::relax(&mut gauss, DVec3::from_array(scene.gravity), warnings);
        Ok(gauss)
    }

    /// Shows the liquid the surfaces of solids in a step of `dt` \[s\], and how they give way.
    pub(crate) fn show_solids(&mut self, dt: f64) {
        let Self { water, soft, rigid, .. } = self;
        exchange::show(&mut water.liquid, &mut (soft.wetted(), &mut rigid.world), dt);
    }

    fn stable_step_of_solids(&self) -> f64 {
        self.soft.stable_step().min(self.rigid.stable_step())
    }

    /// Solids that move faster than the liquid take several steps while its forces stay.
    fn step_solids(&mut self, step: Step<'_>, report: &mut StepReport) -> Result<(), StepError> {
        let Step { time, dt, gravity, hands } = step;
        let most = f64::from(self.water.liquid.setup().coupling.substeps);
        let count = if self.water.dry { 1.0 } else { (dt / self.stable_step_of_solids()).ceil().clamp(1.0, most) };
        let before =
            || Before { soft: self.soft.saved(), rigid: self.rigid.saved(), active_pulls: hands.active.clone() };
        self.before = (count > 1.0).then(before);
        let part = dt / count;
        for number in 0..count as u32 {
            if !self.water.dry {
                (self.soft.wetted(), &mut self.rigid.world).take_forces(&self.water.liquid, 0);
            }
            self.water.walls.place(time + f64::from(number) * part, part);
            self.step_once(gravity, hands, report)?;
        }
        self.water.walls.place(time, dt);
        report.count("steps of solids", count);
        Ok(())
    }

    /// A step of all solids: soft ones together, then the rigid ones, which feel what those felt.
    fn step_once(&mut self, gravity: DVec3, hands: &mut Hands, report: &mut StepReport) -> Result<(), StepError> {
        let Self { water, soft, rigid, .. } = self;
        let [time, dt] = water.walls.step();
        if soft.bodies.is_empty() && rigid.is_empty() {
            return Ok(());
        }
        report.stage("prescribe", || {
            hands.pull(&mut [&mut *soft, &mut *rigid], time, dt);
            rigid.prescribe(&water.walls);
            soft.prescribe(time + dt);
        });
        if !soft.bodies.is_empty() {
            let reach = soft.reach(dt, rigid.max_speed());
            let (world, samples) = (&mut rigid.world, &mut rigid.samples);
            let sides = match world.is_empty() {
                true => Vec::new(),
                false => report.stage("predict", || fem_rigid::sides(world, samples, [dt, reach], gravity)),
            };
            soft.step(&water.walls, &sides, gravity, report)?;
            drop(sides);
            fem_rigid::give(world, soft.on_rigid());
        }
        rigid.step(dt, gravity, report)?;
        soft.begun = false;
        rigid.end();
        Ok(())
    }

    /// Bodies that have broken must not have parted yet.
    fn keep_liquid_out(&mut self, dt: f64, report: &mut StepReport) {
        let Self { water, soft, rigid, .. } = self;
        if !water.dry {
            let solids = (soft.wetted(), &mut rigid.world);
            report.stage("keep before bodies", || exchange::keep_out(&mut water.liquid, &solids, dt));
        }
    }
}
