//! Fixture in, records and diagnostics out.

use flowmine_extract_slurm::import::{self, Imported, Options};
use flowmine_schema::diagnostic::Diagnostics;

#[test]
fn dump() {
    let path = std::env::var("DUMP").unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let kind = import::recognise(&bytes);
    println!("{path}: {kind:?}");
    let Ok(kind) = kind else { return };
    let mut diagnostics = Diagnostics::default();
    match import::read(&bytes, kind, &Options::default(), &mut diagnostics) {
        Err(error) => println!("ERROR {error}"),
        Ok(Imported::Queue { observed_at_ns, records, cluster, .. }) => {
            println!("{observed_at_ns:?} {cluster:?}");
            for r in records {
                println!("{} {} {:?} n={:?} c={:?} dep={:?} g={:?} u={:?} sub={:?} r={:?} nl={:?} {:?}", r.label(), r.job_id, r.state, r.name, r.command_line, r.dependency, r.group, r.user, r.submit_ns, r.reason, r.node_list, (r.time_limit_s, r.memory_bytes, r.exit_code, r.exit_signal));
            }
        }
        Ok(Imported::Log { entries, .. }) => {
            for (t, r) in entries {
                println!("{t} {} {:?} n={:?} c={:?} dep={:?} g={:?} u={:?} st={:?}", r.label(), r.state, r.name, r.command_line, r.dependency, r.group, r.user, r.start_ns);
            }
        }
        Ok(Imported::Accounting { records, .. }) => {
            for (c, r) in records {
                println!("{c:?} {} {} {:?} n={:?} dep={:?} u={:?} sub={:?} st={:?} {:?} {:?} {:?}", r.label(), r.job_id, r.state, r.name, r.dependency, r.user, r.submit_ns, r.start_ns, (r.read_bytes, r.written_bytes, r.exit_code, r.exit_signal, r.cancelled_by_uid), (r.nodes, r.cpus, r.time_limit_s, r.memory_bytes), r.submit_line);
            }
        }
    }
    for d in diagnostics.iter() {
        println!("  {:?} {} {:?}:{:?} {} x{}", d.severity, d.code, d.line, d.column, d.message, d.count);
    }
}
