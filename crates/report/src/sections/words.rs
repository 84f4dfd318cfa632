//! Words that several sections share.

use flowmine_activity_log::Status;
use flowmine_draw::axis::percent;
use flowmine_draw::text::{count, duration};
use flowmine_schema::text::visible;

/// The id of the table of activity instances.
pub const INSTANCES: &str = "instances";

/// Core time as core-hours, or as a length of time where two decimals would hide it.
pub fn core_hours(core_ns: i128) -> String {
    const HOUR_NS: f64 = 3.6e12;
    let hours = core_ns as f64 / HOUR_NS;
    if hours.abs() >= 1000.0 {
        return format!("{} core-hours", count(hours.round() as u128));
    }
    if hours.abs() >= 0.01 {
        return format!("{hours:.2} core-hours");
    }
    format!("{} of core time", duration(core_ns as f64))
}

/// A time span in words.
pub fn span(ns: i128) -> String {
    duration(ns as f64)
}

/// A share in words; nothing where the whole is nothing.
pub fn share(part: i128, whole: i128) -> Option<String> {
    (whole > 0).then(|| percent(part as f64 / whole as f64))
}

/// How an instance ended, in a word.
pub fn status(status: Status) -> &'static str {
    match status {
        Status::Unknown => "not known",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Aborted => "aborted",
        Status::Cached => "cached",
        Status::Unfinished => "unfinished",
    }
}

/// Up to `most` names, and the number of the others.
pub fn names<'n>(names: impl ExactSizeIterator<Item = &'n str>, most: usize) -> String {
    let all = names.len();
    let mut words: Vec<String> = names.take(most).map(|name| visible(name).into_owned()).collect();
    if all > most {
        words.push(format!("{} more", count((all - most) as u64)));
    }
    words.join(", ")
}

/// A word with an s for any number but one.
pub fn plural(word: &str) -> String {
    format!("{word}s")
}

/// A text with its first letter in upper case.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
