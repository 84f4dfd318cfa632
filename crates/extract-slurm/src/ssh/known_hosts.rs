//! known_hosts files (sshd(8), section SSH_KNOWN_HOSTS FILE FORMAT) and what they say about an
//! offered host key.
//!
//! In go files and the key that a server offers; out comes a [`Verdict`]. Plain names,
//! `[host]:port`, patterns, negations, hashed names, `@revoked` and `@cert-authority` are read here
//! and not by libssh2, which ignores `@revoked`. A revoked key is refused whatever else matches.
//! Certificates are not supported: `@cert-authority` lines never make a host known. A line that
//! cannot be read becomes a warning with its file and line.

use std::fmt;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::alphabet::STANDARD as STANDARD_ALPHABET;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD, STANDARD_NO_PAD};
use flowmine_files::{Folder, place_of, read_given};
use flowmine_schema::text::visible;
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::{SshError, pattern};

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Base64 as found in the wild: with or without padding.
pub(crate) const LENIENT: GeneralPurpose =
    GeneralPurpose::new(&STANDARD_ALPHABET, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// A public key: the bytes that are signed with, compared and hashed (RFC 4253, section 6.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key_type: String,
    blob: Vec<u8>,
}

impl PublicKey {
    /// A key from its wire form, which begins with its type; none when it does not.
    pub fn from_blob(blob: &[u8]) -> Option<Self> {
        let (length, rest) = blob.split_first_chunk::<4>()?;
        let key_type = rest.get(..usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
        let key_type = std::str::from_utf8(key_type).ok()?;
        // RFC 4251, section 6: names are printable ASCII, at most 64 characters.
        if key_type.is_empty() || key_type.len() > 64 || !key_type.bytes().all(|b| b.is_ascii_graphic()) {
            return None;
        }
        Some(Self { key_type: key_type.to_owned(), blob: blob.to_vec() })
    }

    /// The type, such as `ssh-ed25519`.
    pub fn key_type(&self) -> &str {
        &self.key_type
    }

    /// The key's wire form: its type, then its data (RFC 4253, section 6.6).
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// The fingerprint as OpenSSH prints it: `SHA256:` and base64 without padding.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&self.blob)))
    }

    /// The type as people call it: `ED25519`, `RSA`, `ECDSA`.
    pub fn family(&self) -> &str {
        match self.key_type.as_str() {
            "ssh-ed25519" => "ED25519",
            "ssh-rsa" => "RSA",
            "ssh-dss" => "DSA",
            other if other.starts_with("ecdsa-sha2-") => "ECDSA",
            other => other,
        }
    }
}

impl fmt::Display for PublicKey {
    /// The key's type and fingerprint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.key_type, self.fingerprint())
    }
}

/// File and line of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Path of the known_hosts file.
    pub file: Arc<Path>,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", visible(&self.file.to_string_lossy()), self.line)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    None,
    Revoked,
    CertAuthority,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Hosts {
    Patterns(Vec<String>),
    Hashed { salt: Vec<u8>, hash: Vec<u8> },
}

impl Hosts {
    fn match_name(&self, name: &str) -> bool {
        match self {
            Self::Patterns(patterns) => pattern::list_matches(patterns.iter().map(String::as_str), name),
            Self::Hashed { salt, hash } => hashed_name(salt, name).is_some_and(|mac| mac.verify_slice(hash).is_ok()),
        }
    }
}

fn hashed_name(salt: &[u8], name: &str) -> Option<Hmac<Sha1>> {
    let mut mac = Hmac::<Sha1>::new_from_slice(salt).ok()?;
    mac.update(name.as_bytes());
    Some(mac)
}

/// One usable line of a known_hosts file (sshd(8)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// File and line of the entry.
    pub place: Place,
    /// The host key that the line records.
    pub key: PublicKey,
    marker: Marker,
    hosts: Hosts,
}

/// The names under which a host is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostName {
    /// `host` for port 22, else `[host]:port`; lower case.
    pub main: String,
    /// For another port than 22 the name without it: OpenSSH accepts a key that stands there too,
    /// but its absence or difference says nothing.
    pub without_port: Option<String>,
}

impl HostName {
    /// The lookup names of a host and port, see `put_host_port` in OpenSSH.
    pub fn new(host: &str, port: u16) -> Self {
        let host = host.to_ascii_lowercase();
        if port == 22 {
            Self { main: host, without_port: None }
        } else {
            Self { main: format!("[{host}]:{port}"), without_port: Some(host) }
        }
    }

    /// A HostKeyAlias, which is looked up as it is, whatever the port.
    pub fn alias(alias: &str) -> Self {
        Self { main: alias.to_ascii_lowercase(), without_port: None }
    }
}

/// Verdict of the known_hosts files on an offered key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// The key is recorded for the host.
    Known,
    /// The key is marked as revoked, here.
    Revoked(&'a Entry),
    /// Other keys are recorded for the host, these.
    Mismatch(Vec<&'a Entry>),
    /// Nothing is recorded for the host, except perhaps certificate authorities, these.
    Unknown(Vec<&'a Entry>),
}

/// The content of several known_hosts files, in the order in which they were given.
#[derive(Debug, Clone, Default)]
pub struct KnownHosts {
    entries: Vec<Entry>,
    warnings: Vec<String>,
}

impl KnownHosts {
    /// Reads the files. A file that does not exist is like an empty one.
    ///
    /// # Errors
    /// [`SshError::Read`] for a file that exists and cannot be read: it could hold a revocation.
    pub fn load(files: &[PathBuf]) -> Result<Self, SshError> {
        let mut all = Self::default();
        for file in files {
            match read_given(file, MAX_BYTES) {
                Ok(bytes) => all.add(&bytes, file),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(source) => {
                    let advice = "make the file readable, or name another one with UserKnownHostsFile";
                    return Err(SshError::Read { file: file.clone(), source, advice });
                }
            }
        }
        Ok(all)
    }

    /// Adds the lines of one file; bad ones become warnings.
    pub fn add(&mut self, bytes: &[u8], file: &Path) {
        let file: Arc<Path> = Arc::from(file);
        for (index, line) in bytes.split(|&b| b == b'\n').enumerate() {
            let place = Place { file: Arc::clone(&file), line: index + 1 };
            match parse_line(line, &place) {
                Ok(Some(entry)) => self.entries.push(entry),
                Ok(None) => {}
                Err(what) => self.warnings.push(format!("{place}: {what}; the line is ignored")),
            }
        }
    }

    /// Lines that could not be read, with file and line.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn matching<'a>(&'a self, marker: Marker, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |e| e.marker == marker && e.hosts.match_name(name))
    }

    /// Checks `key`, offered by the host of this name, against the files.
    pub fn check(&self, name: &HostName, key: &PublicKey) -> Verdict<'_> {
        let names = || std::iter::once(name.main.as_str()).chain(name.without_port.as_deref());
        let with = |marker, name: &str| -> Vec<&Entry> {
            self.entries.iter().filter(|e| e.marker == marker && e.hosts.match_name(name)).collect()
        };
        // A revocation comes first, wherever it stands.
        for name in names() {
            if let Some(entry) = with(Marker::Revoked, name).into_iter().find(|e| e.key == *key) {
                return Verdict::Revoked(entry);
            }
        }
        for name in names() {
            if with(Marker::None, name).iter().any(|e| e.key == *key) {
                return Verdict::Known;
            }
        }
        let recorded = with(Marker::None, &name.main);
        if !recorded.is_empty() {
            return Verdict::Mismatch(recorded);
        }
        Verdict::Unknown(names().flat_map(|n| with(Marker::CertAuthority, n)).collect())
    }

    /// The key types recorded for a host, in the order of the files, each once.
    pub fn key_types<'a>(&'a self, name: &'a HostName) -> Vec<&'a str> {
        let mut types = Vec::new();
        let plain = name.without_port.as_deref().unwrap_or(&name.main);
        for entry in self.matching(Marker::None, &name.main).chain(self.matching(Marker::None, plain)) {
            if !types.contains(&entry.key.key_type()) {
                types.push(entry.key.key_type());
            }
        }
        types
    }

    /// Whether any name is hashed, so that a new one should be too.
    fn has_hashed(&self) -> bool {
        self.entries.iter().any(|e| matches!(e.hosts, Hosts::Hashed { .. }))
    }
}

/// The algorithms to ask for in the handshake, the recorded types first, so that a server with
/// several keys offers one that can be compared. RSA keys sign with SHA-2 only: `ssh-rsa`
/// signatures use SHA-1, which OpenSSH refuses too.
pub fn host_key_preference(recorded: &[&str]) -> String {
    const PLAIN: [&str; 5] = ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"];
    let known = recorded.iter().copied().filter(|t| PLAIN.contains(t));
    let others = PLAIN.iter().copied().filter(|t| !recorded.contains(t));
    let methods: Vec<&str> = known.chain(others).map(|t| if t == "ssh-rsa" { "rsa-sha2-512,rsa-sha2-256" } else { t }).collect();
    methods.join(",")
}

fn parse_line(line: &[u8], place: &Place) -> Result<Option<Entry>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let mut fields = line.split([' ', '\t', '\r']).filter(|f| !f.is_empty());
    let Some(mut first) = fields.next() else { return Ok(None) };
    if first.starts_with('#') {
        return Ok(None);
    }
    let mut marker = Marker::None;
    if first.starts_with('@') {
        marker = match first {
            "@revoked" => Marker::Revoked,
            "@cert-authority" => Marker::CertAuthority,
            other => return Err(format!("unknown marker {}", visible(other))),
        };
        first = fields.next().ok_or("a marker without a host")?;
    }
    let hosts = parse_hosts(first)?;
    let key_type = fields.next().ok_or("no key after the host")?;
    if key_type.bytes().all(|b| b.is_ascii_digit()) {
        return Err("a key of SSH version 1, which is not in use any more".to_owned());
    }
    let encoded = fields.next().ok_or("no key after the key's type")?;
    let blob = LENIENT.decode(encoded).map_err(|_| "the key is not base64".to_owned())?;
    let key = PublicKey::from_blob(&blob).ok_or("the key is cut or malformed")?;
    if key.key_type() != key_type {
        return Err(format!("the line states {} but the key is {}", visible(key_type), key.key_type()));
    }
    Ok(Some(Entry { place: place.clone(), key, marker, hosts }))
}

fn parse_hosts(field: &str) -> Result<Hosts, String> {
    if !field.starts_with('|') {
        return Ok(Hosts::Patterns(field.split(',').map(str::to_ascii_lowercase).collect()));
    }
    let parts: Vec<&str> = field.split('|').collect();
    let ["", "1", salt, hash] = parts[..] else {
        return Err("a hashed name of an unknown form".to_owned());
    };
    let salt = LENIENT.decode(salt).map_err(|_| "the salt of the hashed name is not base64".to_owned())?;
    let hash = LENIENT.decode(hash).map_err(|_| "the hashed name is not base64".to_owned())?;
    if hash.len() != 20 {
        return Err("the hashed name is not 20 bytes long".to_owned());
    }
    Ok(Hosts::Hashed { salt, hash })
}

/// Appends a key to a known_hosts file, which is made with mode 0600 (and its folder with 0700)
/// where it is missing. The name is hashed where names in `known` are.
///
/// # Errors
/// [`SshError::RecordHostKey`].
pub fn append(file: &Path, known: &KnownHosts, name: &HostName, key: &PublicKey) -> Result<(), SshError> {
    append_inner(file, known, name, key).map_err(|source| SshError::RecordHostKey { file: file.to_owned(), source })
}

fn append_inner(file: &Path, known: &KnownHosts, name: &HostName, key: &PublicKey) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        Folder::make(folder, 0o700)?;
    }
    let (folder, file_name) = place_of(file)?;
    let mut file = folder.append(&file_name, 0o600)?;
    let mut content = Vec::new();
    folder.read(&file_name)?.read_to_end(&mut content)?;
    let mut written = name.main.clone();
    if known.has_hashed() {
        let mut salt = [0_u8; 20];
        getrandom::fill(&mut salt).map_err(std::io::Error::other)?;
        if let Some(mac) = hashed_name(&salt, &name.main) {
            written = format!("|1|{}|{}", STANDARD.encode(salt), STANDARD.encode(mac.finalize().into_bytes()));
        }
    }
    // A last line without an end would swallow ours.
    let gap = if content.last().is_none_or(|&b| b == b'\n') { "" } else { "\n" };
    let line = format!("{gap}{written} {} {}\n", key.key_type(), STANDARD.encode(key.blob()));
    file.write_all(line.as_bytes())?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::PermissionsExt;

    fn key(key_type: &str, tail: &[u8]) -> PublicKey {
        let mut blob = (key_type.len() as u32).to_be_bytes().to_vec();
        blob.extend_from_slice(key_type.as_bytes());
        blob.extend_from_slice(tail);
        PublicKey::from_blob(&blob).unwrap()
    }

    fn text(key: &PublicKey) -> String {
        format!("{} {}", key.key_type(), STANDARD.encode(key.blob()))
    }

    fn known(content: &str) -> KnownHosts {
        let mut all = KnownHosts::default();
        all.add(content.as_bytes(), Path::new("kh"));
        all
    }

    #[test]
    fn fingerprint_is_the_one_that_ssh_keygen_prints() {
        // Made with ssh-keygen -t ed25519, fingerprint from ssh-keygen -l.
        let blob = LENIENT.decode("AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f").unwrap();
        let key = PublicKey::from_blob(&blob).unwrap();
        assert_eq!(key.key_type(), "ssh-ed25519");
        assert_eq!(key.fingerprint(), FINGERPRINT);
    }
    const FINGERPRINT: &str = "SHA256:ZkAslGjFiUHdGf/WUL8rQvkib4PTvQatUV0OUQSncCA";

    #[test]
    fn plain_port_pattern_and_negation() {
        let (a, b) = (key("ssh-ed25519", b"a"), key("ssh-ed25519", b"b"));
        let hosts = known(&format!(
            "login,10.0.0.1 {a}\n[login]:2222 {b}\n*.cluster,!bad.cluster {a} a comment\n\n# comment\n",
            a = text(&a),
            b = text(&b)
        ));
        assert!(hosts.warnings().is_empty());
        assert_eq!(hosts.check(&HostName::new("LOGIN", 22), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("10.0.0.1", 22), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("login", 2222), &b), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("x.cluster", 22), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("bad.cluster", 22), &a), Verdict::Unknown(vec![]));
        let Verdict::Mismatch(recorded) = hosts.check(&HostName::new("login", 22), &b) else { panic!() };
        assert_eq!(recorded[0].place.to_string(), "kh:1");
    }

    #[test]
    fn name_without_port_can_confirm_but_not_contradict() {
        let (a, b) = (key("ssh-ed25519", b"a"), key("ssh-ed25519", b"b"));
        let hosts = known(&format!("login {}\n", text(&a)));
        assert_eq!(hosts.check(&HostName::new("login", 2222), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("login", 2222), &b), Verdict::Unknown(vec![]));
        assert_eq!(hosts.check(&HostName::alias("login"), &a), Verdict::Known);
    }

    #[test]
    fn hashed_names() {
        // Made by `ssh-keygen -H` from the name `login.example.org`.
        const HASHED: &str = "|1|BZ4TH42qulglnLNqJlLUHBwE6Y0=|cCbQsejXaPra/7a9ME84BX6sEzw=";
        let a = key("ssh-ed25519", b"a");
        let hosts = known(&format!("{HASHED} {}\n", text(&a)));
        assert_eq!(hosts.check(&HostName::new("login.example.org", 22), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("Login.Example.org", 22), &a), Verdict::Known);
        assert_eq!(hosts.check(&HostName::new("other", 22), &a), Verdict::Unknown(vec![]));
    }

    #[test]
    fn revoked_wins_over_a_record_of_the_same_key() {
        let (a, b) = (key("ssh-ed25519", b"a"), key("ssh-ed25519", b"b"));
        for content in [
            format!("login {a}\n@revoked * {a}\n", a = text(&a)),
            format!("@revoked * {a}\nlogin {a}\n", a = text(&a)),
            format!("[login]:22 {a}\n@revoked login {a}\n", a = text(&a)),
        ] {
            let hosts = known(&content);
            assert!(matches!(hosts.check(&HostName::new("login", 22), &a), Verdict::Revoked(_)), "{content}");
        }
        let hosts = known(&format!("@revoked login {}\n", text(&a)));
        assert!(matches!(hosts.check(&HostName::new("login", 2222), &a), Verdict::Revoked(_)), "whatever the port");
        assert_eq!(hosts.check(&HostName::new("login", 22), &b), Verdict::Unknown(vec![]));
    }

    #[test]
    fn certificate_authority_does_not_make_a_host_known() {
        let a = key("ssh-ed25519", b"a");
        let hosts = known(&format!("@cert-authority *.cluster {}\n", text(&a)));
        let Verdict::Unknown(authorities) = hosts.check(&HostName::new("n1.cluster", 22), &a) else { panic!() };
        assert_eq!(authorities.len(), 1);
        assert!(hosts.key_types(&HostName::new("n1.cluster", 22)).is_empty());
    }

    #[test]
    fn bad_lines_are_told_with_their_place() {
        let a = key("ssh-ed25519", b"a");
        let hosts = known(&format!(
            "login\nlogin ssh-rsa\nlogin ssh-ed25519 !!!\n@what login {a}\nlogin ssh-rsa {blob}\n|2|a|b {a}\n\
             login 1024 35 123\nlogin ssh-ed25519 AAAA\n@revoked\n|1|AAAA|AAAA {a}\nlogin {a}\n",
            a = text(&a),
            blob = STANDARD.encode(a.blob())
        ));
        assert_eq!(hosts.warnings().len(), 10, "{:#?}", hosts.warnings());
        for (index, warning) in hosts.warnings().iter().enumerate() {
            assert!(warning.starts_with(&format!("kh:{}: ", index + 1)), "{warning}");
        }
        assert_eq!(hosts.check(&HostName::new("login", 22), &a), Verdict::Known);
    }

    #[test]
    fn preference_begins_with_what_is_recorded() {
        let hosts = known(&format!("login {}\nlogin {}\n", text(&key("ssh-rsa", b"r")), text(&key("ssh-dss", b"d"))));
        let name = HostName::new("login", 22);
        assert_eq!(hosts.key_types(&name), ["ssh-rsa", "ssh-dss"]);
        assert_eq!(
            host_key_preference(&hosts.key_types(&name)),
            "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521"
        );
        assert!(host_key_preference(&[]).starts_with("ssh-ed25519,"));
        assert!(host_key_preference(&[]).ends_with("rsa-sha2-512,rsa-sha2-256"));
    }

    #[test]
    fn only_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        for path in [fifo, folder.path().to_owned(), PathBuf::from("/dev/zero")] {
            assert!(matches!(KnownHosts::load(&[path]), Err(SshError::Read { .. })));
        }
        assert!(KnownHosts::load(&["/dev/null".into(), folder.path().join("none")]).unwrap().entries.is_empty());
    }

    #[test]
    fn appended_key_is_known_and_the_file_private() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/known_hosts");
        let (a, b) = (key("ssh-ed25519", b"a"), key("ssh-ed25519", b"b"));
        let (first, second) = (HostName::new("login", 2222), HostName::new("other", 22));
        append(&file, &KnownHosts::default(), &first, &a).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(&file).unwrap().starts_with("[login]:2222 ssh-ed25519 "));

        // A file without a last line end, and with hashed names.
        let salt = [7_u8; 20];
        let hash = hashed_name(&salt, "x").unwrap().finalize().into_bytes();
        let mut content = std::fs::read_to_string(&file).unwrap();
        content.push_str(&format!("|1|{}|{} {}", STANDARD.encode(salt), STANDARD.encode(hash), text(&a)));
        std::fs::write(&file, content).unwrap();
        let known = KnownHosts::load(std::slice::from_ref(&file)).unwrap();
        append(&file, &known, &second, &b).unwrap();
        let known = KnownHosts::load(std::slice::from_ref(&file)).unwrap();
        assert!(known.warnings().is_empty(), "{:?}", known.warnings());
        assert_eq!(known.check(&first, &a), Verdict::Known);
        assert_eq!(known.check(&second, &b), Verdict::Known);
        assert!(!std::fs::read_to_string(&file).unwrap().contains("other"), "the name is hashed");
    }

    #[test]
    fn missing_file_is_empty_and_unreadable_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KnownHosts::load(&[folder.path().join("none")]).unwrap().entries.is_empty());
        assert!(matches!(KnownHosts::load(&[folder.path().to_owned()]), Err(SshError::Read { .. })));
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut all = KnownHosts::default();
            all.add(&bytes, Path::new("kh"));
            let _ = all.check(&HostName::new("login", 22), &key("ssh-ed25519", b"a"));
        }

        #[test]
        fn structured_lines_never_panic(
            line in "(@revoked |@cert-authority )?(\\||[a-z*!,?]|1|A|=|\\[|\\]){0,20} (ssh-rsa|ssh-ed25519|35) [A-D/+=]{0,40}"
        ) {
            let mut all = KnownHosts::default();
            all.add(line.as_bytes(), Path::new("kh"));
            let _ = all.check(&HostName::new("login", 2222), &key("ssh-ed25519", b"a"));
        }

        #[test]
        fn blobs_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            if let Some(key) = PublicKey::from_blob(&bytes) {
                prop_assert_eq!(key.blob(), &bytes[..]);
            }
        }
    }
}
