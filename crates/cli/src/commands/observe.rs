//! `flowmine observe`: polls a Slurm cluster, once or until it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use flowmine_api::pseudonyms;
use flowmine_extract_slurm::naming::Naming;
use flowmine_extract_slurm::observe::{ObserveError, Observer, Only, Options, Report};
use flowmine_extract_slurm::schedule::{self, SHORTEST_POLITE};
use flowmine_schema::diagnostic::Severity;
use flowmine_schema::time;

use super::login_node;
use crate::args::Observe;
use crate::messages;
use crate::outcome::Outcome;
use crate::terminal::Terminal;

/// Polls once or until it is told to stop.
pub fn run(args: &Observe) -> anyhow::Result<Outcome> {
    if !args.once && args.every < SHORTEST_POLITE {
        messages::warning(&format!(
            "polling every {} s is a burden on slurmctld: squeue(1) asks not to call it from loops, and sites ask for 10 to 120 s",
            args.every.as_secs_f64()
        ));
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second signal ends at once, which costs nothing that was written.
        signal_hook::flag::register_conditional_default(signal, stop.clone()).context("cannot handle signals")?;
        signal_hook::flag::register(signal, stop.clone()).context("cannot handle signals")?;
    }
    let runner = login_node::runner(&args.ssh)?;
    let dataset = args.kept.target(&args.dataset).open()?;
    let names = |names: &[String], option: &str| -> anyhow::Result<Vec<String>> {
        for name in names {
            anyhow::ensure!(!name.is_empty() && !name.contains([',', '\n', '\0']), "{option} takes one name: {name:?}");
        }
        Ok(names.to_vec())
    };
    let only = Only {
        me: args.me,
        users: names(&args.user, "--user")?,
        accounts: names(&args.account, "--account")?,
        partitions: names(&args.partition, "--partition")?,
    };
    let options = Options {
        only,
        cluster: args.cluster.clone(),
        slurm_bin_dir: checked_line(args.slurm_bin_dir.as_deref(), "--slurm-bin-dir")?,
        timeout: args.timeout,
        accounting: args.accounting,
        nodes: args.nodes,
        accounting_since_ns: args.accounting_since,
        record: args.record.clone(),
        naming: match &args.pseudonymise {
            Some(key) => pseudonyms::naming(pseudonyms::read_key(key, &Terminal)?),
            None => Naming::default(),
        },
    };
    let mut observer = Observer::open(&dataset, runner, options)?;
    if args.once {
        let report = observer.poll()?;
        tell(&observer, &report, args.verbose);
        return Ok(outcome(&report));
    }
    watch(args, &mut observer, &stop)
}

fn watch(args: &Observe, observer: &mut Observer<'_>, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let (mut failures, mut polls) = (0u32, 0u64);
    let mut outcome_so_far = Outcome::Clean;
    while !stop.load(Ordering::Relaxed) {
        let began = Instant::now();
        let pause;
        match observer.poll() {
            Ok(report) => {
                failures = 0;
                pause = schedule::wait(args.every, began.elapsed(), failures, draw());
                tell(observer, &report, args.verbose);
                if outcome(&report) == Outcome::WithLosses {
                    outcome_so_far = Outcome::WithLosses;
                }
            }
            Err(error) if error.may_pass() => {
                failures += 1;
                pause = schedule::wait(args.every, began.elapsed(), failures, draw());
                tell_failure(&error, pause);
            }
            Err(error) => return Err(error.into()),
        }
        polls += 1;
        if args.polls.is_some_and(|most| polls >= most) {
            break;
        }
        sleep(pause, stop);
    }
    Ok(if failures > 0 { Outcome::WithLosses } else { outcome_so_far })
}

/// Sleeps in short pieces, so that a signal is heard.
fn sleep(length: Duration, stop: &AtomicBool) {
    let end = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(100)));
    }
}

/// A number from 0 to 1 for the jitter; it need not be a good one.
fn draw() -> f64 {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    f64::from(nanos % 1_000_003) / 1_000_003.0
}

fn outcome(report: &Report) -> Outcome {
    let lost = report.diagnostics.errors() > 0 || report.accounting_failed.is_some();
    if lost { Outcome::WithLosses } else { Outcome::Clean }
}

fn tell(observer: &Observer<'_>, report: &Report, verbose: bool) {
    let watched = verbose || messages::on_terminal();
    if watched || report.diagnostics.iter().any(|d| d.severity == Severity::Error) || report.accounting_failed.is_some() {
        messages::diagnostics(&format!("squeue on {}", observer.place()), &report.diagnostics, messages::Kept::InDataset);
    }
    if watched {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64);
        let now = time::human(now * time::SECOND_NS);
        messages::note(&format!(
            "{now}  {}: {} in the queue, {} changes, {} dependencies",
            observer.cluster(),
            report.records,
            report.changes,
            report.dependencies
        ));
    }
}

fn tell_failure(error: &ObserveError, wait: Duration) {
    messages::warning(&format!("{error}; trying again in about {:.0} s", wait.as_secs_f64()));
}

/// Values that go through a line of standard input hold no newline.
fn checked_line(value: Option<&str>, option: &str) -> anyhow::Result<Option<String>> {
    if let Some(value) = value
        && value.contains(['\n', '\0'])
    {
        anyhow::bail!("{option} must not hold a newline");
    }
    Ok(value.map(str::to_owned))
}
