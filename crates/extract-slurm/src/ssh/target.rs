//! `[user@]host[:port]` as it is typed after `--ssh`.
//!
//! The input is one word; the output is user, host and port as far as they are given. Refused are
//! empty parts, control characters, blanks, a host or user that begins with `-` (another program
//! could interpret it as an option), and ports outside 1 to 65535. IPv6 addresses may be in
//! brackets, and must be when a port follows.

use std::fmt;
use std::net::Ipv6Addr;

use flowmine_schema::text::visible;

use super::SshError;

/// Where to connect, as typed. What is absent comes from the ssh config or is the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The login name, when given.
    pub user: Option<String>,
    /// The host as typed, without brackets: a name, an alias of the ssh config, an IPv4 or IPv6
    /// address.
    pub host: String,
    /// The TCP port, when given.
    pub port: Option<u16>,
}

impl Target {
    /// Reads `[user@]host[:port]`, `[user@][IPv6][:port]` or `[user@]IPv6` (without a port).
    ///
    /// # Errors
    /// [`SshError::Target`] with what is wrong.
    pub fn parse(given: &str) -> Result<Self, SshError> {
        parse(given).map_err(|why| SshError::Target { given: visible(given).into_owned(), why })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{}@", visible(user))?;
        }
        match self.port {
            Some(port) => f.write_str(&host_and_port(&self.host, port)),
            None => f.write_str(&visible(&self.host)),
        }
    }
}

/// `host:port`, with brackets around an IPv6 address, safe for a terminal.
pub(crate) fn host_and_port(host: &str, port: u16) -> String {
    let host = visible(host);
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn parse(given: &str) -> Result<Target, &'static str> {
    if given.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("it holds a blank or a control character");
    }
    if given.contains("://") {
        return Err("write it without a scheme");
    }
    // The last `@` divides, as in OpenSSH: a login name may hold one, a host name may not.
    let (user, rest) = match given.rsplit_once('@') {
        Some(("", _)) => return Err("the user name is empty"),
        Some((user, _)) if user.starts_with('-') => return Err("a user name cannot begin with `-`"),
        Some((user, rest)) => (Some(user.to_owned()), rest),
        None => (None, given),
    };
    let (host, port) = if let Some(bracketed) = rest.strip_prefix('[') {
        let (host, after) = bracketed.split_once(']').ok_or("the bracket is not closed")?;
        if !is_ipv6(host) {
            return Err("the text in brackets is not an IPv6 address");
        }
        match after {
            "" => (host, None),
            _ => (host, Some(after.strip_prefix(':').ok_or("after the bracket only `:port` may follow")?)),
        }
    } else if is_ipv6(rest) {
        (rest, None)
    } else {
        match rest.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err("it has several colons but is not an IPv6 address ([address]:port)");
            }
            Some((host, port)) => (host, Some(port)),
            None => (rest, None),
        }
    };
    if host.is_empty() {
        return Err("the host is empty");
    }
    if host.starts_with('-') {
        return Err("a host cannot begin with `-`");
    }
    let port = port.map(parse_port).transpose()?;
    Ok(Target { user, host: host.to_owned(), port })
}

fn parse_port(text: &str) -> Result<u16, &'static str> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if digits && port > 0 => Ok(port),
        _ => Err("the port is not a number from 1 to 65535"),
    }
}

/// An IPv6 address, also with a zone (`fe80::1%eth0`).
fn is_ipv6(text: &str) -> bool {
    let address = match text.split_once('%') {
        Some((address, zone)) if !zone.is_empty() && !zone.contains(':') => address,
        Some(_) => return false,
        None => text,
    };
    address.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn target(user: Option<&str>, host: &str, port: Option<u16>) -> Target {
        Target { user: user.map(str::to_owned), host: host.to_owned(), port }
    }

    #[test]
    fn forms() {
        for (given, expected) in [
            ("login", target(None, "login", None)),
            ("login:2222", target(None, "login", Some(2222))),
            ("ann@login.example.org", target(Some("ann"), "login.example.org", None)),
            ("ann@realm@login:22", target(Some("ann@realm"), "login", Some(22))),
            ("[::1]:22", target(None, "::1", Some(22))),
            ("[::1]", target(None, "::1", None)),
            ("::1", target(None, "::1", None)),
            ("ann@[fe80::1%eth0]:65535", target(Some("ann"), "fe80::1%eth0", Some(65535))),
            ("127.0.0.1:1", target(None, "127.0.0.1", Some(1))),
        ] {
            assert_eq!(Target::parse(given).unwrap(), expected, "{given}");
        }
    }

    #[test]
    fn refusals() {
        for given in [
            "",
            "@host",
            "user@",
            ":22",
            "host:",
            "host:0",
            "host:65536",
            "host:+22",
            "host:22x",
            "[::1",
            "[::1]22",
            "[host]:22",
            "a:b:c",
            "-oProxyCommand=x",
            "-l@host",
            "ho st",
            "host\n",
            "\u{1b}[31m",
            "ssh://host",
            "[::1]:",
            "fe80::1%:22",
        ] {
            let failure = Target::parse(given).unwrap_err().to_string();
            assert!(!failure.chars().any(char::is_control), "{failure:?}");
        }
    }

    #[test]
    fn brackets_come_back_in_messages() {
        assert_eq!(target(Some("a"), "::1", Some(22)).to_string(), "a@[::1]:22");
        assert_eq!(target(Some("a\u{1b}"), "h", None).to_string(), "a\\x1b@h");
    }

    proptest! {
        #[test]
        fn parsing_never_panics(given in ".{0,60}") {
            let _ = Target::parse(&given);
        }

        #[test]
        fn what_is_printed_is_read_again(
            user in proptest::option::of("[a-z][a-z0-9@._-]{0,8}"), host in "[a-z][a-z0-9.-]{0,12}",
            port in proptest::option::of(1u16..)
        ) {
            let target = Target { user, host, port };
            prop_assert_eq!(Target::parse(&target.to_string()).unwrap(), target);
        }
    }
}
