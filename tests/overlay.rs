//! Programs work in a directory as they do under the FUSE overlay: the same script natively and traced leaves the same tree and says the same.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/doctor.rs"]
mod doctor;
#[path = "support/operations.rs"]
mod operations;
#[path = "support/require.rs"]
mod require;
#[path = "support/traced.rs"]
mod traced;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use require::require;

/// Everything that ordinary programs ask of a file system: links of both kinds, permissions, renames, archives, a repository, databases with shared
/// mappings and locks, holes, unlinked files, and processes beside each other.
const SCRIPT: &str = r#"
set -e
umask 027
mkdir -p tree/below
seq 1 5000 > tree/below/file
ln tree/below/file tree/hard
ln -s below/file tree/soft
chmod 640 tree/hard
mv tree/below/file tree/below/moved
ln -sf below/moved tree/soft
find tree -exec touch -h -d 2020-02-02 {} +
cp -a tree copy
tar --sort=name --numeric-owner -cf tree.tar tree
mkdir out
tar -xf tree.tar -C out
diff -r tree out/tree
cmp tree/hard tree/soft

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_DATE='2020-02-02 00:00:00 +0000' GIT_COMMITTER_DATE='2020-02-02 00:00:00 +0000'
git -c init.defaultBranch=main init -q repository
cd repository
cp -r ../tree .
git add -A
git -c user.name=n -c user.email=e commit -qm one
git mv tree/hard tree/named
git -c user.name=n -c user.email=e commit -qm two
git fsck --strict
git gc -q
git status --porcelain
git log --format=%H
cd ..

python3 - <<'END'
import fcntl, mmap, os, sqlite3

# Readers and writers share a mapping here.
base = sqlite3.connect("data.db")
print(base.execute("pragma journal_mode=wal").fetchone())
base.execute("create table t (a, b)")
base.executemany("insert into t values (?, ?)", ((n, str(n) * 50) for n in range(5000)))
base.commit()
base.close()
for child in range(4):
    if os.fork() == 0:
        base = sqlite3.connect("data.db", timeout=60)
        for n in range(20):
            base.execute("insert into t values (?, 'child')", (n,))
            base.commit()
        base.close()
        os._exit(0)
for _ in range(4):
    assert os.wait()[1] == 0
base = sqlite3.connect("data.db")
print(base.execute("select count(*), sum(length(b)) from t").fetchone(), base.execute("pragma integrity_check").fetchone())
base.execute("pragma wal_checkpoint(truncate)")
base.execute("pragma journal_mode=delete")
base.close()
os.unlink("data.db")

# What is stored by a mapping is read by a call, and the other way round, also by another process.
with open("mapped", "w+b") as file:
    file.truncate(100_000)
    view = mmap.mmap(file.fileno(), 100_000)
    view[5000:5010] = b"by mapping"
    assert os.pread(file.fileno(), 10, 5000) == b"by mapping"
    os.pwrite(file.fileno(), b"by call", 70_000)
    assert view[70_000:70_007] == b"by call"
    if os.fork() == 0:
        view[90_000:90_005] = b"child"
        os._exit(0)
    os.wait()
    assert os.pread(file.fileno(), 5, 90_000) == b"child"
    view.flush()

# A lock keeps others out, of both kinds.
with open("locked", "w+") as file:
    for take, name in ((fcntl.flock, "flock"), (fcntl.lockf, "fcntl")):
        take(file, fcntl.LOCK_EX)
        if os.fork() == 0:
            try:
                take(open("locked", "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
                print(name, "was taken twice", flush=True)
            except BlockingIOError:
                print(name, "keeps others out", flush=True)
            os._exit(0)
        os.wait()
        take(file, fcntl.LOCK_UN)

# A file without a name lives on; one with a hole is sparse; appends beside each other lose nothing.
with open("gone", "w+b") as file:
    os.unlink("gone")
    file.write(b"still here")
    file.seek(0)
    print(file.read(), os.fstat(file.fileno()).st_nlink)
with open("sparse", "wb") as file:
    file.seek(10 << 20)
    file.write(b"end")
print(os.stat("sparse").st_blocks < 1000)
for child in range(4):
    if os.fork() == 0:
        out = os.open("appended", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for n in range(500):
            os.write(out, b"%d %03d\n" % (child, n))
        os._exit(0)
for _ in range(4):
    os.wait()
lines = open("appended").read().split("\n")
open("appended", "w").write("\n".join(sorted(lines)))
# Made and renamed into place by several.
for child in range(4):
    if os.fork() == 0:
        for n in range(100):
            with open(f"new.{child}", "w") as file:
                file.write("whole")
            os.rename(f"new.{child}", "place")
            assert open("place").read() == "whole"
        os._exit(0)
for _ in range(4):
    assert os.wait()[1] == 0
for depth in range(30):
    os.makedirs("deep/" + "/".join("d" * depth), exist_ok=True)
END
rm -rf out deep
ls -A
"#;

/// What is below a directory: kind and permissions, links, size and content. Git's index has times and inodes in it.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, u64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_dir() {
                left.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if path.ends_with(".git/index") {
                continue;
            } else {
                std::fs::read(&path).unwrap()
            };
            found.insert(path.strip_prefix(root).unwrap().to_owned(), (metadata.mode(), metadata.nlink(), content));
        }
    }
    found
}

fn flowmine() -> &'static str {
    env!("CARGO_BIN_EXE_flowmine")
}

#[test]
fn programs_leave_the_same_tree_as_without_the_overlay() {
    let have = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !require("fuse", "FUSE, git and python3", doctor::says("fuse").0 && have("git") && have("python3")) {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let run = |name: &str, words: &[&str]| {
        let directory = base.path().join(name);
        std::fs::create_dir(&directory).unwrap();
        // The time is for what hangs.
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "120"]).args(words).args(["bash", "-c", SCRIPT]).current_dir(&directory).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), tree(&directory))
    };
    let dataset = base.path().join("data");
    let (said, left) = run("native", &[]);
    let (also_said, also_left) = run("overlay", &[flowmine(), "trace", "--backend", "fuse", "--dataset", dataset.to_str().unwrap(), "--"]);
    assert_eq!(said, also_said);
    assert_eq!(left.keys().collect::<Vec<_>>(), also_left.keys().collect::<Vec<_>>());
    for (path, thing) in &left {
        assert!(thing == &also_left[path], "{} differs", path.display());
    }
    assert!(left.len() > 50 && said.contains("keeps others out"), "the script did not do what it should: {said}");
}

/// As in a container: the file lies elsewhere for the process, and both paths are told.
#[test]
fn a_process_with_other_mounts_has_paths_of_its_own() {
    let unshares = Command::new("unshare").args(["--mount", "true"]).status().is_ok_and(|status| status.success());
    if !require("fuse", "FUSE and unshare --mount", doctor::says("fuse").0 && unshares) {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (directory, dataset) = (base.path().join("here"), base.path().join("data"));
    std::fs::create_dir_all(directory.join("sub")).unwrap();
    std::fs::write(directory.join("sub/file"), "content").unwrap();
    // The directory is first seen in both places, then in another one only.
    let script = "unshare --mount sh -c 'here=$PWD && mount --bind sub /mnt && cat /mnt/file && cd / && umount -l $here && cat /mnt/file && ! cat /mnt/missing'; cat sub/file";
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60", flowmine(), "trace", "--backend", "fuse", "--dataset"]).arg(&dataset);
    let output = command.args(["--", "sh", "-c", script]).current_dir(&directory).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut rows, _) = traced::rows(&dataset);
    rows.retain(|row| row.op == "open");
    rows.sort_by_key(|row| row.start_ns);
    let text =
        |path: &Option<Vec<u8>>| path.as_deref().map(|path| String::from_utf8_lossy(path).replace(directory.to_str().unwrap(), "HERE"));
    let opens: Vec<_> = rows.iter().map(|row| (text(&row.path).unwrap(), text(&row.container_path), row.result)).collect();
    let open = |path: &str, container: Option<&str>, result| (path.to_owned(), container.map(str::to_owned), Some(result));
    let expected = [
        open("HERE/sub/file", None, 0),
        open("HERE/sub/file", Some("/mnt/file"), 0),
        open("HERE/sub/missing", Some("/mnt/missing"), -2),
        open("HERE/sub/file", None, 0),
    ];
    assert_eq!(opens, expected);
}

/// Two processes of the same user and group, of which one has a further group that may read.
#[test]
fn further_groups_count() {
    let changes =
        Command::new("setpriv").args(["--reuid", "65534", "--clear-groups", "true"]).status().is_ok_and(|status| status.success());
    if !require("fuse", "FUSE and root", doctor::says("fuse").0 && changes) {
        return;
    }
    // Where nobody can go.
    let base = tempfile::tempdir_in("/var/tmp").unwrap();
    let set_mode = |path: &Path, mode| std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    let (directory, file) = (base.path().join("here"), base.path().join("here/file"));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(&file, "content").unwrap();
    std::os::unix::fs::chown(&file, None, Some(1)).unwrap();
    set_mode(&file, 0o640);
    set_mode(base.path(), 0o755);
    set_mode(&directory, 0o755);
    let script = "for n in 1 2 3 4 5 6; do setpriv --reuid 65534 --regid 65534 --clear-groups cat file 2> /dev/null && exit 1
        setpriv --reuid 65534 --regid 65534 --groups 1 cat file || exit 2; done";
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "60", flowmine(), "trace", "--backend", "fuse", "--dataset"]).arg(base.path().join("data"));
    let output = command.args(["--", "sh", "-c", script]).current_dir(&directory).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "content".repeat(6));
}
