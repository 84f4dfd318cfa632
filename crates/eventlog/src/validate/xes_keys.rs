//! The keys of the standard extensions of XES (IEEE 1849-2016, section 5; the extension definitions
//! of xes-standard.org): which type they have and where they stand.

/// The element that carries an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Date,
    Int,
    Float,
    Boolean,
    Id,
    List,
    Container,
}

impl Kind {
    pub(super) fn new(element: &str) -> Option<Self> {
        Some(match element {
            "string" => Self::String,
            "date" => Self::Date,
            "int" => Self::Int,
            "float" => Self::Float,
            "boolean" => Self::Boolean,
            "id" => Self::Id,
            "list" => Self::List,
            "container" => Self::Container,
            _ => return None,
        })
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Date => "date",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Id => "id",
            Self::List => "list",
            Self::Container => "container",
        }
    }
}

/// Where an attribute stands: on the log, a trace, an event or another attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Log,
    Trace,
    Event,
    /// On another attribute, as a nested one.
    Meta,
}

impl Level {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Trace => "trace",
            Self::Event => "event",
            Self::Meta => "attribute",
        }
    }
}

/// Prefixes and URIs of the standard extensions.
pub(super) const EXTENSIONS: [(&str, &str); 8] = [
    ("concept", "http://www.xes-standard.org/concept.xesext"),
    ("cost", "http://www.xes-standard.org/cost.xesext"),
    ("identity", "http://www.xes-standard.org/identity.xesext"),
    ("lifecycle", "http://www.xes-standard.org/lifecycle.xesext"),
    ("micro", "http://www.xes-standard.org/micro.xesext"),
    ("org", "http://www.xes-standard.org/org.xesext"),
    ("semantic", "http://www.xes-standard.org/semantic.xesext"),
    ("time", "http://www.xes-standard.org/time.xesext"),
];

/// A key of a standard extension.
pub(super) struct StandardKey {
    /// The first is what the standard says, others are older forms of it.
    pub(super) kinds: &'static [Kind],
    pub(super) levels: &'static [Level],
}

const EVERYWHERE: &[Level] = &[Level::Log, Level::Trace, Level::Event, Level::Meta];

/// What the standard says of a key; `None` for keys of its extensions that it does not have.
pub(super) fn standard_key(key: &str) -> Option<StandardKey> {
    use Level::{Event, Log, Meta, Trace};
    let (kinds, levels): (&'static [Kind], &'static [Level]) = match key {
        "concept:name" => (&[Kind::String], &[Log, Trace, Event]),
        "concept:instance" | "lifecycle:transition" | "lifecycle:state" => (&[Kind::String], &[Event]),
        "lifecycle:model" => (&[Kind::String], &[Log, Trace]),
        "org:resource" | "org:role" | "org:group" => (&[Kind::String], &[Event]),
        "time:timestamp" => (&[Kind::Date], &[Event]),
        "identity:id" => (&[Kind::Id], EVERYWHERE),
        "semantic:modelReference" => (&[Kind::String], EVERYWHERE),
        "cost:total" => (&[Kind::Float], &[Trace, Event]),
        "cost:currency" => (&[Kind::String], &[Trace, Event]),
        "cost:drivers" => (&[Kind::List], &[Trace, Event]),
        "cost:amount" => (&[Kind::Float], &[Meta]),
        "cost:driver" | "cost:type" => (&[Kind::String], &[Meta]),
        "micro:level" | "micro:length" => (&[Kind::Int], &[Event]),
        "micro:parentId" => (&[Kind::Id, Kind::String], &[Event]),
        _ => return None,
    };
    Some(StandardKey { kinds, levels })
}

/// The transitions of the standard lifecycle model.
pub(super) const TRANSITIONS: [&str; 13] = [
    "schedule",
    "assign",
    "withdraw",
    "reassign",
    "start",
    "suspend",
    "resume",
    "pi_abort",
    "ate_abort",
    "complete",
    "autoskip",
    "manualskip",
    "unknown",
];
