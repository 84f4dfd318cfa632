"""Event logs: files, DataFrames of pandas and polars, Arrow tables, logs of PM4Py."""

from __future__ import annotations

import os
import weakref
from typing import Any, Mapping, Optional

from . import _pm4py
from ._errors import FlowmineError
from ._options import StrPath
from ._source import Source


#: The options of models that define how a table is read.
COLUMNS = (
    "case_column",
    "activity_column",
    "timestamp_column",
    "start_column",
    "timestamp_unit",
    "date_format",
    "zone",
    "encoding",
    "delimiter",
    "header",
    "lifecycle_column",
    "instance_column",
    "resource_column",
    "read_bytes_column",
    "written_bytes_column",
)


class Log(Source):
    """An event log."""

    def __init__(self, *paths: StrPath, directory: Optional[str] = None, columns: Optional[Mapping[str, Any]] = None) -> None:
        super().__init__(*paths, columns=columns)
        # The file of a log that was handed over lives as long as the log.
        self._files = weakref.finalize(self, _remove, directory, os.getpid()) if directory else None

    def close(self) -> None:
        """Removes the file of a log that was handed over, which otherwise ends with the object."""
        super().close()
        if self._files is not None:
            self._files()


def read_log(log: Any, *more: StrPath, **columns: Any) -> Log:
    """Reads an event log.

    It is a path (XES, OCEL 2.0, CSV, Parquet), a DataFrame of pandas or polars, an Arrow table or
    stream, or PM4Py's EventLog or OCEL. Several paths are one log. What is no path is written into
    a file of a private temporary directory first.
    Columns of a table are found by the names of PM4Py, bupaR and flowmine, or are named as for a
    model: ``case_column="order"``, ``zone="Europe/Berlin"``.
    """
    unknown = [keyword for keyword in columns if keyword not in COLUMNS]
    if unknown:
        raise FlowmineError(f"a log has no option {unknown[0]!r}; it has: {', '.join(COLUMNS)}")
    if isinstance(log, (str, os.PathLike)):
        return Log(log, *more, columns=columns)
    import tempfile

    directory = tempfile.mkdtemp(prefix="flowmine-")
    try:
        return Log(_written(log, directory), directory=directory, columns=columns)
    except BaseException:
        _remove(directory, os.getpid())
        raise


def _remove(directory: str, process: int) -> None:
    """Removes the directory of this process; a fork keeps that of its parent."""
    import shutil

    if process == os.getpid():
        shutil.rmtree(directory, ignore_errors=True)


def _written(log: Any, directory: str) -> str:
    """Writes a log into a file, and returns its path."""
    table, lines = os.path.join(directory, "log.parquet"), os.path.join(directory, "log.csv")
    if _pm4py.is_ocel(log):
        return _pm4py.write_ocel(log, os.path.join(directory, "log.ocel.json"))
    if _pm4py.is_event_log(log):
        return _pm4py.write_event_log(log, lines)
    if hasattr(log, "write_parquet"):
        # A DataFrame of polars.
        log.write_parquet(table)
        return table
    if hasattr(log, "to_parquet") and hasattr(log, "to_csv"):
        # A DataFrame of pandas. Parquet needs pyarrow; CSV has the same values, as text.
        pyarrow = _arrow()
        if pyarrow is not None:
            _write_arrow(pyarrow.Table.from_pandas(log, preserve_index=False), table)
            return table
        log.to_csv(lines, index=False)
        return lines
    if hasattr(log, "__arrow_c_stream__"):
        pyarrow = _arrow()
        if pyarrow is None:
            raise FlowmineError("an Arrow table or stream is read by pyarrow, which is not installed")
        _write_arrow(pyarrow.table(log), table)
        return table
    raise FlowmineError(f"{type(log).__name__} is no path, DataFrame, Arrow table, EventLog or OCEL")


def _write_arrow(table: Any, path: str) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow
