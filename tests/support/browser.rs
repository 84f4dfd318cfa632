//! A headless Chromium, driven by chromedriver: WebDriver's JSON over HTTP, as far as tests of
//! pages need it (<https://www.w3.org/TR/webdriver2/>).

use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::has_program;
use super::require::require;

/// The longest time that a page may take to be ready, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Browser {
    /// Starts a browser that saves downloads to a directory; `None` where there is none and none is
    /// required.
    pub fn start(downloads: &Path) -> Option<Self> {
        if !require("chromium", "chromium with chromedriver", has_program("chromium") && has_program("chromedriver")) {
            return None;
        }
        let mut driver =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("chromedriver starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| line.rsplit_once("started successfully on port ")?.1.trim_end_matches('.').parse().ok())
            .expect("chromedriver prints its port");
        // It must never wait for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self { driver, port, session: String::new() };
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=1280,900"];
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "prefs": {"download.default_directory": downloads, "download.prompt_for_download": false}},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = browser.ask("POST", "/session", &capabilities);
        browser.session = session["sessionId"].as_str().expect("a session").to_owned();
        Some(browser)
    }

    /// Sends a command and returns the first line and the body of its answer.
    fn send(&self, method: &str, path: &str, body: &Value) -> io::Result<(String, Vec<u8>)> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n");
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len())?;
        answer(&mut BufReader::new(stream))
    }

    /// Sends a command and returns the value of its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let (head, body) = self.send(method, path, body).expect("chromedriver answers");
        let mut json: Value = serde_json::from_slice(&body).expect("JSON");
        let value = json["value"].take();
        assert!(head.contains(" 200 "), "{path}: {head}\n{value}");
        value
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}{path}", self.session), body)
    }

    /// Opens a page of this machine and waits until its script reports that it is ready.
    pub fn open(&self, page: &Path) {
        self.open_url(&format!("file://{}", page.display()));
    }

    /// Opens an address and waits until the script of its page reports that it is ready.
    pub fn open_url(&self, url: &str) {
        self.command("/url", &json!({"url": url}));
        self.wait("document.documentElement.dataset.ready || document.documentElement.dataset.failed");
        assert_eq!(self.run("document.documentElement.dataset.failed || null"), Value::Null, "{url}");
    }

    /// Returns the value of an expression in the page.
    pub fn run(&self, expression: &str) -> Value {
        self.command("/execute/sync", &json!({"script": format!("return ({expression});"), "args": []}))
    }

    /// Runs statements in the page.
    pub fn act(&self, statements: &str) {
        self.command("/execute/sync", &json!({"script": statements, "args": []}));
    }

    /// Waits until an expression in the page is true.
    pub fn wait(&self, expression: &str) {
        let start = Instant::now();
        while !self.run(&format!("Boolean({expression})")).as_bool().unwrap_or(false) {
            assert!(start.elapsed() < PATIENCE, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Shows the page with a theme of the system, `light` or `dark`, in a window of this width.
    pub fn emulate(&self, theme: &str, width: u32) {
        let cdp = |command: &str, parameters: Value| self.command("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}));
        cdp("Emulation.setEmulatedMedia", json!({"features": [{"name": "prefers-color-scheme", "value": theme}]}));
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
        cdp("Emulation.setDeviceMetricsOverride", size);
    }

    /// Saves what the first element that fits a selector shows, and what is above and below it on
    /// its lines, as PNG.
    pub fn picture(&self, selector: &str, width: u32, file: &Path) {
        let place = self.run(&format!(
            "(() => {{ const b = document.querySelector({selector:?}).getBoundingClientRect(); return [b.top + scrollY, b.height]; }})()"
        ));
        let (top, height) = (place[0].as_f64().expect("a place"), place[1].as_f64().expect("a height"));
        let clip = json!({"x": 0, "y": top, "width": width, "height": height.min(4000.0), "scale": 1});
        let parameters = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let taken = self.command("/goog/cdp/execute", &json!({"cmd": "Page.captureScreenshot", "params": parameters}));
        let png = BASE64_STANDARD.decode(taken["data"].as_str().expect("an image")).expect("base64");
        std::fs::write(file, png).expect("a file");
    }

    /// Checks the page by the rules of axe, whose script is given: a line for each element that
    /// violates one. Without rules all are checked.
    pub fn axe(&self, script: &str, rules: &[&str]) -> Vec<String> {
        self.act(script);
        let options = if rules.is_empty() { json!({}) } else { json!({"runOnly": {"type": "rule", "values": rules}}) };
        let run = "const done = arguments[arguments.length - 1]; axe.run(document, { resultTypes: ['violations'], ...arguments[0] }).then((found) => \
            done(found.violations.flatMap((of) => of.nodes.map((node) => `${of.impact} ${of.id}: ${node.target.join(' ')}`))), (error) => done([String(error)]));";
        let found = self.command("/execute/async", &json!({"script": run, "args": [options]}));
        found.as_array().expect("a list").iter().map(|line| line.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The messages of the console since the last call: errors, warnings, violations of a policy.
    pub fn console(&self) -> Vec<String> {
        let entries = self.command("/se/log", &json!({"type": "browser"}));
        entries.as_array().expect("a list").iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// The addresses that were requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let entries = self.command("/se/log", &json!({"type": "performance"}));
        let request = |entry: &Value| {
            let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &event["message"];
            (message["method"] == "Network.requestWillBeSent").then(|| message["params"]["request"]["url"].to_string())
        };
        entries.as_array().expect("a list").iter().filter_map(request).collect()
    }
}

/// Reads an answer: its first line, and as many bytes as it announces. Chromedriver keeps the
/// connection open.
fn answer(from: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
    let mut first = String::new();
    from.read_line(&mut first)?;
    let mut length = 0;
    loop {
        let mut field = String::new();
        from.read_line(&mut field)?;
        let field = field.trim().to_ascii_lowercase();
        if field.is_empty() {
            break;
        }
        if let Some(value) = field.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body)?;
    Ok((first, body))
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Chromedriver ends a browser with its session, also where a test failed.
        if !self.session.is_empty() {
            let _ = self.send("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
