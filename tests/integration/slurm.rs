//! A real Slurm of four nodes with accounting and a real sshd, observed over SSH while users run
//! workflows; then the log against the truth.
//!
//! Needs root (several users, daemons). The lab's scripts are in tests/lab, the scenario in
//! fixtures/scenario. What is started here is stopped here, also when the test fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support;
use crate::support::require::require;
use crate::support::truth::{Truth, polls};
use crate::support::{cases, expect, flowmine, has_program, is_root, job_states, repository};

/// A running lab; dropping it ends all that it started.
struct Lab {
    dir: PathBuf,
    _temp: tempfile::TempDir,
}

impl Lab {
    fn up(options: &[&str]) -> Self {
        // Sockets below it must stay short, and other users must be able to enter.
        let temp = tempfile::Builder::new().prefix("fm").tempdir_in("/tmp").expect("a temporary directory");
        fs::set_permissions(temp.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it is ours");
        let lab = Self { dir: temp.path().join("lab"), _temp: temp };
        lab.script("slurm-up.sh", options);
        lab.script("sshd-up.sh", &[]);
        lab
    }

    fn script(&self, name: &str, options: &[&str]) {
        let mut command = Command::new("bash");
        command.arg(repository("tests/lab").join(name)).arg(&self.dir).args(options).stdin(Stdio::null());
        expect(&mut command, 0);
    }

    fn observe(&self, dataset: &Path, record: &Path, host: &str) -> Command {
        let mut command = flowmine();
        command.args(["observe", "--accounting", "--ssh", host, "--ssh-config"]).arg(self.dir.join("ssh/config"));
        command.arg("--dataset").arg(dataset).arg("--record").arg(record);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for name in ["sshd-down.sh", "slurm-down.sh"] {
            let _ = Command::new("bash").arg(repository("tests/lab").join(name)).arg(&self.dir).stdin(Stdio::null()).status();
        }
    }
}

/// A child that is ended when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn needs() -> bool {
    let programs = ["slurmctld", "slurmd", "slurmdbd", "mariadbd", "munged", "squeue"];
    let slurm = require("slurm", "root and Slurm with slurmdbd, MariaDB and munge", is_root() && programs.iter().all(|p| has_program(p)));
    slurm && require("ssh", "sshd and ssh-keygen", has_program("sshd") && has_program("ssh-keygen"))
}

#[test]
fn workflows_on_a_real_cluster_observed_over_ssh() {
    if !needs() {
        return;
    }
    let lab = Lab::up(&["--accounting", "--min-job-age", "20"]);
    let dir = tempfile::tempdir().unwrap();
    let (dataset, record, truth) = (dir.path().join("dataset"), dir.path().join("polls"), dir.path().join("truth"));

    // A session of its own: where tests run in a PID namespace, the leader of theirs may be outside of it, and 0 is what
    // Slurm then records of every job.
    let mut scenario = Command::new("setsid");
    scenario.arg("bash").arg(repository("fixtures/scenario/run.sh")).arg(&lab.dir).arg(&truth).args(["--small", "--accounting"]);
    let log = fs::File::create(dir.path().join("scenario.log")).unwrap();
    scenario.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let mut scenario = Running(scenario.spawn().unwrap());

    // The observer is killed every few seconds and started again; the log must not show it.
    let began = Instant::now();
    let mut rounds = 0;
    let status = loop {
        let mut observer =
            Running(lab.observe(&dataset, &record, "lab-login").args(["--every", "500ms"]).stderr(Stdio::null()).spawn().unwrap());
        let mut ended = None;
        for _ in 0..40 {
            std::thread::sleep(Duration::from_millis(100));
            ended = scenario.0.try_wait().unwrap();
            if ended.is_some() {
                break;
            }
        }
        observer.0.kill().unwrap();
        observer.0.wait().unwrap();
        rounds += 1;
        if let Some(status) = ended {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(600), "the scenario does not end");
    };
    assert!(status.success(), "{}", fs::read_to_string(dir.path().join("scenario.log")).unwrap_or_default());
    assert!(rounds > 2, "the observer was started {rounds} times only");
    // The last poll sees the queue at rest, and accounting tells the rest.
    expect(lab.observe(&dataset, &record, "lab-login").arg("--once"), 0);
    paste_the_cron_line(&lab);
    some_jobs_only(&lab);

    let out = dir.path().join("out");
    expect(flowmine().args(["run", "--dataset"]).arg(&dataset).arg("--out").arg(&out), 0);
    let truth = Truth::read(&truth);
    let rows = job_states(&dataset);
    let polls = written_polls(&rows, &polls(&record));
    truth.check_states(&rows, &polls);
    truth.check_changes(&rows, &polls);
    truth.check_attributes(&rows);
    truth.check_cases(&cases(&dataset), &["ghost"]);
    truth.check_accounting(&rows);
    for file in ["log.xes.gz", "log.ocel.sqlite", "dfg.svg", "dfg-account-group.svg", "summary.json"] {
        assert!(fs::metadata(out.join(file)).unwrap().len() > 1000 || file == "summary.json", "{file} is empty");
    }
}

/// Whose jobs are asked for.
fn some_jobs_only(lab: &Lab) {
    for (option, name) in [("--user", "fm-alice"), ("--account", "thesis"), ("--partition", "debug"), ("--me", "fm-watch")] {
        let dir = tempfile::tempdir().unwrap();
        let (dataset, record) = (dir.path().join("dataset"), dir.path().join("polls"));
        let mut command = lab.observe(&dataset, &record, "lab-login");
        command.args(["--once", option]).args((option != "--me").then_some(name));
        expect(&mut command, 0);
        let rows = job_states(&dataset);
        let of = |row: &flowmine_schema::tables::JobState<'_>| match option {
            "--account" => row.account.as_deref().map(str::to_owned),
            "--partition" => row.partition.as_deref().map(str::to_owned),
            _ => row.user.as_deref().map(str::to_owned),
        };
        assert!(rows.iter().all(|row| of(row).is_some_and(|of| of == name)), "{option}: {:?}", rows.iter().map(of).collect::<Vec<_>>());
        // The one who watches has no jobs.
        assert_eq!(rows.is_empty(), option == "--me", "{option}");
        let refused = expect(lab.observe(&dataset, &record, "lab-login").arg("--once"), 2);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("was observed with"), "{refused:?}");
    }
}

/// The line for cron of `docs/observing.md`, pasted into the shell of a user without root, and what it puts into
/// the crontab run as cron does: with nearly no environment.
fn paste_the_cron_line(lab: &Lab) {
    let page = fs::read_to_string(repository("docs/observing.md")).unwrap();
    let line = page.lines().map(str::trim).find(|line| line.ends_with("| crontab -")).expect("the page has a line for cron");
    // Below it another user may enter and read.
    let bin = lab.dir.parent().unwrap().join("bin");
    fs::create_dir(&bin).unwrap();
    fs::copy(flowmine().get_program(), bin.join("flowmine")).unwrap();
    let crontab = bin.join("crontab");
    fs::write(&crontab, "#!/bin/sh\ncase $1 in -l) echo '# nothing yet' ;; -) cat > \"$HOME/crontab\" ;; esac\n").unwrap();
    for path in [&bin, &crontab] {
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let home = lab.dir.join("home/fm-watch");
    let as_user = |environment: &[String], shell: &[&str], line: &str| {
        let mut command = Command::new("runuser");
        command.args(["-u", "fm-watch", "--", "env", "-i", &format!("HOME={}", home.display())]).args(environment).args(shell).arg(line);
        expect(command.current_dir("/").stdin(Stdio::null()), 0)
    };
    let configuration = format!("SLURM_CONF={}", lab.dir.join("etc/slurm.conf").display());
    as_user(&[configuration.clone(), format!("PATH={}:/usr/local/bin:/usr/bin:/bin", bin.display())], &["bash", "-c"], line);
    let written = fs::read_to_string(home.join("crontab")).unwrap();
    let command = written.lines().last().unwrap().strip_prefix("* * * * * ").expect("each minute");
    for _ in 0..2 {
        // crontab(5): sh, and a PATH of two directories; a name that is found there by chance would not be noticed.
        let output = as_user(&["PATH=/nowhere:/bin".to_owned(), "SHELL=/bin/sh".to_owned()], &["/bin/sh", "-c"], command);
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "cron would send a mail: {output:?}");
    }
    // It asks the controller for what one squeue asks, and for nothing else.
    let rpcs = |shell: &[&str], line: &str| -> u64 {
        let sdiag = |option: &[&str]| {
            let output =
                expect(Command::new("sdiag").args(option).env("SLURM_CONF", lab.dir.join("etc/slurm.conf")).stdin(Stdio::null()), 0);
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        sdiag(&["--reset"]);
        as_user(&[configuration.clone(), "PATH=/usr/bin:/bin".to_owned(), "SHELL=/bin/sh".to_owned()], shell, line);
        let told = sdiag(&[]);
        let of_user = told.lines().find(|line| line.trim_start().starts_with("fm-watch")).unwrap_or_else(|| panic!("{told}"));
        of_user.split("count:").nth(1).and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or_else(|| panic!("{of_user}"))
    };
    let (of_squeue, of_poll) = (rpcs(&["/bin/sh", "-c"], "squeue --all --states=all >/dev/null"), rpcs(&["/bin/sh", "-c"], command));
    assert_eq!(of_poll, of_squeue, "RPCs of a poll beside those of squeue");
    let rows = job_states(&home.join("queue"));
    assert!(rows.iter().any(|row| row.change == "accounting") && rows.iter().any(|row| row.source == "squeue"), "{}", rows.len());
    let unknown: Vec<_> = rows
        .iter()
        .filter(|row| row.change == "new" && (row.submit_node.is_none() || row.submit_session.is_none()))
        .map(|row| format!("job {} ({:?}): {:?}, session {:?}", row.job, row.name, row.submit_node, row.submit_session))
        .collect();
    assert!(unknown.is_empty(), "who submitted is not known of {} jobs:\n{}", unknown.len(), unknown.join("\n"));
}

/// The polls that were written: one that was recorded and then killed before its transaction did
/// not count.
fn written_polls(rows: &[flowmine_schema::tables::JobState<'_>], recorded: &[support::truth::Poll]) -> Vec<support::truth::Poll> {
    let mut begins: Vec<i64> = rows.iter().filter_map(|row| row.not_before_ns).collect();
    let mut ends: Vec<i64> = rows.iter().map(|row| row.observed_at_ns).collect();
    begins.sort_unstable();
    ends.sort_unstable();
    let known = |poll: &&support::truth::Poll| ends.binary_search(&poll.ended_ns).is_ok() || begins.binary_search(&poll.began_ns).is_ok();
    recorded.iter().filter(known).copied().collect()
}

#[test]
fn every_kind_of_key_and_host_key_in_the_labs_config() {
    if !needs() {
        return;
    }
    let lab = Lab::up(&[]);
    let dir = tempfile::tempdir().unwrap();
    for host in ["lab-login", "lab-login-rsa", "lab-login-ecdsa", "lab-behind"] {
        let mut command = flowmine();
        command.args(["observe", "--once", "-v", "--ssh", host, "--ssh-config"]).arg(lab.dir.join("ssh/config"));
        let output = expect(command.arg("--dataset").arg(dir.path().join(host)).stdin(Stdio::null()), 0);
        assert!(String::from_utf8_lossy(&output.stderr).contains("0 in the queue"), "{host}");
    }
    // A local observer sees the same cluster.
    let mut command = flowmine();
    command.args(["observe", "--once", "--dataset"]).arg(dir.path().join("local")).env("SLURM_CONF", lab.dir.join("etc/slurm.conf"));
    expect(&mut command, 0);
}
