//! Thresholds of noteworthy reads and writes, and the values beyond them.

use schemars::JsonSchema;
use serde::Serialize;

/// Thresholds of noteworthy values. Shares are 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Thresholds {
    /// Reads and writes of fewer bytes are small.
    pub small_bytes: i64,
    /// Noteworthy when more than this share of requests is small.
    pub small_share: f64,
    /// Fewer calls than this are never noteworthy.
    pub least_calls: u64,
    /// Noteworthy when more than this share of requests is neither sequential nor strided.
    pub random_share: f64,
    /// Noteworthy when more than this share of requests begins or ends within a page of 4,096
    /// bytes.
    pub unaligned_share: f64,
    /// Noteworthy when more than this share of the bytes that were read had been read before by the
    /// same process.
    pub again_share: f64,
    /// Noteworthy when opening, closing and the like take more than this share of the time in
    /// operations.
    pub metadata_share: f64,
    /// Noteworthy when more than this share of opens failed.
    pub failed_open_share: f64,
    /// Noteworthy when the process that moved most bytes moved more than this multiple of the mean
    /// of its group.
    pub imbalance: f64,
    /// Noteworthy when the whole group waits for the disk (`fsync`) more than this number of times
    /// per MiB written.
    pub syncs_per_mib: f64,
    /// Fewer bytes than this are never noteworthy.
    pub least_bytes: i64,
    /// Noteworthy when fewer than `small_bytes` bytes were read from more than this share of the
    /// files, and at least `least_calls` files were read.
    pub small_file_share: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            small_bytes: 1 << 20,
            small_share: 0.1,
            least_calls: 1000,
            random_share: 0.2,
            unaligned_share: 0.1,
            again_share: 0.1,
            metadata_share: 0.3,
            failed_open_share: 0.5,
            imbalance: 3.0,
            syncs_per_mib: 1.0,
            least_bytes: 1 << 20,
            small_file_share: 0.5,
        }
    }
}

/// A noteworthy value, with its threshold.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Kind of advice, such as `many_syncs`.
    pub what: &'static str,
    /// Name of the group that it is about; null for all groups together.
    pub group: Option<String>,
    /// The number that is beyond the threshold.
    pub value: f64,
    /// Name of the field of [`Thresholds`] that it is beyond.
    pub threshold: &'static str,
    /// The threshold's value, in the unit of `value`.
    pub limit: f64,
    /// Time in these operations, in nanoseconds: the upper bound of the gain.
    pub time_ns: i128,
    /// Observation, in a sentence with its numbers.
    pub seen: String,
    /// Recommended action, in a sentence.
    pub advice: &'static str,
}
