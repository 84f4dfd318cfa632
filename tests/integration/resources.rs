//! Resources occupied and used, and requests suggested from them, as a user asks for them.

use serde_json::Value;

use crate::support::{expect, flowmine};
use crate::waits::{discovered, imported};

/// A wide job that uses one CPU, two tasks of which only `TRESUsageInTot` has the whole memory, one
/// that failed and one that was cancelled.
const JOBS: &str = "\
JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|NNodes|NCPUS|TimelimitRaw|ReqMem|AllocTRES|MaxRSS|TRESUsageInTot|TotalCPU|NodeList|SubmitLine
501|501|wide|mia|bio|long|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T09:00:00|1|32|600|128G||||02:24:00|k1|sbatch wide.sh
501.batch|501.batch|batch||bio||COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T09:00:00|1|32||||2097152K|mem=2097152K|02:24:00|k1|
502|502|pair|noa|geo|long|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T07:00:00|1|2|120|8G|billing=2,cpu=2,gres/gpu=1,mem=16G,node=1|||01:48:00|k2|sbatch pair.sh
502.0|502.0|two||geo||COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T07:00:00|1|2||||3G|cpu=01:48:00,mem=5G|01:48:00|k2|
503|503|pair|noa|geo|long|FAILED|2026-11-18T08:00:00|2026-11-18T08:00:00|2026-11-18T08:00:00|2026-11-18T08:30:00|1|2|120|8G|cpu=2,mem=8G,node=1|||00:10:00|k2|sbatch pair.sh
504|504|pair|noa|geo|long|CANCELLED by 1001|2026-11-18T08:00:00|2026-11-18T08:00:00|2026-11-18T08:00:00|2026-11-18T08:15:00|1|2|120|8G|cpu=2,mem=8G,node=1||||k2|sbatch pair.sh
";

fn row<'v>(found: &'v Value, dimension: &str, value: &str) -> &'v Value {
    let groups = found["by"].as_array().unwrap();
    let group = groups.iter().find(|group| group["name"] == dimension).unwrap();
    group["rows"].as_array().unwrap().iter().find(|row| row["value"] == value).unwrap_or_else(|| panic!("{value} in {group}"))
}

fn core_hours(row: &Value, field: &str) -> Option<f64> {
    row[field].as_i64().map(|ns| ns as f64 / 3.6e12)
}

#[test]
fn efficiencies_are_those_of_seff_and_losses_add_up() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "jobs", JOBS);
    let found: Value = serde_json::from_str(&discovered(&dataset, &["resources", "--format", "json"])).unwrap();
    let wide = row(&found, "job", "501");
    // 2 h 24 min of 32 × 3 h; 2 of 128 GiB; 3 h of 10 h.
    assert_eq!(wide["cpu_efficiency"].as_f64(), Some(0.025));
    assert_eq!(wide["memory_efficiency"].as_f64(), Some(2.0 / 128.0));
    assert_eq!(wide["time_efficiency"].as_f64(), Some(0.3));
    assert_eq!(core_hours(wide, "idle_core_ns"), Some(93.6));
    // seff reads the memory of all tasks of a step and what was allocated, not asked for.
    let pair = row(&found, "job", "502");
    assert_eq!(pair["memory_efficiency"].as_f64(), Some(5.0 / 16.0));
    assert_eq!(core_hours(pair, "gpu_ns"), Some(1.0));
    let noa = row(&found, "user", "noa");
    assert_eq!((core_hours(noa, "failed_core_ns"), core_hours(noa, "cancelled_core_ns")), (Some(1.0), Some(0.5)));
    assert_eq!(row(&found, "account", "bio")["at_stake_core_ns"], wide["at_stake_core_ns"]);
    assert_eq!(row(&found, "job", "504")["cpu_used_ns"], Value::Null);
    assert_eq!(found["by"][0]["rows"][0]["value"], "501", "the most core-hours at stake come first");
    // An exported log says the same.
    for format in ["xes", "csv"] {
        let log = dir.path().join(format!("log.{format}"));
        expect(
            flowmine().args(["export", "--case-notion", "dependency", "--format", format, "--dataset"]).arg(&dataset).arg("-o").arg(&log),
            0,
        );
        let output = expect(flowmine().args(["discover", "resources", "--format", "json", "--log"]).arg(&log), 0);
        let of_log: Value = serde_json::from_slice(&output.stdout).unwrap();
        for field in ["core_ns", "cpu_used_ns", "cpu_efficiency", "memory_efficiency", "time_efficiency", "gpu_ns"] {
            assert_eq!(of_log["total"][field], found["total"][field], "{field} of {format}");
        }
    }
}

/// A job as sacct prints it, with numbers from which seff and reportseff compute.
struct Sample {
    cpus: u64,
    elapsed_s: u64,
    limit_min: u64,
    cpu_ms: u64,
    memory_mb: u64,
    /// The largest memory of a task in kilobytes, and the number of tasks, of each step.
    steps: Vec<(u64, u64)>,
}

/// Jobs of all sizes, the same in each run.
fn samples() -> Vec<Sample> {
    let mut state = 32u64;
    let mut below = move |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let sample = |_| {
        let (cpus, elapsed_s) = (1 + below(128), 1 + below(300_000));
        Sample {
            cpus,
            elapsed_s,
            limit_min: elapsed_s / 60 + 1 + below(5_000),
            cpu_ms: below(cpus * elapsed_s * 1000),
            memory_mb: 1 + below(500_000),
            steps: (0..1 + below(3)).map(|_| (below(90_000_000), 1 + below(16))).collect(),
        }
    };
    (0..12).map(sample).collect()
}

/// `TotalCPU`, in the form that sacct chooses by its size.
fn total_cpu(ms: u64) -> String {
    let (s, ms) = (ms / 1000, ms % 1000);
    let (days, hours, minutes, seconds) = (s / 86_400, s / 3_600 % 24, s / 60 % 60, s % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes:02}:{seconds:02}.{ms:03}"),
        (0, _) => format!("{hours:02}:{minutes:02}:{seconds:02}"),
        _ => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// What `reportseff` 2.10.3 prints of the same text (`job.py`): percent with one decimal, of which
/// the memory is the largest `MaxRSS` × `NTasks` of a step.
#[test]
fn numbers_are_those_of_reportseff() {
    let begin = 1_793_782_800;
    let clock = |seconds: u64| flowmine_schema::time::rfc3339(seconds as i64 * 1_000_000_000).trim_end_matches('Z').to_owned();
    let mut text = String::from(
        "JobID|JobIDRaw|JobName|User|State|Submit|Eligible|Start|End|NNodes|NCPUS|TimelimitRaw|ReqMem|MaxRSS|NTasks|TotalCPU|NodeList|SubmitLine\n",
    );
    let samples = samples();
    for (id, sample) in (700..).zip(&samples) {
        let (from, to, cpu) = (clock(begin), clock(begin + sample.elapsed_s), total_cpu(sample.cpu_ms));
        let Sample { cpus, limit_min, memory_mb, .. } = sample;
        text +=
            &format!("{id}|{id}|j|mia|COMPLETED|{from}|{from}|{from}|{to}|1|{cpus}|{limit_min}|{memory_mb}M|||{cpu}|k1|sbatch j{id}.sh\n");
        for (step, (rss_kb, tasks)) in sample.steps.iter().enumerate() {
            text += &format!("{id}.{step}|{id}.{step}|s||COMPLETED|{from}|{from}|{from}|{to}|1|{cpus}|||{rss_kb}K|{tasks}|{cpu}|k1|\n");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "jobs", &text);
    let found: Value = serde_json::from_str(&discovered(&dataset, &["resources", "--format", "json"])).unwrap();
    for (id, sample) in (700..).zip(&samples) {
        let of_job = row(&found, "job", &id.to_string());
        let wall_s = sample.elapsed_s as f64;
        // sacct has milliseconds only in the shortest form.
        let cpu_s = if sample.cpu_ms < 3_600_000 { sample.cpu_ms as f64 / 1000.0 } else { (sample.cpu_ms / 1000) as f64 };
        let memory_kb = sample.steps.iter().map(|(rss_kb, tasks)| rss_kb * tasks).max().unwrap_or_default();
        for (field, truth) in [
            ("cpu_efficiency", cpu_s / sample.cpus as f64 / wall_s),
            ("memory_efficiency", memory_kb as f64 / 1024.0 / sample.memory_mb as f64),
            ("time_efficiency", wall_s / (sample.limit_min * 60) as f64),
        ] {
            let found = of_job[field].as_f64().unwrap_or_else(|| panic!("{field} of {id}: {of_job}"));
            assert!((found - truth).abs() < 0.0005, "{field} of {id}: {found}, and reportseff's {truth}");
        }
    }
}

#[test]
fn a_job_that_leaves_its_cpus_idle_is_not_told_to_take_more() {
    let dir = tempfile::tempdir().unwrap();
    let list = discovered(&imported(dir.path(), "jobs", JOBS), &["findings"]);
    let idle = list.split("\n\n").find(|finding| finding.contains("idle-cpus  idle CPUs")).unwrap();
    assert!(idle.contains("At stake: 93.60 core-hours") && idle.contains("Gain: 93.00 core-hours to 93.60 core-hours"), "{idle}");
    assert!(idle.contains("Request 1 CPU for each of wide.sh"), "{idle}");
}

/// Many short jobs of one core, and few wide ones: the core-hours decide, not the time added up.
#[test]
fn rankings_follow_core_hours() {
    let mut text = String::from("JobID|JobIDRaw|JobName|User|State|Submit|Eligible|Start|End|NCPUS|TotalCPU|NodeList|SubmitLine\n");
    for job in 1..=60 {
        text += &format!(
            "{job}|{job}|small|mia|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T07:00:00|1|00:59:00|k1|sbatch small.sh\n"
        );
    }
    text += "99|99|huge|noa|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T16:00:00|1024|400-00:00:00|k[2-9]|sbatch huge.sh\n";
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "jobs", &text);
    // Both use their CPUs: where the time goes is no finding.
    let list = discovered(&dataset, &["findings"]);
    assert!(list.contains("No finding"), "{list}");
    let table = discovered(&dataset, &["resources", "--format", "csv"]);
    let first = table.lines().find(|line| line.starts_with("activity,")).unwrap();
    assert!(first.starts_with("activity,huge.sh,1,0,36000,10240.00,640.00"), "{first}");
}

#[test]
fn requests_are_written_for_slurm_nextflow_and_snakemake() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = JOBS.replace("sbatch pair.sh", "sbatch pair'sh");
    let dataset = imported(dir.path(), "jobs", &hostile);
    let lines = discovered(&dataset, &["requests", "--format", "slurm"]);
    // 3 h and a fifth; 2 GiB and a fifth; less than one CPU.
    let wide = lines.split("\n\n").find(|part| part.starts_with("# wide.sh")).unwrap();
    assert_eq!(wide.trim_end(), "# wide.sh: 1 instance\n#SBATCH --time=03:36:00\n#SBATCH --mem=2458M\n#SBATCH --cpus-per-task=1");
    let nextflow = discovered(&dataset, &["requests", "--format", "nextflow"]);
    assert!(nextflow.contains(r"withName: 'pair\\\'sh' {"), "{nextflow}");
    let profile = discovered(&dataset, &["requests", "--format", "snakemake"]);
    assert!(profile.contains("# left out, no name of a rule: wide.sh"), "{profile}");
    let table = discovered(&dataset, &["requests", "--percentile", "50", "--format", "csv"]);
    assert!(table.lines().any(|line| line.starts_with("wide.sh,1,0,1,36000,10800,10800,0,7.00,")), "{table}");
    expect(flowmine().args(["discover", "requests", "--percentile", "50", "--margin", "10", "--dataset"]).arg(&dataset), 2);
}
