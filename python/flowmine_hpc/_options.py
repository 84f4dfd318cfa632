"""Values of Python as texts of options."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
from typing import Any, Literal, Sequence, Union

StrPath = Union[str, "os.PathLike[str]"]
#: A value of an option of a command.
Value = Union[str, int, float, "os.PathLike[str]", datetime.date, datetime.timedelta]
#: Seconds as a timedelta, or a text such as 90s or 15m.
Length = Union[str, datetime.timedelta]
#: A moment, or a text such as 2026-11-20T13:00 (UTC).
Moment = Union[str, datetime.date]

__all__ = ["Any", "Length", "Literal", "Moment", "Sequence", "StrPath", "Union", "Value"]


def name_of(keyword: str) -> str:
    """Returns the name of the option that a keyword stands for: ``from_`` is ``from``."""
    return keyword.rstrip("_").replace("_", "-")


def text_of(value: Any) -> str:
    """Returns a value as the text of an option."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise TypeError("True and False are for switches")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.datetime):
        # A time without a zone is UTC, here as in the command.
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return f"{value.total_seconds()!r}s"
    if isinstance(value, os.PathLike):
        return os.fsdecode(os.fspath(value))
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str) for part in value):
        return "=>".join(value)
    if hasattr(value, "item"):
        # A number of numpy.
        return text_of(value.item())
    raise TypeError(f"an option cannot be {type(value).__name__}")


def texts_of(value: Any, is_path: bool = False) -> list[str]:
    """Returns the texts of an option that may be given several times; none for None."""
    if value is None:
        return []
    is_pair = is_path and isinstance(value, tuple) and len(value) == 2
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and not is_pair:
        return [text_of(one) for one in value]
    return [text_of(value)]
