//! Owners of processes and bytes where numbers, names and places collide.

use super::*;

const ID_A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const ID_B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

#[test]
fn two_hosts_with_the_same_numbers() {
    let mut world = World::default();
    for (host, id, bytes) in [("n1", "1", 10), ("n2", "2", 300)] {
        let process = P(host, 50, 5);
        world.process(process, 9, |row| row.cgroup_id = Some(7));
        world.opens(process, 6000, F(1, 2), "/data/in", 0);
        world.reads(process, 6001, F(1, 2), 0, bytes);
        world.task_of_pid(id, process, 9);
    }
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1: 10 0", "2: 300 0"]);
    assert_eq!(told.flow(), ["/data/in v0 before: - 0 -> 1 10", "/data/in v0 before: - 0 -> 2 300"]);
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    let mut world = World::default();
    let (first, second, other) = (P("n1", 50, 5), P("n1", 50, 20), P("n1", 50, 40));
    for (process, end, bytes) in [(first, 9, 1), (second, 29, 20), (other, 49, 300)] {
        world.process(process, end, |_| {});
        world.writes(process, process.2 * 1000 + 500, F(1, process.2), 0, bytes);
    }
    world.task_of_pid("1", first, 9);
    world.task_of_pid("2", second, 29);
    assert_eq!(world.correlated().bytes(), ["1: 0 1", "2: 0 20", "no-rule: 0 300"]);
}

#[test]
fn children_inherit_what_their_parent_was_when_it_forked_them() {
    let mut world = World::default();
    let (shell, early, late, grandchild) = (P("n1", 10, 1), P("n1", 11, 2), P("n1", 12, 6), P("n1", 13, 30));
    let below =
        |parent: P| move |row: &mut Process<'static>| (row.parent_pid, row.parent_start_ns) = (Some(parent.1), Some(parent.2 * SECOND));
    world.process(shell, 9, |row| row.command_line = Some(r#"["bash","/w/ab/12/.command.run"]"#.into()));
    world.process(early, 20, below(shell));
    world.process(late, 40, below(shell));
    // The parent's number belongs to another process by now.
    world.process(P("n1", 10, 15), 60, |_| {});
    world.process(grandchild, 50, below(late));
    world.opens(shell, 3000, F(1, 1), "/w/ab/12/.command.run", 0);
    world.reads(shell, 3001, F(1, 1), 0, 1);
    world.writes(early, 7000, F(1, 2), 0, 20);
    world.writes(late, 8000, F(1, 3), 0, 300);
    world.writes(P("n1", 10, 15), 16_000, F(1, 4), 0, 4000);
    world.writes(grandchild, 31_000, F(1, 5), 0, 50_000);
    world.task("nextflow", "7", (1, 60), |row| row.work_dir = Some("/w/ab/12".into()));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["7: 1 50300", "no-rule: 0 4020"]);
    let mut rules: Vec<_> =
        told.links.iter().map(|link| format!("{} {} {}: {}", link.source, link.rule, link.strength, link.evidence)).collect();
    rules.sort();
    let evidence = "opened /w/ab/12/.command.run";
    let expected = [("10", "work-directory"), ("12", "process-tree"), ("13", "process-tree")];
    assert_eq!(rules, expected.map(|(pid, rule)| format!("{pid} {rule} derived: {evidence}")));
}

#[test]
fn reading_in_another_tasks_directory_does_not_make_it_ones_own() {
    let mut world = World::default();
    let (a, b, curious) = (P("n1", 10, 1), P("n1", 20, 10), P("n1", 30, 3));
    for (id, process, dir, span) in [("1", a, "/w/aa", (1, 9)), ("2", b, "/w/bb", (10, 19))] {
        let dir = dir.to_owned();
        world.process(process, span.1, |row| row.command_line = Some(format!(r#"["/bin/bash","-ue","{dir}/.command.sh"]"#).into()));
        world.opens(process, process.2 * 1000, F(1, process.2), &format!("{dir}/.command.sh"), 0);
        world.task("nextflow", id, span, |row| row.work_dir = Some(dir.into()));
    }
    world.process(curious, 5, |row| row.command_line = Some(r#"["cat","/w/aa/.command.sh"]"#.into()));
    world.opens(curious, 3000, F(1, 1), "/w/aa/.command.sh", 0);
    world.reads(curious, 3001, F(1, 1), 0, 7);
    world.opens(a, 4000, F(1, 100), "/w/aa/out", 0o1101);
    world.writes(a, 4001, F(1, 100), 0, 500);
    // The other task reads the result there, and leaves something.
    world.opens(b, 11_000, F(1, 100), "/w/aa/out", 0);
    world.reads(b, 11_001, F(1, 100), 0, 500);
    world.opens(b, 12_000, F(1, 101), "/w/aa/note", 0o1101);
    world.writes(b, 12_001, F(1, 101), 0, 3);
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1: 0 500", "2: 500 3", "no-rule: 7 0"]);
    assert_eq!(told.flow(), ["/w/aa/note v1 truncated: 2 3 -> - 0", "/w/aa/out v1 truncated: 1 500 -> 2 500"]);
}

#[test]
fn a_container_belongs_to_the_task_whose_script_was_opened_in_it() {
    let mut world = World::default();
    let inside = |id: &'static str| {
        move |row: &mut Process<'static>| {
            (row.cgroup_path, row.parent_pid) = (Some(format!("/machine.slice/libpod-{id}.scope/container").into()), None)
        }
    };
    let (init, shell, tool) = (P("n1", 10, 1), P("n1", 11, 2), P("n1", 12, 3));
    [init, shell, tool].into_iter().for_each(|process| world.process(process, 9, inside(ID_A)));
    let other = P("n1", 13, 3);
    world.process(other, 9, inside(ID_B));
    world.event(shell, 2500, "open", F(1, 1), |row| {
        row.path = Some("/var/lib/overlay/merged/work/.command.run".into());
        row.container_path = Some("/w/aa/.command.run".into());
        row.flags = Some(0);
    });
    world.writes(init, 1500, F(1, 2), 0, 1);
    world.writes(tool, 3500, F(1, 2), 1, 20);
    world.writes(other, 3600, F(1, 3), 0, 300);
    // Here its command line is not known.
    world.processes[1].command_line = None;
    world.task("nextflow", "1", (1, 9), |row| row.work_dir = Some("/w/aa".into()));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1, container aaa: 0 21", "container bbb: 0 300"]);
    let of_container: Vec<_> = told.links.iter().filter(|link| link.source_type == "container").collect();
    assert_eq!(of_container.len(), 1);
    assert_eq!((&*of_container[0].rule, &*of_container[0].target), ("work-directory", "nextflow:r/1#1"));
}

#[test]
fn a_daemon_for_two_tasks_belongs_to_neither() {
    let mut world = World::default();
    // In a container of its own it runs scripts of both.
    let shells = [P("n1", 10, 1), P("n1", 20, 2)];
    let daemon = P("n1", 5, 0);
    for (process, id) in shells.into_iter().zip(["1", "2"]) {
        world.process(process, 9, |row| {
            row.cgroup_path = Some(format!("/docker/{ID_A}").into());
            row.command_line = Some(format!(r#"["sh","/w/{id}/.command.sh"]"#).into());
        });
        world.opens(process, 3000, F(1, 1), &format!("/w/{id}/.command.sh"), 0);
        world.reads(process, 3001, F(1, 1), 0, 10);
        world.task("nextflow", id, (1, 9), |row| row.work_dir = Some(format!("/w/{id}").into()));
    }
    world.process(daemon, 50, |row| row.cgroup_path = Some(format!("/docker/{ID_A}").into()));
    world.writes(daemon, 4000, F(1, 2), 0, 500);
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1, container aaa: 10 0", "2, container aaa: 10 0", "container aaa: 0 500"]);
    assert!(told.diagnostics.iter().any(|row| row.code == "links_contradict" && row.message.contains("belongs to neither")));
}

#[test]
fn one_process_that_runs_scripts_of_two_tasks_is_a_contradiction() {
    let mut world = World::default();
    let worker = P("n1", 5, 0);
    world.process(worker, 50, |row| row.command_line = None);
    for id in ["1", "2"] {
        world.opens(worker, 3000, F(1, 1), &format!("/w/{id}/.command.sh"), 0);
        world.task("nextflow", id, (1, 9), |row| row.work_dir = Some(format!("/w/{id}").into()));
    }
    world.writes(worker, 4000, F(1, 2), 0, 500);
    let told = world.correlated();
    assert_eq!(told.bytes(), ["contradiction: 0 500"]);
    let messages: Vec<_> = told.diagnostics.iter().map(|row| &*row.message).collect();
    assert_eq!(
        messages,
        [
            "process 5 of n1 belongs to task nextflow:r/1#1 by rule work-directory (opened /w/1/.command.sh), and to task nextflow:r/2#1 by rule \
          work-directory (opened /w/2/.command.sh): neither holds"
        ]
    );
}

#[test]
fn slurm_says_which_job_and_the_engine_which_task() {
    let mut world = World::default();
    let step = |path: &'static str| move |row: &mut Process<'static>| row.cgroup_path = Some(path.into());
    let (v2, v1, variable, wrong) = (P("n1", 10, 1), P("n2", 10, 1), P("n1", 30, 1), P("n1", 40, 1));
    world.process(v2, 9, step("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0"));
    world.process(v1, 9, |row| row.cgroup_v1 = Some(r#"{"cpu":"/","freezer":"/slurm_n2/uid_1000/job_7/step_batch/task_0"}"#.into()));
    world.process(variable, 9, |row| row.environment = Some(r#"{"SLURM_JOB_ID":"8","SLURM_CLUSTER_NAME":"lab"}"#.into()));
    world.process(wrong, 9, |row| {
        row.cgroup_path = Some("/system.slice/slurmstepd.scope/job_7/step_1/user/task_0".into());
        row.environment = Some(r#"{"SLURM_JOB_ID":"8"}"#.into());
    });
    for (n, process) in [v2, v1, variable, wrong].into_iter().enumerate() {
        world.writes(process, 2000, F(1, n as i64), 0, 10i64.pow(n as u32));
    }
    world.task("snakemake", "1", (1, 9), |row| (row.native_id, row.native_kind) = (Some("7".into()), Some("slurm_job".into())));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1, job 7: 0 1", "1, job 7: 0 10", "1, job 7: 0 1000", "job 8: 0 100"]);
    let mut steps: Vec<_> = told.totals.iter().map(|row| format!("{} {}", row.host, row.step.as_deref().unwrap_or("-"))).collect();
    steps.sort();
    assert_eq!(steps, ["n1 -", "n1 0", "n1 1", "n2 batch"]);
    assert!(
        told.links
            .iter()
            .any(|link| link.source_type == "task" && link.relation == "ran-as" && link.target == "7" && link.rule == "native-id")
    );
    let against: Vec<_> = told.diagnostics.iter().map(|row| &*row.message).collect();
    assert_eq!(against.len(), 1);
    assert!(
        against[0].contains("job 7 by rule slurm-cgroup")
            && against[0].contains("job 8 by rule environment (SLURM_JOB_ID=8): the first holds")
    );
}

#[test]
fn a_job_id_that_two_clusters_have_needs_the_cluster() {
    let mut world = World::default();
    for cluster in ["east", "west"] {
        world.jobs.push(KnownJob {
            cluster: cluster.into(),
            job: "7".into(),
            job_id: 7,
            submit_ns: Some(T0),
            since_ns: T0,
            start_ns: Some(T0 + SECOND),
            ..KnownJob::default()
        });
    }
    let (named, unnamed) = (P("n1", 10, 2), P("n1", 11, 2));
    world.process(named, 9, |row| row.environment = Some(r#"{"SLURM_JOB_ID":"7","SLURM_CLUSTER_NAME":"west"}"#.into()));
    world.process(unnamed, 9, |row| row.environment = Some(r#"{"SLURM_JOB_ID":"7"}"#.into()));
    world.writes(named, 3000, F(1, 1), 0, 1);
    world.writes(unnamed, 3000, F(1, 2), 0, 20);
    let told = world.correlated();
    let mut clusters: Vec<_> = told.totals.iter().map(|row| (row.cluster.as_deref(), row.written_bytes)).collect();
    clusters.sort();
    assert_eq!(clusters, [(None, 20), (Some("west"), 1)]);
    assert!(told.diagnostics.iter().any(|row| row.code == "job_ambiguous"));
}

#[test]
fn a_task_shorter_than_any_polling_is_found_by_its_process() {
    let mut world = World::default();
    let short = P("n1", 10, 5);
    // It lived for less than a millisecond, between the engine's two entries of the same microsecond.
    world.process(short, 5, |row| row.exit_ns = Some(T0 + 5 * SECOND + 900_000));
    world.writes(short, 5000, F(1, 1), 0, 3);
    world.task_of_pid("1", short, 5);
    assert_eq!(world.correlated().bytes(), ["1: 0 3"]);
}

#[test]
fn the_last_resort_is_a_command_at_the_right_time() {
    let mut world = World::default();
    let shell = |text: &'static str| move |row: &mut Process<'static>| row.command_line = Some(text.into());
    let (right, late, other) = (P("n1", 10, 2), P("n1", 11, 30), P("n1", 12, 2));
    world.process(right, 3, shell(r#"["/bin/bash","-c","set -euo pipefail;  sort in.txt > out.txt"]"#));
    world.process(late, 31, shell(r#"["sh","-c","sort in.txt > out.txt"]"#));
    world.process(other, 3, shell(r#"["sh","-c","sort in.txt > out.txt2"]"#));
    [right, late, other].into_iter().for_each(|process| world.writes(process, process.2 * 1000 + 500, F(1, 1), 0, i64::from(process.1)));
    world.task("snakemake", "1", (1, 9), |row| row.command = Some("sort in.txt > out.txt".into()));
    let told = world.correlated();
    assert_eq!(told.bytes(), ["1: 0 10", "no-rule: 0 23"]);
    assert_eq!((&*told.links[0].rule, &*told.links[0].strength), ("command-line", "inferred"));
}

/// Makeflow sets variables in its own process, and the recorded command has them.
#[test]
fn a_command_of_makeflow_is_found_without_its_variables() {
    let mut world = World::default();
    let shell = P("n1", 10, 2);
    world.process(shell, 3, |row| row.command_line = Some(r#"["sh","-c","sort in.txt > out.txt"]"#.into()));
    world.writes(shell, 2500, F(1, 1), 0, 10);
    world.task("makeflow", "1", (1, 9), |row| {
        row.name = "sort in.txt > out.txt".into();
        row.command = Some("export A='b'; sort in.txt > out.txt".into());
    });
    assert_eq!(world.correlated().bytes(), ["1: 0 10"]);
}

#[test]
fn what_is_nobodys_has_a_reason() {
    let mut world = World::default();
    let (task, engine, before, root, unknown, mine) =
        (P("n1", 10, 2), P("n1", 1, 0), P("n1", 2, -5), P("n1", 3, 1), P("n1", 4, 1), P("n1", 5, 1));
    world.process(engine, 50, |_| {});
    world.process(before, 50, |row| row.first_seen = "running".into());
    world.process(root, 50, |row| row.uid = Some(0));
    world.process(mine, 50, |_| {});
    world.process(task, 9, |row| (row.parent_pid, row.parent_start_ns) = (Some(1), Some(0)));
    world.processes.sort_by_key(|row| row.process_start_ns);
    for (n, process) in [task, engine, before, root, unknown, mine].into_iter().enumerate() {
        world.reads(process, 3000 + n as i64, F(1, 1), 0, 10i64.pow(n as u32));
    }
    world.losses.push(IoLoss {
        host: "n1".into(),
        trace_ns: T0,
        kind: "read".into(),
        reason: "ring-full".into(),
        count: 2,
        bytes: Some(7_000_000),
        not_before_ns: T0,
        observed_at_ns: T0 + SECOND,
        ..IoLoss::default()
    });
    world.task_of_pid("1", task, 9);
    let bytes = world.correlated().bytes();
    assert_eq!(
        bytes,
        [
            "1: 1 0",
            "before-trace: 100 0",
            "lost: 7000000 0",
            "no-process: 10000 0",
            "no-rule: 100000 0",
            "other-user: 1000 0",
            "starts-tasks: 10 0"
        ]
    );
}

#[test]
fn a_source_that_tells_neither_starts_nor_paths() {
    // As io-csv: the generation that was forked last has the operations; a control group in which only one task's script was opened is the task's.
    let mut world = World::default();
    let forked = |pid: i32, second: i64, cgroup: i64| Process {
        host: "n1".into(),
        trace_ns: T0,
        pid,
        as_of_ns: T0 + second * SECOND,
        started_ns: Some(T0 + second * SECOND),
        first_seen: "fork".into(),
        parent_pid: Some(1),
        cgroup_id: Some(cgroup),
        ..Process::default()
    };
    world.processes = vec![forked(5, 0, 90), forked(10, 2, 77), forked(11, 3, 77), forked(10, 30, 90)];
    let mut event = |pid: i32, ms: i64, op: &'static str, bytes: i64, path: Option<&'static str>| {
        world.event(P("n1", pid, 0), ms, op, F(0, 1), |row| {
            (row.process_start_ns, row.device, row.generation, row.tid) = (None, None, None, None);
            (row.path, row.result) = (path.map(Into::into), Some(bytes));
            row.offset = Some(0);
        });
    };
    event(5, 1000, "read", 1, None);
    event(10, 2500, "open", 0, Some("/w/aa/.command.run"));
    event(11, 3500, "write", 20, None);
    event(10, 4000, "write", 300, None);
    event(10, 31_000, "write", 4000, None);
    event(99, 32_000, "write", 50_000, None);
    world.task("nextflow", "1", (1, 9), |row| row.work_dir = Some("/w/aa/".into()));
    assert_eq!(world.correlated().bytes(), ["1: 0 320", "no-process: 0 50000", "no-rule: 1 4000"]);
}

#[test]
fn a_pod_is_the_task_that_its_engine_names_or_kubernetes_labels() {
    let mut world = World::default();
    let uids = ["2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d", "3f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d"];
    for (n, uid) in uids.into_iter().enumerate() {
        let process = P("n1", 10 + n as i32, 2);
        world.process(process, 9, |row| row.cgroup_path = Some(format!("/kubepods/besteffort/pod{uid}/{ID_A}").into()));
        world.writes(process, 3000, F(1, n as i64), 0, 10i64.pow(n as u32));
        // What Kubernetes itself says of each.
        world.task("kubernetes", uid, (1, 9), |row| {
            (row.native_id, row.native_kind) = (Some(uid.into()), Some("pod".into()));
            row.name = format!("nf-{n}").into();
        });
    }
    // Nextflow knows the first by its name; the second is described nowhere else.
    world.task("nextflow", "7", (1, 9), |row| (row.native_id, row.native_kind) = (Some("nf-0".into()), Some("pod".into())));
    let told = world.correlated();
    let mut tasks: Vec<_> = told
        .totals
        .iter()
        .map(|row| (row.task.as_deref().unwrap().to_owned(), row.pod.as_deref().unwrap().to_owned(), row.written_bytes))
        .collect();
    tasks.sort();
    let second = format!("kubernetes:r/{}#1", uids[1]);
    assert_eq!(tasks, [(second, uids[1].to_owned(), 10), ("nextflow:r/7#1".to_owned(), uids[0].to_owned(), 1)]);
    assert!(told.links.iter().any(|link| link.source == "nextflow:r/7#1" && link.target_type == "pod" && link.relation == "ran-as"));
}

#[test]
fn a_row_that_tells_nothing_hides_nothing() {
    let mut world = World::default();
    let process = P("n1", 10, 2);
    world.process(process, 9, |_| {});
    world.task_of_pid("1", process, 9);
    // As tracers write it for a process with sums that come after its end.
    world.process(process, 20, |row| {
        row.first_seen = "operation".into();
        (row.uid, row.cgroup_id, row.cgroup_path, row.command_line, row.exit_ns, row.parent_pid) = (None, None, None, None, None, None);
    });
    world.writes(process, 3000, F(1, 1), 0, 5);
    assert_eq!(world.correlated().bytes(), ["1: 0 5"]);
}

#[test]
fn who_says_that_he_is_another_users_job_is_not_believed() {
    let mut world = World::default();
    for (id, user, nodes) in [(5001, "victim", "n[1-2]"), (6001, "mallory", "n2"), (7001, "victim", "n2")] {
        world.jobs.push(KnownJob {
            cluster: "lab".into(),
            job: id.to_string(),
            job_id: id,
            submit_ns: Some(T0),
            since_ns: T0,
            start_ns: Some(T0 + SECOND),
            user: Some(user.into()),
            node_list: Some(nodes.into()),
            ..KnownJob::default()
        });
    }
    let claims = |id: i64| format!(r#"{{"SLURM_JOB_ID":"{id}"}}"#);
    let of = |world: &mut World, at: P, user: Option<&'static str>, change: &dyn Fn(&mut Process<'static>)| {
        world.process(at, 9, |row| {
            row.user = user.map(Into::into);
            change(row);
        });
        world.writes(at, 3000, F(1, at.1.into()), 0, 10i64.pow(at.1 as u32 % 10));
    };
    // Its environment, a script's path, a control group that he made.
    of(&mut world, P("n1", 10, 2), Some("mallory"), &|row| row.environment = Some(claims(5001).into()));
    of(&mut world, P("n1", 11, 2), Some("mallory"), &|row| row.command_line = Some(r#"["sh","/tmp/job5001/slurm_script"]"#.into()));
    world.opens(P("n1", 11, 2), 2500, F(1, 99), "/tmp/job5001/slurm_script", 0);
    of(&mut world, P("n1", 12, 2), Some("mallory"), &|row| {
        row.cgroup_path = Some("/user.slice/user-1001.slice/user@1001.service/slurm/uid_1000/job_5001/step_0".into());
    });
    // With an id of a user namespace, which has no name.
    of(&mut world, P("n1", 13, 3), None, &|row| {
        (row.parent_pid, row.parent_start_ns) = (Some(10), Some(2 * SECOND));
        row.environment = Some(claims(5001).into());
    });
    // The user's own jobs, a user whom the host does not know, root in a job, and a group that
    // Slurm made, with its step and another user in it (sudo).
    of(&mut world, P("n2", 24, 2), Some("mallory"), &|row| row.environment = Some(claims(6001).into()));
    of(&mut world, P("n1", 25, 2), None, &|row| row.environment = Some(claims(5001).into()));
    of(&mut world, P("n1", 26, 2), Some("root"), &|row| row.environment = Some(claims(5001).into()));
    of(&mut world, P("n1", 27, 2), Some("mallory"), &|row| row.cgroup_path = Some("/slurm/uid_1000/job_5001/step_0".into()));
    // A job that ran elsewhere, on a host that Slurm calls a node.
    of(&mut world, P("n1", 38, 2), Some("victim"), &|row| row.environment = Some(claims(7001).into()));
    of(&mut world, P("login", 39, 2), Some("victim"), &|row| row.environment = Some(claims(7001).into()));
    let told = world.correlated();
    assert_eq!(
        told.bytes(),
        [
            "contradiction: 0 100101011",
            "job 5001: 0 1000000",
            "job 5001: 0 10000000",
            "job 6001: 0 10000",
            "job 7001: 0 1000000000",
            "no-rule: 0 100"
        ]
    );
    let refuted: Vec<_> = told.diagnostics.iter().filter(|row| row.code == "links_refuted").map(|row| &*row.message).collect();
    assert_eq!(refuted.len(), 5, "{refuted:?}");
    assert!(refuted.iter().any(|message| message.contains("of user mallory, and the job of victim")), "{refuted:?}");
    assert!(refuted.iter().any(|message| message.contains("on n1, and the job ran on n2")), "{refuted:?}");
}
