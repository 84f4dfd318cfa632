//! Arguments of `flowmine report`.

use std::path::PathBuf;

use clap::Args;
use flowmine_api::groups::{CaseOptions, EventFilter, TableColumns};
use flowmine_api::report::{Place, ReportRequest};

use super::options::Group;
use super::shared::SourceArgs;

/// `flowmine report`.
#[derive(Debug, Args)]
#[command(
    after_help = "The page is one file that opens offline in any browser and loads nothing. What the source does not have is missing on it, \
    with what to record. docs/report.md describes its sections."
)]
pub struct Report {
    /// What to report on.
    #[command(flatten)]
    pub source: SourceArgs,
    /// The page; by default standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A directory for the page, and for logs and tables of a dataset.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub out: Option<PathBuf>,
    /// Write plain text of the size of a mail: the first findings, and accounts by week.
    #[arg(long, conflicts_with = "out")]
    pub text: bool,
    /// What a case is.
    #[command(flatten)]
    pub cases: Group<CaseOptions>,
    /// Selection of events.
    #[command(flatten)]
    pub filter: Group<EventFilter>,
    /// Contents of a table's columns.
    #[command(flatten)]
    pub columns: Group<TableColumns>,
}

impl Report {
    /// The request for the library.
    pub fn request(&self) -> ReportRequest {
        ReportRequest {
            source: self.source.paths(),
            cases: (*self.cases).clone(),
            filter: (*self.filter).clone(),
            columns: (*self.columns).clone(),
            place: Place::File,
        }
    }
}
