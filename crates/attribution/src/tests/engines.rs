//! Jobs that an engine starts as its own children: Snakemake run locally.

use super::*;

const RUN: &str = "2026-11-22T060002.317716";
const OTHER: &str = "2026-11-22T060003.000001";
const MAKES: i32 = 0o1101;

fn below(parent: P) -> impl Fn(&mut Process<'static>) {
    move |row| (row.parent_pid, row.parent_start_ns) = (Some(parent.1), Some(parent.2 * SECOND))
}

/// `bash -c` in the place of which its last command runs.
fn shell(row: &mut Process<'static>, command: &str, dir: &str) {
    let before = serde_json::json!([{
        "exec_ns": row.started_ns, "executable": "/usr/bin/bash", "command_line_cut": false, "work_dir": dir,
        "command_line": ["/usr/bin/bash", "-c", format!("set -euo pipefail;  {command}")],
    }]);
    row.earlier_programs = Some(before.to_string().into());
    row.exec_ns = row.started_ns.map(|started| started + 1_000_000);
    row.command_line = Some(r#"["sort","in.txt"]"#.into());
    row.work_dir = Some(dir.to_owned().into());
}

fn job(world: &mut World, run: &str, id: &str, span: (i64, i64), change: impl FnOnce(&mut TaskRun<'static>)) {
    let run = run.to_owned();
    world.task("snakemake", id, span, |row| {
        (row.run_id, row.run_name) = (None, Some(run.into()));
        (row.submitted_precision_ns, row.finished_precision_ns) = (Some(SECOND), Some(SECOND));
        change(row);
    });
}

/// An engine that writes the log of its run in a directory.
fn engine(world: &mut World, process: P, run: &str, dir: &str, file: F) {
    world.process(process, 100, |row| row.command_line = Some(r#"["python3","/usr/bin/snakemake","-c","2"]"#.into()));
    world.opens(process, process.2 * 1000 + 100, file, &format!("{dir}/.snakemake/log/{run}.snakemake.log"), 0o2_102_001);
}

fn sorted(mut world: World) -> World {
    world.processes.sort_by_key(|row| row.process_start_ns);
    world.events.sort_by_key(|row| row.start_ns);
    world
}

#[test]
fn what_a_shell_was_before_it_became_its_last_command_counts() {
    let mut world = World::default();
    let process = P("n1", 10, 2);
    world.process(process, 3, |row| shell(row, "sort in.txt > out.txt", "/d"));
    world.writes(process, 2500, F(1, 1), 0, 10);
    job(&mut world, "r", "1", (1, 9), |row| row.command = Some("sort in.txt > out.txt".into()));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1: 0 10"]);
    assert_eq!((&*told.links[0].rule, &*told.links[0].strength), ("command-line", "inferred"));
}

/// Two runs of one Snakefile, with the log of one: the operations of the other have no owner, for
/// any user and directory.
#[test]
fn the_bytes_of_another_run_are_not_this_ones() {
    let mut world = World::default();
    let (mine, others, by_hand) = (P("n1", 1, 1), P("n1", 2, 1), P("n1", 30, 3));
    engine(&mut world, mine, RUN, "/home/ann/a", F(1, 100));
    engine(&mut world, others, OTHER, "/home/bob/b", F(1, 200));
    for (at, (process, parent)) in [(P("n1", 10, 3), mine), (P("n1", 20, 3), others)].into_iter().enumerate() {
        world.process(process, 5, |row| {
            shell(row, "sort in.txt > out.txt", ["/home/ann/a", "/home/bob/b"][at]);
            below(parent)(row);
        });
        world.writes(process, 4000, F(1, i64::from(process.1)), 0, i64::from(process.1));
    }
    // The same by hand, where it is not known in which directory.
    world.process(by_hand, 5, |row| row.command_line = Some(r#"["sh","-c","sort in.txt > out.txt"]"#.into()));
    world.writes(by_hand, 4000, F(1, 30), 0, 300);
    job(&mut world, RUN, "1", (2, 9), |row| row.command = Some("sort in.txt > out.txt".into()));
    let told = sorted(world).correlated();
    assert_eq!(told.bytes(), ["1: 0 10", "no-rule: 0 320"]);
    assert_eq!(told.diagnostics, []);
}

/// The host has another name for its engine, and a job with a shadow directory runs elsewhere.
#[test]
fn below_its_engine_a_job_is_where_it_may_be() {
    let mut world = World::default();
    let (main, process) = (P("n1", 1, 1), P("n1", 10, 2));
    engine(&mut world, main, RUN, "/d", F(1, 100));
    world.process(process, 3, |row| {
        shell(row, "sort in.txt > out.txt", "/scratch/shadow");
        below(main)(row);
    });
    world.writes(process, 2500, F(1, 1), 0, 10);
    job(&mut world, RUN, "1", (1, 9), |row| {
        (row.command, row.work_dir, row.host) = (Some("sort in.txt > out.txt".into()), Some("/d".into()), Some("other".into()));
    });
    assert_eq!(sorted(world).correlated().bytes(), ["1: 0 10"]);
}

#[test]
fn a_directory_or_an_end_that_does_not_fit_is_another_task() {
    let mut world = World::default();
    let all = [P("n1", 10, 2), P("n1", 11, 2), P("n1", 12, 2), P("n1", 13, 2), P("n1", 14, 2)];
    for (at, process) in all.into_iter().enumerate() {
        world.process(process, if at == 3 { 60 } else { 3 }, |row| {
            shell(row, "sort in.txt > out.txt", ["/d/run", "/d/run/shadow", "/d/run2", "/d/run", "/d/run"][at]);
            row.exit_code = Some(i32::from(at == 4));
        });
        world.writes(process, 2500, F(1, 1), 0, 10i64.pow(at as u32));
    }
    job(&mut world, "r", "1", (1, 9), |row| (row.command, row.work_dir) = (Some("sort in.txt > out.txt".into()), Some("/d/run".into())));
    assert_eq!(world.correlated().bytes(), ["1: 0 11", "no-rule: 0 11100"]);
}

/// The engine began before the trace; its log contains its user.
#[test]
fn what_another_user_runs_is_not_the_task() {
    let mut world = World::default();
    let (his, hers) = (P("n1", 10, 2), P("n1", 11, 2));
    for (process, user) in [(his, "bob"), (hers, "ann")] {
        world.process(process, 3, |row| {
            shell(row, "sort in.txt > out.txt", "/d");
            row.user = Some(user.into());
        });
        world.writes(process, 2500, F(1, 1), 0, i64::from(process.1));
    }
    job(&mut world, "r", "1", (1, 9), |row| (row.command, row.user) = (Some("sort in.txt > out.txt".into()), Some("ann".into())));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1: 0 11", "contradiction: 0 10"]);
    assert_eq!(told.diagnostics.iter().map(|row| &*row.code).collect::<Vec<_>>(), ["links_refuted"]);
}

#[test]
fn a_guess_that_fits_several_tasks_is_a_contradiction() {
    let mut world = World::default();
    let process = P("n1", 10, 2);
    world.process(process, 3, |row| shell(row, "make -j2 all", "/d"));
    world.writes(process, 2500, F(1, 1), 0, 10);
    // Two jobs of one run, and two runs.
    job(&mut world, "r", "1", (1, 9), |row| row.command = Some("make -j2 all".into()));
    job(&mut world, "s", "1", (1, 9), |row| row.command = Some("make -j2 all".into()));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["contradiction: 0 10"]);
    let said: Vec<_> = told.diagnostics.iter().map(|row| (&*row.code, &*row.message)).collect();
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].0, "links_contradict");
    assert!(
        said[0].1.contains("snakemake:r/1#1") && said[0].1.contains("snakemake:s/1#1") && said[0].1.ends_with("neither holds"),
        "{said:?}"
    );
}

/// A script, Python code, a helper of Snakemake: what they make shows which job they are, also of a
/// process that ended long before.
#[test]
fn a_child_of_an_engine_is_the_job_whose_output_it_makes() {
    let mut world = World::default();
    let (main, script, early, code, inner, below_inner, helper) =
        (P("n1", 1, 1), P("n1", 10, 3), P("n1", 11, 3), P("n1", 20, 20), P("n1", 21, 20), P("n1", 22, 21), P("n1", 40, 2));
    engine(&mut world, main, RUN, "/d", F(1, 100));
    world.process(helper, 3, below(main));
    world.process(script, 15, |row| {
        shell(row, "python3 /d/.snakemake/scripts/tmp1.total.py", "/d");
        below(main)(row);
    });
    world.process(early, 4, below(script));
    world.process(code, 25, below(main));
    world.process(inner, 25, |row| {
        below(code)(row);
        row.command_line = Some(r#"["python3","-m","snakemake","--target-jobs","code:n=05,m=x","--allowed-rules","code"]"#.into());
    });
    world.process(below_inner, 22, below(inner));
    for (at, process) in [helper, early, script, inner, below_inner, code].into_iter().enumerate() {
        world.writes(process, process.2 * 1000 + 500, F(1, 1), 0, 10i64.pow(at as u32));
    }
    // An input that is changed in place is another job's output.
    world.opens(script, 13_000, F(1, 7), "/d/code/out", 0o2);
    world.opens(script, 14_000, F(1, 2), "/d/sum/parts/1", MAKES);
    world.opens(below_inner, 21_600, F(1, 7), "/d/code/out", MAKES);
    let outputs = |path: &str| Some(format!(r#"[{{"path":"{path}"}}]"#).into());
    job(&mut world, RUN, "1", (3, 15), |row| (row.name, row.outputs) = ("total".into(), outputs("sum/parts")));
    job(&mut world, RUN, "2", (20, 25), |row| (row.name, row.outputs) = ("code:n=05, m=x".into(), outputs("code/out")));
    let told = sorted(world).correlated();
    assert_eq!(told.bytes(), ["1: 0 110", "2: 0 111000", "no-rule: 0 1"]);
    let mut rules: Vec<_> = told.links.iter().map(|link| format!("{} {} {}", link.source, link.rule, link.evidence)).collect();
    rules.sort();
    assert_eq!(
        rules,
        [
            "10 declared-output made /d/sum/parts/1",
            "11 process-tree made /d/sum/parts/1",
            "20 target-job --target-jobs code:n=05,m=x",
            "21 target-job --target-jobs code:n=05,m=x",
            "22 process-tree --target-jobs code:n=05,m=x",
        ]
    );
}

#[test]
fn a_job_without_wildcards_is_named_with_a_colon() {
    let mut world = World::default();
    let (main, inner) = (P("n1", 1, 1), P("n1", 10, 3));
    engine(&mut world, main, RUN, "/d", F(1, 100));
    world.process(inner, 5, |row| {
        below(main)(row);
        row.command_line = Some(r#"["python3","-m","snakemake","--target-jobs","report:","--cores","1"]"#.into());
    });
    world.writes(inner, 4000, F(1, 3), 0, 10);
    job(&mut world, RUN, "7", (2, 9), |row| row.name = "report".into());
    assert_eq!(sorted(world).correlated().bytes(), ["7: 0 10"]);
}

/// On a busy machine Snakemake writes the time of a job when the job has been running for a while.
#[test]
fn a_job_may_be_written_a_second_late() {
    for (begun, bytes) in [(5, "7: 0 10"), (6, "no-rule: 0 10")] {
        let mut world = World::default();
        let (main, inner) = (P("n1", 1, 1), P("n1", 10, 3));
        engine(&mut world, main, RUN, "/d", F(1, 100));
        world.process(inner, 8, |row| {
            below(main)(row);
            row.command_line = Some(r#"["python3","-m","snakemake","--target-jobs","report:","--cores","1"]"#.into());
        });
        world.writes(inner, 6500, F(1, 3), 0, 10);
        job(&mut world, RUN, "7", (begun, 9), |row| row.name = "report".into());
        assert_eq!(sorted(world).correlated().bytes(), [bytes], "written at {begun} s");
    }
}

#[test]
fn a_child_that_makes_outputs_of_two_jobs_is_neither() {
    let mut world = World::default();
    let (main, both) = (P("n1", 1, 1), P("n1", 10, 3));
    engine(&mut world, main, RUN, "/d", F(1, 100));
    world.process(both, 5, below(main));
    world.opens(both, 4000, F(1, 2), "/d/a", MAKES);
    world.opens(both, 4000, F(1, 3), "/d/b", MAKES);
    world.writes(both, 4001, F(1, 3), 0, 10);
    for (id, path) in [("1", "a"), ("2", "b")] {
        job(&mut world, RUN, id, (2, 9), |row| row.outputs = Some(format!(r#"[{{"path":"{path}"}}]"#).into()));
    }
    let told = sorted(world).correlated();
    assert_eq!(told.bytes(), ["contradiction: 0 10"]);
    assert_eq!(told.diagnostics.iter().map(|row| &*row.code).collect::<Vec<_>>(), ["links_contradict"]);
}

/// A job that failed and was tried again within a second.
#[test]
fn of_several_attempts_the_one_that_ended_so() {
    let mut world = World::default();
    let (main, first, second) = (P("n1", 1, 1), P("n1", 10, 3), P("n1", 11, 3));
    engine(&mut world, main, RUN, "/d", F(1, 100));
    for (process, exit_code) in [(first, 1), (second, 0)] {
        world.process(process, 3, |row| {
            below(main)(row);
            row.exit_code = Some(exit_code);
        });
        world.opens(process, 3100, F(1, 2), "/d/a", MAKES);
        world.writes(process, 3101, F(1, 2), 0, i64::from(process.1));
    }
    for (attempt, status) in [(1, "failed"), (2, "completed")] {
        job(&mut world, RUN, "1", (3, 3), |row| {
            (row.attempt, row.status, row.outputs) = (Some(attempt), status.into(), Some(r#"[{"path":"a"}]"#.into()));
        });
    }
    let told = sorted(world).correlated();
    let mut tasks: Vec<_> =
        told.totals.iter().map(|row| (row.task.as_deref().unwrap_or("-").rsplit('#').next().unwrap(), row.written_bytes)).collect();
    tasks.retain(|(_, bytes)| *bytes > 0);
    tasks.sort();
    assert_eq!(tasks, [("1", 10), ("2", 11)]);
}

/// A task that `flowmine transform` wrapped, with the identifiers of its layers.
fn wrapped(world: &mut World, id: &str, span: (i64, i64), change: impl FnOnce(&mut TaskRun<'static>)) {
    let layers = serde_json::json!([{"name": "task", "id": id}, {"name": "podman", "id": "00000000000000aa"}, {"name": "monitor", "id": "00000000000000bb"}]);
    world.task("transform", id, span, |row| {
        row.layers = Some(layers.to_string().into());
        change(row);
    });
}

/// The tracer's own task is called after the layer that it ran around: what it saw is the attempt's
/// that ran at that time.
#[test]
fn a_monitor_says_whose_layer_it_runs() {
    let mut world = World::default();
    let (first, second, child) = (P("n1", 10, 2), P("n1", 20, 6), P("n1", 21, 7));
    for (process, end) in [(first, 4), (second, 9)] {
        world.process(process, end, |_| {});
        world.writes(process, process.2 * 1000 + 100, F(1, i64::from(process.1)), 0, i64::from(process.1));
        let P(host, pid, start) = process;
        world.task("flowmine", "00000000000000aa", (start, end), |row| {
            (row.native_id, row.native_kind, row.host) = (Some(pid.to_string().into()), Some("pid".into()), Some(host.into()));
            (row.run_id, row.attempt) = (Some(pid.to_string().into()), Some(1));
        });
    }
    world.process(child, 8, |row| below(second)(row));
    world.writes(child, 7100, F(1, 300), 0, 300);
    wrapped(&mut world, "0123456789abcdef", (1, 5), |_| {});
    wrapped(&mut world, "0123456789abcdef", (6, 9), |row| row.attempt = Some(2));
    let told = sorted(world).correlated();
    assert_eq!(told.diagnostics, []);
    let rules: Vec<&str> = told.links.iter().map(|link| &*link.rule).filter(|rule| *rule != "process-tree").collect();
    assert!(rules.contains(&"monitored-layer"), "{rules:?}");
    assert_eq!(told.bytes(), ["0123456789abcdef: 0 10", "0123456789abcdef: 0 320"]);
}

/// A layer's script on a shell's command line, and the process that the record names.
#[test]
fn layers_of_a_wrapped_task_are_found() {
    let mut world = World::default();
    let (by_script, by_pid, looks) = (P("n1", 10, 2), P("n2", 20, 2), P("n1", 30, 3));
    for process in [by_script, by_pid] {
        world.process(process, 5, |row| row.command_line = Some(r#"["/bin/sh","./t_00000000000000aa.sh"]"#.into()));
        world.opens(process, 2050, F(1, 9), "/d/t_00000000000000aa.sh", 0);
        world.writes(process, 2100, F(1, i64::from(process.1)), 0, i64::from(process.1));
    }
    // Who only reads the script is not part of it.
    world.process(looks, 5, |row| row.command_line = Some(r#"["cat","/d/t_00000000000000aa.sh"]"#.into()));
    world.opens(looks, 3050, F(1, 9), "/d/t_00000000000000aa.sh", 0);
    world.writes(looks, 3100, F(1, 30), 0, 30);
    wrapped(&mut world, "0123456789abcdef", (1, 5), |row| row.host = Some("n1".into()));
    let told = sorted(world).correlated();
    assert_eq!(told.bytes(), ["0123456789abcdef: 0 10", "no-rule: 0 20", "no-rule: 0 30"]);
}
