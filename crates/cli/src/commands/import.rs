//! `flowmine import`: imports files of Slurm, of workflow engines and of event logs into a dataset.

use flowmine_api::source;
use flowmine_extract_slurm::import::Options as ReadOptions;
use flowmine_extract_slurm::import_files::Options;
use flowmine_extract_workflow::airflow::Airflow;
use flowmine_extract_workflow::argo::Argo;
use flowmine_extract_workflow::kubernetes::Kubernetes;
use flowmine_extract_workflow::makeflow::Makeflow;
use flowmine_extract_workflow::nextflow::Nextflow;
use flowmine_extract_workflow::snakemake::Snakemake;
use flowmine_extract_workflow::transform::Transform;
use flowmine_extract_workflow::wfformat::WfFormat;
use flowmine_logs::log_file::{Content, LogRules, stored};
use flowmine_schema::text::visible;
use flowmine_sources::import::{self, Input};

use super::datasets::dataset_to_write;
use super::{import_report, io_csv, task_runs};
use crate::args::{Import, ImportLog, ImportSlurm};
use crate::messages;
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
        let log = source::read_file(path, &args.columns, LogRules::default(), &Terminal)?;
        odd |= source::findings(&path.display().to_string(), &log.findings, &Terminal);
        let counts = stored::store(&dataset, &name, &log)?;
        let what = if matches!(log.content, Content::Traces(_)) { "traces" } else { "objects" };
        messages::note(&format!("{}: {} {what} and {} events imported", visible(&name), counts.objects, counts.events));
    }
    Ok(if odd { Outcome::WithLosses } else { Outcome::Clean })
}

fn slurm(args: &ImportSlurm) -> anyhow::Result<Outcome> {
    import::exist(&args.files)?;
    let dataset = dataset_to_write(&args.dataset, &args.kept)?;
    let options = Options {
        cluster: args.cluster.clone(),
        observed_at_ns: args.observed_at,
        import: ReadOptions { zone_offset_s: args.zone, separator: args.separator.clone() },
    };
    let stage = Stage::new("importing");
    let imported = import::slurm(&dataset, &args.files, &options, &mut |done, total| stage.at(done, total))?;
    drop(stage);
    if let [Input { name, kind: Some(kind), .. }] = &imported.inputs[..] {
        messages::note(&format!("{}: {kind}", visible(name)));
    }
    import_report::imported(&imported)
}
