//! Air and water on the grid of a world, and what is drawn of the solids in them.

use crate::build::Shown;
use crate::part::{Fields, Part, Totals, fits, take};
use crate::probes::upright;
use glam::{DVec3, Vec3};
use meniscus_boundary::{Motion, Pose};
use meniscus_core::{BodyInfo, Digest, Frame, Surface, Wire};
use meniscus_scene::live::LiveKey;
use meniscus_scene::{FlowPlane, Poke, Probe};
use meniscus_twophase::{Flow, State};

/// A flow of two fluids.
pub(crate) struct GridPart {
    pub(crate) flow: Flow,
    /// Liquid at the start \[m³\].
    pub(crate) volume_at_start: f64,
    /// Step in which what falls through the whole height crosses as many cells as it may \[s\].
    pub(crate) fastest_step: f64,
    /// The liquid, then walls.
    pub(crate) bodies: Vec<BodyInfo>,
    /// Walls as they are drawn, where they are at the start.
    pub(crate) wires: Vec<Wire>,
    pub(crate) walls: Vec<Surface>,
    pub(crate) animated: Vec<Shown>,
    /// How each body moves: those of the walls.
    pub(crate) motions: Vec<Motion>,
    /// How the box of the grid moves, which then is the frame of everything that the flow knows.
    pub(crate) frame: Option<Motion>,
}

impl Part for GridPart {
    fn save(&self, bytes: Vec<u8>) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_extend(self.flow.state(), bytes)
    }

    fn load(&mut self, bytes: &mut &[u8]) -> Result<(), postcard::Error> {
        let state: State = take(bytes)?;
        fits(self.flow.restore(state))
    }

    fn digest(&self, mut digest: Digest) -> Digest {
        let State { volume_fraction, signed_distance, velocity: [u, v, w], capacity, pressure, .. } = self.flow.state();
        for field in [volume_fraction, signed_distance, u, v, w, capacity, pressure] {
            field.iter().for_each(|value| digest.bytes(&value.to_le_bytes()));
        }
        digest.f64(self.flow.state().liquid_cells)
    }

    fn show(&self, frame: &mut Frame) {
        frame.bodies.extend(self.bodies.iter().cloned());
        frame.wires.extend(self.wires.iter().map(|wire| self.moved_wire(wire)));
        frame.surfaces.extend(self.walls.iter().map(|wall| self.moved_wall(wall)));
        let surface = self.flow.surface();
        let shift = self.frame_shift();
        let time = self.flow.state().time;
        frame.surfaces.extend(self.animated.iter().map(|shown| shown.at(time, shift)));
        frame.surfaces.push(Surface {
            body: 0,
            positions: surface.positions.iter().map(|x| (x + shift).as_vec3()).collect(),
            velocities: surface.velocities.iter().map(|v| v.as_vec3()).collect(),
            pressures: surface.pressures.iter().map(|p| *p as f32).collect(),
            triangles: surface.triangles,
        });
    }

    fn moved_in(&self) -> &'static str {
        "correct velocity"
    }

    fn add_totals(&self, _: DVec3, totals: &mut Totals) {
        let energy = self.flow.energy();
        let volume = self.flow.liquid_volume();
        totals.cells += self.flow.grid().cell_count() as u64;
        totals.kinetic_energy += energy.kinetic;
        totals.potential_energy += energy.potential;
        totals.surface_energy += energy.surface;
        totals.mass += self.flow.setup().params.liquid.density * volume;
        totals.volume_change = if self.volume_at_start > 0.0 { volume / self.volume_at_start - 1.0 } else { 0.0 };
        totals.max_speed = totals.max_speed.max(self.flow.max_speed());
        totals.momentum += self.flow.momentum();
    }

    fn columns(&self) -> Vec<String> {
        ["liquid volume [m3]", "surface energy [J]", "bubbles", "bubble volume [m3]"].map(str::to_owned).into()
    }

    fn measure(&self, values: &mut Vec<f64>) {
        let bubbles = self.flow.bubbles();
        let surface = self.flow.energy().surface;
        values.extend([self.flow.liquid_volume(), surface, bubbles.count as f64, bubbles.volume]);
    }

    fn read(&self, probe: &Probe, gravity: DVec3, values: &mut Vec<f64>) -> bool {
        match probe {
            Probe::Point(point) => {
                let (velocity, density, pressure) = self.flow.at(DVec3::from_array(*point));
                values.extend(velocity.to_array());
                values.extend([density, pressure]);
            }
            Probe::Plane(plane) => values.extend(self.through_plane(plane)),
            Probe::Gauge(point) => values.push(self.flow.gauge(upright(gravity), DVec3::from_array(*point))),
            Probe::Solid(_) => return false,
        }
        true
    }

    fn set(&mut self, key: &LiveKey, value: &[f64]) {
        match (key, value) {
            (LiveKey::Gravity, &[x, y, z]) => self.flow.set_gravity(DVec3::new(x, y, z)),
            (LiveKey::LiquidViscosity(_), &[value]) => self.flow.set_liquid_viscosity(value),
            (LiveKey::LiquidDensity(_), &[value]) => self.flow.set_liquid_density(value),
            (LiveKey::LiquidTension(_), &[value]) => self.flow.set_surface_tension(value),
            _ => {}
        }
    }

    fn poke(&mut self, poke: &Poke) {
        let (center, velocity) = (DVec3::from_array(poke.center), DVec3::from_array(poke.velocity));
        self.flow.add_velocity(|x| {
            let q = x.distance(center) / poke.radius;
            if q < 1.0 { velocity * ((1.0 - q * q) * (1.0 - q * q)) } else { DVec3::ZERO }
        });
    }

    fn fields(&self) -> Option<Fields> {
        let (grid, state) = (self.flow.grid(), self.flow.state());
        let inside = || (0..grid.len()).filter(|&p| grid.contains(p));
        let scalar = |field: &[f64]| inside().map(|p| field[p] as f32).collect();
        Some(Fields {
            cells: grid.cells().map(|n| n as u32),
            origin: grid.domain().min.to_array(),
            spacing: grid.spacing(),
            scalars: vec![
                ("volume fraction", scalar(&state.volume_fraction)),
                ("signed distance [m]", scalar(&state.signed_distance)),
                ("live pressure [Pa]", scalar(&state.pressure)),
            ],
            vectors: vec![("velocity [m/s]", inside().map(|p| self.flow.cell_velocity(p).as_vec3()).collect())],
        })
    }
}

impl GridPart {
    /// Mean acceleration of the box over the time in which a step from `time` pushes the fluids \[m/s²\]: velocities live half a step ahead. Added up
    /// over steps of one length, these are the changes of the box's velocity, exactly.
    pub(crate) fn acceleration(&self, time: f64, dt: f64) -> DVec3 {
        let Some(motion) = &self.frame else { return DVec3::ZERO };
        let [before, now, after] = [0.0, 1.0, 2.0].map(|k| motion.pose(time + k * dt).translation);
        (after - 2.0 * now + before) / (dt * dt)
    }

    /// How far the box has moved \[m\].
    fn frame_shift(&self) -> DVec3 {
        self.frame.as_ref().map_or(DVec3::ZERO, |motion| motion.pose(self.flow.state().time).translation)
    }

    /// Where the body of a wall is; those that are not the box move in its frame.
    fn pose(&self, body: u16, time: f64) -> Pose {
        self.motions.get(usize::from(body)).unwrap_or(&Motion::Still).pose(time)
    }

    fn moved_wire(&self, wire: &Wire) -> Wire {
        let pose = self.pose(wire.body, self.flow.state().time);
        let end = |x: Vec3| pose.apply(x.as_dvec3()).as_vec3();
        Wire { body: wire.body, segments: wire.segments.iter().map(|ends| ends.map(end)).collect() }
    }

    fn moved_wall(&self, wall: &Surface) -> Surface {
        /// Velocities are differences over this time \[s\].
        const INSTANT: f64 = 1e-4;
        let time = self.flow.state().time;
        let [before, now, after] = [time - INSTANT, time, time + INSTANT].map(|time| self.pose(wall.body, time));
        let at = |pose: &Pose| wall.positions.iter().map(|x| pose.apply(x.as_dvec3())).collect::<Vec<_>>();
        let velocities =
            at(&after).iter().zip(at(&before)).map(|(b, a)| ((b - a) / (2.0 * INSTANT)).as_vec3()).collect();
        Surface { positions: at(&now).iter().map(|x| x.as_vec3()).collect(), velocities, ..wall.clone() }
    }

    /// Flow of liquid through a plane \[m³/s\] and its mean speed along the normal \[m/s\], over a layer two cells thick.
    fn through_plane(&self, plane: &FlowPlane) -> [f64; 2] {
        let (flow, grid) = (&self.flow, self.flow.grid());
        let normal = DVec3::from_array(plane.normal).normalize();
        let point = DVec3::from_array(plane.point);
        let (h, radius) = (grid.spacing(), plane.radius.unwrap_or(f64::INFINITY));
        let (mut through, mut volume) = (0.0, 0.0);
        for p in (0..grid.len()).filter(|&p| grid.contains(p)) {
            let from = grid.center(p) - point;
            let height = from.dot(normal);
            // A hat of height one over a cell, as for particles.
            let share = (1.0 - height.abs() / h).max(0.0) / h;
            if share > 0.0 && (from - normal * height).length() <= radius {
                let own = share * flow.liquid_in(p);
                through += own * flow.cell_velocity(p).dot(normal);
                volume += own;
            }
        }
        [through, if volume > 0.0 { through / volume } else { 0.0 }]
    }
}
