//! Arguments of `flowmine export`.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use flowmine_api::endings::format_of;
use flowmine_api::export::{Objects, Request, Share, Untimed};
use flowmine_api::groups::{CASE_NOTION, EventFilter, Part, TableColumns, Timestamp};
use flowmine_api::log_format::LogFormat;

use super::options::{Group, choice, log_format, long_help};
use super::shared::SourceArgs;

/// `flowmine export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Source of the export.
    #[command(flatten)]
    pub source: SourceArgs,
    /// Format [default: by the suffix of the output file].
    #[arg(long, value_name = "FORMAT", value_parser = log_format(|_| true), required_unless_present = "output")]
    pub format: Option<&'static LogFormat>,
    /// Case notion, for formats with cases.
    #[arg(long, value_name = CASE_NOTION.value_name, help = CASE_NOTION.help, long_help = long_help(&CASE_NOTION))]
    pub case_notion: Option<String>,
    /// Attributes that name an activity, joined by plus signs, or step; for formats with cases, of a
    /// dataset.
    #[arg(long, value_name = "KEY[+KEY]")]
    pub activity: Option<String>,
    /// Object types of an object-centric log of a dataset, with their events. Processes are many,
    /// so they are left out by default.
    #[arg(long, value_name = "TYPE", value_delimiter = ',', default_values = ["job", "task", "file"], value_parser = choice::<Objects>())]
    pub objects: Vec<Objects>,
    /// Truncate times to milliseconds in XES, and count the truncated ones: for ProM with Java 8,
    /// which reads more digits as a larger number and moves the event by hours.
    #[arg(long)]
    pub milliseconds: bool,
    /// Treatment of XES events without a time, which OCEL does not allow: leave-out, or neighbour
    /// (they get the time of the event before them in their trace and the attribute time_unknown).
    #[arg(long, value_name = "WHAT", default_value = "leave-out", value_parser = choice::<Untimed>())]
    pub untimed_events: Untimed,
    /// Replace names (users, accounts, groups, hosts, jobs, paths, arguments, comments, …) by codes
    /// made with the key in this file.
    #[arg(long, value_name = "KEYFILE")]
    pub pseudonymise: Option<PathBuf>,
    /// Columns of job_states to leave out, separated by commas, together with equivalent columns of
    /// tasks, processes and files; for a log of another program, attributes with these keys.
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// Time of an event within its observed interval; the log keeps both ends.
    #[arg(long, value_name = "MOMENT", default_value = "reported", value_parser = choice::<Timestamp>())]
    pub timestamp: Timestamp,
    /// Only the K-th of N parts of the cases, for formats with cases, so that several processes or
    /// machines can write one each; `discover` reads them together (--log A --log B). Each case is
    /// in one part. The parts of a dataset are those of its last `flowmine correlate`.
    #[arg(long, value_name = "K/N")]
    pub part: Option<Share>,
    /// Only the workflow run with this id or name, for wfformat and ro-crate.
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,
    /// Output file [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Selection of events.
    #[command(flatten)]
    pub filter: Group<EventFilter>,
    /// Selection of the log.
    #[command(flatten)]
    pub of_log: Group<Part>,
    /// Contents of a table's columns.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
}

impl Export {
    /// The request for the library.
    ///
    /// # Errors
    /// When there is no format, neither by name nor by the ending of the output file.
    pub fn request(&self) -> anyhow::Result<Request> {
        let format = format_of(self.format, self.output.as_deref(), &LogFormat::endings(), |_| true)?;
        Ok(Request {
            source: self.source.paths(),
            format: format.context("the name of the output file has no suffix: choose the format with --format")?,
            case_notion: self.case_notion.clone(),
            activity: self.activity.clone(),
            objects: self.objects.clone(),
            milliseconds: self.milliseconds,
            untimed: self.untimed_events,
            pseudonymise: self.pseudonymise.clone(),
            drop: self.drop.clone(),
            timestamp: self.timestamp,
            part: self.part,
            run: self.run.clone(),
            output: self.output.clone(),
            filter: (*self.filter).clone(),
            of_log: (*self.of_log).clone(),
            columns: (*self.columns).clone(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot set itself up has to fail")]
mod tests {
    use clap::Parser;
    use flowmine_api::log_format::LOG_FORMATS;

    use crate::args::{Cli, Command};

    /// The name of the format of an export, or why there is none.
    fn format(words: &[&str]) -> Result<&'static str, String> {
        let words = ["flowmine", "export", "--dataset", "data"].iter().chain(words);
        let Command::Export(args) = Cli::try_parse_from(words).map_err(|error| error.to_string())?.command else {
            panic!("the command is export")
        };
        args.request().map(|request| request.format.name).map_err(|error| error.to_string())
    }

    #[test]
    fn a_name_says_the_format() {
        let names = ["log.xes", "log.xes.gz", "log.ocel.json", "log.xml", "log.sqlite", "out/log.CSV", "log.parquet"];
        let formats: Vec<_> = names.iter().map(|name| format(&["-o", name]).unwrap()).collect();
        assert_eq!(formats, ["xes", "xes.gz", "ocel.json", "ocel.xml", "ocel.sqlite", "csv", "parquet"]);
        assert_eq!(format(&["-o", "log.txt", "--format", "csv"]), Ok("csv"));
        assert!(format(&["-o", "log"]).unwrap_err().contains("choose the format with --format"));
        assert!(format(&[]).unwrap_err().contains("--format"));
    }

    #[test]
    fn a_name_with_the_ending_of_another_program_is_refused() {
        for known in LOG_FORMATS.iter().map(|format| Some(format.name)).chain([None]) {
            for file in ["x.pdf", "out/x.html"] {
                let words: Vec<&str> = ["-o", file].into_iter().chain(known.map(|_| "--format")).chain(known).collect();
                let said = format(&words).unwrap_err();
                assert!(said.contains(&format!("{file}: no format has the ending .")), "{known:?}: {said}");
            }
        }
    }
}
