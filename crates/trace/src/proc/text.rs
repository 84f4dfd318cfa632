//! Files of `/proc` as text: how much of one is read, and numbers in it.

use std::io::Read;
use std::path::Path;

use flowmine_files::kernel;

/// No file that is read whole may be longer, in bytes: the readers of `/proc` make lines of known
/// kinds, but names in them are anybody's.
pub(super) const LONGEST: u64 = 16 << 20;

/// The beginning of a file of unknown length.
pub(super) fn read_up_to(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    kernel::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A decimal number in ASCII, with blanks around it or without.
pub(super) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}
