"""Hook that measures how Python functions share the interpreter: CPU time, wall time, and concurrency.

The innermost hook, inside of the recorder, on the thread of each call. While functions run, a thread of its own measures
how long it waits for the GIL.
"""
from __future__ import annotations

import _thread
import time
from collections.abc import Callable, Hashable, Iterator
from time import perf_counter_ns, thread_time_ns
from types import CodeType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import Call, CallSite, Frame, Kind
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.record.recorder import DEPTH

_EVERY = 0.02
_LOOKED_AT = 64


class _Use:
    """Counters of one function at one place, times in nanoseconds. All nodes of the place share them: they take turns."""

    __slots__ = ('active', 'asked', 'began', 'busy', 'calls', 'cpu', 'ended', 'most', 'since', 'site', 'stack', 'texts',
                 'threads', 'waited', 'wall')

    def __init__(self, site: CallSite) -> None:
        self.site = site.id
        self.stack: Any = site.stack
        self.calls = self.cpu = self.wall = self.active = self.most = self.since = self.busy = self.ended = 0
        self.began = perf_counter_ns()
        self.asked = self.waited = 0
        self.threads: set[int] = set()
        self.texts: dict[int, str] = {}


class GilUse:
    """Hook on every Python call, from `start` to `stop`."""

    kinds: frozenset[Kind] = frozenset(('python',))
    passive = True

    def __init__(self) -> None:
        self._lock = new_lock()
        self._uses: dict[Hashable, _Use] = {}
        self._by_site: dict[int, _Use] = {}
        self._columns: dict[int, int] = {}
        self._active = 0
        self._on = False

    def start(self) -> None:
        """Begin."""
        self._on = True
        hooks.add(self, depth=DEPTH + 1)
        _thread.start_new_thread(self._probe, ())       # a bare one, as the recorder's: the program does not see it

    def stop(self) -> None:
        """Watch no more."""
        self._on = False
        hooks.remove(self)

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Measure one call."""
        site = call.site
        with self._lock:
            use = self._by_site.get(site.id)
            if use is None:
                use = self._by_site[site.id] = self._uses.setdefault(_site_group(site), _Use(site))
                if column := _column(site):
                    self._columns[site.id] = column
            started = perf_counter_ns()
            self._active += 1
            use.active += 1
            use.most = max(use.most, use.active)
            if use.active == 1:
                use.since = started
            use.calls += 1
            use.threads.add(call.thread)
        if use.calls <= _LOOKED_AT:
            for slot, value in enumerate(call.inputs):
                kind = _text_kind(value)
                if kind:
                    use.texts[slot] = kind
        cpu = thread_time_ns()
        try:
            return proceed()
        finally:
            spent, finished = thread_time_ns() - cpu, perf_counter_ns()
            with self._lock:
                self._active -= 1
                use.active -= 1
                use.cpu += spent
                use.wall += finished - started
                use.ended = finished
                if use.active == 0:
                    use.busy += finished - use.since

    def _probe(self) -> None:
        while self._on:
            time.sleep(_EVERY)
            if not self._active:
                continue
            asked = perf_counter_ns()
            time.sleep(0)                       # gives the GIL away and asks for it, as a thread of TensorFlow's does
            wait_ns = perf_counter_ns() - asked
            with self._lock:
                for use in self._uses.values():
                    if use.active:
                        use.asked += 1
                        use.waited += wait_ns

    def stacks(self) -> list[tuple[Frame, ...]]:
        """Creation stacks of the sites that were called."""
        with self._lock:
            return [tuple(use.stack) for use in self._uses.values()]

    def facts(self) -> Iterator[Fact]:
        """The time of each function, reported at the first of its sites."""
        now = perf_counter_ns()
        with self._lock:
            for site, column in self._columns.items():
                yield Fact('<lambda>', site, data={'column': column})
            for use in self._uses.values():
                busy = use.busy + (now - use.since if use.active else 0)
                yield Fact('occupancy', use.site, data={
                    'calls': use.calls, 'cpu': use.cpu, 'wall': use.wall, 'busy': busy, 'together': use.most,
                    'span': (use.ended or now) - use.began, 'threads': len(use.threads), 'asked': use.asked,
                    'waited': use.waited, 'texts': {str(slot): kind for slot, kind in use.texts.items()}})


def _site_group(site: CallSite) -> Hashable:
    """The key of sites that a diagnosis takes together: place, op type and function."""
    function = site.function
    code = getattr(function, '__code__', None)
    place = site.stack[-1][:2] if site.stack else (code.co_filename, code.co_firstlineno) if code is not None else site.id
    return place, _column(site), site.op_type, getattr(function, '__qualname__', type(function).__name__)


def _column(site: CallSite) -> int:
    """The column at which the body of a lambda begins: several may be in one line; 0 for a function with a name."""
    code = getattr(site.function, '__code__', None)
    if not isinstance(code, CodeType) or code.co_name != '<lambda>':
        return 0
    return next((column for _, _, column, _ in original_code(code).co_positions() if column), 0)


def _text_kind(value: Any) -> str:
    """'bytes', 'str', 'array of bytes', 'array of str', 'tensor'; '' for a value that is no text."""
    if isinstance(value, bytes | str):
        return type(value).__name__
    if isinstance(value, np.ndarray):
        if value.dtype.kind in 'SU':
            return 'array of bytes' if value.dtype.kind == 'S' else 'array of str'
        if value.dtype == object and value.size:
            return f'array of {type(value.flat[0]).__name__}'
        return ''
    return 'tensor' if str(getattr(getattr(value, 'dtype', None), 'name', '')) == 'string' else ''
