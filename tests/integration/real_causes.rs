//! Causes planted in real parts: jobs of a real Slurm, and runs that are traced. The planted cause
//! is the first finding, and a healthy run has none.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::doctor::works;
use crate::support::require::require;
use crate::support::running::Running;
use crate::support::slurm_lab::SlurmLab;
use crate::support::{expect, flowmine};
use crate::waits::discovered;

/// A cause: its name, the rule that finds it, and words of its sentence. A healthy run has no rule.
struct Cause {
    name: &'static str,
    rule: &'static str,
    words: &'static [&'static str],
}

const fn cause(name: &'static str, rule: &'static str, words: &'static [&'static str]) -> Cause {
    Cause { name, rule, words }
}

/// The findings of a dataset, of which the first must be that of the cause.
fn check(of: &Cause, dataset: &Path) -> Vec<Value> {
    let found: Value = serde_json::from_str(&discovered(dataset, &["findings", "--format", "json"])).unwrap();
    let all = found["findings"].as_array().unwrap().clone();
    let text = discovered(dataset, &["findings"]);
    let first = all.first().map_or("", |first| first["rule"].as_str().unwrap());
    let sentence = all.first().map_or("", |first| first["found"].as_str().unwrap());
    assert!(first == of.rule && of.words.iter().all(|word| sentence.contains(word)), "{}: {first}: {sentence}\n{text}", of.name);
    all
}

/// Jobs of a partition: how often each command line is submitted.
struct Jobs {
    partition: &'static str,
    cause: Cause,
    submissions: &'static [(usize, &'static [&'static str], &'static str)],
}

/// Each partition has jobs with another cause, so that all run at once. The last node is apart in
/// `scavenge`; `short` is the first node, and `debug` all but the last.
const JOBS: [Jobs; 5] = [
    Jobs {
        partition: "scavenge",
        cause: cause("full partition", "queue", &["in partition scavenge"]),
        submissions: &[(6, &["--job-name=full", "--cpus-per-task=8"], "sleep 2")],
    },
    Jobs {
        partition: "debug",
        cause: cause("slow node", "slow-node", &["node n2"]),
        submissions: &[
            (4, &["--job-name=align", "--nodelist=n2"], "sleep 9"),
            (4, &["--job-name=align", "--nodelist=n1"], "sleep 3"),
            (4, &["--job-name=align", "--nodelist=n3"], "sleep 3"),
        ],
    },
    Jobs {
        partition: "short",
        cause: cause("throttled array", "array-throttle", &["own array"]),
        submissions: &[(1, &["--job-name=member", "--array=0-5%1"], "sleep 2")],
    },
    Jobs {
        partition: "wide",
        cause: cause("memory requested tenfold", "idle-memory", &["GiB of memory", "times less"]),
        submissions: &[(4, &["--job-name=hungry", "--mem=3000M", "--nodelist=n3", "--exclusive=user"], "sleep 8")],
    },
    // A limit of a minute is the least that Slurm has. This partition preempts the jobs of
    // `scavenge` on the last node, which have ended by then.
    Jobs {
        partition: "urgent",
        cause: cause("limits too short", "time-limit", &["killed at their time limit"]),
        submissions: &[(3, &["--job-name=limited", "--time=1", "--begin=now+20"], "sleep 600")],
    },
];

fn observe(lab: &SlurmLab, dir: &Path, jobs: &Jobs) -> Command {
    let mut command = lab.command(env!("CARGO_BIN_EXE_flowmine"));
    command.args(["observe", "--accounting", "--partition", jobs.partition, "--dataset"]).arg(dir.join(jobs.partition));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Slurm with accounting and its jobs take half a minute, and a limit a minute: only with
/// `FLOWMINE_LONG=1` (`make test-long`).
#[test]
fn jobs_of_a_real_slurm() {
    if std::env::var_os("FLOWMINE_LONG").is_none() {
        return;
    }
    let Some(lab) = SlurmLab::with_accounting() else { return };
    let dir = tempfile::tempdir().unwrap();
    let start = |jobs: &Jobs| {
        let mut command = observe(&lab, dir.path(), jobs);
        command.args(["--every", "1s"]);
        Running::start(command)
    };
    let observers: Vec<Running> = JOBS.iter().map(start).collect();
    for jobs in &JOBS {
        for (times, options, script) in jobs.submissions {
            for _ in 0..*times {
                let mut sbatch = lab.command("sbatch");
                sbatch.args(["--output=/dev/null", "--chdir=/", "--partition", jobs.partition]).args(*options);
                expect(sbatch.args(["--wrap", script]), 0);
            }
        }
    }
    lab.settle();
    drop(observers);
    for jobs in &JOBS {
        expect(observe(&lab, dir.path(), jobs).arg("--once"), 0);
        let dataset = dir.path().join(jobs.partition);
        expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
        check(&jobs.cause, &dataset);
    }
}

/// Traces a script of which each command is a task.
fn traced(dir: &Path, name: &str, script: &str) -> PathBuf {
    let (run, dataset) = (dir.join(name), dir.join(format!("{name}-data")));
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("in"), vec![b'x'; 40_000]).unwrap();
    std::fs::write(run.join("script"), script).unwrap();
    let mut command = flowmine();
    command.args(["trace", "--backend", "ptrace", "--tasks", "commands", "--dataset"]).arg(&dataset).args(["--", "sh", "script"]);
    expect(command.current_dir(&run).stdin(Stdio::null()), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    dataset
}

#[test]
fn traced_scripts() {
    if !works("ptrace") {
        return;
    }
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let wide = "for at in 1 2 3 4 5 6; do sleep 0.5 & done\nwait\n";
    check(&cause("healthy", "", &[]), &traced(dir.path(), "healthy", wide));
    let serial = format!("{wide}perl -e 'select(undef, undef, undef, 1)'\n");
    check(&cause("serial merge", "serial-step", &["perl", "ran alone"]), &traced(dir.path(), "serial", &serial));
    let all =
        check(&cause("tiny reads", "small-requests", &["dd", "file "]), &traced(dir.path(), "tiny", "dd if=in of=out bs=1 status=none\n"));
    // The gain is that of the model that is fitted to the run.
    let gain = &all[0]["gain"];
    assert_eq!((&gain["from"], &gain["of"]), (&Value::from("prediction"), &Value::from("makespan")), "{gain}");
    assert!(gain["low_ns"].as_i64() < gain["high_ns"].as_i64() && gain["high_ns"].as_i64() <= all[0]["at_stake_ns"].as_i64(), "{gain}");
    // Only many processes make the time of reads that of the run; a task each has its own start.
    let (processes, bytes) = if std::env::var_os("FLOWMINE_LONG").is_some() { (1000, 4_000_000) } else { (60, 30_000_000) };
    let script = format!("seq {processes} | xargs -P 4 -I{{}} cat reference > /dev/null\n");
    // The time in reads is that of the instance and of the file: which is larger by a percent varies.
    let list = discovered(&traced_whole(dir.path(), "many", &script, bytes), &["findings"]);
    let causes: Vec<&str> = list.lines().filter(|line| line.starts_with(" 1. ") || line.starts_with(" 2. ")).collect();
    assert!(causes.iter().any(|line| line.contains(". reference  file ")), "{list}");
    assert!(!list.contains("re-read"), "{list}");
}

/// Traces a script as one task; its file `reference` has this many bytes.
fn traced_whole(dir: &Path, name: &str, script: &str, bytes: usize) -> PathBuf {
    let (run, dataset) = (dir.join(name), dir.join(format!("{name}-data")));
    std::fs::create_dir(&run).unwrap();
    std::fs::write(run.join("reference"), vec![b'x'; bytes]).unwrap();
    std::fs::write(run.join("script"), script).unwrap();
    let mut command = flowmine();
    command.args(["trace", "--backend", "ptrace", "--task", "map", "--dataset"]).arg(&dataset).args(["--", "sh", "script"]);
    expect(command.current_dir(&run).stdin(Stdio::null()), 0);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    dataset
}

/// Each sample fails at its first attempt, and succeeds at the second.
const FLAKY: &str = r#"
rule all:
    input: expand("o{i}", i=range(4))

rule get:
    output: "o{i}"
    retries: 1
    shell: "sleep 1; test -e tried{wildcards.i} || {{ touch tried{wildcards.i}; exit 1; }}; touch {output}"
"#;

#[test]
fn attempts_of_a_real_snakemake() {
    let snakemake = std::env::var("FLOWMINE_SNAKEMAKE").unwrap_or_default();
    if !require("snakemake", "Snakemake, whose program FLOWMINE_SNAKEMAKE names", !snakemake.is_empty()) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("Snakefile"), FLAKY).unwrap();
    expect(Command::new(&snakemake).args(["--cores", "4"]).current_dir(dir.path()).stdin(Stdio::null()), 0);
    let log = std::fs::read_dir(dir.path().join(".snakemake/log")).unwrap().next().unwrap().unwrap().path();
    let dataset = dir.path().join("dataset");
    expect(flowmine().args(["import", "snakemake", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(&log), 0);
    check(&cause("flaky input", "flaky", &["4 tasks of get failed", "a later attempt succeeded"]), &dataset);
}
