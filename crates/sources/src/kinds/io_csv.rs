//! I/O traces of the published eBPF and FUSE monitoring tools.

use std::path::Path;

use flowmine_io_csv::{COLUMNS, EVENTS, FORKS};

use crate::{Answer, Kind, Reading, Sample, Seen};

/// Number of lines without a header that must be forks.
const LINES: usize = 20;

/// Directories of I/O traces.
pub const KIND: Kind = Kind {
    name: "io-csv",
    title: "I/O trace",
    reads: "a directory of a node, or of several, with `file-bpf.csv` and `cgroups.csv`",
    reading: Reading::IoCsv,
    extensions: &[],
    looks_at,
    recognise,
};

fn looks_at(below: &Path) -> bool {
    below.file_name().and_then(|name| name.to_str()).is_some_and(is_named_so)
}

fn recognise(sample: &Sample) -> Answer {
    let (path, lines) = (sample.path(), sample.lines());
    let Some(first) = lines.first() else { return Answer::No };
    let seen = if first.split(',').map(str::trim).eq(COLUMNS) {
        Seen::new("operations of a trace", format!("has columns {}", COLUMNS[..4].join(", ")))
    } else if are_forks(&lines) {
        Seen::new("forks of a trace", "has lines of time, parent, child, cgroup")
    } else {
        return Answer::No;
    };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match path.parent() {
        Some(dir) if is_named_so(name) => {
            let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
            Answer::Part(seen, dir.to_owned())
        }
        _ => Answer::NotRead {
            what: seen.to_string(),
            advice: format!("it is read as {EVENTS} or {FORKS} in a directory that has the host's name"),
        },
    }
}

fn is_named_so(name: &str) -> bool {
    [EVENTS, FORKS].contains(&name.strip_suffix(".gz").unwrap_or(name))
}

/// Whether all lines are forks, but for comments.
fn are_forks(lines: &[String]) -> bool {
    let mut forks = lines.iter().filter(|line| !line.starts_with('#')).take(LINES).peekable();
    forks.peek().is_some() && forks.all(|line| is_fork(line))
}

/// Whether a line is a time, two processes and a control group.
fn is_fork(line: &str) -> bool {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [time, numbers @ ..] = fields.as_slice() else { return false };
    let is_time = time.split_once('.').is_some_and(|(seconds, _)| seconds.len() >= 10) && time.parse::<f64>().is_ok();
    is_time && numbers.len() == 3 && numbers.iter().all(|number| number.parse::<u64>().is_ok())
}
