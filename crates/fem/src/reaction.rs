//! Forces from outside that change while the body moves: the hook for contact with what is not a body of this crate.

use crate::body::Body;
use crate::implicit::Problem;
use glam::{DMat3, DVec3};

/// A force on a node that answers to its motion within the step: f − S (x − x₀) − D u, where x₀ is the node's position at the start
/// of the step and u its velocity. Implicit, so that it may be as stiff as it likes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reaction {
    /// Number of the node.
    pub node: u32,
    /// f: the force on the node where it stands, at rest \[N\].
    pub force: DVec3,
    /// S: how fast it falls as the node moves \[N/m\], symmetric and not negative.
    pub stiffness: DMat3,
    /// D: how fast it falls with the node's velocity \[N·s/m\], symmetric and not negative.
    pub damping: DMat3,
}

impl Reaction {
    /// τ S + D; statics have no velocity that D could answer to.
    fn resistance(&self, problem: &Problem) -> DMat3 {
        self.stiffness * problem.tau + self.damping * problem.momentum[0]
    }

    /// Its part of the matrix: τ² S + τ D.
    pub(crate) fn factor(&self, problem: &Problem) -> DMat3 {
        self.resistance(problem) * problem.tau
    }

    /// The force at a velocity.
    pub(crate) fn force_at(&self, problem: &Problem, velocity: DVec3) -> DVec3 {
        self.force - self.resistance(problem) * velocity
    }

    /// Its part of the function that an implicit step minimises \[J\].
    pub(crate) fn potential(&self, problem: &Problem, velocity: DVec3) -> f64 {
        -problem.tau * velocity.dot(self.force - self.resistance(problem) * velocity * 0.5)
    }
}

impl Body {
    /// Adds a reaction. It acts in every step until forces are [cleared](Self::clear_forces); one on a node that does not exist
    /// is ignored.
    pub fn add_reaction(&mut self, reaction: Reaction) {
        if (reaction.node as usize) < self.state.mesh.nodes() {
            self.reactions.push(reaction);
        }
    }

    /// The forces \[N\] that the reactions had in the last step, in the order in which they were added: what the other side
    /// has to feel with the opposite sign.
    pub fn reaction_forces(&self) -> impl Iterator<Item = DVec3> {
        let work = &self.work;
        self.reactions.iter().map(|reaction| reaction.force_at(&work.problem, work.unknown[reaction.node as usize]))
    }
}
