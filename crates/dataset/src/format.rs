//! The version of the format, and names in it.

/// The version of the format that this code reads and writes.
pub const FORMAT_VERSION: u32 = 1;

/// What a dataset says of itself.
pub(crate) const MANIFEST: &str = "flowmine.json";
/// What writers remember; no table.
pub(crate) const STATE: &str = ".state";
