//! Object-centric directly-follows graphs: a directly-follows graph for each type of objects, over
//! the same activities.
//!
//! Defined by van der Aalst and Berti ("Discovering object-centric Petri nets", Fundamenta
//! Informaticae 2020, section 4): an event is part of the trace of each object that it is related
//! to, and the graph of a type has the pairs that follow each other directly in the traces of its
//! objects. Times and bytes are as in [`crate::dfg`]; the lead time of an object is from its first
//! event to the end of its last.

use flowmine_activity_log::{ActivityLog, Cases, LeftOut, Words, elapsed_ns};
use flowmine_threads::Beside;

use crate::dfg::{Dfg, activities, dfg};
use crate::stats::Stats;

/// An object-centric directly-follows graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OcDfg {
    /// Activities, sorted by name.
    pub activities: Vec<OcActivity>,
    /// The types, sorted by name.
    pub types: Vec<TypeGraph>,
    /// Number of events in the log, each counted once whatever its objects.
    pub events: u64,
    /// Missing and inconsistent data of the log.
    pub left_out: LeftOut,
    /// Description of the log: words for instance and case, and filters.
    pub words: Words,
}

/// An activity, whatever its objects: an event of several of them counts once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OcActivity {
    /// Name of the activity.
    pub name: String,
    /// Number of its events.
    pub events: u64,
    /// Bytes read by an event.
    pub read_bytes: Option<Stats>,
    /// Bytes written by an event.
    pub written_bytes: Option<Stats>,
}

/// The graph of one type of objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypeGraph {
    /// Name of the type of objects.
    pub kind: String,
    /// Its directly-follows graph: a case is an object.
    pub dfg: Dfg,
    /// Lead time, from an object's first event to the end of its last, in nanoseconds, of the
    /// objects with both times known.
    pub lead_ns: Option<Stats>,
}

/// Discovers the graph of the groupings of a log, or of the given types.
pub fn ocdfg(log: &ActivityLog, types: &[String]) -> OcDfg {
    let wanted: Vec<&Cases> = log.groups.iter().filter(|group| types.is_empty() || types.contains(&group.kind)).collect();
    let mut graphs: Vec<TypeGraph> = std::thread::scope(|scope| {
        let works: Vec<_> = wanted.iter().map(|cases| flowmine_threads::beside(scope, move || of_type(log, cases))).collect();
        works.into_iter().map(Beside::join).collect()
    });
    graphs.sort_by(|a, b| a.kind.cmp(&b.kind));
    let mut counts = vec![0u64; log.activities.len()];
    log.instances.activity.iter().for_each(|&activity| counts[activity as usize] += 1);
    let known = activities(log, &Cases::default());
    let activity = |a: u32| {
        let (events, known) = (counts[a as usize], &known[a as usize]);
        let activity =
            OcActivity { name: log.activities.get(a).to_owned(), events, read_bytes: known.read_bytes, written_bytes: known.written_bytes };
        Some(activity).filter(|_| events > 0)
    };
    OcDfg {
        activities: log.activities.sorted().into_iter().filter_map(activity).collect(),
        types: graphs,
        events: log.len() as u64,
        left_out: log.left_out,
        words: log.words.clone(),
    }
}

fn of_type(log: &ActivityLog, cases: &Cases) -> TypeGraph {
    let mut leads = Vec::new();
    // Then the last event of an object is the latest, and the others need not be read.
    let in_order = log.is_of_moments() && log.events.time_ns.is_sorted();
    for case in 0..cases.len() {
        let of = || cases.of(case);
        let span = if in_order {
            let time = |at: u32| log.time_ns(at);
            of().next().and_then(time).zip(of().max().and_then(time))
        } else {
            of().next().and_then(|at| log.start_ns(at)).zip(of().filter_map(|at| log.end_ns(at)).max())
        };
        leads.extend(span.and_then(|(first, last)| elapsed_ns(first, last)));
    }
    TypeGraph { kind: cases.kind.clone(), dfg: dfg(log, cases), lead_ns: Stats::new(&mut leads) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flowmine_activity_log::{EventRow, LogBuilder, Names};

    #[test]
    fn an_event_is_in_the_trace_of_each_of_its_objects() {
        let mut builder = LogBuilder::new(&[]);
        for (at, name) in ["order", "pick", "pick", "ship"].into_iter().enumerate() {
            let activity = builder.activity(name);
            builder.event(&EventRow { activity, time_ns: at as i64, ..EventRow::default() }).expect("few");
        }
        builder.end_case("").expect("one");
        let mut log = builder.finish();
        let group = |kind: &str, names: &[&str], offsets: &[u32], members: &[u32]| Cases {
            kind: kind.to_owned(),
            names: Names::from_iter(names),
            offsets: offsets.to_vec(),
            members: Some(members.to_vec()),
        };
        log.groups = vec![group("order", &["o"], &[0, 2], &[0, 3]), group("item", &["i", "j"], &[0, 3, 6], &[0, 1, 3, 0, 2, 3])];
        let found = ocdfg(&log, &[]);
        let edges = |at: usize| -> Vec<(String, u64)> {
            let dfg = &found.types[at].dfg;
            let name = |activity: usize| dfg.activities[activity].name.clone();
            dfg.edges.iter().map(|e| (format!("{}→{}", name(e.from), name(e.to)), e.frequency)).collect()
        };
        assert_eq!(edges(0), [("order→pick".to_owned(), 2), ("pick→ship".to_owned(), 2)]);
        assert_eq!(edges(1), [("order→ship".to_owned(), 1)]);
        assert_eq!(found.types[1].lead_ns.map(|lead| lead.sum), Some(3));
        let counts: Vec<(&str, u64)> = found.activities.iter().map(|activity| (activity.name.as_str(), activity.events)).collect();
        assert_eq!(counts, [("order", 1), ("pick", 2), ("ship", 1)]);
        assert_eq!(ocdfg(&log, &["item".to_owned()]).types.len(), 1);
    }
}
