"""Run policy: a card before each debugged run, a stop after it, and the orders of `run` in between.

A front end sets `debugged_runs.policy` around a run; the debugger hands it the run's own call, on the thread of the run. A
run inside of a debugged one (a function called by a node) is part of it.
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter_ns
from types import FrameType

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.inspecting.stack import raised_by_host
from pyfuncdbg.observers.debug.ordinals import ordinal
from pyfuncdbg.observers.debug.stepping.debugged_runs import DebuggedRun, DebuggedRuns, RunOrder, policy
from pyfuncdbg.observers.debug.stepping.node_watch import NodeWatch
from pyfuncdbg.observers.debug.stepping.thread_control import ThreadControl
from pyfuncdbg.observers.debug.stops.stop import Decision, Stop

_OVER = ('next', 'until', 'return')
_IN_PYTHON = ('step', *_OVER)


class RunPolicy:
    """Debugging policy for the runs of one session, function or block. Any number of threads.

    Args:
        runs: Those of the debugger.
        title: What the cards call it.
        stops: False: nothing stops, what would have is logged.
        every: Each run has a card; otherwise only where the user steps, and then as long as the user says `run`.

    Attributes:
        order: What an earlier `run` asks for of the next run; None: a card.
    """

    def __init__(self, runs: DebuggedRuns, title: str, *, stops: bool = True, every: bool = True) -> None:
        runs.add_policy(self)
        self._runs = runs
        self._lock = new_lock()
        self._generation = -1
        self._count = 0
        self._every = self._carding = every
        self.title = title
        self.stops = stops
        self.order: RunOrder | None = None

    @property
    def progress(self) -> tuple[int, RunOrder | None]:
        """The number of runs so far, and the order for the next one: for the policy that goes on from here."""
        return self._count, self.order

    def go_on(self, progress: tuple[int, RunOrder | None]) -> None:
        """Go on where another policy was."""
        self._count, self.order = progress

    @property
    def on(self) -> bool:
        """Whether runs are debugged: switched on, and the user has not said `quit` since."""
        return self._generation == self._runs.generation

    def switch(self, on: bool) -> None:
        """Debug runs from now on, or no more."""
        self._generation = self._runs.generation if on else -1
        hooks.invalidate_interest()
        self._carding = self._every
        self.order = None

    @transparent
    def around(self, threads: ThreadControl, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """One run, from its card to the stop at its end."""
        plan = threads.plans.get(call.thread)
        if not self.on or (plan is not None and plan.asking):
            return proceed()
        with self._lock:
            self._count += 1
            debugged = DebuggedRun(call, self, self._count)
        token = policy.set(None)
        self._runs.add(debugged)
        try:
            return self._run_debugged(threads, debugged, proceed)
        finally:
            self._runs.remove(debugged)
            policy.reset(token)

    @transparent
    def _run_debugged(self, threads: ThreadControl, debugged: DebuggedRun, proceed: Callable[[], Outputs]) -> Outputs:
        over = self._begin(threads, debugged)
        while True:
            if debugged.plain:
                return _run_undebugged(threads, self._runs, debugged.thread, proceed)
            try:
                with self._runs.attend() if debugged.watched else nullcontext():
                    outputs = self._run_watched(threads, debugged, proceed)
            except RunAborted:
                raise
            except Exception as error:          # an error of the program: shown, and raised again unless the user retries
                if self._end(threads, debugged, error):
                    debugged.renew()
                    continue
                raise
            passed = debugged.watch is not None and debugged.watch.count > 0
            if (debugged.stops or passed) and self._end(threads, debugged, None):
                debugged.renew()
                continue
            if over is not None and self.on:
                _step_on(threads, debugged.thread, over)
            return outputs

    def _begin(self, threads: ThreadControl, debugged: DebuggedRun) -> Decision | None:
        """Show the card, unless an earlier order covers this run; gives a decision about Python, for after the run."""
        if not self.stops or threads.broker.front_end() is None:
            debugged.watched = False            # it will not be shown
            if str(debugged.number).strip('0') == '1':
                _log(threads, self._card(debugged))         # the first, the tenth, ...: a training loop has a million
            return None
        with self._lock:
            order = self.order
            if order is not None:
                debugged.obey(order)
                return None
        plan = threads.plans.get(debugged.thread)
        if not (self._carding or (plan is not None and plan.next_call)):
            return None
        threads.plan(debugged.thread).next_call = False
        threads.live.recorder().calls.announce(debugged.run, debugged.call.site)    # its nodes can be inspected before
        card = self._card(debugged)
        debugged.card = card.number
        decision = threads.stop_thread(card)
        debugged.begun = debugged.call.started = perf_counter_ns()      # exclude the time that the user took
        verb = decision.verb
        self._carding = self._every or verb not in ('cont', 'quit')
        if verb == 'run':
            debugged.obey(decision.argument or RunOrder())
        elif verb == 'quit':
            debugged.plain = True
        elif verb in _OVER:
            return decision
        elif verb in ('step', 'into'):
            debugged.stops = debugged.run.stepwise = threads.plan(debugged.thread).entering = True
        elif verb != 'cont':
            debugged.stops = True
            threads.apply_decision(decision, debugged.run, debugged.thread)
        return None

    def _card(self, debugged: DebuggedRun) -> Stop:
        reason = f'{ordinal(debugged.number)} run of {self.title}'
        return Stop('run', call=debugged.call, frame=sys._getframe(), reason=reason)

    @transparent
    def _run_watched(self, threads: ThreadControl, debugged: DebuggedRun, proceed: Callable[[], Outputs]) -> Outputs:
        """The run itself, its nodes recorded and tested."""
        if not debugged.watched:
            return proceed()
        call, order = debugged.call, self.order
        watch = debugged.watch = NodeWatch(call.run, threads.live.recorder(), order.until if order is not None else None)
        if watch.test is not None:
            watch.look(watch.test, call.inputs, call.run.feeds, call.site.host)
        watch.start()
        threads.breakpoints.begin_watched_run()
        try:
            return proceed()
        finally:
            threads.breakpoints.end()
            watch.stop()

    def _end(self, threads: ThreadControl, debugged: DebuggedRun, error: Exception | None) -> bool:
        """The stop after a run, if debugging was not left in it; whether to run it once more."""
        self.order = None
        if not self.on:
            return False
        what = f'{ordinal(debugged.number)} run of {self.title}'
        chain = _error_chain(error)
        stop = Stop('end', call=debugged.call, frame=sys._getframe(), error=chain[0] if chain else None,
                    reason=f'{what} raised {type(error).__name__}' if error is not None else f'end of {what}')
        stop.chain = chain
        if not self.stops:
            _log(threads, stop)
            return False
        plan = threads.plan(debugged.thread)
        plan.stepper.disarm()
        plan.next_call = plan.entering = False
        decision = threads.stop_thread(stop)
        verb = decision.verb
        self._carding = self._every or verb not in ('cont', 'quit')
        if verb == 'run':
            order = decision.argument or RunOrder()
            self.order = order if order != RunOrder() else None
        elif verb not in ('cont', 'retry', 'quit'):
            _step_on(threads, debugged.thread, decision)
        return verb == 'retry'


def _error_chain(error: Exception | None) -> tuple[BaseException, ...]:
    """An error after the one of the program's own code that the host made it from: that one has the frames."""
    errors: list[BaseException] = [] if error is None else [error]
    while errors and raised_by_host(errors[0]):
        cause = errors[0].__cause__
        if cause is None or cause.__traceback__ is None:
            break
        errors.insert(0, cause)
    return tuple(errors)


@transparent
def _run_undebugged(threads: ThreadControl, runs: DebuggedRuns, thread: int, proceed: Callable[[], Outputs]) -> Outputs:
    """A run in which nothing stops, and nothing is recorded that only the debugger would read."""
    plan = threads.plan(thread)
    plan.asking = True
    if runs.count == 1:
        threads.live.sleep()
    try:
        return proceed()
    finally:
        if threads.on:
            threads.live.recorder()
        plan.asking = False
        if plan.is_idle:
            threads.plans.pop(thread, None)


def _step_on(threads: ThreadControl, thread: int, decision: Decision) -> None:
    """Go on stepping where the run was asked for: through Python, or to the next call."""
    frame = _program_frame()
    plan = threads.plan(thread)
    if decision.verb in _IN_PYTHON and frame is not None:
        plan.stepper.follow(decision, frame)
    else:
        plan.next_call = True


def _program_frame() -> FrameType | None:
    """The innermost frame of the program on this thread."""
    return outside_machinery(sys._getframe(1))


def _log(threads: ThreadControl, stop: Stop) -> None:
    if threads.broker.on_log is not None:
        threads.broker.on_log(stop)
