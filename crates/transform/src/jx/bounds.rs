//! How deep, large and long-running JX may be.

/// How deep expressions and values may be nested, and comprehensions have loops.
pub const DEPTH: u32 = 100;
/// How large a text of JX may be, in bytes.
pub const TEXT_BYTES: usize = 64 << 20;
/// How large a value may become: its parts and the bytes of its texts together.
pub const VALUE_SIZE: u64 = 64 << 20;
/// How many steps an evaluation may take. Work on large values takes a step for every few bytes.
pub const STEPS: u64 = 10_000_000;
/// How many of the steps each task gives back, for layers that are evaluated for many tasks.
pub const STEPS_PER_TASK: u64 = 1_000;
/// How many names one `let` may bind.
pub const NAMES: usize = 1_000;
