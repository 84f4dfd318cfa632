//! Nextflow.

use std::path::{Component, Path};

use flowmine_extract_workflow::{Engine as _, nextflow};

use super::engine;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Files that Nextflow puts into the work directory of a task.
const OF_TASK: [&str; 2] = [".command.run", ".command.sh"];
/// Records of Nextflow's lineage store.
const RECORD: &str = ".data.json";

/// Logs, trace files, reports and directories of Nextflow.
pub const KIND: Kind = Kind {
    name: "nextflow",
    title: "Nextflow",
    reads: "`.nextflow.log`, the trace file, the HTML report, `.nextflow/history`, graphs of processes, work directories, the lineage store; the directory of a run",
    reading: Reading::Tasks(&nextflow::Nextflow),
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    let steps: Vec<&str> = below.components().filter_map(|step| step.as_os_str().to_str()).collect();
    match steps.as_slice() {
        [_] | [".nextflow", "history"] | ["pipeline_info", _] | [_, "pipeline_info", _] => true,
        [".lineage", _, RECORD] => true,
        [above @ .., file] => OF_TASK.contains(file) && above.len() <= 3,
        [] => false,
    }
}

fn recognise(sample: &Sample) -> Answer {
    let path = sample.path();
    let of_task = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| OF_TASK.contains(&name));
    if let Some(dir) = path.parent().filter(|dir| of_task && is_hash(dir) && sample.head().starts_with(b"#!")) {
        return Answer::Part(Seen::new("script of a task", sample.beginning()), dir.to_owned());
    }
    let is_record = path.file_name().is_some_and(|name| name == RECORD);
    if let Some(dir) = path.parent().filter(|dir| is_record && nextflow::Nextflow.recognise(dir, &[]).is_some()) {
        return Answer::Part(Seen::new("lineage record of a task", sample.beginning()), dir.to_owned());
    }
    engine::answer(&nextflow::Nextflow, sample)
}

/// Whether a path ends with the hash of a task, `ab/0123456789abcdef…`.
fn is_hash(dir: &Path) -> bool {
    let is_hex = |step: Component<'_>| step.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_hexdigit);
    let mut steps = dir.components().rev();
    let long = steps.next().is_some_and(|step| is_hex(step) && step.as_os_str().len() >= 6);
    long && steps.next().is_none_or(|step| is_hex(step) && step.as_os_str().len() == 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_directories_have_hashes() {
        for (dir, expected) in [("work/ab/0123456789abcdef", true), ("ab/012345", true), ("work/ab", false), ("work/xy/012345", false)] {
            assert_eq!(is_hash(Path::new(dir)), expected, "{dir}");
        }
    }
}
