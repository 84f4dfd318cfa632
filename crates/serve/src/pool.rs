//! Work that takes long: a bounded number of threads, a bounded queue before them, and one piece of
//! work for all that ask for the same.
//!
//! Work nobody waits for any longer is left at its next stage or message. The library does not
//! return there: the thread unwinds, as rust-analyzer's does, up to [`Pool::work`], and what the
//! library holds is dropped.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use flowmine_api::registry::RequestProgress;
use flowmine_api::{Message, Sink, Stage};
use hyper::StatusCode;
use tokio::sync::watch;

use crate::answer::Answer;
use crate::cache::Cache;

/// Number of requests that wait for a thread; more are refused.
const WAITING: usize = 32;
/// How long work goes on after the last question about its progress.
const INTEREST: Duration = Duration::from_secs(10);
/// Bytes of the stack of a thread, as a main thread has them by default.
const STACK: usize = 8 << 20;

/// What makes answers.
pub type Work = Box<dyn FnOnce(&dyn Sink) -> Answer + Send>;

/// The payload with which a thread unwinds from abandoned work.
struct Abandoned;

/// Threads with their queue, and the answers that are kept.
#[derive(Clone)]
pub struct Pool(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    /// Something is in the queue, or a thread is done.
    changed: Condvar,
}

struct Inner {
    queue: VecDeque<(String, Arc<Job>, Work)>,
    jobs: BTreeMap<String, Arc<Job>>,
    cache: Cache,
    threads: usize,
    is_closed: bool,
    counts: Counts,
}

/// What was done so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Number of answers that were computed.
    pub computed: u64,
    /// Number of answers that were kept.
    pub kept: u64,
    /// Number of requests that nobody waited for any longer.
    pub abandoned: u64,
    /// Number of requests for which there was no room.
    pub refused: u64,
    /// Number of requests that are computed or wait for a thread.
    pub in_work: u64,
    /// Bytes of the answers that are kept.
    pub cache_bytes: u64,
}

/// A piece of work.
struct Job {
    /// Gets the answer; its receivers are those who wait.
    done: watch::Sender<Option<Arc<Answer>>>,
    state: Mutex<JobState>,
}

struct JobState {
    /// When its progress was last asked for.
    asked: Option<Instant>,
    is_running: bool,
    /// Whether it goes on when nobody waits for it.
    is_kept: bool,
    stage: Option<(&'static str, usize, usize)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is locked here is left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Job {
    fn is_abandoned(&self) -> bool {
        let state = locked(&self.state);
        self.done.receiver_count() == 0 && !state.is_kept && state.asked.is_none_or(|asked| asked.elapsed() > INTEREST)
    }
}

/// An answer, or the receiver of one that is being made.
pub enum Asked {
    /// The answer.
    Ready(Arc<Answer>),
    /// It is being made.
    Working(Waiting),
}

/// The receiver of an answer.
pub struct Waiting(watch::Receiver<Option<Arc<Answer>>>);

impl Waiting {
    /// Waits for the answer; `None` where its work was abandoned.
    pub async fn answer(mut self) -> Option<Arc<Answer>> {
        self.0.wait_for(Option::is_some).await.ok().and_then(|answer| answer.clone())
    }
}

impl Pool {
    /// Starts threads; their number is at least one.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn new(threads: usize, cache_bytes: usize) -> std::io::Result<Self> {
        let inner = Inner {
            queue: VecDeque::new(),
            jobs: BTreeMap::new(),
            cache: Cache::new(cache_bytes),
            threads: 0,
            is_closed: false,
            counts: Counts::default(),
        };
        let pool = Self(Arc::new(Shared { inner: Mutex::new(inner), changed: Condvar::new() }));
        for number in 0..threads.max(1) {
            let own = pool.clone();
            let started = std::thread::Builder::new().name(format!("models-{number}")).stack_size(STACK).spawn(move || own.work());
            match started {
                Ok(_) => locked(&pool.0.inner).threads += 1,
                // Fewer do as well.
                Err(_) if number > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(pool)
    }

    /// Asks for an answer. `None` where the queue is full.
    pub fn ask(&self, key: &str, work: impl FnOnce() -> Work) -> Option<Asked> {
        let mut inner = locked(&self.0.inner);
        if let Some(answer) = inner.cache.get(key) {
            inner.counts.kept += 1;
            return Some(Asked::Ready(answer));
        }
        if let Some(job) = inner.jobs.get(key) {
            return Some(Asked::Working(Waiting(job.done.subscribe())));
        }
        if inner.queue.len() >= WAITING {
            inner.counts.refused += 1;
            return None;
        }
        let (done, receiver) = watch::channel(None);
        let job = Arc::new(Job { done, state: Mutex::new(JobState { asked: None, is_running: false, is_kept: false, stage: None }) });
        inner.jobs.insert(key.to_owned(), job.clone());
        inner.queue.push_back((key.to_owned(), job, work()));
        self.0.changed.notify_all();
        Some(Asked::Working(Waiting(receiver)))
    }

    /// Lets the work for an answer go on when nobody waits for it.
    pub fn keep(&self, key: &str) {
        if let Some(job) = locked(&self.0.inner).jobs.get(key) {
            locked(&job.state).is_kept = true;
        }
    }

    /// Whether an answer is in work, or was made within this time.
    pub fn is_recent(&self, key: &str, within: Duration) -> bool {
        let inner = locked(&self.0.inner);
        inner.jobs.contains_key(key) || inner.cache.age(key).is_some_and(|age| age < within)
    }

    /// How far a request is. Its work goes on for some seconds after this question.
    pub fn progress(&self, key: &str) -> RequestProgress {
        let mut inner = locked(&self.0.inner);
        let (state, stage) = match inner.jobs.get(key).cloned() {
            Some(job) => {
                let mut state = locked(&job.state);
                state.asked = Some(Instant::now());
                (if state.is_running { "running" } else { "waiting" }, state.stage)
            }
            None if inner.cache.get(key).is_some() => ("done", None),
            None => ("unknown", None),
        };
        let part =
            |of: fn((usize, usize)) -> usize| stage.filter(|(_, _, total)| *total > 0).map(|(_, done, total)| of((done, total)) as u64);
        RequestProgress { state, stage: stage.map(|(what, ..)| what), done: part(|(done, _)| done), total: part(|(_, total)| total) }
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        let inner = locked(&self.0.inner);
        Counts { in_work: inner.jobs.len() as u64, cache_bytes: inner.cache.bytes() as u64, ..inner.counts }
    }

    /// Abandons all work, and waits some time for the threads to leave it.
    pub fn close(&self, patience: Duration) {
        let end = Instant::now() + patience;
        let mut inner = locked(&self.0.inner);
        inner.is_closed = true;
        inner.queue.clear();
        self.0.changed.notify_all();
        while inner.threads > 0 {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            inner = self.0.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Works until the pool is closed.
    fn work(&self) {
        let mut inner = locked(&self.0.inner);
        loop {
            if inner.is_closed {
                inner.threads -= 1;
                self.0.changed.notify_all();
                return;
            }
            let Some((key, job, work)) = inner.queue.pop_front() else {
                inner = self.0.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(inner);
            locked(&job.state).is_running = true;
            let watcher = Watcher { job: job.clone(), pool: self.clone() };
            let done = catch_unwind(AssertUnwindSafe(|| {
                watcher.look();
                work(&watcher)
            }));
            inner = locked(&self.0.inner);
            inner.jobs.remove(&key);
            let answer = match done {
                Ok(answer) => {
                    inner.counts.computed += 1;
                    let answer = Arc::new(answer);
                    inner.cache.put(&key, answer.clone());
                    answer
                }
                Err(payload) if payload.is::<Abandoned>() => {
                    inner.counts.abandoned += 1;
                    // Without a sender, whoever asked since then learns that there is no answer.
                    continue;
                }
                Err(_) => Arc::new(Answer::refusal(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "flowmine has a fault: the request ended in a panic, which standard error has",
                    Vec::new(),
                )),
            };
            job.done.send_replace(Some(answer));
        }
    }
}

/// Takes the progress of a piece of work, and leaves it when nobody waits for it.
#[derive(Clone)]
struct Watcher {
    job: Arc<Job>,
    pool: Pool,
}

impl Watcher {
    /// Leaves the work where nobody waits for it, or the server ends.
    fn look(&self) {
        if !std::thread::panicking() && (self.job.is_abandoned() || locked(&self.pool.0.inner).is_closed) {
            resume_unwind(Box::new(Abandoned));
        }
    }
}

impl Sink for Watcher {
    fn message(&self, _: Message<'_>) {
        self.look();
    }

    fn stage(&self, what: &'static str) -> Box<dyn Stage> {
        self.look();
        locked(&self.job.state).stage = Some((what, 0, 0));
        Box::new(StageOf { watcher: self.clone(), what })
    }
}

struct StageOf {
    watcher: Watcher,
    what: &'static str,
}

impl Stage for StageOf {
    fn at(&self, done: usize, total: usize) {
        self.watcher.look();
        locked(&self.watcher.job.state).stage = Some((self.what, done, total));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::answer::TEXT;

    fn work(make: impl FnOnce(&dyn Sink) -> &'static str + Send + 'static) -> Work {
        Box::new(move |sink| Answer::new(TEXT, make(sink)))
    }

    fn wait(asked: Option<Asked>) -> Arc<Answer> {
        match asked.expect("room") {
            Asked::Ready(answer) => answer,
            Asked::Working(waiting) => {
                tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(waiting.answer()).expect("an answer")
            }
        }
    }

    #[test]
    fn the_same_is_made_once() {
        let pool = Pool::new(2, 1 << 20).expect("threads");
        let (go, gone) = channel::<()>();
        let first = pool.ask("a", || work(move |_| gone.recv().map(|()| "made").unwrap_or("")));
        let second = pool.ask("a", || unreachable!("it is being made"));
        go.send(()).expect("it waits");
        assert_eq!(wait(first).body, "made");
        assert_eq!(wait(second).body, "made");
        assert!(matches!(pool.ask("a", || unreachable!("it is kept")), Some(Asked::Ready(_))));
        let Counts { computed, kept, in_work, .. } = pool.counts();
        assert_eq!((computed, kept, in_work), (1, 1, 0));
        pool.close(Duration::from_secs(10));
    }

    #[test]
    fn abandoned_work_ends_at_its_next_stage_and_a_panic_ends_no_thread() {
        let pool = Pool::new(1, 1 << 20).expect("threads");
        let (begun, is_begun) = channel::<()>();
        let (go, gone) = channel::<()>();
        let asked = pool.ask("a", || {
            work(move |sink| {
                let _ = (begun.send(()), gone.recv());
                drop(sink.stage("next"));
                "never"
            })
        });
        is_begun.recv().expect("it begins");
        drop(asked);
        go.send(()).expect("it waits");
        // The only thread has left it when the next is done.
        let _ = wait(pool.ask("b", || work(|_| resume_unwind(Box::new("a fault")))));
        assert_eq!(pool.counts().abandoned, 1);
        assert_eq!(wait(pool.ask("b", || work(|_| "well"))).body, "well");
        pool.close(Duration::from_secs(10));
        assert_eq!(locked(&pool.0.inner).threads, 0);
    }

    #[test]
    fn kept_work_goes_on() {
        let pool = Pool::new(1, 1 << 20).expect("threads");
        let (go, gone) = channel::<()>();
        let asked = pool.ask("a", || {
            work(move |sink| {
                let _ = gone.recv();
                drop(sink.stage("next"));
                "made"
            })
        });
        pool.keep("a");
        drop(asked);
        go.send(()).expect("it waits");
        let _ = wait(pool.ask("b", || work(|_| "b")));
        assert!(matches!(pool.ask("a", || unreachable!("it is kept")), Some(Asked::Ready(answer)) if answer.body == "made"));
        pool.close(Duration::from_secs(10));
    }

    #[test]
    fn the_queue_is_bounded() {
        let pool = Pool::new(1, 1 << 20).expect("threads");
        let (go, gone) = channel::<()>();
        let (begun, is_begun) = channel::<()>();
        let first = pool.ask("first", || work(move |_| begun.send(()).and(Ok(gone.recv())).map(|_| "done").unwrap_or("")));
        is_begun.recv().expect("it begins");
        let others: Vec<_> = (0..WAITING).map(|number| pool.ask(&number.to_string(), || work(|_| "done"))).collect();
        assert!(others.iter().all(Option::is_some));
        assert!(pool.ask("more", || work(|_| "done")).is_none());
        assert_eq!(pool.progress("31").state, "waiting");
        go.send(()).expect("it waits");
        let _ = wait(first);
        pool.close(Duration::from_secs(10));
    }
}
