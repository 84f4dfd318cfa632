//! What the kinds of workflow engines share.

use flowmine_extract_workflow::Engine;

use crate::{Answer, Sample, Seen};

/// What an engine recognises, with the beginning of the file as evidence.
pub fn seen(engine: &dyn Engine, sample: &Sample) -> Option<Seen> {
    engine.recognise(sample.path(), sample.head()).map(|what| Seen::new(what, sample.beginning()))
}

/// The answer of an engine that recognises its files by properties that no other has.
pub fn answer(engine: &dyn Engine, sample: &Sample) -> Answer {
    match (seen(engine, sample), engine.not_read(sample.head())) {
        (Some(seen), _) => Answer::Yes(seen),
        (None, Some(advice)) => {
            Answer::NotRead { what: format!("output of {} that is not read", engine.name()), advice: advice.to_owned() }
        }
        (None, None) => Answer::No,
    }
}

/// The same with keys of JSON as evidence.
pub fn answer_with_keys(engine: &dyn Engine, sample: &Sample, keys: &[&str]) -> Answer {
    let evidence = || format!("has keys {}", sample.keys(keys).join(", "));
    match answer(engine, sample) {
        Answer::Yes(seen) if sample.is_json() => Answer::Yes(Seen { evidence: evidence(), ..seen }),
        other => other,
    }
}
