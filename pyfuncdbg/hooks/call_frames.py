"""Where wrapped functions begin on a stack: which frames call one, and which call of which site a frame belongs to.

Hosts mark the functions that call a user's function, once, at import. The debugger reads stacks, on any thread; marks cost a
call nothing.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, TypeVar

from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.chain import _INNERMOST, Hook, _looked_on, instrument
from pyfuncdbg.hooks.own_files import is_machinery

_Function = TypeVar('_Function', bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Entrance:
    """One call of a wrapped function as its frames show it.

    Attributes:
        site: Where it is called.
        run: The run it is part of.
        inputs: What the function gets.
        call: Its record, None if no hook was there when it began.
        hooks: Those that are around it.
    """

    site: CallSite
    run: Run
    inputs: Sequence[Any]
    call: Call | None = None
    hooks: tuple[Hook, ...] = ()


RUNNERS: set[CodeType] = set()
"""Functions that run a whole program: it and what called it are no part of the program's stack."""
Describe = Callable[[FrameType], Entrance | None]
_callers: set[CodeType] = set()
_beginnings: dict[CodeType, Describe] = {}
_failures: dict[CodeType, Callable[[FrameType], tuple[CallSite, Run] | None]] = {}


def calls_wrapped(function: _Function) -> _Function:
    """Mark a function of a host that calls the user's function itself."""
    _callers.add(function.__code__)
    return function


def begins_call(describe: Describe) -> Callable[[_Function], _Function]:
    """Mark a function of a host that makes one call of a site, with hooks or without.

    Args:
        describe: Reads the call from a frame of the function; None of one that makes none.
    """
    def mark(function: _Function) -> _Function:
        _beginnings[function.__code__] = describe
        return function
    return mark


def tells_failure(describe: Callable[[FrameType], tuple[CallSite, Run] | None]) -> Callable[[_Function], _Function]:
    """Mark a function of a host that runs nodes: its frame in the traceback of an error tells which of them has failed."""
    def mark(function: _Function) -> _Function:
        _failures[function.__code__] = describe
        return function
    return mark


def failed_at(frame: FrameType) -> tuple[CallSite, Run] | None:
    """The node that failed in this frame of ours, and its run; None if it tells of none."""
    describe = _failures.get(frame.f_code)
    return describe(frame) if describe is not None else None


def calls_function(frame: FrameType) -> bool:
    """Whether what this frame calls is a wrapped function."""
    return frame.f_code in _callers or frame.f_code in _INNERMOST


def entrance_of(frame: FrameType) -> Entrance | None:
    """The call that this frame of ours begins, None if it begins none."""
    if frame.f_code in _INNERMOST:
        call, hooks = _passing(frame)
        return Entrance(call.site, call.run, call.inputs, call, hooks)
    describe = _beginnings.get(frame.f_code)
    return describe(frame) if describe is not None else None


def function_call(frame: FrameType, hook: Hook | None) -> Call | None:
    """The call whose wrapped function this frame is; None if it is no wrapped function, or this hook is not around it."""
    caller = frame.f_back
    if caller is None or not calls_function(caller):
        return None
    while caller is not None and is_machinery(caller.f_code.co_filename):
        if caller.f_code in _INNERMOST:
            call, hooks = _passing(caller)
            return call if any(hook is known for known in hooks) else None
        if caller.f_code in _beginnings:
            return None
        caller = caller.f_back
    return None


def begins_function(frame: FrameType) -> bool:
    """Whether this frame is that of a wrapped function itself, not of something that it calls."""
    return frame.f_back is not None and calls_function(frame.f_back)


def inside(frame: FrameType | None) -> bool:
    """Whether a frame is in a wrapped function, or was called by one, however deep."""
    while frame is not None:
        if frame.f_code in _INNERMOST or frame.f_code in _beginnings:
            return True
        frame = frame.f_back
    return False


def _passing(frame: FrameType) -> tuple[Call, tuple[Hook, ...]]:
    """The call that a frame of the chain executes, and the hooks around it."""
    names = frame.f_locals
    if frame.f_code is _looked_on.__code__:
        return names['call'], (names['watcher'],)
    passage = names['self']
    return passage.call, passage.hooks


def _of_invoke(frame: FrameType) -> Entrance:
    names = frame.f_locals
    return Entrance(names['site'], names['run'], names['inputs'])


_INVOKE = next(const for const in instrument.__code__.co_consts if isinstance(const, CodeType))
_beginnings[_INVOKE] = _of_invoke               # of hosts that leave the call to `instrument`
_callers.add(_INVOKE)
