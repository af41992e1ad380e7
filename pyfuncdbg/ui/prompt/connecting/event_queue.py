"""Bounded queue of a program's events, between the thread that receives them and the one that shows them.

A program that logs faster than that is shown loses lines, which are counted; the thread that receives never waits.
"""
from __future__ import annotations

import threading
from collections import deque
from typing import Any

from pyfuncdbg.ui.commands.socket.protocol import ProtocolError

_MOST = 4 << 20
"""Bytes of events that wait."""
_COST = 500
"""Bytes that a short event takes."""


class Events:
    """First in, first out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[tuple[dict[str, Any], int]] = deque()
        self._size = 0
        self._dropped = 0

    def put(self, event: dict[str, Any], size: int = 0) -> None:
        """One more.

        Args:
            event: As it came.
            size: Bytes that it had.

        Raises:
            ProtocolError: Too much waits that cannot be left out.
        """
        with self._changed:
            log = event['event'] == 'log'       # half of the room is kept for events that must not be dropped
            full = self._size + size > (_MOST // 2 if log else _MOST) and event['event'] not in ('ended', 'lost')
            if full and not log:
                raise ProtocolError('more events than can be shown')
            if full:
                self._dropped += 1
            else:
                self._waiting.append((event, size + _COST))
                self._size += size + _COST
            self._changed.notify()

    def get(self) -> dict[str, Any]:
        """The next one; waits for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._dropped)
            if not self._waiting:
                dropped, self._dropped = self._dropped, 0
                return {'event': 'log', 'text': f'{dropped} lines came faster than they could be shown, and were dropped'}
            event, size = self._waiting.popleft()
            self._size -= size
            return event
