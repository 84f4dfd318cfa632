from typing import Any, Callable, Optional, Sequence

__version__: str

_Progress = Callable[[str, int, int], None]
_Column = tuple[str, str, str, bool]

class Reply:
    value: Any
    error: Optional[str]
    def messages(self) -> list[dict[str, Any]]: ...

class Source:
    is_lossy: bool
    is_temporary: bool
    dataset: Optional[Any]
    logs: list[Any]
    given: list[Any]
    def close(self) -> None: ...

class Found:
    model: str
    formats: list[str]
    is_lossy: bool
    def bytes(self, format: str) -> Reply: ...
    def save(self, path: str, format: str) -> Reply: ...

def settle(seconds: float) -> bool: ...
def open(paths: Sequence[str], progress: Optional[_Progress] = None) -> Reply: ...
def discover(
    model: str,
    source: Source,
    options: Sequence[tuple[str, str]],
    format: Optional[str],
    progress: Optional[_Progress] = None,
) -> Reply: ...
def format_of(model: str, path: str) -> Optional[str]: ...
def declared() -> list[tuple[str, str, bool, list[_Column]]]: ...
def rows(dataset: str, table: str, hosts: Optional[Sequence[str]] = None) -> Reply: ...
def stream(
    dataset: str, table: str, columns: Optional[Sequence[str]] = None, hosts: Optional[Sequence[str]] = None
) -> Reply: ...
def models() -> list[tuple[str, str, list[str]]]: ...
def options(model: str) -> Optional[list[tuple[str, Optional[str], str, bool]]]: ...
