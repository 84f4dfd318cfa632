//! The recorded real queue in fixtures/case-study, taken through the whole pipeline and checked
//! against its truth.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use flowmine_correlate::cases;
use flowmine_correlate::{Entities, Filter, Jobs, Timestamp, parts::Parts};
use flowmine_dataset::Dataset;
use flowmine_eventlog::{ocel, xes};
use flowmine_logs::job_log::JobLogs;
use flowmine_logs::task_log::TracedJobs;
use flowmine_privacy::RowRules;
use flowmine_schema::tables::JobState;
use flowmine_schema::time::SECOND_NS;

use crate::support;
use crate::support::truth::{Truth, polls};
use crate::support::{expect, flowmine, job_states, repository};

/// The attempts as slurmctld tells them: job, submit, start, end (whole seconds; no start when it
/// never ran), state.
fn told() -> Vec<(String, i64, Option<i64>, i64, String)> {
    let text = fs::read_to_string(repository("fixtures/case-study/truth-states.tsv")).unwrap();
    let of = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[1].to_owned(), cells[4].parse().unwrap(), cells[5].parse().ok(), cells[6].parse().unwrap(), cells[7].to_owned())
    };
    text.lines().skip(1).map(of).collect()
}

#[test]
fn seldom_polls_tell_every_submission_and_start_of_what_they_saw() {
    // slurmctld forgets ended jobs after 20 s here, and after 300 s where nobody has set it: a poll in 15 s is as one in four minutes there.
    for every in [15, 7] {
        let dir = tempfile::tempdir().unwrap();
        let (polls, dataset) = (dir.path().join("polls"), dir.path().join("dataset"));
        fs::create_dir(&polls).unwrap();
        let recorded = repository("fixtures/case-study/polls");
        let mut names: Vec<_> = fs::read_dir(&recorded).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        let mut times = Vec::new();
        for name in names.iter().skip(3).step_by(every) {
            fs::copy(recorded.join(name), polls.join(name)).unwrap();
        }
        for poll in support::truth::polls(&polls) {
            times.push((poll.began_ns / SECOND_NS, poll.ended_ns / SECOND_NS + 1));
        }
        expect(flowmine().args(["import", "slurm", "--dataset"]).arg(&dataset).arg(&polls), 0);
        let jobs = Jobs::read(&Dataset::open(&dataset).unwrap(), Timestamp::Reported).unwrap();
        let truth = told();
        let (mut seen, mut starts, mut ends) = (0, 0, 0);
        for (job, submit, start, end, state) in &truth {
            let is_last = !truth.iter().any(|other| other.0 == *job && other.1 > *submit);
            let until = if is_last { end + 15 } else { *end };
            let was_visible = |from: i64| times.iter().any(|&(began, ended)| from < began && ended < until);
            let label = job.as_str();
            let attempt = jobs.attempts.iter().find(|a| jobs.text(a.job) == label && a.submit_ns.get() == Some(submit * SECOND_NS));
            let events: Vec<(&str, i64)> = attempt.map_or_else(Vec::new, |attempt| {
                jobs.events_of(attempt).iter().map(|event| (jobs.text(event.state), event.time_ns / SECOND_NS)).collect()
            });
            // A task that waits has no record of its own: its array has.
            if was_visible(*submit) && !(label.contains('_') && events.is_empty()) {
                // One that is put back on hold waits under another name.
                let waits = |state: &str| matches!(state, "PENDING" | "SPECIAL_EXIT" | "REQUEUE_HOLD");
                assert!(events.first().is_some_and(|&(state, at)| waits(state) && at == *submit), "{job} {submit} {events:?}");
                seen += 1;
            }
            if let Some(start) = start.filter(|&start| was_visible(start)) {
                assert!(events.contains(&("RUNNING", start)), "{job} started at {start}: {events:?}");
                starts += 1;
            }
            if let Some((_, at)) = events.iter().find(|(name, _)| name == state).filter(|_| state != "REQUEUED") {
                assert_eq!(at, end, "{job} {events:?}");
                ends += 1;
            }
        }
        assert!(seen > 200 && starts > 200 && ends > 200, "every {every} s: {seen} {starts} {ends} of {}", truth.len());
    }
}

/// Kinds whose runs are not one case by their nature: a job that waits for one that never was
/// shares no run, and jobs of which a run has several without any dependency between them.
const NOT_CONNECTED: &[&str] = &["ghost"];

fn import(dataset: &Path, accounting: bool) {
    let mut command = flowmine();
    command.args(["import", "slurm", "--dataset"]).arg(dataset).arg(repository("fixtures/case-study/polls"));
    if accounting {
        command.arg(repository("fixtures/case-study/sacct-token.txt.gz"));
    }
    expect(&mut command, 0);
}

fn run(dataset: &Path, out: &Path) -> String {
    let output = expect(flowmine().args(["run", "--formats", "xes,ocel.json", "--dataset"]).arg(dataset).arg("--out").arg(out), 0);
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn every_job_and_transition_that_polls_could_see_and_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, false);
    let truth = Truth::read(&repository("fixtures/case-study"));
    let rows = job_states(&dataset);
    truth.check_states(&rows, &polls(&repository("fixtures/case-study/polls")));
    truth.check_attributes(&rows);
}

#[test]
fn the_check_itself_notices_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, false);
    let truth = Truth::read(&repository("fixtures/case-study"));
    let polls = polls(&repository("fixtures/case-study/polls"));
    let rows = job_states(&dataset);
    let fails = |rows: Vec<JobState<'static>>| std::panic::catch_unwind(|| truth.check_states(&rows, &polls)).is_err();
    assert!(!fails(rows.clone()));
    let running = rows.iter().position(|row| row.state.as_deref() == Some("RUNNING") && row.change == "state").unwrap();
    let mut lost = rows.clone();
    lost.remove(running);
    assert!(fails(lost), "a lost transition");
    let mut invented = rows.clone();
    invented[running].state = Some("SUSPENDED".into());
    assert!(fails(invented), "an invented state");
    let mut another = rows.clone();
    another[running].job = "4242".into();
    assert!(fails(another), "a job that never was");
    let mut shifted = rows;
    shifted[running].not_before_ns = shifted[running].not_before_ns.map(|ns| ns + 1_000_000_000);
    assert!(fails(shifted), "an interval that is too short");
}

#[test]
fn every_declared_run_is_exactly_one_case() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, true);
    run(&dataset, &dir.path().join("out"));
    Truth::read(&repository("fixtures/case-study")).check_cases(&support::cases(&dataset), NOT_CONNECTED);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let outs = ["a", "b"].map(|name| {
        // The page names its source as the command does.
        let (within, dataset) = (dir.path().join(format!("within-{name}")), Path::new("dataset"));
        let out = within.join("out");
        fs::create_dir(&within).unwrap();
        // A copy, whose file times are others.
        let copy = dir.path().join(format!("recording-{name}"));
        expect(std::process::Command::new("cp").arg("-r").arg(repository("fixtures/case-study")).arg(&copy), 0);
        let files = [copy.join("polls"), copy.join("sacct-token.txt.gz")];
        expect(flowmine().current_dir(&within).args(["import", "slurm", "--dataset"]).arg(dataset).args(files), 0);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let formats = ["run", "--formats", "xes,ocel.json", "--out", "out"];
        expect(flowmine().current_dir(&within).args(formats).arg("--dataset").arg(dataset), 0);
        out
    });
    let mut names: Vec<_> = fs::read_dir(&outs[0]).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert!(names.len() >= 8, "{names:?}");
    // What is hidden says when and of what the rest was made.
    for name in names.into_iter().filter(|name| !name.as_encoded_bytes().starts_with(b".")) {
        assert!(fs::read(outs[0].join(&name)).unwrap() == fs::read(outs[1].join(&name)).unwrap(), "{} differs", name.display());
    }
}

#[test]
fn what_is_not_new_is_not_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    let run = |more: &[&str]| {
        let output = expect(flowmine().args(["run", "--formats", "csv", "--dataset"]).arg(&dataset).arg("--out").arg(&out).args(more), 0);
        let again = !String::from_utf8_lossy(&output.stderr).contains("nothing is new");
        (again, String::from_utf8(output.stdout).unwrap())
    };
    import(&dataset, false);
    let (again, first) = run(&[]);
    assert!(again && first.contains("summary.json"), "{first}");
    assert_eq!(run(&[]), (false, first.clone()));
    // What is missing is made again, what was changed by hand is left and refused until it is removed, and so is all when something else is asked for or new.
    fs::remove_file(out.join("dfg.svg")).unwrap();
    assert_eq!(run(&[]), (true, first.clone()));
    fs::write(out.join("summary.json"), "{}").unwrap();
    let mut refused = flowmine();
    refused.args(["run", "--formats", "csv", "--dataset"]).arg(&dataset).arg("--out").arg(&out);
    let said = expect(&mut refused, 2).stderr;
    assert!(String::from_utf8_lossy(&said).contains("summary.json was changed"), "{said:?}");
    assert_eq!(fs::read_to_string(out.join("summary.json")).unwrap(), "{}");
    fs::remove_file(out.join("summary.json")).unwrap();
    assert_eq!(run(&[]), (true, first.clone()));
    assert!(run(&["--timestamp", "observed-at"]).0);
    assert_eq!(run(&[]), (true, first.clone()));
    // The polls' files name no cluster.
    let accounting = repository("fixtures/case-study/sacct-token.txt.gz");
    expect(flowmine().args(["import", "slurm", "--cluster", "cluster", "--dataset"]).arg(&dataset).arg(accounting), 0);
    let (again, more) = run(&[]);
    assert!(again && more != first);
    assert_eq!(run(&[]), (false, more));
}

#[test]
fn the_order_of_imports_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let files = ["polls", "sacct-token.txt.gz", "sacct.json.gz"].map(|name| repository("fixtures/case-study").join(name));
    let counts = |order: &[usize]| -> serde_json::Value {
        let name: String = order.iter().map(usize::to_string).collect();
        let (dataset, out) = (dir.path().join(&name), dir.path().join(format!("out-{name}")));
        for &at in order {
            expect(flowmine().args(["import", "slurm", "--cluster", "lab", "--dataset"]).arg(&dataset).arg(&files[at]), 0);
        }
        run(&dataset, &out);
        let mut summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
        summary.as_object_mut().unwrap().retain(|key, _| !matches!(key.as_str(), "warnings" | "errors"));
        summary
    };
    let one = counts(&[0, 1, 2]);
    assert_eq!(one["jobs"], 266);
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(counts(&order), one, "{order:?}");
    }
}

#[test]
fn a_cluster_that_is_named_too_late_is_no_second_cluster() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, false);
    let mut late = flowmine();
    late.args(["import", "slurm", "--dataset"]).arg(&dataset).arg(repository("fixtures/case-study/sacct-token.txt.gz"));
    let said = String::from_utf8(expect(&mut late, 2).stderr).unwrap();
    assert!(said.contains("lab") && said.contains("--cluster"), "{said}");
    expect(late.args(["--cluster", "cluster"]), 0);
}

#[test]
fn the_picture_in_the_readme_is_what_the_program_draws() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, true);
    let drawn = expect(flowmine().args(["discover", "--account", "thesis", "--dataset"]).arg(&dataset), 0).stdout;
    assert!(drawn == fs::read(repository("docs/pictures/dfg-thesis.svg")).unwrap(), "stale: run `make docs`");
}

#[test]
fn importing_again_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    import(&dataset, true);
    let before = job_states(&dataset);
    import(&dataset, true);
    assert!(before == job_states(&dataset));
}

#[test]
fn hostile_names_are_harmless_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    import(&dataset, true);
    let terminal = run(&dataset, &out);
    assert!(!terminal.contains('\u{1b}') && !terminal.contains('\u{202e}'), "{terminal:?}");
    for entry in fs::read_dir(&out).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        // Lines of CSV end with CR LF (RFC 4180).
        let text = if path.extension().is_some_and(|e| e == "csv") { text.replace("\r\n", "\n") } else { text };
        let harmful = text.chars().find(|&c| c < ' ' && !matches!(c, '\n' | '\t'));
        assert_eq!(harmful, None, "{} holds a control character", path.display());
        match path.extension().and_then(|e| e.to_str()) {
            Some("html") => page_is_harmless(&text, &dataset),
            Some("json") => drop(serde_json::from_str::<serde_json::Value>(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))),
            _ => assert!(!text.contains("<script"), "{} holds a script", path.display()),
        }
    }
    // A name that forges a row, and one that is no UTF-8, are in the logs as what they are.
    let xes = fs::read_to_string(out.join("log.xes")).unwrap();
    for name in ["&lt;script&gt;alert(1)&lt;/script&gt;", "bad\\xff\\xfeutf\\xc3"] {
        assert!(xes.contains(name), "{name} is missing");
    }
}

/// The page has its own scripts and elements, and every name of the dataset only as text: none that
/// has a meaning in HTML is there as it is. Its tables are compressed, and `tests/integration/report.rs`
/// looks at them in a browser.
fn page_is_harmless(page: &str, dataset: &Path) {
    let rows = job_states(dataset);
    let hostile: BTreeSet<&str> = (rows.iter())
        .flat_map(|row| [&row.name, &row.command, &row.comment, &row.work_dir, &row.user, &row.account, &row.partition])
        .filter_map(|text| text.as_deref())
        .filter(|text| text.contains(['<', '>', '"', '\u{1b}', '\u{202e}']))
        .collect();
    assert!(hostile.iter().any(|name| name.contains("<script")), "the recording has names of this kind: {hostile:?}");
    for name in &hostile {
        assert!(!page.contains(name), "{name:?} is not escaped");
    }
    // Scripts and their kinds are those of a page without such names, and no element has a handler.
    let scripts =
        |text: &str| text.match_indices("<script").map(|(at, _)| text[at..].split('>').next().unwrap().to_owned()).collect::<Vec<_>>();
    let plain = expect(flowmine().arg("report").arg(repository("fixtures/workflows/nextflow-local/nextflow.log")), 0).stdout;
    let kinds = |text: &str| scripts(text).into_iter().filter(|tag| !tag.contains("data-")).collect::<BTreeSet<_>>();
    assert_eq!(kinds(page), kinds(&String::from_utf8(plain).unwrap()));
    for of in [" onerror=", " onload=", " onclick=", "javascript:"] {
        assert!(!page.contains(of), "{of}");
    }
}

#[test]
fn a_log_made_in_parts_is_the_same_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("dataset");
    import(&path, true);
    let dataset = Dataset::open(&path).unwrap();
    let logs = |rows_at_once: u64| {
        let mut logs = JobLogs::new(Filter::default(), true, cases::ALL, TracedJobs::default());
        let mut parts = 0;
        let rules = RowRules::default();
        let all = Parts::new(&dataset, Timestamp::Reported, &rules, rows_at_once).unwrap();
        all.for_each::<Box<dyn std::error::Error>>(|jobs| {
            parts += 1;
            Ok(logs.add(&Entities::new(jobs))?)
        })
        .unwrap();
        let logs = logs.finish().unwrap();
        let mut files = vec![Vec::new(); 3];
        ocel::json::write(&logs.objects.unwrap(), &mut files[0]).unwrap();
        xes::write(&logs.cases[0], &mut files[1]).unwrap();
        xes::write(&logs.cases[1], &mut files[2]).unwrap();
        (parts, files)
    };
    let (one, whole) = logs(u64::MAX);
    assert_eq!(one, 1);
    for rows_at_once in [200, 7] {
        let (parts, files) = logs(rows_at_once);
        assert!(parts > 2, "{parts}");
        assert!(files == whole, "{rows_at_once}");
    }
}
