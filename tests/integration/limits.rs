//! Resource limits of the tracer: what it traces runs whatever they are, traced or with the reason
//! why not.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::overlay::{flowmine, open_to_all, works};
use crate::support::doctor;
use crate::support::require::require;

/// Runs a script traced, under a limit as prlimit(1) has it, as one who cannot raise it.
fn limited(backend: &str, limit: &str, user: &[&str], script: &str) -> Output {
    let (base, directory) = open_to_all();
    let data = base.path().join("data");
    std::fs::create_dir(&data).unwrap();
    for path in [&data, &directory] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    }
    // Another user may not get to where it was built.
    let program = base.path().join("flowmine");
    std::fs::copy(flowmine(), &program).unwrap();
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "100", "setpriv", "--bounding-set", "-sys_resource"]).args(user).args(["prlimit", limit]);
    command.arg(program).args(["trace", "--backend", backend, "--dataset"]).arg(data).args(["--", "sh", "-c", script]);
    command.current_dir(directory).stdin(Stdio::null()).output().unwrap()
}

fn possible() -> bool {
    let may = works("setpriv", &["--bounding-set", "-sys_resource", "true"]) && works("prlimit", &["--version"]);
    require("fuse", "FUSE, root, setpriv and prlimit", doctor::says("fuse").0 && may)
}

#[test]
fn with_too_little_the_command_runs_untraced() {
    if !possible() {
        return;
    }
    let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    for (backend, limit, user, reason) in [
        ("ptrace", "--data=40000000", &[][..], "MiB of memory more than the limit leaves (ulimit -v, ulimit -d)"),
        ("fuse", "--data=40000000", &[], "MiB of memory more than the limit leaves (ulimit -v, ulimit -d)"),
        ("ptrace", "--as=95000000", &[], "MiB of memory more than the limit leaves (ulimit -v, ulimit -d)"),
        ("fuse", "--nofile=40:40", &[], "open files and may have 40 (ulimit -n)"),
        ("ptrace", "--nofile=20:20", &[], "open files and may have 20 (ulimit -n)"),
        ("ptrace", "--nproc=1", &user, "processes and threads more than the limit leaves (ulimit -u, pids.max)"),
    ] {
        let output = limited(backend, limit, user, "echo ran; exit 5");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*output.stdout), (Some(5), &b"ran\n"[..]), "{backend} {limit}: {said}");
        assert!(said.contains("NOT TRACED: the tracer needs ") && said.contains(reason), "{backend} {limit}: {said}");
    }
}

/// The threads of the tracer would take more addresses than the limit lets it have.
#[test]
fn with_little_memory_the_trace_goes_on() {
    if !possible() {
        return;
    }
    let script = "i=0; while [ $i -lt 300 ]; do echo $i > f$i; i=$((i+1)); done; cat f299; ulimit -v";
    for backend in ["fuse", "ptrace"] {
        let output = limited(backend, "--as=409600000", &[], script);
        let said = (output.status.code(), String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(said, (Some(0), "299\n400000\n".into(), "".into()), "{backend}");
    }
}

/// The tracer raises what it may; the command has what it was given.
#[test]
fn the_command_has_the_limits_that_it_would_have() {
    if !possible() {
        return;
    }
    let script = "for what in v d u n f; do ulimit -S$what; done";
    for backend in ["fuse", "ptrace"] {
        let limits = ["--as=2048000000:", "--data=1024000000:", "--nproc=5000:", "--nofile=300:", "--fsize=512000000:"];
        let (base, directory) = open_to_all();
        let mut command = Command::new("prlimit");
        command.args(limits).args([flowmine(), "trace", "--must-trace", "--backend", backend, "--dataset"]);
        let output = command.arg(base.path().join("data")).args(["--", "bash", "-c", script]).current_dir(directory).output().unwrap();
        let said = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(said, ("2000000\n1000000\n5000\n300\n500000\n".into(), "".into()), "{backend}");
    }
}

/// Where no thread can be started the calling one does all the work, with the same result.
#[test]
fn one_thread_is_enough_to_read_and_write_logs() {
    if !possible() {
        return;
    }
    let (base, here) = open_to_all();
    std::fs::set_permissions(&here, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let program = base.path().join("flowmine");
    std::fs::copy(flowmine(), &program).unwrap();
    for source in ["fixtures/case-study/polls", "fixtures/workflows/nextflow-local"] {
        let to = base.path().join(source.rsplit('/').next().unwrap());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
        for (program, arguments) in [("cp", [Path::new("-r"), &source, &to]), ("chmod", [Path::new("-R"), Path::new("a+rX"), &to])] {
            assert!(Command::new(program).args(arguments).status().unwrap().success());
        }
    }
    let run = |limit: &[&str], arguments: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "54377", "--regid", "54377", "--clear-groups"]).args(limit).arg(&program);
        let words = arguments.split(' ').map(|word| word.replace("BASE", base.path().to_str().unwrap()));
        let output = command.args(words).current_dir(&here).env("TMPDIR", &here).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{limit:?} {arguments}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let (both, one_thread) = (["one", "many"], ["prlimit", "--nproc=1"]);
    for name in both {
        let limit: &[&str] = if name == "one" { &one_thread } else { &[] };
        run(limit, &format!("import slurm --dataset {name} BASE/polls"));
        run(limit, &format!("correlate --dataset {name}"));
        run(limit, &format!("run --dataset {name} --out {name}.run"));
        run(limit, &format!("export --dataset {name} --format xes -o {name}.xes.gz"));
        run(limit, &format!("export --dataset {name} --format parquet -o {name}.parquet"));
    }
    for file in ["xes.gz", "parquet", "run/log.xes.gz", "run/summary.json"] {
        let [one, many] = both.map(|name| std::fs::read(here.join(format!("{name}.{file}"))).unwrap());
        assert!(one == many, "{file}");
    }
    for arguments in [
        "discover dfg --dataset many --format json",
        "discover ocdfg --dataset many --format json",
        "discover summary many.parquet --format json",
        "discover critical-path BASE/nextflow-local --format json",
        "discover dag BASE/nextflow-local --format json",
    ] {
        assert!(run(&one_thread, arguments) == run(&[], arguments), "{arguments}");
    }
}

/// A small stack is no matter: flowmine has one of its own.
#[test]
fn a_small_stack_is_enough() {
    for kib in [32, 64, 96, 128, 1024] {
        let script = format!("ulimit -s {kib}; exec {} discover --help", flowmine());
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && output.stdout.starts_with(b"Discover a model"), "{kib}: {said}");
    }
    // The command has the limit.
    let (base, directory) = open_to_all();
    let script =
        format!("ulimit -s 96; exec {} trace --backend ptrace --dataset {}/data -- sh -c 'ulimit -s'", flowmine(), base.path().display());
    let output = Command::new("sh").args(["-c", &script]).current_dir(directory).stdin(Stdio::null()).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"96\n"[..]), "{}", String::from_utf8_lossy(&output.stderr));
}
