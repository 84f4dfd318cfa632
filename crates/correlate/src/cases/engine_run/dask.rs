//! dask-jobqueue's workers: the name is `dask-worker` unless the user chose another
//! (`jobqueue.slurm.name` in its configuration).

use super::{Recorded, Signature};

pub(super) const SIGNATURE: Signature = Signature { engine: "dask-jobqueue", names_run: false, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    (job.name == "dask-worker").then(|| job.work_dir.to_owned())
}
