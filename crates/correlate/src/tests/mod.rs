//! Small tables made by hand, and what comes out of them.

mod attempts;
mod cases;
mod events;
mod properties;
mod support;
mod written;
