//! `flowmine observe` under bad luck: killed at any moment, a full disk, a second observer, a queue
//! that cannot be asked.
//!
//! squeue here is a stand-in that plays the recorded polls, so that what must come out is known;
//! the real one is in slurm.rs.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flowmine_schema::tables::JobState;

use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{expect, flowmine, is_root, job_dependencies, job_states, repository};

/// What a row says, without the times of observation, which differ from run to run.
fn told(rows: &[JobState<'_>]) -> Vec<String> {
    rows.iter()
        .map(|r| format!("{} {:?} {} {:?} {:?} {:?} {:?}", r.job, r.submit_ns, r.change, r.state, r.name, r.array_tasks, r.node_list))
        .collect()
}

#[test]
fn killed_at_any_moment_nothing_is_lost_or_doubled() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let (quiet, rough) = (dir.path().join("quiet"), dir.path().join("rough"));
    let (mut kills, mut ended) = (0u64, 0u64);
    for poll in 0..queue.polls {
        queue.show(poll);
        expect(queue.observe(&quiet).arg("--once"), 0);
        // A poll takes some tens of milliseconds; the lengths sweep over all of its phases. The queue still shows the same
        // afterwards, whether or not the rows were written.
        for _ in 0..3 {
            let mut child = queue.observe(&rough).arg("--once").spawn().unwrap();
            std::thread::sleep(Duration::from_micros(3_000 + (kills + ended) * 7_919 % 50_000));
            child.kill().unwrap();
            match child.wait().unwrap().code() {
                None => kills += 1,
                Some(_) => ended += 1,
            }
        }
        expect(queue.observe(&rough).arg("--once"), 0);
    }
    assert!(kills > 50, "the observer was killed {kills} times only, and came to its end {ended} times");
    assert_eq!(told(&job_states(&rough)), told(&job_states(&quiet)), "after {kills} kills");
    let terms = |dataset: &Path| -> Vec<String> {
        job_dependencies(dataset).iter().map(|d| format!("{} {} {:?} {:?}", d.job, d.kind, d.target_job_id, d.state)).collect()
    };
    assert_eq!(terms(&rough), terms(&quiet));
}

/// What a killed `run` leaves goes with the next one, and nothing of others does.
#[test]
fn killed_runs_leave_no_hidden_files() {
    let dir = tempfile::tempdir().unwrap();
    let (dataset, out) = (dir.path().join("dataset"), dir.path().join("out"));
    let mut import = flowmine();
    import.args(["import", "slurm"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(&dataset);
    expect(&mut import, 0);
    let run = || {
        let mut command = flowmine();
        command.args(["run", "--formats", "csv,ocel.sqlite", "--dataset"]).arg(&dataset).arg("--out").arg(&out);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let hidden = || {
        let names = fs::read_dir(&out).into_iter().flatten().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // The list of what a run made here is there for the next one.
        names.filter(|name| name.starts_with('.') && name != ".flowmine-run.json" && name != ".flowmine-made").collect::<Vec<_>>()
    };
    let mut kills = 0;
    for round in 0..60u64 {
        let _ = fs::remove_file(out.join(".flowmine-run.json"));
        let mut child = run().spawn().unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + round * 7_919 % 200_000));
        child.kill().unwrap();
        kills += u32::from(child.wait().unwrap().code().is_none());
    }
    assert!(kills > 20, "{kills}");
    fs::create_dir_all(&out).unwrap();
    fs::write(out.join(".mine"), "precious").unwrap();
    let _ = fs::remove_file(out.join(".flowmine-run.json"));
    expect(&mut run(), 0);
    assert_eq!(hidden(), [".mine"]);
}

#[test]
fn a_second_observer_says_so_and_stops() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    queue.show(20);
    let dataset = dir.path().join("dataset");
    let mut first = queue.observe(&dataset).args(["--every", "60s"]).stderr(Stdio::null()).spawn().unwrap();
    while !dataset.join(".state/squeue-played.json").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = queue.observe(&dataset).arg("--once").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    expect(Command::new("kill").arg(first.id().to_string()), 0);
    let ended = first.wait().unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("another flowmine is writing here") && said.contains(&first.id().to_string()), "{said}");
    assert_eq!(ended.code(), Some(0), "a polite end");
    // Reading needs no lock, and the next observer goes on.
    assert!(!job_states(&dataset).is_empty());
    expect(queue.observe(&dataset).arg("--once"), 0);
}

#[test]
fn polling_too_often_is_warned_about_and_failures_double_the_wait() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let dataset = dir.path().join("dataset");
    fs::write(queue.dir.join("bin/squeue"), "#!/bin/sh\nexit 1\n").unwrap();
    let output = expect(queue.observe(&dataset).args(["--every", "500ms", "--polls", "3"]), 1);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a burden on slurmctld"), "{said}");
    let waits: Vec<&str> = said.lines().filter_map(|line| line.rsplit_once("again in about ")).map(|(_, wait)| wait).collect();
    assert_eq!(waits, ["1 s", "2 s", "4 s"], "{said}");
}

#[test]
fn a_full_disk_is_an_error_and_the_dataset_stays_readable() {
    if !require("mount", "root, to mount a small file system", is_root()) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let small = dir.path().join("small");
    fs::create_dir(&small).unwrap();
    expect(Command::new("mount").args(["-t", "tmpfs", "-o", "size=160k", "tmpfs"]).arg(&small), 0);
    let unmount = Unmount(small.clone());
    let dataset = small.join("dataset");
    let mut refused = None;
    for poll in 0..queue.polls {
        queue.show(poll);
        let output = queue.observe(&dataset).arg("--once").output().unwrap();
        if output.status.code() != Some(0) {
            refused = Some(output);
            break;
        }
    }
    let output = refused.expect("160 kB are not enough");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("No space left on device"), "{said}");
    let before = job_states(&dataset);
    assert!(!before.is_empty());
    // With room again it goes on where it was.
    expect(Command::new("mount").args(["-o", "remount,size=40m"]).arg(&small), 0);
    expect(queue.observe(&dataset).arg("--once"), 0);
    assert_eq!(told(&job_states(&dataset))[..before.len()], told(&before));
    drop(unmount);
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_queue_that_cannot_be_asked_is_an_error_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    queue.show(20);
    let dataset = dir.path().join("dataset");
    let fail = |script: &str, reason: &str| {
        let mut file = fs::File::create(queue.dir.join("bin/squeue")).unwrap();
        file.write_all(script.as_bytes()).unwrap();
        drop(file);
        let output = queue.observe(&dataset).arg("--once").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason) && !said.contains('\u{1b}'), "{said}");
        assert!(job_states(&dataset).is_empty());
    };
    fail(
        "#!/bin/sh\nprintf 'slurm_load_jobs error: \\033[31mUnable to contact slurm controller\\n' >&2\nexit 1\n",
        "Unable to contact slurm controller",
    );
    fail("#!/bin/sh\necho hello\n", "did not print the requested header");
    // As Slurm before 20.02 reads the format: a width of 0, and no text after the field.
    fail("#!/bin/sh\nprintf 'JOBIDJOBIDARRAY_JOB_IDARRAY_TASK_ID\\n77 7N/A\\n'\n", "older than Slurm 20.02");
    fail("#!/bin/sh\nkill -9 $PPID\n", "squeue");
    fail("#!/bin/sh\nexec sh -c 'exit 127'\n", "--slurm-bin-dir");
}
