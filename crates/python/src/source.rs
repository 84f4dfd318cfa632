//! Sources that were recognised and opened.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use flowmine_api::SourcePaths;
use flowmine_api::recognised::{self, Data, Opened};
use pyo3::prelude::*;

use crate::call::{Reply, call};

/// An opened source: a dataset, a temporary one, or log files.
#[pyclass(frozen, module = "flowmine_hpc._native")]
pub struct Source {
    /// The paths for requests.
    pub paths: SourcePaths,
    #[pyo3(get)]
    is_lossy: bool,
    #[pyo3(get)]
    is_temporary: bool,
    /// What was opened, with the process that did: a fork must not remove its parent's files.
    opened: Mutex<Option<Opened>>,
    process: u32,
}

impl Source {
    fn new(opened: Opened, given: Vec<PathBuf>) -> Self {
        let paths = match &opened.data {
            Data::Dataset(dir) => SourcePaths { dataset: Some(dir.clone()), given, ..SourcePaths::default() },
            Data::Temporary(dir) => SourcePaths { dataset: Some(dir.path().to_owned()), given, ..SourcePaths::default() },
            Data::Logs(files) => SourcePaths { logs: files.clone(), given, ..SourcePaths::default() },
        };
        let is_temporary = matches!(opened.data, Data::Temporary(_));
        Self { paths, is_lossy: opened.is_lossy, is_temporary, opened: Mutex::new(Some(opened)), process: std::process::id() }
    }
}

#[pymethods]
impl Source {
    /// The directory of the dataset.
    #[getter]
    fn dataset(&self) -> Option<PathBuf> {
        self.paths.dataset.clone()
    }

    /// The log files.
    #[getter]
    fn logs(&self) -> Vec<PathBuf> {
        self.paths.logs.clone()
    }

    /// The paths that were given.
    #[getter]
    fn given(&self) -> Vec<PathBuf> {
        self.paths.given.clone()
    }

    /// Removes a temporary dataset.
    fn close(&self) {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
        if self.process != std::process::id() {
            std::mem::forget(opened);
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.close();
    }
}

/// Recognises paths and opens what they name.
#[pyfunction]
#[pyo3(signature = (paths, progress = None))]
pub fn open(py: Python<'_>, paths: Vec<PathBuf>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<Reply> {
    let work = move |sink: &dyn flowmine_api::Sink| {
        let opened = recognised::open(&paths, sink, &mut |_| {})?;
        Ok(Source::new(opened, paths))
    };
    call(py, progress, work, |py, source| Ok(Py::new(py, source)?.into_any()))
}
