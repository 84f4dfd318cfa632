//! The page: sections in, HTML out.

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::block::{Block, Section};
use crate::results::Results;
use crate::{ReportError, sections};

const STYLE: &str = include_str!("../assets/style.css");
const SERVED_STYLE: &str = concat!(include_str!("../assets/style.css"), include_str!("../assets/cockpit.css"));

/// The script, in parts that build on each other, and more parts at its end.
macro_rules! script {
    ($($more:literal),*) => {
        concat!(
            "\"use strict\";\n",
            include_str!("../assets/format.js"),
            include_str!("../assets/data.js"),
            include_str!("../assets/table.js"),
            include_str!("../assets/graph.js"),
            include_str!("../assets/start.js"),
            $(include_str!($more)),*
        )
    };
}

const SCRIPT: &str = script!();
const SERVED_SCRIPT: &str = script!("../assets/cockpit.js");

/// Where a page is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Place {
    /// From a file: it requests nothing.
    #[default]
    File,
    /// From `flowmine serve`, which it asks for models.
    Served,
}

impl Place {
    fn style(self) -> &'static str {
        if self == Self::Served { SERVED_STYLE } else { STYLE }
    }

    fn script(self) -> &'static str {
        if self == Self::Served { SERVED_SCRIPT } else { SCRIPT }
    }
}

/// What the template is filled with.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'p> {
    title: String,
    version: &'static str,
    policy: String,
    style: &'static str,
    script: &'static str,
    sections: &'p [Section],
    is_served: bool,
}

impl Page<'_> {
    /// The terms of a section, with their meanings.
    fn terms(&self, section: &str) -> Vec<(&'static str, &'static str)> {
        sections::terms::of(section)
    }
}

/// Makes the page.
///
/// # Errors
/// When a graph cannot be laid out. All other errors are faults of this crate.
pub fn page(results: &Results, place: Place) -> Result<String, ReportError> {
    let sections = sections::all(results)?;
    let title = sections::overview::title(results);
    let (style, script, is_served) = (place.style(), place.script(), place == Place::Served);
    let page = Page { title, version: env!("CARGO_PKG_VERSION"), policy: policy(place), style, script, sections: &sections, is_served };
    Ok(page.render()?)
}

/// The content security policy: no script and no style but those of the page, and no request. A
/// page that is served may ask its server, and nothing else.
fn policy(place: Place) -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'{}",
        hash(place.script()),
        hash(place.style()),
        if place == Place::Served { "; connect-src 'self'" } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use flowmine_activity_log::{EventRow, LogBuilder};
    use flowmine_discover::{arrivals, dfg, findings, history, requests, resources, summary, variants};

    use super::*;
    use crate::results::{LogResults, Quality};
    use crate::view::View;

    const HOSTILE: &str = "</script><img src=x onerror=alert(1)>\"'";

    fn results(names: &[&str]) -> Results {
        let mut builder = LogBuilder::new(&[]);
        for (second, name) in (1i64..).zip(names) {
            let activity = builder.activity(name);
            builder.event(&EventRow { activity, time_ns: second * 1_000_000_000, ..EventRow::default() }).expect("a small log");
        }
        builder.end_case(HOSTILE).expect("a small log");
        let log = builder.finish();
        let cases = log.cases().expect("cases");
        let found = LogResults {
            summary: summary::discover(&log, cases, &summary::Options::default()),
            findings: findings::discover(&findings::Input::of(&log, cases)),
            views: vec![View::of_cases("cases of the log", &log, cases, dfg::dfg(&log, cases))],
            views_left_out: Vec::new(),
            variants: variants::discover(&log, cases, &variants::Options::default()),
            resources: resources::discover(&log, cases),
            requests: requests::discover(&log, cases, requests::Rule::default()),
            arrivals: arrivals::discover(&log),
            history: history::discover(&log, cases),
            log,
        };
        Results { log: Ok(found), ..nothing(HOSTILE) }
    }

    fn nothing(reason: &str) -> Results {
        let no = || reason.to_owned();
        Results {
            sources: vec![HOSTILE.to_owned()],
            quality: Quality { messages: vec![HOSTILE.to_owned()], lost: Some(HOSTILE.to_owned()), ..Quality::default() },
            log: Err(no()),
            waits: Err(no()),
            runs: Vec::new(),
            file_access: Err(no()),
            prediction: Err(no()),
            profile: Err(no()),
        }
    }

    #[test]
    fn hostile_names_are_no_markup() {
        let pages = [results(&["align", HOSTILE, "sort"]), nothing(HOSTILE)];
        for (results, place) in pages.iter().flat_map(|results| [(results, Place::File), (results, Place::Served)]) {
            let html = page(results, place).expect("a page");
            assert!(!html.contains("<img"), "{html}");
            assert_eq!(html.matches("</script>").count(), html.matches("<script").count());
            assert!(!html.contains("style=\""), "the policy forbids it");
        }
    }

    #[test]
    fn commands_of_advice_are_code_and_escaped() {
        let mut results = nothing("there is none");
        results.quality.messages = vec![format!("Run `a {HOSTILE}` again.")];
        let html = page(&results, Place::File).expect("a page");
        assert!(html.contains("<li>Run <code>a ") && !html.contains("<img"), "{html}");
        let data = html.rsplit_once("<script>").expect("the script").0;
        assert!(!data.contains("`flowmine"), "a command in backticks");
    }

    #[test]
    fn a_served_page_may_ask_its_server_and_nothing_else() {
        let words = |place| policy(place).split("; ").map(str::to_owned).collect::<Vec<_>>();
        let (file, served) = (words(Place::File), words(Place::Served));
        let without_hashes =
            |words: &[String]| words.iter().map(|word| word.split(" 'sha256").next().map(str::to_owned)).collect::<Vec<_>>();
        assert_eq!(without_hashes(&served[..file.len()]), without_hashes(&file));
        assert_eq!(served[file.len()..], ["connect-src 'self'"]);
    }

    #[test]
    fn the_policy_has_the_hashes_of_what_is_on_the_page() {
        for place in [Place::File, Place::Served] {
            has_its_hashes(&page(&nothing("there is none"), place).expect("a page"));
        }
    }

    fn has_its_hashes(html: &str) {
        let between = |from: &str, to: &str| html.rsplit_once(from).and_then(|(_, rest)| rest.split_once(to)).expect("the element").0;
        for (text, of) in [(between("<script>", "</script>"), "script-src"), (between("<style>", "</style>"), "style-src")] {
            let hash = BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
            // Templates escape the quotes of the policy, and browsers read them.
            let policy = html.replace("&#39;", "'").replace("&#x27;", "'").replace("&#43;", "+").replace("&#x2b;", "+");
            assert!(policy.contains(&format!("{of} 'sha256-{hash}'")), "{of}");
        }
    }

    #[test]
    fn what_is_missing_is_stated_in_every_section() {
        let html = page(&nothing("the dataset is empty"), Place::File).expect("a page");
        assert!(html.contains("There is no job, task or event to report on: the dataset is empty."));
        assert!(html.matches("class=\"missing\"").count() >= 8, "{html}");
    }

    #[test]
    fn the_same_results_give_the_same_page() {
        let [a, b] = [0, 1].map(|_| page(&results(&["align", "sort", "align"]), Place::File).expect("a page"));
        assert!(a == b);
    }
}
