//! A run while it grows.

use super::evidence::BURST_NS;
use super::members::{Member, NONE, Word};

/// The last jobs of a run that are remembered.
const RECENT: usize = 8;
/// Steps of a run that are remembered, at most.
const STEPS: usize = 24;
/// Words of a run that are remembered, at most.
const WORDS: usize = 32;

/// The last job of a step in a run.
#[derive(Debug, Clone, Copy)]
pub struct StepSeen {
    /// Number of the step.
    pub step: u32,
    /// When its last job was submitted, in nanoseconds since 1970.
    pub since_ns: i64,
    /// When that job ended, in nanoseconds since 1970.
    pub ended_ns: i64,
    /// Whether that job was successful.
    pub is_successful: bool,
    /// Whether jobs of the step were submitted at once.
    pub is_sweep: bool,
}

/// A run, with some attributes of its jobs.
#[derive(Debug)]
pub struct Run {
    /// The step of the oldest job.
    pub first_step: u32,
    /// The last job that was submitted.
    pub last: u32,
    /// When that was, in nanoseconds since 1970.
    pub last_ns: i64,
    /// The latest end of a job, in nanoseconds since 1970.
    pub latest_end_ns: i64,
    /// The last jobs.
    pub recent: Vec<u32>,
    /// The steps that it has had.
    pub steps: Vec<StepSeen>,
    /// The words of its jobs, the newest last.
    pub words: Vec<Word>,
    /// The last work directory that is known.
    pub directory: u32,
    /// The last session that is known.
    pub session: u32,
}

impl Run {
    /// A run that begins with a job.
    pub fn new(at: u32, member: &Member) -> Self {
        let mut run = Self {
            first_step: member.step,
            last: at,
            last_ns: member.since_ns,
            latest_end_ns: member.ended_ns,
            recent: Vec::with_capacity(RECENT),
            steps: Vec::new(),
            words: Vec::new(),
            directory: NONE,
            session: NONE,
        };
        run.add(at, member);
        run
    }

    /// Adds a job, by its number among the user's jobs.
    pub fn add(&mut self, at: u32, member: &Member) {
        (self.last, self.last_ns) = (at, member.since_ns);
        self.latest_end_ns = self.latest_end_ns.max(member.ended_ns);
        push_bounded(&mut self.recent, at, RECENT);
        let before = self.steps.iter().position(|seen| seen.step == member.step).map(|at| self.steps.remove(at));
        let is_sweep = before.is_some_and(|before| before.is_sweep || member.since_ns - before.since_ns <= BURST_NS);
        let (step, is_successful) = (member.step, member.is_successful);
        let (since_ns, ended_ns) = (member.since_ns, member.ended_ns);
        push_bounded(&mut self.steps, StepSeen { step, since_ns, ended_ns, is_successful, is_sweep }, STEPS);
        for &word in &member.words {
            if !self.words.contains(&word) {
                push_bounded(&mut self.words, word, WORDS);
            }
        }
        if member.directory != NONE {
            self.directory = member.directory;
        }
        if member.session != NONE {
            self.session = member.session;
        }
    }
}

fn push_bounded<T>(to: &mut Vec<T>, new: T, most: usize) {
    if to.len() == most {
        to.remove(0);
    }
    to.push(new);
}
