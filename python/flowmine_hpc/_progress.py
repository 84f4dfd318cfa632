"""Progress of calls, by tqdm where it is installed."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

#: Takes the stage, how much of it is done, and of how much (0 where that is unknown).
Progress = Callable[[str, int, int], None]

_shown: Union[bool, Progress, None] = None


def show_progress(shown: Union[bool, Progress, None]) -> None:
    """Shows progress of long calls, or hands it to a function.

    By default (``None``) tqdm shows it in notebooks and on terminals, where it is installed.
    """
    global _shown
    _shown = shown


class _Bar:
    """A bar of tqdm for each stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._bar = tqdm, None
        self._stage: Optional[str] = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._bar, self._stage = self._tqdm(desc=stage, leave=False), stage
        bar: Any = self._bar
        bar.total = total or None
        bar.update(done - bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class Following:
    """The receiver of the progress of one call, which ends with it."""

    def __init__(self) -> None:
        self._bar: Optional[_Bar] = None

    def __enter__(self) -> Optional[Progress]:
        if callable(_shown):
            return _shown
        if _shown is False or (_shown is None and not _is_watched()):
            return None
        # Imported when a call lasts, which most do not.
        return self._show

    def _show(self, stage: str, done: int, total: int) -> None:
        if self._bar is None:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                return
            self._bar = _Bar(tqdm)
        self._bar(stage, done, total)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
