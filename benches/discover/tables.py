#!/usr/bin/env python3
"""From a log file to a directly-follows graph with counts, mean, median, p95 and bytes: flowmine beside DuckDB, polars, PM4Py and process_mining.

    python tables.py make  FOLDER [--events 1000000 ...]   writes the logs (seeded)
    python tables.py run   FOLDER [--flowmine PATH] [--peer PATH] [--tools duckdb,polars,pm4py,flowmine,process_mining] [--repeat 3]
    python tables.py read  FOLDER                          only reading the five columns: polars' lazy scan, pyarrow, DuckDB

Each measurement is a process of its own; printed are seconds of wall, seconds of CPU (user and system) and peak memory in MB, the best of
the repetitions by wall. Needs pyarrow, numpy, and the tools that are to be measured.

A log has 20 events a case on average, 100 activities, text case ids, times in nanoseconds, bytes read and written. `grouped` has the
events of a case together, `interleaved` all events by time. `relations` is PM4Py's table of an object-centric log: 3 objects an event, and `relations-uuid` the same with UUIDs; process_mining gets
the same log as OCEL 2.0 JSON, since it reads no such table. XES files in the folder are measured too; one in the size of a published log comes from
`cargo run --release -p flowmine-eventlog --example read_log -- make FOLDER/cases.xes.gz`. process_mining is `flowmine-peer` of tests/peer.
"""

import argparse
import os
import subprocess
import sys
import time
import uuid

COLUMNS = ["case:concept:name", "concept:name", "time:timestamp", "io:read_bytes", "io:written_bytes"]


def make(folder, events):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    os.makedirs(folder, exist_ok=True)
    for count in events:
        random = np.random.default_rng(count)
        cases = count // 20
        case = np.sort(random.integers(0, cases, count))
        first = random.integers(0, 86_400 * 30, cases) * 1_000_000_000
        step = random.exponential(600e9, count).astype(np.int64)
        # Times within a case: running sums that begin anew with each case.
        total = np.cumsum(step)
        begins = np.searchsorted(case, np.arange(cases))
        before = np.where(begins > 0, total[np.minimum(begins, count - 1) - 1], 0)
        times = 1_790_000_000_000_000_000 + first[case] + total - before[case]
        # A walk over activities, so that there are paths that are often taken.
        activity = (random.geometric(0.15, count) + np.arange(count) % 25) % 100
        read = random.integers(0, 1 << 32, count)
        written = random.integers(0, 1 << 30, count)
        names = np.array([f"activity {n:02}" for n in range(100)])
        for kind in ["grouped", "interleaved"]:
            order = np.arange(count) if kind == "grouped" else np.argsort(times, kind="stable")
            table = pa.table({
                COLUMNS[0]: pa.array([f"case-{n}" for n in case[order]]),
                COLUMNS[1]: pa.DictionaryArray.from_arrays(pa.array(activity[order]), pa.array(names)).cast(pa.string()),
                COLUMNS[2]: pa.array(times[order], pa.timestamp("ns", tz="UTC")),
                COLUMNS[3]: pa.array(read[order]),
                COLUMNS[4]: pa.array(written[order]),
            })
            pq.write_table(table, f"{folder}/{kind}-{count}.parquet")
        if count <= 1_000_000:
            relations(folder, count, random, np, pa, pq)


def relations(folder, count, random, np, pa, pq):
    times = np.sort(1_790_000_000_000_000_000 + random.integers(0, 86_400 * 30 * 10**9, count))
    activity = random.integers(0, 30, count)
    event = np.repeat(np.arange(count), 3)
    kind = np.tile(np.arange(3), count)
    objects = np.empty(3 * count, np.int64)
    for at, number in enumerate([count // 10, count // 5, count // 50]):
        objects[at::3] = random.integers(0, max(number, 1), count)
    kinds = ["order", "item", "package"]
    table = pa.table({
        "ocel:eid": pa.array([f"e{n}" for n in event]),
        "ocel:activity": pa.array([f"activity {n}" for n in activity[event]]),
        "ocel:timestamp": pa.array(times[event], pa.timestamp("ns", tz="UTC")),
        "ocel:oid": pa.array([f"{kinds[k]}-{n}" for k, n in zip(kind, objects)]),
        "ocel:type": pa.array([kinds[k] for k in kind]),
    })
    pq.write_table(table, f"{folder}/relations-{count}.parquet")
    # The same with UUIDs for events and objects.
    bits = np.random.default_rng(count + 1).bytes

    def uuids(column):
        codes = table[column].combine_chunks().dictionary_encode()
        names = pa.array([str(uuid.UUID(bytes=bits(16), version=4)) for _ in range(len(codes.dictionary))])
        return pa.DictionaryArray.from_arrays(codes.indices, names).cast(pa.string())

    for column in ["ocel:eid", "ocel:oid"]:
        table = table.set_column(table.column_names.index(column), column, uuids(column))
    pq.write_table(table, f"{folder}/relations-uuid-{count}.parquet")
    with open(f"{folder}/relations-{count}.json", "w") as out:
        named = lambda names: "[" + ",".join(f'{{"name":"{name}","attributes":[]}}' for name in names) + "]"
        out.write(f'{{"objectTypes":{named(kinds)},"eventTypes":{named(f"activity {n}" for n in range(30))},"objects":[')
        pairs = sorted({f'{{"id":"{kinds[k]}-{n}","type":"{kinds[k]}"}}' for k, n in zip(kind.tolist(), objects.tolist())})
        out.write(",".join(pairs) + '],"events":[')
        stamps = np.datetime_as_string(times.astype("datetime64[ns]"), unit="ns")
        for at, (name, stamp) in enumerate(zip(activity.tolist(), stamps)):
            of = ",".join(f'{{"objectId":"{kinds[k]}-{n}","qualifier":""}}' for k, n in enumerate(objects[3 * at : 3 * at + 3].tolist()))
            comma = "," if at else ""
            out.write(f'{comma}{{"id":"e{at}","type":"activity {name}","time":"{stamp}Z","relationships":[{of}]}}')
        out.write("]}")


SQL = """
with f as (
  select "case:concept:name" as c, "concept:name" as a, "time:timestamp" as t, "io:read_bytes" as r, "io:written_bytes" as w,
         lead("concept:name") over s as b, lead("time:timestamp") over s as u
  from read_parquet('{}') window s as (partition by "case:concept:name" order by "time:timestamp"))
select 'edge', a, b, count(*), avg(d), median(d), quantile_cont(d, 0.95), min(d), max(d), stddev(d), null, null
from (select *, epoch_ns(u) - epoch_ns(t) as d from f where b is not null) group by a, b
union all
select 'node', a, null, count(*), count(distinct c), null, null, null, null, null, sum(r), sum(w) from f group by a
"""


def duckdb(path):
    import duckdb

    return len(duckdb.sql(SQL.format(path)).fetchall())


def polars(path):
    import polars as pl

    case, activity, moment, read, written = COLUMNS
    rows = pl.scan_parquet(path).select(COLUMNS).sort([case, moment], maintain_order=True)
    follows = rows.with_columns(
        pl.col(activity).shift(-1).alias("b"), pl.col(case).shift(-1).alias("d"), pl.col(moment).shift(-1).alias("u")
    ).filter(pl.col("d") == pl.col(case))
    wait = (pl.col("u") - pl.col(moment)).dt.total_nanoseconds()
    edges = follows.group_by(activity, "b").agg(
        pl.len(), wait.mean().alias("mean"), wait.median().alias("median"), wait.quantile(0.95).alias("p95"),
        wait.min().alias("min"), wait.max().alias("max"), wait.std().alias("std"),
    )
    nodes = rows.group_by(activity).agg(pl.len(), pl.col(case).n_unique(), pl.col(read).sum(), pl.col(written).sum())
    edges, nodes = pl.collect_all([edges, nodes])
    return len(edges) + len(nodes)


def pm4py(path):
    import pandas
    import pm4py

    frame = pandas.read_parquet(path, columns=COLUMNS)
    graph, _, _ = pm4py.discover_performance_dfg(frame)
    nodes = frame.groupby(COLUMNS[1])[COLUMNS[3:]].sum()
    return len(graph) + len(nodes)


def read_polars(path):
    import polars as pl

    return pl.scan_parquet(path).select(COLUMNS).collect().height


def read_pyarrow(path):
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=COLUMNS).num_rows


def read_duckdb(path):
    import duckdb

    columns = ", ".join(f'"{name}"' for name in COLUMNS)
    return len(duckdb.sql(f"select {columns} from read_parquet('{path}')").fetchnumpy()[COLUMNS[0]])


def measured(command, repeat):
    """Wall, CPU and peak memory of a command, the best of some runs."""
    best = None
    for _ in range(repeat):
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        if status:
            return None
        one = (wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
        best = min(best, one) if best else one
    return best


def tell(what, path, figures):
    name = os.path.basename(path)
    if figures is None:
        print(f"{name:30} {what:16} failed", flush=True)
    else:
        print(f"{name:30} {what:16} {figures[0]:7.2f} s wall {figures[1]:7.2f} s CPU {figures[2]:7.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["make", "run", "read", "one"])
    parser.add_argument("folder")
    parser.add_argument("tool", nargs="?")
    parser.add_argument("--events", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--tools", default="duckdb,polars,pm4py,flowmine,process_mining")
    parser.add_argument("--flowmine", default="flowmine")
    parser.add_argument("--peer", default="flowmine-peer")
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    if args.what == "make":
        return make(args.folder, args.events)
    if args.what == "one":
        # In a process of its own: this one.
        return globals()[args.tool](args.folder)
    tools = args.tools.split(",") if args.what == "run" else ["read_polars", "read_pyarrow", "read_duckdb"]
    for name in sorted(os.listdir(args.folder)):
        path = f"{args.folder}/{name}"
        for tool in tools:
            is_table = name.endswith(".parquet") and "relations" not in name
            if tool == "flowmine" and not name.endswith(".json"):
                model = "ocdfg" if "relations" in name else "dfg"
                command = [args.flowmine, "discover", model, "--log", path, "--format", "json", "-o", "/dev/null"]
            elif tool == "process_mining" and not name.endswith(".parquet"):
                command = [args.peer, "graph", path]
            elif is_table and tool != "process_mining":
                command = [sys.executable, __file__, "one", path, tool]
            else:
                continue
            tell(tool, path, measured(command, args.repeat))


if __name__ == "__main__":
    main()
