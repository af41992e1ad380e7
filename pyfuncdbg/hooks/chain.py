"""The chain of hooks around every call: the single interception point.

Hosts wrap each site once with `instrument` (or call `around` for grains they execute themselves); tools add hooks.
The lists of hooks are tuples that are replaced on change, so a call reads them without a lock, on any thread.
"""
from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import partial
from time import perf_counter_ns
from typing import Any, Protocol

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import KINDS, Call, CallSite, Kind, Run

Outputs = Sequence[Any]
Function = Callable[..., Outputs]


class Hook(Protocol):
    """Something that watches or changes calls."""

    kinds: frozenset[Kind]

    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Run around one call, on its thread.

        May read the call, change `call.inputs`, call `proceed` not at all (skip), once, or again (retry), and
        returns the outputs that shall stand. What `proceed` raises is the user's and should pass; an exception
        of the hook itself is reported once, the hook is switched off, and the last outcome of `proceed` stands.
        """


class Hooks:
    """The installed hooks by kind, outermost first. One per process: `pyfuncdbg.hooks.chain.hooks`."""

    __slots__ = ('_all', '_failed', '_lock', 'gradient', 'op', 'python', 'run')

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: tuple[tuple[int, Hook], ...] = ()
        self._failed: tuple[Hook, ...] = ()
        self.python: tuple[Hook, ...] = ()
        self.op: tuple[Hook, ...] = ()
        self.gradient: tuple[Hook, ...] = ()
        self.run: tuple[Hook, ...] = ()

    def add(self, hook: Hook, *, depth: int = 0) -> None:
        """Install a hook; one of greater `depth` is nearer to the user's function, equals in order of coming."""
        with self._lock:
            self._failed = tuple(known for known in self._failed if known is not hook)
            if not any(hook is known for _, known in self._all):
                self._all = tuple(sorted((*self._all, (depth, hook)), key=lambda entry: entry[0]))
                self._publish()

    def remove(self, hook: Hook) -> None:
        """Take a hook out; calls that are inside it finish with it. Unknown hooks are ignored."""
        with self._lock:
            self._all = tuple(entry for entry in self._all if entry[1] is not hook)
            self._publish()

    def fail(self, hook: Hook) -> bool:
        """Take out a hook that raised; True for the first failure since it was added, on whichever thread."""
        self.remove(hook)
        with self._lock:
            first = not any(hook is known for known in self._failed)
            if first:
                self._failed = (*self._failed, hook)
            return first

    def __contains__(self, hook: Hook) -> bool:
        return any(hook is known for _, known in self._all)

    def _publish(self) -> None:
        for kind in KINDS:
            setattr(self, kind, tuple(hook for _, hook in self._all if kind in hook.kinds))


hooks = Hooks()
_current: ContextVar[int] = ContextVar('pyfuncdbg_current_call', default=0)
_thread = threading.local()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_thread.__dict__.clear)


def current_call() -> int:
    """The id of the hooked call whose function runs in this context, 0 outside of any."""
    return _current.get()


def instrument(site: CallSite, func: Function) -> Callable[[Run, list[Any]], Outputs]:
    """Wrap the function of a Python site.

    Args:
        site: Static description; its kind is 'python'.
        func: Takes the inputs as positional arguments and returns a sequence of host values.

    Returns:
        `invoke(run, inputs)`. With no hook installed it costs one tuple check over `func(*inputs)`.
    """
    def invoke(run: Run, inputs: list[Any]) -> Outputs:
        if not hooks.python and run.aborted is None:
            return func(*inputs)
        return around(site, func, run, inputs)
    return invoke


def around(site: CallSite, func: Function, run: Run, inputs: list[Any], forward: int = 0,
           sources: Sequence[int] = ()) -> Outputs:
    """Execute one call of a site of any kind through the hooks of that kind.

    Raises:
        RunAborted: The run was aborted, now or earlier.
        BaseException: What `func` raised, unchanged; its traceback has no frame of a hook.
    """
    if run.aborted is not None:
        raise run.aborted.with_traceback(None)
    try:
        thread: int = _thread.id                # get_native_id is a system call of 0.2 µs
    except AttributeError:
        thread = _thread.id = threading.get_native_id()
    call = Call(site, run, inputs, thread, perf_counter_ns(), forward, _current.get())
    call.sources = sources
    step: Callable[[], Outputs] = partial(_execute, call, func)
    for hook in reversed(getattr(hooks, site.kind)):
        step = _Step(hook, call, step)
    try:
        return step()
    except BaseException as error:
        if isinstance(error, RunAborted):
            run.aborted = error
        elif error is call.error:
            _drop_frames(error)
        raise
    finally:
        # The error's frames lead here: without this, call -> error -> frame -> call would wait for the collector.
        del call, step


def _execute(call: Call, func: Function) -> Outputs:
    """The innermost step: the user's function."""
    run = call.run
    call.error = call.outputs = None
    call.finished = 0
    token = _current.set(call.id)
    try:
        outputs = func(*call.inputs)
    except BaseException as error:
        call.finished = perf_counter_ns()
        call.error = error
        if run.aborted is not None and error is not run.aborted:
            raise run.aborted.with_traceback(None) from None
        raise
    finally:
        _current.reset(token)
    call.finished = perf_counter_ns()
    if run.aborted is not None:
        call.error = run.aborted
        raise run.aborted.with_traceback(None)
    call.outputs = outputs
    return outputs


def _drop_frames(error: BaseException) -> None:
    """Take the frames of this module and of the hooks out of a user's error, and what they hold.

    They hold the call, which holds the error: the program's arrays would live until the garbage collector comes by.
    """
    frames = []
    entry = error.__traceback__ and error.__traceback__.tb_next
    while entry is not None:
        frames.append(entry.tb_frame)
        entry = entry.tb_next
        if frames[-1].f_code is _execute.__code__:
            break
    else:
        return                                  # a hook gave the error another traceback
    error.__traceback__ = entry
    for frame in frames:
        with contextlib.suppress(RuntimeError):
            frame.clear()


class _Step:
    """One hook around the rest of the chain.

    The user's function runs exactly once unless the hook asked otherwise: if the hook fails, the last outcome of
    `proceed` stands, and if it never called that, the rest of the chain runs with the inputs the hook was given.
    """

    __slots__ = ('call', 'error', 'hook', 'outputs', 'proceeded', 'rest')

    def __init__(self, hook: Hook, call: Call, rest: Callable[[], Outputs]) -> None:
        self.hook = hook
        self.call = call
        self.rest = rest
        self.proceeded = False
        self.error: BaseException | None = None
        self.outputs: Outputs = ()

    def __call__(self) -> Outputs:
        call = self.call
        inputs = call.inputs
        given = tuple(inputs)
        try:
            outputs = self.hook.around(call, self.proceed)
            if outputs is None:
                raise TypeError('around() returned None, expected the outputs of the call')
            call.outputs = outputs
            if not call.finished:
                call.finished = perf_counter_ns()
            return outputs
        except Exception as error:
            if error is self.error:
                raise
            _switch_off(self.hook, call, error)
        if not self.proceeded:
            inputs[:] = given
            call.inputs = inputs
            return self.rest()
        if self.error is not None:
            raise self.error
        call.outputs = self.outputs
        return self.outputs

    def proceed(self) -> Outputs:
        self.proceeded = True
        self.error = None
        try:
            self.outputs = self.rest()
        except BaseException as error:
            self.error = error
            raise
        return self.outputs


def _switch_off(hook: Hook, call: Call, error: Exception) -> None:
    """Take a failed hook out and say so once, where the program's own output is not disturbed."""
    stderr = sys.__stderr__
    if not hooks.fail(hook) or stderr is None:
        return
    reason = ''.join(traceback.format_exception_only(error)).strip()
    with contextlib.suppress(OSError, ValueError):      # a closed terminal is no reason to end the program
        stderr.write(f'pyfuncdbg: {type(hook).__name__} failed at call #{call.id} of {call.site.name!r} and is switched '
                     f'off: {reason}. The program goes on unchanged.\n')
        stderr.flush()
