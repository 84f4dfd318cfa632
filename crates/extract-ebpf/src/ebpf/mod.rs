//! The eBPF way in: programs in the kernel send what happens through a ring.

pub mod facts;
