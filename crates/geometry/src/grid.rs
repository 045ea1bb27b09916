//! The uniform neighbour grid: points sorted by cell, no hash map.
//!
//! Points are put in the order of their cells by a counting sort; cells run x-fastest, so that the 27 cells around
//! a cell are nine ranges of three cells each. The sort is stable: the order within a cell is that of the input.
//!
//! | symbol | meaning |
//! |---|---|
//! | cell | edge of a cell \[m\], at least the search radius |
//! | key | number of a cell: (z·ny + y)·nx + x |
//! | starts | `starts[key]..starts[key + 1]` are the sorted indices of the points of a cell |

use glam::{IVec3, Vec3};
use meniscus_core::par;
use rayon::prelude::*;
use std::ops::Range;

/// Space that repeats along some axes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Periodic {
    /// Lower corner of the repeated box \[m\]; only periodic axes count.
    pub min: Vec3,
    /// Length of the repeated box along each axis \[m\]; zero where space does not repeat.
    pub length: Vec3,
}

impl Periodic {
    /// Whether any axis repeats.
    #[must_use]
    pub fn any(&self) -> bool {
        self.length != Vec3::ZERO
    }

    /// The image of a point inside the repeated box.
    #[must_use]
    pub fn wrap(&self, mut point: Vec3) -> Vec3 {
        for axis in 0..3 {
            let length = self.length[axis];
            if length > 0.0 {
                let turns = ((point[axis] - self.min[axis]) / length).floor();
                point[axis] -= turns * length;
                // Rounding can leave the point on the far face, which is the near one.
                if point[axis] >= self.min[axis] + length {
                    point[axis] = self.min[axis];
                }
            }
        }
        point
    }

    /// The shortest image of a difference of two points.
    #[must_use]
    pub fn shortest(&self, mut difference: Vec3) -> Vec3 {
        for axis in 0..3 {
            let length = self.length[axis];
            if length > 0.0 {
                difference[axis] -= length * (difference[axis] / length).round_ties_even();
            }
        }
        difference
    }
}

/// Points sorted into the cells of a uniform grid. Holds its memory between calls.
#[derive(Debug, Clone, Default)]
pub struct NeighbourGrid {
    /// Bounds of the points.
    low: Vec3,
    high: Vec3,
    origin: Vec3,
    inverse_cell: Vec3,
    dims: IVec3,
    periodic: Periodic,
    starts: Vec<u32>,
    keys: Vec<u32>,
    sorted_keys: Vec<u32>,
    order: Vec<u32>,
    next: Vec<u32>,
}

impl NeighbourGrid {
    /// Sorts points into cells of at least `radius`. Points must be finite and, on periodic axes, inside the box.
    ///
    /// # Panics
    /// If there are more than 2³² − 2 points.
    pub fn sort(&mut self, points: &[Vec3], radius: f32, periodic: Periodic) {
        assert!(points.len() < u32::MAX as usize, "too many points for 32-bit indices");
        self.lay_out(points, radius, periodic);
        self.number_cells(points);
        self.count_and_place();
    }

    /// `order()[k]` is the index, before sorting, of the point at sorted index `k`.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The cell of the point at a sorted index.
    #[must_use]
    pub fn key(&self, index: usize) -> u32 {
        self.sorted_keys[index]
    }

    /// The sorted indices of the points of a cell.
    #[must_use]
    pub fn cell(&self, key: u32) -> Range<usize> {
        self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Calls `visit` with each range of sorted indices around a cell (itself included) and the shift \[m\] that brings
    /// those points next to the cell; the shift is zero unless the way there crosses a periodic border.
    pub fn for_each_range_around(&self, key: u32, mut visit: impl FnMut(Range<usize>, Vec3)) {
        let key = key as i32;
        let x = key % self.dims.x;
        let y = key / self.dims.x % self.dims.y;
        let z = key / (self.dims.x * self.dims.y);
        for dz in -1..=1 {
            let Some((z, shift_z)) = self.step(2, z + dz) else { continue };
            for dy in -1..=1 {
                let Some((y, shift_y)) = self.step(1, y + dy) else { continue };
                let row = (z * self.dims.y + y) * self.dims.x;
                if self.periodic.length.x > 0.0 {
                    for dx in -1..=1 {
                        if let Some((x, shift_x)) = self.step(0, x + dx) {
                            visit(self.indices(row + x, row + x), Vec3::new(shift_x, shift_y, shift_z));
                        }
                    }
                } else {
                    let (from, to) = ((x - 1).max(0), (x + 1).min(self.dims.x - 1));
                    visit(self.indices(row + from, row + to), Vec3::new(0.0, shift_y, shift_z));
                }
            }
        }
    }

    /// Cells whose box meets a box, as ranges of sorted indices; without periodic images.
    pub fn for_each_range_in(&self, min: Vec3, max: Vec3, mut visit: impl FnMut(Range<usize>)) {
        if self.order.is_empty() || max.cmplt(min).any() || max.cmplt(self.low).any() || min.cmpgt(self.high).any() {
            return;
        }
        let (from, to) = (self.coordinates(min), self.coordinates(max));
        for z in from.z..=to.z {
            for y in from.y..=to.y {
                let row = (z * self.dims.y + y) * self.dims.x;
                visit(self.indices(row + from.x, row + to.x));
            }
        }
    }

    fn indices(&self, from_key: i32, to_key: i32) -> Range<usize> {
        self.starts[from_key as usize] as usize..self.starts[to_key as usize + 1] as usize
    }

    /// A cell coordinate after a step to the side: wrapped with its shift, or `None` past the border.
    fn step(&self, axis: usize, coordinate: i32) -> Option<(i32, f32)> {
        let count = self.dims[axis];
        if (0..count).contains(&coordinate) {
            return Some((coordinate, 0.0));
        }
        let length = self.periodic.length[axis];
        let turn = coordinate.div_euclid(count);
        (length > 0.0).then(|| (coordinate.rem_euclid(count), turn as f32 * length))
    }

    fn lay_out(&mut self, points: &[Vec3], radius: f32, periodic: Periodic) {
        let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let (min, max) = par::reduce(
            points.len(),
            &|range| points[range].iter().fold(none, |(lo, hi), &p| (lo.min(p), hi.max(p))),
            &|a, b| (a.0.min(b.0), a.1.max(b.1)),
        )
        .unwrap_or((Vec3::ZERO, Vec3::ZERO));
        (self.low, self.high) = (min, max);
        self.periodic = periodic;
        let mut counts = [0.0f64; 3];
        for axis in 0..3 {
            let length = periodic.length[axis];
            if length > 0.0 {
                let count = (length / radius).floor().max(1.0);
                counts[axis] = f64::from(count);
                self.origin[axis] = periodic.min[axis];
                self.inverse_cell[axis] = count / length;
            } else {
                // A hair larger than the radius: rounding of keys must not lose a neighbour.
                let cell = radius * 1.0001;
                counts[axis] = (f64::from((max[axis] - min[axis]).max(0.0)) / f64::from(cell)).floor() + 1.0;
                self.origin[axis] = min[axis];
                self.inverse_cell[axis] = 1.0 / cell;
            }
        }
        // Plenty for any cloud; a lone far particle must not buy millions of empty cells.
        let most = points.len() as f64 * 16.0 + 4096.0;
        if counts.iter().product::<f64>() > most {
            self.trim(&mut counts, most, points);
        }
        self.dims = IVec3::new(counts[0] as i32, counts[1] as i32, counts[2] as i32);
    }

    /// Keeps the cells round the median point of each axis: the others count to the border cells.
    fn trim(&mut self, counts: &mut [f64; 3], most: f64, points: &[Vec3]) {
        let keep = most.cbrt().floor();
        for axis in 0..3 {
            if counts[axis] <= keep || self.periodic.length[axis] > 0.0 {
                continue;
            }
            let mut sample: Vec<f32> = points.iter().step_by(points.len().div_ceil(1000)).map(|p| p[axis]).collect();
            sample.sort_unstable_by(f32::total_cmp);
            let median = sample[sample.len() / 2];
            counts[axis] = keep;
            self.origin[axis] = median - 0.5 * keep as f32 / self.inverse_cell[axis];
        }
    }

    /// Cell coordinates of a point. Points beyond the border count to the border cells: clamping brings cells no
    /// further apart, so that neighbours stay in adjacent cells.
    fn coordinates(&self, point: Vec3) -> IVec3 {
        ((point - self.origin) * self.inverse_cell).as_ivec3().clamp(IVec3::ZERO, self.dims - IVec3::ONE)
    }

    fn number_cells(&mut self, points: &[Vec3]) {
        self.keys.resize(points.len(), 0);
        let mut keys = std::mem::take(&mut self.keys);
        keys.par_iter_mut().with_min_len(par::PIECE).zip(points.par_iter()).for_each(|(key, &point)| {
            let c = self.coordinates(point);
            *key = ((c.z * self.dims.y + c.y) * self.dims.x + c.x) as u32;
        });
        self.keys = keys;
    }

    fn count_and_place(&mut self) {
        let cells = self.dims.x as usize * self.dims.y as usize * self.dims.z as usize;
        let threads = if self.keys.len() < FEW { 1 } else { rayon::current_num_threads() };
        let part = Part { keys: &self.keys, first: 0, around: 0..self.keys.len(), threads };
        self.starts.clear();
        self.starts.resize(cells + 1, 0);
        part.clone().count(&mut self.starts[1..]);
        let mut total = 0;
        for start in &mut self.starts {
            total += *start;
            *start = total;
        }
        self.next.clear();
        self.next.extend_from_slice(&self.starts[..cells]);
        self.order.resize(self.keys.len(), 0);
        self.sorted_keys.resize(self.keys.len(), 0);
        part.place(&mut self.next, 0, &mut self.order, &mut self.sorted_keys);
    }
}

/// Fewer points are sorted by one thread.
const FEW: usize = 1 << 14;

/// The points of some cells, which a few threads sort: each looks at all keys, and puts down those of its own cells.
#[derive(Clone)]
struct Part<'a> {
    /// Cells of all points.
    keys: &'a [u32],
    /// The first of its own cells.
    first: u32,
    /// Where most of its points are if points are sorted already, or nearly.
    around: Range<usize>,
    threads: usize,
}

impl Part<'_> {
    /// Two parts, and how many of its `cells` are those of the first.
    fn split(self, cells: usize) -> ([Self; 2], usize) {
        let middle = (self.around.start + self.around.end) / 2;
        let cut = (self.keys[middle].saturating_sub(self.first) as usize).min(cells);
        let half = self.threads / 2;
        let low = Self { around: self.around.start..middle, threads: half, ..self.clone() };
        let (first, around) = (self.first + cut as u32, middle..self.around.end);
        let high = Self { first, around, threads: self.threads - half, ..self };
        ([low, high], cut)
    }

    /// Counts the points of each of its cells.
    fn count(self, counts: &mut [u32]) {
        if self.threads > 1 {
            let ([low, high], cut) = self.split(counts.len());
            let (below, above) = counts.split_at_mut(cut);
            rayon::join(|| low.count(below), || high.count(above));
            return;
        }
        for key in self.keys {
            if let Some(count) = counts.get_mut(key.wrapping_sub(self.first) as usize) {
                *count += 1;
            }
        }
    }

    /// Puts its points, which begin at an index, in order; `next` says where those of each cell begin.
    fn place(self, next: &mut [u32], begin: u32, order: &mut [u32], sorted_keys: &mut [u32]) {
        if self.threads > 1 {
            let ([low, high], cut) = self.split(next.len());
            let middle = next.get(cut).map_or(begin + order.len() as u32, |next| *next);
            let (next_below, next_above) = next.split_at_mut(cut);
            let (order_below, order_above) = order.split_at_mut((middle - begin) as usize);
            let (keys_below, keys_above) = sorted_keys.split_at_mut((middle - begin) as usize);
            rayon::join(
                || low.place(next_below, begin, order_below, keys_below),
                || high.place(next_above, middle, order_above, keys_above),
            );
            return;
        }
        for (i, &key) in (0..).zip(self.keys) {
            if let Some(next) = next.get_mut(key.wrapping_sub(self.first) as usize) {
                let index = (*next - begin) as usize;
                order[index] = i;
                sorted_keys[index] = key;
                *next += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pairs (i, j) closer than `radius`, found through the grid; indices before sorting.
    fn pairs_by_grid(points: &[Vec3], radius: f32, periodic: Periodic) -> Vec<(usize, usize)> {
        let mut grid = NeighbourGrid::default();
        grid.sort(points, radius, periodic);
        let mut pairs = Vec::new();
        for index in 0..points.len() {
            let i = grid.order()[index] as usize;
            grid.for_each_range_around(grid.key(index), |range, shift| {
                for other in range {
                    let j = grid.order()[other] as usize;
                    if (points[j] + shift - points[i]).length() < radius {
                        pairs.push((i, j));
                    }
                }
            });
        }
        pairs.sort_unstable();
        pairs
    }

    fn pairs_by_brute_force(points: &[Vec3], radius: f32, periodic: Periodic) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for i in 0..points.len() {
            for j in 0..points.len() {
                if periodic.shortest(points[j] - points[i]).length() < radius {
                    pairs.push((i, j));
                }
            }
        }
        pairs
    }

    fn point() -> impl Strategy<Value = Vec3> {
        (0f32..1.0, 0f32..1.0, 0f32..1.0).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    #[test]
    fn the_sort_is_stable_at_any_number_of_threads() {
        // Not in order, in order, all in one cell.
        let scattered: Vec<Vec3> = (0..FEW + 123)
            .map(|k| Vec3::from_array([0.754_877_7, 0.569_840_3, 0.362_7].map(|step| (step * k as f32).fract())))
            .collect();
        let mut sorted = scattered.clone();
        sorted.sort_by(|a, b| a.z.total_cmp(&b.z));
        for points in [scattered, sorted, vec![Vec3::ONE; FEW]] {
            for threads in [1, 2, 3, 8] {
                let mut grid = NeighbourGrid::default();
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| grid.sort(&points, 0.07, Periodic::default()));
                let mut order: Vec<u32> = (0..points.len() as u32).collect();
                order.sort_by_key(|&i| grid.keys[i as usize]);
                assert_eq!(grid.order(), order, "{threads} threads");
                let keys: Vec<u32> = order.iter().map(|&i| grid.keys[i as usize]).collect();
                assert_eq!(grid.sorted_keys, keys);
                for key in 0..grid.cells() as u32 {
                    assert!(grid.sorted_keys[grid.cell(key)].iter().all(|&k| k == key));
                }
                assert_eq!(grid.starts[grid.cells()] as usize, points.len());
            }
        }
    }

    proptest! {
        #[test]
        fn grid_equals_brute_force(
            points in prop::collection::vec(point(), 0..120),
            radius in 0.05f32..0.6,
            stretch in 0.01f32..30.0,
        ) {
            let points: Vec<Vec3> = points.iter().map(|p| *p * Vec3::new(stretch, 1.0, 1.0 / stretch)).collect();
            let free = Periodic::default();
            prop_assert_eq!(pairs_by_grid(&points, radius, free), pairs_by_brute_force(&points, radius, free));
        }

        #[test]
        fn periodic_grid_equals_brute_force(
            points in prop::collection::vec(point(), 0..120),
            radius in 0.05f32..0.45,
            axes in prop::array::uniform3(any::<bool>()),
        ) {
            let length = Vec3::from_array(axes.map(|on| if on { 1.0 } else { 0.0 }));
            let periodic = Periodic { min: Vec3::ZERO, length };
            // A pair at the very edge of the radius may round either way through different shifts.
            let edge = |&(i, j): &(usize, usize)| (periodic.shortest(points[j] - points[i]).length() - radius).abs() > 1e-6;
            let by_grid: Vec<_> = pairs_by_grid(&points, radius, periodic).into_iter().filter(edge).collect();
            let brute: Vec<_> = pairs_by_brute_force(&points, radius, periodic).into_iter().filter(edge).collect();
            prop_assert_eq!(by_grid, brute);
        }

        #[test]
        fn boxes_hold_their_points(points in prop::collection::vec(point(), 1..200), a in point(), b in point()) {
            let mut grid = NeighbourGrid::default();
            grid.sort(&points, 0.17, Periodic::default());
            let (min, max) = (a.min(b), a.max(b));
            let mut found = vec![false; points.len()];
            grid.for_each_range_in(min, max, |range| range.for_each(|k| found[grid.order()[k] as usize] = true));
            for (point, found) in points.iter().zip(found) {
                prop_assert!(found || point.cmplt(min).any() || point.cmpgt(max).any());
            }
        }
    }

    #[test]
    fn a_far_particle_buys_no_empty_cells_and_loses_no_neighbour() {
        let mut points: Vec<Vec3> = (0..100).map(|i| Vec3::new(0.01 * i as f32, 0.0, 0.0)).collect();
        points.extend([Vec3::splat(1e6), Vec3::splat(1e6) + Vec3::X * 0.0625, Vec3::splat(-3e9)]);
        let mut grid = NeighbourGrid::default();
        grid.sort(&points, 0.1, Periodic::default());
        assert!(grid.cells() < 10_000, "{} cells", grid.cells());
        let free = Periodic::default();
        assert_eq!(pairs_by_grid(&points, 0.1, free), pairs_by_brute_force(&points, 0.1, free));
    }

    #[test]
    fn sorting_is_stable_and_repeats() {
        let points: Vec<Vec3> = (0..1000).map(|i| Vec3::splat((i * 7919 % 1000) as f32 * 1e-3)).collect();
        let mut grid = NeighbourGrid::default();
        grid.sort(&points, 0.2, Periodic::default());
        let first = grid.order().to_vec();
        grid.sort(&points, 0.2, Periodic::default());
        assert_eq!(first, grid.order());
        for pair in first.windows(2).enumerate().filter(|(k, _)| grid.key(*k) == grid.key(k + 1)) {
            assert!(pair.1[0] < pair.1[1], "stable within a cell");
        }
    }

    #[test]
    fn wrapping_stays_inside() {
        let periodic = Periodic { min: Vec3::new(-1.0, 0.0, 0.0), length: Vec3::new(0.3, 0.0, 0.0) };
        for x in [-5.0f32, -1.0, -0.7, -0.699_999_9, 0.0, 12.34, -1.0 - 1e-9] {
            let wrapped = periodic.wrap(Vec3::new(x, 7.0, 7.0));
            assert!((-1.0..-0.7).contains(&wrapped.x), "{x} became {}", wrapped.x);
            assert_eq!((wrapped.y, wrapped.z), (7.0, 7.0));
        }
    }
}
