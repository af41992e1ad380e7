"""What a DebugSession costs where it does not stop, against the same runs of the plain session."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from measurement import Around, Row, Side, Target, Work

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stepping.debugged_runs import RunOrder
from pyfuncdbg.observers.record.recorder import recorders

SERIES = 200
"""Runs of one series."""


class Saying:
    """A front end that says one thing at each stop."""

    name = 'terminal'
    priority = 10_000

    def __init__(self, order: RunOrder) -> None:
        self.order = order

    def usable(self) -> bool:
        return True

    def interact(self, stop: Any, broker: Any) -> None:
        stop.decide('run', self.order)


def chain() -> tuple[Any, Any, dict[Any, Any]]:
    """A session, what to fetch, and the feeds: 100 adds of 1,000 elements, ten Python calls in between."""
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [1000])
        y = x
        for i in range(100):
            y = tf.numpy_function(np.negative, [y], tf.float32) if i % 10 == 0 else y + x
        return tf.compat.v1.Session(graph=graph), y, {x: np.ones(1000, np.float32)}


def series(session: Any, y: Any, feeds: Any) -> Work:
    def call() -> None:
        for _ in range(SERIES):
            session.run(y, feeds)
    return call


def rows(folder: Path) -> Iterator[Row]:
    plain, y, feeds = chain()

    def build(session: Any, around: Around) -> tuple[Side, Side]:
        return Side('DebugSession', series(session, y, feeds), around), Side('plain session', series(plain, y, feeds))

    def left() -> tuple[Side, Side]:
        session = pyfuncdbg.DebugSession(plain, ui='none')
        debugger.leave()
        return build(session, nullcontext)

    def switched_off() -> tuple[Side, Side]:
        session = pyfuncdbg.DebugSession(plain, ui='none')
        session.debugging = False
        return build(session, nullcontext)

    def ordered(order: RunOrder) -> Callable[[], tuple[Side, Side]]:
        def make() -> tuple[Side, Side]:
            session = pyfuncdbg.DebugSession(plain)
            return build(session, lambda: debugged(session, order))
        return make

    for name, make, target in (('after quit', left, Target('time', 1.05)),
                               ('switched off', switched_off, Target('time', 1.05)),
                               ('`run -t 200`', ordered(RunOrder(times=10**9)), Target('time', 2)),
                               ('`run -n` at each card', ordered(RunOrder(plain=True)), None)):
        yield Row(f'DebugSession, {name}', make, target, per='run', calls=SERIES, series=1, seconds=2)


@contextmanager
def debugged(session: Any, order: RunOrder) -> Iterator[None]:
    """With the debugger on for these runs only: the peer runs without."""
    front_end = Saying(order)
    debugger.broker.add(front_end)
    session.debugging = True
    try:
        yield
    finally:
        debugger.leave()
        debugger.broker.remove(front_end)
        for recorder in recorders():
            recorder.stop()
