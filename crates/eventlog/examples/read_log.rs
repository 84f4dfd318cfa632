//! What it takes to read a log, and nothing else done with it.
//!
//! `read_log make FILE.xes.gz [CASES]` makes up a log like that of the BPI Challenge 2012 in size
//! and form (13,087 cases of 20 events on average, as OpenXES writes them, gz level 6);
//! `read_log FILE…` reads logs of any format and prints records, seconds, seconds of CPU and the
//! largest memory so far.

use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use flate2::Compression;
use flate2::write::GzEncoder;
use flowmine_eventlog::read::{Finding, Limits, Sink, read_file};
use flowmine_eventlog::{CaseHeader, LogError, Record, Types, time};

const ACTIVITIES: [&str; 24] = [
    "A_SUBMITTED",
    "A_PARTLYSUBMITTED",
    "A_PREACCEPTED",
    "A_ACCEPTED",
    "A_FINALIZED",
    "A_CANCELLED",
    "A_DECLINED",
    "A_APPROVED",
    "A_REGISTERED",
    "A_ACTIVATED",
    "O_SELECTED",
    "O_CREATED",
    "O_SENT",
    "O_SENT_BACK",
    "O_ACCEPTED",
    "O_CANCELLED",
    "O_DECLINED",
    "W_Completeren aanvraag",
    "W_Nabellen offertes",
    "W_Valideren aanvraag",
    "W_Afhandelen leads",
    "W_Nabellen incomplete dossiers",
    "W_Beoordelen fraude",
    "W_Wijzigen contractgegevens",
];

#[derive(Default)]
struct Counting {
    records: [u64; 5],
    attributes: u64,
    relations: u64,
    findings: u64,
}

impl Sink for Counting {
    fn types(&mut self, _: Types) -> Result<(), LogError> {
        Ok(())
    }

    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        let (at, attributes, relations) = match record {
            Record::Trace(attributes) => (0, attributes.len(), 0),
            Record::CaseEvent(attributes) => (1, attributes.len(), 0),
            Record::TraceEnd => (2, 0, 0),
            Record::Object(object) => (3, object.attributes.len(), object.relations.len()),
            Record::Event(event) => (4, event.attributes.len(), event.relations.len()),
        };
        self.records[at] += 1;
        self.attributes += attributes as u64;
        self.relations += relations as u64;
        Ok(())
    }

    fn finding(&mut self, _: Finding) {
        self.findings += 1;
    }
}

/// Numbers that are always the same.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn moment(ns: i64) -> String {
    let mut text = Vec::new();
    time::write(ns + 7_200_000_000_000, 3, "+02:00", &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn make(path: &Path, cases: u64) -> Result<(), Box<dyn Error>> {
    let mut out = GzEncoder::new(File::create(path)?, Compression::new(6));
    out.write_all(
        br#"<?xml version="1.0" encoding="UTF-8" ?>
<!-- made up -->
<log xes.version="1.0" xes.features="nested-attributes" openxes.version="1.0RC7" xmlns="http://www.xes-standard.org/">
	<extension name="Lifecycle" prefix="lifecycle" uri="http://www.xes-standard.org/lifecycle.xesext"/>
	<extension name="Organizational" prefix="org" uri="http://www.xes-standard.org/org.xesext"/>
	<extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
	<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
	<global scope="event">
		<string key="concept:name" value="__INVALID__"/>
	</global>
	<classifier name="Activity classifier" keys="concept:name lifecycle:transition"/>
"#,
    )?;
    let mut numbers = Numbers(2012);
    let mut text = String::new();
    let mut begin_ns = 1_317_422_324_546_000_000;
    for case in 0..cases {
        begin_ns += numbers.below(2_000_000) as i64 * 1_000_000;
        text.clear();
        let mut at_ns = begin_ns;
        writeln!(text, "\t<trace>\n\t\t<date key=\"REG_DATE\" value=\"{}\"/>", moment(at_ns))?;
        writeln!(text, "\t\t<string key=\"concept:name\" value=\"{}\"/>", 173_688 + 3 * case)?;
        writeln!(text, "\t\t<string key=\"AMOUNT_REQ\" value=\"{}\"/>", 1000 * (1 + numbers.below(50)))?;
        // 20 on average.
        for _ in 0..3 + numbers.below(35) {
            at_ns += numbers.below(100_000_000) as i64 * 1_000_000;
            text.push_str("\t\t<event>\n");
            if numbers.below(10) > 0 {
                writeln!(text, "\t\t\t<string key=\"org:resource\" value=\"{}\"/>", 10_000 + numbers.below(69) * 17)?;
            }
            let transition = ["COMPLETE", "START", "SCHEDULE"][[0, 0, 0, 1, 1, 2][numbers.below(6) as usize]];
            writeln!(text, "\t\t\t<string key=\"lifecycle:transition\" value=\"{transition}\"/>")?;
            writeln!(text, "\t\t\t<string key=\"concept:name\" value=\"{}\"/>", ACTIVITIES[numbers.below(24) as usize])?;
            writeln!(text, "\t\t\t<date key=\"time:timestamp\" value=\"{}\"/>", moment(at_ns))?;
            if numbers.below(4) == 0 {
                writeln!(text, "\t\t\t<int key=\"offer\" value=\"{}\"/>", numbers.below(1_000_000))?;
            }
            text.push_str("\t\t</event>\n");
        }
        text.push_str("\t</trace>\n");
        out.write_all(text.as_bytes())?;
    }
    out.write_all(b"</log>\n")?;
    out.finish()?;
    Ok(())
}

/// Seconds of CPU that this process has taken, in steps of a hundredth.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib / 1000.0 * 1.024)
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, path, rest @ ..] = args.as_slice()
        && first == "make"
    {
        return make(Path::new(path), rest.first().map_or(Ok(13_087), |cases| cases.parse())?);
    }
    for path in &args {
        let (begin, before_s) = (Instant::now(), cpu_s());
        let mut sink = Counting::default();
        let format = read_file(Path::new(path), &Limits::default(), &mut sink)?;
        let (wall_s, cpu_s, mb) = (begin.elapsed().as_secs_f64(), cpu_s() - before_s, peak_mb());
        let Counting { records: [traces, case_events, _, objects, events], attributes, relations, findings } = sink;
        println!(
            "{path} {format:?}: {traces} traces, {case_events} events of cases, {objects} objects, {events} events, {attributes} attributes, \
             {relations} relations, {findings} findings; {wall_s:.3} s, CPU {cpu_s:.2} s, {mb:.0} MB"
        );
    }
    Ok(())
}
