//! Airflow.

use flowmine_extract_workflow::airflow;

use super::engine;
use super::log::SQLITE;
use crate::{Answer, Kind, Reading, Sample, Seen};

/// Logs and databases of Airflow.
pub const KIND: Kind = Kind {
    name: "airflow",
    title: "Airflow",
    reads: "task logs, the scheduler's log, `airflow.db`, `postgresql://USER@HOST/DATABASE`; the directory of logs",
    reading: Reading::Tasks(&airflow::Airflow),
    extensions: &[],
    looks_at: |_| true,
    recognise,
};

fn recognise(sample: &Sample) -> Answer {
    if !sample.head().starts_with(SQLITE) {
        return engine::answer(&airflow::Airflow, sample);
    }
    match airflow::is_database(sample.path()) {
        Ok(true) => Answer::Yes(Seen::new("Airflow database (SQLite)", "has tables of tasks")),
        Ok(false) => Answer::No,
        Err(advice) => Answer::NotRead { what: "an SQLite database".to_owned(), advice },
    }
}
