//! A request for a model, with all options read.

use std::ffi::OsStr;
use std::path::Path;

use crate::endings::format_of;
use crate::error::{Result, refuse};
use crate::format::Format;
use crate::found::Found;
use crate::groups::{CaseOptions, Drawing, EventFilter, Grouped, Part, TableColumns};
use crate::log_memory::Remembered;
use crate::models::{self, Model, RUN};
use crate::options::{Choice, Values};
use crate::sink::Sink;
use crate::source::SourcePaths;

/// A request for a model: what is read, which part of it, and how the model is made.
#[derive(Clone)]
pub struct Request {
    /// The model.
    pub model: &'static dyn Model,
    /// The dataset or log files.
    pub source: SourcePaths,
    /// The format for which the model is made.
    pub format: Format,
    /// The run of a workflow engine.
    pub run: Option<String>,
    /// What a case, an event and an activity are.
    pub cases: CaseOptions,
    /// Which events are read.
    pub filter: EventFilter,
    /// Which part of the log the model is made of.
    pub part: Part,
    /// Which columns of a table hold what.
    pub columns: TableColumns,
    /// How figures are drawn.
    pub drawing: Drawing,
    /// All options of the model, its own among them.
    pub values: Values,
    /// The logs that are kept in memory; `None` for a caller that makes one model.
    pub remembered: Option<Remembered>,
}

impl Request {
    /// Reads a request for the model of that name: its options by name, as text. Without a format
    /// it is the usual one of the model.
    ///
    /// # Errors
    /// When there is no such model, when the model has no such option or format, or a text is no
    /// value of an option.
    pub fn read<'a, T: AsRef<OsStr>>(
        model: &str,
        source: SourcePaths,
        format: Option<Format>,
        given: impl IntoIterator<Item = (&'a str, T)>,
    ) -> Result<Self> {
        let Some(model) = models::find(model) else {
            let names: Vec<_> = models::MODELS.iter().map(|model| model.about().name).collect();
            refuse!("there is no model {model:?}; there are: {}", names.join(", "))
        };
        let about = model.about();
        let format = format.or(about.formats.first().copied()).unwrap_or(Format::Json);
        if !about.formats.contains(&format) {
            let list: Vec<_> = about.formats.iter().map(|format| format.name()).collect();
            refuse!("the model {} is not written as {}; it is written as {}", about.name, format.name(), list.join(", "));
        }
        let given: Vec<(&str, T)> = given.into_iter().collect();
        let options = about.options();
        let takes = |name: &str| options.iter().any(|option| option.name == name || option.alias == Some(name));
        if let Some((unknown, _)) = given.iter().find(|(name, _)| !takes(name)) {
            let others = models::with_option(unknown).map(|others| format!("; {others}")).unwrap_or_default();
            refuse!("the model {} has no option --{unknown}{others}", about.name)
        }
        let values = Values::read(options, given)?;
        Ok(Self {
            model,
            source,
            format,
            run: values.text(RUN.options[0].name),
            cases: CaseOptions::read(&values),
            filter: EventFilter::read(&values),
            part: Part::read(&values),
            columns: TableColumns::read(&values),
            drawing: Drawing::read(&values),
            values,
            remembered: None,
        })
    }

    /// Returns the format of a result: the given one, or what the ending of its name stands for.
    ///
    /// # Errors
    /// When the ending stands for none.
    pub fn format_of(model: &dyn Model, given: Option<Format>, file: Option<&Path>) -> Result<Option<Format>> {
        format_of(given, file, &Format::ENDINGS, |format| model.about().formats.contains(&format))
    }
}

/// Discovers the model of a request.
///
/// # Errors
/// When the source cannot be read, or the model cannot be made of it.
pub fn discover(request: &Request, sink: &dyn Sink) -> Result<Found> {
    request.model.discover(request, sink)
}
