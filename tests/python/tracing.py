"""DIRECTORY: a block is traced by eBPF, with the processes that it starts; needs privileges."""

import os
import pathlib
import subprocess
import sys
import time

import pyarrow

import flowmine_hpc as fm

directory = pathlib.Path(sys.argv[1])
before, inside = directory / "before.txt", directory / "inside.txt"
before.write_text("before")
with fm.tracing(directory / "block", detail="events") as trace:
    inside.write_text("x" * 12345)
    subprocess.run(["cat", inside], stdout=subprocess.DEVNULL, check=True)
after = directory / "after.txt"
after.write_text("after")
assert trace.code == 0, trace.diagnostics
source = fm.open(directory / "block")
paths = pyarrow.table(source.files.select("path")).column("path").to_pylist()
assert str(inside) in paths and str(before) not in paths and str(after) not in paths, paths
results = source.io_events.select("result").to_arrow().column("result").to_pylist()
assert results.count(12345) >= 2, results

try:
    with fm.tracing(directory / "refused", backend="ptrace"):
        raise AssertionError("the block ran without a trace")
except fm.FlowmineError as error:
    assert "command" in str(error), error

# A process that ends in the middle of a trace, as a restarted notebook does.
gone = directory / "gone"
child = os.fork()
if child == 0:
    trace = fm.tracing(gone)
    trace.__enter__()
    inside.read_text()
    os.kill(os.getpid(), 9)
assert os.waitpid(child, 0)[1] == 9


def tracers():
    commands = (pathlib.Path("/proc", name, "cmdline") for name in os.listdir("/proc") if name.isdigit())
    lines = []
    for command in commands:
        try:
            lines.append(command.read_bytes())
        except OSError:
            continue
    return [line for line in lines if os.fsencode(gone) in line]


deadline = time.monotonic() + 60
while tracers() and time.monotonic() < deadline:
    time.sleep(0.05)
assert not tracers()
# Its dataset is complete.
assert len(fm.open(gone).hosts) > 0
