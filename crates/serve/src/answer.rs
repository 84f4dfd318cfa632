//! Answers to requests, and the headers that all of them have.

use flowmine_api::registry::Refusal;
use flowmine_draw::document;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{HeaderMap, Response, StatusCode};
use sha2::{Digest, Sha256};

/// JSON.
pub const JSON: &str = "application/json";
/// HTML.
pub const HTML: &str = "text/html; charset=utf-8";
/// Plain text.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// A figure.
pub const SVG: &str = "image/svg+xml";

/// The policy of what runs and loads nothing.
const NOTHING: &str = "default-src 'none'; frame-ancestors 'none'";
/// The policy of a figure that is opened by itself: it has its own style.
const FIGURE: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
/// The most bytes of a header with messages.
const MESSAGES: usize = 6000;

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// The type of its content.
    pub content: &'static str,
    /// Its content.
    pub body: Bytes,
    /// The policy of a page, where it is not one that forbids all.
    pub policy: Option<String>,
    /// Whether something of the source was lost, so that the result lacks it; `None` for answers
    /// that are no results.
    pub is_lossy: Option<bool>,
    /// The messages of making it.
    pub messages: Vec<String>,
    /// What identifies its content.
    pub etag: String,
}

impl Answer {
    /// An answer with this content.
    pub fn new(content: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let etag = format!("\"{}\"", digest(&body));
        Self { status: StatusCode::OK, content, body, policy: None, is_lossy: None, messages: Vec::new(), etag }
    }

    /// A JSON document.
    pub fn document<T: document::Document>(found: &T) -> Self {
        let mut text = Vec::new();
        match document::write(found, &mut text) {
            Ok(()) => Self::new(JSON, text),
            Err(error) => Self { status: StatusCode::INTERNAL_SERVER_ERROR, ..Self::new(TEXT, error.to_string()) },
        }
    }

    /// The reason why there is no result, as JSON.
    pub fn refusal(status: StatusCode, error: impl Into<String>, messages: Vec<String>) -> Self {
        Self { status, ..Self::document(&Refusal { error: error.into(), messages }) }
    }

    /// Text.
    pub fn text(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, ..Self::new(TEXT, text.into()) }
    }

    /// Number of bytes that it holds in memory, roughly.
    pub fn bytes(&self) -> usize {
        self.body.len() + self.messages.iter().map(String::len).sum::<usize>() + 512
    }

    /// Returns it as a response; without its content where the other side has it.
    pub fn response(&self, asked: &HeaderMap) -> Response<Full<Bytes>> {
        let is_own = |known: &HeaderValue| known.as_bytes() == self.etag.as_bytes();
        let is_known = self.status == StatusCode::OK && asked.get_all(IF_NONE_MATCH).iter().any(is_own);
        let body = if is_known { Bytes::new() } else { self.body.clone() };
        let mut response = Response::new(Full::new(body));
        *response.status_mut() = if is_known { StatusCode::NOT_MODIFIED } else { self.status };
        let headers = response.headers_mut();
        let policy = self.policy.as_deref().unwrap_or(if self.content == SVG { FIGURE } else { NOTHING });
        put(headers, CONTENT_TYPE, self.content);
        put(headers, CONTENT_SECURITY_POLICY, policy);
        put(headers, ETAG, &self.etag);
        if let Some(is_lossy) = self.is_lossy {
            put(headers, HeaderName::from_static("flowmine-complete"), if is_lossy { "no" } else { "yes" });
        }
        if !self.messages.is_empty() {
            put(headers, HeaderName::from_static("flowmine-messages"), &in_header(&self.messages));
        }
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            put(headers, ALLOW, "GET, HEAD");
        }
        secure(headers);
        response
    }
}

/// Adds the headers that every response has.
pub fn secure(headers: &mut HeaderMap) {
    put(headers, CACHE_CONTROL, "no-store");
    put(headers, REFERRER_POLICY, "no-referrer");
    put(headers, X_CONTENT_TYPE_OPTIONS, "nosniff");
    put(headers, X_FRAME_OPTIONS, "DENY");
    put(headers, HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    put(headers, HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
}

/// Sets a header. A text that cannot be one is left out.
pub fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// The first half of the SHA-256 of some bytes, as hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Messages as a JSON list in ASCII; those that do not fit are counted.
fn in_header(messages: &[String]) -> String {
    let mut list = String::from("[");
    for (at, message) in messages.iter().enumerate() {
        let between = if at == 0 { "" } else { "," };
        let text = quoted(message);
        if list.len() + text.len() > MESSAGES {
            list.push_str(&format!("{between}\"and {} more\"", messages.len() - at));
            break;
        }
        list.push_str(between);
        list.push_str(&text);
    }
    list.push(']');
    list
}

/// A JSON string in printable ASCII.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\') => quoted.push(char::from(byte)),
            _ => quoted.push_str(&format!("\\u{unit:04x}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_fit_in_a_header_whatever_they_hold() {
        let messages = vec!["a \"b\"\r\nX: y".to_owned(), "é 🦀".to_owned(), "x".repeat(MESSAGES), "last".to_owned()];
        let answer = Answer { messages: messages.clone(), ..Answer::new(TEXT, "") };
        let response = answer.response(&HeaderMap::new());
        let header = response.headers()["flowmine-messages"].to_str().expect("ASCII");
        let read: Vec<String> = serde_json::from_str(header).expect("JSON");
        assert_eq!(read, [messages[0].as_str(), messages[1].as_str(), "and 2 more"]);
    }
}
