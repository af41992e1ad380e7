"""What an armed flight recorder costs, where nothing trips, against a recorder of the same calls.

CPU time of the program's thread, and that of all threads, for a recorder has one that writes. With the real TensorFlow too,
where it is installed.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_runtime import in_graph, ours, py_func, theirs
from measurement import PROCESS, THREAD, Around, Row, Side, Target, Work

from pyfuncdbg import attach
from pyfuncdbg.hooks import notice
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.observers.debug.conditions.call_trigger import CallTrigger
from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
from pyfuncdbg.observers.record.flight.trigger import Trigger
from pyfuncdbg.observers.record.recorder import Recorder

SERIES = 500


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


def rows(folder: Path) -> Iterator[Row]:
    count = iter(range(1_000_000))
    notice.outlet = lambda line: True           # each recorder says what it did not write

    def recorded() -> Recorder:
        return Recorder(folder / f'{next(count)}.pfd', budget=2 << 30)

    def armed(trigger: Trigger) -> Around:
        return lambda: FlightRecorder(folder / f'{next(count)}.pfd', trigger)

    def against(work: Callable[[], Work], trigger: Trigger) -> tuple[Side, Side]:
        if work not in works[:2]:
            attach('tensorflow')
        return Side('armed', work(), armed(trigger)), Side('recorder', work(), recorded)
    works: list[Callable[[], Work]] = [lambda: in_graph(ours, py_func), lambda: eager(ours)]
    names = ['our Session.run of a py_func', 'our eager py_function']
    if theirs is not None:
        works += [lambda: in_graph(theirs, py_func), lambda: eager(theirs.compat.v2)]
        names += ["TensorFlow's Session.run of a py_func", "TensorFlow's eager py_function"]
    for name, work in zip(names, works, strict=True):
        for where, clock in (('its thread', THREAD), ('all threads', PROCESS)):
            yield Row(f'{name}, flight recorder armed, {where}', partial(against, work, Never()), Target('time', 1.2),
                      clock=clock, series=SERIES)
            yield Row(f'{name}, armed with has_nan(out), {where}', partial(against, work, CallTrigger('has_nan(out)')),
                      clock=clock, series=SERIES)
