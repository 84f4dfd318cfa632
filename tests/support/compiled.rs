//! Programs of `tests/operations` that are compiled for a test.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `tests/operations/NAME.c`, for this process alone.
pub fn compiled(name: &str) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.{}", std::process::id()));
    let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compile.args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"]).arg(&program).arg(format!("tests/operations/{name}.c"));
    assert!(compile.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success(), "{compile:?}");
    program
}
