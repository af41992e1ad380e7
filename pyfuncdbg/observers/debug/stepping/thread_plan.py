"""`ThreadPlan`: what the user wants of one thread next; `ThreadPlans`: all of them, by thread.

Made where a thread stops or shall stop, on that thread mostly. As long as there is one, the debugger wants every call.
"""
from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import xxhash

from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.forking_thread import parent_thread_id
from pyfuncdbg.hooks.host import is_on_device
from pyfuncdbg.hooks.source_map import program_variables
from pyfuncdbg.hooks.tracing_notice import ADDED_PREFIX
from pyfuncdbg.observers.debug.stepping.python_stepper import Stepper
from pyfuncdbg.observers.debug.stops.stop import Decision
from pyfuncdbg.observers.debug.value import array_of

_FRAMES = 32
"""Frames that are remembered; a deep recursion forgets its outer ones."""
_DIGESTED = 1 << 20
_NOTHING = object()


class NamesSeen:
    """Values of names at the last stops in one thread's frames. Only small values are kept alive."""

    __slots__ = ('_seen',)

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, dict[str, Any]]] = {}

    def changes(self, frame: FrameType, *, returned: bool = False) -> tuple[str, ...] | None:
        """The names that are new or have another value than at the frame's last stop; None at its first one.

        Args:
            frame: Where the thread stops.
            returned: The frame ends: it is forgotten.
        """
        if frame.f_code.co_name == '<module>':
            return ()
        key, code = id(frame), id(frame.f_code)
        now = {name: _mark(value) for name, value in program_variables(frame.f_code, frame.f_locals).items()
               if not name.startswith(ADDED_PREFIX)}
        before = self._seen.pop(key, None)
        if not returned:
            self._seen[key] = code, now
            if len(self._seen) > _FRAMES:
                del self._seen[next(iter(self._seen))]
        if before is None or before[0] != code:
            return None
        return tuple(name for name, mark in now.items() if before[1].get(name, _NOTHING) != mark)


def _mark(value: Any) -> Any:
    """Something that is equal only for values that look the same, as far as a short look can tell."""
    if value is None or isinstance(value, bool | int | float | complex):
        return type(value).__name__, repr(value)
    if isinstance(value, str | bytes):
        return type(value).__name__, len(value), hash(value)
    array = array_of(value) if not is_on_device(value) else None
    if array is None or array.dtype.hasobject or (array.nbytes > _DIGESTED and not array.flags.c_contiguous):
        size = len(value) if isinstance(value, list | tuple | dict | set) else 0
        return id(value), type(value).__name__, size
    data = np.ascontiguousarray(array.reshape(-1)[::max(1, array.nbytes // _DIGESTED)])
    return array.shape, array.dtype.str, xxhash.xxh3_64_intdigest(data.tobytes())


class ThreadPlan:
    """The user's plan for one thread: the next stop, and pending decisions.

    Attributes:
        stepper: Steps the thread through Python.
        asking: The thread is at a stop: what is called from there (an expression) is not debugged.
        entering: Stop at the first line of the next Python call.
        next_call: Stop before the next call.
        ops: Eager ops are calls for that, and a run stops before its first node.
        decided: What to do where the function of a call begins that begins anew; to ask of 'retry' and 'swap'.
        compare: Outputs of the call that is made again, as they were.
        after: Id of the call to stop after, unless there is a stop before that; 0 for none.
        names: What the thread's frames held at its last stops.
    """

    __slots__ = ('after', 'asking', 'compare', 'decided', 'entering', 'names', 'next_call', 'ops', 'stepper')

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.asking = False
        self.entering = False
        self.next_call = self.ops = False
        self.compare: dict[str, np.ndarray] = {}
        self.after = 0
        self.decided: Decision | None = None
        self.names = NamesSeen()

    def ends(self, call: Call) -> bool:
        """Whether to stop after this call: that was asked for, or its function has been stepped to its end."""
        return call.id in (self.after, self.stepper.left)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is wanted of the thread."""
        return not (self.asking or self.entering or self.next_call or self.after or self.stepper.active)


class ThreadPlans(dict[int, ThreadPlan]):
    """Plans by native thread, only of threads that have one. Hooks are asked again when a plan is added or removed."""

    def __init__(self) -> None:
        super().__init__()
        _all.append(weakref.ref(self, _all.remove))

    def after_fork(self) -> None:
        """In a forked child: its one thread has another number, the others are the parent's. No lock is taken."""
        own_plan = super().pop(parent_thread_id(), None)
        self.clear()
        if own_plan is not None:
            super().__setitem__(threading.get_native_id(), own_plan)

    def of(self, call: Call, make: Callable[[int], ThreadPlan]) -> ThreadPlan | None:
        """The plan for the thread of a call, to which that of another thread that waits for it is moved."""
        waits = call.run.thread
        plan_of_waiter = self.get(waits) if waits and waits != call.thread and call.site.kind == 'python' else None
        if plan_of_waiter is None or not (plan_of_waiter.entering or plan_of_waiter.next_call):
            return self.get(call.thread)
        plan = make(call.thread)
        plan.entering, plan.next_call = plan_of_waiter.entering, plan_of_waiter.next_call
        plan_of_waiter.entering = plan_of_waiter.next_call = False
        if plan_of_waiter.is_idle:
            self.pop(waits, None)
        return plan

    def __setitem__(self, thread: int, plan: ThreadPlan) -> None:
        super().__setitem__(thread, plan)
        hooks.invalidate_interest()

    def pop(self, thread: int, *default: Any) -> Any:
        """As of any dict."""
        try:
            return super().pop(thread, *default)
        finally:
            hooks.invalidate_interest()


_all: list[weakref.ref[ThreadPlans]] = []


def _after_fork() -> None:
    for known in _all:
        if (plans := known()) is not None:
            plans.after_fork()


os.register_at_fork(after_in_child=_after_fork)
