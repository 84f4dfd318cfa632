//! The writers of text formats: small logs of hostile text against the bytes they must become, and
//! large ones that are cut in different places.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::io::{self, Read, Write};

use flate2::read::GzDecoder;
use flowmine_eventlog::attribute::{Attribute, Value, ValueType};
use flowmine_eventlog::flat::{Cell, MOST_COLUMNS, MOST_NAME_BYTES, Table};
use flowmine_eventlog::xes::extensions;
use flowmine_eventlog::{
    Batch, BatchBuilder, Batches, CaseHeader, CaseLog, Classifier, Counts, Event, LogError, Object, ObjectLog, Record, Relation, TypeDef,
    Types, csv, ocel, xes,
};
use quick_xml::events::Event as Xml;

/// A second: 2026-11-20T13:04:05Z.
const T: i64 = 1_795_179_845_000_000_000;

/// The attribute's value of the end of CDATA, markup, controls, a noncharacter, an emoji and a mark
/// that turns the direction of text.
const HOSTILE: &str = "]]>&<b a='\"'>\n\t\r\u{0}\u{1}\u{fffe}😀\u{200f}";

struct Cut {
    types: Types,
    header: CaseHeader,
    objects: Vec<Batch>,
    records: Vec<Batch>,
}

impl ObjectLog for Cut {
    fn types(&self) -> &Types {
        &self.types
    }
    fn objects(&self) -> Batches<'_> {
        Box::new(self.objects.iter().cloned().map(Ok))
    }
    fn events(&self) -> Batches<'_> {
        Box::new(self.records.iter().cloned().map(Ok))
    }
}

impl CaseLog for Cut {
    fn header(&self) -> &CaseHeader {
        &self.header
    }
    fn traces(&self) -> Batches<'_> {
        Box::new(self.records.iter().cloned().map(Ok))
    }
}

/// Cuts where a batch is full, and behind each record of which `also` says so.
fn cut(records: &[Record<'_>], also: impl Fn(usize, &Record<'_>) -> bool) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut builder = BatchBuilder::default();
    for (at, record) in records.iter().enumerate() {
        batches.extend(builder.push(record));
        if also(at, record) {
            batches.extend(std::mem::take(&mut builder).finish());
        }
    }
    batches.extend(builder.finish());
    batches
}

fn cases(records: &[Record<'_>]) -> Cut {
    Cut { types: Types::default(), header: CaseHeader::default(), objects: Vec::new(), records: cut(records, |_, _| false) }
}

fn written(write: impl FnOnce(&mut dyn Write) -> Result<Counts, LogError>) -> (String, Counts) {
    let mut out = Vec::new();
    let counts = write(&mut out).unwrap();
    (String::from_utf8(out).unwrap(), counts)
}

fn nested() -> Attribute<'static> {
    let mut file = Attribute::text("io:file", "/a&b");
    file.children = vec![Attribute::integer("io:read_bytes", 5)];
    Attribute::new("io:files", Value::List(vec![file]))
}

fn objects() -> Cut {
    let types = Types {
        events: vec![TypeDef {
            name: "started \"now\"".into(),
            attributes: vec![("n".into(), ValueType::Integer), ("io:files".into(), ValueType::List), ("f".into(), ValueType::Float)],
        }],
        objects: vec![
            TypeDef { name: "job".into(), attributes: vec![("state".into(), ValueType::String), ("ok".into(), ValueType::Boolean)] },
            TypeDef { name: "node".into(), attributes: Vec::new() },
        ],
    };
    let job = Object {
        id: "j\u{1}".into(),
        kind: "job".into(),
        attributes: vec![
            Attribute::text("state", HOSTILE),
            Attribute::text("state", " RUNNING  ").since(T + 1),
            Attribute::new("ok", Value::Boolean(true)),
            Attribute::text("state", "").since(T + 500_000_000),
        ],
        relations: vec![Relation { object: "n1".into(), qualifier: "ran <on>".into() }],
    };
    let node = Object { id: "n1".into(), kind: "node".into(), ..Object::default() };
    let event = Event {
        id: "e1".into(),
        kind: "started \"now\"".into(),
        time_ns: T,
        attributes: vec![
            Attribute::integer("n", i64::MIN),
            nested(),
            Attribute::new("f", Value::Float(f64::NEG_INFINITY)),
            Attribute::new("f", Value::Float(1e300)),
            Attribute::time("t", -1),
        ],
        relations: vec![
            Relation { object: "j\u{1}".into(), qualifier: "".into() },
            Relation { object: "n1".into(), qualifier: "=cmd()".into() },
        ],
    };
    let bare = Event { id: "e2".into(), kind: "started \"now\"".into(), time_ns: T + 1000, ..Event::default() };
    Cut {
        types,
        header: CaseHeader::default(),
        objects: cut(&[Record::Object(job), Record::Object(node)], |_, _| false),
        records: cut(&[Record::Event(event), Record::Event(bare)], |_, _| true),
    }
}

#[test]
fn ocel_json() {
    let (text, counts) = written(|out| ocel::json::write(&objects(), out));
    let expected = r#"{"eventTypes":[
{"name":"started \"now\"","attributes":[{"name":"n","type":"integer"},{"name":"io:files","type":"string"},{"name":"f","type":"float"}]}],
"objectTypes":[
{"name":"job","attributes":[{"name":"state","type":"string"},{"name":"ok","type":"boolean"}]},
{"name":"node","attributes":[]}],
"objects":[
{"id":"j\u0001","type":"job","attributes":[{"name":"state","value":"]]>&<b a='\"'>\n\t\r\u0000\u0001NONCHARACTER😀MARK","time":"1970-01-01T00:00:00Z"},{"name":"state","value":" RUNNING  ","time":"2026-11-20T13:04:05.000000001Z"},{"name":"ok","value":true,"time":"1970-01-01T00:00:00Z"},{"name":"state","value":"","time":"2026-11-20T13:04:05.500Z"}],"relationships":[{"objectId":"n1","qualifier":"ran <on>"}]},
{"id":"n1","type":"node","attributes":[],"relationships":[]}],
"events":[
{"id":"e1","type":"started \"now\"","time":"2026-11-20T13:04:05Z","attributes":[{"name":"n","value":-9223372036854775808},{"name":"io:files","value":"{\"type\":\"list\",\"values\":[{\"key\":\"io:file\",\"type\":\"string\",\"value\":\"/a&b\",\"children\":[{\"key\":\"io:read_bytes\",\"type\":\"integer\",\"value\":5}]}]}"},{"name":"f","value":"-INF"},{"name":"f","value":1e+300},{"name":"t","value":"1969-12-31T23:59:59.999999999Z"}],"relationships":[{"objectId":"j\u0001","qualifier":""},{"objectId":"n1","qualifier":"=cmd()"}]},
{"id":"e2","type":"started \"now\"","time":"2026-11-20T13:04:05.000001Z","attributes":[],"relationships":[]}]}
"#;
    assert_eq!(text, expected.replace("NONCHARACTER", "\u{fffe}").replace("MARK", "\u{200f}"));
    let expected = Counts { events: 2, objects: 2, event_relations: 2, object_relations: 1, simplified_values: 2, ..Counts::default() };
    assert_eq!(counts, expected);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["objects"][0]["attributes"][0]["value"], HOSTILE);
}

#[test]
fn ocel_xml() {
    let (text, counts) = written(|out| ocel::xml::write(&objects(), out));
    let hostile = "]]&gt;&amp;&lt;b a=&apos;&quot;&apos;&gt;&#10;&#9;&#13;\\x00\\x01\\xef\\xbf\\xbe😀\u{200f}";
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<log>
<object-types>
<object-type name="job"><attributes><attribute name="state" type="string"/><attribute name="ok" type="boolean"/></attributes></object-type>
<object-type name="node"><attributes></attributes></object-type>
</object-types>
<event-types>
<event-type name="started &quot;now&quot;"><attributes><attribute name="n" type="integer"/><attribute name="io:files" type="string"/><attribute name="f" type="float"/></attributes></event-type>
</event-types>
<objects>
<object id="j\x01" type="job"><attributes><attribute name="state" time="1970-01-01T00:00:00Z">HOSTILE</attribute><attribute name="state" time="2026-11-20T13:04:05.000000001Z">&#32;RUNNING&#32;&#32;</attribute><attribute name="ok" time="1970-01-01T00:00:00Z">true</attribute><attribute name="state" time="2026-11-20T13:04:05.500Z"></attribute></attributes><objects><relationship object-id="n1" qualifier="ran &lt;on&gt;"/></objects></object>
<object id="n1" type="node"><attributes></attributes><objects></objects></object>
</objects>
<events>
<event id="e1" type="started &quot;now&quot;" time="2026-11-20T13:04:05Z"><attributes><attribute name="n">-9223372036854775808</attribute><attribute name="io:files">{&quot;type&quot;:&quot;list&quot;,&quot;values&quot;:[{&quot;key&quot;:&quot;io:file&quot;,&quot;type&quot;:&quot;string&quot;,&quot;value&quot;:&quot;/a&amp;b&quot;,&quot;children&quot;:[{&quot;key&quot;:&quot;io:read_bytes&quot;,&quot;type&quot;:&quot;integer&quot;,&quot;value&quot;:5}]}]}</attribute><attribute name="f">-INF</attribute><attribute name="f">1e+300</attribute><attribute name="t">1969-12-31T23:59:59.999999999Z</attribute></attributes><objects><relationship object-id="j\x01" qualifier=""/><relationship object-id="n1" qualifier="=cmd()"/></objects></event>
<event id="e2" type="started &quot;now&quot;" time="2026-11-20T13:04:05.000001Z"><attributes></attributes><objects></objects></event>
</events>
</log>
"#;
    assert_eq!(text, expected.replace("HOSTILE", hostile));
    let expected = Counts {
        events: 2,
        objects: 2,
        event_relations: 2,
        object_relations: 1,
        simplified_values: 1,
        replaced_characters: 5,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
    well_formed(&text);
}

#[test]
fn empty_logs() {
    let empty = cases(&[]);
    let (text, counts) = written(|out| ocel::json::write(&empty, out));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json, serde_json::json!({"eventTypes": [], "objectTypes": [], "objects": [], "events": []}));
    assert_eq!(counts, Counts::default());
    well_formed(&written(|out| ocel::xml::write(&empty, out)).0);
    well_formed(&written(|out| xes::write(&empty, out)).0);
    assert_eq!(written(|out| csv::write(&empty, out)).0, "case:concept:name,concept:name,time:timestamp\r\n");
}

fn header() -> CaseHeader {
    CaseHeader {
        extensions: vec![extensions::CONCEPT.extension(), extensions::IO.extension()],
        trace_globals: vec![Attribute::text("concept:name", "")],
        event_globals: vec![Attribute::text("concept:name", "<unknown>"), Attribute::time("time:timestamp", 0)],
        classifiers: vec![
            Classifier { name: "Activity".into(), keys: vec!["concept:name".into(), "lifecycle:transition".into()] },
            Classifier { name: "Odd".into(), keys: vec!["concept:name".into(), "a key".into()] },
        ],
        attributes: vec![Attribute::text("concept:name", "a & b")],
    }
}

fn hostile_cases() -> Vec<Record<'static>> {
    let mut with_child = Attribute::text("k", "v");
    with_child.children = vec![Attribute::text("child", "\u{200f}")];
    let mut list = nested();
    list.children = vec![Attribute::new("note", Value::Id("x".into()))];
    let mut container = Attribute::new("box", Value::Container);
    container.children = vec![Attribute::new("f", Value::Float(f64::NAN))];
    vec![
        Record::Trace(vec![Attribute::text("concept:name", "case, \"1\""), Attribute::text("note", HOSTILE)]),
        Record::CaseEvent(vec![
            Attribute::text("concept:name", "=cmd()"),
            Attribute::time("time:timestamp", T + 1_000_000),
            Attribute::integer("n", -5),
            Attribute::text("minus", "-5.0e+3"),
            Attribute::text("formula", "-5+2"),
            Attribute::new("ok", Value::Boolean(false)),
            Attribute::new("x", Value::Float(0.5)),
            Attribute::new("identity:id", Value::Id("i1".into())),
        ]),
        Record::CaseEvent(vec![
            with_child,
            list,
            container,
            Attribute::new("x", Value::Float(f64::INFINITY)),
            Attribute::integer("x", 7),
            Attribute::text("", ""),
        ]),
        Record::CaseEvent(Vec::new()),
        Record::TraceEnd,
        Record::Trace(Vec::new()),
        Record::TraceEnd,
        Record::Trace(vec![Attribute::text("note", "'=1")]),
        Record::CaseEvent(vec![Attribute::text("n", "text"), Attribute::integer("x", (1 << 53) + 1), Attribute::text("case:note", "e")]),
        Record::TraceEnd,
    ]
}

#[test]
fn xes_document() {
    let log = Cut { header: header(), ..cases(&hostile_cases()) };
    let (text, counts) = written(|out| xes::write(&log, out));
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849.2016" xes.features="nested-attributes" xmlns="http://www.xes-standard.org/">
	<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
	<extension name="IO" prefix="io" uri="urn:uuid:eb9851ce-40ee-4542-b303-235c465a86da#/io.xesext"/>
	<global scope="trace">
		<string key="concept:name" value=""/>
	</global>
	<global scope="event">
		<string key="concept:name" value="&lt;unknown&gt;"/>
		<date key="time:timestamp" value="1970-01-01T00:00:00.000+00:00"/>
	</global>
	<classifier name="Activity" scope="event" keys="concept:name lifecycle:transition"/>
	<classifier name="Odd" scope="event" keys="&apos;concept:name&apos; &apos;a key&apos;"/>
	<string key="concept:name" value="a &amp; b"/>
	<trace>
		<string key="concept:name" value="case, &quot;1&quot;"/>
		<string key="note" value="]]&gt;&amp;&lt;b a=&apos;&quot;&apos;&gt;&#10;&#9;&#13;\x00\x01\xef\xbf\xbe😀MARK"/>
		<event>
			<string key="concept:name" value="=cmd()"/>
			<date key="time:timestamp" value="2026-11-20T13:04:05.001+00:00"/>
			<int key="n" value="-5"/>
			<string key="minus" value="-5.0e+3"/>
			<string key="formula" value="-5+2"/>
			<boolean key="ok" value="false"/>
			<float key="x" value="0.5"/>
			<id key="identity:id" value="i1"/>
		</event>
		<event>
			<string key="k" value="v">
				<string key="child" value="MARK"/>
			</string>
			<list key="io:files">
				<id key="note" value="x"/>
				<values>
					<string key="io:file" value="/a&amp;b">
						<int key="io:read_bytes" value="5"/>
					</string>
				</values>
			</list>
			<container key="box">
				<float key="f" value="NaN"/>
			</container>
			<float key="x" value="INF"/>
			<int key="x" value="7"/>
			<string key="" value=""/>
		</event>
		<event>
		</event>
	</trace>
	<trace>
	</trace>
	<trace>
		<string key="note" value="&apos;=1"/>
		<event>
			<string key="n" value="text"/>
			<int key="x" value="9007199254740993"/>
			<string key="case:note" value="e"/>
		</event>
	</trace>
</log>
"#;
    assert_eq!(text, expected.replace("MARK", "\u{200f}"));
    assert_eq!(counts, Counts { events: 4, traces: 3, replaced_characters: 3, ..Counts::default() });
    well_formed(&text);
}

#[test]
fn xes_for_readers_that_know_milliseconds_only() {
    let times = [T, T + 1_000_000, T + 1_999_999, -1, i64::MIN, i64::MAX];
    let event = Record::CaseEvent(times.iter().map(|&ns| Attribute::time("t", ns)).collect());
    let log = cases(&[Record::Trace(Vec::new()), event, Record::TraceEnd]);
    let (text, counts) = written(|out| xes::write_with(&log, xes::Options { milliseconds: true }, out));
    let written: Vec<_> = text.split("<date key=\"t\" value=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let expected = [
        "2026-11-20T13:04:05.000+00:00",
        "2026-11-20T13:04:05.001+00:00",
        "2026-11-20T13:04:05.001+00:00",
        "1969-12-31T23:59:59.999+00:00",
        "1677-09-21T00:12:43.146+00:00",
        "2262-04-11T23:47:16.854+00:00",
    ];
    assert_eq!(written, expected);
    assert_eq!(counts.simplified_values, 4);
}

#[test]
fn csv_table() {
    let (text, counts) = written(|out| csv::write(&cases(&hostile_cases()), out));
    let names: Vec<&str> = vec![
        "case:concept:name",
        "concept:name",
        "time:timestamp",
        "n",
        "minus",
        "formula",
        "ok",
        "x",
        "identity:id",
        "k",
        "io:files",
        "box",
        "",
        "case:note",
        "case:case:note",
    ];
    let list = r#"{"type":"list","values":[{"key":"io:file","type":"string","value":"/a&b","children":[{"key":"io:read_bytes","type":"integer","value":5}]}],"children":[{"key":"note","type":"id","value":"x"}]}"#;
    let hostile = HOSTILE.replace('\0', "\\x00");
    let case = "case, \"1\"";
    let expected: Vec<Vec<&str>> = vec![
        names,
        vec![
            case,
            "'=cmd()",
            "2026-11-20T13:04:05.001+00:00",
            "-5",
            "-5.0e+3",
            "'-5+2",
            "false",
            "0.5",
            "i1",
            "",
            "",
            "",
            "",
            "",
            &hostile,
        ],
        vec![
            case,
            "",
            "",
            "",
            "",
            "",
            "",
            "inf",
            "",
            "{\"type\":\"string\",\"value\":\"v\",\"children\":[{\"key\":\"child\",\"type\":\"string\",\"value\":\"\u{200f}\"}]}",
            list,
            "{\"type\":\"container\",\"children\":[{\"key\":\"f\",\"type\":\"float\",\"value\":\"NaN\"}]}",
            "",
            "",
            &hostile,
        ],
        vec![case, "", "", "", "", "", "", "", "", "", "", "", "", "", &hostile],
        vec!["case 3", "", "", "text", "", "", "", "9007199254740992.0", "", "", "", "", "", "e", "''=1"],
    ];
    // Rows with an apostrophe before a text say so.
    let marks = ["flowmine:escaped", "true", "", "", "true"];
    let expected: Vec<Vec<&str>> = expected.into_iter().zip(marks).map(|(row, mark)| [row, vec![mark]].concat()).collect();
    assert_eq!(read_csv(&text), expected);
    // An empty text is not a missing one.
    assert!(text.lines().next().unwrap().ends_with(",\"\",case:note,case:case:note,flowmine:escaped"), "{text}");
    assert!(text.contains(",\"\",,\"]]>"), "{text}");
    // Formulas: 3. Nested: 3. The second x. A whole number as text: 1, as a float: 1. A trace without events. Two traces have no name.
    let expected = Counts { events: 4, traces: 2, simplified_values: 10, replaced_characters: 3, renamed_cases: 2, ..Counts::default() };
    assert_eq!(counts, expected);
}

/// Two traces of one name are two cases, whoever reads the table.
#[test]
fn traces_of_one_name_are_cases_of_their_own_in_a_table() {
    let event = |name: &'static str| Record::CaseEvent(vec![Attribute::text("concept:name", name)]);
    let trace = |name: Option<&'static str>| Record::Trace(name.map(|name| Attribute::text("concept:name", name)).into_iter().collect());
    let records = [trace(Some("t")), event("a"), event("b"), Record::TraceEnd, trace(None), event("c"), Record::TraceEnd, trace(Some("t"))];
    let records: Vec<_> = records.into_iter().chain([event("d"), Record::TraceEnd]).collect();
    let (text, counts) = written(|out| csv::write(&cases(&records), out));
    let rows: Vec<String> = read_csv(&text).into_iter().skip(1).map(|row| format!("{} {}", row[0], row[1])).collect();
    assert_eq!(rows, ["t a", "t b", "case 2 c", "t#2 d"]);
    assert_eq!((counts.traces, counts.renamed_cases, counts.simplified_values), (3, 2, 0));
}

/// Records and fields of RFC 4180.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut characters = text.chars().peekable();
    let mut quoted = false;
    while let Some(c) = characters.next() {
        let row = rows.last_mut().unwrap();
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => row.last_mut().unwrap().push(characters.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\r' if !quoted => {
                assert_eq!(characters.next(), Some('\n'));
                rows.push(vec![String::new()]);
            }
            c => row.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![String::new()]));
    rows
}

#[test]
fn columns_are_typed() {
    let log = cases(&[
        Record::Trace(vec![Attribute::text("concept:name", "1"), Attribute::integer("priority", 1)]),
        Record::CaseEvent(vec![
            Attribute::integer("number", 1),
            Attribute::time("late", 1),
            Attribute::text("org:resource", "u"),
            Attribute::integer("mixed", 1),
        ]),
        Record::CaseEvent(vec![
            Attribute::new("number", Value::Float(0.5)),
            Attribute::text("mixed", "a"),
            Attribute::text("case:concept:name", "of the event"),
            Attribute::text("lifecycle:transition", "start"),
        ]),
        Record::TraceEnd,
    ]);
    let table = Table::of(&log).unwrap();
    let columns = &table.columns;
    let found: Vec<_> = columns.columns().iter().map(|column| (column.name.as_str(), column.kind)).collect();
    use ValueType::{Float, Integer, String, Time};
    let expected = [
        ("case:concept:name", String),
        ("concept:name", String),
        ("time:timestamp", Time),
        ("lifecycle:transition", String),
        ("org:resource", String),
        ("number", Float),
        ("late", Time),
        ("mixed", String),
        ("event:case:concept:name", String),
        ("case:priority", Integer),
    ];
    assert_eq!(found, expected);
    let mut first = None;
    let mut rows = 0;
    columns
        .rows(&log.records[0], |cells| {
            assert_eq!(cells.len(), expected.len());
            first = first.take().or(Some((cells[5].clone(), cells[9].clone()) == (Cell::Float(1.0), Cell::Integer(1))));
            rows += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((first, rows), (Some(true), 2));
    // Columns of another log.
    assert!(matches!(columns.rows(&cases(&hostile_cases()).records[0], |_| Ok(())), Err(LogError::RefusedAt { .. })));
}

/// The values that an object has from the beginning of its life are no changes, whenever that was.
#[test]
fn initial_values_keep_their_moment_in_a_database() {
    let attributes = ["state", "size"].map(|name| (name.to_owned(), ValueType::String)).into();
    let types = Types { events: Vec::new(), objects: vec![TypeDef { name: "job".into(), attributes }] };
    let value = |key: &'static str, text: &'static str, since| Attribute::text(key, text).since(since);
    let born = vec![value("state", "new", T), value("state", "old", T + 1_000_000_000), value("size", "5", T)];
    let always = vec![Attribute::text("state", "new"), value("size", "5", T), value("size", "4", -1)];
    let objects = [("born", born), ("always", always), ("bare", Vec::new())]
        .map(|(id, attributes)| Record::Object(Object { id: id.into(), kind: "job".into(), attributes, relations: Vec::new() }));
    let log = Cut { types, header: CaseHeader::default(), objects: cut(&objects, |_, _| false), records: Vec::new() };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("log.sqlite");
    ocel::sqlite::write(&log, &file).unwrap();
    let database = rusqlite::Connection::open(&file).unwrap();
    let mut rows = database.prepare("SELECT ocel_id, ocel_time, ocel_changed_field, state, size FROM object_job ORDER BY 1, 2, 3").unwrap();
    let cell = |row: &rusqlite::Row<'_>, at: usize| row.get::<_, Option<String>>(at).unwrap().unwrap_or_else(|| "-".to_owned());
    let rows = rows.query_map([], |row| Ok([0, 1, 2, 3, 4].map(|at| cell(row, at)).join(" "))).unwrap();
    assert_eq!(
        rows.map(Result::unwrap).collect::<Vec<_>>(),
        [
            "always 1969-12-31T23:59:59.999999999+00:00 size - 4",
            "always 1970-01-01T00:00:00+00:00 - new -",
            "always 2026-11-20T13:04:05+00:00 size - 5",
            "bare 1970-01-01T00:00:00+00:00 - - -",
            "born 2026-11-20T13:04:05+00:00 - new 5",
            "born 2026-11-20T13:04:06+00:00 state old -",
        ]
    );
}

/// Traces so long that some go over three batches, with empty ones and nameless ones between.
fn long_cases() -> Vec<Record<'static>> {
    let mut records = Vec::new();
    for case in 0..15_i64 {
        let name = (case % 7 != 3).then(|| Attribute::text("concept:name", format!("case {case}")));
        // A batch ends behind the head of a trace without events.
        let note = (case == 9).then(|| Attribute::text("note", "n".repeat(300_000)));
        records.push(Record::Trace(name.into_iter().chain([Attribute::integer("priority", case)]).chain(note).collect()));
        let events = if case % 5 == 4 { 0 } else { (case * case * 29) % 900 };
        for event in 0..events {
            records.push(Record::CaseEvent(vec![
                Attribute::text("concept:name", HOSTILE.repeat((event % 40) as usize)),
                Attribute::time("time:timestamp", T + event * 1_000_003),
                Attribute::integer(format!("key {}", event % (case + 1)), event),
            ]));
        }
        records.push(Record::TraceEnd);
    }
    records
}

#[test]
fn where_batches_are_cut_does_not_show() {
    type Write = fn(&Cut, &mut dyn io::Write) -> Result<Counts, LogError>;
    let same = |name: &str, logs: &[Cut], write: Write| {
        let mut results = logs.iter().map(|log| {
            let mut out = Vec::new();
            (write(log, &mut out).unwrap(), out)
        });
        let first = results.next().unwrap();
        for (at, result) in results.enumerate() {
            assert!(result == first, "{name}: log {at}: {:?} and {:?}", result.0, first.0);
        }
        first
    };
    let records = long_cases();
    let log = |also: fn(usize, &Record<'_>) -> bool| Cut { records: cut(&records, also), ..cases(&[]) };
    // The first twice, for two runs over the same log.
    let logs = [log(|_, _| false), log(|_, _| false), log(|_, record| *record == Record::TraceEnd), log(|at, _| at == 1000)];
    assert!(logs[0].records.len() > 6);
    assert!(logs[0].records.windows(3).any(|three| {
        let open: Vec<_> = three.iter().map(|batch| batch.open_trace().unwrap()).collect();
        open[1].is_some() && open[1] == open[2]
    }));
    let (counts, plain) = same("xes", &logs, |log, out| xes::write(log, out));
    assert_eq!(counts.traces, 15);
    let (packed_counts, packed) = same("xes.gz", &logs[1..3], |log, out| xes::gzip::write(log, out));
    assert_eq!(packed_counts, counts);
    let mut decoder = GzDecoder::new(packed.as_slice());
    let mut back = Vec::new();
    decoder.read_to_end(&mut back).unwrap();
    assert!(back == plain && decoder.into_inner().is_empty());
    // What begins in the middle of a trace has to know it: only cuts that the builder made, or between traces.
    let (flat, _) = same("csv", &logs[..3], |log, out| csv::write(log, out));
    let without_events = records.windows(2).filter(|two| matches!(two, [Record::Trace(_), Record::TraceEnd])).count() as u64;
    assert_eq!((flat.events, flat.traces), (counts.events, 15 - without_events));
    assert!(without_events >= 3);

    let objects: Vec<_> =
        (0..4500).map(|at: i64| Record::Object(Object { id: format!("o{at}").into(), kind: "job".into(), ..Object::default() })).collect();
    let events: Vec<_> = (0..4500)
        .map(|at: i64| {
            let relations = (0..at % 9).map(|to| Relation { object: format!("o{to}").into(), qualifier: HOSTILE.into() }).collect();
            Record::Event(Event { id: format!("e{at}").into(), kind: "a".into(), time_ns: T + at, attributes: Vec::new(), relations })
        })
        .collect();
    let log = |also: fn(usize, &Record<'_>) -> bool| Cut { objects: cut(&objects, also), records: cut(&events, also), ..cases(&[]) };
    let logs = [log(|_, _| false), log(|_, _| false), log(|at, _| at % 100 == 0), log(|at, _| at == 0)];
    let (json, _) = same("json", &logs, |log, out| ocel::json::write(log, out));
    let (xml, _) = same("xml", &logs, |log, out| ocel::xml::write(log, out));
    assert_eq!((json.events, json.objects, json.event_relations), (4500, 4500, 18_000));
    assert_eq!(Counts { replaced_characters: 3 * 18_000, ..json }, xml);
}

#[test]
fn what_is_refused() {
    let object = Record::Object(Object::default());
    let misplaced = Cut { objects: cut(&[Record::TraceEnd], |_, _| true), records: cut(&[object], |_, _| true), ..cases(&[]) };
    for result in [
        ocel::json::write(&misplaced, &mut io::sink()),
        ocel::xml::write(&misplaced, &mut io::sink()),
        xes::write(&misplaced, &mut io::sink()),
        csv::write(&misplaced, &mut io::sink()),
    ] {
        assert!(matches!(result, Err(LogError::RefusedAt { .. })), "{result:?}");
    }
    let wide: Vec<_> = (0..=MOST_COLUMNS).map(|at| Record::CaseEvent(vec![Attribute::integer(format!("k{at}"), 1)])).collect();
    assert!(matches!(csv::write(&cases(&wide), &mut io::sink()), Err(LogError::RefusedAt { .. })));
    assert!(csv::write(&cases(&wide[1..]), &mut io::sink()).is_ok());
    let long = [Record::CaseEvent(vec![Attribute::integer("k".repeat(MOST_NAME_BYTES + 1), 1)])];
    assert!(matches!(csv::write(&cases(&long), &mut io::sink()), Err(LogError::RefusedAt { .. })));

    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let log = cases(&long_cases());
    for result in [xes::write(&log, &mut Full), xes::gzip::write(&log, &mut Full), csv::write(&log, &mut Full)] {
        assert!(matches!(result, Err(LogError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe));
    }
}

/// Reads the document to its end and resolves what stands in it, with all the checks that the
/// parser has.
fn well_formed(text: &str) {
    let mut reader = quick_xml::Reader::from_str(text);
    reader.config_mut().enable_all_checks(true);
    let mut depth = 0;
    loop {
        match reader.read_event().unwrap() {
            Xml::Start(element) => {
                depth += 1;
                element.attributes().for_each(|attribute| drop(attribute.unwrap()));
            }
            Xml::Empty(element) => element.attributes().for_each(|attribute| drop(attribute.unwrap())),
            Xml::End(_) => depth -= 1,
            Xml::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0);
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(allowed));
}
