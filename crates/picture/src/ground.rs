//! The ground: a plane with a measured pattern that fades into the backdrop.

use glam::{Vec2, Vec3, Vec4};

use crate::Bounds;
use crate::camera::View;
use crate::color::Light;
use crate::drawing::{Hit, Material};
use crate::shadow::LightSpace;
use meniscus_core::Pattern;

/// How far the ground is seen, in radii of the scene.
const REACH: f32 = 7.0;
/// Where it begins to fade, in radii of the scene.
const FADE: f32 = 1.2;
/// Width of a grid line as a part of the distance between lines.
const LINE: f32 = 0.018;

/// Strength of a checker compared with a grid line, which is thin.
const CHECKER: f32 = 0.3;

/// A horizontal plane, in view space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground {
    /// Upwards, in view space.
    up: Vec3,
    /// Height of the eye above the ground \[m\], positive.
    drop: f32,
    /// Largest depth at which it is seen \[m\].
    far: f32,
    view: View,
    /// Middle of the scene (x, z) \[m\].
    middle: Vec2,
    /// Radius of the scene \[m\].
    radius: f32,
    /// Distance between lines \[m\].
    pub(crate) step: f32,
    pattern: Pattern,
}

impl Ground {
    /// A ground at `height` \[m\] under a scene; `None` when the eye is not above it.
    pub(crate) fn new(height: f32, bounds: &Bounds, view: &View, pattern: Pattern) -> Option<Self> {
        let radius = bounds.radius().max(1e-6);
        // A hair lower than asked for, so that floors lying on it win.
        let drop = view.eye.y - (height - 1e-3 * radius);
        let center = bounds.center();
        let far = (center - view.eye).length() + REACH * radius;
        (drop.is_finite() && drop > 1e-4 * radius).then(|| Self {
            up: view.turn(Vec3::Y),
            drop,
            far,
            view: *view,
            middle: Vec2::new(center.x, center.z),
            radius,
            step: grid_step(radius),
            pattern,
        })
    }

    /// Depths \[m\] at which rays with slopes `v` upwards meet it, infinite where they do not. The camera stands upright,
    /// so slopes to the right do not matter.
    #[inline]
    pub(crate) fn depths(&self, v: Vec4) -> Vec4 {
        let fall = v * -self.up.y - self.up.z;
        let depth = self.drop / fall;
        Vec4::select(fall.cmpgt(Vec4::ZERO) & depth.cmplt(Vec4::splat(self.far)), depth, Vec4::INFINITY)
    }

    /// The point on the ray with these slopes.
    #[inline]
    pub(crate) fn hit(&self, slopes: Vec2) -> Hit {
        let ray = slopes.extend(1.0);
        let depth = (self.drop / -self.up.dot(ray)).clamp(0.0, self.far);
        Hit { point: ray * depth, normal: self.up, face: Some(self.up), albedo: Light::ONE, material: Material::Satin }
    }

    /// A point on it and its upward unit normal, in view space.
    pub(crate) fn plane(&self) -> (Vec3, Vec3) {
        (self.up * -self.drop, self.up)
    }

    /// The ground along the row of the picture whose middle is at `y` \[px\], with its position in up to two shadow maps;
    /// `None` when that is backdrop.
    pub(crate) fn row(&self, y: f32, spaces: [Option<&LightSpace>; 2]) -> Option<GroundRow<'_>> {
        let view = &self.view;
        let start = view.slopes(0.0, y);
        let fall = -(self.up.y * start.y + self.up.z);
        let depth = self.drop / fall;
        if !(fall > 0.0 && depth < self.far) {
            return None;
        }
        let first = start.extend(1.0) * depth;
        let step = Vec3::X * (depth * view.pixel_slope);
        let maps = spaces.map(|space| {
            let at = |p: Vec3| space.map_or(Vec2::ZERO, |s| s.map(p).truncate());
            [at(first), at(first + step) - at(first)]
        });
        let position = self.position(first);
        Some(GroundRow {
            ground: self,
            depth,
            slope: start.y,
            position: [position, self.position(first + step) - position],
            maps,
        })
    }

    /// World coordinates (x, z) of a point of view space \[m\].
    fn position(&self, point: Vec3) -> Vec2 {
        let world = self.view.turn_back(point) + self.view.eye;
        Vec2::new(world.x, world.z)
    }
}

/// The ground along a row of the picture. The camera stands upright, so depth is the same all along and positions change
/// linearly.
pub(crate) struct GroundRow<'a> {
    ground: &'a Ground,
    /// Depth \[m\].
    pub(crate) depth: f32,
    /// Slope y of its rays.
    slope: f32,
    /// World coordinates (x, z) at column 0, and their change per column \[m\].
    position: [Vec2; 2],
    /// Position in each shadow map at column 0, and its change per column \[texels\].
    maps: [[Vec2; 2]; 2],
}

impl GroundRow<'_> {
    /// Position in one of the shadow maps at a column \[px\].
    #[inline]
    pub(crate) fn texel(&self, map: usize, x: f32) -> Vec2 {
        self.maps[map][0] + self.maps[map][1] * x
    }

    /// How clearly the ground is seen at a column: 1 near the scene, 0 where it ends.
    #[inline]
    pub(crate) fn presence(&self, x: f32) -> f32 {
        const ENDS: f32 = REACH * REACH;
        const FADES: f32 = FADE * FADE;
        let away = self.position[0] + self.position[1] * x - self.ground.middle;
        let away = away.length_squared() / (self.ground.radius * self.ground.radius);
        let part = ((ENDS - away) * (1.0 / (ENDS - FADES))).clamp(0.0, 1.0);
        part * part * (3.0 - 2.0 * part)
    }

    /// The pattern near a column \[px\].
    pub(crate) fn ruling(&self, x: f32) -> Ruling {
        let (ground, view) = (self.ground, &self.ground.view);
        let ray = view.turn_back(Vec3::new(view.slopes(x, 0.0).x, self.slope, 1.0));
        let pixel = self.depth * view.pixel_slope / ground.step;
        // When the ray turns by `d`, the meeting point moves by t (d − ray d.y / ray.y).
        let moved = |d: Vec3| {
            let shift = (d - ray * (d.y / ray.y)) * pixel;
            Vec2::new(shift.x, shift.z).abs()
        };
        let footprint = (moved(view.right) + moved(view.up)).max(Vec2::splat(1e-9));
        let position = self.position.map(|p| p / ground.step);
        Ruling::new(ground.pattern, position, footprint)
    }
}

/// A pattern with fields of size one along a few pixels of a row.
pub(crate) struct Ruling {
    pattern: Pattern,
    position: [Vec2; 2],
    /// Size of a pixel, and one over it.
    footprint: Vec2,
    per_pixel: Vec2,
    /// Half of the width of a line plus half a pixel, and what is drawn of it.
    reach: Vec2,
    strength: Vec2,
}

impl Ruling {
    fn new(pattern: Pattern, position: [Vec2; 2], footprint: Vec2) -> Self {
        // Never thinner than a pixel: distant lines become fainter, not broken.
        let width = footprint.max(Vec2::splat(LINE));
        let faint = Vec2::new((LINE / width.x).sqrt(), (LINE / width.y).sqrt());
        // They dissolve where they come closer than a few pixels.
        let clear = (Vec2::ONE - footprint * 4.0).clamp(Vec2::ZERO, Vec2::ONE);
        let (reach, strength) = ((width + footprint) * 0.5, faint * clear);
        Self { pattern, position, footprint, per_pixel: footprint.recip(), reach, strength }
    }

    /// The amount of pattern in a pixel, 0..1, averaged over the pixel.
    #[inline]
    pub(crate) fn at(&self, x: f32) -> f32 {
        let position = self.position[0] + self.position[1] * x;
        match self.pattern {
            Pattern::Plain => 0.0,
            Pattern::Grid => {
                let away = (position - floor(position + 0.5)).abs();
                let cover = ((self.reach - away) * self.per_pixel).clamp(Vec2::ZERO, Vec2::ONE) * self.strength;
                cover.x + cover.y - cover.x * cover.y
            }
            Pattern::Checker => {
                // The integral of a square wave of period two is a triangle wave.
                let wave = |x: Vec2| ((x * 0.5 - floor(x * 0.5)) - 0.5).abs() * 2.0;
                let mean =
                    (wave(position + self.footprint * 0.5) - wave(position - self.footprint * 0.5)) * self.per_pixel;
                CHECKER * (0.5 - 0.5 * mean.x * mean.y)
            }
        }
    }
}

/// One, two or five times a power of ten, about a fifth of the scene's radius \[m\].
pub(crate) fn grid_step(radius: f32) -> f32 {
    let wish = f64::from(radius) * 0.2;
    let power = libm::exp10(libm::floor(libm::log10(wish)));
    let factor = [1.0, 2.0, 5.0].into_iter().rev().find(|f| f * power <= wish * 1.001).unwrap_or(1.0);
    (factor * power) as f32
}

/// The whole number below, for values of moderate size; inlined where the library function is a call.
#[inline]
fn floor(x: Vec2) -> Vec2 {
    let down = |x: f32| {
        let whole = x as i32 as f32;
        if whole > x { whole - 1.0 } else { whole }
    };
    Vec2::new(down(x.x), down(x.y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Camera;

    #[test]
    fn grid_steps_are_short_numbers() {
        for (radius, step) in [(1.0, 0.2), (0.6, 0.1), (5.0, 1.0), (26.0, 5.0), (0.002, 0.0002)] {
            assert!((grid_step(radius) / step - 1.0f32).abs() < 1e-5, "{radius}: {}", grid_step(radius));
        }
    }

    #[test]
    fn patterns_average_to_their_cover() {
        let at = |pattern, x: f32, z: f32, footprint: f32| {
            Ruling::new(pattern, [Vec2::new(x, z), Vec2::ZERO], Vec2::splat(footprint)).at(0.0)
        };
        assert!(at(Pattern::Grid, 3.0, 0.5, 1e-3) > 0.99 && at(Pattern::Grid, -2.5, 0.5, 1e-3) < 1e-6);
        assert!(at(Pattern::Grid, 3.5, -1.0, 1e-3) > 0.99);
        assert!((at(Pattern::Checker, 0.5, 0.5, 1e-3) - at(Pattern::Checker, 1.5, 0.5, 1e-3)).abs() > 0.99 * CHECKER);
        assert!((at(Pattern::Checker, 0.3, 0.2, 4.0) - 0.5 * CHECKER).abs() < 1e-5);
        assert_eq!(at(Pattern::Plain, 0.0, 0.0, 1e-3), 0.0);
    }

    #[test]
    fn rays_meet_the_plane() {
        let camera = Camera::looking(Vec3::new(0.0, 3.0, 4.0), Vec3::ZERO, 40.0);
        let bounds = Bounds { min: Vec3::splat(-1.0), max: Vec3::ONE };
        let view = View::new(&camera, &bounds, 64, 64).unwrap();
        let ground = Ground::new(-1.0, &bounds, &view, Pattern::Grid).unwrap();
        let slopes = view.slopes(20.0, 50.0);
        let world = view.turn_back(ground.hit(slopes).point) + view.eye;
        assert!((world.y + 1.0).abs() < 0.01, "{world}");
        let row = ground.row(50.0, [None; 2]).unwrap();
        assert!((row.position[0] + row.position[1] * 20.0 - Vec2::new(world.x, world.z)).length() < 1e-3);
        let depth = ground.depths(Vec4::splat(slopes.y)).x;
        assert!((depth - ground.hit(slopes).point.z).abs() < 1e-4);
        assert!(Ground::new(3.5, &bounds, &view, Pattern::Grid).is_none());
        assert!(Ground::new(f32::NAN, &bounds, &view, Pattern::Grid).is_none());
    }
}
