//! Tasks, transformations, and what comes of applying one to the other (the paper's section "An
//! Algebra of Workflow Transformations").
//!
//! In go tasks and transformations, out come tasks: applying is a function, and what it gives can
//! be transformed again. Names that collide are refused before anything runs.

mod collisions;
mod id;
mod task;
mod transformation;

pub use collisions::{Collisions, across};
pub use id::{Contents, NoContents, digest, task_id};
pub use task::{Command, Environment, FileName, Layer, Parts, Resources, Setting, Task};
pub(crate) use task::{amount_of, environment_of, files_of, is_variable, resources_of};
pub use transformation::{Composition, Transformation};
