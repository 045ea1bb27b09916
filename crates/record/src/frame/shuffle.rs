//! Arrays to bytes and back, without loss.
//!
//! An array of `rows` × `columns` words is cut into blocks of [`BLOCK_ROWS`] rows. Within a block each column is
//! optionally replaced by the differences of its neighbours (zigzag: 0, −1, 1, −2, … become 0, 1, 2, 3, …), then split
//! into byte planes: first the lowest byte of every row, then the second, and so on. Neighbours have equal high bytes,
//! so the planes of the high bytes are long repetitions, which LZ4 folds. A block is preceded by its stored length
//! (u32); a block that LZ4 cannot shorten is stored as it is, which shows in the length.
//!
//! Words are taken apart by shifts: the files are little endian on every machine.

use bytemuck::Pod;
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};

/// Rows per block: a block of positions has 768 KiB and stays in the cache.
pub(crate) const BLOCK_ROWS: usize = 1 << 16;

/// The most that one stored byte can stand for: what LZ4 reaches on a single repeated byte.
pub(crate) const MAX_RATIO: u64 = 255;

/// What is done to the columns before they are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filter {
    /// Nothing.
    Plain,
    /// Each word is replaced by its difference from the one a row above.
    Delta,
}

impl Filter {
    pub(crate) const ALL: [Self; 2] = [Self::Plain, Self::Delta];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "shuffle",
            Self::Delta => "delta-shuffle",
        }
    }
}

/// An unsigned integer that carries the bits of a value.
pub(crate) trait Word: Pod + PartialEq {
    const BYTES: usize = size_of::<Self>();
    fn byte(self, k: usize) -> u8;
    fn or_byte(self, k: usize, byte: u8) -> Self;
    fn delta(self, previous: Self) -> Self;
    fn add_delta(self, delta: Self) -> Self;
}

macro_rules! word {
    ($($unsigned:ty, $signed:ty);*) => {$(
        impl Word for $unsigned {
            #[inline]
            fn byte(self, k: usize) -> u8 {
                (self >> (8 * k)) as u8
            }
            #[inline]
            fn or_byte(self, k: usize, byte: u8) -> Self {
                self | (Self::from(byte) << (8 * k))
            }
            #[inline]
            fn delta(self, previous: Self) -> Self {
                let difference = self.wrapping_sub(previous) as $signed;
                ((difference << 1) ^ (difference >> (<$signed>::BITS - 1))) as Self
            }
            #[inline]
            fn add_delta(self, delta: Self) -> Self {
                self.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg())
            }
        }
    )*};
}
word!(u8, i8; u16, i16; u32, i32; u64, i64);

/// Packs an array under the filter that makes its first block shorter.
pub(crate) fn pack<W: Word>(words: &[W], columns: usize) -> (Filter, Vec<u8>) {
    let first = words.get(..BLOCK_ROWS * columns).unwrap_or(words);
    let [plain, delta] = Filter::ALL.map(|filter| pack_as(filter, first, columns));
    let (filter, packed) = if delta.len() < plain.len() { (Filter::Delta, delta) } else { (Filter::Plain, plain) };
    if first.len() == words.len() {
        return (filter, packed);
    }
    (filter, pack_as(filter, words, columns))
}

fn pack_as<W: Word>(filter: Filter, words: &[W], columns: usize) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut planes = Vec::new();
    let mut squeezed = Vec::new();
    for block in words.chunks(BLOCK_ROWS * columns) {
        planes.clear();
        split(filter, block, columns, &mut planes);
        push_block(&planes, &mut squeezed, &mut packed);
    }
    packed
}

fn split<W: Word>(filter: Filter, block: &[W], columns: usize, planes: &mut Vec<u8>) {
    let mut column: Vec<W> = Vec::with_capacity(block.len() / columns);
    for c in 0..columns {
        column.clear();
        column.extend(block.iter().skip(c).step_by(columns));
        if filter == Filter::Delta {
            to_differences(&mut column);
        }
        for k in 0..W::BYTES {
            planes.extend(column.iter().map(|word| word.byte(k)));
        }
    }
}

fn to_differences<W: Word>(column: &mut [W]) {
    let mut previous = W::zeroed();
    for word in column {
        (*word, previous) = (word.delta(previous), *word);
    }
}

fn push_block(planes: &[u8], squeezed: &mut Vec<u8>, packed: &mut Vec<u8>) {
    squeezed.resize(get_maximum_output_size(planes.len()), 0);
    let shorter = match compress_into(planes, squeezed) {
        Ok(length) if length < planes.len() => squeezed.get(..length),
        _ => None,
    };
    let stored = shorter.unwrap_or(planes);
    // A block has at most BLOCK_ROWS rows of a few words: far below 4 GiB.
    packed.extend((stored.len() as u32).to_le_bytes());
    packed.extend_from_slice(stored);
}

/// Fills `words` from packed bytes; says what is wrong with them when it cannot.
pub(crate) fn unpack<W: Word>(
    filter: Filter,
    columns: usize,
    mut packed: &[u8],
    words: &mut [W],
) -> Result<(), &'static str> {
    let mut planes = Vec::new();
    for block in words.chunks_mut(BLOCK_ROWS * columns) {
        planes.resize(block.len() * W::BYTES, 0);
        packed = take_block(packed, &mut planes)?;
        join(filter, columns, &planes, block);
    }
    if packed.is_empty() { Ok(()) } else { Err("more bytes than its shape needs") }
}

/// Undoes one block into `planes` and returns the bytes behind it.
fn take_block<'a>(packed: &'a [u8], planes: &mut [u8]) -> Result<&'a [u8], &'static str> {
    let (length, rest) = packed.split_first_chunk().ok_or("fewer blocks than its shape needs")?;
    let length = u32::from_le_bytes(*length) as usize;
    let (stored, rest) = rest.split_at_checked(length).ok_or("a block reaches past its end")?;
    if length == planes.len() {
        planes.copy_from_slice(stored);
        return Ok(rest);
    }
    match decompress_into(stored, planes) {
        Ok(written) if written == planes.len() => Ok(rest),
        _ => Err("a block that does not decompress to its size"),
    }
}

/// Puts the planes of a block together again. `planes` has exactly the bytes of `block`.
fn join<W: Word>(filter: Filter, columns: usize, planes: &[u8], block: &mut [W]) {
    let rows = block.len() / columns;
    let mut column = vec![W::zeroed(); rows];
    for (c, planes) in planes.chunks_exact((rows * W::BYTES).max(1)).enumerate() {
        column.fill(W::zeroed());
        for (k, plane) in planes.chunks_exact(rows).enumerate() {
            for (word, &byte) in column.iter_mut().zip(plane) {
                *word = word.or_byte(k, byte);
            }
        }
        if filter == Filter::Delta {
            from_differences(&mut column);
        }
        for (to, &from) in block.iter_mut().skip(c).step_by(columns).zip(&column) {
            *to = from;
        }
    }
}

fn from_differences<W: Word>(column: &mut [W]) {
    let mut previous = W::zeroed();
    for word in column {
        previous = previous.add_delta(*word);
        *word = previous;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip<W: Word + std::fmt::Debug>(words: &[W], columns: usize) {
        for filter in Filter::ALL {
            let packed = pack_as(filter, words, columns);
            let mut back = vec![W::zeroed(); words.len()];
            unpack(filter, columns, &packed, &mut back).unwrap();
            assert!(back == words, "{filter:?}");
            assert!(words.len() * W::BYTES <= packed.len() * MAX_RATIO as usize);
        }
    }

    proptest! {
        #[test]
        fn every_word_comes_back(words in prop::collection::vec(any::<u32>(), 0..400), columns in 1usize..6) {
            let rows = words.len() / columns;
            round_trip(&words[..rows * columns], columns);
            round_trip(&words.iter().map(|&w| w as u16).collect::<Vec<_>>(), 1);
            round_trip(&words.iter().map(|&w| u64::from(w) << 17 | 5).collect::<Vec<_>>(), 1);
        }

        #[test]
        fn a_delta_is_undone(a in any::<u16>(), b in any::<u16>()) {
            prop_assert_eq!(a.add_delta(b.delta(a)), b);
        }
    }

    #[test]
    fn arrays_of_several_blocks_come_back() {
        round_trip(&(0..3 * BLOCK_ROWS as u32 + 7).map(|i| i.wrapping_mul(i)).collect::<Vec<_>>(), 1);
        round_trip(&vec![0u8; 5 * BLOCK_ROWS], 1);
    }

    #[test]
    fn ascending_ids_take_almost_no_room() {
        let ids: Vec<u32> = (0..20_000).map(|i| 3 * i + 1000).collect();
        let (filter, packed) = pack(&ids, 1);
        assert_eq!(filter, Filter::Delta);
        assert!(packed.len() < 500, "{} bytes", packed.len());
    }

    #[test]
    fn damaged_blocks_are_told() {
        let packed = pack_as(Filter::Plain, &[1u32, 2, 3, 4], 1);
        let mut words = [0u32; 4];
        for end in 0..packed.len() {
            assert!(unpack(Filter::Plain, 1, &packed[..end], &mut words).is_err(), "cut at {end}");
        }
        assert!(unpack(Filter::Plain, 1, &[packed, vec![0]].concat(), &mut words).is_err());
    }
}
