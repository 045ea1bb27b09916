//! Where light comes from: a sun, a softbox, and a sky that is brightest at the horizon.

use glam::Vec3;
use meniscus_core::Theme;

use super::random::Random;

/// Half the angle of the sun's disc \[rad\]: shadows and caustics are crisp near their cause and soft far from it.
const SUN: f32 = 0.028;
/// Half the width and half the height of the softbox over its distance, dimensionless.
const BOX: [f32; 2] = [0.55, 0.22];

/// Everything that shines. Light is such that white paper in the open is about one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sky {
    /// Unit vector to the middle of the sun.
    pub(crate) sun: Vec3,
    /// Irradiance of a surface that faces the sun.
    pub(crate) sunlight: Vec3,
    middle: Vec3,
    right: Vec3,
    up: Vec3,
    softbox: Vec3,
    pub(crate) horizon: Vec3,
    zenith: Vec3,
}

/// A direction to a light, and the irradiance of a surface that faces it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lamp {
    pub(crate) to: Vec3,
    pub(crate) light: Vec3,
}

impl Sky {
    /// The sky over a scene that is looked at along `forward`, with the sun towards `sun` (unit vectors).
    pub(crate) fn new(sun: Vec3, forward: Vec3, theme: Theme) -> Self {
        let level = Vec3::new(forward.x, 0.0, forward.z).try_normalize().unwrap_or(Vec3::NEG_Z);
        // Behind the scene and above it, on the side that the sun is not on: mirrored by what is wet.
        let aside = Vec3::new(-level.z, 0.0, level.x);
        let aside = if aside.dot(sun) > 0.0 { -aside } else { aside };
        let middle = (level + 0.55 * aside + 0.62 * Vec3::Y).normalize();
        let right = middle.cross(Vec3::Y).normalize_or(Vec3::X);
        let (bright, horizon, zenith) = match theme {
            Theme::Light => (1.0, Vec3::new(0.70, 0.745, 0.79), Vec3::new(0.20, 0.36, 0.60)),
            Theme::Dark => (0.8, Vec3::new(0.045, 0.052, 0.065), Vec3::new(0.012, 0.017, 0.03)),
        };
        Self {
            sun,
            sunlight: Vec3::new(2.7, 2.5, 2.2) * bright,
            middle,
            right,
            up: right.cross(middle),
            softbox: Vec3::new(2.6, 2.6, 2.6) * bright,
            horizon,
            zenith,
        }
    }

    /// Light from a direction: without sun and softbox, which are asked for by [`Sky::lamps`].
    pub(crate) fn dome(&self, direction: Vec3) -> Vec3 {
        let height = direction.y.clamp(0.0, 1.0);
        self.horizon.lerp(self.zenith, height.sqrt() * (1.6 - 0.6 * height))
    }

    /// Light from a direction, with all that can be seen there.
    pub(crate) fn seen(&self, direction: Vec3) -> Vec3 {
        let mut light = self.dome(direction);
        if direction.dot(self.sun) > 1.0 - 0.5 * SUN * SUN {
            light += self.sunlight / (std::f32::consts::PI * SUN * SUN);
        }
        let ahead = direction.dot(self.middle);
        if ahead > 0.0 {
            let (x, y) = (direction.dot(self.right) / ahead, direction.dot(self.up) / ahead);
            // Its cloth is a little darker towards the rim.
            let edge = (x.abs() / BOX[0]).max(y.abs() / BOX[1]);
            if edge < 1.0 {
                light += self.softbox * ((1.0 - edge) * 8.0).min(1.0);
            }
        }
        light
    }

    /// A direction within the sun's disc.
    pub(crate) fn towards_sun(&self, random: &mut Random) -> Vec3 {
        let [x, y] = disc(random.pair());
        let side = self.sun.any_orthonormal_vector();
        (self.sun + (side * x + self.sun.cross(side) * y) * SUN).normalize()
    }

    /// A point of the sun and a point of the softbox.
    pub(crate) fn lamps(&self, random: &mut Random) -> [Lamp; 2] {
        let sun = Lamp { to: self.towards_sun(random), light: self.sunlight };
        let [x, y] = random.pair().map(|u| 2.0 * u - 1.0);
        let at = self.middle + self.right * (x * BOX[0]) + self.up * (y * BOX[1]);
        let square = at.length_squared();
        // dΩ = cos dA / r², with cos = 1/r; the rim is dimmed as it is seen.
        let angle = 4.0 * BOX[0] * BOX[1] / (square * square.sqrt());
        let dim = ((1.0 - x.abs().max(y.abs())) * 8.0).min(1.0);
        [sun, Lamp { to: at / square.sqrt(), light: self.softbox * (angle * dim) }]
    }
}

/// A point of the unit disc, evenly.
pub(crate) fn disc([u, v]: [f32; 2]) -> [f32; 2] {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * v);
    [u.sqrt() * cos, u.sqrt() * sin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lamps_send_is_what_is_seen_of_them() {
        let sky = Sky::new(Vec3::new(0.3, 0.8, 0.5).normalize(), Vec3::NEG_Z, Theme::Light);
        let count = 100_000;
        let asked: f64 = (0..count).map(|k| f64::from(sky.lamps(&mut Random::new(k, 3))[1].light.y)).sum();
        // Rings and sectors of equal area, 4π in all.
        let (rings, sectors) = (500, 1000);
        let mut met = 0.0;
        for ring in 0..rings {
            let y = 1.0 - 2.0 * (ring as f32 + 0.5) / rings as f32;
            for sector in 0..sectors {
                let (sin, cos) = libm::sincosf(std::f32::consts::TAU * sector as f32 / sectors as f32);
                let d = Vec3::new((1.0 - y * y).sqrt() * cos, y, (1.0 - y * y).sqrt() * sin);
                if d.dot(sky.sun) < 0.99 {
                    met += f64::from((sky.seen(d) - sky.dome(d)).y);
                }
            }
        }
        let angle = 4.0 * std::f64::consts::PI / f64::from(rings * sectors);
        let ratio = asked / count as f64 / (met * angle);
        assert!(asked > 0.0 && (ratio - 1.0).abs() < 0.01, "{ratio}");
    }
}
