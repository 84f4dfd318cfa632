//! Ways through jump hosts, with several real sshd: the target's, and those of the hosts on the
//! way.
//!
//! Where sshd is missing the tests are reported as not run, and fail when `FLOWMINE_REQUIRE` holds
//! `ssh`. What a jump host does to a whole observer, from a network in which the target cannot be
//! reached, is in the repository's tests/integration/jump.rs.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its server has to fail")]

#[allow(dead_code, reason = "other tests use the rest of it")]
#[path = "support/sshd.rs"]
mod sshd;
#[path = "../../../tests/support/require.rs"]
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use flowmine_extract_slurm::runner::{RunError, Runner};
use flowmine_extract_slurm::ssh::{HostKeyPolicy, Limits, PassphraseSource, SshError, SshOptions, SshRunner, Target, config};
use sshd::{Sshd, fingerprint};

/// Long enough for a loaded machine; no test waits for it.
const LONG: Duration = Duration::from_secs(180);
/// A jump host forwards to one place and does nothing else.
const JUMP: &str = "AllowTcpForwarding local\nForceCommand /bin/false\nPermitTTY no\nX11Forwarding no";
/// A login node needs no forwarding.
const TARGET: &str = "AllowTcpForwarding no";

macro_rules! needs_sshd {
    () => {
        if !support::require("ssh", "sshd", sshd::find().is_some()) {
            return;
        }
    };
}

/// A target and hosts on the way to it, each with a host key and a client key of its own.
struct Way {
    target: Sshd,
    jumps: Vec<Sshd>,
    folder: tempfile::TempDir,
}

impl Way {
    fn new(jumps: &[&str]) -> Self {
        let start = |extra: &&str| {
            let server = Sshd::start(&["ed25519"], extra);
            server.client_key("id", "ed25519", "");
            server
        };
        let way = Self { target: start(&TARGET), jumps: jumps.iter().map(start).collect(), folder: tempfile::tempdir().unwrap() };
        let lines: Vec<String> = way.all().map(|(_, server)| format!("{} {}\n", server.name(), server.host_key("ed25519"))).collect();
        way.know(&lines.concat());
        way
    }

    fn all(&self) -> impl Iterator<Item = (String, &Sshd)> {
        let named = self.jumps.iter().enumerate().map(|(n, jump)| (format!("jump{n}"), jump));
        named.chain([("cluster".to_owned(), &self.target)])
    }

    fn know(&self, content: &str) {
        fs::write(self.path("known_hosts"), content).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A config with a block for each host; `extra` comes first, and so wins.
    fn config(&self, extra: &str) -> PathBuf {
        let mut text = extra.to_owned();
        for (name, server) in self.all() {
            text.push_str(&format!(
                "\nHost {name}\n HostName 127.0.0.1\n Port {}\n User {}\n IdentityFile {}\n",
                server.port,
                server.user,
                server.path("id").display()
            ));
        }
        text.push_str(&format!(
            "\nHost *\n IdentityAgent none\n IdentitiesOnly yes\n UserKnownHostsFile {}\n GlobalKnownHostsFile none\n",
            self.path("known_hosts").display()
        ));
        fs::write(self.path("config"), text).unwrap();
        self.path("config")
    }

    fn through(&self, extra: &str) -> SshRunner {
        runner(options(self.config(extra)))
    }
}

fn options(config: PathBuf) -> SshOptions {
    SshOptions { config_file: Some(config), passphrase: PassphraseSource::None, ..SshOptions::default() }
}

fn runner(options: SshOptions) -> SshRunner {
    SshRunner::new(&Target::parse("cluster").unwrap(), options).unwrap()
}

fn hello(runner: &mut SshRunner) -> Result<String, RunError> {
    let output = runner.run("echo hello; cat", b" you", LONG)?;
    assert!(output.success());
    Ok(String::from_utf8(output.stdout).unwrap())
}

fn open_error(mut runner: SshRunner) -> SshError {
    let error = runner.open().expect_err("it connected");
    let text = error.to_string();
    assert!(!text.chars().any(char::is_control), "{text:?}");
    eprintln!("{text}");
    error
}

fn logins(server: &Sshd) -> usize {
    server.log().matches("Accepted publickey").count()
}

/// The process that holds a session on a server: the one whose parent, or its parent, is the
/// server.
fn sessions(server: &Sshd) -> Vec<u32> {
    let output = Command::new("ps").args(["-eo", "pid=,ppid="]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let all: Vec<(u32, u32)> = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().map(|w| w.parse::<u32>().unwrap());
            Some((words.next()?, words.next()?))
        })
        .collect();
    let mut found = vec![server.pid()];
    for _ in 0..3 {
        let more: Vec<u32> =
            all.iter().filter(|(pid, parent)| found.contains(parent) && !found.contains(pid)).map(|(pid, _)| *pid).collect();
        found.extend(more);
    }
    found.split_off(1)
}

fn kill_sessions(server: &Sshd) {
    let sessions = sessions(server);
    assert!(!sessions.is_empty(), "a session is open");
    for pid in sessions {
        // A parent may have taken its child with it.
        let _ = Command::new("kill").arg("-9").arg(pid.to_string()).stderr(std::process::Stdio::null()).status();
    }
}

#[test]
fn one_jump_and_several() {
    needs_sshd!();
    let way = Way::new(&[JUMP, JUMP]);
    let mut one = way.through("Host cluster\n ProxyJump jump0\n");
    assert_eq!(hello(&mut one).unwrap(), "hello\n you");
    assert_eq!((logins(&way.jumps[0]), logins(&way.jumps[1]), logins(&way.target)), (1, 0, 1));
    assert_eq!(one.describe(), format!("{}@127.0.0.1:{} (through jump0)", way.target.user, way.target.port));
    assert_eq!(hello(&mut one).unwrap(), "hello\n you", "the connection is kept");
    assert_eq!((logins(&way.jumps[0]), one.connections_opened()), (1, 1));

    // In the order in which they stand, and the same by a ProxyJump of the jump host's own.
    for (n, extra) in
        ["Host cluster\n ProxyJump jump0,jump1\n", "Host cluster\n ProxyJump jump1\nHost jump1\n ProxyJump jump0\n"].iter().enumerate()
    {
        assert_eq!(hello(&mut way.through(extra)).unwrap(), "hello\n you");
        assert_eq!((logins(&way.jumps[0]), logins(&way.jumps[1]), logins(&way.target)), (n + 2, n + 1, n + 2));
    }
    // As typed, by address and with everything that a place can have.
    let jump = &way.jumps[0];
    let typed = format!("{}@127.0.0.1:{}", jump.user, jump.port);
    let config = way.config(&format!("Match all\nIdentityFile {}\nHost cluster\n ProxyJump nobody\n", jump.path("id").display()));
    let jumps = Some(config::typed_jumps(&typed).unwrap());
    assert_eq!(hello(&mut runner(SshOptions { jumps, ..options(config) })).unwrap(), "hello\n you");
}

#[test]
fn much_in_both_directions() {
    needs_sshd!();
    let way = Way::new(&[JUMP, JUMP]);
    let mut runner = way.through("Host cluster\n ProxyJump jump0,jump1\n RekeyLimit 1M\n");
    let input: Vec<u8> = (0..3_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    // Back as it came, late, early, and never.
    for (script, expected) in
        [("cat", Some(&input)), ("sleep 1; cat", Some(&input)), ("head -c 10000000 /dev/zero; cat >/dev/null", None), ("echo", None)]
    {
        let output = runner.run(script, &input, LONG).unwrap();
        assert!(output.success(), "{script}");
        match expected {
            Some(input) => assert!(output.stdout == *input, "{script}: {} bytes", output.stdout.len()),
            None => assert!(output.stdout.len() == 10_000_000 || output.stdout == b"\n", "{script}: {}", output.stdout.len()),
        }
    }
    let failure = runner.run("sleep 30", b"", Duration::from_secs(1)).unwrap_err();
    assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
}

#[test]
fn keys_are_exchanged_anew_on_the_way() {
    needs_sshd!();
    let way = Way::new(&[&format!("{JUMP}\nRekeyLimit 200K")]);
    let mut runner = way.through("Host cluster\n ProxyJump jump0\n");
    let input = vec![b'x'; 2_000_000];
    assert!(runner.run("cat", &input, LONG).unwrap().stdout == input);
    assert_eq!(runner.connections_opened(), 1);
}

#[test]
fn a_jump_host_that_forwards_nothing() {
    needs_sshd!();
    for refuses in ["AllowTcpForwarding no", "AllowTcpForwarding local\nPermitOpen 127.0.0.1:1"] {
        let way = Way::new(&[refuses]);
        let error = open_error(way.through("Host cluster\n ProxyJump jump0\n"));
        assert!(matches!(&error, SshError::Forward { .. }) && !error.is_temporary(), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("127.0.0.1:{} does not open", way.jumps[0].port)) && text.contains("AllowTcpForwarding"), "{text}");
        assert!(text.contains(&format!("to 127.0.0.1:{}", way.target.port)), "{text}");
        assert_eq!(logins(&way.target), 0);
    }
}

#[test]
fn a_target_that_is_away_behind_a_jump_host() {
    needs_sshd!();
    let way = Way::new(&[JUMP]);
    let config = "Host cluster\n ProxyJump jump0\n Port 1\n";
    let error = open_error(way.through(config));
    assert!(matches!(&error, SshError::Forward { .. }) && error.is_temporary(), "it may come back: {error}");
    // The jump host looks the name up.
    let error = open_error(way.through("Host cluster\n ProxyJump jump0\n HostName nowhere.invalid\n"));
    assert!(matches!(&error, SshError::Forward { .. }) && error.to_string().contains("nowhere.invalid"), "{error}");
}

#[test]
fn host_keys_on_the_way() {
    needs_sshd!();
    let way = Way::new(&[JUMP]);
    let (jump, target) = (&way.jumps[0], &way.target);
    let line = |of: &Sshd, key: &Sshd| format!("{} {}\n", of.name(), key.host_key("ed25519"));
    let (right_jump, right_target) = (line(jump, jump), line(target, target));
    let through = "Host cluster\n ProxyJump jump0\n";

    way.know(&(line(jump, target) + &right_target));
    for policy in [HostKeyPolicy::Strict, HostKeyPolicy::AcceptNew] {
        let error = open_error(runner(SshOptions { host_keys: policy, ..options(way.config(through)) }));
        let SshError::HostKeyMismatch { name, offered, .. } = &error else { panic!("{error}") };
        assert_eq!(*name, jump.name());
        assert!(offered.contains(&fingerprint(&jump.path("host_ed25519"))), "{error}");
    }
    assert_eq!((logins(jump), logins(target)), (0, 0), "nobody logged in");

    // A right jump host that leads to a wrong target.
    way.know(&(right_jump.clone() + &line(target, jump)));
    let error = open_error(way.through(through));
    assert!(matches!(&error, SshError::HostKeyMismatch { name, .. } if *name == target.name()), "{error}");
    assert_eq!((logins(jump), logins(target)), (1, 0));

    way.know(&format!("{right_jump}{right_target}@revoked * {}\n", target.host_key("ed25519")));
    assert!(matches!(open_error(way.through(through)), SshError::HostKeyRevoked { .. }));

    // Unknown: the advice asks the jump host for the key, because nobody else can reach the target.
    way.know(&right_jump);
    let error = open_error(way.through(through));
    let SshError::UnknownHost { command, .. } = &error else { panic!("{error}") };
    assert!(command.starts_with("ssh -F ") && command.contains(" jump0 ssh-keyscan -p "), "{command}");

    // New keys of both are recorded under their own names.
    way.know("");
    assert_eq!(
        hello(&mut runner(SshOptions { host_keys: HostKeyPolicy::AcceptNew, ..options(way.config(through)) })).unwrap(),
        "hello\n you"
    );
    assert_eq!(fs::read_to_string(way.path("known_hosts")).unwrap(), right_jump + &right_target);
}

#[test]
fn each_host_has_its_own_key() {
    needs_sshd!();
    let way = Way::new(&[JUMP]);
    let stranger = way.target.path("id");
    let error = open_error(way.through(&format!("Host jump0\n User {}\nHost cluster\n ProxyJump jump0\n", "nobody-of-that-name")));
    let text = error.to_string();
    assert!(
        matches!(error, SshError::Refused { .. }) && text.contains(&format!("nobody-of-that-name@127.0.0.1:{}", way.jumps[0].port)),
        "{text}"
    );
    // A key that is given for the target is not shown to the jump host.
    let config = way.config("Host cluster\n ProxyJump jump0\n");
    let given = SshOptions { identity_files: vec![stranger.clone()], ..options(config) };
    assert_eq!(hello(&mut runner(given)).unwrap(), "hello\n you");
    let shown = way.jumps[0].log().contains(&fingerprint(&stranger));
    assert!(!shown, "{}", way.jumps[0].log());
}

#[test]
fn a_jump_host_that_dies_is_an_error_and_not_a_wait() {
    needs_sshd!();
    let way = Way::new(&[JUMP, JUMP]);
    let mut runner = way.through("Host cluster\n ProxyJump jump0,jump1\n");
    for n in [0, 1] {
        hello(&mut runner).unwrap();
        // While nothing goes on: the next call connects anew.
        kill_sessions(&way.jumps[n]);
        assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
        // In the middle of an answer.
        let killer = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(500));
                kill_sessions(&way.jumps[n]);
            });
            let began = Instant::now();
            let failure = runner.run("echo some; sleep 60", b"", LONG).unwrap_err();
            assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
            failure
        });
        let text = killer.to_string();
        assert!(matches!(&killer, RunError::Ssh(error) if error.is_temporary()), "{text}");
        assert!(text.contains("the way through") && text.contains(&format!("127.0.0.1:{}", way.jumps[n].port)), "{text}");
    }
    let before = runner.connections_opened();
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.connections_opened(), before + 1);
}

#[test]
fn a_jump_host_that_stops_is_given_up() {
    needs_sshd!();
    let way = Way::new(&[JUMP]);
    let limits =
        Limits { start: Duration::from_secs(2), handshake: Duration::from_secs(2), connect: Duration::from_secs(2), ..Limits::default() };
    let mut runner = runner(SshOptions { limits, ..options(way.config("Host cluster\n ProxyJump jump0\n")) });
    hello(&mut runner).unwrap();
    let stopped = sessions(&way.jumps[0]);
    let signal = |name: &str, pids: &[u32]| {
        for pid in pids {
            let _ = Command::new("kill").args(["-s", name, &pid.to_string()]).status();
        }
    };
    signal("STOP", &stopped);
    let began = Instant::now();
    // The connection does not answer; a new one does, because only its session has stopped.
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let now: Vec<u32> = sessions(&way.jumps[0]);
    signal("STOP", &now);
    let failure = runner.run("sleep 60", b"", Duration::from_secs(2)).unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}: {failure}", began.elapsed());
    signal("KILL", &now);
    signal("KILL", &stopped);
}

#[test]
fn an_idle_way_is_kept_and_nothing_is_left_behind() {
    needs_sshd!();
    // Servers that hang up on who says nothing for two seconds.
    let strict = "ClientAliveInterval 1\nClientAliveCountMax 2";
    let way = Way::new(&[&format!("{JUMP}\n{strict}")]);
    let limits = Limits { keepalive: Duration::from_secs(1), ..Limits::default() };
    let mut runner = runner(SshOptions { limits, ..options(way.config("Host cluster\n ProxyJump jump0\n")) });
    hello(&mut runner).unwrap();
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.connections_opened(), 1);
    drop(runner);
    let end = Instant::now() + Duration::from_secs(20);
    while !sessions(&way.jumps[0]).is_empty() || !sessions(&way.target).is_empty() {
        assert!(Instant::now() < end, "sessions are left on a server: {:?} {:?}", sessions(&way.jumps[0]), sessions(&way.target));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn what_ssh_reads_in_a_proxyjump_line() {
    needs_sshd!();
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    for line in ["gate", "bob@gate", "bob@gate:2222", "a,b@c:3,d", "none", "ssh://bob@gate:99", "[::1]:5"] {
        fs::write(&config, format!("Host cluster\n ProxyJump {line}\nHost cluster\n ProxyJump last\nHost *\n User u\n")).unwrap();
        let said = |config: &Path| {
            let output = Command::new("ssh").arg("-G").arg("-F").arg(config).arg("cluster").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let text = String::from_utf8(output.stdout).unwrap();
            text.lines().find_map(|line| Some(line.strip_prefix("proxyjump ")?.to_owned())).filter(|jump| jump != "none")
        };
        let runner = runner(options(config.clone()));
        let read: Vec<String> = runner.hosts().last().unwrap().jumps.iter().map(ToString::to_string).collect();
        let normal = said(&config).map(|jumps| jumps.replace("ssh://", ""));
        assert_eq!((!read.is_empty()).then(|| read.join(",")), normal, "{line}");
    }
}
