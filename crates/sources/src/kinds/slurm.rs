//! Recordings of squeue and sacct.

use flowmine_extract_slurm::import;

use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Keys that only jobs of Slurm have: of squeue, then of sacct.
const OWN_KEYS: [&str; 2] = ["job_state", "submission"];

/// Files of squeue, sacct and SLURMminer.
pub const KIND: Kind = Kind {
    name: "slurm",
    title: "Slurm recording (squeue, sacct)",
    reads: "`squeue` and `sacct` as text with a header or as JSON, recordings of `flowmine observe --record`, logs of SLURMminer, \
         the Standard Workload Format; \
         directories of them",
    reading: Reading::Slurm,
    extensions: &[],
    looks_at: is_in_directory,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    let Ok(kind) = import::recognise(sample.head()) else { return Answer::No };
    if !sample.is_json() {
        return Answer::Yes(Seen::new(kind.name(), sample.beginning()));
    }
    let own = sample.keys(&OWN_KEYS);
    let seen = |keys: &[&str]| Seen::new(kind.name(), format!("has keys {}", keys.join(", ")));
    // A list of jobs can be anybody's.
    if own.is_empty() { Answer::Maybe(seen(&["jobs"])) } else { Answer::Yes(seen(&own)) }
}
