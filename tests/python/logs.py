"""QUEUE DIRECTORY: logs to PM4Py and back; PM4Py counts what `--events ends` counts."""

import gc
import inspect
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")

import pandas
import pyarrow

import flowmine_hpc as fm

assert "pm4py" not in sys.modules and "pandas" in sys.modules
queue, directory = sys.argv[1], pathlib.Path(sys.argv[2])
source = fm.open(queue)
frames = {notion: source.to_pm4py(case_notion=notion) for notion in ("dependency", "account-group")}
assert "pm4py" not in sys.modules

import pm4py

for notion, frame in frames.items():
    edges, starts, ends = pm4py.discover_dfg(frame)
    ours = source.dfg(case_notion=notion, events="ends").to_pm4py()
    assert (dict(edges), dict(starts), dict(ends)) == ours and len(edges) > 10, notion
everything = source.to_pm4py(events="all")
edges = dict(pm4py.discover_dfg(everything)[0])
assert edges == source.dfg(events="all").to_pm4py()[0] and len(edges) > len(source.dfg(events="ends").to_pm4py()[0])

# The same log by each way in.
frame = frames["dependency"]
xes = directory / "log.xes"
pm4py.write_xes(frame, str(xes))
ways = {
    "pandas": frame,
    "arrow": pyarrow.Table.from_pandas(frame, preserve_index=False),
    "stream": pyarrow.Table.from_pandas(frame, preserve_index=False).to_reader(),
    "EventLog": pm4py.convert_to_event_log(frame),
    "file": xes,
}
expected = source.dfg(events="ends").to_pm4py()
for way, log in ways.items():
    read = fm.read_log(log)
    assert isinstance(read, fm.Log) and read.dataset is None and read.tables == {}
    assert read.dfg(events="all").to_pm4py() == expected, way
    again = read.to_pm4py(events="all")
    assert len(again) == len(frame), way

# A frame with other names and odd texts.
odd = pandas.DataFrame(
    {
        "id": ["NA", "NA", "1", "1"],
        "step": ['a"b', "x\ny", "NULL", "=1+1"],
        "when": pandas.to_datetime(["2026-11-20", "2026-11-21", "2026-11-20T10:00:00.123456789", None], format="ISO8601"),
    }
)
read = fm.dfg(odd, case_column="id", activity_column="step", timestamp_column="when")
log = fm.read_log(odd, case_column="id", activity_column="step", timestamp_column="when")
assert log.dfg().bytes("json") == read.bytes("json") and len(log.to_pm4py()) == len(odd)
assert set(fm._log.COLUMNS) == {name for name in inspect.signature(fm.validate).parameters if name not in ("paths", "quiet")}
assert set(read.to_pm4py()[0]) >= {('a"b', "x\ny")}, read.json
assert {"NULL"} <= set(read.to_frame()["from"].dropna()), read.to_frame()

# Object-centric logs.
ocel = directory / "log.ocel.json"
fm.export(source, output=ocel)
theirs = pm4py.read_ocel2_json(str(ocel))
read = fm.read_log(theirs)
ours, direct = read.ocdfg(), fm.ocdfg(theirs)
assert ours.bytes("csv") == direct.bytes("csv")
counts = ours.json
types = {of["type"] for of in counts["types"]} if "types" in counts else None
assert types is None or types == set(theirs.objects["ocel:type"].unique()), types
done = fm.validate(read)
assert "0 errors" in done.text, done.text
back = directory / "back.ocel.json"
fm.export(read, output=back)
again = pm4py.read_ocel2_json(str(back))
assert len(again.events) == len(theirs.events) and len(again.relations) == len(theirs.relations)
assert len(again.objects) == len(theirs.objects) and len(again.o2o) == len(theirs.o2o)

# Temporary files go with their log.
place = pathlib.Path(read.paths[0]).parent
assert place.stat().st_mode & 0o777 == 0o700
del read, done, ours, direct
gc.collect()
assert not place.exists()
for wrong in (3, None, object(), {"case": [1]}):
    try:
        fm.read_log(wrong)
    except fm.FlowmineError as error:
        assert "is no path, DataFrame" in str(error)
    else:
        raise AssertionError(wrong)
