//! Newton's method for the implicit problem of one body, or of several that touch: linearise, assemble, solve, and again if
//! asked. Each body's part of it is in [`crate::implicit`]; contacts add links between them.
//!
//! From u = 0, that is from where the nodes are: the first iteration is the linearly implicit Euler step of \[BW98, MG04\].
//! If it leaves a body that touches nothing with much more energy than it had (`energy_control.rs`), it iterates on.

use crate::body::Body;
use crate::contact::ContactPairs;
use crate::linear::{Goal, Outcome, find_residual, move_given, solve};
use glam::DVec3;
use meniscus_core::{Fault, StepError, StepReport};

/// Most linear solves for the sake of energy.
const MAX_SOLVES_FOR_ENERGY: u32 = 10;

/// Bodies that move together, and where they touch.
pub(crate) struct Group<'a, 'b> {
    pub(crate) bodies: &'a mut [&'b mut Body],
    pub(crate) contacts: &'a mut ContactPairs,
}

/// How much is done for the solution: of several bodies, the strictest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    /// Most linear solves.
    pub(crate) iterations: u32,
    /// Imbalance over the loads at which it ends, dimensionless.
    pub(crate) newton_tolerance: f64,
    /// Residual over the loads at which linear solves end, dimensionless.
    pub(crate) tolerance: f64,
    /// Most iterations of a linear solve.
    max_iterations: u32,
    /// Whether a step along the solution is shortened until the energy falls.
    search: bool,
}

/// How Newton's method has come along.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    /// Linear systems solved.
    solves: u32,
    /// Iterations of conjugate gradients, all together.
    iterations: u32,
    /// Residual of the last linear solve, over the loads.
    residual: f64,
    /// What loads and motion put out of balance at the start \[N·s\]: the measure of all that is left.
    scale: f64,
    /// What is out of balance now \[N·s\].
    imbalance: f64,
    /// What rounding can put out of balance \[N·s\].
    rounding: f64,
    /// Whether the balance was found to hold before a further solve.
    pub(crate) balanced: bool,
    /// Whether the last solve began with a motion that was given: its outcome is then taken whole.
    pub(crate) given: bool,
}

impl Progress {
    /// A norm over the loads; zero where there are none.
    fn relative(&self, norm: f64) -> f64 {
        if self.scale > 0.0 { norm / self.scale } else { 0.0 }
    }

    /// What is said when the balance has not been found.
    pub(crate) fn fault(&self, tolerance: f64) -> Fault {
        Fault::NotConverged { iterations: self.solves, residual: self.relative(self.imbalance), tolerance }
    }

    /// Notes in a report how it went.
    fn tell(&self, report: &mut StepReport) {
        report.count("newton iterations", f64::from(self.solves));
        report.count("cg iterations", f64::from(self.iterations));
        report.count("cg residual", self.residual);
        if self.balanced || self.solves > 1 {
            report.count("imbalance", self.relative(self.imbalance));
        }
    }
}

impl Group<'_, '_> {
    /// The effort that the bodies ask for.
    pub(crate) fn effort(&self) -> Effort {
        let params = self.bodies.iter().map(|body| &body.params);
        let strictest = |f: fn(&crate::Params) -> f64| params.clone().map(f).fold(1.0, f64::min);
        Effort {
            iterations: self.bodies.iter().map(|body| body.work.problem.iterations).max().unwrap_or(1),
            newton_tolerance: strictest(|params| params.newton_tolerance),
            tolerance: strictest(|params| params.tolerance),
            max_iterations: params.clone().map(|params| params.max_iterations).max().unwrap_or(1),
            search: self.bodies.iter().any(|body| body.work.problem.search),
        }
    }

    /// Newton's method. Leaves the solution in the bodies' `unknown`.
    pub(crate) fn find_unknown(&mut self, effort: &Effort, report: &mut StepReport) -> Result<Progress, StepError> {
        let rounding = self.bodies.iter().map(|body| body.rounding()).sum();
        let mut progress = Progress { rounding, ..Progress::default() };
        self.each(Body::begin);
        self.contacts.evaluate(self.bodies);
        self.contacts.add_diagonals(self.bodies);
        report.stage("precondition", || self.each(Body::precondition)); // 4
        while progress.solves < effort.iterations || self.watches_energy(&progress) {
            report.stage("update rotations", || self.each(Body::update_rotations)); // 5  F, R  [MBCM16]
            if progress.solves == 0 {
                self.each(Body::note_energy);
            } else if progress.solves >= effort.iterations && !self.gains_much() {
                break;
            }
            report.stage("assemble", || self.each(Body::assemble)); // 6  a M + c K  [MG04 eq. 11]
            report.stage("balance", || self.balance(effort, &mut progress))?; // 7  r
            if progress.balanced {
                self.contacts.go(1.0);
                break;
            }
            let outcome = report.stage("solve", || self.solve(effort, &mut progress)); // 8  (a M + c K) δ = r
            if outcome.indefinite && self.project() {
                let first = progress.solves == 0;
                self.each(|body| if first { body.begin() } else { body.stay() });
                continue;
            }
            self.judge(outcome, effort, &mut progress)?;
            report.stage("line search", || self.search(effort, &progress)); // 9  u ← u + s δ
        }
        progress.tell(report);
        Ok(progress)
    }

    fn each(&mut self, mut stage: impl FnMut(&mut Body)) {
        self.bodies.iter_mut().for_each(|body| stage(body));
    }

    /// 7. What is out of balance, contacts included.
    fn balance(&mut self, effort: &Effort, progress: &mut Progress) -> Result<(), StepError> {
        for body in &mut *self.bodies {
            body.balance(progress.solves == 0)?;
        }
        self.contacts.evaluate(self.bodies);
        self.contacts.add_impulses(self.bodies);
        progress.imbalance = self.bodies.iter().map(|body| body.imbalance_squared()).sum::<f64>().sqrt();
        let allowed = progress.rounding.max(effort.newton_tolerance * progress.scale);
        progress.balanced = progress.solves > 0 && progress.imbalance <= allowed;
        Ok(())
    }

    /// 8. Solves (a M + c K) δ = r. A part of δ is given in the first solve; what is to be found is the rest.
    fn solve(&mut self, effort: &Effort, progress: &mut Progress) -> Outcome {
        let first = progress.solves == 0;
        progress.given = self.bodies.iter().any(|body| body.work.change.iter().any(|given| *given != DVec3::ZERO));
        let norm = move_given(self.bodies, &mut self.contacts.links);
        if first {
            progress.scale = self.bodies.iter().map(|body| body.load_norm()).fold(norm, f64::max);
        }
        self.start_from_guess(norm);
        self.remove_drift();
        // Later solves need not be better than the balance that is sought.
        let wanted = if first { effort.tolerance * progress.scale } else { effort.tolerance * norm };
        let useful = if first { 0.0 } else { 0.3 * effort.newton_tolerance * progress.scale };
        let residual = wanted.max(useful).max(progress.rounding);
        self.each(Body::turn_preconditioner);
        let goal = Goal { residual, iterations: effort.max_iterations };
        let outcome = solve(self.bodies, &mut self.contacts.links, goal);
        self.remove_drift();
        self.each(|body| {
            let work = &mut body.work;
            work.change.iter_mut().zip(&work.correction).for_each(|(change, correction)| *change += *correction);
        });
        self.contacts.follow(self.bodies);
        outcome
    }

    /// Finds the residual of the guess, or drops the guess if nothing would be better.
    fn start_from_guess(&mut self, norm: f64) {
        // A NaN does not help.
        let helps = find_residual(self.bodies, &mut self.contacts.links) < norm;
        if !helps {
            self.each(|body| {
                body.work.correction.fill(DVec3::ZERO);
                body.work.cg.residual.copy_from_slice(&body.work.imbalance);
            });
        }
    }

    /// Adds the uniform velocity that the residual of free bodies asks for. Translations have no stiffness, so that the sum of
    /// the residual vanishes: a rigid fall needs no iterations, and linear momentum is exact however well the rest is solved.
    fn remove_drift(&mut self) {
        if self.contacts.links.is_empty() {
            self.bodies.iter_mut().filter(|body| body.is_free()).for_each(|body| drift(std::slice::from_mut(body)));
        } else if self.contacts.keeps_momentum() && self.bodies.iter().all(|body| body.is_free()) {
            drift(self.bodies);
        }
    }

    /// Drops negative eigenvalues from now on; says whether that changes anything.
    fn project(&mut self) -> bool {
        let mut changed = false;
        for problem in self.bodies.iter_mut().map(|body| &mut body.work.problem) {
            changed |= !problem.warped && !problem.project;
            problem.project = true;
        }
        changed
    }

    /// Counts a solve, and fails if it has not converged. With a search an unfinished solution is still a way downhill.
    fn judge(&self, outcome: Outcome, effort: &Effort, progress: &mut Progress) -> Result<(), StepError> {
        progress.solves += 1;
        progress.iterations += outcome.iterations;
        progress.residual = progress.relative(outcome.residual);
        if outcome.converged || effort.search && outcome.iterations > 0 {
            return Ok(());
        }
        let (residual, tolerance) = (progress.residual, effort.tolerance);
        let fault = Fault::NotConverged { iterations: outcome.iterations, residual, tolerance };
        let names: Vec<&str> = self.bodies.iter().map(|body| body.name()).collect();
        Err(StepError { stage: "solve".into(), body: names.join(", "), index: None, fault })
    }

    /// Whether equations are solved better than asked for where energy has grown.
    fn watches_energy(&self, progress: &Progress) -> bool {
        let alone = self.contacts.links.is_empty();
        alone && progress.solves < MAX_SOLVES_FOR_ENERGY && self.bodies.iter().any(|body| body.loses_energy())
    }

    /// Finds what the bodies have gained; whether it is much.
    fn gains_much(&mut self) -> bool {
        self.each(Body::find_gain);
        self.bodies.iter().any(|body| body.work.gain.is_large())
    }

    /// 9. u ← u + s δ and x with it; s = 1 unless a search is asked for or energy has grown.
    fn search(&mut self, effort: &Effort, progress: &Progress) {
        let search = effort.search || progress.solves > effort.iterations;
        let s = if search { self.best_step(progress.given) } else { 1.0 };
        self.each(|body| body.go(s));
        self.contacts.go(s);
    }
}

/// Gives bodies the common velocity that takes the sum out of their residual.
fn drift(bodies: &mut [&mut Body]) {
    let weight = |body: &&mut Body| body.work.problem.inertia * body.topology.mass.iter().sum::<f64>();
    let total: f64 = bodies.iter().map(weight).sum();
    let sum: DVec3 = bodies.iter().map(|body| body.work.cg.residual.iter().sum::<DVec3>()).sum();
    let drift = sum / total;
    for body in bodies {
        let (work, mass) = (&mut body.work, &body.topology.mass);
        for (i, residual) in work.cg.residual.iter_mut().enumerate() {
            work.correction[i] += drift;
            *residual -= work.problem.inertia * mass[i] * drift;
        }
    }
}
