//! What raw rows reveal of people and sites, and how they reveal less.
//!
//! The input is rows of a dataset's tables and [`RowRules`]. The output is the same rows with codes
//! in the place of names ([`Pseudonymiser`]) and without unwanted columns ([`DropColumns`]). This
//! is done to rows before anything is derived of them, so that no id, case, activity or figure can
//! show a name that another hides. What a column can reveal of somebody is declared where the
//! column is ([`flowmine_schema::Private`], `droppable`); without rules rows come out as they are,
//! at no cost.
//!
//! A code is made of the name and a key (HMAC-SHA-256). It is the same in every table, file and run
//! with that key, and says nothing without it. Ids, times, counts and sizes stay.
//!
//! ```
//! use flowmine_privacy::{DropColumns, Pseudonymiser, RowRules};
//! use flowmine_schema::tables::JobState;
//!
//! let key = tempfile::NamedTempFile::new()?;
//! std::fs::write(key.path(), b"32 bytes that nobody else knows.")?;
//! let (pseudonymiser, _warning) = Pseudonymiser::from_key_file(key.path())?;
//! let rules = RowRules {
//!     pseudonymiser: Some(pseudonymiser.clone()),
//!     drop: DropColumns::parse(["comment"])?,
//! };
//!
//! let (user, comment) = (Some("ann".into()), Some("for the grant".into()));
//! let row = rules.apply(JobState { job: "7".into(), user, comment, ..JobState::default() });
//! assert_eq!(row.job, "7");
//! assert_eq!(row.comment, None);
//! assert!(row.user.as_deref().is_some_and(|code| code.starts_with("user-")));
//! // Who has the key finds what a name became.
//! assert_eq!(row.user.as_deref(), Some(&*pseudonymiser.user("ann")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Errors.** A [`PseudonymError`] names the key's file: it cannot be read, is too short, or is no
//! key (the same byte over and over). A [`drop::DropError`] names the column that there is not,
//! with the one that is most like it, or that rows cannot do without.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod drop;
pub mod pseudonym;
pub mod row_rules;

pub use drop::DropColumns;
pub use pseudonym::{PseudonymError, Pseudonymiser};
pub use row_rules::RowRules;
