//! A benchmark file, tab-separated: measurements of a job for a rule with a `benchmark`.
//!
//! ```text
//! s  h:m:s  max_rss  max_vms  max_uss  max_pss  io_in  io_out  mean_load  cpu_time
//! 1.01  0:00:01  4.85  7.11  0.41  0.88  0.04  0.00  0.00  0.00
//! ```
//!
//! Sizes are in units of 1024² bytes with two decimals, `mean_load` is percent of one CPU. `NA` and
//! `-` are missing measurements. A repeated rule has one line for each repetition.

use std::io::{self, BufRead};

use crate::input;

/// Measurements of a job; for several repetitions only the peaks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Benchmark {
    /// Wall time in seconds, column `s`.
    pub realtime_s: Option<f64>,
    /// Largest resident set size in bytes, column `max_rss`.
    pub peak_rss_bytes: Option<i64>,
    /// Largest virtual memory size in bytes, column `max_vms`.
    pub peak_vmem_bytes: Option<i64>,
    /// Bytes that the job read from storage, column `io_in`.
    pub read_bytes: Option<i64>,
    /// Bytes that the job wrote to storage, column `io_out`.
    pub write_bytes: Option<i64>,
    /// Mean CPU use in percent of one CPU.
    pub cpu_percent: Option<f64>,
}

/// Whether a line is a benchmark's header.
pub fn is_header(line: &str) -> bool {
    line.starts_with("s\th:m:s\tmax_rss")
}

/// Reads a file; `None` when no line can be read.
///
/// # Errors
/// When reading fails.
pub fn read(reader: impl BufRead) -> io::Result<Option<Benchmark>> {
    let mut lines = input::lines(reader);
    let Some((_, header)) = lines.next()? else { return Ok(None) };
    let header = String::from_utf8_lossy(header).into_owned();
    let columns: Vec<&str> = header.split('\t').collect();
    let mut sum: Option<Benchmark> = None;
    while let Some((number, line)) = lines.next()? {
        input::not_too_long(number, line)?;
        let line = String::from_utf8_lossy(line);
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |name: &str| {
            let at = columns.iter().position(|column| *column == name)?;
            fields.get(at)?.parse::<f64>().ok().filter(|number| (0.0..9e12).contains(number))
        };
        let mebibytes = |name: &str| number(name).filter(|size| *size < 8e12).map(|size| (size * f64::from(1 << 20)).round() as i64);
        let Some(realtime_s) = number("s") else { continue };
        let peaks = (mebibytes("max_rss"), mebibytes("max_vms"));
        sum = Some(match sum {
            None => Benchmark {
                realtime_s: Some(realtime_s),
                peak_rss_bytes: peaks.0,
                peak_vmem_bytes: peaks.1,
                read_bytes: mebibytes("io_in"),
                write_bytes: mebibytes("io_out"),
                cpu_percent: number("mean_load"),
            },
            Some(known) => Benchmark {
                peak_rss_bytes: known.peak_rss_bytes.max(peaks.0),
                peak_vmem_bytes: known.peak_vmem_bytes.max(peaks.1),
                ..Benchmark::default()
            },
        });
    }
    Ok(sum)
}
