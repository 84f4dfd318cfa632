//! The registry of formats that `export` writes: a file and a line in [`LOG_FORMATS`] for each.

use std::fmt;
use std::io::Write;
use std::path::Path;

use flowmine_eventlog::{CaseLog, Counts, LogError, ObjectLog, csv, ocel, xes};
use flowmine_logs::flat_parquet;

use crate::error::Result;
use crate::export::{Exported, Request, io_csv, ro_crate, wfformat, workflow};
use crate::sink::Sink;

/// A format of event logs, or of what else a dataset holds.
pub struct LogFormat {
    /// Its name, which is also the extension of files.
    pub name: &'static str,
    /// What it is, for help.
    pub meaning: &'static str,
    /// Last extensions of names of files that stand for it.
    pub endings: &'static [&'static str],
    /// How it is written.
    pub writer: Writer,
}

/// Writes a log with cases.
type WriteCases = fn(&dyn CaseLog, &mut dyn Write, xes::Options) -> Result<Counts, LogError>;

/// How a format is written.
#[derive(Clone, Copy)]
pub enum Writer {
    /// From a log with cases.
    Cases {
        /// Writes it.
        write: WriteCases,
        /// Whether it can have its times cut to milliseconds.
        has_milliseconds: bool,
    },
    /// From an object-centric log, as a stream.
    Objects(fn(&dyn ObjectLog, &mut dyn Write) -> Result<Counts, LogError>),
    /// From an object-centric log, as a database, which needs a path.
    Database(fn(&dyn ObjectLog, &Path) -> Result<Counts, LogError>),
    /// From a dataset; it is no event log.
    Dataset(fn(&Request, &dyn Sink) -> Result<Exported>),
}

/// All formats, in the order of help.
pub const LOG_FORMATS: &[&LogFormat] = &[
    &XES,
    &XES_GZ,
    &OCEL_JSON,
    &OCEL_XML,
    &OCEL_SQLITE,
    &CSV,
    &PARQUET,
    &IO_CSV,
    &WFFORMAT,
    &RO_CRATE,
    &MAKEFLOW,
    &MAKE,
    &SNAKEMAKE,
    &SLURM,
];

static XES: LogFormat = LogFormat {
    name: "xes",
    meaning: "IEEE 1849 XES: one case notion, a trace a case",
    endings: &["xes"],
    writer: Writer::Cases { write: |log, out, options| xes::write_with(log, options, out), has_milliseconds: true },
};

static XES_GZ: LogFormat = LogFormat {
    name: "xes.gz",
    meaning: "The same, packed with gzip",
    endings: &["gz"],
    writer: Writer::Cases { write: |log, out, options| xes::gzip::write_with(log, options, out), has_milliseconds: true },
};

static OCEL_JSON: LogFormat = LogFormat {
    name: "ocel.json",
    meaning: "OCEL 2.0 as JSON: objects instead of cases",
    endings: &["json", "jsonocel"],
    writer: Writer::Objects(ocel::json::write),
};

static OCEL_XML: LogFormat =
    LogFormat { name: "ocel.xml", meaning: "OCEL 2.0 as XML", endings: &["xml", "xmlocel"], writer: Writer::Objects(ocel::xml::write) };

static OCEL_SQLITE: LogFormat = LogFormat {
    name: "ocel.sqlite",
    meaning: "OCEL 2.0 as an SQLite database",
    endings: &["sqlite"],
    writer: Writer::Database(ocel::sqlite::write),
};

static CSV: LogFormat = LogFormat {
    name: "csv",
    meaning: "A table, an event a row, as PM4Py, bupaR and DuckDB read it",
    endings: &["csv"],
    writer: Writer::Cases { write: |log, out, _| csv::write(log, out), has_milliseconds: false },
};

static PARQUET: LogFormat = LogFormat {
    name: "parquet",
    meaning: "The same as Parquet",
    endings: &["parquet"],
    writer: Writer::Cases { write: |log, out, _| flat_parquet::write(log, out), has_milliseconds: false },
};

static IO_CSV: LogFormat = LogFormat {
    name: "io-csv",
    meaning: "No log but the I/O of a dataset, as file-bpf.csv and cgroups.csv in a directory for each host: -o is a directory",
    endings: &[],
    writer: Writer::Dataset(io_csv::export),
};

static WFFORMAT: LogFormat = LogFormat {
    name: "wfformat",
    meaning: "No log but the tasks of workflow runs, as WfFormat 1.6 (JSON) for simulators: -o is a directory, or a file for a single run",
    endings: &[],
    writer: Writer::Dataset(wfformat::export),
};

static RO_CRATE: LogFormat = LogFormat {
    name: "ro-crate",
    meaning: "No log but the tasks of one workflow run, as a Workflow Run RO-Crate: -o is its directory",
    endings: &[],
    writer: Writer::Dataset(ro_crate::export),
};

static MAKEFLOW: LogFormat = LogFormat {
    name: "makeflow",
    meaning: "No log but one run of a dataset as a workflow that can be run again, for Makeflow in JX",
    endings: &["jx", "makeflow"],
    writer: Writer::Dataset(workflow::makeflow),
};

static MAKE: LogFormat = LogFormat {
    name: "make",
    meaning: "The same in Makeflow's own language, which resembles make's",
    endings: &["mk"],
    writer: Writer::Dataset(workflow::make),
};

static SNAKEMAKE: LogFormat =
    LogFormat { name: "snakemake", meaning: "The same as a Snakefile", endings: &["smk"], writer: Writer::Dataset(workflow::snakemake) };

static SLURM: LogFormat = LogFormat {
    name: "slurm",
    meaning: "The same as a script that submits jobs with their dependencies",
    endings: &["sh"],
    writer: Writer::Dataset(workflow::slurm),
};

impl LogFormat {
    /// Returns the format with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        LOG_FORMATS.iter().copied().find(|format| format.name == name)
    }

    /// Whether it is an object-centric event log.
    pub fn has_objects(&self) -> bool {
        matches!(self.writer, Writer::Objects(_) | Writer::Database(_))
    }

    /// Whether it is an event log with cases.
    pub fn has_cases(&self) -> bool {
        matches!(self.writer, Writer::Cases { .. })
    }

    /// Whether it is an event log.
    pub fn is_log(&self) -> bool {
        self.has_objects() || self.has_cases()
    }

    /// Returns the endings of files' names, and the formats that they stand for.
    pub fn endings() -> Vec<(&'static str, &'static Self)> {
        LOG_FORMATS.iter().flat_map(|format| format.endings.iter().map(|ending| (*ending, *format))).collect()
    }
}

impl fmt::Debug for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_endings_are_unique() {
        let names: BTreeSet<_> = LOG_FORMATS.iter().map(|format| format.name).collect();
        assert_eq!(names.len(), LOG_FORMATS.len());
        let endings: BTreeSet<_> = LogFormat::endings().into_iter().map(|(ending, _)| ending).collect();
        assert_eq!(endings.len(), LogFormat::endings().len());
        for format in LOG_FORMATS {
            assert!(!format.is_log() || !format.endings.is_empty(), "{format:?}");
        }
    }
}
