//! The assignment: each job of a user continues a run, or begins one.

use rustc_hash::FxHashMap;

use super::evidence::{OVER_NS, Weighed, weigh};
use super::learnt::Learnt;
use super::members::{Members, NONE};
use super::quickness::quickness;
use super::run::Run;
use crate::groups::Placed;
use crate::submitted::AllSubmitted;

/// Rounds of assigning and learning.
const ROUNDS: usize = 4;

/// Runs of a user with which a job is compared because something happened in them lately, at most.
const RECENT_RUNS: usize = 16;

/// Weight of a new run, compared with the learnt weights of first steps.
const NEW_RUN: f64 = 1.0;

/// How far the sums overstate: parts of the evidence depend on each other.
const OVERSTATED: f64 = 1.25;

/// Where a job of a user is put.
#[derive(Debug, Clone, Copy)]
struct Choice {
    run: u32,
    follows: Option<u32>,
    reason: &'static str,
    confidence: f64,
}

/// Puts each submission that is wanted into a run; the others stay alone.
pub fn group(all: &AllSubmitted, is_wanted: impl Fn(u32) -> bool) -> Vec<Placed> {
    let mut placed: Vec<Placed> = (0..all.all.len() as u32).map(|at| Placed::first(at, "alone")).collect();
    let declared = all.are_declared();
    let (order, users) = all.by_user();
    for user in users {
        let jobs: Vec<u32> = order[user.clone()].iter().copied().filter(|&at| is_wanted(at)).collect();
        let members = Members::new(all, &jobs, quickness(all, &declared, &order[user]));
        let mut learnt = Learnt::default();
        let mut choices = Vec::new();
        for round in 0..ROUNDS {
            choices = assign(&members, &learnt);
            if round + 1 < ROUNDS {
                learnt = Learnt::from(&members, &choices.iter().map(|choice| choice.follows).collect::<Vec<_>>());
            }
        }
        let mut first_of: FxHashMap<u32, u32> = FxHashMap::default();
        for (member, choice) in members.all.iter().zip(&choices) {
            placed[member.at as usize] = Placed {
                first: *first_of.entry(choice.run).or_insert(member.at),
                follows: choice.follows.map(|follows| members.all[follows as usize].at),
                reason: choice.reason,
                confidence: Some(choice.confidence as f32),
                strength: None,
            };
        }
    }
    placed
}

/// The runs that jobs can continue.
#[derive(Default)]
struct Open {
    runs: Vec<Run>,
    /// The runs in which something was submitted last, the last one at the end.
    recent: Vec<u32>,
    in_directory: FxHashMap<u32, u32>,
    in_session: FxHashMap<u32, u32>,
    with_word: FxHashMap<u32, u32>,
}

impl Open {
    fn candidates(&self, members: &Members, at: usize, found: &mut Vec<u32>) {
        let job = &members.all[at];
        found.clear();
        found.extend(self.in_directory.get(&job.directory));
        found.extend(self.in_session.get(&job.session));
        found.extend(job.words.iter().filter_map(|word| self.with_word.get(&word.value)));
        found.extend(&self.recent);
        found.sort_unstable();
        found.dedup();
        found.retain(|&run| {
            let run = &self.runs[run as usize];
            job.since_ns.saturating_sub(run.last_ns.max(run.latest_end_ns)) <= OVER_NS
        });
    }

    fn add(&mut self, members: &Members, at: usize, run: Option<u32>) -> u32 {
        let job = &members.all[at];
        let number = match run {
            Some(run) => {
                self.runs[run as usize].add(at as u32, job);
                run
            }
            None => {
                self.runs.push(Run::new(at as u32, job));
                self.runs.len() as u32 - 1
            }
        };
        self.recent.retain(|&known| known != number);
        if self.recent.len() == RECENT_RUNS {
            self.recent.remove(0);
        }
        self.recent.push(number);
        if job.directory != NONE {
            self.in_directory.insert(job.directory, number);
        }
        if job.session != NONE {
            self.in_session.insert(job.session, number);
        }
        for word in &job.words {
            self.with_word.insert(word.value, number);
        }
        number
    }
}

fn assign(members: &Members, learnt: &Learnt) -> Vec<Choice> {
    let mut open = Open::default();
    let mut choices = Vec::with_capacity(members.all.len());
    let mut found = Vec::new();
    for (at, job) in members.all.iter().enumerate() {
        open.candidates(members, at, &mut found);
        let new = NEW_RUN + learnt.first(job.step);
        let mut best: Option<(u32, Weighed)> = None;
        let mut sums = vec![new];
        for &run in &found {
            let weighed = weigh(members, learnt, &open.runs[run as usize], job);
            sums.push(weighed.sum);
            if best.is_none_or(|(_, known)| weighed.sum >= known.sum) {
                best = Some((run, weighed));
            }
        }
        let best = best.filter(|(_, weighed)| weighed.sum > new);
        let chosen = best.map_or(new, |(_, weighed)| weighed.sum);
        let all: f64 = sums.iter().map(|sum| ((sum - chosen) / OVERSTATED).exp()).sum();
        choices.push(Choice {
            run: open.add(members, at, best.map(|(run, _)| run)),
            follows: best.map(|(_, weighed)| weighed.follows),
            reason: best.map_or("first", |(_, weighed)| weighed.main.name()),
            confidence: 1.0 / all,
        });
    }
    choices
}
