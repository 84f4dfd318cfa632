//! All submissions of a dataset, each with what shows to which run it belongs.
//!
//! They are gathered from the jobs of a dataset, part after part. A submission takes about 130
//! bytes, and each different text is kept once.

use std::ops::Range;

use crate::packed_int::PackedInt;
use crate::strings::{Strings, Sym};

/// One submission. Texts are those of its first attempt.
#[derive(Debug, Clone, Copy)]
pub struct Submitted {
    /// When it was first submitted (or, where that is unknown, first seen).
    pub since_ns: i64,
    /// Name of the cluster.
    pub cluster: Sym,
    /// The array's id, the id of the first component, or the job's.
    pub id: i64,
    /// Which use of this id on this cluster among those in the dataset, from 1.
    pub generation: u32,
    /// Name of the user.
    pub user: Option<Sym>,
    /// Name of the job.
    pub name: Option<Sym>,
    /// What is mined as activity.
    pub activity: Sym,
    /// Path of the command.
    pub command: Option<Sym>,
    /// Arguments of the command.
    pub arguments: Option<Sym>,
    /// Comment that the user gave.
    pub comment: Option<Sym>,
    /// Work directory.
    pub work_dir: Option<Sym>,
    /// The node from which it was submitted.
    pub submit_node: Option<Sym>,
    /// The session of the shell or job that submitted it.
    pub submit_session: PackedInt,
    /// When the first of its attempts started, where that is known.
    pub started_ns: PackedInt,
    /// When the last of its attempts ended; unknown while one has not.
    pub ended_ns: PackedInt,
    /// Whether all its attempts that ended were successful.
    pub is_successful: bool,
    /// The oldest submission that declared dependencies connect it with: an index into
    /// [`AllSubmitted::all`].
    pub declared: u32,
    /// The group of jobs that gave data to each other, if it is in one.
    pub data_flow: Option<u32>,
    /// The run of an engine by its signature.
    pub engine_run: Option<Sym>,
}

impl Submitted {
    /// The process session that submitted it, where it is known.
    pub fn session(&self) -> Option<(Sym, i64)> {
        Some((self.submit_node?, self.submit_session.get()?))
    }

    pub(crate) fn symbols(&mut self) -> impl Iterator<Item = &mut Sym> {
        let texts = [&mut self.user, &mut self.name, &mut self.command, &mut self.arguments, &mut self.comment];
        let more = [&mut self.work_dir, &mut self.submit_node, &mut self.engine_run];
        [&mut self.cluster, &mut self.activity].into_iter().chain(texts.into_iter().chain(more).flatten())
    }
}

/// The submissions of a dataset.
#[derive(Debug, Default)]
pub struct AllSubmitted {
    /// The texts of the submissions.
    pub strings: Strings,
    /// The submissions in the order of age, cluster, id and generation.
    pub all: Vec<Submitted>,
}

impl AllSubmitted {
    /// Returns the text of a symbol.
    pub fn text(&self, sym: Sym) -> &str {
        self.strings.get(sym)
    }

    /// Of each submission whether a dependency connects it with another one.
    pub fn are_declared(&self) -> Vec<bool> {
        let mut declared = vec![false; self.all.len()];
        for (at, submitted) in (0u32..).zip(&self.all).filter(|(at, submitted)| submitted.declared != *at) {
            declared[at as usize] = true;
            declared[submitted.declared as usize] = true;
        }
        declared
    }

    /// The submissions of each known user of each cluster, in the order of age: indices into
    /// [`AllSubmitted::all`], and the part of them that each user has.
    pub fn by_user(&self) -> (Vec<u32>, Vec<Range<usize>>) {
        let user = |at: u32| (self.all[at as usize].cluster, self.all[at as usize].user);
        let mut order: Vec<u32> = (0..self.all.len() as u32).filter(|&at| user(at).1.is_some()).collect();
        // Stable: the order of age stays.
        order.sort_by_key(|&at| user(at));
        let mut ranges = Vec::new();
        let mut start = 0;
        for chunk in order.chunk_by(|&a, &b| user(a) == user(b)) {
            ranges.push(start..start + chunk.len());
            start += chunk.len();
        }
        (order, ranges)
    }
}
