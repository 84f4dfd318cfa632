//! Process trees and Petri nets: discovered from the variants of a log, written, and compared with the log.
//!
//! In: [`Variants`], the distinct traces of a log with their counts, and options. Out: process trees ([`inductive`]), Petri
//! nets and PNML ([`net`], [`pnml`]), a layout and BPMN ([`layout`], [`bpmn`]), fitness, precision and generalisation
//! ([`replay`]), alignments ([`align`]), and declarative constraints ([`declare`]). Refused with an [`Error`]: indices that
//! name nothing, and inputs beyond the bounds that each module states.
//!
//! Everything is a function of the input: no clock, no randomness, and no order of a hash table reaches a result.

pub mod align;
pub mod bpmn;
pub mod declare;
pub mod inductive;
pub mod layout;
pub mod net;
pub mod pnml;
pub mod replay;
pub mod tree;
pub mod variants;
mod xml;

pub use net::PetriNet;
pub use tree::{Node, ProcessTree};
pub use variants::{Variant, Variants};

/// What is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A trace or a tree names an activity that is not in the list of activities.
    #[error("activity {index} is named, but there are {known}")]
    NoSuchActivity {
        /// The index.
        index: u32,
        /// How many activities there are.
        known: u32,
    },
    /// More of something than this crate takes.
    #[error("more than {limit} {what}")]
    TooLarge {
        /// Of what there is too much.
        what: &'static str,
        /// How much is taken.
        limit: u64,
    },
    /// Nodes or text that are no process tree.
    #[error("no process tree: {why}, at {at}")]
    NotATree {
        /// The node, or the byte of the text.
        at: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// A tree that has an activity at two places, where each must be at one.
    #[error("the activity {activity:?} is in the tree twice")]
    ActivityTwice {
        /// The activity.
        activity: String,
    },
    /// An option outside its range.
    #[error("{option} is {value}; it must be {must}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        must: &'static str,
    },
}
