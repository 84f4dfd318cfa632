//! By flowmine's scan.

use std::path::Path;

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::JobState;
use rustc_hash::FxHashMap;

use crate::{Answer, Outcome, STATE};

flowmine_schema::columns! {
    /// Two numbers.
    struct Numbers of JobState { job_id, observed_at_ns }
}
flowmine_schema::columns! {
    /// What a job was in when.
    struct InState of JobState { state, observed_at_ns }
}
flowmine_schema::columns! {
    /// Which job was seen when.
    struct Seen of JobState { cluster, job, submit_ns, observed_at_ns }
}

/// The time in the middle between the first and the last.
pub fn middle(dataset: &Path) -> Outcome<i64> {
    let (mut first, mut last) = (i64::MAX, i64::MIN);
    Dataset::open(dataset)?.read::<Numbers<'static>, DatasetError>(|row| {
        first = first.min(row.observed_at_ns);
        last = last.max(row.observed_at_ns);
        Ok(())
    })?;
    Ok(first / 2 + last / 2)
}

/// See the front page.
pub fn answer(dataset: &Path, question: &str, after: i64) -> Outcome<Answer> {
    let dataset = Dataset::open(dataset)?;
    let mut answer = [0_i64; 3];
    let [rows, a, b] = &mut answer;
    match question {
        "sum" => dataset.read::<Numbers<'static>, DatasetError>(|row| {
            *rows += 1;
            *a += row.job_id;
            *b = b.wrapping_add(row.observed_at_ns);
            Ok(())
        })?,
        "filter" => dataset.read::<InState<'static>, DatasetError>(|row| {
            if row.state.as_deref() == Some(STATE) && row.observed_at_ns > after {
                *rows += 1;
                *a = a.wrapping_add(row.observed_at_ns);
            }
            Ok(())
        })?,
        "group" => {
            let mut groups = Groups::default();
            dataset.read::<Seen<'static>, DatasetError>(|row| {
                groups.add(&row.cluster, &row.job, row.submit_ns, row.observed_at_ns);
                Ok(())
            })?;
            return Ok(groups.answer());
        }
        _ => dataset.read::<JobState<'static>, DatasetError>(|row| {
            *rows += 1;
            *a = a.wrapping_add(row.observed_at_ns);
            *b += (row.job.len() + row.name.as_deref().map_or(0, str::len)) as i64;
            Ok(())
        })?,
    }
    Ok(answer)
}

/// Jobs with the number of their rows and the first and last time of each; arrow-rs, which groups
/// nothing itself, is given the same.
#[derive(Default)]
pub struct Groups {
    key: Vec<u8>,
    groups: FxHashMap<Vec<u8>, (i64, i64, i64)>,
}

impl Groups {
    /// Counts a row.
    pub fn add(&mut self, cluster: &str, job: &str, submit_ns: Option<i64>, observed_at_ns: i64) {
        self.key.clear();
        self.key.extend_from_slice(cluster.as_bytes());
        self.key.push(0);
        self.key.extend_from_slice(job.as_bytes());
        self.key.push(0);
        self.key.extend(submit_ns.map(i64::to_le_bytes).iter().flatten());
        let new = (1, observed_at_ns, observed_at_ns);
        match self.groups.get_mut(&self.key) {
            Some((count, first, last)) => {
                *count += 1;
                *first = observed_at_ns.min(*first);
                *last = observed_at_ns.max(*last);
            }
            None => {
                self.groups.insert(self.key.clone(), new);
            }
        }
    }

    /// How many jobs there are, the most rows of one, and how long they were seen in all.
    pub fn answer(&self) -> Answer {
        let most = self.groups.values().map(|group| group.0).max().unwrap_or_default();
        [self.groups.len() as i64, most, self.groups.values().map(|group| group.2 - group.1).sum()]
    }
}
