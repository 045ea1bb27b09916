//! Walls at work: which particles touch which wall, and what each contact does.

use crate::lanes::KernelLanes;
use crate::params::{Friction, Wall, WallShape};
use crate::wall::{Calibration, Cut, WallIntegral, plane_friction};
use glam::{DVec3, Vec3};

/// One particle within reach of one wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Contact {
    /// Place of the particle.
    pub(crate) particle: u32,
    /// Number of the wall.
    pub(crate) wall: u16,
    /// 1 − γ: the part of the density kernel that the wall fills, dimensionless.
    pub(crate) deficit: f32,
    /// −∇ of the deficit \[1/m\], into the liquid: pressure times this is the wall's force per volume.
    pub(crate) push: Vec3,
    /// Factor of μ (v_wall − v) in the friction per volume \[1/m²\].
    pub(crate) drag: f32,
}

/// The walls of a liquid, ready for use.
#[derive(Debug, Clone)]
pub(crate) struct Walls {
    walls: Vec<Wall>,
    integral: WallIntegral,
    calibration: Calibration,
    h: f64,
    spacing: f64,
}

impl Walls {
    pub(crate) fn new<K: KernelLanes>(walls: Vec<Wall>, h: f64, spacing: f64) -> Self {
        Self {
            walls,
            integral: WallIntegral::new(&K::DENSITY),
            calibration: Calibration::new(&K::DENSITY, &K::GRADIENT, spacing / h),
            h,
            spacing,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.walls.len()
    }

    pub(crate) fn friction(&self, wall: u16) -> Friction {
        self.walls[usize::from(wall)].friction
    }

    /// Calls `visit` for each wall within reach of a particle.
    pub(crate) fn for_each_contact(&self, particle: u32, position: Vec3, mut visit: impl FnMut(Contact)) {
        for (number, wall) in self.walls.iter().enumerate() {
            let touched = match wall.shape {
                WallShape::Tank { min, max } => self.touch_tank(position.as_dvec3(), min, max),
                WallShape::Plane { point, normal } => self.touch_plane(position.as_dvec3(), point, normal),
            };
            if let Some((cut, drag)) = touched {
                visit(Contact {
                    particle,
                    wall: number as u16,
                    deficit: cut.deficit as f32,
                    push: (cut.gradient * (self.calibration.stretch / self.h)).as_vec3(),
                    drag: if wall.friction == Friction::Slip { 0.0 } else { (drag / (self.h * self.h)) as f32 },
                });
            }
        }
    }

    /// Cut and drag factor \[1/h²\], or nothing out of reach.
    fn touch_tank(&self, p: DVec3, min: DVec3, max: DVec3) -> Option<(Cut, f64)> {
        let (below, above) = ((p - min) / self.h, (max - p) / self.h);
        if below.min(above).min_element() >= 1.0 {
            return None;
        }
        let read =
            |z: DVec3| DVec3::new(self.calibration.read(z.x), self.calibration.read(z.y), self.calibration.read(z.z));
        let cut = self.integral.tank(DVec3::ZERO, -read(below), read(above));
        let drag = (0..3).flat_map(|axis| [below[axis], above[axis]]).map(|z| self.drag(z)).sum();
        Some((cut, drag))
    }

    fn touch_plane(&self, p: DVec3, point: DVec3, normal: DVec3) -> Option<(Cut, f64)> {
        let z = (p - point).dot(normal) / self.h;
        if z >= 1.0 {
            return None;
        }
        let (deficit, weight) = self.integral.plane(self.calibration.read(z));
        Some((Cut { deficit, gradient: normal * weight }, self.drag(z)))
    }

    /// Friction factor of one plane, bounded for particles that come closer than any does at rest.
    fn drag(&self, z: f64) -> f64 {
        plane_friction(z.max(0.25 * self.spacing / self.h))
    }

    /// Puts a particle that has come through a wall back in front of it and takes its speed into the wall; whether it had.
    pub(crate) fn keep_inside(&self, position: &mut Vec3, velocity: &mut Vec3) -> bool {
        let mut moved = false;
        let nearest = (0.05 * self.spacing) as f32;
        for wall in &self.walls {
            match wall.shape {
                WallShape::Tank { min, max } => {
                    let (low, high) = (min.as_vec3() + nearest, max.as_vec3() - nearest);
                    let kept = position.clamp(low, high.max(low));
                    let back = kept - *position;
                    if back != Vec3::ZERO {
                        let hit = back.cmpne(Vec3::ZERO) & (back * *velocity).cmplt(Vec3::ZERO);
                        *velocity = Vec3::select(hit, Vec3::ZERO, *velocity);
                        *position = kept;
                        moved = true;
                    }
                }
                WallShape::Plane { point, normal } => {
                    let normal = normal.as_vec3();
                    let depth = nearest - (position.as_dvec3() - point).dot(normal.as_dvec3()) as f32;
                    if depth > 0.0 {
                        *position += normal * depth;
                        *velocity -= normal * velocity.dot(normal).min(0.0);
                        moved = true;
                    }
                }
            }
        }
        moved
    }
}
