//! Messages and progress of the library, kept for Python.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flowmine_api::validate::Severity;
use flowmine_api::{Message, Sink, Stage};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A message of a call.
pub struct Said {
    kind: &'static str,
    text: String,
    input: Option<String>,
    code: Option<&'static str>,
    place: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
    count: u64,
    advice: Option<&'static str>,
}

impl Said {
    fn text(kind: &'static str, text: &str) -> Self {
        let text = text.to_owned();
        Self { kind, text, input: None, code: None, place: None, line: None, column: None, count: 1, advice: None }
    }

    /// The message as a dictionary.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("kind", self.kind)?;
        dict.set_item("text", &self.text)?;
        dict.set_item("input", self.input.as_deref())?;
        dict.set_item("code", self.code)?;
        dict.set_item("place", self.place.as_deref())?;
        dict.set_item("line", self.line)?;
        dict.set_item("column", self.column)?;
        dict.set_item("times", self.count)?;
        dict.set_item("advice", self.advice)?;
        Ok(dict)
    }
}

/// The stage that work is in.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// The stage in words; empty before the first.
    pub stage: &'static str,
    /// How much is done.
    pub done: usize,
    /// Of how much; zero where that is unknown.
    pub total: usize,
}

/// What a call has to say, shared between the thread that works and the one that waits.
#[derive(Default)]
pub struct Messages {
    said: Mutex<Vec<Said>>,
    stage: Mutex<&'static str>,
    done: AtomicUsize,
    total: AtomicUsize,
    is_cancelled: AtomicBool,
}

/// The payload with which cancelled work ends: no panic, and no message.
struct Cancelled;

/// A lock also after a panic: a list of messages is one at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Messages {
    /// Has the work end at its next message or stage.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// The messages so far.
    pub fn take(&self) -> Vec<Said> {
        std::mem::take(&mut lock(&self.said))
    }

    /// The stage at the moment.
    pub fn progress(&self) -> Progress {
        let stage = *lock(&self.stage);
        Progress { stage, done: self.done.load(Ordering::Relaxed), total: self.total.load(Ordering::Relaxed) }
    }

    /// Ends work that was cancelled, as a panic would and without its words.
    fn check(&self) {
        // A thread that unwinds already has to end its stages in peace.
        if self.is_cancelled.load(Ordering::Relaxed) && !std::thread::panicking() {
            resume_unwind(Box::new(Cancelled));
        }
    }
}

/// The library's side of the messages.
pub struct Listener(pub Arc<Messages>);

impl Sink for Listener {
    fn message(&self, message: Message<'_>) {
        self.0.check();
        let mut said = lock(&self.0.said);
        match message {
            Message::Note(text) => said.push(Said::text("note", text)),
            Message::Warning(text) => said.push(Said::text("warning", text)),
            Message::Begun(text) | Message::Done(text) | Message::Watched(text) => said.push(Said::text("done", text)),
            Message::Diagnostics(input, diagnostics) => said.extend(diagnostics.iter().map(|of| Said {
                input: Some(input.to_owned()),
                code: Some(of.code),
                line: of.line,
                column: of.column,
                count: of.count,
                advice: of.advice,
                ..Said::text(of.severity.name(), &of.message)
            })),
            Message::Finding(input, of) => said.push(Said {
                input: Some(input.to_owned()),
                code: Some(of.rule),
                place: Some(of.place.clone()).filter(|place| !place.is_empty()),
                line: of.line,
                column: of.column,
                ..Said::text(word(of.severity), &of.message)
            }),
        }
    }

    fn stage(&self, what: &'static str) -> Box<dyn Stage> {
        self.0.check();
        *lock(&self.0.stage) = what;
        self.0.done.store(0, Ordering::Relaxed);
        self.0.total.store(0, Ordering::Relaxed);
        Box::new(Running(Arc::clone(&self.0)))
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// A stage that is running.
struct Running(Arc<Messages>);

impl Stage for Running {
    fn at(&self, done: usize, total: usize) {
        self.0.check();
        self.0.done.store(done, Ordering::Relaxed);
        self.0.total.store(total, Ordering::Relaxed);
    }
}
