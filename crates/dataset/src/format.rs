//! The version of the format, and names in it.

/// The version of the format that this code writes. It reads earlier ones too, but for tables of
/// which `SINCE` says that their rows meant something else.
///
/// 1: until November 2026. 2: `links.strength` is `declared` in the place of an earlier word. 3: it
/// is `inferred` in the place of `guessed`; readers of version 2 find the old word. 4: `cases` has
/// rows of tasks, too, in which `cluster` and `job` are null.
pub const FORMAT_VERSION: u32 = 4;

/// Tables of which only rows since this version are read. All are derived: `correlate` writes them
/// anew.
pub(crate) const SINCE: &[(&str, u32)] = &[("links", 2)];

/// File in which a dataset says of itself what it is.
pub(crate) const MANIFEST: &str = "flowmine.json";
/// Folder of the writers' state; it is no table.
pub(crate) const STATE: &str = ".state";
