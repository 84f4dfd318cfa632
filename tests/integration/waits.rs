//! What jobs waited for, as a user asks for it, and queue times that no model counts otherwise.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{expect, flowmine, job_states, repository, waits};

const SECOND: i64 = 1_000_000_000;

/// A dataset with what sacct wrote, of cluster `lab`; times are UTC.
pub fn imported(dir: &Path, name: &str, text: &str) -> PathBuf {
    let (file, dataset) = (dir.join(format!("{name}.txt")), dir.join(name));
    std::fs::write(&file, text).unwrap();
    let mut import = flowmine();
    expect(import.args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(&file), 0);
    dataset
}

/// What `discover` says of a model.
pub fn discovered(dataset: &Path, arguments: &[&str]) -> String {
    let output = expect(flowmine().arg("discover").args(arguments).arg("--dataset").arg(dataset), 0);
    String::from_utf8(output.stdout).unwrap()
}

/// The queue time of an activity in seconds, by a table with a column of that name.
fn queued(table: &str, column: &str, activity: &str) -> f64 {
    let mut lines = table.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = head.iter().position(|name| *name == column).unwrap_or_else(|| panic!("{column} in {head:?}"));
    lines
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|row| row[0] == activity)
        .filter_map(|row| row[place].parse::<f64>().ok())
        .sum()
}

const STEPS: &str = "\
JobID|JobIDRaw|JobName|User|Account|Partition|QOS|State|Reason|Submit|Eligible|Start|End|NCPUS|NodeList|SubmitLine
41|41|fetch|mia|bio|short|normal|COMPLETED|None|2026-11-18T06:00:00|2026-11-18T06:00:00|2026-11-18T06:00:30|2026-11-18T07:30:30|2|k1|sbatch fetch.sh
42|42|count|mia|bio|short|normal|COMPLETED|None|2026-11-18T06:00:05|2026-11-18T07:30:31|2026-11-18T07:30:40|2026-11-18T07:40:40|4|k1|sbatch --dependency=afterok:41 count.sh
43|43|plot|mia|bio|short|normal|COMPLETED|None|2026-11-18T06:00:06|2026-11-18T09:00:00|2026-11-18T09:00:00|2026-11-18T09:01:00|1|k1|sbatch --begin=09:00 plot.sh
";

#[test]
fn what_a_job_wishes_for_itself_is_no_queueing_in_any_model() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "steps", STEPS);
    let of = [("fetch.sh", 30.0), ("count.sh", 9.0), ("plot.sh", 0.0)];
    let lifecycle = discovered(&dataset, &["lifecycle", "--format", "csv"]);
    let summary = discovered(&dataset, &["summary", "--format", "csv"]);
    let graph: Value = serde_json::from_str(&discovered(&dataset, &["dfg", "--format", "json"])).unwrap();
    for (activity, seconds) in of {
        assert_eq!(queued(&lifecycle, "queue_s", activity), seconds, "{activity} in {lifecycle}");
        assert_eq!(queued(&summary, "queue_sum_s", activity), seconds, "{activity} in {summary}");
        let node = graph["activities"].as_array().unwrap().iter().find(|node| node["name"] == activity).unwrap();
        assert_eq!(node["queue_s"]["sum"].as_f64(), Some(seconds), "{node}");
    }
    let chart: Value = serde_json::from_str(&discovered(&dataset, &["gantt", "--format", "json"])).unwrap();
    let waited = |bar: &Value| Some(bar["start_ns"].as_i64()? - bar["ready_ns"].as_i64()?);
    let bars = chart["bars"].as_array().unwrap();
    assert_eq!(bars.iter().filter_map(waited).sum::<i64>(), 39 * SECOND, "{chart}");
    let list = discovered(&dataset, &["findings"]);
    // A begin time is not recorded by accounting: what to record is stated.
    assert!(list.contains(" 1. own-wish  not eligible") && list.contains("3h 00m in job 43, case"), "{list}");
    assert!(list.contains("Poll the queue while they wait") && !list.contains(" 2. "), "{list}");
    // An exported log says the same.
    for (name, format) in [("log.xes", "xes"), ("log.csv", "csv"), ("log.parquet", "parquet")] {
        let log = dir.path().join(name);
        let mut export = flowmine();
        expect(
            export.args(["export", "--case-notion", "dependency", "--format", format, "--dataset"]).arg(&dataset).arg("-o").arg(&log),
            0,
        );
        let output = expect(flowmine().args(["discover", "lifecycle", "--format", "csv", "--log"]).arg(&log), 0);
        let table = String::from_utf8(output.stdout).unwrap();
        for (activity, seconds) in of {
            assert_eq!(queued(&table, "queue_s", activity), seconds, "{activity} of {name}: {table}");
        }
    }
}

#[test]
fn why_a_job_waited() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "steps", STEPS);
    let why = |job: &str, code: i32| {
        let output = expect(flowmine().args(["why", job, "--dataset"]).arg(&dataset), code);
        String::from_utf8(if code == 0 { output.stdout } else { output.stderr }).unwrap()
    };
    let sentence = "Job 42 (count.sh, mia) waited 1h 30m for job 41, from 2026-11-18 06:00:05 to 2026-11-18 07:30:30 UTC; \
        9s in the queue, for a reason that is not known; 1s until it was eligible (hold, begin time, dependency, array limit or \
        reservation). \
        It ran 10m 00s and ended COMPLETED.";
    assert_eq!(why("42", 0).lines().next(), Some(sentence));
    assert!(why("41", 0).contains("30s in the queue") || why("41", 0).contains("waited 30s in the queue"), "{}", why("41", 0));
    assert!(why("4", 2).contains("no such job"), "4 is another job than 41");
}

/// Ten situations in a partition of which 512 CPUs are in use: the first line says what is wrong.
#[test]
fn the_first_line_names_what_is_wrong() {
    // Reason, QOS, whether eve's wide job runs, and the line after the core-hours.
    let situations = [
        ("PartitionDown", "normal", false, "partition_down, partition short, user mia"),
        ("Resources", "normal", true, "resources, partition short, user mia; meanwhile eve ran 5120.00 core-hours there"),
        ("QOSMaxCpuPerUserLimit", "small", false, "limit_of_user QOSMaxCpuPerUserLimit, partition short, user mia"),
        ("AssocGrpCpuLimit", "normal", false, "limit_of_account AssocGrpCpuLimit, partition short, user mia"),
        ("JobHeldAdmin", "normal", false, "held_by_admin, partition short, user mia"),
        ("JobArrayTaskLimit", "normal", false, "array_throttle, partition short, user mia"),
        ("BeginTime", "normal", false, "begin_time, partition short, user mia"),
        ("Dependency", "normal", false, "predecessor, partition short, user mia"),
        ("Reservation", "normal", false, "reservation, partition short, user mia"),
        ("Priority", "normal", true, "priority, partition short, user mia; meanwhile eve ran 5120.00 core-hours there"),
    ];
    for (reason, qos, is_wide, line) in situations {
        let dir = tempfile::tempdir().unwrap();
        let dataset = dir.path().join("dataset");
        let mut import = flowmine();
        import.args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset);
        for hour in [8, 13, 18] {
            let mut text = String::from(
                "JOBID|NAME|USER|ACCOUNT|PARTITION|QOS|STATE|REASON|PRIORITY|SUBMIT_TIME|START_TIME|END_TIME|CPUS|NODELIST|DEPENDENCY\n",
            );
            let wanted = if reason == "Dependency" { "afterok:1(unfulfilled)" } else { "(null)" };
            text += &match hour {
                18 => format!("7|j|mia|bio|short|{qos}|RUNNING|None|9|2026-11-18T08:00:00|2026-11-18T18:00:00|N/A|4|k1|(null)\n"),
                _ => format!("7|j|mia|bio|short|{qos}|PENDING|{reason}|9|2026-11-18T08:00:00|N/A|N/A|4||{wanted}\n"),
            };
            if is_wide || reason == "Dependency" {
                let (user, cpus) = if is_wide { ("eve", 512) } else { ("mia", 1) };
                let (state, end) = if hour == 18 { ("COMPLETED", "2026-11-18T18:00:00") } else { ("RUNNING", "N/A") };
                text += &format!(
                    "1|w|{user}|bio|short|{qos}|{state}|None|9|2026-11-18T07:00:00|2026-11-18T07:00:00|{end}|{cpus}|k[1-8]|(null)\n"
                );
            }
            let file = dir.path().join(format!("squeue-20261118T{hour:02}0000Z.txt"));
            std::fs::write(&file, text).unwrap();
            import.arg(file);
        }
        expect(&mut import, 0);
        let said = discovered(&dataset, &["waits"]);
        assert_eq!(said.lines().next(), Some(format!("40.00 core-hours, 10h 00m: {line}").as_str()), "{reason}: {said}");
    }
}

/// Jobs of five weeks, of which the time in the queue grows by ten minutes a week.
#[test]
fn weeks_have_medians_and_a_trend() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::from("JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|NCPUS|NodeList\n");
    let clock = |seconds: i64| flowmine_schema::time::rfc3339(seconds * SECOND).trim_end_matches('Z').to_owned();
    // A Wednesday.
    let begin = 1_793_782_800;
    for week in 0..5i64 {
        for (job, user, minutes) in [(1, "mia", 10), (2, "leo", 10 + 10 * week), (3, "leo", 500)] {
            let submit = begin + week * 7 * 86_400 + job * 60;
            let start = submit + minutes * 60;
            let id = week * 10 + job;
            let (at, began, ended) = (clock(submit), clock(start), clock(start + 60));
            text += &format!("{id}|{id}|j|{user}|bio|short|COMPLETED|{at}|{at}|{began}|{ended}|2|k1\n");
        }
    }
    let dataset = imported(dir.path(), "weeks", &text);
    let said = discovered(&dataset, &["waits", "--over-time"]);
    let first = "Half of the jobs queued for 50m 00s or less in the week of 2026-11-30, 10m 00s in that of 2026-11-02; \
        trend: +10m 00s a week";
    assert_eq!(said.lines().next(), Some(first), "{said}");
    let table = discovered(&dataset, &["waits", "--over-time", "--format", "csv"]);
    // 2 CPUs of jobs that queued for 10, 30 and 500 minutes.
    assert!(table.contains("all,\"\",2026-11-16,3,32400,18.00,1800,30000,queued,600"), "{table}");
    assert!(table.contains("user,mia,2026-11-16,1,600,0.33,600,600,queued,0"), "{table}");
    // Three jobs each Wednesday.
    assert!(table.lines().any(|line| line.starts_with("day,2026-11-18,,3,")), "{table}");
    assert!(table.lines().any(|line| line.starts_with("weekday,Wednesday,,15,")), "{table}");
    assert!(said.contains("CPUs in use") && said.contains("Wednesday"), "{said}");
    let found: Value = serde_json::from_str(&discovered(&dataset, &["waits", "--over-time", "--format", "json"])).unwrap();
    assert_eq!(found["groups"][0]["trend_ns"].as_i64(), Some(600 * SECOND), "{found}");
    let svg = discovered(&dataset, &["waits", "--over-time", "--format", "svg"]);
    assert!(svg.contains("week by week") && svg.contains("week of 2026-11-30, all jobs"), "{svg}");
}

#[test]
fn reasons_of_polls_decide_the_advice() {
    let dir = tempfile::tempdir().unwrap();
    let poll = |minute: u32, rows: &[(u32, &str, &str)]| {
        let mut text =
            String::from("JOBID|NAME|USER|ACCOUNT|PARTITION|STATE|REASON|PRIORITY|SUBMIT_TIME|START_TIME|CPUS|COMMAND|NODELIST\n");
        for (job, state, reason) in rows {
            let priority = if reason.contains("Held") { 0 } else { 100 };
            let start = if *state == "RUNNING" { format!("2026-11-18T08:{minute:02}:00") } else { "N/A".to_owned() };
            let nodes = if *state == "RUNNING" { "k1" } else { "" };
            text += &format!("{job}|j{job}|mia|bio|short|{state}|{reason}|{priority}|2026-11-18T07:00:00|{start}|4|/w/j{job}.sh|{nodes}\n");
        }
        std::fs::write(dir.path().join(format!("squeue-20261118T08{minute:02}00Z.txt")), text).unwrap();
    };
    let reasons =
        [(1, "PartitionDown"), (2, "JobHeldAdmin"), (3, "DependencyNeverSatisfied"), (4, "QOSMaxCpuPerUserLimit"), (5, "Licenses")];
    let waiting = reasons.map(|(job, reason)| (job, "PENDING", reason));
    (0..3).for_each(|minute| poll(minute, &waiting));
    poll(40, &waiting.map(|(job, _, _)| (job, "RUNNING", "None")));
    let dataset = dir.path().join("dataset");
    let mut import = flowmine();
    import.args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset);
    expect(import.args((0..3).chain([40]).map(|minute| dir.path().join(format!("squeue-20261118T08{minute:02}00Z.txt")))), 0);
    let list = discovered(&dataset, &["findings", "--format", "csv"]);
    let advice = |job: u32| list.lines().filter(|line| line.contains(&format!("j{job}.sh"))).collect::<Vec<_>>().join("\n");
    for (job, cause, words) in [
        (1, "partition down", "Use another partition while partition short is down"),
        (2, "held by admin", "Ask support"),
        (3, "never satisfiable", "failed"),
        (4, "limit of the user", "ask for a higher limit"),
        (5, "licenses", "All licences were in use"),
    ] {
        let of_job = advice(job);
        assert!(of_job.contains(cause) && of_job.contains(words), "{of_job}");
        assert!(!of_job.contains("Ask for less") && !of_job.contains("Submit each step"), "{of_job}");
    }
    let table = discovered(&dataset, &["waits", "--format", "csv"]);
    for cause in ["partition_down", "held_by_admin", "never_satisfiable", "limit_of_user", "licenses"] {
        assert!(table.contains(&format!("cause,{cause},")), "{table}");
    }
    // The reason for most of the time is an attribute like others.
    let held = discovered(&dataset, &["lifecycle", "--where", "reason=JobHeldAdmin", "--format", "csv"]);
    assert!(held.contains("j2.sh") && !held.contains("j1.sh"), "{held}");
    let svg = discovered(&dataset, &["waits", "--format", "svg"]);
    assert!(svg.contains("<svg") && svg.contains("partition down"));
    let none = expect(flowmine().args(["discover", "waits", "--user", "moon", "--dataset"]).arg(&dataset), 0);
    assert!(none.stdout.starts_with(b"0 of 0 jobs waited"));
    let said = String::from_utf8(none.stderr).unwrap();
    assert!(said.contains("--user \"moon\": no job in the dataset has it"), "{said}");
}

/// A node that one user's wide job fills: the first line states the cause, and the list of causes
/// who had the CPUs.
#[test]
fn a_full_node_has_an_occupant() {
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<_> = [(1, true), (2, true), (50, false)]
        .into_iter()
        .map(|(minute, is_full)| {
            let mut text =
                String::from("JOBID|NAME|USER|ACCOUNT|PARTITION|STATE|REASON|PRIORITY|SUBMIT_TIME|START_TIME|CPUS|COMMAND|NODELIST\n");
            if is_full {
                text += "8|wide|leo|bio|short|RUNNING|None|9|2026-11-18T07:00:00|2026-11-18T07:00:00|64|/w/wide.sh|k1\n";
            }
            let (state, reason, start, node) =
                if is_full { ("PENDING", "Resources", "N/A", "") } else { ("RUNNING", "None", "2026-11-18T08:50:00", "k1") };
            text += &format!("9|small|mia|bio|short|{state}|{reason}|9|2026-11-18T08:00:00|{start}|4|/w/small.sh|{node}\n");
            let file = dir.path().join(format!("squeue-20261118T08{minute:02}00Z.txt"));
            std::fs::write(&file, text).unwrap();
            file
        })
        .collect();
    let dataset = dir.path().join("dataset");
    let mut import = flowmine();
    import.args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset);
    expect(import.args(files), 0);
    let found: Value = serde_json::from_str(&discovered(&dataset, &["waits", "--format", "json"])).unwrap();
    let first = &found["causes"][0];
    assert_eq!(first["cause"], "resources", "{found}");
    assert!(first["occupants"].to_string().contains("leo"), "{first}");
    let said = discovered(&dataset, &["waits"]);
    assert!(said.contains("resources") && said.contains("mia") && said.contains("leo"), "{said}");
}

/// The recorded cluster, by accounting: `Reserved` of sacct, and parts that tile each attempt.
#[test]
fn the_recorded_queue_waits_as_long_as_accounting_reserved() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = dir.path().join("dataset");
    let mut import = flowmine();
    expect(import.args(["import", "slurm", "--dataset"]).arg(&dataset).arg(repository("fixtures/case-study/sacct-token.txt.gz")), 0);
    // From the rows as they were imported.
    let ran = |row: &&flowmine_schema::tables::JobState<'_>| row.node_list.is_some() && row.start_ns.is_some();
    let reserved = job_states(&dataset).iter().filter(ran).filter_map(|row| Some(row.start_ns? - row.eligible_ns?)).sum::<i64>() / SECOND;
    assert_eq!(reserved, 475);
    let lifecycle: Value = serde_json::from_str(&discovered(&dataset, &["lifecycle", "--format", "json"])).unwrap();
    let queued: i64 = lifecycle["activities"].as_array().unwrap().iter().filter_map(|of| of["queue_ns"].as_i64()).sum();
    assert_eq!(queued / SECOND, reserved);
    expect(flowmine().args(["correlate", "--dataset"]).arg(&dataset), 0);
    let rows = waits(&dataset);
    for parts in rows.chunk_by(|a, b| (&a.job, a.submit_ns, a.attempt) == (&b.job, b.submit_ns, b.attempt)) {
        assert!(parts.iter().zip(parts.iter().skip(1)).all(|(a, b)| a.to_ns == b.from_ns), "{parts:?}");
        assert_eq!(Some(parts[0].from_ns), parts[0].submit_ns, "{parts:?}");
    }
    let queueing = ["queued", "resources", "priority", "unknown"];
    let started: std::collections::BTreeSet<_> =
        rows.iter().filter(|row| row.cause == "running").map(|row| (row.job.clone(), row.submit_ns, row.attempt)).collect();
    let of_started = rows.iter().filter(|row| started.contains(&(row.job.clone(), row.submit_ns, row.attempt)));
    let sum: i64 = of_started.filter(|row| queueing.contains(&row.cause.as_ref())).map(|row| row.to_ns - row.from_ns).sum();
    // Attempts that ran for less than a second have no part in which they run.
    assert!((reserved - 5..=reserved).contains(&(sum / SECOND)), "{sum} {reserved}");
}

/// The parts along a critical path are those of the waits, and add up to the makespan.
#[test]
fn the_critical_path_has_the_same_queue_times() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = imported(dir.path(), "steps", STEPS);
    let path: Value = serde_json::from_str(&discovered(&dataset, &["critical-path", "--format", "json"])).unwrap();
    let sum: i64 = path["parts"].as_array().unwrap().iter().filter_map(|part| part["time_ns"].as_i64()).sum();
    assert_eq!(Some(sum), path["makespan_ns"].as_i64(), "{path}");
    // The job with a begin time ends last: it waited for that and not in the queue.
    let part = |name: &str| path["parts"].as_array().unwrap().iter().find(|part| part["part"] == name).map(|part| part["time_ns"].clone());
    assert_eq!(part("queue"), None, "{path}");
    assert_eq!(part("own_wish"), Some(Value::from((3 * 3600 - 6) * SECOND)), "{path}");
}
