"""Output of a program by thread, as the scheduler decides in which order threads write.

`OutputRecorder` runs in the program's process, on the threads that write; `verify` compares what `read_streams` gives for
several runs.
"""
from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

STREAMS = ('stdout', 'stderr')
_FILE = 'said.jsonl'
_MAIN = 0


@dataclass(frozen=True, slots=True)
class StreamText:
    """The text of a stream.

    Attributes:
        main: What the main thread wrote.
        others: What each other thread wrote.
    """

    main: bytes
    others: tuple[bytes, ...]

    def text(self, cleaned: Callable[[bytes], bytes]) -> tuple[list[bytes], int]:
        """The lines of the main thread, then those of the others in order of the alphabet; and how many are the first."""
        first = cleaned(self.main).splitlines(keepends=True)
        rest = [line for text in self.others for line in cleaned(text).splitlines(keepends=True)]
        return [*first, *sorted(rest)], len(first)


class OutputRecorder:
    """Recorder of writes to `sys.stdout` and `sys.stderr` by thread, in this process."""

    def __init__(self, place: Path) -> None:
        self._owner, self._main = os.getpid(), threading.get_ident()
        self._lock = threading.RLock()          # a signal handler may write while it is held
        self._lines: TextIO = open(place / _FILE, 'w')  # noqa: SIM115  (closed with the process)

    def install(self) -> None:
        """Put ourselves around the streams' `write`; on the main thread."""
        for name in STREAMS:
            stream = getattr(sys, name)
            if isinstance(stream, io.TextIOWrapper):
                stream.write = self._noting(name, stream.write)  # type: ignore[method-assign]

    def _noting(self, name: str, write: Callable[[str], int]) -> Callable[[str], int]:
        def noted(text: str) -> int:
            count = write(text)
            if os.getpid() == self._owner:
                thread = threading.get_ident()  # not `current_thread`, which makes an object for a thread of C++
                with self._lock:
                    self._lines.write(json.dumps([name, _MAIN if thread == self._main else thread, text]) + '\n')
            return count
        return noted

    def flush(self) -> None:
        """Write what is held back."""
        with self._lock:
            self._lines.flush()


def read_streams(place: Path, streams: Mapping[str, bytes]) -> dict[str, StreamText]:
    """The streams that several threads wrote to, if all that was written to them is known.

    Args:
        place: Folder of the program's notes.
        streams: By stream, everything that came out of it: more, if something wrote past Python's own streams.
    """
    parts: dict[str, dict[int, list[str]]] = {name: defaultdict(list) for name in STREAMS}
    path = place / _FILE
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            name, thread, text = json.loads(line)
        except ValueError:                      # the last line of a process that was killed
            break
        parts[name][thread].append(text)
    found = {}
    for name, by_thread in parts.items():
        texts = {thread: ''.join(pieces).encode('utf-8', 'surrogateescape') for thread, pieces in by_thread.items()}
        if set(texts) - {_MAIN} and sum(map(len, texts.values())) == len(streams[name]):
            main = texts.pop(_MAIN, b'')
            found[name] = StreamText(main, tuple(texts.values()))
    return found


def difference(texts: tuple[bytes, bytes], by_thread: tuple[StreamText | None, StreamText | None],
               cleaned: Callable[[bytes], bytes],
               same: Callable[[bytes, bytes], bool]) -> tuple[str, str, str] | None:
    """The first stream in which the output of two runs differs, the place, and the two lines; None if none does.

    Args:
        texts: Of each run as it came.
        by_thread: The same by thread, where it is known.
        cleaned: Takes out what is no matter.
        same: Whether two texts that are not equal count as the same.
    """
    one, other = map(cleaned, texts)
    if one == other:
        return None
    lines, others = one.splitlines(keepends=True), other.splitlines(keepends=True)
    ordered: Any = len(lines)
    if by_thread[0] is not None and by_thread[1] is not None:
        (lines, ordered), (others, _) = by_thread[0].text(cleaned), by_thread[1].text(cleaned)
        one, other = b''.join(lines), b''.join(others)
    if one == other or same(one, other):
        return None
    pairs = zip(lines, others, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(lines), len(others)))
    where = f'line {at + 1}' if at < ordered or by_thread[0] is None or by_thread[1] is None else 'a line of another thread'
    return where, _line(lines, at), _line(others, at)


def _line(lines: list[bytes], at: int) -> str:
    return lines[at].rstrip(b'\r\n').decode('utf-8', 'backslashreplace') if at < len(lines) else '(no such line)'
