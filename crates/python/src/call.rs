//! Calls into the library: on a thread of their own, without the interpreter's lock, and with an
//! eye on signals.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use flowmine_api::{Result, Sink, chain, remarks};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::messages::{Listener, Messages, Said};

/// How often the waiting thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of the stack of the thread that works, as the main thread of the command has them.
const STACK: usize = 8 << 20;

/// The threads that work: the process that they are of, and their number. A fork has none of them.
static WORKING: Mutex<(u32, usize)> = Mutex::new((0, 0));
/// Notified when one of them has ended.
static ENDED: Condvar = Condvar::new();

/// A thread that works, counted from here to its end.
struct Working;

impl Working {
    fn begin() -> Self {
        let mut working = WORKING.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        *working = (process, if working.0 == process { working.1 + 1 } else { 1 });
        Self
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        let mut working = WORKING.lock().unwrap_or_else(PoisonError::into_inner);
        working.1 = working.1.saturating_sub(1);
        ENDED.notify_all();
    }
}

/// Waits for calls that were interrupted: they end at their next message or stage, and remove their
/// temporary files. Whether all have ended in this time.
#[pyfunction]
pub fn settle(py: Python<'_>, seconds: f64) -> bool {
    py.detach(|| {
        let working = WORKING.lock().unwrap_or_else(PoisonError::into_inner);
        let is_busy = |working: &mut (u32, usize)| working.0 == std::process::id() && working.1 > 0;
        let limit = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let waited = ENDED.wait_timeout_while(working, limit, is_busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    })
}

/// What a call gave: a value or an error, and messages.
#[pyclass(frozen, module = "flowmine_hpc._native")]
pub struct Reply {
    /// The value; `None` after an error.
    #[pyo3(get)]
    value: Py<PyAny>,
    /// The error in words.
    #[pyo3(get)]
    error: Option<String>,
    messages: Vec<Said>,
}

#[pymethods]
impl Reply {
    /// The messages, a dictionary each, in their order.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let messages = self.messages.iter().map(|said| said.to_dict(py)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, messages)
    }
}

/// Does work, and makes its result a value of Python. `progress` is called with the stage, how much
/// of it is done, and of how much, whenever that has changed.
///
/// # Errors
/// What a handler of a signal or `progress` raises. The work then ends at its next message or stage.
pub fn call<T, W, V>(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, work: W, value: V) -> PyResult<Reply>
where
    T: Send + 'static,
    W: FnOnce(&dyn Sink) -> Result<T> + Send + 'static,
    V: FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>>,
{
    let messages = Arc::new(Messages::default());
    let listener = Listener(Arc::clone(&messages));
    let done = match run(py, progress, &messages, move || guarded(work, &listener)) {
        Ok(done) => done,
        Err(raised) => {
            messages.cancel();
            return Err(raised);
        }
    };
    let (value, error) = match done {
        Ok(made) => (value(py, made)?, None),
        Err(error) => (py.None(), Some(error)),
    };
    Ok(Reply { value, error, messages: messages.take() })
}

/// The result of work, or its error in words; a panic is one.
fn guarded<T>(work: impl FnOnce(&dyn Sink) -> Result<T>, listener: &Listener) -> Result<T, String> {
    let worked = catch_unwind(AssertUnwindSafe(|| {
        let result = work(listener);
        remarks::report(listener);
        result
    }));
    match worked {
        Ok(result) => result.map_err(|error| chain(&error)),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("flowmine failed in a way that it should not, please report it: {}", text.unwrap_or("it panicked")))
        }
    }
}

/// Runs work on another thread while this one waits. Where none can be started, this one works.
fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    messages: &Messages,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (hand, handed) = sync_channel(1);
    let (give, given) = sync_channel(1);
    let working = Working::begin();
    let thread = move || {
        let _working = working;
        // What nobody waits for any more is dropped here.
        if let Ok(work) = handed.recv() {
            let work: Box<dyn FnOnce() -> T + Send> = work;
            let _ = give.send(work());
        }
    };
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    if Builder::new().name("flowmine".to_owned()).stack_size(STACK).spawn(thread).is_err() {
        return Ok(py.detach(work));
    }
    // The thread waits for it, and the channel has room.
    let _ = hand.send(work);
    let mut shown = None;
    let mut given = given;
    loop {
        // A receiver is used by one thread at a time, and is handed over to the wait and back.
        let (received, back) = py.detach(move || (given.recv_timeout(LOOK), given));
        given = back;
        match received {
            Ok(made) => return Ok(made),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(pyo3::exceptions::PyRuntimeError::new_err("the thread of a call ended without a result"));
            }
        }
        if let Some(progress) = progress {
            let now = messages.progress();
            if shown.replace(now) != Some(now) {
                progress.call1((now.stage, now.done, now.total))?;
            }
        }
    }
}
