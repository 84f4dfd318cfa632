//! Cromwell's backends with a shared file system: the name is `cromwell_ID_CALL`, with the first
//! eight digits of the workflow's UUID (`SharedFileSystemAsyncJobExecutionActor.jobName`).

use super::{Recorded, Signature};

pub(super) const SIGNATURE: Signature = Signature { engine: "cromwell", names_run: true, run };

fn run(job: &Recorded<'_>) -> Option<String> {
    let (id, call) = job.name.strip_prefix("cromwell_")?.split_once('_')?;
    let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && !call.is_empty()).then(|| id.to_owned())
}
