//! Operations that were lost: their sum, and rows of `task_totals`, so that all rows together are
//! all that the kernel side counted.

use flowmine_dataset::{Dataset, DatasetError};
use flowmine_schema::losses::{LostOperations, is_operation};
use flowmine_schema::tables::{IoLoss, TaskTotal};
use flowmine_sums::add_to;

use crate::AttributionError;
use crate::owners::Reason;

/// The operations that the traces of a dataset do not have.
///
/// # Errors
/// When the dataset cannot be read.
pub fn lost_operations(dataset: &Dataset) -> Result<LostOperations, DatasetError> {
    let mut lost = LostOperations::default();
    dataset.read::<IoLoss<'static>, DatasetError>(|row| {
        lost.add(&row);
        Ok(())
    })?;
    Ok(lost)
}

/// The operations that the traces of a host do not have, and their row of `task_totals`. Bytes of
/// reads and writes are counted where the kernel still reported them; other records (of processes)
/// are no operations.
pub(crate) fn of_host(dataset: &Dataset, host: &str) -> Result<(LostOperations, Option<TaskTotal<'static>>), AttributionError> {
    let mut lost = LostOperations::default();
    let mut of_host: Option<TaskTotal<'static>> = None;
    dataset.read_of_host::<IoLoss<'static>, AttributionError>(host, |row| {
        if !is_operation(&row.kind) {
            return Ok(());
        }
        lost.add(&row);
        let total = of_host.get_or_insert_default();
        let (count, bytes) = (row.count.max(0), row.bytes.unwrap_or(0).max(0));
        add_to(&mut total.lost, count);
        match &*row.kind {
            "read" => {
                add_to(&mut total.read_calls, count);
                add_to(&mut total.read_bytes, bytes);
            }
            "write" => {
                add_to(&mut total.write_calls, count);
                add_to(&mut total.written_bytes, bytes);
            }
            _ => {}
        }
        total.first_ns = [total.first_ns, Some(row.not_before_ns)].into_iter().flatten().min();
        total.last_ns = total.last_ns.max(Some(row.observed_at_ns));
        Ok(())
    })?;
    let named = |total| TaskTotal { host: host.to_owned().into(), unassigned: Some(Reason::Lost.name().into()), ..total };
    Ok((lost, of_host.map(named)))
}
