//! A server over a real socket, and clients that are honest, hostile, slow or many.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::Duration;

use flowmine_api::groups::TableColumns;
use flowmine_api::{Silent, SourcePaths};
use flowmine_serve::{Address, Limits, Options, serve};
use serde_json::Value;

const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'\u{202e}\u{1b}[31m\u{2028}";

/// A server on a thread of its own.
struct Server {
    port: u16,
    token: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<bool>>,
}

/// An answer.
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Answer {
    fn read(mut from: impl Read) -> Self {
        let mut bytes = Vec::new();
        // A refused client may be cut off before it has read all.
        let _ = from.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let headers =
            head.lines().skip(1).filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        Self { status, headers: headers.collect(), body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn json(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/json", "{}", self.text());
        serde_json::from_slice(&self.body).unwrap()
    }
}

fn table(dir: &Path, rows: &[(&str, &str, i64)]) -> PathBuf {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let lines: Vec<String> =
        rows.iter().map(|(case, activity, second)| format!("{},{},{second}\n", quoted(case), quoted(activity))).collect();
    let path = dir.join("log.csv");
    fs::write(&path, format!("case,activity,timestamp\n{}", lines.concat())).unwrap();
    path
}

fn options(log: PathBuf) -> Options {
    Options {
        source: SourcePaths { logs: vec![log], ..SourcePaths::default() },
        is_temporary: false,
        columns: TableColumns::default(),
        address: Address::Port(0),
        hosts: Vec::new(),
        cache_bytes: 16 << 20,
        log_bytes: 64 << 20,
        limits: Limits::default(),
        observation: None,
    }
}

impl Server {
    fn start(options: Options) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = channel();
        let own = stop.clone();
        let run = move || {
            let ready = |ready: &flowmine_serve::Ready<'_>| tell.send(ready.url.to_owned());
            serve(&options, &own, &Silent, ready).unwrap()
        };
        let thread = std::thread::spawn(run);
        let url: String = told.recv().unwrap();
        let (address, token) = url.strip_prefix("http://127.0.0.1:").unwrap().split_once("/?token=").unwrap();
        Self { port: address.parse().unwrap(), token: token.to_owned(), stop, thread: Some(thread) }
    }

    fn log(rows: &[(&str, &str, i64)]) -> (tempfile::TempDir, Self) {
        let dir = tempfile::tempdir().unwrap();
        let server = Self::start(options(table(dir.path(), rows)));
        (dir, server)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A server that refuses what it has read of it closes before the rest is sent.
        let _ = stream.write_all(bytes);
        Answer::read(stream)
    }

    fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{headers}\r\n", self.port).as_bytes())
    }

    /// Asks as a program with the token.
    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &format!("Authorization: Bearer {}\r\n", self.token))
    }

    fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name} in {text}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

const ROWS: &[(&str, &str, i64)] = &[("a", "align", 1), ("a", "sort", 2), ("b", "align", 3), ("b", "merge", 5)];

#[test]
fn the_token_opens_once_and_the_cookie_after_that() {
    let (_dir, server) = Server::log(ROWS);
    for path in ["/", "/api/models", "/api/dfg", "/api/state", "/metrics", "/absent", "/?token=", "/?token=0", "/api/dfg?token=x"] {
        assert_eq!(server.ask("GET", path, "").status, 403, "{path}");
    }
    let half = &server.token[..32];
    assert_eq!(server.ask("GET", &format!("/?token={half}"), "").status, 403);
    assert_eq!(server.ask("GET", "/", &format!("Authorization: Bearer {half}\r\n")).status, 403);
    let opened = server.ask("GET", &format!("/?token={}&user=ann", server.token), "");
    let folder = opened.headers["location"].strip_suffix("?user=ann").unwrap();
    assert_eq!((opened.status, folder.len()), (303, 34));
    let cookie = &opened.headers["set-cookie"];
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    let with = |cookie: &str| server.ask("GET", &format!("{folder}api/models"), &format!("Cookie: {cookie}\r\n"));
    assert_eq!(with(pair).status, 200);
    // A browser sends it to servers of others on this machine, but not for other paths.
    assert_eq!(server.ask("GET", "/api/models", &format!("Cookie: {pair}\r\n")).status, 403);
    assert!(cookie.contains(&format!("; Path={folder};")), "{cookie}");
    let (name, value) = pair.split_once('=').unwrap();
    for cookie in
        [name.to_owned(), format!("{name}="), format!("{name}={}", server.token), format!("other={value}"), format!("{name}={value}0")]
    {
        assert_eq!(with(&cookie).status, 403);
    }
    // Neither secret is in what is served, and no address with one is passed on.
    let page = with(pair);
    assert!(!page.text().contains(&server.token) && !page.text().contains(value));
    assert_eq!(page.headers["referrer-policy"], "no-referrer");
    assert_eq!(page.headers["cache-control"], "no-store");
}

#[test]
fn other_sites_names_and_methods_are_refused() {
    let (_dir, server) = Server::log(ROWS);
    let bearer = format!("Authorization: Bearer {}\r\n", server.token);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FLOWMINE"] {
        assert_eq!(server.ask(method, "/api/models", &bearer).status, 405, "{method}");
    }
    let head = server.ask("HEAD", "/api/models", &bearer);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert!(head.headers["content-length"].parse::<usize>().unwrap() > 1000);
    for (header, status) in [
        (format!("Origin: http://127.0.0.1:{}\r\n", server.port), 200),
        ("Origin: https://evil.example.org\r\n".to_owned(), 403),
        ("Origin: null\r\n".to_owned(), 403),
        ("Sec-Fetch-Site: cross-site\r\n".to_owned(), 403),
        ("Sec-Fetch-Site: same-site\r\n".to_owned(), 403),
        ("Content-Length: 5\r\n".to_owned(), 413),
        ("Transfer-Encoding: chunked\r\n".to_owned(), 413),
    ] {
        assert_eq!(server.ask("GET", "/api/models", &format!("{bearer}{header}")).status, status, "{header}");
    }
    // A name of another that resolves to this machine.
    for host in ["evil.example.org", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example.org"] {
        let asked = server.send(format!("GET /api/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{bearer}\r\n").as_bytes());
        assert_eq!(asked.status, 421, "{host}");
    }
    let absolute = format!("GET http://127.0.0.1:{0}/ HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nConnection: close\r\n{bearer}\r\n", server.port);
    assert_eq!(server.send(absolute.as_bytes()).status, 400);
    assert_eq!(server.send(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status, 400);
}

#[test]
fn no_path_and_no_option_is_that_of_a_file() {
    let (dir, server) = Server::log(ROWS);
    for path in [
        "/../../etc/passwd",
        "/api/../../etc/passwd",
        "/%2e%2e/etc/passwd",
        "/api/%2e%2e%2fetc",
        "//etc/passwd",
        "/api/dfg/../x",
        "/log.csv",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let file = dir.path().join("log.csv");
    for query in ["with=/etc/passwd".to_owned(), format!("with={}", file.display()), "log=/etc/passwd".to_owned(), "dataset=/".to_owned()] {
        let answer = server.get(&format!("/api/compare?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert_eq!(answer.json()["format"], "flowmine-refusal");
    }
}

#[test]
fn large_requests_and_slow_clients_are_cut_off_and_others_are_served_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let limits = Limits { connections: 4, head: Duration::from_millis(500), stalled: Duration::from_millis(500) };
    let rows: Vec<(String, String)> = (0..4000).map(|n| (format!("case {n}"), format!("activity {}", n % 500))).collect();
    let rows: Vec<_> = rows.iter().zip(0..).map(|((case, activity), n)| (case.as_str(), activity.as_str(), n)).collect();
    let server = Server::start(Options { limits, ..options(table(dir.path(), &rows)) });
    assert_eq!(server.ask("GET", &format!("/?{}", "x".repeat(100_000)), "").status, 431);
    assert_eq!(server.ask("GET", "/", &"X: y\r\n".repeat(1000)).status, 431);
    assert_eq!(server.ask("GET", "/", &format!("X: {}\r\n", "y".repeat(100_000))).status, 431);
    // Those that send nothing or not all take every place, until they are cut off.
    let mut slow: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    slow.iter_mut().skip(1).for_each(|stream| stream.write_all(b"GET / HTTP/1.1\r\nHost:").unwrap());
    assert_eq!(server.get("/api/models").status, 200);
    for mut stream in slow {
        let mut rest = Vec::new();
        // It ends, with an answer or without.
        let _ = stream.read_to_end(&mut rest);
    }
    // A client that does not read: its place is free again.
    let lazy: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut stream = server.connect();
            let head = format!(
                "GET /api/dfg?format=svg HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
                server.port, server.token
            );
            (0..50).for_each(|_| drop(stream.write_all(head.as_bytes())));
            stream
        })
        .collect();
    assert_eq!(server.get("/api/models").status, 200);
    drop(lazy);
}

#[test]
fn models_with_options_formats_and_reasons() {
    let (_dir, server) = Server::log(ROWS);
    let models = server.get("/api/models").json();
    assert_eq!(models["format"], "flowmine-models");
    assert_eq!(models["models"].as_array().unwrap().len(), flowmine_api::models::MODELS.len());
    let dfg = server.get("/api/dfg").json();
    assert_eq!(dfg["format"], "flowmine-dfg");
    let only = server.get("/api/dfg?case=a");
    assert_eq!((only.status, only.headers["flowmine-complete"].as_str()), (200, "yes"));
    assert!(only.text().contains("sort") && !only.text().contains("merge"));
    let figure = server.get("/api/dfg?format=svg");
    assert_eq!(figure.headers["content-type"], "image/svg+xml");
    assert!(figure.text().starts_with("<?xml") && figure.headers["content-security-policy"].starts_with("default-src 'none'; style-src"));
    let element = server.get("/api/dfg?format=svg&embed=1");
    assert!(element.text().starts_with("<svg") && !element.text().contains(" style=\""), "{}", element.text());
    assert!(server.get("/api/dfg?format=csv").text().contains("align"));
    for (path, status, word) in [
        ("/api/dfg?format=gif", 400, "format"),
        ("/api/dfg?absent=1", 400, "absent"),
        ("/api/dfg?coverage=many", 400, "coverage"),
        ("/api/dfg?case=absent", 200, ""),
        ("/api/absent", 404, "nothing"),
        ("/api/waits", 400, ""),
        ("/api/now", 400, "log file"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(answer.text().contains(word), "{path}: {}", answer.text());
    }
    assert!(server.get("/api/dfg?case=absent").headers.contains_key("flowmine-messages"), "nothing passes the filters");
    // What the client has is not sent again.
    let etag = &server.get("/api/dfg").headers["etag"];
    let again = server.ask("GET", "/api/dfg", &format!("Authorization: Bearer {}\r\nIf-None-Match: {etag}\r\n", server.token));
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn hostile_names_are_text_in_json_and_figures() {
    let (_dir, server) = Server::log(&[(HOSTILE, HOSTILE, 1), (HOSTILE, "sort", 2)]);
    let dfg = server.get("/api/dfg");
    let names: Vec<String> =
        dfg.json()["activities"].as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap().to_owned()).collect();
    assert!(names.iter().any(|name| name == HOSTILE), "{names:?}");
    assert!(!dfg.text().contains(['\u{202e}', '\u{1b}', '\u{2028}']), "a terminal would obey them");
    for path in ["/api/dfg?format=svg", "/api/dfg?format=svg&embed=1"] {
        assert!(!server.get(path).text().contains("<img"), "{path}");
    }
    let refused = server.get("/?case-notion=%3Cimg%20src%3Dx%3E");
    assert!(refused.status == 400 && !refused.text().contains("<img"), "{}", refused.text());
}

#[test]
fn the_page_and_its_progress() {
    let (_dir, server) = Server::log(ROWS);
    let page = (0..600)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            server.get("/?events=all&model=dfg&coverage=80")
        })
        .find(|page| page.status != 200 || page.text().contains("id=\"cockpit\""))
        .unwrap();
    assert_eq!(page.status, 200);
    assert!(page.text().contains("connect-src &#39;self&#39;") || page.text().contains("connect-src &#x27;self&#x27;"), "{}", page.text());
    assert_eq!(server.get("/api/progress?events=all").json()["state"], "done");
    assert_eq!(server.get("/api/progress").json()["state"], "unknown");
    assert_eq!(server.get("/?model=dfg&zeta=1").status, 400);
}

#[test]
fn a_change_on_the_disk_is_another_state_and_another_result() {
    let (dir, server) = Server::log(ROWS);
    let state = || server.get("/api/state").json()["state"].as_str().unwrap().to_owned();
    let before = state();
    assert!(!server.get("/api/dfg").text().contains("publish"));
    table(dir.path(), &[("a", "align", 1), ("a", "publish", 2)]);
    let changed = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        state() != before
    });
    assert!(changed);
    assert!(server.get("/api/dfg").text().contains("publish"));
}

#[test]
fn many_clients_that_ask_for_the_same_have_it_computed_once() {
    let (_dir, server) = Server::log(ROWS);
    let answers: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..50).map(|_| scope.spawn(|| server.get("/api/dfg").body)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| answer == &answers[0] && !answer.is_empty()));
    // The model and, of /metrics, the queue.
    assert_eq!(server.metric("flowmine_serve_computed_total"), 2);
    assert_eq!(server.metric("flowmine_serve_requests_total{of=\"model\",status=\"200\"}"), 50);
}

#[test]
fn a_unix_socket_serves_its_user() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let server = Server::start(Options { address: Address::Socket(path.clone()), ..options(table(dir.path(), ROWS)) });
    let ask = |host: &str| {
        let mut stream = UnixStream::connect(&path).unwrap();
        let head =
            format!("GET /api/models HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\r\n", server.token);
        stream.write_all(head.as_bytes()).unwrap();
        Answer::read(stream).status
    };
    assert_eq!(ask("localhost:9000"), 200);
    assert_eq!(ask("evil.example.org"), 421);
    drop(server);
    assert!(!path.exists());
}
