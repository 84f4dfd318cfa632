//! `flowmine serve` as a whole: in a real browser while a queue is observed, and its end.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::support::browser::Browser;
use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{flowmine, repository};

/// A server, which is ended by SIGTERM.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:") && url.contains("/?token="), "{url}");
        Self { child, url: url.trim().to_owned() }
    }

    /// Ends it, and returns its exit code.
    fn end(mut self) -> Option<i32> {
        // SAFETY: `kill` only sends a signal, to a child that is not waited for yet.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, libc::SIGTERM) }, 0);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Opens an address, and waits for the report and its form.
fn open(browser: &Browser, url: &str) {
    browser.open_url(url);
    ready(browser);
}

fn ready(browser: &Browser) {
    browser.wait("document.querySelector('#cockpit')?.dataset.ready !== undefined");
}

fn choose(browser: &Browser, name: &str, value: &str) {
    browser.act(&format!(
        "const field = document.querySelector('[data-choose]').elements.namedItem({name:?}); field.value = {value:?}; \
         field.dispatchEvent(new Event('change', {{ bubbles: true }}));"
    ));
}

const SHOW: &str = "document.querySelector('[data-choose] [type=submit]').click()";

#[test]
fn a_browser_follows_an_observed_queue() {
    let dir = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start(dir.path()) else { return };
    let queue = StandIn::new(dir.path());
    queue.show(60);
    let dataset = dir.path().join("dataset");
    let mut command = flowmine();
    command.args(["serve", "--observe", "--interval", "1s", "--slurm-bin-dir"]).arg(queue.dir.join("bin")).arg("--dataset").arg(&dataset);
    let server = Server::start(&mut command);
    crate::support::running::until("a first poll", || {
        let files = std::fs::read_dir(dataset.join("job_states")).into_iter().flatten().filter_map(Result::ok);
        files
            .map(|file| file.file_name())
            .any(|name| !name.as_encoded_bytes().starts_with(b".") && name.as_encoded_bytes().ends_with(b".parquet"))
    });
    browser.console();
    open(&browser, &server.url);
    assert!(!browser.run("location.href").as_str().unwrap().contains("token"));
    let text =
        |selector: &str| browser.run(&format!("document.querySelector({selector:?}).textContent")).as_str().unwrap_or_default().to_owned();
    assert!(text("[data-now]").contains("waiting"), "{}", text("[data-now]"));

    // A model for what is chosen, and a link that restores it.
    choose(&browser, "model", "dfg");
    choose(&browser, "show", "frequency");
    browser.act(SHOW);
    browser.wait("document.querySelector('[data-model] svg')");
    let shown = browser.run("document.querySelector('[data-model] svg').outerHTML");
    let link = browser.run("location.href").as_str().unwrap().to_owned();
    assert!(link.contains("model=dfg") && link.contains("show=frequency"), "{link}");
    open(&browser, &link);
    assert_eq!(browser.run("document.querySelector('[data-model] svg').outerHTML"), shown);
    assert_eq!(browser.run("document.querySelector('[data-choose]').elements.namedItem('show').value"), "frequency");

    // A filter of the page is computed by the server.
    let user = browser.run("TABLES.get('instances').columns.find((of) => of.name === 'user').names[0]").as_str().unwrap().to_owned();
    let all = browser.run("TABLES.get('instances').rows.length").as_u64().unwrap();
    choose(&browser, "user", &user);
    browser.act(SHOW);
    browser.wait("location.search.includes('user=') && document.documentElement.dataset.ready");
    ready(&browser);
    let of_user = browser.run("TABLES.get('instances').rows.length").as_u64().unwrap();
    assert!(of_user > 0 && of_user < all, "{of_user} of {all}");

    let axe = std::env::var_os("FLOWMINE_AXE").and_then(|path| std::fs::read_to_string(path).ok());
    if let Some(axe) = require("axe", "axe-core (make test installs it)", axe.is_some()).then_some(axe).flatten() {
        browser.act("document.querySelectorAll('#cockpit details').forEach((of) => { of.open = true; })");
        for theme in ["light", "dark"] {
            browser.emulate(theme, 1280);
            assert_eq!(browser.axe(&axe, &[]), Vec::<String>::new(), "{theme}");
        }
        browser.emulate("light", 390);
        assert!(browser.run("document.documentElement.scrollWidth <= innerWidth").as_bool().unwrap());
    }

    // The page reports what is new.
    let before = text("[data-now] p");
    queue.show(queue.polls - 1);
    browser.wait(&format!("document.querySelector('[data-now] p').textContent !== {before:?}"));
    browser.wait("!document.querySelector('[data-news]').hidden");
    assert!(text("[data-news]").contains("has changed"), "{}", text("[data-news]"));
    assert_eq!(browser.console(), Vec::<String>::new());
    let own = server.url.split('?').next().unwrap().to_owned();
    let others: Vec<String> = browser.requests().into_iter().filter(|url| !url.contains(&own) && !url.contains("\"data:")).collect();
    assert_eq!(others, Vec::<String>::new());
    assert!(matches!(server.end(), Some(0 | 1)));
}

#[test]
fn a_signal_ends_it_and_what_it_made_goes() {
    let dir = tempfile::tempdir().unwrap();
    let (socket, temporary, address) = (dir.path().join("socket"), dir.path().join("tmp"), dir.path().join("url"));
    std::fs::create_dir(&temporary).unwrap();
    let mut command = flowmine();
    command.args(["serve", "--socket"]).arg(&socket).arg("--url-file").arg(&address).env("TMPDIR", &temporary);
    command.arg(repository("fixtures/workflows/nextflow-local")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    crate::support::running::until("an address", || address.exists());
    assert_eq!(mode(&address), 0o600);
    assert_eq!(mode(&socket), 0o600);
    let url = std::fs::read_to_string(&address).unwrap();
    let token = url.trim().split_once("token=").unwrap().1.to_owned();
    // SAFETY: as above.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    let ended = child.wait_with_output().unwrap();
    let printed = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(0), "{printed}");
    assert!(!printed.contains(&token));
    assert!(!socket.exists() && !address.exists());
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

fn mode(path: &Path) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&std::fs::symlink_metadata(path).unwrap().permissions()) & 0o777
}

#[test]
fn static_pages_and_a_mail_have_the_jobs_of_the_models() {
    let dir = tempfile::tempdir().unwrap();
    let (source, out) = (repository("fixtures/import/sacct_recording.txt"), dir.path().join("out"));
    let summary: Value = serde_json::from_slice(&run(flowmine().args(["discover", "summary", "--format", "json"]).arg(&source))).unwrap();
    run(flowmine().args(["serve", "--once", "-o"]).arg(&out).arg(&source));
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let written: Value = serde_json::from_str(&read("summary.json")).unwrap();
    assert_eq!(written["instances"], summary["instances"]);
    let now: Value = serde_json::from_str(&read("now.json")).unwrap();
    assert_eq!(now["format"], "flowmine-now");
    assert!(read("index.html").contains("<a href=\"dfg.svg\">") && !read("report.html").contains("connect-src"));
    let mail = String::from_utf8(run(flowmine().args(["report", "--text"]).arg(&source))).unwrap();
    let rows = mail.split_once("account   ").unwrap().1.lines().skip(1).take_while(|line| !line.is_empty());
    let jobs: u64 = rows.map(|row| row.split_whitespace().nth(2).unwrap().replace(',', "").parse::<u64>().unwrap()).sum();
    assert_eq!(jobs, summary["instances"].as_u64().unwrap(), "{mail}");
    assert!(mail.lines().all(|line| line.chars().count() < 1000) && mail.len() < 20_000, "{mail}");
}

/// Runs a command, and returns what it printed. Recordings have odd lines.
fn run(command: &mut Command) -> Vec<u8> {
    let ran = command.output().unwrap();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{command:?}\n{}", String::from_utf8_lossy(&ran.stderr));
    ran.stdout
}

fn names_in(dir: &Path) -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// The file of the address is no result: it replaces only what a server wrote, and each server removes
/// its own.
#[test]
fn the_file_of_the_address_replaces_no_file_of_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mine, address) = (dir.path().join("log.csv"), dir.path().join("mine"), dir.path().join("url"));
    let text = "case,activity,timestamp\na,b,2026-11-20T10:00:00Z\n";
    std::fs::write(&log, text).unwrap();
    std::fs::write(&mine, "precious").unwrap();
    std::os::unix::fs::symlink(&mine, dir.path().join("link")).unwrap();
    let serve = |file: &Path| {
        let mut command = flowmine();
        command.args(["serve", "--log"]).arg(&log).arg("--url-file").arg(file).stdout(Stdio::null());
        command
    };
    for file in [&log, &mine, &dir.path().join("link")] {
        let refused = serve(file).output().unwrap();
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(2) && said.contains("choose another name"), "{said}");
    }
    let dataset = dir.path().join("dataset");
    run(flowmine().args(["import", "log"]).arg(&log).arg("--dataset").arg(&dataset));
    let before = names_in(&dataset);
    let refused = serve(&dataset.join("task_runs")).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("this place is in a dataset"), "{said}");
    assert_eq!(names_in(&dataset), before);
    assert_eq!((std::fs::read_to_string(&log).unwrap().as_str(), std::fs::read_to_string(&mine).unwrap().as_str()), (text, "precious"));
    let started = |before: &str| {
        let server = Server { child: serve(&address).stderr(Stdio::null()).spawn().unwrap(), url: String::new() };
        let begun = std::time::Instant::now();
        loop {
            let now = std::fs::read_to_string(&address).unwrap_or_default();
            if !now.is_empty() && now != before {
                return (server, now);
            }
            assert!(begun.elapsed().as_secs() < 60);
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let (first, of_first) = started("");
    let (second, of_second) = started(&of_first);
    assert_eq!(first.end(), Some(0));
    assert_eq!(std::fs::read_to_string(&address).unwrap(), of_second);
    assert_eq!(second.end(), Some(0));
    assert!(!address.exists());
}
