//! Particles that are looked at more closely.

use crate::simd::{LANES, set_first};
use fearless_simd::{Bytes, Simd, SimdBase, SimdMask, mask32x8, u32x8};

/// Some particles, in their order.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    list: Vec<u32>,
    count: usize,
}

impl Chosen {
    /// Makes room for so many.
    pub(super) fn clear(&mut self, room: usize) {
        if self.list.len() < room {
            self.list.resize(room.next_power_of_two(), 0);
        }
        self.count = 0;
    }

    /// Takes up those of eight particles that are set.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, simd: S, set: mask32x8<S>, numbers: u32x8<S>) {
        let set_first = set_first(simd, numbers.bitcast(), set).bitcast::<u32x8<S>>();
        set_first.store_slice(&mut self.list[self.count..self.count + LANES]);
        self.count += set.to_bitmask().count_ones() as usize;
    }

    pub(super) fn all(&self) -> &[u32] {
        &self.list[..self.count]
    }

    /// For how many there is room.
    pub(super) fn room(&self) -> usize {
        self.list.len()
    }

    /// All of them, eight at a time; the last ones may be nobody.
    #[inline(always)]
    pub(super) fn eights(&mut self, nobody: u32) -> &[[u32; LANES]] {
        self.list[self.count..self.count + LANES].fill(nobody);
        self.list[..self.count.next_multiple_of(LANES)].as_chunks().0
    }
}
