"""Capture of an exception: its variables on the thread of the call, its text on the writer thread.

A `Failure` keeps no frame, no variable and no exception alive: of the variables it has copies and texts.
"""
from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.exception_message import exception_message
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.own_files import is_adapter, is_own_file
from pyfuncdbg.hooks.source_map import enclosing_frame_ids, is_block, is_generated, is_relay, place
from pyfuncdbg.observers.record.snapshots.frame_locals import FrameVariables, variables_of
from pyfuncdbg.observers.record.snapshots.snapshot import Copied, Snapshot, Snapshots
from pyfuncdbg.observers.record.sources.loaded_source import LoadedSources

_LONGEST_MESSAGE = 16 << 10
_LONGEST_TRACEBACK = 64 << 10
_MOST_FRAMES = 400
_MOST_BYTES = 16 << 20
"""Most bytes of all arrays among the variables of one exception; larger ones are not copied."""
_COST = 150
"""Bytes that a variable takes in the queue and on disk, its texts apart."""
_MACHINERY = tuple([str(file.parents[3] / room) for file in (Path(__file__), Path(__file__).resolve())
                    for room in ('hooks', 'observers/record')])


class Failure:
    """Captured exception, before the writer thread makes its text.

    Attributes:
        charge: Bytes of names and texts of the variables, taken from the allowance.
        lost: How many variables found no room in the queue.
        taken: Copies of the arrays among them, to be released when they are written.
    """

    __slots__ = ('_text', '_variables', 'charge', 'frames', 'lost', 'message', 'taken', 'type')

    def __init__(self, error: BaseException, host: Host | None = None, snapshots: Snapshots | None = None) -> None:
        """Capture an exception.

        Args:
            error: With its traceback.
            host: Reads tensors among the variables.
            snapshots: Copies arrays; None to keep no variables: a run fails with what one of its calls has raised, and that
                call has them.
        """
        self.type, self.message = error_text(error)
        trace = _without_machinery(error.__traceback__)
        frames = error_frames(error)
        self.frames = [place(frame, line) for frame, line in frames]
        self._text: traceback.TracebackException | None
        try:
            self._text = traceback.TracebackException(type(error), error, trace, limit=-_MOST_FRAMES, lookup_lines=False,
                                                      compact=True)
            _translate(self._text, error, trace)
        # A property or method of the program's exception may raise: that must not end the recording.
        except Exception:
            self._text = None
        self.taken: list[Copied | Snapshot] = []
        self._variables: list[list[Any]] = []
        self.charge = self.lost = 0
        if snapshots is not None:
            try:
                self._copy_variables(variables_of([frame for frame, _ in frames], host), snapshots)
            # Variables of the program may raise: the program must still get its own exception.
            except Exception:
                self._variables = []

    def _copy_variables(self, frames: list[FrameVariables], snapshots: Snapshots) -> None:
        """Make copies and texts of the variables; an array that several frames have is copied once."""
        charge = sum(_COST + len(one.name) + len(one.text) for frame in frames for one in frame.variables)
        if not snapshots.charge(charge):
            self.lost = sum(len(frame.variables) for frame in frames)
            return
        self.charge = charge
        places: dict[tuple[Any, ...], int] = {}
        left = min(_MOST_BYTES, snapshots.allowance.limit // 4)
        for frame in frames:
            rows: list[list[Any]] = []
            for one in frame.variables:
                value: Any = one.text
                if (array := one.array) is not None:
                    key = (array.__array_interface__['data'], array.shape, array.strides, array.dtype)
                    if key not in places:
                        places[key] = len(self.taken)
                        if fits := array.nbytes <= left:
                            left -= array.nbytes
                        self.taken.append(snapshots.take_array(array) if fits else _too_large(array))
                    value = places[key]
                rows.append([one.name, one.type, value])
            self._variables.append([frame.frame, frame.hidden, rows])

    @property
    def count(self) -> int:
        """The number of variables that are kept."""
        return sum(len(rows) for _, _, rows in self._variables)

    def record(self, describe: Callable[[Copied | Snapshot], list[Any]] | None, sources: LoadedSources) -> list[Any]:
        """Plain data for the log; reads source lines, so it runs on the writer thread.

        Args:
            describe: Writes an array's bytes where they belong and describes it; None: leave the variables out.
            sources: Keeps the lines of the program that it went through.

        Returns:
            The fields that `decode.error_record` reads.
        """
        variables: list[Any] = []
        if describe is not None and self._variables:
            variables = [[describe(one) for one in self.taken], self._variables]
        return [self.type, self.message, [list(frame) for frame in self.frames], self.text(), variables,
                sources.frames(self.frames)]

    def text(self) -> str:
        """The traceback as Python prints it; reads source lines.

        Returns:
            Text with line ends, its middle cut out where it is long.
        """
        try:
            text = ''.join(_without_parsing(self._text).format()) if self._text is not None else \
                f'{self.type}: {self.message}\n'
        # Notes and messages of the program's exceptions are formatted here too.
        except Exception:
            text = f'{self.type}: {self.message}\n'
        if len(text) > _LONGEST_TRACEBACK:
            half = _LONGEST_TRACEBACK // 2
            text = f'{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}'
        return text


def _translate(text: traceback.TracebackException, error: BaseException, trace: TracebackType | None) -> None:
    """Replace lines of code that a framework generated from the program's by the program's."""
    queue, seen = [(text, error, trace)], {id(text)}
    while queue:
        one, raised, trace = queue.pop()
        frames = list(traceback.walk_tb(trace))[-_MOST_FRAMES:]
        if len(frames) == len(one.stack) and any(is_generated(frame.f_code) or is_block(frame.f_code) for frame,
                                                 _ in frames):
            same = enclosing_frame_ids(frame for frame, _ in frames)
            one.stack[:] = [
                traceback.FrameSummary(*place(frame, line), lookup_line=False) if is_generated(frame.f_code) else summary
                for (frame, line), summary in zip(frames, one.stack, strict=True)
                if not is_relay(frame.f_code.co_filename) and id(frame) not in same]
        pairs = [(one.__cause__, raised.__cause__), (one.__context__, raised.__context__),
                 *zip(one.exceptions or (), getattr(raised, 'exceptions', ()), strict=False)]
        for part, inner in pairs:
            if part is not None and inner is not None and id(part) not in seen:
                seen.add(id(part))
                queue.append((part, inner, inner.__traceback__))


class _OpaqueLine(str):
    """A source line that cannot be parsed; columns are those of the text."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> str:
        return '\0' if isinstance(key, slice) and key.start is not None else str.__getitem__(self, key)


def _without_parsing(text: traceback.TracebackException) -> traceback.TracebackException:
    """The same, formatted without `ast.parse`. In Python 3.11 that is not safe with threads: parsing here, for the marks
    below operators, would make the program's own `ast.parse` on another thread fail with a SystemError."""
    if sys.version_info < (3, 12):
        queue, seen = [text], {id(text)}
        while queue:
            one = queue.pop()
            for frame in one.stack:
                if frame.line:
                    frame._line = _OpaqueLine(frame._original_line)  # type: ignore[attr-defined]
            for other in (one.__cause__, one.__context__, *(one.exceptions or ())):
                if other is not None and id(other) not in seen:
                    seen.add(id(other))
                    queue.append(other)
    return text


def error_frames(error: BaseException) -> list[tuple[FrameType, int]]:
    """The frames that an exception went through; of a deep recursion both ends.

    Of a function and the blocks of it that run as functions it is the innermost.

    Args:
        error: With its traceback.

    Returns:
        Frame and line of each, outermost first.
    """
    frames = [(frame, line or 0) for frame, line in traceback.walk_tb(_without_machinery(error.__traceback__))]
    frames = [(frame, line) for frame, line in frames if not is_relay(frame.f_code.co_filename)] or frames
    same = enclosing_frame_ids(frame for frame, _ in frames)
    frames = [(frame, line) for frame, line in frames if id(frame) not in same]
    return frames if len(frames) <= _MOST_FRAMES else frames[:_MOST_FRAMES // 2] + frames[-_MOST_FRAMES // 2:]


def error_text(error: BaseException) -> tuple[str, str]:
    """Name an exception.

    Args:
        error: Of the program.

    Returns:
        Its class, with the module if that is not `builtins`, and its message.
    """
    kind, message = type(error), exception_message(error)[:_LONGEST_MESSAGE]
    return kind.__qualname__ if kind.__module__ == 'builtins' else f'{kind.__module__}.{kind.__qualname__}', message


def _too_large(array: np.ndarray) -> Snapshot:
    return Snapshot(array.dtype, array.shape, array.nbytes, 'too large for a local variable')


def _is_ours(filename: str) -> bool:
    return filename.startswith(_MACHINERY) or is_adapter(filename)


def _without_machinery(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is not ours; None where all are: a result was refused, at no line of code."""
    first = trace
    while first is not None and _is_ours(first.tb_frame.f_code.co_filename):
        first = first.tb_next
    step = first
    while step is not None and is_own_file(step.tb_frame.f_code.co_filename):
        step = step.tb_next
    return first if step is not None else None
