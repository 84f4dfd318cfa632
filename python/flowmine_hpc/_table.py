"""Tables of datasets: lazy, and read by whatever reads Arrow streams."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Sequence, Union

from . import _native
from ._errors import FlowmineError, finish


class Column(NamedTuple):
    """A column of a table."""

    name: str
    #: ``text``, ``i64``, ``i32``, ``f64`` or ``bool``.
    type: str
    doc: str
    is_nullable: bool


class _Declared(NamedTuple):
    doc: str
    is_split: bool
    columns: dict[str, Column]


_declared: Optional[dict[str, _Declared]] = None


def declared() -> dict[str, _Declared]:
    """Returns the declarations of all tables, by name."""
    global _declared
    if _declared is None:
        tables = _native.declared()
        _declared = {
            name: _Declared(doc, is_split, {column[0]: Column(*column) for column in columns})
            for name, doc, is_split, columns in tables
        }
    return _declared


class Table:
    """A table of a dataset, which is read when a reader takes its stream.

    pyarrow, polars, DuckDB and pandas read it through the Arrow C stream interface:
    ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("select count(*) from t")``.
    """

    def __init__(
        self,
        source: Any,
        dataset: str,
        name: str,
        columns: Optional[Sequence[str]] = None,
        hosts: Optional[Sequence[str]] = None,
    ) -> None:
        # A temporary dataset lives as long as its source.
        self._source, self._dataset, self._hosts = source, dataset, hosts
        #: The name of the table.
        self.name = name
        self._all = declared()[name].columns
        #: The names of the chosen columns.
        self.columns: tuple[str, ...] = tuple(self._all if columns is None else columns)

    @property
    def doc(self) -> str:
        """What a row of the table is."""
        return declared()[self.name].doc

    @property
    def schema(self) -> list[Column]:
        """The chosen columns with their types and meanings."""
        return [self._all[name] for name in self.columns]

    def select(self, *columns: Union[str, Sequence[str]]) -> Table:
        """Returns the table with these columns only; no others are read from its files."""
        names: list[str] = []
        for column in columns:
            names.extend([column] if isinstance(column, str) else column)
        unknown = [name for name in names if name not in self._all]
        if unknown or not names or len(set(names)) < len(names):
            what = f"no column {unknown[0]!r}" if unknown else "each column once, and one at least"
            raise FlowmineError(f"the table {self.name} has {what}; it has: {', '.join(self._all)}")
        return Table(self._source, self._dataset, self.name, names, self._hosts)

    def of_hosts(self, *hosts: str) -> Table:
        """Returns the rows of these hosts only; files of others are not opened.

        Tables of traces are split by hosts; others have no such files.
        """
        if not declared()[self.name].is_split:
            raise FlowmineError(f"the table {self.name} is not split by hosts")
        return Table(self._source, self._dataset, self.name, self.columns, hosts)

    def __len__(self) -> int:
        return int(finish(_native.rows(self._dataset, self.name, self._hosts))[0])

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns the rows as a stream; the schema is the table's own, whatever is requested."""
        return finish(_native.stream(self._dataset, self.name, self.columns, self._hosts))[0]

    def to_arrow(self) -> Any:
        """Returns the rows as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """Returns the rows as a DataFrame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns the rows as a DataFrame of pandas; it needs pyarrow.

        A whole number that can be unknown is ``Int64``: as ``float64`` a time would lose digits.
        """
        import pandas

        arrow = self.to_arrow()
        exact = {"i64": pandas.Int64Dtype(), "i32": pandas.Int32Dtype(), "bool": pandas.BooleanDtype()}
        columns = {}
        for column in self.schema:
            values = arrow.column(column.name)
            if column.is_nullable and column.type in exact:
                columns[column.name] = pandas.Series(exact[column.type].__from_arrow__(values))
            else:
                columns[column.name] = values.to_pandas()
        return pandas.DataFrame(columns, copy=False)

    def __repr__(self) -> str:
        return f"<flowmine_hpc.Table {self.name}: {len(self)} rows, {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(of.name)}</td><td>{of.type}</td><td>{escape(of.doc)}</td></tr>" for of in self.schema
        )
        head = f"<p><code>{escape(self.name)}</code>: {len(self)} rows</p>"
        return f"{head}<table><tr><th>column</th><th>type</th><th>meaning</th></tr>{rows}</table>"
