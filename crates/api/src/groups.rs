//! Groups of options that several commands and models share, each with its typed form.

mod cases;
mod columns;
mod drawing;
mod figure;
mod filter;
mod part;

use crate::options::{Group, Values};

pub use cases::{CASE_NOTION, CaseOptions, TIMESTAMP, job_notions};
pub use columns::TableColumns;
pub use drawing::{DIRECTION, Drawing, OF_GRAPHS};
pub use figure::Figure;
pub use filter::EventFilter;
pub use flowmine_correlate::Timestamp;
pub use part::{CASE, ONLY_ACTIVITY, Part, WITHOUT_ACTIVITY};

/// The typed form of a group of options.
pub trait Grouped: Sized {
    /// The options.
    const GROUP: &'static Group;

    /// Reads the options of the group among others.
    fn read(values: &Values) -> Self;
}
