"""The pair of streams that a capture watches: what `sys.stdout` and `sys.stderr` were when a call began.

`streams.Streams` makes it; every call that finds the same streams has the same value.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Write = Callable[..., Any]
"""The `write` of a stream."""


class WatchedStreams(NamedTuple):
    """The streams that are `sys.stdout` and `sys.stderr` when a call begins; one value for all calls with the same.

    A stream that the function itself sets there is not watched.

    Attributes:
        stdout, stderr: Give the stream, or None once it is gone.
        echo: Whether the streams also get what is printed.
        out, err: The watching `write` on top of each, None where none can be.
    """

    stdout: Callable[[], Any]
    stderr: Callable[[], Any]
    echo: bool
    out: Write | None = None
    err: Write | None = None

    def match(self, stdout: Any, stderr: Any) -> bool:
        """Whether these are `stdout` and `stderr` still, and no `write` was put over ours or replaces it."""
        return (self.stdout() is stdout and self.stderr() is stderr
                and (self.out is None or getattr(stdout, 'write', None) is self.out)
                and (self.err is None or getattr(stderr, 'write', None) is self.err))
