use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::*;
use crate::attribute::{Attribute, Value};
use crate::log::{Batches, CaseHeader, Counts, ObjectLog};
use crate::ocel::sqlite::write;
use crate::record::{BatchBuilder, Event, Object, Record, Relation};
use crate::validate::ocel_sqlite::check;

struct Log {
    types: Types,
    objects: Vec<Record<'static>>,
    events: Vec<Record<'static>>,
    /// Records in a batch.
    batch: usize,
}

fn batches<'a>(records: &'a [Record<'static>], size: usize) -> Batches<'a> {
    Box::new(records.chunks(size).map(|chunk| {
        let mut builder = BatchBuilder::default();
        for record in chunk {
            assert!(builder.push(record).is_none());
        }
        builder.finish().ok_or(LogError::Damaged)
    }))
}

impl ObjectLog for Log {
    fn types(&self) -> &Types {
        &self.types
    }
    fn objects(&self) -> Batches<'_> {
        batches(&self.objects, self.batch)
    }
    fn events(&self) -> Batches<'_> {
        batches(&self.events, self.batch)
    }
}

#[derive(Default)]
struct Kept {
    types: Types,
    records: Vec<Record<'static>>,
    findings: Vec<Finding>,
}

impl Sink for Kept {
    fn types(&mut self, types: Types) -> Result<(), LogError> {
        self.types.events.extend(types.events);
        self.types.objects.extend(types.objects);
        Ok(())
    }
    fn header(&mut self, _: CaseHeader) -> Result<(), LogError> {
        Err(LogError::Damaged)
    }
    fn record(&mut self, record: &Record<'_>) -> Result<(), LogError> {
        let owned = |attributes: &[Attribute<'_>]| attributes.iter().map(|a| a.clone().into_owned()).collect();
        let related = |relations: &[Relation<'_>]| {
            let one = |r: &Relation<'_>| relation(r.object.clone().into_owned(), r.qualifier.clone().into_owned());
            relations.iter().map(one).collect()
        };
        self.records.push(match record {
            Record::Object(o) => object(&o.id, &o.kind, owned(&o.attributes), related(&o.relations)),
            Record::Event(e) => event(&e.id, &e.kind, e.time_ns, owned(&e.attributes), related(&e.relations)),
            _ => return Err(LogError::Damaged),
        });
        Ok(())
    }
    fn finding(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

fn relation(object: impl Into<String>, qualifier: impl Into<String>) -> Relation<'static> {
    Relation { object: object.into().into(), qualifier: qualifier.into().into() }
}

fn object(id: &str, kind: &str, attributes: Vec<Attribute<'static>>, relations: Vec<Relation<'static>>) -> Record<'static> {
    Record::Object(Object { id: id.to_owned().into(), kind: kind.to_owned().into(), attributes, relations })
}

fn event(id: &str, kind: &str, time_ns: i64, attributes: Vec<Attribute<'static>>, relations: Vec<Relation<'static>>) -> Record<'static> {
    Record::Event(Event { id: id.to_owned().into(), kind: kind.to_owned().into(), time_ns, attributes, relations })
}

const NAMES: [&str; 9] = ["a b", "A B", "event", "object", "map_type", "\"; DROP TABLE event; --", "new\nline's", "🦀", ""];

/// Types and attributes with names that hurt, all kinds of values, changes, times with nanoseconds;
/// ids not in order.
fn hostile(count: usize) -> Log {
    let kinds = [ValueType::String, ValueType::Time, ValueType::Integer, ValueType::Float, ValueType::Boolean];
    let attributes: Vec<_> = ["te\"xt", "time", "select", "a'b", "🦀 flag"].into_iter().map(str::to_owned).zip(kinds).collect();
    let types: Vec<_> = NAMES.iter().map(|name| TypeDef { name: (*name).to_owned(), attributes: attributes.clone() }).collect();
    let values = |n: usize| {
        let values = [
            Value::String(format!("\u{0}'\"💥\n{n}").into()),
            Value::Time(i64::MIN + n as i64),
            Value::Integer(i64::MAX - n as i64),
            Value::Float(if n == 0 { f64::INFINITY } else { 0.1 + n as f64 }),
            Value::Boolean(n.is_multiple_of(2)),
        ];
        attributes.iter().zip(values).skip(n % 3).map(|((name, _), value)| Attribute::new(name.clone(), value)).collect::<Vec<_>>()
    };
    let mut objects = Vec::new();
    let mut events = Vec::new();
    for n in 0..count {
        let kind = NAMES[n % NAMES.len()];
        let mut changing = values(n);
        let last = changing.pop().unwrap();
        changing.extend([last.clone(), last.clone().since(-1), last.since(1_700_000_000_123_456_789)]);
        let id = |n: usize| format!("o'{}", n * 7919 % count);
        objects.push(object(
            &id(n),
            kind,
            changing,
            vec![relation(id(n * 3 + 1), "a"), relation(id(n * 3 + 1), ""), relation(id(n), "self")],
        ));
        let mut related = vec![relation(id(n), "ä"), relation(id(n + 1), "b\0c")];
        related.sort_by(|a, b| a.object.cmp(&b.object));
        events.push(event(&format!("e{}", n * 7919 % (count + 1)), kind, 1_700_000_000_000_000_001 + n as i64, values(n), related));
    }
    let sort = |relations: &mut Vec<Relation<'_>>| relations.sort_by(|a, b| (&a.object, &a.qualifier).cmp(&(&b.object, &b.qualifier)));
    for record in &mut objects {
        if let Record::Object(object) = record {
            sort(&mut object.relations);
        }
    }
    Log { types: Types { events: types.clone(), objects: types }, objects, events, batch: 17 }
}

fn object_id<'a>(record: &'a Record<'_>) -> &'a str {
    let Record::Object(object) = record else { panic!() };
    &object.id
}

fn written(log: &Log, dir: &Path) -> (PathBuf, Counts) {
    let path = dir.join("log # ?%.sqlite");
    let counts = write(log, &path).unwrap();
    (path, counts)
}

fn read_all(path: &Path) -> Result<Kept, LogError> {
    let mut kept = Kept::default();
    read(path, &Limits::default(), &mut kept)?;
    Ok(kept)
}

fn findings(path: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    check(path, &Limits::default(), &mut |finding| findings.push(finding)).unwrap();
    findings
}

#[test]
fn a_hostile_log_comes_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let log = hostile(600);
    let (path, counts) = written(&log, dir.path());
    let expected = Counts { events: 600, objects: 600, event_relations: 1200, object_relations: 1800, ..Counts::default() };
    assert_eq!(counts, expected);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
    let kept = read_all(&path).unwrap();
    assert_eq!(kept.findings, []);
    let sorted = |mut types: Vec<TypeDef>| {
        types.sort_by(|a, b| a.name.cmp(&b.name));
        types
    };
    assert_eq!(sorted(kept.types.events), sorted(log.types.events.clone()));
    assert_eq!(sorted(kept.types.objects), sorted(log.types.objects.clone()));
    // Objects are read in the order of their ids, events in the order in which they were written.
    let mut all = log.objects.clone();
    all.sort_by(|a, b| object_id(a).cmp(object_id(b)));
    all.extend(log.events.iter().cloned());
    for (read, written) in kept.records.iter().zip(&all) {
        assert_eq!(read, written);
    }
    assert_eq!(kept.records.len(), all.len());
    assert_eq!(findings(&path), []);
}

#[test]
fn the_same_log_gives_the_same_bytes_and_a_file_is_not_written_over() {
    let dir = tempfile::tempdir().unwrap();
    let log = hostile(600);
    let other = dir.path().join("other");
    write(&log, &other).unwrap();
    let (path, _) = written(&log, dir.path());
    assert!(std::fs::read(&path).unwrap() == std::fs::read(&other).unwrap());
    assert!(matches!(write(&log, &other), Err(LogError::Io(_))));
}

fn small() -> Log {
    let attributes = vec![("x".to_owned(), ValueType::String), ("y".to_owned(), ValueType::Float)];
    let def = |name: &str| TypeDef { name: name.to_owned(), attributes: attributes.clone() };
    Log {
        types: Types { events: vec![def("start")], objects: vec![def("job")] },
        objects: vec![object("o1", "job", vec![], vec![]), object("o2", "job", vec![Attribute::text("x", "v")], vec![relation("o1", "q")])],
        events: vec![
            event("e1", "start", 1, vec![], vec![relation("o1", "q"), relation("o2", "q")]),
            event("e2", "start", 2, vec![], vec![]),
        ],
        batch: 10,
    }
}

#[test]
fn what_the_form_cannot_hold_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = small();
    let mut nested = Attribute::text("x", "v");
    nested.children = vec![Attribute::integer("child", 1)];
    let list = Attribute::new("x", Value::List(vec![Attribute::integer("", 1), Attribute::text("k", "v")]));
    log.events = vec![
        event("e1", "start", 1, vec![nested, Attribute::new("y", Value::Float(f64::NAN))], vec![relation("o1", "q"), relation("o1", "q")]),
        event("e2", "start", 2, vec![list, Attribute::text("x", "second"), Attribute::integer("y", 3)], vec![]),
    ];
    let (path, counts) = written(&log, dir.path());
    // Children, NaN, a list, a second value, a whole number in a column of floats.
    assert_eq!((counts.simplified_values, counts.repeated, counts.event_relations), (5, 1, 1));
    let kept = read_all(&path).unwrap();
    let nested = Attribute::text("x", r#"{"type":"string","value":"v","children":[{"key":"child","type":"integer","value":1}]}"#);
    let list = r#"{"type":"list","values":[{"key":"","type":"integer","value":1},{"key":"k","type":"string","value":"v"}]}"#;
    let list = Attribute::text("x", list);
    assert_eq!(kept.records[2], event("e1", "start", 1, vec![nested], vec![relation("o1", "q")]));
    assert_eq!(kept.records[3], event("e2", "start", 2, vec![list, Attribute::new("y", Value::Float(3.0))], vec![]));
}

#[test]
fn a_log_without_records_and_names_that_collide() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = small();
    log.types.events[0].attributes = ["a", "A", "ocel_id", "x\0"].map(|name| (name.to_owned(), ValueType::String)).into();
    log.objects.clear();
    log.events.clear();
    let (path, counts) = written(&log, dir.path());
    assert_eq!(counts, Counts { replaced_characters: 1, simplified_values: 2, ..Counts::default() });
    let kept = read_all(&path).unwrap();
    assert_eq!((kept.records.len(), kept.findings.len()), (0, 0));
    let names: Vec<_> = kept.types.events[0].attributes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "A_2", "ocel_id_2", "x\\x00"]);
    assert_eq!(findings(&path), []);
}

#[test]
fn a_log_that_breaks_its_contract_is_refused_by_name() {
    let refusal = |log: &Log| {
        let dir = tempfile::tempdir().unwrap();
        write(log, &dir.path().join("x")).unwrap_err().to_string()
    };
    for batch in [1, 10] {
        let broken = |change: fn(&mut Log)| {
            let mut log = small();
            log.batch = batch;
            change(&mut log);
            refusal(&log)
        };
        let lost = broken(|log| log.events.push(event("e3", "start", 3, vec![], vec![relation("o9", "q")])));
        assert_eq!(lost, "\"e3\": it is related to the object \"o9\", which the log does not have");
        let lost = broken(|log| log.objects.push(object("o3", "job", vec![], vec![relation("o9", "q")])));
        assert_eq!(lost, "\"o3\": it is related to the object \"o9\", which the log does not have");
        let again = broken(|log| log.events.push(event("e1", "start", 3, vec![], vec![])));
        assert!(again.contains("the id \"e1\" is there twice"), "{again}");
        let kind = broken(|log| log.events.push(event("e3", "end", 3, vec![], vec![])));
        assert_eq!(kind, "event \"e3\": it is of the type \"end\", which the log does not have");
        let attribute = broken(|log| log.events.push(event("e3", "start", 3, vec![Attribute::text("z", "")], vec![])));
        assert_eq!(attribute, "\"e3\": it has the attribute \"z\", which its type \"start\" does not have");
    }
    let mut log = small();
    log.types.events[0].attributes = (0..2000).map(|n| (n.to_string(), ValueType::String)).collect();
    assert!(refusal(&log).contains("2000 attributes"));
}

/// A file as a careless tool would write it.
fn made(dir: &Path, sql: &str) -> PathBuf {
    let path = dir.join("made.sqlite");
    let database = Connection::open(&path).unwrap();
    database.execute_batch(sql).unwrap();
    path
}

const LIKE_PM4PY: &str = "
    CREATE TABLE event (ocel_id TEXT, ocel_type TEXT); CREATE TABLE object (ocel_id TEXT, ocel_type TEXT);
    CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT); CREATE TABLE object_map_type (ocel_type TEXT, ocel_type_map TEXT);
    CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);
    CREATE TABLE object_object (ocel_source_id TEXT, ocel_target_id TEXT, ocel_qualifier TEXT);
    CREATE TABLE event_Start (ocel_id TEXT, ocel_time TIMESTAMP, n INTEGER, free, 'ocel:activity' TEXT);
    CREATE TABLE object_Job (ocel_id TEXT, ocel_time TIMESTAMP, ocel_changed_field TEXT, state TEXT);
    INSERT INTO event_map_type VALUES ('start', 'Start'); INSERT INTO object_map_type VALUES ('job', 'Job');
    INSERT INTO object VALUES ('o1', 'job'); INSERT INTO object_Job VALUES ('o1', NULL, NULL, 'new');
    INSERT INTO object_Job VALUES ('o1', '2026-11-20 10:00:00+01:00', 'state', 'done'), ('o1', '2026-11-20T08:00:00Z', 'state', 'runs');
    INSERT INTO event VALUES ('e1', 'start'); INSERT INTO event_Start VALUES ('e1', '1970-01-01 00:00:01.5', 7, 0.5, 'start');
    INSERT INTO event_object VALUES ('e1', 'o1', 'q');";

#[test]
fn files_of_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = made(dir.path(), LIKE_PM4PY);
    let kept = read_all(&path).unwrap();
    let state = |value: &'static str| Attribute::text("state", value);
    let states = vec![state("new"), state("runs").since(1_795_161_600_000_000_000), state("done").since(1_795_165_200_000_000_000)];
    assert_eq!(kept.records[0], object("o1", "job", states, vec![]));
    let attributes = vec![Attribute::integer("n", 7), Attribute::new("free", Value::Float(0.5))];
    assert_eq!(kept.records[1], event("e1", "start", 1_500_000_000, attributes, vec![relation("o1", "q")]));
    assert_eq!(kept.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), ["not_an_attribute", "column_type"]);
    // Its tables have no keys at all.
    let found = findings(&path);
    let count = |rule| found.iter().filter(|finding| finding.rule == rule).count();
    assert_eq!((count("primary_key"), count("foreign_key"), count("column_type"), found.len()), (11, 8, 1, 21));
}

#[test]
fn each_rule_is_found() {
    for (sql, rule, place, records) in [
        ("INSERT INTO event VALUES ('e1', 'start')", "duplicate_event_id", "event \"e1\"", 2),
        ("INSERT INTO object VALUES ('o1', 'job')", "duplicate_object_id", "object \"o1\"", 2),
        ("INSERT INTO event VALUES ('e2', 'start')", "event_left_out", "event \"e2\"", 2),
        ("INSERT INTO object VALUES ('o2', 'job')", "no_row_in_type_table", "object \"o2\"", 3),
        ("INSERT INTO object VALUES ('o2', 'new')", "unknown_type", "table object, row 2", 3),
        ("INSERT INTO event_map_type VALUES ('start', 'X')", "duplicate_type", "table event_map_type", 2),
        ("INSERT INTO event_map_type VALUES ('end', 'X')", "type_without_table", "table event_map_type", 2),
        ("CREATE TABLE event_X (ocel_id)", "table_without_type", "table event_X", 2),
        ("INSERT INTO event_Start VALUES ('e2', '1970-01-01', 1, 1, '')", "row_without_id", "table event_Start, ocel_id \"e2\"", 3),
        ("INSERT INTO event_Start VALUES ('e1', '1970-01-01', 1, 1, '')", "duplicate_event_row", "table event_Start, ocel_id \"e1\"", 2),
        ("UPDATE event_Start SET ocel_time = 'soon'", "time", "table event_Start, row 1 (ocel_id \"e1\")", 1),
        ("UPDATE event_Start SET ocel_time = 5", "time", "table event_Start, row 1 (ocel_id \"e1\")", 1),
        ("UPDATE event_Start SET n = 'x'", "value_type", "table event_Start, row 1 (ocel_id \"e1\")", 2),
        ("UPDATE event_Start SET free = x'00'", "not_text", "table event_Start, row 1 (ocel_id \"e1\")", 2),
        ("UPDATE object_Job SET state = CAST(x'ff' AS TEXT)", "not_utf8", "table object_Job, row 1 (ocel_id \"o1\")", 2),
        ("UPDATE object_Job SET state = NULL", "changed_to_null", "table object_Job, row 2 (ocel_id \"o1\")", 2),
        ("INSERT INTO object_Job VALUES ('o1', '1970-01-02', 'y', 'z')", "changed_field", "table object_Job, row 4 (ocel_id \"o1\")", 2),
        ("INSERT INTO event VALUES (NULL, 'start')", "null_id", "table event, row 2", 2),
        ("INSERT INTO event VALUES (x'61', 'start')", "not_text", "table event, row 2", 2),
        ("UPDATE event_object SET ocel_qualifier = NULL", "null_qualifier", "table event_object, row 1", 2),
        ("INSERT INTO event_object VALUES ('e1', 'o1', 'q')", "repeated_relation", "event \"e1\"", 2),
        ("INSERT INTO event_object VALUES ('e9', 'o1', 'q')", "relation_without_source", "event \"e9\"", 2),
        ("INSERT INTO event_object VALUES ('e1', 'o9', 'q')", "dangling_relation", "table event_object, ocel_event_id \"e1\"", 2),
        ("INSERT INTO object_object VALUES ('o1', 'o9', 'q')", "dangling_relation", "table object_object, ocel_source_id \"o1\"", 2),
        ("DROP TABLE object_object", "missing_table", "table object_object", 2),
        ("DROP TABLE event_map_type", "missing_table", "table event_map_type", 2),
        ("ALTER TABLE event_object DROP COLUMN ocel_qualifier", "missing_column", "table event_object", 2),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = made(dir.path(), &format!("{LIKE_PM4PY}{sql}"));
        let found = findings(&path);
        assert!(found.iter().any(|finding| finding.rule == rule && finding.place == place), "{sql}: {found:#?}");
        assert_eq!(read_all(&path).unwrap().records.len(), records, "{sql}");
    }
}

#[test]
fn a_row_in_the_table_of_another_type_is_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE event_End (ocel_id TEXT, ocel_time TIMESTAMP); INSERT INTO event_map_type VALUES ('end', 'End');
        INSERT INTO event_End VALUES ('e1', '1970-01-01')";
    let path = made(dir.path(), &format!("{LIKE_PM4PY}{sql}"));
    assert!(findings(&path).iter().any(|finding| finding.rule == "row_in_other_table"));
    let kept = read_all(&path).unwrap();
    assert!(matches!(&kept.records[1], Record::Event(event) if event.time_ns == 1_500_000_000 && event.attributes.len() == 2));
}

#[test]
fn what_would_be_computed_is_refused() {
    for (sql, place) in [
        ("DROP TABLE event_Start; CREATE VIEW event_Start AS SELECT ocel_id, 1 AS ocel_time FROM event", "table event_Start"),
        (
            "DROP TABLE event; CREATE VIEW event AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT n AS ocel_id FROM c",
            "table event",
        ),
        ("DROP TABLE event_object; CREATE VIRTUAL TABLE event_object USING fts5(a)", "table event_object"),
        ("DROP TABLE event", "table event"),
        ("ALTER TABLE object RENAME COLUMN ocel_id TO id", "table object"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = made(dir.path(), &format!("{LIKE_PM4PY}{sql}"));
        let Err(LogError::RefusedAt { place: at, .. }) = read_all(&path) else { panic!("{sql}") };
        assert_eq!(at, place, "{sql}");
        assert!(findings(&path).iter().any(|finding| finding.rule == "unreadable" && finding.place == place), "{sql}");
    }
}

#[test]
fn a_generated_column_and_a_check_are_not_computed() {
    let dir = tempfile::tempdir().unwrap();
    let sql = "CREATE TABLE event_G (ocel_id TEXT PRIMARY KEY, ocel_time TIMESTAMP, v TEXT CHECK (length(hex(zeroblob(400000000))) > 0),
            big AS (hex(zeroblob(400000000)))); PRAGMA ignore_check_constraints = ON;
        INSERT INTO event_map_type VALUES ('g', 'G'); INSERT INTO event VALUES ('g1', 'g'); INSERT INTO event_G VALUES ('g1', '1970-01-01', 'v');";
    let path = made(dir.path(), &format!("{LIKE_PM4PY}{sql}"));
    let kept = read_all(&path).unwrap();
    assert_eq!(kept.records[2], event("g1", "g", 0, vec![Attribute::text("v", "v")], vec![]));
    assert!(findings(&path).iter().all(|finding| finding.rule != "unreadable" && finding.rule != "damaged"));
}

#[test]
fn a_database_in_use_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = made(dir.path(), LIKE_PM4PY);
    let database = Connection::open(&path).unwrap();
    database.pragma_update(None, "journal_mode", "WAL").unwrap();
    database.execute_batch("INSERT INTO object VALUES ('o2', 'job')").unwrap();
    assert!(read_all(&path).err().unwrap().to_string().starts_with("the file made.sqlite-wal: "));
    drop(database);
    assert_eq!(read_all(&path).unwrap().records.len(), 3);
}

/// It may have rows that are not in the database yet.
#[test]
fn a_journal_that_cannot_be_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = made(dir.path(), LIKE_PM4PY);
    for ending in ["-wal", "-journal"] {
        let beside = dir.path().join(format!("made.sqlite{ending}"));
        std::fs::create_dir(&beside).unwrap();
        let refusal = read_all(&path).err().unwrap().to_string();
        assert!(refusal.starts_with(&format!("the file made.sqlite{ending}: it cannot be read")), "{refusal}");
        std::fs::remove_dir(&beside).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&beside).status().unwrap().success());
        assert!(read_all(&path).is_err());
        std::fs::remove_file(&beside).unwrap();
    }
    assert_eq!(read_all(&path).unwrap().records.len(), 2);
}

#[test]
fn limits_hold() {
    let dir = tempfile::tempdir().unwrap();
    let many = "INSERT INTO event_object SELECT 'e1', 'o1', hex(value) || printf('%01000d', value) FROM generate(100)";
    let many = format!(
        "CREATE TABLE generate AS WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < 100) SELECT value FROM c;{}",
        many.replace("generate(100)", "generate")
    );
    let path = made(dir.path(), &format!("{LIKE_PM4PY}{many}"));
    let refusal = |limits: Limits| read(&path, &limits, &mut Kept::default()).unwrap_err().to_string();
    assert!(refusal(Limits { text_bytes: 900, ..Limits::default() }).starts_with("table event_object, row 2: a value of 10"));
    assert!(refusal(Limits { record_bytes: 10_000, ..Limits::default() }).starts_with("event \"e1\": all that belongs to it"));
    assert!(refusal(Limits { definitions: 0, ..Limits::default() }).starts_with("the schema"));
    read(&path, &Limits::default(), &mut Kept::default()).unwrap();
}

#[test]
fn findings_of_a_rule_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let many = "WITH RECURSIVE c(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < 1000)
        INSERT INTO event_object SELECT 'e1', 'o' || (value + 1), '' FROM c";
    let found = findings(&made(dir.path(), &format!("{LIKE_PM4PY}{many}")));
    let found: Vec<_> = found.iter().filter(|finding| finding.rule == "dangling_relation").collect();
    assert_eq!((found.len(), found.last().unwrap().message.as_str()), (101, "900 more of this kind"));
}

#[test]
fn damaged_files_end_in_an_error_or_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _) = written(&hostile(80), dir.path());
    // Page size 512 makes trees of many pages.
    let database = Connection::open(&path).unwrap();
    database.execute_batch("PRAGMA page_size = 512; VACUUM").unwrap();
    drop(database);
    let whole = std::fs::read(&path).unwrap();
    let damaged = dir.path().join("damaged");
    let mut refused = 0;
    let mut look = |bytes: &[u8]| {
        std::fs::write(&damaged, bytes).unwrap();
        let read = read_all(&damaged);
        refused += u32::from(matches!(read, Err(LogError::RefusedAt { .. })));
        assert!(matches!(read, Ok(_) | Err(LogError::RefusedAt { .. })), "{:?}", read.err());
        check(&damaged, &Limits::default(), &mut |_| {}).unwrap();
    };
    for part in 0..20 {
        look(&whole[..whole.len() * part / 20]);
    }
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for round in 0..150 {
        let mut bytes = whole.clone();
        for _ in 0..=round % 20 {
            // The first bytes of a page are where its cells are; the first page has the schema.
            let page = if round % 3 == 0 { 0 } else { next(whole.len() / 512) * 512 };
            let at = page + next(if round % 2 == 0 { 16 } else { 512 });
            bytes[at] = next(256) as u8;
        }
        look(&bytes);
    }
    assert!(refused > 20, "{refused}");
}

/// Pages that refer to each other: twenty lines of forty references each would be more rows than
/// atoms.
#[test]
fn an_endless_table_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = made(dir.path(), &format!("PRAGMA page_size = 512; {LIKE_PM4PY}"));
    let database = Connection::open(&path).unwrap();
    let pages: u32 = database.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let leaf: u32 = database.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'event_object'", [], |row| row.get(0)).unwrap();
    let sql = "UPDATE sqlite_schema SET rootpage = ?1 WHERE name = 'event_object'";
    database.pragma_update(None, "writable_schema", true).unwrap();
    database.execute(sql, [pages + 1]).unwrap();
    drop(database);
    let mut bytes = std::fs::read(&path).unwrap();
    for level in 1..=18 {
        let child = if level == 18 { leaf } else { pages + level + 1 };
        // An interior page of a table (file format, section 1.6): forty cells of a page number and a key.
        let mut page = vec![0; 512];
        let content = 512 - 40 * 5;
        page[0] = 5;
        page[3..5].copy_from_slice(&40_u16.to_be_bytes());
        page[5..7].copy_from_slice(&(content as u16).to_be_bytes());
        page[8..12].copy_from_slice(&child.to_be_bytes());
        for cell in 0..40 {
            let at = content + cell * 5;
            page[12 + cell * 2..][..2].copy_from_slice(&(at as u16).to_be_bytes());
            page[at..at + 4].copy_from_slice(&child.to_be_bytes());
            page[at + 4] = cell as u8 + 1;
        }
        bytes.extend(page);
    }
    bytes[28..32].copy_from_slice(&(pages + 18).to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    let error = read_all(&path).err().unwrap().to_string();
    assert!(error.starts_with("table event_object") && error.contains("pages refer to each other"), "{error}");
    assert!(findings(&path).iter().any(|finding| finding.place.starts_with("table event_object") && finding.message.contains("damaged")));
}

/// As PM4Py writes OCEL 1.0.
const FIRST_VERSION: &str = r#"
CREATE TABLE "EVENTS" ("ocel:eid" TEXT, "ocel:timestamp" TIMESTAMP, "ocel:activity" TEXT, "note" TEXT, "cost" REAL);
INSERT INTO "EVENTS" VALUES ('e9', '2026-03-01 10:00:00+00:00', 'place', 'first', 4.5), ('e1', '2026-03-01 10:00:00+00:00', 'pick', NULL, 2.0);
CREATE TABLE "RELATIONS" ("ocel:eid" TEXT, "ocel:activity" TEXT, "ocel:timestamp" TIMESTAMP, "ocel:oid" TEXT, "ocel:type" TEXT, "ocel:qualifier" TEXT);
INSERT INTO "RELATIONS" VALUES ('e9', 'place', '2026-03-01 10:00:00+00:00', 'o1', 'order', ''),
    ('e9', 'place', '2026-03-01 10:00:00+00:00', 'i1', 'item', NULL), ('e1', 'pick', '2026-03-01 10:00:00+00:00', 'i1', 'item', 'by');
CREATE TABLE "OBJECTS" ("ocel:oid" TEXT, "ocel:type" TEXT, "size" INTEGER);
INSERT INTO "OBJECTS" VALUES ('o1', 'order', NULL), ('i1', 'item', 7);"#;

#[test]
fn the_first_version_is_read_as_pm4py_writes_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = made(dir.path(), FIRST_VERSION);
    assert_eq!(known_tables(&path, &Limits::default()).unwrap(), Some("EVENTS, OBJECTS, RELATIONS"));
    assert_eq!(findings(&path), []);
    let mut nothing = |finding: Finding| panic!("{finding:?}");
    assert!(check(&path, &Limits::default(), &mut nothing).unwrap(), "it is OCEL 1.0");
    let kept = read_all(&path).unwrap();
    let def = |name: &str, attributes: &[(&str, ValueType)]| TypeDef {
        name: name.to_owned(),
        attributes: attributes.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect(),
    };
    let (note, cost) = (("note", ValueType::String), ("cost", ValueType::Float));
    assert_eq!(kept.types.events, [def("place", &[note, cost]), def("pick", &[cost])]);
    assert_eq!(kept.types.objects, [def("order", &[]), def("item", &[("size", ValueType::Integer)])]);
    let (ten, cost) = (1_772_359_200_000_000_000, |value| Attribute::new("cost", Value::Float(value)));
    let related = |list: &[(&str, &str)]| list.iter().map(|&(object, how)| relation(object, how)).collect::<Vec<_>>();
    let note = Attribute::new("note", Value::String("first".into()));
    assert_eq!(
        kept.records,
        [
            object("i1", "item", vec![Attribute::new("size", Value::Integer(7))], vec![]),
            object("o1", "order", vec![], vec![]),
            event("e9", "place", ten, vec![note, cost(4.5)], related(&[("o1", ""), ("i1", "")])),
            event("e1", "pick", ten, vec![cost(2.0)], related(&[("i1", "by")])),
        ]
    );
}

#[test]
fn faults_of_the_first_version_are_found() {
    let dir = tempfile::tempdir().unwrap();
    for (number, (change, rule)) in [
        (r#"DELETE FROM "OBJECTS" WHERE "ocel:oid" = 'o1'"#, "dangling_relation"),
        (r#"INSERT INTO "OBJECTS" VALUES ('o1', 'order', NULL)"#, "duplicate_object_id"),
        (r#"INSERT INTO "EVENTS" VALUES ('e1', '2026-03-01', 'x', NULL, 1)"#, "duplicate_event_id"),
        (r#"UPDATE "EVENTS" SET "ocel:timestamp" = 'soon'"#, "event_left_out"),
        (r#"DELETE FROM "EVENTS" WHERE "ocel:eid" = 'e1'"#, "relation_without_source"),
        (r#"ALTER TABLE "RELATIONS" DROP COLUMN "ocel:type""#, "missing_column"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = dir.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let path = made(&folder, &format!("{FIRST_VERSION}{change}"));
        let mut rules = Vec::new();
        assert!(check(&path, &Limits::default(), &mut |finding| rules.push(finding.rule)).unwrap());
        assert!(rules.contains(&rule), "{change}: {rules:?}");
    }
    let path = made(
        dir.path(),
        r#"CREATE TABLE "EVENTS" ("ocel:eid" TEXT); CREATE TABLE "OBJECTS" ("x" TEXT); CREATE TABLE "RELATIONS" ("x" TEXT)"#,
    );
    assert_eq!(known_tables(&path, &Limits::default()).unwrap(), None);
}
