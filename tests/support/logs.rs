//! A log in memory: in go the records that a reader finds, out comes a log that our writers can
//! walk through.

use flowmine_eventlog::read::{Finding, Sink};
use flowmine_eventlog::{Batch, BatchBuilder, Batches, CaseHeader, CaseLog, LogError, ObjectLog, Record, Types};

/// What a reader found, or what a test made up; for logs of tests, which fit into memory.
#[derive(Debug, Default)]
pub struct Log {
    pub types: Types,
    pub header: CaseHeader,
    pub findings: Vec<Finding>,
    objects: Vec<Vec<u8>>,
    /// With their times, by which a writer wants them.
    events: Vec<(i64, Vec<u8>)>,
    cases: Vec<Vec<u8>>,
}

impl Sink for Log {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        self.types.events.extend(types.events);
        self.types.objects.extend(types.objects);
        Ok(())
    }

    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        self.header = header;
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        match record {
            Record::Object(_) => self.objects.push(bytes),
            // Behind all that are not later: events of one moment keep their order.
            Record::Event(event) => {
                let place = self.events.partition_point(|(time_ns, _)| *time_ns <= event.time_ns);
                self.events.insert(place, (event.time_ns, bytes));
            }
            Record::Trace(_) | Record::CaseEvent(_) | Record::TraceEnd => self.cases.push(bytes),
        }
        Ok(())
    }

    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

impl Log {
    /// Calls `each` with every record: objects, then events, then traces.
    pub fn each(&self, mut each: impl FnMut(Record<'_>)) {
        let pieces = self.objects.iter().chain(self.events.iter().map(|(_, bytes)| bytes)).chain(&self.cases);
        pieces.for_each(|bytes| each(Record::decode(bytes).expect("it was encoded here")));
    }
}

fn batches<'a>(pieces: impl Iterator<Item = &'a Vec<u8>>) -> Batches<'static> {
    let mut builder = BatchBuilder::default();
    let mut full: Vec<Result<Batch, LogError>> = pieces.filter_map(|piece| builder.push_piece(piece).map(Ok)).collect();
    full.extend(builder.finish().map(Ok));
    Box::new(full.into_iter())
}

impl ObjectLog for Log {
    fn types(&self) -> &Types {
        &self.types
    }

    fn objects(&self) -> Batches<'_> {
        batches(self.objects.iter())
    }

    fn events(&self) -> Batches<'_> {
        batches(self.events.iter().map(|(_, bytes)| bytes))
    }
}

impl CaseLog for Log {
    fn header(&self) -> &CaseHeader {
        &self.header
    }

    fn traces(&self) -> Batches<'_> {
        batches(self.cases.iter())
    }
}
