//! Which part of a log a model is made of.

use super::Grouped;
use crate::options::{Group, Kind, OptionSpec, Values};

/// Which part of a log a model is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    /// Only these activities; `*` stands for any text.
    pub only_activity: Vec<String>,
    /// Not these activities.
    pub without_activity: Vec<String>,
    /// Only the cases with these names.
    pub case: Vec<String>,
    /// Only cases in which the second activity comes directly after the first.
    pub path: Vec<(String, String)>,
    /// Only cases of the most frequent variants, at most this number.
    pub top_variants: Option<usize>,
    /// Only cases of the most frequent variants that together cover this share of cases.
    pub variant_coverage: Option<f64>,
    /// Only instances with one of these values of an attribute.
    pub instances_where: Vec<(String, String)>,
    /// Only cases with one of these values of an attribute.
    pub cases_where: Vec<(String, String)>,
}

/// `--only-activity`.
pub const ONLY_ACTIVITY: OptionSpec = OptionSpec::text("only-activity", "NAME", "Only this activity; * stands for any text")
    .details("May be given more than once")
    .repeated();
/// `--without-activity`.
pub const WITHOUT_ACTIVITY: OptionSpec =
    OptionSpec::text("without-activity", "NAME", "Not this activity; may be given more than once").repeated();
/// `--case`.
pub const CASE: OptionSpec = OptionSpec::text("case", "NAME", "Only the case with this name; may be given more than once").repeated();

impl Grouped for Part {
    const GROUP: &'static Group = &Group {
        heading: "Filters by activity, path, variant, attribute",
        options: &[
            ONLY_ACTIVITY,
            WITHOUT_ACTIVITY,
            CASE,
            OptionSpec::new("path", "A=>B", Kind::Path, "Only cases in which B comes directly after A")
                .details("For example align=>merge; may be given more than once")
                .repeated(),
            OptionSpec::new("top-variants", "N", Kind::Count, "Only cases of the N most frequent variants"),
            OptionSpec::new("variant-coverage", "PERCENT", Kind::Percent, "Only cases of the most frequent variants up to this share"),
            OptionSpec::new("where", "KEY=VALUE", Kind::Attribute, "Only events, tasks or jobs with this value of an attribute")
                .details("Several values of one attribute are alternatives")
                .repeated(),
            OptionSpec::new("cases-where", "KEY=VALUE", Kind::Attribute, "Only cases with this value of an attribute")
                .details("The case or one of its events has it; attributes of traces have `case:` before their key")
                .repeated(),
        ],
    };

    fn read(values: &Values) -> Self {
        Self {
            only_activity: values.texts("only-activity"),
            without_activity: values.texts("without-activity"),
            case: values.texts("case"),
            path: values.pairs("path"),
            top_variants: values.count("top-variants").map(|n| n as usize),
            variant_coverage: values.number("variant-coverage"),
            instances_where: values.pairs("where"),
            cases_where: values.pairs("cases-where"),
        }
    }
}
