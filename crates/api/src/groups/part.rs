//! Which part of a log a model is made of.

use flowmine_activity_log::{Filter, TimeFrame};

use super::Grouped;
use crate::options::{Choice, Group, Kind, OptionSpec, Values};

/// Which part of a log a model is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// The filter, without the times of the shared group.
    pub filter: Filter,
    /// Only relations of events to objects with one of these qualifiers.
    pub qualifiers: Vec<String>,
}

impl Part {
    /// Whether the whole log is wanted.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }
}

impl Choice for TimeFrame {
    const VALUES: &'static [(&'static str, &'static str, Self)] = &[
        ("trimmed", "Only the events within are left of a case", Self::Trimmed),
        ("contained", "Only cases that lie within", Self::Contained),
        ("intersecting", "Whole cases of which a part lies within", Self::Intersecting),
    ];
}

/// `--only-activity`.
pub const ONLY_ACTIVITY: OptionSpec =
    OptionSpec::text("only-activity", "NAME", "Only this activity; * matches any text").details("May be given more than once").repeated();
/// `--without-activity`.
pub const WITHOUT_ACTIVITY: OptionSpec =
    OptionSpec::text("without-activity", "NAME", "Not this activity; may be given more than once").repeated();
/// `--case`.
pub const CASE: OptionSpec = OptionSpec::text("case", "NAME", "Only the case with this name; may be given more than once").repeated();

impl Grouped for Part {
    const GROUP: &'static Group = &Group {
        heading: "Filters by activity, path, variant, attribute",
        options: &[
            OptionSpec::choice::<TimeFrame>("time-frame", "CASES", "What --from and --to do with cases that reach beyond them")
                .by_default("trimmed")
                .rare(),
            ONLY_ACTIVITY,
            WITHOUT_ACTIVITY,
            CASE,
            OptionSpec::new("path", "A=>B", Kind::Path, "Only cases in which B comes directly after A")
                .details("For example align=>merge; may be given more than once")
                .repeated(),
            OptionSpec::new("eventually", "A=>B", Kind::Path, "Only cases in which B comes some time after A").repeated().rare(),
            OptionSpec::new("between", "A=>B", Kind::Path, "Only cases with A and B, and of these the part from A to the next B").rare(),
            OptionSpec::text("starts-with", "NAME", "Only cases that begin with this activity; several are alternatives").repeated().rare(),
            OptionSpec::text("ends-with", "NAME", "Only cases that end with this activity; several are alternatives").repeated().rare(),
            OptionSpec::text("rework", "NAME", "Only cases in which this activity comes at least twice").repeated().rare(),
            OptionSpec::new("min-duration", "LENGTH", Kind::Length, "Only cases that take at least this long, such as 90s, 2h, 3d").rare(),
            OptionSpec::new("max-duration", "LENGTH", Kind::Length, "Only cases that take at most this long").rare(),
            OptionSpec::new("min-size", "N", Kind::Count, "Only cases of at least N activity instances").rare(),
            OptionSpec::new("max-size", "N", Kind::Count, "Only cases of at most N activity instances").rare(),
            OptionSpec::new("top-variants", "N", Kind::Count, "Only cases of the N most frequent variants"),
            OptionSpec::new("variant-coverage", "PERCENT", Kind::Percent, "Only cases of the most frequent variants up to this share"),
            OptionSpec::new("where", "CONDITION", Kind::Condition, "Only events, tasks or jobs whose attribute fits")
                .details("KEY=VALUE, or !=, <, <=, >, >= with a number. Several values of one attribute are alternatives")
                .repeated(),
            OptionSpec::new("cases-where", "CONDITION", Kind::Condition, "Only cases whose attribute fits, as with --where")
                .details("The case or one of its events has it; attributes of traces have `case:` before their key")
                .repeated(),
            OptionSpec::text("qualifier", "NAME", "Only relations of events to objects with this qualifier; several are alternatives")
                .repeated()
                .rare(),
        ],
    };

    fn read(values: &Values) -> Self {
        let count = |name| values.count(name).map(|n| n as usize);
        Self {
            filter: Filter {
                frame: values.choice("time-frame").unwrap_or_default(),
                activities: values.texts("only-activity"),
                without_activities: values.texts("without-activity"),
                case_names: values.texts("case"),
                paths: values.pairs("path"),
                eventually: values.pairs("eventually"),
                between: values.pairs("between").into_iter().next(),
                starts_with: values.texts("starts-with"),
                ends_with: values.texts("ends-with"),
                rework: values.texts("rework"),
                min_duration_ns: values.length_ns("min-duration"),
                max_duration_ns: values.length_ns("max-duration"),
                min_size: count("min-size"),
                max_size: count("max-size"),
                top_variants: count("top-variants"),
                variant_coverage: values.number("variant-coverage"),
                instances_where: values.conditions("where"),
                cases_where: values.conditions("cases-where"),
                ..Filter::default()
            },
            qualifiers: values.texts("qualifier"),
        }
    }
}
