"""Captured output of one call, in order and within limits.

`output_owner.add_output` makes it at the first output of a call, on any thread that runs in the context of the call.
"""
from __future__ import annotations

from collections import deque
from time import perf_counter_ns
from typing import Literal

from pyfuncdbg.hooks.locks import new_rlock

OutputKind = Literal['out', 'err', 'warning', 'log', 'fp', 'host']
"""Where it comes from; 'host' is a remark of the host on the call, in its category."""

HEAD = TAIL = 32 * 1024
"""Bytes of text (UTF-8) kept of the beginning and of the end of one call's output."""

ENTRIES = 1000
"""Entries kept of each of the two, so that a million tiny prints stay small."""

_LINE = 512
"""A line printed in pieces is one entry up to about this many characters."""


Place = tuple[str, int, str]
"""File, line and function; blanks where unknown."""

NOWHERE: Place = ('', 0, '')


class OutputEntry:
    """One entry of a call's output.

    Attributes:
        kind: Where it comes from.
        text: The text; pieces of one printed line are joined.
        category: Class of a warning, level and logger of a log record, kind of a floating-point error; else ''.
        place: File, line and function that it comes from.
        offset: Nanoseconds after the call began.
    """

    __slots__ = ('category', 'kind', 'offset', 'place', 'text')

    def __init__(self, kind: OutputKind, text: str, category: str, place: Place, offset: int) -> None:
        self.kind: OutputKind = kind
        self.text = text
        self.category = category
        self.place = place
        self.offset = offset

    @property
    def filename(self) -> str:
        return self.place[0]

    @property
    def line(self) -> int:
        return self.place[1]

    @property
    def function(self) -> str:
        return self.place[2]

    def __repr__(self) -> str:
        return f'<{self.kind} {self.category} {self.text!r:.60} {self.filename}:{self.line}>'


class Output:
    """Captured output of one call so far.

    Attributes:
        started: `time.perf_counter_ns()` when the call began.
        open: The call is running; what comes later, from threads that it left behind, is not its own.
    """

    __slots__ = ('_buffer', 'open', 'started')

    def __init__(self, started: int) -> None:
        self.started = started
        self.open = False
        self._buffer: _EntryBuffer | None = None

    def add(self, kind: OutputKind, text: str, category: str = '', place: Place = NOWHERE) -> None:
        """Add an entry; pieces of one printed line become one.

        Args:
            kind, text, category, place: As in `OutputEntry`.
        """
        with lock:
            if not self.open:
                return
            buffer = self._buffer
            if buffer is None:
                buffer = self._buffer = _EntryBuffer()
            elif buffer.open_line is not None and buffer.extend_line(kind, text, place):
                return
            buffer.add(OutputEntry(kind, text, category, place, perf_counter_ns() - self.started))

    @property
    def entries(self) -> tuple[OutputEntry, ...]:
        """The entries that were kept, in order: the head, then the tail."""
        buffer = self._buffer
        if buffer is None:
            return ()
        with lock:
            return (*buffer.head, *buffer.tail)

    @property
    def dropped_bytes(self) -> int:
        """Bytes of text (UTF-8) that lay between head and tail, exact."""
        return self._buffer.dropped_bytes if self._buffer is not None else 0

    @property
    def dropped_entries(self) -> int:
        """The exact number of entries that were not kept."""
        return self._buffer.dropped_entries if self._buffer is not None else 0


NO_OUTPUT = Output(0)
"""The output of every captured call that has none, as most; never written to."""

# Re-entrant: a signal handler may print while its thread is inside `add`.
lock = new_rlock()
"""Held while something is added to an output, or an output is given to a call."""


class _EntryBuffer:
    """Head and tail of a call's output."""

    __slots__ = ('_head_open', '_room', '_tail_bytes', 'dropped_bytes', 'dropped_entries', 'head', 'open_line', 'tail')

    def __init__(self) -> None:
        self.head: list[OutputEntry] = []
        self.tail: deque[OutputEntry] = deque()
        self.open_line: OutputEntry | None = None
        """The last entry, if it is a printed line without its end."""
        self._head_open = True                    # the head still takes entries
        self._room = HEAD
        self._tail_bytes = 0
        self.dropped_bytes = 0
        self.dropped_entries = 0

    def extend_line(self, kind: OutputKind, text: str, place: Place) -> bool:
        """Extend the open line; False if the text belongs to another one."""
        last = self.open_line
        size = _size(text)
        if last is None or last.place != place or last.kind != kind or (self._head_open and size > self._room):
            return False
        last.text += text
        if text[-1] == '\n' or len(last.text) > _LINE:
            self.open_line = None
        if self._head_open:
            self._room -= size
        else:
            self._tail_bytes += size
            self._trim()
        return True

    def add(self, entry: OutputEntry) -> None:
        text = entry.text
        size = _size(text)
        self.open_line = entry if entry.kind in ('out', 'err') and text[-1] != '\n' else None
        if self._head_open:
            if size <= self._room and len(self.head) < ENTRIES:
                self.head.append(entry)
                self._room -= size
                return
            self._head_open = False
            cut = _characters_within(text, self._room) if len(self.head) < ENTRIES else 0
            if cut:
                self.head.append(OutputEntry(entry.kind, text[:cut], entry.category, entry.place, entry.offset))
                entry.text = text = text[cut:]
                size = _size(text)
        self.tail.append(entry)
        self._tail_bytes += size
        self._trim()

    def _trim(self) -> None:
        while self._tail_bytes > TAIL or len(self.tail) > ENTRIES:
            oldest = self.tail[0]
            size = _size(oldest.text)
            surplus = self._tail_bytes - TAIL
            if len(self.tail) > ENTRIES or size <= surplus:
                self.tail.popleft()
                self.dropped_entries += 1
                rest = 0
            else:
                # Cut from its front: what fits of the reversed text is what fits of its end.
                text = oldest.text[surplus - size:]
                oldest.text = text[len(text) - _characters_within(text[::-1], size - surplus):]
                rest = _size(oldest.text)
            self.dropped_bytes += size - rest
            self._tail_bytes -= size - rest


def _size(text: str) -> int:
    # 'surrogatepass': a lone surrogate can be printed to a stream whose error handler allows it.
    return len(text) if text.isascii() else len(text.encode('utf-8', 'surrogatepass'))


_CONTINUATION = bytes(range(0x80, 0xC0))


def _characters_within(text: str, room: int) -> int:
    """The number of characters at the beginning that fit into `room` bytes."""
    encoded = text[:room].encode('utf-8', 'surrogatepass')
    characters = len(encoded[:room].translate(None, _CONTINUATION))
    cut_inside = len(encoded) > room and encoded[room] in _CONTINUATION
    return characters - cut_inside
