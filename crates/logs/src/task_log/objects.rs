//! Tasks, processes and files in an object-centric log, next to jobs.
//!
//! | type | id | is |
//! |---|---|---|
//! | `engine run` | `engine run:<engine>:<name>:<id>` | a run of a workflow engine. A `workflow run` is what Slurm's dependencies join: an engine run can be none, one or many of these |
//! | `tag` | `tag:<engine>:<run id>:<tag>` | the label by which people distinguish the instances of a logical task: in nf-core's pipelines the sample. Resumed runs share their tags |
//! | `task` | `task:<id>` as in `task_io.task` | one attempt at a task |
//! | `process` | `process:<host>:<pid>@<start time in seconds>` | one process generation that belongs to a task or job, and its parent |
//! | `file` | `file:<host>:<device>:<inode>`, `.<generation>`, `#2` for a later file with the same numbers | one file generation on one host, as in `task_io` |
//!
//! | relation | from | to |
//! |---|---|---|
//! | `part of` | task, its events | engine run |
//! | `tagged` | task, its events | tag |
//! | `ran as` | task | job |
//! | `gave data to` | task | task that read what it wrote (`data_flow`) |
//! | `read`, `wrote` | task, or a job without a task | file |
//! | `belongs to` | process | task, job |
//! | `child of` | process | process |
//! | `task`, `job`, `file`, `process` | event | what it happened to |
//!
//! The type of a task's event is what happened to which logical task: `BWA submitted`,
//! `BWA started`, `BWA finished`. Of a task that `flowmine transform` wrapped each layer has events
//! of its own, `layer podman started` and `layer podman finished` or `layer podman failed`, with
//! the layer's status and in what of it that began; they are related to the task.
//!
//! Relations carry no numbers: bytes stand on the events `read file` and `wrote file`, one for each
//! row of `task_io` and direction, at the time of the first access. An object that something leads
//! to and that is not in the log has no attributes.

use flowmine_eventlog::{TypeDef, Types, ValueType};
use flowmine_spill::Sorter;

use super::attributes::{self, PROCESS, TASK, TRACED};
use super::making::{Making, TYPES};
use super::{LeftOut, TaskLogError, Tasks, files, processes, tasks};
use crate::job_log::JobObjectLog;

pub use super::making::ObjectSelection;

/// Adds tasks, processes and files to the jobs.
///
/// # Errors
/// When the dataset cannot be read or a temporary file not be written.
pub fn objects(from: &Tasks<'_>, wanted: ObjectSelection, jobs: Option<JobObjectLog>) -> Result<(JobObjectLog, LeftOut), TaskLogError> {
    let (types, job_objects, job_events) = match jobs {
        Some(jobs) => jobs.into_parts(),
        None => (Types::default(), Sorter::default().finish()?, Sorter::default().finish()?),
    };
    let mut making = Making::new(*from, wanted);
    if !from.wants_none() {
        if wanted.tasks {
            tasks::add(&mut making)?;
        }
        if wanted.files {
            files::add(&mut making)?;
        }
        if wanted.processes {
            processes::add(&mut making)?;
        }
    }
    let left_out = making.left_out;
    Ok((making.beside(types, object_types(wanted), &job_objects, &job_events)?, left_out))
}

fn object_types(wanted: ObjectSelection) -> impl Iterator<Item = TypeDef> {
    let named = |names: &[(&str, ValueType)]| names.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect::<Vec<_>>();
    let types = [
        (wanted.tasks, named(tasks::RUN_ATTRIBUTES)),
        (wanted.tasks, named(tasks::TAG_ATTRIBUTES)),
        (wanted.tasks, attributes::declared(TASK).chain(attributes::declared(TRACED)).collect()),
        (wanted.processes, attributes::declared(PROCESS).collect()),
        (wanted.files, named(files::FILE_ATTRIBUTES)),
    ];
    let types = TYPES.into_iter().zip(types).filter(|(_, (wanted, _))| *wanted);
    types.map(|(name, (_, attributes))| TypeDef { name: name.to_owned(), attributes })
}
