//! Lists of items per strip of a picture, in the order in which the items were given.

use std::ops::Range;

/// Items sorted into numbered bins; an item may lie in several neighbouring bins.
#[derive(Debug, Default)]
pub(crate) struct Bins {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Bins {
    /// Sorts items with their ranges of bins. The order within a bin is the order of `spans`.
    pub(crate) fn fill(&mut self, bins: usize, spans: impl Iterator<Item = (u32, Range<usize>)> + Clone) {
        self.starts.clear();
        self.starts.resize(bins + 2, 0);
        // Counts are kept two places on: after the running sum, starts[b + 1] is where bin b begins and grows to its
        // end while the bin is filled.
        for bin in spans.clone().flat_map(|(_, range)| range.start..range.end.min(bins)) {
            self.starts[bin + 2] += 1;
        }
        for bin in 1..self.starts.len() {
            self.starts[bin] += self.starts[bin - 1];
        }
        self.items.clear();
        self.items.resize(self.starts[bins + 1] as usize, 0);
        for (item, range) in spans {
            for bin in range.start..range.end.min(bins) {
                self.items[self.starts[bin + 1] as usize] = item;
                self.starts[bin + 1] += 1;
            }
        }
    }

    /// The items of a bin.
    pub(crate) fn of(&self, bin: usize) -> &[u32] {
        &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_order_and_ranges_are_cut() {
        let mut bins = Bins::default();
        bins.fill(3, [(7, 0..2), (5, 1..9), (6, 1..2), (4, 3..5)].into_iter());
        assert_eq!((bins.of(0), bins.of(1), bins.of(2)), (&[7][..], &[7, 5, 6][..], &[5][..]));
        bins.fill(1, std::iter::empty());
        assert!(bins.of(0).is_empty());
    }
}
