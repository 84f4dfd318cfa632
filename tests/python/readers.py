"""QUEUE TRACE: polars and DuckDB read tables, and a log of polars is read."""

import sys

import duckdb
import polars
import pyarrow

import flowmine_hpc as fm

for path in sys.argv[1:]:
    for name, table in fm.open(path).tables.items():
        arrow = pyarrow.table(table)
        frame = polars.DataFrame(table)
        assert frame.columns == list(table.columns) and frame.height == len(table), name
        assert frame.equals(table.to_polars()) and frame.equals(polars.DataFrame(arrow)), name
        column = table.columns[0]
        chosen = table.select(column)
        counted = duckdb.sql(f'select count(*), count("{column}") from chosen').fetchall()
        assert counted == [(len(table), len(table) - arrow.column(column).null_count)], name

log = polars.DataFrame(
    {"case": ["a", "a", "b"], "activity": ["x", "y", "x"], "timestamp": ["2026-11-20T10:00", "2026-11-20T11:00", "2026-11-21T10:00"]}
)
assert fm.dfg(log).to_pm4py() == ({("x", "y"): 1}, {"x": 2}, {"x": 1, "y": 1})
