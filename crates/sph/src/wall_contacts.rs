//! Walls at work: which particles touch which wall, and what each contact does.

use crate::liquid::bodies::{Bodies, Body, BodyContact, IntegrationScheme, NodeWeight, SortedParticles};
use crate::liquid::dfsph::corrected::Symmetric;
use crate::simd::KernelLanes;
use crate::wall_integral::{Calibration, Cut, WallIntegral, plane_friction};
use crate::wall_quadrature::{LONGEST_EDGE, SampleKernel, Samples};
use fearless_simd::Level;
use glam::{DVec3, Vec3};
use meniscus_boundary::{self as boundary, Boundaries, Friction, Pose, Wall, WallShape, Wet};
use meniscus_geometry::{Aabb, InnerBox, NeighbourGrid};
use std::sync::Arc;

/// A particle is not left closer to a wall than this, in spacings.
const NEAREST: f64 = 0.05;

/// One particle within reach of one wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contact {
    /// Index of the particle.
    pub(crate) particle: u32,
    /// Number of the wall.
    pub(crate) wall: u16,
    /// 1 − γ: the part of the density kernel that the wall fills, dimensionless.
    pub(crate) wall_fraction: f32,
    /// ∇γ \[1/m\], into the liquid: pressure times this is the wall's force per volume.
    pub(crate) gamma_gradient: Vec3,
    /// What triangles add to the moments of gradients, dimensionless; other walls do so side by side ([`Walls::sides`]).
    pub(crate) moment: Option<Symmetric>,
    /// Unit normal, of the nearest side if there are several.
    pub(crate) normal: Vec3,
    /// Distance from that side \[m\].
    pub(crate) distance: f32,
    /// ∇γ·v with the velocity of the wall \[1/s\].
    pub(crate) gamma_rate: f32,
    /// Velocity of the wall beside the particle \[m/s\]; of bodies only within reach of their friction.
    pub(crate) velocity: Vec3,
    /// Factor of μ (v_wall − v) in the friction per volume \[1/m²\].
    pub(crate) drag: f32,
    /// The drag times the velocity of the wall \[1/(m·s)\].
    pub(crate) drag_velocity: Vec3,
}

/// A flat side of a wall as a particle meets it: a neighbour at its foot point.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Side {
    /// Unit normal into the liquid.
    pub(crate) normal: Vec3,
    /// The part of the contact's ∇γ along it \[1/m\].
    pub(crate) gamma_slope: f32,
    /// Distance of the particle \[m\].
    pub(crate) distance: f32,
}

/// How near to a surface of triangles a particle may end a step, over how near it may come to other walls.
const LEAST_GAP: f64 = 0.1;

/// The walls of a liquid, ready for use.
pub(crate) struct Walls {
    walls: Vec<Wall>,
    /// Friction of bodies, which count as a wall that comes after all others; then that of animated walls, which count as bodies.
    of_bodies: Vec<Friction>,
    surfaces: Vec<Option<Surface>>,
    /// The part of each tank at rest where it is not felt \[m\].
    clear: Vec<Option<InnerBox>>,
    /// Where each wall is at the start and at the end of the step.
    poses: Vec<[Pose; 2]>,
    /// Acceleration of each wall's origin \[m/s²\].
    accelerations: Vec<DVec3>,
    inverse_dt: f64,
    integral: WallIntegral,
    samples: SampleKernel,
    calibration: Calibration,
    /// What a plane fills of a kernel, from no distance to the farthest at which it is felt.
    wall_fractions: Vec<f32>,
    h: f64,
    spacing: f64,
}

/// How many distances are tabulated.
const DISTANCES: usize = 65;

/// How far a wall is felt, in units of h: friction reaches further than pressure.
fn reach(friction: Friction, calibration: &Calibration) -> f64 {
    if friction == Friction::Slip { calibration.reach() } else { 1.0 }
}

/// A wall made of triangles, in its own coordinates.
struct Surface {
    samples: Samples,
    shared: Arc<boundary::Surface>,
    /// A surface with one wet side, as the liquid meets the surface of any body: samples would be seen one by one from as near as liquid
    /// comes when it is thrown at a wall.
    met: Option<Bodies>,
}

impl Surface {
    fn new(shared: &Arc<boundary::Surface>, kernel: &SampleKernel) -> Self {
        let (mesh, wet) = (shared.mesh(), shared.wet());
        let triangles = match wet {
            Wet::Back => mesh.triangles().iter().map(|&[a, b, c]| [a, c, b]).collect(),
            Wet::Front | Wet::Both => mesh.triangles().to_vec(),
        };
        let body = Body {
            positions: mesh.vertices().to_vec(),
            velocities: vec![DVec3::ZERO; mesh.vertices().len()],
            triangles,
            ..Body::default()
        };
        let mut met = Bodies::default();
        met.given_mut(1)[0] = body;
        Self {
            samples: Samples::new(mesh, wet, kernel),
            shared: Arc::clone(shared),
            met: (wet != Wet::Both).then_some(met),
        }
    }
}

impl Walls {
    pub(crate) fn new<K: KernelLanes>(placed: &Boundaries, of_bodies: Friction, h: f64, spacing: f64) -> Self {
        let walls: Vec<Wall> = placed.walls().cloned().collect();
        let calibration = Calibration::new(&K::DENSITY, &K::GRADIENT, spacing / h);
        let samples = SampleKernel::new(&K::DENSITY, &calibration, h);
        let integral = WallIntegral::new(&K::DENSITY);
        let wall_fraction = |k: usize| {
            let z = calibration.reach() * k as f64 / (DISTANCES - 1) as f64;
            integral.plane(calibration.read(z)).0 as f32
        };
        let wall_fractions = (0..DISTANCES).map(wall_fraction).collect();
        // Triangles that do not move as one are met as those of bodies are.
        let surface = |number: usize| {
            let shared = placed.surface(number).filter(|_| !walls[number].deforms())?;
            Some(Surface::new(shared, &samples))
        };
        let clear = |wall: &Wall| match &wall.shape {
            _ if wall.deforms() => Some(Aabb { min: DVec3::NEG_INFINITY, max: DVec3::INFINITY }.inner()),
            WallShape::Tank { min, max } if !wall.motion.moves() => {
                let margin = reach(wall.friction, &calibration) * h;
                Some(Aabb { min: *min + margin, max: *max - margin }.inner())
            }
            _ => None,
        };
        Self {
            surfaces: (0..walls.len()).map(surface).collect(),
            clear: walls.iter().map(clear).collect(),
            poses: vec![[Pose::default(); 2]; walls.len()],
            accelerations: vec![DVec3::ZERO; walls.len()],
            inverse_dt: 0.0,
            of_bodies: std::iter::once(of_bodies)
                .chain(walls.iter().filter(|wall| wall.deforms()).map(|wall| wall.friction))
                .collect(),
            walls,
            integral,
            samples,
            calibration,
            wall_fractions,
            h,
            spacing,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.walls.len()
    }

    /// Samples of surfaces within reach of liquid, where they are at the end of the step \[m\].
    pub(crate) fn show_points(&self, liquid: &NeighbourGrid, points: &mut Vec<Vec3>) {
        let reach = self.samples.reach();
        for (surface, [now, after]) in self.surfaces.iter().zip(&self.poses) {
            let near = |own: Vec3| {
                let x = now.apply(own.as_dvec3()).as_vec3();
                let mut near = false;
                liquid.for_each_range_in(x - reach, x + reach, |range| near |= !range.is_empty());
                near
            };
            let mut show = |own: Vec3| points.push(after.apply(own.as_dvec3()).as_vec3());
            surface.iter().for_each(|surface| surface.samples.on_surface(&self.samples, near, &mut show));
        }
    }

    /// Takes up positions for a step.
    pub(crate) fn place(&mut self, placed: &Boundaries) {
        self.inverse_dt = 1.0 / placed.step()[1];
        for (k, (poses, acceleration)) in self.poses.iter_mut().zip(&mut self.accelerations).enumerate() {
            (*poses, *acceleration) = (placed.poses(k), placed.acceleration(k));
        }
    }

    /// Integrates over the surfaces that have one wet side, where they are now.
    pub(crate) fn integrate<K: KernelLanes>(&mut self, level: Level, liquid: SortedParticles<'_>) {
        let Self { walls, surfaces, poses, inverse_dt, samples, h, .. } = self;
        for ((wall, surface), [now, after]) in walls.iter().zip(surfaces).zip(&*poses) {
            let Some(Surface { met: Some(met), shared, .. }) = surface else { continue };
            if wall.motion.moves() {
                let body = &mut met.given_mut(1)[0];
                for ((x, v), own) in body.positions.iter_mut().zip(&mut body.velocities).zip(shared.mesh().vertices()) {
                    *x = now.apply(*own);
                    *v = (after.apply(*own) - *x) * *inverse_dt;
                }
            }
            met.number();
            let scheme = IntegrationScheme {
                kernel: samples,
                longest: LONGEST_EDGE as f32,
                friction_reach: (wall.friction != Friction::Slip).then_some(*h),
                by_edges: true,
                traction: None,
                hold: None,
            };
            met.integrate::<K>(level, scheme, liquid);
        }
    }

    /// Calls `visit` for each contact of particles of a block with a surface that has one wet side.
    pub(crate) fn for_each_surface_contact(
        &self,
        block: usize,
        links: &mut Vec<NodeWeight>,
        at: impl Fn(u32) -> Vec3,
        mut visit: impl FnMut(Contact),
    ) {
        for (number, surface) in self.surfaces.iter().enumerate() {
            let Some(met) = surface.as_ref().and_then(|surface| surface.met.as_ref()) else { continue };
            links.clear();
            met.for_each_contact(block, links, &at, |particle, contact| {
                visit(Contact { wall: number as u16, ..self.body_contact(particle, &contact) });
            });
        }
    }

    /// Velocity of a point of a wall in its own coordinates \[m/s\], in the wall's step.
    fn velocity(&self, wall: usize, own: DVec3) -> DVec3 {
        let [now, after] = &self.poses[wall];
        (after.apply(own) - now.apply(own)) * self.inverse_dt
    }

    pub(crate) fn friction(&self, wall: u16) -> Friction {
        let number = usize::from(wall);
        self.walls.get(number).map_or_else(|| self.of_bodies[number - self.walls.len()], |wall| wall.friction)
    }

    /// Whether there is friction along a body: `prescribed` is its number among the animated walls, if it is one.
    pub(crate) fn body_has_friction(&self, prescribed: Option<usize>) -> bool {
        self.of_bodies[prescribed.map_or(0, |number| number + 1)] != Friction::Slip
    }

    /// Whether there is friction along any body.
    pub(crate) fn any_body_has_friction(&self) -> bool {
        self.of_bodies.iter().any(|friction| *friction != Friction::Slip)
    }

    /// How many walls bodies count as.
    pub(crate) fn body_walls(&self) -> usize {
        self.of_bodies.len()
    }

    /// Gravity as liquid at rest before a wall feels it \[m/s²\].
    pub(crate) fn gravity_at(&self, wall: u16, gravity: Vec3) -> Vec3 {
        gravity - self.accelerations.get(usize::from(wall)).map_or(Vec3::ZERO, |a| a.as_vec3())
    }

    /// A particle is not left closer to a wall than this \[m\].
    pub(crate) fn nearest(&self) -> f64 {
        NEAREST * self.spacing
    }

    /// How samples weigh.
    pub(crate) fn sample_kernel(&self) -> &SampleKernel {
        &self.samples
    }

    /// What bodies do, as a contact with a wall that comes after all others: that of the animated wall which is nearest, if one is.
    pub(crate) fn body_contact(&self, particle: u32, contact: &BodyContact) -> Contact {
        let drag = |distance: f32| (self.drag(f64::from(distance) / self.h) / (self.h * self.h)) as f32;
        let drag = contact.distance.map_or(0.0, drag);
        Contact {
            particle,
            wall: (self.walls.len() + contact.prescribed.map_or(0, |number| number + 1)) as u16,
            wall_fraction: contact.wall_fraction,
            gamma_gradient: contact.gamma_gradient,
            moment: Some(contact.moment),
            normal: contact.gamma_gradient.normalize_or_zero(),
            distance: (0.5 * self.spacing) as f32,
            gamma_rate: contact.gamma_rate,
            velocity: contact.velocity,
            drag,
            drag_velocity: contact.velocity * drag,
        }
    }

    /// The sides of a contact: those of a tank, or the one that a curved wall shows the particle. Without a ∇γ there are none.
    pub(crate) fn sides(&self, contact: &Contact, position: Vec3) -> [Side; 3] {
        let mut sides = [Side::default(); 3];
        let number = usize::from(contact.wall);
        let Some(WallShape::Tank { min, max }) = self.walls.get(number).map(|wall| &wall.shape) else {
            let gamma_slope = contact.gamma_gradient.length();
            if gamma_slope > 0.0 {
                let distance = match self.walls.get(number).map(|wall| &wall.shape) {
                    Some(WallShape::Plane { .. }) => contact.distance,
                    _ => self.distance_at(contact.wall_fraction),
                };
                sides[0] = Side { normal: contact.gamma_gradient / gamma_slope, gamma_slope, distance };
            }
            return sides;
        };
        let pose = &self.poses[number][0];
        let moves = self.walls[number].motion.moves();
        let own = if moves { pose.unapply(position.as_dvec3()) } else { position.as_dvec3() };
        let gamma_gradient = contact.gamma_gradient.as_dvec3();
        for (axis, side) in sides.iter_mut().enumerate() {
            let normal = if moves { pose.rotation * DVec3::AXES[axis] } else { DVec3::AXES[axis] };
            let along = gamma_gradient.dot(normal);
            let distance = if along > 0.0 { own[axis] - min[axis] } else { max[axis] - own[axis] };
            // Rounding may leave the other side, which may be open, a ∇γ of next to nothing.
            if along != 0.0 && distance < self.h {
                let normal = (normal * along.signum()).as_vec3();
                *side = Side { normal, gamma_slope: along.abs() as f32, distance: distance.max(self.nearest()) as f32 };
            }
        }
        sides
    }

    /// Whether a wall is a tank.
    pub(crate) fn is_tank(&self, wall: u16) -> bool {
        self.walls.get(usize::from(wall)).is_some_and(|wall| matches!(wall.shape, WallShape::Tank { .. }))
    }

    /// The distance at which a plane fills this part of a kernel \[m\].
    fn distance_at(&self, wall_fraction: f32) -> f32 {
        let k = self.wall_fractions.partition_point(|&filled| filled > wall_fraction);
        let step = (self.calibration.reach() * self.h) as f32 / (DISTANCES - 1) as f32;
        let (Some(&far), Some(&near)) = (self.wall_fractions.get(k), self.wall_fractions.get(k.wrapping_sub(1))) else {
            return if k == 0 { self.nearest() as f32 } else { step * (DISTANCES - 1) as f32 };
        };
        let part = (near - wall_fraction) / (near - far).max(f32::MIN_POSITIVE);
        (step * ((k - 1) as f32 + part)).max(self.nearest() as f32)
    }

    /// Whether a point is surely out of reach of all walls: a quick first look.
    #[inline]
    pub(crate) fn are_out_of_reach(&self, position: Vec3) -> bool {
        self.clear.iter().zip(&self.surfaces).all(|(clear, surface)| {
            let met = surface.as_ref().is_some_and(|surface| surface.met.is_some());
            met || clear.is_some_and(|clear| clear.contains(position))
        })
    }

    /// Calls `visit` for each wall within reach of a particle.
    pub(crate) fn for_each_contact(&self, particle: u32, position: Vec3, mut visit: impl FnMut(Contact)) {
        for number in 0..self.walls.len() {
            let met = self.surfaces[number].as_ref().is_some_and(|surface| surface.met.is_some());
            if met || self.clear[number].is_some_and(|clear| clear.contains(position)) {
                continue;
            }
            let x = position.as_dvec3();
            let pose = &self.poses[number][0];
            let moves = self.walls[number].motion.moves();
            let own = if moves { pose.unapply(x) } else { x };
            let Some((cut, drag)) = self.integral_at(number, own) else { continue };
            let (mut gamma_gradient, mut velocity) = (cut.gradient, DVec3::ZERO);
            let mut normal = self.normal(number, gamma_gradient);
            let distance = self.distance(number, own, normal);
            if moves {
                gamma_gradient = pose.rotation * gamma_gradient;
                normal = pose.rotation * normal;
                velocity = (self.poses[number][1].apply(own) - x) * self.inverse_dt;
            }
            visit(Contact {
                particle,
                wall: number as u16,
                wall_fraction: cut.wall_fraction as f32,
                gamma_gradient: gamma_gradient.as_vec3(),
                moment: None,
                normal: normal.as_vec3(),
                distance: distance as f32,
                gamma_rate: gamma_gradient.dot(velocity) as f32,
                velocity: velocity.as_vec3(),
                drag: drag as f32,
                drag_velocity: (velocity * drag).as_vec3(),
            });
        }
    }

    /// 1 − γ, ∇γ \[1/m\] and drag factor \[1/m²\] at a point in a wall's own coordinates, or nothing out of reach.
    fn integral_at(&self, number: usize, p: DVec3) -> Option<(Cut, f64)> {
        let wall = &self.walls[number];
        let (cut, drag) = match (&wall.shape, &self.surfaces[number]) {
            (WallShape::Tank { min, max }, _) => self.tank_integral(p, [*min, *max], wall.friction)?,
            (WallShape::Plane { point, normal }, _) => self.plane_integral(p, [*point, *normal], wall.friction)?,
            (WallShape::Mesh { .. }, Some(surface)) => return self.surface_integral(p, surface, wall.friction),
            (WallShape::Mesh { .. }, None) => return None,
        };
        let gradient = cut.gradient * (self.calibration.stretch / self.h);
        Some((Cut { gradient, ..cut }, drag / (self.h * self.h)))
    }

    /// The direction of ∇γ, in a tank that of the side with the largest part of it.
    fn normal(&self, number: usize, gamma_gradient: DVec3) -> DVec3 {
        let axis = match self.walls[number].shape {
            WallShape::Tank { .. } => DVec3::select(
                gamma_gradient.abs().cmpge(DVec3::splat(gamma_gradient.abs().max_element())),
                gamma_gradient,
                DVec3::ZERO,
            ),
            _ => gamma_gradient,
        };
        axis.normalize_or_zero()
    }

    /// Distance of a point from the side of a wall with this normal \[m\]; from surfaces that of a particle at rest.
    fn distance(&self, number: usize, p: DVec3, normal: DVec3) -> f64 {
        match &self.walls[number].shape {
            WallShape::Tank { min, max } => {
                let corner = DVec3::select(normal.cmpge(DVec3::ZERO), *min, *max);
                (0..3).filter(|&axis| normal[axis] != 0.0).map(|axis| (p[axis] - corner[axis]) * normal[axis]).sum()
            }
            WallShape::Plane { point, normal } => (p - *point).dot(*normal),
            WallShape::Mesh { .. } => 0.5 * self.spacing,
        }
    }

    fn tank_integral(&self, p: DVec3, [min, max]: [DVec3; 2], friction: Friction) -> Option<(Cut, f64)> {
        let (below, above) = (p - min, max - p);
        if below.min(above).min_element() >= reach(friction, &self.calibration) * self.h {
            return None;
        }
        let (below, above) = (below / self.h, above / self.h);
        let c = &self.calibration;
        let read = |z: DVec3| DVec3::new(c.read(z.x), c.read(z.y), c.read(z.z));
        let cut = self.integral.tank(DVec3::ZERO, -read(below), read(above));
        let drag = match friction {
            Friction::Slip => 0.0,
            _ => (0..3).flat_map(|axis| [below[axis], above[axis]]).map(|z| self.drag(z)).sum(),
        };
        Some((cut, drag))
    }

    fn plane_integral(&self, p: DVec3, [point, normal]: [DVec3; 2], friction: Friction) -> Option<(Cut, f64)> {
        let z = (p - point).dot(normal) / self.h;
        if z >= reach(friction, &self.calibration) {
            return None;
        }
        let (wall_fraction, weight) = self.integral.plane(self.calibration.read(z));
        let drag = if friction == Friction::Slip { 0.0 } else { self.drag(z) };
        Some((Cut { wall_fraction, gradient: normal * weight }, drag))
    }

    fn surface_integral(&self, p: DVec3, surface: &Surface, friction: Friction) -> Option<(Cut, f64)> {
        let sampled = surface.samples.integrate(p.as_vec3(), &self.samples);
        let drag = match friction {
            Friction::Slip => 0.0,
            _ => surface.shared.tree().closest_within(p, self.h).map_or(0.0, |c| self.drag(c.distance() / self.h)),
        } / (self.h * self.h);
        if sampled.is_none() && drag == 0.0 {
            return None;
        }
        let sampled = sampled.unwrap_or_default();
        Some((Cut { wall_fraction: sampled.wall_fraction.into(), gradient: sampled.gamma_gradient.as_dvec3() }, drag))
    }

    /// Friction factor of one plane, bounded for particles that come closer than any does at rest.
    fn drag(&self, z: f64) -> f64 {
        plane_friction(z.max(0.25 * self.spacing / self.h))
    }

    /// Whether a wall has to be watched for particles that pass it in a step.
    pub(crate) fn is_surface(&self, wall: u16) -> bool {
        self.surfaces.get(usize::from(wall)).is_some_and(Option::is_some)
    }

    /// Puts a particle that has come through a tank or a plane back before it and takes its speed into the wall; whether
    /// it had.
    pub(crate) fn keep_inside(&self, position: &mut Vec3, velocity: &mut Vec3) -> bool {
        let nearest = self.nearest();
        let mut moved = false;
        for (number, wall) in self.walls.iter().enumerate() {
            let pose = &self.poses[number][1];
            let own = if wall.motion.moves() { pose.unapply(position.as_dvec3()) } else { position.as_dvec3() };
            let back = match &wall.shape {
                WallShape::Tank { min, max } => {
                    let (low, high) = (*min + nearest, *max - nearest);
                    own.clamp(low, high.max(low)) - own
                }
                WallShape::Plane { point, normal } => *normal * (nearest - (own - *point).dot(*normal)).max(0.0),
                WallShape::Mesh { .. } => DVec3::ZERO,
            };
            if back != DVec3::ZERO {
                self.put_back(number, own, own + back, back.normalize(), (position, velocity));
                moved = true;
            }
        }
        moved
    }

    /// The same for a surface, along the way from where the particle was.
    pub(crate) fn keep_before(&self, wall: u16, from: Vec3, position: &mut Vec3, velocity: &mut Vec3) -> bool {
        let number = usize::from(wall);
        let (Some(surface), [now, after]) = (&self.surfaces[number], &self.poses[number]) else { return false };
        let start = now.unapply(from.as_dvec3());
        let mut moved = false;
        // In a corner the way back from one face may lead through another.
        for _ in 0..3 {
            let end = after.unapply(position.as_dvec3());
            // A little farther than it goes: what ends on the surface itself is behind it after rounding, in the next step.
            let least = LEAST_GAP * self.nearest();
            let way = end - start + (end - start).normalize_or_zero() * least;
            let Some(hit) = surface.shared.tree().segment_hits(start, start + way) else { break };
            let normal = surface.shared.normals()[hit.triangle as usize];
            let normal = if normal.dot(way) > 0.0 { -normal } else { normal };
            let touched = start + way * hit.t;
            let kept = touched + normal * (start - touched).dot(normal).clamp(least, self.nearest());
            self.put_back(number, end, kept, normal, (position, velocity));
            moved = true;
        }
        moved
    }

    /// Moves a particle to `kept` (in the wall's coordinates) and takes its speed against `normal` relative to the wall.
    fn put_back(&self, wall: usize, own: DVec3, kept: DVec3, normal: DVec3, (x, v): (&mut Vec3, &mut Vec3)) {
        let after = &self.poses[wall][1];
        let wall_velocity = self.velocity(wall, own);
        let normal = after.rotation * normal;
        *x = after.apply(kept).as_vec3();
        let into = (v.as_dvec3() - wall_velocity).dot(normal).min(0.0);
        *v -= (normal * into).as_vec3();
    }
}
