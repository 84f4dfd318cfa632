//! The known programs traced by eBPF on Debian's kernels in QEMU, with each set of hooks: the rows
//! are the same on all of them. `FLOWMINE_KERNEL` picks a release.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use flowmine_schema::tables::{IoLoss, IoTotal};

use crate::support::operations::{Expectations, Used, Want, Way};
use crate::support::qemu::{KERNELS, Machine};
use crate::support::require::require;
use crate::support::{operations, positions, qemu, sight, traced};

/// What `--hooks` is asked for, and what the trace says that it took.
const HOOKS: [(&str, &str); 3] = [("syscalls", "syscalls"), ("vfs", "vfs-fentry"), ("vfs-kprobe", "vfs-kprobe")];

/// What they cannot see there.
fn way(suite: &str, hooks: &str) -> &'static Way {
    match (suite, hooks) {
        ("bullseye", "syscalls") => &sight::SYSCALLS_5_15,
        ("bullseye", _) => &sight::VFS_5_15,
        (_, "syscalls") => &sight::SYSCALLS,
        _ => &sight::VFS,
    }
}

/// One trace for all cases, because loading the programs is what takes long there. Whatever is
/// written beside the cases is there before: no file may get the inode of one that a case deleted.
const SCRIPT: &str = "
    for hooks in syscalls vfs vfs-kprobe; do
        mkdir -p /work/$hooks /results/$hooks
        for case in $(operations --list); do mkdir /work/$hooks/$case; : > /results/$hooks/$case; done
        cat > /work/cases.sh <<'END'
            for case in $(operations --list); do
                cd /work/$1/$case && timeout 60 operations $case --expect /results/$1/$case 2>&1 || echo \"$1 $case $?\"
            done
END
        flowmine trace --fail-on-loss --dataset /results/$hooks.data --backend ebpf --hooks $hooks -- sh /work/cases.sh $hooks 2> /results/$hooks.messages
        # 1: something was not seen, and the dataset says what.
        code=$?
        [ $code = 1 ] || { echo \"$hooks $code\"; cat /results/$hooks.messages; }
    done
    # Processes and threads that share positions, and append to one file.
    for hooks in syscalls vfs vfs-kprobe; do
        for case in $(positions --list); do mkdir -p /work/positions/$hooks/$case; done
        cat > /work/positions.sh <<'END'
            for case in $(positions --list); do
                cd /work/positions/$1/$case && positions $case 300 2>&1 || echo \"$1 $case $?\"
            done
END
        flowmine trace --dataset /results/$hooks.positions --backend ebpf --hooks $hooks --ring 64M -- sh /work/positions.sh $hooks 2> /results/messages || cat /results/messages
    done
    cp -r /work/positions /results
    # With totals other parts of the programs are there. What the kernel refuses of them is said.
    for hooks in syscalls vfs vfs-kprobe; do
        mkdir -p /work/totals-$hooks
        cd /work/totals-$hooks
        flowmine trace --dataset /results/$hooks.totals --backend ebpf --hooks $hooks --detail totals -- operations io_uring --expect /results/$hooks.expected 2> /results/messages
        code=$?
        { [ $code = 0 ] && [ ! -s /results/messages ]; } || { echo \"totals, $hooks: $code\"; cat /results/messages; }
    done
    cd /
    # As systemd starts it.
    ulimit -l unlimited
    /usr/bin/setpriv --no-new-privs --inh-caps=-all --bounding-set=-all$capabilities \\
        flowmine trace --dataset /results/service --backend ebpf --detail totals --duration 2s 2> /results/messages || cat /results/messages
    exit 41";

/// The capabilities that the service has, as setpriv(1) wants them.
fn capabilities() -> String {
    let unit = include_str!("../../contrib/systemd/flowmine-trace.service");
    let list = unit.lines().find_map(|line| line.strip_prefix("CapabilityBoundingSet=")).unwrap();
    list.split(' ').map(|name| format!(",+{}", name.strip_prefix("CAP_").unwrap().to_lowercase())).collect()
}

#[test]
fn rows_are_the_same_on_every_kernel() {
    let missing = qemu::missing();
    if !require("qemu", &missing, missing.is_empty()) {
        return;
    }
    let only = std::env::var("FLOWMINE_KERNEL").unwrap_or_default();
    for (suite, version) in KERNELS.iter().filter(|(suite, _)| suite.contains(&only)) {
        let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let results = temp.path().join("results");
        let machine = Machine::new(suite, 600).program(operations::program()).program(Path::new(env!("CARGO_BIN_EXE_flowmine")));
        let machine = machine.program(Path::new("/usr/bin/setpriv")).program(positions::program());
        let ended = machine.run(&format!("capabilities={}\n{SCRIPT}", capabilities()), temp.path(), &results);
        assert_eq!(ended.code, 41, "{suite}: {}\n{}", ended.output, ended.messages);
        let mut wrong: Vec<String> = ended.output.lines().map(str::to_owned).collect();
        for (hooks, taken) in HOOKS {
            let dataset = results.join(format!("{hooks}.data"));
            let end = traced::end(&dataset);
            assert!(end.kernel.starts_with(version) && end.hooks == taken, "{suite}: {end:?}");
            assert_eq!(end.operations, end.received.zip(end.lost).map(|(received, lost)| received + lost), "{suite}: {end:?}");
            traced::each::<IoLoss<'static>>(&dataset, |loss| {
                if loss.reason != "asynchronous-io" {
                    wrong.push(format!("{hooks}: {loss:?}"));
                }
            });
            wrong.extend(differences(way(suite, hooks), hooks, &results.join(hooks), &dataset));
            wrong.extend(sums_differ(hooks, &results));
            wrong.extend(offsets_differ(hooks, &results));
            if !traced::directory_calls(&dataset).contains(&operations::COUNTED) {
                wrong.push(format!("{hooks}: calls on directories: no process has {:?}", operations::COUNTED));
            }
        }
        let end = traced::end(&results.join("service"));
        assert_eq!(
            (end.state.as_str(), end.hooks.as_str()),
            ("ended", "vfs-fentry"),
            "{suite}, with the service's capabilities: {}",
            ended.output
        );
        assert!(wrong.is_empty(), "{suite} ({version}): {} differences\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// Bytes of the case of io_uring, added up, against what it told.
fn sums_differ(hooks: &str, results: &Path) -> Option<String> {
    let text = std::fs::read(results.join(format!("{hooks}.expected"))).unwrap();
    let told = operations::parse(&text);
    let bytes = |op: &str| -> i64 {
        let results = told.rows.iter().filter(|row| row.op == op).map(|row| &row.result);
        results.map(|result| if let Want::Is(bytes) = result { (*bytes).max(0) } else { 0 }).sum()
    };
    // What it told it wrote into a file, too.
    let expected = (bytes("read"), bytes("write") + text.len() as i64);
    let mut sums = (0, 0);
    traced::each::<IoTotal<'static>>(&results.join(format!("{hooks}.totals")), |row| {
        if row.write_bytes > 0 {
            sums = (sums.0 + row.read_bytes, sums.1 + row.write_bytes);
        }
    });
    (sums != expected || expected.0 == 0).then(|| format!("{hooks}: sums {sums:?}, told {expected:?}"))
}

/// Offsets of transfers that share a position: where a function of the VFS tells it, it is locked and
/// known.
fn offsets_differ(hooks: &str, results: &Path) -> Vec<String> {
    let dataset = results.join(format!("{hooks}.positions"));
    let exact = |case: &str| if hooks == "syscalls" { positions::APART.contains(&case) } else { positions::is_locked(case) };
    let mut wrong = Vec::new();
    for case in positions::cases() {
        let named = PathBuf::from(format!("/work/positions/{hooks}/{case}"));
        match positions::compare(&dataset, &results.join(format!("positions/{hooks}/{case}")), &named) {
            Ok(told) if told.certain == 0 || exact(&case) && told.uncertain > 0 => wrong.push(format!("{hooks}, {case}: {told:?}")),
            Ok(_) => {}
            Err(error) => wrong.push(format!("{hooks}, {case}: {error}")),
        }
    }
    wrong
}

/// All cases of one trace against what they told.
fn differences(way: &Way, hooks: &str, told: &Path, dataset: &Path) -> Vec<String> {
    let told = |case: &str| operations::parse(&std::fs::read(told.join(case)).unwrap());
    let cases: Vec<(String, Expectations)> = operations::cases().into_iter().map(|case| (case.clone(), told(&case))).collect();
    let (rows, files) = traced::rows(dataset);
    let (mut used, mut wrong) = (Used::default(), Vec::new());
    for (case, expected) in &cases {
        if expected.rows.is_empty() {
            wrong.push(format!("{hooks}, {case}: it did not run"));
            continue;
        }
        // An inode is used again by the next case: what processes of other cases did is none of this one.
        let others: HashSet<i64> =
            cases.iter().filter(|(other, _)| other != case).flat_map(|(_, other)| other.rows.iter().map(|row| row.pid)).collect();
        let rows: Vec<_> = rows.iter().filter(|row| !others.contains(&row.pid)).cloned().collect();
        let dir = PathBuf::from(format!("/work/{hooks}/{case}"));
        wrong.extend(operations::compare(way, case, &dir, expected, &rows, &files, &mut used).err().map(|text| format!("{hooks}: {text}")));
    }
    wrong.extend(used.check(way).err());
    wrong
}
