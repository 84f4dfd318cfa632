//! The page of a report with its models behind it, over HTTP.
//!
//! The server listens on loopback or at a Unix socket, and answers whoever has its token. It is
//! read-only: no request changes anything, and none names a file. Each answer is a result of
//! [`flowmine_api`], computed by a bounded number of threads and kept within a bounded number of
//! bytes.
//!
//! - **In:** [`Options`]: a source, an address.
//! - **Out:** HTML, JSON, figures, metrics, until [`serve`] is stopped.
//!
//! `docs/serve.md` describes it for its users, `docs/decisions/http.md` why it is built on hyper.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod answer;
mod cache;
mod counters;
mod engine;
mod follow;
mod gate;
mod keys;
mod listen;
mod observing;
mod once;
mod pages;
mod patience;
mod pool;
mod query;
mod server;
mod waiting;

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use flowmine_api::groups::TableColumns;
use flowmine_api::log_memory::LogMemory;
use flowmine_api::report::Place;
use flowmine_api::{Sink, SourcePaths, observe};

pub use listen::{Address, ListenError};
pub use once::{Once, OnceError, once};
pub use server::Limits;

/// How long the end waits for threads that compute.
const PATIENCE: Duration = Duration::from_secs(2);
/// Number of threads that compute, at most: each may hold a log in memory.
const THREADS: usize = 4;

/// What is served, and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// The dataset or log files.
    pub source: SourcePaths,
    /// Whether the dataset is temporary and so does not change.
    pub is_temporary: bool,
    /// Which columns of a table hold what.
    pub columns: TableColumns,
    /// Where the server listens.
    pub address: Address,
    /// Other hosts under which it is reached, such as that of a proxy.
    pub hosts: Vec<String>,
    /// The most bytes of results in memory.
    pub cache_bytes: usize,
    /// The most bytes of logs in memory.
    pub log_bytes: usize,
    /// How much a client may take.
    pub limits: Limits,
    /// What the server observes itself, into the dataset.
    pub observation: Option<observe::Request>,
}

/// Where a server is reached.
#[derive(Debug)]
pub struct Ready<'r> {
    /// The address with the token; of a Unix socket, that of a forwarding to port 8765.
    pub url: &'r str,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened at.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The system has no random numbers for the token.
    #[error("the system has no random numbers for the token: {0}")]
    Random(#[from] getrandom::Error),
    /// The system has no room for the server.
    #[error("the server cannot run: {0}")]
    Io(#[from] io::Error),
    /// The caller could not pass the address on.
    #[error(transparent)]
    Ready(Box<dyn std::error::Error + Send + Sync>),
}

/// Serves until `stop` is set. The address goes to `ready` when it can be opened. Whether something
/// of an observed queue was lost.
///
/// # Errors
/// When the address cannot be listened at, or the system has no room.
pub fn serve<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    options: &Options,
    stop: &AtomicBool,
    sink: &dyn Sink,
    ready: impl FnOnce(&Ready<'_>) -> Result<(), E>,
) -> Result<bool, ServeError> {
    let listening = listen::listen(&options.address)?;
    let keys = keys::Keys::new()?;
    let port = match &listening {
        listen::Listening::Port(_, port) => Some(*port),
        listen::Listening::Socket(..) => None,
    };
    let url = format!("http://127.0.0.1:{}/?{}={}", port.unwrap_or(8765), gate::TOKEN, keys.token.digits());
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let pool = pool::Pool::new(threads, options.cache_bytes)?;
    let observing = options.observation.as_ref().map(|_| Arc::new(observing::Observing::default()));
    let memory = Arc::new(LogMemory::new(options.log_bytes));
    let context = Arc::new(server::Context {
        limits: options.limits,
        gate: gate::Gate { keys, port, hosts: options.hosts.clone() },
        engine: Arc::new(engine::Engine {
            source: options.source.clone(),
            columns: options.columns.clone(),
            place: Place::Served,
            memory: Some(memory.clone()),
        }),
        pool: pool.clone(),
        follow: Arc::new(follow::Follow::new(&options.source, options.is_temporary)),
        observing: observing.clone(),
        queue: std::sync::Mutex::default(),
        pages: pages::Pages::default(),
        counters: counters::Counters::default(),
    });
    ready(&Ready { url: &url }).map_err(|error| ServeError::Ready(error.into()))?;
    let served = std::thread::scope(|scope| {
        let polls = options.observation.as_ref().zip(observing.as_deref());
        // Without another thread the server could not answer while it polls.
        let thread =
            polls.map(|(request, observing)| std::thread::Builder::new().spawn_scoped(scope, || observing.run(request, stop, sink)));
        thread.transpose()?;
        let served = server::run(context, listening, stop);
        // Where serving failed, polling ends as well.
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        served
    });
    pool.close(PATIENCE);
    served?;
    Ok(observing.is_some_and(|observing| observing.last().is_lossy))
}
