//! The notion `auto`: for each job the strongest evidence that there is.
//!
//! Jobs that declared dependencies connect, and jobs of one engine run ([`super::EngineRun`]), are
//! one case, also over each other. All other jobs are assigned as the notion `session` assigns
//! them, compared with each other only: what declared something is no part of an inferred run.
//! Jobs that gave data to each other, as traced, are one case, too ([`super::DataFlow`]).

use petgraph::unionfind::UnionFind;
use rustc_hash::FxHashMap;

use super::notion::{CaseNotion, Strength};
use super::session;
use crate::groups::{Grouping, Placed};
use crate::strings::Sym;
use crate::submitted::AllSubmitted;

/// Cases by the strongest evidence, job by job.
#[derive(Debug, Clone, Copy)]
pub struct Auto;

impl CaseNotion for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn description(&self) -> &'static str {
        "the strongest evidence of each job: dependencies, traced files, the run of an engine, else a session; of a dataset without jobs task-run"
    }

    fn within_parts(&self) -> bool {
        false
    }

    fn uses_data_flow(&self) -> bool {
        true
    }

    fn strength(&self) -> Strength {
        Strength::Inferred
    }

    fn grouping(&self) -> Option<&dyn Grouping> {
        Some(self)
    }
}

impl Grouping for Auto {
    fn group(&self, all: &AllSubmitted) -> Vec<Placed> {
        let declared = all.are_declared();
        let mut joined = UnionFind::<u32>::new(all.all.len());
        let mut of_run: FxHashMap<Sym, u32> = FxHashMap::default();
        let mut of_group: FxHashMap<u32, u32> = FxHashMap::default();
        for (at, submitted) in (0u32..).zip(&all.all) {
            joined.union(at, submitted.declared);
            if let Some(group) = submitted.data_flow {
                joined.union(at, *of_group.entry(group).or_insert(at));
            }
            if let Some(run) = submitted.engine_run {
                joined.union(at, *of_run.entry(run).or_insert(at));
            }
        }
        let is_free = |at: u32| {
            let submitted = &all.all[at as usize];
            !declared[at as usize] && submitted.engine_run.is_none() && submitted.data_flow.is_none()
        };
        let mut placed = session::group(all, is_free);
        let mut first_of: FxHashMap<u32, u32> = FxHashMap::default();
        for at in (0..all.all.len() as u32).filter(|&at| !is_free(at)) {
            let first = *first_of.entry(joined.find_mut(at)).or_insert(at);
            let (reason, strength) = if declared[at as usize] {
                ("dependency", Strength::Declared)
            } else if all.all[at as usize].data_flow.is_some() {
                ("data-flow", Strength::Derived)
            } else {
                ("engine-run", Strength::Derived)
            };
            placed[at as usize] = Placed { first, strength: Some(strength), ..Placed::first(at, reason) };
        }
        placed
    }
}
