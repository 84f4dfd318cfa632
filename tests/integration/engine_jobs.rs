//! Jobs that workflow engines submit, by what Slurm alone records of them.

use crate::support::{expect, flowmine};

/// Jobs of Snakemake's executor, of Nextflow, and of a user.
const JOBS: &str = "\
JOBID|NAME|USER|ACCOUNT|STATE|SUBMIT_TIME|START_TIME|END_TIME|COMMAND|WORK_DIR|COMMENT
71|0b5d7c2e-1111-4a2b-9c3d-abcdef012345|mia|bio|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:02|2026-11-18T06:05:00|(null)|/w/smk|rule_trim_wildcards_s1
72|0b5d7c2e-1111-4a2b-9c3d-abcdef012345|mia|bio|COMPLETED|2026-11-18T06:05:01|2026-11-18T06:05:03|2026-11-18T06:09:00|(null)|/w/smk|rule_call_variants
73|nf-RNASEQ_FASTQC_(s1)|tom|bio|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:01|2026-11-18T06:01:00|/w/nf/work/3a/5f/.command.run|/w/nf|(null)
74|plot|tom|bio|COMPLETED|2026-11-18T06:00:00|2026-11-18T06:00:01|2026-11-18T06:01:00|/w/plot.sh|/w|rule_of_thumb
";

#[test]
fn activities_are_those_of_the_engines_or_any_column() {
    let dir = tempfile::tempdir().unwrap();
    let (file, dataset) = (dir.path().join("squeue-20261118T070000Z.txt"), dir.path().join("dataset"));
    std::fs::write(&file, JOBS).unwrap();
    let mut import = flowmine();
    expect(import.args(["import", "slurm", "--cluster", "lab", "--zone", "+00:00", "--dataset"]).arg(&dataset).arg(&file), 0);
    let activities = |arguments: &[&str]| {
        let mut discover = flowmine();
        discover.args(["discover", "lifecycle", "--format", "csv", "--dataset"]).arg(&dataset).args(arguments);
        let table = String::from_utf8(expect(&mut discover, 0).stdout).unwrap();
        let mut names: Vec<String> = table.lines().skip(1).map(|line| line.split(',').next().unwrap_or_default().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(activities(&[]), ["RNASEQ_FASTQC", "call_variants", "plot.sh", "trim"]);
    let uuid = "0b5d7c2e-1111-4a2b-9c3d-abcdef012345";
    assert_eq!(activities(&["--activity", "name"]), [uuid, "nf-RNASEQ_FASTQC_(s1)", "plot"]);
    assert_eq!(activities(&["--activity", "comment"]), ["(unknown)", "rule_call_variants", "rule_of_thumb", "rule_trim_wildcards_s1"]);
    assert_eq!(activities(&["--activity", "user+state"]).first().map(String::as_str), Some("mia+COMPLETED"));
}
