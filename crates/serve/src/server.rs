//! The server: connections, the gate before every request, and what answers it.

use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use flowmine_api::models;
use flowmine_api::registry::{Registry, SourceState};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION as CONNECTION_HEADER, LOCATION, SET_COOKIE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use crate::answer::{self, Answer};
use crate::counters::{self, Counters};
use crate::engine::{Ask, Engine};
use crate::follow::Follow;
use crate::gate::{Gate, Pass};
use crate::listen::Listening;
use crate::observing::Observing;
use crate::pages::Pages;
use crate::patience::Patient;
use crate::pool::{Asked, Pool};
use crate::query::{self, Query};
use crate::waiting;

/// The most bytes of the head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// The most headers of a request.
const HEADERS: usize = 64;
/// The longest time of a connection.
const CONNECTION: Duration = Duration::from_secs(3600);
/// The longest time until the page is shown, or how far it is.
const AT_ONCE: Duration = Duration::from_millis(700);
/// The longest time that metrics wait for the queue.
const METRICS: Duration = Duration::from_secs(5);
/// How often it is looked whether the server is to end.
const NAP: Duration = Duration::from_millis(100);

/// How much a client may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Number of connections at a time; others wait in the system's queue.
    pub connections: usize,
    /// The longest time until the head of a request is there.
    pub head: Duration,
    /// The longest time in which a client reads nothing of an answer.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 64, head: Duration::from_secs(10), stalled: Duration::from_secs(30) }
    }
}

/// What requests are answered from.
pub struct Context {
    /// How much a client may take.
    pub limits: Limits,
    /// Which requests are answered.
    pub gate: Gate,
    /// What answers them.
    pub engine: Arc<Engine>,
    /// The threads that do so.
    pub pool: Pool,
    /// The files of the source.
    pub follow: Arc<Follow>,
    /// What the server observes itself.
    pub observing: Option<Arc<Observing>>,
    /// The states of the pages that were asked for.
    pub pages: Pages,
    /// The queue of the last metrics.
    pub queue: Mutex<LastQueue>,
    /// What was answered so far.
    pub counters: Counters,
}

/// The queue as metrics have it.
#[derive(Debug, Default)]
pub struct LastQueue {
    /// The last that was made.
    answer: Option<Arc<Answer>>,
    /// The key of the one that was asked for last.
    key: String,
}

/// Serves until `stop` is set.
///
/// # Errors
/// When the system has no room for the server.
pub fn run(context: Arc<Context>, listening: Listening, stop: &AtomicBool) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build()?;
    let ended = runtime.block_on(accept(context, listening, stop));
    runtime.shutdown_timeout(Duration::ZERO);
    ended
}

async fn accept(context: Arc<Context>, listening: Listening, stop: &AtomicBool) -> io::Result<()> {
    let room = Arc::new(Semaphore::new(context.limits.connections));
    let is_wanted = || !stop.load(Ordering::Relaxed);
    // The socket lives as long as its name.
    let (port, socket, _own) = match listening {
        Listening::Port(listener, _) => (Some(tokio::net::TcpListener::from_std(listener)?), None, None),
        Listening::Socket(listener, own) => (None, Some(tokio::net::UnixListener::from_std(listener)?), Some(own)),
    };
    while is_wanted() {
        let Ok(Ok(permit)) = tokio::time::timeout(NAP, room.clone().acquire_owned()).await else { continue };
        if let Some(listener) = &port {
            match tokio::time::timeout(NAP, listener.accept()).await {
                Ok(Ok((stream, _))) => {
                    // Answers are written whole.
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(connection(context.clone(), stream, permit));
                }
                // There is no room for another file: some connection ends.
                Ok(Err(_)) => tokio::time::sleep(NAP).await,
                Err(_) => {}
            }
        } else if let Some(listener) = &socket {
            match tokio::time::timeout(NAP, listener.accept()).await {
                Ok(Ok((stream, _))) => {
                    let user = stream.peer_cred().map(|peer| peer.uid());
                    if user.is_ok_and(|user| user == 0 || user == flowmine_files::user()) {
                        tokio::spawn(connection(context.clone(), stream, permit));
                    }
                }
                Ok(Err(_)) => tokio::time::sleep(NAP).await,
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Serves a connection; it takes a place among the connections as long as it lasts.
async fn connection<S>(context: Arc<Context>, stream: S, _permit: tokio::sync::OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let limits = context.limits;
    let service = service_fn(move |request| respond(context.clone(), request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEADERS)
        .serve_connection(TokioIo::new(Patient::new(stream, limits.stalled)), service);
    // What a client does wrong is its own matter.
    let _ = tokio::time::timeout(CONNECTION, served).await;
}

async fn respond(context: Arc<Context>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, _body) = request.into_parts();
    let response = match context.gate.check(&head.method, &head.uri, &head.headers) {
        Ok(Pass::In) => route(&context, context.gate.path(&head.uri), &head.uri, &head.headers).await.response(&head.headers),
        Ok(Pass::Exchange { location, cookie }) => redirect(&location, &cookie),
        Err(refused) => {
            let mut response = Answer::text(refused.status, format!("{}\n", refused.why)).response(&head.headers);
            // Who may not ask does not keep a place among the connections.
            answer::put(response.headers_mut(), CONNECTION_HEADER, "close");
            response
        }
    };
    context.counters.answered(context.gate.path(&head.uri), response.status());
    // hyper leaves the content of an answer to HEAD away, and keeps its length.
    debug_assert!(matches!(head.method, Method::GET | Method::HEAD) || !response.status().is_success());
    Ok(response)
}

fn redirect(location: &str, cookie: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SEE_OTHER;
    answer::put(response.headers_mut(), LOCATION, location);
    answer::put(response.headers_mut(), SET_COOKIE, cookie);
    answer::secure(response.headers_mut());
    response
}

/// Answers a request by its path. No path is that of a file.
async fn route(context: &Arc<Context>, path: &str, uri: &Uri, headers: &HeaderMap) -> Arc<Answer> {
    let given = query::read(uri.query().unwrap_or_default());
    match path {
        "/" => match Ask::page(given) {
            Ok(ask) => page(context, ask).await,
            Err(why) => Arc::new(waiting::refused(StatusCode::BAD_REQUEST, &why, &[])),
        },
        "/api/models" => Arc::new(Answer::document(&Registry::new())),
        "/api/state" => Arc::new(state(context, given).await),
        "/api/now" => computed(context, Ask::Now(given)).await,
        "/metrics" => Arc::new(metrics(context).await),
        path => match path.strip_prefix("/api/") {
            Some("progress") => match Ask::page(given) {
                Ok(ask) => Arc::new(progress(context, &ask).await),
                Err(why) => Arc::new(Answer::refusal(StatusCode::BAD_REQUEST, why, Vec::new())),
            },
            Some(name) => match name.strip_prefix("progress/").map_or((name, false), |name| (name, true)) {
                (name, _) if models::find(name).is_none() => absent(headers),
                (name, true) => Arc::new(progress(context, &Ask::Model(name.to_owned(), given)).await),
                (name, false) => computed(context, Ask::Model(name.to_owned(), given)).await,
            },
            None => absent(headers),
        },
    }
}

fn absent(_: &HeaderMap) -> Arc<Answer> {
    let why = "there is nothing at this path: /, /api/models, /api/MODEL, /api/now, /api/state and /metrics are served";
    Arc::new(Answer::refusal(StatusCode::NOT_FOUND, why, Vec::new()))
}

/// The state of the source, read on a thread that may wait for a disk.
async fn present(context: &Arc<Context>) -> String {
    let follow = context.follow.clone();
    tokio::task::spawn_blocking(move || follow.state()).await.unwrap_or_default()
}

async fn state(context: &Arc<Context>, given: Query) -> Answer {
    let last = context.observing.as_ref().map(|observing| observing.last()).unwrap_or_default();
    Answer::document(&SourceState {
        state: present(context).await,
        page: Ask::page(given).ok().and_then(|ask| context.pages.state(&ask)),
        is_followed: context.follow.is_followed,
        last_poll_ns: last.ended_ns,
        poll_failed: last.failed,
    })
}

async fn progress(context: &Arc<Context>, ask: &Ask) -> Answer {
    let present = present(context).await;
    let state = if matches!(ask, Ask::Page(_)) { context.pages.choose(ask, &present, &context.pool) } else { present };
    Answer::document(&context.pool.progress(&ask.key(&state)))
}

/// Asks the pool; `None` where it has no room.
fn ask(context: &Arc<Context>, state: &str, key: &str, ask: &Ask) -> Option<Asked> {
    context.pool.ask(key, || {
        let (context, ask, state) = (context.clone(), ask.clone(), state.to_owned());
        Box::new(move |sink| {
            let answer = context.engine.answer(&ask, &state, sink);
            if matches!(&ask, Ask::Now(query) if query.is_empty()) {
                context.queue().answer = Some(Arc::new(answer.clone()));
            }
            answer
        })
    })
}

fn busy() -> Arc<Answer> {
    Arc::new(Answer::refusal(StatusCode::SERVICE_UNAVAILABLE, "too many requests wait: try again later", Vec::new()))
}

/// What the library answers.
async fn computed(context: &Arc<Context>, asked: Ask) -> Arc<Answer> {
    let state = present(context).await;
    answered(context, asked, state, false).await
}

/// The answer of the library for a state of the source. Where it is shown how far that is, the work
/// goes on for some seconds when nobody waits for it.
async fn answered(context: &Arc<Context>, asked: Ask, state: String, is_shown: bool) -> Arc<Answer> {
    let key = asked.key(&state);
    for _ in 0..2 {
        let found = ask(context, &state, &key, &asked);
        if is_shown {
            context.pool.progress(&key);
        }
        let answer = match found {
            Some(Asked::Ready(answer)) => answer,
            Some(Asked::Working(waiting)) => match waiting.answer().await {
                Some(answer) => answer,
                // It was left just before, because those who had asked had gone.
                None => continue,
            },
            None => return busy(),
        };
        return answer;
    }
    busy()
}

/// The page, or how far it is where that takes longer.
async fn page(context: &Arc<Context>, asked: Ask) -> Arc<Answer> {
    let state = context.pages.choose(&asked, &present(context).await, &context.pool);
    context.pages.put(&asked, &state);
    let Ok(answer) = tokio::time::timeout(AT_ONCE, answered(context, asked, state, true)).await else { return Arc::new(waiting::page()) };
    if answer.status.is_success() { answer } else { Arc::new(waiting::refused_by(&answer)) }
}

impl Context {
    fn queue(&self) -> MutexGuard<'_, LastQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The metrics, with the queue as it was made last where a new one takes longer: that goes on, so
/// that a later request has it.
async fn metrics(context: &Arc<Context>) -> Answer {
    let state = present(context).await;
    let (asked, key) = (Ask::Now(Vec::new()), Ask::Now(Vec::new()).key(&state));
    let last = context.queue().key.clone();
    // The queue of a source that changes often is made one after the other.
    if last == key || !context.pool.is_recent(&last, Duration::ZERO) {
        context.queue().key.clone_from(&key);
        if let Some(Asked::Working(waiting)) = ask(context, &state, &key, &asked) {
            context.pool.keep(&key);
            let _ = tokio::time::timeout(METRICS, waiting.answer()).await;
        }
    }
    let queue = context.queue().answer.clone();
    let last = context.observing.as_ref().map(|observing| observing.last());
    Answer::new(counters::CONTENT, counters::text(&context.counters, &context.pool.counts(), queue.as_deref(), last.as_ref()))
}
