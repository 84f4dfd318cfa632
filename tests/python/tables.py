"""DATASET TRACE: tables are what pyarrow reads of the same files, whoever reads them."""

import pathlib
import sys

import pyarrow
import pyarrow.parquet

import flowmine_hpc as fm


def files(dataset, table):
    """The files of a table by host, day and number, as docs/dataset.md describes them."""
    return sorted(pathlib.Path(dataset, table).rglob("part-*.parquet"))


def read(dataset, table):
    parts = []
    for file in files(dataset, table):
        part = pyarrow.parquet.ParquetFile(file).read()
        hosts = [step[len("host=") :] for step in file.parts if step.startswith("host=")]
        if hosts and "host" not in part.column_names:
            part = part.append_column("host", pyarrow.array(hosts * part.num_rows, pyarrow.string()))
        parts.append(part)
    return pyarrow.concat_tables(parts, promote_options="permissive")


compared = 0
for dataset in sys.argv[1:]:
    source = fm.open(dataset)
    assert source.tables, dataset
    for name, table in source.tables.items():
        theirs, ours = read(dataset, name), pyarrow.table(table)
        assert ours.num_rows == theirs.num_rows == len(table) > 0, name
        assert tuple(ours.column_names) == table.columns, name
        for column in table.schema:
            values = ours.column(column.name)
            assert ours.schema.field(column.name).nullable == column.is_nullable
            if column.name in theirs.column_names:
                assert values.to_pylist() == theirs.column(column.name).to_pylist(), (name, column.name)
                compared += 1
            else:
                assert column.is_nullable and values.null_count == len(values), (name, column.name)
        # The columns that are chosen, in their order and no others.
        some = table.columns[::-1][:3]
        assert pyarrow.table(table.select(*some)).equals(ours.select(list(some))), name
        frame = table.to_pandas()
        assert list(frame.columns) == list(table.columns) and len(frame) == len(table)
        for column in table.schema:
            if column.type == "i64":
                exact = [None if value is None else int(value) for value in ours.column(column.name).to_pylist()]
                back = [None if value is None or value != value else int(value) for value in frame[column.name].astype(object).where(frame[column.name].notna(), None)]
                assert back == exact, (name, column.name)
        assert name in table._repr_html_()
assert compared > 100, compared

# Hosts of a split table.
trace = fm.open(sys.argv[2])
hosts = pyarrow.table(trace.processes.select("host")).column("host").unique().to_pylist()
assert sum(len(trace.processes.of_hosts(host)) for host in hosts) == len(trace.processes)
assert len(trace.processes.of_hosts("no-such-host")) == 0
assert pyarrow.table(trace.processes.of_hosts("no-such-host")).num_rows == 0
assert pyarrow.table(trace.processes.of_hosts(hosts[0])).num_rows > 0

# A stream is taken once; the capsule of another call is another stream.
capsule = trace.processes.__arrow_c_stream__()
assert pyarrow.RecordBatchReader._import_from_c_capsule(capsule).read_all().num_rows == len(trace.processes)
del capsule
unread = trace.processes.__arrow_c_stream__()
del unread


def refused(call, words):
    try:
        call()
    except fm.FlowmineError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)


refused(lambda: trace.processes.select("hostt"), "no column 'hostt'; it has: ")
refused(lambda: trace.processes.select(), "one at least")
refused(lambda: trace.processes.select("host", "host"), "each column once")
refused(lambda: trace.task_runs.of_hosts("a"), "not split by hosts")
refused(lambda: trace.table("task_ios"), "there is no table 'task_ios'; there are: job_states")
