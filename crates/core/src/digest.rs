//! Fingerprints of states and files.

use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// A 128-bit fingerprint, fed piece by piece. Feed particles in id order: storage order is not state.
#[derive(Clone, Default)]
pub struct Digest(Xxh3Default);

impl Digest {
    /// Adds one integer.
    #[must_use]
    pub fn u64(mut self, value: u64) -> Self {
        self.0.update(&value.to_le_bytes());
        self
    }

    /// Adds the bits of one float: 0.0 and -0.0 differ, as they should.
    #[must_use]
    pub fn f64(self, value: f64) -> Self {
        self.u64(value.to_bits())
    }

    /// Adds the bits of three floats.
    pub fn vec3(&mut self, value: glam::Vec3) {
        self.0.update(bytemuck::bytes_of(&value));
    }

    /// Adds raw bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The fingerprint as 32 hexadecimal digits.
    #[must_use]
    pub fn finish(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

/// The 64-bit checksum that guards files against truncation and flipped bits.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
