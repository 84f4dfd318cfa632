//! Operations that make, change and remove names of files, as they are read: once, whoever wants
//! them.

use flowmine_activity_log::TracedProcess;
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::tables::IoEvent;

flowmine_schema::columns! {
    /// What is read of an operation on a name.
    pub(super) struct Naming of IoEvent { host, trace_ns, pid, process_start_ns, op, start_ns, result, flags, path, new_path }
}

/// Calls `each` with the operations of one trace, or of all, that did not fail and have a path.
pub(super) fn each(dataset: &Dataset, of: Option<&TracedProcess>, mut each: impl FnMut(&str, &Naming<'_>)) -> Result<(), DatasetError> {
    dataset.read::<Naming<'static>, DatasetError>(|row| {
        let is_wanted = of.is_none_or(|of| row.host == of.host && row.trace_ns == of.trace_ns);
        if let Some(path) = row.path.as_deref()
            && is_wanted
            && row.result.is_none_or(|result| result >= 0)
        {
            each(path, &row);
        }
        Ok(())
    })
}
