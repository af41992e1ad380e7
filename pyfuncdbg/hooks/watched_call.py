# cython: annotation_typing=False, auto_pickle=False
"""Watched call: one that a single hook watches and none can change, the usual one while a recorder is on.

Compiled where there is a compiler. Between two calls a framework's own code empties the processor's caches, and bytecode
that is in none of them takes three times as long as in a loop: compiled, a recorded call costs a third. What costs is which
code runs, not how often: 20 ns for each 64 bytes of it that are in no cache, so few different functions are called here.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call, CallSite, Run, current, new_call
from pyfuncdbg.hooks.hook_failure import switch_off
from pyfuncdbg.hooks.installed_hooks import Watcher
from pyfuncdbg.hooks.run_abort import abort_ends_here

_get_current, _set_current, _clock = current.get, current.set, perf_counter_ns   # looked up once
_NO_STATE: Any = object()
"""What a watcher keeps of a call whose beginning it has not seen."""


def make_call(site: CallSite, run: Run, inputs: list[Any], thread: int, watcher: Watcher, holder: Any,
              func: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Make a call of a site that one hook watches, for hosts whose functions take more than its inputs.

    Args:
        site, run, inputs, thread: As in `Call`.
        watcher, func, arguments: As in `watch_call`.
        holder: Its `call` becomes the id of the call when it begins; None where that is not asked for.

    Returns:
        As `watch_call`; or `NotImplemented` where `chain.invoke` has to make it: then nothing has happened.

    Raises:
        BaseException: As from `watch_call`.
    """
    within = _get_current()
    if run.aborted is not None or (within is not None and not within.id):
        return NotImplemented
    call = new_call(site, run, inputs, thread, _clock(), 0, within)
    if holder is not None:
        holder.call = call.id
    try:
        return watch_call(call, within, watcher, func, arguments)
    finally:
        call.output_owner = None
        del call, within                        # frames of an error lead here


def watch_call(call: Call, within: Call | None, watcher: Watcher, func: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Make a call that one hook watches.

    Args:
        call: The call, which begins.
        within: The call in whose function it is made.
        watcher: The only hook of its kind.
        func, arguments: What makes it.

    Returns:
        What `func` has returned: the elements of a list or tuple are the outputs, None stands for no output.

    Raises:
        RunAborted: The run was aborted.
        BaseException: What `func` raised, unchanged.
    """
    kept: Any = _NO_STATE
    try:
        kept = watcher.on_begin(call)
    except Exception as error:                  # the hook is broken: the call goes on without it
        switch_off(watcher, call, error)
    _set_current(call)
    try:
        result = func(*arguments)
        call.finished = _clock()
        if call.run.aborted is not None:
            raise call.run.aborted.with_traceback(None)
    except BaseException as error:
        _set_current(within)                          # what a token does is other code, which is in no cache
        raised = _end_with_error(call, watcher, kept, error)
        if raised is not error:
            raise raised from None
        raise error
    _set_current(within)
    outputs = result if isinstance(result, (list, tuple)) else () if result is None else (result,)
    call.outputs = outputs
    if kept is not _NO_STATE:
        try:
            watcher.on_return(call, kept, outputs)   # a forked child has another method
        except BaseException as error:          # the hook is broken: the outputs stand
            _discard_watcher(watcher, call, kept, error)
    return result


def _end_with_error(call: Call, watcher: Watcher, kept: Any, error: BaseException) -> BaseException:
    """Tell the hook that the function has raised; gives what the call raises."""
    run = call.run
    call.finished = _clock()
    call.error = error
    if error.__traceback__ is not None:         # its outermost entry is the line above
        error.__traceback__ = error.__traceback__.tb_next
    if run.aborted is not None and error is not run.aborted:
        error = run.aborted.with_traceback(None)
    if kept is not _NO_STATE:
        try:
            watcher.on_error(call, kept, error)
        except BaseException as mistake:        # the hook is broken: the error passes all the same
            _discard_watcher(watcher, call, kept, mistake)
    if isinstance(error, RunAborted):
        run.aborted = None if not call.parent and abort_ends_here(run) else error
    return error


def _discard_watcher(watcher: Watcher, call: Call, kept: Any, error: BaseException) -> None:
    """A hook has raised at the end of a call: it is switched off, unless the error is the program's, which goes on."""
    watcher.on_break_off(call, kept)
    if not isinstance(error, Exception):
        raise error
    switch_off(watcher, call, error)
