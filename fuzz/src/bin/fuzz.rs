//! `FLOWMINE_FUZZ=TARGET flowmine-fuzz …` with libFuzzer's options.
#![no_main]

use std::sync::OnceLock;

use flowmine_fuzz::{Target, run, target};
use libfuzzer_sys::fuzz_target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("FLOWMINE_FUZZ").unwrap_or_default();
        target(&name).unwrap_or_else(|| panic!("FLOWMINE_FUZZ is {name:?}, which is no target"))
    });
    run(target, bytes);
});
