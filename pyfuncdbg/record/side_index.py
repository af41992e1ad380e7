"""A second, read-only connection to the index of a trace: for long queries, which may be broken off, beside the short ones.

Used on worker threads; a lock lets one work at a time, and any thread may cancel. SQLite works without Python's global lock.
"""
from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import TraceError
from pyfuncdbg.record.query import site_matches

_STEPS = 50_000


class QueryCancelledError(Exception):
    """Another thread broke the query off."""


class SideIndex:
    """The index for one query after the other. Close it after use.

    Args:
        index: The file, which must exist.
    """

    def __init__(self, index: Path) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self.database = sqlite3.connect(f'{index.absolute().as_uri()}?mode=ro', uri=True, timeout=10.0, isolation_level=None,
                                        check_same_thread=False)
        # Asked every few milliseconds; unlike `interrupt` it cannot come too early.
        self.database.set_progress_handler(lambda: self._cancelled, _STEPS)
        self.database.execute('PRAGMA trusted_schema = OFF')
        self.database.execute('PRAGMA cache_size = -4000')
        self.database.create_function('site_matches', 4, site_matches, deterministic=True)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """What the index answers.

        Raises:
            QueryCancelledError: By `cancel`, before or while it was asked.
            TraceError: The index is damaged or gone.
        """
        with self._lock:
            try:
                if self._cancelled:
                    raise QueryCancelledError
                return self.database.execute(sql, parameters).fetchall()
            except sqlite3.DatabaseError as error:
                if self._cancelled:
                    raise QueryCancelledError from None
                raise TraceError(f'the index cannot be read: {error}') from error

    def cancel(self) -> None:
        """Break off what another thread is doing here; it gets `QueryCancelledError`, as does all that is asked later."""
        self._cancelled = True

    def close(self) -> None:
        """Close the connection; closing twice is allowed."""
        self.cancel()
        with self._lock:
            self.database.close()
