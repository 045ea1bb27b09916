//! What a step says when it succeeds: its stages with their times, and a few counters.

use std::time::{Duration, Instant};

/// One line of the algorithm box with the time it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Name, as in the docs chapter of the method.
    pub name: &'static str,
    /// Time spent in it, all calls together.
    pub time: Duration,
    /// How often it ran in this step.
    pub calls: u32,
}

/// The report of one step. Reused from step to step: clearing keeps its memory.
#[derive(Debug, Clone, Default)]
pub struct StepReport {
    /// Length of the step \[s\].
    pub dt: f64,
    /// How often the step was rolled back and tried again at half its length.
    pub retries: u32,
    stages: Vec<Stage>,
    counters: Vec<(&'static str, f64)>,
}

impl StepReport {
    /// Runs one stage and notes its time under its name.
    pub fn stage<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(Stage { name, time: start.elapsed(), calls: 1 });
        result
    }

    fn add(&mut self, new: Stage) {
        match self.stages.iter_mut().find(|stage| stage.name == new.name) {
            Some(stage) => {
                stage.time += new.time;
                stage.calls += new.calls;
            }
            None => self.stages.push(new),
        }
    }

    /// Notes a number under a name, such as iterations or a residual; a second note replaces the first.
    pub fn count(&mut self, name: &'static str, value: f64) {
        match self.counters.iter_mut().find(|c| c.0 == name) {
            Some(counter) => counter.1 = value,
            None => self.counters.push((name, value)),
        }
    }

    /// The stages in the order in which they first ran.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The counters in the order in which they were first noted.
    #[must_use]
    pub fn counters(&self) -> &[(&'static str, f64)] {
        &self.counters
    }

    /// The value of one counter.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<f64> {
        self.counters.iter().find(|c| c.0 == name).map(|c| c.1)
    }

    /// Time of all stages together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.stages.iter().map(|s| s.time).sum()
    }

    /// Empties the report for the next step.
    pub fn clear(&mut self) {
        self.dt = 0.0;
        self.retries = 0;
        self.stages.clear();
        self.counters.clear();
    }

    /// Adds the times of another report to this one: a profile over many steps.
    pub fn absorb(&mut self, other: &StepReport) {
        self.retries += other.retries;
        for &stage in &other.stages {
            self.add(stage);
        }
        for &(name, value) in &other.counters {
            self.count(name, value);
        }
    }
}
