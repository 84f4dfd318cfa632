//! Models as pictures (`flowmine-draw`) and as JSON and tables.
