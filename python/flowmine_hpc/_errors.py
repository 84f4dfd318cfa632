"""Exceptions, warnings and diagnostics, and what a call of the native module becomes."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any, NamedTuple, Optional, Sequence

#: Number of warnings of one call; all diagnostics are kept in its result.
SHOWN = 10


def visible(text: str) -> str:
    """Returns text without characters that steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class Diagnostic(NamedTuple):
    """A message about an input or a result."""

    #: ``note``, ``warning``, ``error`` or ``done``.
    kind: str
    #: The message.
    text: str
    #: The input that it is about.
    input: Optional[str] = None
    #: A short fixed name.
    code: Optional[str] = None
    #: The id, or the path within the document.
    place: Optional[str] = None
    #: Line of the input, from 1.
    line: Optional[int] = None
    #: Column in bytes, from 1.
    column: Optional[int] = None
    #: Number of occurrences.
    times: int = 1
    #: What to do about it.
    advice: Optional[str] = None

    def __str__(self) -> str:
        places = [str(place) for place in (self.input, self.line, self.column) if place is not None]
        text = ": ".join(part for part in (":".join(places), self.place, self.text) if part)
        if self.times > 1:
            text += f" ({self.times} times)"
        if self.code is not None:
            text += f" [{self.code}]"
        if self.advice is not None:
            text += f" ({self.advice})"
        return visible(text)


class FlowmineError(Exception):
    """A request that failed or was refused; ``diagnostics`` has the messages before it."""

    def __init__(self, text: str, diagnostics: Sequence[Diagnostic] = (), code: Optional[int] = None) -> None:
        super().__init__(visible(text))
        #: The messages of the call.
        self.diagnostics = list(diagnostics)
        #: The exit code, of a command.
        self.code = code

    def __reduce__(self) -> Any:
        return type(self), (str(self), self.diagnostics, self.code)


class FlowmineWarning(UserWarning):
    """A reason to doubt a result."""


class LossWarning(FlowmineWarning):
    """The result lacks something that its source lost, or that was rejected."""


def warn(text: str, category: type[Warning] = FlowmineWarning) -> None:
    """Warns at the line that called the package."""
    frame: Optional[FrameType] = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    warnings.warn(visible(text), category, stacklevel=level)


def warn_of(diagnostics: Sequence[Diagnostic]) -> None:
    """Warns of warnings and errors among diagnostics."""
    doubts = [of for of in diagnostics if of.kind in ("warning", "error")]
    for of in doubts[:SHOWN]:
        warn(str(of))
    if len(doubts) > SHOWN:
        warn(f"and {len(doubts) - SHOWN} more warnings; `diagnostics` has all of them")


def finish(reply: Any) -> tuple[Any, list[Diagnostic]]:
    """Returns the value of a reply and its messages; raises its error."""
    diagnostics = [Diagnostic(**message) for message in reply.messages()]
    if reply.error is not None:
        raise FlowmineError(reply.error, diagnostics)
    warn_of(diagnostics)
    return reply.value, diagnostics
