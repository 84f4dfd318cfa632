//! Variants: cases with the same sequence of activities.

use hashbrown::HashTable;
use std::hash::{Hash, Hasher};

use crate::columns::{ActivityLog, Cases};

/// The traces of a log, each sequence once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variants {
    /// The variants by number of cases, most first, then by the names of their activities.
    pub variants: Vec<Variant>,
    /// The variant of each case: an index into `variants`.
    pub of_case: Vec<u32>,
}

/// A sequence of activities, and the number of cases that have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Variant {
    /// The activities in the order of their starts.
    pub trace: Vec<u32>,
    /// Number of cases with this sequence of activities.
    pub count: u64,
}

/// The variants of a grouping. Instances are taken in the order of their starts; cases without
/// instances are the variant of length 0.
pub fn variants(log: &ActivityLog, cases: &Cases) -> Variants {
    let mut found: Vec<Variant> = Vec::new();
    let mut table: HashTable<u32> = HashTable::new();
    let hash = |trace: &[u32]| {
        let mut hasher = rustc_hash::FxHasher::default();
        trace.hash(&mut hasher);
        hasher.finish()
    };
    let mut of_case = Vec::with_capacity(cases.len());
    let mut trace = Vec::new();
    for case in 0..cases.len() {
        trace.clear();
        trace.extend(cases.of(case).map(|at| log.instances.activity[at as usize]));
        let key = hash(&trace);
        let number = match table.find(key, |&at| found[at as usize].trace == trace) {
            Some(&number) => number,
            None => {
                let number = found.len() as u32;
                found.push(Variant { trace: trace.clone(), count: 0 });
                table.insert_unique(key, number, |&at| hash(&found[at as usize].trace));
                number
            }
        };
        found[number as usize].count += 1;
        of_case.push(number);
    }
    // Names decide, not numbers: these depend on the order in which names came.
    let mut rank = vec![0u32; log.activities.len()];
    for (place, number) in log.activities.sorted().into_iter().enumerate() {
        rank[number as usize] = place as u32;
    }
    let mut order: Vec<u32> = (0..found.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&found[a as usize], &found[b as usize]);
        let ranks = |v: &Variant| v.trace.iter().map(|&x| rank[x as usize]).collect::<Vec<_>>();
        b.count.cmp(&a.count).then_with(|| ranks(a).cmp(&ranks(b)))
    });
    let mut place = vec![0u32; found.len()];
    for (to, &from) in order.iter().enumerate() {
        place[from as usize] = to as u32;
    }
    of_case.iter_mut().for_each(|number| *number = place[*number as usize]);
    let mut found: Vec<Option<Variant>> = found.into_iter().map(Some).collect();
    Variants { variants: order.iter().filter_map(|&at| found[at as usize].take()).collect(), of_case }
}
