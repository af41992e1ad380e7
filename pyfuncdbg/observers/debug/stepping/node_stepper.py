"""Steps through the nodes of a paused run: what each verb does between two nodes.

Runs on the thread of the run. Works on `RunCursor` only, so on any host that can pause.
"""
from __future__ import annotations

import glob
import os
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run, current
from pyfuncdbg.hooks.call_frames import read_entrance
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.inspecting.tensor_differences import copied_values, differences
from pyfuncdbg.observers.debug.stepping.thread_control import ThreadControl
from pyfuncdbg.observers.debug.stops.stop import FORWARD, STEPS, Decision, Stop

if TYPE_CHECKING:                               # a program that is only stopped loads no index
    from pyfuncdbg.observers.record.trace import Trace


@dataclass(frozen=True, slots=True)
class Rerun:
    """The argument of `swap` at a node: where to be again, and what was there before.

    Attributes:
        position: Where to pause again.
        before: The tensors that may come out differently.
    """

    position: int
    before: Mapping[str, np.ndarray]


def can_pause(run: Run | None) -> bool:
    """Whether the run can be stopped before its next node."""
    return run is not None and run.control is not None


def is_paused(run: Run | None) -> bool:
    """Whether the run is paused at each node already."""
    return run is not None and hasattr(run.control, 'go_to')


def pause(threads: ThreadControl, run: Any, decision: Decision) -> None:
    """Carry out a decision as soon as the run is between two nodes."""
    run.control.pause(_Pause(threads, run, decision))


def resume(run: Run | None) -> None:
    """Pause the run no more, nor those around it on this thread."""
    call = current.get()
    frame: FrameType | None = sys._getframe(1)
    runs = [run, call.run if call is not None else None]
    while frame is not None:
        entrance = read_entrance(frame)
        runs.append(entrance.run if entrance is not None else None)
        frame = frame.f_back
    for one in runs:
        if one is not None and one.control is not None:
            one.control.resume()


def _run_around(inner: Run) -> Run | None:
    """The run with the call that made this one, if there is one."""
    call = current.get()
    if call is None or call.run is not inner:
        return call.run if call is not None else None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:                    # where runs have calls too, that is the run's own: the stack knows the next
        entrance = read_entrance(frame)
        if entrance is not None and entrance.run is not inner:
            return entrance.run
        frame = frame.f_back
    return None


class _Pause:
    """Pause callback of a run: asks the user and carries out the answer.

    Args:
        decision: Made in a call before the run could pause; `to`, `rewind` and `into` are carried out at the first pause.
    """

    def __init__(self, threads: ThreadControl, run: Run, decision: Decision) -> None:
        self._threads = threads
        self._run = run
        self._decision: Decision | None = decision if decision.verb in ('to', 'rewind', 'into') else None
        self._before: Mapping[str, np.ndarray] = {}

    def __call__(self) -> None:
        control = cast(RunCursor, self._run.control)
        decision, self._decision = self._decision, None
        if not self._threads.on:
            control.resume()
            return
        reason = 'node'
        if decision is not None and decision.verb == 'into':    # from within a function: on to the next one
            control.resume()
            self._threads.plan(threading.get_native_id()).entering = True
            return
        if decision is not None:
            reason = self._carry_out(control, decision, 0)
            if not reason:
                return
        elif control.error is not None:
            if self._threads.was_stopped_for(control.error):
                return
            reason = f'raised {type(control.error).__name__}'
        while True:
            stop = self._stop(control, reason)
            decision = self._threads.stop_thread(stop)
            reason = self._carry_out(control, decision, stop.thread)
            if not reason:
                return

    def _stop(self, control: RunCursor, reason: str) -> Stop:
        stop = Stop('error' if control.error is not None else 'node', run=self._run, frame=sys._getframe(), reason=reason,
                    error=control.error)
        before, self._before = self._before, {}
        if before:
            stop.differences = differences(before, copied_values(control, self._run.host, before))
        return stop

    def _carry_out(self, control: RunCursor, decision: Decision, thread: int) -> str:
        """Do what the user said; why it cannot be done, '' if it is done."""
        try:
            if control.error is not None and decision.verb not in ('retry', 'rewind', 'swap'):
                self._let_fail(control, decision, thread)
            elif control.position >= len(control.sites) and decision.verb in FORWARD:
                self._beyond(control, decision, thread)
            else:
                _ACTIONS[decision.verb](self, control, decision, thread)
        except ValueError as error:             # the host refuses, and has changed nothing
            return str(error)
        return ''

    def _let_fail(self, control: RunCursor, decision: Decision, thread: int) -> None:
        """The error goes on to the program."""
        if decision.verb in ('cont', 'quit', 'run'):
            control.resume()
        else:                                   # the stepper continues where the error is handled
            self._threads.step_out(decision, thread)

    def _beyond(self, control: RunCursor, decision: Decision, thread: int) -> None:
        """Forward from the end of a function or run: to the node around it, or to where the program goes on."""
        control.go_to(len(control.sites) + 1)
        outer = _run_around(self._run)
        if decision.verb == 'into':
            self._threads.plan(thread).entering = True
        elif decision.verb in STEPS:
            self._threads.step_out(decision, thread)
        elif can_pause(outer):
            pause(self._threads, outer, decision)
        else:
            self._threads.stop_at_next_call(thread)

    # ------------------------------------------------------------------ verbs
    def _resume(self, control: RunCursor, decision: Decision, thread: int) -> None:
        control.resume()

    def _over(self, control: RunCursor, decision: Decision, thread: int) -> None:
        control.go_to(control.position + 1)

    def _step(self, control: RunCursor, decision: Decision, thread: int) -> None:
        self._threads.plan(thread).entering = control.sites[control.position].kind == 'python'
        control.enter()

    def _into(self, control: RunCursor, decision: Decision, thread: int) -> None:
        """Into what the node runs; one that runs nothing is on the way to the next Python function."""
        site = control.sites[control.position]
        if site.kind == 'python' or site.traits.runs_graph:
            self._step(control, decision, thread)
        else:
            control.resume()
            self._threads.plan(thread).entering = True

    def _out(self, control: RunCursor, decision: Decision, thread: int) -> None:
        control.go_to(len(control.sites) + 1)
        self._threads.step_out(decision, thread)

    def _to(self, control: RunCursor, decision: Decision, thread: int) -> None:
        control.go_to(decision.argument)

    def _rewind(self, control: RunCursor, decision: Decision, thread: int) -> None:
        control.rewind(decision.argument)

    def _retry(self, control: RunCursor, decision: Decision, thread: int) -> None:
        position = control.position
        before: Mapping[str, np.ndarray] = {}
        if control.error is None and position > 0:
            before = copied_values(control, self._run.host, control.sites[position - 1].outputs)
        control.retry()
        mark_retry(self._threads.live.trace(), self._run, control.sites[control.position])
        if decision.argument == 'into':
            self._step(control, decision, thread)
        else:
            control.go_to(control.position + 1)
        self._before = before

    def _swap(self, control: RunCursor, decision: Decision, thread: int) -> None:
        again = cast(Rerun, decision.argument)
        self._before = again.before
        control.go_to(max(again.position, control.position))


_Action = Callable[[_Pause, RunCursor, Decision, int], None]
_ACTIONS: Mapping[str, _Action] = {
    'cont': _Pause._resume, 'quit': _Pause._resume, 'run': _Pause._resume,
    'node': _Pause._over, 'next': _Pause._over, 'until': _Pause._over, 'jump': _Pause._over,
    'into': _Pause._into, 'step': _Pause._step, 'return': _Pause._out,
    'to': _Pause._to, 'rewind': _Pause._rewind, 'retry': _Pause._retry, 'swap': _Pause._swap,
}
"""Action of each verb between two nodes."""


class RetryMark:
    """Marks the calls of one node: that of its Python function and that of the node around it.

    Where the run goes back, the host makes a new call that knows nothing of the first one. Installed at a prompt, gone when
    the node has run.
    """

    passive = True

    def __init__(self, run: Run, site: CallSite, first: dict[Kind, int]) -> None:
        """`first`: id of the first execution, by kind of call."""
        self._run = run
        self._name = site.name
        self._first = first
        self.kinds = frozenset(first)

    def wants(self, site: CallSite, run: Run) -> bool:
        """Only calls of that node."""
        return run is self._run and site.name == self._name

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if not self.wants(call.site, call.run):
            return proceed()
        call.retry_of = self._first.get(call.site.kind, 0)
        try:
            return proceed()
        finally:
            hooks.remove(self)


_DEPTH = -101
_GRAINS: tuple[Kind, ...] = ('python', 'op')


def mark_retry(trace: Trace, run: Run, site: CallSite) -> None:
    """Mark the next execution of a node in a run, if its last one was recorded."""
    first: dict[Kind, int] = {}
    pids = trace.info().processes
    process = pids.index(os.getpid()) + 1 if os.getpid() in pids else 1
    for kind in _GRAINS:
        calls = trace.calls(kind=kind, site=glob.escape(site.name), run=run.id)
        own = [call for call in calls if call.site.name == site.name and call.process == process]
        if own:
            first[kind] = int((own[-1].retry_of or own[-1].number).rpartition('.')[2])
    if first:
        hooks.add(RetryMark(run, site, first), depth=_DEPTH)
