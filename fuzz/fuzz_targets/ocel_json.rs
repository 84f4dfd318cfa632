#![no_main]

use flowmine_eventlog::read::input::Input;
use flowmine_eventlog::read::{Limits, ocel_json};
use flowmine_fuzz::{Checker, SMALL};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// What is said of what is JSON and is refused all the same.
const NOT_OF_JSON: [&str; 6] = ["nested deeper", "longer than", "larger than", "more than", "is no array", "OCEL 1.0"];

fuzz_target!(|bytes: &[u8]| {
    for limits in [Limits::default(), SMALL] {
        let types = Input::records(bytes, &limits).and_then(|input| ocel_json::types(input, &limits)).ok();
        let mut checker = Checker::new(limits);
        let result = Input::records(bytes, &limits).and_then(|input| ocel_json::read(input, &limits, types, &mut checker));
        checker.end(&result);
        // Another parser of JSON is of the same mind.
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let theirs = serde_json::from_slice::<Value>(text);
        let beyond = bytes.windows(2).any(|pair| pair == b"Na" || pair == b"In");
        match (result, theirs) {
            // They do not read numbers that are too large.
            (Ok(()), Err(error)) => {
                assert!(beyond || bytes.starts_with(&[0x1f, 0x8b]) || error.to_string().contains("out of range"), "{error}")
            }
            (Err(error), Ok(Value::Object(_))) => {
                let error = error.to_string();
                assert!(NOT_OF_JSON.iter().any(|known| error.contains(known)), "{error}");
            }
            _ => {}
        }
    }
});
