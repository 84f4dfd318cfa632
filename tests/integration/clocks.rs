//! Clocks that differ from slurmctld's: a model of a cluster, watched by an observer whose clock is
//! shifted, says the same as one whose clock is right.

use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use flowmine_correlate::{Jobs, Timestamp};
use flowmine_dataset::Dataset;
use flowmine_extract_slurm::observe::{Observer, Options};
use flowmine_extract_slurm::runner::{Output, RunError, Runner};
use flowmine_extract_slurm::squeue::{FIELDS, Field};
use proptest::prelude::*;

use crate::support::{expect, flowmine};

const S: i64 = 1_000_000_000;
const BASE: i64 = 1_795_000_000;
const YEAR: i64 = 365 * 86_400 * S;

/// A job of the model; seconds after [`BASE`] on slurmctld's clock.
#[derive(Debug, Clone)]
struct Job {
    submit: i64,
    released: i64,
    start: i64,
    end: i64,
}

impl Job {
    fn values(&self, id: usize, now: i64, field: Field) -> String {
        let time = |at: i64| if at <= now { (BASE + at).to_string() } else { "N/A".to_owned() };
        match field {
            Field::RawId | Field::DisplayedId | Field::ArrayId => id.to_string(),
            Field::State if now < self.start => "PENDING".to_owned(),
            Field::State if now < self.end => "RUNNING".to_owned(),
            Field::State => "COMPLETED".to_owned(),
            Field::Reason if now < self.released => "JobHeldUser".to_owned(),
            Field::Reason if now < self.start => "Priority".to_owned(),
            Field::Reason => "None".to_owned(),
            Field::Priority if now < self.released => "0".to_owned(),
            Field::Priority => "100".to_owned(),
            Field::Submit => time(self.submit),
            Field::Start => time(self.start),
            Field::End => time(self.end),
            Field::NodeList if self.start <= now => "n1".to_owned(),
            Field::User => "ann".to_owned(),
            Field::Name => "model".to_owned(),
            _ => "(null)".to_owned(),
        }
    }
}

/// slurmctld and the login node, of which the clock is ahead.
#[derive(Clone)]
struct Cluster {
    jobs: Rc<Vec<Job>>,
    /// slurmctld's clock, in nanoseconds after [`BASE`].
    now_ns: Rc<Cell<i64>>,
    ahead_ns: Rc<Cell<i64>>,
    readings: Rc<Cell<u32>>,
}

impl Cluster {
    fn date(&self) -> String {
        format!("{}\n", BASE * S + self.now_ns.get() + self.ahead_ns.get())
    }
}

impl Runner for Cluster {
    fn run(&mut self, script: &'static str, stdin: &[u8], _: Duration) -> Result<Output, RunError> {
        let mut stdout = self.date();
        let now = self.now_ns.get() / S;
        if script.contains("scontrol") {
            self.readings.set(self.readings.get() + 1);
            stdout.push_str(&format!("Configuration data as of {}\nClusterName             = lab\n", BASE + now));
        } else {
            let format = String::from_utf8(stdin.split(|&b| b == b'\n').nth(2).unwrap().to_vec()).unwrap();
            let token = &format[6..15];
            let mut line = |value: &dyn Fn(Field, &str) -> String| {
                for (field, _, name) in FIELDS {
                    stdout.push_str(&value(*field, name));
                    stdout.push_str(token);
                }
                stdout.push('\n');
            };
            line(&|_, name| name.to_owned());
            for (id, job) in self.jobs.iter().enumerate().filter(|(_, job)| job.submit <= now) {
                line(&|field, _| job.values(id + 1, now, field));
            }
        }
        self.now_ns.set(self.now_ns.get() + S / 20);
        stdout.push_str(&self.date());
        stdout.push_str("flowmine-end 0\n");
        Ok(Output { stdout: stdout.into_bytes(), stderr: vec![], status: 0, signal: None })
    }

    fn describe(&self) -> String {
        "a model".to_owned()
    }
}

/// What an observer with a clock that `ahead_ns` gives for each poll makes of jobs.
struct Watched {
    /// Job, state, time and interval of each event.
    events: Vec<(String, String, i64, Option<i64>, i64)>,
    /// Codes of the diagnostics.
    codes: Vec<&'static str>,
    readings: u32,
}

fn watch(jobs: &[Job], every_s: i64, polls: i64, ahead_ns: impl Fn(i64) -> i64) -> Watched {
    let dir = tempfile::tempdir().unwrap();
    let dataset = Dataset::open_or_create(dir.path()).unwrap();
    let cluster = Cluster { jobs: Rc::new(jobs.to_vec()), now_ns: Rc::default(), ahead_ns: Rc::default(), readings: Rc::default() };
    cluster.ahead_ns.set(ahead_ns(0));
    let mut codes = Vec::new();
    for number in 0..polls {
        cluster.now_ns.set(number * every_s * S + S / 3);
        cluster.ahead_ns.set(ahead_ns(number));
        // As from cron: each poll is a process of its own.
        let mut observer = Observer::open(&dataset, Box::new(cluster.clone()), Options::default()).unwrap();
        codes.extend(observer.poll().unwrap().diagnostics.iter().map(|d| d.code).filter(|code| *code != "clock_skew"));
    }
    let jobs = Jobs::read(&dataset, Timestamp::Reported).unwrap();
    let event = |e: &flowmine_correlate::Event| {
        let attempt = jobs.attempt_of(e);
        let names = (jobs.text(attempt.job).to_owned(), jobs.text(e.state).to_owned());
        (names.0, names.1, e.time_ns - BASE * S, e.not_before_ns.get().map(|time| time - BASE * S), e.observed_at_ns - BASE * S)
    };
    Watched { events: jobs.events.iter().map(event).collect(), codes, readings: cluster.readings.get() }
}

/// That both say the same, to two seconds, and that it is true.
fn assert_agrees(shifted: &Watched, right: &Watched, jobs: &[Job], name: &str) {
    assert_eq!(shifted.events.len(), right.events.len(), "{name}: {:?} {:?}", shifted.events, right.events);
    for (event, same) in shifted.events.iter().zip(&right.events) {
        let (job, state, time, not_before, observed) = event;
        assert_eq!((job, state), (&same.0, &same.1), "{name}");
        assert!((time - same.2).abs() <= 2 * S, "{name}: {event:?} {same:?}");
        let of = &jobs[job.parse::<usize>().unwrap() - 1];
        let truth = match state.as_str() {
            "PENDING" => of.submit,
            "RUNNING" => of.start,
            "COMPLETED" => of.end,
            "RELEASED" => of.released,
            _ => continue,
        } * S;
        assert!(not_before.is_none_or(|after| after < truth + S) && truth <= *observed, "{name}: {event:?} is not of {truth}");
        if state != "RELEASED" {
            // Within the second that Slurm reports, a poll can show more.
            assert_eq!(time.div_euclid(S) * S, truth, "{name}: {event:?}");
        }
    }
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job = (0..900i64, 0..200i64, 0..200i64, 1..400i64).prop_map(|(submit, held, waits, runs)| Job {
        submit,
        released: submit + held,
        start: submit + held + waits,
        end: submit + held + waits + runs,
    });
    proptest::collection::vec(job, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn times_are_those_of_slurmctld_whatever_the_clock_of_the_observer(
        jobs in jobs(),
        ahead_ms in prop_oneof![-200_000i64..200_000, -3000i64..3000],
        every_s in 20..90i64,
    ) {
        let polls = 1800 / every_s;
        let right = watch(&jobs, every_s, polls, |_| 0);
        prop_assert!(right.codes.is_empty(), "{:?}", right.codes);
        let shifted = watch(&jobs, every_s, polls, |_| ahead_ms * 1_000_000);
        let expected = usize::from(ahead_ms.abs() > 3100);
        prop_assert!(shifted.codes.len() == expected || ahead_ms.abs() > 1900 && ahead_ms.abs() <= 3100, "{ahead_ms} {:?}", shifted.codes);
        assert_agrees(&shifted, &right, &jobs, "shifted");
    }

    #[test]
    fn one_poll_of_another_year_stops_nobody(jobs in jobs(), at in 1..20i64) {
        let right = watch(&jobs, 60, 30, |_| 0);
        let jumped = watch(&jobs, 60, 30, |number| if number == at { YEAR } else { 0 });
        assert_agrees(&jumped, &right, &jobs, "jumped");
        prop_assert_eq!(jumped.codes, ["controller_clock", "clock_went_back", "controller_clock"]);
    }
}

#[test]
fn slurmctld_is_asked_for_its_time_once_an_hour() {
    let watched = watch(&[Job { submit: 10, released: 10, start: 20, end: 9000 }], 60, 123, |_| 90 * S);
    assert_eq!(watched.readings, 3);
}

/// Three polls as somebody recorded them, by a clock that is behind: job 3 starts between the first
/// two and ends between the last two.
fn recorded(dir: &Path, behind_s: i64) {
    let head = "JOBID;ARRAY_JOB_ID;SUBMIT_TIME;START_TIME;END_TIME;STATE;REASON;USER;NODELIST;NAME";
    for (at, state, start, end) in [(60, "PENDING", "N/A", "N/A"), (120, "RUNNING", "90", "N/A"), (180, "COMPLETED", "90", "140")] {
        let time = |text: &str| text.parse::<i64>().map_or_else(|_| text.to_owned(), |time| (BASE + time).to_string());
        let stamp = flowmine_schema::time::rfc3339((BASE + at - behind_s) * S).replace([':', '-'], "");
        let row = format!("3;3;{};{};{};{state};None;ann;n1;model", time("10"), time(start), time(end));
        std::fs::write(dir.join(format!("squeue-{stamp}.txt")), format!("{head}\n{row}\n")).unwrap();
    }
}

#[test]
fn recorded_polls_bound_the_clock_by_the_jobs_that_they_show() {
    for (behind_s, warns) in [(0, false), (100, true), (-100, true)] {
        let dir = tempfile::tempdir().unwrap();
        let (files, dataset) = (dir.path().join("files"), dir.path().join("dataset"));
        std::fs::create_dir(&files).unwrap();
        recorded(&files, behind_s);
        let import = expect(flowmine().args(["import", "slurm", "--cluster", "lab", "--dataset"]).arg(&dataset).arg(&files), 0);
        let said = String::from_utf8_lossy(&import.stderr).into_owned();
        assert_eq!(said.contains("against slurmctld's"), warns, "{said}");
        let jobs = Jobs::read(&Dataset::open(&dataset).unwrap(), Timestamp::Reported).unwrap();
        let events: Vec<_> = jobs.events.iter().map(|e| (jobs.text(e.state), e.time_ns / S - BASE)).collect();
        assert_eq!(events, [("PENDING", 10), ("RUNNING", 90), ("COMPLETED", 140)], "{behind_s} s behind");
    }
}

const ACCOUNTING: &str = "\
JobID|JobIDRaw|JobName|User|State|Submit|Eligible|Start|End|NodeList
3|3|model|ann|COMPLETED|10|10|90|140|n1
";

#[test]
fn accounting_repairs_times_of_polls_of_which_the_clock_is_not_known() {
    let dir = tempfile::tempdir().unwrap();
    let (files, dataset) = (dir.path().join("files"), dir.path().join("dataset"));
    std::fs::create_dir(&files).unwrap();
    recorded(&files, -100);
    expect(flowmine().args(["import", "slurm", "--cluster", "lab", "--dataset"]).arg(&dataset).arg(&files), 0);
    // As an older flowmine left it.
    std::fs::remove_dir_all(dataset.join("controller_clocks")).unwrap();
    let clock = |text: &str| {
        text.parse::<i64>()
            .map_or_else(|_| text.to_owned(), |time| flowmine_schema::time::rfc3339((BASE + time) * S).trim_end_matches('Z').to_owned())
    };
    let (head, row) = ACCOUNTING.trim_end().split_once('\n').unwrap();
    let row: Vec<String> = row.split('|').enumerate().map(|(at, value)| if at > 4 { clock(value) } else { value.to_owned() }).collect();
    let file = dir.path().join("sacct.txt");
    std::fs::write(&file, format!("{head}\n{}\n", row.join("|"))).unwrap();
    expect(flowmine().args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(&file), 0);
    let jobs = Jobs::read(&Dataset::open(&dataset).unwrap(), Timestamp::Reported).unwrap();
    let events: Vec<_> = jobs.events.iter().map(|e| (jobs.text(e.state), e.time_ns / S - BASE)).collect();
    assert_eq!(events, [("PENDING", 10), ("RUNNING", 90), ("COMPLETED", 140)]);
}
