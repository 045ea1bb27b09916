//! A tube of tetrahedra full of blood: at one end a rigid plane, at the other a rigid sleeve in which a piston slides.

use super::{fill, pipe, rings};
use crate::worlds::world_with;
use glam::DVec3;
use meniscus::geometry::{TetMesh, TriangleMesh, Tube, write_ply};
use meniscus::sim::World;
use std::f64::consts::PI;

/// Inner and outer radius of the tube \[m\].
pub(super) const RADII: [f64; 2] = [5e-3, 6e-3];
/// Length of a spring whose pull does not change when the piston moves \[m\].
const FAR: f64 = 1000.0;

/// What differs from case to case.
pub(super) struct Press {
    /// Particles from the axis to the wall.
    pub(super) rings: u32,
    /// Layers of particles in the tube and in the sleeve.
    pub(super) layers: [u32; 2],
    /// Cells through the wall of the tube, around and along it.
    pub(super) cells: [u32; 3],
    /// Longest step \[s\].
    pub(super) step: f64,
    /// Speed to be expected \[m/s\].
    pub(super) speed: f64,
    /// Keys of the tube: its matter and how it is held.
    pub(super) tube: String,
    /// Pulls and probes.
    pub(super) more: String,
}

/// A force on the piston \[N\] as a table of the scene.
pub(super) struct Force {
    pub(super) name: &'static str,
    /// Pressure on the blood \[Pa\].
    pub(super) pressure: f64,
    /// When it acts \[s\].
    pub(super) from: f64,
    pub(super) until: f64,
    /// Whether it grows to its value over that time; else it is there at once.
    pub(super) grows: bool,
    /// Damping of the piston meanwhile \[N·s/m\].
    pub(super) damping: f64,
}

impl Force {
    pub(super) fn table(&self) -> String {
        let Self { name, from, until, damping, .. } = self;
        let start = if self.grows { "{ time = 0 }, " } else { "" };
        let end = if self.grows { until - from } else { 0.0 };
        // A spring so long that its force stays as it is.
        format!(
            "[pull.{name}]\nbody = \"piston\"\nat = {{ point = [-1, 0, 0] }}\nstiffness = {stiffness:?}\ndamping = {damping:?}\n\
             from = {from:?}\nuntil = {until:?}\nmotion = {{ keys = [{start}{{ time = {end:?}, position = [{FAR:?}, 0, 0] }}] }}\n",
            stiffness = self.pressure * section(RADII[0]) / FAR,
        )
    }
}

/// Area of a circle \[m²\].
pub(super) fn section(radius: f64) -> f64 {
    PI * radius * radius
}

impl Press {
    /// Distance between particles \[m\].
    pub(super) fn spacing(&self) -> f64 {
        RADII[0] / f64::from(self.rings)
    }

    /// Length of the tube, from x = 0 \[m\].
    pub(super) fn length(&self) -> f64 {
        self.spacing() * f64::from(self.layers[0])
    }

    pub(super) fn world(&self, case: &str) -> Result<World, String> {
        let (spacing, length) = (self.spacing(), self.length());
        let before = -spacing * f64::from(self.layers[1]);
        let scene = format!(
            "gravity = [0, 0, 0]\n[time]\nmax_dt = {step:?}\n[sph]\nspacing = {spacing:?}\nreference_speed = {speed:?}\neddy_friction = 1\n\
             [contact]\nfriction = 0\nown = false\n\
             [liquid.blood]\ndensity = 1000\nviscosity = 0.003\n{fill}\n\
             [wall.end]\nshape = {{ plane = {{ point = [{length:?}, 0, 0], normal = [-1, 0, 0] }} }}\n\
             [wall.sleeve]\nshape = {{ mesh = {{ surface = {{ file = \"sleeve.ply\" }} }} }}\n\
             [rigid.piston]\nshape = {{ mesh = {{ file = \"piston.ply\" }} }}\nlocked = [\"y\", \"z\", \"rx\", \"ry\", \"rz\"]\n\
             density = 1000\nfriction = 0\n\
             [solid.tube]\nshape = {{ tets = {{ file = \"tube.vtk\" }} }}\n{tube}\n{more}",
            step = self.step,
            speed = self.speed,
            fill = fill(&rings(self.rings, spacing), before, self.layers[0] + self.layers[1], spacing),
            tube = self.tube,
            more = self.more,
        );
        let [through, around, along] = self.cells;
        let tube = |[start, end]: [f64; 2], radii, [through, along]: [u32; 2]| {
            let [start, end] = [start, end].map(|x| DVec3::X * x);
            TetMesh::tube(&Tube { start, end, radii, around, along, through }).map_err(|e| e.to_string())
        };
        let soft = tube([0.0, length], RADII, [through, along])?;
        // They do not touch each other: gaps far narrower than a particle.
        let gap = 0.05 * spacing;
        let rigid = tube([before - 4.0 * spacing, -gap], [RADII[0], 2.0 * RADII[0]], [1, 1])?;
        let sleeve = TriangleMesh::new(rigid.vertices().to_vec(), rigid.surface()).map_err(|e| e.to_string())?;
        let piston = pipe([before - 2.0 * spacing, before], RADII[0] - 2.0 * gap, around);
        let ply = |mesh: &TriangleMesh| {
            let mut bytes = Vec::new();
            write_ply(mesh, &mut bytes).map(|()| bytes)
        };
        world_with(case, &scene, &|name| match name {
            "tube.vtk" => Ok(vtk(&soft).into_bytes()),
            "sleeve.ply" => ply(&sleeve),
            _ => ply(&piston),
        })
    }
}

/// Tetrahedra as a legacy VTK file.
fn vtk(mesh: &TetMesh) -> String {
    let (nodes, tets) = (mesh.vertices(), mesh.tets());
    let lines = |lines: Vec<String>| lines.join("\n");
    format!(
        "# vtk DataFile Version 3.0\ntube\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n{}\nCELLS {count} {}\n{}\n\
         CELL_TYPES {count}\n{}",
        nodes.len(),
        lines(nodes.iter().map(|p| format!("{:?} {:?} {:?}", p.x, p.y, p.z)).collect()),
        5 * tets.len(),
        lines(tets.iter().map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}")).collect()),
        "10\n".repeat(tets.len()),
        count = tets.len(),
    )
}
