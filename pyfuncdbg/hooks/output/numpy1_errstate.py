"""NumPy's floating-point error state before NumPy 2: a list per thread, where NumPy 2 has a context variable.

`output.numpy_errstate` and `output.fp_errors` use it instead of NumPy 2's variable and of the functions that
read and make its values. Called on the thread whose state it is.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

STATE_PER_THREAD = hasattr(np, 'geterrobj')
"""Whether this is such a NumPy."""
_numpy: Any = np
_MODES = ('ignore', 'warn', 'raise', 'call', 'print', 'log')
_SHIFTS = {'divide': 0, 'over': 3, 'under': 6, 'invalid': 9}
_MANY = 256


@dataclass(frozen=True, slots=True, eq=False)
class ErrorState:
    """One error state.

    Attributes:
        bufsize: Of ufuncs.
        mask: The mode of each kind, three bits each.
        call: What 'call' and 'log' report to.
    """

    bufsize: int
    mask: int
    call: Any


_states: dict[tuple[int, int, int], ErrorState] = {}


def _state_of(bufsize: int, mask: int, call: Any) -> ErrorState:
    """The state of these values: the same object for the same values, as long as it is remembered."""
    key = bufsize, mask, id(call)
    state = _states.get(key)
    if state is None:
        if len(_states) >= _MANY:
            _states.clear()
        state = _states[key] = ErrorState(bufsize, mask, call)
    return state


class ThreadState:
    """The state of the thread that asks, as a `ContextVar` whose values are `ErrorState`."""

    def get(self, default: Any = None) -> ErrorState:
        """The state in force; `default` is for the interface of a `ContextVar`."""
        return _state_of(*_numpy.geterrobj())

    def set(self, value: ErrorState) -> ErrorState:
        """Put a state in force.

        Args:
            value: The state.

        Returns:
            The state before, for `reset`.
        """
        before = self.get()
        _numpy.seterrobj([value.bufsize, value.mask, value.call])
        return before

    def reset(self, state: ErrorState) -> None:
        """Put the `state` before `set` back in force."""
        _numpy.seterrobj([state.bufsize, state.mask, state.call])


def modes_of_state() -> dict[str, Any]:
    """The state in force: modes by kind, 'call' and 'bufsize'."""
    bufsize, mask, call = _numpy.geterrobj()
    return {**{kind: _MODES[mask >> shift & 7] for kind, shift in _SHIFTS.items()}, 'call': call, 'bufsize': bufsize}


def change_state(**changes: Any) -> ErrorState:
    """A new state: the one in force with changes, named as `modes_of_state` does."""
    return _state_of(*_pack({**modes_of_state(), **changes}))


def _pack(modes: dict[str, Any]) -> list[Any]:
    mask = sum(_MODES.index(modes[kind]) << shift for kind, shift in _SHIFTS.items())
    return [modes['bufsize'], mask, modes['call']]


class ErrstateModule:
    """Replacement for the module from which `np.seterr`, `np.geterr` and their relatives take the state.

    Args:
        module: That module.
        modes: Replaces `modes_of_state`.
        change: Replaces `change_state`.
    """

    def __init__(self, module: Any, modes: Callable[[], dict[str, Any]], change: Callable[..., ErrorState]) -> None:
        self._module = module
        self._modes = modes
        self._change = change

    def geterrobj(self) -> list[Any]:
        """The state that the program is to see."""
        return _pack(self._modes())

    def seterrobj(self, values: list[Any]) -> None:
        """Put in force the program's state.

        Args:
            values: Buffer size, mask and handler, as for `np.seterrobj`.
        """
        bufsize, mask, call = values
        modes = {kind: _MODES[mask >> shift & 7] for kind, shift in _SHIFTS.items()}
        ThreadState().reset(self._change(bufsize=bufsize, call=call, **modes))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)
