//! A headless Firefox, driven by its own remote protocol, Marionette: a length and JSON over a
//! local connection (<https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html>).
//! WebDriver's commands are the same; the driver program, which translates HTTP, is not needed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::has_program;
use super::require::require;

/// The longest time that a page may take to be ready, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one window.
pub struct Firefox {
    program: Child,
    stream: TcpStream,
    sent: u64,
}

impl Firefox {
    /// Starts a browser whose profile is in a directory; `None` where there is none and none is
    /// required.
    pub fn start(dir: &Path) -> Option<Self> {
        if !require("firefox", "firefox-esr", has_program("firefox-esr")) {
            return None;
        }
        let profile = dir.join("profile");
        std::fs::create_dir_all(&profile).expect("a profile");
        // A port that nobody has.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
        let settings = [
            format!("user_pref(\"marionette.port\", {port});"),
            "user_pref(\"app.update.enabled\", false);".to_owned(),
            "user_pref(\"toolkit.telemetry.reportingpolicy.firstRun\", false);".to_owned(),
            "user_pref(\"datareporting.policy.dataSubmissionEnabled\", false);".to_owned(),
            "user_pref(\"browser.shell.checkDefaultBrowser\", false);".to_owned(),
            "user_pref(\"network.captive-portal-service.enabled\", false);".to_owned(),
            "user_pref(\"network.connectivity-service.enabled\", false);".to_owned(),
        ];
        std::fs::write(profile.join("user.js"), settings.join("\n")).expect("settings");
        let mut program = Command::new("firefox-esr")
            .args(["--headless", "--marionette", "--no-remote", "--profile"])
            .arg(&profile)
            .env("HOME", dir)
            .env("MOZ_CRASHREPORTER_DISABLE", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("firefox-esr starts");
        let Some(stream) = connect(port) else {
            let _ = program.kill();
            let _ = program.wait();
            panic!("firefox-esr does not listen");
        };
        let mut browser = Self { program, stream, sent: 0 };
        let hello = browser.receive();
        assert_eq!(hello["marionetteProtocol"], 3, "{hello}");
        browser.ask("WebDriver:NewSession", &json!({}));
        Some(browser)
    }

    /// Reads a message: its length, a colon, JSON.
    fn receive(&mut self) -> Value {
        let mut length = 0usize;
        loop {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).expect("firefox-esr answers");
            match byte[0] {
                b':' => break,
                digit => length = length * 10 + usize::from(digit - b'0'),
            }
        }
        let mut text = vec![0; length];
        self.stream.read_exact(&mut text).expect("a whole answer");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Sends a command and returns its result.
    fn ask(&mut self, command: &str, parameters: &Value) -> Value {
        self.sent += 1;
        let text = json!([0, self.sent, command, parameters]).to_string();
        write!(self.stream, "{}:{text}", text.len()).expect("firefox-esr listens");
        let mut answer = self.receive();
        assert_eq!(answer[2], Value::Null, "{command}: {answer}");
        answer[3].take()
    }

    /// Opens a page of this machine and waits until its script reports that it is ready.
    pub fn open(&mut self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.ask("WebDriver:Navigate", &json!({"url": url}));
        let start = Instant::now();
        while self.run("document.documentElement.dataset.ready || document.documentElement.dataset.failed || null").is_null() {
            assert!(start.elapsed() < PATIENCE, "never ready: {url}");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(self.run("document.documentElement.dataset.failed || null"), Value::Null, "{url}");
    }

    /// Returns the value of an expression of the document; the names of the page's script are not
    /// seen from here.
    pub fn run(&mut self, expression: &str) -> Value {
        self.ask("WebDriver:ExecuteScript", &json!({"script": format!("return ({expression});"), "args": []}))["value"].take()
    }
}

fn connect(port: u16) -> Option<TcpStream> {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
            stream.set_read_timeout(Some(PATIENCE)).ok()?;
            return Some(stream);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    None
}

impl Drop for Firefox {
    fn drop(&mut self) {
        // It ends its own processes when it is asked to quit.
        let text = json!([0, self.sent + 1, "Marionette:Quit", {"flags": ["eForceQuit"]}]).to_string();
        let _ = write!(self.stream, "{}:{text}", text.len());
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(10) {
            if matches!(self.program.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
