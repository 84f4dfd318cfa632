//! The same known programs traced in every way, on this kernel: the rows are the same but for declared blind spots, and what is declared must be
//! true. `docs/tracing.md` has these lists for users.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]

#[path = "support/operations.rs"]
mod operations;
#[path = "support/require.rs"]
mod require;
#[path = "support/traced.rs"]
mod traced;

use std::path::{Path, PathBuf};
use std::process::Command;

use operations::{Blind, Column, Expectations, Extra, Sight, Used, Want, Way};
use require::require;

fn flowmine() -> &'static str {
    env!("CARGO_BIN_EXE_flowmine")
}

fn doctor_says(backend: &str) -> (bool, String) {
    let output = Command::new(flowmine()).args(["doctor", "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let ways = found["ways"].as_array().unwrap();
    let way = ways.iter().find(|way| way["backend"] == backend).unwrap_or_else(|| panic!("doctor does not know {backend}"));
    (way["works"] == true, way["how"].as_str().unwrap_or_default().to_owned())
}

/// Where the cases run: `FLOWMINE_SCRATCH`, or beside the target folder.
fn scratch() -> PathBuf {
    std::env::var_os("FLOWMINE_SCRATCH").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// Every case in one way, here. `broken` are cases that do not come to their end when they are traced so, with the reason: they must fail.
/// `under` is a program and its arguments before the tracer.
fn every_case(way: &Way, under: &[&str], options: &[&str], broken: &[(&str, &str)]) {
    let base = tempfile::tempdir_in(scratch()).unwrap();
    let (mut used, mut wrong, mut ran) = (Used::default(), Vec::new(), 0);
    let only = std::env::var("FLOWMINE_CASE").unwrap_or_default();
    for case in operations::cases().iter().filter(|case| case.contains(&only)) {
        let (dir, expectations, dataset) =
            (base.path().join(case), base.path().join(format!("{case}.expect")), base.path().join(format!("{case}.data")));
        std::fs::create_dir(&dir).unwrap();
        // Where we may, a group that is not ours: what a user namespace does not know.
        let _ = std::os::unix::fs::chown(&dir, None, Some(65534));
        let words: Vec<&str> = under.iter().copied().chain([flowmine()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(["trace", "--dataset"]).arg(&dataset).args(options).arg("--");
        // It is there before, or it gets the inode of a file that the case deleted, and its own rows look like those of the case.
        std::fs::write(&expectations, "").unwrap();
        if let Some((_, why)) = broken.iter().find(|(name, _)| name == case) {
            let output = command.arg(operations::program()).args([case, "--expect"]).arg(&expectations).current_dir(&dir).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{case} is said not to work ({why}): {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let expected = operations::run(command, case, &dir, &expectations).unwrap_or_default();
        // Without the right to chroot, say.
        if expected.rows.is_empty() {
            continue;
        }
        ran += 1;
        wrong.extend(compare(way, case, &dir, &expected, &dataset, &mut used));
    }
    assert!(wrong.is_empty(), "{}: {} of {ran} cases differ\n{}", way.name, wrong.len(), wrong.join("\n"));
    if only.is_empty() {
        assert!(ran >= 30, "{}: only {ran} cases ran", way.name);
        used.check(way).unwrap();
    }
}

fn compare(way: &Way, case: &str, dir: &Path, expected: &Expectations, dataset: &Path, used: &mut Used) -> Option<String> {
    let (rows, files) = traced::rows(dataset);
    operations::compare(way, case, dir, expected, &rows, &files, used).err().map(|text| format!("{case}: {text}"))
}

const UNKNOWN_INODE: Blind = Blind {
    why: "the system call names a path; which inode it led to is known to the VFS alone",
    of: |_, row| matches!(row.op.as_str(), "delete" | "rename" | "link"),
    sight: Sight::Null(Column::File),
};

const AIO: Blind = Blind {
    why: "io_submit(2) (libaio) is no call that is hooked",
    of: |case, row| case == "aio" && matches!(row.op.as_str(), "read" | "write"),
    sight: Sight::NoRow,
};

const NO_IO_URING: Blind = Blind {
    why: "what goes through io_uring passes no system call; submissions are counted in `losses`",
    of: |_, row| row.via == Want::Is("io_uring".to_owned()),
    sight: Sight::NoRow,
};

const LONG_PATH: Blind = Blind {
    why: "/proc tells no path of more than 4096 bytes",
    of: |case, row| case == "longer_path" && matches!(row.op.as_str(), "open" | "delete") && row.path != Want::Any,
    sight: Sight::Null(Column::Path),
};

const MAPPED: Blind =
    Blind { why: "no file system is told of a mapping by the FUSE protocol", of: |_, row| row.op == "mmap", sight: Sight::NoRow };

const THROUGH_THE_CACHE: Blind = Blind {
    why: "sendfile(2) and splice(2) read a file of FUSE through the page cache, which asks for whole pages and only for those it does not have",
    of: |_, row| row.op == "read" && (row.via == Want::Is("sendfile".to_owned()) || row.via == Want::Is("splice".to_owned())),
    sight: Sight::NoRow,
};

const NOTHING_MOVED: Blind = Blind {
    why: "the kernel asks for nothing when a transfer is of no bytes, and neither for a write of what is not there to be read",
    of: |_, row| {
        let nothing = row.size == Want::Is(0) || row.via != Want::Is("call".to_owned());
        matches!(row.op.as_str(), "read" | "write") && row.result == Want::Is(0) && nothing
    },
    sight: Sight::NoRow,
};

const REFUSED_BY_THE_KERNEL: Blind = Blind {
    why: "what the kernel refuses by itself, such as a write to a descriptor for reading; only a name that is missing shows",
    of: |case, row| {
        let Want::Is(result) = row.result else { return false };
        const ENOENT: i64 = -2;
        const ENAMETOOLONG: i64 = -36;
        let missing = result == ENOENT || result == ENAMETOOLONG;
        result < 0 && !(missing && row.path != Want::Any && case != "deleted_cwd")
    },
    sight: Sight::NoRow,
};

const REFUSED_BUT_FOR_RIGHTS: Blind = Blind {
    why: "what the kernel refuses by itself; who may open a file is decided by the file system underneath",
    of: |case, row| (REFUSED_BY_THE_KERNEL.of)(case, row) && row.result != Want::Is(-13),
    sight: Sight::NoRow,
};

const PLACES: Blind = Blind {
    why: "an open for a place in the tree only (O_PATH) opens nothing",
    of: |case, row| case == "o_path" && (row.flags == Want::Is(0o10_000_000) || (row.op == "close" && row.handle == Want::Is(2))),
    sight: Sight::NoRow,
};

const SYNC_RANGE: Blind = Blind {
    why: "sync_file_range(2) acts on the page cache",
    of: |_, row| row.op == "sync" && row.flags == Want::Any,
    sight: Sight::NoRow,
};

const SHORTENED: Blind = Blind {
    why: "the kernel shortens what io_uring and libaio ask for to what is left of the file",
    of: |case, row| {
        let short = matches!((&row.size, &row.result), (Want::Is(size), Want::Is(result)) if (0..*size).contains(result));
        matches!(case, "io_uring" | "aio") && row.op == "read" && short
    },
    sight: Sight::Null(Column::Size),
};

/// Cases that do not come to their end.
const BROKEN_OVER_FUSE: &[(&str, &str)] = &[(
    "io_uring_position",
    "Linux does not move the position of a file of FUSE that is read past the page cache when io_uring reads at the position (fuse_direct_IO)",
)];

const SYSCALLS: Way = Way { name: "eBPF, system calls", same_files: true, ordered: true, blind: &[UNKNOWN_INODE, AIO], extra: NO_EXTRA };
const PTRACE: Way = Way { name: "ptrace", same_files: true, ordered: true, blind: &[AIO, NO_IO_URING, LONG_PATH], extra: NO_EXTRA };
const FUSE: Way = Way {
    name: "FUSE",
    same_files: false,
    ordered: true,
    blind: &[MAPPED, THROUGH_THE_CACHE, NOTHING_MOVED, REFUSED_BY_THE_KERNEL, PLACES, SYNC_RANGE, SHORTENED],
    extra: NO_EXTRA,
};
const FUSE_OF_A_USER: Way = Way {
    name: "FUSE in a user namespace",
    blind: &[MAPPED, THROUGH_THE_CACHE, NOTHING_MOVED, REFUSED_BUT_FOR_RIGHTS, PLACES, SYNC_RANGE, SHORTENED],
    ..FUSE
};
const NO_EXTRA: &[Extra] = &[];

#[test]
fn ebpf_by_system_calls() {
    let (works, how) = doctor_says("ebpf");
    if require("bpf", &format!("eBPF ({how})"), works) {
        every_case(&SYSCALLS, &[], &["--backend", "ebpf", "--hooks", "syscalls"], &[]);
    }
}

#[test]
fn ptrace() {
    let (works, how) = doctor_says("ptrace");
    if require("ptrace", &format!("ptrace ({how})"), works) {
        every_case(&PTRACE, &[], &["--backend", "ptrace"], &[]);
    }
}

#[test]
fn fuse() {
    let (works, how) = doctor_says("fuse");
    if require("fuse", &format!("FUSE ({how})"), works) {
        every_case(&FUSE, &[], &["--backend", "fuse"], BROKEN_OVER_FUSE);
    }
}

/// Without capabilities (but the one without which root must not be in a user namespace): root stays the owner of the files, but is a user like others.
#[test]
fn fuse_without_privileges() {
    let (works, how) = doctor_says("fuse");
    let helps =
        |program: &str, arguments: &[&str]| Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    let namespaces = helps("setpriv", &["--bounding-set", "-all,+setfcap", "unshare", "--user", "true"]);
    if require("fuse", &format!("FUSE ({how}) and user namespaces"), works && namespaces) {
        every_case(&FUSE_OF_A_USER, &["setpriv", "--bounding-set", "-all,+setfcap"], &["--backend", "fuse"], BROKEN_OVER_FUSE);
    }
}
