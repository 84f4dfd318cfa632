//! Event logs made of small tables: what is in the XES and the OCEL file, and in the summary.
#![allow(clippy::unwrap_used)]

use flowmine_correlate::attempts::JobRow;
use flowmine_correlate::cases::{ALL, telling};
use flowmine_correlate::dependencies::DependencyRow;
use flowmine_correlate::jobs::JobsBuilder;
use flowmine_correlate::{Entities, Exchanges, Filter, Jobs, Timestamp};
use flowmine_eventlog::{Counts, ocel, xes};
use flowmine_logs::job_log::{Finished, JobLogs};
use flowmine_logs::summary::{Summary, SummaryBuilder};
use flowmine_logs::task_log::TracedJobs;
use flowmine_schema::tables::{JobDependency, JobState, change};
use flowmine_schema::time::SECOND_NS;
use proptest::prelude::*;
use quick_xml::events::Event as Xml;
use quick_xml::{Reader, XmlVersion};

fn row(job: &str, id: i64, submit: i64, change: &'static str, state: Option<&'static str>, at: i64) -> JobState<'static> {
    JobState {
        cluster: "lab".into(),
        job: job.to_owned().into(),
        job_id: id,
        submit_ns: Some(submit * SECOND_NS),
        change: change.into(),
        state: state.map(Into::into),
        not_before_ns: Some(submit * SECOND_NS),
        observed_at_ns: at * SECOND_NS + 250_000_001,
        source: "squeue".into(),
        array_job_id: job.split_once('_').and_then(|(id, _)| id.parse().ok()),
        array_task_id: job.split_once('_').and_then(|(_, task)| task.parse().ok()),
        name: Some("a job".into()),
        user: Some("ann".into()),
        group: Some("physics".into()),
        account: Some("proj".into()),
        activity: Some("step.sh".into()),
        cpus: Some(4),
        ..JobState::default()
    }
}

fn depends(job: &str, submit: i64, target_kind: &'static str, target: i64, task: Option<i64>) -> JobDependency<'static> {
    JobDependency {
        cluster: "lab".into(),
        job: job.to_owned().into(),
        submit_ns: Some(submit * SECOND_NS),
        kind: "afterok".into(),
        target_kind: target_kind.into(),
        target_job_id: Some(target),
        target_task_id: task,
        observed_at_ns: submit * SECOND_NS,
        source: "squeue".into(),
        ..JobDependency::default()
    }
}

fn jobs(states: &[JobState<'static>], dependencies: &[JobDependency<'static>]) -> Jobs {
    let mut builder = JobsBuilder::default();
    states.iter().for_each(|row| builder.push_state(&JobRow::of(row)));
    dependencies.iter().for_each(|row| builder.push_dependency(&DependencyRow::of(row)));
    builder.finish(Timestamp::Reported).unwrap()
}

/// A job that runs and fails, its requeued second attempt, two tasks of an array that waits for it,
/// and one that waits for a task and for a job that nobody saw.
fn small() -> Jobs {
    let mut states = vec![row("1", 1, 100, change::NEW, Some("PENDING"), 101)];
    let mut running = row("1", 1, 100, change::STATE, Some("RUNNING"), 110);
    (running.node_list, running.memory_bytes) = (Some("n[1-2]".into()), Some(1 << 30));
    states.push(running);
    states.push(row("1", 1, 120, change::REQUEUED, Some("PENDING"), 121));
    let mut failed = row("1", 1, 120, change::STATE, Some("FAILED"), 130);
    (failed.exit_code, failed.reason) = (Some(2), Some("NonZeroExitCode".into()));
    states.push(failed);
    states.push(row("8_*", 8, 105, change::NEW, Some("PENDING"), 106));
    states.push(row("8_1", 9, 105, change::NEW, Some("RUNNING"), 140));
    states.push(row("8_2", 8, 105, change::NEW, Some("RUNNING"), 140));
    states.push(row("8_*", 8, 105, change::LEFT, None, 140));
    let mut last = row("10", 10, 107, change::NEW, Some("PENDING"), 108);
    (last.account, last.user, last.partition) = (Some("other".into()), Some("bob".into()), Some("debug,short".into()));
    states.push(last);
    let mut gone = row("10", 10, 107, change::LEFT, None, 150);
    (gone.account, gone.user) = (None, None);
    states.push(gone);
    jobs(
        &states,
        &[
            depends("8_*", 105, "job", 1, None),
            depends("10", 107, "array_task", 8, Some(1)),
            depends("10", 107, "array", 8, None),
            depends("10", 107, "job", 4711, None),
        ],
    )
}

fn xes_of(jobs: &Jobs) -> String {
    let mut out = Vec::new();
    xes::write(&logs_of(jobs, &Filter::default()).cases[0], &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn logs_of(jobs: &Jobs, filter: &Filter) -> Finished {
    let mut logs = JobLogs::new(filter.clone(), true, ALL, TracedJobs::default());
    logs.add(&Entities::new(jobs)).unwrap();
    logs.finish().unwrap()
}

/// Every attribute as `trace|event key value` in the order of the file, read as an XML parser reads
/// it.
fn attributes(xml: &str) -> Vec<(String, String, String)> {
    let mut reader = Reader::from_str(xml);
    let mut inside = vec![String::new()];
    let mut all = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Xml::Start(e) => inside.push(e.name().0.to_owned()),
            Xml::End(_) => drop(inside.pop()),
            Xml::Empty(e) => {
                let value = |key: &str| {
                    let attribute = e.try_get_attribute(key).unwrap();
                    attribute.map(|a| a.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned()).unwrap_or_default()
                };
                all.push((inside.last().cloned().unwrap_or_default(), value("key"), value("value")));
            }
            Xml::Eof => return all,
            _ => {}
        }
    }
}

fn values<'a>(all: &'a [(String, String, String)], inside: &str, key: &str) -> Vec<&'a str> {
    all.iter().filter(|(i, k, _)| i == inside && k == key).map(|(_, _, v)| v.as_str()).collect()
}

#[test]
fn xes_says_what_is_known_and_nothing_else() {
    let all = attributes(&xes_of(&small()));
    assert_eq!(values(&all, "trace", "concept:name"), ["dependency:lab:1"]);
    // Not all events agree on the account.
    assert_eq!(values(&all, "trace", "slurm:account"), [""; 0]);
    assert_eq!(values(&all, "trace", "slurm:group"), ["physics"]);
    let states = ["PENDING", "PENDING", "PENDING", "PENDING", "RUNNING", "REQUEUED", "PENDING", "FAILED", "RUNNING", "RUNNING", "LEFT"];
    assert_eq!(values(&all, "event", "slurm:state"), states);
    let jobs = ["1", "8_2", "8_1", "10", "1", "1", "1", "1", "8_2", "8_1", "10"];
    assert_eq!(values(&all, "event", "slurm:job"), jobs);
    assert_eq!(values(&all, "event", "slurm:attempt"), ["1", "1", "1", "1", "1", "1", "2", "2", "1", "1", "1"]);
    let transitions =
        ["schedule", "schedule", "schedule", "schedule", "start", "ate_abort", "schedule", "ate_abort", "start", "start", "unknown"];
    assert_eq!(values(&all, "event", "lifecycle:transition"), transitions);
    assert_eq!(values(&all, "event", "time:timestamp")[0], "1970-01-01T00:01:40.000+00:00");
    assert_eq!(values(&all, "event", "concept:instance")[6], "lab:1@120");
    assert_eq!(values(&all, "event", "slurm:exit_code"), ["2", "2"]);
    // When each was submitted, the first one twice: it was put back in between, at an unknown moment.
    let submitted = ["01:40", "01:45", "01:45", "01:47", "02:00"].map(|time| format!("1970-01-01T00:{time}.000+00:00"));
    assert_eq!(values(&all, "event", "slurm:reported"), submitted);
    assert_eq!(values(&all, "event", "slurm:node_list"), ["n[1-2]"]);
}

#[test]
fn xes_begins_in_the_order_of_the_standard() {
    let xml = xes_of(&small());
    let places: Vec<usize> =
        ["<extension", "<global", "<classifier", "\n\t<string", "<trace"].iter().map(|tag| xml.find(tag).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let last_global = xml.rfind("</global>").unwrap();
    assert!(last_global < places[2] && xml.rfind("<extension").unwrap() < places[1]);
    assert!(xml.contains(r#"<log xes.version="1849.2016""#));
}

#[test]
fn the_same_jobs_give_the_same_bytes() {
    let jobs = small();
    assert_eq!(xes_of(&jobs), xes_of(&small()));
    let ocel = |jobs: &Jobs| {
        let mut out = Vec::new();
        ocel::json::write(&logs_of(jobs, &Filter::default()).objects.unwrap(), &mut out).unwrap();
        out
    };
    assert_eq!(ocel(&jobs), ocel(&small()));
}

#[test]
fn hostile_names_stay_in_their_attribute() {
    let names = ["a\nb", "a\r\tb", "\"/><event><x y='", "]]>&amp;", "\u{1b}[31m", "\u{0}", "\u{fffe}", "naïve 日本 \u{10ffff}"];
    let read = ["a\nb", "a\r\tb", "\"/><event><x y='", "]]>&amp;", "\\x1b[31m", "\\x00", "\\xef\\xbf\\xbe", "naïve 日本 \u{10ffff}"];
    let states: Vec<_> = (1i64..)
        .zip(names)
        .map(|(id, name)| JobState { activity: Some(name.into()), ..row(&id.to_string(), id, id, change::NEW, Some("PENDING"), id + 1) })
        .collect();
    let all = attributes(&xes_of(&jobs(&states, &[])));
    assert_eq!(values(&all, "event", "concept:name"), read);
}

proptest! {
    #[test]
    fn any_text_that_xml_can_carry_comes_back(name in any::<String>()) {
        let state = JobState { activity: Some(name.clone().into()), ..row("1", 1, 1, change::NEW, Some("PENDING"), 2) };
        let all = attributes(&xes_of(&jobs(&[state], &[])));
        let carried = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        let back = values(&all, "event", "concept:name");
        prop_assert_eq!(back.len(), 1);
        if name.chars().all(carried) {
            prop_assert_eq!(back[0], name);
        } else {
            prop_assert!(back[0].chars().all(carried));
        }
    }
}

fn ocel_of(jobs: &Jobs, filter: &Filter) -> (serde_json::Value, Counts, Vec<&'static str>) {
    let mut out = Vec::new();
    let logs = logs_of(jobs, filter);
    let counts = ocel::json::write(&logs.objects.unwrap(), &mut out).unwrap();
    (serde_json::from_slice(&out).unwrap(), counts, logs.diagnostics.iter().map(|d| d.code).collect())
}

fn relations(json: &serde_json::Value, of: &str, id: &str) -> Vec<String> {
    let item = json[of].as_array().unwrap().iter().find(|x| x["id"] == id).unwrap();
    let text = |r: &serde_json::Value| format!("{} {}", r["qualifier"].as_str().unwrap(), r["objectId"].as_str().unwrap());
    item["relationships"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn ocel_objects_and_relations() {
    let (json, written, said) = ocel_of(&small(), &Filter::default());
    let ids: Vec<&str> = json["objects"].as_array().unwrap().iter().map(|o| o["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "job:lab:1@100",
            "job:lab:8_2@105",
            "job:lab:8_1@105",
            "job:lab:10@107",
            "job:lab:1@120",
            "job:lab:4711",
            "array:lab:8",
            "workflow run:lab:1",
            "user:ann",
            "user:bob",
            "group:physics",
            "account:lab:other",
            "account:lab:proj",
            "partition:lab:debug",
            "partition:lab:short",
            "node:lab:n1",
            "node:lab:n2"
        ]
    );
    assert_eq!(
        relations(&json, "objects", "job:lab:1@120"),
        ["attempt of job:lab:1@100", "part of workflow run:lab:1", "submitted by user:ann"]
    );
    assert_eq!(
        relations(&json, "objects", "job:lab:8_1@105"),
        ["member of array array:lab:8", "depends on (afterok) job:lab:1@100", "part of workflow run:lab:1", "submitted by user:ann"]
    );
    let of_ten = [
        "depends on (afterok) array:lab:8",
        "depends on (afterok) job:lab:4711",
        "depends on (afterok) job:lab:8_1@105",
        "part of workflow run:lab:1",
        "submitted by user:bob",
    ];
    let mut found = relations(&json, "objects", "job:lab:10@107");
    found.sort();
    assert_eq!(found, of_ten);
    assert_eq!(said, [""; 0]);
    assert_eq!(
        relations(&json, "events", "e05"),
        [
            "job job:lab:1@100",
            "part of workflow run:lab:1",
            "submitted by user:ann",
            "of group group:physics",
            "charged to account:lab:proj",
            "ran on node:lab:n1",
            "ran on node:lab:n2"
        ]
    );
    assert_eq!((written.events, written.objects), (11, 17));
    let types: Vec<&str> = json["events"].as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], types[4], types[7], types[10]), ("job submitted", "job started", "job failed", "job left queue"));
    let declared: Vec<&str> = json["eventTypes"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(declared, ["job failed", "job left queue", "job pending", "job requeued", "job started", "job submitted"]);
    // Numbers are numbers; what changes carries its time.
    let job = &json["objects"][4];
    let values: Vec<(&serde_json::Value, &serde_json::Value, &str)> = job["attributes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|a| ["cpus", "state"].contains(&a["name"].as_str().unwrap()))
        .map(|a| (&a["name"], &a["value"], a["time"].as_str().unwrap()))
        .collect();
    assert_eq!(
        format!("{values:?}"),
        r#"[(String("cpus"), Number(4), "1970-01-01T00:00:00Z"), (String("state"), String("PENDING"), "1970-01-01T00:02:00Z"), (String("state"), String("FAILED"), "1970-01-01T00:02:10.250000001Z")]"#
    );
}

#[test]
fn every_ocel_relation_leads_to_an_object_also_in_a_filtered_log() {
    for filter in [
        Filter::default(),
        Filter { users: vec!["bob".into()], ..Filter::default() },
        Filter { accounts: vec!["proj".into()], ..Filter::default() },
        Filter { from_ns: Some(135 * SECOND_NS), ..Filter::default() },
        Filter { to_ns: Some(0), ..Filter::default() },
    ] {
        let (json, written, said) = ocel_of(&small(), &filter);
        let objects = json["objects"].as_array().unwrap();
        let events = json["events"].as_array().unwrap();
        assert_eq!((objects.len() as u64, events.len() as u64), (written.objects, written.events));
        assert_eq!(said, [""; 0]);
        let ids: std::collections::HashSet<&str> = objects.iter().map(|o| o["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), objects.len());
        for item in objects.iter().chain(events) {
            for relation in item["relationships"].as_array().unwrap() {
                assert!(ids.contains(relation["objectId"].as_str().unwrap()), "{filter:?} {relation}");
            }
        }
    }
}

#[test]
fn a_host_list_that_is_none_is_one_object_and_counted() {
    let state = JobState { node_list: Some("n[1-999999999]".into()), ..row("1", 1, 1, change::NEW, Some("RUNNING"), 2) };
    let (json, written, said) = ocel_of(&jobs(&[state], &[]), &Filter::default());
    assert_eq!((said, written.objects), (vec!["ocel_host_list"], 5));
    assert!(json["objects"].as_array().unwrap().iter().any(|o| o["id"] == "node:lab:n[1-999999999]"));
}

fn summary(jobs: &Jobs) -> Summary {
    let filter = Filter::default();
    let telling = telling(&Exchanges::default(), ALL[0]);
    let mut builder = SummaryBuilder::new(&filter, &telling);
    builder.add(&Entities::new(jobs));
    builder.finish()
}

#[test]
fn the_summary_counts_jobs_and_not_attempts() {
    let summary = summary(&small());
    assert_eq!((summary.events, summary.jobs, summary.attempts), (11, 4, 5));
    assert_eq!((summary.accounts, summary.accounts_with_dependencies, summary.users), (2, 2, 2));
    assert_eq!((summary.cpus.mean, summary.cpus.known), (Some(4.0), 4));
    assert_eq!((summary.memory_bytes.mean, summary.memory_bytes.known), (None, 0));
    assert_eq!(summary.final_states.into_iter().collect::<Vec<_>>(), [("FAILED".to_owned(), 1)]);
    assert_eq!(summary.cases.into_iter().collect::<Vec<_>>(), [("account-group".to_owned(), 2), ("dependency".to_owned(), 1)]);
    assert_eq!(summary.jobs_without_known_end, 3);
    assert_eq!(summary.first.as_deref(), Some("1970-01-01T00:01:40Z"));
}

#[test]
fn an_empty_summary_knows_nothing() {
    let summary = summary(&jobs(&[], &[]));
    assert_eq!((summary.share_of_jobs_with_dependencies, summary.cpus.mean, summary.first.clone()), (None, None, None));
    assert!(summary.text().contains("unknown"));
}
