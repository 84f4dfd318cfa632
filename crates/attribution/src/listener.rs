//! Listeners for derived rows while they are written: before a transaction ends, they cannot be
//! read.

use flowmine_schema::tables::{DataFlow, Link};

use crate::AttributionError;

/// Is given each row of `links` and `data_flow` while the tables are written.
pub trait Listener {
    /// A row of `links`, before any of `data_flow`.
    fn link(&mut self, link: &Link<'_>);

    /// Takes a row of `data_flow`.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn flow(&mut self, flow: &DataFlow<'_>) -> Result<(), AttributionError>;
}

impl Listener for () {
    fn link(&mut self, _: &Link<'_>) {}

    fn flow(&mut self, _: &DataFlow<'_>) -> Result<(), AttributionError> {
        Ok(())
    }
}
