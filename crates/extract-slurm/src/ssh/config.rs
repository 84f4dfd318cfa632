//! ssh_config(5) files, as far as they say how to reach one host.
//!
//! In go config files and the host as it was typed; out comes a [`HostConfig`]. Understood are
//! `Host` (patterns, negation), `Match all`, `Include`, HostName, User, Port, IdentityFile,
//! IdentitiesOnly, IdentityAgent, UserKnownHostsFile, GlobalKnownHostsFile, HostKeyAlias,
//! ConnectTimeout, ProxyJump; the first value wins, several IdentityFile lines add up. Other
//! `Match` blocks are left out with a warning. ProxyJump makes a [`route`] of several hosts;
//! ProxyCommand is refused with advice. Every other keyword is passed over: it is for ssh, and
//! [`beyond`] names those for which the ssh program is needed. Errors and warnings name file and
//! line.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use flowmine_files::{Entry, Folder, read_given};
use flowmine_schema::text::visible;

use super::{SshError, Target, pattern};

/// Maximum depth of `Include`; OpenSSH has the same limit.
const MAX_DEPTH: usize = 16;
/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The folder of the system's config.
const SYSTEM: &str = "/etc/ssh";
/// Maximum number of jump hosts in front of a host. It is above any real use, and ends a cycle of
/// aliases.
const MAX_JUMPS: usize = 8;

/// Where config files and home lie, and who runs this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The home folder, for `~` and `%d`.
    pub home: Option<PathBuf>,
    /// The local user's name, for `%u` and as the login name when none is given.
    pub user: Option<String>,
    /// Environment variables, for `${NAME}` in config files.
    pub variables: BTreeMap<String, String>,
}

impl Surroundings {
    /// The home folder, user and environment of this process.
    pub fn of_this_process() -> Self {
        let variables: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        // `id` asks the user database; USER and LOGNAME may be unset (cron) or stale (su).
        let user = Command::new("id")
            .arg("-un")
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|o| o.status.success())
            .and_then(|o| String::from_utf8(o.stdout).ok())
            .map(|name| name.trim().to_owned())
            .filter(|name| !name.is_empty())
            .or_else(|| variables.get("LOGNAME").or_else(|| variables.get("USER")).cloned());
        Self { home: std::env::home_dir().filter(|h| !h.as_os_str().is_empty()), user, variables }
    }

    /// The path `~/.ssh/NAME`; `None` without a home folder.
    pub fn dot_ssh(&self, name: &str) -> Option<PathBuf> {
        Some(self.home.as_ref()?.join(".ssh").join(name))
    }
}

/// One config file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path of the config file.
    pub file: PathBuf,
    /// Whether it is an error that there is no such file.
    pub required: bool,
    /// Whether to refuse it when others can write to it, as OpenSSH does with `~/.ssh/config`.
    pub private: bool,
    /// What relative `Include` paths begin at.
    pub include_base: PathBuf,
}

impl Source {
    /// The files that OpenSSH reads: the user's, then the system's; or only `given`, as with
    /// `ssh -F`.
    pub fn usual(given: Option<&Path>, surroundings: &Surroundings) -> Vec<Self> {
        let dot_ssh = surroundings.dot_ssh("");
        if let Some(file) = given {
            let include_base = dot_ssh.unwrap_or_else(|| file.parent().unwrap_or(Path::new("/")).to_owned());
            return vec![Self { file: file.to_owned(), required: true, private: false, include_base }];
        }
        let system = Path::new(SYSTEM);
        let user = dot_ssh.map(|base| Self { file: base.join("config"), required: false, private: true, include_base: base });
        let system = Self { file: system.join("ssh_config"), required: false, private: false, include_base: system.to_owned() };
        user.into_iter().chain([system]).collect()
    }
}

/// A private key file that the config names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityFile {
    /// Path of the private key file.
    pub path: PathBuf,
    /// Whether a config line or an option named it; otherwise it is one of the usual places.
    pub named: bool,
}

/// How the SSH agent is reached, as `IdentityAgent` of ssh_config(5) says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentSocket {
    /// No SSH agent is asked for keys.
    None,
    /// Path of the agent's Unix socket.
    Path(PathBuf),
}

/// How to reach one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostConfig {
    /// The name or address to connect to.
    pub host_name: String,
    /// The port to connect to.
    pub port: u16,
    /// The name to log in with.
    pub user: String,
    /// Private keys, in the order in which they are tried.
    pub identity_files: Vec<IdentityFile>,
    /// Whether the agent may only use the keys listed in `identity_files`.
    pub identities_only: bool,
    /// Which SSH agent is asked.
    pub agent: AgentSocket,
    /// The user's known_hosts files; a new key goes into the first.
    pub user_known_hosts: Vec<PathBuf>,
    /// The system's known_hosts files.
    pub global_known_hosts: Vec<PathBuf>,
    /// The name to look up in known_hosts instead of the host's.
    pub host_key_alias: Option<String>,
    /// The time that connecting may take.
    pub connect_timeout: Option<Duration>,
    /// The hosts to pass on the way, the first one first; none for a host that is reached directly.
    pub jumps: Vec<Target>,
    /// The first line for which the ssh program is needed.
    pub beyond: Option<Beyond>,
    /// What was left out or not understood, with file and line.
    pub warnings: Vec<String>,
}

/// File and line of an ssh config file, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: Arc<Path>,
    line: usize,
}

impl Place {
    fn error(&self, what: impl Into<String>) -> SshError {
        SshError::Config { file: self.file.to_path_buf(), line: self.line, what: what.into() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", visible(&self.file.to_string_lossy()), self.line)
    }
}

/// A value as written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Written<T> {
    value: T,
    place: Place,
}

/// What stands between here and the host. ProxyJump and ProxyCommand compete: the first of both in
/// the files counts.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Proxy {
    None,
    Jump(String),
    Command,
}

/// The values that apply, before tokens are replaced.
#[derive(Debug, Default)]
struct Found {
    host_name: Option<Written<String>>,
    user: Option<Written<String>>,
    port: Option<u16>,
    identity_files: Vec<Written<String>>,
    identities_only: Option<bool>,
    identity_agent: Option<Written<String>>,
    user_known_hosts: Option<Written<Vec<String>>>,
    global_known_hosts: Option<Written<Vec<String>>>,
    host_key_alias: Option<Written<String>>,
    connect_timeout: Option<Option<Duration>>,
    proxy: Option<Written<Proxy>>,
    beyond: Option<Beyond>,
    warnings: Vec<String>,
}

/// A line of the config that only the ssh program can follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beyond {
    /// The keyword, in lower case.
    pub keyword: String,
    /// File and line, safe for a terminal.
    pub place: String,
}

/// The first line of the config of the target or a host on the way for which the ssh program is
/// needed: a command on the way, certificates, methods of login other than keys, a connection
/// shared by ControlMaster, `Match` blocks.
///
/// Distributions switch GSSAPI on in the system's file for all hosts, so of that file only a
/// ProxyCommand counts.
///
/// # Errors
/// As [`route`], except that a ProxyCommand is a result and no error.
pub fn beyond(
    target: &Target,
    jumps: Option<&[Target]>,
    sources: &[Source],
    surroundings: &Surroundings,
) -> Result<Option<Beyond>, SshError> {
    match route(target, jumps, sources, surroundings) {
        // From the target, which is the last, back to the first host on the way.
        Ok(hosts) => Ok(hosts.into_iter().rev().find_map(|(_, host)| host.beyond)),
        Err(SshError::Proxy { file, line, .. }) => {
            let place = Place { file: Arc::from(file), line };
            Ok(Some(Beyond { keyword: "proxycommand".to_owned(), place: place.to_string() }))
        }
        Err(error) => Err(error),
    }
}

/// Whether a value asks for what only the ssh program has.
fn is_beyond(keyword: &str, arguments: &[String]) -> bool {
    let first = arguments.first().map(|value| value.to_ascii_lowercase()).unwrap_or_default();
    match keyword {
        "certificatefile" | "pkcs11provider" | "securitykeyprovider" | "controlpath" => first != "none" && !first.is_empty(),
        "gssapiauthentication" | "hostbasedauthentication" => matches!(first.as_str(), "yes" | "true"),
        "controlmaster" => !matches!(first.as_str(), "no" | "false"),
        "preferredauthentications" => first.split(',').any(|method| method != "publickey"),
        _ => false,
    }
}

/// How to reach the target: the hosts on the way in the order in which they are passed, and at last
/// the target itself.
///
/// `jumps` are those that were typed, which replace what the target's config says. As with
/// `ssh -J`, each host has its own section of the config; of several jump hosts in one list only
/// the first may be behind others by its own ProxyJump.
///
/// # Errors
/// Those of [`resolve`], and [`SshError::JumpCircle`] when a host stands twice on the way or the
/// way is too long.
pub fn route(
    target: &Target,
    jumps: Option<&[Target]>,
    sources: &[Source],
    surroundings: &Surroundings,
) -> Result<Vec<(Target, HostConfig)>, SshError> {
    let mut way: Vec<(Target, HostConfig)> = Vec::new();
    let (mut target, mut jumps) = (target.clone(), jumps.map(<[Target]>::to_vec));
    loop {
        let host = resolve(&target, jumps.as_deref(), sources, surroundings)?;
        let same =
            |(_, other): &&(Target, HostConfig)| (&other.host_name, other.port, &other.user) == (&host.host_name, host.port, &host.user);
        if way.len() > MAX_JUMPS || way.iter().any(|other| same(&other)) {
            let names: Vec<String> = way.iter().map(|(target, _)| target.to_string()).chain([target.to_string()]).collect();
            return Err(SshError::JumpCircle { way: names.join(", then ") });
        }
        let (next, rest) = match host.jumps.split_last() {
            Some((last, rest)) => (Some(last.clone()), rest.to_vec()),
            None => (None, Vec::new()),
        };
        // Of its own config the first host of a list knows more than the list.
        jumps = (!rest.is_empty()).then_some(rest);
        way.push((target, host));
        match next {
            Some(next) => target = next,
            None => break,
        }
    }
    way.reverse();
    Ok(way)
}

/// Reads the files and says how to reach the target. What the target itself says (user, port) comes
/// before them, and `jumps`, if there are any, instead of its ProxyJump or ProxyCommand.
///
/// # Errors
/// [`SshError::Config`] for a line that matters and cannot be understood, [`SshError::Read`] for a
/// file that cannot be read, [`SshError::Proxy`] when the host is to be reached through a command.
pub fn resolve(target: &Target, jumps: Option<&[Target]>, sources: &[Source], surroundings: &Surroundings) -> Result<HostConfig, SshError> {
    let mut found = Found::default();
    for source in sources {
        let of_system = source.include_base == Path::new(SYSTEM);
        let reader = Reader { host: &target.host, surroundings, include_base: &source.include_base, of_system };
        match read_given(&source.file, MAX_BYTES) {
            Ok(bytes) => {
                if source.private {
                    check_private(&source.file)?;
                }
                reader.read(&bytes, &source.file, 0, &mut found)?;
            }
            Err(error) if !source.required && is_absent(&error) => {}
            Err(error) => {
                return Err(SshError::Read { file: source.file.clone(), source: error, advice: "check the name and that you may read it" });
            }
        }
    }
    finish(found, target, jumps, surroundings)
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The user's own config can name commands and keys, so no other user may have write access to it.
fn check_private(file: &Path) -> Result<(), SshError> {
    let Ok(about) = std::fs::metadata(file) else { return Ok(()) };
    let trusted_owner = about.uid() == 0 || own_uid().is_none_or(|uid| uid == about.uid());
    if trusted_owner && about.mode() & 0o022 == 0 {
        return Ok(());
    }
    Err(SshError::Config {
        file: file.to_owned(),
        line: 1,
        what: format!("others own this file or can write to it (mode {:04o}); run `chmod go-w` on it", about.mode() & 0o7777),
    })
}

/// The user id that this process runs with. The standard library does not say it, but /proc does.
pub(crate) fn own_uid() -> Option<u32> {
    std::fs::metadata("/proc/self").ok().as_ref().map(Metadata::uid)
}

/// A line's keyword in lower case and its arguments; none for an empty line or a comment.
fn split_line(line: &str) -> Result<Option<(String, Vec<String>)>, &'static str> {
    let line = line.trim_matches([' ', '\t', '\r', '\u{c}']);
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let end = line.find([' ', '\t', '=', '"']).unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let rest = rest.trim_start_matches([' ', '\t']);
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Ok(Some((keyword.to_ascii_lowercase(), split_arguments(rest)?)))
}

/// Blank-separated words; single or double quotes keep blanks, a backslash keeps a quote, a
/// backslash or (outside quotes) a blank; an unquoted `#` at the beginning of a word begins a
/// comment.
fn split_arguments(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => {
                let keeps = |next: &char| matches!(next, '"' | '\'' | '\\') || (quote.is_none() && *next == ' ');
                let kept = chars.next_if(keeps).unwrap_or('\\');
                word.get_or_insert_default().push(kept);
            }
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (' ' | '\t', None) => words.extend(word.take()),
            ('#', None) if word.is_none() => break,
            (_, None) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed");
    }
    words.extend(word);
    Ok(words)
}

struct Reader<'a> {
    host: &'a str,
    surroundings: &'a Surroundings,
    include_base: &'a Path,
    /// Whether it reads the system's file.
    of_system: bool,
}

impl Reader<'_> {
    /// Reads one file's lines.
    fn read(&self, bytes: &[u8], file: &Path, depth: usize, found: &mut Found) -> Result<(), SshError> {
        let file: Arc<Path> = Arc::from(file);
        let mut active = true;
        for (index, line) in bytes.split(|&b| b == b'\n').enumerate() {
            let place = Place { file: Arc::clone(&file), line: index + 1 };
            let Ok(line) = std::str::from_utf8(line) else {
                // A comment in another encoding must not stop anybody.
                if line.trim_ascii_start().starts_with(b"#") {
                    continue;
                }
                return Err(place.error("the line is not UTF-8"));
            };
            let (keyword, arguments) = match split_line(line) {
                Ok(Some(parts)) => parts,
                Ok(None) => continue,
                Err(what) => return Err(place.error(what)),
            };
            match keyword.as_str() {
                "host" => {
                    if arguments.is_empty() {
                        return Err(place.error("Host without a pattern"));
                    }
                    active = pattern::list_matches(arguments.iter().map(String::as_str), self.host);
                }
                "match" => {
                    let all = matches!(&arguments[..], [only] if only.eq_ignore_ascii_case("all"));
                    active = all;
                    if !all {
                        self.note_beyond("match", &place, found);
                        found.warnings.push(format!(
                            "{place}: Match blocks other than `Match all` are not supported, this one is left out; \
                             use a Host block where it matters"
                        ));
                    }
                }
                // A block that does not apply cannot be entered through an included file either.
                "include" if active => self.include(&arguments, &place, depth, found)?,
                _ if active => {
                    if is_beyond(&keyword, &arguments) {
                        self.note_beyond(&keyword, &place, found);
                    }
                    apply(&keyword, arguments, place, found)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn note_beyond(&self, keyword: &str, place: &Place, found: &mut Found) {
        if !self.of_system && found.beyond.is_none() {
            found.beyond = Some(Beyond { keyword: keyword.to_owned(), place: place.to_string() });
        }
    }

    fn include(&self, arguments: &[String], place: &Place, depth: usize, found: &mut Found) -> Result<(), SshError> {
        if arguments.is_empty() {
            return Err(place.error("Include without a file"));
        }
        if depth >= MAX_DEPTH {
            return Err(place.error(format!("Include goes deeper than {MAX_DEPTH} files; is there a circle?")));
        }
        for argument in arguments {
            let path = with_home(argument, self.surroundings).map_err(|what| place.error(what))?;
            // Joining keeps an absolute path as it is.
            for file in glob(&self.include_base.join(path)) {
                match read_given(&file, MAX_BYTES) {
                    Ok(bytes) => self.read(&bytes, &file, depth + 1, found)?,
                    Err(error) if is_absent(&error) => {}
                    Err(error) => {
                        return Err(place.error(format!("cannot read {}: {error}", visible(&file.to_string_lossy()))));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The existing files that a path with `*` and `?` names, sorted; a path without them is itself.
fn glob(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for part in path.components() {
        let part = part.as_os_str().as_encoded_bytes();
        if !part.iter().any(|b| matches!(b, b'*' | b'?')) {
            for path in &mut found {
                path.push(std::ffi::OsStr::new(std::str::from_utf8(part).unwrap_or_default()));
            }
            continue;
        }
        let mut next = Vec::new();
        for folder in &found {
            let Ok(listed) = Folder::open(folder).and_then(|folder| folder.entries(usize::MAX)) else { continue };
            for Entry { name, .. } in listed.entries {
                let bytes = name.as_encoded_bytes();
                // As in a shell, a leading dot must be written.
                if (bytes.starts_with(b".") && !part.starts_with(b".")) || !pattern::matches(part, bytes) {
                    continue;
                }
                next.push(folder.join(name));
            }
        }
        next.sort();
        found = next;
    }
    found
}

/// Notes one keyword's value where it is the first.
fn apply(keyword: &str, arguments: Vec<String>, place: Place, found: &mut Found) -> Result<(), SshError> {
    let one = || match &arguments[..] {
        [] => Err(place.error(format!("{keyword} without a value"))),
        [one] if !one.is_empty() => Ok(one.clone()),
        [_] => Err(place.error(format!("{keyword} with an empty value"))),
        [..] => Err(place.error(format!("{keyword} with more than one value"))),
    };
    let written = |value| Written { value, place: place.clone() };
    let written_as = |value| Written { value, place: place.clone() };
    fn first<T>(slot: &mut Option<T>, value: T) {
        slot.get_or_insert(value);
    }
    match keyword {
        "hostname" => first(&mut found.host_name, written(one()?)),
        "user" => first(&mut found.user, written(one()?)),
        "hostkeyalias" => first(&mut found.host_key_alias, written(one()?)),
        "identityagent" => first(&mut found.identity_agent, written(one()?)),
        "identityfile" => found.identity_files.push(written(one()?)),
        "port" => match one()?.parse::<u16>() {
            Ok(port) if port > 0 => first(&mut found.port, port),
            _ => return Err(place.error("Port is not a number from 1 to 65535")),
        },
        "identitiesonly" => match one()?.to_ascii_lowercase().as_str() {
            "yes" | "true" => first(&mut found.identities_only, true),
            "no" | "false" => first(&mut found.identities_only, false),
            _ => return Err(place.error("IdentitiesOnly is neither yes nor no")),
        },
        "connecttimeout" => match parse_time(&one()?) {
            Some(time) => first(&mut found.connect_timeout, time),
            None => return Err(place.error("ConnectTimeout is not a time (seconds, or a form like 1m30s)")),
        },
        "userknownhostsfile" | "globalknownhostsfile" => {
            if arguments.is_empty() {
                return Err(place.error(format!("{keyword} without a value")));
            }
            let slot = match keyword {
                "userknownhostsfile" => &mut found.user_known_hosts,
                _ => &mut found.global_known_hosts,
            };
            slot.get_or_insert(Written { value: arguments, place });
        }
        "proxyjump" | "proxycommand" => {
            let none = matches!(&arguments[..], [only] if only.eq_ignore_ascii_case("none"));
            let proxy = match keyword {
                _ if none => Proxy::None,
                "proxyjump" => Proxy::Jump(one()?),
                _ => Proxy::Command,
            };
            first(&mut found.proxy, written_as(proxy));
        }
        "revokedhostkeys" => {
            found.warnings.push(format!("{place}: RevokedHostKeys is not supported; mark revoked keys with @revoked in a known_hosts file"))
        }
        _ => {}
    }
    Ok(())
}

/// Seconds, or numbers with units as in sshd_config(5), TIME FORMATS; the inner none means no
/// limit.
fn parse_time(text: &str) -> Option<Option<Duration>> {
    if text.eq_ignore_ascii_case("none") {
        return Some(None);
    }
    let mut total: u64 = 0;
    let mut number = String::new();
    for c in text.chars() {
        if c.is_ascii_digit() {
            number.push(c);
            continue;
        }
        let unit = match c.to_ascii_lowercase() {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 86_400,
            'w' => 604_800,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit)?)?;
        number.clear();
    }
    if !number.is_empty() {
        total = total.checked_add(number.parse().ok()?)?;
    } else if text.is_empty() {
        return None;
    }
    // A year is for ever here, and keeps additions to clocks from overflowing.
    Some((total > 0).then(|| Duration::from_secs(total.min(31_536_000))))
}

/// Replaces a leading `~` or `~/`.
fn with_home(text: &str, surroundings: &Surroundings) -> Result<PathBuf, String> {
    let Some(rest) = text.strip_prefix('~') else { return Ok(PathBuf::from(text)) };
    let Some(rest) = rest.strip_prefix('/').or(rest.is_empty().then_some("")) else {
        return Err("~USER is not supported, write the whole path".to_owned());
    };
    let home = surroundings.home.as_ref().ok_or("~ cannot be replaced: there is no home folder")?;
    Ok(home.join(rest))
}

/// Values of the `%` tokens of ssh_config(5).
struct Tokens<'a> {
    host: &'a str,
    port: Option<u16>,
    given_host: &'a str,
    remote_user: Option<&'a str>,
    surroundings: &'a Surroundings,
}

impl Tokens<'_> {
    /// Replaces `%%`, `%d`, `%h`, `%n`, `%p`, `%r`, `%u` and `${NAME}`.
    fn expand(&self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '%' => {
                    let token = chars.next().ok_or("there is a % at the end; write %%")?;
                    match token {
                        '%' => out.push('%'),
                        'h' => out.push_str(self.host),
                        'n' => out.push_str(self.given_host),
                        'p' if self.port.is_some() => out.push_str(&self.port.unwrap_or(22).to_string()),
                        'r' if self.remote_user.is_some() => out.push_str(self.remote_user.unwrap_or_default()),
                        'u' => out.push_str(self.surroundings.user.as_deref().ok_or("%u: there is no user name")?),
                        'd' => {
                            let home = self.surroundings.home.as_ref().ok_or("%d: there is no home folder")?;
                            out.push_str(home.to_str().ok_or("%d: the home folder is not UTF-8")?);
                        }
                        other => return Err(format!("the token %{} is not supported here", visible(&other.to_string()))),
                    }
                }
                '$' if chars.as_str().starts_with('{') => {
                    let (name, rest) = chars.as_str()[1..].split_once('}').ok_or("a ${ is not closed")?;
                    let value = self.surroundings.variables.get(name);
                    out.push_str(value.ok_or_else(|| format!("the variable {} is not set", visible(name)))?);
                    chars = rest.chars();
                }
                _ => out.push(c),
            }
        }
        Ok(out)
    }

    fn path(&self, text: &str) -> Result<PathBuf, String> {
        with_home(&self.expand(text)?, self.surroundings)
    }
}

/// The hosts of a ProxyJump line: `[user@]host[:port]` or `ssh://…`, several with commas between
/// them, tokens replaced.
fn parse_jumps(text: &str, tokens: &Tokens<'_>) -> Result<Vec<Target>, String> {
    // Split first, so that the value of a token cannot add a host.
    let jump = |part: &str| -> Result<Target, String> {
        let part = tokens.expand(part.trim_matches([' ', '\t']))?;
        let plain = part.strip_prefix("ssh://").map_or(part.as_str(), |rest| rest.strip_suffix('/').unwrap_or(rest));
        Target::parse(plain).map_err(|error| error.to_string())
    };
    text.split(',').map(jump).collect()
}

/// The hosts after `--ssh-jump`: as in a ProxyJump line, without tokens. `none` is no host.
///
/// # Errors
/// [`SshError::Target`] with what is wrong with one of them.
pub fn typed_jumps(text: &str) -> Result<Vec<Target>, SshError> {
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    text.split(',').map(|part| Target::parse(part.strip_prefix("ssh://").unwrap_or(part))).collect()
}

fn finish(found: Found, target: &Target, jumps: Option<&[Target]>, surroundings: &Surroundings) -> Result<HostConfig, SshError> {
    if let (Some(Written { value: Proxy::Command, place }), None) = (&found.proxy, jumps) {
        return Err(SshError::Proxy { host: visible(&target.host).into_owned(), file: place.file.to_path_buf(), line: place.line });
    }
    let port = target.port.or(found.port).unwrap_or(22);
    let mut tokens = Tokens { host: &target.host, given_host: &target.host, port: None, remote_user: None, surroundings };
    let host_name = match &found.host_name {
        Some(name) => {
            let expanded = tokens.expand(&name.value).map_err(|what| name.place.error(what))?;
            let bad = expanded.starts_with('-') || expanded.chars().any(|c| c.is_control() || c.is_whitespace());
            if bad || expanded.is_empty() {
                return Err(name.place.error("HostName is not a name or an address"));
            }
            expanded
        }
        None => target.host.clone(),
    };
    tokens.host = &host_name;
    tokens.port = Some(port);
    let user = match (&target.user, &found.user, &surroundings.user) {
        (Some(user), _, _) => user.clone(),
        (None, Some(user), _) => user.value.clone(),
        (None, None, Some(user)) => user.clone(),
        (None, None, None) => {
            return Err(SshError::Target { given: target.to_string(), why: "there is no user name; write user@host" });
        }
    };
    tokens.remote_user = Some(&user);
    let jumps = match (jumps, &found.proxy) {
        (Some(jumps), _) => jumps.to_vec(),
        (None, Some(Written { value: Proxy::Jump(text), place })) => parse_jumps(text, &tokens).map_err(|what| place.error(what))?,
        (None, _) => Vec::new(),
    };

    let mut identity_files: Vec<IdentityFile> = Vec::new();
    for file in &found.identity_files {
        if file.value.eq_ignore_ascii_case("none") {
            continue;
        }
        let path = tokens.path(&file.value).map_err(|what| file.place.error(what))?;
        if !identity_files.iter().any(|f| f.path == path) {
            identity_files.push(IdentityFile { path, named: true });
        }
    }
    if found.identity_files.is_empty() {
        let usual = ["id_ed25519", "id_ecdsa", "id_rsa"].iter().filter_map(|name| surroundings.dot_ssh(name));
        identity_files.extend(usual.map(|path| IdentityFile { path, named: false }));
    }

    let known_hosts = |written: &Option<Written<Vec<String>>>, usual: Vec<PathBuf>| -> Result<Vec<PathBuf>, SshError> {
        let Some(written) = written else { return Ok(usual) };
        let files = written.value.iter().filter(|f| !f.eq_ignore_ascii_case("none"));
        files.map(|f| tokens.path(f).map_err(|what| written.place.error(what))).collect()
    };
    let usual_user = ["known_hosts", "known_hosts2"].iter().filter_map(|n| surroundings.dot_ssh(n)).collect();
    let usual_global = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"].map(PathBuf::from).to_vec();

    let from_environment = |name: &str| match surroundings.variables.get(name) {
        Some(path) if !path.is_empty() => AgentSocket::Path(PathBuf::from(path)),
        _ => AgentSocket::None,
    };
    let agent = match &found.identity_agent {
        None => from_environment("SSH_AUTH_SOCK"),
        Some(agent) if agent.value.eq_ignore_ascii_case("none") => AgentSocket::None,
        Some(agent) if agent.value == "SSH_AUTH_SOCK" => from_environment("SSH_AUTH_SOCK"),
        Some(agent) => match agent.value.strip_prefix('$') {
            Some(name) if !name.starts_with('{') => from_environment(name),
            _ => AgentSocket::Path(tokens.path(&agent.value).map_err(|what| agent.place.error(what))?),
        },
    };
    let host_key_alias = match &found.host_key_alias {
        Some(alias) => Some(tokens.expand(&alias.value).map_err(|what| alias.place.error(what))?),
        None => None,
    };
    Ok(HostConfig {
        user_known_hosts: known_hosts(&found.user_known_hosts, usual_user)?,
        global_known_hosts: known_hosts(&found.global_known_hosts, usual_global)?,
        port,
        identity_files,
        identities_only: found.identities_only.unwrap_or(false),
        agent,
        host_key_alias,
        connect_timeout: found.connect_timeout.flatten(),
        jumps,
        beyond: found.beyond,
        warnings: found.warnings,
        user: user.clone(),
        host_name: host_name.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surroundings() -> Surroundings {
        Surroundings {
            home: Some(PathBuf::from("/home/ann")),
            user: Some("ann".to_owned()),
            variables: BTreeMap::from([("SSH_AUTH_SOCK".to_owned(), "/run/agent".to_owned())]),
        }
    }

    fn read(text: &str, target: &str) -> Result<HostConfig, SshError> {
        let target = Target::parse(target).unwrap();
        let surroundings = surroundings();
        let mut found = Found::default();
        let reader = Reader { host: &target.host, surroundings: &surroundings, include_base: Path::new("/nonexistent"), of_system: false };
        reader.read(text.as_bytes(), Path::new("cfg"), 0, &mut found)?;
        finish(found, &target, None, &surroundings)
    }

    fn paths(files: &[IdentityFile]) -> Vec<&str> {
        files.iter().map(|f| f.path.to_str().unwrap()).collect()
    }

    #[test]
    fn defaults_without_any_file() {
        let config = read("", "login").unwrap();
        assert_eq!((config.host_name.as_str(), config.port, config.user.as_str()), ("login", 22, "ann"));
        assert_eq!(paths(&config.identity_files), ["/home/ann/.ssh/id_ed25519", "/home/ann/.ssh/id_ecdsa", "/home/ann/.ssh/id_rsa"]);
        assert_eq!(config.user_known_hosts[0], Path::new("/home/ann/.ssh/known_hosts"));
        assert_eq!(config.agent, AgentSocket::Path(PathBuf::from("/run/agent")));
    }

    #[test]
    fn first_value_wins_and_identity_files_add_up() {
        let text = "\
IdentityFile ~/.ssh/first
Host hpc !other
    HostName=login.%h.example.org
    User = bob
    Port \"2222\"
    IdentityFile \"%d/keys/%r at %h by %u\"
    UserKnownHostsFile ~/kh1 \"/etc/k h2\"
    IdentitiesOnly yes
    HostKeyAlias cluster
    ConnectTimeout 1m30s
Host *
    HostName no
    User no
    Port 1
    IdentityFile /last # a comment
    IdentitiesOnly no
    ForwardX11 yes
";
        let config = read(text, "hpc").unwrap();
        assert_eq!(config.host_name, "login.hpc.example.org");
        assert_eq!((config.user.as_str(), config.port), ("bob", 2222));
        assert_eq!(paths(&config.identity_files), ["/home/ann/.ssh/first", "/home/ann/keys/bob at login.hpc.example.org by ann", "/last"]);
        assert_eq!(config.user_known_hosts, [Path::new("/home/ann/kh1"), Path::new("/etc/k h2")]);
        assert!(config.identities_only);
        assert_eq!(config.host_key_alias.as_deref(), Some("cluster"));
        assert_eq!(config.connect_timeout, Some(Duration::from_secs(90)));
        assert!(config.warnings.is_empty());

        let given = read(text, "carl@hpc:99").unwrap();
        assert_eq!((given.user.as_str(), given.port), ("carl", 99), "what was typed comes first");
        assert_eq!(read(text, "other").unwrap().host_name, "no");
    }

    #[test]
    fn match_all_counts_and_other_matches_are_told() {
        let text = "Match host hpc\n User no\nMatch all\n Port 5\nMatch exec \"true\"\n Port 6\n";
        let config = read(text, "hpc").unwrap();
        assert_eq!((config.user.as_str(), config.port), ("ann", 5));
        assert_eq!(config.warnings.len(), 2);
        assert!(config.warnings[0].starts_with("cfg:1: "), "{:?}", config.warnings);
        assert!(config.warnings[1].starts_with("cfg:5: "), "{:?}", config.warnings);
    }

    #[test]
    fn a_command_on_the_way_is_refused_with_advice() {
        let failure = read("Host hpc\n  ProxyCommand nc %h %p\n", "hpc").unwrap_err().to_string();
        assert!(failure.contains("cfg:2") && failure.contains("ProxyCommand") && failure.contains("--ssh-command"), "{failure}");
        assert!(read("Host hpc\nProxyCommand none\nHost *\nProxyJump gate\n", "hpc").unwrap().jumps.is_empty(), "none is a first value");
        assert!(read("ProxyJump gate\nProxyCommand nc %h %p\n", "hpc").is_ok(), "the first of both counts");
        assert!(read("Host else\nProxyCommand nc\n", "hpc").is_ok());
    }

    #[test]
    fn lines_for_the_ssh_program_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("cfg");
        let surroundings = Surroundings { home: Some("/home/me".into()), user: Some("me".to_owned()), variables: BTreeMap::new() };
        let keyword = |text: &str, host: &str, base: &str| {
            std::fs::write(&file, text).unwrap();
            let source = Source { file: file.clone(), required: true, private: false, include_base: base.into() };
            let target = Target::parse(host).unwrap();
            let found = beyond(&target, None, &[source], &surroundings).unwrap()?;
            let line = found.place.rsplit(':').next().unwrap().parse::<usize>().unwrap();
            Some(format!("{} {line}", found.keyword))
        };
        let own = |text: &str| keyword(text, "hpc", "/home/me/.ssh");
        assert_eq!(own("Host hpc\n  ProxyCommand nc %h %p\n").as_deref(), Some("proxycommand 2"));
        assert_eq!(own("CertificateFile ~/.ssh/id-cert.pub\n").as_deref(), Some("certificatefile 1"));
        assert_eq!(own("ControlMaster auto\nControlPath ~/.ssh/%C\n").as_deref(), Some("controlmaster 1"));
        assert_eq!(own("GSSAPIAuthentication yes\n").as_deref(), Some("gssapiauthentication 1"));
        assert_eq!(own("PreferredAuthentications publickey,keyboard-interactive\n").as_deref(), Some("preferredauthentications 1"));
        assert_eq!(own("Match exec \"true\"\n  User ann\n").as_deref(), Some("match 1"));
        assert_eq!(own("Host hpc\nProxyJump gate\nHost gate\nGSSAPIAuthentication yes\n").as_deref(), Some("gssapiauthentication 4"));
        let none = "Host hpc\nControlPath none\nGSSAPIAuthentication no\nPreferredAuthentications publickey\nProxyJump gate\nHost other\nControlMaster yes\n";
        assert_eq!(own(none), None);
        assert_eq!(keyword("Host *\n  GSSAPIAuthentication yes\n", "hpc", SYSTEM), None, "distributions write this for all hosts");
        assert_eq!(keyword("Host *\n  ProxyCommand nc\n", "hpc", SYSTEM).as_deref(), Some("proxycommand 2"));
    }

    #[test]
    fn jumps_as_written() {
        let jumps = |text: &str| {
            let config = read(text, "carl@hpc:99").unwrap();
            config.jumps.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(jumps("ProxyJump gate"), ["gate"]);
        assert_eq!(jumps("ProxyJump bob@gate:2222,[::1]:5"), ["bob@gate:2222", "[::1]:5"]);
        assert_eq!(jumps("ProxyJump ssh://bob@gate:2222/"), ["bob@gate:2222"]);
        assert_eq!(jumps("Host hpc\nProxyJump none\nHost *\nProxyJump gate"), [""; 0]);
        assert_eq!(jumps("Host else\nProxyJump gate"), [""; 0]);
        assert_eq!(jumps("HostName login.%h.org\nProxyJump %r@gate-%h:%p,x-%n"), ["carl@gate-login.hpc.org:99", "x-hpc"]);
        for text in
            ["ProxyJump", "ProxyJump a,", "ProxyJump a,,b", "ProxyJump a b", "ProxyJump \"a, -x\"", "ProxyJump gate:%k", "ProxyJump a:0"]
        {
            let failure = read(text, "hpc").unwrap_err().to_string();
            assert!(failure.starts_with("cfg:1: "), "{text}: {failure}");
        }
        assert!(typed_jumps("none").unwrap().is_empty());
        assert_eq!(typed_jumps("a,ssh://b:3").unwrap().len(), 2);
        assert!(typed_jumps("").is_err() && typed_jumps("a,").is_err());
    }

    /// A FIFO in the place of a config or of what it includes would keep `observe` waiting.
    #[test]
    fn only_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("fifo"), nix::sys::stat::Mode::from_bits_truncate(0o600)).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::fs::write(at("named"), "User eve\n").unwrap();
        std::os::unix::fs::symlink("named", at("link")).unwrap();
        let resolved = |file: PathBuf| {
            let source = Source { file, required: true, private: false, include_base: folder.path().to_owned() };
            resolve(&Target::parse("host").unwrap(), None, &[source], &surroundings()).map(|host| host.user).map_err(|e| e.to_string())
        };
        for name in ["fifo", "folder", "/dev/zero"] {
            let failure = resolved(at(name)).unwrap_err();
            assert!(failure.contains("neither a plain file nor a pipe"), "{name}: {failure}");
            std::fs::write(at("config"), format!("Include {name}\n")).unwrap();
            let failure = resolved(at("config")).unwrap_err();
            assert!(failure.contains("neither a plain file nor a pipe"), "{name}: {failure}");
        }
        let of_nobody = resolved(PathBuf::from("/dev/null")).unwrap();
        assert_ne!(of_nobody, "eve");
        for (pattern, user) in [("link", "eve"), ("lin?", "eve"), ("no*", of_nobody.as_str())] {
            std::fs::write(at("config"), format!("Include {pattern}\n")).unwrap();
            assert_eq!(resolved(at("config")).unwrap(), user, "{pattern}");
        }
    }

    /// The hosts of the way in a config, as `user@host:port`.
    fn way(text: &str, target: &str, jumps: Option<&str>) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, text).unwrap();
        let sources = [Source { file, required: true, private: false, include_base: folder.path().to_owned() }];
        let jumps = jumps.map(|jumps| typed_jumps(jumps).unwrap());
        let hosts = route(&Target::parse(target).unwrap(), jumps.as_deref(), &sources, &surroundings()).map_err(|e| e.to_string())?;
        Ok(hosts.iter().map(|(_, h)| format!("{}@{}:{}", h.user, h.host_name, h.port)).collect())
    }

    #[test]
    fn ways() {
        let text = "Host hpc\n User carl\n ProxyJump gate,inner\nHost gate\n HostName gate.org\n Port 2222\n ProxyJump outer\n\
                    Host inner\n ProxyJump nobody\n User ivy\nHost outer\n User otto\n";
        let all = ["otto@outer:22", "ann@gate.org:2222", "ivy@inner:22", "carl@hpc:22"];
        assert_eq!(way(text, "hpc", None).unwrap(), all, "the first of a list by its own config, the others as the list says");
        assert_eq!(way(text, "hpc", Some("none")).unwrap(), all[3..]);
        assert_eq!(way(text, "hpc", Some("x@outer")).unwrap(), ["x@outer:22", "carl@hpc:22"]);
        assert_eq!(way(text, "gate", None).unwrap(), all[..2]);
        assert_eq!(way("ProxyCommand nc\n", "hpc", Some("none")).unwrap(), ["ann@hpc:22"], "what was typed comes first");
        assert!(way("Host hpc\nProxyJump gate\nHost gate\nProxyCommand nc\n", "hpc", None).unwrap_err().contains("ProxyCommand"));
    }

    #[test]
    fn circles_are_refused() {
        for text in ["ProxyJump gate", "Host a\nProxyJump b\nHost b\nProxyJump a", "Host *\nProxyJump x%n"] {
            let failure = way(text, "a", None).unwrap_err();
            assert!(failure.contains("ProxyJump") && failure.contains("a, then "), "{text}: {failure}");
        }
    }

    #[test]
    fn errors_have_file_and_line() {
        for (text, line) in [
            ("Port x", 1),
            ("\nPort 0", 2),
            ("Port 70000", 1),
            ("# c\n\nUser", 3),
            ("User a b", 1),
            ("User \"a", 1),
            ("IdentitiesOnly maybe", 1),
            ("ConnectTimeout 5y", 1),
            ("IdentityFile %q", 1),
            ("IdentityFile ~bob/key", 1),
            ("IdentityFile ${NOT_SET_ANYWHERE}/key", 1),
            ("HostName -oProxyCommand=x", 1),
            ("HostName \"a b\"", 1),
            ("Host", 1),
            ("Include", 1),
            ("UserKnownHostsFile", 1),
        ] {
            let failure = read(text, "hpc").unwrap_err().to_string();
            assert!(failure.starts_with(&format!("cfg:{line}: ")), "{text:?}: {failure}");
        }
        assert!(read("Host else\nPort x\n", "hpc").is_ok(), "a block for others is not read closely");
        assert!(read("# \u{e4}", "hpc").is_ok());
    }

    #[test]
    fn agent_forms() {
        assert_eq!(read("IdentityAgent none", "h").unwrap().agent, AgentSocket::None);
        assert_eq!(read("IdentityAgent SSH_AUTH_SOCK", "h").unwrap().agent, AgentSocket::Path("/run/agent".into()));
        assert_eq!(read("IdentityAgent $SSH_AUTH_SOCK", "h").unwrap().agent, AgentSocket::Path("/run/agent".into()));
        assert_eq!(read("IdentityAgent ${SSH_AUTH_SOCK}2", "h").unwrap().agent, AgentSocket::Path("/run/agent2".into()));
        assert_eq!(read("IdentityAgent ~/a", "h").unwrap().agent, AgentSocket::Path("/home/ann/a".into()));
    }

    #[test]
    fn includes_are_sorted_relative_and_keep_to_their_block() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        let put = |name: &str, text: &str| {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("config", "Include d/*.conf\nHost x\n Include only-x\nHost *\n User last\n Include missing\n");
        put("d/2.conf", "Port 2\nUser two\n");
        put("d/1.conf", "Port 1\nHost nobody\n User one\n");
        put("d/.hidden.conf", "Port 3\n");
        put("only-x", "Host *\n HostName from-x\n");
        let sources = [Source { file: base.join("config"), required: true, private: true, include_base: base.to_owned() }];
        let go = |host: &str| resolve(&Target::parse(host).unwrap(), None, &sources, &surroundings()).unwrap();
        assert_eq!((go("y").port, go("y").user.as_str(), go("y").host_name.as_str()), (1, "two", "y"));
        assert_eq!(go("x").host_name, "from-x");

        put("config", "Include config\n");
        let failure = resolve(&Target::parse("y").unwrap(), None, &sources, &surroundings()).unwrap_err().to_string();
        assert!(failure.contains("circle") && failure.contains("config:1"), "{failure}");

        std::fs::remove_file(base.join("config")).unwrap();
        assert!(matches!(resolve(&Target::parse("y").unwrap(), None, &sources, &surroundings()), Err(SshError::Read { .. })));
    }

    #[test]
    fn a_config_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        std::fs::write(&file, "Port 3\n").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
        let mut source = Source { file, required: false, private: true, include_base: folder.path().to_owned() };
        let target = Target::parse("y").unwrap();
        assert!(resolve(&target, None, std::slice::from_ref(&source), &surroundings()).is_err());
        source.private = false;
        assert_eq!(resolve(&target, None, std::slice::from_ref(&source), &surroundings()).unwrap().port, 3);
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("5", Some(Some(5))),
            ("0", Some(None)),
            ("none", Some(None)),
            ("1h1m1s", Some(Some(3661))),
            ("2d3", Some(Some(172_803))),
            ("99999999999999999999", None),
            ("1x", None),
            ("s", None),
            ("", None),
        ] {
            let expected = expected.map(|t: Option<u64>| t.map(Duration::from_secs));
            assert_eq!(parse_time(text), expected, "{text}");
        }
    }

    #[test]
    fn words() {
        assert_eq!(split_arguments(r#"a "b c" 'd "e' f\ g "h\"i" \j # k"#).unwrap(), ["a", "b c", "d \"e", "f g", "h\"i", "\\j"]);
        assert_eq!(split_arguments("a#b \"\"").unwrap(), ["a#b", ""]);
        assert_eq!(split_line("Key=\"a b\"").unwrap().unwrap(), ("key".to_owned(), vec!["a b".to_owned()]));
        assert_eq!(split_line("Key\"a b\"").unwrap().unwrap(), ("key".to_owned(), vec!["a b".to_owned()]));
        assert_eq!(split_line(" key = a=b ").unwrap().unwrap(), ("key".to_owned(), vec!["a=b".to_owned()]));
    }

    proptest! {
        #[test]
        fn reading_never_panics(text in "(?s).{0,200}") {
            // Include would read files of this machine.
            if !text.to_ascii_lowercase().contains("include") {
                let _ = read(&text, "hpc");
            }
        }

        #[test]
        fn structured_lines_never_panic(
            lines in proptest::collection::vec(
                "(Host|Match|Port|User|HostName|IdentityFile|ConnectTimeout|ProxyJump|IdentityAgent|HostKeyAlias\
                 |UserKnownHostsFile|IdentitiesOnly)( |=| = )([a-z0-9%~$!*?\"'\\\\# ]|\\$\\{|\\}|%h|none|all){0,12}",
                0..8
            )
        ) {
            let _ = read(&lines.join("\n"), "hpc");
        }

        #[test]
        fn quoted_words_come_back(words in proptest::collection::vec("[a-zA-Z0-9 \\t#='~%]{0,8}", 0..6)) {
            let line = words.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(split_arguments(&line).unwrap(), words);
        }
    }
}
