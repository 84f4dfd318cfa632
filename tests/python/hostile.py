"""DIRECTORY QUEUE: hostile input is an exception or a warning, and never ends the interpreter."""

import gzip
import json
import os
import pathlib
import random
import shutil
import sys
import warnings

import pyarrow

import flowmine_hpc as fm

warnings.simplefilter("ignore")
directory, queue = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
rng = random.Random(38)


def refused(what, call):
    try:
        call()
    except fm.FlowmineError as error:
        assert str(error) and all(c.isprintable() or c == "\n" for c in str(error)), (what, error)
        return str(error)
    raise AssertionError(f"{what} was taken")


def whatever(call):
    """A result or an exception of ours."""
    try:
        return call()
    except fm.FlowmineError as error:
        return str(error)


def write(name, content):
    path = directory / name
    path.write_bytes(content)
    return path


deep = b"[" * 1_000_000
for name, content in {
    "empty": b"",
    "zeros": bytes(100_000),
    "random": rng.randbytes(100_000),
    "deep.json": deep,
    "deep.xes": b"<log>" + b"<list>" * 500_000,
    "entities.xes": b'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]><log><string key="a" value="&b;"/></log>',
    "bomb.csv.gz": gzip.compress(bytes(50_000_000)),
    "cut.gz": gzip.compress(b"case,activity,timestamp\n" * 1000)[:200],
    "sqlite": b"SQLite format 3\0" + rng.randbytes(5000),
    "parquet": b"PAR1" + rng.randbytes(5000) + b"PAR1",
    "escape.csv": "case,activity,timestamp\n\x1b[2J\x07,\u202eevil,never\n".encode(),
}.items():
    path = write(name, content)
    refused(name, lambda: fm.dfg(path))
    whatever(lambda: fm.open(path))

os.mkfifo(directory / "fifo")
os.symlink("loop", directory / "loop")
for name, path in {
    "a FIFO": directory / "fifo",
    "a loop": directory / "loop",
    "an empty directory": directory / "nothing",
    "nothing": directory / "absent",
    "a device": "/dev/zero",
    "a null byte": "a\0b",
}.items():
    if name == "an empty directory":
        path.mkdir()
    try:
        refused(name, lambda: fm.open(path))
    except ValueError as error:
        assert "null" in str(error), error

# A dataset with flipped bytes, cut files, links and a foreign manifest.
parts = sorted(path.relative_to(queue) for path in queue.glob("[a-z]*/*.parquet"))
assert parts
read = failed = 0
originals = {name: pyarrow.table(fm.open(queue).table(name)) for name in ("job_states", "job_dependencies", "controller_clocks")}
for round in range(60):
    copy = directory / f"dataset-{round}"
    shutil.copytree(queue, copy)
    victim = copy / rng.choice(parts)
    content = bytearray(victim.read_bytes())
    if round % 3 == 0:
        content = content[: rng.randrange(len(content))]
    else:
        for _ in range(rng.choice((1, 20))):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    victim.write_bytes(content)
    source = fm.open(copy)
    for name, original in originals.items():
        table = source.table(name)
        try:
            # What is read is what was written: altered bytes are noticed.
            assert pyarrow.table(table).equals(original), (round, victim)
            read += 1
        except (fm.FlowmineError, OSError, pyarrow.ArrowException) as error:
            assert str(error)
            failed += 1
    whatever(source.dfg)
    shutil.rmtree(copy)
assert read >= 120 and failed > 30, (read, failed)

copy = directory / "linked"
shutil.copytree(queue, copy)
victim = copy / parts[0]
victim.unlink()
victim.symlink_to("/etc/passwd")
table = fm.open(copy).table(parts[0].parts[0])
refused("a link", lambda: len(table))
try:
    pyarrow.table(table)
except (fm.FlowmineError, OSError, pyarrow.ArrowException) as error:
    assert "link" in str(error) or "tampered" in str(error), error
else:
    raise AssertionError("a link was followed")
for manifest in (b"", deep, b"{}", json.dumps({"format_version": 10**6}).encode()):
    (copy / "flowmine.json").write_bytes(manifest)
    whatever(lambda: fm.dfg(copy))

# Values that are no values.
log = write("log.csv", b"case,activity,timestamp\na,align,2026-11-20\na,merge,2026-11-21\n")
for name, value in {"min_count": "x" * 1_000_000, "coverage": float("nan"), "activity": "\ud800", "user": ["a\0b", "\x1b"], "case": 5}.items():
    try:
        whatever(lambda: fm.dfg(log, **{name: value}))
    except UnicodeEncodeError:
        assert name == "activity"
