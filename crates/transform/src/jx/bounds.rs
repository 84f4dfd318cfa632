//! How deep, large and long-running JX may be.

/// How deep expressions and values may be nested.
pub const DEPTH: u32 = 100;
/// How large a text of JX may be, in bytes.
pub const TEXT_BYTES: usize = 64 << 20;
/// How large a value may become: its parts and the bytes of its texts together.
pub const VALUE_SIZE: u64 = 256 << 20;
/// How many steps an evaluation may take.
pub const STEPS: u64 = 10_000_000;
