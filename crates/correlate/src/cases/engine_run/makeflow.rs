//! Makeflow with `-T slurm`: the command is `slurm.wrapper`, the name is `makeflow` with the number
//! of the node, and all jobs have the directory in which makeflow runs (cctools, `batch_queue_cluster`).

use super::{Recorded, Signature};

pub(super) const SIGNATURE: Signature = Signature { engine: "makeflow", names_run: false, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    let number = job.name.strip_prefix("makeflow")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && job.command == "slurm.wrapper").then(|| job.work_dir.to_owned())
}
