//! Makeflow, as Debian packs it.

use super::require::require;

/// Whether Makeflow can run here, to which Open MPI belongs. It is looked for and not asked for its
/// version: a Makeflow that ends at once is now and then ended by Open MPI with SIGTERM while others
/// start (one in twenty of four at a time).
pub fn makeflow_is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    require("makeflow", "makeflow (coop-computing-tools, openmpi-bin)", has("makeflow") && has("orted"))
}
