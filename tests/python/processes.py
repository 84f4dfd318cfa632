"""QUEUE LOGS: threads, forks, interrupts and temporary datasets."""

import gc
import multiprocessing
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pyarrow

import flowmine_hpc as fm

warnings.simplefilter("ignore")
queue, recordings = sys.argv[1], sys.argv[2:]
expected = fm.dfg(queue).bytes("json")
rows = pyarrow.table(fm.open(queue).job_states).num_rows


def one(_):
    source = fm.open(queue)
    return source.dfg().bytes("json"), pyarrow.table(source.job_states).num_rows


# Threads share a source, and have their own.
shared = fm.open(queue)
with ThreadPoolExecutor(8) as pool:
    assert all(answer == (expected, rows) for answer in pool.map(one, range(24)))
    assert all(answer == expected for answer in pool.map(lambda _: shared.dfg().bytes("json"), range(24)))

# Another thread of Python runs while a call does: in its midst, and not only before and after it.
log = pathlib.Path(queue).with_name("large.csv")
log.write_text("case,activity,timestamp\n" + "".join(f"{n // 9},a{n % 7},{n}\n" for n in range(300_000)))
ticks, stop = [], threading.Event()
thread = threading.Thread(target=lambda: [ticks.append(time.monotonic()) for _ in iter(lambda: stop.wait(0.001), True)])
thread.start()
began = time.monotonic()
fm.dfg(log, timestamp_unit="s")
ended = time.monotonic()
stop.set()
thread.join()
share = (ended - began) / 10
assert [tick for tick in ticks if began + share < tick < ended - share], (began, ended)
log.unlink()

# A fork reads and discovers, and does not remove what its parent made.
imported = fm.open(*recordings)
place = pathlib.Path(imported.dataset)
assert place.is_dir() and place.stat().st_mode & 0o777 == 0o700
imported_rows = len(imported.job_states)
child = os.fork()
if child == 0:
    code = 1
    try:
        code = 0 if one(0) == (expected, rows) and len(imported.job_states) == imported_rows else 3
        imported.close()
    finally:
        os._exit(code)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert place.is_dir() and len(imported.job_states) == imported_rows
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert all(answer == (expected, rows) for answer in pool.map(one, range(4)))
assert place.is_dir()
imported.close()
assert not place.exists()
try:
    imported.dfg()
except fm.FlowmineError:
    pass
else:
    raise AssertionError("a closed source was read")
temporary = fm.open(*recordings)
place = pathlib.Path(temporary.dataset)
table = temporary.job_states
del temporary
gc.collect()
# A table keeps its dataset.
assert place.is_dir() and len(table) == imported_rows
del table
gc.collect()
assert not place.exists()

# An interrupt is raised, and the next call is as if it had not been.
for delay in (0.0, 0.01, 0.1):
    before = set(pathlib.Path(tempfile.gettempdir()).glob("flowmine-*"))
    timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        timer.start()
        for _ in range(1000):
            fm.open(*recordings).close()
        raise AssertionError("no interrupt was seen")
    except KeyboardInterrupt:
        pass
    timer.join()
assert fm.dfg(queue).bytes("json") == expected

# A command is interrupted, and ends before the exception is there.
timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
timer.start()
began = time.monotonic()
try:
    fm.trace("sleep", "60", dataset=os.path.join(tempfile.mkdtemp(dir=os.path.dirname(queue)), "traced"), backend="ptrace")
    raise AssertionError("no interrupt was seen")
except KeyboardInterrupt:
    pass
assert time.monotonic() - began < 50

# Progress comes on the calling thread, and an exception of it ends the call.
seen = []
fm.show_progress(lambda *now: seen.append((threading.current_thread(), now)))
fm.open(*recordings).close()
assert all(of is threading.main_thread() for of, _ in seen)
fm.show_progress(None)
