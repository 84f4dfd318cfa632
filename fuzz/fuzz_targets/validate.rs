#![no_main]

use flowmine_eventlog::read::Limits;
use flowmine_eventlog::validate::validate_with;
use flowmine_fuzz::{SMALL, check_finding, file_of};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some(path) = file_of(bytes) else { return };
    for limits in [Limits::default(), SMALL] {
        let mut given = 0;
        let result = validate_with(path, &limits, &mut |finding| {
            given += 1;
            check_finding(&finding);
        });
        if let Ok((_, summary)) = result {
            assert_eq!(summary.errors + summary.warnings + summary.notes, given);
        }
    }
});
