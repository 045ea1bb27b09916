//! Fracture: where a body breaks.
//!
//! \[MG04 sec. 3.4\], after Rankine: an element whose largest principal stress exceeds the strength cracks at one of its
//! corners, along the plane through the corner across the tension there. Elements around the corner part to both sides of
//! the plane ([`crate::node_split`]). So that a body tears and does not shatter, stress is smoothed in time, only so many nodes
//! split in a step, at most one of them away from older cracks, and no piece is smaller than some elements.

use crate::assembly::Elements;
use crate::body::Body;
use crate::element::{Element, with_element};
use crate::model::Energy;
use crate::node_split::Cutter;
use crate::rotation::polar;
use crate::symmetric::{Six, from_six, largest, to_six};
use crate::tangent::Law;
use crate::topology::Topology;
use glam::{DMat3, DQuat, DVec3};
use meniscus_core::par;
use rayon::prelude::*;

impl Body {
    /// 11. Stress of the elements in their own frames, RᵀP, drawn towards the present one.
    pub(crate) fn smooth_stress(&mut self, dt: f64) {
        let Some(fracture) = self.material.fracture else { return };
        let law = self.law(1.0, false);
        let part = dt / (dt + fracture.smoothing);
        let motion = &mut self.state.motion;
        let elements = Elements {
            nodes: &self.state.mesh.elements,
            topology: &self.topology,
            plastic_strain: &motion.plastic_strain,
            position: &motion.position,
        };
        let (rotation, stress) = (&motion.rotation, &mut motion.stress);
        with_element!(self.params.order, smooth_elements(&elements, &law, part, rotation, stress));
    }

    /// 12. Splits nodes where the tension is too large. Returns how many.
    pub(crate) fn fracture(&mut self) -> u32 {
        let Some(fracture) = self.material.fracture else { return 0 };
        let weakest = self.overstressed(fracture.strength);
        if weakest.is_empty() {
            return 0;
        }
        let mut cutter = Cutter::new(&mut self.state, &self.topology, fracture.min_piece as usize);
        let points = self.params.order.points();
        let mut started = false;
        for (_, element) in weakest {
            if cutter.cracks() == fracture.max_cracks {
                break;
            }
            let mut corners = cutter.corners(element).map(|node| {
                let (tension, normal) = cutter.tension(&self.topology, points, node);
                (tension, node, normal)
            });
            corners.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let split = corners
                .iter()
                .find(|(_, node, normal)| (cutter.is_cracked(*node) || !started) && cutter.split(*node, *normal));
            started |= split.is_some();
        }
        let cracks = cutter.cracks();
        if let Some(cut) = cutter.finish() {
            self.work.before_mesh = Some(cut.before);
            self.topology.neighbours = cut.neighbours;
            self.topology.follow(&self.state.mesh, self.material.density, &cut.touched, &mut self.work.matrix);
            self.surface.follow(&self.state.mesh, &cut.opened);
            self.make_room();
            self.forget_preconditioner();
        }
        cracks
    }

    /// Elements beyond their strength \[Pa\], the worst first.
    fn overstressed(&self, strength: f64) -> Vec<(f64, u32)> {
        let stress = &self.state.motion.stress;
        let tension = |element: usize| largest(&from_six(stress[element])).0;
        // Mostly there are none, and nothing to be collected.
        if par::max(stress.len(), strength, tension) <= strength {
            return Vec::new();
        }
        let beyond = |element: usize| (tension(element), element as u32);
        let mut weakest: Vec<(f64, u32)> = (0..stress.len()).map(beyond).filter(|(t, _)| *t > strength).collect();
        weakest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        weakest
    }

    /// Builds everything that follows from the mesh anew.
    pub(crate) fn rebuild(&mut self) {
        // The mesh had a topology before, so that no row can be crowded.
        if let Ok((topology, matrix)) = Topology::new(&self.state.mesh, self.material.density) {
            (self.topology, self.work.matrix) = (topology, matrix);
        }
        self.surface = crate::surface::Surface::new(&self.state.mesh, &self.topology.neighbours);
        self.external_force.truncate(self.state.mesh.nodes());
        self.make_room();
        self.work.preconditioner = None;
    }
}

fn smooth_elements<E: Element<N>, const N: usize>(
    elements: &Elements<'_>,
    law: &Law,
    part: f64,
    rotation: &[DQuat],
    stress: &mut [Six],
) {
    stress.par_iter_mut().with_min_len(64).enumerate().for_each(|(element, stress)| {
        let mut now = DMat3::ZERO;
        elements.at_points::<E, N>(element, |q, f, _, _| {
            let r = DMat3::from_quat(polar(&f, rotation[element * E::POINTS + q]));
            now += r.transpose() * law.elastic.stress(&f, &r) * (1.0 / E::POINTS as f64);
        });
        for (stress, now) in stress.iter_mut().zip(to_six(&now)) {
            *stress += part * (now - *stress);
        }
    });
}

/// The stress around a node in the world \[Pa\]: the mean over its elements by volume; its largest value and direction.
pub(crate) fn node_tension(
    topology: &Topology,
    elements: impl Iterator<Item = usize>,
    frame: impl Fn(usize) -> DQuat,
    stress: &[Six],
) -> (f64, DVec3) {
    let (mut sum, mut volume) = (DMat3::ZERO, 0.0);
    for element in elements {
        let r = DMat3::from_quat(frame(element));
        sum += r * from_six(stress[element]) * r.transpose() * topology.volume[element];
        volume += topology.volume[element];
    }
    largest(&(sum * (1.0 / volume.max(f64::MIN_POSITIVE))))
}
