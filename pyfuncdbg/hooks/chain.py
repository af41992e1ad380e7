"""The chain of hooks around every call: the single interception point.

Hosts make each call with `invoke`; tools add hooks. Runs on the thread of each call.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from types import CodeType, FunctionType
from typing import Any

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call, CallSite, Run, current, new_call
from pyfuncdbg.hooks.hook_failure import report_failure, switch_off
from pyfuncdbg.hooks.installed_hooks import Gate, Hook, Hooks, Outputs, Watcher, hooks
from pyfuncdbg.hooks.native_thread import native_thread
from pyfuncdbg.hooks.own_files import is_own_file
from pyfuncdbg.hooks.run_abort import abort_ends_here, call_unwatched
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hooks.watched_call import watch_call

Function = Callable[..., Outputs]
_NO_OUTCOME: Any = object()


def current_call(site: CallSite | None = None) -> int:
    """The id of the hooked call whose function runs in this context; 0 outside of any, or of a call of `site`."""
    call = current.get()
    return call.id if call is not None and (site is None or call.site is site) else 0


@transparent
def invoke(site: CallSite, func: Function, run: Run, inputs: list[Any], forward: int = 0, sources: Sequence[int] = (),
           thread: int = 0) -> Outputs:
    """Make one call of a site of any kind: hosts call every function that hooks may watch through this.

    Args:
        site: Where it is made.
        func: Takes the inputs as positional arguments and returns a sequence of host values.
        run, inputs, forward, sources: As in `Call`.
        thread: Native id of this thread, from hosts whose threads keep nothing between calls; else it is found here.

    Returns:
        The outputs of `func`, or those that a hook returns instead.

    Raises:
        RunAborted: The run was aborted, now or earlier.
        BaseException: What `func` raised, unchanged; its traceback has no frame of a hook.
    """
    watcher = None
    if run.aborted is None and site.kind in hooks.filtered_kinds:
        place = site if site.kind != 'run' else run.form
        stamp = hooks.stamp
        answer = place.interest if place is not None and place.interest[0] is stamp else hooks.ask(site, run)
        interest, watcher = answer[1], answer[2] and answer[2]()
        if interest is False:
            next(site.counter)
            return call_unwatched(run, func, *inputs)
        if interest is None:
            return func(*inputs)
        if interest is not True:
            return _invoke_gated(interest, stamp, site, func, run, inputs)
    return _invoke_watched(site, func, run, inputs, forward, sources, thread, watcher=watcher)


@transparent
def invoke_afterwards(site: CallSite, run: Run, inputs: list[Any], outputs: Outputs) -> None:
    """Make a call that has already ended: a host learns of it afterwards. It began when its run did, and changes nothing.

    Args:
        site: Where it was made.
        run, inputs: As in `Call`.
        outputs: What it returned.
    """
    if site.kind in hooks.filtered_kinds and not hooks.ask_interest(site, run):
        next(site.counter)
        return
    _invoke_watched(site, lambda *_: outputs, run, inputs, start=(next(site.counter), run.started))


@transparent
def _invoke_gated(gate: Gate, stamp: object, site: CallSite, func: Function, run: Run, inputs: list[Any]) -> Outputs:
    """Make a call whose values decide whether a hook is interested; `stamp` is that of the gate."""
    ordinal = next(site.counter)
    if not gate.needs_outputs:
        if gate.opens(run, ordinal, inputs, ()):
            return _invoke_watched(site, func, run, inputs, start=(ordinal, perf_counter_ns()))
        return call_unwatched(run, func, *inputs)
    saved_inputs = gate.save(inputs)
    started = perf_counter_ns()
    outputs = call_unwatched(run, func, *inputs)
    if hooks.stamp is stamp and not gate.opens(run, ordinal, inputs, outputs):
        return outputs
    return _invoke_watched(site, _replay_first_call(outputs, func), run, inputs, start=(ordinal, started),
                           saved_inputs=saved_inputs)


@transparent
def _replay_first_call(outputs: Outputs, func: Function) -> Function:
    """A function whose first call returns the `outputs` of an earlier one; later calls execute `func`."""
    first = [outputs]
    return lambda *inputs: first.pop() if first else func(*inputs)


@transparent
def _invoke_watched(site: CallSite, func: Function, run: Run, inputs: list[Any], forward: int = 0,
                    sources: Sequence[int] = (),
                    thread: int = 0, start: tuple[int, int] | None = None, saved_inputs: Any = None,
                    watcher: Watcher | None = None) -> Outputs:
    """Make a call through the hooks of its kind.

    Args:
        site, func, run, inputs, forward, sources, thread: As in `invoke`.
        start: Its ordinal and the time of its start, if it has begun already.
        saved_inputs: As in `Call`.
        watcher: The only hook that is interested, where another one is installed, too.
    """
    if run.aborted is not None:
        raise run.aborted.with_traceback(None)
    outer_call = current.get()
    if outer_call is not None and not outer_call.id:    # a re-execution for inspection
        return func(*inputs)
    if not thread:
        thread = native_thread()
    if watcher is None:
        watcher = hooks.sole_watcher[site.kind]
    call = new_call(site, run, inputs, thread, perf_counter_ns(), forward, outer_call, sources, start)
    if saved_inputs is not None:
        call.saved_inputs = saved_inputs
    try:
        # No `cast`: a step out of the function would lead into that.
        return watch_call(call, outer_call, watcher, func, inputs) if watcher is not None else _run_hooks(call, func)
    except BaseException as error:
        if isinstance(error, RunAborted):
            run.aborted = None if not call.parent and abort_ends_here(run) else error
        elif error is call.error:
            _drop_frames(error)
        raise
    finally:
        call.output_owner = None
        # The error's frames lead here: without this, call -> error -> frame -> call would wait for the collector.
        del call, outer_call


@transparent
def _run_hooks(call: Call, func: Function) -> Outputs:
    """Execute a call through all hooks of its kind."""
    passage = _Passage()                        # filled here: calling an __init__ costs 0.06 µs
    passage.call = call
    passage.func = func
    passage.hooks = getattr(hooks, call.site.kind)
    passage.level = len(passage.hooks)
    try:
        return passage.proceed() if passage.hooks else passage.execute()
    finally:
        del call, passage                       # as in `_invoke_watched`


def _drop_frames(error: BaseException) -> None:
    """Take the frames of this module and of the hooks out of a user's error, and what they hold.

    They hold the call, which holds the error: the program's arrays would live until the garbage collector runs.
    """
    frames = []
    entry = error.__traceback__ and error.__traceback__.tb_next
    for innermost in False, True:               # compiled, the innermost code has two entries
        while entry is not None and _is_innermost(entry.tb_frame.f_code) is innermost:
            frames.append(entry.tb_frame)
            entry = entry.tb_next
        if entry is None:
            return                              # a hook gave the error another traceback
    error.__traceback__ = entry
    for frame in frames:
        with contextlib.suppress(RuntimeError):
            frame.clear()


class _ErrorOutcome:
    """An outcome that is an exception."""

    __slots__ = ('error',)

    def __init__(self, error: BaseException) -> None:
        self.error = error


@transparent
class _Passage:
    """State of one call on its way through several hooks. One object for all of them: one for each hook costs 0.3 µs more.

    The user's function runs exactly once unless a hook asks otherwise: if a hook fails, the last outcome of its `proceed`
    is that of the call, and if it never called that, the rest of the chain runs with the inputs the hook was given.

    Attributes:
        level: How many hooks are inside of the present one; the next `proceed` runs the outermost of them.
        outcome: Of the last `proceed` that the present hook has called, or `_NO_OUTCOME`.
    """

    __slots__ = ('call', 'func', 'hooks', 'level', 'outcome')

    call: Call
    func: Function
    hooks: tuple[Hook, ...]
    level: int
    outcome: Any

    def proceed(self) -> Outputs:
        """Run the next hook around the rest."""
        level, call = self.level, self.call
        hook, inputs = self.hooks[-level], call.inputs
        inputs_before = tuple(inputs)
        self.level = level - 1
        self.outcome = _NO_OUTCOME
        try:
            outputs = hook.around(call, self.proceed if level > 1 else self.execute)
            if outputs is None:
                raise TypeError('around() returned None, expected the outputs of the call')
        except Exception as error:
            outcome = self.outcome
            if type(outcome) is _ErrorOutcome and outcome.error is error:
                self.level = level
                raise
            switch_off(hook, call, error)
            outputs = None
        except BaseException as error:
            self.level = level
            self.outcome = _ErrorOutcome(error)
            raise
        if outputs is None:
            # Outside of the handler: else the hook's error would be the context of what the user's function raises.
            outputs = self._finish_without(level, inputs, inputs_before)
        self.level = level
        self.outcome = call.outputs = outputs
        if not call.finished:
            call.finished = perf_counter_ns()
        return outputs

    def _finish_without(self, level: int, inputs: list[Any], inputs_before: tuple[Any, ...]) -> Outputs:
        """The outcome of the call after the hook at `level` has failed."""
        outcome = self.outcome
        if outcome is _NO_OUTCOME:
            inputs[:] = inputs_before
            self.call.inputs = inputs
            try:
                return self.proceed() if level > 1 else self.execute()
            finally:
                self.level = level
        if type(outcome) is _ErrorOutcome:
            self.level = level
            raise outcome.error
        return outcome  # type: ignore[no-any-return]

    def execute(self) -> Outputs:
        """The innermost step: the user's function."""
        call = self.call
        run = call.run
        call.error = call.outputs = None
        call.finished = 0
        token = current.set(call)
        try:
            outputs = self.func(*call.inputs)
        except BaseException as error:
            call.finished = perf_counter_ns()
            call.error = error
            if run.aborted is not None and error is not run.aborted:
                self.outcome = _ErrorOutcome(run.aborted)
                raise run.aborted.with_traceback(None) from None
            self.outcome = _ErrorOutcome(error)
            raise
        finally:
            current.reset(token)
        call.finished = perf_counter_ns()
        if run.aborted is not None:
            call.error = run.aborted
            self.outcome = _ErrorOutcome(run.aborted)
            raise run.aborted.with_traceback(None)
        self.outcome = call.outputs = outputs
        return outputs


def _is_innermost(code: CodeType) -> bool:
    """Whether code is the innermost of the chain; a compiled function has the name of its module before its own."""
    return code is _Passage.execute.__code__ or (
        code.co_name.rpartition('.')[2] == watch_call.__name__ and is_own_file(code.co_filename))


CHAIN_CODES = frozenset((_Passage.execute.__code__, (watch_call if isinstance(watch_call,
                                                                              FunctionType) else _invoke_watched).__code__))
"""Code whose frames hold the call that the chain makes."""


__all__ = ['Gate', 'Hook', 'Hooks', 'Outputs', 'call_unwatched', 'current_call', 'hooks', 'invoke', 'invoke_afterwards',
           'report_failure']
