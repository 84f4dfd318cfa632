//! What was observed, and how complete it is.

use flowmine_activity_log::{ActivityLog, Status};
use flowmine_draw::text::{count, counted};
use flowmine_schema::text::visible;
use flowmine_schema::time;

use super::words::{capital, core_hours, names, plural, share, span, status};
use crate::block::Fact;
use crate::results::{LogResults, Results};

/// Number of names that a fact lists.
const NAMED: usize = 6;

/// The attributes that name who ran an instance, in datasets and log files.
const USERS: [&str; 3] = ["user", "task:user", "org:resource"];

/// The facts of a log.
pub fn facts(results: &Results, found: &LogResults) -> Vec<Fact> {
    let (log, summary) = (&found.log, &found.summary);
    let word = summary.about.word();
    let mut facts = vec![outcome(log, &word)];
    if let (Some(first), Some(last)) = (summary.first_ns, summary.last_ns) {
        let length = span(i128::from(last) - i128::from(first));
        facts.push(Fact::new("Time", length).note(from_to(&time::human(first), &time::human(last))));
    }
    let activities = counted(summary.activities.len() as u64, "activity", "activities");
    facts.push(Fact::new("Observed", summary.about.counted(summary.about.instances)).note(format!("of {activities}")));
    let case = visible(&summary.about.case).into_owned();
    let case = if case.is_empty() { String::new() } else { capital(&format!("{}.", case.trim_end_matches('.'))) };
    facts.push(Fact::new("Cases", count(summary.about.cases)).note(case));
    if let Some(core_ns) = found.resources.total.core_ns {
        let at_stake = found.resources.total.at_stake_core_ns.filter(|ns| *ns > 0);
        let note = at_stake.and_then(|lost| Some(format!("{} of it failed, cancelled or idle", share(lost, core_ns)?)));
        facts.push(Fact::new("Occupied", core_hours(core_ns)).note(note.unwrap_or_default()));
    }
    if let Some(users) = USERS.iter().find_map(|key| log.attribute(key)).filter(|users| !users.names.is_empty()) {
        let listed = names(users.names.sorted().iter().map(|&user| users.names.get(user)).collect::<Vec<_>>().into_iter(), NAMED);
        facts.push(Fact::new("Users", count(users.names.len() as u64)).note(listed));
    }
    facts.push(sources(results));
    facts.push(gaps(results));
    facts
}

/// The number of known gaps: the list of them is further down.
fn gaps(results: &Results) -> Fact {
    match completeness(results).as_slice() {
        [] => Fact::new("Complete", "no known gap"),
        [one] => Fact::new("Complete", "1 known gap").note(one.clone()),
        all => Fact::new("Complete", format!("{} known gaps", count(all.len() as u64))).note("Listed under How complete it is."),
    }
}

/// A span of time; a day that is the same is written once.
fn from_to(first: &str, last: &str) -> String {
    match (first.split_once(' '), last.split_once(' ')) {
        (Some((day, _)), Some((same, time))) if day == same => format!("{} to {time}", first.trim_end_matches(" UTC")),
        _ => format!("{first} to {last}"),
    }
}

/// The sources by their names.
pub fn sources(results: &Results) -> Fact {
    let listed = names(results.sources.iter().map(String::as_str), NAMED);
    Fact::new("Sources", count(results.sources.len() as u64)).note(listed)
}

/// How the instances ended.
fn outcome(log: &ActivityLog, word: &str) -> Fact {
    let all = [Status::Failed, Status::Aborted, Status::Completed, Status::Cached, Status::Unfinished, Status::Unknown];
    let number = |of: Status| (0..log.len() as u32).filter(|&at| log.status(at) == of).count() as u64;
    let counts: Vec<(Status, u64)> = all.into_iter().map(|of| (of, number(of))).filter(|(_, n)| *n > 0).collect();
    let words: Vec<String> = counts.iter().map(|&(of, n)| format!("{} {}", count(n), status(of))).collect();
    let failed = counts.iter().find(|(of, _)| *of == Status::Failed).map_or(0, |(_, n)| *n);
    let value = match counts.as_slice() {
        [] => "nothing ran".to_owned(),
        [(Status::Unknown, _)] => "not recorded".to_owned(),
        _ if failed == 0 => "no failure".to_owned(),
        _ => format!("{} failed", counted(failed, word, &plural(word))),
    };
    Fact::new("Outcome", value).note(words.join(", "))
}

/// What is missing or doubtful, in sentences.
pub fn completeness(results: &Results) -> Vec<String> {
    let quality = &results.quality;
    let mut sentences = Vec::new();
    sentences.extend(quality.lost.as_ref().map(|lost| format!("{}.", capital(lost))));
    if quality.errors > 0 {
        let rejected = counted(quality.errors, "input was rejected", "inputs were rejected");
        sentences.push(format!("{rejected}. The table diagnostics of the dataset lists them; for files, flowmine import writes it."));
    }
    if quality.warnings > 0 {
        let odd = counted(quality.warnings, "input was used with a warning", "inputs were used with a warning");
        sentences.push(format!("{odd}. The table diagnostics of the dataset lists them; for files, flowmine import writes it."));
    }
    if let Ok(found) = &results.log {
        let of_trace = |sentence: &&String| quality.lost.as_ref() != Some(*sentence);
        sentences.extend(found.summary.about.notes.iter().filter(of_trace).map(|note| format!("{}.", capital(note))));
        sentences.extend(unknown(found));
    }
    sentences
}

/// Which numbers are known of too few instances.
fn unknown(found: &LogResults) -> Vec<String> {
    let log = &found.log;
    let all = log.len() as u64;
    let word = found.summary.about.word();
    let known = |is_known: &dyn Fn(u32) -> bool| (0..log.len() as u32).filter(|&at| is_known(at)).count() as u64;
    let mut sentences = Vec::new();
    let timed = known(&|at| log.service_ns(at).is_some());
    if timed < all {
        sentences.push(format!("The time from start to end is known for {} of {}.", count(timed), counted(all, &word, &plural(&word))));
    }
    let total = &found.resources.total;
    if total.without_cpus > 0 {
        sentences.push(format!("The number of CPUs is not known for {}.", counted(total.without_cpus, &word, &plural(&word))));
    }
    sentences
}
