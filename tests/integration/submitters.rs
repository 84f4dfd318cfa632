//! Who submitted a job, on a real Slurm: the sessions of a loop, of two shells and of a job that
//! submits others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::support::slurm_lab::SlurmLab;
use crate::support::{expect, job_states};

/// A script of a job that submits two others, the second from a shell below its own.
const SUBMITS: &str = "#!/bin/sh
sbatch --output=/dev/null --job-name=from-job --wrap true
(sbatch --output=/dev/null --job-name=from-job --wrap true)
";

#[test]
fn shells_and_jobs_that_submit_have_a_session_each() {
    let Some(lab) = SlurmLab::up(1) else { return };
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("submits.sh"), SUBMITS).unwrap();
    // A shell that leads a session of its own, as at each login and in each window of tmux; its session is its process id.
    let shell = |commands: &str| -> i64 {
        let mut shell: Command = lab.command("setsid");
        shell.args(["--wait", "sh", "-c"]).arg(format!("echo $$; {{ {commands}; }} >/dev/null")).current_dir(dir.path());
        String::from_utf8(expect(&mut shell, 0).stdout).unwrap().trim().parse().unwrap()
    };
    let sbatch = "sbatch --output=/dev/null";
    let of_loop = shell(&format!("for job in 1 2 3; do {sbatch} --job-name=from-loop --wrap true; done"));
    let of_shell = shell(&format!("{sbatch} --job-name=from-shell --wrap true"));
    let of_other = shell(&format!("{sbatch} --job-name=submits submits.sh"));
    lab.settle();
    let dataset = dir.path().join("dataset");
    expect(lab.command(env!("CARGO_BIN_EXE_flowmine")).args(["observe", "--once", "--dataset"]).arg(&dataset), 0);

    let mut sessions: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    let mut nodes = BTreeSet::new();
    for row in job_states(&dataset).into_iter().filter(|row| row.change == "new") {
        nodes.insert(row.submit_node.unwrap_or_default().into_owned());
        sessions.entry(row.name.unwrap_or_default().into_owned()).or_default().extend(row.submit_session);
    }
    assert_eq!(sessions["from-loop"], [of_loop; 3]);
    assert_eq!(sessions["from-shell"], [of_shell]);
    assert_eq!(sessions["submits"], [of_other]);
    let [first, second] = sessions["from-job"][..] else { panic!("two jobs came from a job: {sessions:?}") };
    assert!(first == second && ![of_loop, of_shell, of_other].contains(&first), "a job has a session: {sessions:?}");
    // Slurm resolves the name of the machine, and that may come to another one of its names.
    assert!(nodes.len() == 1 && !nodes.contains(""), "all were submitted on this machine: {nodes:?}");
}
