"""New trace that is made of others: whole, or not there at all. On the thread of the command."""
from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.log.trace_folder import TracePart, create


@contextmanager
def new_trace(target: Path, sources: Sequence[Path], budget: int, created: float,
              parts: Sequence[TracePart]) -> Iterator[None]:
    """A block that writes a trace; if it fails, the folder is removed.

    Args:
        target: Its folder, which must not exist.
        sources: Folders of the traces that it is made of.
        budget, created, parts: As of its manifest.

    Raises:
        TraceError: The folder is taken, is in one of the sources, or cannot be written.
    """
    if target.exists() or target.is_symlink():
        raise TraceError(f'{target}: exists already; give a path that does not')
    for source in sources:
        if source.resolve() in target.resolve().parents:
            raise TraceError(f'{target}: is in the folder of a trace, {source}; give another path')
    create(target, budget, created, parts=parts)
    try:
        yield
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise TraceError(f'{target}: cannot be written: {error.strerror}') from error
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
