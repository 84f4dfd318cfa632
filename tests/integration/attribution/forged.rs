//! A user who says that what he does belongs to another user's job, with a real Slurm, real users
//! and a trace of the host; and without Slurm, with set-user-id programs and control groups that
//! are handed to a user, under tracers of a command.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flowmine_schema::tables::{DiagnosticRow, TaskIo};

use super::place::{Beside, Place, flowmine, run, until};
use super::slurm::Lab;
use super::{Expected, Shows, each};
use crate::support::operations;

const OWN: usize = 1000;
const FOREIGN: usize = 5_000_000;
/// Written by a shell that then becomes a set-user-id program, of the job and of the other user.
const OWN_SU: usize = 300;
const FOREIGN_SU: usize = 700_000;

/// A shell that writes so many bytes itself, and then becomes su(1), which refuses.
fn becomes_su(bytes: usize, file: &str) -> String {
    format!("printf %0{bytes}d 0 > {file}; exec su -c true no-such-user < /dev/null 2> /dev/null")
}

/// While a job runs, another user says that he is that job.
pub fn claims() {
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let shared = place.dir.join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    let lab = Lab::up(&place, &["--nodes", "1"]);
    let trace = Beside::trace(&place, &["--directory", shared.to_str().unwrap()]);
    let as_user = |user: &str, words: &[&str]| {
        let mut command = Command::new("runuser");
        command.args(["-u", user, "--"]).args(words).env("SLURM_CONF", lab.conf()).current_dir(&shared);
        String::from_utf8(run(&mut command).stdout).unwrap()
    };
    let script =
        format!("sh -c '{}'; head -c {OWN} /dev/zero > own; while [ ! -e done ]; do sleep 0.1; done", becomes_su(OWN_SU, "own-su"));
    let job = as_user("fm-alice", &["sbatch", "--parsable", "--output=/dev/null", "--wrap", &script]);
    let job = job.trim().split(';').next().unwrap();
    until("the job has written", || shared.join("own").metadata().is_ok_and(|about| about.len() == OWN as u64));
    // While it runs, another user says with his environment that he is that job.
    let claim = format!("SLURM_JOB_ID={job}");
    as_user("fm-bob", &["env", &claim, "SLURM_STEP_ID=0", "sh", "-c", &format!("head -c {FOREIGN} /dev/zero > foreign")]);
    let su = format!("sh -c '{}'; true", becomes_su(FOREIGN_SU, "foreign-su"));
    as_user("fm-bob", &["env", &claim, "SLURM_STEP_ID=0", "sh", "-c", &su]);
    lab.observe(&place.dataset());
    as_user("fm-alice", &["touch", "done"]);
    until("the job has ended", || as_user("fm-alice", &["squeue", "--noheader", "--states=running"]).trim().is_empty());
    trace.end();
    lab.observe(&place.dataset());
    run(flowmine().args(["correlate", "--dataset"]).arg(place.dataset()));

    let expected = [(job, OWN + OWN_SU), ("contradiction", FOREIGN + FOREIGN_SU)];
    assert_eq!(written(&place.dataset(), &shared), expected.map(|(owner, bytes)| (owner.to_owned(), bytes as i64)).into());
    refuted(&place.dataset(), "of user fm-bob, and the job of fm-alice");
}

/// Bytes written to files of a directory by owner: a job's number, or why they are nobody's. What a
/// trace of the host has of other files, which were open before it began, is not looked at.
fn written(dataset: &Path, directory: &Path) -> BTreeMap<String, i64> {
    let mut written = BTreeMap::<String, i64>::new();
    each::<TaskIo<'static>>(dataset, |row| {
        if !row.path.as_deref().is_some_and(|path| Path::new(path).starts_with(directory)) {
            return;
        }
        let owner = row.job.as_deref().or(row.unassigned.as_deref()).unwrap_or("task").to_owned();
        *written.entry(owner).or_default() += row.written_bytes;
    });
    written.retain(|_, bytes| *bytes > 0);
    written
}

/// A claim was refuted for this reason.
fn refuted(dataset: &Path, why: &str) {
    let mut refuted = Vec::new();
    each::<DiagnosticRow<'static>>(dataset, |row| {
        if row.code == "links_refuted" {
            refuted.push(row.message.into_owned());
        }
    });
    assert!(refuted.iter().any(|message| message.contains(why)), "{refuted:?}");
}

/// Users that every system has.
const VICTIM: &str = "games";
const ATTACKER: &str = "daemon";

/// A control group as a service with `User=` and `Delegate=` has it.
struct Service(PathBuf);

impl Service {
    /// In the v2 hierarchy, where there is one.
    fn new() -> Option<Self> {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mount = mounts.lines().find_map(|line| line.split(' ').nth(1).filter(|_| line.split(' ').nth(2) == Some("cgroup2")))?;
        let service = Self(Path::new(mount).join(format!("system.slice/jupyter-{}.service", std::process::id())));
        std::fs::create_dir_all(&service.0).ok()?;
        run(Command::new("chown").args(["-R", ATTACKER]).arg(&service.0));
        Some(service)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = Command::new("find").arg(&self.0).args(["-depth", "-type", "d", "-exec", "rmdir", "{}", ";"]).status();
    }
}

/// A set-user-id program of root's that does for everybody what it is asked.
fn set_user_id(place: &Place) -> PathBuf {
    let program = place.dir.join("bin/set_user_id");
    std::fs::copy(operations::compiled("set_user_id"), &program).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o4755)).unwrap();
    program
}

/// What a user does who wants his bytes to be charged to job 4242 of another, and what the job does
/// itself. Powers of two tell who did what.
pub fn without_slurm(backend: &str) {
    let place = Place::new(&Expected::new(Vec::new(), Shows::PLAIN));
    let shared = place.dir.join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o777)).unwrap();
    let now = run(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%S"])).stdout;
    let now = String::from_utf8(now).unwrap().trim().to_owned();
    let queue = format!(
        "JOBID|USER|ACCOUNT|PARTITION|STATE|SUBMIT_TIME|START_TIME|END_TIME|NODELIST|NAME\n\
         4242|{VICTIM}|acct|main|RUNNING|{now}|{now}|N/A|node1|victim\n"
    );
    std::fs::write(place.dir.join("squeue.txt"), queue).unwrap();
    let mut import = flowmine();
    import.args(["import", "slurm", "--cluster", "lab", "--zone", "UTC", "--dataset"]).arg(place.dataset());
    run(import.arg(place.dir.join("squeue.txt")));

    let mut script = String::new();
    let mut does = |user: &str, variables: &str, command: &str| {
        let enter = if user == "root" { String::new() } else { format!("runuser -u {user} -- ") };
        script.push_str(&format!("{enter}env {variables} sh -c '{command}'\n"));
    };
    let claim = "SLURM_JOB_ID=4242";
    let writes = |bytes: usize, file: &str| format!("printf %0{bytes}d 0 > {file}");
    // The job, its prolog, and a set-user-id program of the job.
    does(VICTIM, claim, &writes(1 << 10, "job"));
    does("root", claim, &writes(1 << 11, "prolog"));
    does(VICTIM, claim, &becomes_su(1 << 12, "job-su"));
    // The other user, by himself, by set-user-id programs, and by what they leave behind.
    does(ATTACKER, claim, &writes(1 << 13, "plain"));
    does(ATTACKER, claim, &becomes_su(1 << 14, "su"));
    does(ATTACKER, claim, &format!("(sleep 0.5; {}) & exec su -c true no-such-user < /dev/null 2> /dev/null", writes(1 << 15, "child")));
    does(ATTACKER, claim, &format!("sg {ATTACKER} -c \"{}\"", writes(1 << 16, "sg")));
    does(ATTACKER, &format!("{claim} SLURM_CLUSTER_NAME=other"), &writes(1 << 17, "cluster"));
    // By a program of root's that sets the variable itself, alone and below his shell.
    let helper = set_user_id(&place);
    let by_helper = |bytes: usize, file: &str| format!("{} {claim} \"{}\"", helper.display(), writes(bytes, file));
    does(ATTACKER, "", &format!("exec {}", by_helper(1 << 19, "helper")));
    does(ATTACKER, "", &format!("{}; true", by_helper(1 << 20, "helper-below")));
    // Without a claim, in a control group that he made.
    let service = Service::new();
    if let Some(Service(path)) = &service {
        let path = path.display();
        let uid = run(Command::new("id").args(["-u", VICTIM])).stdout;
        let group = format!("{path}/slurm_x/uid_{}/job_4242/step_0", String::from_utf8(uid).unwrap().trim());
        let enter = format!("mkdir -p {group} && echo $$ > {group}/cgroup.procs && {}", writes(1 << 18, "group"));
        script.push_str(&format!("sh -c 'echo $$ > {path}/cgroup.procs; exec runuser -u {ATTACKER} -- sh -c \"$0\"' '{enter}'\n"));
    }
    script.push_str("sleep 1\n");
    let mut trace = flowmine();
    trace.args(["trace", "--backend", backend, "--detail", "events", "--host", "node1", "--directory"]).arg(&shared);
    trace.arg("--dataset").arg(place.dataset()).args(["--", "sh", "-c", &script]).current_dir(&shared);
    run(&mut trace);
    run(flowmine().args(["correlate", "--dataset"]).arg(place.dataset()));

    let mut written = written(&place.dataset(), &shared);
    // FUSE sees a program late: who has become root can have been anybody, also for the prolog.
    let prolog = if backend == "fuse" { 1 << 11 } else { 0 };
    assert_eq!(written.remove("4242"), Some((7 << 10) - prolog), "{backend}: {written:?}");
    let others = prolog + (0x1f << 13) + (3 << 19) + if service.is_some() { 1 << 18 } else { 0 };
    assert_eq!(written.values().sum::<i64>(), others, "{backend}: {written:?}");
    refuted(&place.dataset(), &format!("of user {ATTACKER}, and the job of {VICTIM}"));
}
