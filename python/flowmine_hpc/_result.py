"""Models that were discovered."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Optional

from . import _native
from ._errors import Diagnostic, FlowmineError, LossWarning, finish, warn
from ._options import StrPath
from ._progress import Following

if TYPE_CHECKING:
    from ._source import Source


class Result:
    """A model of a source, which can be shown, read as data, and saved."""

    def __init__(self, model: str, source: Source, options: list[tuple[str, str]]) -> None:
        #: The name of the model.
        self.model = model
        #: What it was made of.
        self.source = source
        #: Its options, as the command takes them.
        self.options = list(options)
        formats = {name: formats for name, _, formats in _native.models()}
        if model not in formats:
            raise FlowmineError(f"there is no model {model!r}; there are: {', '.join(formats)}")
        #: The formats of the model, the usual one first.
        self.formats: list[str] = formats[model]
        # JSON has everything, and all other formats can be written of it; some models are made for one format.
        first = "json" if "json" in self.formats else self.formats[0]
        #: The messages of the discovery.
        self.diagnostics: list[Diagnostic] = []
        self._found = [self._discover(first)]
        #: Whether the source or its trace lost something, so that the model lacks it.
        self.is_lossy: bool = self._found[0].is_lossy or source.is_lossy
        if self.is_lossy:
            warn(f"{model}: the source lost something that this model lacks", LossWarning)

    def _discover(self, format: str) -> Any:
        with Following() as progress:
            reply = _native.discover(self.model, self.source._native, self.options, format, progress)
        found, self.diagnostics = finish(reply)
        return found

    def _in(self, format: str) -> Any:
        """Returns the result that can be written in a format."""
        if format not in self.formats:
            raise FlowmineError(f"the model {self.model} is not written as {format}; it is written as {', '.join(self.formats)}")
        for found in self._found:
            if format in found.formats:
                return found
        self._found.append(self._discover(format))
        return self._found[-1]

    def bytes(self, format: str) -> bytes:
        """Returns the model in one of its formats."""
        written: bytes = finish(self._in(format).bytes(format))[0]
        return written

    def text(self, format: Optional[str] = None) -> str:
        """Returns the model in one of its formats as text, by default the one for terminals."""
        if format is None:
            format = "text" if "text" in self.formats else "csv"
        return self.bytes(format).decode()

    @property
    def json(self) -> dict[str, Any]:
        """The model as data; docs/schemas/ has the schema of each model."""
        import json

        model: dict[str, Any] = json.loads(self.bytes("json"))
        return model

    @property
    def svg(self) -> str:
        """The figure."""
        return self.text("svg")

    def to_frame(self) -> Any:
        """Returns the numbers of the model as a DataFrame of pandas; unknown ones are ``NA``."""
        import io

        import pandas

        return pandas.read_csv(
            io.BytesIO(self.bytes("csv")), dtype_backend="numpy_nullable", keep_default_na=False, na_values=[""]
        )

    def to_networkx(self) -> Any:
        """Returns a graph of networkx, with the numbers as attributes of nodes and edges."""
        import io

        import networkx

        return networkx.read_graphml(io.BytesIO(self.bytes("graphml")))

    def to_pm4py(self) -> tuple[dict[tuple[str, str], int], dict[str, int], dict[str, int]]:
        """Returns a directly-follows graph as PM4Py has it: edges, start and end activities."""
        if self.model != "dfg":
            raise FlowmineError(f"PM4Py has no form of the model {self.model}; a dfg has one")
        model = self.json
        edges = {(edge["from"], edge["to"]): edge["frequency"] for edge in model["edges"]}
        starts, lasts = model["start_activities"], model["end_activities"]
        return edges, {of["activity"]: of["cases"] for of in starts}, {of["activity"]: of["cases"] for of in lasts}

    def save(self, path: StrPath, format: Optional[str] = None) -> None:
        """Writes the model into a file; the format is that of its suffix by default."""
        path = os.path.abspath(os.fspath(path))
        try:
            format = format or _native.format_of(self.model, path) or self.formats[0]
        except ValueError as error:
            raise FlowmineError(str(error)) from None
        finish(self._in(format).save(path, format))

    def __repr__(self) -> str:
        return f"<flowmine_hpc.Result {self.model}: {', '.join(self.formats)}>"

    def _repr_svg_(self) -> Optional[str]:
        return self.svg if "svg" in self.formats else None

    def _repr_html_(self) -> Optional[str]:
        """Returns a list as a table; figures are shown as SVG."""
        if "svg" in self.formats:
            return None
        from html import escape

        return f"<pre>{escape(self.text())}</pre>"
