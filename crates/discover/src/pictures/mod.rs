//! Models as pictures (`flowmine-draw`) and as JSON and tables.

pub mod csv;
pub mod dfg;
pub mod ocdfg;
