//! A log as cases.
//!
//! An XES file is one. Of an object-centric log a type of objects is chosen: each object of it is a
//! trace, with the attributes of the object, and has the events that are related to it in the order
//! of their times. An event has its type as `concept:name`, its time as `time:timestamp`, its id as
//! `ocel_id` and its attributes under their own names. Of an attribute that changes a trace has the
//! last value. An event that is related to several objects of the type is in several traces, one
//! that is related to none in none; both are counted, which a finding says.

use flowmine_eventlog::read::{Finding, Severity};
use flowmine_eventlog::sorted::{SortRecords, SortedRecords};
use flowmine_eventlog::{Attribute, Batches, CaseHeader, CaseLog, Classifier, IdHash, LogError, ObjectLog, Record, xes};
use flowmine_spill::{Sorted, Sorter, put_ordered, put_ordered_text};
use rustc_hash::FxHashSet;

use super::{Findings, found};

/// Traces in the order of their file, or by the id of their object.
pub struct TraceLog {
    header: CaseHeader,
    records: Sorted,
}

impl TraceLog {
    pub(super) fn new(header: CaseHeader, records: Sorted) -> Self {
        Self { header, records }
    }

    /// The objects of a type as cases. An object without events is a trace without events.
    ///
    /// # Errors
    /// When the log cannot be walked through or the temporary file not be written.
    pub fn of_objects(log: &dyn ObjectLog, kind: &str) -> Result<(Self, Vec<Finding>), LogError> {
        let mut records = Sorter::default();
        let mut of_kind: FxHashSet<IdHash> = FxHashSet::default();
        for batch in log.objects() {
            for record in batch?.records() {
                let Record::Object(mut object) = record? else { continue };
                if object.kind != kind {
                    continue;
                }
                of_kind.insert(IdHash::new(&object.id));
                let mut key = Vec::new();
                put_ordered_text(&object.id, &mut key);
                let end = key.len();
                key.push(0);
                let mut attributes = vec![Attribute::text("concept:name", object.id.clone())];
                // From the last value back, so that the last one is found first.
                let mut known = FxHashSet::default();
                let mut last: Vec<Attribute<'_>> = Vec::new();
                object.attributes.sort_by_key(|attribute| attribute.since_ns);
                for mut attribute in object.attributes.into_iter().rev() {
                    if attribute.key != "concept:name" && known.insert(attribute.key.clone()) {
                        attribute.since_ns = None;
                        last.push(attribute);
                    }
                }
                last.reverse();
                attributes.extend(last);
                records.push_record(&key, &Record::Trace(attributes))?;
                key.truncate(end);
                key.push(2);
                records.push_record(&key, &Record::TraceEnd)?;
            }
        }
        let (mut in_none, mut in_several) = (0u64, 0u64);
        let mut number = 0;
        for batch in log.events() {
            for record in batch?.records() {
                let Record::Event(event) = record? else { continue };
                number += 1;
                let mut cases: Vec<&str> =
                    event.relations.iter().filter(|r| of_kind.contains(&IdHash::new(&r.object))).map(|r| r.object.as_ref()).collect();
                cases.sort_unstable();
                cases.dedup();
                in_none += u64::from(cases.is_empty());
                in_several += u64::from(cases.len() > 1);
                let mut attributes = vec![
                    Attribute::text("concept:name", event.kind.as_ref()),
                    Attribute::time("time:timestamp", event.time_ns),
                    Attribute::text("ocel_id", event.id.as_ref()),
                ];
                attributes.extend(event.attributes.iter().filter(|a| a.key != "concept:name" && a.key != "time:timestamp").cloned());
                let record = Record::CaseEvent(attributes);
                for case in cases {
                    let mut key = Vec::new();
                    put_ordered_text(case, &mut key);
                    key.push(1);
                    put_ordered(event.time_ns, &mut key);
                    put_ordered(number, &mut key);
                    records.push_record(&key, &record)?;
                }
            }
        }
        let mut findings = Findings::default();
        for (count, rule, what) in [
            (in_none, "event_in_no_case", format!("events are related to no object of type {kind:?} and are in no trace")),
            (
                in_several,
                "event_in_several_cases",
                format!("events are related to several objects of type {kind:?} and are in the trace of each"),
            ),
        ] {
            if count > 0 {
                findings.push(found(Severity::Note, rule, "", format!("{count} {what}")));
            }
        }
        Ok((Self { header: header(kind), records: records.finish()? }, findings.finish()))
    }
}

fn header(kind: &str) -> CaseHeader {
    use xes::extensions::{CONCEPT, TIME};
    CaseHeader {
        extensions: vec![CONCEPT.extension(), TIME.extension()],
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![Attribute::text("concept:name", ""), Attribute::time("time:timestamp", 0)],
        classifiers: vec![Classifier::new("Activity", &["concept:name"])],
        attributes: vec![Attribute::text("concept:name", format!("a case is an object of type {kind}"))],
    }
}

impl CaseLog for TraceLog {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        self.records.batches(|_, _| false)
    }
}
