"""What a DebugSession costs where it does not stop: `python tests/benchmarks/bench_session.py`.

Each against the same runs of the plain session: after quit, switched off, `run -n` at each card, and `run -t` in between.
"""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import Result, Work, measured, table

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


def results() -> Iterator[Result]:
    plain, y, feeds = chain()
    session = pyfuncdbg.DebugSession(plain, ui='none')
    debugger.leave()
    yield measured(f'{SERIES} runs after quit', series(session, y, feeds), series(plain, y, feeds), '1.0', faster=False)
    session = pyfuncdbg.DebugSession(plain, ui='none')
    session.debugging = False
    yield measured(f'{SERIES} runs, switched off', series(session, y, feeds), series(plain, y, feeds), '1.0', faster=False)
    for name, order in (('run -n at each card', RunOrder(plain=True)), ('run -t, no card', RunOrder(times=10**9))):
        front_end = Saying(order)
        debugger.broker.add(front_end)
        session = pyfuncdbg.DebugSession(plain)
        yield measured(f'{SERIES} runs, {name}', watched(session, series(session, y, feeds)), series(plain, y, feeds), '-',
                       faster=False)
        debugger.broker.remove(front_end)
        debugger.leave()
        for recorder in recorders():
            recorder.stop()


def watched(session: Any, work: Work) -> Work:
    """With the debugger on for these runs only: the peer runs without."""
    def call() -> None:
        session.debugging = True
        work()
        debugger.leave()
    return call


if __name__ == '__main__':
    print(table(list(results())))
