//! Airflow.

use std::path::Path;

use flowmine_extract_workflow::airflow;

use super::engine;
use super::log::SQLITE;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Logs and databases of Airflow.
pub struct Airflow;

impl Kind for Airflow {
    fn name(&self) -> &'static str {
        "airflow"
    }

    fn title(&self) -> &'static str {
        "Airflow"
    }

    fn reads(&self) -> &'static str {
        "task logs, the scheduler's log, `airflow.db`, `postgresql://USER@HOST/DATABASE`; the directory of logs"
    }

    fn reading(&self) -> Reading {
        Reading::Tasks(&airflow::Airflow)
    }

    fn looks_at(&self, _below: &Path) -> bool {
        true
    }

    fn recognise(&self, sample: &Sample) -> Answer {
        if !sample.head().starts_with(SQLITE) {
            return engine::answer(&airflow::Airflow, sample);
        }
        match airflow::is_database(sample.path()) {
            Ok(true) => Answer::Yes(Seen::new("Airflow database (SQLite)", "has tables of tasks")),
            Ok(false) => Answer::No,
            Err(advice) => Answer::NotRead { what: "an SQLite database".to_owned(), advice },
        }
    }
}
