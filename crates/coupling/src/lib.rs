//! Pairs of solvers: one file each. A pair never integrates; it carries surfaces one way and forces the other, equal and opposite.
//!
//! | pair | moves |
//! |---|---|
//! | [`liquid_fem`], [`liquid_rigid`], [`liquid_skin`] | surfaces and compliances to the liquid, forces on nodes back: [`exchange`] |
//! | [`liquid_springs`] | springs between particles of bodies and of the liquid, or a projection that moves them apart |
//! | [`liquid_elastic`], [`liquid_porous`] | elastic solids of particles stand among the liquid's, forces back |
//! | [`liquid_particles`] | particles of bodies join the liquid for its step |
//! | [`fem_rigid`], [`elastic_rigid`] | rigid bodies as obstacles with inertia, what they felt back |
//!
//! The contract of all of them is in `tests/contract.rs`: action and reaction, rest, work, invariance, nothing for nobody, threads.

pub mod elastic_rigid;
pub mod exchange;
pub mod fem_rigid;
pub mod liquid_elastic;
pub mod liquid_fem;
pub mod liquid_particles;
pub mod liquid_porous;
pub mod liquid_rigid;
pub mod liquid_skin;
pub mod liquid_springs;

pub use exchange::Wetted;
