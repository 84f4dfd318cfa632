//! Snakemake.

use std::path::Path;

use flowmine_extract_workflow::snakemake;

use super::engine;
use crate::kind::is_in_directory;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Keys of the record that Snakemake keeps of each output file.
const RECORD: [&str; 4] = ["rule", "shellcmd", "starttime", "endtime"];
/// Words that only Snakemake's logs have. Other programs also put a date in brackets.
const OWN_WORDS: [&str; 6] = ["Building DAG of jobs", "Snakemake version: ", "Job counts:", "Job stats:", "\nrule ", "Finished job "];

/// Logs and directories of Snakemake.
pub const KIND: Kind = Kind {
    name: "snakemake",
    title: "Snakemake",
    reads: "logs of Snakemake and of its jobs on Slurm, `.snakemake/metadata`, benchmark files; the directory of a run",
    reading: Reading::Tasks(&snakemake::Snakemake),
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    let steps: Vec<&str> = below.components().filter_map(|step| step.as_os_str().to_str()).collect();
    match steps.as_slice() {
        [".snakemake", "log" | "slurm_logs" | "metadata", ..] | ["log" | "slurm_logs" | "metadata", ..] => true,
        [first, _, ..] => first.to_ascii_lowercase().starts_with("benchmark"),
        _ => is_in_directory(below),
    }
}

fn recognise(sample: &Sample) -> Answer {
    if sample.is_json() {
        return record(sample);
    }
    match engine::seen(&snakemake::Snakemake, sample) {
        Some(seen) if is_certain(sample, &seen) => Answer::Yes(seen),
        Some(seen) => Answer::Maybe(seen),
        None => Answer::No,
    }
}

fn is_certain(sample: &Sample, seen: &Seen) -> bool {
    let text = sample.text();
    seen.what.contains("benchmark") || OWN_WORDS.iter().any(|words| text.contains(words))
}

/// The record of an output file, which is read with the others in `.snakemake/metadata`.
fn record(sample: &Sample) -> Answer {
    let keys = sample.keys(&RECORD);
    let dir = sample.path().ancestors().find(|dir| dir.ends_with(".snakemake/metadata"));
    match dir {
        Some(dir) if keys.contains(&"rule") && keys.len() > 1 => {
            Answer::Part(Seen::new("record of an output file", format!("has keys {}", keys.join(", "))), dir.to_owned())
        }
        _ => Answer::No,
    }
}
