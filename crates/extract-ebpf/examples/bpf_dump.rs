//! Prints what the eBPF backend sees:
//! `bpf_dump [syscalls|vfs-fentry|vfs-kprobe] [--totals] [--seconds N] [--ring BYTES] [--quiet] [--facts] [-- COMMAND…]`.
//! With a command it follows that one; without, the whole host.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use flowmine_extract_ebpf::{Extras, Facts, Hooks, Tracer, choose};
use flowmine_trace::command::Held;
use flowmine_trace::{Detail, Op, Operation, Options, Record};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut options = Options::default();
    let mut extras = Extras { cpu_times: false, ..Extras::default() };
    let (mut hooks, mut seconds, mut quiet, mut only_facts, mut tabs) = (None, u64::MAX, false, false, false);
    let mut arguments = std::env::args_os().skip(1);
    let mut command: Vec<OsString> = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().and_then(|value| value.into_string().ok()).ok_or("a value is missing");
        match argument.to_str() {
            Some("--totals") => options.detail = Detail::Totals,
            Some("--seconds") => seconds = value()?.parse()?,
            Some("--ring") => options.ring_bytes = value()?.parse()?,
            Some("--fs") => options.filters.file_systems.push(value()?),
            Some("--cgroup") => options.filters.cgroups.push(value()?.into()),
            Some("--uid") => options.filters.uids.push(value()?.parse()?),
            Some("--op") => options.filters.ops.push(Op::of(&value()?).ok_or("no such operation")?),
            Some("--env") => options.environment.push(value()?),
            Some("--quiet") => quiet = true,
            Some("--tabs") => tabs = true,
            Some("--cpu") => extras.cpu_times = true,
            Some("--facts") => only_facts = true,
            Some("--") => command = arguments.by_ref().collect(),
            Some(name) => hooks = [Hooks::Syscalls, Hooks::VfsEntry, Hooks::VfsKprobe].into_iter().find(|hooks| hooks.name() == name),
            None => return Err("an argument is not UTF-8".into()),
        }
    }
    let facts = Facts::read(Path::new("/proc"), Path::new("/sys"));
    if only_facts {
        println!("{facts:#?}\n{:#?}", choose(&facts, hooks));
        return Ok(());
    }
    let plan = choose(&facts, hooks).map_err(|missing| missing.join("; "))?;
    let held = if command.is_empty() { None } else { Some(Held::start(&command)?) };
    if let Some(held) = &held {
        options.filters.pids.push(held.pid());
    }
    let begin = Instant::now();
    let mut tracer = Tracer::start(&plan, &options, &extras)?;
    eprintln!("{} attached after {:?} {}", plan.hooks.name(), begin.elapsed(), tracer.functions().join(" "));
    tracer.refused().iter().for_each(|refused| eprintln!("refused: {refused}"));
    let (mut received, mut lost) = (0u64, 0u64);
    let mut take = |record: &Record<'_>| {
        match record {
            Record::Operation(_) => received += 1,
            Record::Totals(totals) => received += totals.read.calls + totals.write.calls,
            Record::Loss(loss) => {
                if Op::of(loss.kind).is_some() {
                    lost += loss.count;
                }
                eprintln!("{loss:?}");
            }
            _ => {}
        }
        match record {
            Record::Operation(operation) if tabs => with_tabs(operation),
            _ if tabs || quiet => {}
            record => print(record),
        }
        Ok(())
    };
    tracer.read_in(&mut take)?;
    let mut running = held.map(|held| held.release(&command[0])).transpose()?;
    let begin = Instant::now();
    loop {
        tracer.poll(None, &mut take)?;
        if let Some(running) = &mut running
            && running.ended_within(Duration::ZERO)?.is_some()
        {
            break;
        }
        if begin.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    let counted = tracer.end(&mut take)?;
    eprintln!("counted {counted} = received {received} + lost {lost}{}", if counted == received + lost { "" } else { " IS NOT TRUE" });
    Ok(())
}

/// The fields of an operation with tabs between them, `-` for what is not known.
fn with_tabs(o: &Operation<'_>) {
    fn or_dash<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }
    let text = |bytes: Option<&[u8]>| {
        bytes.map_or_else(
            || "-".to_owned(),
            |bytes| {
                bytes
                    .iter()
                    .map(|byte| {
                        if matches!(byte, b'!'..=b'~') && *byte != b'\\' { char::from(*byte).to_string() } else { format!("\\x{byte:02X}") }
                    })
                    .collect()
            },
        )
    };
    let fields = [
        o.start_boot_ns.to_string(),
        o.process.pid.to_string(),
        o.tid.to_string(),
        o.op.name().to_owned(),
        o.via.name().to_owned(),
        or_dash(o.open_file),
        or_dash(o.file.map(|file| file.device)),
        or_dash(o.file.map(|file| file.inode)),
        text(o.path),
        text(o.container_path),
        text(o.new_path),
        or_dash(o.offset),
        or_dash(o.size),
        or_dash(o.result),
        or_dash(o.flags),
    ];
    println!("{}", fields.join("\t"));
}

/// One line, with what is not known left out.
fn print(record: &Record<'_>) {
    let text = |bytes: Option<&[u8]>| bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.escape_ascii().to_string());
    match record {
        Record::Operation(o) => println!(
            "{} {}/{} {} {} off={:?} size={:?} res={:?} flags={:x?} file={:x?} handle={:x?} {:?} {:?} took={:?} {} {} {} {:?}",
            o.start_boot_ns,
            o.process.pid,
            o.tid,
            o.op.name(),
            o.via.name(),
            o.offset,
            o.size,
            o.result,
            o.flags,
            o.file.map(|file| (file.device, file.inode, file.generation)),
            o.open_file,
            o.kind,
            (o.file_system, o.file_size),
            o.end_boot_ns.map(|end| end - o.start_boot_ns),
            text(o.path),
            text(o.container_path),
            text(o.new_path),
            (o.cpu_start, o.cpu_end),
        ),
        Record::OpenFile(f) => {
            println!("open-file {:x?} {:x?} {:?} {}", f.open_file, (f.file.device, f.file.inode), f.file_system, text(f.path))
        }
        Record::FileGone(number) => println!("gone {number}"),
        Record::Process(news) => println!(
            "{:?} {:?} parent={:?} inner={:?} ids={:?} cgroup={:?} {} v1={:?} exe={} args={:?} cut={} env={:?} {:?}",
            news.change,
            news.process,
            news.facts.parent,
            news.facts.container_pid,
            (news.facts.uid, news.facts.gid),
            news.facts.cgroup_id,
            text(news.facts.cgroup_path.as_deref()),
            news.facts
                .cgroup_v1
                .as_ref()
                .map(|all| all.iter().map(|(name, path)| format!("{name}:{}", path.escape_ascii())).collect::<Vec<_>>()),
            text(news.facts.executable.as_deref()),
            news.facts.arguments.as_ref().map(|all| all.iter().map(|one| one.escape_ascii().to_string()).collect::<Vec<_>>()),
            news.facts.arguments_cut,
            news.facts
                .environment
                .as_ref()
                .map(|all| all.iter().map(|(name, value)| format!("{name}={}", value.escape_ascii())).collect::<Vec<_>>()),
            news.counters,
        ),
        other => println!("{other:?}"),
    }
}
