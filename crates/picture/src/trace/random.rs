//! Numbers that look random and depend on nothing but pixel, sample and how many were drawn before.

/// Draws of a path that are spread evenly over the samples of a pixel; later ones are independent of each other.
const EVEN: usize = 12;

/// Fractions of √2, √3, √5, …: steps that fill 0..1 evenly [each its own, so that pairs fill the square].
const STEPS: [f64; EVEN] = [
    0.414_213_562_373_095_1,
    0.732_050_807_568_877_2,
    0.236_067_977_499_789_8,
    0.645_751_311_064_590_7,
    0.316_624_790_355_399_8,
    0.605_551_275_463_989_1,
    0.123_105_625_617_660_5,
    0.358_898_943_540_673_6,
    0.795_831_523_312_719_5,
    0.385_164_807_134_504,
    0.567_764_362_830_021_6,
    0.082_762_530_298_219_3,
];

/// The numbers of one path.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    pixel: u64,
    sample: u32,
    drawn: usize,
}

impl Random {
    /// Numbers for a sample of a pixel.
    pub(crate) fn new(pixel: u64, sample: u32) -> Self {
        Self { pixel, sample, drawn: 0 }
    }

    /// The next number in 0..1, one excluded.
    pub(crate) fn next(&mut self) -> f32 {
        let k = self.drawn;
        self.drawn += 1;
        let number = if k < EVEN {
            let start = unit(mixed(self.pixel ^ (k as u64) << 40));
            let x = start + STEPS[k] * f64::from(self.sample);
            x - x.floor()
        } else {
            unit(mixed(mixed(self.pixel ^ u64::from(self.sample) << 36) ^ (k as u64)))
        };
        // Rounding to single precision must not reach one.
        (number as f32).min(1.0 - f32::EPSILON)
    }

    /// Two numbers.
    pub(crate) fn pair(&mut self) -> [f32; 2] {
        [self.next(), self.next()]
    }
}

/// 0..1 from 64 bits.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64
}

/// A permutation of 64 bits in which every input bit reaches every output bit.
fn mixed(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fill_the_interval_evenly_and_do_not_correlate() {
        for first in 0..EVEN + 4 {
            let mut sums = [0.0f64; 3];
            for pixel in 0..400 {
                for sample in 0..16 {
                    let mut random = Random::new(pixel, sample);
                    for _ in 0..first {
                        let _ = random.next();
                    }
                    let [a, b] = random.pair().map(f64::from);
                    sums = [sums[0] + a, sums[1] + a * a, sums[2] + (a - 0.5) * (b - 0.5)];
                }
            }
            let [mean, square, mixed] = sums.map(|s| s / 6400.0);
            assert!((mean - 0.5).abs() < 0.02 && (square - 1.0 / 3.0).abs() < 0.02, "{first}: {mean} {square}");
            assert!(mixed.abs() < 0.006, "{first}: {mixed}");
        }
    }
}
