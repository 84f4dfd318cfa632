//! What declared dependencies join: components of submissions, and how their oldest submission is
//! named.
//!
//! In go submissions and the edges between them ([`crate::dependencies`]); out comes for each
//! submission the oldest one that it is joined to. Submissions that wait for the same id that was
//! never seen are joined through it. A submission without any dependency is joined to nothing but
//! itself.

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use crate::dependencies::Target;
use crate::jobs::Jobs;
use crate::strings::Sym;

/// Of each submission ([`Jobs::submissions`]) the oldest one in its component, itself where that is
/// it.
pub fn oldest(jobs: &Jobs) -> Vec<u32> {
    let submissions = &jobs.submissions;
    let mut unseen: FxHashMap<(Sym, i64), usize> = FxHashMap::default();
    for edge in &jobs.dependencies.edges {
        if let Target::Unseen(id) = edge.to {
            let next = submissions.len() + unseen.len();
            unseen.entry((submissions[edge.from as usize].cluster, id)).or_insert(next);
        }
    }
    let mut components = UnionFind::<usize>::new(submissions.len() + unseen.len());
    for edge in &jobs.dependencies.edges {
        let from = edge.from as usize;
        let to = match edge.to {
            Target::Seen(submission, _) => submission as usize,
            Target::Unseen(id) => unseen[&(submissions[from].cluster, id)],
        };
        components.union(from, to);
    }
    // Submissions are in the order of age, so the first of a component is its oldest.
    let mut first_of: FxHashMap<usize, u32> = FxHashMap::default();
    (0..submissions.len()).map(|at| *first_of.entry(components.find_mut(at)).or_insert(at as u32)).collect()
}

/// The key that distinguishes a submission from all others of a dataset, across [`crate::parts`].
/// Sorts by age, as [`Jobs::submissions`] does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubmissionName {
    /// When it was first submitted (or, where that is unknown, first seen).
    pub since_ns: i64,
    /// Name of the Slurm cluster.
    pub cluster: Box<str>,
    /// The array's id, the id of the first component, or the job's.
    pub id: i64,
    /// Which use of this id on this cluster among those in the dataset, from 1.
    pub generation: u32,
}

impl SubmissionName {
    /// The name of a submission, by its number in `jobs`.
    pub fn new(jobs: &Jobs, submission: u32) -> Self {
        let (since_ns, cluster, id, generation) = key(jobs, submission);
        Self { since_ns, cluster: cluster.into(), id, generation }
    }

    /// The parts of the name, in the order of [`key`].
    pub fn as_key(&self) -> (i64, &str, i64, u32) {
        (self.since_ns, &self.cluster, self.id, self.generation)
    }
}

/// What [`SubmissionName`] is made of, in its order.
pub fn key(jobs: &Jobs, submission: u32) -> (i64, &str, i64, u32) {
    let submission = &jobs.submissions[submission as usize];
    (submission.since_ns, jobs.text(submission.cluster), submission.id, submission.generation)
}

/// Returns the id of the case with this oldest submission: `<notion>:<cluster>:<id>`, with `#2`,
/// `#3`, … where that id had been used before.
pub fn case_id(notion: &str, (_, cluster, id, generation): (i64, &str, i64, u32)) -> String {
    let mut text = format!("{notion}:");
    escape(cluster, &mut text);
    text.push_str(&format!(":{id}"));
    if generation > 1 {
        text.push_str(&format!("#{generation}"));
    }
    text
}
