//! Whatever processes do in whatever order: no byte is lost or doubled, and data flow has no cycle.

use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;
use proptest::prelude::*;

use super::*;

/// What somebody does: process, file, operation, offset, bytes.
type Deed = (u8, u8, u8, u8, u8);

fn world(deeds: &[Deed]) -> World {
    let mut world = World::default();
    // Six processes: two of task a (parent and child), one of b, one of c, one of a job, one of nobody.
    let processes = [10, 11, 20, 30, 40, 50].map(|pid| P("n1", pid, 1 + i64::from(pid == 11)));
    for process in processes {
        let P(_, pid, _) = process;
        world.process(process, 3600, |row| match pid {
            11 => (row.parent_pid, row.parent_start_ns) = (Some(10), Some(SECOND)),
            40 => row.environment = Some(r#"{"SLURM_JOB_ID":"7"}"#.into()),
            _ => {}
        });
    }
    for (id, process) in [("a", processes[0]), ("b", processes[2]), ("c", processes[3])] {
        world.task_of_pid(id, process, 3600);
    }
    for (at, &(process, file, what, offset, bytes)) in deeds.iter().enumerate() {
        let (process, file, ms) = (processes[usize::from(process) % 6], F(1, i64::from(file % 4)), 3000 + at as i64);
        match what % 8 {
            0 => world.opens(process, ms, file, &format!("/d/{}", file.1), 0o1001),
            7 => {
                let names = ["/d/0", "/d/1", "/d/2", "/d/3", "/d/x", "/d/y"];
                let (old, new) = (names[usize::from(offset) % 6], names[usize::from(bytes) % 6]);
                world.renames(process, ms, file, (old, new));
            }
            1..=3 => world.writes(process, ms, file, offset.into(), bytes.into()),
            _ => world.reads(process, ms, file, offset.into(), bytes.into()),
        }
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn no_byte_is_lost_and_data_flows_forward(deeds in proptest::collection::vec(any::<Deed>(), 1..120)) {
        let world = world(&deeds);
        let told = world.correlated();
        let traced = |op: &str| world.events.iter().filter(|event| event.op == op).filter_map(|event| event.result).sum::<i64>();
        let sum = |bytes: fn(&TaskIo<'static>) -> i64| told.io.iter().map(bytes).sum::<i64>();
        prop_assert_eq!(sum(|row| row.read_bytes), traced("read"));
        prop_assert_eq!(sum(|row| row.written_bytes), traced("write"));
        prop_assert_eq!(told.totals.iter().map(|row| row.read_bytes).sum::<i64>(), traced("read"));
        prop_assert!(told.io.iter().all(|row| row.unassigned.is_some() != (row.task.is_some() || row.job.is_some())));
        // Versions are joined to the phases that write and read them; a phase to the next one of the same task.
        let mut names: Vec<String> = Vec::new();
        let mut number = |name: String| names.iter().position(|known| *known == name).unwrap_or_else(|| { names.push(name); names.len() - 1 }) as u32;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for row in &told.flows {
            let version = number(format!("file {} v{}", row.inode.unwrap(), row.version));
            let mut phases: Vec<(String, i64)> = Vec::new();
            if let (Some(writer), Some(phase)) = (&row.writer, row.writer_phase) {
                let node = number(format!("{writer} {phase}"));
                edges.push((node, version));
                phases.push((writer.to_string(), phase));
            }
            if let (Some(reader), Some(phase)) = (&row.reader, row.reader_phase) {
                let node = number(format!("{reader} {phase}"));
                edges.push((version, node));
                phases.push((reader.to_string(), phase));
            }
            for (name, phase) in phases {
                for earlier in 0..phase {
                    let (a, b) = (number(format!("{name} {earlier}")), number(format!("{name} {}", earlier + 1)));
                    edges.push((a, b));
                }
            }
        }
        let graph = DiGraph::<(), ()>::from_edges(edges);
        prop_assert!(!is_cyclic_directed(&graph), "{:?}", told.flow());
    }
}
