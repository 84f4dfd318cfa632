"""PM4Py as a program: what it reads from a log, how long it takes to write one, and its checks of an OCEL database.

    peers.py dump FILE          the log as it stands in PM4Py's memory, in the form that tests/support/dump.rs describes
    peers.py convert IN OUT     reads one file and writes another; prints as JSON how long both took and the largest memory after each
    peers.py exchange IN OUT    the dump of one file, which is then written as another
    peers.py checks FILE        the relational checks of an OCEL SQLite file: as JSON the names of those passed and failed

Formats go by extension: .xes, .xes.gz, .json, .xml, .sqlite. Nothing is repaired here: what PM4Py cuts, the dump lacks.
"""

import datetime
import json
import math
import os
import resource
import sys
import time
import warnings
from decimal import Decimal

warnings.filterwarnings("ignore")

import numpy
import pandas
import pm4py
from pm4py.objects.log.exporter.xes import exporter as xes_exporter
from pm4py.objects.ocel.util import attributes_per_type
from pm4py.objects.ocel.validation import ocel20_rel_validation

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
TYPES = {"date": "time", "int": "integer", "float": "float", "boolean": "boolean", "string": "string"}


def is_xes(path):
    return path.lower().endswith((".xes", ".xes.gz"))


def read(path):
    if is_xes(path):
        # The only importer of PM4Py's own that keeps hostile text, nesting and lists.
        return pm4py.read_xes(path, variant="iterparse", return_legacy_log_object=True)
    return pm4py.read_ocel2(path)


def write(log, path, options):
    if not is_xes(path):
        return pm4py.write_ocel2(log, path)
    variant = xes_exporter.Variants.ETREE if "--etree" in options else xes_exporter.Variants.LINE_BY_LINE
    xes_exporter.apply(log, path, variant=variant, parameters={"compress": path.lower().endswith(".gz")})


def nanoseconds(moment):
    if isinstance(moment, pandas.Timestamp):
        return str(moment.tz_localize("UTC").as_unit("ns").value if moment.tzinfo is None else moment.as_unit("ns").value)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    since = moment - EPOCH
    return str(((since.days * 86400 + since.seconds) * 1000000 + since.microseconds) * 1000)


def digits(number):
    """The shortest digits that give the number back, as Rust writes them with {:e}."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    sign, digits, exponent = Decimal(repr(float(number))).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    exponent += len(text) - 1 if text else 0
    text = text.rstrip("0")
    if not text:
        return "-0e0" if sign else "0e0"
    return ("-" if sign else "") + text[0] + ("." + text[1:] if len(text) > 1 else "") + "e" + str(exponent)


def value(it):
    """Type and text of a value."""
    if isinstance(it, numpy.generic) and not isinstance(it, numpy.datetime64):
        it = it.item()
    if isinstance(it, numpy.datetime64):
        it = pandas.Timestamp(it)
    if isinstance(it, bool):
        return ["boolean", "true" if it else "false"]
    if isinstance(it, int):
        return ["integer", str(it)]
    if isinstance(it, float):
        return ["float", digits(it)]
    if isinstance(it, (datetime.datetime, pandas.Timestamp)):
        return ["time", nanoseconds(it)]
    if it is None:
        return ["null", ""]
    return ["string", str(it)]


def line(*parts):
    sys.stdout.write(json.dumps(parts, ensure_ascii=False, separators=(",", ":")) + "\n")


def in_order(lines):
    return sorted(lines, key=lambda line: json.dumps(line, ensure_ascii=False, separators=(",", ":")))


def is_null(it):
    return it is None or it is pandas.NaT or it is pandas.NA or isinstance(it, float) and math.isnan(it)


def rows(table):
    """The rows of a table as dictionaries without what is null."""
    columns = list(table.columns)
    values = [table[column].tolist() for column in columns]
    for number in range(len(table)):
        yield {column: of[number] for column, of in zip(columns, values) if not is_null(of[number])}


def dump(log, path):
    dump_xes(log) if is_xes(path) else dump_ocel(log)


def dump_ocel(log):
    event_types, object_types = attributes_per_type.get(log)
    # Types that only have rows: the function knows no others.
    for name, types in (("event_type", event_types), ("object_type", object_types)):
        for kind in sorted(types):
            line(name, kind, in_order([attribute, TYPES[of]] for attribute, of in types[kind].items()))

    attributes, relations = {}, {}
    for row in rows(log.objects):
        of = attributes.setdefault(row[log.object_id_column], [])
        of += [[key, "0", *value(it)] for key, it in row.items() if not key.startswith("ocel:")]
    for row in rows(log.object_changes):
        field = row.get(log.changed_field)
        if field in row:
            since = nanoseconds(row[log.event_timestamp])
            attributes.setdefault(row[log.object_id_column], []).append([field, since, *value(row[field])])
    for row in rows(log.o2o):
        relations.setdefault(row[log.object_id_column], []).append([row[log.object_id_column + "_2"], row.get(log.qualifier, "")])
    for row in sorted(rows(log.objects), key=lambda row: row[log.object_id_column]):
        name = row[log.object_id_column]
        line("object", name, row[log.object_type_column], in_order(attributes[name]), in_order(relations.get(name, [])))

    relations = {}
    for row in rows(log.relations):
        relations.setdefault(row[log.event_id_column], []).append([row[log.object_id_column], row.get(log.qualifier, "")])
    for row in sorted(rows(log.events), key=lambda row: row[log.event_id_column]):
        name = row[log.event_id_column]
        own = in_order([key, "", *value(it)] for key, it in row.items() if not key.startswith("ocel:"))
        line("event", name, row[log.event_activity], nanoseconds(row[log.event_timestamp]), own, in_order(relations.get(name, [])))


def attribute(key, it):
    """Key, type, value and children; PM4Py keeps a value with children, and a list, as a dictionary."""
    if isinstance(it, dict) and set(it) == {"value", "children"}:
        children = it["children"]
        if isinstance(children, dict):
            kind, text = value(it["value"])
            return [key, kind, text, attributes(children)]
        if it["value"] is None:
            return [key, "list", [attribute(name, item) for name, item in children], []]
        kind, text = value(it["value"])
        return [key, kind, text, [attribute(name, item) for name, item in children]]
    kind, text = value(it)
    return [key, kind, text, []]


def attributes(of):
    return [attribute(key, it) for key, it in of.items()]


def dump_xes(log):
    head = [["extension", name, of["prefix"], of["uri"]] for name, of in log.extensions.items()]
    for entry in in_order(head):
        line(*entry)
    for entry in in_order(["classifier", name, list(keys)] for name, keys in log.classifiers.items()):
        line(*entry)
    for scope in sorted(log.omni_present):
        for entry in in_order(["global", scope, attribute(key, it)] for key, it in log.omni_present[scope].items()):
            line(*entry)
    line("log", attributes(log.attributes))
    for number, trace in enumerate(log):
        line("trace", number, attributes(trace.attributes))
        for place, event in enumerate(trace):
            line("case_event", number, place, attributes(dict(event)))


def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def convert(source, target, options):
    begin = time.perf_counter()
    log = read(source)
    read_s, read_kib, begin = time.perf_counter() - begin, peak_kib(), time.perf_counter()
    write(log, target, options)
    write_s = time.perf_counter() - begin
    size = os.path.getsize(target)
    print(json.dumps({"read_s": read_s, "write_s": write_s, "peak_read_kib": read_kib, "peak_kib": peak_kib(), "bytes": size}))


def main():
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    options = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    match [argument for argument in sys.argv[1:] if not argument.startswith("--")]:
        case ["dump", file]:
            dump(read(file), file)
        case ["exchange", source, target]:
            log = read(source)
            dump(log, source)
            write(log, target, options)
        case ["convert", source, target]:
            convert(source, target, options)
        case ["checks", file]:
            passed, failed = ocel20_rel_validation.apply(file)
            print(json.dumps({"passed": sorted(passed), "failed": sorted(failed)}))
        case _:
            sys.exit("usage: peers.py dump FILE | exchange IN OUT | convert [--etree] IN OUT | checks FILE.sqlite")


if __name__ == "__main__":
    main()
