//! Which requests are answered: decided by the head of a request alone.
//!
//! * Only GET and HEAD, without a body: the server is read-only.
//! * Only a `Host` that names this server. A foreign name that resolves to this machine (DNS
//!   rebinding) is refused.
//! * No `Origin` but the server's own, and no `Sec-Fetch-Site` of another page: what other sites
//!   request is refused, also with a cookie. Another port of this machine is another site.
//! * Only with the cookie or, for programs, the token as `Authorization: Bearer`. The address with
//!   the token is exchanged for the cookie, and redirects to the address without it. The cookie
//!   counts in a folder with a random name only, and browsers send it to no other.

use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, COOKIE, HOST, HeaderName, ORIGIN, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::keys::Keys;
use crate::query;

/// The names of this machine for itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];
/// The parameter with the token.
pub const TOKEN: &str = "token";
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What decides on requests.
#[derive(Debug)]
pub struct Gate {
    /// The secrets.
    pub keys: Keys,
    /// The port; `None` for a Unix socket, of which a forwarding can have any.
    pub port: Option<u16>,
    /// Other hosts, each with its port if it is not that of the scheme, such as that of a proxy.
    pub hosts: Vec<String>,
}

/// A request that may pass.
#[derive(Debug, PartialEq, Eq)]
pub enum Pass {
    /// It is answered.
    In,
    /// It has the token, and is redirected.
    Exchange {
        /// The address without the token.
        location: String,
        /// The cookie.
        cookie: String,
    },
}

/// A request that is refused.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused {
    /// The status of the answer.
    pub status: StatusCode,
    /// The reason, and what to do.
    pub why: &'static str,
}

const fn refused(status: StatusCode, why: &'static str) -> Refused {
    Refused { status, why }
}

impl Gate {
    /// Decides on a request.
    ///
    /// # Errors
    /// When it is refused.
    pub fn check(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Pass, Refused> {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(refused(StatusCode::METHOD_NOT_ALLOWED, "The server is read-only: it answers GET and HEAD."));
        }
        let is_empty = |value: &hyper::header::HeaderValue| value.as_bytes() == b"0";
        if headers.contains_key(TRANSFER_ENCODING) || headers.get(CONTENT_LENGTH).is_some_and(|length| !is_empty(length)) {
            return Err(refused(StatusCode::PAYLOAD_TOO_LARGE, "A request has no body here."));
        }
        let host = self.host(uri, headers)?;
        for origin in headers.get_all(ORIGIN) {
            let own = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            // A proxy may have another scheme; the name is what tells sites apart here.
            if !own.is_some_and(|(scheme, name)| matches!(scheme, "http" | "https") && name.eq_ignore_ascii_case(host)) {
                return Err(refused(StatusCode::FORBIDDEN, "Another site's page sent this request."));
            }
        }
        if !headers.get_all(FETCH_SITE).iter().all(|site| matches!(site.as_bytes(), b"none" | b"same-origin")) {
            let why = "Another site's page or link sent this request. Copy the address into the address bar.";
            return Err(refused(StatusCode::FORBIDDEN, why));
        }
        if let Some(pass) = self.exchange(uri) {
            return pass;
        }
        if self.is_known(uri, headers) {
            return Ok(Pass::In);
        }
        let why = "This address needs the token: open the address that `flowmine serve` printed. A restarted server has a new one.";
        Err(refused(StatusCode::FORBIDDEN, why))
    }

    /// The host of a request, which is this server.
    fn host<'h>(&self, uri: &Uri, headers: &'h HeaderMap) -> Result<&'h str, Refused> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) {
            (Some(host), None) if uri.authority().is_none() => host,
            _ => return Err(refused(StatusCode::BAD_REQUEST, "A request has one Host, and a path without one.")),
        };
        let is_loopback = LOOPBACK.iter().any(|name| {
            let rest = host.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).map(|start| &host[start.len()..]);
            rest.is_some_and(|rest| match self.port {
                Some(80) if rest.is_empty() => true,
                Some(port) => rest.strip_prefix(':') == Some(port.to_string().as_str()),
                None => rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
            })
        });
        if is_loopback || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host)) {
            Ok(host)
        } else {
            let why = "This name is not that of the server. Forward the same port as the server's, or name the host with --allow-host.";
            Err(refused(StatusCode::MISDIRECTED_REQUEST, why))
        }
    }

    /// The exchange of a token for a cookie; `None` where the address has no token.
    fn exchange(&self, uri: &Uri) -> Option<Result<Pass, Refused>> {
        let given = query::read(uri.query().unwrap_or_default());
        let (_, token) = given.iter().find(|(name, _)| name == TOKEN)?;
        // Elsewhere than at the page there is nothing to open.
        if uri.path() != "/" || !self.keys.token.is(token.as_bytes()) {
            return Some(Err(refused(StatusCode::FORBIDDEN, "The token is not that of this server. A restarted server has a new one.")));
        }
        let rest: Vec<_> = given.into_iter().filter(|(name, _)| name != TOKEN).collect();
        let mut location = format!("{}/", self.keys.folder);
        if !rest.is_empty() {
            location.push('?');
            location.push_str(&query::write(&rest));
        }
        let Keys { cookie_name, cookie, folder, .. } = &self.keys;
        let cookie = format!("{cookie_name}={}; Path={folder}/; HttpOnly; SameSite=Strict", cookie.digits());
        Some(Ok(Pass::Exchange { location, cookie }))
    }

    /// The path of a request below the folder of this server; `None` elsewhere.
    fn inside<'u>(&self, uri: &'u Uri) -> Option<&'u str> {
        uri.path().strip_prefix(self.keys.folder.as_str()).filter(|rest| rest.starts_with('/'))
    }

    /// The path of a request, as programs give it: without the folder.
    pub fn path<'u>(&self, uri: &'u Uri) -> &'u str {
        self.inside(uri).unwrap_or_else(|| uri.path())
    }

    /// Whether a request has the cookie in its folder, or the token as a program gives it.
    fn is_known(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
        let mut values = cookies.filter_map(|cookie| cookie.trim().split_once('=')).filter(|(name, _)| *name == self.keys.cookie_name);
        let bearer = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix("Bearer "));
        let has_cookie = values.any(|(_, value)| self.keys.cookie.is(value.as_bytes())) && self.inside(uri).is_some();
        has_cookie || bearer.is_some_and(|token| self.keys.token.is(token.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(port: Option<u16>) -> Gate {
        Gate { keys: Keys::new().expect("random numbers"), port, hosts: vec!["mine.example.org".to_owned()] }
    }

    fn ask(gate: &Gate, path: &str, headers: &[(&'static str, &str)]) -> Result<Pass, u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        gate.check(&Method::GET, &path.parse().expect("a path"), &map).map_err(|refused| refused.status.as_u16())
    }

    #[test]
    fn hosts_are_those_of_this_server() {
        let (port, socket) = (gate(Some(8765)), gate(None));
        let with = |gate: &Gate, host: &str| {
            let bearer = format!("Bearer {}", gate.keys.token.digits());
            ask(gate, "/", &[("host", host), ("authorization", &bearer)])
        };
        for host in ["127.0.0.1:8765", "localhost:8765", "LocalHost:8765", "[::1]:8765", "mine.example.org"] {
            assert_eq!(with(&port, host), Ok(Pass::In), "{host}");
        }
        for host in ["evil.example.org", "localhost", "localhost:80", "localhost:8765.evil", "localhost.evil:8765", "127.0.0.1:08765", "é"]
        {
            assert!(matches!(with(&port, host), Err(421 | 400)), "{host}");
        }
        assert_eq!(with(&socket, "localhost:1234"), Ok(Pass::In));
        assert_eq!(with(&socket, "localhost"), Ok(Pass::In));
        assert_eq!(with(&socket, "localhost:evil"), Err(421));
        assert_eq!(ask(&port, "/", &[]), Err(400));
        assert_eq!(ask(&port, "/", &[("host", "localhost:8765"), ("host", "localhost:8765")]), Err(400));
        assert_eq!(ask(&port, "http://localhost:8765/", &[("host", "localhost:8765")]), Err(400));
    }

    #[test]
    fn other_sites_are_refused_also_with_the_cookie() {
        let gate = gate(Some(8765));
        let cookie = format!("a=b; {}={}", gate.keys.cookie_name, gate.keys.cookie.digits());
        let at = |path: &str, name: &'static str, value: &str| {
            ask(&gate, path, &[("host", "localhost:8765"), ("cookie", &cookie), (name, value)])
        };
        let inside = format!("{}/api/now", gate.keys.folder);
        let with = |name: &'static str, value: &str| at(&inside, name, value);
        // Another user's server on another port can have the cookie only of the folder that it knows.
        for path in ["/api/now", "/", &format!("{}x/", gate.keys.folder), &gate.keys.folder] {
            assert_eq!(at(path, "sec-fetch-site", "none"), Err(403), "{path}");
        }
        for (name, value) in [("origin", "http://localhost:8765"), ("sec-fetch-site", "none"), ("sec-fetch-site", "same-origin")] {
            assert_eq!(with(name, value), Ok(Pass::In), "{value}");
        }
        for origin in ["http://localhost:8766", "http://127.0.0.1:8765", "http://evil.example.org", "null", "file://"] {
            assert_eq!(with("origin", origin), Err(403), "{origin}");
        }
        for site in ["cross-site", "same-site", ""] {
            assert_eq!(with("sec-fetch-site", site), Err(403), "{site}");
        }
    }

    #[test]
    fn the_token_is_exchanged_at_the_page_only() {
        let gate = gate(Some(8765));
        let token = gate.keys.token.digits().to_owned();
        let at = |path: &str| ask(&gate, path, &[("host", "localhost:8765")]);
        let Ok(Pass::Exchange { location, cookie }) = at(&format!("/?user=a%26b&token={token}&model=dfg")) else { panic!("an exchange") };
        let folder = &gate.keys.folder;
        assert_eq!((location, folder.len()), (format!("{folder}/?user=a%26b&model=dfg"), 33));
        assert!(cookie.ends_with(&format!("; Path={folder}/; HttpOnly; SameSite=Strict")) && !cookie.contains(&token), "{cookie}");
        for path in [format!("//evil.example.org/?token={token}"), format!("/api/now?token={token}"), "/?token=".to_owned(), "/".to_owned()]
        {
            assert_eq!(at(&path), Err(403), "{path}");
        }
    }
}
