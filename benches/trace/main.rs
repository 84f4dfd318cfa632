//! What tracing costs: the same work untraced, traced by flowmine in each way, and by strace and
//! bpftrace, in one run.
//!
//! `cargo bench --bench trace [-- --rounds N] [--only WORD] [--ways WORD,…] [--in DIR]` needs root
//! (eBPF), and for all lines the packages strace, bpftrace (with debugfs mounted), fio, montage,
//! linux-source, flex, bison and bc. In each round each way runs once, in an order that turns with
//! the round, so that what the machine does besides hits all alike. The work measures itself: wall
//! time, and CPU time (user and system) of all its processes. The ratio to the untraced run of the
//! same round is taken; the median of the rounds is told. The tracer's own CPU time and what it
//! lost stand beside it. A table of measured values stands in docs/performance.md.

mod montage;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use flowmine_dataset::Dataset;
use flowmine_schema::tables::IoEvent;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A piece of work: a shell script that runs in the work directory.
struct Work {
    name: &'static str,
    script: String,
    /// What must be there.
    needs: &'static [&'static str],
}

/// A way to trace it: the words before the command.
struct Way {
    name: &'static str,
    needs: &'static [&'static str],
    before: fn(&Setting) -> Vec<String>,
}

struct Setting {
    /// Where the work reads and writes.
    directories: [String; 2],
    flowmine: PathBuf,
    dataset: PathBuf,
    strace_output: PathBuf,
    bpftrace_output: PathBuf,
}

fn flowmine(setting: &Setting, options: &[&str]) -> Vec<String> {
    let mut words = vec![setting.flowmine.display().to_string(), "trace".into(), "--dataset".into(), setting.dataset.display().to_string()];
    words.extend(options.iter().map(|word| (*word).to_owned()));
    words.push("--".into());
    words
}

const STRACE: &str =
    "trace=open,openat,openat2,creat,read,write,pread64,pwrite64,readv,writev,close,unlink,unlinkat,rename,renameat,renameat2";

/// The same calls with bpftrace: one line for each, as a script that somebody would write today.
const BPFTRACE: &str = "tracepoint:syscalls:sys_exit_read,tracepoint:syscalls:sys_exit_write,tracepoint:syscalls:sys_exit_pread64,\
tracepoint:syscalls:sys_exit_pwrite64,tracepoint:syscalls:sys_exit_openat,tracepoint:syscalls:sys_exit_close { printf(\"%llu %d %s %d\\n\", nsecs, pid, probe, args->ret); }";

/// The same calls added up by process and kind of call with their bytes and times, which is what
/// totals do by process and open file.
const BPFTRACE_SUMS: &str = "BEGIN { printf(\"attached\\n\"); } tracepoint:syscalls:sys_enter_read,tracepoint:syscalls:sys_enter_write,tracepoint:syscalls:sys_enter_pread64,\
tracepoint:syscalls:sys_enter_pwrite64,tracepoint:syscalls:sys_enter_openat,tracepoint:syscalls:sys_enter_close { @begun[tid] = nsecs; } \
tracepoint:syscalls:sys_exit_read,tracepoint:syscalls:sys_exit_write,tracepoint:syscalls:sys_exit_pread64,\
tracepoint:syscalls:sys_exit_pwrite64,tracepoint:syscalls:sys_exit_openat,tracepoint:syscalls:sys_exit_close \
{ @calls[pid, probe] = count(); @bytes[pid, probe] = sum(args->ret > 0 ? args->ret : 0); @time[pid, probe] = sum(nsecs - @begun[tid]); delete(@begun[tid]); }";

const WAYS: &[Way] = &[
    Way { name: "untraced", needs: &[], before: |_| Vec::new() },
    // What the two tracepoints cost before anything is recorded: the floor of the next two.
    Way { name: "eBPF, all left out by a filter", needs: &[], before: |s| flowmine(s, &["--backend", "ebpf", "--user", "65534"]) },
    Way { name: "eBPF totals", needs: &[], before: |s| flowmine(s, &["--backend", "ebpf", "--detail", "totals"]) },
    Way { name: "eBPF events", needs: &[], before: |s| flowmine(s, &["--backend", "ebpf", "--detail", "events"]) },
    Way {
        name: "FUSE events",
        needs: &[],
        before: |s| {
            flowmine(s, &["--backend", "fuse", "--detail", "events", "--directory", &s.directories[0], "--directory", &s.directories[1]])
        },
    },
    Way { name: "ptrace totals", needs: &[], before: |s| flowmine(s, &["--backend", "ptrace", "--detail", "totals"]) },
    Way { name: "ptrace events", needs: &[], before: |s| flowmine(s, &["--backend", "ptrace", "--detail", "events"]) },
    Way {
        name: "strace",
        needs: &["strace"],
        before: |s| {
            ["strace", "-f", "-qq", "--seccomp-bpf", "-e", STRACE, "-o", &s.strace_output.display().to_string()].map(str::to_owned).to_vec()
        },
    },
    Way { name: "bpftrace, a line a call", needs: &["bpftrace"], before: |_| vec!["--bpftrace".into(), BPFTRACE.into()] },
    Way { name: "bpftrace, sums", needs: &["bpftrace"], before: |_| vec!["--bpftrace".into(), BPFTRACE_SUMS.into()] },
];

/// Files in memory lie in `memory`: what a disk does in the background would hide what a small call
/// costs.
fn works(root: &Path, memory: &Path) -> Vec<Work> {
    let memory = memory.display();
    let kernel = root.join("kernel").display().to_string();
    let build = root.join("build").display().to_string();
    vec![
        Work {
            name: "dd, 500k writes of 4 KiB",
            script: format!("dd if=/dev/zero of={memory}/out bs=4k count=500000 status=none; rm {memory}/out"),
            needs: &["dd"],
        },
        Work { name: "dd, 250k reads of 4 KiB", script: format!("dd if={memory}/large of=/dev/null bs=4k status=none"), needs: &["dd"] },
        Work {
            name: "fio, 250k random reads of 4 KiB",
            script: format!(
                "fio --name=r --filename={memory}/large --rw=randread --bs=4k --io_size=1000m --ioengine=psync --invalidate=0 --output=/dev/null"
            ),
            needs: &["fio"],
        },
        Work {
            name: "tar of the kernel's source tree",
            script: format!("tar -C {kernel} -cf out.tar . && rm out.tar"),
            needs: &["tar", KERNEL],
        },
        Work {
            name: "compile of the kernel's lib/, 2 at a time",
            script: format!("rm -rf {build}/lib && make -s -C {kernel} O={build} -j2 lib/ 2>/dev/null"),
            needs: &["make", "cc", "flex", "bison", "bc", KERNEL],
        },
        Work {
            name: "Montage, 16 images",
            script: format!("test -d raw || cp -r {}/raw raw; {}", root.display(), montage::SCRIPT),
            needs: &["mProjectPP"],
        },
    ]
}

/// What a piece of work says of itself, and what its tracer cost.
#[derive(Clone, Copy, Default)]
struct Measured {
    wall: f64,
    cpu: f64,
    tracer_cpu: f64,
    lost: bool,
    /// Rows of operations in the dataset, and the bytes of their table.
    rows: u64,
    bytes: u64,
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.first().is_some_and(|first| first == "--measure") {
        return measure_inside(&arguments[1], &arguments[2]);
    }
    let option = |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1)).cloned();
    let rounds: usize = option("--rounds").map_or(Ok(5), |text| text.parse())?;
    let only = option("--only").unwrap_or_default();
    let ways_only: Vec<String> = option("--ways").map(|text| text.split(',').map(str::to_owned).collect()).unwrap_or_default();
    let temporary = tempfile::Builder::new().prefix("flowmine-bench-").tempdir_in(option("--in").unwrap_or_else(|| "/var/tmp".into()))?;
    let root = temporary.path();
    let memory = tempfile::Builder::new().prefix("flowmine-bench-").tempdir_in("/dev/shm")?;
    let memory = memory.path();
    prepare(root, memory, works(root, memory).iter().any(|work| work.name.contains(&only) && work.needs.contains(&KERNEL)))?;
    let ways: Vec<&Way> = WAYS
        .iter()
        .filter(|way| way.name == "untraced" || ways_only.is_empty() || ways_only.iter().any(|word| way.name.contains(word.as_str())))
        .filter(|way| missing(way.needs).map(|program| println!("{} is left out: there is no {program}", way.name)).is_none())
        .collect();
    println!("rounds: {rounds}; ratios to the untraced run of the same round, medians\n");
    println!(
        "| work | way | wall | ratio | CPU | ratio | tracer's CPU | rows | bytes a row | lost |\n|---|---|---|---|---|---|---|---|---|---|"
    );
    for work in works(root, memory).iter().filter(|work| work.name.contains(&only)) {
        if let Some(program) = missing(work.needs) {
            println!("| {} | left out: there is no {program} | | | | | | | | |", work.name);
            continue;
        }
        let mut results: BTreeMap<&str, Vec<Measured>> = BTreeMap::new();
        // Once before, so that caches are warm for all.
        run(root, memory, work, &WAYS[0])?;
        for round in 0..rounds {
            for at in 0..ways.len() {
                let way = ways[(at + round) % ways.len()];
                match run(root, memory, work, way) {
                    Ok(measured) => results.entry(way.name).or_default().push(measured),
                    Err(error) => println!("{}, {}: {error}", work.name, way.name),
                }
            }
        }
        for way in &ways {
            let (Some(measured), Some(plain)) = (results.get(way.name), results.get("untraced")) else { continue };
            let last = measured.last().copied().unwrap_or_default();
            let ratio = |value: fn(&Measured) -> f64| {
                median(measured.iter().zip(plain).map(|(traced, plain)| value(traced) / value(plain)).collect())
            };
            println!(
                "| {} | {} | {:.2} s | {:.3} | {:.2} s | {:.3} | {:.2} s | {} | {} | {} |",
                work.name,
                way.name,
                median(measured.iter().map(|m| m.wall).collect()),
                ratio(|m| m.wall),
                median(measured.iter().map(|m| m.cpu).collect()),
                ratio(|m| m.cpu),
                median(measured.iter().map(|m| m.tracer_cpu).collect()),
                if last.rows > 0 { last.rows.to_string() } else { String::new() },
                if last.rows > 0 { format!("{:.1}", last.bytes as f64 / last.rows as f64) } else { String::new() },
                if measured.iter().any(|m| m.lost) { "yes" } else { "no" }
            );
        }
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

fn missing(programs: &[&'static str]) -> Option<&'static str> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |program: &str| {
        if program == KERNEL { kernel_source().is_some() } else { std::env::split_paths(&path).any(|dir| dir.join(program).is_file()) }
    };
    programs.iter().copied().find(|program| !is_there(program))
}

/// What stands in `needs` for [`kernel_source`].
const KERNEL: &str = "linux-source (a Debian package)";

/// The kernel's source as Debian packs it.
fn kernel_source() -> Option<PathBuf> {
    let files = fs::read_dir("/usr/src").ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files
        .filter(|path| {
            path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with("linux-source-") && name.ends_with(".tar.xz")
            })
        })
        .max()
}

fn shell(script: &str) -> Outcome<()> {
    let status = Command::new("sh").args(["-c", script]).status()?;
    if status.success() { Ok(()) } else { Err(format!("{script}: {status}").into()) }
}

/// A large file, the kernel's source, images.
fn prepare(root: &Path, memory: &Path, kernel_needed: bool) -> Outcome<()> {
    let block = vec![0x5a_u8; 1 << 20];
    let mut large = fs::File::create(memory.join("large"))?;
    for _ in 0..1000 {
        std::io::Write::write_all(&mut large, &block)?;
    }
    if kernel_needed && let Some(source) = kernel_source() {
        let kernel = root.join("kernel");
        fs::create_dir_all(&kernel)?;
        shell(&format!("tar -xf {} -C {} --strip-components 1", source.display(), kernel.display()))?;
        if missing(&["make", "flex", "bison", "bc"]).is_none() {
            shell(&format!("make -s -C {} O={} tinyconfig prepare >/dev/null 2>&1", kernel.display(), root.join("build").display()))?;
        }
    }
    montage::images(16, &root.join("raw"))?;
    Ok(())
}

/// Runs a piece of work in one way.
fn run(root: &Path, memory: &Path, work: &Work, way: &Way) -> Outcome<Measured> {
    let setting = Setting {
        flowmine: PathBuf::from(env!("CARGO_BIN_EXE_flowmine")),
        directories: [root, memory].map(|dir| dir.display().to_string()),
        dataset: root.join("dataset"),
        strace_output: root.join("strace.txt"),
        bpftrace_output: root.join("bpftrace.txt"),
    };
    let _ = fs::remove_dir_all(&setting.dataset);
    let _ = fs::remove_dir_all(root.join("work"));
    fs::create_dir_all(root.join("work"))?;
    let told = root.join("told");
    let _ = fs::remove_file(&told);
    let inside = [std::env::current_exe()?.display().to_string(), "--measure".into(), told.display().to_string(), work.script.clone()];
    let before = (way.before)(&setting);
    let tracer = match before.as_slice() {
        [first, script] if first == "--bpftrace" => Some(bpftrace(&setting, script)?),
        _ => None,
    };
    let words: Vec<String> = before.into_iter().filter(|_| tracer.is_none()).chain(inside).collect();
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(root.join("work")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let earlier = children_cpu();
    let child = command.spawn()?;
    let output = child.wait_with_output()?;
    let mut lost = false;
    if let Some(mut tracer) = tracer {
        // SAFETY: the process is our child and has not been waited for, so the number is still its.
        unsafe { libc_kill(tracer.id() as i32, 2) };
        tracer.wait()?;
        lost = fs::read_to_string(root.join("bpftrace.err")).unwrap_or_default().contains("Lost");
    }
    let all = children_cpu() - earlier;
    if !output.status.success() {
        lost = output.status.code() == Some(1) && told.exists();
        if !lost {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{:?} {}", output.status.code().or(output.status.signal()), text.trim()).into());
        }
    }
    let told = fs::read_to_string(&told)?;
    let mut numbers = told.split_whitespace().map(str::parse::<f64>);
    let mut next = || -> Outcome<f64> { Ok(numbers.next().ok_or("the work did not measure itself")??) };
    let (wall, cpu) = (next()?, next()?);
    let (rows, bytes) = match Dataset::open(&setting.dataset) {
        Ok(dataset) => {
            let parts = dataset.parts::<IoEvent<'static>>()?;
            (dataset.row_count::<IoEvent<'static>>()?, parts.iter().map(|part| part.bytes()).sum())
        }
        Err(_) => (0, 0),
    };
    Ok(Measured { wall, cpu, tracer_cpu: (all - cpu).max(0.0), lost, rows, bytes })
}

/// Starts bpftrace and waits until it says that it has attached.
fn bpftrace(setting: &Setting, script: &str) -> Outcome<std::process::Child> {
    let child = Command::new("bpftrace")
        .args(["-q", "-e", script])
        .stdin(Stdio::null())
        .stdout(fs::File::create(&setting.bpftrace_output)?)
        .stderr(fs::File::create(setting.bpftrace_output.with_extension("err"))?)
        .spawn()?;
    // It writes as soon as it is attached: the machine is never without a system call.
    let begin = Instant::now();
    while fs::metadata(&setting.bpftrace_output)?.len() == 0 && begin.elapsed().as_secs() < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Ok(child)
}

unsafe extern "C" {
    #[link_name = "kill"]
    fn libc_kill(pid: i32, signal: i32) -> i32;
    fn getrusage(who: i32, usage: *mut [i64; 18]) -> i32;
}

/// CPU time of all children that have been waited for, in seconds.
fn children_cpu() -> f64 {
    let mut usage = [0i64; 18];
    // SAFETY: the array has the size of `struct rusage` (getrusage(2)) on 64-bit Linux: two `timeval`s and fourteen `long`s.
    unsafe { getrusage(-1, &mut usage) };
    usage[0] as f64 + usage[1] as f64 / 1e6 + usage[2] as f64 + usage[3] as f64 / 1e6
}

/// Inside of the tracer: does the work and writes how long it took.
fn measure_inside(told: &str, script: &str) -> Outcome<()> {
    let begin = Instant::now();
    let status = Command::new("sh").args(["-c", script]).stdin(Stdio::null()).status()?;
    let wall = begin.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("the work failed: {status}").into());
    }
    fs::write(told, format!("{wall} {}", children_cpu()))?;
    Ok(())
}
