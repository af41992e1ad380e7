"""NumPy's floating-point error state as one value that is cheap to switch.

`np.errstate` costs 0.9 µs to enter and leave; its ContextVar 0.13. NumPy does not name that variable in public, so it
is found by what `np.seterr` changes in a context of its own; NumPy 1 has none, and a state per thread replaces it. The
runtime and the capture switch states around calls.
"""
from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.hooks.output.numpy1_errstate import STATE_PER_THREAD, ThreadState


def _variable_set_by(action: Callable[[], Any]) -> tuple[contextvars.ContextVar[Any], Any]:
    """The one variable that `action` sets, and its new value."""
    if STATE_PER_THREAD:
        threads: Any = ThreadState()
        own = threads.get()
        action()
        return threads, threads.set(own)
    context = contextvars.copy_context()
    before = dict(context.items())
    context.run(action)
    ((variable, value),) = [(v, x) for v, x in context.items() if before.get(v) is not x]
    return variable, value


state, IGNORE = _variable_set_by(lambda: np.seterr(all='ignore'))
"""`state` holds NumPy's error state of this context (unset: NumPy's default); `IGNORE` is the value that ignores all."""

_, DEFAULT = _variable_set_by(lambda: np.seterr(divide='warn', over='warn', under='ignore', invalid='warn'))


def current_state() -> Any:
    """The state in force here."""
    return state.get(DEFAULT)


def make_state(*, call: Any = None, **modes: str) -> Any:
    """A state with NumPy's `modes` for divide, over, under, invalid; `call` is what 'call' or 'log' report to."""
    def make() -> None:
        np.seterr(**modes)  # type: ignore[arg-type]
        if call is not None:
            np.seterrcall(call)
    return _variable_set_by(make)[1]
