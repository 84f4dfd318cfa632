//! Directly-follows graphs as process_mining finds them, with times.

use std::path::Path;
use std::time::Instant;

use process_mining::core::event_data::object_centric::linked_ocel::{LinkedOCELAccess, SlimLinkedOCEL};
use process_mining::discovery::case_centric::dfg::discover_dfg;
use process_mining::discovery::object_centric::dfg::get_dfg_of_object_type;
use process_mining::{EventLog, Importable};

/// Reads a log and finds its graph or, of OCEL, that of each type of objects.
pub fn graph(file: &Path) -> crate::Outcome {
    let begin = Instant::now();
    let (read_s, graph_s, edges, steps);
    if crate::is_xes(file) {
        let log = EventLog::import_from_path(file)?;
        read_s = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let found = discover_dfg(&log);
        graph_s = begin.elapsed().as_secs_f64();
        edges = found.directly_follows_relations.len();
        steps = found.directly_follows_relations.values().map(|&count| u64::from(count)).sum::<u64>();
    } else {
        let log = SlimLinkedOCEL::import_from_path(file)?;
        read_s = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let kinds: Vec<String> = log.get_ob_types().map(str::to_owned).collect();
        let found: Vec<_> = kinds.into_iter().map(|kind| get_dfg_of_object_type(&log, kind)).collect();
        graph_s = begin.elapsed().as_secs_f64();
        edges = found.iter().map(Vec::len).sum();
        steps = found.iter().flatten().map(|&(_, count)| count as u64).sum();
    }
    let peak_kib = crate::peak_kib();
    println!("{}", serde_json::json!({"read_s": read_s, "graph_s": graph_s, "edges": edges, "steps": steps, "peak_kib": peak_kib}));
    Ok(())
}
