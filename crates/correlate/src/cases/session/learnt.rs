//! Weights learnt from a user's runs as assigned so far, for the next round.

use rustc_hash::FxHashMap;

use super::evidence::is_sweep;
use super::members::{Member, Members, NONE};

/// Weight of the prior expectation, in jobs.
const PRIOR: f64 = 2.0;
/// The largest weight of the order of steps.
const MOST: f64 = 3.0;

/// The step before the first one, and the step after the last one.
const OUTSIDE: u32 = NONE;

/// The order of steps, and how often a run stays in its directory.
#[derive(Debug, Default)]
pub struct Learnt {
    jobs: f64,
    of_step: FxHashMap<u32, f64>,
    after: FxHashMap<(u32, u32), f64>,
    out_of: FxHashMap<u32, f64>,
    same_directory: f64,
    with_directory: f64,
}

impl Learnt {
    /// Learns from the jobs of a user and the job that each follows.
    pub fn from(members: &Members, follows: &[Option<u32>]) -> Self {
        let mut learnt = Self { jobs: members.all.len() as f64, ..Self::default() };
        let mut is_followed = vec![false; follows.len()];
        for (member, before) in members.all.iter().zip(follows) {
            let before = before.map(|before| {
                is_followed[before as usize] = true;
                &members.all[before as usize]
            });
            // A sweep is no evidence for the step that follows another.
            if !before.is_some_and(|before| is_sweep(before, member)) {
                learnt.pass(before.map_or(OUTSIDE, |before| before.step), member.step);
            }
            *learnt.of_step.entry(member.step).or_default() += 1.0;
            if let Some(before) = before {
                learnt.directories(before, member);
            }
        }
        for (member, _) in members.all.iter().zip(is_followed).filter(|(_, is_followed)| !is_followed) {
            learnt.pass(member.step, OUTSIDE);
        }
        learnt
    }

    fn pass(&mut self, from: u32, to: u32) {
        *self.after.entry((from, to)).or_default() += 1.0;
        *self.out_of.entry(from).or_default() += 1.0;
    }

    fn directories(&mut self, before: &Member, member: &Member) {
        if before.directory != NONE && member.directory != NONE {
            self.with_directory += 1.0;
            self.same_directory += f64::from(u8::from(before.directory == member.directory));
        }
    }

    /// The weight of a step after another one of the same run.
    pub fn after(&self, before: u32, step: u32) -> f64 {
        if self.jobs == 0.0 {
            return 0.0;
        }
        let share = self.of_step.get(&step).map_or(1.0, |jobs| *jobs) / self.jobs;
        let seen = self.after.get(&(before, step)).map_or(0.0, |seen| *seen);
        let all = self.out_of.get(&before).map_or(0.0, |all| *all);
        (((seen + PRIOR * share) / (all + PRIOR)) / share).ln().clamp(-MOST, MOST)
    }

    /// The weight of a step as the first one of a run.
    pub fn first(&self, step: u32) -> f64 {
        self.after(OUTSIDE, step)
    }

    /// The share of jobs that are in the directory of the job that they follow.
    pub fn stays(&self) -> f64 {
        ((self.same_directory + 4.0 * PRIOR) / (self.with_directory + 5.0 * PRIOR)).clamp(0.02, 0.98)
    }
}
