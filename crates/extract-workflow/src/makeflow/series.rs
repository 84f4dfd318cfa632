//! Series of Makeflow's resource monitor for one rule: with `--monitor-with-time-series` it writes
//! `DIR/resource-rule-N.series`.
//!
//! ```text
//! # Units:                                            more lines of comment
//! #wall_clock cpu_time … virtual_memory memory …      the columns
//! 1795333584.487283 0.100000 … 80 77 …                a sample: seconds since 1970, …, whole megabytes (of 1024² bytes)
//! ```
//!
//! In a run that was killed there is no summary, and the series is the only measurement. Its sums
//! of bytes end before the rule does and are therefore not read.

use std::io::{self, BufRead};

use flowmine_schema::diagnostic::{Diagnostic, Diagnostics};
use flowmine_schema::text;

use super::summary;
use crate::input;

/// Beginning of the line with the column names.
pub const COLUMNS: &str = "#wall_clock ";

/// Values from the samples of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Series {
    /// Time of the first sample, in nanoseconds since 1970: some time after the rule began.
    pub first_ns: Option<i64>,
    /// Maximum resident memory of a sample, in bytes.
    pub peak_rss_bytes: Option<i64>,
    /// Maximum virtual memory of a sample, in bytes.
    pub peak_vmem_bytes: Option<i64>,
}

/// Reads the samples of the resource monitor.
///
/// # Errors
/// When reading fails. Errors in a line are diagnostics.
pub fn read(reader: impl BufRead, diagnostics: &mut Diagnostics) -> io::Result<Series> {
    let mut lines = input::lines(reader);
    let mut columns: Vec<String> = Vec::new();
    let mut series = Series::default();
    while let Some((number, line)) = input::next_line(&mut lines, diagnostics)? {
        let line = text::decode(line);
        if let Some(names) = line.strip_prefix(COLUMNS) {
            columns = names.split_ascii_whitespace().map(str::to_owned).collect();
        } else if !line.starts_with('#') && !line.trim().is_empty() && series.sample(&line, &columns).is_none() {
            diagnostics.push(Diagnostic::error("line_bad", "this is no sample of Makeflow's resource monitor").at(number, Some(1)));
        }
    }
    Ok(series)
}

impl Series {
    fn sample(&mut self, line: &str, columns: &[String]) -> Option<()> {
        let mut values = line.split_ascii_whitespace();
        let at = summary::ns(values.next()?.parse().ok()?)?;
        let values: Vec<&str> = values.collect();
        let bytes = |name: &str| {
            let value = values.get(columns.iter().position(|column| column == name)?)?;
            summary::bytes(value.parse().ok()?)
        };
        let (memory, virtual_memory) = (bytes("memory")?, bytes("virtual_memory")?);
        // Only whole lines count: the last line of a killed monitor can be truncated.
        (values.len() == columns.len()).then_some(())?;
        self.first_ns = [self.first_ns, Some(at)].into_iter().flatten().min();
        self.peak_rss_bytes = self.peak_rss_bytes.max(Some(memory));
        self.peak_vmem_bytes = self.peak_vmem_bytes.max(Some(virtual_memory));
        Some(())
    }
}
