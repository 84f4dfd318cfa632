//! No original name comes through: rows made at random, and a recorded real queue.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use flowmine_correlate::cases::{AccountGroup, CaseNotion, Dependency, Entities};
use flowmine_correlate::{EventLog, Filter, Jobs, Timestamp};
use flowmine_dataset::{Dataset, DatasetError};
use flowmine_extract_slurm::import_files;
use flowmine_privacy::pseudonym::{PseudonymError, Pseudonymiser};
use flowmine_privacy::{DropColumns, RowRules};
use flowmine_schema::tables::{JobDependency, JobState};
use flowmine_schema::{ColumnKind, View};
use flowmine_slurm::host_list;
use proptest::prelude::*;

const KEY: &[u8] = b"0123456789abcdef0123456789abcdef";
/// Crockford's base 32.
const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const TAGS: &[&str] = &["user", "account", "group", "host", "partition", "qos", "cluster", "name", "comment", "detail", "word"];

fn with_key(key: &[u8]) -> Pseudonymiser {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), key).unwrap();
    Pseudonymiser::from_key_file(file.path()).unwrap().0
}

/// The texts of a row, by column; fails when one was forgotten.
fn texts<'r>(row: &'r JobState<'_>) -> Vec<(&'static str, &'r str)> {
    let all = [
        ("cluster", Some(&row.cluster)),
        ("job", Some(&row.job)),
        ("change", Some(&row.change)),
        ("changed", row.changed.as_ref()),
        ("state", row.state.as_ref()),
        ("source", Some(&row.source)),
        ("array_tasks", row.array_tasks.as_ref()),
        ("name", row.name.as_ref()),
        ("user", row.user.as_ref()),
        ("group", row.group.as_ref()),
        ("account", row.account.as_ref()),
        ("partition", row.partition.as_ref()),
        ("qos", row.qos.as_ref()),
        ("reason", row.reason.as_ref()),
        ("comment", row.comment.as_ref()),
        ("activity", row.activity.as_ref()),
        ("command", row.command.as_ref()),
        ("arguments", row.arguments.as_ref()),
        ("work_dir", row.work_dir.as_ref()),
        ("node_list", row.node_list.as_ref()),
        ("features", row.features.as_ref()),
        ("tres_per_node", row.tres_per_node.as_ref()),
        ("licenses", row.licenses.as_ref()),
        ("submit_node", row.submit_node.as_ref()),
        ("requested_tres", row.requested_tres.as_ref()),
        ("allocated_tres", row.allocated_tres.as_ref()),
        ("submit_line", row.submit_line.as_ref()),
    ];
    let columns: Vec<&str> = JobState::COLUMNS.iter().filter(|c| c.kind == ColumnKind::Text).map(|c| c.name).collect();
    assert_eq!(all.map(|(name, _)| name).to_vec(), columns);
    all.into_iter().filter_map(|(name, text)| Some((name, &**text?))).collect()
}

fn dependency_texts<'r>(row: &'r JobDependency<'_>) -> Vec<(&'static str, &'r str)> {
    let all = [
        ("cluster", Some(&row.cluster)),
        ("job", Some(&row.job)),
        ("operator", row.operator.as_ref()),
        ("kind", Some(&row.kind)),
        ("target_kind", Some(&row.target_kind)),
        ("state", row.state.as_ref()),
        ("source", Some(&row.source)),
    ];
    let columns: Vec<&str> = JobDependency::COLUMNS.iter().filter(|c| c.kind == ColumnKind::Text).map(|c| c.name).collect();
    assert_eq!(all.map(|(name, _)| name).to_vec(), columns);
    all.into_iter().filter_map(|(name, text)| Some((name, &**text?))).collect()
}

/// The codes in a text, and what is left of it with a blank in the place of each.
fn without_codes(text: &str) -> (Vec<&str>, String) {
    let (mut codes, mut rest) = (Vec::new(), String::new());
    let mut at = 0;
    'text: while at < text.len() {
        for tag in TAGS {
            let Some(code) = text[at..].strip_prefix(tag).and_then(|t| t.strip_prefix('-')).and_then(|t| t.get(..16)) else { continue };
            if code.chars().all(|c| ALPHABET.contains(c)) {
                let end = at + tag.len() + 17;
                codes.push(&text[at..end]);
                rest.push(' ');
                at = end;
                continue 'text;
            }
        }
        let c = text[at..].chars().next().unwrap();
        rest.push(c);
        at += c.len_utf8();
    }
    (codes, rest)
}

#[test]
fn codes_of_the_same_key_stay_where_that_is_asked_for() {
    let texts = [
        "ann",
        "/home/ann/run.sh -n 4 --in=/data/a.bam X=ann",
        "n[1-3,7]",
        "cpu=4,gres/gpu:a100=2",
        "ReqNodeNotAvail, UnavailableNodes:n1",
    ];
    let (plain, keeping) = (with_key(KEY), with_key(KEY).keeping_codes());
    for text in texts {
        let row = || {
            let some = || Some(text.into());
            JobState {
                cluster: text.into(),
                state: some(),
                name: some(),
                user: some(),
                group: some(),
                account: some(),
                partition: some(),
                qos: some(),
                reason: some(),
                comment: some(),
                command: some(),
                arguments: some(),
                work_dir: some(),
                node_list: some(),
                features: some(),
                array_tasks: some(),
                tres_per_node: some(),
                submit_line: some(),
                ..JobState::default()
            }
        };
        let once = plain.row(row());
        assert_eq!(keeping.row(once.clone()), once);
        assert_ne!(plain.row(once.clone()), once);
        assert_eq!(keeping.row(row()), once, "names become the same codes");
    }
    let other = with_key(b"another key of more than sixteen bytes");
    assert_ne!(
        other.row(plain.row(JobState { user: Some("ann".into()), ..JobState::default() })).user.as_deref(),
        Some(&*plain.user("ann"))
    );
}

#[test]
fn the_code_is_hmac_sha_256_as_documented() {
    // Computed with another implementation (Python's hmac and hashlib).
    let p = with_key(KEY);
    assert_eq!(p.user("alice"), "user-SCV7489CR5216THK");
    assert_eq!(p.host("n1"), "host-VYW9Q1Z66MMVA1T2");
    assert_eq!(p.account("physics"), "account-2KDE15HS8Q6RG111");
    assert_eq!(p.path("/home/alice/./step.sh"), "/name-7297WNT5457SX036/name-DC9MV1C2FS221RH1/./name-984THZNG88JX7C8T.sh");
}

#[test]
fn columns_one_by_one() {
    let p = with_key(KEY);
    let name = |text: &str| p.path(text);
    let row = |row: JobState<'static>| p.row(row);
    let arguments =
        |text: &'static str| row(JobState { arguments: Some(text.into()), ..JobState::default() }).arguments.unwrap().into_owned();
    assert_eq!(arguments("4 -0.25 1e-6 1234567"), format!("4 -0.25 1e-6 {}", name("1234567")));
    assert_eq!(arguments("-n 4 - -- -n4"), format!("-n 4 - -- -{}", name("n4")));
    assert_eq!(
        arguments("-name --in=/data/a.bam  X=ann"),
        format!("-{} --{}={} {}={}", name("name"), name("in"), name("/data/a.bam"), name("X"), name("ann"))
    );
    assert_eq!(
        arguments("ann.smith a.bam.bai ~/x ../y"),
        format!("{} {}.bam.bai ~/{} ../{}", name("ann.smith"), name("a"), name("x"), name("y"))
    );
    assert!(!name("ann.smith").contains('.') && !name(".bashrc").contains('.') && !name("x.sam").contains('.'));
    assert_eq!(name("x.TAR.gz"), format!("{}.TAR.gz", name("x")));

    let reason = |text: &'static str| row(JobState { reason: Some(text.into()), ..JobState::default() }).reason.unwrap().into_owned();
    for stays in ["Resources", "QOSMaxCpuPerUserLimit", "ReqNodeNotAvail, Reserved for maintenance", "launch_failed_requeued_held"] {
        assert_eq!(reason(stays), stays);
    }
    assert!(reason("ReqNodeNotAvail, UnavailableNodes:n[1-2]").starts_with("ReqNodeNotAvail, detail-"));
    assert!(reason("ann broke it").starts_with("detail-"));
    assert!(reason("Resourceful ann").starts_with("detail-"));

    let resources = |text: &'static str| {
        row(JobState { requested_tres: Some(text.into()), ..JobState::default() }).requested_tres.unwrap().into_owned()
    };
    for stays in ["billing=4,cpu=4,gres/gpu=2,mem=3.5G,node=1", "gres:gpu:2", "gpu:2(IDX:0-1)", ""] {
        assert_eq!(resources(stays), stays);
    }
    let typed = resources("cpu=1,gres/gpu:annscard=2");
    assert!(typed.starts_with("cpu=1,gres/gpu:word-") && typed.ends_with("=2"), "{typed}");
    let changed = row(JobState { changed: Some("name,time_limit_s,dependency,ann".into()), ..JobState::default() }).changed.unwrap();
    assert!(changed.starts_with("name,time_limit_s,dependency,word-"), "{changed}");

    let nodes = |text: &'static str| row(JobState { node_list: Some(text.into()), ..JobState::default() }).node_list.unwrap().into_owned();
    let mut hosts = ["n1", "n2", "m01"].map(|host| p.host(host));
    hosts.sort_unstable();
    assert_eq!(nodes("n[1-2],m01"), hosts.join(","));
    assert_eq!(nodes("n[1-2"), p.host("n[1-2"));
    assert_eq!(nodes("n[1-100001]"), p.host("n[1-100001]"));

    let out = row(JobState {
        job: "8_3".into(),
        state: Some("RUNNING".into()),
        change: "left".into(),
        source: "sacct-json".into(),
        array_tasks: Some("3-9%3".into()),
        partition: Some("debug,short".into()),
        cancelled_by_uid: Some(1001),
        job_id: 8,
        name: Some("".into()),
        ..JobState::default()
    });
    let kept = (&*out.job, out.state.as_deref(), &*out.change, &*out.source, out.array_tasks.as_deref(), out.job_id, out.name.as_deref());
    assert_eq!(kept, ("8_3", Some("RUNNING"), "left", "sacct-json", Some("3-9%3"), 8, Some("")));
    assert_eq!(out.partition.unwrap(), format!("{},{}", p.partition("debug"), p.partition("short")));
    assert_eq!(out.cancelled_by_uid, None);
    assert_eq!(out.cluster, "");
    // The same word is another code as another kind of name.
    let kinds =
        BTreeSet::from([p.user("n1"), p.account("n1"), p.group("n1"), p.host("n1"), p.cluster("n1"), p.partition("n1"), p.path("n1")]);
    let codes: BTreeSet<&str> = kinds.iter().map(|code| code.split_once('-').unwrap().1).collect();
    assert_eq!(codes.len(), 7);
}

#[test]
fn key_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("key");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        Pseudonymiser::from_key_file(&path)
    };
    for short in [&b""[..], b"123456789012345"] {
        let error = read(short).unwrap_err();
        assert!(matches!(error, PseudonymError::Short { length, .. } if length == short.len()), "{error}");
        assert!(error.to_string().contains("head -c 32 /dev/urandom"), "{error}");
    }
    assert!(matches!(read(&[0; 64]).unwrap_err(), PseudonymError::Monotonous { .. }));
    assert!(matches!(read(&KEY.repeat(1 << 16)).unwrap_err(), PseudonymError::Long { .. }));
    assert!(matches!(Pseudonymiser::from_key_file(dir.path()).unwrap_err(), PseudonymError::Read { .. }));
    assert!(matches!(Pseudonymiser::from_key_file(dir.path().join("none")).unwrap_err(), PseudonymError::Read { .. }));
    let (p, _) = read(&KEY[..16]).unwrap();
    assert!(!format!("{p:?}").contains("48, 49"), "{p:?}");
    // All bytes count, the line end too.
    assert_ne!(read(&[KEY, b"\n"].concat()).unwrap().0.user("ann"), read(KEY).unwrap().0.user("ann"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (mode, warned) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let warning = Pseudonymiser::from_key_file(&path).unwrap().1;
            assert_eq!(warning.is_some(), warned, "{mode:o}");
            assert!(warning.is_none_or(|w| w.to_string().contains("chmod 600") && w.to_string().contains(&format!("{mode:04o}"))));
        }
    }
}

/// A name that occurs in nothing that may stay: no tag, extension or word of Slurm's holds `zq`, no
/// code holds L, O or U.
fn base() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,3}zq[a-z0-9]{1,6}", "[A-Z]{0,2}LOU[A-Z]{1,4}"]
}

/// Names among all that can stand around them.
fn messy() -> impl Strategy<Value = String> {
    let around = prop::sample::select(vec![
        "",
        " ",
        "/",
        ".",
        "..",
        "-",
        "--",
        "_",
        "=",
        ",",
        "[",
        "]",
        "[1-3]",
        ":",
        ";",
        "\n",
        "\t",
        "\u{2028}",
        "%",
        "'",
        "\"",
        "ü",
        "\\x",
        "@",
        "~",
        "~/",
        ".sh",
        ".bam.bai",
        ".",
        "ReqNodeNotAvail",
        "Resources",
        "PENDING",
        "12",
        "1234567",
        "8_",
        "user-",
        "name-0123456789ABCDEF",
        " -x",
        "(",
        "|",
    ]);
    prop::collection::vec((around.clone(), prop_oneof![3 => base(), 1 => around.prop_map(str::to_owned)]), 0..4)
        .prop_map(|pieces| pieces.into_iter().map(|(before, piece)| before.to_owned() + &piece).collect())
}

prop_compose! {
    fn row()(t in prop::collection::vec(messy(), 25), uid in any::<i64>()) -> JobState<'static> {
        let text = |at: usize| t[at].clone().into();
        let some = |at: usize| Some(t[at].clone().into());
        JobState {
            cluster: text(0), job: text(1), change: text(2), state: some(3), source: text(4), array_tasks: some(5), name: some(6),
            user: some(7), group: some(8), account: some(9), partition: some(10), qos: some(11), reason: some(12), comment: some(13),
            activity: some(14), command: some(15), arguments: some(16), work_dir: some(17), node_list: some(18), submit_line: some(19),
            changed: some(20), features: some(21), tres_per_node: some(22), requested_tres: some(23), allocated_tres: some(24),
            cancelled_by_uid: Some(uid), job_id: 7, cpus: Some(4),
            ..JobState::default()
        }
    }
}

fn holds_a_name(text: &str) -> bool {
    text.contains("zq") || text.contains("LOU")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_name_survives_in_a_row(row in row()) {
        let p = with_key(KEY);
        let out = p.row(row.clone());
        for (column, text) in texts(&out) {
            prop_assert!(!holds_a_name(text), "{column}: {text:?} from {row:?}");
            let original = texts(&row).into_iter().find(|(name, _)| *name == column).unwrap().1;
            prop_assert!(!original.is_empty() || text.is_empty(), "{column}: {text:?} from nothing");
        }
        prop_assert_eq!((out.cancelled_by_uid, out.job_id, out.cpus), (None, 7, Some(4)));
        // The same key gives the same, whatever was asked before; a clone too.
        prop_assert_eq!(&p.row(row.clone()), &out);
        prop_assert_eq!(&p.clone().row(row.clone()), &out);
        prop_assert_eq!(&with_key(KEY).row(row.clone()), &out);
        // Another key gives no code again.
        let other = with_key(b"another key of more than sixteen").row(row);
        let codes = |row: &JobState<'_>| -> BTreeSet<String> {
            texts(row).iter().flat_map(|(_, text)| without_codes(text).0).map(str::to_owned).collect()
        };
        prop_assert!(codes(&out).is_disjoint(&codes(&other)));
    }

    #[test]
    fn no_name_survives_in_a_dependency(t in prop::collection::vec(messy(), 7)) {
        let row = JobDependency {
            cluster: t[0].clone().into(), job: t[1].clone().into(), operator: Some(t[2].clone().into()), kind: t[3].clone().into(),
            target_kind: t[4].clone().into(), state: Some(t[5].clone().into()), source: t[6].clone().into(), target_job_id: Some(3),
            ..JobDependency::default()
        };
        let out = with_key(KEY).row(row);
        for (column, text) in dependency_texts(&out) {
            prop_assert!(!holds_a_name(text), "{column}: {text:?}");
        }
        prop_assert_eq!(out.target_job_id, Some(3));
    }

    /// Different paths stay different and equal ones equal; the file name of a path has the same
    /// code by itself; folders stay around what is in them.
    #[test]
    fn paths_keep_their_structure(folder in "/?([ab./]{0,3}/)?", file in "[ab.sh ]{1,5}", other in "/?([ab./]{0,3}/)?[ab.sh ]{1,5}") {
        let p = with_key(KEY);
        let path = format!("{folder}{file}");
        prop_assert_eq!(p.path(&path) == p.path(&other), path == other);
        prop_assert_eq!(p.path(&path), p.path(&folder) + &p.path(&file));
        let row = JobState { command: Some(path.into()), activity: Some(file.clone().into()), name: Some(file.into()), ..JobState::default() };
        let out = p.row(row);
        let (command, activity) = (out.command.unwrap(), out.activity.unwrap());
        prop_assert_eq!(command.rsplit('/').next().unwrap(), &*activity);
        prop_assert_eq!(out.name.unwrap(), activity);
    }
}

fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(path)
}

fn recorded(dir: &Path) -> Dataset {
    let dataset = Dataset::open_or_create(&dir.join("dataset")).unwrap();
    let files = ["case-study/polls", "case-study/sacct-token.txt.gz", "case-study/sacct.json.gz"].map(fixture);
    let options = import_files::Options { cluster: Some("lab".to_owned()), ..import_files::Options::default() };
    let reports = import_files::import_files(&dataset, &files, &options, |_, _| {}).unwrap();
    assert!(reports.iter().filter(|report| report.changes > 0).count() > 10);
    dataset
}

fn rows(dataset: &Dataset) -> (Vec<JobState<'static>>, Vec<JobDependency<'static>>) {
    let (mut states, mut dependencies) = (Vec::new(), Vec::new());
    let read = dataset.read::<JobState<'static>, DatasetError>(|row| {
        states.push(row.into_owned());
        Ok(())
    });
    read.unwrap();
    let read = dataset.read::<JobDependency<'static>, DatasetError>(|row| {
        dependencies.push(row.into_owned());
        Ok(())
    });
    read.unwrap();
    (states, dependencies)
}

/// Extensions that occur in the recording and stay. Beside codes and these no text may hold a word
/// of two letters or more.
const EXTENSIONS: &[&str] = &["sh", "exe"];

/// Texts that stay because Slurm or flowmine chose them, of those that the recording can bring:
/// states, reasons, words of dependencies, sources.
const CHOSEN: &[&str] = &[
    "ELIGIBLE",
    "HELD",
    "RELEASED",
    "CHANGED",
    "held",
    "released",
    "changed",
    "withdrawn",
    "PENDING",
    "RUNNING",
    "COMPLETING",
    "COMPLETED",
    "CANCELLED",
    "FAILED",
    "TIMEOUT",
    "DEADLINE",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "REQUEUED",
    "SPECIAL_EXIT",
    "SUSPENDED",
    "LEFT",
    "BeginTime",
    "DeadLine",
    "Dependency",
    "DependencyNeverSatisfied",
    "JobArrayTaskLimit",
    "JobHeldUser",
    "JobLaunchFailure",
    "NodeDown",
    "NonZeroExitCode",
    "OutOfMemory",
    "Priority",
    "Resources",
    "TimeLimit",
    "job requeued in held state",
    "job requeued in special exit state",
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
    "new",
    "state",
    "requeued",
    "left",
    "accounting",
    "after",
    "afterany",
    "afterburstbuffer",
    "aftercorr",
    "afternotok",
    "afterok",
    "singleton",
    "unfulfilled",
    "failed",
    "and",
    "or",
    "job",
    "array",
    "array_task",
    "user_and_name",
    "squeue",
    "sacct",
    "sacct-json",
    "(unknown)",
];

/// Whether a column holds words from a list; what is not on it must be a code.
fn of_words(column: &str) -> bool {
    column.contains("tres") || matches!(column, "state" | "change" | "changed" | "source" | "reason" | "operator" | "kind" | "target_kind")
}

#[test]
fn nothing_of_a_recorded_queue_comes_through() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let (states, dependencies) = rows(&dataset);
    let rules = RowRules { pseudonymiser: Some(with_key(KEY)), ..RowRules::default() };

    // The names: everything in the columns of names, and its parts. Left out are numbers, words of fewer than three letters, which would be found
    // in anything, and what may stay.
    let mut names = BTreeSet::new();
    for (column, text) in states.iter().flat_map(texts).chain(dependencies.iter().flat_map(dependency_texts)) {
        if of_words(column) {
            continue;
        }
        names.insert(text.to_owned());
        names.extend(text.split(['/', ' ', ',', '=']).map(str::to_owned));
        names.extend(text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned));
        if column == "node_list" {
            names.extend(host_list::expand(text, 1000).into_iter().flatten());
        }
    }
    let hosts: Vec<String> = (1..=4).map(|n| format!("n{n}")).collect();
    assert!(hosts.iter().all(|host| names.contains(host)));
    for known in ["fm-alice", "physics", "fm-physics", "debug", "normal", "lab", "pre-processing.sh", "flowmine", "workflow"] {
        assert!(names.contains(known), "{known} is a name in the recording");
    }
    names.retain(|name| name.chars().filter(|c| c.is_alphabetic()).count() >= 3 && !EXTENSIONS.contains(&name.as_str()));
    names.extend(hosts);
    assert!(names.len() > 150, "{}", names.len());

    let check = |what: &str, text: &str, chosen: bool| {
        // Names of our columns, and Slurm's own resources with their counts.
        let of_columns = |name: &str| name == "dependency" || JobState::COLUMNS.iter().any(|column| column.name == name);
        let of_resources = |word: &str| ["billing", "cpu", "energy", "gres", "gpu", "mem", "node", "G", "K", "M"].contains(&word);
        let all_of = |is_known: &dyn Fn(&str) -> bool, at: fn(char) -> bool| text.split(at).filter(|piece| !piece.is_empty()).all(is_known);
        let ours = text.contains([',', '=']) && (all_of(&of_columns, |c| c == ',') || all_of(&of_resources, |c| !c.is_alphabetic()));
        if chosen && (CHOSEN.contains(&text) || of_columns(text) || ours) {
            return;
        }
        let rest = without_codes(text).1;
        for name in &names {
            assert!(!rest.contains(name), "{what}: {name:?} in {text:?}");
        }
        for word in rest.split(|c: char| !c.is_alphabetic()).filter(|word| word.chars().count() > 1) {
            assert!(EXTENSIONS.contains(&word), "{what}: {word:?} in {text:?}");
        }
    };
    for row in &states {
        let row = rules.apply(row.clone());
        texts(&row).iter().for_each(|(column, text)| check(column, text, of_words(column)));
        assert_eq!(row.cancelled_by_uid, None);
    }
    for row in &dependencies {
        let row = rules.apply(row.clone());
        dependency_texts(&row).iter().for_each(|(column, text)| check(column, text, of_words(column)));
    }
    assert!(states.iter().any(|row| row.cancelled_by_uid.is_some()));

    let jobs = Jobs::read_with(&dataset, Timestamp::Reported, &rules).unwrap();
    let all: Vec<&str> = jobs.strings.iter().collect();
    assert!(all.len() > 300);
    for text in all {
        check("Jobs.strings", text, true);
    }
    for notion in [&Dependency as &dyn CaseNotion, &AccountGroup] {
        for id in notion.assign(&Entities::new(&jobs)).ids {
            check("case id", id.strip_prefix(notion.name()).unwrap(), false);
        }
    }
    for diagnostic in jobs.diagnostics.iter() {
        check("diagnostic", &diagnostic.message, true);
    }
}

#[test]
fn structure_stays() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let rules = RowRules { pseudonymiser: Some(with_key(KEY)), ..RowRules::default() };
    let p = rules.pseudonymiser.as_ref().unwrap();
    let plain = Jobs::read(&dataset, Timestamp::Reported).unwrap();
    let coded = Jobs::read_with(&dataset, Timestamp::Reported, &rules).unwrap();
    let events = |jobs: &Jobs| -> Vec<(String, i64, u32, String)> {
        let of = |e: &flowmine_correlate::Event| {
            (jobs.text(e.state).to_owned(), e.time_ns, e.attempt, jobs.text(jobs.attempt_of(e).job).to_owned())
        };
        jobs.events.iter().map(of).collect()
    };
    assert_eq!(events(&plain), events(&coded));
    assert_eq!(plain.submissions.len(), coded.submissions.len());
    assert_eq!(plain.dependencies.edges, coded.dependencies.edges);
    for (a, b) in plain.attempts.iter().zip(&coded.attempts) {
        assert_eq!(p.path(plain.text(a.activity)), coded.text(b.activity));
        assert_eq!(plain.text_of(a.user).map(|name| p.user(name)), coded.text_of(b.user).map(str::to_owned));
        assert_eq!(
            (a.submit_ns, a.start_ns, a.cpus, a.exit_code, a.read_bytes),
            (b.submit_ns, b.start_ns, b.cpus, b.exit_code, b.read_bytes)
        );
        // The activity is the command's file name, before and after.
        let file_name = |jobs: &Jobs, path| jobs.text(path).rsplit('/').next().unwrap().to_owned();
        if let (Some(old), Some(new)) = (a.command, b.command)
            && file_name(&plain, old) == plain.text(a.activity)
        {
            assert_eq!(file_name(&coded, new), coded.text(b.activity));
        }
    }
    for notion in [&Dependency as &dyn CaseNotion, &AccountGroup] {
        let case_of = |jobs| notion.assign(&Entities::new(jobs)).case_of;
        assert_eq!(case_of(&plain), case_of(&coded), "{}", notion.name());
    }
    // A filter's names are of the originals: they are looked up by their codes.
    let filtered = |jobs: &Jobs, user: String, account: String| {
        let filter = Filter { users: vec![user], accounts: vec![account], ..Filter::default() };
        EventLog::build(&Entities::new(jobs), &Dependency, &filter).cases.len()
    };
    let of_alice = filtered(&plain, "fm-alice".to_owned(), "physics".to_owned());
    assert!(of_alice > 0);
    assert_eq!(filtered(&coded, p.user("fm-alice"), p.account("physics")), of_alice);
    assert_eq!(filtered(&coded, "fm-alice".to_owned(), "physics".to_owned()), 0);
}

#[test]
fn dropped_columns_are_gone_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let dataset = recorded(dir.path());
    let drop = DropColumns::parse(["user", "comment", "work_dir", "exit_code"]).unwrap();
    let dropped = Jobs::read_with(&dataset, Timestamp::Reported, &RowRules { drop, ..RowRules::default() }).unwrap();
    let plain = Jobs::read(&dataset, Timestamp::Reported).unwrap();
    assert_eq!(plain.attempts.len(), dropped.attempts.len());
    assert!(plain.attempts.iter().any(|a| a.comment.is_some()));
    for (before, after) in plain.attempts.iter().zip(&dropped.attempts) {
        assert_eq!((after.user, after.comment, after.work_dir, after.exit_code.get()), (None, None, None, None));
        assert_eq!(plain.text_of(before.account), dropped.text_of(after.account));
        assert_eq!(plain.text_of(before.name), dropped.text_of(after.name));
    }
    assert_eq!(plain.events.len(), dropped.events.len());
    // Both rules at once, and none.
    let row = JobState { user: Some("ann".into()), account: Some("physics".into()), ..JobState::default() };
    let p = with_key(KEY);
    let account = p.account("physics");
    let both = RowRules { pseudonymiser: Some(p), drop: DropColumns::parse(["user"]).unwrap() };
    assert!(!both.is_empty() && RowRules::default().is_empty());
    assert_eq!(both.apply(row.clone()), JobState { account: Some(account.into()), ..JobState::default() });
    assert_eq!(RowRules::default().apply(row.clone()), row);
}
