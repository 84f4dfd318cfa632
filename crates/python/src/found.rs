//! Models.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flowmine_api::options::Choice;
use flowmine_api::{Error, Format, Request, inputs, output};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::call::{Reply, call};
use crate::source::Source;

/// One result is written at a time: the library knows the inputs of a process, and not of a call.
static WRITING: Mutex<()> = Mutex::new(());

/// A discovered model.
#[pyclass(frozen, module = "flowmine_hpc._native")]
pub struct Found {
    found: Arc<flowmine_api::Found>,
    /// What it was made of.
    given: Vec<PathBuf>,
}

#[pymethods]
impl Found {
    /// The name of the model.
    #[getter]
    fn model(&self) -> &'static str {
        self.found.model
    }

    /// The formats in which this result can be written.
    #[getter]
    fn formats(&self) -> Vec<&'static str> {
        self.found.formats.iter().map(|format| format.name()).collect()
    }

    /// Whether the source or the trace lost something.
    #[getter]
    fn is_lossy(&self) -> bool {
        self.found.is_lossy
    }

    /// The result in a format, as bytes.
    fn bytes(&self, py: Python<'_>, format: String) -> PyResult<Reply> {
        let found = Arc::clone(&self.found);
        let work = move |_: &dyn flowmine_api::Sink| {
            let mut bytes = Vec::new();
            found.write(named(&format)?, &mut bytes)?;
            Ok(bytes)
        };
        call(py, None, work, |py, bytes| Ok(PyBytes::new(py, &bytes).into_any().unbind()))
    }

    /// Writes the result into a file, which appears when it is complete.
    fn save(&self, py: Python<'_>, path: PathBuf, format: String) -> PyResult<Reply> {
        let (found, given) = (Arc::clone(&self.found), self.given.clone());
        let work = move |_: &dyn flowmine_api::Sink| {
            let format = named(&format)?;
            let _one = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            inputs::only(given.iter().map(PathBuf::as_path));
            output::write(Some(&path), |out| found.write(format, out))
        };
        call(py, None, work, |py, ()| Ok(py.None()))
    }
}

fn named(format: &str) -> Result<Format, Error> {
    Format::named(format).ok_or_else(|| Error::Refused(format!("there is no format {format:?}")))
}

/// Discovers a model of a source. Options are given by name, as text.
#[pyfunction]
#[pyo3(signature = (model, source, options, format, progress = None))]
pub fn discover(
    py: Python<'_>,
    model: String,
    source: &Source,
    options: Vec<(String, OsString)>,
    format: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Reply> {
    let paths = source.paths.clone();
    let given: Vec<PathBuf> = paths.names().cloned().collect();
    let work = move |sink: &dyn flowmine_api::Sink| {
        let format = format.as_deref().map(named).transpose()?;
        let given = options.iter().map(|(name, value)| (name.as_str(), value));
        flowmine_api::discover(&Request::read(&model, paths, format, given)?, sink)
    };
    call(py, progress, work, |py, found| Ok(Py::new(py, Found { found: Arc::new(found), given })?.into_any()))
}

/// The format that the ending of a file's name stands for.
///
/// # Errors
/// When it stands for none that the model has.
#[pyfunction]
pub fn format_of(model: &str, path: PathBuf) -> PyResult<Option<&'static str>> {
    let wrong = |error: Error| pyo3::exceptions::PyValueError::new_err(flowmine_api::chain(&error));
    let Some(model) = flowmine_api::models::find(model) else { return Ok(None) };
    Ok(Request::format_of(model, None, Some(Path::new(&path))).map_err(wrong)?.map(Choice::name))
}
