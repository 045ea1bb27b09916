//! Parallel loops and sums with the same bits at any number of threads.
//!
//! Work is cut into pieces whose borders depend on the length alone; pieces are combined along a fixed binary tree.
//! Nothing here allocates, but for [`awake`].

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Items per piece of a reduction. Part of the result's definition: changing it changes sums in the last bit.
pub const PIECE: usize = 256;

/// Items of a light loop (a few operations on each) that one thread has done before another one has heard of them.
pub const LIGHT: usize = 4 * PIECE;

/// Pieces that one thread works through before it looks whether another one is idle: fewer, and threads end together.
pub const BATCH: usize = 1;

/// Maps pieces of `0..len`, which should be light, and combines the results along a fixed tree. Returns `None` when `len` is zero.
pub fn reduce<T: Send>(
    len: usize,
    map: &(impl Fn(Range<usize>) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> Option<T> {
    (len > 0).then(|| reduce_range(0..len, map, combine))
}

fn reduce_range<T: Send>(
    range: Range<usize>,
    map: &(impl Fn(Range<usize>) -> T + Sync),
    combine: &(impl Fn(T, T) -> T + Sync),
) -> T {
    let pieces = range.len().div_ceil(PIECE);
    if pieces <= 1 {
        return map(range);
    }
    // The largest power of two below the number of pieces: the same tree whoever walks it.
    let left = pieces.next_power_of_two() / 2;
    let middle = range.start + left * PIECE;
    let light = range.len() <= LIGHT;
    let (low, high) = (range.start..middle, middle..range.end);
    let low = || reduce_range(low, map, combine);
    let high = || reduce_range(high, map, combine);
    let (a, b) = if light { (low(), high()) } else { rayon::join(low, high) };
    combine(a, b)
}

/// Sum of `value(i)` over `0..len`, in double precision.
pub fn sum(len: usize, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    reduce(len, &|range| range.map(&value).sum::<f64>(), &|a, b| a + b).unwrap_or(0.0)
}

/// Largest `value(i)` over `0..len`, or `floor` if none is larger. A NaN is passed on, so that it is not lost.
pub fn max(len: usize, floor: f64, value: impl Fn(usize) -> f64 + Sync) -> f64 {
    let larger = |a: f64, b: f64| if a.is_nan() || a > b { a } else { b };
    reduce(len, &|range| range.map(&value).fold(floor, larger), &larger).unwrap_or(floor)
}

/// The first index in `0..len` for which `test` holds.
pub fn find_first(len: usize, test: impl Fn(usize) -> bool + Sync) -> Option<usize> {
    reduce(len, &|mut range| range.find(|&i| test(i)), &Option::or).flatten()
}

/// Whether threads are being kept awake: those of one caller at a time, or two could end up waiting for each other.
static AWAKE: AtomicBool = AtomicBool::new(false);

/// Looks for work before a thread offers its core to other programs: some ten microseconds.
const PATIENCE: u32 = 256;

/// Runs `work`, which has many short parallel loops, with the other threads of the pool awake. A thread without work falls
/// asleep after some ten microseconds, and to wake it takes longer than such a loop.
pub fn awake<T>(work: impl FnOnce() -> T) -> T {
    let caller = rayon::current_thread_index();
    if caller.is_none() || rayon::current_num_threads() == 1 || AWAKE.swap(true, Ordering::Acquire) {
        return work();
    }
    let over = AtomicBool::new(false);
    rayon::in_place_scope(|scope| {
        let _end = End(&over);
        scope.spawn_broadcast(|_, context| {
            // The caller may come by while it waits for the end of a loop.
            if Some(context.index()) != caller {
                watch(&over);
            }
        });
        work()
    })
}

/// Takes part in parallel loops until it is over.
fn watch(over: &AtomicBool) {
    let mut idle = 0;
    while !over.load(Ordering::Acquire) {
        match rayon::yield_now() {
            Some(rayon::Yield::Executed) => idle = 0,
            _ if idle < PATIENCE => idle += 1,
            _ => std::thread::yield_now(),
        }
        std::hint::spin_loop();
    }
}

/// Lets the threads go to sleep when it is dropped, also in a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        AWAKE.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    proptest! {
        #[test]
        fn sums_have_the_same_bits_at_any_thread_count(values in prop::collection::vec(-1e6f64..1e6, 0..5000)) {
            let add = || sum(values.len(), |i| values[i]);
            let one = in_pool(1, add);
            prop_assert_eq!(one.to_bits(), in_pool(2, add).to_bits());
            prop_assert_eq!(one.to_bits(), in_pool(5, add).to_bits());
            prop_assert!((one - values.iter().sum::<f64>()).abs() <= 1e-3);
        }

        #[test]
        fn find_first_is_the_first(len in 0usize..5000, hits in prop::collection::vec(0usize..5000, 0..4)) {
            let expected = hits.iter().copied().filter(|&h| h < len).min();
            prop_assert_eq!(find_first(len, |i| hits.contains(&i)), expected);
        }
    }

    #[test]
    fn work_ends_with_threads_awake() {
        let squares = |n: usize| awake(|| (0..50).map(|_| sum(n, |i| (i * i) as f64)).sum::<f64>());
        // Several callers in one pool, inside of each other, and in two pools.
        let in_one = || rayon::join(|| squares(3000), || awake(|| squares(3000)));
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(|| in_pool(3, in_one));
            (in_pool(2, in_one), other.join().unwrap())
        });
        assert_eq!([a.0, a.1, b.0, b.1], [squares(3000); 4]);
        let panics = std::panic::catch_unwind(|| in_pool(2, || awake(|| panic!("as it should"))));
        assert!(panics.is_err());
        assert_eq!(in_pool(2, || squares(300)), squares(300));
    }

    #[test]
    fn max_passes_nan_on() {
        assert!(max(3000, 0.0, |i| if i == 1234 { f64::NAN } else { i as f64 }).is_nan());
        assert_eq!(max(3000, 0.0, |i| i as f64), 2999.0);
        assert_eq!(max(0, -1.0, |_| 0.0), -1.0);
    }
}
