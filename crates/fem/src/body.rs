//! A deformable body: what it is made from, how it is held, what others see of it.

use crate::energy_control::Gain;
use crate::implicit::Problem;
use crate::linear::{Cg, Matrix, Preconditioner};
use crate::model::Elastic;
use crate::params::{Linearisation, Material, Model, Params, ParamsError};
use crate::reaction::Reaction;
use crate::state::{Mesh, Motion, State};
use crate::surface::Surface;
use crate::tangent::{General, Law, Warped};
use crate::topology::{Crowded, Topology};
use glam::{DMat3, DVec3};
use meniscus_geometry::TetMesh;

/// A deformable body in motion.
pub struct Body {
    pub(crate) name: String,
    pub(crate) params: Params,
    pub(crate) material: Material,
    pub(crate) state: State,
    pub(crate) external_force: Vec<DVec3>,
    pub(crate) reactions: Vec<Reaction>,
    pub(crate) surface: Surface,
    pub(crate) topology: Topology,
    pub(crate) work: Workspace,
}

/// Memory that lives from step to step and means nothing between steps.
#[derive(Default)]
pub(crate) struct Workspace {
    /// The coefficients of the step.
    pub(crate) problem: Problem,
    /// The motion before the step, and the mesh if the step broke it.
    pub(crate) before: Motion,
    pub(crate) before_mesh: Option<Mesh>,
    /// Where fixed nodes were held before they were led on \[m\]; empty if they were not.
    pub(crate) prescribed_from: Vec<DVec3>,
    /// a M + c K and springs.
    pub(crate) matrix: Matrix<DMat3>,
    pub(crate) preconditioner: Option<Preconditioner>,
    /// Memory of what is lent.
    pub(crate) compliance_memory: crate::compliance::Memory,
    /// What contact adds to the diagonal of the matrix, for the preconditioner of this step.
    pub(crate) contact_diagonal: Vec<(u32, DMat3)>,
    pub(crate) cg: Cg,
    /// Stiffness of the points, in one of two forms.
    pub(crate) warped: Vec<Warped>,
    pub(crate) general: Vec<General>,
    /// Forces of the elements on their nodes \[N\].
    pub(crate) element_force: Vec<DVec3>,
    /// Elastic energies of the elements \[J\].
    pub(crate) element_energy: Vec<f64>,
    /// Energy of elements and springs where the step begins \[J\].
    pub(crate) energy_before: f64,
    /// What the step has gained of it.
    pub(crate) gain: Gain,
    /// Forces of elements and springs on the nodes \[N\].
    pub(crate) force: Vec<DVec3>,
    /// Gravity and external forces \[N\].
    pub(crate) load: Vec<DVec3>,
    /// Where the step is linearised \[m\].
    pub(crate) position: Vec<DVec3>,
    /// The velocity sought \[m/s\], or the displacement \[m\] of a quasi-static solve.
    pub(crate) unknown: Vec<DVec3>,
    /// Its change in a Newton iteration.
    pub(crate) change: Vec<DVec3>,
    /// The part of the change that is solved for.
    pub(crate) correction: Vec<DVec3>,
    /// What is out of balance.
    pub(crate) imbalance: Vec<DVec3>,
    /// Stiffness times the unknown and times its change.
    pub(crate) product: [Vec<DVec3>; 2],
    /// δᵀK u and δᵀK δ, if there is damping that needs them.
    pub(crate) damping_along: [f64; 2],
}

/// Why there is no body.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BodyError {
    /// A parameter is out of range.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// A node belongs to too many elements.
    #[error("node {node} has {neighbours} neighbours; at most 65535 are possible")]
    Crowded {
        /// Number of the node.
        node: usize,
        /// Number of nodes that share an element with it.
        neighbours: usize,
    },
    /// A state does not belong to such a body.
    #[error("the state is damaged or belongs to another kind of body")]
    Unsound,
}

impl From<Crowded> for BodyError {
    fn from(Crowded { node, neighbours }: Crowded) -> Self {
        Self::Crowded { node, neighbours }
    }
}

impl Body {
    /// A body at rest in the shape of a mesh. Nodes have the numbers of the mesh's vertices; quadratic elements append more.
    ///
    /// # Errors
    /// Parameters out of range; a mesh with a node of very many elements.
    pub fn new(name: &str, mesh: &TetMesh, params: Params, material: Material) -> Result<Self, BodyError> {
        let mesh = Mesh::new(mesh, params.order);
        let state = State::at_rest(mesh, material.plasticity.is_some(), material.fracture.is_some());
        Self::from_state(name, params, material, state)
    }

    /// A body in some state.
    ///
    /// # Errors
    /// Parameters out of range; a state that does not fit them.
    pub fn from_state(name: &str, params: Params, material: Material, state: State) -> Result<Self, BodyError> {
        params.check()?;
        material.check()?;
        let points = state.mesh.element_count() * params.order.points();
        let remembers = |wanted: bool, length: usize, full: usize| length == if wanted { full } else { 0 };
        let fits = state.is_sound()
            && state.mesh.order == params.order
            && remembers(material.plasticity.is_some(), state.motion.plastic_strain.len(), points)
            && remembers(material.fracture.is_some(), state.motion.stress.len(), state.mesh.element_count());
        if !fits {
            return Err(BodyError::Unsound);
        }
        let (topology, matrix) = Topology::new(&state.mesh, material.density)?;
        let surface = Surface::new(&state.mesh, &topology.neighbours);
        let external_force = vec![DVec3::ZERO; state.mesh.nodes()];
        let work = Workspace { matrix, ..Workspace::default() };
        let name = name.to_owned();
        let mut body =
            Self { name, params, material, state, external_force, reactions: Vec::new(), surface, topology, work };
        body.make_room();
        Ok(body)
    }

    /// Takes over a state of the same kind of body, as saved in a checkpoint.
    ///
    /// # Errors
    /// When the state does not fit; the body is then unchanged.
    pub fn restore(&mut self, state: State) -> Result<(), BodyError> {
        *self = Self::from_state(&self.name, self.params, self.material, state)?;
        Ok(())
    }

    /// Sizes the workspace for the mesh.
    pub(crate) fn make_room(&mut self) {
        let (nodes, elements) = (self.state.mesh.nodes(), self.state.mesh.element_count());
        let order = self.params.order;
        let work = &mut self.work;
        let [a, b] = &mut work.product;
        for array in [&mut work.force, &mut work.load, &mut work.position, &mut work.unknown, &mut work.change, a, b] {
            array.resize(nodes, DVec3::ZERO);
        }
        work.correction.resize(nodes, DVec3::ZERO);
        work.imbalance.resize(nodes, DVec3::ZERO);
        self.external_force.resize(nodes, DVec3::ZERO);
        work.element_force.resize(elements * order.nodes(), DVec3::ZERO);
        work.element_energy.resize(elements, 0.0);
        work.cg.resize(nodes);
        self.choose_tangent(self.uses_warped());
    }

    /// Keeps room for one form of stiffness only.
    pub(crate) fn choose_tangent(&mut self, warped: bool) {
        let points = self.state.motion.rotation.len();
        self.work.warped.resize_with(if warped { points } else { 0 }, Warped::default);
        self.work.general.resize_with(if warped { 0 } else { points }, General::default);
    }

    pub(crate) fn uses_warped(&self) -> bool {
        self.material.model == Model::Corotational && self.params.linearisation == Linearisation::Warped
    }

    /// The name, as in reports and errors.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it is discretised and moved.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What it is made of.
    #[must_use]
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Changes stiffness, density, damping, yield and strength between steps. The model, and whether it yields or breaks at all,
    /// stay as they are; so do velocities.
    ///
    /// # Errors
    /// Parameters out of range; the body is then unchanged.
    pub fn set_material(&mut self, material: Material) -> Result<(), BodyError> {
        material.check()?;
        let old = self.material;
        self.material = Material {
            model: old.model,
            plasticity: old.plasticity.and(material.plasticity.or(old.plasticity)),
            fracture: old.fracture.and(material.fracture.or(old.fracture)),
            ..material
        };
        self.topology.weigh(&self.state.mesh, self.material.density);
        self.forget_preconditioner();
        Ok(())
    }

    /// The state, as a checkpoint holds it.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Positions of the nodes \[m\].
    #[must_use]
    pub fn positions(&self) -> &[DVec3] {
        &self.state.motion.position
    }

    /// Velocities of the nodes \[m/s\].
    #[must_use]
    pub fn velocities(&self) -> &[DVec3] {
        &self.state.motion.velocity
    }

    /// Positions and velocities, to place, throw or scramble the body between steps.
    pub fn motion_mut(&mut self) -> (&mut [DVec3], &mut [DVec3]) {
        (&mut self.state.motion.position, &mut self.state.motion.velocity)
    }

    /// Places of the nodes at rest \[m\].
    #[must_use]
    pub fn rest_positions(&self) -> &[DVec3] {
        &self.state.mesh.rest_position
    }

    /// The surface, in numbers of nodes.
    #[must_use]
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Masses of the nodes \[kg\].
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.topology.mass
    }

    /// How easily a node moves \[1/kg\]: zero if it is held altogether, else one over its mass.
    #[must_use]
    pub fn inverse_mass(&self, node: usize) -> f64 {
        match (self.state.mesh.fixed.get(node), self.topology.mass.get(node)) {
            (Some(fixed), Some(&mass)) if !fixed.all() => 1.0 / mass,
            _ => 0.0,
        }
    }

    /// Number of tetrahedra.
    #[must_use]
    pub fn tets(&self) -> usize {
        self.state.mesh.element_count()
    }

    /// Forces on the nodes \[N\] from outside. They act in every step until they are changed or [cleared](Self::clear_forces).
    pub fn external_force_mut(&mut self) -> &mut [DVec3] {
        &mut self.external_force
    }

    /// Sets the forces from outside to zero and forgets the reactions.
    pub fn clear_forces(&mut self) {
        self.reactions.clear();
        self.external_force.fill(DVec3::ZERO);
    }

    /// What all points share; `stiffness` is the factor c of a M + c K.
    pub(crate) fn law(&self, stiffness: f64, project: bool) -> Law {
        Law { elastic: Elastic::new(&self.material), lame: self.material.lame(), stiffness, project }
    }

    /// The preconditioner has to be built anew before the next solve.
    pub(crate) fn forget_preconditioner(&mut self) {
        self.state.motion.preconditioned_for = 0.0;
        self.work.preconditioner = None;
    }
}
