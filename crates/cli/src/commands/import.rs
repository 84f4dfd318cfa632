//! `flowmine import`: imports files of Slurm, of workflow engines and of event logs into a dataset.

use anyhow::Context;
use flowmine_api::source;
use flowmine_extract_slurm::import;
use flowmine_extract_slurm::import_files::{FileReport, Options, import_files};
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::transform::Transform;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_logs::log_file::{self, Content, LogRules, stored};
use flowmine_schema::text::visible;

use super::datasets::dataset_to_write;
use super::{io_csv, task_runs};
use crate::args::{Import, ImportLog, ImportSlurm};
use crate::messages::{self, counted};
use crate::outcome::Outcome;
use crate::progress::Stage;
use crate::terminal::Terminal;

/// Runs `flowmine import`: imports files into a dataset.
pub fn run(args: &Import) -> anyhow::Result<Outcome> {
    match args {
        Import::Squeue(args) => slurm(args),
        Import::Log(args) => logs(args),
        Import::IoCsv(args) => io_csv::import(args),
        Import::Nextflow(args) => task_runs::import(&Nextflow, args),
        Import::Makeflow(args) => task_runs::import(&Makeflow, args),
        Import::Snakemake(args) => task_runs::import(&Snakemake, args),
        Import::Kubernetes(args) => task_runs::import(&Kubernetes, args),
        Import::Argo(args) => task_runs::import(&Argo, args),
        Import::Airflow(args) => task_runs::import(&Airflow, args),
        Import::Transform(args) => task_runs::import(&Transform, args),
        Import::Wfformat(args) => task_runs::import(&WfFormat, args),
    }
}

fn logs(args: &ImportLog) -> anyhow::Result<Outcome> {
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let mut odd = false;
    for path in &args.files {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let _stage = Stage::new("reading the log");
        let log = log_file::read(path, LogRules::default()).map_err(|error| source::in_file(path, error))?;
        odd |= source::findings(&path.display().to_string(), &log.findings, &Terminal);
        let counts = stored::store(&dataset, &name, &log)?;
        let what = if matches!(log.content, Content::Traces(_)) { "traces" } else { "objects" };
        messages::note(&format!("{}: {} {what} and {} events imported", visible(&name), counts.objects, counts.events));
    }
    Ok(if odd { Outcome::WithLosses } else { Outcome::Clean })
}

/// How many files with warnings or errors are shown.
const SHOWN: usize = 10;

fn slurm(args: &ImportSlurm) -> anyhow::Result<Outcome> {
    for path in &args.files {
        std::fs::metadata(path).with_context(|| path.display().to_string())?;
    }
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let options = Options {
        cluster: args.cluster.clone(),
        observed_at_ns: args.observed_at,
        import: import::Options { zone_offset_s: args.zone, separator: args.separator.clone() },
    };
    let stage = Stage::new("importing");
    let reports = import_files(&dataset, &args.files, &options, |done, total| stage.at(done, total))?;
    drop(stage);
    let is_read = |report: &&FileReport| report.kind.is_some() && report.diagnostics.errors() == 0 && !report.already_there;
    let taken = reports.iter().filter(|report| report.records > 0 || is_read(report));
    let (mut files, mut records, mut changes) = (0, 0, 0);
    for report in taken {
        files += 1;
        records += report.records;
        changes += report.changes;
    }
    let already = reports.iter().filter(|report| report.already_there).count();
    let errors: u64 = reports.iter().map(|report| report.diagnostics.errors()).sum();
    let odd: Vec<&FileReport> = reports.iter().filter(|report| reports.len() == 1 || !report.diagnostics.is_empty()).collect();
    for report in odd.iter().take(SHOWN) {
        tell(report, reports.len() == 1);
    }
    if odd.len() > SHOWN {
        messages::note(&format!(
            "and {} more files with warnings or errors; all stand in the table `diagnostics` of the dataset",
            odd.len() - SHOWN
        ));
    }
    messages::note(&format!(
        "{} with {} imported, {} of job_states written{}{}",
        counted(files, "file", "files"),
        counted(records, "record", "records"),
        counted(changes, "row", "rows"),
        if already > 0 { format!("; {} had been imported before and skipped", counted(already, "file", "files")) } else { String::new() },
        if errors > 0 { format!("; {}, see above and the table `diagnostics`", counted(errors, "error", "errors")) } else { String::new() },
    ));
    let nothing = files == 0 && already == 0;
    anyhow::ensure!(!nothing, "nothing could be imported");
    Ok(if errors > 0 { Outcome::WithLosses } else { Outcome::Clean })
}

fn tell(report: &FileReport, alone: bool) {
    let name = report.path.display().to_string();
    if alone && let Some(kind) = report.kind {
        messages::note(&format!("{}: {}", visible(&name), kind.name()));
    }
    messages::diagnostics(&name, &report.diagnostics, messages::Kept::InDataset);
}
