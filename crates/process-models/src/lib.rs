//! Process trees and Petri nets: discovered from the variants of a log, written, and compared with
//! it.
//!
//! - **In:** [`Variants`], the distinct traces of a log with the number of cases of each;
//!   [`Variants::from_names`] makes them of activities' names.
//! - **Out:** process trees by the Inductive Miner ([`inductive`]), which [`tree`] also reads from
//!   text; Petri nets ([`net`]) as PNML ([`pnml`]); BPMN ([`bpmn`]) with a layout ([`layout`]);
//!   declarative constraints ([`declare`]).
//! - **Compared:** token replay, precision and generalisation ([`replay`]), alignments ([`align`]).
//!
//! **Units.** Fitness, precision and the like are from 0 to 1. Activities are indices into a list
//! of names; counts are of cases unless they say otherwise. There are no times here.
//!
//! **Errors.** [`Error`]: an index that names nothing, an option outside its range, a text that is
//! no tree, and inputs beyond the bounds that each module states.
//!
//! A model of two ways through a workflow, and how well a third fits it:
//!
//! ```
//! use flowmine_process_models::{PetriNet, Variants, inductive, replay};
//!
//! let log = Variants::from_names([
//!     (vec!["split", "align", "sort", "merge"], 8),
//!     (vec!["split", "sort", "align", "merge"], 3),
//! ])?;
//! let tree = inductive::discover(&log, inductive::Options::default())?.tree;
//! assert_eq!(tree.to_text(), "->( 'split', +( 'align', 'sort' ), 'merge' )");
//!
//! let net = PetriNet::of_tree(&tree);
//! assert_eq!(replay::replay(&net, &log, replay::Options::default()).fitness(), 1.0);
//!
//! let other = Variants::from_names([(vec!["split", "align", "merge"], 1)])?;
//! assert!(replay::replay(&net, &other, replay::Options::default()).fitness() < 1.0);
//! # Ok::<(), flowmine_process_models::Error>(())
//! ```
//!
//! Everything is a function of the input: no clock, no randomness, and no order of a hash table
//! reaches a result.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

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
pub use tree::{FlatTree, Node, ProcessTree};
pub use variants::{Variant, Variants};

/// Why an input or an option is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A trace or a tree names an activity that is not in the list of activities.
    #[error("activity {index} is named, but there are {known}")]
    NoSuchActivity {
        /// The index that names no activity.
        index: u32,
        /// How many activities there are.
        known: u32,
    },
    /// More of something than this crate takes.
    #[error("more than {limit} {what}")]
    TooLarge {
        /// What there is too much of, in the plural.
        what: &'static str,
        /// The most that is taken.
        limit: u64,
    },
    /// Nodes or text that are no process tree.
    #[error("no process tree: {why}, at {at}")]
    NotATree {
        /// The node, or the byte of the text.
        at: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A tree that has an activity at two places, where each must be at one.
    #[error("the activity {activity:?} is in the tree twice")]
    ActivityTwice {
        /// Name of the activity.
        activity: String,
    },
    /// An option outside its range.
    #[error("{option} is {value}; it must be {must}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The value that was given.
        value: f64,
        /// What the value must be, in words.
        must: &'static str,
    },
}
