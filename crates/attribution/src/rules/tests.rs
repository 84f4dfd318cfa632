//! Findings from control groups, names and command lines.

use super::*;

fn facts(cgroup: &str) -> Facts {
    Facts { host: "n1".into(), pid: 5, cgroup_path: Some(cgroup.into()), ..Facts::default() }
}

fn claims(facts: &Facts) -> Vec<String> {
    find(facts, &[], &Entities::default()).iter().map(|finding| format!("{:?}", finding.claim)).collect()
}

#[test]
fn control_groups() {
    let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let job = |id: i64, step: Option<&str>| format!("Job(JobClaim {{ id: {id}, cluster: None, step: {step:?} }})");
    let container = format!("Container({id:?})");
    for (path, expected) in [
        ("/slurm/uid_1000/job_7/step_0/task_0".to_owned(), vec![job(7, Some("0"))]),
        ("/slurm_n3/uid_0/job_123456/step_extern".to_owned(), vec![job(123_456, Some("extern"))]),
        ("/system.slice/slurmstepd.scope/job_7/step_batch/user/task_0".to_owned(), vec![job(7, Some("batch"))]),
        ("/system.slice/n1_slurmstepd.scope/job_7/step_interactive/slurm".to_owned(), vec![job(7, Some("interactive"))]),
        ("/slurm/uid_1000/job_7".to_owned(), vec![job(7, None)]),
        ("/user.slice/job_7/step_0".to_owned(), vec![]),
        // What a user can make below the groups that are handed to him.
        (
            "/user.slice/user-1001.slice/user@1001.service/myslurm/job_5001/step_0".to_owned(),
            vec!["Unit(\"user@1001.service\")".to_owned()],
        ),
        (
            "/user.slice/user-1001.slice/user@1001.service/slurm/uid_1001/job_5001/step_0".to_owned(),
            vec!["Unit(\"user@1001.service\")".to_owned()],
        ),
        (
            "/user.slice/user-1001.slice/user@1001.service/slurmstepd.scope/job_5001".to_owned(),
            vec!["Unit(\"slurmstepd.scope\")".to_owned()],
        ),
        ("/slurm/uid_1001/job_7/step_0/slurm/uid_1001/job_5001/step_0".to_owned(), vec![job(7, Some("0"))]),
        ("/myslurm/job_5001/step_0".to_owned(), vec![]),
        // A service that is handed to a user, such as a notebook server, and what he can make in it.
        ("/system.slice/jupyter-bob.service/slurm_x/uid_1001/job_5001/step_0".to_owned(), vec!["Unit(\"jupyter-bob.service\")".to_owned()]),
        ("/system.slice/jupyter-bob.service/slurmstepd.scope/job_5001/step_0".to_owned(), vec!["Unit(\"slurmstepd.scope\")".to_owned()]),
        (
            "/system.slice/jupyter-bob.service/kubepods/pod2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d".to_owned(),
            vec!["Unit(\"jupyter-bob.service\")".to_owned()],
        ),
        // Places that Slurm does not use, whoever made them.
        ("/batch/slurm/uid_1001/job_5001/step_0".to_owned(), vec![]),
        ("/slurmstepd.scope/job_5001/step_0".to_owned(), vec!["Unit(\"slurmstepd.scope\")".to_owned()]),
        ("/slurm/uid_x/job_5001/step_0".to_owned(), vec![]),
        ("/slurm/system/uid_1001/job_5001".to_owned(), vec![]),
        ("slurm/uid_1001/job_5001".to_owned(), vec![]),
        (format!("/docker/{id}/slurm/uid_1001/job_5001/step_0"), vec![container.clone()]),
        // A slice of its own (`CgroupSlice`), several slurmd on a machine.
        ("/hpc.slice/hpc-jobs.slice/slurmstepd.scope/job_7/step_0".to_owned(), vec![job(7, Some("0"))]),
        ("/slurm_n3/uid_1000/job_7/step_0/task_1".to_owned(), vec![job(7, Some("0"))]),
        ("/system.slice/n1_slurmstepd.scope/job_7/step_0/user/task_0".to_owned(), vec![job(7, Some("0"))]),
        ("/system.slice/slurmstepd.scope/system".to_owned(), vec!["Unit(\"slurmstepd.scope\")".to_owned()]),
        ("/slurm/job_5001/step_0".to_owned(), vec![]),
        (
            "/user.slice/user-1001.slice/user@1001.service/kubepods/pod2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d".to_owned(),
            vec!["Unit(\"user@1001.service\")".to_owned()],
        ),
        (format!("/docker/{id}"), vec![container.clone()]),
        (format!("/system.slice/docker-{id}.scope"), vec![container.clone()]),
        (format!("/machine.slice/libpod-{id}.scope/container"), vec![container.clone()]),
        (format!("/libpod_parent/libpod-{id}"), vec![container.clone()]),
        (format!("/machine.slice/libpod-conmon-{id}.scope"), vec![format!("Unit(\"libpod-conmon-{id}.scope\")")]),
        (
            format!("/kubepods/burstable/pod2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d/{id}"),
            vec![container.clone(), "Pod(\"2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d\")".to_owned()],
        ),
        (
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod2f3c0c1e_9d0a_4b52_8f0e_0a4d6f1b2c3d.slice/cri-containerd-{id}.scope"
            ),
            vec![container.clone(), "Pod(\"2f3c0c1e-9d0a-4b52-8f0e-0a4d6f1b2c3d\")".to_owned()],
        ),
        ("/user.slice/user-1000.slice/session-4.scope".to_owned(), vec!["Unit(\"session-4.scope\")".to_owned()]),
        ("/system.slice/ssh.service".to_owned(), vec!["Unit(\"ssh.service\")".to_owned()]),
        ("/".to_owned(), vec![]),
    ] {
        assert_eq!(claims(&facts(&path)), expected, "{path}");
    }
}

#[test]
fn scripts() {
    for (path, is) in [
        ("/w/ab/12/.command.run", true),
        ("/w/ab/12/.command.sh", true),
        ("/w/ab/12/.command.log", false),
        ("/var/spool/slurmd/job00007/slurm_script", true),
        ("/w/task_3_x1Y2", true),
        ("/w/task_x_1", false),
        ("/w/.snakemake/tmp.ab/snakejob.align.3.sh", true),
        ("/w/snakejob.sh", false),
        ("/w/sample.txt", false),
        ("", false),
    ] {
        assert_eq!(is_script(path), is, "{path}");
    }
}

#[test]
fn slurms_job_script_is_its_jobs() {
    let script = Script { path: "/var/spool/slurmd/job00007/slurm_script".into(), container_path: None, at_ns: 5 };
    let runs = |words: &[&str], command_line_cut| {
        let command_line = Some(words.iter().map(|word| (*word).to_owned()).collect());
        Facts { programs: vec![Program { command_line, command_line_cut, ..Program::default() }], ..Facts::default() }
    };
    let shell = runs(&["/bin/bash", "/var/spool/slurmd/job00007/slurm_script"], false);
    let found = find(&shell, std::slice::from_ref(&script), &Entities::default());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].claim, Claim::Job(JobClaim { id: 7, cluster: None, step: Some("batch".into()) }));
    let reader = runs(&["grep", "x", "/var/spool/slurmd/job00007/slurm_script"], false);
    assert_eq!(find(&reader, std::slice::from_ref(&script), &Entities::default()), []);
    // Of processes of others a trace keeps the first word: then a shell may run the script, and a reader does not.
    for (word, count) in [("/bin/bash", 1), ("grep", 0)] {
        let first = runs(&[word], true);
        assert_eq!(find(&first, std::slice::from_ref(&script), &Entities::default()).len(), count, "{word}");
    }
}

#[test]
fn the_strongest_finding_holds_and_equal_ones_decide_nothing() {
    let finding = |id: &str, strength| Finding {
        claim: Claim::Pod(id.into()),
        rule: "r",
        strength,
        evidence: String::new(),
        users: vec![],
        from_ns: 0,
    };
    let differ = |a: &Finding, b: &Finding| a.claim != b.claim;
    let (told, derived, other) = (finding("a", Strength::Declared), finding("b", Strength::Derived), finding("c", Strength::Declared));
    let decision = decide(&[&derived, &told], differ);
    assert_eq!((decision.holds, decision.against), (Some(&told), vec![&derived]));
    let decision = decide(&[&told, &derived, &other], differ);
    assert_eq!((decision.holds, decision.against), (None, vec![&told, &other]));
    assert_eq!(decide(&[], differ), Decision::default());
}
