"""Logs as PM4Py has them. PM4Py is not imported: its objects are known by what they have."""

from __future__ import annotations

from typing import Any, Iterator

#: The transitions with which an activity is over, as ``--events ends`` takes them.
ENDS = ("complete", "ate_abort", "pi_abort", "withdraw")

CASE, ACTIVITY, TIME = "case:concept:name", "concept:name", "time:timestamp"
TRANSITION = "lifecycle:transition"


def is_event_log(log: Any) -> bool:
    """Whether it is an EventLog: traces with attributes, of events that are mappings."""
    return type(log).__name__ == "EventLog" and hasattr(log, "attributes") and hasattr(log, "__iter__")


def is_ocel(log: Any) -> bool:
    """Whether it is an OCEL: tables of events, objects and their relations."""
    return all(hasattr(log, name) for name in ("events", "objects", "relations", "event_id_column", "object_id_column"))


def write_event_log(log: Any, path: str) -> str:
    """Writes an EventLog as CSV, a row for each event."""
    import csv

    rows: list[dict[str, Any]] = []
    keys: dict[str, None] = {CASE: None, ACTIVITY: None, TIME: None}
    for number, trace in enumerate(log, 1):
        of_case = {f"case:{key}": value for key, value in dict(trace.attributes).items()}
        of_case.setdefault(CASE, str(number))
        for event in trace:
            row = {**of_case, **dict(event)}
            keys.update(dict.fromkeys(row))
            rows.append(row)
    with open(path, "x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(keys))
        writer.writeheader()
        writer.writerows({key: _text(value) for key, value in row.items()} for row in rows)
    return path


def _text(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value


def write_ocel(log: Any, path: str) -> str:
    """Writes an OCEL as OCEL 2.0 in JSON."""
    import json

    event_id, object_id = log.event_id_column, log.object_id_column
    activity, time = log.event_activity, log.event_timestamp
    object_type, qualifier = log.object_type_column, getattr(log, "qualifier", "ocel:qualifier")
    of_events: dict[str, list[dict[str, str]]] = {}
    for row in _rows(log.relations):
        relation = {"objectId": str(row[object_id]), "qualifier": str(row.get(qualifier) or "")}
        of_events.setdefault(str(row[event_id]), []).append(relation)
    of_objects: dict[str, list[dict[str, str]]] = {}
    for row in _rows(getattr(log, "o2o", None)):
        relation = {"objectId": str(row[f"{object_id}_2"]), "qualifier": str(row.get(qualifier) or "")}
        of_objects.setdefault(str(row[object_id]), []).append(relation)
    changes: dict[str, list[dict[str, Any]]] = {}
    for row in _rows(getattr(log, "object_changes", None)):
        field = row.get("ocel:field")
        if field in row:
            change = {"name": field, "time": _text(row[time]), "value": _text(row[field])}
            changes.setdefault(str(row[object_id]), []).append(change)
    events, objects = [], []
    types: tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]] = ({}, {})
    for row in _rows(log.events):
        values = {key: value for key, value in row.items() if key not in (event_id, activity, time)}
        types[0].setdefault(str(row[activity]), {}).update((key, _type(value)) for key, value in values.items())
        attributes = [{"name": key, "value": _text(value)} for key, value in values.items()]
        identity = str(row[event_id])
        made = {"id": identity, "type": str(row[activity]), "time": _text(row[time]), "attributes": attributes}
        events.append({**made, "relationships": of_events.get(identity, [])})
    for row in _rows(log.objects):
        identity, kind = str(row[object_id]), str(row[object_type])
        values = {key: value for key, value in row.items() if key not in (object_id, object_type)}
        # The value before all changes has the beginning of time.
        attributes = [{"name": key, "time": "1970-01-01T00:00:00Z", "value": _text(value)} for key, value in values.items()]
        attributes += changes.get(identity, [])
        types[1].setdefault(kind, {}).update((of["name"], _type(of["value"])) for of in attributes)
        made = {"id": identity, "type": kind, "attributes": attributes}
        objects.append({**made, "relationships": of_objects.get(identity, [])})
    declared = [
        [{"name": name, "attributes": [{"name": key, "type": kind} for key, kind in of.items()]} for name, of in kinds.items()]
        for kinds in types
    ]
    document = {"eventTypes": declared[0], "objectTypes": declared[1], "events": events, "objects": objects}
    with open(path, "x", encoding="utf-8") as file:
        json.dump(document, file)
    return path


def _rows(frame: Any) -> Iterator[dict[str, Any]]:
    """Returns the rows of a DataFrame of pandas, without values that are unknown."""
    if frame is None:
        return
    columns = list(frame.columns)
    for values in frame.itertuples(index=False, name=None):
        yield {key: _plain(value) for key, value in zip(columns, values) if value is not None and value == value}


def _plain(value: Any) -> Any:
    return value.item() if type(value).__module__ == "numpy" and hasattr(value, "item") else value


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "float"
    return "time" if hasattr(value, "isoformat") else "string"


def frame_of(source: Any, ends: bool, options: dict[str, Any]) -> Any:
    """Returns the events of a source as a DataFrame with PM4Py's columns."""
    import os
    import tempfile

    import pandas

    from . import _commands

    with tempfile.TemporaryDirectory(prefix="flowmine-") as directory:
        path = os.path.join(directory, "log.csv")
        # A dataset that is there already is not imported again.
        _commands.export(source.dataset or source, output=path, format="csv", **options)
        # Names stay text, also those that look like numbers or like NA.
        texts = {CASE: "str", ACTIVITY: "str", TIME: "str", TRANSITION: "str"}
        frame = pandas.read_csv(path, dtype=texts, keep_default_na=False, na_values=[""], dtype_backend="numpy_nullable")
    frame[TIME] = pandas.to_datetime(frame[TIME], format="ISO8601", utc=True)
    if ends and TRANSITION in frame.columns:
        frame = frame[frame[TRANSITION].str.lower().isin(ENDS)].reset_index(drop=True)
    return frame
