//! The registry of models, as Python's side reads it.

use flowmine_api::models::{MODELS, find};
use flowmine_api::options::{Choice, Kind, Many, OptionSpec};
use pyo3::prelude::*;

/// All models: name, question, formats with the usual one first.
#[pyfunction]
pub fn models() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let abouts = MODELS.iter().map(|model| model.about());
    abouts.map(|about| (about.name, about.question, about.formats.iter().map(|format| format.name()).collect())).collect()
}

/// An option: name, another name, kind, and whether it takes several values.
type Described = (&'static str, Option<&'static str>, &'static str, bool);

/// The options of a model. Nothing where there is no such model.
#[pyfunction]
pub fn options(model: &str) -> Option<Vec<Described>> {
    let of = |option: &OptionSpec| (option.name, option.alias, kind(option.kind), option.many != Many::One);
    find(model).map(|model| model.about().options().into_iter().map(of).collect())
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "flag",
        Kind::Choice(_) => "choice",
        Kind::Text | Kind::Checked(..) => "text",
        Kind::Number(..) => "number",
        Kind::Count => "count",
        Kind::Pid => "pid",
        Kind::Percent => "percent",
        Kind::Length => "length",
        Kind::Moment => "moment",
        Kind::Condition => "condition",
        Kind::Path => "path",
        Kind::Place => "place",
    }
}
