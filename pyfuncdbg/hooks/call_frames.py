"""Frames that call wrapped functions: which frames of a stack call one, and for which site and call.

Hosts mark the functions that call a user's function, once, at import. The debugger reads stacks, on any thread; marks cost a
call nothing.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any, NamedTuple, TypeVar

from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.chain import CHAIN_CODES, Hook, invoke
from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hooks.source_map import is_generated

_DEEPEST = 10
_Function = TypeVar('_Function', bound=Callable[..., Any])
STOP_REMARK = '_stop_remark'
"""Attribute of a site whose host has something to say at each stop in a call there: its text."""


@dataclass(frozen=True, slots=True)
class Entrance:
    """One call of a wrapped function as its frames show it.

    Attributes:
        site: Where it is called.
        run: The run it is part of.
        inputs: Arguments of the function.
        call: The `Call`; None if no hook was installed when it began.
        hooks: The hooks around it.
    """

    site: CallSite
    run: Run
    inputs: Sequence[Any]
    call: Call | None = None
    hooks: tuple[Hook, ...] = ()


class _ChainCall(NamedTuple):
    """A call that the chain executes, the function that it calls, and the hooks around it."""

    call: Call
    function: Callable[..., Any]
    hooks: tuple[Hook, ...]


Describe = Callable[[FrameType], Entrance | None]
_callers: set[CodeType] = set()
_call_frames: dict[CodeType, Describe] = {}
_failure_frames: dict[CodeType, Callable[[FrameType], tuple[CallSite, Run] | None]] = {}


def mark_function_caller(function: _Function) -> _Function:
    """Mark a host function that calls the user's function itself.

    Returns:
        `function`, unchanged.
    """
    _callers.add(function.__code__)
    return function


def mark_call_frame(describe: Describe) -> Callable[[_Function], _Function]:
    """Mark a host function that makes one call of a site, with hooks or without.

    Args:
        describe: Reads the call from a frame of the function; returns None for a frame that makes none.

    Returns:
        A decorator, which returns the function unchanged.
    """
    def mark(function: _Function) -> _Function:
        _call_frames[function.__code__] = describe
        return function
    return mark


def mark_failure_frame(describe: Callable[[FrameType], tuple[CallSite, Run] | None]) -> Callable[[_Function], _Function]:
    """Mark a host function that executes nodes: its frame in the traceback of an error identifies the node that failed.

    Args:
        describe: Reads site and run of the node from such a frame; returns None where it holds none.

    Returns:
        A decorator, which returns the function unchanged.
    """
    def mark(function: _Function) -> _Function:
        _failure_frames[function.__code__] = describe
        return function
    return mark


def failed_node(frame: FrameType) -> tuple[CallSite, Run] | None:
    """The site and run of the node that failed in a frame of a host; None if the frame identifies none."""
    describe = _failure_frames.get(frame.f_code)
    return describe(frame) if describe is not None else None


def calls_function(frame: FrameType) -> bool:
    """Whether a frame calls a wrapped function."""
    return frame.f_code in _callers or frame.f_code in CHAIN_CODES


def read_entrance(frame: FrameType) -> Entrance | None:
    """The call that a frame of the chain or a host begins, None if it begins none."""
    if frame.f_code in CHAIN_CODES:
        passing = _read_chain_call(frame)
        if passing is None:
            return None
        call = passing.call
        return Entrance(call.site, call.run, call.inputs, call, passing.hooks)
    describe = _call_frames.get(frame.f_code)
    return describe(frame) if describe is not None else None


def function_call(frame: FrameType, hook: Hook | None) -> Call | None:
    """The call whose wrapped function a frame executes; None if it executes none, or `hook` is not around that call."""
    if not is_function_frame(frame):
        return None
    passing = _enclosing_chain_call(frame)
    return passing.call if passing is not None and any(hook is passing_hook for passing_hook in passing.hooks) else None


def is_function_frame(frame: FrameType) -> bool:
    """Whether a frame is that of a wrapped function itself.

    Not of something that the function calls, nor of a callback of the garbage collector, a finalizer or a signal handler,
    which Python may run before any call.
    """
    if frame.f_back is None or not calls_function(frame.f_back):
        return False
    passing = _enclosing_chain_call(frame)
    if passing is None or passing.call.site.kind != 'python' or is_generated(frame.f_code):
        return True
    # The chain calls the function, or a wrapper of its host.
    codes = code_of(passing.call.site.function), code_of(passing.function)
    return codes[0] is None or any(code is not None and original_code(frame.f_code) == original_code(code) for code in codes)


def _enclosing_chain_call(frame: FrameType) -> _ChainCall | None:
    """The call whose function our frames have called by this frame; None if unknown."""
    caller = frame.f_back
    while caller is not None and is_machinery(caller.f_code.co_filename) and caller.f_code not in _call_frames:
        if caller.f_code in CHAIN_CODES:
            return _read_chain_call(caller)
        caller = caller.f_back
    return None


def code_of(function: Any) -> CodeType | None:
    """The code that a call of a function begins with, below partials and methods; None if that is not Python."""
    for _ in range(_DEEPEST):
        if isinstance(function, functools.partial):
            function = function.func
        elif isinstance(function, MethodType):
            function = function.__func__
        elif isinstance(function, FunctionType):
            return function.__code__
        elif isinstance(function, type):
            return None
        else:
            function = next((vars(kind)['__call__'] for kind in type(function).__mro__ if '__call__' in vars(kind)), None)
    return None


def is_inside_function(frame: FrameType | None) -> bool:
    """Whether a frame is in a wrapped function, or in something called from there, however deep."""
    while frame is not None:
        if frame.f_code in CHAIN_CODES or frame.f_code in _call_frames:
            return True
        frame = frame.f_back
    return False


def _read_chain_call(frame: FrameType) -> _ChainCall | None:
    """The call that a frame of the chain makes; None where a frame further in makes it."""
    names = frame.f_locals
    if passage := names.get('self'):
        return _ChainCall(passage.call, passage.func, passage.hooks)
    call, watcher = names.get('call'), names.get('watcher')
    return _ChainCall(call, names['func'], (watcher,)) if call is not None and watcher is not None else None


def _read_invoke(frame: FrameType) -> Entrance | None:
    names = frame.f_locals
    return Entrance(names['site'], names['run'], names['inputs']) if names['site'].kind == 'python' else None


_call_frames[invoke.__code__] = _read_invoke       # for hosts that mark no call frame
_callers.add(invoke.__code__)
