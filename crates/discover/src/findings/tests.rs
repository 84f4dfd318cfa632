//! Generated runs with a planted cause, and healthy ones: the planted cause is the first finding.

use std::collections::BTreeSet;

use flowmine_activity_log::{
    ActivityLog, BytesFrom, Declared, FileFlow, InstanceRow, JOB, LogBuilder, Measure, QUEUED_FOR, RunGraph, RunTask, Status,
};

use super::*;
use crate::io_profile::{FileUse, Group, ProcessUse, Sums, Use};
use crate::pictures::findings as picture;

const SECOND: i64 = 1_000_000_000;
const MINUTE: i64 = 60 * SECOND;
const GIB: i64 = 1 << 30;

/// Numbers that look random (SplitMix64, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    /// A share in percent around 100.
    fn varied(&mut self, value: i64, percent: i64) -> i64 {
        value * self.between(100 - percent, 100 + percent) / 100
    }
}

/// A job or task of a generated run; times in nanoseconds since its begin.
#[derive(Debug, Clone)]
struct Job {
    activity: &'static str,
    name: String,
    tag: String,
    ready: i64,
    wait: i64,
    run: i64,
    cause: &'static str,
    node: String,
    status: Status,
    state: &'static str,
    exit_code: &'static str,
    attempt: u32,
    cpus: i64,
    cpu_percent: i64,
    memory: i64,
    peak: i64,
    limit: i64,
    io_percent: i64,
    read: i64,
    unique: i64,
    calls: i64,
}

impl Job {
    fn start(&self) -> i64 {
        self.ready + self.wait
    }

    fn end(&self) -> i64 {
        self.start() + self.run
    }
}

/// A healthy run: parallel alignments of samples, then a short merge.
struct Scenario {
    jobs: Vec<Job>,
    word: &'static str,
    run: Option<RunGraph>,
    profile: Option<Profile>,
}

const NODES: i64 = 5;

fn align(random: &mut Random, at: i64, usual: i64) -> Job {
    let run = random.varied(usual, 15);
    let read = random.varied(4 * GIB, 20);
    Job {
        activity: "align",
        name: format!("align ({at})"),
        tag: format!("s{at}"),
        ready: random.between(0, 20) * SECOND,
        wait: random.between(1, 30) * SECOND,
        run,
        cause: "priority",
        node: format!("n{}", at % NODES),
        status: Status::Completed,
        state: "COMPLETED",
        exit_code: "0",
        attempt: 1,
        cpus: 4,
        cpu_percent: random.between(75, 97),
        memory: 16 * GIB,
        peak: random.varied(10 * GIB, 15),
        limit: 4 * usual,
        io_percent: random.between(5, 15),
        read,
        unique: read * 9 / 10,
        calls: read / (256 << 10),
    }
}

/// The merge of a run, ready a second after all other jobs have ended.
fn merge(random: &mut Random, jobs: &[Job], usual: i64) -> Job {
    let ready = jobs.iter().map(Job::end).max().unwrap_or(0) + SECOND;
    let run = usual / 10;
    let of = align(random, 999, usual);
    Job { activity: "merge", name: "merge".to_owned(), tag: String::new(), ready, run, read: GIB, unique: GIB, calls: 4096, ..of }
}

fn healthy(seed: u64) -> (Random, Scenario, i64) {
    let mut random = Random(seed);
    let (count, usual) = (random.between(30, 70), random.between(15, 90) * MINUTE);
    let jobs: Vec<Job> = (0..count).map(|at| align(&mut random, at, usual)).collect();
    (random, Scenario { jobs, word: if seed.is_multiple_of(2) { "job" } else { "task" }, run: None, profile: None }, usual)
}

const KEYS: [&str; 8] = [JOB, QUEUED_FOR, "partition", "state", "task:tag", "task:exit_code", "task:name", facts::NODES];

impl Scenario {
    fn log(&self) -> ActivityLog {
        let mut builder = LogBuilder::new(&KEYS.map(str::to_owned));
        let (is_job, is_task) = (self.word == "job", self.word == "task");
        for (number, job) in self.jobs.iter().enumerate() {
            let (activity, resource) = (builder.activity(job.activity), builder.resource(if is_job { "mia" } else { &job.node }));
            let id = format!("{}", 1000 + number);
            let values = [
                (is_job, id.as_str()),
                (is_job, job.cause),
                (is_job, "long"),
                (is_job, job.state),
                ((is_job || is_task) && !job.tag.is_empty(), job.tag.as_str()),
                (is_task, job.exit_code),
                (is_task, job.name.as_str()),
                (is_job, job.node.as_str()),
            ];
            let given = values.iter().enumerate().filter(|(_, (is_given, _))| *is_given);
            let attributes: Vec<(usize, u32)> = given.map(|(at, (_, text))| (at, builder.value(at, text))).collect();
            let cpu = (i128::from(job.run) * i128::from(job.cpus) * i128::from(job.cpu_percent) / 100) as i64;
            let measures = [
                (Measure::Cpus, job.cpus),
                (Measure::CpuTimeNs, cpu),
                (Measure::MemoryBytes, job.memory),
                (Measure::PeakMemoryBytes, job.peak),
                (Measure::TimeLimitNs, job.limit),
                (Measure::IoTimeNs, job.run / 100 * job.io_percent),
                (Measure::ReadBytes, job.read),
                (Measure::UniqueReadBytes, job.unique),
                (Measure::WrittenBytes, 0),
                (Measure::ReadCalls, job.calls),
                (Measure::WriteCalls, 0),
            ];
            let row = InstanceRow {
                activity,
                ready_ns: job.ready,
                start_ns: job.start(),
                end_ns: job.end(),
                resource: Some(resource),
                status: job.status,
                attempt: job.attempt,
                measures: if is_job || is_task { &measures } else { &[] },
                bytes_from: BytesFrom::Trace,
                attributes: &attributes,
            };
            builder.instance(&row).expect("few");
        }
        builder.end_case("run").expect("one");
        let mut log = builder.finish();
        log.words.instance = self.word.to_owned();
        log
    }

    fn found(&self) -> Findings {
        let log = self.log();
        let path = self.run.as_ref().map(|run| crate::critical_path::discover(run, &Default::default()));
        let input = Input {
            run: self.run.as_ref(),
            path: path.as_ref(),
            profile: self.profile.as_ref(),
            ..Input::of(&log, log.cases().expect("cases"))
        };
        discover(&input)
    }
}

/// A cause that is planted, the rule that finds it, and words of its first finding.
type Cause = (&'static str, &'static str, &'static [&'static str], fn(u64) -> Scenario);

/// A healthy run of jobs in which each alignment is changed, followed by its merge.
fn changed(seed: u64, change: impl Fn(&mut Random, i64, &mut Job)) -> Scenario {
    let (mut random, mut run, usual) = healthy(seed * 2);
    for (at, job) in (0i64..).zip(&mut run.jobs) {
        change(&mut random, at, job);
    }
    let last = merge(&mut random, &run.jobs, usual);
    run.jobs.push(last);
    run
}

fn waiting(seed: u64, cause: &'static str) -> Scenario {
    changed(seed, |random, _, job| {
        job.wait = job.run * random.between(30, 150) / 100;
        job.cause = cause;
    })
}

const CAUSES: [Cause; 19] = [
    ("slow node", "slow-node", &["node n2"], |seed| {
        changed(seed, |random, at, job| {
            if at % NODES == 2 {
                job.run = job.run * random.between(170, 220) / 100;
            }
        })
    }),
    ("full partition", "queue", &["resources", "partition long"], |seed| waiting(seed, "resources")),
    ("priority of others", "queue", &["priority", "partition long"], |seed| waiting(seed, "priority")),
    ("licence exhausted", "queue", &["licenses", "partition long"], |seed| waiting(seed, "licenses")),
    ("partition down", "unavailable", &["partition long was down"], |seed| waiting(seed, "partition_down")),
    ("throttled array", "array-throttle", &["own array"], |seed| waiting(seed, "array_throttle")),
    ("limit of the user", "limit", &["limit of the user"], |seed| waiting(seed, "limit_of_user")),
    ("serial merge", "serial-step", &["merge ran alone"], |seed| {
        let mut run = changed(seed, |_, _, _| {});
        let usual = run.jobs[0].run;
        if let Some(merge) = run.jobs.last_mut() {
            merge.run = usual * (8 + seed as i64) / 10;
        }
        run
    }),
    ("tiny reads", "small-requests", &["align", "program bwa", "file /data/reads.fq"], |seed| {
        let mut run = changed(seed, |random, _, job| {
            job.calls = job.read / random.between(80, 900);
            (job.io_percent, job.cpu_percent) = (random.between(55, 75), random.between(25, 40));
        });
        run.profile = Some(profile(20, 1_000_000, 400_000_000, 0));
        run
    }),
    ("repeated reads", "re-read", &["align", "program bwa", "file /data/reads.fq"], |seed| {
        let mut run = changed(seed, |random, _, job| {
            job.unique = job.read / random.between(4, 9);
            job.io_percent = random.between(30, 45);
        });
        run.profile = Some(profile(20, 1000, 4_000_000_000, 0));
        run
    }),
    ("reference read a thousand times", "reference", &["/data/reads.fq", "1,000 processes"], |seed| {
        let mut run = changed(seed, |_, _, job| job.io_percent = 40);
        let time = run.jobs.iter().map(|job| job.run / 3).sum();
        run.profile = Some(profile(1000, 4_000_000, 4_000_000_000_000, time));
        run
    }),
    ("memory requested tenfold", "idle-memory", &["10 times less"], |seed| {
        changed(seed, |_, _, job| {
            job.peak = 10 * GIB;
            job.memory = 100 * GIB;
        })
    }),
    ("idle CPUs", "idle-cpus", &["16 CPUs"], |seed| {
        changed(seed, |random, _, job| (job.cpus, job.cpu_percent) = (16, random.between(4, 12)))
    }),
    ("flaky input", "flaky", &["a later attempt succeeded"], |seed| {
        let mut run = changed(seed, |_, _, _| {});
        run.word = "task";
        let mut failed = Vec::new();
        for job in run.jobs.iter_mut().filter(|job| job.activity == "align").step_by(3) {
            failed.push(Job { run: job.run * 6 / 10, status: Status::Failed, exit_code: "1", ..job.clone() });
            (job.ready, job.attempt) = (job.ready + job.run * 6 / 10 + 40 * SECOND, 2);
        }
        run.jobs.extend(failed);
        let end = run.jobs.iter().filter(|job| job.activity == "align").map(Job::end).max().unwrap_or(0);
        run.jobs.iter_mut().filter(|job| job.activity == "merge").for_each(|job| job.ready = end + SECOND);
        run
    }),
    ("limits too short", "time-limit", &["killed at their time limit"], |seed| {
        changed(seed, |_, at, job| {
            job.limit = job.run * 10 / 6;
            if at % 3 == 0 {
                (job.limit, job.status, job.state) = (job.run, Status::Failed, "TIMEOUT");
            }
        })
    }),
    ("memory too small", "memory-limit", &["lack of memory"], |seed| {
        changed(seed, |_, at, job| {
            if at % 3 == 0 {
                (job.peak, job.status, job.state) = (job.memory, Status::Failed, "OUT_OF_MEMORY");
            }
        })
    }),
    ("node that fails", "failures", &["node n3", "exit code 1"], |seed| {
        let mut run = changed(seed, |_, at, job| {
            if at % NODES == 3 {
                (job.status, job.exit_code) = (Status::Failed, "1");
            }
        });
        run.word = "task";
        run
    }),
    ("times that grow", "trend", &["running times grow"], |seed| {
        changed(seed, |_, at, job| {
            job.ready = at * 5 * MINUTE;
            job.run = job.run * (100 + 6 * at) / 100;
            job.limit *= 10;
        })
    }),
    ("large input", "stragglers", &["align", "input size"], |seed| {
        changed(seed, |_, at, job| {
            job.limit *= 20;
            if at % 29 == 4 {
                let times = 8 + seed as i64;
                (job.run, job.read, job.unique, job.calls) = (job.run * times, job.read * times, job.unique * times, job.calls * times);
            }
        })
    }),
];

/// A profile in which one file is read by the program bwa, for alignments.
fn profile(processes: u64, read_calls: u64, read_bytes: i64, time_ns: i64) -> Profile {
    let sums = Sums { opens: processes, read_calls, read_bytes, time_ns, ..Sums::default() };
    let path = "/data/reads.fq".to_owned();
    Profile {
        by: "activity",
        total: Group { read_bytes: read_bytes / 10 * 11, ..Group::default() },
        groups: vec![Group { name: "align".to_owned(), ..Group::default() }],
        files: vec![FileUse { path: path.clone(), processes, groups: 1, sums }],
        processes: vec![ProcessUse {
            pid: 7,
            program: Some("bwa".to_owned()),
            group: "align".to_owned(),
            life_time_ns: None,
            files: 1,
            sums,
        }],
        uses: vec![Use { group: "align".to_owned(), path, processes, sums }],
        ..Profile::default()
    }
}

/// Alignments that wait for a long check from which they read nothing; they read the output of
/// `fetch`.
fn needless(seed: u64) -> Scenario {
    let (mut random, mut run, usual) = healthy(seed * 2 + 1);
    run.word = "task";
    let step = |name: &'static str, ready: i64, time: i64, random: &mut Random| Job {
        activity: name,
        name: name.to_owned(),
        ready,
        run: time,
        tag: String::new(),
        ..align(random, 1, usual)
    };
    let fetch = step("fetch", 0, 4 * MINUTE, &mut random);
    let check = step("check", 0, usual * (7 + seed as i64) / 10, &mut random);
    let begin = check.end().max(fetch.end());
    run.jobs.iter_mut().for_each(|job| job.ready += begin);
    let mut jobs = vec![fetch, check];
    jobs.append(&mut run.jobs);
    let task = |job: &Job| RunTask {
        name: job.name.clone(),
        activity: job.activity.to_owned(),
        attempts: 1,
        first_ns: Some(job.ready),
        submitted_ns: Some(job.ready),
        ready_ns: Some(job.ready),
        started_ns: Some(job.start()),
        finished_ns: Some(job.end()),
        parents_known: true,
        traced: true,
        ..RunTask::default()
    };
    let aligned = 2..jobs.len() as u32;
    let mut graph = RunGraph { name: "run".to_owned(), noun: "task", tasks: jobs.iter().map(task).collect(), ..RunGraph::default() };
    let declared = |from: u32| move |to: u32| Declared { from, to, for_start: false };
    graph.declared = aligned.clone().map(declared(0)).chain(aligned.clone().map(declared(1))).collect();
    graph.declared.sort_unstable();
    let flow = |reader: u32| FileFlow { version: 1, writer: 0, reader, written_bytes: GIB, read_bytes: GIB, ..FileFlow::default() };
    graph.flows = aligned.map(flow).collect();
    run.jobs = jobs;
    run.run = Some(graph);
    run
}

fn all_causes() -> impl Iterator<Item = Cause> {
    let needless: Cause = ("needless dependency", "needless-dependency", &["check", "read nothing"], needless);
    CAUSES.into_iter().chain([needless])
}

/// Five sizes of each cause: 100 runs.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

#[test]
fn a_planted_cause_is_the_first_finding() {
    let mut wrong = Vec::new();
    for (name, rule, words, plant) in all_causes() {
        for seed in SEEDS {
            let list = plant(seed).found();
            let first = list.findings.first();
            let is_found = first.is_some_and(|first| {
                let said = format!("{} {}", first.cause, first.found);
                first.rule == rule && words.iter().all(|word| said.contains(word))
            });
            if !is_found {
                wrong.push(format!("{name}, seed {seed}:\n{}", picture::text(&list)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of 100:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_healthy_run_has_no_finding() {
    for seed in 1..=20 {
        let (mut random, mut run, usual) = healthy(seed);
        let last = merge(&mut random, &run.jobs, usual);
        run.jobs.push(last);
        let list = run.found();
        assert!(list.findings.is_empty() && list.small == 0, "seed {seed}:\n{}", picture::text(&list));
    }
}

#[test]
fn no_sentence_is_written_twice_and_gains_are_ranges_within_the_stake() {
    for (name, _, _, plant) in all_causes() {
        for seed in SEEDS {
            let list = plant(seed).found();
            let mut sentences = BTreeSet::new();
            for finding in &list.findings {
                for sentence in [&finding.found, &finding.action, &finding.gain.assumption] {
                    assert!(sentences.insert(sentence.clone()), "{name}: {sentence}");
                }
                assert!(0 <= finding.gain.low_ns && finding.gain.low_ns <= finding.gain.high_ns, "{name}: {finding:?}");
                assert!(finding.share > 0.0 && finding.share <= 1.0, "{name}: {finding:?}");
                let stake = finding.at_stake_core_ns.unwrap_or(finding.at_stake_ns);
                assert!(finding.gain.high_ns <= stake, "{name}: {finding:?}");
            }
        }
    }
}

/// Words that have no meaning without Slurm.
const OF_SLURM: [&str; 12] =
    ["sbatch", "--time", "--array", "--exclude", "scontrol", "squeue", "QOS", "partition", "Slurm", "accounting", "observe", "scancel"];

#[test]
fn advice_fits_the_source() {
    for (name, rule, _, plant) in all_causes().filter(|cause| !["array-throttle", "unavailable", "limit"].contains(&cause.1)) {
        // Only tasks of engines declare dependencies.
        let words: &[&'static str] = if rule == "needless-dependency" { &["task"] } else { &["task", "order step"] };
        for &word in words {
            let mut run = plant(1);
            run.word = word;
            // Only programs are traced.
            run.profile = run.profile.filter(|_| word == "task");
            let text = picture::text(&run.found());
            let said: Vec<_> = OF_SLURM.iter().filter(|of| text.contains(**of)).collect();
            assert!(said.is_empty(), "{name} as {word}: {said:?} in\n{text}");
            if word != "task" {
                let of_programs = ["flowmine trace", "node-local", "engine", "CPU"];
                assert!(!of_programs.iter().any(|of| text.contains(of)), "{name}: {text}");
            }
        }
    }
}

#[test]
fn what_is_missing_is_named_with_what_to_record() {
    let empty = LogBuilder::new(&[]).finish();
    assert_eq!(discover(&Input::of(&empty, &empty.groups[0])).not_judged, []);
    let mut builder = LogBuilder::new(&[]);
    let activity = builder.activity("a");
    builder.event(&flowmine_activity_log::EventRow { activity, time_ns: 5, ..Default::default() }).expect("one");
    builder.end_case("c").expect("one");
    let mut log = builder.finish();
    let missing = |log: &ActivityLog| discover(&Input::of(log, &log.groups[0])).not_judged;
    assert_eq!(missing(&log).iter().map(|of| of.missing).collect::<Vec<_>>(), ["starts and ends"]);
    log.words.instance = "job".to_owned();
    let all = missing(&log);
    let records: BTreeSet<_> = all.iter().map(|of| of.record).collect();
    assert_eq!(records.len(), all.len(), "{all:#?}");
    assert!(all.iter().any(|of| of.record.contains("flowmine trace") && of.rules.contains(&"small-requests")), "{all:#?}");
}

#[test]
fn a_cause_that_is_not_recorded_says_what_to_record() {
    let list = waiting(1, "unknown").found();
    let first = &list.findings[0];
    assert!(first.rule == "queue" && first.action.contains("flowmine observe"), "{first:?}");
    // Without sizes of inputs it is not known why some are slow.
    let large_input = CAUSES.iter().find(|cause| cause.0 == "large input").expect("it is planted");
    let mut log = large_input.3(1).log();
    log.instances.measures.retain(|(measure, _)| *measure != Measure::ReadBytes);
    let list = discover(&Input::of(&log, &log.groups[0]));
    let first = &list.findings[0];
    assert!(first.rule == "stragglers" && first.action.contains("flowmine trace"), "{first:?}");
}

/// Six activities that wait for one cause are one finding.
#[test]
fn a_cause_is_merged_over_activities() {
    let mut run = waiting(2, "priority");
    for (job, activity) in run.jobs.iter_mut().zip(["a", "b", "c", "d", "e", "f"].into_iter().cycle()) {
        job.activity = activity;
    }
    let list = run.found();
    let queue: Vec<_> = list.findings.iter().filter(|finding| finding.rule == "queue").collect();
    assert_eq!(queue.len(), 1, "{queue:?}");
    assert_eq!(queue[0].activities.len(), 6);
    assert!(queue[0].found.contains("3 more") && queue[0].cause == "priority in partition long", "{}", queue[0].found);
}

/// Waits of jobs in parts: each part counts for its own cause.
#[test]
fn parts_of_a_wait_count_for_their_causes() {
    use flowmine_activity_log::{JobWait, WaitKind, WaitPart};
    let run = waiting(1, "priority");
    let log = run.log();
    let mut builder = waits::Builder::new(&log);
    let part = |cause, kind, minutes: (i64, i64)| WaitPart {
        cause,
        kind,
        from_ns: minutes.0 * MINUTE,
        to_ns: minutes.1 * MINUTE,
        from_within_ns: (0, 0),
        to_within_ns: (0, 0),
        reason: None,
        limit: None,
        predecessors: None,
        evidence: "poll",
    };
    for job in ["1000", "1001", "absent"] {
        builder.add(&JobWait {
            job,
            activity: "align",
            partition: Some("long"),
            cpus: Some(4),
            parts: vec![
                part("predecessor", WaitKind::Predecessor, (0, 1000)),
                part("priority", WaitKind::Queue, (1000, 1010)),
                part("partition_down", WaitKind::Queue, (1010, 1040)),
                part("priority", WaitKind::Queue, (1040, 1060)),
                part("running", WaitKind::Started, (1060, 2000)),
            ],
            ..JobWait::default()
        });
    }
    let waits = builder.finish().expect("jobs");
    let sums: Vec<_> = waits.iter().map(|wait| (wait.cause.as_str(), wait.instances, wait.time_ns / i128::from(MINUTE))).collect();
    assert_eq!(sums, [("partition_down", 2, 60), ("priority", 2, 60)]);
    assert_eq!(waits[0].core_ns, 240 * i128::from(MINUTE));
}

/// Endings of 50,000 kinds: those that cost most are named, the others are one finding.
#[test]
fn many_kinds_of_failures_take_no_time() {
    let mut builder = LogBuilder::new(&["error".to_owned()]);
    let activity = builder.activity("a");
    for at in 0..100_000i64 {
        let value = (0, builder.value(0, &format!("error {}", at / 2)));
        let is_failed = at % 2 == 0;
        let row = InstanceRow {
            activity,
            ready_ns: flowmine_activity_log::UNKNOWN,
            start_ns: at * SECOND,
            end_ns: (at + 5) * SECOND,
            resource: None,
            status: if is_failed { Status::Failed } else { Status::Completed },
            attempt: 0,
            measures: &[],
            bytes_from: BytesFrom::Nobody,
            attributes: if is_failed { std::slice::from_ref(&value) } else { &[] },
        };
        builder.instance(&row).expect("few");
    }
    builder.end_case("c").expect("one");
    let log = builder.finish();
    let list = discover(&Input::of(&log, &log.groups[0]));
    let failures: Vec<u64> = list.findings.iter().filter(|of| of.rule == "failures").map(|of| of.instances).collect();
    assert_eq!(failures, [49_995, 1, 1, 1, 1, 1]);
}

/// A model in which reads and writes of alignments delay the run by a minute or two.
#[derive(Debug)]
struct Minutes;

impl Predictor for Minutes {
    fn gain(&self, activity: &str, limit: Limit) -> Option<(i128, i128)> {
        let minute = i128::from(MINUTE);
        (activity == "align" && limit == Limit::Files).then_some((minute, 2 * minute))
    }
}

/// The gain of reads and writes is that of the model, where one was fitted.
#[test]
fn a_model_predicts_the_gain_of_reads_and_writes() {
    let (.., plant) = all_causes().find(|cause| cause.0 == "tiny reads").expect("a cause");
    let run = plant(1);
    let log = run.log();
    let input = Input { profile: run.profile.as_ref(), ..Input::of(&log, log.cases().expect("cases")) };
    let gains = |input: &Input<'_>| {
        let first = discover(input).findings.swap_remove(0);
        (first.rule, first.gain)
    };
    let (rule, gain) = gains(&input);
    assert_eq!((rule, gain.from, gain.low_ns), ("small-requests", "profile", 0));
    let (rule, gain) = gains(&Input { prediction: Some(&Minutes), ..input });
    assert_eq!((rule, gain.from, gain.of), ("small-requests", "prediction", Quantity::Makespan));
    assert_eq!((gain.low_ns, gain.high_ns), (i128::from(MINUTE), 2 * i128::from(MINUTE)));
    assert!(picture::gain(&gain).starts_with("1m 00s to 2m 00s of makespan: at the least, if"), "{}", picture::gain(&gain));
}

/// Of many activities, the sentence says which matter.
#[test]
fn the_first_of_many_activities_have_their_shares() {
    let mut run = waiting(2, "priority");
    for (at, job) in run.jobs.iter_mut().enumerate() {
        job.activity = ["a", "a", "a", "b", "c", "d"][at % 6];
    }
    let list = run.found();
    let first = &list.findings[0];
    assert!(first.found.contains("of a (") && first.found.contains("%) and 1 more ("), "{}", first.found);
    assert_eq!(first.activity_shares.len(), 4);
    assert!((first.activity_shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", first.activity_shares);
    assert!(first.activity_shares.is_sorted_by(|a, b| a >= b), "{:?}", first.activity_shares);
}
