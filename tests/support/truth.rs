//! A dataset against the truth of a scenario (fixtures/README.md): every job, every transition that
//! a poll could see, no invented one, names to the byte, and the cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flowmine_schema::tables::{Case, JobState, change};
use flowmine_schema::text;

/// slurmctld writes its log, and sees the end of a job, a little earlier or later than squeue shows
/// it.
const TOLERANCE_NS: i64 = 60_000_000;
const SECOND_NS: i64 = 1_000_000_000;

/// A time that is known to lie in an interval.
#[derive(Debug, Clone, Copy)]
struct When {
    first: i64,
    last: i64,
}

/// One attempt at one job, array task or component, as slurmctld tells it.
#[derive(Debug, Clone)]
struct Attempt {
    submit: Option<When>,
    start: Option<When>,
    end: When,
    state: String,
    suspended: Vec<(i64, i64)>,
}

/// One submission, as whoever submitted it tells it.
#[derive(Debug, Clone)]
struct Submission {
    run: String,
    kind: String,
    user: String,
    group: String,
    account: String,
    job_id: String,
    name: Vec<u8>,
    command: String,
    comment: Vec<u8>,
}

/// A poll: when it began and ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Poll {
    pub began_ns: i64,
    pub ended_ns: i64,
}

/// The truth of one scenario.
pub struct Truth {
    submissions: Vec<Submission>,
    attempts: BTreeMap<String, Vec<Attempt>>,
    /// What else slurmctld did with a job: time, job, `held`, `released` or `dependency-changed`.
    acts: Vec<(i64, String, String)>,
    /// Tasks of which Slurm keeps no record: they were cancelled while pending.
    untold: BTreeSet<String>,
}

/// The rows of a TSV file with a header, by the names of its columns.
pub fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut lines = text.split('\n').filter(|line| !line.is_empty());
    let header: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    lines.map(|line| header.iter().map(|name| (*name).to_owned()).zip(line.split('\t').map(str::to_owned)).collect()).collect()
}

/// Undoes the truth's own escapes: `\xNN` for controls, the backslash and what is no UTF-8.
fn unescape(text: &str) -> Vec<u8> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"\\x") {
            out.push(u8::from_str_radix(&text[at + 2..at + 4], 16).expect("two hexadecimal digits"));
            at += 4;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

impl Truth {
    /// Reads `truth.tsv` and `truth-states.tsv`.
    pub fn read(dir: &Path) -> Self {
        let submissions = table(&dir.join("truth.tsv"))
            .into_iter()
            .map(|row| Submission {
                run: row["run"].clone(),
                kind: row["kind"].clone(),
                user: row["user"].clone(),
                group: row["group"].clone(),
                account: row["account"].clone(),
                job_id: row["job_id"].clone(),
                name: unescape(&row["job_name"]),
                command: row["command"].clone(),
                comment: unescape(&row["comment"]),
            })
            .collect();
        let mut attempts: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
        let mut untold = BTreeSet::new();
        for row in table(&dir.join("truth-states.tsv")) {
            let when = |ns: &str, s: &str| match (row[ns].parse::<i64>(), row[s].parse::<i64>()) {
                (Ok(ns), _) => Some(When { first: ns, last: ns }),
                (_, Ok(s)) => Some(When { first: s * SECOND_NS, last: (s + 1) * SECOND_NS }),
                _ => None,
            };
            if row["raw_id"] == "-" {
                untold.insert(row["job"].clone());
                continue;
            }
            let mut end = when("end_ns", "end_s").expect("every attempt has ended");
            if row["state"] == "REQUEUED" {
                // slurmctld writes that it requeued when the attempt has wholly ended, up to some seconds after it told it to.
                end.first -= 3 * SECOND_NS;
            }
            let of_job = attempts.entry(row["job"].clone()).or_default();
            let before = of_job.last().map(|attempt: &Attempt| attempt.end);
            of_job.push(Attempt {
                submit: when("submit_ns", "submit_s").or(before),
                start: when("start_ns", "start_s"),
                end,
                state: row["state"].clone(),
                suspended: (row["suspended"].split(',').filter_map(|span| span.split_once('-')))
                    .filter_map(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)))
                    .collect(),
            });
        }
        let acts = table(&dir.join("truth-log.tsv"))
            .into_iter()
            .filter(|row| matches!(row["event"].as_str(), "held" | "released" | "dependency-changed"))
            .map(|row| (row["time_ns"].parse().expect("a time"), row["job"].clone(), row["event"].clone()))
            .collect();
        Self { submissions, attempts, acts, untold }
    }

    /// Whether a job can have been in a state at a poll.
    fn possible(&self, job: &str, state: &str, poll: Poll) -> bool {
        let (from, to) = (poll.began_ns - TOLERANCE_NS, poll.ended_ns + TOLERANCE_NS);
        let attempts = self.attempts.get(job).map(Vec::as_slice).unwrap_or_default();
        attempts.iter().any(|attempt| {
            let begins = |when: Option<When>| when.is_some_and(|when| when.first <= to);
            let not_over = |when: When| from <= when.last;
            match state {
                "PENDING" => begins(attempt.submit) && not_over(attempt.start.unwrap_or(attempt.end)),
                "CONFIGURING" | "RUNNING" => begins(attempt.start) && not_over(attempt.end),
                "SUSPENDED" => attempt.suspended.iter().any(|&(begin, end)| begin <= to && from <= end),
                "SPECIAL_EXIT" | "REQUEUE_HOLD" => attempts.len() > 1,
                "COMPLETING" => begins(Some(attempt.end)),
                state => state == attempt.state && begins(Some(attempt.end)),
            }
        })
    }

    /// The state that a job must have been seen in at a poll, when there is only one.
    fn certain(&self, job: &str, poll: Poll) -> Option<&str> {
        let (from, to) = (poll.began_ns - TOLERANCE_NS, poll.ended_ns + TOLERANCE_NS);
        self.attempts[job].iter().find_map(|attempt| {
            let runs = attempt.start.filter(|start| start.last < from && to < attempt.end.first);
            if runs.is_some() {
                let paused = attempt.suspended.iter().find(|&&(begin, end)| begin < to && from < end);
                return match paused {
                    None => Some("RUNNING"),
                    Some(&(begin, end)) if begin < from && to < end => Some("SUSPENDED"),
                    Some(_) => None,
                };
            }
            let waits_until = attempt.start.unwrap_or(attempt.end).first;
            (attempt.submit?.last < from && to < waits_until).then_some("PENDING")
        })
    }

    /// Checks the rows that polling made. `polls` are all polls that were made.
    pub fn check_states(&self, rows: &[JobState<'_>], polls: &[Poll]) {
        let mut wrong = Vec::new();
        let mut seen: BTreeMap<&str, Vec<&JobState<'_>>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.source == "squeue") {
            let Some(poll) = polls.iter().find(|poll| poll.ended_ns == row.observed_at_ns) else {
                wrong.push(format!("job {}: no poll ended at {}", row.job, row.observed_at_ns));
                continue;
            };
            let before = polls.iter().filter(|p| p.ended_ns < poll.ended_ns).max();
            if row.change != change::NEW && row.not_before_ns != before.map(|p| p.began_ns) {
                wrong.push(format!("job {} {}: the interval does not begin with the poll before", row.job, row.change));
            }
            seen.entry(&row.job).or_default().push(row);
            if row.job.ends_with("_*") {
                continue;
            }
            if !self.attempts.contains_key(row.job.as_ref()) && !self.untold.contains(row.job.as_ref()) {
                wrong.push(format!("job {} was never submitted", row.job));
                continue;
            }
            if let Some(state) = row.state.as_deref()
                && !self.untold.contains(row.job.as_ref())
                && !self.possible(&row.job, state, *poll)
            {
                wrong.push(format!("job {}: {state} at {poll:?} is invented: {:?}", row.job, self.attempts[row.job.as_ref()]));
            }
            if let Some(reported) = row.reported_ns
                && !(row.not_before_ns.unwrap_or(i64::MIN) - SECOND_NS..=row.observed_at_ns).contains(&reported)
            {
                wrong.push(format!("job {}: reported {reported} lies outside of its interval", row.job));
            }
        }
        let mut certain = 0;
        for job in self.attempts.keys() {
            let of_job = seen.get(job.as_str()).map(Vec::as_slice).unwrap_or_default();
            let array = job.split_once('_').map(|(array, _)| format!("{array}_*"));
            for poll in polls {
                let Some(state) = self.certain(job, *poll) else { continue };
                certain += 1;
                let last = of_job.iter().rfind(|row| row.observed_at_ns <= poll.ended_ns);
                let shown = last.and_then(|row| row.state.as_deref());
                // A pending task may stand in its array's record, not yet under its own name.
                let in_array = shown.is_none() && array.as_ref().is_some_and(|array| seen.contains_key(array.as_str()));
                let waits = state == "PENDING" && (in_array || matches!(shown, Some("SPECIAL_EXIT" | "REQUEUE_HOLD")));
                if shown != Some(state) && !waits {
                    wrong.push(format!("job {job} was {state} at {poll:?} but the rows say {shown:?}"));
                }
            }
            // The end shows for some seconds, until slurmctld forgets the job.
            let attempt = &self.attempts[job][self.attempts[job].len() - 1];
            let could_see =
                polls.iter().any(|p| (attempt.end.last + 2 * SECOND_NS..attempt.end.first + 15 * SECOND_NS).contains(&p.began_ns));
            if could_see && !of_job.iter().any(|row| row.state.as_deref() == Some(&attempt.state)) {
                wrong.push(format!("job {job} ended as {} and that was not seen", attempt.state));
            }
        }
        assert!(wrong.is_empty(), "{} things are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
        assert!(certain > polls.len(), "the check looked at {certain} states only");
    }

    /// Checks what changed of jobs while their state did not: each hold, release and new dependency
    /// that a poll could see has its row, and no row tells one that was none. Then what the
    /// scenario itself changed (`updates` in fixtures/scenario/events.sh).
    pub fn check_changes(&self, rows: &[JobState<'_>], polls: &[Poll]) {
        fn polled<'a, 'r>(rows: &'a [JobState<'r>], job: &'a str) -> impl Iterator<Item = &'a JobState<'r>> {
            rows.iter().filter(move |row| row.job == job && row.source == "squeue")
        }
        let within = |row: &JobState<'_>, time: i64| {
            row.not_before_ns.is_some_and(|from| from - TOLERANCE_NS <= time) && time <= row.observed_at_ns + TOLERANCE_NS
        };
        let has = |row: &JobState<'_>, name: &str| row.changed.as_deref().is_some_and(|changed| changed.split(',').any(|it| it == name));
        let mut wrong = Vec::new();
        let mut checked = 0;
        for (time, job, act) in &self.acts {
            // The poll before saw it wait, and so did the one after.
            let before = polls.iter().rfind(|poll| poll.ended_ns < *time - TOLERANCE_NS);
            let after = polls.iter().find(|poll| poll.began_ns > *time + TOLERANCE_NS);
            let waits = |poll: Option<&Poll>| {
                poll.is_some_and(|&poll| self.attempts.contains_key(job) && self.certain(job, poll) == Some("PENDING"))
            };
            if !waits(before) || !waits(after) {
                continue;
            }
            checked += 1;
            // A task that still waits in its array's record has no row of its own.
            let record = job.split_once('_').map_or_else(String::new, |(array, _)| format!("{array}_*"));
            let told = polled(rows, job).chain(polled(rows, &record)).any(|row| {
                within(row, *time)
                    && match act.as_str() {
                        "dependency-changed" => has(row, "dependency"),
                        // What was put back in another state (SPECIAL_EXIT) comes into PENDING by its release.
                        act => {
                            row.change == act || act == "released" && row.change == change::STATE && row.state.as_deref() == Some("PENDING")
                        }
                    }
            });
            if !told {
                wrong.push(format!("job {job} was {act} at {time}, and no row says so: {:?}", polled(rows, job).collect::<Vec<_>>()));
            }
        }
        let mut told = 0;
        for row in rows.iter().filter(|row| matches!(&*row.change, change::HELD | change::RELEASED)) {
            told += 1;
            let base = row.job.split('_').next().unwrap_or_default();
            let was =
                |(time, job, act): &(i64, String, String)| *act == row.change && job.split('_').next() == Some(base) && within(row, *time);
            // A job that is held again by requeuing it is in another state first.
            if !self.acts.iter().any(was) {
                wrong.push(format!("job {} was not {}: {row:?}", row.job, row.change));
            }
        }
        for submission in self.submissions.iter().filter(|submission| submission.run == "update-1") {
            let job = &submission.job_id;
            for (column, check) in [
                ("name", (|row| row.name.as_deref() == Some("after")) as fn(&JobState<'_>) -> bool),
                ("time_limit_s", |row| row.time_limit_s == Some(240)),
                ("partition", |row| row.partition.as_deref() == Some("short")),
                ("priority", |row| row.priority == Some(77)),
            ] {
                if !polled(rows, job).any(|row| row.change == change::CHANGED && has(row, column) && check(row)) {
                    wrong.push(format!("job {job}: no row says that {column} changed: {:?}", polled(rows, job).collect::<Vec<_>>()));
                }
            }
            let eligible = rows.iter().filter(|row| row.job == *job).find_map(|row| row.eligible_ns);
            let submit = polled(rows, job).find_map(|row| row.submit_ns).unwrap_or_default();
            if eligible.is_none_or(|eligible| eligible < submit + 13 * SECOND_NS) {
                wrong.push(format!("job {job} was to begin 14 s after {submit} and was eligible at {eligible:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} things are wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
        assert!(checked > 1 && told > 1, "the check looked at {checked} acts and {told} rows only");
    }

    /// Checks what accounting told: the true times and the final state of each attempt, joined on
    /// the attempt.
    pub fn check_accounting(&self, rows: &[JobState<'_>]) {
        let mut checked = 0;
        for row in rows.iter().filter(|row| row.change == change::ACCOUNTING) {
            let Some(attempts) = self.attempts.get(row.job.as_ref()) else {
                assert!(row.job.ends_with("_*") || self.untold.contains(row.job.as_ref()), "job {} was never submitted", row.job);
                continue;
            };
            let state = row.state.as_deref().unwrap_or_default();
            if !attempts.iter().any(|attempt| attempt.state == state) {
                // Told while it still ran or waited.
                assert!(matches!(state, "RUNNING" | "PENDING" | "REQUEUED" | "SUSPENDED" | "COMPLETING"), "job {}: {state}", row.job);
                continue;
            }
            // slurmdbd may have the final state before the end; then a later row tells the end.
            let later =
                |other: &&JobState<'_>| other.change == change::ACCOUNTING && other.job == row.job && other.submit_ns == row.submit_ns;
            if row.end_ns.is_none() && rows.iter().filter(later).any(|other| other.end_ns.is_some()) {
                continue;
            }
            checked += 1;
            let close = |told: Option<i64>, true_time: When| {
                told.is_some_and(|told| (true_time.first - 2 * SECOND_NS..=true_time.last + 2 * SECOND_NS).contains(&told))
            };
            let fits = attempts.iter().any(|attempt| attempt.state == state && close(row.end_ns, attempt.end));
            assert!(fits || state == "RUNNING", "job {}: accounting says {state} at {:?}, the truth is {attempts:?}", row.job, row.end_ns);
        }
        assert!(checked * 2 > self.attempts.len(), "accounting told of {checked} attempts only");
    }

    /// Checks names, comments, commands, users, accounts and groups, to the byte.
    pub fn check_attributes(&self, rows: &[JobState<'_>]) {
        let mut checked = 0;
        for submission in &self.submissions {
            let id: i64 = submission.job_id.parse().expect("a number");
            let of_job = rows.iter().filter(|row| {
                row.source == "squeue" && row.state.is_some() && [Some(row.job_id), row.array_job_id, row.het_job_id].contains(&Some(id))
            });
            // The last task of an array and plain jobs share the id space: an array's rows are those with its array id.
            for row in of_job.filter(|row| row.array_job_id.is_none_or(|array| array == id)) {
                checked += 1;
                let bytes = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(text::encode).unwrap_or_default();
                let run = &submission.run;
                if submission.kind != "renamed" {
                    assert_eq!(bytes(&row.name), submission.name, "{run}, job {}: name", row.job);
                }
                assert_eq!(row.user.as_deref(), Some(submission.user.as_str()), "{run}, job {}", row.job);
                assert_eq!(row.group.as_deref(), Some(submission.group.as_str()), "{run}, job {}", row.job);
                assert_eq!(row.account.as_deref(), Some(submission.account.as_str()), "{run}, job {}", row.job);
                if submission.comment != b"-" {
                    assert_eq!(bytes(&row.comment), submission.comment, "{run}, job {}: comment", row.job);
                }
                let activity = match submission.command.as_str() {
                    "-" => submission.name.clone(),
                    command => unescape(command.rsplit('/').next().unwrap_or_default()),
                };
                if submission.kind != "interactive" {
                    assert_eq!(bytes(&row.activity), activity, "{run}, job {}: activity", row.job);
                }
            }
        }
        assert!(checked > self.submissions.len(), "the check looked at {checked} rows only");
    }

    fn is_named(&self, job: i64, name: &[u8]) -> bool {
        self.submissions.iter().any(|submission| submission.job_id == job.to_string() && submission.name == name)
    }

    /// Checks the cases: a run with declared dependencies is exactly one case, a step of a run by
    /// hand is a case of its own. Runs of the kinds in `except` are not looked at.
    pub fn check_cases(&self, cases: &[Case<'_>], except: &[&str]) {
        let mut case_of: BTreeMap<i64, BTreeSet<&str>> = BTreeMap::new();
        let mut jobs_of: BTreeMap<&str, BTreeSet<i64>> = BTreeMap::new();
        for case in cases.iter().filter(|case| case.notion == "dependency") {
            assert!(case.case_id.starts_with("dependency:"));
            // A task has no id of Slurm.
            let Some(job) = &case.job else { continue };
            // The id that sbatch printed: an array's or the first component's, which the job's name begins with.
            let end = job.find(['_', '+']).unwrap_or(job.len());
            let id: i64 = job[..end].parse().expect("a job's name begins with its id");
            case_of.entry(id).or_default().insert(&case.case_id);
            jobs_of.entry(&case.case_id).or_default().insert(id);
        }
        let mut runs: BTreeMap<&str, (&str, BTreeSet<i64>)> = BTreeMap::new();
        for submission in &self.submissions {
            let run = runs.entry(&submission.run).or_insert((&submission.kind, BTreeSet::new()));
            run.1.insert(submission.job_id.parse().expect("a number"));
        }
        let mut declared = 0;
        for (run, (kind, jobs)) in &runs {
            if except.contains(kind) {
                continue;
            }
            declared += usize::from(*kind == "declared");
            let of_run: BTreeSet<&str> = jobs.iter().flat_map(|job| case_of.get(job).cloned().unwrap_or_default()).collect();
            if *kind == "by-hand" {
                assert_eq!(of_run.len(), jobs.len(), "{run}: each step is its own case");
                continue;
            }
            if *kind == "changed" {
                // The one that was no longer waited for is a case of its own.
                let (early, others): (BTreeSet<i64>, BTreeSet<i64>) = jobs.iter().partition(|job| self.is_named(**job, b"early"));
                assert_eq!((of_run.len(), early.len()), (2, 1), "{run} with jobs {jobs:?} is in cases {of_run:?}");
                assert!(of_run.iter().all(|case| jobs_of[case] == early || jobs_of[case] == others), "{run}: {jobs_of:?}");
                continue;
            }
            assert_eq!(of_run.len(), 1, "{run} with jobs {jobs:?} is in cases {of_run:?}");
            for case in of_run {
                assert_eq!(&jobs_of[case], jobs, "case {case} is exactly {run}");
            }
        }
        assert!(declared > 0, "the scenario had runs with declared dependencies");
    }
}

/// The polls of a recording, from the names of its files, in order.
pub fn polls(dir: &Path) -> Vec<Poll> {
    let mut polls: Vec<Poll> = std::fs::read_dir(dir)
        .unwrap_or_else(|e| panic!("{}: {e}", dir.display()))
        .filter_map(|entry| entry.expect("readable").file_name().into_string().ok())
        .filter(|name| name.starts_with("squeue-"))
        .map(|name| {
            let time = |stamp: &str| {
                let stamp = stamp.split('Z').next().expect("a time");
                let (date, clock) = stamp.split_once('T').expect("a time");
                let iso = format!("{}-{}-{}T{}:{}:{}Z", &date[..4], &date[4..6], &date[6..], &clock[..2], &clock[2..4], &clock[4..]);
                flowmine_schema::time::parse(&iso).expect("a time")
            };
            let mut stamps = name["squeue-".len()..].split('-');
            Poll { began_ns: time(stamps.next().expect("a beginning")), ended_ns: time(stamps.next().expect("an end")) }
        })
        .collect();
    polls.sort();
    polls
}
