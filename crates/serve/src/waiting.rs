//! The pages without a report: how far one is, and why there is none.

use std::fmt::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flowmine_schema::text::visible;
use hyper::StatusCode;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::answer::{Answer, HTML};

const STYLE: &str = include_str!("../assets/waiting.css");
const SCRIPT: &str = include_str!("../assets/waiting.js");

/// The page that shows how far a report is, and then the report.
pub fn page() -> Answer {
    let body = "<h1>flowmine reads the source</h1>\n\
        <p role=\"status\" data-stage>Waiting for a thread.</p>\n\
        <progress aria-label=\"Progress of this stage\" data-bar></progress>\n\
        <p><button type=\"button\" data-stop>Stop</button></p>\n\
        <noscript><p>This page needs scripts. Reload it to look again.</p></noscript>\n";
    whole(StatusCode::OK, "flowmine reads the source", body, SCRIPT)
}

/// The page that names the reason why there is no report.
pub fn refused(status: StatusCode, why: &str, messages: &[String]) -> Answer {
    let mut body = format!("<h1>There is no report</h1>\n<p>{}</p>\n", escaped(why));
    for message in messages {
        // A string takes all.
        let _ = writeln!(body, "<p>{}</p>", escaped(message));
    }
    body.push_str("<p><a href=\"./\">Show all, without filters</a></p>\n");
    whole(status, "There is no report", &body, "")
}

/// The same for a reason as the library gives it.
pub fn refused_by(answer: &Answer) -> Answer {
    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let texts = document["messages"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    refused(answer.status, document["error"].as_str().unwrap_or("the report could not be made"), &texts)
}

/// A page with this content and, where there is one, its script.
pub fn whole(status: StatusCode, title: &str, body: &str, script: &str) -> Answer {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text.as_bytes()));
    let script = if script.is_empty() { (String::new(), String::new()) } else { (format!("<script>{script}</script>\n"), hash(script)) };
    let scripts = if script.1.is_empty() { String::new() } else { format!("script-src 'sha256-{}'; connect-src 'self'; ", script.1) };
    let policy = format!(
        "default-src 'none'; {scripts}style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(STYLE)
    );
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
        <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
        <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n{}</body>\n</html>\n",
        script.0
    );
    Answer { status, policy: Some(policy), ..Answer::new(HTML, html) }
}

/// A text as HTML; what cannot be seen becomes visible.
pub fn escaped(text: &str) -> String {
    let mut html = String::new();
    for c in visible(text).chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_reason_is_text() {
        let answer = refused_by(&Answer::refusal(StatusCode::BAD_REQUEST, "no <img src=x onerror=1>", vec!["\"<b>'".to_owned()]));
        let html = String::from_utf8_lossy(&answer.body);
        assert!(html.contains("no &lt;img src=x onerror=1&gt;") && html.contains("&quot;&lt;b&gt;&#39;"), "{html}");
        assert!(!html.contains("<script>"));
    }
}
