//! The SSH client against a real sshd, a real ssh-agent and keys that ssh-keygen made.
//!
//! Each test starts a server of its own and ends it. Where sshd is missing the tests are reported
//! as not run, and fail when `FLOWMINE_REQUIRE` holds `ssh`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its server has to fail")]

#[path = "support/sshd.rs"]
mod sshd;
#[path = "../../../tests/support/require.rs"]
mod support;

use std::fs;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use flowmine_extract_slurm::runner::{RunError, Runner};
use flowmine_extract_slurm::ssh::{HostKeyPolicy, Limits, PassphraseSource, SshError, SshOptions, SshRunner, Target};
use sshd::{Agent, Sshd, fingerprint, keygen, public};

/// Long enough for a loaded machine; no test waits for it.
const LONG: Duration = Duration::from_secs(180);

macro_rules! needs_sshd {
    () => {
        if !support::require("ssh", "sshd", sshd::find().is_some()) {
            return;
        }
    };
}

fn options(config: PathBuf) -> SshOptions {
    SshOptions { config_file: Some(config), passphrase: PassphraseSource::None, ..SshOptions::default() }
}

fn runner(options: SshOptions) -> SshRunner {
    SshRunner::new(&Target::parse("cluster").unwrap(), options).unwrap()
}

/// A server with an ed25519 host key that is known, and a client that may log in.
fn ready() -> (Sshd, SshRunner) {
    let server = Sshd::start(&["ed25519"], "");
    let key = server.client_key("id", "ed25519", "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let runner = runner(options(server.config(&format!("IdentityFile {}", key.display()))));
    (server, runner)
}

fn hello(runner: &mut SshRunner) -> Result<String, RunError> {
    let output = runner.run("echo hello; cat", b" you", LONG)?;
    assert!(output.success());
    Ok(String::from_utf8(output.stdout).unwrap())
}

fn open_error(options: SshOptions) -> SshError {
    match runner(options).open() {
        Ok(()) => panic!("it connected"),
        Err(error) => {
            let text = error.to_string();
            assert!(!text.chars().any(char::is_control), "{text:?}");
            eprintln!("{text}");
            error
        }
    }
}

fn line_in_a_file(text: &str) -> fs::File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn every_kind_of_key_logs_in() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let key = server.client_key(kind, kind, "");
        let mut runner = runner(options(server.config(&format!("IdentityFile {}", key.display()))));
        assert_eq!(hello(&mut runner).unwrap(), "hello\n you", "{kind}");
        assert_eq!(runner.describe(), format!("{}@127.0.0.1:{}", server.user, server.port));
    }
    // The same, as PEM files of OpenSSL's forms.
    for (name, kind, form) in [("pem_rsa", "rsa", "PEM"), ("pem_ecdsa", "ecdsa", "PEM"), ("pkcs8_rsa", "rsa", "PKCS8")] {
        let key = server.client_key(name, kind, "");
        let status = Command::new("ssh-keygen")
            .args(["-q", "-p", "-N", "", "-P", "", "-m", form, "-f"])
            .arg(&key)
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success());
        let mut runner = runner(options(server.config(&format!("IdentityFile {}", key.display()))));
        assert_eq!(hello(&mut runner).unwrap(), "hello\n you", "{name}");
    }
}

#[test]
fn encrypted_key_with_right_wrong_and_missing_passphrase() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    for (name, kind, form) in [("ed", "ed25519", ""), ("ec", "ecdsa", ""), ("rsa", "rsa", ""), ("pem", "rsa", "PEM")] {
        let key = server.client_key(name, kind, "correct horse");
        if !form.is_empty() {
            let mut command = Command::new("ssh-keygen");
            command.args(["-q", "-p", "-N", "correct horse", "-P", "correct horse", "-m", form, "-f"]).arg(&key);
            assert!(command.stdout(std::process::Stdio::null()).status().unwrap().success());
        }
        let config = server.config(&format!("IdentityFile {}", key.display()));

        let right = line_in_a_file("correct horse\nsomething else\n");
        let passphrase = PassphraseSource::Fd(right.as_raw_fd());
        let mut runner = runner(SshOptions { passphrase, ..options(config.clone()) });
        assert_eq!(hello(&mut runner).unwrap(), "hello\n you", "{name}");

        let wrong = line_in_a_file("battery staple\n");
        let passphrase = PassphraseSource::Fd(wrong.as_raw_fd());
        let failure = open_error(SshOptions { passphrase, ..options(config.clone()) });
        assert!(matches!(&failure, SshError::PassphraseWrong { file, .. } if *file == key), "{name}: {failure}");

        let failure = open_error(options(config));
        assert!(matches!(&failure, SshError::PassphraseMissing { file } if *file == key), "{name}: {failure}");
        assert!(failure.to_string().contains("--ssh-passphrase-fd"));
    }
}

#[test]
fn passphrase_is_kept_for_a_reconnect() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let key = server.client_key("enc", "ed25519", "pw");
    let file = line_in_a_file("pw\n");
    let passphrase = PassphraseSource::Fd(file.as_raw_fd());
    let config = server.config(&format!("IdentityFile {}", key.display()));
    let mut runner = runner(SshOptions { passphrase, ..options(config) });
    let session = runner.run("echo $PPID", b"", LONG).unwrap();
    drop(file);
    kill(&session.stdout);
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.connections_opened(), 2);
}

#[test]
fn key_that_others_can_read_is_refused() {
    needs_sshd!();
    let (server, mut good) = ready();
    fs::set_permissions(server.path("id"), fs::Permissions::from_mode(0o644)).unwrap();
    let failure = good.open().unwrap_err();
    assert!(matches!(failure, SshError::KeyPermissions { mode: 0o644, .. }), "{failure}");
}

#[test]
fn key_that_the_server_does_not_know_is_named() {
    needs_sshd!();
    let (server, _) = ready();
    let stranger = server.path("stranger");
    keygen(&stranger, "ed25519", "");
    let failure = open_error(options(server.config(&format!("IdentityFile {}", stranger.display()))));
    assert!(matches!(failure, SshError::Refused { .. }), "{failure}");
    assert!(failure.to_string().contains("stranger was refused"), "{failure}");
    let failure = open_error(options(server.config("IdentityFile /nonexistent/key")));
    assert!(failure.to_string().contains("/nonexistent/key"), "{failure}");
}

#[test]
fn agent_with_several_keys() {
    needs_sshd!();
    let (server, _) = ready();
    let agent = Agent::start();
    for name in ["other1", "other2", "other3"] {
        keygen(&server.path(name), "ed25519", "");
        agent.add(&server.path(name));
    }
    let key = server.client_key("agent_rsa", "rsa", "");
    agent.add(&key);
    let with_agent = format!("IdentityAgent {}\n", agent.socket.display());

    // The last of four, with no file at hand.
    let mut any = runner(options(server.config(&format!("{with_agent}IdentityFile /nonexistent"))));
    assert_eq!(hello(&mut any).unwrap(), "hello\n you");

    // Chosen by its public half, so that no other key is shown to the server.
    let only = format!("{with_agent}IdentitiesOnly yes\nIdentityFile {}.pub", key.display());
    let before = server.log().matches("Failed publickey").count();
    let mut chosen = runner(options(server.config(&only)));
    assert_eq!(hello(&mut chosen).unwrap(), "hello\n you");
    assert_eq!(server.log().matches("Failed publickey").count(), before);

    // IdentitiesOnly with a key that nobody accepts.
    let none = format!("{with_agent}IdentitiesOnly yes\nIdentityFile {}", server.path("other1").display());
    let failure = open_error(options(server.config(&none)));
    assert!(matches!(failure, SshError::Refused { .. }), "{failure}");
    assert!(failure.to_string().contains(&fingerprint(&server.path("other1"))), "{failure}");
    assert!(!failure.to_string().contains(&fingerprint(&server.path("other2"))), "{failure}");
}

#[test]
fn agent_with_too_many_keys_is_explained() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "MaxAuthTries 2");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let agent = Agent::start();
    for name in ["a", "b", "c", "d"] {
        keygen(&server.path(name), "ed25519", "");
        agent.add(&server.path(name));
    }
    let failure = open_error(options(server.config(&format!("IdentityAgent {}", agent.socket.display()))));
    assert!(matches!(failure, SshError::HungUp { .. }), "{failure}");
    assert!(failure.to_string().contains("IdentitiesOnly"), "{failure}");
}

#[test]
fn server_that_wants_more_than_one_key() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "AuthenticationMethods publickey,publickey");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let first = server.client_key("first", "ed25519", "");
    let second = server.client_key("second", "ecdsa", "");
    let failure = open_error(options(server.config(&format!("IdentityFile {}", first.display()))));
    assert!(matches!(failure, SshError::Refused { .. }), "{failure}");
    assert!(failure.to_string().contains("first was accepted, but the server wants more"), "{failure}");
    let both = format!("IdentityFile {}\nIdentityFile {}", first.display(), second.display());
    assert_eq!(hello(&mut runner(options(server.config(&both)))).unwrap(), "hello\n you");
}

#[test]
fn agent_that_is_locked_is_named() {
    needs_sshd!();
    let (server, _) = ready();
    let agent = Agent::start();
    agent.add(&server.path("id"));
    // An agent that asks for a confirmation and cannot.
    let status = Command::new("ssh-add")
        .args(["-q", "-c"])
        .arg(server.path("id"))
        .env("SSH_AUTH_SOCK", &agent.socket)
        .env_remove("DISPLAY")
        .status();
    assert!(status.unwrap().success());
    let failure = open_error(options(server.config(&format!("IdentityAgent {}\nIdentityFile none", agent.socket.display()))));
    assert!(matches!(failure, SshError::Agent { .. }), "{failure}");
}

#[test]
fn agent_that_is_gone_does_not_stop_a_key_file() {
    needs_sshd!();
    let (server, _) = ready();
    let extra = format!("IdentityAgent /nonexistent/agent\nIdentityFile {}", server.path("id").display());
    assert_eq!(hello(&mut runner(options(server.config(&extra)))).unwrap(), "hello\n you");
}

#[test]
fn agent_that_never_answers_is_given_up() {
    needs_sshd!();
    let (server, _) = ready();
    let socket = server.path("mute");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let limits = Limits { login: Duration::from_secs(2), ..Limits::default() };
    let config = server.config(&format!("IdentityAgent {}", socket.display()));
    let failure = open_error(SshOptions { limits, ..options(config) });
    assert!(matches!(failure, SshError::Agent { .. }), "{failure}");
}

#[test]
fn hashed_known_hosts() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let status = Command::new("ssh-keygen")
        .arg("-q")
        .arg("-H")
        .arg("-f")
        .arg(server.path("known_hosts"))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.unwrap().success());
    assert!(fs::read_to_string(server.path("known_hosts")).unwrap().starts_with("|1|"));
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
}

#[test]
fn rsa_only_entry_and_a_server_that_prefers_ed25519() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519", "ecdsa", "rsa"], "");
    let key = server.client_key("id", "ed25519", "");
    let config = server.config(&format!("IdentityFile {}", key.display()));
    for kind in ["rsa", "ecdsa", "ed25519"] {
        server.know(&format!("{} {}\n", server.name(), server.host_key(kind)));
        assert_eq!(hello(&mut runner(options(config.clone()))).unwrap(), "hello\n you", "{kind}");
    }
}

#[test]
fn revoked_key_is_refused_although_it_is_recorded() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let key = server.host_key("ed25519");
    server.know(&format!("{name} {key}\n@revoked * {key}\n", name = server.name()));
    let failure = runner.open().unwrap_err();
    assert!(matches!(failure, SshError::HostKeyRevoked { .. }), "{failure}");
    let text = failure.to_string();
    assert!(text.contains("known_hosts:2") && text.contains(&fingerprint(&server.path("host_ed25519"))), "{text}");
    // Also where new keys are accepted.
    server.know(&format!("@revoked * {key}\n"));
    let config = server.config(&format!("IdentityFile {}", server.path("id").display()));
    let failure = open_error(SshOptions { host_keys: HostKeyPolicy::AcceptNew, ..options(config) });
    assert!(matches!(failure, SshError::HostKeyRevoked { .. }), "{failure}");
}

#[test]
fn mismatch_shows_both_fingerprints() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let other = server.path("other_host");
    keygen(&other, "ed25519", "");
    server.know(&format!("# a comment\n{} {}\n", server.name(), public(&other)));
    for policy in [HostKeyPolicy::Strict, HostKeyPolicy::AcceptNew] {
        let config = server.config(&format!("IdentityFile {}", server.path("id").display()));
        let failure = open_error(SshOptions { host_keys: policy, ..options(config) });
        assert!(matches!(failure, SshError::HostKeyMismatch { .. }), "{failure}");
        let text = failure.to_string();
        assert!(text.contains(&fingerprint(&server.path("host_ed25519"))), "{text}");
        assert!(text.contains(&fingerprint(&other)) && text.contains("known_hosts:2"), "{text}");
    }
    assert!(runner.open().is_err());
    assert!(!server.log().contains("Accepted publickey"), "nobody logged in");
}

#[test]
fn a_recorded_key_of_another_type_is_a_mismatch_too() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let other = server.path("other_host");
    keygen(&other, "rsa", "");
    server.know(&format!("{} {}\n", server.name(), public(&other)));
    let text = runner.open().unwrap_err().to_string();
    assert!(text.contains(&fingerprint(&other)) && text.contains("ssh-rsa") && text.contains("ssh-ed25519"), "{text}");
}

#[test]
fn unknown_host_is_told_how_to_become_known() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let known = server.path("known_hosts");
    server.know("");
    let failure = runner.open().unwrap_err();
    assert!(matches!(failure, SshError::UnknownHost { .. }), "{failure}");
    let text = failure.to_string();
    assert!(text.contains(&fingerprint(&server.path("host_ed25519"))) && text.contains("ssh-ed25519"), "{text}");
    let command = format!("ssh-keyscan -p {} 127.0.0.1 >> {}", server.port, known.display());
    assert!(text.contains(&command), "{text}");
    assert!(!server.log().contains("Accepted publickey"), "nobody logged in");

    // The advice works.
    let status = Command::new("sh").arg("-c").arg(&command).stderr(std::process::Stdio::null()).status().unwrap();
    assert!(status.success());
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");

    server.know(&format!("@cert-authority * {}\n", server.host_key("ed25519")));
    let config = server.config("");
    assert!(open_error(options(config)).to_string().contains("@cert-authority line at"), "said why it does not count");
}

#[test]
fn accept_new_adds_the_key_once() {
    needs_sshd!();
    let (server, _) = ready();
    let known = server.path("known_hosts");
    fs::remove_file(&known).unwrap();
    let config = server.config(&format!("IdentityFile {}", server.path("id").display()));
    let new = SshOptions { host_keys: HostKeyPolicy::AcceptNew, ..options(config.clone()) };
    assert_eq!(hello(&mut runner(new.clone())).unwrap(), "hello\n you");
    assert_eq!(hello(&mut runner(new)).unwrap(), "hello\n you");
    assert_eq!(fs::metadata(&known).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(&known).unwrap(), format!("{} {}\n", server.name(), server.host_key("ed25519")));
    assert_eq!(hello(&mut runner(options(config))).unwrap(), "hello\n you", "strict is content with it");
}

#[test]
fn host_key_alias_and_bad_lines() {
    needs_sshd!();
    let (server, _) = ready();
    server.know(&format!("rubbish\nmy-cluster {}\n", server.host_key("ed25519")));
    let config = server.config(&format!("HostKeyAlias my-cluster\nIdentityFile {}", server.path("id").display()));
    let mut runner = runner(options(config));
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.warnings().len(), 1);
    assert!(runner.warnings()[0].contains("known_hosts:1: "), "{:?}", runner.warnings());
}

#[test]
fn port_user_and_key_can_come_without_a_config() {
    needs_sshd!();
    let (server, _) = ready();
    let empty = server.path("empty_config");
    fs::write(&empty, format!("UserKnownHostsFile {}\nIdentityAgent none\n", server.path("known_hosts").display())).unwrap();
    let target = Target::parse(&format!("{}@127.0.0.1:{}", server.user, server.port)).unwrap();
    let options = SshOptions { identity_files: vec![server.path("id")], ..options(empty) };
    assert_eq!(hello(&mut SshRunner::new(&target, options).unwrap()).unwrap(), "hello\n you");
}

fn kill(pid: &[u8]) {
    let pid: u32 = std::str::from_utf8(pid).unwrap().trim().parse().unwrap();
    assert!(Command::new("kill").arg("-9").arg(pid.to_string()).status().unwrap().success());
}

#[test]
fn one_connection_is_kept_and_opened_again_when_it_dies() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let first = runner.run("echo $PPID", b"", LONG).unwrap().stdout;
    for _ in 0..5 {
        assert_eq!(runner.run("echo $PPID", b"", LONG).unwrap().stdout, first, "the same connection");
    }
    assert_eq!(server.log().matches("Accepted publickey").count(), 1);
    kill(&first);
    assert_ne!(runner.run("echo $PPID", b"", LONG).unwrap().stdout, first);
    assert_eq!(runner.connections_opened(), 2);
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.connections_opened(), 2);
}

#[test]
fn a_command_that_had_produced_something_is_not_sent_again() {
    needs_sshd!();
    let (server, mut runner) = ready();
    hello(&mut runner).unwrap();
    let counter = server.path("counter");
    let name = format!("{}\n", counter.display());

    // It says something, then its connection dies.
    let failure = runner.run("read f; echo x >>$f; echo partial; sleep 1; kill -9 $PPID; sleep 1", name.as_bytes(), LONG).unwrap_err();
    assert!(matches!(failure, RunError::Ssh(SshError::Broken { .. })), "{failure}");
    assert_eq!(fs::read_to_string(&counter).unwrap(), "x\n", "sent once");
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you", "and the next call connects");
    assert_eq!(runner.connections_opened(), 2);

    // What it said and its end arrive together.
    let failure = runner.run("read f; echo y >>$f; echo partial; kill -9 $PPID; sleep 1", name.as_bytes(), LONG).unwrap_err();
    assert!(matches!(failure, RunError::Ssh(SshError::Broken { .. })), "{failure}");
    hello(&mut runner).unwrap();
    fs::write(&counter, "x\n").unwrap();

    // It says nothing: sent once more, and then it is an error.
    let failure = runner.run("read f; echo x >>$f; kill -9 $PPID; sleep 1", name.as_bytes(), LONG).unwrap_err();
    assert!(matches!(failure, RunError::Ssh(SshError::Broken { .. })), "{failure}");
    assert_eq!(fs::read_to_string(&counter).unwrap(), "x\nx\nx\n", "sent twice");
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
}

#[test]
fn server_that_is_gone_is_an_error_and_not_a_wait() {
    needs_sshd!();
    let (server, mut runner) = ready();
    let session = runner.run("echo $PPID", b"", LONG).unwrap().stdout;
    drop(server);
    kill(&session);
    let failure = runner.run("echo", b"", LONG).unwrap_err();
    assert!(
        matches!(&failure, RunError::Ssh(e @ SshError::Read { .. }) if !e.is_temporary())
            || matches!(&failure, RunError::Ssh(e) if e.is_temporary()),
        "{failure}"
    );
}

#[test]
fn command_that_takes_too_long_is_given_up() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    hello(&mut runner).unwrap();
    let failure = runner.run("sleep 30", b"", Duration::from_secs(1)).unwrap_err();
    assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
    let failure = runner.run("echo some; sleep 30", b"", Duration::from_secs(1)).unwrap_err();
    assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
    let failure = runner.run("cat /dev/zero", b"", Duration::from_secs(1)).unwrap_err();
    assert!(matches!(failure, RunError::TimedOut { .. }), "{failure}");
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
}

#[test]
fn server_that_never_shakes_hands_is_given_up() {
    needs_sshd!();
    let (server, _) = ready();
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::parse(&format!("x@127.0.0.1:{}", mute.local_addr().unwrap().port())).unwrap();
    let limits = Limits { handshake: Duration::from_secs(1), ..Limits::default() };
    let mut runner = SshRunner::new(&target, SshOptions { limits, ..options(server.config("")) }).unwrap();
    let failure = runner.open().unwrap_err();
    assert!(matches!(failure, SshError::TimedOut { step: "shaking hands", .. }), "{failure}");
}

#[test]
fn status_and_signal() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    let output = runner.run("echo out; echo err >&2; exit 7", b"", LONG).unwrap();
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice(), output.status), (&b"out\n"[..], &b"err\n"[..], 7));
    let output = runner.run("kill -KILL $$", b"", LONG).unwrap();
    assert_eq!((output.status, output.signal.as_deref()), (137, Some("KILL")));
    assert!(!output.success());
    assert!(runner.run("true", b"", LONG).unwrap().success());
}

#[test]
fn large_output_on_both_streams() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    // One after the other, so that whoever reads only standard output first meets a full window, and both at once.
    let output = runner.run("head -c 9000000 /dev/zero >&2; head -c 20000000 /dev/zero", b"", LONG).unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len(), output.status), (20_000_000, 9_000_000, 0));
    let output = runner.run("head -c 9000000 /dev/zero >&2 & head -c 9000000 /dev/zero; wait", b"", LONG).unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len(), output.status), (9_000_000, 9_000_000, 0));
    assert_eq!(runner.connections_opened(), 1);
}

#[test]
fn too_much_on_standard_error_is_refused() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    let failure = runner.run("cat /dev/zero >&2", b"", LONG).unwrap_err();
    assert!(matches!(failure, RunError::TooMuchOutput { stream: "standard error", .. }), "{failure}");
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
}

#[test]
fn big_input_in_every_order() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    let input: Vec<u8> = (0..12_000_000_u32).map(|i| (i.wrapping_mul(7919) >> 5) as u8).collect();
    // There and back at once: input waits for output to be read.
    assert!(runner.run("cat", &input, LONG).unwrap().stdout == input);
    // A lot of output first, then the input.
    let output = runner.run("head -c 9000000 /dev/zero; wc -c", &input, LONG).unwrap();
    assert!(output.stdout.ends_with(b"12000000\n"));
    // Nobody reads it.
    let output = runner.run("echo done", &input, LONG).unwrap();
    assert_eq!((output.stdout.as_slice(), output.status), (&b"done\n"[..], 0));
    assert_eq!(hello(&mut runner).unwrap(), "hello\n you");
    assert_eq!(runner.connections_opened(), 1);
}

#[test]
fn keys_are_exchanged_anew_under_load() {
    needs_sshd!();
    let server = Sshd::start(&["ed25519"], "RekeyLimit 1M");
    let key = server.client_key("id", "ed25519", "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let mut runner = runner(options(server.config(&format!("IdentityFile {}", key.display()))));
    let output = runner.run("head -c 5000000 /dev/zero >&2 & head -c 20000000 /dev/zero; wait", b"", LONG).unwrap();
    assert_eq!((output.stdout.len(), output.stderr.len(), output.status), (20_000_000, 5_000_000, 0));
    let input = vec![b'x'; 6_000_000];
    assert!(runner.run("cat", &input, LONG).unwrap().stdout == input);
    assert_eq!(runner.connections_opened(), 1);
}

#[test]
fn idle_connection_is_kept() {
    needs_sshd!();
    // The server asks after each silent second and hangs up after three questions in a row without a sign of life.
    let server = Sshd::start(&["ed25519"], "ClientAliveInterval 1\nClientAliveCountMax 3");
    let key = server.client_key("id", "ed25519", "");
    server.know(&format!("{} {}\n", server.name(), server.host_key("ed25519")));
    let config = server.config(&format!("IdentityFile {}", key.display()));
    let limits = Limits { keepalive: Duration::from_secs(1), ..Limits::default() };
    let mut runner = runner(SshOptions { limits, ..options(config) });
    hello(&mut runner).unwrap();
    std::thread::sleep(Duration::from_secs(14));
    hello(&mut runner).unwrap();
    assert_eq!(runner.connections_opened(), 1, "{}", server.log());
}

#[test]
fn scripts_with_special_characters_and_hostile_output() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    let output = runner.run("if ! false; then\n\tprintf \"%s\\n\" \"a\\\\b\"\nfi", b"", LONG).unwrap();
    assert_eq!(output.stdout, b"a\\b\n");
    let output = runner.run("cat", b"\xff\x1b[31m\0|\n", LONG).unwrap();
    assert_eq!(output.stdout, b"\xff\x1b[31m\0|\n");
    assert!(matches!(runner.run("echo 'x'", b"", LONG), Err(RunError::Quote)));
}

#[test]
fn runners_do_not_leave_server_processes() {
    needs_sshd!();
    let (_server, mut runner) = ready();
    let session = runner.run("echo $PPID", b"", LONG).unwrap().stdout;
    let session = PathBuf::from("/proc").join(std::str::from_utf8(&session).unwrap().trim());
    assert!(Path::new(&session).exists());
    drop(runner);
    for _ in 0..400 {
        if !session.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("{} is still there", session.display());
}

/// What `ssh -G` makes of a config, as far as we read it too.
fn as_ssh_reads(config: &Path, host: &str) -> Vec<String> {
    let output = Command::new("ssh").arg("-G").arg("-F").arg(config).arg(host).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let wanted =
        ["hostname ", "user ", "port ", "identityfile ", "userknownhostsfile ", "identitiesonly ", "hostkeyalias ", "connecttimeout "];
    let mut lines: Vec<String> = text.lines().filter(|l| wanted.iter().any(|w| l.starts_with(w))).map(str::to_owned).collect();
    lines.retain(|line| line != "connecttimeout none");
    lines.sort();
    lines
}

/// The same from our reading.
fn as_we_read(config: &Path, host: &str) -> Vec<String> {
    let runner = SshRunner::new(&Target::parse(host).unwrap(), options(config.to_owned())).unwrap();
    let read = runner.hosts().last().unwrap();
    let known: Vec<&str> = read.user_known_hosts.iter().map(|f| f.to_str().unwrap()).collect();
    let mut lines = vec![
        format!("hostname {}", read.host_name),
        format!("user {}", read.user),
        format!("port {}", read.port),
        format!("userknownhostsfile {}", known.join(" ")),
        format!("identitiesonly {}", if read.identities_only { "yes" } else { "no" }),
    ];
    lines.extend(read.identity_files.iter().map(|f| format!("identityfile {}", f.path.display())));
    lines.extend(read.host_key_alias.iter().map(|alias| format!("hostkeyalias {alias}")));
    lines.extend(read.connect_timeout.iter().map(|time| format!("connecttimeout {}", time.as_secs())));
    lines.sort();
    lines
}

#[test]
fn config_means_what_ssh_says() {
    needs_sshd!();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("parts")).unwrap();
    fs::write(at("parts/1.conf"), "User from-part\nHost b*\n  Port 77\n").unwrap();
    fs::write(at("parts/2.conf"), "Host *\n  ConnectTimeout 1m\n").unwrap();
    let include = format!("Include {}/*.conf\n", at("parts").display());
    // Every config names a key and a known_hosts file, because the defaults are written in different ways.
    let always = "Host *\n IdentityFile /k/last\n UserKnownHostsFile /kh/last\n";
    let configs = [
        "Host a\n HostName=x.example.org\n Port = 99\nHost *\n HostName no\n User bob\n".to_owned(),
        "Host * !a\n Port 5\nHost a b\n Port 6\nHost ?\n User q\n".to_owned(),
        "Host a\n\tIdentityFile \"/k/with blank\"\n\tIdentityFile /k/2 # two\nHost *\n IdentityFile /k/2\n IdentitiesOnly yes\n".to_owned(),
        "HostName %h.cluster\nHostKeyAlias all\nUserKnownHostsFile /kh/1 \"/kh/2\"\n".to_owned(),
        "Match all\n Port 8\nHost b\n Port 9\n User 'single quoted'\n".to_owned(),
        format!("Host b\n {include}Host *\n User u\n Port 3\n"),
        format!("{include}User u\nPort 3\n"),
        "ConnectTimeout 7\n  # indented comment\n\nport 4\nPORT 5\n".to_owned(),
        "Host a\nUser \"x\" # y\nHost \"b\"\nUser z\n".to_owned(),
    ];
    for config in configs {
        fs::write(at("config"), format!("{config}{always}")).unwrap();
        for host in ["a", "b", "bb", "me@a", "other.example.org"] {
            assert_eq!(as_we_read(&at("config"), host), as_ssh_reads(&at("config"), host), "{host} with\n{config}");
        }
    }
}
