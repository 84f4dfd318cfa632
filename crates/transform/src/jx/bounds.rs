//! Limits of the depth, size and run time of JX.

/// Maximum depth of nested expressions and values, and maximum number of loops of a comprehension.
pub const DEPTH: u32 = 100;
/// Maximum size of a text of JX, in bytes.
pub const TEXT_BYTES: usize = 64 << 20;
/// Maximum size of a value: the number of its parts plus the bytes of its texts.
pub const VALUE_SIZE: u64 = 64 << 20;
/// Maximum number of steps of an evaluation. Work on large values takes a step for every few bytes.
pub const STEPS: u64 = 10_000_000;
/// Number of steps that each task gives back, for layers that are evaluated for many tasks.
pub const STEPS_PER_TASK: u64 = 1_000;
/// Maximum number of names of one `let`.
pub const NAMES: usize = 1_000;
