//! Nodes of a real Slurm, as `observe --nodes` records them.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::slurm_lab::SlurmLab;
use crate::support::{expect, node_states};

/// What the rows of a dataset say of nodes, in order.
fn rows(dataset: &Path) -> Vec<String> {
    let cpus = |count: Option<i64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    node_states(dataset)
        .into_iter()
        .map(|row| {
            let [allocated, idle, other, total] = [row.allocated_cpus, row.idle_cpus, row.other_cpus, row.cpus].map(cpus);
            let (state, reason) = (row.state.unwrap_or_default(), row.reason.unwrap_or_default());
            format!("{} {} {state} {allocated}/{idle}/{other}/{total} {reason}", row.node, row.change).trim_end().to_owned()
        })
        .collect()
}

#[test]
fn changes_of_nodes_are_rows() {
    let Some(lab) = SlurmLab::up(2) else { return };
    let dir = tempfile::tempdir().unwrap();
    let (dataset, without) = (dir.path().join("dataset"), dir.path().join("without"));
    let observe = |dataset: &Path, options: &[&str]| {
        expect(lab.command(env!("CARGO_BIN_EXE_flowmine")).args(["observe", "--once", "--dataset"]).arg(dataset).args(options), 0);
    };
    observe(&dataset, &["--nodes"]);
    let first = ["n1 new idle 0/8/0/8", "n2 new idle 0/8/0/8"];
    assert_eq!(rows(&dataset), first);

    let sbatch = ["--output=/dev/null", "--ntasks=3", "--partition=wide", "--nodelist=n1", "--wrap", "sleep 100"];
    expect(lab.command("sbatch").args(sbatch), 0);
    let began = Instant::now();
    while expect(lab.command("squeue").args(["--noheader", "--states=RUNNING"]), 0).stdout.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(60), "the job does not start");
        std::thread::sleep(Duration::from_millis(100));
    }
    expect(lab.command("scontrol").args(["update", "nodename=n2", "state=down", "reason=no power"]), 0);
    // The second poll sees nothing new.
    (0..2).for_each(|_| observe(&dataset, &["--nodes"]));
    let then = ["n1 changed mixed 3/5/0/8", "n2 changed down 0/0/8/8 no power"];
    assert_eq!(rows(&dataset), [first, then].concat());
    observe(&without, &[]);
    assert!(node_states(&without).is_empty(), "nodes were not asked for");
}
