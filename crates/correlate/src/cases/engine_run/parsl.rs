//! Parsl's blocks of workers: the name is `parsl.EXECUTOR.block-NUMBER` and a time
//! (`BlockProviderExecutor._launch_block`, the Slurm provider's `submit`).

use super::{Recorded, Signature};

pub(super) const SIGNATURE: Signature = Signature { engine: "parsl", names_run: false, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    let (executor, _) = job.name.strip_prefix("parsl.")?.split_once(".block-")?;
    Some(format!("{} {executor}", job.work_dir))
}
