"""QUEUE TRACE LOG: each model of the registry is a function, and gives the bytes of the command."""

import datetime
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree

import flowmine_hpc as fm
from flowmine_hpc import _native
from flowmine_hpc._options import name_of

COMPARED = ("svg", "json", "csv", "text", "pnml", "bpmn")
warnings.simplefilter("ignore")
sources = sys.argv[1:]
opened = {path: fm.open(path) for path in sources}


def by_command(model, path, format):
    words = [os.environ["FLOWMINE_COMMAND"], "discover", model, path, "--format", format]
    return subprocess.run(words, capture_output=True, check=False)


made, refused = {}, 0
for model, question, formats in _native.models():
    function = getattr(fm, model.replace("-", "_"))
    # The function has the options of the registry, and its documentation the question.
    options = {name for name, *_ in _native.options(model)}
    parameters = [name for name in inspect.signature(function).parameters if name != "source"]
    assert {name_of(name) for name in parameters} == options and len(parameters) == len(options), model
    assert question[1:] in " ".join(function.__doc__.split()) and getattr(fm.Source, function.__name__) is function
    for path, source in opened.items():
        theirs = by_command(model, path, formats[0])
        try:
            result = function(source)
        except fm.FlowmineError as error:
            assert theirs.returncode == 2, (model, path, error)
            assert str(error) in theirs.stderr.decode(), (model, path, error, theirs.stderr)
            refused += 1
            continue
        made.setdefault(model, []).append(path)
        assert result.formats == formats and result.is_lossy == (theirs.returncode == 1), (model, path)
        for format in set(COMPARED) & set(formats):
            theirs = by_command(model, path, format)
            assert theirs.returncode < 2, theirs.stderr
            assert result.bytes(format) == theirs.stdout, (model, path, format)
        if "svg" in formats:
            assert result._repr_html_() is None
            xml.etree.ElementTree.fromstring(result._repr_svg_())
        else:
            assert result._repr_svg_() is None and result._repr_html_().startswith("<pre>")
        if "csv" in formats:
            frame = result.to_frame()
            assert list(frame.columns) == result.text("csv").splitlines()[0].split(","), model
        if "graphml" in formats:
            graph = result.to_networkx()
            assert graph.number_of_nodes() >= 0 and len(graph.edges) == result.text("graphml").count("<edge "), model
        assert "json" not in formats or result.json
# file-timeline and compare need an option that names a file or another source.
missing = {model for model, *_ in _native.models()} - set(made) - {"compare", "file-timeline", "dependency-audit", "performance-spectrum"}
assert not missing, missing
assert refused > 0 and sum(map(len, made.values())) > 40, (refused, made)

queue = opened[sources[0]]
with tempfile.TemporaryDirectory() as directory:
    directory = pathlib.Path(directory)
    for name, begin in {"a.svg": b"<", "a.png": b"\x89PNG", "a.json": b"{", "a.gml": b"graph"}.items():
        # A file that was written once is no input, and is replaced.
        for _ in range(2):
            queue.dfg().save(directory / name)
        assert (directory / name).read_bytes().startswith(begin), name
    queue.dfg().save(directory / "b", format="csv")
    log = directory / "log.csv"
    log.write_text("case,activity,timestamp\na,align,2026-11-20\na,merge,2026-11-21\n")
    before = log.read_bytes()
    result = fm.dfg(log)
    for call, words in {
        lambda: result.save(log): "input",
        lambda: result.save(directory / "a.pdf"): ".pdf",
        lambda: result.bytes("pnml"): "is not written as pnml",
        lambda: result.save(directory / "absent" / "a.svg"): "absent",
        lambda: fm.dfg(log, min_count=-1): "--min-count",
        lambda: fm.dfg(log, min_count=object()): "an option cannot be object",
        lambda: fm.discover("dfg", log, min_counts=1): "no option --min-counts",
        lambda: fm.discover("dgf", log): "there is no model",
        lambda: fm.dfg(log, run="x"): "--run chooses a run",
        lambda: fm.petri(log).to_pm4py(): "PM4Py has no form",
    }.items():
        try:
            call()
        except fm.FlowmineError as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)
    assert log.read_bytes() == before
    # A pair, a list, a date.
    assert fm.dfg(log, path=("align", "merge")).json["cases"] == 1
    assert fm.dfg(log, path=[("align", "merge"), "align=>merge"]).json["cases"] == 1
    assert fm.dfg(log, from_=datetime.date(2026, 11, 21)).json["instances"] == 1
    assert fm.dfg(log, min_duration=datetime.timedelta(hours=23)).json["cases"] == 1
    assert fm.dfg(log, min_duration=datetime.timedelta(hours=25)).json["cases"] == 0

# A source is a value of an option.
assert fm.compare(queue, with_=fm.open(sources[0])).json == fm.compare(queue, with_=sources[0]).json

# Doubts are warnings at the line of the caller, and losses have a class of their own.
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fm.dfg(queue, user="nobody-has-this-name")
assert any(issubclass(of.category, fm.FlowmineWarning) and of.filename == __file__ for of in caught), caught
