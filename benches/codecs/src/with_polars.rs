//! By polars' lazy engine.

use std::path::Path;

use polars::prelude::*;

use crate::{Answer, Outcome, STATE};

/// See the front page.
pub fn answer(dataset: &Path, question: &str, after: i64) -> Outcome<Answer> {
    let files = dataset.join("job_states").join("*.parquet");
    let frame = LazyFrame::scan_parquet(PlRefPath::new(files.to_str().ok_or("a path that is no text")?), ScanArgsParquet::default())?;
    let frame = match question {
        "sum" => frame.select([len().alias("rows"), col("job_id").sum().alias("a"), col("observed_at_ns").sum().alias("b")]),
        "filter" => frame.filter(col("state").eq(lit(STATE)).and(col("observed_at_ns").gt(lit(after)))).select([
            len().alias("rows"),
            col("observed_at_ns").sum().alias("a"),
            lit(0_i64).alias("b"),
        ]),
        "group" => frame
            .group_by([col("cluster"), col("job"), col("submit_ns")])
            .agg([len().alias("count"), (col("observed_at_ns").max() - col("observed_at_ns").min()).alias("seen")])
            .select([len().alias("rows"), col("count").max().alias("a"), col("seen").sum().alias("b")]),
        _ => {
            // All columns are read; an aggregate of each would be pushed into the scan as a selection.
            let frame = frame.collect()?;
            let bytes =
                |name: &str| -> PolarsResult<i64> { Ok(frame.column(name)?.str()?.iter().flatten().map(str::len).sum::<usize>() as i64) };
            let times = frame.column("observed_at_ns")?.i64()?.iter().flatten().fold(0_i64, i64::wrapping_add);
            return Ok([frame.height() as i64, times, bytes("job")? + bytes("name")?]);
        }
    };
    let frame = frame.collect_with_engine(Engine::Streaming)?.unwrap_single();
    let number = |name: &str| -> PolarsResult<i64> { Ok(frame.column(name)?.cast(&DataType::Int64)?.i64()?.get(0).unwrap_or_default()) };
    Ok([number("rows")?, number("a")?, number("b")?])
}
