//! Debian's kernels in QEMU: that the harness tells the truth, and that the known operations run
//! there.

use std::path::Path;

use crate::support::qemu::{KERNELS, Machine};
use crate::support::require::require;
use crate::support::{operations, qemu};

fn ready() -> bool {
    let missing = qemu::missing();
    require("qemu", &missing, missing.is_empty())
}

/// The machine has what tracing needs, its file systems work, and each case runs on each of them.
#[test]
fn every_kernel_runs_the_operations() {
    if !ready() {
        return;
    }
    let script = "
        uname -r
        [ -s /sys/kernel/btf/vmlinux ] && [ -d /sys/kernel/tracing/events ] && [ -e /sys/fs/cgroup/cgroup.procs ] && grep -qw fuse /proc/filesystems || exit 3
        mkdir -p /m/tmpfs /m/overlay /lower /upper /inner /results/ext4 /results/tmpfs /results/overlay
        mount -t tmpfs tmpfs /m/tmpfs && mount -t overlay overlay -o lowerdir=/lower,upperdir=/upper,workdir=/inner /m/overlay || exit 4
        ln -s /work /m/ext4
        for fs in ext4 tmpfs overlay; do
            for case in $(operations --list); do
                mkdir /m/$fs/$case && cd /m/$fs/$case
                timeout 60 operations $case --expect /results/$fs/$case || echo \"$fs $case $?\"
            done
        done
        printf 'the end\\377, without a line end'
        exit 41";
    for (suite, version) in KERNELS {
        let temp = tempfile::tempdir().unwrap();
        let results = temp.path().join("results");
        let ended = Machine::new(suite, 400).program(operations::program()).run(script, temp.path(), &results);
        assert_eq!(ended.code, 41, "{suite}: {}\n{}", ended.output, ended.messages);
        let output = ended.output.strip_suffix("the end\u{fffd}, without a line end").expect("what the script printed, as it is");
        let mut lines = output.lines();
        assert!(lines.next().is_some_and(|release| release.starts_with(version)), "{suite}: {output}");
        // An overlay of 5.10 and 6.1 has no O_TMPFILE, and says so.
        let refused: Vec<_> = lines.filter(|line| !line.contains("cannot run here")).collect();
        assert!(refused.is_empty() || refused == ["overlay o_tmpfile 77"], "{suite}: {refused:?}");
        for fs in ["ext4", "tmpfs", "overlay"] {
            for case in operations::cases().iter().filter(|case| fs != "overlay" || *case != "o_tmpfile") {
                let told = std::fs::read(results.join(fs).join(case)).unwrap_or_else(|error| panic!("{suite}, {fs}, {case}: {error}"));
                assert!(!operations::parse(&told).rows.is_empty(), "{suite}, {fs}, {case}");
            }
        }
    }
}

/// A script's failure, a panic and a hang are three things.
#[test]
fn a_machine_that_does_not_end_well_says_so() {
    if !ready() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let run = |seconds, script: &str| Machine::new("bookworm", seconds).run(script, temp.path(), Path::new(&temp.path().join("results")));
    let panicked = run(200, "echo before; echo c > /proc/sysrq-trigger; sleep 100");
    assert_eq!(panicked.code, 125, "{}", panicked.messages);
    assert_eq!(panicked.output, "before\n");
    assert!(panicked.messages.contains("sysrq"), "{}", panicked.messages);
    let hung = run(20, "sleep 1000");
    assert_eq!(hung.code, 124, "{}", hung.messages);
    // Nobody but the machine knows the word that marks its end.
    let forged = run(200, "echo '@exit 0123 0'; exit 5");
    assert_eq!((forged.code, forged.output.as_str()), (5, "@exit 0123 0\n"), "{}", forged.messages);
}
