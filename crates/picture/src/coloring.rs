//! From a quantity to a colour: ranges that suit a frame, and the colours between their ends.

use glam::Vec3;
use meniscus_core::{BodyKind, Frame, Particles};

use crate::Coloring;
use crate::color::{Light, linear};

/// Particles looked at to find a range.
const SAMPLES: usize = 8192;

/// Entries of a colour table.
const SHADES: usize = 256;

type Stops = &'static [[u8; 3]];

const RED_TO_YELLOW: Stops =
    &[[150, 8, 20], [190, 14, 18], [218, 44, 14], [236, 92, 10], [247, 142, 14], [253, 188, 24], [255, 230, 52]];
const BLUE_TO_RED: Stops =
    &[[24, 62, 150], [52, 118, 196], [138, 188, 226], [238, 238, 234], [240, 170, 130], [214, 86, 62], [150, 16, 36]];
const DEEP_TO_FOAM: Stops =
    &[[4, 42, 96], [6, 68, 132], [10, 104, 168], [32, 146, 196], [98, 192, 220], [196, 232, 240], [252, 254, 255]];

const PLAIN: [f32; 3] = [0.20, 0.48, 0.74];
const UNKNOWN_BODY: [f32; 3] = [0.62, 0.64, 0.67];

/// The range of colours that suits a frame, in the unit of the quantity: the bulk of the values, rounded outwards to
/// short numbers. `None` when the colouring has no scale or the frame no usable value.
#[must_use]
pub fn automatic_range(frame: &Frame, coloring: Coloring) -> Option<[f32; 2]> {
    let quantity = Quantity::of(coloring)?;
    let values = quantity.sample(frame);
    let last = values.len().checked_sub(1)?;
    let (low, high) = (values[last / 50], values[last - last / 50]);
    if quantity == Quantity::Speed {
        return Some([0.0, if high > 0.0 { round_up(high) } else { 1.0 }]);
    }
    let scale = low.abs().max(high.abs());
    let span = (high - low).max(1e-3 * scale).max(f32::MIN_POSITIVE);
    let step = round_up(span / 8.0);
    Some([(low / step).floor() * step, ((high / step).ceil() * step).max((low / step).floor() * step + step)])
}

/// The smallest short number (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten) that is not below `value` > 0.
pub(crate) fn round_up(value: f32) -> f32 {
    const SHORT: [f64; 11] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let value = f64::from(value);
    let power = libm::exp10(libm::floor(libm::log10(value)));
    let factor = SHORT.into_iter().find(|s| s * power >= value * (1.0 - 1e-6)).unwrap_or(10.0);
    (factor * power) as f32
}

/// A quantity that particles carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Speed,
    Density,
    Pressure,
}

impl Quantity {
    fn of(coloring: Coloring) -> Option<Self> {
        match coloring {
            Coloring::Speed | Coloring::Water => Some(Self::Speed),
            Coloring::Density => Some(Self::Density),
            Coloring::Pressure => Some(Self::Pressure),
            Coloring::Body | Coloring::Plain => None,
        }
    }

    fn value(self, particles: &Particles, i: usize) -> Option<f32> {
        match self {
            Self::Speed => particles.velocities.get(i).map(|v| v.length()),
            Self::Density => particles.densities.get(i).copied(),
            Self::Pressure => particles.pressures.get(i).copied(),
        }
    }

    /// Finite values in ascending order: of particles, and of liquid surfaces when it is speed.
    fn sample(self, frame: &Frame) -> Vec<f32> {
        let particles = &frame.particles;
        let count = particles.positions.len();
        let of_particles = (0..count).step_by(stride(count)).filter_map(|i| self.value(particles, i));
        let liquid = frame.surfaces.iter().filter(|s| self == Self::Speed && is_liquid(frame, s.body));
        let of_surfaces =
            liquid.flat_map(|s| s.velocities.iter().step_by(stride(s.velocities.len())).map(|v| v.length()));
        let mut values: Vec<f32> = of_particles.chain(of_surfaces).filter(|v| v.is_finite()).collect();
        values.sort_unstable_by(f32::total_cmp);
        values
    }
}

fn stride(count: usize) -> usize {
    count.div_ceil(SAMPLES).max(1)
}

/// Whether a body is a liquid.
pub(crate) fn is_liquid(frame: &Frame, body: u16) -> bool {
    frame.bodies.get(body as usize).is_some_and(|b| b.kind == BodyKind::Liquid)
}

/// Colours for one picture: the colouring with its range.
#[derive(Debug, Clone)]
pub(crate) struct Paint {
    coloring: Coloring,
    range: [f32; 2],
    shades: Vec<Light>,
    bodies: Vec<Light>,
    plain: Light,
    /// Whether something in the frame carries the colours.
    used: bool,
}

impl Paint {
    /// The colours of `frame`; a `range` that is missing or useless is chosen automatically.
    pub(crate) fn new(frame: &Frame, coloring: Coloring, range: Option<[f32; 2]>) -> Self {
        let usable = range.filter(|[a, b]| a.is_finite() && b.is_finite() && a != b);
        let range = usable.or_else(|| automatic_range(frame, coloring)).unwrap_or([0.0, 1.0]);
        let bodies = frame.bodies.iter().map(|b| linear(b.color)).collect();
        let used = !frame.particles.positions.is_empty() || frame.surfaces.iter().any(|s| is_liquid(frame, s.body));
        Self { coloring, range, shades: shades(stops(coloring)), bodies, plain: linear(PLAIN), used }
    }

    /// Beside a surface that is as deep as it looks, the colours of a few drops need no scale.
    pub(crate) fn drop_scale_of_spray(&mut self, frame: &Frame) {
        self.used &= !frame.surfaces.iter().any(|s| is_liquid(frame, s.body));
    }

    /// Values at the two ends of the colours, when there is a scale and something to read it for.
    pub(crate) fn scale(&self) -> Option<[f32; 2]> {
        Quantity::of(self.coloring).filter(|_| self.used).map(|_| self.range)
    }

    /// Name and unit of the scale.
    pub(crate) fn title(&self) -> (&'static str, &'static str) {
        match self.coloring {
            Coloring::Speed | Coloring::Water => ("speed", "m/s"),
            Coloring::Density => ("density", "kg/m³"),
            Coloring::Pressure => ("pressure", "Pa"),
            Coloring::Body | Coloring::Plain => ("", ""),
        }
    }

    /// Whether liquids shine like water.
    pub(crate) fn is_water(&self) -> bool {
        self.coloring == Coloring::Water
    }

    /// Linear colour at a part 0..1 of the scale.
    pub(crate) fn shade(&self, part: f32) -> Light {
        // A NaN casts to zero.
        self.shades[((part * (SHADES - 1) as f32 + 0.5) as usize).min(SHADES - 1)]
    }

    /// Linear colour of a value on the scale.
    pub(crate) fn at(&self, value: f32) -> Light {
        self.shade((value - self.range[0]) / (self.range[1] - self.range[0]))
    }

    /// Linear colour of a particle.
    pub(crate) fn particle(&self, particles: &Particles, i: usize) -> Light {
        match Quantity::of(self.coloring) {
            Some(quantity) => self.at(quantity.value(particles, i).unwrap_or(self.range[0])),
            None if self.coloring == Coloring::Body => self.body(particles.bodies.get(i).copied().unwrap_or(u16::MAX)),
            None => self.plain,
        }
    }

    /// Linear colour of a vertex of a liquid surface.
    pub(crate) fn liquid_vertex(&self, body: u16, velocity: Option<&Vec3>) -> Light {
        match self.coloring {
            Coloring::Speed | Coloring::Water => self.at(velocity.map_or(0.0, |v| v.length())),
            Coloring::Plain => self.plain,
            Coloring::Body | Coloring::Density | Coloring::Pressure => self.body(body),
        }
    }

    /// Linear colour of the depth of a liquid.
    pub(crate) fn deep(&self, body: u16) -> Light {
        // Black would swallow all light of that colour at once.
        self.body(body).max(Light::splat(0.01))
    }

    /// Linear colour of a body.
    pub(crate) fn body(&self, body: u16) -> Light {
        self.bodies.get(body as usize).copied().unwrap_or(linear(UNKNOWN_BODY))
    }
}

fn stops(coloring: Coloring) -> Stops {
    match coloring {
        Coloring::Speed | Coloring::Body | Coloring::Plain => RED_TO_YELLOW,
        Coloring::Density | Coloring::Pressure => BLUE_TO_RED,
        Coloring::Water => DEEP_TO_FOAM,
    }
}

/// A table of linear colours, interpolated between sRGB stops at equal distances.
fn shades(stops: Stops) -> Vec<Light> {
    (0..SHADES)
        .map(|i| {
            let scaled = i as f32 / (SHADES - 1) as f32 * (stops.len() - 1) as f32;
            let first = (scaled as usize).min(stops.len() - 2);
            let part = scaled - first as f32;
            let mix = |c: usize| {
                let (a, b) = (f32::from(stops[first][c]), f32::from(stops[first + 1][c]));
                (a + (b - a) * part) / 255.0
            };
            linear([mix(0), mix(1), mix(2)])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moving(speeds: impl Iterator<Item = f32>) -> Frame {
        let velocities: Vec<Vec3> = speeds.map(|s| Vec3::X * s).collect();
        let positions = vec![Vec3::ZERO; velocities.len()];
        let particles = Particles { positions, velocities, ..Particles::default() };
        Frame { particles, ..Frame::default() }
    }

    #[test]
    fn speed_range_ignores_outliers_and_garbage() {
        let speeds = (0..1000).map(|i| i as f32 * 0.0019).chain([500.0, f32::NAN, f32::INFINITY]);
        assert_eq!(automatic_range(&moving(speeds), Coloring::Speed), Some([0.0, 2.0]));
        assert_eq!(automatic_range(&moving([0.0; 9].into_iter()), Coloring::Speed), Some([0.0, 1.0]));
        assert_eq!(automatic_range(&Frame::default(), Coloring::Speed), None);
        assert_eq!(automatic_range(&moving([1.0].into_iter()), Coloring::Body), None);
    }

    #[test]
    fn density_range_is_around_the_values() {
        let mut frame = moving((0..100).map(|_| 0.0));
        frame.particles.densities = (0..100).map(|i| 990.0 + 0.2 * i as f32).collect();
        let [low, high] = automatic_range(&frame, Coloring::Density).unwrap();
        assert!((980.0..=990.5).contains(&low) && (1009.0..1020.0).contains(&high), "{low} {high}");
        frame.particles.densities = vec![1000.0; 100];
        let [low, high] = automatic_range(&frame, Coloring::Density).unwrap();
        assert!(low < high && low <= 1000.0 && high >= 1000.0);
    }

    #[test]
    fn short_numbers_are_above() {
        for (value, short) in [(0.91, 1.0), (1.0, 1.0), (1.01, 1.2), (2.3, 2.5), (0.0071, 0.008), (95_000.0, 100_000.0)]
        {
            assert!((round_up(value) / short - 1.0).abs() < 1e-6, "{value} -> {}", round_up(value));
        }
    }

    #[test]
    fn slow_is_red_and_fast_is_yellow() {
        let paint = Paint::new(&Frame::default(), Coloring::Speed, Some([0.0, 2.0]));
        let (slow, fast) = (paint.at(-1.0), paint.at(9.0));
        assert!(slow.x > 10.0 * slow.y && slow.x > 10.0 * slow.z, "{slow}");
        assert!(fast.x > 0.9 && fast.y > 0.7 && fast.z < 0.1, "{fast}");
        assert_eq!(paint.at(f32::NAN), slow);
        let still = moving([0.0].into_iter());
        assert_eq!(Paint::new(&still, Coloring::Speed, Some([1.0, 1.0])).scale(), Some([0.0, 1.0]));
        assert_eq!(Paint::new(&Frame::default(), Coloring::Speed, None).scale(), None);
    }
}
