//! Whatever stands in a log: every model is made, every picture is XML with all words within and
//! below two million bytes, every table has as many fields in each line, JSON can be read, and a
//! second run gives the same.

mod common;

use common::empty;
use flowmine_activity_log::{ActivityLog, BytesFrom, Cases, EventRow, InstanceRow, LogBuilder, Measure, Status, Transition, UNKNOWN};
use flowmine_discover::{batches, dotted_chart, lifecycle, performance_spectrum, pictures, summary, temporal_profile, variants};
use proptest::prelude::*;

/// Draws and writes everything; gives what was said.
fn all(log: &ActivityLog, cases: &Cases) -> Vec<String> {
    let mut out = Vec::new();
    let mut svg = |picture: String| {
        common::check::picture(&picture);
        out.push(picture);
    };
    let variants = variants::discover(log, cases, &Default::default());
    svg(pictures::variants::svg(&variants, &Default::default()));
    let mut charts = Vec::new();
    for (sort, time, most_dots) in
        [(dotted_chart::Sort::Start, dotted_chart::Time::Absolute, 20_000), (dotted_chart::Sort::Duration, dotted_chart::Time::Relative, 3)]
    {
        let chart = dotted_chart::discover(log, cases, &dotted_chart::Options { sort, time: Some(time) });
        svg(pictures::dotted_chart::svg(&chart, &pictures::dotted_chart::Drawing { most_dots, colours: 2 }));
        charts.push(chart);
    }
    let spectrum = performance_spectrum::discover(log, cases, &Default::default()).expect("no path is asked for");
    for most_lines in [4000, 2] {
        svg(pictures::performance_spectrum::svg(&spectrum, &pictures::performance_spectrum::Drawing { most_lines }));
    }
    let batches = batches::discover(log, cases, &batches::Options { by_resource: false, ..Default::default() });
    svg(pictures::batches::svg(&batches, &Default::default()));
    let lifecycle = lifecycle::discover(log, cases, &Default::default());
    svg(pictures::lifecycle::svg(&lifecycle, &Default::default()));
    let profile = temporal_profile::discover(log, cases, &temporal_profile::Options { zeta: 0.5, most_activities: 50, most_deviations: 5 });
    svg(pictures::temporal_profile::svg(&profile, &Default::default()));
    let summary = summary::discover(log, cases, &Default::default());
    let text = pictures::summary::text(&summary, &Default::default());
    assert!(!text.chars().any(|c| c != '\n' && flowmine_text::is_unsafe(c)));
    out.push(text);
    type Write<'a> = Box<dyn Fn(&mut Vec<u8>) -> std::io::Result<()> + 'a>;
    let json: [Write; 7] = [
        Box::new(|out| pictures::variants::json(&variants, out)),
        Box::new(|out| pictures::dotted_chart::json(&charts[0], out)),
        Box::new(|out| pictures::performance_spectrum::json(&spectrum, out)),
        Box::new(|out| pictures::batches::json(&batches, out)),
        Box::new(|out| pictures::lifecycle::json(&lifecycle, out)),
        Box::new(|out| pictures::temporal_profile::json(&profile, out)),
        Box::new(|out| pictures::summary::json(&summary, out)),
    ];
    for write in json {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("a vector takes all");
        let text = String::from_utf8(bytes).expect("JSON is UTF-8");
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert!(value["format"].as_str().is_some_and(|format| format.starts_with("flowmine-")) && value["version"] == 1);
        out.push(text);
    }
    let tables: [Write; 10] = [
        Box::new(|out| pictures::variants::csv(&variants, out)),
        Box::new(|out| pictures::dotted_chart::csv(&charts[0], out)),
        Box::new(|out| pictures::dotted_chart::csv(&charts[1], out)),
        Box::new(|out| pictures::performance_spectrum::csv(&spectrum, out)),
        Box::new(|out| pictures::batches::csv(&batches, out)),
        Box::new(|out| pictures::lifecycle::csv(&lifecycle, out)),
        Box::new(|out| pictures::temporal_profile::csv(&profile, out)),
        Box::new(|out| pictures::temporal_profile::deviations_csv(&profile, out)),
        Box::new(|out| pictures::summary::csv(&summary, out)),
        Box::new(|out| pictures::summary::cases_csv(&summary, out)),
    ];
    for write in tables {
        let mut bytes = Vec::new();
        write(&mut bytes).expect("a vector takes all");
        let text = String::from_utf8(bytes).expect("tables are UTF-8");
        let widths = fields(&text);
        assert!(widths.iter().all(|n| *n == widths[0]), "{text:?}");
        out.push(text);
    }
    out
}

/// The number of fields in each line of a table (RFC 4180).
fn fields(text: &str) -> Vec<usize> {
    let (mut quoted, mut n, mut lines) = (false, 1, Vec::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => n += 1,
            '\r' if !quoted && chars.peek() == Some(&'\n') => {
                chars.next();
                lines.push(n);
                n = 1;
            }
            _ => {}
        }
    }
    assert!(!quoted);
    lines
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-d]",
        1 => any::<String>(),
        1 => Just("<script>alert('x')</script>&amp;\"".to_owned()),
        1 => Just("=cmd|' /C calc'!A0\r\n,\"".to_owned()),
        1 => Just("\u{202e}\u{1b}[2J\u{0}日本語のとても長い名前".repeat(9)),
        1 => Just("W".repeat(5000)),
        1 => Just("\u{12031}\u{fdfd}🧬".repeat(20)),
        1 => Just(String::new()),
        1 => Just("   ".to_owned()),
    ]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        4 => (0i64..100).prop_map(|s| 1_700_000_000_000_000_000 + s * 1_000_000_000),
        2 => Just(UNKNOWN),
        1 => any::<i64>(),
        1 => Just(i64::MAX),
        1 => Just(i64::MIN + 1),
        1 => Just(0),
    ]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Unknown),
        Just(Status::Completed),
        Just(Status::Failed),
        Just(Status::Aborted),
        Just(Status::Cached),
        Just(Status::Unfinished)
    ]
}

fn origin() -> impl Strategy<Value = BytesFrom> {
    prop_oneof![Just(BytesFrom::Nobody), Just(BytesFrom::Trace), Just(BytesFrom::Engine), Just(BytesFrom::Accounting), Just(BytesFrom::Log)]
}

const MEASURES: [Measure; 6] =
    [Measure::ReadBytes, Measure::WrittenBytes, Measure::CpuTimeNs, Measure::Cpus, Measure::MemoryBytes, Measure::PeakMemoryBytes];

type Instance = (String, (i64, i64, i64), Status, u32, BytesFrom, [i64; 6]);

fn instances() -> impl Strategy<Value = ActivityLog> {
    let number = || prop_oneof![Just(UNKNOWN), 0i64..1000, Just(i64::MAX)];
    let numbers = [number(), number(), number(), number(), number(), number()];
    let instance = (name(), (time(), time(), time()), status(), 0u32..4, origin(), numbers);
    let case = (name(), proptest::collection::vec(instance, 0..12));
    (proptest::collection::vec(case, 0..8), name(), name()).prop_map(|(cases, word, notion)| {
        let mut builder = LogBuilder::new(&[]);
        for (case, rows) in &cases {
            for row in rows {
                add(&mut builder, row);
            }
            builder.end_case(case).expect("few");
        }
        let mut log = builder.finish();
        (log.words.instance, log.words.notion) = (word, notion);
        log
    })
}

fn add(builder: &mut LogBuilder, (activity, (ready_ns, start_ns, end_ns), status, attempt, bytes_from, numbers): &Instance) {
    let measures: Vec<(Measure, i64)> = MEASURES.into_iter().zip(*numbers).filter(|(_, n)| *n != UNKNOWN).collect();
    let activity = builder.activity(activity);
    let resource = Some(builder.resource(if *attempt > 1 { "r" } else { "" }));
    let (ready_ns, start_ns, end_ns, status, attempt, bytes_from) = (*ready_ns, *start_ns, *end_ns, *status, *attempt, *bytes_from);
    let row =
        InstanceRow { activity, ready_ns, start_ns, end_ns, status, attempt, bytes_from, resource, measures: &measures, attributes: &[] };
    builder.instance(&row).expect("few");
}

/// Events in the order of a file, which need not be that of their times.
fn events() -> impl Strategy<Value = ActivityLog> {
    let transition = prop_oneof![
        Just(Transition::Untold),
        Just(Transition::Ready),
        Just(Transition::Start),
        Just(Transition::Complete),
        Just(Transition::Failed),
        Just(Transition::Inner),
        Just(Transition::Skipped)
    ];
    let case = (name(), proptest::collection::vec((name(), time(), transition), 0..15));
    proptest::collection::vec(case, 0..6).prop_map(|cases| {
        let mut builder = LogBuilder::new(&[]);
        for (case, rows) in &cases {
            for (activity, time_ns, transition) in rows {
                let activity = builder.activity(activity);
                let row = EventRow { activity, time_ns: *time_ns, transition: *transition, ..EventRow::default() };
                builder.event(&row).expect("few");
            }
            builder.end_case(case).expect("few");
        }
        builder.finish()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn instances_of_any_kind(log in instances()) {
        let cases = log.cases().expect("it has a grouping");
        prop_assert_eq!(all(&log, cases), all(&log, cases));
    }

    #[test]
    fn events_of_any_kind(log in events()) {
        all(&log, log.cases().expect("it has a grouping"));
    }

    /// Instances in several cases, cases that share instances, instances in none.
    #[test]
    fn objects(log in instances(), picks in proptest::collection::vec(proptest::collection::vec(any::<u32>(), 0..9), 0..5)) {
        let mut cases = Cases { kind: "<order>".to_owned(), offsets: vec![0], ..Cases::default() };
        let mut members = Vec::new();
        for pick in &picks {
            let mut own: Vec<u32> = pick.iter().filter(|_| !log.is_empty()).map(|n| n % log.len() as u32).collect();
            own.sort_unstable();
            own.dedup();
            members.extend(own);
            cases.names.push("o1");
            cases.offsets.push(members.len() as u32);
        }
        cases.members = Some(members);
        all(&log, &cases);
    }
}

#[test]
fn many_activities_many_cases_long_cases() {
    let time = |n: u64| 1_700_000_000_000_000_000 + n as i64 * 1_000_000_000;
    let mut many = LogBuilder::new(&[]);
    let mut long = LogBuilder::new(&[]);
    let mut wide = LogBuilder::new(&[]);
    for n in 0..100_000u64 {
        let activity = many.activity(&format!("activity {n}"));
        many.instance(&InstanceRow { activity, start_ns: time(n), end_ns: time(n + 5), ..empty() }).expect("few");
        if n % 1000 == 999 {
            many.end_case(&format!("{n}")).expect("few");
        }
        let activity = long.activity(["a", "b", "c"][(n % 7 % 3) as usize]);
        long.instance(&InstanceRow { activity, start_ns: time(n), end_ns: time(n + n % 11), ..empty() }).expect("few");
        let activity = wide.activity(&format!("{}", n % 40));
        wide.instance(&InstanceRow { activity, start_ns: time(n * 37 % 100_000), ..empty() }).expect("few");
        wide.end_case(&format!("case {n}")).expect("few");
    }
    long.end_case("the only one").expect("few");
    for log in [many.finish(), long.finish(), wide.finish()] {
        all(&log, log.cases().expect("it has a grouping"));
    }
}

#[test]
fn spectra_of_many_different_durations_stay_small() {
    let mut builder = LogBuilder::new(&[]);
    let names: Vec<u32> = (0..7).map(|n| builder.activity(&format!("step {n}"))).collect();
    let mut random = common::Random(5);
    for case in 0..30_000 {
        let mut now = random.below(1 << 50) as i64;
        for &activity in &names {
            builder.instance(&InstanceRow { activity, start_ns: now, end_ns: now, ..empty() }).expect("few");
            now += random.below(1 << 49) as i64;
        }
        builder.end_case(&format!("{case}")).expect("few");
    }
    let log = builder.finish();
    all(&log, log.cases().expect("it has a grouping"));
    let whole = pictures::dotted_chart::Drawing { most_dots: usize::MAX, ..Default::default() };
    let chart = dotted_chart::discover(&log, log.cases().expect("it has a grouping"), &Default::default());
    common::check::picture(&pictures::dotted_chart::svg(&chart, &whole));
}
