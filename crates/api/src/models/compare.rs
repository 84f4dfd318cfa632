//! Two runs, datasets, logs or periods next to each other.

use std::collections::{BTreeMap, BTreeSet};

use flowmine_activity_log::ActivityLog;
use flowmine_discover::{compare, pictures::compare as picture};
use flowmine_logs::steps::STEP;
use flowmine_schema::time;
use flowmine_steps::template::verbatim;

use super::{About, Input, Model};
use crate::error::{Result, refuse};
use crate::format::Format;
use crate::found::Found;
use crate::log::{self, Attributes};
use crate::options::{Kind, OptionSpec};
use crate::request::Request;
use crate::sink::Sink;
use crate::source::SourcePaths;

/// Two runs, datasets, logs or periods next to each other.
pub struct Compare;

const WITH: OptionSpec = OptionSpec::new("with", "DIR|FILE", Kind::Place, "Second dataset (a directory) or log file");
const WITH_RUN: OptionSpec = OptionSpec::text("with-run", "RUN", "Second run");
const WITH_CASE: OptionSpec = OptionSpec::text("with-case", "NAME", "Second case");
const WITH_FROM: OptionSpec = OptionSpec::new("with-from", "TIME", Kind::Moment, "Begin of the second period, as --from");
const WITH_TO: OptionSpec = OptionSpec::new("with-to", "TIME", Kind::Moment, "End of the second period, as --to");
const WITH_USER: OptionSpec =
    OptionSpec::text("with-user", "NAME", "User of the second side, as --user; may be given more than once").repeated();
const WITH_ACCOUNT: OptionSpec =
    OptionSpec::text("with-account", "NAME", "Account of the second side, as --account; may be given more than once").repeated();

const RENAME: OptionSpec =
    OptionSpec::text("rename", "OLD=NEW", "Activity OLD of the first log is called NEW in the second; repeatable").repeated();

static ABOUT: About = About {
    name: "compare",
    question: "two runs, datasets, logs or periods: what appeared, vanished, became slower, moved more bytes, and which differences chance explains",
    input: Input::Log,
    has_graph_options: false,
    own: &[WITH, WITH_RUN, WITH_CASE, WITH_FROM, WITH_TO, WITH_USER, WITH_ACCOUNT, RENAME],
    formats: Format::LIST,
    documents: &[picture::DOCUMENT],
};

impl Model for Compare {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn discover(&self, request: &Request, sink: &dyn Sink) -> Result<Found> {
        let second = second(request)?;
        let attributes = Attributes::default();
        let (one, other) = (log::load(request, &attributes, sink)?, log::load(&second, &attributes, sink)?);
        let _stage = sink.stage("discovering");
        let mut renamed = renamed(request, &one.log)?;
        if request.cases.activity.as_deref() == Some(STEP) {
            same_steps(&one.log, &other.log, &mut renamed);
        }
        let names = (name(request), name(&second));
        let found = compare::discover_renamed((&names.0, &one.log, one.cases()?), (&names.1, &other.log, other.cases()?), &renamed);
        Ok(Found::new(request, one.is_lossy || other.is_lossy, move |format, out| match format {
            Format::Json => Ok(picture::json(&found, out)?),
            Format::Csv => Ok(picture::csv(&found, out)?),
            _ => Ok(out.write_all(picture::text(&found).as_bytes())?),
        }))
    }
}

/// The request for the second side alone: what is not given is that of the first.
fn second(request: &Request) -> Result<Request> {
    let values = &request.values;
    let (place, run, case) = (values.place(WITH.name), values.text(WITH_RUN.name), values.text(WITH_CASE.name));
    let period = (values.moment_ns(WITH_FROM.name), values.moment_ns(WITH_TO.name));
    let (users, accounts) = (values.texts(WITH_USER.name), values.texts(WITH_ACCOUNT.name));
    let is_same_group = users.is_empty() && accounts.is_empty();
    if place.is_none() && run.is_none() && case.is_none() && period == (None, None) && is_same_group {
        refuse!(
            "the model compare puts two next to each other: say which the second is, with --with DIR|FILE, --with-run, --with-case, \
             --with-from, --with-to, --with-user or --with-account"
        );
    }
    let mut second = request.clone();
    if let Some(place) = place {
        let is_dataset = place.is_dir();
        let logs = if is_dataset { Vec::new() } else { vec![place.clone()] };
        second.source = SourcePaths { dataset: is_dataset.then_some(place), logs, given: Vec::new() };
        // Another place has other runs and cases.
        (second.run, second.part.filter.case_names) = (None, Vec::new());
    }
    second.run = run.or(second.run);
    if let Some(case) = case {
        second.part.filter.case_names = vec![case];
    }
    if period != (None, None) {
        (second.filter.from, second.filter.to) = period;
    }
    if !is_same_group {
        (second.filter.user, second.filter.account) = (users, accounts);
    }
    Ok(second)
}

/// The names of `--rename`. A name may contain `=`: OLD is an activity of the first log.
fn renamed(request: &Request, first: &ActivityLog) -> Result<BTreeMap<String, String>> {
    let mut names = BTreeMap::new();
    for pair in request.values.texts(RENAME.name) {
        let mut ways = pair.match_indices('=').map(|(at, _)| (&pair[..at], &pair[at + 1..]));
        let Some((old, new)) = ways.find(|(old, new)| first.activities.find(old).is_some() && !new.is_empty()) else {
            refuse!("--rename {pair:?}: write OLD=NEW, where OLD is an activity of the first log (flowmine discover summary lists them)");
        };
        names.insert(old.to_owned(), new.to_owned());
    }
    Ok(names)
}

/// Pairs the steps of two logs whose names differ only in what is variable: the oldest job of one is
/// `align`, that of the other `align_1`.
fn same_steps(first: &ActivityLog, second: &ActivityLog, names: &mut BTreeMap<String, String>) {
    let (firsts, seconds): (BTreeSet<&str>, BTreeSet<&str>) = (first.activities.iter().collect(), second.activities.iter().collect());
    let mut of_words: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for name in seconds.difference(&firsts) {
        of_words.entry(verbatim(name).key).or_default().push(name);
    }
    for name in firsts.difference(&seconds) {
        if let Some([same]) = of_words.get(&verbatim(name).key).map(Vec::as_slice) {
            names.entry((*name).to_owned()).or_insert_with(|| (*same).to_owned());
        }
    }
}

/// Name of one of the two sides: its source, and what was chosen of it.
fn name(request: &Request) -> String {
    let mut parts: Vec<String> = request.source.names().map(|path| path.display().to_string()).collect();
    parts.extend(request.run.iter().map(|run| format!("run {run}")));
    parts.extend(request.part.filter.case_names.iter().map(|case| format!("case {case}")));
    parts.extend(request.filter.user.iter().map(|user| format!("user {user}")));
    parts.extend(request.filter.account.iter().map(|account| format!("account {account}")));
    let time = |what: &str, ns: &Option<i64>| ns.map(|ns| format!("{what} {}", time::rfc3339(ns)));
    parts.extend(time("from", &request.filter.from).into_iter().chain(time("to", &request.filter.to)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_two_logs_are_paired_by_their_words() {
        let log = |names: &[&str]| ActivityLog { activities: names.iter().collect(), ..ActivityLog::default() };
        let mut names = BTreeMap::new();
        same_steps(&log(&["align", "sort_*", "x"]), &log(&["align_*", "Sort", "SORT", "x"]), &mut names);
        assert_eq!(names.into_iter().collect::<Vec<_>>(), [("align".to_owned(), "align_*".to_owned())]);
    }
}
