"""Capture of NumPy's floating-point errors: each one, where NumPy warns once per line, or with `ignore` not at all.

`hooks.capture` runs a call under `watched_state(state)`, in which NumPy reports ignored and warned errors to an object of
ours ('log' mode); that notes it and then gives exactly the warning that NumPy would have given. `install` makes
`np.geterr`, `np.seterr` and `np.errstate` speak of the program's own state all the while. Modes raise, print, call and
log are left to NumPy; so is a whole state in which an object of the program is reported to, and what NumPy's own functions
silence for themselves. Underflow that is ignored (NumPy's default) is not noted: it makes no NaN and no infinity.

NumPy has no public name for what this takes. With a NumPy that lacks it, floating-point errors are left unwatched; the
warnings that NumPy gives of them are captured as any other.
"""
from __future__ import annotations

import sys
from _warnings import warn
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any

from pyfuncdbg.hooks.output import numpy1_errstate
from pyfuncdbg.hooks.output.numpy1_errstate import STATE_PER_THREAD
from pyfuncdbg.hooks.output.numpy_errstate import state
from pyfuncdbg.hooks.output.output_owner import add_output, output_owner, output_place

_KINDS = (('divide by zero', 'divide'), ('overflow', 'over'), ('underflow', 'under'), ('invalid value', 'invalid'))

try:
    _numpy: Any = import_module('numpy.core._ufunc_config' if STATE_PER_THREAD else 'numpy._core._ufunc_config')
    _source = _numpy.umath if STATE_PER_THREAD else None
    # Of the state in force: modes by kind, 'call' and 'bufsize'. And a new state: the one in force with changes.
    _modes_of_state = numpy1_errstate.modes_of_state if STATE_PER_THREAD else _numpy._get_extobj_dict
    _change_state = numpy1_errstate.change_state if STATE_PER_THREAD else _numpy._make_extobj
except (ImportError, AttributeError):
    _numpy = None

_MANY = 256
states: dict[Any, Any] = {}
"""Results of `watched_state`, by the program's state: the fast path looks here first."""


class _ErrorHandler:
    """Handler of NumPy's floating-point errors under one error state of the program.

    Attributes:
        user: The program's state.
        modes: Its modes by kind.
        call: What it has set with `np.seterrcall` (and does not use in this state).
    """

    __slots__ = ('call', 'modes', 'user')

    def __init__(self, user: Any, modes: dict[str, str], call: Any) -> None:
        self.user = user
        self.modes = modes
        self.call = call

    def write(self, report: str) -> None:
        """Take NumPy's 'Warning: invalid value encountered in divide' and a line feed."""
        text = report.removeprefix('Warning: ').removesuffix('\n')
        kind = next((kind for start, kind in _KINDS if text.startswith(start)), 'invalid')
        ignored = self.modes[kind] == 'ignore'
        call = output_owner()
        if call is not None:
            add_output(call, 'fp', text, kind + ' ignored' * ignored, output_place(_outside_numpy(sys._getframe(1))))
        if not ignored:
            # The function NumPy itself calls, whatever the program has put in place of `warnings.warn`.
            warn(text, RuntimeWarning, 2)


def watched_state(user: Any) -> Any:
    """The state under which to run what the program would run under `user`; `user` itself where nothing is to be watched.

    The value of `state` is the same before and after.
    """
    if _numpy is None:
        return user
    token = state.set(user)
    try:
        modes = _modes_of_state()
        call = modes.pop('call')
        modes.pop('bufsize')
        logged = {kind: 'log' for kind, mode in modes.items() if mode == 'warn' or (mode == 'ignore' and kind != 'under')}
        if type(call) is _ErrorHandler or not logged or not {'call', 'log'}.isdisjoint(modes.values()):
            watched = user
        else:
            watched = _change_state(call=_ErrorHandler(user, modes, call), **logged)
    finally:
        state.reset(token)
    if len(states) >= _MANY:
        states.clear()
    states[user] = watched
    return watched


def unwatch() -> None:
    """Put the program's own state back in force where it has changed the state since `watched_state` was put in force."""
    handler = _modes_of_state()['call'] if _numpy is not None else None
    if type(handler) is _ErrorHandler:
        state.set(handler.user)


def install() -> Callable[[], None]:
    """Let NumPy's own functions show and change the program's state.

    Returns:
        A function that undoes it.
    """
    if _numpy is None:
        return lambda: None

    def modes_of_state() -> dict[str, Any]:
        modes: dict[str, Any] = _modes_of_state()
        handler = modes['call']
        if type(handler) is _ErrorHandler:
            modes.update(handler.modes, call=handler.call)
        return modes

    def change_state(**changes: Any) -> Any:
        if output_owner() is None:
            return _change_state(**changes)
        handler = _modes_of_state()['call']
        token = state.set(handler.user if type(handler) is _ErrorHandler else state.get())
        try:
            new_state = _change_state(**changes)
        finally:
            state.reset(token)
        return new_state if _is_numpy(_setting_frame(sys._getframe(1))) else watched_state(new_state)

    if STATE_PER_THREAD:
        return _replace_numpy1_module(modes_of_state, change_state)

    def undo() -> None:
        if _numpy._get_extobj_dict is modes_of_state:
            _numpy._get_extobj_dict = _modes_of_state
        if _numpy._make_extobj is change_state:
            _numpy._make_extobj = _change_state

    _numpy._get_extobj_dict = modes_of_state
    _numpy._make_extobj = change_state
    return undo


def _replace_numpy1_module(modes_of_state: Callable[[], dict[str, Any]], change_state: Callable[..., Any]) -> Callable[[],
                                                                                                                       None]:
    """Let the functions of NumPy 1 show and change the program's state; returns a function that undoes it."""
    module = _numpy.umath = numpy1_errstate.ErrstateModule(_source, modes_of_state, change_state)

    def undo() -> None:
        if _numpy.umath is module:
            _numpy.umath = _source
    return undo


_SETTERS = frozenset((numpy1_errstate.__name__, 'numpy.core._ufunc_config', 'numpy._core._ufunc_config', 'contextlib'))


def _setting_frame(frame: FrameType | None) -> FrameType | None:
    """The frame that called `np.errstate` or `np.seterr` for a change."""
    while frame is not None and frame.f_globals.get('__name__') in _SETTERS:
        frame = frame.f_back
    return frame


def _is_numpy(frame: FrameType | None) -> bool:
    return frame is not None and str(frame.f_globals.get('__name__')).partition('.')[0] == 'numpy'


def _outside_numpy(frame: FrameType | None) -> FrameType | None:
    """The user's line: `x.std()` divides in NumPy's own Python code."""
    while frame is not None and _is_numpy(frame):
        frame = frame.f_back
    return frame
