//! What tests with real programs share: saying so when a program is missing.

use std::io::Write;

/// Whether a test can run. When `program` is not `present`, the test is reported as not run (its
/// name goes to standard error and to the file named by `FLOWMINE_NOT_RUN`), or fails where
/// `FLOWMINE_REQUIRE`, a comma-separated list, holds `what`: a missing program never counts as a
/// passed test.
pub fn require(what: &str, program: &str, present: bool) -> bool {
    if present {
        return true;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let required = std::env::var("FLOWMINE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|w| w.trim() == what), "{test} needs {program}, which is missing, and FLOWMINE_REQUIRE holds {what}");
    let line = format!("not run: {test}: needs {program}\n");
    eprint!("{line}");
    if let Some(list) = std::env::var_os("FLOWMINE_NOT_RUN") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(&list);
        file.and_then(|mut f| f.write_all(line.as_bytes())).expect("FLOWMINE_NOT_RUN names a file that can be written");
    }
    false
}
