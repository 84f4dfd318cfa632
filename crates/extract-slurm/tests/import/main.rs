//! Files of `fixtures/import` in, records and diagnostics out.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod rows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flowmine_extract_slurm::import::{self, FileKind, ImportError, Imported, Options, read, recognise};
use flowmine_extract_slurm::record::JobRecord;
use flowmine_schema::diagnostic::{Diagnostics, Severity};
use flowmine_schema::time;
use proptest::prelude::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What a file says, with its kind found out.
struct Got {
    kind: FileKind,
    time: Option<i64>,
    cluster: Option<String>,
    records: Vec<(Option<i64>, Option<String>, JobRecord<'static>)>,
    whole: bool,
    diagnostics: Diagnostics,
}

impl Got {
    /// Each record through a function, as lines of text.
    fn each(&self, f: impl Fn(&JobRecord<'static>) -> String) -> Vec<String> {
        self.records.iter().map(|(_, _, record)| f(record)).collect()
    }

    fn labels(&self) -> String {
        self.each(|record| format!("{}:{}", record.label(), record.state.name())).join(" ")
    }

    fn job(&self, label: &str) -> &JobRecord<'static> {
        &self.records.iter().find(|(_, _, record)| record.label() == label).unwrap_or_else(|| panic!("no job {label}")).2
    }

    /// `code@line`, errors with a `!`.
    fn told(&self) -> String {
        let tell = |d: &flowmine_schema::diagnostic::Diagnostic| {
            let mark = if d.severity == Severity::Error { "!" } else { "" };
            format!("{mark}{}@{}", d.code, d.line.map_or("-".to_owned(), |line| line.to_string()))
        };
        self.diagnostics.iter().map(tell).collect::<Vec<_>>().join(" ")
    }
}

fn get_with(bytes: Vec<u8>, options: &Options) -> Result<Got, ImportError> {
    let bytes: &'static [u8] = Box::leak(bytes.into_boxed_slice());
    let kind = recognise(bytes)?;
    let mut diagnostics = Diagnostics::default();
    let mut complete = true;
    let (time, cluster, records) = match read(bytes, kind, options, &mut diagnostics)? {
        Imported::Queue { observed_at_ns, cluster, records, whole, .. } => {
            complete = whole;
            (observed_at_ns, cluster, records.into_iter().map(|r| (None, None, r)).collect())
        }
        Imported::Log { cluster, entries, .. } => (None, cluster, entries.into_iter().map(|(t, r)| (Some(t), None, r)).collect()),
        Imported::Accounting { records, .. } => (None, None, records.into_iter().map(|(c, r)| (None, c, r)).collect()),
    };
    Ok(Got { kind, time, cluster, records, whole: complete, diagnostics })
}

fn get(name: &str) -> Got {
    get_with(file(name), &Options { zone_offset_s: Some(0), separator: None }).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn refused(name: &str) -> ImportError {
    get_with(file(name), &Options::default()).err().unwrap_or_else(|| panic!("{name} was read"))
}

fn opt(text: &Option<std::borrow::Cow<'static, str>>) -> String {
    text.as_deref().unwrap_or("-").to_owned()
}

#[test]
fn every_fixture_is_of_the_kind_that_its_name_says() {
    let mut seen = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let expected = match name.split(['_', '.']).next().unwrap() {
            "squeue" | "array" | "truncated" => [FileKind::SqueueText, FileKind::SqueueJson],
            "sacct" => [FileKind::SacctText, FileKind::SacctJson],
            "slurmminer" => [FileKind::SlurmMiner; 2],
            "swf" => [FileKind::Swf; 2],
            _ => continue,
        };
        let kind = recognise(&file(&name)).unwrap();
        assert_eq!(kind, expected[usize::from(name.ends_with("json"))], "{name}");
        seen += 1;
    }
    assert!(seen > 25, "the fixtures are not there");
}

#[test]
fn the_columns_of_the_case_study() {
    let got = get("squeue_case_study_columns.txt");
    assert_eq!(got.records.len(), 17);
    let job = got.job("27");
    assert_eq!(opt(&job.command_line), "/home/fm-bob/my job.sh 20 0 with space");
    assert_eq!((opt(&job.account), opt(&job.group), job.state.name()), ("biology".into(), "fm-bob".into(), "RUNNING"));
    assert_eq!(opt(&got.job("25").dependency), "afterok:23(unfulfilled),afterok:24(unfulfilled)");
    assert_eq!(got.job("29").command_line, None);
    assert_eq!(got.told(), "array_cut@11");
}

#[test]
fn the_default_columns_with_a_name_cut_in_the_middle_and_a_newline() {
    let got = get("squeue_default_columns.txt");
    assert_eq!(
        got.labels(),
        "12_*:PENDING 23:PENDING 24:PENDING 25:PENDING 28_*:PENDING 30+0:PENDING 30+1:PENDING 32:PENDING 33:PENDING 34_*:PENDING 11:PENDING 22:RUNNING \
         27:RUNNING 28_0:RUNNING 28_1:RUNNING 29:RUNNING"
    );
    assert_eq!(opt(&got.job("27").name), "bad\\xff\\xfeutf");
    assert_eq!((opt(&got.job("25").reason), got.job("25").node_list.clone()), ("Dependency".into(), None));
    assert_eq!((got.job("22").reason.clone(), opt(&got.job("22").node_list)), (None, "n1".into()));
    assert_eq!(got.told(), "array_cut@11 !row_rejected@14 !row_rejected@15 columns_cut@3");
}

#[test]
fn the_date_line_is_when_the_queue_was_looked_at() {
    let got = get("squeue_long_with_date.txt");
    assert_eq!(got.time, time::parse("2026-11-20T13:40:50Z"));
    assert_eq!(got.job("28_0").time_limit_s, Some(600));
    let east = Options { zone_offset_s: Some(3600), separator: None };
    let got = get_with(file("squeue_long_with_date.txt"), &east).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(got.time, time::parse("2026-11-20T12:40:50Z"));
}

#[test]
fn columns_that_touch() {
    let got = get("squeue_touching_columns.txt");
    assert_eq!(opt(&got.job("25").dependency), "afterok:23(unfulfilled)", "the second term was cut short");
    assert_eq!(opt(&got.job("25").command_line), "/home/fm-alice/step.sh 1");
    let cut = got.job("34_*");
    assert_eq!((opt(&cut.name), cut.job_id), ("step.sh".into(), 34));
    assert_eq!(got.job("28_1").job_id, 36, "the raw id stands in a column of its own");
    assert_eq!(opt(&got.job("27").name), "bad\\xff\\xfeutf \\x5cx41");
    assert_eq!(got.told(), "dependency_cut@5 array_cut@11 !row_rejected@14 !row_rejected@15 columns_cut@5");
}

#[test]
fn flush_left_and_flush_right_mixed() {
    let got = get("squeue_mixed_widths.txt");
    let rows = got.each(|r| format!("{}/{}/{}/{}/{}", r.label(), opt(&r.name), opt(&r.user), opt(&r.partition), r.state.name()));
    assert_eq!(
        rows,
        ["7/a name with blanks/ann/batch/RUNNING", "8_*/x/jonathan/debug/PENDING", "9/another one, too/bob/batch,gpu/COMPLETING"]
    );
}

#[test]
fn rows_that_a_name_forged_have_the_wrong_number_of_fields() {
    let got = get("squeue_forged_row.txt");
    assert_eq!(got.told(), "!row_rejected@10 !row_rejected@14 !row_rejected@15 array_cut@11");
    assert!(got.records.iter().all(|(_, _, record)| record.job_id != 4242));
    assert_eq!(got.records.len(), 15);
}

#[test]
fn rows_that_a_name_forged_with_the_right_number_of_fields() {
    let got = get("squeue_right_count_forged.txt");
    // 668 has all that a row needs: with a fixed separator it cannot be distinguished from a true one, as the module says.
    assert_eq!(got.labels(), "8:RUNNING 668:RUNNING");
    assert_eq!(
        got.told(),
        "!row_rejected@2 !row_rejected@3 !row_rejected@4 !row_rejected@5 !row_rejected@6 !row_rejected@8 !row_rejected@10"
    );
    let state = got.diagnostics.iter().find(|d| d.line == Some(3)).unwrap();
    assert!(state.message.contains("\"root\", which is not a state"), "{}", state.message);
    assert_eq!(state.column, Some(10));
}

#[test]
fn a_recording_with_a_random_separator_cannot_be_forged() {
    let got = get("squeue_recording.txt");
    assert_eq!(got.told(), "");
    assert_eq!(opt(&got.job("26").name), "line\n4242|fm-bob|biology|forged|RUNNING|2026-11-20T00:00:00");
    let rest = got.job("34_*");
    assert!(rest.to_row().array_tasks.unwrap().ends_with("49,51"), "the list is whole");
}

/// Takes from JSON what the recordings of the texts did not ask for: they are older than these
/// columns.
fn not_recorded(of_text: &mut JobRecord<'static>, of_json: &JobRecord<'static>) {
    let of_json = of_json.clone();
    (of_text.priority, of_text.eligible_ns, of_text.cpu_time_ns) = (of_json.priority, of_json.eligible_ns, of_json.cpu_time_ns);
    (of_text.requested_tres, of_text.allocated_tres) = (of_json.requested_tres, of_json.allocated_tres);
}

#[test]
fn resources_priority_and_eligible_time_in_json() {
    // Read off the files with Python's json.
    let queue = get("squeue_2205.json");
    let job = queue.job("1");
    let tres = "cpu=1,mem=64M,node=1,billing=1";
    assert_eq!((job.priority, opt(&job.requested_tres), opt(&job.allocated_tres)), (Some(4_294_901_759), tres.into(), tres.into()));
    assert_eq!((job.eligible_ns, job.nice, job.gpus()), (Some(1_795_181_774_000_000_000), None, None));
    let held = queue.records.iter().find(|(_, _, record)| record.is_held()).map(|(_, _, record)| record).unwrap();
    assert_eq!((held.priority, held.eligible_ns, held.reason.as_deref()), (Some(0), None, Some("JobHeldUser")));
    let accounting = get("sacct_2205.json");
    let job = accounting.job("1");
    assert_eq!((job.priority, job.eligible_ns), (Some(4_294_901_759), Some(1_795_181_774_000_000_000)));
    assert_eq!((opt(&job.requested_tres), job.cpu_time_ns), (tres.into(), Some(6_075_000)));
}

#[test]
fn text_and_json_of_one_moment_say_the_same() {
    let text = get("squeue_recording.txt");
    let json = get("squeue_2205.json");
    assert_eq!(json.cluster.as_deref(), Some("lab"));
    assert_eq!(json.records.len(), 13);
    for (_, _, of_json) in &json.records {
        let of_text = text.job(&of_json.label());
        let mut expected = of_text.clone();
        // What the text does not have; a list that JSON cuts; reasons and nodes that it leaves out or words differently are compared below.
        expected.exit_code = of_json.exit_code;
        not_recorded(&mut expected, of_json);
        if of_json.label() == "34_*" {
            expected.job = of_json.job.clone();
        }
        assert_eq!(*of_json, expected, "job {}", of_json.label());
    }
    assert_eq!(json.job("5").exit_code, Some(3));
    assert_eq!(json.job("27").exit_code, None, "it runs");
    assert_eq!(json.told(), "array_cut@-");
}

#[test]
fn carets_between_the_columns_of_slurmminer() {
    let got = get("squeue_caret_separator.txt");
    assert_eq!(got.records.len(), 16);
    assert_eq!(opt(&got.job("33").name), "a|b");
    assert_eq!(got.job("35").time_limit_s, Some(600));
    assert_eq!(got.told(), "!row_rejected@14 !row_rejected@15");
}

#[test]
fn two_ids_two_groups_and_nodes_or_reasons() {
    let got = get("squeue_both_ids.txt");
    let rows =
        got.each(|r| format!("{} {} {} {} {} {}", r.label(), r.job_id, r.state.name(), opt(&r.node_list), opt(&r.reason), opt(&r.group)));
    assert_eq!(rows, ["8_3 12 RUNNING n[1-4] - proj", "8_* 8 PENDING - JobArrayTaskLimit proj", "18+1 19 COMPLETING n7 - proj"]);
    assert_eq!(got.job("18+1").start_ns, Some(1_795_179_770_000_000_000));
}

#[test]
fn blanks_that_could_mean_two_things_are_not_guessed() {
    let got = get("squeue_ambiguous_blanks.txt");
    assert_eq!(got.labels(), "7:RUNNING 9:PENDING 10:RUNNING");
    assert_eq!(opt(&got.job("9").reason), "Nodes required for job are DOWN, DRAINED or reserved");
    assert_eq!(got.told(), "!row_ambiguous@3");
}

#[test]
fn a_list_of_tasks_without_its_end() {
    let got = get("array_bracket_cut.txt");
    assert_eq!(got.job("34_*").to_row().array_tasks.as_deref(), Some("1,3,6-7,10-11,14-15,18-19,"), "2 may be 22");
    assert_eq!(got.told(), "array_cut@2");
}

#[test]
fn a_file_that_ends_inside_a_line() {
    let got = get("truncated_last_line.txt");
    assert_eq!(got.labels(), "12_*:PENDING 23:PENDING 24:PENDING 25:PENDING");
    assert_eq!(got.told(), "!row_rejected@6");
    let whole_but_for_the_newline = b"JOBID|NAME|STATE\n7|a|RUNNING\n8|b|PENDING".to_vec();
    let got = get_with(whole_but_for_the_newline, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((got.labels().as_str(), got.told().as_str()), ("7:RUNNING 8:PENDING", "no_last_newline@3"));
}

#[test]
fn a_newline_in_a_record_of_accounting() {
    let options = Options { zone_offset_s: Some(0), separator: None };
    let of = |rows: &str| {
        let text = format!("JobID|State|Submit|WorkDir|\n{rows}");
        get_with(text.into_bytes(), &options).unwrap_or_else(|error| panic!("{error}"))
    };
    // Every record ends with the delimiter: it is joined.
    let whole = of("7|COMPLETED|2026-11-18T06:00:00|/w/a\nb\nc|\n8|RUNNING|2026-11-18T06:00:00|/w|\n");
    assert_eq!((whole.labels().as_str(), whole.diagnostics.errors()), ("7:COMPLETED 8:RUNNING", 0));
    assert_eq!(opt(&whole.job("7").work_dir), "/w/a\nb\nc");
    // One that is never whole is rejected by itself.
    let broken = of("7|COMPLETED|2026-11-18T06:00:00|/w/a\n8|RUNNING|2026-11-18T06:00:00|/w|\n");
    assert!(broken.labels().ends_with("8:RUNNING"), "{}", broken.labels());
    // Without such an end a field that may be cut is left out.
    let text = b"JobID|State|Submit|WorkDir\n7|COMPLETED|2026-11-18T06:00:00|/w/a\nb\n8|RUNNING|2026-11-18T06:00:00|/w\n".to_vec();
    let cut = get_with(text, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((cut.labels().as_str(), cut.diagnostics.errors()), ("7:COMPLETED 8:RUNNING", 1));
    assert!(cut.told().contains("!row_rejected@3"), "{}", cut.told());
    assert_eq!((cut.job("7").work_dir.is_none(), opt(&cut.job("8").work_dir).as_str()), (true, "/w"));
}

#[test]
fn queues_of_several_clusters_in_one_file() {
    let text = "CLUSTER: north\nJOBID|NAME|STATE\n7|a|RUNNING\n\nCLUSTER: south\nJOBID|NAME|STATE\n7|b|PENDING\n";
    match get_with(text.as_bytes().to_vec(), &Options::default()) {
        Err(ImportError::SeveralClusters { clusters }) => assert_eq!(clusters, "north, south"),
        Err(error) => panic!("{error}"),
        Ok(got) => panic!("{}", got.labels()),
    }
}

#[test]
fn an_empty_queue_is_no_error() {
    let got = get("squeue_empty.txt");
    assert_eq!((got.records.len(), got.told().as_str()), (0, ""));
}

#[test]
fn a_queue_of_which_something_could_not_be_read_is_not_whole() {
    for (name, whole) in [
        ("squeue_case_study_columns.txt", true),
        ("squeue_recording.txt", true),
        ("squeue_2205.json", true),
        ("squeue_empty.txt", true),
        ("squeue_forged_row.txt", false),
        ("squeue_default_columns.txt", false),
        ("squeue_truncated.json", false),
        ("truncated_last_line.txt", false),
    ] {
        assert_eq!(get(name).whole, whole, "{name}");
    }
    let got = get_with(br#"{"jobs": [{"job_id": 7, "job_state": "RUNNING"}, {"job_id": 8}]}"#.to_vec(), &Options::default());
    assert!(got.is_ok_and(|got| !got.whole && got.told() == "!job_rejected@-"));
}

#[test]
fn lines_that_end_as_on_windows_and_a_byte_order_mark() {
    for text in [
        "JOBID|STATE\n7|RUNNING\nx|y\n",
        "JOBID STATE\n7 RUNNING\nx y\n",
        "JobID|State\n7|RUNNING\nx|y\n",
        "JOBID\tST\tCURRENT_TIMESTAMP\n7\tR\t1795179770\nx\ty\tz\n",
    ] {
        for text in [text.to_owned(), text.replace('\n', "\r\n"), format!("\u{feff}{text}"), format!("\n\n{text}")] {
            let got = get_with(text.clone().into_bytes(), &Options::default()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let line = if text.starts_with('\n') { 5 } else { 3 };
            let without = if text.contains("JobID") { " no_submit_lines@-" } else { "" };
            assert_eq!((got.labels(), got.told()), ("7:RUNNING".to_owned(), format!("!row_rejected@{line}{without}")), "{text:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_file_has_a_code_of_its_own() {
    let code = |bytes: &[u8]| get_with(bytes.to_vec(), &Options::default()).err().map(|error| error.diagnostic().code);
    for (bytes, expected) in [
        (&b" \n\n"[..], "file_empty"),
        (b"\xfd7zXZ\x00....", "file_packed"),
        (b"\xff\xfeJ\x00O\x00B\x00", "encoding_not_read"),
        (b"nothing of Slurm\n", "file_not_recognised"),
        (b"JOBID|NAME\n1|a\n", "header_bad"),
        (b"{\"jobs\": [", "json_bad"),
        (b"JOBID|STATE\n|RUNNING\n", "nothing_usable"),
    ] {
        assert_eq!(code(bytes), Some(expected), "{}", String::from_utf8_lossy(bytes));
    }
    let diagnostic = refused("squeue_two_polls.txt").diagnostic();
    assert_eq!((diagnostic.code, diagnostic.line), ("several_polls", Some(5)));
}

#[test]
fn several_polls_in_one_file_are_refused() {
    assert_eq!(refused("squeue_two_polls.txt"), ImportError::SeveralPolls { line: 5 });
    let twice = [file("squeue_2205.json"), file("squeue_2205.json")].concat();
    assert!(matches!(get_with(twice, &Options::default()), Err(ImportError::SeveralPolls { .. })));
}

#[test]
fn zones() {
    let text = b"JOBID|STATE|SUBMIT_TIME\n7|RUNNING|2026-11-20T13:00:00\n8|RUNNING|2026-11-20T13:00:01\n9|RUNNING|1795179770\n".to_vec();
    let got = get_with(text.clone(), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(got.told(), "no_zone@2", "once");
    assert_eq!(got.job("7").submit_ns, time::parse("2026-11-20T13:00:00Z"));
    let east = get_with(text, &Options { zone_offset_s: Some(3600), separator: None }).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(east.told(), "");
    assert_eq!(east.job("7").submit_ns, time::parse("2026-11-20T12:00:00Z"));
    assert_eq!(east.job("9").submit_ns, Some(1_795_179_770_000_000_000));
}

#[test]
fn the_data_parser_shapes() {
    let expected =
        "500:RUNNING 501:PENDING 502_*:PENDING 502_3:COMPLETING 504+0:PENDING 504+1:PENDING 506:FAILED 507:CANCELLED 508:REQUEUED";
    let got = get("squeue_data_parser_0.0.40.json");
    assert_eq!(got.labels(), expected);
    assert_eq!((got.time, got.cluster.as_deref()), (Some(1_700_000_300_000_000_000), Some("cori")));
    let running = got.job("500");
    assert_eq!(running.start_ns, Some(1_700_000_100_000_000_000));
    assert_eq!((running.nodes, opt(&running.node_list), running.cpus), (Some(2), "c[1-2]".into(), Some(8)));
    assert_eq!((running.time_limit_s, running.memory_bytes), (Some(3600), Some(4 << 30)));
    assert_eq!((got.job("501").time_limit_s, got.job("501").start_ns), (None, None), "infinite, and 0");
    assert_eq!(got.job("502_*").to_row().array_tasks.as_deref(), Some("4-9%3"));
    assert_eq!(got.job("504+0").memory_bytes, Some(2 << 30), "per CPU");
    assert_eq!((got.job("506").exit_code, got.job("506").exit_signal), (Some(3), None));
    assert_eq!((got.job("507").exit_code, got.job("507").exit_signal), (Some(0), Some(15)));
    assert_eq!(opt(&got.job("506").name), "new\nline | \u{202e} \\x5cx41");
    assert_eq!(got.told(), "");

    let older = get("squeue_data_parser_0.0.39.json");
    assert_eq!(older.labels(), expected.replace("COMPLETING", "RUNNING").replace("508:REQUEUED", "508:NODE_FAIL"));
    for (label, same) in [("500", true), ("504+1", true), ("506", true), ("507", true)] {
        assert_eq!(older.job(label) == got.job(label), same, "{label}");
    }
    let newer = get("squeue_data_parser_0.0.43.json");
    assert_eq!(opt(&newer.job("501").dependency), "afterok:500", "from the submit line");
    assert_eq!(newer.told(), "slurm_said@-");
}

#[test]
fn json_that_was_cut() {
    let got = get("squeue_truncated.json");
    assert_eq!(got.labels(), "500:RUNNING 501:PENDING");
    let told: Vec<_> = got.diagnostics.iter().map(|d| (d.code, d.line.is_some(), d.column.is_some())).collect();
    assert_eq!(told, [("json_bad", true, true)]);
    let whole = file("squeue_truncated.json");
    let nothing = get_with(whole[..200].to_vec(), &Options::default()).err();
    assert!(matches!(nothing, Some(ImportError::Json { line: 9.., .. })), "{nothing:?}");
}

#[test]
fn accounting_with_requeues_steps_and_cancellations() {
    let got = get("sacct_parsable2.txt");
    let first = &got.records[0];
    assert_eq!((first.1.as_deref(), first.2.label().as_str()), (Some("lab"), "1"));
    assert_eq!((first.2.read_bytes, first.2.written_bytes, first.2.time_limit_s), (Some(11_171), Some(1), Some(300)));
    assert_eq!(opt(&got.job("25").dependency), "afterok:23:24");
    assert_eq!((got.job("29").cancelled_by_uid, got.job("30+1").job_id, got.job("30+1").start_ns), (Some(1004), 31, None));
    assert_eq!((got.job("6").exit_code, got.job("28_0").job_id), (Some(2), 35));
    // A newline in job 5's name, and in its submit line, and so for 26; 33 has the delimiter in its name.
    assert!(got.records.iter().all(|(_, _, record)| ![5, 26, 33, 4242].contains(&record.job_id)));
    assert!(got.diagnostics.iter().all(|d| ["row_rejected", "sacct_step"].contains(&d.code)), "{}", got.told());

    let got = get("sacct_requeued_job.txt");
    let rows = got.each(|r| format!("{} {} {:?} {:?}", r.label(), r.state.name(), r.submit_ns.unwrap() / 1_000_000_000, r.read_bytes));
    assert_eq!(rows, ["22 REQUEUED 1795182047 Some(11171)", "22 COMPLETED 1795182050 Some(11171)"]);
}

#[test]
fn accounting_recorded_with_a_random_separator_has_every_job() {
    let got = get("sacct_recording.txt");
    assert_eq!(got.told(), "");
    let name = "line\n4242|fm-bob|biology|forged|RUNNING|2026-11-20T00:00:00";
    assert_eq!((opt(&got.job("5").name), got.job("5").exit_code, got.job("5").read_bytes), (name.into(), Some(3), Some(11_171)));
    assert_eq!(opt(&got.job("33").name), "a|b");
}

#[test]
fn accounting_as_text_and_json_says_the_same() {
    let text = get("sacct_recording.txt");
    let json = get("sacct_2205.json");
    assert_eq!(json.told(), "no_submit_lines@-", "22.05 does not tell it, and that is said");
    let attempts = |got: &Got| -> BTreeMap<(String, Option<i64>), JobRecord<'static>> {
        got.records.iter().map(|(_, _, record)| ((record.label(), record.submit_ns), record.clone())).collect()
    };
    let of_text = attempts(&text);
    let mut compared = 0;
    for (attempt, of_json) in attempts(&json) {
        let Some(mut expected) = of_text.get(&attempt).cloned() else { continue };
        // 22.05's JSON has no submit line, says no uid, and 0 for every exit code.
        (expected.submit_line, expected.dependency, expected.cancelled_by_uid) = (None, None, None);
        if expected.state.name() == "FAILED" {
            assert_eq!((expected.exit_code, of_json.exit_code), (Some(3), None));
            expected.exit_code = None;
        }
        // The text has the whole job's memory, JSON that of a node or CPU: the same for jobs of one CPU, which these are.
        assert_eq!((of_json.nodes, of_json.cpus), (Some(1), Some(1)), "{attempt:?}");
        (expected.memory_bytes, expected.total_memory_bytes) = (expected.total_memory_bytes, None);
        not_recorded(&mut expected, &of_json);
        assert_eq!(of_json, expected, "{attempt:?}");
        compared += 1;
    }
    assert!(compared >= 9, "only {compared} jobs are in both");
    assert_eq!(json.job("12_*").to_row().array_tasks.as_deref().map(|tasks| &tasks[..9]), Some("1,3,5,7,9"));
    assert!(json.job("34_*").to_row().array_tasks.unwrap().ends_with("40-41,43,46-47,49,51"), "the mask is whole where the text is cut");
}

#[test]
fn accounting_in_data_parser_shape() {
    let got = get("sacct_data_parser_0.0.40.json");
    assert_eq!(got.labels(), "500:COMPLETED 501:FAILED 502_*:PENDING 502_3:CANCELLED 504+1:COMPLETED");
    let job = got.job("500");
    assert_eq!((job.read_bytes, job.written_bytes, job.exit_code, job.cpus, job.nodes), (Some(1500), Some(250), Some(0), Some(4), Some(1)));
    assert_eq!((job.time_limit_s, job.memory_bytes, job.start_ns), (Some(3600), Some(4 << 30), Some(1_700_000_100_000_000_000)));
    let failed = got.job("501");
    assert_eq!((failed.exit_code, opt(&failed.dependency), opt(&failed.comment)), (Some(3), "afterok:500".into(), "wf=7".into()));
    let pending = got.job("502_*");
    assert_eq!((pending.to_row().array_tasks.as_deref(), pending.start_ns, pending.time_limit_s), (Some("4-9%3"), None, None));
    assert_eq!((pending.nodes, pending.node_list.clone(), pending.cpus), (Some(2), None, Some(4)));
    assert_eq!((got.job("502_3").exit_signal, got.job("502_3").cancelled_by_uid), (Some(9), None), "who cancelled is a name here");
    assert_eq!(got.told(), "");
}

#[test]
fn accounting_in_columns_is_refused() {
    let error = refused("sacct_plain_columns.txt").to_string();
    assert!(error.starts_with("line 1, column 1: not sacct --parsable2") && error.contains("--parsable2"), "{error}");
}

#[test]
fn slurmminers_log() {
    let got = get("slurmminer.tsv");
    assert_eq!(got.kind, FileKind::SlurmMiner);
    let of_22: Vec<_> = got.records.iter().filter(|(_, _, r)| r.job_id == 22).map(|(t, _, r)| (*t, r.state.name().to_owned())).collect();
    let at = |text| time::parse(text);
    assert_eq!(of_22, [(at("2026-11-20T13:40:50.016044Z"), "RUNNING".to_owned()), (at("2026-11-20T13:40:51Z"), "COMPLETING".to_owned())]);
    assert_eq!(opt(&got.job("25").dependency), "afterok:23(unfulfilled),afterok:24(unfulfilled)");
    assert_eq!(opt(&got.job("27").name), "badutf \\x5cx41", "the tool drops bytes that are no UTF-8");
    // Line 21: columns shifted by a name with the separator. Line 22: a tab in a name.
    assert_eq!(got.told(), "slurmminer_array@15 !row_rejected@21 !row_rejected@22");
}

#[test]
fn a_copy_of_slurmminers_log_with_quotes() {
    let got = get("slurmminer_copy.csv");
    let rows = got.each(|r| format!("{} {} {} {}", r.label(), r.state.name(), opt(&r.name), opt(&r.dependency)));
    assert_eq!(
        rows,
        [
            "100 PENDING pre.sh -",
            "101 PENDING say \"hi\", twice afterok:100(unfulfilled),afterany:99(unfulfilled)",
            "102 PENDING two\nlines afterok:100(unfulfilled)",
            "100 RUNNING pre.sh -"
        ]
    );
    assert_eq!(got.told(), "");
}

#[test]
fn separators_that_are_found_and_separators_that_are_said() {
    for separator in ["|", ",", ";", "\t", "^^^", "@@", " | ", "~", "::", "\u{1f}", "xyZ1", "£"] {
        let text = ["JOBID,STATE,NAME,SUBMIT_TIME", "7,RUNNING,a name,1795179770", "8_[1-3],PENDING,b,1795179771"]
            .join("\n")
            .replace(',', separator)
            + "\n";
        for said in [None, Some(separator.to_owned())] {
            let got = get_with(text.clone().into_bytes(), &Options { zone_offset_s: None, separator: said })
                .unwrap_or_else(|error| panic!("{separator:?}: {error}"));
            assert_eq!(got.labels(), "7:RUNNING 8_*:PENDING", "{separator:?}");
            assert_eq!(opt(&got.job("7").name).trim(), "a name", "{separator:?}");
            assert_eq!(got.told(), "");
        }
    }
    let wrong = get_with(b"JOBID|STATE\n7|RUNNING\n".to_vec(), &Options { zone_offset_s: None, separator: Some(";".into()) });
    assert!(matches!(wrong, Err(ImportError::Header { line: 1, .. })));
}

#[test]
fn what_is_none_of_the_kinds_is_refused_with_its_line() {
    for (bytes, expected) in [
        (&b""[..], "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"\x1f\x8b\x08rest", "packed with gzip"),
        (b"\xff\xfeJ\0O\0", "UTF-16"),
        (b"\nhello there\nJOB 7\n", "line 2 is \"hello there\""),
        (b"{\"a\": 1}", "line 1 is"),
        (b"JOBID|NAME\n7|a\n", "line 1, column 1: not squeue text: the header has no column STATE"),
        (b"JobID|Elapsed\n7|00:01\n", "line 1, column 1: not sacct --parsable2: the header has no column State"),
        (b"JOBID STATE\nx y\nz\n", "not one of the 2 rows can be read as squeue text, the first in line 2"),
        (b"{\"jobs\": [{\"job_state\": \"RUNNING\"}]}", "not one of the 1 rows can be read as squeue --json"),
    ] {
        let error = get_with(bytes.to_vec(), &Options::default()).err().unwrap_or_else(|| panic!("{bytes:?} was read")).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_wrong_guess_is_an_error_that_names_the_line() {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let bytes = file(&name);
        let Ok(right) = recognise(&bytes) else { continue };
        for kind in import::FileKind::ALL.into_iter().filter(|&kind| kind != right) {
            // A SLURMminer log is squeue's text with a column more, and any squeue text lacks that column.
            if (kind, right) == (FileKind::SqueueText, FileKind::SlurmMiner) {
                continue;
            }
            let error = read(&bytes, kind, &Options::default(), &mut Diagnostics::default());
            // Nothing is nothing in every shape.
            let error = error.err().unwrap_or_else(|| panic!("{name} was read as {}", kind.name())).to_string();
            assert!(error.contains("line ") || error.contains("number 1 of the file"), "{name} as {}: {error}", kind.name());
        }
    }
}

/// All fixtures, with what a hostile hand did to one of them.
fn mutated() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let files: Vec<Vec<u8>> =
        names.iter().map(|path| std::fs::read(path).unwrap()).map(|bytes| bytes[..bytes.len().min(6000)].to_vec()).collect();
    let edit = (
        any::<prop::sample::Index>(),
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..4),
            prop::sample::select(vec![
                "\n",
                "|",
                "\t",
                "^^^",
                "\"",
                "\\",
                "{",
                "}",
                "[",
                "]",
                ",",
                " ",
                "_[",
                "+",
                ".",
                "\u{1f}",
                "null",
                "\\u",
                "0x",
                "-",
                ":",
                "99999999999999999999"
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ],
        0usize..6,
    );
    (prop::sample::select(files), prop::collection::vec(edit, 1..8)).prop_map(|(original, edits)| {
        let mut bytes = original.clone();
        for (at, put, take) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + take).min(bytes.len());
            bytes.splice(at..end, put);
        }
        (original, bytes)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_on_a_mutated_file((_, bytes) in mutated()) {
        let _ = recognise(&bytes);
        for kind in FileKind::ALL {
            let _ = read(&bytes, kind, &Options::default(), &mut Diagnostics::default());
        }
    }

    #[test]
    fn nothing_panics_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), header in prop::sample::select(vec![
        "", "JOBID STATE NAME\n", "JOBID|STATE|NAME\n", "   JOBID   NAME ST\n", "JobID|State|Start\n", "JOBID\tST\tCURRENT_TIMESTAMP\n", "{\"jobs\":[", "{\"jobs\":[{\"job_id\":",
    ]), separator in prop::option::of("[|, a]{0,2}")) {
        let all = [header.as_bytes(), &bytes].concat();
        let _ = recognise(&all);
        for kind in FileKind::ALL {
            let _ = read(&all, kind, &Options { zone_offset_s: None, separator: separator.clone() }, &mut Diagnostics::default());
        }
    }

    /// With a separator that no value holds, rows come back as they were, and every line is either
    /// read or reported.
    #[test]
    fn every_line_is_read_or_told(names in prop::collection::vec("[a-z |]{0,12}", 1..20)) {
        let mut text = String::from("JOBID|NAME|STATE\n");
        for (id, name) in names.iter().enumerate() {
            text += &format!("{}|{name}|RUNNING\n", id + 1);
        }
        let mut diagnostics = Diagnostics::default();
        let read = match read(text.as_bytes(), FileKind::SqueueText, &Options::default(), &mut diagnostics) {
            Ok(Imported::Queue { records, .. }) => records.len(),
            _ => 0,
        };
        prop_assert_eq!(read as u64 + diagnostics.errors(), names.len() as u64);
    }
}
