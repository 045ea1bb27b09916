//! Joints, and the pose that their turns make.

use glam::{DQuat, DVec3};

/// A joint at rest: all of them unturned, so that turns are about the axes of the body at rest.
#[derive(Debug, Clone)]
pub(crate) struct Joint {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    /// Where it is \[m\].
    pub(crate) position: DVec3,
    /// Where its bone ends \[m\]: what hangs on it is near this segment.
    pub(crate) end: DVec3,
}

/// Joints, parents before children.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skeleton {
    pub(crate) joints: Vec<Joint>,
}

/// How a skeleton stands: each joint's turn, and where the first one is \[m\].
#[derive(Debug, Clone)]
pub(crate) struct Stance {
    pub(crate) root: DVec3,
    pub(crate) turns: Vec<DQuat>,
}

impl Skeleton {
    /// Adds a joint and returns its number.
    pub(crate) fn add(&mut self, name: &str, parent: Option<usize>, [position, end]: [DVec3; 2]) -> usize {
        self.joints.push(Joint { name: name.into(), parent, position, end });
        self.joints.len() - 1
    }

    pub(crate) fn find(&self, name: &str) -> usize {
        self.joints.iter().position(|joint| joint.name == name).unwrap_or_default()
    }

    /// At rest.
    pub(crate) fn rest(&self) -> Stance {
        Stance { root: self.joints[0].position, turns: vec![DQuat::IDENTITY; self.joints.len()] }
    }
}
