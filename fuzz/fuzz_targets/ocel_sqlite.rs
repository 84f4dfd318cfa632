#![no_main]

use flowmine_eventlog::read::{Limits, ocel_sqlite};
use flowmine_fuzz::{Checker, SMALL, file_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(path) = file_of(bytes) else { return };
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = ocel_sqlite::read(path, &limits, &mut checker);
        checker.end(&result);
    }
});
