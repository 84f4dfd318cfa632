//! Tables as logs, in several forms.

use std::path::{Path, PathBuf};

use flowmine_activity_log::{ActivityLog, BytesFrom, EventRow, InstanceRow, LogBuilder, Measure, Names, Status, Transition, UNKNOWN};
use proptest::prelude::*;

use super::*;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../logs/tests/fixtures/tables")
}

fn csv(text: &str) -> ReadTable {
    read_csv(text.as_bytes(), &TableOptions::default()).unwrap()
}

/// The same log with names in the order in which instances have them.
fn in_usual_numbers(mut log: ActivityLog) -> ActivityLog {
    fn renumber(codes: &mut [u32], names: &mut Names) {
        let mut column = columns::Coded { codes: codes.to_vec(), names: std::mem::take(names) };
        columns::in_order_of_rows(&mut column);
        codes.copy_from_slice(&column.codes);
        *names = column.names;
    }
    renumber(&mut log.instances.activity, &mut log.activities);
    renumber(&mut log.instances.resource, &mut log.resources);
    log.attributes.iter_mut().for_each(|attribute| renumber(&mut attribute.of, &mut attribute.names));
    log
}

#[test]
fn every_encoding_gives_the_same_log() {
    let options = TableOptions::default();
    let expected = read(&fixtures().join("log.csv"), &options).unwrap();
    assert_eq!(expected.notes, [""; 0]);
    let log = &expected.log;
    assert_eq!((log.len(), log.cases().unwrap().len()), (15, 5));
    assert_eq!((log.left_out.unnamed, log.left_out.without_case, log.left_out.events_without_time), (1, 1, 1));
    let mut seen = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "parquet") {
            seen += 1;
            let table = read(&path, &options).unwrap_or_else(|error| {
                panic!("{}: {error} {:?}", path.display(), std::error::Error::source(&error).map(ToString::to_string))
            });
            assert_eq!(table, expected, "{}", path.display());
        }
    }
    assert_eq!(seen, 15);
}

#[test]
fn damaged_files_are_errors_or_logs_but_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.parquet");
    for name in ["log-snappy.parquet", "log-plain.parquet", "log-delta.parquet", "log-zstd-v2.parquet", "log-spill.parquet"] {
        let whole = std::fs::read(fixtures().join(name)).unwrap();
        let mut refused = 0;
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            std::fs::write(&path, &bytes).unwrap();
            refused += usize::from(read(&path, &TableOptions::default()).is_err());
        }
        for end in (4..whole.len()).step_by(97) {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(read(&path, &TableOptions::default()).is_err());
        }
        assert!(refused > 10, "{name}: {refused}");
    }
}

#[test]
fn columns_are_found_or_named() {
    let shop = "Case ID;Activity;Complete Timestamp;Resource\r\n1;a;2026-01-01 00:00:00;ann\r\n";
    let log = csv(shop).log;
    assert_eq!((log.len(), log.resources.get(0), log.activity(0)), (1, "ann", "a"));
    // As tables of predictive monitoring, of simulators and of spreadsheets have them.
    for header in [
        "CaseID,ActivityID,CompleteTimestamp",
        "caseid,task,end_timestamp",
        "id_case,activity,EndTime",
        "Case Number,Activity Label,Time Stamp",
    ] {
        let log = csv(&format!("{header}\n7,a,2026-01-01 00:00:00\n7,b,2026-01-02 00:00:00\n")).log;
        assert_eq!((log.len(), log.cases().unwrap().len(), log.activity(1)), (2, 1, "b"), "{header}");
    }
    let names = csv("ActivityID,Activity,case-id,time\n1,pay,7,2026-01-01\n").log;
    assert_eq!(names.activity(0), "pay", "a name goes before its number");
    assert!(
        read_csv(
            "#,activity,time\n7,a,2026-01-01\n".as_bytes(),
            &TableOptions { case_column: Some("%".into()), ..TableOptions::default() }
        )
        .is_err()
    );
    let error = read_csv("who;what;when\n1;a;2026-01-01".as_bytes(), &TableOptions::default()).unwrap_err();
    let text = std::error::Error::source(&error).unwrap().to_string();
    let expected = "no column is the case: name one with --case-column (most tables need --case-column, --activity-column and \
                    --timestamp-column). The columns are \"who\", \"what\", \"when\"";
    assert_eq!(text, expected);
    let named = |case: &str, activity: &str| TableOptions {
        case_column: Some(case.into()),
        activity_column: Some(activity.into()),
        timestamp_column: Some("when".into()),
        ..TableOptions::default()
    };
    let table = read_csv("who;what;when;how\n1;a;2026-01-01;x\n1;b;2026-01-02;\n".as_bytes(), &named("who", "what+how")).unwrap();
    assert_eq!(table.log.activities.iter().collect::<Vec<_>>(), ["a+x", "b"]);
    assert!(read_csv("who;what;when\n".as_bytes(), &named("whom", "what")).is_err());
    assert!(is_table(None, b"\xef\xbb\xbf\"case_id\"\tactivity\n") && is_table(Some(Path::new("x.CSV.gz")), b""));
    assert!(is_table(None, b"PAR1") && !is_table(Some(Path::new("x.xes")), b"<?xml") && !is_table(None, b"a,b\n"));
}

#[test]
fn an_apostrophe_is_ours_only_in_rows_that_say_so() {
    let text = "case,activity,timestamp,flowmine:escaped\n1,'=a,2026-01-01,true\n1,'=a,2026-01-02,\n1,''=a,2026-01-03,true\n1,'b,2026-01-04,true\n";
    assert_eq!(csv(text).log.activities.iter().collect::<Vec<_>>(), ["=a", "'=a", "'b"]);
    let elsewhere = text.replace(":escaped", ":other");
    assert_eq!(csv(&elsewhere).log.activities.iter().collect::<Vec<_>>(), ["'=a", "''=a", "'b"]);
}

#[test]
fn rows_that_are_none_are_told_and_nothing_else_is_lost() {
    let text = "\u{feff}case,activity,timestamp,read_bytes\n1,a,2026-01-01,5\n1,b,never,x\n\n1,c,1767312000,1,2\n\n2,\"d \"\"e\"\"\n,f\",2026-01-03T00:00:00Z\n\
        2,'=g,2026-01-04,-3\n2,\"h,2026-01-05,1\n2,i,2026-01-06,9223372036854775808\n";
    let table = csv(text);
    let log = &table.log;
    assert_eq!(log.activities.iter().collect::<Vec<_>>(), ["a", "b", "d \"e\"\n,f", "'=g", "i"]);
    assert_eq!(table.bad_rows, 2);
    assert_eq!(log.left_out.bad_numbers, 3);
    assert_eq!(log.left_out.events_without_time, 1);
    assert_eq!(
        table.notes,
        [
            "2 lines are no rows and are left out: line 5: 5 fields for 4 columns; line 10: a quote is not closed",
            "1 row has fewer fields than there are columns: line 7",
            "1 value of \"timestamp\" is no time: line 3, column 3 has \"never\"",
            "2 values of \"read_bytes\" are no whole numbers below 2⁶³: line 3, column 4 has \"x\"; line 11, column 4 has \"9223372036854775808\"",
        ]
    );
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    assert_eq!(read_csv(&packed.finish().unwrap()[..], &TableOptions::default()).unwrap(), table);
    assert!(read_csv("case,activity,timestamp\n1,a,soon\n".as_bytes(), &TableOptions::default()).is_err());
    for text in ["", "\n", "PAR1", "\u{ff}\u{fe}"] {
        assert!(read_csv(text.as_bytes(), &TableOptions::default()).is_err());
    }
}

#[test]
fn objects_have_their_events() {
    let rows = "ocel:eid,ocel:activity,ocel:timestamp,ocel:oid,ocel:type\n\
        e2,pay,2026-01-02,o1,order\ne1,place,2026-01-01,o1,order\ne1,place,2026-01-01,i1,item\ne1,place,2026-01-01,i2,item\n\
        e2,pay,2026-01-02,o1,order\ne3,wait,2026-01-03,,\n";
    let log = csv(rows).log;
    assert_eq!((0..3).map(|at| log.activity(at)).collect::<Vec<_>>(), ["place", "pay", "wait"]);
    assert_eq!(log.events.record, [1, 0, 5]);
    let of = |at: usize| {
        let group = &log.groups[at];
        (0..group.len()).map(|case| (group.names.get(case as u32), group.of(case).collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    assert_eq!((log.groups[0].kind.as_str(), of(0)), ("item", vec![("i1", vec![0]), ("i2", vec![0])]));
    assert_eq!((log.groups[1].kind.as_str(), of(1)), ("order", vec![("o1", vec![0, 1])]));
    assert_eq!(log.left_out.without_case, 1);
    let lists = "ocel:eid;ocel:activity;ocel:timestamp;ocel:type:order;ocel:type:item\n\
        e1;place;2026-01-01;['o1'];\"['i1', 'i2']\"\ne2;pay;2026-01-02;\"[\"\"o1\"\"]\";[]\ne3;wait;2026-01-03;;\n";
    let flat = csv(lists).log;
    assert_eq!((&flat.groups, flat.left_out), (&log.groups, log.left_out));
    let references = "id,activity,timestamp,OT:order,ot:item,billable\n\
        e1,place,2026-01-01T08:00:00+0000,o1,\"i1#part-of{\"\"price\"\": \"\"5\"\"}/i2\",no\ne2,pay,2026-01-02T08:00:00+0000,o1#paid,,no\n\
        ,,2026-01-02T09:00:00+0000,,\"i1{\"\"price\"\": \"\"50\"\"}\",\no1,O2O,,,i1#has/i9#has,\ne3,wait,2026-01-03T08:00:00+0000,,,\n";
    let of_references = csv(references);
    assert_eq!((&of_references.log.groups, of_references.log.left_out), (&log.groups, log.left_out));
    assert_eq!(of_references.log.events.record, [0, 1, 4]);
    assert!(of_references.notes.iter().any(|note| note.starts_with("2 rows are of objects alone")), "{:?}", of_references.notes);
    let bare = "ocel:eid,ocel:activity,ocel:timestamp,ocel:type:box\ne1,ship,2026-01-01,b1#a/b2#a\n";
    let bare = csv(bare);
    assert_eq!(bare.log.groups[0].len(), 1);
    assert!(bare.notes.iter().any(|note| note.contains("is the name of one object")), "{:?}", bare.notes);
}

/// A row of a table in its simplest form.
#[derive(Debug, Clone)]
struct Line {
    case: Option<u8>,
    activity: u8,
    start: Option<i64>,
    end: Option<i64>,
    transition: Option<usize>,
    instance: Option<u8>,
    resource: Option<u8>,
    bytes: Option<i64>,
}

const TRANSITIONS: [&str; 8] = ["start", "complete", "schedule", "ate_abort", "suspend", "COMPLETE", "withdraw", "other"];

fn line() -> impl Strategy<Value = Line> {
    use proptest::option::weighted;
    let head = (weighted(0.95, 0..4u8), 0..3u8, weighted(0.8, 0..6i64), weighted(0.9, 0..6i64));
    (head, weighted(0.8, 0..8usize), weighted(0.3, 0..2u8), weighted(0.5, 0..3u8), weighted(0.5, -1..5i64)).prop_map(
        |((case, activity, start, end), transition, instance, resource, bytes)| Line {
            case,
            activity,
            start,
            end,
            transition,
            instance,
            resource,
            bytes,
        },
    )
}

fn text<T: ToString>(value: Option<T>, before: &str) -> String {
    value.map_or_else(String::new, |value| format!("{before}{}", value.to_string()))
}

/// What the documentation says, as simply as it can be done.
fn naive(lines: &[Line], with_start: bool, with_lifecycle: bool) -> ActivityLog {
    let mut builder = LogBuilder::new(&["resource".to_owned()]);
    let mut cases: Vec<u8> = Vec::new();
    lines.iter().filter_map(|line| line.case).for_each(|case| {
        if !cases.contains(&case) {
            cases.push(case)
        }
    });
    let mut records = Vec::new();
    for case in cases {
        let mut rows: Vec<(usize, &Line)> = lines.iter().enumerate().filter(|(_, line)| line.case == Some(case)).collect();
        if !with_start {
            let places: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].1.end.is_some()).collect();
            let mut timed: Vec<(usize, &Line)> = places.iter().map(|&at| rows[at]).collect();
            timed.sort_by_key(|(row, line)| (line.end, *row));
            places.iter().zip(timed).for_each(|(&at, row)| rows[at] = row);
        }
        for (row, line) in rows {
            records.push(row as u32);
            let activity = builder.activity(&format!("a{}", line.activity));
            let resource = line.resource.map(|resource| builder.resource(&format!("r{resource}")));
            let attribute = line.resource.map(|resource| (0, builder.value(0, &format!("r{resource}"))));
            let measures: Vec<(Measure, i64)> = line.bytes.map(|bytes| (Measure::ReadBytes, bytes)).into_iter().collect();
            let bytes_from = if line.bytes.is_some_and(|bytes| bytes >= 0) { BytesFrom::Log } else { BytesFrom::Nobody };
            let attributes: Vec<(usize, u32)> = attribute.into_iter().collect();
            let ns = |time: Option<i64>| time.map_or(UNKNOWN, |time| time * 1_000_000_000);
            if with_start {
                builder
                    .instance(&InstanceRow {
                        activity,
                        ready_ns: UNKNOWN,
                        start_ns: ns(line.start),
                        end_ns: ns(line.end),
                        resource,
                        status: Status::Unknown,
                        attempt: 0,
                        measures: &measures,
                        bytes_from,
                        attributes: &attributes,
                    })
                    .unwrap();
                continue;
            }
            let instance = line.instance.map(|id| builder.instance_id(&format!("i{id}")));
            let transition = line.transition.filter(|_| with_lifecycle).map_or(Transition::Untold, |at| Transition::parse(TRANSITIONS[at]));
            builder
                .event(&EventRow {
                    activity,
                    time_ns: ns(line.end),
                    transition,
                    instance: instance.filter(|_| with_lifecycle),
                    resource,
                    attempt: 0,
                    measures: &measures,
                    bytes_from,
                    attributes: &attributes,
                })
                .unwrap();
        }
        builder.end_case(&format!("c{case}")).unwrap();
    }
    builder.left_out().without_case += lines.iter().filter(|line| line.case.is_none()).count() as u64;
    // Those of lines that are no instance are counted when they are read.
    let is_none = |line: &&Line| line.case.is_none() || with_start && line.start.is_none() && line.end.is_none();
    builder.left_out().bad_numbers += lines.iter().filter(is_none).filter(|line| line.bytes == Some(-1)).count() as u64;
    if !with_start && records.iter().enumerate().any(|(at, &row)| at as u32 != row) {
        builder.records(&records);
    }
    let mut log = builder.finish();
    log.words.instance = "event".to_owned();
    log.words.ready = "scheduled".to_owned();
    in_usual_numbers(log)
}

proptest! {
    #[test]
    fn it_is_what_the_documentation_says(lines in prop::collection::vec(line(), 0..30), with_start: bool, with_lifecycle: bool) {
        let with_lifecycle = with_lifecycle && !with_start;
        let mut table = "case,activity,timestamp,resource,read_bytes,".to_owned();
        table.push_str(if with_start { "start,x,concept:instance\n" } else if with_lifecycle { "x,lifecycle_id,concept:instance\n" } else { "x,y,z\n" });
        for line in &lines {
            let time = |time: Option<i64>| text(time.map(|time| format!("1970-01-01T00:00:0{time}Z")), "");
            let fields = [
                text(line.case, "c"), format!("a{}", line.activity), time(line.end), text(line.resource, "r"), text(line.bytes, ""),
                time(line.start), text(line.transition.map(|at| TRANSITIONS[at]), ""), text(line.instance, "i"),
            ];
            table.push_str(&fields.join(","));
            table.push('\n');
        }
        let options = TableOptions { keep: vec!["resource".to_owned()], ..TableOptions::default() };
        let mut read = read_csv(table.as_bytes(), &options).unwrap().log;
        if with_start {
            // The simple way does not know rows of moments.
            let record = std::mem::take(&mut read.events.record);
            prop_assert_eq!(record.len(), read.events.time_ns.len());
            for (row, time) in record.into_iter().zip(&read.events.time_ns) {
                let line = &lines[row as usize];
                prop_assert!([line.start, line.end].contains(&Some(time / 1_000_000_000)));
            }
        }
        prop_assert_eq!(in_usual_numbers(read), naive(&lines, with_start, with_lifecycle));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(prop_oneof![Just(b','), Just(b'"'), Just(b'\n'), Just(b'\r'), Just(b'1'), any::<u8>()], 0..200)) {
        let mut table = b"case,activity,timestamp,read_bytes\n".to_vec();
        table.extend(&bytes);
        let _ = read_csv(&table[..], &TableOptions::default());
        let _ = read_csv(&bytes[..], &TableOptions::default());
        is_table(None, &bytes);
    }
}
