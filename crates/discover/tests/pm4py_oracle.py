"""Makes tests/pm4py.json: logs and what PM4Py 2.7.23.11 says of their temporal profiles and batches.

Run with a Python that has pm4py: `python tests/pm4py_oracle.py > tests/pm4py.json`. The tests read the file and need no Python.

PM4Py's `__merge_near_intervals` works on a heap as if it were sorted, so that of four or more intervals it can join ones that are far apart.
Its numbers for batches are therefore taken twice: as it is, for logs where that does not matter, and with the lists sorted before each step
(`batches_sorted`), which is what its documentation says.
"""

import heapq
import json
import random
import sys
import warnings

warnings.filterwarnings("ignore")
import pandas as pd  # noqa: E402
import pm4py  # noqa: E402
from pm4py.algo.discovery.batches.utils import detection  # noqa: E402

assert pm4py.__version__ == "2.7.23.11", pm4py.__version__


def made(seed, cases, length, activities, moments, ties):
    rnd = random.Random(seed)
    rows = []
    for case in range(cases):
        now = 1_700_000_000_000_000 + rnd.randrange(10**12)
        for _ in range(rnd.randrange(1, length)):
            start = now + (rnd.randrange(3) * 10**6 if ties else rnd.randrange(10**9))
            took = 0 if moments else rnd.choice([0, 10**6, 5 * 10**6]) if ties else rnd.randrange(10**9)
            rows.append((f"c{case:03}", rnd.choice(activities), start, start + took, f"r{rnd.randrange(3)}"))
            if rnd.random() < 0.7:
                now = start + took
    return rows


def frame(rows):
    # Microseconds since 1970, UTC.
    df = pd.DataFrame(rows, columns=["case:concept:name", "concept:name", "start_timestamp", "time:timestamp", "org:resource"])
    for column in ["start_timestamp", "time:timestamp"]:
        df[column] = pd.to_datetime(df[column], unit="us", utc=True)
    # No "@@index": PM4Py would take it for the order of events, even where times say otherwise.
    return df


def profile(rows):
    df = frame(rows)
    found = pm4py.discover_temporal_profile(df.copy())
    deviating = pm4py.conformance_temporal_profile(df.copy(), found, zeta=2.0)
    return {
        "pairs": sorted([a, b, float(mean), float(stdev)] for (a, b), (mean, stdev) in found.items()),
        "deviating_2": sum(len(case) for case in deviating),
    }


def batches(rows, distance, in_order):
    groups = {}
    for number, (case, activity, start, end, resource) in enumerate(rows):
        groups.setdefault((activity, resource), []).append((start / 1e6, end / 1e6, case, number))
    overlapping = detection.__dict__["__merge_overlapping_intervals"]
    near = detection.__dict__["__merge_near_intervals"]
    if in_order:
        groups = {key: sorted(events) for key, events in groups.items()}
    else:
        groups = {key: list(events) for key, events in groups.items()}

    def near_in_order(intervals, most):
        out = []
        for interval in sorted(intervals):
            if out and interval[0] - out[-1][1] <= most:
                out[-1] = (min(out[-1][0], interval[0]), max(out[-1][1], interval[1]), out[-1][2] | interval[2])
            else:
                out.append(interval)
        return out

    if in_order:
        detection.__dict__  # the module's functions are looked up by name when they run
        setattr(detection, "__merge_near_intervals", near_in_order)
        setattr(detection, "__merge_overlapping_intervals", lambda intervals: overlapping(sorted(intervals)))
    try:
        found = detection.detect(groups, parameters={"merge_distance": distance, "min_batch_size": 2})
    finally:
        setattr(detection, "__merge_near_intervals", near)
        setattr(detection, "__merge_overlapping_intervals", overlapping)
    out = []
    for (activity, resource), count, kinds in found:
        for kind, list_of in kinds.items():
            for start, end, events in list_of:
                out.append([activity, resource, kind, round(start * 1e6), round(end * 1e6), len(events), sorted({event[2] for event in events})])
    return sorted(out)


def main():
    logs = {
        "intervals": made(1, 40, 12, list("abcdef"), False, False),
        "moments": made(2, 60, 9, list("abcd"), True, False),
        "ties": made(3, 50, 14, list("abc"), False, True),
    }
    out = {}
    for name, rows in logs.items():
        distance = {"intervals": 3600, "moments": 900, "ties": 2}[name]
        out[name] = {
            "rows": rows,
            "profile": profile(rows),
            "distance_s": distance,
            "batches_sorted": batches(rows, distance, True),
        }
        asis = batches(rows, distance, False)
        print(name, "batches equal without sorting:", asis == out[name]["batches_sorted"], file=sys.stderr)
    # Few instances of each activity and resource, so that PM4Py's heap is sorted: here it is taken as it is.
    few = [
        ("k1", "send", 0, 10, "x"), ("k2", "send", 0, 10, "x"),
        ("k1", "start", 0, 10, "x"), ("k2", "start", 0, 12, "x"),
        ("k1", "end", 0, 10, "x"), ("k2", "end", 3, 10, "x"),
        ("k1", "seq", 0, 10, "x"), ("k2", "seq", 10, 20, "x"), ("k3", "seq", 20, 25, "x"),
        ("k1", "conc", 0, 10, "x"), ("k2", "conc", 5, 20, "x"), ("k3", "conc", 910, 930, "x"),
        ("k1", "far", 0, 10, "x"), ("k2", "far", 2000, 2010, "x"),
        ("k1", "edge", 0, 10, "x"), ("k2", "edge", 910, 920, "x"),
        ("k1", "edge", 0, 10, "y"), ("k2", "edge", 911, 920, "y"),
        ("k4", "twice", 0, 5, "x"), ("k4", "twice", 7, 9, "x"),
    ]
    few = [(case, activity, start * 10**6 + 1_700_000_000_000_000, end * 10**6 + 1_700_000_000_000_000, who) for case, activity, start, end, who in few]
    asis = batches(few, 900, False)
    df = frame(few)
    public = pm4py.discover_batches(df.copy(), merge_distance=900, min_batch_size=2)
    print("public API on moments only:", len(public), "few equal:", asis == batches(few, 900, True), file=sys.stderr)
    out["few"] = {"rows": few, "profile": profile(few), "distance_s": 900, "batches_sorted": asis}
    json.dump(out, sys.stdout, separators=(",", ":"))
    print()


main()
