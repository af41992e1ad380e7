"""Window of a flight recorder: one trace, with the calls before a trip and those after it.

Opened on the thread of the call that trips; its writer's thread writes what follows.
"""
from __future__ import annotations

from pathlib import Path
from time import perf_counter_ns, time
from typing import Any

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.record.flight.call_ring import Ring
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.log_segments import LogLimits
from pyfuncdbg.observers.record.log.notice import Notices
from pyfuncdbg.observers.record.log.trace_folders import create_trace
from pyfuncdbg.observers.record.log.writer import Writer
from pyfuncdbg.observers.record.records import TRIP

_MOST_NOTES = 100
_MARGIN = 1e-5
"""Seconds between two looks at two clocks: no call begins before its trace."""


class FlightWindow:
    """A trace that is being written.

    Attributes:
        path: Its folder.
        writer: Writes it.
        left: How many calls more it gets, if nothing trips before.
        is_broken: Its log cannot be written any more.
    """

    __slots__ = ('_after', '_calls', '_first', '_lost', '_trips', 'before', 'is_broken', 'left', 'path',
                 'writer')

    def __init__(self, path: Path, ring: Ring, after: int, budget: tuple[int, int], facts: dict[str, Any]) -> None:
        """Make the trace, and write the calls of a ring to it.

        Args:
            path: NAME.pfd; the trace is the first of that, NAME-2.pfd, ... that does not exist.
            ring: The calls before.
            after: How many calls to keep after each trip.
            budget: Bytes that the trace may take, and those of it that are for the log.
            facts: As for `Writer`.

        Raises:
            TraceError, OSError: It cannot be made; nothing is left of it, and the ring is as it was.
        """
        self._calls = ring.calls
        self._after = self.left = after
        self._trips = 0
        self.is_broken = False
        backlog = ring.calls.backlog
        began = [*[row.started for row in list(backlog.rows)], *[call.started for call, *_ in backlog.running_calls()]]
        wall, clock = time(), perf_counter_ns()
        age = (clock - min(began, default=clock)) / 1e9
        self.path, is_new = create_trace(path, 'number', budget[0], wall - age - _MARGIN)
        self.path = self.path.resolve()
        try:
            self.writer = Writer(self.path, LogLimits(budget[1]), backlog, ring.calls.snapshots, facts, Notices(),
                                 self._break)
        except OSError:
            trace_folder.remove(self.path, is_new)
            raise
        self.before = ring.release()
        backlog.losses.add({'calls': ring.evicted})
        self._lost = ring.evicted
        self.writer.start()
        backlog.mark = backlog.usual_mark

    def _break(self) -> None:
        self.is_broken = True

    @property
    def is_full(self) -> bool:
        """Whether a call had no room in the trace."""
        return self._calls.backlog.losses.total.get('calls', 0) > self._lost

    def note_trip(self, call: Call, condition: str) -> None:
        """A condition holds: note it, and keep the calls that follow.

        Args:
            call: At which.
            condition: As text.
        """
        self._trips += 1
        self.left = self._after
        if self._trips == 1:
            number = f'call #{call.id}' if call.id > 0 else f'run #{-call.id}'
            self._first = f'{condition} at {number} ({call.site.name}[{call.ordinal}])'
        if self._trips <= _MOST_NOTES:
            self._calls.backlog.notes.append([TRIP, perf_counter_ns(), {
                'condition': condition, 'call': call.id, 'site': call.site.name, 'ordinal': call.ordinal,
                'before': self.before}])

    def secure(self) -> None:
        """At the first trip: write what there is, which outlives the process from now on."""
        if self._trips == 1:
            self.writer.flush(everything=True)

    def close(self) -> None:
        """Write the rest, close the trace and report it."""
        self.writer.close()
        again = f' and {self._trips - 1:,} more' if self._trips > 1 else ''
        after = self._after - max(self.left, 0)
        say(f'kept {self._first}{again}: {self.before:,} {_calls(self.before)} before, '
            f'{after:,} {_calls(after)} after{" the last" if again else ""}, in {self.path}')


def _calls(count: int) -> str:
    return 'call' if count == 1 else 'calls'
