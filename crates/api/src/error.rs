//! What can fail, and the words for what is refused.

use std::io;

use flowmine_activity_log::{ConcatenateError, FilterError, TooLarge};
use flowmine_attribution::AttributionError;
use flowmine_correlate::CorrelateError;
use flowmine_dataset::DatasetError;
use flowmine_discover::performance_spectrum::SpectrumError;
use flowmine_discover::pictures::workflow::LanguageError;
use flowmine_discover::workflow::WorkflowError;
use flowmine_draw::LayoutError;
use flowmine_draw::embed::EmbedError;
use flowmine_draw::png::PngError;
use flowmine_eventlog::LogError;
use flowmine_extract_slurm::observe::ObserveError;
#[cfg(feature = "ssh")]
use flowmine_extract_slurm::runner::RunError;
#[cfg(feature = "ssh")]
use flowmine_extract_slurm::ssh::SshError;
use flowmine_file_access::FileAccessError;
use flowmine_files::FileError;
use flowmine_io_csv::IoCsvError;
use flowmine_logs::columns::ColumnsError;
use flowmine_logs::log_file::stored::StoredError;
use flowmine_logs::run_graph::RunGraphError;
use flowmine_logs::tables::TableError;
use flowmine_logs::task_log::TaskLogError;
use flowmine_predict::PredictError;
use flowmine_privacy::PseudonymError;
use flowmine_privacy::drop::DropError;
use flowmine_report::ReportError;
use flowmine_sources::SourceError;
use flowmine_trace::TraceError;

/// Why something was not done. The text of a cause may repeat in that of the error.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is refused; the text says what to do instead.
    #[error("{0}")]
    Refused(String),
    /// The place of another error: a file, a dataset, an option.
    #[error("{place}")]
    At {
        /// The place.
        place: String,
        /// The error there.
        source: Box<Error>,
    },
    /// A file or stream could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A dataset could not be read or written.
    #[error("{0}")]
    Dataset(#[from] DatasetError),
    /// An event log could not be read or written.
    #[error("{0}")]
    Log(#[from] LogError),
    /// An imported log could not be read.
    #[error("{0}")]
    Stored(#[from] StoredError),
    /// A table could not be read as a log.
    #[error("{0}")]
    Table(#[from] TableError),
    /// A log could not be read into columns.
    #[error("{0}")]
    Columns(#[from] ColumnsError),
    /// Several files are not one log.
    #[error("{0}")]
    Concatenate(#[from] ConcatenateError),
    /// A log has too much for its columns.
    #[error("{0}")]
    TooLarge(#[from] TooLarge),
    /// A filter fits nothing that the log has.
    #[error("{0}")]
    Filter(#[from] FilterError),
    /// The tasks of a dataset could not be read.
    #[error("{0}")]
    Tasks(#[from] TaskLogError),
    /// A run could not be chosen or read.
    #[error("{0}")]
    Run(#[from] RunGraphError),
    /// The jobs of a dataset could not be read or correlated.
    #[error("{0}")]
    Correlate(#[from] CorrelateError),
    /// The owners of traced operations could not be read.
    #[error("{0}")]
    Attribution(#[from] AttributionError),
    /// The accesses to files could not be read.
    #[error("{0}")]
    FileAccess(#[from] FileAccessError),
    /// A page could not be made.
    #[error("{0}")]
    Report(#[from] ReportError),
    /// A figure could not be reduced to its drawing.
    #[error("{0}")]
    Figure(#[from] EmbedError),
    /// The path of a performance spectrum is not in the log.
    #[error("{0}")]
    Spectrum(#[from] SpectrumError),
    /// A process model could not be discovered.
    #[error("{0}")]
    ProcessModel(#[from] flowmine_process_models::Error),
    /// A place cannot be opened or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// The key of pseudonyms cannot be read.
    #[error("{0}")]
    Pseudonym(#[from] PseudonymError),
    /// Columns cannot be left out.
    #[error("{0}")]
    Drop(#[from] DropError),
    /// I/O traces cannot be written.
    #[error("{0}")]
    IoCsv(#[from] IoCsvError),
    /// Sources cannot be recognised or imported.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// A queue cannot be observed.
    #[error("{0}")]
    Observe(#[from] ObserveError),
    /// A login node cannot be reached.
    #[cfg(feature = "ssh")]
    #[error("{0}")]
    Ssh(#[from] SshError),
    /// The ssh program cannot reach a login node.
    #[cfg(feature = "ssh")]
    #[error("{0}")]
    LoginNode(RunError),
    /// A command or a host cannot be traced.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A workflow cannot be transformed.
    #[error("{0}")]
    Transform(#[from] flowmine_transform::Error),
    /// A model cannot be read, fitted or predicted.
    #[error("{0}")]
    Predict(#[from] PredictError),
    /// A run cannot be written as a workflow.
    #[error("{0}")]
    Workflow(#[from] WorkflowError),
    /// A language cannot hold the workflow.
    #[error("{0}")]
    Language(#[from] LanguageError),
    /// A graph is too large to be laid out.
    #[error("{0}")]
    Layout(#[from] LayoutError),
    /// A figure could not be drawn as pixels.
    #[error("{0}")]
    Png(#[from] PngError),
    /// A result could not be written as JSON.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
}

/// The result of what can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns an error and its causes as one sentence, without what a cause repeats.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = String::new();
    for cause in causes(error).map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Whether an error is that the reader of an output has closed it early (`| head`).
pub fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    causes(error).any(|cause| {
        let io = match cause.downcast_ref::<LogError>() {
            // It stands for the error in it, which the causes leave out.
            Some(LogError::Io(error)) => Some(error),
            _ => cause.downcast_ref::<io::Error>(),
        };
        io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn causes<'e>(error: &'e (dyn std::error::Error + 'static)) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| error.source())
}

/// Whether a dataset could not be read; an absent table has no rows and is no error.
pub(crate) fn is_of_dataset(error: &Error) -> bool {
    causes(error).any(|cause| cause.is::<DatasetError>())
}

/// Adds a place to an error.
pub trait Context<T> {
    /// Adds a place that is known.
    ///
    /// # Errors
    /// The error, at that place.
    fn context(self, place: impl Into<String>) -> Result<T>;

    /// Adds a place that is made only when there is an error.
    ///
    /// # Errors
    /// The error, at that place.
    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, place: impl Into<String>) -> Result<T> {
        self.with_context(|| place)
    }

    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.map_err(|error| Error::At { place: place().into(), source: Box::new(error.into()) })
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, place: impl Into<String>) -> Result<T> {
        self.with_context(|| place)
    }

    fn with_context<P: Into<String>>(self, place: impl FnOnce() -> P) -> Result<T> {
        self.ok_or_else(|| Error::Refused(place().into()))
    }
}

/// Returns [`Error::Refused`] with a text.
macro_rules! refuse {
    ($($text:tt)*) => {
        return Err($crate::Error::Refused(format!($($text)*)))
    };
}

/// Returns [`Error::Refused`] with a text unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($text:tt)*) => {
        // A name for it, because a comparison of floating-point numbers cannot be negated as it is.
        let holds: bool = $condition;
        if !holds {
            $crate::error::refuse!($($text)*);
        }
    };
}

pub(crate) use {ensure, refuse};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_known_in_the_error_of_a_log() {
        let log = |kind: io::ErrorKind| Error::Log(LogError::Io(kind.into()));
        let at = |source| Error::At { place: "log.xes".to_owned(), source: Box::new(source) };
        assert!(is_broken_pipe(&at(log(io::ErrorKind::BrokenPipe))));
        assert!(!is_broken_pipe(&at(log(io::ErrorKind::PermissionDenied))));
    }

    #[test]
    fn a_chain_repeats_no_cause() {
        let refused = Error::Refused("there is no run".to_owned());
        let at =
            Error::At { place: "data".to_owned(), source: Box::new(Error::At { place: "data".to_owned(), source: Box::new(refused) }) };
        assert_eq!(chain(&at), "data: there is no run");
    }
}
