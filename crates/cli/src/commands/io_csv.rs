//! `flowmine import io-csv` and `flowmine export --format io-csv`.

use anyhow::Context;
use flowmine_api::lower_bounds;
use flowmine_correlate::Timestamp;
use flowmine_dataset::Dataset;
use flowmine_io_csv::write::{self, Period, Written};
use flowmine_sources::import;

use super::datasets::dataset_to_write;
use super::import_report;
use crate::args::{Export, ImportIoCsv};
use crate::messages;
use crate::outcome::Outcome;
use crate::output;
use crate::progress::Stage;
use crate::terminal::Terminal;

/// Runs `flowmine import io-csv`: imports traces.
pub fn import(args: &ImportIoCsv) -> anyhow::Result<Outcome> {
    import::are_directories(&args.dirs)?;
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let stage = Stage::new("importing");
    let imported = import::io_csv(&dataset, &args.dirs, &mut |done, total| stage.at(done, total))?;
    drop(stage);
    import_report::imported(&imported)
}

/// Runs `flowmine export` in the format io-csv: writes traces.
pub fn export(args: &Export) -> anyhow::Result<Outcome> {
    let what = "io-csv holds the I/O of a dataset";
    anyhow::ensure!(args.source.log.is_empty(), "{what}: --log is for event logs");
    let dir = args.source.dataset.as_deref().with_context(|| format!("{what}: say which with --dataset DIR"))?;
    let out = args.output.as_deref().filter(|out| *out != "-").context("say with -o DIR where to: io-csv is a directory for each host")?;
    let of_jobs = !args.filter.account.is_empty() || !args.filter.user.is_empty() || args.timestamp != Timestamp::default();
    anyhow::ensure!(!of_jobs, "--account, --user and --timestamp choose among jobs; {what}");
    anyhow::ensure!(args.case_notion.is_none() && !args.milliseconds, "{what}: --case-notion and --milliseconds are for event logs");
    // Names stand in every path: to write them as they are would break a promise.
    anyhow::ensure!(
        args.pseudonymise.is_none() && args.drop.is_empty(),
        "io-csv is written with its paths as they are: --pseudonymise and --drop are for event logs"
    );
    let dataset = Dataset::open(dir)?;
    lower_bounds::warn(&dataset, &Terminal)?;
    output::make_directory(out)?;
    let stage = Stage::new("writing the traces");
    let written = write::export(&dataset, out, Period { from_ns: args.filter.from, to_ns: args.filter.to })?;
    drop(stage);
    messages::note(&format!("{} hosts: {} operations and {} processes written", written.hosts, written.events, written.forks));
    anyhow::ensure!(written.hosts > 0, "there is no trace in this dataset, or none in the period asked for");
    tell(&written);
    Ok(Outcome::Clean)
}

/// Says what the format could not hold.
fn tell(written: &Written) {
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
        messages::warning(&format!("{count} {text}"));
    }
}
