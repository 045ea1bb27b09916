//! The pieces that a body has broken into.

use crate::body::{Body, BodyError};
use crate::state::{Mesh, Motion, Spring, State};
use crate::topology::NONE;

/// Elements that count as near another: those around its nodes and some more.
const NEAR_ELEMENTS: usize = 100;

/// Which piece each element belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// Number of the piece of each element.
    pub of_element: Vec<u32>,
    /// How many pieces there are.
    pub count: usize,
}

impl Body {
    /// Elements that hang together through faces, numbered in the order of their first elements.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let neighbours = &self.topology.neighbours;
        let mut of_element = vec![NONE; neighbours.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..neighbours.len() {
            if of_element[start] != NONE {
                continue;
            }
            of_element[start] = count;
            stack.push(start);
            while let Some(element) = stack.pop() {
                for &other in neighbours[element].iter().filter(|&&other| other != NONE) {
                    if of_element[other as usize] == NONE {
                        of_element[other as usize] = count;
                        stack.push(other as usize);
                    }
                }
            }
            count += 1;
        }
        Pieces { of_element, count: count as usize }
    }

    /// Whether two elements hang together through faces of elements near the first: no crack is between them. `visited` is memory
    /// to be used again.
    #[must_use]
    pub fn are_joined(&self, first: u32, second: u32, visited: &mut Vec<u32>) -> bool {
        visited.clear();
        visited.push(first);
        let mut at = 0;
        while at < visited.len().min(NEAR_ELEMENTS) && visited[at] != second {
            for &other in self.topology.neighbours[visited[at] as usize].iter().filter(|&&other| other != NONE) {
                if !visited.contains(&other) {
                    visited.push(other);
                }
            }
            at += 1;
        }
        visited.contains(&second)
    }

    /// Makes every piece a body of its own, named after this one. A body in one piece comes back as it is.
    ///
    /// # Errors
    /// When a piece cannot be a body, which does not happen to pieces of a sound one.
    pub fn into_pieces(self) -> Result<Vec<Self>, BodyError> {
        let pieces = self.pieces();
        if pieces.count <= 1 {
            return Ok(vec![self]);
        }
        (0..pieces.count)
            .map(|number| {
                let name = if number == 0 { self.name.clone() } else { format!("{}-{}", self.name, number + 1) };
                let chosen: Vec<usize> =
                    (0..self.tets()).filter(|&e| pieces.of_element[e] as usize == number).collect();
                let (state, nodes) = part(&self.state, &chosen);
                let mut body = Self::from_state(&name, self.params, self.material, state)?;
                for (force, &old) in body.external_force.iter_mut().zip(&nodes) {
                    *force = self.external_force[old];
                }
                Ok(body)
            })
            .collect()
    }
}

/// The state of some elements, and the old numbers of its nodes.
fn part(state: &State, elements: &[usize]) -> (State, Vec<usize>) {
    let State { mesh, motion } = state;
    let mut number = vec![NONE; mesh.nodes()];
    let mut nodes = Vec::new();
    for &element in elements {
        for &node in mesh.element(element) {
            if number[node as usize] == NONE {
                number[node as usize] = nodes.len() as u32;
                nodes.push(node as usize);
            }
        }
    }
    let points = mesh.order.points();
    let renumbered =
        |element: &usize| mesh.element(*element).iter().map(|&node| number[node as usize]).collect::<Vec<_>>();
    let [last, before] = &motion.velocity_change;
    let state = State {
        mesh: Mesh {
            order: mesh.order,
            rest_position: pick(&mesh.rest_position, &nodes),
            elements: elements.iter().flat_map(renumbered).collect(),
            origin: pick(&mesh.origin, elements),
            fixed: pick(&mesh.fixed, &nodes),
            cracked: pick(&mesh.cracked, &nodes),
        },
        motion: Motion {
            position: pick(&motion.position, &nodes),
            velocity: pick(&motion.velocity, &nodes),
            target: pick(&motion.target, &nodes),
            velocity_change: [pick(last, &nodes), pick(before, &nodes)],
            rotation: pick_points(&motion.rotation, elements, points),
            plastic_strain: pick_points(&motion.plastic_strain, elements, points),
            stress: pick_points(&motion.stress, elements, 1),
            springs: springs(&motion.springs, elements),
            preconditioned_for: 0.0,
        },
    };
    (state, nodes)
}

fn pick<T: Copy>(from: &[T], which: &[usize]) -> Vec<T> {
    which.iter().map(|&k| from[k]).collect()
}

/// Values of the points of some elements; nothing if there are none at all.
fn pick_points<T: Copy>(from: &[T], elements: &[usize], points: usize) -> Vec<T> {
    if from.is_empty() {
        return Vec::new();
    }
    elements.iter().flat_map(|&e| from[e * points..(e + 1) * points].iter().copied()).collect()
}

fn springs(springs: &[Spring], elements: &[usize]) -> Vec<Spring> {
    let moved = |spring: &Spring| {
        let element = elements.binary_search(&(spring.element as usize)).ok()? as u32;
        Some(Spring { element, ..*spring })
    };
    springs.iter().filter_map(moved).collect()
}
