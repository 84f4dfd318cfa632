//! `flowmine observe` by a user without root, with that user's own ~/.ssh, over a jump host,
//! against real sshd: from a network in which the login node cannot be reached otherwise.
//!
//! squeue on the login node is a stand-in that plays the recorded polls; over a jump host to the
//! real one goes slurm.rs. Needs root, for users and a network namespace. What goes wrong on the
//! way is tested in crates/extract-slurm/tests/jump.rs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{expect, flowmine, has_program, is_root, job_states, repository};

/// A running lab; dropping it ends all that it started.
struct Lab {
    dir: PathBuf,
    queue: StandIn,
    _temp: tempfile::TempDir,
}

impl Lab {
    fn up() -> Self {
        // Sockets below it must stay short, and other users must be able to enter.
        let temp = tempfile::Builder::new().prefix("fm").tempdir_in("/tmp").unwrap();
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::copy(flowmine().get_program(), temp.path().join("flowmine")).unwrap();
        let queue = StandIn::new(&temp.path().join("slurm"));
        queue.show(20);
        let lab = Self { dir: temp.path().join("lab"), queue, _temp: temp };
        expect(Command::new("bash").arg(repository("tests/lab/sshd-up.sh")).arg(&lab.dir).arg("--apart").stdin(Stdio::null()), 0);
        lab
    }

    fn home(&self) -> PathBuf {
        self.dir.join("home/fm-watch")
    }

    /// As the user, with nearly no environment, in the network that is apart.
    fn observe(&self, host: &str, options: &[&str]) -> Command {
        let apart = fs::read_to_string(self.dir.join("apart")).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", apart.trim(), "runuser", "-u", "fm-watch", "--", "env", "-i"]);
        command.arg(format!("HOME={}", self.home().display())).arg("PATH=/usr/bin:/bin");
        command.arg(self.dir.parent().unwrap().join("flowmine")).args(["observe", "--ssh", host, "--slurm-bin-dir"]);
        command.arg(self.queue.dir.join("bin")).arg("--dataset").arg(self.home().join("queue")).args(options);
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// The sessions of the jump host's sshd.
    fn jump_sessions(&self) -> Vec<u32> {
        let daemon = fs::read_to_string(self.dir.join("run/daemons/sshd-jump")).unwrap();
        let daemon = daemon.split(' ').next().unwrap().parse().unwrap();
        let (mut found, mut at) = (vec![daemon], 0);
        while at < found.len() {
            let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", found[at])).unwrap_or_default();
            found.extend(children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap()));
            at += 1;
        }
        found.split_off(1)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = Command::new("bash").arg(repository("tests/lab/sshd-down.sh")).arg(&self.dir).stdin(Stdio::null()).status();
    }
}

fn needs() -> bool {
    let apart = is_root() && ["ip", "runuser"].iter().all(|p| has_program(p));
    require("netns", "root, ip and runuser, for a user in a network of its own", apart)
        && require("ssh", "sshd and ssh-keygen", has_program("sshd") && has_program("ssh-keygen"))
}

fn rows(dataset: &Path) -> usize {
    if dataset.join("flowmine.json").exists() { job_states(dataset).len() } else { 0 }
}

/// An observer below runuser, which passes TERM on, and ends before its command where it is killed.
struct Observer(Child);

impl Drop for Observer {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

#[test]
fn a_user_without_root_over_a_jump_host() {
    if !needs() {
        return;
    }
    let lab = Lab::up();
    let said = |output: std::process::Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let dataset = lab.home().join("queue");

    let refused = said(expect(&mut lab.observe("lab-behind", &["--once", "--ssh-jump", "none"]), 2));
    assert!(refused.contains("cannot connect to 127.0.0.1:"), "from here it cannot be reached: {refused}");
    let refused = said(expect(&mut lab.observe("lab-behind", &["--once", "--ssh-jump", "lab-behind"]), 2));
    assert!(refused.contains("circle"), "{refused}");
    assert_eq!(rows(&dataset), 0);

    let told = said(expect(&mut lab.observe("lab-behind", &["--once", "-v"]), 0));
    assert!(told.contains("played:") && told.contains("in the queue"), "{told}");
    let seen = rows(&dataset);
    assert!(seen > 0);
    // The same jump host, as typed.
    let told = said(expect(&mut lab.observe("lab-login", &["--once", "-v", "-J", "lab-jump"]), 0));
    assert!(told.contains(" 0 changes"), "the same queue: {told}");

    // A jump host that opens no way: its login works and is not enough.
    let config = lab.home().join(".ssh/config");
    let text = fs::read_to_string(&config).unwrap();
    let port = fs::read_to_string(lab.dir.join("ssh/port")).unwrap();
    let elsewhere =
        text.replacen("Host lab-behind\n", &format!("Host lab-behind\n  HostName 127.0.0.2\n  HostKeyAlias [127.0.0.1]:{port}"), 1);
    fs::write(&config, elsewhere).unwrap();
    let refused = said(expect(&mut lab.observe("lab-behind", &["--once"]), 2));
    assert!(refused.contains("does not open a way to 127.0.0.2:") && refused.contains("prohibited"), "{refused}");
    fs::write(&config, text).unwrap();
    assert_eq!(rows(&dataset), seen);
}

#[test]
fn a_jump_host_that_dies_in_the_middle_of_a_poll() {
    if !needs() {
        return;
    }
    let lab = Lab::up();
    let dataset = lab.home().join("queue");
    // A queue that takes its time, and says when it is asked.
    let squeue = lab.queue.dir.join("bin/squeue");
    // Labs share the user and so what `~` is there.
    let slow = format!("#!/bin/sh\necho >> {}/asked\nsleep 2\n", lab.home().display());
    let slow = fs::read_to_string(&squeue).unwrap().replacen("#!/bin/sh\n", &slow, 1);
    fs::write(&squeue, slow).unwrap();
    let asked = || fs::read(lab.home().join("asked")).map_or(0, |lines| lines.len());

    let mut observer = Observer(lab.observe("lab-behind", &["--every", "500ms", "-v"]).stderr(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(observer.0.stderr.take().unwrap()).lines();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| sender.send(line).unwrap_or_default()));
    let began = Instant::now();
    let next = |wanted: &str| loop {
        let line = receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("no `{wanted}` was said"));
        eprintln!("{line}");
        if line.contains(wanted) {
            break line;
        }
    };
    next("in the queue");
    let seen = rows(&dataset);
    // In the middle of the second poll. Where nothing of its answer had come it is sent once more, and dies once more.
    let mut before = 1;
    let failure = loop {
        if asked() > before {
            before = asked();
            for pid in lab.jump_sessions() {
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).stderr(Stdio::null()).status();
            }
        }
        match receiver.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => break line,
            Err(_) => assert!(began.elapsed() < Duration::from_secs(60), "asked {before} times and nothing was said"),
        }
    };
    assert!(failure.contains("the way through fm-watch@198.18.") && failure.contains("trying again"), "{failure}");
    // It goes on by itself.
    lab.queue.show(40);
    next("in the queue");
    assert!(rows(&dataset) > seen);
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
