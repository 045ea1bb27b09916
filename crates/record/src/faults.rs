//! Writes that fail: a disk that is full, or torn away, at the n-th write. For tests; nothing else calls [`fail_after`].

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicI64, Ordering};

/// Writes that still succeed.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Lets so many writes of this process succeed. The next one stops in its middle, and all after it fail; `None` is an end of
/// that.
#[doc(hidden)]
pub fn fail_after(writes: Option<u32>) {
    LEFT.store(writes.map_or(i64::MAX, i64::from), Ordering::SeqCst);
}

/// Whether this write may succeed, how much of it is done otherwise, and the error.
fn allowed(length: usize) -> Result<(), (usize, io::Error)> {
    let error = || io::Error::other("a test lets this write fail");
    match LEFT.load(Ordering::Relaxed) {
        i64::MAX => Ok(()),
        _ => match LEFT.fetch_sub(1, Ordering::SeqCst) {
            1.. => Ok(()),
            0 => Err((length / 2, error())),
            _ => Err((0, error())),
        },
    }
}

/// As `write_all`.
pub(crate) fn write_all(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    match allowed(bytes.len()) {
        Ok(()) => file.write_all(bytes),
        Err((part, error)) => file.write_all(bytes.get(..part).unwrap_or_default()).and(Err(error)),
    }
}

/// Before a file is renamed or cut: that is a write, too.
pub(crate) fn before() -> io::Result<()> {
    allowed(0).map_err(|(_, error)| error)
}
