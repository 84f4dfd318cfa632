//! Under the FUSE overlay each call needs the rights that it needs without it: the same script says
//! the same natively and traced, for each mode of a file or directory.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::overlay::{flowmine, open_to_all, works};
use crate::support::doctor;
use crate::support::require::require;

/// Each way to use a file or a directory, for each mode, as the user 65534 and as root without
/// capabilities. The files are root's.
const SCRIPT: &str = r##"
import ctypes, mmap, os, shutil, stat, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)

def tell(what, do):
    try:
        result = do()
    except OSError as error:
        result = error.strerror
    print(what, result, flush=True)

def opens(flags):
    def do(name):
        os.close(os.open(name, flags))
        return "opens"
    return do

def writes(flags):
    def do(name):
        with os.fdopen(os.open(name, flags), "wb", 0) as file:
            return file.write(b"x")
    return do

def maps(flags, protection):
    def do(name):
        with os.fdopen(os.open(name, flags), "rb", 0) as file:
            with mmap.mmap(file.fileno(), 4096, prot=protection) as view:
                return view[:2]
    return do

def by_descriptor(name):
    """What a descriptor gives that was had without the right to read."""
    fd = os.open(name, os.O_PATH)
    try:
        return os.fstat(fd).st_size, os.access(f"/proc/self/fd/{fd}", os.R_OK)
    finally:
        os.close(fd)

def again(name):
    fd = os.open(name, os.O_PATH)
    try:
        os.close(os.open(f"/proc/self/fd/{fd}", os.O_RDONLY))
        return "opens"
    finally:
        os.close(fd)

def executes(*arguments, fd=False):
    def do(name):
        sys.stdout.flush()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(write, 1)
            try:
                program = os.open(name, os.O_PATH) if fd else f"./{name}"
                os.execve(program, [name, *arguments], {})
            except OSError as error:
                print(error.strerror, flush=True)
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as file:
            said = file.read()
        os.waitpid(child, 0)
        return said
    return do

FILES = {
    "O_RDONLY": opens(os.O_RDONLY), "O_WRONLY": opens(os.O_WRONLY), "O_RDWR": opens(os.O_RDWR),
    "O_PATH": opens(os.O_PATH), "by O_PATH": by_descriptor, "O_PATH, again": again,
    "a write": writes(os.O_WRONLY), "an append": writes(os.O_WRONLY | os.O_APPEND),
    "a write of a part of a page": writes(os.O_RDWR),
    "a mapping": maps(os.O_RDONLY, mmap.PROT_READ),
    "a mapping for writing": maps(os.O_RDWR, mmap.PROT_READ | mmap.PROT_WRITE),
    "truncate": lambda name: os.truncate(name, 5000),
    "utime": lambda name: os.utime(name),
    "an attribute": lambda name: os.getxattr(name, "user.one"),
    "a further attribute": lambda name: os.setxattr(name, "user.two", b"2"),
    "access": lambda name: [os.access(name, mode) for mode in (os.R_OK, os.W_OK, os.X_OK)],
    "O_TRUNC": opens(os.O_WRONLY | os.O_TRUNC), "O_RDONLY and O_TRUNC": opens(os.O_RDONLY | os.O_TRUNC),
}
PROGRAMS = {
    "execve": executes("/etc/hostname"), "execve by descriptor": executes("/etc/hostname", fd=True),
    "execve, of its own program": executes("/proc/self/exe", fd=False),
}

def removed():
    """A directory that is the current one, and gone."""
    where = os.open(".", os.O_RDONLY)
    os.mkdir("open/gone")
    os.chdir("open/gone")
    os.rmdir("../gone")
    tell("a removed directory is listed", lambda: os.listdir("."))
    tell("a removed directory is opened", lambda: opens(os.O_RDONLY)("."))
    tell("a file in a removed directory", lambda: open("new", "w").close())
    tell("a file without a name in it", lambda: opens(os.O_TMPFILE | os.O_RDWR)("."))
    os.chdir(where)
    os.close(where)

def inside(do):
    """As the working directory, which stays without the right to search."""
    def within(name):
        where = os.open(".", os.O_RDONLY)
        os.chdir(name)
        try:
            return do(".")
        finally:
            os.chdir(where)
            os.close(where)
    return within

DIRECTORIES = {
    "listed": os.listdir, "with its files": lambda name: sorted((e.name, e.is_file()) for e in os.scandir(name)),
    "with their sizes": lambda name: [os.stat(f"{name}/{each}").st_size for each in os.listdir(name)],
    "a file in it": lambda name: open(f"{name}/a").read(), "chdir": inside(lambda name: "entered"),
    "listed from within": inside(os.listdir), "opened, O_PATH": opens(os.O_PATH | os.O_DIRECTORY),
    "fsync": lambda name: opens(os.O_RDONLY)(name), "opened again": again,
    "made in it": lambda name: open(f"{name}/new", "w").close(), "taken out": lambda name: os.unlink(f"{name}/new"),
    "a directory in it": lambda name: os.mkdir(f"{name}/d"), "and removed": lambda name: os.rmdir(f"{name}/d"),
    "a link": lambda name: os.link("open/a", f"{name}/l"), "renamed": lambda name: os.rename(f"{name}/l", f"{name}/m"),
    "removed": lambda name: os.unlink(f"{name}/m"),
    "without a name": opens(os.O_TMPFILE | os.O_RDWR), "access": FILES["access"],
}

def as_user(uid, do):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        if uid:
            os.setgid(uid)
            os.setuid(uid)
        do()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

os.umask(0)
os.mkdir("open", 0o777)
open("open/a", "w").close()
for user in USERS:
    for mode in range(8):
        shutil.rmtree("work", ignore_errors=True)
        os.mkdir("work", 0o777)
        os.chdir("work")
        os.mkdir("open", 0o777)
        open("open/a", "w").close()
        os.mkdir("d", 0o777)
        with open("d/a", "w") as file:
            file.write("content")
        with open("f", "wb") as file:
            file.write(b"x" * 6000)
        os.setxattr("f", "user.one", b"1")
        shutil.copy("/bin/cat", "p")
        with open("s", "w") as file:
            file.write("#!/bin/sh\necho script\n")
        bits = mode | mode << 6
        os.chmod("f", bits)
        os.chmod("p", bits)
        os.chmod("s", bits)
        os.chmod("d", bits)
        def all_of_them():
            for what, do in FILES.items():
                tell(f"{user} {mode} file: {what}", lambda: do("f"))
            for what, do in PROGRAMS.items():
                tell(f"{user} {mode} program: {what}", lambda: do("p"))
            tell(f"{user} {mode} script", lambda: executes()("s"))
            for what, do in DIRECTORIES.items():
                tell(f"{user} {mode} directory: {what}", lambda: do("d"))
            tell(f"{user} {mode} made without rights", lambda: made(f"open/n{mode}", bits))
        def made(name, mode):
            fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode & 0o777)
            os.write(fd, b"written")
            again = os.pread(fd, 7, 0)
            os.close(fd)
            return again
        as_user(user, all_of_them)
        as_user(user, removed)
        os.chdir("..")

if 65534 in USERS:
    for mode in 0o711, 0o4711, 0o4111:
        shutil.copy("/bin/cat", "set")
        os.chmod("set", mode)
        as_user(65534, lambda: tell(f"set-user-id {mode:o}", lambda: executes("closed")("set")))
        os.unlink("set")
"##;

fn run(words: &[&str], users: &str, base: &Path, directory: &Path) -> String {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "100"]).args(words);
    if words.contains(&"trace") {
        command.arg("--dataset").arg(base.join("data")).arg("--");
    }
    std::fs::write(directory.join("closed"), "what only root may read\n").unwrap();
    std::fs::set_permissions(directory.join("closed"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let script = SCRIPT.replace("USERS", users);
    let output = command.args(["python3", "-c", &script]).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn each_call_needs_the_rights_that_it_needs_without_the_overlay() {
    let may = works("setpriv", &["--reuid", "65534", "--clear-groups", "true"]) && works("python3", &["--version"]);
    if !require("fuse", "FUSE, root and python3", doctor::says("fuse").0 && may) {
        return;
    }
    let said = |words: &[&str]| {
        let (base, directory) = open_to_all();
        run(words, "(65534, 0)", base.path(), &directory)
    };
    let native = said(&[]);
    let traced = said(&[flowmine(), "trace", "--must-trace", "--backend", "fuse"]);
    let differing: Vec<_> = native.lines().zip(traced.lines()).filter(|(native, traced)| native != traced).collect();
    assert!(differing.is_empty(), "without and with the overlay: {differing:#?}");
    assert_eq!(native.lines().count(), traced.lines().count());
    // The cases are what they should be.
    for told in [
        "65534 4 directory: listed ['a']",
        "65534 1 directory: listed Permission denied",
        "65534 2 file: a write 1",
        "65534 2 file: O_RDONLY Permission denied",
        "set-user-id 4711 b'what only root may read\\n'",
    ] {
        assert!(native.lines().any(|line| line == told), "{told}\n{native}");
    }
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap();
    assert!(native.contains(&format!("65534 1 program: execve b'{}", hostname.trim())), "{native}");
    assert!(native.contains("65534 1 program: execve, of its own program b''"), "{native}");
}
