//! Loops over elements: rotations, forces, stiffness, energy. One body of each loop serves both kinds of element.
//!
//! Elements write to slots of their own; nodes then gather from their elements in a fixed order.

use crate::element::Element;
use crate::linear::{Matrix, ROWS};
use crate::model::Energy;
use crate::rotation::polar;
use crate::symmetric::{Six, from_six};
use crate::tangent::{Law, Point, Tangent, Warped};
use crate::topology::{Incident, Topology};
use glam::{DMat3, DQuat, DVec3};
use meniscus_core::par;
use rayon::prelude::*;

/// Elements per task.
const TASK: usize = 128;

/// The elements of a body in some position.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    /// Nodes, 4 or 10 per element.
    pub(crate) nodes: &'a [u32],
    /// What follows from the mesh.
    pub(crate) topology: &'a Topology,
    /// Plastic strain per point; empty without plasticity.
    pub(crate) plastic_strain: &'a [Six],
    /// Positions of the nodes \[m\].
    pub(crate) position: &'a [DVec3],
}

impl Elements<'_> {
    /// Gradients of the corners at a point \[1/m\]: of the shape to which the material has flowed, if it has.
    #[inline(always)]
    fn corner_gradients(&self, element: usize, point: usize) -> [DVec3; 4] {
        let g = self.topology.gradients[element];
        match self.plastic_strain.get(point) {
            None => g,
            Some(&strain) => {
                let inverse = (DMat3::IDENTITY + from_six(strain)).inverse();
                g.map(|g| inverse * g)
            }
        }
    }

    /// F = Σ xₐ ⊗ ∇Nₐ, from differences to the first node: exact also far from the origin.
    #[inline(always)]
    fn deformation<const N: usize>(&self, element: usize, gradients: &[DVec3; N]) -> DMat3 {
        let nodes = &self.nodes[element * N..(element + 1) * N];
        let first = self.position[nodes[0] as usize];
        let mut f = DMat3::ZERO;
        for (&node, g) in nodes.iter().zip(gradients).skip(1) {
            let x = self.position[node as usize] - first;
            f.x_axis += x * g.x;
            f.y_axis += x * g.y;
            f.z_axis += x * g.z;
        }
        f
    }

    /// Calls `each` with the deformation gradient of every point, its shape gradients and those of the corners.
    #[inline(always)]
    pub(crate) fn at_points<E: Element<N>, const N: usize>(
        &self,
        element: usize,
        mut each: impl FnMut(usize, DMat3, &[DVec3; N], &[DVec3; 4]),
    ) {
        for q in 0..E::POINTS {
            let corners = self.corner_gradients(element, element * E::POINTS + q);
            let gradients = E::gradients(q, &corners);
            each(q, self.deformation(element, &gradients), &gradients, &corners);
        }
    }
}

/// What elements do where they are.
pub(crate) struct Acting<'a, T> {
    /// Forces on their nodes \[N\].
    pub(crate) force: &'a mut [DVec3],
    /// Elastic energies \[J\].
    pub(crate) energy: &'a mut [f64],
    /// Stiffness of their points.
    pub(crate) tangent: &'a mut [T],
}

/// Turns every point's rotation to its deformation, and writes each element's forces, energy and stiffness.
pub(crate) fn turn<E: Element<N>, const N: usize>(
    elements: &Elements<'_>,
    law: &Law,
    rotation: &mut [DQuat],
    acting: Acting<'_, impl Tangent>,
) {
    let points = E::POINTS;
    let tasks = rotation.par_chunks_mut(TASK * points).zip(acting.force.par_chunks_mut(TASK * N));
    let tasks = tasks.zip(acting.energy.par_chunks_mut(TASK)).zip(acting.tangent.par_chunks_mut(TASK * points));
    tasks.enumerate().for_each(|(task, (((rotation, force), energy), tangent))| {
        let element_wise = rotation.chunks_mut(points).zip(force.chunks_mut(N)).zip(energy);
        for (k, (((rotation, force), energy), tangent)) in element_wise.zip(tangent.chunks_mut(points)).enumerate() {
            let element = task * TASK + k;
            let volume = elements.topology.volume[element] / points as f64;
            force.fill(DVec3::ZERO);
            *energy = 0.0;
            elements.at_points::<E, N>(element, |q, f, gradients, corners| {
                rotation[q] = polar(&f, rotation[q]);
                let r = DMat3::from_quat(rotation[q]);
                // fₐ = −V P ∇Nₐ; the first node takes what the others leave, so that the sum vanishes.
                let stress = law.elastic.stress(&f, &r) * volume;
                for (force, g) in force.iter_mut().zip(gradients).skip(1) {
                    *force -= stress * *g;
                }
                *energy += volume * law.elastic.density(&f, &r);
                tangent[q] = Tangent::new(law, &Point { f, r, g: corners, volume });
            });
            force[0] = -force[1..].iter().sum::<DVec3>();
        }
    });
}

/// The stiffness of the body at rest.
pub(crate) fn rest_tangents(topology: &Topology, law: &Law, points: usize, tangent: &mut [Warped]) {
    tangent.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(at, tangent)| {
        let element = at / points;
        let volume = topology.volume[element] / points as f64;
        let point = Point { f: DMat3::IDENTITY, r: DMat3::IDENTITY, g: &topology.gradients[element], volume };
        *tangent = Tangent::new(law, &point);
    });
}

/// Gathers the matrix a M + c K; c is in the tangents already.
pub(crate) fn gather_matrix<E: Element<N>, const N: usize>(
    topology: &Topology,
    law: &Law,
    tangent: &[impl Tangent],
    inertia: f64,
    matrix: &mut Matrix<DMat3>,
) {
    matrix.pieces.par_iter_mut().zip(&topology.slots).enumerate().for_each(|(number, (piece, slots))| {
        piece.values.fill(DMat3::ZERO);
        let mut slots = slots.chunks_exact(N);
        for k in 0..piece.start.len() - 1 {
            let node = number * ROWS + k;
            let (from, to) = (piece.start[k] as usize, piece.start[k + 1] as usize);
            let row = &mut piece.values[from..to];
            for (&Incident { element, node }, slots) in topology.incidence.of(node).iter().zip(&mut slots) {
                let mut blocks = [DMat3::ZERO; N];
                let tangents = &tangent[element as usize * E::POINTS..][..E::POINTS];
                for (q, tangent) in tangents.iter().enumerate() {
                    tangent.add_row::<E, N>(law, q, node as usize, &mut blocks);
                }
                slots.iter().zip(blocks).for_each(|(&slot, block)| row[usize::from(slot)] += block);
            }
            let own = piece.columns[from..to].binary_search(&(node as u32)).unwrap_or(0);
            row[own] += DMat3::from_diagonal(DVec3::splat(inertia * topology.mass[node]));
        }
    });
}

/// Gathers the elements' forces on the nodes \[N\].
pub(crate) fn gather_force(topology: &Topology, nodes_per_element: usize, by_element: &[DVec3], force: &mut [DVec3]) {
    force.par_iter_mut().with_min_len(TASK).enumerate().for_each(|(node, force)| {
        let at = |i: &Incident| by_element[i.element as usize * nodes_per_element + i.node as usize];
        *force = topology.incidence.of(node).iter().map(at).sum();
    });
}

/// The rotation of a node: the mean of those of its elements.
pub(crate) fn node_rotation(topology: &Topology, points: usize, rotation: &[DQuat], node: usize) -> DQuat {
    let of_element = |i: &Incident| &rotation[i.element as usize * points..][..points];
    let mut quaternions = topology.incidence.of(node).iter().flat_map(of_element);
    let Some(&first) = quaternions.next() else { return DQuat::IDENTITY };
    let sum = quaternions.fold(first, |sum, &q| if first.dot(q) < 0.0 { sum - q } else { sum + q });
    if sum.length_squared() > 1e-12 { sum.normalize() } else { first }
}

/// The elastic energy \[J\].
pub(crate) fn energy<E: Element<N>, const N: usize>(elements: &Elements<'_>, law: &Law, rotation: &[DQuat]) -> f64 {
    par::sum(elements.topology.volume.len(), |element| {
        let volume = elements.topology.volume[element] / E::POINTS as f64;
        let mut energy = 0.0;
        elements.at_points::<E, N>(element, |q, f, _, _| {
            let r = DMat3::from_quat(polar(&f, rotation[element * E::POINTS + q]));
            energy += volume * law.elastic.density(&f, &r);
        });
        energy
    })
}
