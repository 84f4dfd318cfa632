//! Exit code 0 and no note means equal to the model: random input whose truth is known, taken
//! through the built program, against small models that share no code with it.

mod acts;
mod cluster;
mod filters;
mod logs;
mod programs;
mod queue;
mod sums;
mod tables;
