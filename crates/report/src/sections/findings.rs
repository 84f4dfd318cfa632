//! The findings that come first: those of one cause together, with their share and gain.

use flowmine_activity_log::{ActivityLog, Measure};
use flowmine_discover::bottlenecks::{BottleneckKind, Example, Finding};
use flowmine_draw::text::{counted, duration};
use flowmine_schema::text::visible;

use super::words::{INSTANCES, core_hours, names, plural, share};
use crate::block::{Block, Card, Evidence};
use crate::results::LogResults;

/// Findings with less than this share of the time are not on the first screen.
const LEAST_SHARE: f64 = 0.01;

/// Number of activities that a finding names.
const NAMED: usize = 3;

/// Number of instances that a finding names.
const EXAMPLES: usize = 3;

/// Findings of one kind and cause.
struct Merged<'f> {
    findings: Vec<&'f Finding>,
}

impl Merged<'_> {
    fn first(&self) -> &Finding {
        self.findings[0]
    }

    fn time_ns(&self) -> i128 {
        self.findings.iter().map(|finding| finding.at_stake_ns).sum()
    }

    fn core_ns(&self) -> Option<i128> {
        self.findings.iter().map(|finding| finding.at_stake_core_ns).sum()
    }

    fn instances(&self) -> u64 {
        self.findings.iter().map(|finding| finding.instances).sum()
    }

    /// What findings are ranked by: core time where it is known, else time.
    fn weight(&self) -> i128 {
        self.findings.iter().map(|finding| finding.at_stake_core_ns.unwrap_or(finding.at_stake_ns)).sum()
    }
}

/// The time from submission to end of all instances, and from begin to end of all cases.
struct Whole {
    time_ns: i128,
    core_ns: i128,
    cases_ns: i128,
}

impl Whole {
    fn of(found: &LogResults) -> Self {
        let log = &found.log;
        let (mut time_ns, mut core_ns) = (0i128, 0i128);
        for at in 0..log.len() as u32 {
            let begin = log.submitted_ns(at).or_else(|| log.start_ns(at));
            let Some(ns) = begin.zip(log.end_ns(at)).map(|(begin, end)| i128::from(end) - i128::from(begin)).filter(|ns| *ns > 0) else {
                continue;
            };
            time_ns = time_ns.saturating_add(ns);
            core_ns = core_ns.saturating_add(ns.saturating_mul(cpus(log, at).into()));
        }
        let cases_ns = found.summary.case_list.iter().filter_map(|case| case.duration_ns).map(i128::from).sum();
        Self { time_ns, core_ns, cases_ns }
    }
}

fn cpus(log: &ActivityLog, at: u32) -> i64 {
    log.measure(Measure::Cpus, at).filter(|cpus| *cpus > 0).unwrap_or(1)
}

/// The first findings as blocks.
pub fn cards(found: &LogResults, most: usize) -> Vec<Block> {
    if !found.log.has_intervals() {
        return vec![Block::missing(
            "The log has one moment for each activity: running and waiting cannot be distinguished.",
            "Record the start and the end of each activity.",
        )];
    }
    let whole = Whole::of(found);
    let mut merged = merge(&found.bottlenecks.findings);
    // Where the time goes is no fault: it comes last.
    merged.sort_by_key(|of| (of.first().kind == BottleneckKind::Activity, std::cmp::Reverse(of.weight())));
    let large = |of: &Merged<'_>| share_of(of, &whole).is_none_or(|share| share >= LEAST_SHARE) && of.time_ns() > 0;
    let cards: Vec<Card> =
        merged.iter().filter(|of| large(of)).take(most).enumerate().map(|(at, of)| card(at + 1, of, found, &whole)).collect();
    let mut blocks = Vec::new();
    if cards.is_empty() {
        blocks.push(Block::Text("Nothing that can be changed takes 1 % of the time or more.".to_owned()));
    } else {
        blocks.push(Block::Cards(cards));
    }
    if !found.bottlenecks.unknown.is_empty() {
        blocks.push(Block::List(found.bottlenecks.unknown.iter().map(|unknown| format!("Not judged: {unknown}.")).collect()));
    }
    blocks
}

/// Findings of one kind and cause together, in the order of the first of each.
fn merge(findings: &[Finding]) -> Vec<Merged<'_>> {
    let mut merged: Vec<Merged<'_>> = Vec::new();
    for finding in findings {
        // Running times of all activities together are all of the time, which is no finding.
        let key = |of: &Finding| (of.kind, of.cause.clone(), (of.kind == BottleneckKind::Activity).then(|| of.activity.clone()));
        let same = |of: &&mut Merged<'_>| key(of.first()) == key(finding);
        match merged.iter_mut().find(same) {
            Some(of) => of.findings.push(finding),
            None => merged.push(Merged { findings: vec![finding] }),
        }
    }
    merged
}

/// The whole of which a finding is a part, with what it is in words.
fn whole_of(of: &Merged<'_>, whole: &Whole) -> (i128, i128, &'static str) {
    if of.first().kind == BottleneckKind::Wait {
        return (of.time_ns(), whole.cases_ns, "the time from begin to end of the cases");
    }
    match of.core_ns() {
        Some(core_ns) => (core_ns, whole.core_ns, "the core time from submission to end"),
        None => (of.time_ns(), whole.time_ns, "the time from submission to end"),
    }
}

fn share_of(of: &Merged<'_>, whole: &Whole) -> Option<f64> {
    let (part, whole, _) = whole_of(of, whole);
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn card(rank: usize, of: &Merged<'_>, found: &LogResults, whole: &Whole) -> Card {
    let (part, all, words) = whole_of(of, whole);
    let stake = of.core_ns().map_or_else(|| duration(of.time_ns() as f64), core_hours);
    let cost = match share(part, all) {
        Some(share) => format!("{stake}: {share} of {words}"),
        None => stake.clone(),
    };
    let mut examples: Vec<&Example> = of.findings.iter().flat_map(|finding| &finding.examples).collect();
    examples.sort_by_key(|example| std::cmp::Reverse(example.time_ns));
    Card {
        rank,
        found: sentence(of, &found.summary.about.word()),
        cost,
        evidence: examples.into_iter().take(EXAMPLES).map(evidence).collect(),
        action: action(of.first(), &found.summary.about.instance).to_owned(),
        gain: match (of.first().kind, of.first().kind.claims_time()) {
            (kind, true) => format!("At most {stake}, {}.", assumption(kind)),
            (kind, false) => format!("Unknown; it depends on {}.", assumption(kind)),
        },
    }
}

/// What was found, in a sentence.
fn sentence(of: &Merged<'_>, word: &str) -> String {
    let first = of.first();
    let activities = names(of.findings.iter().map(|finding| finding.activity.as_str()), NAMED);
    let many = counted(of.instances(), word, &plural(word));
    let time = duration(of.time_ns() as f64);
    let cause = first.cause.as_deref().map(|cause| format!(" (cause: {})", visible(cause).replace('_', " "))).unwrap_or_default();
    match first.kind {
        BottleneckKind::Queue => format!("{many} of {activities} waited {time} in the queue{cause}."),
        BottleneckKind::OwnWish => format!("{many} of {activities} were not ready for {time}{cause}."),
        BottleneckKind::Activity => format!("{many} of {activities} ran for {time}."),
        BottleneckKind::Failed => format!("{many} of {activities} failed after running for {time}."),
        BottleneckKind::IdleCpus => format!("{many} of {activities} used less than half of their CPUs."),
        _ => {
            let name = match &first.after {
                Some(after) => format!("{} → {}", visible(after), visible(&first.activity)),
                None => visible(&first.activity).into_owned(),
            };
            let more = of.findings.len() - 1;
            let more = match more {
                0 => String::new(),
                more => format!("; with {}, {time} in all", counted(more as u64, "other place", "other places")),
            };
            format!("{name}: {}{more}.", visible(&first.found))
        }
    }
}

/// What to do. The advice of a finding is for clusters; who takes orders has no scheduler.
fn action(finding: &Finding, instance: &str) -> &'static str {
    let is_of_cluster = matches!(instance, "job" | "task");
    match finding.kind {
        BottleneckKind::Queue | BottleneckKind::OwnWish | BottleneckKind::Wait | BottleneckKind::TimeLimit if !is_of_cluster => {
            "Find what these instances waited for: people, machines, other cases, or a fixed time of the day."
        }
        _ => finding.advice(),
    }
}

/// The assumption under which the time at stake would be gained.
fn assumption(kind: BottleneckKind) -> &'static str {
    match kind {
        BottleneckKind::Queue => "if they had started as soon as they were ready",
        BottleneckKind::OwnWish => "if they had been ready when they were submitted",
        BottleneckKind::Activity => "if they took no time; twice as fast gains half of it",
        BottleneckKind::Wait => "if each step had been submitted when the one before it ended",
        BottleneckKind::IoTime | BottleneckKind::TinyRequests => "if reads and writes took no time",
        BottleneckKind::ReRead => "if each byte were read once",
        BottleneckKind::LowRate => "at the rate of the quickest activity",
        BottleneckKind::Straggler => "if each had run for the median time",
        BottleneckKind::Failed => "if no attempt had failed",
        BottleneckKind::IdleCpus => "if only the CPUs that they used had been requested",
        BottleneckKind::NearLimit => "if no attempt reached its time limit",
        BottleneckKind::Trend => "if the instances kept the running times of the beginning",
        BottleneckKind::TimeLimit | BottleneckKind::IdleMemory => "the gaps in the schedule",
        BottleneckKind::MoreCpus => "how well the program uses more CPUs",
    }
}

/// An instance, with the row of the table that describes it.
fn evidence(example: &Example) -> Evidence {
    let who = &example.who;
    let (column, value) = match (&who.job, &who.task) {
        (Some(job), _) => ("job", visible(job).into_owned()),
        (None, Some(task)) => ("task", visible(task).into_owned()),
        (None, None) => ("case", visible(&example.case).into_owned()),
    };
    let who = who.words().unwrap_or_else(|| format!("case {}", visible(&example.case)));
    let words = format!("{}, {who}", duration(example.time_ns as f64));
    Evidence { words, table: INSTANCES, column, value }
}
