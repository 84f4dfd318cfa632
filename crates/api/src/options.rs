//! Options as data: every caller (command line, server, scripts) builds its own form of them, and
//! their values are read in one place.

pub mod parse;
mod values;

pub use values::{Value, Values};

/// An option of a model, or of a group of options that several models share.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// The name, without the dashes of a command line.
    pub name: &'static str,
    /// Another name.
    pub alias: Option<&'static str>,
    /// The word for the value in help; empty for a switch.
    pub value_name: &'static str,
    /// What it does, in a sentence or a noun phrase.
    pub help: &'static str,
    /// More about it, where a reader asks for more.
    pub details: &'static str,
    /// The values of a registry, as the end of the details.
    pub listed: Option<fn() -> String>,
    /// The type of its values.
    pub kind: Kind,
    /// The value without the option, as text.
    pub default: Option<&'static str>,
    /// How many values it takes.
    pub many: Many,
    /// Whether short help leaves it out.
    pub is_rare: bool,
}

/// The type of an option's values.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A switch.
    Flag,
    /// One of several names, see [`Choice`].
    Choice(fn() -> Vec<(&'static str, &'static str)>),
    /// Any text.
    Text,
    /// A text that the function takes, or it says why it does not; next to it one that it takes.
    Checked(&'static str, fn(&str) -> Result<(), String>),
    /// A finite number between two bounds.
    Number(f64, f64),
    /// A whole number, zero or more.
    Count,
    /// The number of a process.
    Pid,
    /// A percentage, 0 to 100; its value is the share, 0 to 1.
    Percent,
    /// A length of time such as 90s or 15m.
    Length,
    /// A moment such as 2026-11-20T13:00, or how long ago it was.
    Moment,
    /// A condition on an attribute, `KEY=VALUE` or `KEY>=NUMBER`.
    Condition,
    /// Two activities, `A=>B`.
    Path,
    /// A file or directory.
    Place,
}

/// How many values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    /// One.
    One,
    /// One each time it is given.
    Repeated,
    /// Several with commas between them.
    List,
}

/// A type whose values are names of an option.
pub trait Choice: Copy + PartialEq + 'static {
    /// Each name, what it means, and its value.
    const VALUES: &'static [(&'static str, &'static str, Self)];

    /// Returns each name and what it means.
    fn names() -> Vec<(&'static str, &'static str)> {
        Self::VALUES.iter().map(|(name, meaning, _)| (*name, *meaning)).collect()
    }

    /// Returns the value with this name.
    fn named(name: &str) -> Option<Self> {
        Self::VALUES.iter().find(|(known, ..)| *known == name).map(|(.., value)| *value)
    }

    /// Returns the name of a value.
    fn name(self) -> &'static str {
        Self::VALUES.iter().find(|(.., value)| *value == self).map_or("", |(name, ..)| name)
    }
}

impl OptionSpec {
    /// Makes an option that takes one value.
    pub const fn new(name: &'static str, value_name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, alias: None, value_name, help, details: "", listed: None, kind, default: None, many: Many::One, is_rare: false }
    }

    /// Makes a switch.
    pub const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, "", Kind::Flag, help)
    }

    /// Makes an option that takes one of the names of a type.
    pub const fn choice<T: Choice>(name: &'static str, value_name: &'static str, help: &'static str) -> Self {
        Self::new(name, value_name, Kind::Choice(T::names), help)
    }

    /// Makes an option that takes any text.
    pub const fn text(name: &'static str, value_name: &'static str, help: &'static str) -> Self {
        Self::new(name, value_name, Kind::Text, help)
    }

    /// Adds the value without the option.
    pub const fn by_default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Adds what help says where more is asked for.
    pub const fn details(self, details: &'static str) -> Self {
        Self { details, ..self }
    }

    /// Adds the values of a registry, in sentences without the last full stop, to the details.
    pub const fn listed(self, listed: fn() -> String) -> Self {
        Self { listed: Some(listed), ..self }
    }

    /// Returns the details with the values of the registry.
    pub fn all_details(&self) -> String {
        let listed = self.listed.map(|listed| listed()).unwrap_or_default();
        let between = if self.details.is_empty() || listed.is_empty() { "" } else { ". " };
        format!("{}{between}{listed}", self.details)
    }

    /// Adds another name.
    pub const fn alias(self, alias: &'static str) -> Self {
        Self { alias: Some(alias), ..self }
    }

    /// Leaves the option out of short help.
    pub const fn rare(self) -> Self {
        Self { is_rare: true, ..self }
    }

    /// Lets the option be given more than once.
    pub const fn repeated(self) -> Self {
        Self { many: Many::Repeated, ..self }
    }

    /// Lets the option take values with commas between them.
    pub const fn list(self) -> Self {
        Self { many: Many::List, ..self }
    }
}

/// Options that belong together and are the same for all that take them.
#[derive(Debug)]
pub struct Group {
    /// Heading in help.
    pub heading: &'static str,
    /// The options.
    pub options: &'static [OptionSpec],
}
