//! The CPUs of the nodes of a dataset over time, as `observe --nodes` saw them.

use flowmine_correlate::clocks::Clocks;
use flowmine_correlate::waits::last_observation;
use flowmine_dataset::Dataset;
use flowmine_discover::waits::NodeCpus;
use flowmine_schema::tables::{NodeState, source};

use crate::error::Result;

flowmine_schema::columns! {
    /// The CPUs of a node from an observation on.
    struct Observed of NodeState { cluster, node, observed_at_ns, allocated_cpus, idle_cpus, other_cpus }
}

/// What is known of a node from a time on.
struct Known {
    node: (String, String),
    from_ns: i64,
    /// `None` from when on it is no longer listed, or its CPUs are not known.
    cpus: Option<NodeCpus>,
}

/// Calls `each` with the CPUs of every node between two times: from the poll that saw a change until
/// the poll that saw the next, and of the last one until the last observation in the dataset.
///
/// # Errors
/// When the dataset cannot be read.
pub fn for_each(dataset: &Dataset, mut each: impl FnMut(i64, i64, NodeCpus)) -> Result<()> {
    let clocks = Clocks::read(dataset)?;
    let mut all: Vec<Known> = Vec::new();
    dataset.read::<Observed<'static>, crate::error::Error>(|row| {
        let cpus = row.allocated_cpus.zip(row.idle_cpus).zip(row.other_cpus);
        all.push(Known {
            from_ns: clocks.observed_at(&row.cluster, source::SQUEUE, row.observed_at_ns),
            node: (row.cluster.into_owned(), row.node.into_owned()),
            cpus: cpus.map(|((allocated, idle), down)| [allocated.into(), idle.into(), down.into()]),
        });
        Ok(())
    })?;
    let Some(last_ns) = all.iter().map(|known| known.from_ns).max() else { return Ok(()) };
    let last_ns = last_observation(dataset)?.map_or(last_ns, |jobs_ns| jobs_ns.max(last_ns));
    all.sort_by(|a, b| (&a.node, a.from_ns).cmp(&(&b.node, b.from_ns)));
    for (at, known) in all.iter().enumerate() {
        let next = all.get(at + 1).filter(|next| next.node == known.node);
        if let Some(cpus) = known.cpus {
            each(known.from_ns, next.map_or(last_ns, |next| next.from_ns), cpus);
        }
    }
    Ok(())
}
