"""A debugger of a test's own, whose front end keeps what stopped, and calls through the real chain."""
from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from pyfuncdbg.hooks import chain
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop


class Keeping:
    """Keeps (phase, call label, reason) of each stop, asks `look` about it, and goes on."""

    name = 'test'
    priority = 1

    def __init__(self) -> None:
        self.stops: list[tuple[str, str, str]] = []
        self.look: Callable[[Stop], object] = lambda stop: None

    def usable(self) -> bool:
        return True

    def interact(self, stop: Stop, broker: Broker) -> None:
        label = f'{stop.call.site.name}[{stop.call.ordinal}]' if stop.call is not None else ''
        self.stops.append((stop.phase, label, stop.reason))
        self.look(stop)
        if stop.decision is None:
            stop.decide('cont')

    @property
    def labels(self) -> list[str]:
        return [label for _, label, _ in self.stops]


@contextmanager
def debugging() -> Iterator[tuple[Debugger, Keeping]]:
    """A debugger that is on, and its front end."""
    debugger, front_end = Debugger(), Keeping()
    debugger.broker.add(front_end)
    debugger.start()
    try:
        yield debugger, front_end
    finally:
        for number in list(debugger.breakpoints.entries):
            debugger.breakpoints.clear(number)
        debugger.leave()


def wrapped(function: Callable[..., Any], name: str = 'norm', run: Run | None = None, **options: Any) -> Callable[..., Any]:
    """The function as a host wraps it, with one output."""
    site = CallSite(name, 'PyFunc', options.pop('kind', 'python'), host, function=function, **options)
    invoke = partial(chain.invoke, site, lambda *inputs: (function(*inputs),))
    run = run or Run('eager', host, time.perf_counter_ns())
    return lambda *inputs: invoke(run, list(inputs))[0]
