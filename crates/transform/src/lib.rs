//! The workflow algebra: tasks of a workflow wrapped by monitors, sandboxes, containers and the
//! like, without a change to what the tasks themselves run.
//!
//! After Hazekamp and Thain, "An Algebra for Robust Workflow Transformations" (the algebra paper).
//!
//! - **In:** a workflow ([`workflow::Workflow`]: a list of tasks, Makeflow's two languages,
//!   Snakemake, or Slurm scripts) and transformations ([`algebra::Composition`], written in JX,
//!   [`jx`]). Those that come with flowmine are in [`builtin`].
//! - **Out:** a [`workflow::Plan`]: the new workflow's text, and a script for each layer of each
//!   task ([`script`]). The tasks themselves are typed ([`algebra::Task`]): command, inputs,
//!   outputs, environment and resources (memory and disk in MiB, wall time in seconds).
//!
//! Nothing is run here. No file is read but through what the caller gives:
//! [`workflow::Workflow::read`] asks for job scripts, and [`algebra::Contents`] for checksums of
//! inputs.
//!
//! **Errors.** Names that collide, recursive definitions, and input that is too large or too deep
//! are refused: an [`Error`] has file, line and column. Tasks that cannot be wrapped stay unchanged
//! and are listed in [`workflow::Workflow::notes`].
//!
//! A monitor around the only task of a workflow:
//!
//! ```
//! use flowmine_transform::algebra::{Collisions, Composition, NoContents};
//! use flowmine_transform::workflow::{NoFiles, Workflow};
//!
//! let tasks = br#"[{"command": "sort a > b", "inputs": ["a"], "outputs": ["b"]}]"#;
//! let workflow = Workflow::read("tasks.json", tasks, &NoFiles)?;
//! let monitor = r#"define Monitor(T) {
//!   "command": { "cmd": "time -o log." + T.ID + " sh " + T.script },
//!   "inputs": T.inputs + [T.script],
//!   "outputs": T.outputs + ["log." + T.ID]
//! }"#;
//! let monitor = Composition::read("monitor.jx", monitor, None, &[])?;
//!
//! let plan = workflow.transform(&monitor, &[], Collisions::Refuse, &NoContents)?;
//! let (task, layers) = &plan.tasks[0];
//! assert!(task.parts.command.cmd.starts_with("time -o log."));
//! assert_eq!(task.parts.outputs.len(), 2);
//! // The task as it was, and the monitor: a script each.
//! assert_eq!((layers.len(), plan.scripts(0).len()), (2, 2));
//! # Ok::<(), flowmine_transform::Error>(())
//! ```

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod algebra;
pub mod builtin;
mod error;
pub mod jx;
pub mod script;
pub mod workflow;

pub use algebra::digest;
pub use error::{Error, Fault, Place, Result};
