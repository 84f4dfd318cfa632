#![no_main]

use flowmine_eventlog::read::input::Input;
use flowmine_eventlog::read::{Limits, ocel_xml};
use flowmine_fuzz::{Checker, SMALL};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for limits in [Limits::default(), SMALL] {
        let mut checker = Checker::new(limits);
        let result = Input::xml(bytes, &limits).and_then(|input| ocel_xml::read(input, &limits, &mut checker));
        checker.end(&result);
    }
});
