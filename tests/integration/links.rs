//! Links of other users in the paths of results: in no component are they followed by who writes.
//! Links of one's own and of root are.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::require::require;
use crate::support::stand_in::StandIn;
use crate::support::{expect, flowmine, is_root, repository};

/// Somebody else, who needs no account.
const OTHER: u32 = 4711;
/// Somebody else again.
const THIRD: u32 = 4712;

/// What writes results, with the path that it is given.
type Writer = (&'static str, fn(&World, &Path) -> Command);

struct World {
    dir: tempfile::TempDir,
    queue: StandIn,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let queue = StandIn::new(dir.path());
        queue.show(20);
        let world = Self { dir, queue };
        expect(import(&world.path("dataset")).stdout(Stdio::null()), 0);
        let mut io = flowmine();
        io.args(["import", "io-csv"]).arg(repository("fixtures/io-csv/as_published")).arg("--dataset").arg(world.path("traced"));
        expect(&mut io, 0);
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn export(&self, format: &str, to: &Path) -> Command {
        let mut command = flowmine();
        let dataset = self.path(if format == "io-csv" { "traced" } else { "dataset" });
        command.args(["export", "--format", format, "--dataset"]).arg(dataset).arg("-o").arg(to);
        command
    }
}

fn import(dataset: &Path) -> Command {
    let mut command = flowmine();
    command.args(["import", "slurm"]).arg(repository("fixtures/case-study/sacct-token.txt.gz")).arg("--dataset").arg(dataset);
    command
}

/// A dataset at the path, there before.
fn in_dataset(world: &World, path: &Path, arguments: &[&str]) -> Command {
    if !path.join("flowmine.json").exists() {
        expect(Command::new("cp").arg("-a").arg(world.path("dataset")).arg("-T").arg(fs::canonicalize(path).unwrap()), 0);
    }
    let mut command = flowmine();
    command.args(arguments).arg("--dataset").arg(path);
    command
}

const WRITERS: &[Writer] = &[
    ("export csv", |world, path| world.export("csv", &path.join("log"))),
    ("export parquet", |world, path| world.export("parquet", &path.join("log"))),
    ("export ocel.sqlite", |world, path| world.export("ocel.sqlite", &path.join("log"))),
    ("export io-csv", |world, path| world.export("io-csv", path)),
    ("export io-csv below", |world, path| world.export("io-csv", &path.join("a/b"))),
    ("run", |world, path| {
        let mut command = flowmine();
        command.arg("run").arg("--dataset").arg(world.path("dataset")).arg("--out").arg(path);
        command
    }),
    ("discover", |world, path| {
        let mut command = flowmine();
        command.args(["discover", "--dataset"]).arg(world.path("dataset")).arg("-o").arg(path.join("dfg.svg"));
        command
    }),
    ("man", |_, path| {
        let mut command = flowmine();
        command.args(["man", "--dir"]).arg(path);
        command
    }),
    ("import", |_, path| import(path)),
    ("import below", |_, path| import(&path.join("new"))),
    ("observe", |world, path| {
        let mut command = world.queue.observe(path);
        command.arg("--once");
        command
    }),
    ("observe --record", |world, path| {
        let mut command = world.queue.observe(&world.path("observed"));
        command.args(["--once", "--record"]).arg(path);
        command
    }),
    ("trace", |_, path| {
        let mut command = flowmine();
        command.args(["trace", "--must-trace", "--backend", "ptrace", "--dataset"]).arg(path).args(["--", "true"]);
        command
    }),
    ("correlate", |world, path| in_dataset(world, path, &["correlate"])),
    ("prune", |world, path| in_dataset(world, path, &["prune", "--before", "2026-11-20T00:00:00Z"])),
];

/// All that lies below a directory.
fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(tree(&path)) } else { found.push((path.clone(), fs::read(&path).unwrap())) }
    }
    found.sort();
    found
}

fn link(target: &Path, link: &Path, owner: u32) {
    let _ = fs::remove_file(link);
    symlink(target, link).unwrap();
    lchown(link, Some(owner), Some(owner)).unwrap();
}

#[test]
fn root_writes_nowhere_that_another_leads_to() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let world = World::new();
    let his = world.path("his");
    fs::create_dir(&his).unwrap();
    chown(&his, Some(OTHER), Some(OTHER)).unwrap();
    for (what, writer) in WRITERS {
        for through in ["link", "link/below", "../link-of-root"] {
            let victim = world.path("victim");
            let _ = fs::remove_dir_all(&victim);
            fs::create_dir_all(victim.join("below")).unwrap();
            link(&victim, &his.join("link"), OTHER);
            link(&his.join("link"), &world.path("link-of-root"), 0);
            let mut command = writer(&world, &his.join(through));
            let before = tree(&victim);
            let told = String::from_utf8(expect(&mut command, 2).stderr).unwrap();
            assert!(told.contains("of another user") && told.contains("4711"), "{what} {through}: {told}");
            assert_eq!(tree(&victim), before, "{what} {through}");
        }
        // Root's own link is followed.
        let own = world.path("own");
        let _ = fs::remove_dir_all(&own);
        fs::create_dir(&own).unwrap();
        link(&own, &world.path("link-of-root"), 0);
        expect(&mut writer(&world, &world.path("link-of-root")), 0);
        assert!(!tree(&own).is_empty(), "{what}");
    }
}

#[test]
fn users_follow_their_own_links_and_those_of_root_only() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let world = World::new();
    let home = world.path("home");
    fs::create_dir_all(home.join("results")).unwrap();
    for path in [&home, &home.join("results")] {
        chown(path, Some(OTHER), Some(OTHER)).unwrap();
    }
    for (owner, works) in [(OTHER, true), (0, true), (THIRD, false)] {
        link(Path::new("home"), &world.path("way"), owner);
        let out = world.path("way/results");
        for to in [out.join("log.csv"), out.join("log.ocel.sqlite")] {
            let export = world.export(if to.extension().unwrap() == "csv" { "csv" } else { "ocel.sqlite" }, &to);
            let mut other = Command::new("setpriv");
            other.args(["--reuid", "4711", "--regid", "4711", "--clear-groups"]).arg(export.get_program()).args(export.get_args());
            expect(other.current_dir("/").env("TMPDIR", "/tmp"), if works { 0 } else { 2 });
            assert_eq!(to.exists(), works, "{owner}");
            let _ = fs::remove_file(&to);
        }
    }
}

#[test]
fn what_another_put_in_place_of_a_result_is_not_written_to() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let world = World::new();
    let shared = world.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    // A device is written to as it is: not one that a link of another leads to.
    link(Path::new("/dev/null"), &shared.join("log"), OTHER);
    let told = String::from_utf8(expect(&mut world.export("csv", &shared.join("log")), 2).stderr).unwrap();
    assert!(told.contains("of another user"), "{told}");
    fs::remove_file(shared.join("log")).unwrap();
    expect(Command::new("mkfifo").arg(shared.join("log")), 0);
    chown(shared.join("log"), Some(OTHER), Some(OTHER)).unwrap();
    let told = String::from_utf8(expect(&mut world.export("csv", &shared.join("log")), 2).stderr).unwrap();
    assert!(told.contains("of another user"), "{told}");
    // Standard output by its path, and one's own pipe.
    for to in ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"] {
        let output = expect(&mut world.export("csv", Path::new(to)), 0);
        assert!(output.stdout.len() > 1000, "{to}");
    }
}

/// Notes of flowmine in a directory that anybody may write to: another user can claim that flowmine
/// made a file of root, or that nothing is new.
#[test]
fn a_note_of_another_says_nothing_of_results() {
    if !require("mount", "root", is_root()) {
        return;
    }
    let world = World::new();
    let shared = world.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let give = |name: &str| chown(shared.join(name), Some(OTHER), Some(OTHER)).unwrap();
    let run = || {
        let mut command = flowmine();
        command.args(["report", "--out"]).arg(&shared).arg("--dataset").arg(world.path("dataset"));
        command
    };
    expect(&mut run(), 0);
    let first = fs::read(shared.join("report.html")).unwrap();
    give(".flowmine-run.json");
    fs::remove_file(shared.join("report.html")).unwrap();
    let note = fs::read_to_string(shared.join(".flowmine-run.json")).unwrap();
    let mut note: serde_json::Value = serde_json::from_str(&note).unwrap();
    note["files"] = serde_json::json!({});
    note["told"] = "planted".into();
    fs::write(shared.join(".flowmine-run.json"), note.to_string()).unwrap();
    let done = expect(&mut run(), 0);
    assert!(!String::from_utf8_lossy(&done.stdout).contains("planted"));
    assert_eq!(fs::read(shared.join("report.html")).unwrap(), first);
    fs::remove_file(shared.join(".flowmine-run.json")).unwrap();
    give(".flowmine-made");
    let told = String::from_utf8(expect(&mut run(), 2).stderr).unwrap();
    assert!(told.contains("is there already"), "{told}");
}
