//! Numbers that look random, for tests.

/// A generator of our own: millions of cases are too many for proptest.
pub(crate) struct TestRng(pub(crate) u64);

impl TestRng {
    /// A number from 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
