"""Process mining for HPC clusters and scientific workflows.

``open`` recognises a dataset, a log file or the recordings of Slurm, tracers and workflow engines:

>>> import flowmine_hpc as fm
>>> source = fm.open("dataset")  # doctest: +SKIP
>>> source.tables  # doctest: +SKIP
>>> source.task_io.select("task", "read_bytes").to_pandas()  # doctest: +SKIP
>>> source.dfg(events="ends")  # doctest: +SKIP

Each model is a function of the package and a method of a source.
Each command of ``flowmine`` is a function of the package.
Failures are ``FlowmineError``, and doubts about a result are ``FlowmineWarning``.
"""

from __future__ import annotations

import atexit as _atexit

from . import _native
from ._commands import *  # noqa: F403
from ._commands import __all__ as _of_commands
from ._errors import Diagnostic, FlowmineError, FlowmineWarning, LossWarning
from ._log import Log, read_log
from ._models import *  # noqa: F403
from ._models import __all__ as _of_models
from ._process import Completed, command, tracing
from ._progress import show_progress
from ._result import Result
from ._source import Source, discover, open
from ._table import Table

# Calls that were interrupted end at their next step, and remove what they made.
_atexit.register(_native.settle, 30.0)

__version__: str = _native.__version__

__all__ = [
    "Completed",
    "Diagnostic",
    "FlowmineError",
    "FlowmineWarning",
    "Log",
    "LossWarning",
    "Result",
    "Source",
    "Table",
    "command",
    "discover",
    "open",
    "read_log",
    "show_progress",
    "tracing",
    *_of_commands,
    *_of_models,
]
