//! Pictures of directly-follows graphs: a [`Dfg`](crate::dfg::Dfg) in, SVG, DOT or JSON text out.
//!
//! [`svg`] lays the graph out by itself ([`crate::layout`]) and gives one self-contained picture with a heading and a
//! legend. [`dot`] says the same to Graphviz: same selection, labels, widths and colours. [`json`] holds everything.
//!
//! [`access_share`] and [`accesses`] draw what tasks did to files ([`crate::file_access`]).
//!
//! Pictures of large graphs show the most frequent part ([`Options`]) and say in words how much is not shown.
//! Names may hold anything: what is invisible or special is shown as an escape (`\n`, `\x1b`, `\u{202e}`) and never
//! reaches the file as markup. The same graph and options give the same bytes.

pub mod access_share;
pub mod accesses;
mod axis;
pub mod dot;
pub mod json;
mod legend;
mod picture;
mod scale;
mod sheet;
pub mod svg;
mod text;

pub use text::{count, duration, visible};

/// Which statistic of the times between two events a picture shows; all three stand in the lines' titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Time {
    /// The median.
    #[default]
    Median,
    /// The arithmetic mean.
    Mean,
    /// The 95th percentile.
    P95,
}

impl Time {
    /// In words: `median`, `mean`, `95th percentile`.
    pub fn name(self) -> &'static str {
        match self {
            Time::Median => "median",
            Time::Mean => "mean",
            Time::P95 => "95th percentile",
        }
    }

    /// The statistic of an edge, in nanoseconds.
    pub fn of(self, edge: &crate::dfg::Edge) -> f64 {
        match self {
            Time::Median => edge.median_ns,
            Time::Mean => edge.mean_ns,
            Time::P95 => edge.p95_ns,
        }
    }
}

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// At most this many activities, the most frequent ones. Default 60.
    pub most_activities: usize,
    /// At most this many directly-follows edges between them. Default 150. Of each activity the most frequent edge
    /// in and out come first, then the slowest edges, then the most frequent ones.
    pub most_edges: usize,
    /// At most this many edges from the start, and as many to the end, the most frequent ones. Default 24.
    pub most_terminals: usize,
    /// At most this many edges are marked as the slowest, and never more than half of the edges. Default 3.
    pub slowest: usize,
    /// An edge has to be seen this often to be marked as slow. Default: 5 % of the most frequent edge, but at least
    /// twice; once if no edge is seen twice.
    pub least_support: Option<u64>,
    /// The time that labels, colours and the marks of the slowest edges are about. Default: the median.
    pub time: Time,
}

impl Default for Options {
    fn default() -> Self {
        Self { most_activities: 60, most_edges: 150, most_terminals: 24, slowest: 3, least_support: None, time: Time::Median }
    }
}

/// The slowest edges of a graph, slowest first: indices into [`Dfg::edges`](crate::dfg::Dfg::edges).
///
/// Slow is a high time ([`Options::time`]), among edges with enough support ([`Options::least_support`]). Nothing is slow in a
/// graph with fewer than two edges, and an edge that is not slower than the fastest one, or takes no time, is not slow
/// either. At most [`Options::slowest`] and at most half of the edges.
pub fn slowest(dfg: &crate::dfg::Dfg, options: &Options) -> Vec<usize> {
    let all: Vec<usize> = (0..dfg.edges.len()).collect();
    picture::slowest(dfg, &all, options).0
}
