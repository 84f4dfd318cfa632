//! A real sshd (and ssh-agent) of our own: temporary folder, free port on loopback, current user,
//! gone on drop.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// The sshd of this machine, if it has one, and the tools that the tests need with it.
pub fn find() -> Option<PathBuf> {
    let tools = ["ssh", "ssh-keygen", "ssh-keyscan", "ssh-agent", "ssh-add"];
    let path = std::env::var_os("PATH")?;
    let has = |tool: &str| std::env::split_paths(&path).any(|folder| folder.join(tool).is_file());
    if !tools.into_iter().all(has) {
        return None;
    }
    let folders = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin"].map(PathBuf::from);
    folders.into_iter().map(|f| f.join("sshd")).find(|p| p.is_file())
}

/// A running server.
pub struct Sshd {
    pub folder: tempfile::TempDir,
    pub port: u16,
    pub user: String,
    child: Child,
}

impl Sshd {
    /// Starts a server with host keys of these types (`ed25519`, `rsa`, `ecdsa`) and these extra
    /// config lines.
    pub fn start(host_keys: &[&str], extra: &str) -> Self {
        let sshd = find().expect("checked before");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        // sshd insists on this folder when it runs as root; elsewhere it is not ours to make.
        let _ = fs::create_dir_all("/run/sshd");
        for kind in host_keys {
            keygen(&at(&format!("host_{kind}")), kind, "");
        }
        fs::write(at("authorized_keys"), "").unwrap();
        let user = String::from_utf8(Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned();
        let mut last = String::new();
        // Between finding a free port and using it somebody else may take it.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut config = format!(
                "Port {port}\nListenAddress 127.0.0.1\nPidFile none\nUsePAM no\nStrictModes no\n\
                 PermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 AuthorizedKeysFile {}\nLogLevel VERBOSE\nMaxStartups 100\nPrintMotd no\nPrintLastLog no\n{extra}\n",
                at("authorized_keys").display()
            );
            for kind in host_keys {
                config.push_str(&format!("HostKey {}\n", at(&format!("host_{kind}")).display()));
            }
            fs::write(at("sshd_config"), config).unwrap();
            let mut child = Command::new(&sshd)
                .arg("-D")
                .arg("-f")
                .arg(at("sshd_config"))
                .arg("-E")
                .arg(at("log"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            for _ in 0..400 {
                if TcpStream::connect(("127.0.0.1", port)).is_ok() && child.try_wait().unwrap().is_none() {
                    return Self { folder, port, user, child };
                }
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                thread::sleep(Duration::from_millis(25));
            }
            let _ = child.kill();
            let _ = child.wait();
            last = fs::read_to_string(at("log")).unwrap_or_default();
        }
        panic!("sshd does not start: {last}");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a client key that the server accepts.
    pub fn client_key(&self, name: &str, kind: &str, passphrase: &str) -> PathBuf {
        let path = self.path(name);
        keygen(&path, kind, passphrase);
        let mut accepted = fs::read_to_string(self.path("authorized_keys")).unwrap();
        accepted.push_str(&fs::read_to_string(path.with_extension("pub")).unwrap());
        fs::write(self.path("authorized_keys"), accepted).unwrap();
        path
    }

    /// Type and base64 of one of the server's host keys.
    pub fn host_key(&self, kind: &str) -> String {
        public(&self.path(&format!("host_{kind}")))
    }

    /// `[127.0.0.1]:PORT`, as known_hosts files have it.
    pub fn name(&self) -> String {
        format!("[127.0.0.1]:{}", self.port)
    }

    /// Writes the known_hosts file.
    pub fn know(&self, content: &str) {
        fs::write(self.path("known_hosts"), content).unwrap();
    }

    /// Writes a client config in which `Host cluster` is this server, and gives its path.
    pub fn config(&self, extra: &str) -> PathBuf {
        let path = self.path("ssh_config");
        fs::write(
            &path,
            format!(
                "Host cluster\n  HostName 127.0.0.1\n  Port {}\n  User {}\n  UserKnownHostsFile {}\n  \
                 GlobalKnownHostsFile none\n{extra}\n  IdentityAgent none\n",
                self.port,
                self.user,
                self.path("known_hosts").display()
            ),
        )
        .unwrap();
        path
    }

    #[allow(dead_code, reason = "not every test that starts a server looks for its processes")]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            eprintln!("sshd said:\n{}", self.log());
        }
    }
}

pub fn keygen(path: &Path, kind: &str, passphrase: &str) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", kind, "-C", "flowmine test", "-N", passphrase, "-f"]).arg(path);
    if kind == "rsa" {
        command.args(["-b", "2048"]);
    }
    assert!(command.status().unwrap().success());
}

/// Type and base64 of a key's public half.
pub fn public(path: &Path) -> String {
    let line = fs::read_to_string(path.with_extension("pub")).unwrap();
    line.split(' ').take(2).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// The fingerprint as ssh-keygen prints it.
pub fn fingerprint(path: &Path) -> String {
    let output = Command::new("ssh-keygen").arg("-lf").arg(path.with_extension("pub")).output().unwrap();
    String::from_utf8(output.stdout).unwrap().split(' ').nth(1).unwrap().to_owned()
}

/// A running agent.
pub struct Agent {
    pub socket: PathBuf,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Agent {
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("agent");
        let child = Command::new("ssh-agent").args(["-D", "-a"]).arg(&socket).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        for _ in 0..400 {
            if socket.exists() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        Self { socket, child, _folder: folder }
    }

    pub fn add(&self, key: &Path) {
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
        let mut command = Command::new("ssh-add");
        command.arg("-q").arg(key).env("SSH_AUTH_SOCK", &self.socket).stdin(Stdio::null());
        assert!(command.status().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
