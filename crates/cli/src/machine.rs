//! What the machine has.

use crate::failure::Failure;

/// Free memory \[bytes\], where the system tells.
pub(crate) fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    kilobytes_after(&text, "MemAvailable:").map(|kb| kb * 1024)
}

/// Largest memory this process has had \[MB\], where the system tells.
pub(crate) fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    kilobytes_after(&text, "VmHWM:").map(|kb| kb as f64 * 1024.0 / 1e6)
}

fn kilobytes_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next()?.parse().ok()
}

/// The threads to be used: those asked for, or one per core.
pub(crate) fn threads(asked: Option<usize>) -> Result<usize, Failure> {
    match asked {
        Some(0) => Err(Failure::input("usage", "--threads must be at least 1")),
        Some(n) if n > 1024 => Err(Failure::input("usage", format!("--threads {n} is more than 1024"))),
        Some(n) => Ok(n),
        None => Ok(std::thread::available_parallelism().map_or(1, usize::from)),
    }
}

/// Runs `work` in a pool of its own.
pub(crate) fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|e| Failure::input("threads", format!("cannot start {threads} threads: {e}")))?;
    Ok(pool.install(work))
}
