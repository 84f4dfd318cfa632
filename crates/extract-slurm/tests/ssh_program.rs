//! The ssh program as transport, against a real sshd: what libssh2 does not have, and servers and
//! keys that must be refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its server has to fail")]

#[allow(dead_code, reason = "the tests of libssh2 need more of it")]
#[path = "support/sshd.rs"]
mod sshd;
#[path = "../../../tests/support/require.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flowmine_extract_slurm::runner::{RunError, Runner};
use flowmine_extract_slurm::ssh::{HostKeyPolicy, ProgramRunner, SshError, SshOptions, Target};
use sshd::{Sshd, keygen};

/// Long enough for a loaded machine; no test waits for it.
const LONG: Duration = Duration::from_secs(180);

macro_rules! needs_sshd {
    () => {
        if !support::require("ssh", "sshd", sshd::find().is_some()) {
            return;
        }
    };
}

/// A server whose host key is known, and a key that may log in.
fn ready(extra: &str) -> (Sshd, String) {
    let server = Sshd::start(&["ed25519"], extra);
    let key = server.client_key("id", "ed25519", "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let identity = format!("IdentityFile {}\nIdentitiesOnly yes", key.display());
    (server, identity)
}

fn try_new(program: &Path, config: PathBuf, host_keys: HostKeyPolicy) -> Result<ProgramRunner, RunError> {
    let options = SshOptions { config_file: Some(config), host_keys, ..SshOptions::default() };
    ProgramRunner::new(program.to_owned(), &Target::parse("cluster").unwrap(), &options)
}

/// The machine's ssh. `BatchMode` keeps a test on somebody's terminal from asking there.
fn runner(server: &Sshd, lines: &str) -> ProgramRunner {
    try_new(Path::new("ssh"), server.config(&format!("{lines}\nBatchMode yes")), HostKeyPolicy::Strict).unwrap()
}

fn hello(runner: &mut ProgramRunner) -> String {
    let output = runner.run("echo hello; cat", b" you", LONG).unwrap();
    assert!(output.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a login that fails; it is one safe line.
fn refused(runner: &mut ProgramRunner) -> String {
    let failure = runner.open().unwrap_err();
    let text = failure.to_string();
    assert!(matches!(&failure, RunError::Ssh(error @ SshError::Program { .. }) if error.is_temporary()), "{text}");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    eprintln!("{text}");
    text
}

fn logins(server: &Sshd) -> usize {
    server.log().matches("Accepted publickey for").count()
}

fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn one_login_serves_all_scripts_and_nothing_is_left() {
    needs_sshd!();
    let (server, identity) = ready("");
    let mut ssh = runner(&server, &identity);
    assert_eq!(ssh.describe(), format!("{}@127.0.0.1:{}", server.user, server.port));
    for _ in 0..3 {
        assert_eq!(hello(&mut ssh), "hello\n you");
    }
    let output = ssh.run("echo oops >&2; exit 3", b"", LONG).unwrap();
    assert_eq!((output.status, output.stderr.as_slice()), (3, b"oops\n".as_slice()));
    let special = ssh.run("if ! false; then\n\tprintf %s \"a\\\\b\"\nfi", b"", LONG).unwrap();
    assert_eq!(special.stdout, b"a\\b");
    assert_eq!((logins(&server), ssh.connections_opened()), (1, 1));
    // Children of the server, by /proc/PID/stat: what follows the name begins with state and parent.
    let is_child = |stat: &str| stat.rsplit(')').next().and_then(|rest| rest.split(' ').nth(2)) == Some(&server.pid().to_string());
    let sessions = || {
        let mut stats = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read_to_string(entry.ok()?.path().join("stat")).ok());
        stats.any(|stat| is_child(&stat))
    };
    assert!(sessions());
    drop(ssh);
    for _ in 0..200 {
        if !sessions() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the server still has a session");
}

#[test]
fn a_connection_that_died_is_opened_again() {
    needs_sshd!();
    let (server, identity) = ready("");
    let mut ssh = runner(&server, &identity);
    let pid = ssh.run("echo $PPID", b"", LONG).unwrap().stdout;
    let pid = String::from_utf8(pid).unwrap();
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
    assert_eq!(hello(&mut ssh), "hello\n you");
    assert!(logins(&server) >= 2, "{}", server.log());
}

#[test]
fn large_streams_and_a_command_that_takes_too_long() {
    needs_sshd!();
    let (server, identity) = ready("");
    let mut ssh = runner(&server, &identity);
    let input = vec![b'x'; 3 << 20];
    let output = ssh.run("head -c 5000000 /dev/zero; wc -c", &input, LONG).unwrap();
    assert!(output.stdout.ends_with(b"3145728\n") && output.stdout.len() == 5_000_008);
    let failure = ssh.run("sleep 100", b"", Duration::from_millis(700)).unwrap_err();
    assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
    assert_eq!(hello(&mut ssh), "hello\n you");
}

#[test]
fn certificates_log_in() {
    needs_sshd!();
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority");
    keygen(&authority, "ed25519", "");
    let server = Sshd::start(&["ed25519"], &format!("TrustedUserCAKeys {}.pub", authority.display()));
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let key = server.path("id");
    keygen(&key, "ed25519", "");
    let lines = format!("IdentityFile {}\nIdentitiesOnly yes", key.display());
    assert!(refused(&mut runner(&server, &lines)).contains("Permission denied"));
    let signed =
        Command::new("ssh-keygen").args(["-q", "-I", "test", "-n", &server.user, "-s"]).arg(&authority).arg(server.path("id.pub")).status();
    assert!(signed.unwrap().success());
    let certified = format!("{lines}\nCertificateFile {}", server.path("id-cert.pub").display());
    assert_eq!(hello(&mut runner(&server, &certified)), "hello\n you");
}

#[test]
fn a_command_on_the_way_connects() {
    needs_sshd!();
    let (server, identity) = ready("");
    let known = server.path("known_hosts");
    let way = format!(
        "{identity}\nProxyCommand ssh -F none -o IdentityFile={} -o UserKnownHostsFile={} -o BatchMode=yes -l {} -p {} -W %h:%p 127.0.0.1",
        server.path("id").display(),
        known.display(),
        server.user,
        server.port
    );
    assert_eq!(hello(&mut runner(&server, &way)), "hello\n you");
    assert_eq!(logins(&server), 2, "{}", server.log());
}

#[test]
fn the_connection_of_the_user_is_shared_and_stays() {
    needs_sshd!();
    let (server, identity) = ready("");
    let socket = server.path("control");
    let lines = format!("{identity}\nControlPath {}\nControlMaster auto\nBatchMode yes", socket.display());
    let config = server.config(&lines);
    let mut master = Command::new("ssh")
        .args(["-M", "-N", "-F"])
        .arg(&config)
        .arg("cluster")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !socket.exists() {
        assert!(master.try_wait().unwrap().is_none(), "{}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut ssh = runner(&server, &lines);
    assert_eq!(hello(&mut ssh), "hello\n you");
    drop(ssh);
    assert_eq!(logins(&server), 1);
    assert!(master.try_wait().unwrap().is_none(), "the user's own connection was ended");
    master.kill().unwrap();
    master.wait().unwrap();
}

#[test]
fn the_program_asks_once_for_what_it_needs() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "");
    let key = server.client_key("locked", "ed25519", "secret words");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    // A person at the terminal is played by the program that ssh asks in place of it.
    let (asked, answer, program) = (server.path("asked"), server.path("answer"), server.path("my ssh"));
    executable(&answer, &format!("#!/bin/sh\necho x >> {}\necho \"secret words\"\n", asked.display()));
    executable(&program, &format!("#!/bin/sh\nSSH_ASKPASS={} SSH_ASKPASS_REQUIRE=force exec ssh \"$@\"\n", answer.display()));
    let config = server.config(&format!("IdentityFile {}\nIdentitiesOnly yes", key.display()));
    let mut ssh = try_new(&program, config, HostKeyPolicy::Strict).unwrap();
    for _ in 0..3 {
        assert_eq!(hello(&mut ssh), "hello\n you");
    }
    assert_eq!(fs::read_to_string(&asked).unwrap(), "x\n");
}

#[test]
fn host_keys_are_strict() {
    needs_sshd!();
    let (server, identity) = ready("");
    let own = fs::read_to_string(server.path("known_hosts")).unwrap();
    server.know("");
    // The config cannot weaken it.
    let lax = format!("{identity}\nStrictHostKeyChecking no");
    assert!(refused(&mut runner(&server, &lax)).contains("Host key verification failed"));
    let other = server.path("other");
    keygen(&other, "ed25519", "");
    let changed = format!("{} {}\n", server.name(), sshd::public(&other));
    server.know(&changed);
    let accept = |server: &Sshd| {
        let config = server.config(&format!("{identity}\nBatchMode yes"));
        try_new(Path::new("ssh"), config, HostKeyPolicy::AcceptNew).unwrap()
    };
    assert!(refused(&mut accept(&server)).contains("Host key verification failed"));
    server.know(&format!("@revoked {own}{own}"));
    refused(&mut accept(&server));
    assert_eq!(logins(&server), 0, "{}", server.log());
    server.know("");
    assert_eq!(hello(&mut accept(&server)), "hello\n you");
    assert!(fs::read_to_string(server.path("known_hosts")).unwrap().contains(&server.host_key("ed25519")));
}

#[test]
fn hostile_servers_and_configurations_are_errors() {
    needs_sshd!();
    let forced = |command: &str| {
        let (server, identity) = ready(&format!("ForceCommand {command}"));
        let mut ssh = runner(&server, &identity);
        refused(&mut ssh)
    };
    forced("printf \"\\033[31mno shell for you\\n\" >&2; exit 1");
    forced("yes nothing to see here | head -c 3000000");

    // A banner is no answer.
    let folder = tempfile::tempdir().unwrap();
    let banner = folder.path().join("banner");
    fs::write(&banner, "flowmine-is-connected or not\n\x1b[2J\n").unwrap();
    let (server, identity) = ready(&format!("Banner {}", banner.display()));
    assert_eq!(hello(&mut runner(&server, &identity)), "hello\n you");

    let broken = server.config("Port many");
    let Err(failure) = try_new(Path::new("ssh"), broken, HostKeyPolicy::Strict) else { panic!("it was read") };
    assert!(matches!(&failure, RunError::Ssh(SshError::ProgramConfig { .. })), "{failure}");
    assert!(failure.to_string().contains("ssh_config"), "{failure}");

    let config = server.config("");
    let Err(failure) = try_new(Path::new("/nonexistent/ssh"), config, HostKeyPolicy::Strict) else { panic!("it was started") };
    assert!(matches!(&failure, RunError::Start { .. }), "{failure}");
}

#[test]
fn a_server_that_is_gone_is_an_error() {
    needs_sshd!();
    let (server, identity) = ready("");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let options = SshOptions { config_file: Some(server.config(&format!("{identity}\nBatchMode yes"))), ..SshOptions::default() };
    let target = Target::parse(&format!("cluster:{free}")).unwrap();
    let mut ssh = ProgramRunner::new("ssh".into(), &target, &options).unwrap();
    assert!(refused(&mut ssh).contains("Connection refused"));
}
