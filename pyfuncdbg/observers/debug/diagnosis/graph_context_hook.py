"""A hook that reads what the graphs around Python functions say, while a program is examined.

A graph grows: a function that was called at once may be called by a dataset later, and a graph may be gone when facts are
gathered. So a node is read after its first call, its second, fourth, eighth ..., on the thread of that call, and at each
gathering.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyfuncdbg.hooks.call import Call, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.facts import Fact, fact_counter
from pyfuncdbg.hooks.graph_context import SURROUNDINGS
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.record.recorder import DEPTH

KIND = 'surroundings'
"""Kind of the facts."""


class GraphContextHook:
    """Hook on every Python call, from `start` to `stop`."""

    kinds: frozenset[Kind] = frozenset(('python',))
    passive = True

    def __init__(self) -> None:
        self._lock = new_lock()
        self._readers: dict[int, Callable[[], Mapping[str, Any]]] = {}
        self._facts: dict[int, dict[str, Any]] = {}

    def start(self) -> None:
        """Begin. Outside of the recorder: the time that reading takes is not the function's."""
        fact_counter.on = True
        hooks.add(self, depth=DEPTH - 1)

    def stop(self) -> None:
        """Watch no more."""
        fact_counter.on = False
        hooks.remove(self)

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Read after one call, if it is one of those."""
        try:
            return proceed()
        finally:
            reader = call.site.attrs.get(SURROUNDINGS)
            if reader is not None and not call.ordinal & (call.ordinal + 1):
                self._read(call.site.id, reader)

    def _read(self, site: int, reader: Callable[[], Mapping[str, Any]]) -> None:
        with contextlib.suppress(Exception):        # the program changes it meanwhile; the next pass reads it again
            reading = reader()
            with self._lock:
                self._readers[site] = reader
                self._facts[site] = _merge(self._facts.get(site, {}), reading)

    def facts(self) -> Iterator[Fact]:
        """The facts of each node, and the counts of the host."""
        with self._lock:
            readers = dict(self._readers)
        for site, reader in readers.items():
            self._read(site, reader)
        with self._lock:
            known = dict(self._facts)
        for site, facts in known.items():
            yield Fact(KIND, site, data=facts)
        yield from fact_counter.facts()


def _merge(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Two readings of a node in one: of counts and answers the larger, for a graph may be gone; else the newer one."""
    merged = {**before, **now}
    for name, value in before.items():
        if isinstance(value, int):
            merged[name] = max(value, merged[name])
    return merged
