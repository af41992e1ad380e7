"""What an armed flight recorder costs, where nothing trips: `python tests/benchmarks/bench_flight.py`.

Against a recorder of the same calls in the same run, both less the bare calls: time of the program's thread, and that of
all threads, for a recorder has one that writes. With the real TensorFlow too, where it is installed.
"""
from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from bench_runtime import in_graph, ours, py_func, theirs
from timing import Result, Work, table

from pyfuncdbg import attach
from pyfuncdbg.hooks import notice
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.debug.conditions.call_trigger import CallTrigger
from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
from pyfuncdbg.observers.record.flight.trigger import Trigger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES, ROUNDS = 500, 11
"""Calls of one series, and series of each."""


class Never:
    """A trigger whose evaluation costs nothing."""

    text, remembers = 'never', False

    def begin(self, call: Call) -> None:
        """Not called."""

    def trips(self, call: Call, outputs: Sequence[Any] | None, error: BaseException | None) -> str:
        return ''

    def complaint(self) -> str:
        return ''


def eager(tf: Any) -> Work:
    value = np.float32(1)
    return lambda: tf.py_function(lambda x: x + 1, [value], tf.float32)


def added(work: Work, states: Sequence[Callable[[], AbstractContextManager[Any]]], clock: Callable[[], int]) -> list[float]:
    """Microseconds that each state adds to a call, over the first of them."""
    times: list[list[float]] = [[] for _ in states]
    for _ in range(ROUNDS):
        for found, state in zip(times, states, strict=True):
            with state():
                for _ in range(20):
                    work()
                start = clock()
                for _ in range(SERIES):
                    work()
                found.append((clock() - start) / SERIES / 1e3)
    bare, *others = [sorted(found)[len(found) // 4] for found in times]
    return [other - bare for other in others]


def results(folder: Path) -> Iterator[Result]:
    count = iter(range(1_000_000))

    def recorded() -> Recorder:
        return Recorder(folder / f'{next(count)}.pfd', budget=2 << 30)

    def armed(trigger: Trigger) -> Callable[[], FlightRecorder]:
        return lambda: FlightRecorder(folder / f'{next(count)}.pfd', trigger)
    works = [('our Session.run -> py_func', in_graph(ours, py_func)), ('our eager py_function', eager(ours))]
    if theirs is not None:
        attach('tensorflow')
        works += [("TensorFlow's Session.run -> py_func", in_graph(theirs, py_func)),
                  ("TensorFlow's eager py_function", eager(theirs.compat.v2))]
    for name, work in works:
        for threads, clock in (('its thread', time.thread_time_ns), ('all threads', time.process_time_ns)):
            by_recorder, by_flight, by_condition = added(
                work, (nullcontext, recorded, armed(Never()), armed(CallTrigger('has_nan(out)'))), clock)
            yield Result(f'{name}, armed, {threads}', by_flight, by_recorder, '<= 1.2x', f'{by_flight / by_recorder:.2f}x')
            yield Result(f'{name}, armed with has_nan(out), {threads}', by_condition, by_recorder, '-',
                         f'{by_condition / by_recorder:.2f}x')


if __name__ == '__main__':
    notice.outlet = lambda line: True           # each recorder says what it did not write
    with tempfile.TemporaryDirectory() as place:
        print(table(list(results(Path(place)))))
