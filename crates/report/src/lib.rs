//! The report: results of models in, one self-contained HTML page out.
//!
//! The page opens from a file or a mail, without a network. Its content security policy allows no
//! request, and no script or style but its own, by their hashes. Names come from a cluster and may
//! hold anything: templates escape them, tables are stored in base64, and the script writes text
//! only as text.
//!
//! - **In:** [`Results`]: a log with its models, or why there is none.
//! - **Out:** [`page`]: HTML. The same results give the same bytes.
//!
//! `docs/report.md` describes the page for its readers.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod block;
mod column;
mod page;
mod results;
mod sections;
mod view;

pub use page::{Place, page};
pub use results::{FileAccess, LogResults, Outcome, PredictionResults, Quality, Results, RunResults, WaitResults};
pub use view::View;

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A graph cannot be laid out.
    #[error("the graph of the report cannot be laid out: {0}")]
    Layout(#[from] flowmine_draw::LayoutError),
    /// A figure cannot be embedded.
    #[error(transparent)]
    Embed(#[from] flowmine_draw::embed::EmbedError),
    /// A table cannot be written.
    #[error("a table of the report cannot be written: {0}")]
    Table(#[from] serde_json::Error),
    /// A table cannot be compressed.
    #[error("a table of the report cannot be compressed: {0}")]
    Compression(#[from] std::io::Error),
    /// The template cannot be filled in.
    #[error("the report cannot be written: {0}")]
    Template(#[from] askama::Error),
}
