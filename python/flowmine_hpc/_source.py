"""Sources: datasets, log files, and what is imported."""

from __future__ import annotations

import os
import weakref
from typing import Any, Mapping, Optional, Sequence, Union

from . import _native
from ._errors import Diagnostic, FlowmineError, LossWarning, finish, warn
from ._models import Models
from ._options import StrPath, name_of, text_of, texts_of
from ._progress import Following
from ._result import Result
from ._table import Table, declared
from ._tables import Tables


class Source(Models, Tables):
    """An opened source: its tables are attributes, and its models are methods.

    A table with the name of a model, such as ``waits``, is ``source.tables["waits"]``.
    """

    def __init__(self, *paths: StrPath, columns: Optional[Mapping[str, Any]] = None) -> None:
        if not paths:
            raise FlowmineError("nothing to open: give a path")
        # Options of models that name columns of a table.
        self._columns = dict(columns or {})
        given = [os.path.abspath(os.fspath(path)) for path in paths]
        with Following() as progress:
            self._native, self.messages = finish(_native.open(given, progress))
        self._finalizer = weakref.finalize(self, self._native.close)
        if self.is_lossy:
            warn(f"{', '.join(given)}: something was rejected or lost", LossWarning)

    #: The messages of opening it.
    messages: list[Diagnostic]

    @property
    def is_lossy(self) -> bool:
        """Whether something was rejected or lost when it was opened."""
        return bool(self._native.is_lossy)

    @property
    def paths(self) -> list[str]:
        """The paths that were opened."""
        return [os.fspath(path) for path in self._native.given]

    @property
    def dataset(self) -> Union[str, None]:
        """The directory of the dataset; of imported sources it is temporary."""
        path = self._native.dataset
        return None if path is None else os.fspath(path)

    def __fspath__(self) -> str:
        """Returns the dataset or the log file, so that a source is a value of an option."""
        paths = [self.dataset] if self.dataset is not None else [os.fspath(path) for path in self._native.logs]
        if len(paths) != 1:
            raise FlowmineError(f"{len(paths)} log files are no single path")
        return paths[0]

    @property
    def tables(self) -> Mapping[str, Table]:
        """The tables that have rows, by name."""
        if self.dataset is None:
            return {}
        tables = {name: self.table(name) for name in declared()}
        return {name: table for name, table in tables.items() if len(table) > 0}

    def table(self, name: str) -> Table:
        """Returns a table, which may have no rows."""
        if name not in declared():
            raise FlowmineError(f"there is no table {name!r}; there are: {', '.join(declared())}")
        if self.dataset is None:
            raise FlowmineError(f"{', '.join(self.paths)}: a log file has no tables of a dataset")
        return Table(self, self.dataset, name)

    def discover(self, model: str, **options: Any) -> Result:
        """Discovers the model of this name."""
        return discover(model, self, **options)

    def to_pm4py(self, events: str = "ends", **options: Any) -> Any:
        """Returns the events as a DataFrame of pandas with PM4Py's columns.

        By default it has the events with which activities end, as PM4Py counts each event as an
        activity: its directly-follows graph is that of ``source.dfg(events="ends")``.
        ``events="all"`` keeps every event. Options are those of ``export``.
        """
        from ._pm4py import frame_of

        if events not in ("ends", "all"):
            raise FlowmineError("events is 'ends' or 'all'")
        return frame_of(self, events == "ends", {**self._columns, **options})

    def close(self) -> None:
        """Removes a temporary dataset, which otherwise ends with the object."""
        self._finalizer()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        what = "dataset" if self.dataset else "log"
        if self._native.is_temporary:
            what = "imported sources"
        return f"<flowmine_hpc.{type(self).__name__} {', '.join(self.paths)}: {what}>"


#: What a model is made of.
SourceLike = Union[Source, StrPath, Sequence[StrPath], Any]


def open(*paths: StrPath) -> Source:
    """Recognises what paths are and opens them: a dataset, log files as one log, or recordings.

    Recordings are imported into a temporary dataset.
    """
    return Source(*paths)


def source_of(source: SourceLike) -> Source:
    """Returns an opened source, or opens what is given: paths, a DataFrame, a log of PM4Py."""
    if isinstance(source, Source):
        return source
    if isinstance(source, (str, os.PathLike)):
        return Source(source)
    if isinstance(source, (list, tuple)) and source and all(isinstance(one, (str, os.PathLike)) for one in source):
        return Source(*source)
    from ._log import read_log

    return read_log(source)


def discover(model: str, source: SourceLike, **options: Any) -> Result:
    """Discovers the model of this name; options are those of ``flowmine discover MODEL``.

    ``min_count=2`` is ``--min-count 2``, ``from_="2026-11-20"`` is ``--from``, and a list gives an
    option several times.
    """
    declared = _native.options(model)
    kinds = {}
    for name, alias, kind, is_many in declared or ():
        kinds[name] = kinds[alias or name] = kind, is_many
    source = source_of(source)
    given: list[tuple[str, str]] = []
    named = {keyword: value for keyword, value in source._columns.items() if name_of(keyword) in kinds}
    named.update((keyword, value) for keyword, value in options.items() if value is not None)
    for keyword, value in named.items():
        name = name_of(keyword)
        kind, is_many = kinds.get(name, ("text", True))
        if value is False and kind in ("flag", "text"):
            continue
        if kind == "flag":
            if value is not True:
                raise FlowmineError(f"{keyword} is a switch, True or False")
            given.append((name, ""))
            continue
        try:
            texts = texts_of(value, kind == "path") if is_many else [text_of(value)]
        except TypeError as error:
            raise FlowmineError(f"{keyword}: {error}") from None
        given.extend((name, text) for text in texts)
    return Result(model, source, given)
