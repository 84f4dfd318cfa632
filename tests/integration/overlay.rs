//! Programs work in a directory as they do under the FUSE overlay: the same script natively and
//! traced leaves the same tree and says the same.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::require::require;
use crate::support::{doctor, traced};

/// Everything that ordinary programs ask of a file system: links of both kinds, permissions,
/// renames, archives, a repository, databases with shared mappings and locks, holes, unlinked
/// files, and processes beside each other.
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

/// What is below a directory: kind and permissions, links, size and content. Git's index has times
/// and inodes in it.
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

pub(crate) fn flowmine() -> &'static str {
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
    let (also_said, also_left) =
        run("overlay", &[flowmine(), "trace", "--must-trace", "--backend", "fuse", "--dataset", dataset.to_str().unwrap(), "--"]);
    assert_eq!(said, also_said);
    assert_eq!(left.keys().collect::<Vec<_>>(), also_left.keys().collect::<Vec<_>>());
    for (path, thing) in &left {
        assert!(thing == &also_left[path], "{} differs", path.display());
    }
    assert!(left.len() > 50 && said.contains("keeps others out"), "the script did not do what it should: {said}");
}

/// Calls that the kernel does not pass on for file systems of FUSE, and what is left of the file.
const UNSUPPORTED: &str = r#"
import ctypes, errno, fcntl, os
libc = ctypes.CDLL(None, use_errno=True)
with open("file", "w+b") as file, open("other", "w+b") as other:
    file.write(bytes(range(256)) * 64)
    file.flush()
    before = os.fstat(file.fileno()).st_size, os.pread(file.fileno(), 16384, 0)
    for mode in 0x08, 0x20, 0x40:  # FALLOC_FL_COLLAPSE_RANGE, _INSERT_RANGE, _UNSHARE_RANGE
        result = libc.fallocate(file.fileno(), mode, ctypes.c_long(4096), ctypes.c_long(4096))
        print(hex(mode), result, ctypes.get_errno() == errno.EOPNOTSUPP)
    try:
        fcntl.ioctl(other, 0x40049409, file.fileno())  # FICLONE
    except OSError as error:
        print("clone", error.errno == errno.EOPNOTSUPP)
    print(before == (os.fstat(file.fileno()).st_size, os.pread(file.fileno(), 16384, 0)))
"#;

#[test]
fn what_fuse_cannot_do_is_unsupported() {
    if !require("fuse", "FUSE and python3", doctor::says("fuse").0 && works("python3", &["--version"])) {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let work = base.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut trace = Command::new(flowmine());
    trace.args(["trace", "--must-trace", "--backend", "fuse", "--directory", ".", "--dataset"]).arg(base.path().join("data"));
    let output = trace.args(["--", "python3", "-c", UNSUPPORTED]).current_dir(&work).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let refused = "0x8 -1 True\n0x20 -1 True\n0x40 -1 True\nclone True\nTrue\n";
    assert_eq!(told, refused, "{}", String::from_utf8_lossy(&output.stderr));
}

/// What crosses the border of the directory, and what is done to the directory itself.
const BORDER: &str = r#"
import errno, os, shutil
def tell(do, *arguments):
    try:
        print(do(*arguments))
    except OSError as error:
        print(errno.errorcode[error.errno])
for name in ("a", "b", "../up/c"):
    open(name, "w").close()
os.mkdir("d")
tell(os.rename, "a", "../up/a")
tell(os.rename, "d", "../up/d")
tell(os.rename, "../up/c", "c")
tell(os.link, "a", "../up/a")
tell(os.rename, "../work", "../other")
tell(os.rmdir, "../work")
tell(shutil.move, "a", "../up/a")
tell(os.rename, "b", "d/b")
"#;

#[test]
fn a_named_directory_has_a_border() {
    if !require("fuse", "FUSE and python3", doctor::says("fuse").0 && works("python3", &["--version"])) {
        return;
    }
    let base = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (work, up) = (base.path().join("work"), base.path().join("up"));
    for path in [&work, &up] {
        std::fs::create_dir(path).unwrap();
    }
    let mut trace = Command::new(flowmine());
    trace.args(["trace", "--must-trace", "--backend", "fuse", "--directory", ".", "--dataset"]).arg(base.path().join("data"));
    let output = trace.args(["--", "python3", "-c", BORDER]).current_dir(&work).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let expected = "EXDEV\nEXDEV\nEXDEV\nEXDEV\nEBUSY\nEBUSY\n../up/a\nNone\n";
    assert_eq!(told, expected, "{}", String::from_utf8_lossy(&output.stderr));
    // The directory that holds both ends has no border between them.
    let script = "import os; open('work/e', 'w').close(); os.rename('work/e', 'up/e')";
    let mut trace = Command::new(flowmine());
    trace.args(["trace", "--must-trace", "--backend", "fuse", "--directory", ".", "--dataset"]).arg(base.path().join("data"));
    assert!(trace.args(["--", "python3", "-c", script]).current_dir(base.path()).status().unwrap().success());
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
    command.args(["-s", "KILL", "60", flowmine(), "trace", "--must-trace", "--backend", "fuse", "--dataset"]).arg(&dataset);
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
    command.args(["-s", "KILL", "60", flowmine(), "trace", "--must-trace", "--backend", "fuse", "--dataset"]).arg(base.path().join("data"));
    let output = command.args(["--", "sh", "-c", script]).current_dir(&directory).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "content".repeat(6));
}

/// A directory where others than root may go, below which the overlay lies.
pub(crate) fn open_to_all() -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir_in("/var/tmp").unwrap();
    let directory = base.path().join("here");
    std::fs::create_dir(&directory).unwrap();
    set_mode(base.path(), 0o755);
    set_mode(&directory, 0o755);
    (base, directory)
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

pub(crate) fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// Kind, reason and number of what was lost.
fn losses(dataset: &Path) -> Vec<(String, String, i64)> {
    let mut losses = Vec::new();
    traced::each::<flowmine_schema::tables::IoLoss<'static>>(dataset, |row| losses.push((row.kind.into(), row.reason.into(), row.count)));
    losses
}

/// Waits for what another process does.
pub(crate) fn until<T>(mut there: impl FnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = there() {
            return found;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("it did not come within 30 seconds");
}

/// The number, as we see it, of the process that waits ([`waits_in`]).
fn with_word(word: &str) -> Option<u32> {
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|&byte| byte == 0).collect();
        words.first() == Some(&&b"sh"[..]) && words.get(3) == Some(&word.as_bytes())
    })
}

/// A directory of somebody's, with a program that has root's rights and may be written by all, for
/// [`outsider`].
fn of_somebody(directory: &Path) {
    std::os::unix::fs::chown(directory, Some(65534), Some(65534)).unwrap();
    std::fs::write(directory.join("program"), "#!/bin/sh\n").unwrap();
    set_mode(&directory.join("program"), 0o4777);
    std::fs::write(directory.join("listed"), "").unwrap();
}

/// What the tracer runs for [`outsider`]: it goes on until a file is there.
fn waits_in(inside: &str, word: &str) -> Vec<String> {
    let script = format!("cd {inside}; while [ ! -e over ]; do sleep 0.05; done");
    ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c", &script, word].map(str::to_owned).to_vec()
}

/// Works in the overlay of a tracer that is root in another PID namespace, where we have no number:
/// with our own rights and not the tracer's. `directory` lies at `inside` for the command.
fn outsider(mut trace: Command, word: &str, directory: &Path, inside: &str, dataset: &Path) {
    let trace = trace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = until(|| with_word(word));
    let within = |user: &[&str], script: &str| {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "30", "setpriv"]).args(user).args(["python3", "-c"]);
        // Not one of a user's own.
        command.env("PATH", "/usr/bin:/bin");
        command.arg(format!("import os\nos.chdir('/proc/{pid}/root{inside}')\n{script}")).output().unwrap()
    };
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let made = within(
        &nobody,
        "fd = os.open('made', os.O_CREAT | os.O_WRONLY, 0o600); os.write(fd, b'x'); os.chmod('made', 0o4755); os.mkdir('below')
open('program', 'a').write('x')",
    );
    // The capabilities of one who cannot be seen cannot be seen either.
    let root = within(&["--reuid", "0"], "open('by-root', 'w')");
    let over = within(&nobody, "open('over', 'w')");
    let output = trace.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&made.stderr).into_owned() + &String::from_utf8_lossy(&over.stderr);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(made.status.success() && over.status.success(), "{text}{said}");
    for name in ["made", "below", "over"] {
        let metadata = directory.join(name).metadata().unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (65534, 65534), "the owner of {name}");
    }
    assert_eq!(
        directory.join("program").metadata().unwrap().mode() & 0o7777,
        0o777,
        "who writes to a set-user-id program takes that from it"
    );
    assert!(!root.status.success() && !directory.join("by-root").exists());
    // There are no rows of it, and that is said.
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("lost"), "{said}");
    assert!(losses(dataset).iter().any(|(kind, reason, _)| (kind.as_str(), reason.as_str()) == ("request", "caller-unseen")), "{said}");
}

#[test]
fn one_of_another_pid_namespace_has_no_rights_of_the_tracer() {
    let namespaces = works("unshare", &["--pid", "--fork", "--mount-proc", "true"]);
    if !require("fuse", "FUSE, root and unshare --pid", doctor::says("fuse").0 && namespaces && works("python3", &["--version"])) {
        return;
    }
    let (base, directory) = open_to_all();
    let (dataset, word) = (base.path().join("data"), format!("word-{}", std::process::id()));
    of_somebody(&directory);
    let mut trace = Command::new("timeout");
    trace.args([
        "-s",
        "KILL",
        "60",
        "unshare",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
        flowmine(),
        "trace",
        "--backend",
        "fuse",
    ]);
    let inside = directory.to_str().unwrap();
    trace.arg("--dataset").arg(&dataset).arg("--").args(waits_in(inside, &word)).current_dir(&directory);
    outsider(trace, &word, &directory, inside, &dataset);
}

/// A container with the programs of this machine and the capabilities that a tracer needs at least;
/// its directory `/vol` is one of the host.
fn container(base: &Path, arguments: &[String]) -> (Command, Container, [Mounted; 2]) {
    let succeed = |command: &mut Command| {
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let (layers, root) = (base.join("layers"), base.join("layers/root"));
    std::fs::create_dir(&layers).unwrap();
    succeed(Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&layers));
    let outer = Mounted(layers.clone());
    for name in ["root", "upper", "work"] {
        std::fs::create_dir(layers.join(name)).unwrap();
    }
    succeed(
        Command::new("mount")
            .args(["-t", "overlay", "overlay", "-o", "lowerdir=/,upperdir=upper,workdir=work", "root"])
            .current_dir(&layers),
    );
    let inner = Mounted(root.clone());
    std::fs::create_dir(root.join("vol")).unwrap();
    std::fs::copy(flowmine(), root.join("vol-flowmine")).unwrap();
    succeed(Command::new("runc").arg("spec").current_dir(base));
    let file = base.join("config.json");
    let mut config: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let capabilities = ["SYS_ADMIN", "SETUID", "SETGID", "CHOWN", "FOWNER", "DAC_OVERRIDE", "FSETID"].map(|name| format!("CAP_{name}"));
    config["process"]["terminal"] = false.into();
    config["process"]["args"] = serde_json::json!(arguments);
    config["process"]["capabilities"] = serde_json::json!({"bounding": capabilities, "effective": capabilities, "permitted": capabilities});
    config["process"]["rlimits"] = serde_json::json!([{"type": "RLIMIT_NOFILE", "hard": 256, "soft": 256}]);
    config["root"] = serde_json::json!({"path": root, "readonly": false});
    config["linux"]["cgroupsPath"] = format!("/flowmine-test-{}", std::process::id()).into();
    config["linux"]["devices"] = serde_json::json!([{"path": "/dev/fuse", "type": "c", "major": 10, "minor": 229, "fileMode": 0o666}]);
    config["linux"]["resources"]["devices"] = serde_json::json!([{"allow": true, "access": "rwm"}]);
    config["mounts"]
        .as_array_mut()
        .unwrap()
        .push(serde_json::json!({"destination": "/vol", "type": "bind", "source": base.join("vol"), "options": ["bind", "rw"]}));
    std::fs::write(&file, config.to_string()).unwrap();
    let container = Container(base.join("state"), format!("flowmine-overlay-{}", std::process::id()));
    let mut run = Command::new("timeout");
    run.args(["-s", "KILL", "90", "runc", "--root"]).arg(&container.0).args(["run", "--bundle"]).arg(base).arg(&container.1);
    (run, container, [inner, outer])
}

/// The state of runc and a name: ended with the test, however that ends.
struct Container(PathBuf, String);

impl Drop for Container {
    fn drop(&mut self) {
        let _ = Command::new("runc").arg("--root").arg(&self.0).args(["delete", "--force", &self.1]).stderr(Stdio::null()).status();
    }
}

/// A tracer in a container: more files than descriptors on both of its file systems, and somebody
/// on the host who works in its overlay.
#[test]
fn in_a_container() {
    let present = works("runc", &["--version"]) && works("python3", &["--version"]);
    if !require("podman", "runc, FUSE, root and python3", doctor::says("fuse").0 && present) {
        return;
    }
    let (base, _) = open_to_all();
    let (volume, word) = (base.path().join("vol"), format!("word-{}-container", std::process::id()));
    let directory = volume.join("here");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::create_dir(volume.join("many")).unwrap();
    of_somebody(&directory);
    std::fs::write(volume.join("many.py"), MANY).unwrap();
    let many =
        "for d in /vol/many /opt/here; do cd $d; HERE=$d python3 /vol/many.py > /vol/said || exit 2; cat /vol/said >> /vol/all; done";
    let traced = ["/vol-flowmine", "trace", "--must-trace", "--backend", "fuse", "--directory", "/vol/many", "--directory", "/opt/here"];
    let script = format!(
        "mkdir -p /opt/here; {} --dataset /vol/data -- sh -c '{many}' || exit 3
        exec /vol-flowmine trace --backend fuse --directory /vol/here --dataset /vol/other -- \"$@\"",
        traced.join(" ")
    );
    let arguments = ["sh", "-c", &script, "sh"].map(str::to_owned).into_iter().chain(waits_in("/vol/here", &word)).collect::<Vec<_>>();
    // In the order in which they are to go.
    let (run, container, mounted) = container(base.path(), &arguments);
    let _ends = (container, mounted);
    outsider(run, &word, &directory, "/vol/here", &volume.join("other"));
    assert_eq!(std::fs::read_to_string(volume.join("all")).unwrap(), "2160 9665\n600\n0 []\n".repeat(2));
    assert_eq!(losses(&volume.join("data")), []);
}

/// Where `/proc` is that of another PID namespace the number of a caller would lead to somebody
/// else.
#[test]
fn a_foreign_proc_is_refused() {
    let namespaces = works("unshare", &["--pid", "--fork", "true"]);
    if !require("fuse", "FUSE, root and unshare --pid", doctor::says("fuse").0 && namespaces) {
        return;
    }
    let (base, directory) = open_to_all();
    let mut command = Command::new("timeout");
    command.args([
        "-s",
        "KILL",
        "60",
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        flowmine(),
        "trace",
        "--must-trace",
        "--backend",
        "fuse",
        "--dataset",
    ]);
    let output = command.arg(base.path().join("data")).args(["--", "touch", "file"]).current_dir(&directory).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("PID namespace"), "{said}");
    assert!(!directory.join("file").exists());
}

/// What depends on capabilities and groups, of root and of others, kept and dropped: each line says
/// what a process may do.
const RIGHTS: &str = r#"
import ctypes, fcntl, os, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)

def tell(what, do):
    try:
        print(what, do(), flush=True)
    except OSError as error:
        print(what, error.strerror, flush=True)

def as_user(what, do, uid=0, gid=0, groups=(), bounding=None, keep=None):
    """Does it in a child that has become somebody, without another program."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setgroups(list(groups))
        os.setgid(gid)
        if keep is not None:
            libc.prctl(8, 1, 0, 0, 0)
        if uid:
            os.setuid(uid)
        if keep is not None:
            mask = sum(1 << bit for bit in keep)
            head = (ctypes.c_uint32 * 2)(0x20080522, 0)
            halves = (ctypes.c_uint32 * 6)(mask & 0xffffffff, mask & 0xffffffff, 0, mask >> 32, mask >> 32, 0)
            assert libc.capset(head, halves) == 0
        tell(what, do)
        os._exit(0)
    os.waitpid(child, 0)

def make(name, mode, owner=0, content=b"content"):
    with open(name, "wb") as file:
        file.write(content)
    os.chown(name, owner, owner)
    os.chmod(name, mode)

def read(name):
    return open(name, "rb").read()

def append(name):
    with open(name, "ab") as file:
        file.write(b"x")
    return oct(os.stat(name).st_mode)

CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SYS_ADMIN, LINUX_IMMUTABLE = 0, 1, 3, 4, 21, 9
os.mkdir("of-other")
os.chown("of-other", 1, 1)
for name in ("p1", "p2", "p3", "p4"):
    make(name, 0o4777)
make("closed", 0o600, 1)
make("grouped", 0o640)
os.chown("grouped", 1, 1)
make("mine", 0o644, 65534)
make("given", 0o644, 65534)
make("attributes", 0o666)
os.setxattr("attributes", "trusted.hidden", b"x")

# Root without capabilities.
as_user("root reads what is another's", lambda: read("closed"))
as_user("root without capabilities reads it", lambda: read("closed"), keep=[])
as_user("and makes a file in another's directory", lambda: open("of-other/made", "w").close(), keep=[])
as_user("and writes to a set-user-id program", lambda: append("p1"), keep=[])
as_user("and keeps the bit with CAP_FSETID", lambda: append("p2"), keep=[FSETID])
as_user("and gives a file away", lambda: os.chown("p3", 1, 1), keep=[])
as_user("and makes it not to be changed", lambda: fcntl.ioctl(open("p3"), 0x40086602, (0x10).to_bytes(8, "little")), keep=[])

# Others with some.
as_user("a user with CAP_DAC_OVERRIDE reads", lambda: read("closed"), 65534, 65534, keep=[DAC_OVERRIDE])
as_user("a user with CAP_CHOWN gives away", lambda: os.chown("given", 1, 1), 65534, 65534, keep=[CHOWN])
as_user("a user gives away", lambda: os.chown("mine", 1, 1), 65534, 65534)
as_user("a user writes to a set-user-id program", lambda: append("p4"), 65534, 65534)
as_user("a user sees names of attributes", lambda: os.listxattr("attributes"), 65534, 65534)
as_user("a user with CAP_SYS_ADMIN sees them", lambda: os.listxattr("attributes"), 65534, 65534, keep=[SYS_ADMIN])

def changing():
    """One thread, other groups each time."""
    seen = []
    for groups in ([], [1], [], [1]):
        os.setgroups(groups)
        libc.setfsuid(65534)
        libc.setfsgid(65534)
        try:
            seen.append(open("grouped", "rb").read())
        except OSError as error:
            seen.append(error.strerror)
        libc.setfsuid(0)
        libc.setfsgid(0)
    return seen
as_user("one whose groups change", changing)

def losing():
    """One thread, first with a capability and then without."""
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    seen = []
    for mask in (2, 0, 2, 0):
        halves = (ctypes.c_uint32 * 6)(mask, 2, 0, 0, 0, 0)
        assert libc.capset(head, halves) == 0
        try:
            seen.append(open("closed", "rb").read())
        except OSError as error:
            seen.append(error.strerror)
    return seen
as_user("one whose capabilities change", losing, keep=[DAC_OVERRIDE])

def dropped():
    """What was opened with rights stays open without them."""
    with open("closed", "r+b") as file:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        fcntl.lockf(file, fcntl.LOCK_EX)
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(b"changed")
        file.flush()
        os.fsync(file.fileno())
        os.ftruncate(file.fileno(), 3)
        return os.pread(file.fileno(), 10, 0), os.fstat(file.fileno()).st_size
as_user("one who has dropped its rights", dropped)
"#;

#[test]
fn capabilities_and_groups_are_the_callers() {
    let may = works("setpriv", &["--reuid", "65534", "--clear-groups", "true"]) && works("python3", &["--version"]);
    if !require("fuse", "FUSE, root and python3", doctor::says("fuse").0 && may) {
        return;
    }
    let run = |words: &[&str]| {
        let (base, directory) = open_to_all();
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "60"]).args(words);
        if !words.is_empty() {
            command.arg("--dataset").arg(base.path().join("data")).arg("--");
        }
        let output = command.args(["python3", "-c", RIGHTS]).current_dir(&directory).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", String::from_utf8_lossy(&output.stderr));
        let owners = ["given", "mine", "p3"].map(|name| directory.join(name).metadata().unwrap().uid());
        (String::from_utf8(output.stdout).unwrap(), owners)
    };
    let (native, owners) = run(&[]);
    let (traced, also_owners) = run(&[flowmine(), "trace", "--must-trace", "--backend", "fuse"]);
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&native), lines(&traced));
    assert_eq!(owners, also_owners);
    // The machine gives the rights that the cases are about.
    assert!(native.contains("CAP_DAC_OVERRIDE reads b'content'") && native.contains("sees them ['trusted.hidden']"), "{native}");
}

/// Stores into a mapping as a user, while root works beside it: what was stored is written later,
/// in nobody's name.
const STORE: &str = r#"
import mmap, os, signal
root = os.fork()
if root == 0:
    while True:
        os.stat("..")
        open("other", "w").close()
child = os.fork()
if child == 0:
    os.setgid(1)
    os.setuid(1)
    with open("file", "w+b") as file:
        file.truncate(12 << 20)
        view = mmap.mmap(file.fileno(), 12 << 20)
        for at in range(0, 12 << 20, 4096):
            view[at] = 1
    os._exit(0)
os.waitpid(child, 0)
os.sync()
os.kill(root, signal.SIGKILL)
os.waitpid(root, 0)
"#;

/// What a file system keeps for root is not for others, also when root's tracer writes for them.
#[test]
fn what_is_reserved_for_root_stays() {
    let (base, directory) = open_to_all();
    let image = base.path().join("image");
    let file = std::fs::File::create(&image).unwrap();
    file.set_len(16 << 20).unwrap();
    let makes = works("mkfs.ext4", &["-q", "-m", "40", "-O", "^has_journal", image.to_str().unwrap()]);
    let mounts = makes && works("mount", &["-o", "loop", image.to_str().unwrap(), directory.to_str().unwrap()]);
    let _mounted = mounts.then(|| Mounted(directory.clone()));
    if !require(
        "mount",
        "root, mkfs.ext4, loop devices, python3 and FUSE",
        doctor::says("fuse").0 && mounts && works("python3", &["--version"]),
    ) {
        return;
    }
    let place = directory.join("place");
    std::fs::create_dir(&place).unwrap();
    std::os::unix::fs::chown(&place, Some(1), Some(1)).unwrap();
    let fill = |words: &[&str], fill: &[&str]| {
        let mut command = Command::new("timeout");
        command.args(["-s", "KILL", "60"]).args(words);
        if !words.is_empty() {
            command.arg("--dataset").arg(base.path().join("data")).arg("--");
        }
        let output = command.args(fill).current_dir(&place).output().unwrap();
        assert!(works("sync", &[]));
        let blocks = place.join("file").metadata().unwrap().blocks();
        std::fs::remove_file(place.join("file")).unwrap();
        assert!(works("sync", &[]));
        (blocks * 512, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let overlay = [flowmine(), "trace", "--must-trace", "--backend", "fuse"];
    let by_calls = ["setpriv", "--reuid", "1", "--regid", "1", "--clear-groups", "dd", "if=/dev/zero", "of=file", "bs=64k"];
    for (how, words) in [("calls", &by_calls[..]), ("a mapping", &["python3", "-c", STORE][..])] {
        let ((native, said), (traced, also_said)) = (fill(&[], words), fill(&overlay, words));
        assert!(native > 1 << 20 && native < 10 << 20, "{how}: {native} bytes: {said}");
        assert!(native.abs_diff(traced) < 1 << 20, "{how}: {native} bytes fit in without the overlay, {traced} with it: {also_said}");
        if how == "calls" {
            assert!(said.contains("No space left") && also_said.contains("No space left"), "{said}{also_said}");
        }
    }
}

/// Taken away with the test, however it ends.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// More files and processes than the tracer may have descriptors: names, links, files without a
/// name, directories that were left, and all that is asked of them.
const MANY: &str = r#"
import os, subprocess
os.mkdir("d")
for n in range(2000):
    with open(f"d/{n}", "w") as file:
        file.write(str(n))
    if n % 10 == 0:
        os.link(f"d/{n}", f"d/link{n}")
kept = [os.open(f"d/{n}", os.O_PATH) for n in range(20)]
here = [open(f"d/{n}") for n in range(20, 40)]
for n in range(40):
    os.unlink(f"d/{n}")
os.mkdir("left")
os.chdir("left")
os.rmdir("../left")
os.chdir(os.environ["HERE"])
os.rename("d", "e")
for n in range(40, 2000):
    assert os.stat(f"e/{n}").st_size == len(str(n)), n
    assert open(f"e/{n}").read() == str(n), n
for n, fd in enumerate(kept):
    stat = os.fstat(fd)
    assert stat.st_nlink == (1 if n % 10 == 0 else 0) and stat.st_size == len(str(n)), (n, stat)
    assert open(f"/proc/self/fd/{fd}").read() == str(n)
for n, file in enumerate(here):
    assert file.read() == str(n + 20)
for n in range(40, 2000):
    os.rename(f"e/{n}", f"e/new{n}")
for n in range(1999, 39, -1):
    os.chmod(f"e/new{n}", 0o600)
    with open(f"e/new{n}", "a") as file:
        file.write("!")
    assert open(f"e/new{n}").read() == f"{n}!"
print(len(os.listdir("e")), sum(entry.stat().st_size for entry in os.scandir("e")))
for _ in range(600):
    subprocess.run(["sh", "-c", "echo line >> log"], check=True)
print(len(open("log").readlines()))
os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")
print(os.stat(".").st_nlink, os.listdir("."))
"#;

/// `flowmine trace` with 256 descriptors, and without the right to have more.
fn with_few_descriptors(bounding: &str, dataset: &Path, script: &str) -> Command {
    let mut trace = Command::new("timeout");
    trace.args(["-s", "KILL", "100", "prlimit", "--nofile=256:256", "setpriv", "--bounding-set", bounding]);
    trace.args([flowmine(), "trace", "--must-trace", "--backend", "fuse", "--dataset"]).arg(dataset).args(["--", "python3", "-c", script]);
    trace.stdin(Stdio::null());
    trace
}

fn has_few_descriptors() -> bool {
    let may = works("setpriv", &["--bounding-set", "-all,+setfcap", "unshare", "--user", "true"]) && works("prlimit", &["--version"]);
    require("fuse", "FUSE, root, user namespaces, prlimit and python3", doctor::says("fuse").0 && may && works("python3", &["--version"]))
}

/// In each way in which files are found again: by handle, by name, and by name in a user namespace.
#[test]
fn more_files_and_processes_than_descriptors() {
    if !has_few_descriptors() {
        return;
    }
    for name in ["-sys_resource", "-sys_resource,-dac_read_search", "-all,+setfcap"] {
        let (base, directory) = open_to_all();
        let dataset = base.path().join("data");
        let mut trace = with_few_descriptors(name, &dataset, MANY);
        let output = trace.current_dir(&directory).env("HERE", &directory).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name}: {said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "2160 9665\n600\n0 []\n", "{name}");
        assert_eq!((losses(&dataset), said.as_ref()), (vec![], ""), "{name}");
        // No row is missing, and none has another file's name.
        let (rows, _) = traced::rows(&dataset);
        let of = |op: &str, path: &str| {
            let path = directory.join(path).into_os_string().into_encoded_bytes();
            rows.iter().filter(|row| row.op == op && row.path.as_deref() == Some(&path[..])).map(|row| row.result).collect::<Vec<_>>()
        };
        assert_eq!(of("open", "log"), vec![Some(0); 601], "{name}");
        for n in 40..2000 {
            assert_eq!(of("open", &format!("e/{n}")), [Some(0)], "{name} {n}");
            assert_eq!(of("open", &format!("e/new{n}")), [Some(0), Some(0)], "{name} {n}");
        }
        // The lines of the log, and what else is so short.
        let written = |bytes| rows.iter().filter(|row| row.op == "write" && row.result == Some(bytes)).count();
        assert_eq!((written(5), written(1)), (600, 1960 + 10), "{name}");
    }
}

/// Processes that have as many files open as their own limit lets them, all at the same time: some
/// are deleted, some locked, some are directories, and each has its position.
const FULL: &str = r#"
import errno, fcntl, os
CHILDREN = 5

def child(k):
    files, refused = [], None
    while refused is None:
        n = len(files)
        try:
            files.append(os.open(f"d{k}.{n}" if n % 7 == 6 else f"{k}.{n}", os.O_RDONLY if n % 7 == 6 else os.O_RDWR | os.O_CREAT))
        except FileNotFoundError:
            os.mkdir(f"d{k}.{n}")
        except OSError as error:
            refused = errno.errorcode[error.errno]
    regular = [(n, fd) for n, fd in enumerate(files) if n % 7 != 6]
    for n, fd in regular:
        os.write(fd, b"%d" % n)
        if n % 3 == 0:
            os.unlink(f"{k}.{n}")
        elif n % 5 == 0:
            fcntl.flock(fd, fcntl.LOCK_EX)
        elif n % 5 == 1:
            fcntl.lockf(fd, fcntl.LOCK_EX)
    return f"{k}: {len(files)} open, then {refused}", regular

def check(regular):
    good = 0
    for n, fd in regular:
        text = b"%d" % n
        good += os.lseek(fd, 0, os.SEEK_CUR) == len(text) and os.pread(fd, 10, 0) == text and os.fstat(fd).st_nlink == (n % 3 != 0)
    return f"{good} of {len(regular)} are good"

def held():
    """How many locks keep others out."""
    count = 0
    for name in sorted(os.listdir(".")):
        if name[0] == "d":
            continue
        with open(name, "r+") as file:
            for lock in (fcntl.flock, fcntl.lockf):
                try:
                    lock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    count += 1
    return count

ready, go, said = os.pipe(), os.pipe(), os.pipe()
for k in range(CHILDREN):
    if os.fork() == 0:
        line, regular = child(k)
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os.write(said[1], f"{line}; {check(regular)}\n".encode())
        os._exit(0)
for k in range(CHILDREN):
    os.read(ready[0], 1)
print(held(), "locks")
os.write(go[1], b"x" * CHILDREN)
for k in range(CHILDREN):
    assert os.wait()[1] == 0
os.close(said[1])
print(*sorted(os.fdopen(said[0]).read().splitlines()), sep="\n")
print(held(), "locks")
"#;

#[test]
fn as_many_files_are_open_as_without_the_overlay() {
    if !has_few_descriptors() {
        return;
    }
    let (_base, directory) = open_to_all();
    let native = Command::new("prlimit").args(["--nofile=256:256", "python3", "-c", FULL]).current_dir(&directory).output().unwrap();
    let expected = String::from_utf8(native.stdout).unwrap();
    assert!(native.status.success() && expected.contains("then EMFILE"), "{expected}{}", String::from_utf8_lossy(&native.stderr));
    for name in ["-sys_resource", "-all,+setfcap"] {
        let (base, directory) = open_to_all();
        let dataset = base.path().join("data");
        let output = with_few_descriptors(name, &dataset, FULL).current_dir(&directory).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{name}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{name}");
        assert_eq!(losses(&dataset), [], "{name}");
    }
}
