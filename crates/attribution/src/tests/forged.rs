//! What a local user makes so that his bytes are charged to others.

use super::*;

const ID: &str = "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

/// The victim's job 5001 on n1, and the attacker's own 6001.
fn world() -> World {
    let mut world = World::default();
    world.job(5001, "victim");
    world.job(6001, "mallory");
    world
}

/// Numbers of users, as a trace has them: real and effective.
fn user(name: &str) -> i64 {
    match name {
        "root" => 0,
        "victim" => 1001,
        "mallory" => 1002,
        "other" => 1003,
        "absent" => 54_321,
        _ => 100_005,
    }
}

/// Those who have no name on the host: one whom the directory service does not know at the moment,
/// and a subordinate id.
const WITHOUT_NAMES: [&str; 2] = ["absent", "nameless"];

impl World {
    /// A job of a user on n1.
    fn job(&mut self, id: i64, user: &str) {
        self.jobs.push(KnownJob {
            cluster: "lab".into(),
            job: id.to_string(),
            job_id: id,
            submit_ns: Some(T0),
            since_ns: T0,
            start_ns: Some(T0 + SECOND),
            user: Some(user.into()),
            node_list: Some("n1".into()),
            ..KnownJob::default()
        });
    }

    /// A process of n1 that writes this number of bytes; its users are real and effective.
    fn writer(
        &mut self,
        pid: i32,
        (real, effective): (&'static str, &'static str),
        bytes: i64,
        change: impl FnOnce(&mut Process<'static>),
    ) {
        let process = P("n1", pid, 2);
        let name = |name: &'static str| (!WITHOUT_NAMES.contains(&name)).then(|| name.into());
        self.process(process, 9, |row| {
            (row.real_uid, row.real_user) = (Some(user(real)), name(real));
            (row.uid, row.user) = (Some(user(effective)), name(effective));
            change(row);
        });
        self.writes(process, 3000, F(1, pid.into()), 0, bytes);
    }

    /// Bytes by owner, and refuted findings.
    fn judged(&self) -> (Vec<String>, Vec<String>) {
        let told = self.correlated();
        let refuted = told.diagnostics.iter().filter(|row| row.code == "links_refuted").map(|row| row.message.to_string());
        (told.bytes(), refuted.collect())
    }
}

/// The process says by its environment that it is a job; these users can have set it.
fn claims(job: i64, users: &'static str) -> impl Fn(&mut Process<'static>) {
    move |row| (row.environment, row.environment_users) = (Some(format!(r#"{{"SLURM_JOB_ID":"{job}"}}"#).into()), Some(users.into()))
}

fn below(parent: i32) -> impl Fn(&mut Process<'static>) {
    move |row| (row.parent_pid, row.parent_start_ns) = (Some(parent), Some(2 * SECOND))
}

#[test]
fn a_set_user_id_program_is_the_users_who_started_it() {
    let mut world = world();
    world.writer(10, ("mallory", "root"), 1, claims(5001, r#"["mallory"]"#));
    // What it starts, as root and as the user, with the environment and without.
    world.writer(11, ("root", "root"), 20, |row| {
        below(10)(row);
        claims(5001, r#"["mallory"]"#)(row);
    });
    world.writer(12, ("mallory", "mallory"), 300, below(10));
    world.writer(13, ("root", "root"), 4000, below(11));
    // A program of the victim's own that anybody may run.
    world.writer(14, ("mallory", "victim"), 50_000, claims(5001, r#"["mallory"]"#));
    // What only root set, before it started a program as the user.
    world.writer(15, ("mallory", "mallory"), 600_000, claims(5001, r#"["root"]"#));
    // In a user namespace.
    world.writer(16, ("nameless", "nameless"), 7_000_000, |row| {
        below(12)(row);
        claims(5001, "[100005]")(row);
    });
    // With a subordinate id, below root alone.
    world.writer(17, ("nameless", "nameless"), 80_000_000, claims(5001, "[100005]"));
    world.writer(18, ("root", "root"), 0, |_| {});
    world.writer(19, ("nameless", "nameless"), 900_000_000, |row| {
        below(18)(row);
        claims(5001, r#"["root",100005]"#)(row);
    });
    let (bytes, mut refuted) = world.judged();
    let subordinate = |message: &String| message.contains("of user with id 100005, and the job of victim");
    assert_eq!(refuted.extract_if(.., |message| subordinate(message)).count(), 2);
    let nobody = ["21", "50000", "600000", "987000000"].map(|bytes| format!("contradiction: 0 {bytes}"));
    assert_eq!(bytes[..4], nobody, "by their effective users");
    assert_eq!(bytes[4..], ["no-rule: 0 300", "no-rule: 0 4000"]);
    assert_eq!(refuted.len(), 5, "{refuted:?}");
    assert!(refuted.iter().all(|message| message.contains("of user mallory, and the job of victim")), "{refuted:?}");
}

/// A daemon of root starts programs as a user known to the host by number only: under sshd where
/// only Slurm names users, or while the directory service does not answer.
#[test]
fn whoever_has_no_name_below_root_claims_nobodys_job() {
    let mut world = world();
    world.writer(10, ("root", "root"), 0, |_| {});
    world.writer(11, ("absent", "absent"), 1, |row| {
        below(10)(row);
        claims(5001, r#"["root",54321]"#)(row);
    });
    // The processes that it starts, and one with ancestors that were not traced.
    world.writer(12, ("absent", "absent"), 20, |row| {
        below(11)(row);
        claims(5001, "[54321]")(row);
    });
    world.writer(13, ("absent", "absent"), 300, claims(5001, "[54321]"));
    // Below a user with a name it is that user's, and without a name the id 0 is root.
    world.writer(14, ("victim", "victim"), 4000, claims(5001, r#"["root","victim"]"#));
    world.writer(15, ("absent", "absent"), 50_000, |row| {
        below(14)(row);
        claims(5001, r#"["victim",54321]"#)(row);
    });
    world.writer(16, ("root", "root"), 600_000, |row| {
        (row.real_user, row.user) = (None, None);
        claims(5001, "[0]")(row);
    });
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["contradiction: 0 321", "job 5001: 0 654000"]);
    assert_eq!(refuted.len(), 3, "{refuted:?}");
    assert!(refuted.iter().all(|message| message.contains("of user with id 54321, and the job of victim")), "{refuted:?}");
}

#[test]
fn who_acts_for_a_job_is_believed() {
    let mut world = world();
    // slurmd's prolog, the job's script, what it starts as root and as another user.
    world.writer(10, ("root", "root"), 1, claims(5001, r#"["root"]"#));
    world.writer(11, ("victim", "victim"), 20, claims(5001, r#"["root","victim"]"#));
    world.writer(12, ("root", "root"), 300, claims(5001, r#"["root","victim"]"#));
    world.writer(13, ("other", "other"), 4000, claims(5001, r#"["root","victim"]"#));
    // A set-user-id or set-group-id program of the job, and a container of it without root.
    world.writer(14, ("victim", "root"), 50_000, claims(5001, r#"["root","victim"]"#));
    world.writer(15, ("nameless", "nameless"), 600_000, |row| {
        below(11)(row);
        claims(5001, r#"["victim",100005]"#)(row);
    });
    let (bytes, refuted) = world.judged();
    assert_eq!((bytes, refuted), (vec!["job 5001: 0 654321".to_owned()], vec![]));
}

#[test]
fn scripts_are_judged_by_who_ran_them() {
    let mut world = world();
    let script = "/tmp/job5001/slurm_script";
    // A shell of his opens it, and then becomes a set-user-id program.
    let shell = r#"[{"exec_ns":1795000002000000000,"command_line":["sh","/tmp/job5001/slurm_script"],"real_user":"mallory"}]"#;
    world.writer(10, ("mallory", "root"), 1, |row| {
        (row.earlier_programs, row.exec_ns) = (Some(shell.into()), Some(T0 + 5 * SECOND));
        row.command_line = Some(r#"["su","-c","true"]"#.into());
    });
    world.opens(P("n1", 10, 2), 2500, F(1, 99), script, 0);
    // The same shell was root's, which then became the user.
    world.writer(11, ("mallory", "mallory"), 20, |row| {
        (row.earlier_programs, row.exec_ns) = (Some(shell.replace("mallory", "root").into()), Some(T0 + 5 * SECOND));
    });
    world.opens(P("n1", 11, 2), 2500, F(1, 99), script, 0);
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["contradiction: 0 1", "job 5001: 0 20"]);
    assert!(refuted.len() == 1 && refuted[0].contains("of user mallory, and the job of victim"), "{refuted:?}");
}

#[test]
fn a_control_group_is_of_the_user_whose_id_it_has() {
    let mut world = world();
    let group = |row: &mut Process<'static>| row.cgroup_v1 = Some(r#"{"freezer":"/slurm_n1/uid_1001/job_5001/step_0"}"#.into());
    world.writer(10, ("victim", "victim"), 1, group);
    // The job may start programs as others, and root may do everything; no other user can.
    world.writer(11, ("other", "other"), 20, |row| {
        below(10)(row);
        group(row);
    });
    world.writer(12, ("root", "root"), 300, group);
    world.writer(13, ("mallory", "mallory"), 4000, group);
    // Of one that ran before the trace it is not known who started it.
    world.writer(14, ("other", "other"), 50_000, |row| {
        row.first_seen = "running".into();
        group(row);
    });
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["contradiction: 0 4000", "job 5001: 0 50321"]);
    assert!(refuted.len() == 1 && refuted[0].contains("of user mallory (1002), and the control group of 1001"), "{refuted:?}");
}

/// A trace that saw a program of root's late does not know who it was before.
#[test]
fn who_is_not_known_claims_nobodys_job_but_roots() {
    let mut world = world();
    world.job(8001, "root");
    world.writer(10, ("root", "root"), 1, claims(5001, r#"[null,"root"]"#));
    world.writer(11, ("root", "root"), 20, claims(8001, r#"[null,"root"]"#));
    world.writer(12, ("root", "root"), 300, claims(5001, r#"["root"]"#));
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["contradiction: 0 1", "job 5001: 0 300", "job 8001: 0 20"]);
    assert!(refuted.len() == 1 && refuted[0].contains("of user (unknown), and the job of victim"), "{refuted:?}");
}

#[test]
fn the_name_of_another_cluster_hides_nothing() {
    let mut world = world();
    let elsewhere = |row: &mut Process<'static>| {
        row.environment = Some(r#"{"SLURM_JOB_ID":"5001","SLURM_CLUSTER_NAME":"other"}"#.into());
    };
    world.writer(10, ("mallory", "mallory"), 1, |row| {
        elsewhere(row);
        row.environment_users = Some(r#"["mallory"]"#.into());
    });
    // The job itself, of which the queue was imported under another name.
    world.writer(11, ("victim", "victim"), 20, |row| {
        elsewhere(row);
        row.environment_users = Some(r#"["root","victim"]"#.into());
    });
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["contradiction: 0 1", "job 5001: 0 20"]);
    assert!(refuted.len() == 1 && refuted[0].contains("of user mallory, and the job of victim"), "{refuted:?}");
    let told = world.correlated();
    let named: Vec<_> = told.diagnostics.iter().filter(|row| row.code == "job_of_another_cluster").collect();
    assert!(named.len() == 1 && named[0].message.contains("cluster lab had one"), "{named:?}");
}

/// A log of his own that says that a task of his was the victim's job.
#[test]
fn an_engines_log_is_in_the_hands_of_its_user() {
    let mut world = world();
    world.writer(10, ("victim", "victim"), 1, claims(5001, r#"["root","victim"]"#));
    world.writer(11, ("mallory", "mallory"), 20, claims(6001, r#"["root","mallory"]"#));
    world.writer(12, ("victim", "victim"), 300, |_| {});
    for (task, native_id, kind) in [("a", "5001", "slurm_job"), ("b", "6001", "slurm_job"), ("c", "12", "pid")] {
        world.task("snakemake", task, (1, 9), |row| {
            (row.native_id, row.native_kind, row.user) = (Some(native_id.into()), Some(kind.into()), Some("mallory".into()));
        });
    }
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["b, job 6001: 0 20", "contradiction: 0 300", "job 5001: 0 1"]);
    assert!(refuted.iter().any(|message| message.contains("the engine is of user mallory, and the job of victim")), "{refuted:?}");
    assert!(refuted.iter().any(|message| message.contains("the process is of user victim, and the task of mallory")), "{refuted:?}");
}

/// A control group of his own that is called as the container of the victim's task.
#[test]
fn a_group_that_is_called_like_a_container() {
    let mut world = world();
    let group = |place: &str| {
        let path = format!("{place}/libpod-{ID}.scope");
        move |row: &mut Process<'static>| row.cgroup_path = Some(path.into())
    };
    world.writer(10, ("victim", "victim"), 1, group("/user.slice/user-1001.slice/user@1001.service/user.slice"));
    world.writer(11, ("mallory", "mallory"), 20, group("/system.slice/jupyter-mallory.service"));
    world.task("nextflow", "a", (1, 9), |row| {
        (row.container_id, row.native_id, row.native_kind) = (Some(ID.into()), Some("5001".into()), Some("slurm_job".into()));
    });
    let (bytes, refuted) = world.judged();
    assert_eq!(bytes, ["a, container ccc: 0 1", "container ccc: 0 20"]);
    assert!(refuted.len() == 1 && refuted[0].contains("of user mallory, and the job of victim"), "{refuted:?}");
}

/// The container in which a task's script was opened is the task's, and no other container of that
/// name is.
#[test]
fn a_group_that_is_called_like_the_container_of_a_script() {
    let mut world = world();
    let group = |place: &str| {
        let path = format!("{place}/libpod-{ID}.scope");
        move |row: &mut Process<'static>| row.cgroup_path = Some(path.into())
    };
    world.writer(10, ("victim", "victim"), 1, |row| {
        group("/machine.slice")(row);
        row.command_line = Some(r#"["bash","/w/ab/12/.command.run"]"#.into());
    });
    world.opens(P("n1", 10, 2), 2500, F(1, 99), "/w/ab/12/.command.run", 0);
    world.writer(11, ("victim", "victim"), 20, group("/machine.slice"));
    world.writer(12, ("mallory", "mallory"), 300, group("/system.slice/jupyter-mallory.service"));
    world.task("nextflow", "a", (1, 9), |row| row.work_dir = Some("/w/ab/12".into()));
    let (bytes, _) = world.judged();
    assert_eq!(bytes, ["a, container ccc: 0 21", "container ccc: 0 300"]);
}
