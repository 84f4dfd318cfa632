//! By arrow-rs.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::own::Groups;
use crate::{Answer, Outcome, STATE};

/// As many rows as flowmine has in memory at once.
const BATCH_ROWS: usize = 1 << 15;

/// See the front page.
pub fn answer(dataset: &Path, question: &str, after: i64) -> Outcome<Answer> {
    let mut answer = [0_i64; 3];
    let [rows, a, b] = &mut answer;
    match question {
        "sum" => each(dataset, Some(&["job_id", "observed_at_ns"]), |batch| {
            *rows += batch.num_rows() as i64;
            *a += numbers(batch, "job_id")?.values().iter().sum::<i64>();
            *b = numbers(batch, "observed_at_ns")?.values().iter().fold(*b, |sum, value| sum.wrapping_add(*value));
            Ok(())
        })?,
        "filter" => each(dataset, Some(&["state", "observed_at_ns"]), |batch| {
            let (states, times) = (texts(batch, "state")?, numbers(batch, "observed_at_ns")?);
            for (state, &time) in states.iter().zip(times.values()) {
                if state == Some(STATE) && time > after {
                    *rows += 1;
                    *a = a.wrapping_add(time);
                }
            }
            Ok(())
        })?,
        "group" => {
            let mut groups = Groups::default();
            each(dataset, Some(&["cluster", "job", "submit_ns", "observed_at_ns"]), |batch| {
                let (clusters, jobs) = (texts(batch, "cluster")?, texts(batch, "job")?);
                let (submitted, times) = (numbers(batch, "submit_ns")?, numbers(batch, "observed_at_ns")?);
                for at in 0..batch.num_rows() {
                    let submit_ns = submitted.is_valid(at).then(|| submitted.value(at));
                    groups.add(clusters.value(at), jobs.value(at), submit_ns, times.value(at));
                }
                Ok(())
            })?;
            return Ok(groups.answer());
        }
        _ => each(dataset, None, |batch| {
            *rows += batch.num_rows() as i64;
            *a = numbers(batch, "observed_at_ns")?.values().iter().fold(*a, |sum, value| sum.wrapping_add(*value));
            *b += [texts(batch, "job")?, texts(batch, "name")?].iter().flat_map(|texts| texts.iter()).flatten().map(str::len).sum::<usize>()
                as i64;
            Ok(())
        })?,
    }
    Ok(answer)
}

fn numbers<'b>(batch: &'b RecordBatch, name: &str) -> Outcome<&'b arrow_array::Int64Array> {
    Ok(batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<Int64Type>()).ok_or(format!("no column {name}"))?)
}

fn texts<'b>(batch: &'b RecordBatch, name: &str) -> Outcome<&'b arrow_array::StringArray> {
    Ok(batch.column_by_name(name).and_then(|column| column.as_string_opt::<i32>()).ok_or(format!("no column {name}"))?)
}

fn each(dataset: &Path, columns: Option<&[&str]>, mut take: impl FnMut(&RecordBatch) -> Outcome<()>) -> Outcome<()> {
    for file in files(dataset)? {
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(File::open(file)?)?.with_batch_size(BATCH_ROWS);
        if let Some(columns) = columns {
            let mask = ProjectionMask::columns(reader.parquet_schema(), columns.iter().copied());
            reader = reader.with_projection(mask);
        }
        for batch in reader.build()? {
            take(&batch?)?;
        }
    }
    Ok(())
}

/// The files of `job_states`, in order.
fn files(dataset: &Path) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dataset.join("job_states"))? {
        files.push(entry?.path());
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "parquet"));
    files.sort();
    Ok(files)
}
