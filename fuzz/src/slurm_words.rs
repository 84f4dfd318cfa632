//! What users write to Slurm and Slurm shows again (`flowmine-slurm`): dependencies, and indices of
//! arrays.

use flowmine_slurm::dependency;
use flowmine_slurm::index_set::IndexSet;

use crate::{Seeds, choice, from, reached};

/// See [`run`].
pub const SEEDS: &[Seeds] = &[from(b"\0", "fuzz/seeds", "dependency"), from(b"\x01", "fuzz/seeds", "array")];

/// The first byte says which.
pub fn run(bytes: &[u8]) {
    let (first, bytes) = choice(bytes);
    let text = String::from_utf8_lossy(bytes);
    if first % 2 == 0 {
        reached(dependency::parse(&text).is_ok(), "dependencies");
    } else if let Some(set) = IndexSet::parse(&text) {
        reached(true, "indices of an array");
        assert_eq!(set.is_empty(), set.iter().next().is_none());
        assert!(set.iter().take(1000).all(|index| set.contains(index)));
    }
}
