"""The command ``flowmine``, which the wheel contains, as a child process.

It is started with a list of arguments and without a shell.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence

from . import _native
from ._errors import Diagnostic, FlowmineError, LossWarning, visible, warn, warn_of
from ._options import name_of, text_of, texts_of

if TYPE_CHECKING:
    import subprocess

#: Seconds that a command has to end after an interrupt.
PATIENCE = 30

#: The exit code of a command that finished with losses or rejected input, and of one that failed.
LOSSES, FAILED = 1, 2


class Completed:
    """A command that has ended."""

    def __init__(self, arguments: Sequence[str], code: int, output: bytes, diagnostics: list[Diagnostic]) -> None:
        #: The arguments, without the program.
        self.arguments = list(arguments)
        #: The exit code.
        self.code = code
        #: Standard output.
        self.output = output
        #: The messages, a line of standard error each.
        self.diagnostics = diagnostics

    @property
    def text(self) -> str:
        """Standard output as text."""
        return self.output.decode(errors="backslashreplace")

    @property
    def json(self) -> Any:
        """Standard output as data."""
        import json

        return json.loads(self.output)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<flowmine_hpc.Completed {self.arguments!r}: {self.code}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(visible(self.text))}</pre>"


_checked: set[str] = set()


def program() -> str:
    """Returns the path of the command: FLOWMINE_COMMAND, that of the package, or that of PATH."""
    import shutil
    import sysconfig

    own = [os.path.join(sysconfig.get_path("scripts"), "flowmine")]
    if hasattr(sysconfig, "get_preferred_scheme"):
        own.append(os.path.join(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")), "flowmine"))
    candidates = [os.environ.get("FLOWMINE_COMMAND"), *own, shutil.which("flowmine")]
    for path in candidates:
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            _check_version(path)
            return path
    raise FlowmineError("the command flowmine is neither next to Python nor in PATH: install the wheel again, or set FLOWMINE_COMMAND")


def _check_version(path: str) -> None:
    """Warns once of a command of another version."""
    import subprocess

    if path in _checked:
        return
    _checked.add(path)
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split()[-1:]
    if version != [_native.__version__]:
        warn(f"{path} has the version {' '.join(version) or 'unknown'}, and this package {_native.__version__}")


def _words(
    name: str, positional: Sequence[Any], options: Optional[Mapping[str, Any]], switches: Sequence[str] = ()
) -> list[str]:
    """Returns the arguments of a command."""
    words = name.split()
    for keyword, value in (options or {}).items():
        option = f"--{name_of(keyword)}"
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        if keyword in switches:
            raise FlowmineError(f"{keyword} is a switch, True or False")
        try:
            words.extend(f"{option}={text}" for text in texts_of(value))
        except TypeError as error:
            raise FlowmineError(f"{keyword}: {error}") from None
    places = [place for one in positional for place in _places(one)]
    if places:
        words += ["--", *places]
    if any("\0" in word for word in words):
        raise FlowmineError("an argument has a null byte")
    return words


def command(
    name: str,
    positional: Sequence[Any] = (),
    options: Optional[Mapping[str, Any]] = None,
    *,
    switches: Sequence[str] = (),
    is_captured: bool = True,
    passes_code: bool = False,
) -> Completed:
    """Runs ``flowmine NAME`` and waits for its end.

    ``options`` are keywords: ``{"min_count": 2}`` is ``--min-count=2``, and a list gives an option
    several times. ``switches`` are options without a value, which take True or False.
    """
    words = _words(name, positional, options, switches)
    return _run(words, is_captured, passes_code)


def _places(one: Any) -> list[str]:
    """Returns the arguments that a source or a path is."""
    from ._source import Source

    if isinstance(one, Source):
        # The command names its source in results: of imported sources the paths that were given.
        return one.paths
    if isinstance(one, (list, tuple)):
        return [text_of(word) for word in one]
    return [text_of(one)]


def _run(words: list[str], is_captured: bool, passes_code: bool) -> Completed:
    import subprocess

    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [program(), *words], stdin=subprocess.DEVNULL, stdout=pipe if is_captured else None, stderr=pipe if is_captured else None
    )
    try:
        output, said = child.communicate()
    except BaseException:
        _end(child)
        raise
    lines = (said or b"").decode(errors="backslashreplace").splitlines()
    diagnostics = [_diagnostic(line) for line in lines if line.strip()]
    code = child.returncode
    if passes_code:
        return Completed(words, code, output or b"", diagnostics)
    if code not in (0, LOSSES):
        reason = "\n".join(of.text for of in diagnostics) or f"flowmine {words[0]} ended with {code}"
        raise FlowmineError(reason, diagnostics, code)
    warn_of(diagnostics)
    if code == LOSSES:
        warn(f"flowmine {words[0]} finished with losses or rejected input", LossWarning)
    return Completed(words, code, output or b"", diagnostics)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Ends a command as Ctrl-C does, so that it completes what it writes."""
    import signal
    import subprocess

    child.send_signal(signal.SIGINT)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


class tracing:
    """Traces this process and those that it starts, as long as a ``with`` block runs.

    >>> with fm.tracing("dataset") as trace:  # doctest: +SKIP
    ...     train()

    Options are those of ``fm.trace``. It is done by eBPF, which needs privileges
    (``fm.doctor()``): a process that runs already is seen by no other way.
    """

    def __init__(self, dataset: Any, **options: Any) -> None:
        #: The messages of the tracer.
        self.diagnostics: list[Diagnostic] = []
        #: The exit code of the tracer, after the block.
        self.code: Optional[int] = None
        self._options = {**options, "dataset": dataset, "pid": os.getpid()}
        self._child: Optional[subprocess.Popen[bytes]] = None

    def __enter__(self) -> tracing:
        import subprocess
        import threading

        # The guard ends the tracer also where this process is killed.
        guard = os.path.join(os.path.dirname(__file__), "_guard.py")
        words = [sys.executable, "-I", guard, program(), *_words("trace", (), self._options)]
        pipe = subprocess.PIPE
        child = subprocess.Popen(words, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe)
        self._child, ready = child, threading.Event()
        self._reader = threading.Thread(target=self._read, args=(child.stderr, ready), daemon=True)
        self._reader.start()
        try:
            ready.wait()
        except BaseException:
            self._finish(child)
            raise
        if not self._is_begun:
            self._reader.join()
            reason = "\n".join(of.text for of in self.diagnostics) or "the tracer ended"
            raise FlowmineError(reason, self.diagnostics, child.wait())
        return self

    #: Whether the tracer has said that it traces.
    _is_begun = False

    def _read(self, lines: Any, ready: Any) -> None:
        for line in lines:
            of = _diagnostic(line.decode(errors="backslashreplace").rstrip("\n"))
            self.diagnostics.append(of)
            if " being traced (" in of.text:
                self._is_begun = True
                ready.set()
        ready.set()

    def _finish(self, child: subprocess.Popen[bytes]) -> int:
        """Ends the tracer, which then completes its dataset."""
        if child.stdin is not None:
            child.stdin.close()
        code = child.wait()
        self._reader.join()
        return code

    def __exit__(self, *_: object) -> None:
        child = self._child
        if child is None:
            return
        self.code = self._finish(child)
        if self.code not in (0, LOSSES):
            raise FlowmineError("\n".join(of.text for of in self.diagnostics), self.diagnostics, self.code)
        warn_of(self.diagnostics)
        if self.code == LOSSES:
            warn("the trace lost records", LossWarning)


def _diagnostic(line: str) -> Diagnostic:
    """Returns a line of standard error as a message."""
    for kind in ("note", "warning"):
        before = f"flowmine: {kind}: "
        if line.startswith(before):
            return Diagnostic(kind, line[len(before) :])
    if line.startswith("flowmine: "):
        return Diagnostic("done", line[len("flowmine: ") :])
    for kind in ("note", "warning", "error"):
        if f": {kind}: " in line:
            return Diagnostic(kind, line)
    return Diagnostic("done", line)
