//! Pictures of accesses to files: what they must say, what must not get into them, and how they
//! look.

use flowmine_file_access::Owner;
use flowmine_file_access::file_span::{Group, Point, Shares, Use};
use flowmine_file_access::file_timeline::{Accesses, COLUMNS, Missing, ROWS, Sum, User, Version};
use flowmine_file_access::merge::{Bar, Bars, Extent};
use flowmine_file_access::pictures::{file_span, file_timeline};
use flowmine_file_access::table;
use proptest::prelude::*;
use quick_xml::events::Event;

const SECOND: i64 = 1_000_000_000;
const T0: i64 = 1_795_000_000 * SECOND;

/// All words of a picture; fails unless it is well-formed and has only shapes and words in it.
fn words(picture: &str) -> String {
    let mut reader = quick_xml::Reader::from_str(picture);
    let mut words = String::new();
    loop {
        match reader.read_event().expect("the picture is well-formed XML") {
            Event::Eof => return words,
            Event::Start(element) | Event::Empty(element) => {
                let name = element.name().as_ref().to_owned();
                assert!(["svg", "title", "desc", "rect", "path", "text", "g", "circle", "view"].contains(&&*name), "{name:?}");
                for attribute in element.attributes() {
                    let attribute = attribute.expect("attributes are well-formed");
                    assert!(!attribute.value.contains("NaN") && !attribute.value.contains("inf"), "{attribute:?}");
                }
            }
            Event::Text(text) => words.push_str(&text),
            Event::GeneralRef(name) => words.push_str(&format!("&{};", &*name)),
            _ => {}
        }
    }
}

fn task(id: &str) -> Owner {
    Owner::Task(id.to_owned())
}

fn user(owner: Owner, name: &str, time_s: Option<(i64, i64)>) -> User {
    let time_ns = time_s.map(|(start, end)| (T0 + start * SECOND, T0 + end * SECOND));
    let logical_task = Some(name.to_owned()).filter(|name| !name.is_empty());
    User { owner, logical_task, time_ns, read: Sum::default(), written: Sum::default() }
}

/// Operations: by whom, whether it writes, when in milliseconds, where, how many bytes.
fn of(path: &str, mut users: Vec<User>, operations: &[(u32, bool, i64, i64, i64)]) -> Accesses {
    let bar = |&(owner, write, ms, offset, bytes): &(u32, bool, i64, i64, i64)| {
        let first_ns = T0 + ms * 1_000_000;
        Bar { owner, write, first_ns, last_ns: first_ns + 100_000, offset, end: offset.saturating_add(bytes), operations: 1, bytes }
    };
    let all: Vec<Bar> = operations.iter().map(bar).collect();
    let extent = Extent {
        first_ns: all.iter().map(|bar| bar.first_ns).min().unwrap_or(0),
        last_ns: all.iter().map(|bar| bar.last_ns).max().unwrap_or(0),
        offset: all.iter().map(|bar| bar.offset).min().unwrap_or(0),
        end: all.iter().map(|bar| bar.end).max().unwrap_or(0),
    };
    let mut bars = Bars::new(extent, COLUMNS, ROWS);
    for bar in &all {
        bars.push(*bar);
        let user = &mut users[bar.owner as usize];
        let sum = if bar.write { &mut user.written } else { &mut user.read };
        let (first, last) = sum.span_ns.unwrap_or((bar.first_ns, bar.last_ns));
        *sum = Sum {
            operations: sum.operations + 1,
            bytes: sum.bytes + bar.bytes,
            span_ns: Some((first.min(bar.first_ns), last.max(bar.last_ns))),
        };
    }
    let (bars, merged) = bars.finish();
    Accesses { path: path.to_owned(), hosts: vec!["node1".to_owned()], users, extent, bars, merged, ..Accesses::default() }
}

fn two_tasks() -> Accesses {
    let users = vec![user(task("e:r/1#1"), "WRITE", Some((-1, 4))), user(task("e:r/2#1"), "READ", Some((4, 9)))];
    let writes = (0..8).map(|n| (0, true, n * 400, n * 65536, 65536));
    let reads = (0..32).map(|n| (1, false, 5000 + n * 100, n * 16384, 16384));
    let mut accesses = of("/data/shared.bin", users, &writes.chain(reads).collect::<Vec<_>>());
    accesses.versions = vec![
        Version { version: 1, origin: "created".to_owned(), first_ns: T0 },
        Version { version: 2, origin: "changed".to_owned(), first_ns: T0 + 2 * SECOND },
    ];
    accesses
}

fn point(id: &str, used: Use, share: Option<f64>, bytes: i64) -> Point {
    let path = Some(format!("/data/{id}"));
    Point {
        owner: task(id),
        host: "node1".to_owned(),
        path,
        used,
        share,
        read_bytes: bytes,
        written_bytes: 0,
        first_ns: Some(T0),
        last_ns: Some(T0),
    }
}

fn group(name: &str, mut points: Vec<Point>) -> Group {
    points.sort_by(|a, b| a.share.unwrap_or(f64::INFINITY).total_cmp(&b.share.unwrap_or(f64::INFINITY)));
    Group { logical_task: Some(name.to_owned()), tasks: 1, points }
}

fn three_points() -> Shares {
    let points = vec![
        point("a", Use::Read, Some(0.97), 1 << 31),
        point("b", Use::Written, Some(0.02), 900),
        point("c", Use::Both, Some(0.021), 1 << 20),
    ];
    Shares { groups: vec![group("ALIGN", points)], ..Shares::default() }
}

/// Numbers that look random and are always the same.
fn numbers() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn many_points() -> Shares {
    let mut next = numbers();
    let kinds = [Use::Read, Use::Read, Use::Both, Use::Written];
    let mut groups = Vec::new();
    for (at, size) in [60_000, 30_000, 9_000, 240, 12].into_iter().enumerate() {
        let points = (0..size).map(|n| {
            // Most accesses are short.
            let share = next().powi(6) * if n % 997 == 0 { 1.3 } else { 1.0 };
            point("p", kinds[(next() * 4.0) as usize], Some(share), (next() * 30.0).exp2() as i64)
        });
        groups.push(group(&format!("STEP_{at}"), points.collect()));
    }
    Shares { groups, untouched: 4, nobodys: 70, ..Shares::default() }
}

fn many_accesses() -> Accesses {
    let mut next = numbers();
    let users =
        (0..40).map(|n| user(task(&format!("e:r/{n}#1")), ["INDEX", "ALIGN", "ALIGN", "SORT"][n % 4], Some((n as i64, n as i64 + 30))));
    let mut operations = Vec::new();
    for n in 0..100_000i64 {
        let owner = (next() * 40.0) as u32;
        let offset = if owner.is_multiple_of(2) { n * 40_000 } else { (next() * 4e9) as i64 };
        operations.push((owner, owner.is_multiple_of(4), i64::from(owner) * 1000 + n / 4, offset, 40_000));
    }
    of("/scratch/genome.idx", users.collect(), &operations)
}

const LONG: &str =
    "a_very_long_name_of_a_file_that_somebody_gave_it_to_tell_sample_and_lane_and_replicate_and_date_and_more_than_that_still.fastq.gz";

fn long_names() -> Accesses {
    let users = vec![
        user(task(&format!("nextflow:{LONG}/1#1")), &format!("NFCORE_RNASEQ:RNASEQ:{LONG}"), Some((-9000, 1))),
        user(Owner::Job { cluster: "alpha".to_owned(), job: "4711_3".to_owned() }, "", None),
        user(Owner::Nobody, "", None),
        user(Owner::Container("f".repeat(64)), "", Some((0, 0))),
    ];
    let operations =
        [(0, true, 0, 1 << 60, 4096), (1, false, 2, (1 << 60) + 2048, 1024), (2, false, 3, 1 << 60, 0), (3, false, 4, (1 << 60) + 1, 7)];
    let mut accesses = of(&format!("/data/{LONG}/{LONG}"), users, &operations);
    accesses.missing = Missing { failed: 2, no_offset: (1, 5), no_result: 1, faults: 9, only_sums: (100, 30), lost: 3 };
    accesses
}

fn one_bar() -> Accesses {
    of("/data/x", vec![user(task("e:r/1#1"), "ONE", Some((0, 0)))], &[(0, false, 0, 0, 0)])
}

fn far_and_many_names() -> Shares {
    let mut shares = many_points();
    shares.groups[3].logical_task = Some(format!("NFCORE_RNASEQ:RNASEQ:PREPARE_GENOME:{LONG}"));
    shares.groups[4].points.push(point("x", Use::Read, None, 10));
    shares.groups.truncate(5);
    shares.groups.extend((0..70).map(|n| group(&format!("MORE_{n}"), vec![point("a", Use::Written, Some(0.5), n)])));
    shares.groups.push(Group { logical_task: None, ..group("", vec![point("j", Use::Read, Some(1.0), 5)]) });
    shares
}

#[test]
fn how_they_look() {
    insta::assert_snapshot!("accesses.svg", file_timeline::svg(&two_tasks()));
    insta::assert_snapshot!("access_share.svg", file_span::svg(&three_points()));
    let text = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        String::from_utf8(bytes).expect("UTF-8")
    };
    insta::assert_snapshot!("access_share.csv", text(&|out| table::shares_csv(&three_points(), out).expect("memory")));
    insta::assert_snapshot!("access_share.json", text(&|out| table::shares_json(&three_points(), out).expect("memory")));
    insta::assert_snapshot!("accesses.json", text(&|out| table::accesses_json(&long_names(), out).expect("memory")));
    // To look at them: convert them with rsvg-convert.
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&dir).expect("a directory of the test");
    let all = [
        ("two-tasks", file_timeline::svg(&two_tasks())),
        ("many-accesses", file_timeline::svg(&many_accesses())),
        ("long-names", file_timeline::svg(&long_names())),
        ("one-bar", file_timeline::svg(&one_bar())),
        ("three-points", file_span::svg(&three_points())),
        ("many-points", file_span::svg(&many_points())),
        ("many-names", file_span::svg(&far_and_many_names())),
    ];
    for (name, picture) in all {
        words(&picture);
        std::fs::write(dir.join(format!("{name}.svg")), picture).expect("a file of the test");
    }
}

#[test]
fn what_is_not_drawn_is_told() {
    let said = words(&file_timeline::svg(&long_names()));
    let expected = [
        "2 reads and writes that failed",
        "1 operation without a known offset",
        "1 operation without a known result",
        "9 page faults of mappings",
        "100 bytes of which only sums are known",
        "3 operations that were lost",
        "30 bytes: run `flowmine correlate`",
        "offset less 1,152,921,504,606,846,976 bytes",
        "began earlier",
        "unassigned",
    ];
    for part in expected {
        assert!(said.replace('\n', " ").contains(part), "{part} is missing in {said}");
    }
    let said = words(&file_span::svg(&far_and_many_names()));
    for part in [
        "above 100%",
        "1 file of a task whose time is not known or zero",
        "70 files of processes",
        "16 logical tasks with the fewest files",
    ] {
        assert!(said.contains(part), "{part} is missing in {said}");
    }
    let said = words(&file_timeline::svg(&many_accesses()));
    assert!(said.contains("drawn as one bar") && said.contains("and 30 tasks more"), "{said}");
}

#[test]
fn names_are_words_and_nothing_else() {
    let evil = "</text><script>alert(1)</script>\u{1b}[31m\n\u{202e}\"'&";
    let mut accesses = two_tasks();
    accesses.path = format!("/data/{evil}");
    accesses.hosts = vec![evil.to_owned()];
    accesses.users[0].logical_task = Some(evil.to_owned());
    accesses.versions[0].origin = evil.to_owned();
    let mut shares = three_points();
    shares.groups[0].logical_task = Some(evil.to_owned());
    for picture in [file_timeline::svg(&accesses), file_span::svg(&shares)] {
        let said = words(&picture);
        assert!(said.contains("&lt;script&gt;"));
        assert!(!picture.chars().any(|c| matches!(c, '\u{1b}' | '\u{202e}')));
    }
    let mut csv = Vec::new();
    shares.groups[0].logical_task = Some("=1+1".to_owned());
    table::shares_csv(&shares, &mut csv).expect("memory");
    assert!(String::from_utf8(csv).expect("UTF-8").contains("\r\n'=1+1,task,"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_can_be_drawn(
        operations in proptest::collection::vec((0u32..3, any::<bool>(), -1_000_000i64..1_000_000, any::<i64>(), any::<i64>()), 1..40),
        start in any::<i64>(), end in any::<i64>(), share in any::<f64>(), bytes in any::<i64>(),
    ) {
        let operations: Vec<_> = operations.into_iter().map(|(owner, write, ms, offset, bytes)| (owner, write, ms, offset >> 1, (bytes >> 8).max(0))).collect();
        let users = vec![user(task("a"), "A", None), User { time_ns: Some((start, end)), ..user(task("b"), "B", None) }, user(Owner::Nobody, "", None)];
        words(&file_timeline::svg(&of("/x", users, &operations)));
        let share = Some(share).filter(|share| share.is_finite());
        words(&file_span::svg(&Shares { groups: vec![group("A", vec![point("a", Use::Both, share, bytes)])], ..Shares::default() }));
    }
}
