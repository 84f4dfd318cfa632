//! Who may read a dataset: the modes of all that is written, with an umask that lets others read
//! and with one that lets them do all.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flowmine_dataset::Dataset;
use flowmine_extract_slurm::queue::Remembered;
use flowmine_schema::tables::JobState;

use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{expect, flowmine, is_root, job_states, repository};

/// Paths below a directory, and it, with their modes.
fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: &Path| fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut found = vec![(dir.to_owned(), mode(dir))];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(modes(&path)) } else { found.push((path.clone(), mode(&path))) }
    }
    found
}

fn assert_modes(dir: &Path, folder: u32, file: u32) {
    let found = modes(dir);
    assert!(found.len() > 3, "{found:?}");
    // Who may write there may open a lock, and nobody else.
    let lock = folder & 0o666 & !(if folder & 0o020 == 0 { 0o060 } else { 0 }) & !(if folder & 0o002 == 0 { 0o006 } else { 0 });
    for (path, mode) in found {
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        let expected = if path.is_dir() {
            folder
        } else if is_lock {
            lock
        } else {
            file
        };
        assert_eq!(mode, expected, "{}: {mode:o}", path.display());
    }
}

/// The same command with this umask.
fn with_umask(umask: &str, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("umask {umask}; exec \"$@\"")).arg("sh").arg(command.get_program()).args(command.get_args());
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    shell
}

/// What an umask leaves of folders and files.
const UMASKS: [(&str, u32, u32); 2] = [("022", 0o755, 0o644), ("000", 0o777, 0o666)];

fn import(dataset: &Path) -> Command {
    let mut command = flowmine();
    command.args(["import", "slurm"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(dataset);
    command
}

fn correlate(dataset: &Path) -> Command {
    let mut command = flowmine();
    command.arg("correlate").arg("--dataset").arg(dataset);
    command
}

#[test]
fn an_import_is_private_when_it_is_said_once() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let (private, open) = (dir.path().join("above/private"), dir.path().join("open"));
        expect(&mut with_umask(umask, import(&private).arg("--private")), 0);
        expect(&mut with_umask(umask, &correlate(&private)), 0);
        assert_modes(&private, 0o700, 0o600);
        expect(&mut with_umask(umask, &import(&open)), 0);
        expect(&mut with_umask(umask, &correlate(&open)), 0);
        assert_modes(&open, folder, file);
        let refused = expect(&mut with_umask(umask, import(&open).arg("--private")), 2);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("chmod -R go-rwx"), "{refused:?}");
        // As it says.
        expect(Command::new("chmod").args(["-R", "go-rwx"]).arg(&open), 0);
        expect(&mut with_umask(umask, import(&open).arg("--private")), 0);
        expect(&mut with_umask(umask, &correlate(&open)), 0);
        assert_modes(&open, 0o700, 0o600);
    }
}

#[test]
fn an_observer_is_private_with_its_memory_and_recordings() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let queue = StandIn::new(dir.path());
        for (name, options, folder, file) in [("private", &["--private"][..], 0o700, 0o600), ("open", &[], folder, file)] {
            let (dataset, record) = (dir.path().join(name), dir.path().join(format!("{name}-polls")));
            for poll in [10, 20, 30] {
                queue.show(poll);
                // A later poll need not say it; not even where it makes the record's directory.
                let options = if poll == 10 { options } else { &[] };
                expect(&mut with_umask(umask, queue.observe(&dataset).arg("--once").args(options).arg("--record").arg(&record)), 0);
            }
            assert_modes(&dataset, folder, file);
            assert_modes(&record, folder, file);
        }
    }
}

#[test]
fn a_trace_is_private_unless_it_is_shared() {
    for (umask, folder, file) in UMASKS {
        let dir = tempfile::tempdir().unwrap();
        let (private, shared, empty) = (dir.path().join("private"), dir.path().join("shared"), dir.path().join("empty"));
        fs::create_dir(&empty).unwrap();
        fs::set_permissions(&empty, fs::Permissions::from_mode(0o755)).unwrap();
        for (dataset, options, folder, file) in
            [(&private, &[][..], 0o700, 0o600), (&shared, &["--shared"], folder, file), (&empty, &[], 0o700, 0o600)]
        {
            let written = dir.path().join("written");
            for options in [options, &[]] {
                let mut command = flowmine();
                command.args(["trace", "--backend", "ptrace"]).args(options).arg("--dataset").arg(dataset).arg("--");
                expect(&mut with_umask(umask, command.args(["sh", "-c", "echo x > \"$0\""]).arg(&written)), 0);
                // What the traced program makes is its own affair.
                let mode = fs::metadata(&written).unwrap().permissions().mode() & 0o777;
                assert_eq!(mode, 0o666 & !u32::from_str_radix(umask, 8).unwrap());
                fs::remove_file(&written).unwrap();
            }
            expect(&mut with_umask(umask, &correlate(dataset)), 0);
            assert_modes(dataset, folder, file);
        }
    }
}

/// Somebody else, who needs no account.
const OTHER: u32 = 4711;

/// The same command as somebody else, without rights.
fn as_other(command: &Command) -> Command {
    let mut other = Command::new("setpriv");
    other.args(["--reuid", "4711", "--regid", "4711", "--clear-groups"]).arg(command.get_program()).args(command.get_args());
    other.current_dir("/");
    other
}

/// A directory that somebody else can reach, as temporary ones are made for their owner alone.
fn reachable() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn root_does_not_write_where_another_user_rules() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let dir = reachable();
    let dataset = dir.path().join("d");
    expect(&mut import(&dataset), 0);
    for entry in modes(&dataset) {
        chown(entry.0, Some(OTHER), Some(OTHER)).unwrap();
    }
    let trace = |options: &[&str]| {
        let mut command = flowmine();
        command.args(["trace", "--backend", "ptrace"]).args(options).arg("--dataset").arg(&dataset).args(["--", "true"]);
        command
    };
    for mut command in [import(&dataset), correlate(&dataset)] {
        let told = String::from_utf8(expect(&mut command, 2).stderr).unwrap();
        assert!(told.contains("4711") && told.contains("--as-owner"), "{told}");
    }
    // Whoever reads writes nothing.
    let mut export = flowmine();
    export.args(["export", "--format", "csv", "-o", "-", "--dataset"]).arg(&dataset);
    expect(&mut export, 0);
    // What was in the way is refused also when it is said that the owner is meant.
    let victim = dir.path().join("victim");
    fs::write(&victim, "root's").unwrap();
    fs::remove_file(dataset.join(".raw.lock")).unwrap();
    symlink(&victim, dataset.join(".raw.lock")).unwrap();
    expect(import(&dataset).arg("--as-owner"), 2);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
    fs::remove_file(dataset.join(".raw.lock")).unwrap();
    for mut command in [import(&dataset), correlate(&dataset)] {
        expect(command.arg("--as-owner"), 0);
    }
    expect(&mut trace(&["--as-owner"]), 0);
    for (path, _) in modes(&dataset) {
        assert_eq!(fs::symlink_metadata(&path).unwrap().uid(), OTHER, "{}", path.display());
    }
}

#[test]
fn who_may_only_read_keeps_no_writer_out() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let dir = reachable();
    let dataset = dir.path().join("d");
    expect(&mut with_umask("022", &import(&dataset)), 0);
    let mut lock = Command::new("flock");
    lock.args(["--nonblock", "--no-fork"]).arg(dataset.join(".raw.lock")).args(["sleep", "20"]);
    let mut reader = as_other(&lock).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    expect(&mut import(&dataset), 0);
    let ended = reader.try_wait().unwrap();
    let _ = reader.kill();
    reader.wait().unwrap();
    assert!(ended.is_some_and(|status| !status.success()), "flock(1) could open the file");
}

#[test]
fn a_link_that_somebody_else_put_there_costs_nothing() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let dir = reachable();
    let dataset = dir.path().join("d");
    expect(&mut import(&dataset), 0);
    let shared = dir.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let victim = dir.path().join("victim");
    for format in ["csv", "ocel.sqlite", "xes.gz"] {
        fs::write(&victim, "root's").unwrap();
        let out = shared.join(format!("log.{format}"));
        symlink(&victim, &out).unwrap();
        lchown(&out, Some(OTHER), Some(OTHER)).unwrap();
        let mut export = flowmine();
        export.args(["export", "--format", format, "--dataset"]).arg(&dataset).arg("-o").arg(&out);
        let told = String::from_utf8(expect(&mut export, 2).stderr).unwrap();
        assert!(told.contains("of another user"), "{told}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "root's");
        // One's own link is followed, and stays.
        lchown(&out, Some(0), Some(0)).unwrap();
        expect(&mut export, 0);
        assert!(fs::symlink_metadata(&out).unwrap().is_symlink());
        assert!(fs::metadata(&victim).unwrap().len() > 100);
    }
    let names: Vec<_> = fs::read_dir(&shared).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn an_observer_with_a_key_keeps_no_name() {
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let (plain, coded) = (dir.path().join("plain"), dir.path().join("coded"));
    let keys = ["key", "other"].map(|name| dir.path().join(name));
    for key in &keys {
        fs::write(key, format!("{}: more than sixteen bytes", key.display())).unwrap();
        fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for poll in (0..queue.polls).step_by(4) {
        queue.show(poll);
        expect(queue.observe(&plain).arg("--once"), 0);
        expect(queue.observe(&coded).arg("--once").arg("--pseudonymise").arg(&keys[0]), 0);
    }
    // Another way of writing names would take every job for another.
    for options in [vec![], vec!["--pseudonymise".as_ref(), keys[1].as_os_str()]] {
        let told = String::from_utf8(expect(queue.observe(&coded).arg("--once").args(options), 2).stderr).unwrap();
        assert!(told.contains("--pseudonymise"), "{told}");
    }
    expect(&mut import(&coded), 2);
    expect(queue.observe(&plain).arg("--once").arg("--pseudonymise").arg(&keys[0]), 2);
    expect(queue.observe(&coded).args(["--once", "--record", "polls-kept", "--pseudonymise"]).arg(&keys[0]), 2);

    let texts = |row: &JobState<'_>| {
        let of = [&row.name, &row.user, &row.account, &row.partition, &row.node_list, &row.work_dir, &row.command, &row.activity];
        let more = [&row.comment, &row.group, &row.qos, &row.arguments, &row.submit_line, &row.features];
        of.into_iter().chain(more).flatten().map(ToString::to_string).collect::<Vec<_>>()
    };
    // With these words codes begin.
    let kinds = ["account", "cluster", "comment", "group", "host", "name", "partition", "task", "user", "word"];
    let is_telling = |name: &String| name.len() > 3 && !kinds.contains(&name.as_str());
    let names: BTreeSet<String> = job_states(&plain).iter().flat_map(texts).filter(is_telling).collect();
    assert!(names.len() > 20, "{names:?}");
    let has_name = |text: &str| names.iter().find(|name| text.contains(name.as_str())).cloned();
    for text in job_states(&coded).iter().flat_map(texts) {
        assert_eq!(has_name(&text), None);
    }
    let dataset = Dataset::open(&coded).unwrap();
    let mut remembered = 0;
    for (path, _) in modes(&coded) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(!name.contains("played"), "{name}");
        if path.parent().is_some_and(|parent| parent.ends_with(".state")) && name.starts_with("squeue-") && name.ends_with(".parquet") {
            for row in dataset.state_rows::<Remembered<'static>>(name).unwrap().unwrap().iter() {
                for text in [row.name, row.user, row.account, row.partition, row.qos, row.comment, row.features].into_iter().flatten() {
                    assert_eq!(has_name(&text), None);
                    remembered += 1;
                }
            }
        } else if path.is_file() && !name.ends_with(".parquet") {
            let text = fs::read_to_string(&path).unwrap();
            assert!(has_name(&text).is_none() && !text.contains("played"), "{name}: {text}");
        }
    }
    assert!(remembered > 5, "{remembered}");

    // The same key keeps the codes, also through an export with it.
    let mut again = flowmine();
    again.args(["export", "--format", "csv", "-o", "-", "--dataset"]).arg(&coded).arg("--pseudonymise");
    let kept = expect(again.arg(&keys[0]), 0);
    assert!(String::from_utf8_lossy(&kept.stderr).contains("made with this key"), "{kept:?}");
    let mut plain_export = flowmine();
    plain_export.args(["export", "--format", "csv", "-o", "-", "--dataset"]).arg(&coded);
    let as_it_is = expect(&mut plain_export, 0);
    assert!(kept.stdout == as_it_is.stdout, "the codes of the dataset");
    let other = expect(plain_export.arg("--pseudonymise").arg(&keys[1]), 0);
    assert!(String::from_utf8_lossy(&other.stderr).contains("another key"), "{other:?}");
    assert!(other.stdout != as_it_is.stdout);

    // What comes out is what an export with the key makes of names.
    let export = |dataset: &Path, key: Option<&Path>| {
        let mut command = flowmine();
        command.args(["export", "--format", "csv", "-o", "-", "--dataset"]).arg(dataset);
        key.into_iter().for_each(|key| _ = command.arg("--pseudonymise").arg(key));
        String::from_utf8(expect(&mut command, 0).stdout).unwrap()
    };
    // The polls of the two observers were some milliseconds apart.
    let (plain, coded) = (export(&plain, Some(&keys[0])), export(&coded, None));
    assert_eq!(plain.lines().count(), coded.lines().count());
    assert!(plain.lines().count() > 100);
    for column in [
        "concept:name",
        "org:resource",
        "slurm:name",
        "slurm:account",
        "slurm:partition",
        "slurm:node_list",
        "slurm:work_dir",
        "slurm:state",
    ] {
        let of = |text: &str| {
            let at = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
            text.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(&plain), of(&coded), "{column}");
    }
}

/// Slurm's words may hold names too: messages, states and dependencies that flowmine does not know.
#[test]
fn an_observer_with_a_key_tells_and_remembers_no_message() {
    const NAME: &str = "annsecret";
    let dir = tempfile::tempdir().unwrap();
    let queue = StandIn::new(dir.path());
    let key = dir.path().join("key");
    fs::write(&key, "a key of more than sixteen bytes").unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let dataset = dir.path().join("dataset");
    let observe = |options: &[&str], code: i32| {
        let mut command = queue.observe(&dataset);
        command.args(["--verbose", "--pseudonymise"]).arg(&key).args(options).stdout(Stdio::piped());
        let output = expect(&mut command, code);
        for said in [&output.stdout, &output.stderr] {
            let said = String::from_utf8_lossy(said);
            assert!(!said.contains(NAME) && !said.contains("played"), "{said}");
        }
    };
    let assert_kept = || {
        for (path, _) in modes(&dataset).into_iter().filter(|(path, _)| path.is_file()) {
            assert!(!path.to_string_lossy().contains(NAME));
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.parent().unwrap().ends_with(".state") && name.starts_with("squeue-") && name.ends_with(".parquet") {
                let rows = Dataset::open(&dataset).unwrap().state_rows::<Remembered<'static>>(name).unwrap().unwrap();
                for row in rows.iter() {
                    assert!(!format!("{row:?}").contains(NAME), "{row:?}");
                }
            }
            let bytes = fs::read(&path).unwrap();
            assert!(!bytes.windows(NAME.len()).any(|bytes| bytes == NAME.as_bytes()), "{}", path.display());
        }
    };
    // A state, a dependency, a line that is no record.
    let poll = queue.polls / 2;
    queue.show(poll);
    let shown = queue.dir.join("polls").join(poll.to_string());
    let text = fs::read_to_string(&shown).unwrap();
    assert!(text.contains("RUNNING") && text.contains("afterok:"));
    fs::write(&shown, text.replacen("RUNNING", "OF_annsecret", 2).replacen("afterok:", "afterannsecret:", 1)).unwrap();
    observe(&["--once"], 0);
    assert_kept();
    let rows = || job_states(&dataset).len();
    let before = rows();
    observe(&["--once"], 0);
    assert_eq!(rows(), before, "the same state of an unknown word is no change");
    assert_kept();
    let squeue = queue.dir.join("bin/squeue");
    let script = fs::read_to_string(&squeue).unwrap();
    fs::write(&squeue, "#!/bin/sh\necho 'slurm_load_jobs error: user annsecret of account annsecret' >&2\nexit 1\n").unwrap();
    observe(&["--once"], 2);
    observe(&["--every", "60s", "--polls", "1"], 1);
    assert_kept();
    fs::write(&squeue, script).unwrap();
    fs::write(queue.dir.join("bin/sacct"), "#!/bin/sh\necho 'sacct: error: no association of annsecret' >&2\nexit 1\n").unwrap();
    fs::set_permissions(queue.dir.join("bin/sacct"), fs::Permissions::from_mode(0o755)).unwrap();
    observe(&["--once", "--accounting"], 1);
    assert_kept();
}
