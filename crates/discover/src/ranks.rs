//! Order of names, which breaks ties: numbers of activities, resources and cases depend on the
//! order of files and their rows, and results must not.

use flowmine_activity_log::{ActivityLog, Cases, Names};

/// Returns the rank of each name by code point; of equal names, the first comes first.
pub fn ranks(names: &Names) -> Vec<u32> {
    let mut ranks = vec![0; names.len()];
    for (rank, number) in (0..).zip(names.sorted()) {
        ranks[number as usize] = rank;
    }
    ranks
}

/// Ranks of a log's activities, and of its cases with the case of each instance.
pub struct InstanceRanks<'l> {
    log: &'l ActivityLog,
    activities: Vec<u32>,
    cases: Vec<u32>,
    case_of: Vec<u32>,
}

impl<'l> InstanceRanks<'l> {
    /// Ranks of the instances of a log in its cases.
    pub fn new(log: &'l ActivityLog, cases: &Cases) -> Self {
        Self { log, activities: ranks(&log.activities), cases: ranks(&cases.names), case_of: cases.of_instances(log.len()) }
    }

    /// Returns the case of an instance, or `NONE`.
    pub fn case(&self, instance: u32) -> u32 {
        self.case_of[instance as usize]
    }

    /// Returns the key that breaks ties between instances: activity, then case, both by name, then
    /// the index in the case.
    pub fn key(&self, instance: u32) -> (u32, u32, u32) {
        let activity = self.log.instances.activity[instance as usize];
        let case = self.cases.get(self.case(instance) as usize).copied().unwrap_or(u32::MAX);
        (self.activities[activity as usize], case, instance)
    }
}
