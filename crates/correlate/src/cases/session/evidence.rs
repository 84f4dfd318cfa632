//! How much speaks for a job being of a run: a sum of logarithms of likelihood ratios.

use super::learnt::Learnt;
use super::members::{Member, Members, NONE};
use super::run::Run;
use flowmine_schema::time::SECOND_NS;

const MINUTE_NS: i64 = 60 * SECOND_NS;
const HOUR_NS: i64 = 60 * MINUTE_NS;

/// Submissions within this time of each other are a burst.
pub const BURST_NS: i64 = 15 * SECOND_NS;

/// A run of which nothing was submitted and nothing ended for this long goes on no more.
pub const OVER_NS: i64 = 7 * 24 * HOUR_NS;

/// Weight by the time from an end in the run to the submission. Scripts answer in seconds, people in
/// minutes, and the next morning.
const AFTER_END: &[(i64, f64)] = &[
    (10 * SECOND_NS, 3.5),
    (45 * SECOND_NS, 2.5),
    (3 * MINUTE_NS, 1.5),
    (10 * MINUTE_NS, 1.0),
    (30 * MINUTE_NS, 0.2),
    (HOUR_NS, -0.7),
    (4 * HOUR_NS, -1.7),
    (24 * HOUR_NS, -2.7),
    (OVER_NS, -4.0),
];

/// The kinds of evidence, in words, for the reason that a table gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Time,
    Session,
    Directory,
    Words,
    Order,
}

impl Kind {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Session => "submitting-session",
            Self::Directory => "work-directory",
            Self::Words => "words",
            Self::Order => "order-of-steps",
        }
    }
}

/// What speaks for a job to continue a run.
#[derive(Debug, Clone, Copy)]
pub struct Weighed {
    /// The sum.
    pub sum: f64,
    /// The job of the run that it follows.
    pub follows: u32,
    /// The kind that speaks most for it.
    pub main: Kind,
}

/// Whether a job is one more of a step, submitted at once with the job before.
pub fn is_sweep(before: &Member, job: &Member) -> bool {
    before.step == job.step && job.since_ns - before.since_ns <= BURST_NS
}

/// Weighs whether a job continues a run.
pub fn weigh(members: &Members, learnt: &Learnt, run: &Run, job: &Member) -> Weighed {
    let now = job.since_ns;
    let recent = || run.recent.iter().map(|&at| (at, &members.all[at as usize]));
    // Of those that ended last the one submitted last.
    let ended = recent().filter(|(_, before)| before.ended_ns <= now).max_by_key(|(at, before)| (before.ended_ns, *at));
    let is_unfinished = run.latest_end_ns > now;
    let is_burst = now - run.last_ns <= BURST_NS;
    let last = &members.all[run.last as usize];
    let follows = match ended {
        Some((at, before)) if !is_burst || now - before.ended_ns <= now - run.last_ns && last.step != job.step => at,
        _ => run.last,
    };
    let time = time(ended.map(|(_, before)| now - before.ended_ns), now - run.last_ns, is_unfinished);
    let all = [
        (Kind::Time, if time > 0.0 { time * members.quickness } else { time }),
        (Kind::Session, session(members, run, job)),
        (Kind::Directory, directory(members, learnt, run, job)),
        (Kind::Words, words(members, run, job, is_sweep(last, job))),
        (Kind::Order, order(members, learnt, &members.all[follows as usize], run, job, is_burst)),
    ];
    let sum = all.iter().map(|(_, weight)| weight).sum();
    let main = all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Kind::Time, |(kind, _)| *kind);
    Weighed { sum, follows, main }
}

fn time(after_end: Option<i64>, after_submission: i64, is_unfinished: bool) -> f64 {
    let in_steps = |gap: i64| AFTER_END.iter().find(|(most, _)| gap <= *most).map_or(-6.0, |(_, weight)| *weight);
    let burst = if after_submission <= BURST_NS {
        3.0
    } else if after_submission <= MINUTE_NS {
        1.0
    } else {
        f64::NEG_INFINITY
    };
    let by_end = match after_end {
        // A script that has a chain for each sample answers while other chains go on; a person waits.
        Some(gap) if is_unfinished && gap > MINUTE_NS => in_steps(gap) - 1.7,
        Some(gap) => in_steps(gap),
        None => in_steps(after_submission).min(0.0) - 1.7,
    };
    burst.max(by_end)
}

fn session(members: &Members, run: &Run, job: &Member) -> f64 {
    if run.session == NONE || job.session == NONE {
        return 0.0;
    }
    let is_script = |session: u32| members.is_script[session as usize];
    if run.session == job.session {
        let share = f64::from(members.in_session[job.session as usize]) / members.all.len() as f64;
        if is_script(job.session) { 4.0 * (1.0 - share) } else { (-share.ln()).min(1.0) }
    } else if is_script(job.session) || is_script(run.session) {
        -3.0
    } else {
        -0.7
    }
}

fn directory(members: &Members, learnt: &Learnt, run: &Run, job: &Member) -> f64 {
    if run.directory == NONE || job.directory == NONE {
        return 0.0;
    }
    let share = f64::from(members.in_directory[job.directory as usize]) / members.all.len() as f64;
    let stays = learnt.stays();
    if run.directory == job.directory {
        // A directory in which a user does everything says nothing.
        (stays / share).ln().clamp(0.0, 3.0)
    } else {
        ((1.0 - stays) / (1.0 - share).max(0.05)).ln().clamp(-3.0, 0.0)
    }
}

/// Shared words, the rarer the more; against it, values of a counter that goes through runs and
/// that the run has not.
fn words(members: &Members, run: &Run, job: &Member, is_sweep: bool) -> f64 {
    let mut shared: f64 = 0.0;
    let mut other: f64 = 0.0;
    for word in &job.words {
        if run.words.contains(word) {
            shared = shared.max(members.rarity(*word));
        } else if !is_sweep && run.words.iter().any(|known| known.thing == word.thing) {
            other = other.max(members.is_linking(word.thing));
        }
    }
    // A word of one job in three says nothing.
    (shared - 1.1).clamp(0.0, 3.5) - 3.0 * other
}

/// The weight of the step after the one before, and of its return.
fn order(members: &Members, learnt: &Learnt, before: &Member, run: &Run, job: &Member, is_burst: bool) -> f64 {
    // Where nothing shows the step, its return would end a run after each burst.
    if !job.has_step {
        return 0.0;
    }
    let after = if is_sweep(before, job) { 0.0 } else { learnt.after(before.step, job.step) };
    let share = f64::from(members.in_step[job.step as usize]) / members.all.len() as f64;
    after + again(run, job, share, is_burst)
}

/// The weight of a step that the run has had already, other than at once with its jobs.
fn again(run: &Run, job: &Member, share: f64, is_burst: bool) -> f64 {
    let Some(seen) = run.steps.iter().find(|seen| seen.step == job.step) else { return 0.0 };
    if is_burst || job.since_ns - seen.since_ns <= BURST_NS {
        return 0.0;
    }
    let weight = if seen.ended_ns > job.since_ns {
        -2.0
    } else if !seen.is_successful {
        2.0
    } else if run.first_step == job.step {
        -3.0
    } else {
        -2.0
    };
    // The return of a step that nearly all jobs of a user have is no evidence, unless it is a
    // sweep.
    if seen.is_sweep { weight } else { weight * (1.0 - share.powi(4)) }
}
