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
from pyfuncdbg.hooks.transparent_frames import transparent

_get_current, _set_current, _clock = current.get, current.set, perf_counter_ns   # looked up once
_NO_STATE: Any = object()
"""State of a call whose `on_begin` failed."""


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
    outer_call = _get_current()
    if run.aborted is not None or (outer_call is not None and not outer_call.id):
        return NotImplemented
    call = new_call(site, run, inputs, thread, _clock(), 0, outer_call)
    if holder is not None:
        holder.call = call.id
    try:
        return watch_call(call, outer_call, watcher, func, arguments)
    finally:
        call.output_owner = None
        del call, outer_call                        # frames of an error lead here


def make_ended_call(site: CallSite, run: Run, inputs: list[Any], outputs: Sequence[Any], thread: int,
                    watcher: Watcher) -> None:
    """Make a call that has already ended, for the one hook that watches its kind, as `chain.invoke_afterwards` does.

    Args:
        site, run, inputs, thread: As in `Call`.
        outputs: What it returned.
        watcher: The hook.
    """
    outer_call = _get_current()
    if outer_call is not None and not outer_call.id:    # a re-execution for inspection
        return
    call = new_call(site, run, inputs, thread, 0, 0, outer_call, (), (next(site.counter), run.started))
    try:
        watch_call(call, outer_call, watcher, _identity, (outputs,))
    finally:
        call.output_owner = None


def _identity(value: Any) -> Any:
    return value


def watch_call(call: Call, outer_call: Call | None, watcher: Watcher, func: Callable[..., Any],
               arguments: Sequence[Any]) -> Any:
    """Make a call that one hook watches.

    Args:
        call: The call, which begins.
        outer_call: The call in whose function it is made.
        watcher: The only hook of its kind.
        func, arguments: What makes it.

    Returns:
        What `func` has returned: the elements of a list or tuple are the outputs, None stands for no output.

    Raises:
        RunAborted: The run was aborted.
        BaseException: What `func` raised, unchanged.
    """
    state: Any = _NO_STATE
    try:
        state = watcher.on_begin(call)
    except Exception as error:                  # the hook is broken: the call goes on without it
        switch_off(watcher, call, error)
    _set_current(call)
    try:
        result = func(*arguments)
        call.finished = _clock()
        if call.run.aborted is not None:
            raise call.run.aborted.with_traceback(None)
    except BaseException as error:
        _set_current(outer_call)                          # resetting a token is other code, which is in no cache
        raised = _end_with_error(call, watcher, state, error)
        if raised is not error:
            raise raised from None
        raise error
    _set_current(outer_call)
    outputs = result if isinstance(result, (list, tuple)) else () if result is None else (result,)
    call.outputs = outputs
    if state is not _NO_STATE:
        try:
            watcher.on_return(call, state, outputs)   # a forked child has another method
        except BaseException as error:          # the hook is broken: the outputs stand
            _discard_watcher(watcher, call, state, error)
    return result


def _end_with_error(call: Call, watcher: Watcher, state: Any, error: BaseException) -> BaseException:
    """Call the hook after the function has raised; returns the exception that the call raises."""
    run = call.run
    call.finished = _clock()
    call.error = error
    if error.__traceback__ is not None:         # its outermost entry is the line above
        error.__traceback__ = error.__traceback__.tb_next
    if run.aborted is not None and error is not run.aborted:
        error = run.aborted.with_traceback(None)
    if state is not _NO_STATE:
        try:
            watcher.on_error(call, state, error)
        except BaseException as mistake:        # the hook is broken: the error passes all the same
            _discard_watcher(watcher, call, state, mistake)
    if isinstance(error, RunAborted):
        run.aborted = None if not call.parent and abort_ends_here(run) else error
    return error


def _discard_watcher(watcher: Watcher, call: Call, state: Any, error: BaseException) -> None:
    """Switch off a hook that raised at the end of a call; raise the error if it is the program's."""
    watcher.on_break_off(call, state)
    if not isinstance(error, Exception):
        raise error
    switch_off(watcher, call, error)


transparent(make_call)                          # where they are not compiled, which would take no decorator
transparent(watch_call)
