"""QUEUE: each command is a function of the package, and the package runs it without a shell."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import flowmine_hpc as fm

queue = sys.argv[1]
program = os.environ["FLOWMINE_COMMAND"]


def commands(*words):
    text = subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout
    listed = text.split("Commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE)


# Python has a `help` of its own, which reads the documentation of functions.
names = [name for name in commands() if name != "help"]
assert len(names) > 15, names
for name in names:
    function = getattr(fm, name.replace("-", "_"), None) or getattr(fm, f"{name}_")
    assert callable(function) and function.__doc__, name
    assert function.__name__ in fm.__all__, name
assert set(commands("import")) == set(re.findall(r"'([a-z-]+)'", fm.import_.__annotations__["kind"]))

with tempfile.TemporaryDirectory() as directory:
    directory = pathlib.Path(directory)
    source = fm.open(queue)
    # Names that a shell or an option parser would take for something else.
    odd = directory / "-o $(touch pwned); 'log.csv"
    done = fm.export(source, output=odd, format="csv")
    assert odd.stat().st_size > 0 and done.code == 0 and not pathlib.Path("pwned").exists()
    os.chdir(directory)
    assert "0 errors" in fm.validate(odd.name).text
    done = fm.report(source, output=directory / "report.html")
    assert (directory / "report.html").read_text().startswith("<!")
    fm.export(source, output=directory / "log.ocel.json", objects=["job", "task"])
    jobs = fm.why(source.job_states.select("job").to_arrow().column("job")[0].as_py(), dataset=source)
    assert jobs.text and "<pre>" in jobs._repr_html_()
    assert fm.correlate(dataset=queue).code == 0
    written = directory / "script.sh"
    written.write_text("#!/bin/sh\n#SBATCH --time=10\necho hello\n")
    generated = fm.generate(output=directory / "generated", users=2, runs=1)
    assert any((directory / "generated").iterdir()) and generated.code == 0
    imported = fm.import_("log", odd.name, dataset=directory / "of-log")
    assert imported.code == 0 and fm.open(directory / "of-log").dataset
    traced = fm.trace("sh", "-c", "cat log.ocel.json; exit 7", dataset=directory / "traced", backend="ptrace")
    assert traced.code == 7 and len(traced.output) == (directory / "log.ocel.json").stat().st_size, traced.diagnostics
    assert len(fm.open(directory / "traced").processes) > 0

    for call, words in {
        lambda: fm.validate(directory / "absent.xes"): "absent.xes",
        lambda: fm.export(source): "--format",
        lambda: fm.import_("slurmm", queue, dataset="x"): "slurmm",
        lambda: fm.export(source, output="x.csv", milliseconds="yes"): "milliseconds",
        lambda: fm.validate("a\0b"): "null byte",
    }.items():
        try:
            call()
        except fm.FlowmineError as error:
            assert words in str(error), error
        else:
            raise AssertionError(words)

    # A finding is a warning, and exit code 1 a loss.
    wrong = directory / "wrong.xes"
    wrong.write_text('<log xes.version="1.0"><trace><event><date key="time:timestamp" value="soon"/></event></trace></log>')
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        done = fm.validate(wrong)
    assert done.code == 1 and "is not an xs:dateTime" in done.text, done.text
    assert any(of.category is fm.LossWarning and of.filename == __file__ for of in caught), caught
