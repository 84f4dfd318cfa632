//! A task's work directory, `work/19/2c6526…/`, with the hidden files of Nextflow and its wrapper
//! script.
//!
//! | file | contents |
//! |---|---|
//! | `.command.sh` | the command |
//! | `.command.run` | name, container, outputs, the scheduler's directives, the inputs that are linked into the directory, and through them the parents |
//! | `.command.begin` | start time of the task, from the modification time |
//! | `.command.trace` | resource usage |
//! | `.command.log` | the host, where the task ran in a scratch directory |
//! | `.exitcode` | exit code; end time of the task, from the modification time |
//!
//! A copy must keep modification times (`cp -a`, `rsync -t`).

use std::fs;
use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::time::SECOND_NS;

use super::names::{hash_of_dir, process_and_tag, shown};
use crate::{Row, input, units};

/// Precision of modification times in nanoseconds: file systems take them from a clock with at most
/// a hundred ticks a second.
const TICK_NS: i64 = 10_000_000;

/// Whether a directory is the work directory of a task: it has `.command.run` or `.command.sh`.
pub fn is_one(dir: &Path) -> bool {
    [".command.run", ".command.sh"].iter().any(|name| dir.join(name).is_file())
}

/// Reads a work directory. The name is empty when `.command.run` is missing.
///
/// # Errors
/// When an existing file cannot be read.
pub fn read(dir: &Path, source: &str, diagnostics: &mut Diagnostics) -> io::Result<Row> {
    let file = |name: &str| input::small(&dir.join(name));
    let mut row = Row { engine: super::NAME.into(), status: "unknown".into(), ..Row::default() };
    row.work_dir = Some(flowmine_schema::text::decode(dir.as_os_str().as_encoded_bytes()).into_owned().into());
    if let Some(script) = file(".command.run")? {
        wrapper(&script, &mut row);
    }
    row.cache_key = hash_of_dir(source).map(|hash| shown(hash).to_owned().into());
    row.command = file(".command.sh")?.map(|script| script.trim_end().to_owned().into());
    if let Some(host) = file(".command.log")?.as_deref().and_then(scratch_host) {
        row.host = Some(host.to_owned().into());
    }
    if let Some(text) = file(".command.trace")?.filter(|text| !text.trim().is_empty())
        && !used(&text, &mut row)
    {
        diagnostics.push(Diagnostic::warning("work_dir_trace_bad", ".command.trace has neither of the two known forms; it is left out"));
    }
    if let Some(text) = file(".exitcode")? {
        row.exit_code = text.trim().parse().ok();
        match row.exit_code {
            Some(code) => row.status = if code == 0 { "completed" } else { "failed" }.into(),
            None if text.trim().is_empty() => {}
            None => diagnostics.push(Diagnostic::warning("work_dir_exit_bad", ".exitcode holds no number")),
        }
    }
    (row.started_ns, row.started_precision_ns) = modified(&dir.join(".command.begin"))?;
    if row.exit_code.is_some() {
        (row.finished_ns, row.finished_precision_ns) = modified(&dir.join(".exitcode"))?;
    }
    Ok(row)
}

fn modified(path: &Path) -> io::Result<(Option<i64>, Option<i64>)> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((None, None)),
        Err(e) => return Err(e),
    };
    let ns = metadata.modified()?.duration_since(UNIX_EPOCH).ok().and_then(|time| i64::try_from(time.as_nanos()).ok());
    // Whole seconds come from file systems and copies with that precision.
    Ok((ns, ns.map(|ns| if ns % SECOND_NS == 0 { 2 * SECOND_NS } else { TICK_NS })))
}

/// Returns the host in `nxf-scratch-dir n12:/tmp/nxf.AbC`, which the wrapper prints first.
fn scratch_host(log: &str) -> Option<&str> {
    let (host, _) = log.lines().next()?.strip_prefix("nxf-scratch-dir ")?.split_once(':')?;
    (!host.is_empty()).then_some(host)
}

/// Reads the values of a task in `.command.run` into its row.
fn wrapper(script: &str, row: &mut Row) {
    let quoted = |text: &str| text.trim().trim_matches('\'').to_owned();
    let mut outputs = Vec::new();
    let mut inputs = Vec::new();
    let mut in_stage = false;
    // Whether all staged inputs are links, so that the list of input files is complete.
    let mut all_links = script.contains("\nnxf_stage()");
    for line in script.lines() {
        if let Some(name) = line.strip_prefix("# NEXTFLOW TASK: ").map(str::to_owned).or(line.strip_prefix("### name: ").map(quoted)) {
            if row.name.is_empty() {
                row.name = name.into();
            }
        } else if let Some(image) = line.strip_prefix("### container: ").map(quoted) {
            row.container_image = Some(image).filter(|image| image != "null" && !image.is_empty()).map(Into::into);
        } else if let Some(output) = line.strip_prefix("### - ").map(quoted) {
            outputs.push(output);
        } else if let Some(dir) = line.strip_prefix("NXF_CHDIR=") {
            row.work_dir = Some(first_word(dir).0.into());
        } else if let Some(directive) = line.strip_prefix("#SBATCH ") {
            row.executor = Some("slurm".into());
            sbatch(directive, row);
        } else if line.starts_with("nxf_stage()") {
            in_stage = true;
        } else if in_stage && line.starts_with('}') {
            in_stage = false;
        } else if in_stage {
            match link(line.trim()) {
                Some(to) => inputs.push(to),
                None => all_links &= ["true", "rm -f ", "#"].iter().any(|known| line.trim().starts_with(known)),
            }
        }
    }
    let (process, tag) = process_and_tag(&row.name);
    let (process, tag) = (process.to_owned(), tag.map(str::to_owned));
    row.logical_task = process.into();
    row.tag = tag.map(Into::into);
    row.inputs = (all_links || !inputs.is_empty()).then(|| paths(&inputs));
    row.outputs = (!outputs.is_empty()).then(|| paths(&outputs));
    // The parents are determined when all rows are known (`parents.rs`).
    row.parents = all_links.then(|| "[]".into());
}

fn paths(paths: &[String]) -> std::borrow::Cow<'static, str> {
    let list: Vec<_> = paths.iter().map(|path| serde_json::json!({ "path": path })).collect();
    serde_json::Value::Array(list).to_string().into()
}

/// Returns the source of a link or copy in `nxf_stage`: `ln -s /data/x x`, `mkdir -p in && ln -s
/// /data/x in/x`, `cp -fRL /data/x x`, `ln /data/x x` with `stageInMode = 'link'`.
fn link(command: &str) -> Option<String> {
    let link = match command.strip_prefix("mkdir -p ") {
        Some(folder) => first_word(folder).1.strip_prefix(" && ")?,
        None => command,
    };
    let from = ["ln -s ", "cp -fRL ", "ln "].iter().find_map(|command| link.strip_prefix(command)).filter(|from| !from.starts_with('-'))?;
    Some(first_word(from).0)
}

/// Reads a directive in one of the forms that Nextflow writes: `-c 2`, `--mem 4096M`, `-t
/// 01:00:00`, `-p long`.
fn sbatch(directive: &str, row: &mut Row) {
    let Some((option, value)) = directive.trim().split_once([' ', '=']) else { return };
    match option {
        "-c" | "--cpus-per-task" => row.cpus = value.parse().ok(),
        "--mem" => row.memory_bytes = units::bytes(value),
        "-t" | "--time" => row.time_s = time_limit(value),
        "-p" | "--partition" => row.queue = Some(value.to_owned().into()),
        _ => {}
    }
}

/// Converts `[days-]hours:minutes:seconds` to seconds.
fn time_limit(text: &str) -> Option<f64> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let parts: Vec<u32> = clock.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(f64::from(days.parse::<u32>().ok()?) * 86_400.0 + f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0 + f64::from(seconds))
}

/// Splits off the first word of a shell command, with the escapes that Nextflow writes
/// (backslashes, or single quotes around all of it).
fn first_word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut chars = text.char_indices();
    let mut in_quotes = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => in_quotes = !in_quotes,
            '\\' if !in_quotes => word.extend(chars.next().map(|(_, c)| c)),
            ' ' | ';' if !in_quotes => return (word, &text[at..]),
            c => word.push(c),
        }
    }
    (word, "")
}

/// Reads `.command.trace`: `key=value` lines since Nextflow 19, a table of three lines before. CPU
/// is in tenths of a percent, memory in KiB.
fn used(text: &str, row: &mut Row) -> bool {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    let mut put = |key: &str, value: &str| {
        let Ok(number) = value.trim().parse::<i64>() else { return };
        let kib = number.checked_mul(1024);
        match key {
            "realtime" => row.realtime_s = Some(number as f64 / 1e3),
            "%cpu" => row.cpu_percent = Some(number as f64 / 10.0),
            "peak_rss" | "max_rss" => row.peak_rss_bytes = kib,
            "peak_vmem" | "max_vmem" => row.peak_vmem_bytes = kib,
            "rchar" => row.rchar_bytes = Some(number),
            "wchar" => row.wchar_bytes = Some(number),
            "read_bytes" => row.read_bytes = Some(number),
            "write_bytes" => row.write_bytes = Some(number),
            _ => {}
        }
    };
    if first == "nextflow.trace/v2" {
        lines.filter_map(|line| line.split_once('=')).for_each(|(key, value)| put(key, value));
        return true;
    }
    let columns: Vec<&str> = first.split_whitespace().collect();
    let Some(values) = lines.next().map(|line| line.split_whitespace().collect::<Vec<_>>()) else { return false };
    if !columns.contains(&"%cpu") || values.len() != columns.len() {
        return false;
    }
    columns.iter().zip(values).for_each(|(key, value)| put(key, value));
    if let Some(realtime) = lines.next() {
        put("realtime", realtime);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(first_word("/a/b\\ c.fa b\\ c.fa"), ("/a/b c.fa".to_owned(), " b\\ c.fa"));
        assert_eq!(first_word("'/a/b c' x").0, "/a/b c");
        assert_eq!(first_word("\\"), (String::new(), ""));
    }

    #[test]
    fn links() {
        assert_eq!(link("ln -s /a/x\\ y x\\ y"), Some("/a/x y".to_owned()));
        assert_eq!(link("mkdir -p in\\ put && ln -s /a/x in\\ put/x"), Some("/a/x".to_owned()));
        assert_eq!(link("cp -fRL /a/x x"), Some("/a/x".to_owned()));
        assert_eq!(link("ln /a/x\\ y x\\ y"), Some("/a/x y".to_owned()));
        assert_eq!((link("ln -f /a/x x"), link("mkdir -p in; ln -s /a in/a")), (None, None));
    }

    #[test]
    fn limits() {
        assert_eq!(time_limit("01:00:30"), Some(3630.0));
        assert_eq!(time_limit("2-00:00:00"), Some(172_800.0));
        assert_eq!(time_limit("1:00"), None);
    }

    #[test]
    fn legacy_trace() {
        let mut row = Row::default();
        let text = "pid state %cpu %mem vmem rss peak_vmem peak_rss rchar wchar syscr syscw read_bytes write_bytes\n\
                    1 0 385 0 11084 1220 11085 1221 4790 12 11 1 4096 0\n866\n";
        assert!(used(text, &mut row));
        assert_eq!((row.cpu_percent, row.realtime_s), (Some(38.5), Some(0.866)));
        assert_eq!((row.peak_vmem_bytes, row.peak_rss_bytes), (Some(11085 * 1024), Some(1221 * 1024)));
        assert_eq!((row.rchar_bytes, row.wchar_bytes, row.read_bytes, row.write_bytes), (Some(4790), Some(12), Some(4096), Some(0)));
        assert!(!used("what is this", &mut Row::default()));
    }
}
