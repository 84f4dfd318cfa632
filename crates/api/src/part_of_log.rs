//! The filter that a request asks for, the attributes that it needs, and its words.

use flowmine_activity_log::{ActivityLog, Condition, Filter, TimeFrame};
use flowmine_eventlog::chosen::{ChosenCases, ChosenEvents};
use flowmine_eventlog::{CaseLog, ObjectLog};
use flowmine_logs::columns::{self, ReadOptions, Unit};

use crate::error::{Context, Result};
use crate::groups::{EventFilter, Part};
use crate::jobs;
use crate::log::note_cut_cases;
use crate::options::Choice;
use crate::sink::Sink;

/// The keys that accounts and users have in datasets.
pub const OF_JOBS: [&str; 2] = ["account", "user"];
/// The keys that accounts and users have in log files.
pub const OF_FILES: [&str; 2] = ["slurm:account", "org:resource"];

/// The attributes by which is filtered; of accounts and users these are the keys.
pub fn keys(part: &Part, events: &EventFilter, [account, user]: [&str; 2]) -> Vec<String> {
    let mut keys: Vec<String> =
        part.filter.instances_where.iter().chain(&part.filter.cases_where).map(|condition| condition.key.clone()).collect();
    keys.extend((!events.account.is_empty()).then(|| account.to_owned()));
    keys.extend((!events.user.is_empty()).then(|| user.to_owned()));
    keys.sort();
    keys.dedup();
    keys
}

/// The filter of a part of a log.
///
/// # Errors
/// When no event can be in the time frame.
pub fn filter(part: &Part, events: &EventFilter, [account, user]: [&str; 2]) -> Result<Filter> {
    jobs::time_filter(events)?;
    let mut instances_where = part.filter.instances_where.clone();
    for (key, names) in [(account, &events.account), (user, &events.user)] {
        instances_where.extend(names.iter().map(|name| Condition::equal(key, name)));
    }
    Ok(Filter { from_ns: events.from, to_ns: events.to, instances_where, ..part.filter.clone() })
}

/// The part of a log with cases, with each event by itself.
///
/// # Errors
/// When the log cannot be walked through, or does not have what is asked for.
pub fn of_cases<'l>(log: &'l dyn CaseLog, part: &Part, events: &EventFilter, sink: &dyn Sink) -> Result<ChosenCases<'l>> {
    let filter = filter(part, events, OF_FILES)?;
    let (before, _) = columns::walk_cases(log, options(part, events))?;
    let cases = before.cases().context("the log has no cases")?;
    let records: Vec<Vec<usize>> = (0..cases.len()).map(|case| cases.of(case).map(|at| record(&before, at)).collect()).collect();
    let number = before.len();
    let left = filter.apply(before)?;
    note_cut_cases(&left, sink);
    let chosen = chosen(&left, number);
    let keeps_empty = !filter.chooses_cases();
    let traces = records.iter().map(|records| records.iter().any(|&at| chosen[at]) || keeps_empty && records.is_empty()).collect();
    Ok(ChosenCases::new(log, traces, chosen))
}

/// The part of an object-centric log. All objects stay.
///
/// # Errors
/// When the log cannot be walked through, or cases are chosen, which it does not have.
pub fn of_objects<'l>(log: &'l dyn ObjectLog, part: &Part, events: &EventFilter, sink: &dyn Sink) -> Result<ChosenEvents<'l>> {
    let filter = filter(part, events, OF_FILES)?;
    let (before, _) = columns::walk_objects(log, options(part, events))?;
    let number = before.len();
    let left = filter.apply(before)?;
    note_cut_cases(&left, sink);
    Ok(ChosenEvents::new(log, chosen(&left, number), part.qualifiers.clone()))
}

fn options(part: &Part, events: &EventFilter) -> ReadOptions {
    let keys = keys(part, events, OF_FILES);
    ReadOptions { unit: Unit::Events, keep: keys.clone(), required: keys, qualifiers: part.qualifiers.clone(), ..ReadOptions::default() }
}

/// The number that the event of an instance has in its log, where each event is an instance.
fn record(log: &ActivityLog, instance: u32) -> usize {
    let event = log.instances.start[instance as usize] as usize;
    log.events.record.get(event).map_or(event, |&record| record as usize)
}

/// Of so many events of a log which are in its part.
fn chosen(part: &ActivityLog, number: usize) -> Vec<bool> {
    let mut chosen = vec![false; number];
    (0..part.len() as u32).for_each(|at| chosen[record(part, at)] = true);
    chosen
}

/// A part of a log in words, one for each filter.
pub fn words(part: &Part, events: &EventFilter) -> Vec<String> {
    let mut words = jobs::filter_words(events);
    let Part { filter, qualifiers } = part;
    let has_frame = events.from.is_some() || events.to.is_some();
    words.extend((has_frame && filter.frame != TimeFrame::Trimmed).then(|| format!("cases {}", filter.frame.name())));
    words.extend((!filter.case_names.is_empty()).then(|| format!("case {}", filter.case_names.join(" or "))));
    words.extend((!filter.activities.is_empty()).then(|| format!("activity {}", filter.activities.join(" or "))));
    words.extend((!filter.without_activities.is_empty()).then(|| format!("without activity {}", filter.without_activities.join(" and "))));
    words.extend(filter.paths.iter().map(|(a, b)| format!("cases with {a} => {b}")));
    words.extend(filter.eventually.iter().map(|(a, b)| format!("cases with {a} and later {b}")));
    words.extend(filter.between.iter().map(|(a, b)| format!("from {a} to the next {b}")));
    words.extend((!filter.starts_with.is_empty()).then(|| format!("cases that begin with {}", filter.starts_with.join(" or "))));
    words.extend((!filter.ends_with.is_empty()).then(|| format!("cases that end with {}", filter.ends_with.join(" or "))));
    words.extend(filter.rework.iter().map(|name| format!("cases with {name} twice or more")));
    words.extend(filter.min_duration_ns.map(|ns| format!("cases of at least {} s", seconds(ns))));
    words.extend(filter.max_duration_ns.map(|ns| format!("cases of at most {} s", seconds(ns))));
    words.extend(filter.min_size.map(|n| format!("cases of at least {n} instances")));
    words.extend(filter.max_size.map(|n| format!("cases of at most {n} instances")));
    words.extend(filter.top_variants.map(|n| format!("the {n} most frequent variants")));
    words.extend(filter.variant_coverage.map(|share| format!("variants that cover {} % of cases", share * 100.0)));
    words.extend(filter.instances_where.iter().map(Condition::words));
    words.extend(filter.cases_where.iter().map(|condition| format!("cases with {}", condition.words())));
    words.extend((!qualifiers.is_empty()).then(|| format!("relations with qualifier {}", qualifiers.join(" or "))));
    words
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}
