//! Nextflow's executor for Slurm: the command is `.command.run`, the name is `nf-PROCESS_(TAG)`, and
//! the work directory is `WORK/xx/REST`, with the first two digits of the task's hash as `xx`
//! (`AbstractGridExecutor`, `FileHelper.getWorkFolder`).

use super::{Recorded, Signature};

pub(super) const SIGNATURE: Signature = Signature { engine: "nextflow", names_run: false, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    if job.command != ".command.run" || !job.name.starts_with("nf-") {
        return None;
    }
    let (folder, _) = job.work_dir.rsplit_once('/')?;
    let (work, digits) = folder.rsplit_once('/')?;
    let is_hash = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| work.to_owned())
}
