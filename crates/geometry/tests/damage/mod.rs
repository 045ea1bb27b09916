//! How files are damaged, and what reading them may take.

use std::time::Duration;

/// How long any one file may take, beside other work on the machine: a file that is believed takes for ever.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// What a test may add to the address space \[kB\]. Each thread may take a tenth of this for itself; a single lie that
/// is believed asks for fifty times as much.
const MEMORY: u64 = 2_000_000;

/// The largest address space so far \[kB\], where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmPeak:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Runs a test and checks how much memory it took.
pub(crate) fn within_memory(test: impl FnOnce()) {
    let before = peak_memory();
    test();
    match (before, peak_memory()) {
        (Some(before), Some(after)) => assert!(after - before < MEMORY, "{} kB", after - before),
        _ => println!("skipped: this system does not tell how much memory a process takes"),
    }
}

/// Numbers that look random and are the same every time (splitmix64).
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    /// A number from 0 to `limit` − 1.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}
