//! The notion `dependency`: what is connected by declared dependencies is one case.
//!
//! In go submissions and the edges between them ([`crate::dependencies`]); a case is a connected component. Submissions that
//! wait for the same id that was never seen are connected through it. A submission without any dependency is its own case. Whose
//! jobs they are does not matter: a dependency between jobs of two users joins them.
//!
//! **The id** is `dependency:<cluster>:<id>` with the id of the case's oldest submission that was seen (by submit time, then id); `#2`, `#3`, …
//! follow when that id had been used before for another job in this dataset. So it does not change when later jobs come in, except
//! that a later job can join two cases into one, which then keeps the id of the older. (When older jobs come in afterwards, say from accounting
//! of the days before, the oldest of a case and with it the case's id can become another.)

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use flowmine_schema::text::ids::escape;

use super::notion::{Assignment, CaseNotion};
use crate::dependencies::Target;
use crate::jobs::Jobs;
use crate::strings::Sym;

/// Connected components of the declared dependencies.
#[derive(Debug, Clone, Copy)]
pub struct Dependency;

impl CaseNotion for Dependency {
    fn name(&self) -> &'static str {
        "dependency"
    }

    fn description(&self) -> &'static str {
        "jobs connected by declared dependencies (sbatch --dependency)"
    }

    fn within_parts(&self) -> bool {
        true
    }

    fn assign(&self, jobs: &Jobs) -> Assignment {
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
        let mut ids = Vec::new();
        let mut case_of_component: FxHashMap<usize, u32> = FxHashMap::default();
        let mut case_of_submission = Vec::with_capacity(submissions.len());
        for (at, oldest) in submissions.iter().enumerate() {
            let case = *case_of_component.entry(components.find_mut(at)).or_insert_with(|| {
                let mut id = format!("{}:", self.name());
                escape(jobs.text(oldest.cluster), &mut id);
                id.push_str(&format!(":{}", oldest.id));
                if oldest.generation > 1 {
                    id.push_str(&format!("#{}", oldest.generation));
                }
                ids.push(id);
                ids.len() as u32 - 1
            });
            case_of_submission.push(case);
        }
        Assignment { ids, case_of: jobs.attempts.iter().map(|a| case_of_submission[a.submission as usize]).collect() }
    }
}
