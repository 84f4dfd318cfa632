//! Each model on a log whose numbers can be seen, and what its tables say.

mod common;

use common::{empty, log, seconds};
use flowmine_activity_log::{ActivityLog, BytesFrom, EventRow, InstanceRow, LogBuilder, Measure, Status, Transition};
use flowmine_discover::{batches, dotted_chart, lifecycle, performance_spectrum, pictures, summary, temporal_profile, variants};

const S: f64 = 1e9;

fn csv(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector takes all");
    String::from_utf8(out).expect("tables are UTF-8").replace("\r\n", "\n")
}

/// Three cases: two alike, and one that has something else.
fn small() -> ActivityLog {
    log(&[
        ("1", "a", 0, 1, 4),
        ("1", "b", 4, 6, 10),
        ("2", "a", 100, 100, 102),
        ("2", "b", 102, 103, 120),
        ("3", "a", 200, 201, 202),
        ("3", "a", 202, 203, 204),
        ("3", "c", 204, 205, -1),
    ])
}

#[test]
fn variants_have_shares_times_and_traces() {
    let log = small();
    let model = variants::discover(&log, log.cases().expect("cases"), &Default::default());
    assert_eq!(model.total, 2);
    let [ab, aac] = &model.variants[..] else { panic!("two variants") };
    assert_eq!((ab.cases, ab.example.as_str(), ab.mean_ns, ab.median_ns), (2, "1", Some(15.0 * S), Some(15.0 * S)));
    assert!((ab.share - 2.0 / 3.0).abs() < 1e-12 && aac.cumulative_share == 1.0);
    assert_eq!(aac.mean_ns, Some(5.0 * S));
    let table = csv(|out| pictures::variants::csv(&model, out));
    assert!(table.contains("\n2,1,0.3333333333333333,1,3,1,5,5,3,a > a > c\n"), "{table}");
    let only = variants::discover(&log, log.cases().expect("cases"), &variants::Options { most: Some(1) });
    assert_eq!((only.variants.len(), only.total, only.cases_not_listed), (1, 2, 1));
}

#[test]
fn bytes_of_different_origin_stand_apart() {
    let mut builder = LogBuilder::new(&[]);
    for (case, from, bytes) in
        [("1", BytesFrom::Trace, 10), ("2", BytesFrom::Engine, 1000), ("3", BytesFrom::Trace, 30), ("4", BytesFrom::Nobody, -1)]
    {
        let measures = [(Measure::ReadBytes, bytes)];
        let measures = if bytes < 0 { &[][..] } else { &measures[..] };
        let (activity, start_ns, end_ns) = (builder.activity("a"), seconds(0), seconds(2));
        builder.instance(&InstanceRow { activity, start_ns, end_ns, measures, bytes_from: from, ..empty() }).expect("few");
        builder.end_case(case).expect("few");
    }
    let log = builder.finish();
    let cases = log.cases().expect("cases");
    let model = variants::discover(&log, cases, &Default::default());
    let bytes: Vec<_> =
        model.variants[0].bytes.iter().map(|b| (b.counted_by, b.instances, b.read_bytes_per_case, b.written_bytes_per_case)).collect();
    assert_eq!(bytes, [("trace", 2, Some(20.0), None), ("engine", 1, Some(1000.0), None)]);
    let summary = summary::discover(&log, cases, &Default::default());
    let bytes: Vec<_> = summary.total.bytes.iter().map(|b| (b.counted_by, b.read_bytes, b.written_bytes, b.bytes_per_s)).collect();
    assert_eq!(bytes, [("trace", Some(40), None, Some(10.0)), ("engine", Some(1000), None, Some(500.0))]);
    let text = pictures::summary::text(&summary, &Default::default());
    assert!(text.contains("bytes (trace)") && text.contains("bytes (engine)") && !text.contains("written"), "{text}");
}

#[test]
fn dots_are_in_the_order_that_was_asked_for() {
    let log = small();
    let cases = log.cases().expect("cases");
    let by = |sort, time| dotted_chart::discover(&log, cases, &dotted_chart::Options { sort, time: Some(time) });
    let chart = by(dotted_chart::Sort::Duration, dotted_chart::Time::Relative);
    assert_eq!(chart.rows.iter().collect::<Vec<_>>(), ["3", "1", "2"]);
    assert_eq!((chart.dots[0].start_ns, chart.dots[0].end_ns), (seconds(1), Some(seconds(2))));
    // Only its start is known.
    assert_eq!((chart.dots[2].start_ns, chart.dots[2].end_ns), (seconds(5), None));
    let table = csv(|out| pictures::dotted_chart::csv(&chart, out));
    assert!(table.starts_with("row,case,activity,start_s,end_s\n0,3,a,1,2\n"), "{table}");
    let chart = by(dotted_chart::Sort::Start, dotted_chart::Time::Absolute);
    assert_eq!((chart.rows.iter().collect::<String>(), chart.without_time), ("123".to_owned(), 0));
}

#[test]
fn short_cases_in_a_long_log_are_drawn_from_their_own_beginning() {
    let discover = |distance: i64| {
        let mut builder = LogBuilder::new(&[]);
        let activity = builder.activity("a");
        for case in 0..3 {
            for second in [0, 10] {
                let time_ns = seconds(case * distance + second);
                builder.event(&EventRow { activity, time_ns, transition: Transition::Untold, ..EventRow::default() }).expect("few");
            }
            builder.end_case(&case.to_string()).expect("few");
        }
        let log = builder.finish();
        dotted_chart::discover(&log, log.cases().expect("cases"), &Default::default())
    };
    let (short, long) = (discover(1000), discover(5));
    assert_eq!((short.time, long.time), (dotted_chart::Time::Relative, dotted_chart::Time::Absolute));
    let drawn = |chart: &dotted_chart::DottedChart| pictures::dotted_chart::svg(chart, &Default::default()).contains("--absolute");
    assert!(drawn(&short) && !drawn(&long));
}

#[test]
fn spectra_follow_the_path() {
    let log = small();
    let cases = log.cases().expect("cases");
    let spectrum = performance_spectrum::discover(&log, cases, &Default::default()).expect("no path is asked for");
    assert_eq!(spectrum.path, ["a", "b"]);
    let segment = &spectrum.segments[0];
    assert_eq!((segment.count, segment.min_ns, segment.max_ns, segment.median_ns), (2, Some(seconds(1)), Some(seconds(2)), Some(1.5 * S)));
    // Cases are projected on the path before pairs are looked for.
    let options = performance_spectrum::Options { path: vec!["a".into(), "c".into()], ..Default::default() };
    let spectrum = performance_spectrum::discover(&log, cases, &options).expect("both are there");
    assert_eq!((spectrum.segments[0].count, spectrum.segments[0].median_ns), (1, Some(1.0 * S)));
    let table = csv(|out| pictures::performance_spectrum::csv(&spectrum, out));
    assert!(table.ends_with("1,a,c,3,1970-01-01T00:03:24Z,1970-01-01T00:03:25Z,1,1\n"), "{table}");
    for (path, error) in [(vec!["x"], "no activity \"x\""), (vec!["a"], "two activities")] {
        let path = path.into_iter().map(String::from).collect();
        let found = performance_spectrum::discover(&log, cases, &performance_spectrum::Options { path, segments: 6 });
        assert!(found.is_err_and(|found| found.to_string().contains(error)));
    }
}

#[test]
fn batches_need_a_resource_unless_it_is_said() {
    let log = small();
    let cases = log.cases().expect("cases");
    let found = batches::discover(&log, cases, &Default::default());
    assert_eq!((found.groups.len(), found.without_resource), (0, 7));
    let picture = pictures::batches::svg(&found, &Default::default());
    assert!(common::check::picture(&picture).iter().any(|words| words.contains("no resources")));
    let options = batches::Options { by_resource: false, ..Default::default() };
    let found = batches::discover(&log, cases, &options);
    let sizes: Vec<_> = found.groups.iter().map(|group| (group.activity.as_str(), group.batches.len(), group.in_batches)).collect();
    assert_eq!(sizes, [("a", 1, 4), ("b", 1, 2)]);
    assert_eq!(found.groups[0].batches[0].cases, ["1", "2", "3"]);
    let table = csv(|out| pictures::batches::csv(&found, out));
    assert!(table.contains("\nb,,concurrent,1970-01-01T00:00:06Z,1970-01-01T00:02:00Z,114,2,2,1 ; 2\n"), "{table}");
}

#[test]
fn lifecycles_split_time() {
    let log = small();
    let model = lifecycle::discover(&log, log.cases().expect("cases"), &Default::default());
    let names: Vec<&str> = model.activities.iter().map(|row| row.activity.as_str()).collect();
    assert_eq!(names, ["b", "a", "c"]);
    let a = &model.activities[1];
    assert_eq!((a.queue_ns, a.queue_known, a.service_ns, a.status_unknown), (Some(3_000_000_000), 4, Some(7_000_000_000), 4));
    let c = &model.activities[2];
    assert_eq!((c.service_ns, c.service_known, c.queue_ns), (None, 0, Some(1_000_000_000)));
    let table = csv(|out| pictures::lifecycle::csv(&model, out));
    assert!(table.contains("\nc,1,0,0,0,0,0,1,,1,1,0,,0,0\n"), "{table}");
}

#[test]
fn profiles_find_what_deviates() {
    let mut rows = Vec::new();
    let names: Vec<String> = (0..60).map(|n| format!("case {n:02}")).collect();
    for (at, name) in names.iter().enumerate() {
        let late = if at == 17 { 5000 } else { at as i64 % 3 };
        rows.push((name.as_str(), "a", -1, 0, 10));
        rows.push((name.as_str(), "b", -1, 20 + late, 30 + late));
    }
    let log = log(&rows);
    let profile = temporal_profile::discover(&log, log.cases().expect("cases"), &Default::default());
    assert_eq!((profile.pairs.len(), profile.pairs[0].count, profile.deviating), (1, 60, 1));
    let found = &profile.deviations[0];
    assert_eq!((found.case.as_str(), found.time_ns), ("case 17", seconds(5010)));
    assert!(found.deviations.is_some_and(|far| far > 7.0));
    let table = csv(|out| pictures::temporal_profile::deviations_csv(&profile, out));
    assert!(table.contains("\ncase 17,a,b,5010,"), "{table}");
    // Equal times do not deviate, however small ζ is.
    let equal: Vec<_> = names.iter().flat_map(|name| [(name.as_str(), "a", -1, 0, 1), (name.as_str(), "b", -1, 7, 8)]).collect();
    let log = common::log(&equal);
    let options = temporal_profile::Options { zeta: 0.0, ..Default::default() };
    assert_eq!(temporal_profile::discover(&log, log.cases().expect("cases"), &options).deviating, 0);
}

#[test]
fn summaries_have_what_is_known() {
    let log = small();
    let model = summary::discover(&log, log.cases().expect("cases"), &Default::default());
    let a = &model.activities[1];
    assert_eq!((a.activity.as_str(), a.instances, a.cases, a.failed, a.retried), ("a", 4, 3, None, None));
    let service = a.service.expect("it is known");
    assert_eq!((service.count, service.median_ns, service.max_ns, service.sum_ns), (4, 1.5 * S, seconds(3), 7_000_000_000));
    let third = &model.case_list[2];
    assert_eq!((third.duration_ns, third.service_ns, third.waiting_share), (Some(seconds(5)), Some(2_000_000_000), Some(0.6)));
    let text = pictures::summary::text(&model, &Default::default());
    for word in ["failed", "bytes", "CPU", "memory"] {
        assert!(!text.contains(word), "{word} is not known: {text}");
    }
    insta::assert_snapshot!("summary", text);
    let table = csv(|out| pictures::summary::cases_csv(&model, out));
    assert!(table.contains("\n3,1970-01-01T00:03:20Z,1970-01-01T00:03:25Z,5,3,,2,0.6\n"), "{table}");
}

#[test]
fn efficiency_and_memory_by_hand() {
    let mut builder = LogBuilder::new(&[]);
    for (cpu_s, cpus, asked, peak) in [(10, 2, 1000, 250), (6, 1, 4000, 3000)] {
        let measures =
            [(Measure::CpuTimeNs, seconds(cpu_s)), (Measure::Cpus, cpus), (Measure::MemoryBytes, asked), (Measure::PeakMemoryBytes, peak)];
        let (activity, start_ns, end_ns) = (builder.activity("a"), seconds(0), seconds(10));
        let row = InstanceRow { activity, start_ns, end_ns, measures: &measures, status: Status::Completed, attempt: 2, ..empty() };
        builder.instance(&row).expect("few");
    }
    builder.end_case("1").expect("few");
    let log = builder.finish();
    let row = summary::discover(&log, log.cases().expect("cases"), &Default::default()).total;
    assert_eq!((row.cpu_ns, row.cpu_efficiency.map(|share| (share * 1e6).round())), (Some(16_000_000_000), Some(533_333.0)));
    assert_eq!((row.memory_asked_bytes, row.memory_peak_bytes, row.memory_used_share), (Some(4000), Some(3000), Some(0.75)));
    assert_eq!((row.failed, row.retried), (Some(0), Some(2)));
}

#[test]
fn small_pictures_stay_as_they_are() {
    let log = small();
    let cases = log.cases().expect("cases");
    insta::assert_snapshot!(
        "variants",
        pictures::variants::svg(&variants::discover(&log, cases, &Default::default()), &Default::default())
    );
    let chart = dotted_chart::discover(&log, cases, &Default::default());
    insta::assert_snapshot!("dotted_chart", pictures::dotted_chart::svg(&chart, &Default::default()));
    let model = lifecycle::discover(&log, cases, &Default::default());
    insta::assert_snapshot!("lifecycle", pictures::lifecycle::svg(&model, &Default::default()));
}
