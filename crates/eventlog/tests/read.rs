//! The readers of files of others: what comes out of each fixture, with what is said about it, or
//! why and where it is refused.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flowmine_eventlog::read::input::Input;
use flowmine_eventlog::read::{Finding, Format, Limits, Sink, detect, detect_text, ocel_json, ocel_sqlite, ocel_xml, read_file, xes};
use flowmine_eventlog::validate::validate;
use flowmine_eventlog::{Attribute, CaseHeader, LogError, Record, Types, Value};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Writes down what comes, a line each.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn attributes(&mut self, attributes: &[Attribute<'_>]) {
        for one in attributes {
            write!(self.0, " {}=", one.key).unwrap();
            match &one.value {
                Value::List(items) => {
                    self.0.push('[');
                    self.attributes(items);
                    self.0.push_str(" ]");
                }
                other => write!(self.0, "{other:?}").unwrap(),
            }
            if let Some(ns) = one.since_ns {
                write!(self.0, "@{ns}").unwrap();
            }
            if !one.children.is_empty() {
                self.0.push('{');
                self.attributes(&one.children);
                self.0.push_str(" }");
            }
        }
    }
}

impl Sink for Lines {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        for (what, all) in [("event", types.events), ("object", types.objects)] {
            for one in all {
                writeln!(self.0, "{what} type {} {:?}", one.name, one.attributes).unwrap();
            }
        }
        Ok(())
    }

    fn header(&mut self, header: CaseHeader) -> Result<(), LogError> {
        for one in &header.extensions {
            writeln!(self.0, "extension {} {} {}", one.name, one.prefix, one.uri).unwrap();
        }
        for (what, all) in [("trace", &header.trace_globals), ("event", &header.event_globals), ("log", &header.attributes)] {
            if !all.is_empty() {
                self.0.push_str(what);
                self.0.push(':');
                self.attributes(all);
                self.0.push('\n');
            }
        }
        for one in &header.classifiers {
            writeln!(self.0, "classifier {} {:?}", one.name, one.keys).unwrap();
        }
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        let relations = match record {
            Record::Trace(attributes) => {
                self.0.push_str("trace");
                self.attributes(attributes);
                &[][..]
            }
            Record::CaseEvent(attributes) => {
                self.0.push_str(" event");
                self.attributes(attributes);
                &[]
            }
            Record::TraceEnd => {
                self.0.push_str("end");
                &[]
            }
            Record::Object(object) => {
                write!(self.0, "{} {}", object.kind, object.id).unwrap();
                self.attributes(&object.attributes);
                &object.relations
            }
            Record::Event(event) => {
                write!(self.0, "{} {} at {}", event.kind, event.id, event.time_ns).unwrap();
                self.attributes(&event.attributes);
                &event.relations
            }
        };
        for relation in relations {
            write!(self.0, " -{}-> {}", relation.qualifier, relation.object).unwrap();
        }
        self.0.push('\n');
        Ok(())
    }

    fn finding(&mut self, finding: Finding) {
        let Finding { severity, rule, line, column, place, message } = finding;
        // Names of the file reach a terminal here.
        assert!(!place.chars().chain(message.chars()).any(char::is_control) && place.len() + message.len() < 1000, "{place}: {message}");
        match (line, column) {
            (Some(line), Some(column)) => writeln!(self.0, "! {severity:?} {rule} {line}:{column}").unwrap(),
            _ => writeln!(self.0, "! {severity:?} {rule} {place}").unwrap(),
        }
    }
}

/// All that comes out of a fixture.
fn lines(name: &str) -> String {
    let mut lines = Lines::default();
    if let Err(error) = read_file(&fixture(name), &Limits::default(), &mut lines) {
        writeln!(lines.0, "refused: {error}").unwrap();
    }
    lines.0
}

/// All that comes out of these bytes, which come at most so many at a time.
fn lines_of(bytes: &[u8], most: usize, limits: &Limits) -> String {
    struct Drops<'b>(&'b [u8], usize);
    impl Read for Drops<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = self.1.min(into.len());
            self.0.read(&mut into[..n])
        }
    }
    let mut lines = Lines::default();
    let read = Input::xml(Drops(bytes, most), limits).and_then(|input| xes::read(input, limits, &mut lines));
    if let Err(error) = read {
        writeln!(lines.0, "refused: {error}").unwrap();
    }
    lines.0
}

/// The last line is what was refused, nothing else went wrong.
fn refused(name: &str) -> String {
    lines(name).lines().last().unwrap().strip_prefix("refused: ").unwrap().to_owned()
}

const ALL_XES: &str = r#"! Note trace_classifier 16:3
trace concept:name=String("order of attributes is free")
 event concept:name=String("tabs\tand\nlines") time:timestamp=Time(1795179770123456789) int=Integer(-9223372036854775808) float=Float(-0.0015) nan=Float(NaN) boolean=Boolean(true) id=Id("0f8fad5b-d9cb-469f-a165-70867728950e") old list=[ a=String("1") a=String("2") ] new list=[ a=String("1") c=Container{ i=Integer(3) } ] container=Container{ inside=String("x"){ deeper=String("y") } }
 event
end
trace
end
! Warning event_without_trace 36:3
trace
 event concept:name=String("loose")
 event concept:name=String("loose too")
end
extension Concept concept http://www.xes-standard.org/concept.xesext
extension Time time http://www.xes-standard.org/time.xesext
trace: concept:name=String("none")
event: concept:name=String("none") Job State=String("none") time:timestamp=Time(0)
log: concept:name=String("a <log> & more") of the log=[ n=Integer(1) n=Integer(2) ]{ meta=String("m") }
classifier Activity ["concept:name", "Job State", "x y", "z"]
classifier Unquoted ["concept:name", "Job State"]
"#;

#[test]
fn xes_has_all_this() {
    assert_eq!(lines("all_constructs.xes"), ALL_XES);
    assert_eq!(lines("complete.xes.gz"), ALL_XES);
    assert_eq!(lines("prefixed.xes"), "trace\n! Warning unknown_element 2:65\n event concept:name=String(\"a\")\nend\n");
    assert_eq!(lines("byte_order_mark.xes"), "trace\n event\nend\n");
    assert_eq!(lines("external_doctype.xes"), "! Note document_type 1:1\ntrace\n event\nend\n");
}

#[test]
fn odd_xes_is_kept_as_far_as_it_goes() {
    let expected = r#"! Note duplicate_key 2:1
trace twice=String("1") twice=String("2")
! Error not_a_time 6:1
! Error time_range 7:1
! Error not_a_number 8:1
! Error number_range 9:1
! Error number_range 10:1
! Error not_a_number 11:1
! Warning unusual_boolean 12:1
! Error not_a_boolean 13:1
! Error missing_value 14:1
! Error missing_value 15:1
! Error missing_key 16:1
! Warning unknown_element 17:1
! Error xml_character 18:1
 event d=String("yesterday") d9999=String("9999-12-31T00:00:00Z") i=String("1.5") big=String("9223372036854775808") f=String("1e999") comma=String("1,5") b=Boolean(true) maybe=String("maybe") only children=Container{ i=Integer(1) } =String("no key") control=String("\u{1}")
! Warning text 20:1
! Error late_trace_attribute 21:1
end
! Warning unknown_element 23:1
"#;
    assert_eq!(lines("odd_values.xes"), expected);
}

#[test]
fn ocel_is_the_same_in_json_and_xml() {
    let types = r#"event type sent [("due", Time), ("n", Integer)]"#;
    let objects =
        concat!("order o1 price=Float(1.5) price=Float(2.0)@1795179600000000000 open=Boolean(true)", "{}", " -next-> o2\norder o2\n");
    let event = "sent e1 at 1795179770500000000 due=Time(1795179600000000000) n=Integer(12) -of-> o1";
    let json = lines("types_last.json");
    let order = r#"object type order [("price", Float), ("open", Boolean)]"#;
    assert_eq!(json, format!("{types}\n{order}\n{event}\n{}", objects.replace("{}", "")));
    let xml = lines("all_constructs.xml");
    let order = r#"object type order [("price", Float), ("open", Boolean), ("note", String)]"#;
    let note = r#" note=String(" a <b> & <c>\nd ") note=String("")@1795179600000000000"#;
    assert_eq!(xml, format!("{order}\n{types}\n{}{event} -also of-> o2\n", objects.replace("{}", note)));
}

#[test]
fn types_that_come_last_are_not_known_to_who_reads_once() {
    let mut lines = Lines::default();
    let limits = Limits::default();
    let text = std::fs::read(fixture("types_last.json")).unwrap();
    ocel_json::read(Input::records(text.as_slice(), &limits).unwrap(), &limits, None, &mut lines).unwrap();
    let event = "sent e1 at 1795179770500000000 due=String(\"2026-11-20T13:00:00Z\") n=String(\"12\") -of-> o1\n";
    assert!(lines.0.starts_with(event), "{}", lines.0);
    assert!(lines.0.ends_with("event type sent [(\"due\", Time), (\"n\", Integer)]\n"), "{}", lines.0);
}

#[test]
fn odd_json_is_kept_as_far_as_it_goes() {
    let expected = r#"event type e [("i", Integer), ("f", Float), ("t", Time), ("b", Boolean)]
object type t [("s", String), ("old", Integer), ("x", String)]
object type t []
! Warning unknown_value_type 1:80
! Error unknown_value_type 1:112
! Error missing_name 1:180
! Error wrong_type 1:200
! Error duplicate_type 1:2
! Warning unknown_key 3:1
! Note whole_float 6:25
! Error value_type 7:25
! Error number_range 8:25
! Error number_range 9:25
! Error not_finite 10:25
! Error not_a_time 11:25
! Error value_type 12:25
! Error not_a_boolean 13:25
! Warning null_value 14:25
! Error number_range 15:34
! Error nested_value 16:30
! Error null_value 17:2
! Error missing_name 18:2
! Error wrong_type 19:2
! Error number_as_text 19:37
! Error missing_qualifier 19:24
! Error missing_object 19:41
! Error wrong_type 19:61
! Error duplicate_key 5:1
e e1 at 1795179770000000000 i=Integer(3) i=Float(3.5) i=String("9223372036854775808") f=String("1e999") f=Float(NaN) t=String("soon") t=Integer(5) b=String("perhaps") undeclared=String("12345678901234567890123") nested=String("{\"a\": [1, \"x\"]}") --> 5
! Error missing_type 20:1
! Error missing_id 21:1
! Error missing_time 22:1
! Error time_range 23:36
! Error missing_time 23:1
! Error duplicate_key 24:23
! Warning wrong_type 24:94
e twice at 1795179770000000000
! Error wrong_type 25:1
! Error number_as_text 27:20
! Error missing_value_time 27:51
! Warning value_type 27:74
! Error duplicate_key 27:147
! Warning value_type 27:101
t 1 s=String("5") s=String("true")
"#;
    assert_eq!(lines("odd_values.json"), expected);
}

#[test]
fn odd_xml_is_kept_as_far_as_it_goes() {
    let expected = r#"! Warning unknown_element 2:1
t early i=String("1") i=String("2")
! Error late_types 4:1
! Error unknown_value_type 4:85
! Error missing_name 4:120
! Error missing_name 4:173
! Error duplicate_type 4:210
object type t [("i", Integer), ("x", String)]
object type t []
! Error duplicate_key 5:1
! Error missing_value_time 7:1
! Error not_a_time 8:1
! Error missing_name 9:1
! Warning text 10:1
! Error missing_object 11:10
! Error missing_qualifier 11:39
! Error not_a_number 7:1
! Error number_range 8:1
t o i=String("one") i=String("99999999999999999999") --> early
! Error missing_id 12:1
! Error missing_type 13:1
! Error missing_time 15:9
! Error missing_section 16:1
"#;
    assert_eq!(lines("odd_values.xml"), expected);
}

#[test]
fn odd_sqlite_is_kept_as_far_as_it_goes() {
    let expected = r#"! Error type_without_table table event_map_type
! Note column_type table event_Start
event type gone []
event type start [("n", Integer), ("ok", Boolean), ("at", Time), ("x", String)]
object type job [("state", String), ("size", Float)]
! Error changed_field table object_Job, row 4 (ocel_id "j1")
job j1 state=String("PENDING") state=String("RUNNING")@1795179845000000000 size=Float(0.5) -depends on-> j2
job j2 state=String("LONG") size=Float(inf)
event type new []
! Error unknown_type table event, row 4
! Warning value_type table event_Start, row 1 (ocel_id "e1")
! Error time table event_Start, row 2 (ocel_id "e2")
! Warning value_type table event_Start, row 2 (ocel_id "e2")
! Warning value_type table event_Start, row 2 (ocel_id "e2")
! Error not_text table event_Start, row 2 (ocel_id "e2")
! Error no_row_in_type_table event "3"
! Error event_left_out event "3"
! Error event_left_out event "e2"
! Error no_row_in_type_table event "e4"
! Error event_left_out event "e4"
! Error relation_without_source event "e9"
start e1 at 1795179845500000000 n=Integer(5) ok=Boolean(true) at=Time(0) x=Float(1.5) -of-> j1 --> j2
"#;
    // One that goes over several of its pages of 512 bytes.
    assert_eq!(lines("all_constructs.sqlite"), expected.replace("LONG", &"l".repeat(600)));
}

/// Found by fuzzing: what the file calls its types and ids, with line ends and escape sequences,
/// stood in messages as it was.
#[test]
fn hostile_names_in_sqlite_are_shown_harmlessly() {
    // [`Lines`] looks at each finding.
    let lines = lines("hostile_names.sqlite");
    assert!(lines.contains("! Error type_without_table table object_map_type\n") && lines.contains("object type jo\0 []\n"), "{lines}");
    assert!(lines.contains("refused: table event, row 1: the file is damaged"), "{lines}");
}

/// Found by fuzzing: one of the messages had what stood between `&#` and `;` as it was.
#[test]
fn what_the_checks_say_of_fixtures_is_harmless() {
    for entry in std::fs::read_dir(fixture("")).unwrap() {
        let path = entry.unwrap().path();
        let mut findings = Vec::new();
        let result = validate(&path, &mut |finding| findings.push(finding));
        let said = findings.iter().flat_map(|finding| [finding.place.clone(), finding.message.clone()]);
        for text in said.chain(result.err().map(|error| error.to_string())) {
            assert!(text.len() < 1000 && !text.chars().any(char::is_control), "{path:?}: {text:?}");
        }
    }
}

#[test]
fn a_forged_record_stays_a_text() {
    assert_eq!(lines("forged_record.json"), "]} o\"}], \"events\": [{\"id\": \"forged\n");
}

#[test]
fn events_keep_their_place_whatever_their_time_is() {
    let expected = r#"! Error not_a_time 12:4
! Warning text_time 16:4
! Error missing_value 20:4
! Note duplicate_key 27:3
"#;
    let all = lines("odd_times.xes");
    let findings: String = all.lines().filter(|line| line.starts_with('!')).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(findings, expected);
    let records: Vec<_> = all.lines().filter(|line| !line.starts_with('!')).collect();
    assert_eq!(
        records,
        [
            "trace",
            " event concept:name=String(\"no time\")",
            " event concept:name=String(\"the end of a day\") time:timestamp=Time(1795215600000000000)",
            " event concept:name=String(\"no such hour\") time:timestamp=String(\"2026-11-20T24:00:01\")",
            " event concept:name=String(\"a time that says to be a text\") time:timestamp=Time(1795179770000000000)",
            " event concept:name=String(\"no value\")",
            " event concept:name=String(\"a \\\"plain\\\" & ä one\") time:timestamp=Time(1795179770500000000) i=Id(\"x\") n=Integer(-5) f=Float(0.5) b=Boolean(true)",
            " event concept:name=String(\"twice\") concept:name=String(\"twice\")",
            "end",
        ]
    );
}

/// Byte by byte, no event lies there as a whole, so that none is taken in one go.
#[test]
fn events_taken_as_a_whole_are_those_read_piece_by_piece() {
    // How much of a damaged gz file comes out depends on how much was asked for.
    for bytes in fixtures().into_iter().filter(|bytes| !bytes.starts_with(&[0x1f, 0x8b])) {
        assert_eq!(lines_of(&bytes, usize::MAX, &Limits::default()), lines_of(&bytes, 1, &Limits::default()));
    }
}

#[test]
fn the_first_version_of_ocel_in_json() {
    let expected = r#"event type end []
event type start [("at", Time), ("mixed", String), ("n", Float), ("ok", Boolean), ("text", String)]
object type job [("cpus", Integer), ("nested", String)]
object type node [("big", String)]
! Note value_type 4:144
start e1 at 1795179770500000000 n=Float(1.0) mixed=String("5") at=Time(1795179770000000000) text=String("1") --> j1 --> j2
! Warning null_value 5:99
start e2 at 1795179771000000000 n=Float(2.5) mixed=String("five") at=Time(1795179771000000000) ok=Boolean(true)
! Error duplicate_key 6:2
! Error number_as_text 6:96
! Error wrong_type 6:99
! Error duplicate_key 6:8
start e2 at 1795179772000000000 n=Float(3.0) n=Float(4.0) at=Time(1795219200000000000) --> j1 --> 7
! Error not_a_time 7:53
! Error missing_time 7:8
! Error missing_type 8:8
! Warning wrong_type 9:88
! Warning unknown_key 9:125
end e5 at 1795179773000000000
! Error missing_object 10:212
! Error duplicate_key 10:230
end e6 at 1795179774000000000 --> j1 -of-> j2 -after-> j3
! Error wrong_type 11:8
! Warning unknown_key 13:1
! Error nested_value 16:65
job j1 cpus=Integer(4) nested=String("{\"a\": [1]}") -depends on-> j2
job j2
! Error duplicate_key 18:2
! Note value_type 18:52
node j1 big=String("12345678901234567890123")
! Error missing_type 19:8
"#;
    assert_eq!(lines("ocel1_values.json"), expected);
}

/// Without a first pass values are what they are in JSON, and the types come at the end.
#[test]
fn the_first_version_of_ocel_in_one_pass() {
    let bytes = std::fs::read(fixture("ocel1_values.json")).unwrap();
    let limits = Limits::default();
    let mut lines = Lines::default();
    ocel_json::read(Input::records(bytes.as_slice(), &limits).unwrap(), &limits, None, &mut lines).unwrap();
    assert!(lines.0.starts_with("start e1 at 1795179770500000000 n=Integer(1) mixed=Integer(5) at=String("), "{}", lines.0);
    let types = "event type end []\nevent type start [(\"at\", String), (\"mixed\", String), (\"n\", Float), (\"ok\", Boolean), (\"text\", String)]\n";
    assert!(lines.0.contains(types), "{}", lines.0);
}

#[test]
fn the_first_version_of_ocel_in_xml() {
    let expected = r#"! Error missing_object 9:111
start & go e1 at 1795179770500000000 s=String("a < b") i=Integer(5) f=Float(0.5) b=Boolean(true) d=Time(1795132800000000000) --> j1 -of-> j2
! Error missing_name 14:81
! Error missing_value 14:100
! Warning unknown_element 14:117
! Error not_a_number 14:24
! Error number_range 14:51
! Error duplicate_key 12:5
! Error duplicate_key 12:5
start & go e1 at 315532800000000000 i=String("five") i=String("1e999")
! Error not_a_time 17:77
! Error missing_time 17:5
! Error missing_type 18:5
! Warning unknown_element 19:99
! Warning unknown_element 19:130
! Error missing_id 19:5
! Error duplicate_key 20:41
end e7 at 315532800000000000
job j1 cpus=Integer(4)
job j2 cpus=Float(4.5)
! Error duplicate_key 25:5
node j2
event type end []
event type start & go [("b", Boolean), ("d", Time), ("f", Float), ("i", String), ("s", String)]
object type job [("cpus", Float)]
object type node []
"#;
    assert_eq!(lines("ocel1_values.xml"), expected);
}

#[test]
fn refusals_have_their_place() {
    for (name, expected) in [
        ("billion_laughs.xes", "line 2, column 1: a document type with declarations"),
        ("unknown_entity.xes", "line 3, column 1: in attribute value: "),
        ("unknown_entity_in_text.xml", "line 2, column 96: the entity \"laugh\" is not one of XML's own five"),
        ("deep_nesting.xes", "line 2, column 1587: nested deeper than 64"),
        ("deep_nesting.json", "line 2, column 103: nested deeper than 64"),
        ("latin1.xes", "line 1, column 31: the file is in ISO-8859-1, "),
        ("latin1_undeclared.xes", "line 2, column 43: byte 0xe4 is not UTF-8"),
        ("latin1.json", "line 2, column 55: byte 0xe4 is not UTF-8"),
        ("utf16.xes", "line 1, column 1: the file is in UTF-16LE, "),
        ("truncated.xes", "line 3, column 9: the file ends here, 2 elements deep: it is cut"),
        ("truncated_in_tag.xes", "line 2, column 15: "),
        ("wrong_end_tag.xes", "line 2, column 15: "),
        ("two_logs.xes", "line 2, column 1: a second outermost element"),
        ("repeated_xml_attribute.xes", "line 2, column 1: <string> has two attributes key"),
        ("ocel1_and_2.json", "line 1, column 21: keys of OCEL 1.0 and of OCEL 2.0 in one file"),
        ("ocel1_array.json", "line 1, column 17: ocel:events is no object"),
        ("ocel1_truncated.json", "line 2, column 88: the file ends where the end of a string should be"),
        ("half_surrogate.json", "line 2, column 21: half of a surrogate pair"),
        ("control_character.json", "line 2, column 22: found '\\n', expected "),
        ("trailing_comma.json", "line 2, column 24: found '}', expected a string"),
        ("unquoted.json", "line 2, column 20: found 'o', expected a value"),
        ("cut_escape.json", "line 2, column 25: found '\"', expected a hexadecimal digit"),
        ("leading_zero.json", "line 2, column 77: found '1', expected ',' or '}'"),
        ("truncated.json", "line 3, column 17: the file ends where the end of a string should be"),
        ("truncated_between.json", "line 3, column 1: the file ends where a value should be"),
        ("text_behind.json", "line 2, column 1: found '{', expected the end of the file"),
        ("not_an_array.json", "line 2, column 11: events is no array"),
        ("empty.json", "line 1, column 1: this is no log that can be read: it is empty."),
    ] {
        let error = refused(name);
        assert!(error.starts_with(expected), "{name}: {error}");
    }
    for (name, expected) in
        [("truncated.xes.gz", "the gz file ends here, in the middle: it is cut"), ("damaged.xes.gz", "the gz file is damaged here")]
    {
        let error = refused(name);
        assert!(error.starts_with("line ") && error.contains(expected), "{error}");
    }
    // What stands before is read.
    assert!(lines("truncated.json").starts_with("t o\n"));
    assert!(lines("truncated.xes.gz").len() > 100);
}

#[test]
fn formats_are_told_by_content() {
    for (text, expected) in [
        (&b"<!-- no hint --><log/>"[..], Format::Xes),
        (b"<log><trace/></log>", Format::Xes),
        (b"<log><object-types/></log>", Format::OcelXml),
        (b"<log><global scope='event'/><events/></log>", Format::OcelXml),
        (b"  \n{", Format::OcelJson),
    ] {
        assert_eq!(detect_text(text).unwrap(), expected);
    }
    for text in [&b"PAR1"[..], b"a,b\n1,2\n", b"<html></html>", b"[]", b"SQLite format 3\0", b""] {
        assert!(detect_text(text).unwrap_err().to_string().contains("What can be read: XES and OCEL 2.0 or 1.0 in JSON or XML"));
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.xes");
    std::fs::write(&path, b"SQLite format 3\0...").unwrap();
    assert_eq!(detect(&path).unwrap(), Format::OcelSqlite);
    assert!(detect(dir.path()).unwrap_err().to_string().contains("no regular file"));
    assert!(matches!(detect(&dir.path().join("none")), Err(LogError::Io(_))));
}

/// A beginning, then the same again and again, 2 GiB of it.
struct Endless {
    begin: Vec<u8>,
    again: &'static [u8],
    given: u64,
}

impl Endless {
    fn new(begin: &str, again: &'static str) -> Self {
        Self { begin: begin.into(), again: again.as_bytes(), given: 0 }
    }
}

impl Read for &mut Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let mut n = 0;
        while n < into.len() && self.given < 2 << 30 {
            let at = self.given as usize;
            into[n] = self.begin.get(at).copied().unwrap_or_else(|| self.again[(at - self.begin.len()) % self.again.len()]);
            n += 1;
            self.given += 1;
        }
        Ok(n)
    }
}

#[test]
fn two_gibibytes_are_refused_after_the_limit() {
    let limits = Limits { text_bytes: 1 << 20, record_bytes: 2 << 20, ..Limits::default() };
    let json = r#"{"eventTypes": [], "objectTypes": [], "#;
    type Reader = fn(&mut Endless, &Limits) -> Result<(), LogError>;
    let xes: Reader = |source, limits| xes::read(Input::xml(source, limits)?, limits, &mut Lines::default());
    let xml: Reader = |source, limits| ocel_xml::read(Input::xml(source, limits)?, limits, &mut Lines::default());
    let ocel: Reader = |source, limits| ocel_json::read(Input::records(source, limits)?, limits, None, &mut Lines::default());
    let cases: [(Reader, Endless, &str); 22] = [
        (xes, Endless::new("<log>\n<trace><string value='", "a"), "line 2, column 8: what begins here is longer than 1048576 bytes"),
        (xes, Endless::new("<log>\n<trace><string ", "a='b' "), "line 2, column 8: what begins"),
        (xes, Endless::new("<log>\n<", "a"), "line 2, column 1: what begins"),
        (xes, Endless::new("<log>\n<!--", "a"), "line 2, column 1: what begins"),
        (xes, Endless::new("<log>\n<trace>", "a"), "line 2, column 8: what begins"),
        (xes, Endless::new("<!DOCTYPE log [\n", "<!ENTITY a 'b'>"), "line 1, column 1: what begins"),
        (xes, Endless::new("<log>\n<trace>", "<int key='a' value='1'/>"), "line 2, column "),
        (xes, Endless::new("<log>", "<int key='a' value='1'/>"), "line 1, column "),
        (xes, Endless::new("<log><event/>", "<int key='a' value='1'/>"), "line 1, column "),
        (xes, Endless::new("<log>", "<extension name='a' prefix='b' uri='c'/>"), "line 1, column "),
        (xes, Endless::new("<log>", "<a>"), "line 1, column 195: nested deeper than 64"),
        (
            xml,
            Endless::new(
                "<log><objects><object id='a' type='b'><attributes><attribute name='a'>",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa&amp;",
            ),
            "line 1, column 51: a text is longer",
        ),
        (
            xml,
            Endless::new("<log><objects><object id='a' type='b'><objects>", "<object object-id='a' qualifier='b'/>"),
            "line 1, column 15: a record takes more",
        ),
        (
            xml,
            Endless::new("<log><object-types><object-type name='a'><attributes>", "<attribute name='a' type='string'/>"),
            "line 1, column ",
        ),
        (
            ocel,
            Endless::new(&format!("{json}\n\"events\": [{{\"id\": \""), "a"),
            "line 2, column 12: what begins here is longer than 2097152 bytes",
        ),
        (ocel, Endless::new("{\"ocel:events\": {\n\"", "a"), "line 2, column 1: what begins"),
        (ocel, Endless::new("{\"ocel:events\": {\n\"e\": {\"ocel:omap\": [", "\"a\","), "line 2, column "),
        (
            xml,
            Endless::new("<log><global/><events>\n<event><list key='omap'>", "<string value='a'/>"),
            "line 2, column 1: a record takes more",
        ),
        (
            xml,
            Endless::new("<log><global/><events>\n<event><list key='vmap'>", "<string key='k' value='a'/>"),
            "line 2, column 1: a record takes",
        ),
        (ocel, Endless::new(&format!("{json}\n\"unknown\": "), "[[],"), "line 2, column 12: what begins"),
        (ocel, Endless::new(&format!("{json}\n\"objects\": ["), "1"), "line 2, column 13: what begins"),
        (ocel, Endless::new("{\n\"", "a"), "line 2, column 1: what begins"),
    ];
    for (read, mut source, expected) in cases {
        let error = read(&mut source, &limits).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        // No more was read than the limit and what lies ready.
        assert!(source.given < (2 << 20) + (1 << 18), "{} bytes read: {error}", source.given);
    }
    // White space needs no memory, and a gz bomb of it only time.
    let mut white = Endless::new("", " ");
    let mut short = (&mut white).take(16 << 20);
    assert!(detect_text(&mut short).unwrap_err().to_string().contains("it is empty"));
}

#[test]
fn a_text_of_the_limit_is_read() {
    let limits = Limits { text_bytes: 100, ..Limits::default() };
    for (length, fits) in [(100, true), (101, false)] {
        let json = format!(
            r#"{{"objects": [{{"id": "{}", "type": "t"}}], "events": [], "eventTypes": [], "objectTypes": []}}"#,
            "a".repeat(length)
        );
        let read = ocel_json::read(Input::records(json.as_bytes(), &limits).unwrap(), &limits, None, &mut Lines::default());
        assert_eq!(read.is_ok(), fits);
        assert!(fits || read.unwrap_err().to_string() == "line 1, column 21: a string is longer than 100 bytes");
    }
    // A nested value becomes a text, though none of its own texts is long.
    for (items, fits) in [(49, true), (50, false)] {
        let nested = vec!["7"; items].join(",");
        let json = format!(
            r#"{{"objects": [{{"id": "a", "type": "t", "attributes": [{{"name": "n", "time": "2026-11-20T13:02:51Z", "value": [{nested}]}}]}}],
            "events": [], "eventTypes": [], "objectTypes": []}}"#
        );
        let read = ocel_json::read(Input::records(json.as_bytes(), &limits).unwrap(), &limits, None, &mut Lines::default());
        assert_eq!(read.is_ok(), fits);
        assert!(fits || read.unwrap_err().to_string().ends_with(": a nested value is longer than 100 bytes"));
    }
}

fn all_readers(bytes: &[u8], limits: &Limits) {
    let _ = detect_text(bytes);
    let mut lines = Lines::default();
    let _ = Input::xml(bytes, limits).map(|input| xes::read(input, limits, &mut lines));
    let _ = Input::xml(bytes, limits).map(|input| ocel_xml::read(input, limits, &mut lines));
    let types = Input::records(bytes, limits).and_then(|input| ocel_json::types(input, limits)).ok();
    let _ = Input::records(bytes, limits).map(|input| ocel_json::read(input, limits, types, &mut lines));
    if bytes.starts_with(b"SQLite format 3\0") {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        let _ = ocel_sqlite::read(file.path(), limits, &mut lines);
    }
}

fn fixtures() -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(fixture("")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| std::fs::read(path).unwrap()).collect()
}

proptest! {
    #[test]
    fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        all_readers(&bytes, &Limits::default());
    }

    #[test]
    fn no_mutation_panics(which in any::<prop::sample::Index>(), edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6), small: bool) {
        let all = fixtures();
        let mut bytes = all[which.index(all.len())].clone();
        for (at, other, byte, edit) in edits {
            if bytes.is_empty() {
                break;
            }
            let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => drop(bytes.drain(at.min(other)..at.max(other))),
                _ => {
                    let piece = bytes[at.min(other)..at.max(other)].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let limits = Limits { text_bytes: 60, record_bytes: 2000, depth: 9, definitions: 3 };
        let limits = if small { limits } else { Limits::default() };
        all_readers(&bytes, &limits);
        // How much of a damaged gz file comes out depends on how much was asked for.
        if !bytes.starts_with(&[0x1f, 0x8b]) {
            prop_assert_eq!(lines_of(&bytes, usize::MAX, &limits), lines_of(&bytes, 1, &limits));
        }
    }
}
