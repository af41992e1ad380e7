"""Files that one export creates: all of them or, where it fails, none; a file that exists is never replaced."""
from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import IO, TypeVar

_File = TypeVar('_File', IO[str], IO[bytes])


class NewFiles:
    """The files of an export, as a context: when it raises, they are removed.

    Args:
        path: Of the file that the user asked for.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._created: list[tuple[Path, IO[str] | IO[bytes]]] = []

    def text(self) -> IO[str]:
        """The file that the user asked for, as text."""
        return self._keep(self.path, self.path.open('x', encoding='utf-8', errors='backslashreplace', newline=''))

    def binary(self, path: Path | None = None) -> IO[bytes]:
        """The file that the user asked for, or one beside it."""
        path = self.path if path is None else path
        return self._keep(path, path.open('xb'))

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes of the files by path, in the order in which they were created."""
        return {str(path): path.stat().st_size for path, _ in self._created}

    def __enter__(self) -> NewFiles:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self._remove()
            return
        try:
            for _, file in self._created:
                file.close()                    # writes what is left, for which a disk may have no room
        except BaseException:
            self._remove()
            raise

    def _remove(self) -> None:
        """After an interrupt too: a part of a file would pass for the whole."""
        for path, file in self._created:
            with contextlib.suppress(OSError):
                file.close()
            path.unlink(missing_ok=True)

    def _keep(self, path: Path, file: _File) -> _File:
        self._created.append((path, file))
        return file
