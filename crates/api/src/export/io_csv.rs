//! The I/O of a dataset as the published monitoring tools write it.

use flowmine_correlate::Timestamp;
use flowmine_dataset::Dataset;
use flowmine_io_csv::write::{self, Period, Written};

use super::{Exported, Request};
use crate::error::{Context, Result, ensure};
use crate::sink::{Message, Sink};
use crate::{lower_bounds, output};

/// Writes the traces of each host.
pub fn export(request: &Request, sink: &dyn Sink) -> Result<Exported> {
    let what = "io-csv holds the I/O of a dataset";
    ensure!(request.source.logs.is_empty(), "{what}: --log is for event logs");
    let dir = request.source.dataset.as_deref().with_context(|| format!("{what}: choose one with --dataset DIR"))?;
    let out = request.place().context("give the output directory with -o DIR: io-csv writes a directory for each host")?;
    let of_jobs = !request.filter.account.is_empty() || !request.filter.user.is_empty() || request.timestamp != Timestamp::default();
    ensure!(!of_jobs, "--account, --user and --timestamp choose among jobs; {what}");
    ensure!(request.case_notion.is_none() && !request.milliseconds, "{what}: --case-notion and --milliseconds are for event logs");
    // Names stand in every path: to write them as they are would break a promise.
    ensure!(
        request.pseudonymise.is_none() && request.drop.is_empty(),
        "io-csv is written with its paths as they are: --pseudonymise and --drop are for event logs"
    );
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, sink)?;
    output::make_directory(out)?;
    let stage = sink.stage("writing the traces");
    let written = write::export(&dataset, out, Period { from_ns: request.filter.from, to_ns: request.filter.to })?;
    drop(stage);
    let words = format!("{} hosts: {} operations and {} processes written", written.hosts, written.events, written.forks);
    sink.message(Message::Done(&words));
    ensure!(written.hosts > 0, "there is no trace in this dataset, or none in the requested period");
    tell(&written, sink);
    Ok(Exported { is_lossy: false })
}

/// Says what the format could not hold.
fn tell(written: &Written, sink: &dyn Sink) {
    let other: u64 = written.other_ops.values().sum();
    let names: Vec<_> = written.other_ops.iter().map(|(op, count)| format!("{count} {op}")).collect();
    let said = [
        (other, format!("operations were left out, because the format has no type for them ({})", names.join(", "))),
        (written.incomplete, "operations were left out, because their result, offset or size is not known".to_owned()),
        (written.totals, "rows of added up operations (io_totals) were left out".to_owned()),
        (written.processes, "processes were left out, because their start or cgroup is not known".to_owned()),
        (written.moved, "processes changed their cgroup; the last one is written".to_owned()),
        (written.not_calls, "reads and writes by copy_file_range, sendfile, splice or io_uring look like plain ones".to_owned()),
        (written.without_end, "operations have no end; their beginning is written".to_owned()),
        (written.without_file, "operations have no inode; 0 is written".to_owned()),
        (written.quoted, "paths are in quotes, because they hold control characters, escapes or a quote after a comma".to_owned()),
        (written.container_paths, "paths in containers were left out; the host's are there".to_owned()),
        (written.several_devices, "hosts have files on several devices: an inode number there may mean several files".to_owned()),
        (
            written.several_traces,
            "hosts have several traces: their handles are numbered on, an inode number may mean another file in each".to_owned(),
        ),
    ];
    for (count, text) in said.iter().filter(|(count, _)| *count > 0) {
        sink.warning(&format!("{count} {text}"));
    }
}
