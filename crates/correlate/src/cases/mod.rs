//! Case notions: which attempts belong together.
//!
//! In go jobs; out comes, for a notion, one case for each attempt. A new notion is a new file with an implementation of
//! [`CaseNotion`] and one line in [`ALL`].
//!
//! A case id begins with the notion's name and a colon, so that it never equals a job id. Names in it are escaped by
//! [`escape`], so that two different things never get the same id.

mod account_group;
mod dependency;
mod notion;

pub use account_group::AccountGroup;
pub use dependency::Dependency;
pub use flowmine_schema::text::ids::escape;
pub use notion::{Assignment, CaseNotion};

/// Every notion.
pub static ALL: &[&dyn CaseNotion] = &[&Dependency, &AccountGroup];

/// The notion of that name.
pub fn find(name: &str) -> Option<&'static dyn CaseNotion> {
    ALL.iter().copied().find(|notion| notion.name() == name)
}
