//! A user who says that what he does belongs to another user's job, with a real Slurm, real users
//! and a trace of the host.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use flowmine_schema::tables::{DiagnosticRow, TaskTotal};

use super::place::{Beside, Place, flowmine, run, until};
use super::slurm::Lab;
use super::{Expected, Shows, each};

const OWN: usize = 1000;
const FOREIGN: usize = 5_000_000;

/// Bytes written by owner: a job's number, or why they are nobody's.
pub fn claims() {
    let place = Place::new(&Expected::of(Vec::new(), Shows::PLAIN));
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
    let script = format!("head -c {OWN} /dev/zero > own; while [ ! -e done ]; do sleep 0.1; done");
    let job = as_user("fm-alice", &["sbatch", "--parsable", "--output=/dev/null", "--wrap", &script]);
    let job = job.trim().split(';').next().unwrap();
    until("the job has written", || shared.join("own").metadata().is_ok_and(|about| about.len() == OWN as u64));
    // While it runs, another user says with his environment that he is that job.
    let claim = format!("SLURM_JOB_ID={job}");
    as_user("fm-bob", &["env", &claim, "SLURM_STEP_ID=0", "sh", "-c", &format!("head -c {FOREIGN} /dev/zero > foreign")]);
    lab.observe(&place.dataset());
    as_user("fm-alice", &["touch", "done"]);
    until("the job has ended", || as_user("fm-alice", &["squeue", "--noheader", "--states=running"]).trim().is_empty());
    trace.end();
    lab.observe(&place.dataset());
    run(flowmine().args(["correlate", "--dataset"]).arg(place.dataset()));

    let mut written = BTreeMap::<String, i64>::new();
    each::<TaskTotal<'static>>(&place.dataset(), |row| {
        let owner = row.job.as_deref().or(row.unassigned.as_deref()).unwrap_or("task").to_owned();
        *written.entry(owner).or_default() += row.written_bytes;
    });
    written.retain(|_, bytes| *bytes > 0);
    assert_eq!(written, BTreeMap::from([(job.to_owned(), OWN as i64), ("contradiction".to_owned(), FOREIGN as i64)]));
    let mut refuted = Vec::new();
    each::<DiagnosticRow<'static>>(&place.dataset(), |row| {
        if row.code == "links_refuted" {
            refuted.push(row.message.into_owned());
        }
    });
    assert!(refuted.iter().any(|message| message.contains("of user fm-bob, and the job of fm-alice")), "{refuted:?}");
}
