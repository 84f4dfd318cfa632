#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use flowmine_eventlog::read::{Limits, ocel_sqlite};
use flowmine_fuzz::{Checker, SMALL};
use libfuzzer_sys::fuzz_target;

/// A file in memory, where there is one.
fn path() -> &'static PathBuf {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let dir = if memory.is_dir() { memory } else { std::env::temp_dir() };
        dir.join(format!("flowmine-fuzz-{}.sqlite", std::process::id()))
    })
}

fuzz_target!(|bytes: &[u8]| {
    if std::fs::write(path(), bytes).is_err() {
        return;
    }
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = ocel_sqlite::read(path(), &limits, &mut checker);
        checker.end(&result);
    }
});
