//! Datasets of flowmine.

use std::path::{Path, PathBuf};

use crate::listing::DATASET;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Number of directories above a table's file up to the dataset: host, day, table.
const ABOVE: usize = 4;

/// A dataset.
pub const KIND: Kind = Kind {
    name: "dataset",
    title: "dataset",
    reads: "a directory with `flowmine.json` and its tables",
    reading: Reading::Dataset,
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    below == Path::new(DATASET)
}

fn recognise(sample: &Sample) -> Answer {
    let path = sample.path();
    if sample.head().starts_with(super::table::PARQUET)
        && let Some(dir) = dataset_above(path)
    {
        let what = "a table's file of a dataset".to_owned();
        return Answer::NotRead { what, advice: format!("give the dataset: {}", dir.display()) };
    }
    let is_one = path.file_name().is_some_and(|name| name == DATASET) && sample.keys(&["format_version"]).len() == 1;
    match path.parent() {
        Some(dir) if is_one => {
            let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            Answer::Part(Seen::new("description of a dataset", "has key format_version"), dir.to_owned())
        }
        _ => Answer::No,
    }
}

fn dataset_above(path: &Path) -> Option<PathBuf> {
    path.ancestors().skip(1).take(ABOVE).find(|dir| dir.join(DATASET).is_file()).map(Path::to_owned)
}
