"""The debugger: the hook that stops calls, one for the process: `debugger`.

Breakpoints say where, the broker asks the user, the stepper goes through Python and `nodes` through the graph. `around` runs
on the thread of each call. Nothing here is active before somebody debugs.
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from pyfuncdbg.debug import nodes, runs
from pyfuncdbg.debug.breakpoints import Breakpoints, Hit, Tests
from pyfuncdbg.debug.broker import Broker
from pyfuncdbg.debug.live import LiveTrace
from pyfuncdbg.debug.stepper import Stepper
from pyfuncdbg.debug.stop import Decision, Phase, Stop
from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import Call, Kind, Run, current
from pyfuncdbg.hooks.chain import Outputs, hooks

DEPTH = -100
"""Of the hook: outside of recorders, so that they see what a function really got."""


class Retried(BaseException):
    """The user wants the call again, from inside of it: passes through the function up to the call."""

    def __init__(self, call: int) -> None:
        super().__init__(call)
        self.call = call


class Flow:
    """What the user wants of one thread next.

    Attributes:
        stepper: Steps the thread through Python.
        asking: The thread is at a stop: what is called from there (an expression) is not debugged.
        entering: Stop at the first line of the next Python call.
        next_call: Stop before the next call of any kind.
    """

    __slots__ = ('asking', 'entering', 'next_call', 'stepper')

    def __init__(self, stepper: Stepper) -> None:
        self.stepper = stepper
        self.asking = False
        self.entering = False
        self.next_call = False

    @property
    def idle(self) -> bool:
        """Whether nothing is wanted of the thread."""
        return not (self.asking or self.entering or self.next_call or self.stepper.active)


class Debugger:
    """The hook and what it works with.

    Attributes:
        kinds: The calls it wants; changes with breakpoints.
        catching: Stop where a wrapped function raises.
        flows: By native thread, what the user wants of it next; threads of which nothing is wanted are not in it.
    """

    def __init__(self) -> None:
        self.kinds: frozenset[Kind] = frozenset(('python',))
        self.broker = Broker()
        self.live = LiveTrace()
        self.runs = runs.Runs()
        self.breakpoints = Breakpoints(self._changed)
        self.catching = False
        self.flows: dict[int, Flow] = {}
        self._lock = threading.RLock()
        self._extra: frozenset[Kind] = frozenset()

    # ------------------------------------------------------------------ on and off
    def start(self) -> None:
        """Begin to watch calls; starting twice is allowed."""
        hooks.add(self, depth=DEPTH)

    def leave(self) -> None:
        """Stop debugging: no hook, no tracing, every waiting thread goes on. Breakpoints are kept, and asleep."""
        hooks.remove(self)
        self.runs.left()
        for flow in list(self.flows.values()):
            flow.entering = flow.next_call = False
        self.broker.release()

    @property
    def on(self) -> bool:
        """Whether calls are watched."""
        return self in hooks

    def want(self, *kinds: Kind) -> None:
        """Watch calls of these kinds too, from now on."""
        self._extra |= frozenset(kinds)
        self._changed()

    def _changed(self) -> None:
        """Breakpoints are others now: watch the calls that they need."""
        with self._lock:
            kinds = frozenset[Kind](('python',)) | self.breakpoints.kinds | self._extra
            if kinds != self.kinds:
                self.kinds = kinds
                hooks.refresh()

    # ------------------------------------------------------------------ the hook
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if call.site.kind == 'run':
            policy = runs.policy.get()
            if policy is not None:
                return policy.around(self, call, proceed)
        tests = self.breakpoints.at(call.site)
        flow = self.flows.get(call.thread) if self.flows else None
        if tests is None and flow is None and not self.catching:
            return proceed()
        if flow is not None and flow.asking:
            return proceed()
        return self._watched(call, proceed, tests)

    def _watched(self, call: Call, proceed: Callable[[], Outputs], tests: Tests | None) -> Outputs:
        """A call with something to test, or on a thread that steps."""
        stop_after = self._before(call, tests)
        while True:
            try:
                outputs = proceed()
            except Retried as retried:
                if retried.call != call.id:
                    raise
                continue
            except RunAborted:
                raise
            except Exception as error:          # the user's: looked at, and raised again unless the user retries
                if self._failed(call, tests, error, stop_after):
                    continue
                raise
            if tests is None and not stop_after and call.thread not in self.flows:
                return outputs
            result = self._after(call, tests, list(outputs), stop_after)
            if result is not None:
                return result

    def _before(self, call: Call, tests: Tests | None) -> bool:
        """Stop before the call if there is a reason; whether to stop after it."""
        flow = self.flows.get(call.thread)
        hits = tests.before(call) if tests is not None else ()
        wanted = flow is not None and flow.next_call and call.site.kind != 'run'
        if not hits and not wanted:
            if flow is not None and flow.entering and call.site.kind == 'python':
                flow.entering = False
                flow.stepper.enter('into')
                return True
            return flow is not None and flow.stepper.active and call.site.kind == 'python'
        if flow is not None:
            flow.next_call = False
        decision = self.stopped(Stop('before', call=call, frame=sys._getframe(), hits=hits, reason=_why(hits) or 'node'))
        flow = self.flow(call.thread)
        verb = decision.verb
        if verb in ('step', 'into') and call.site.kind == 'python':
            flow.stepper.enter(verb)
            return True
        if verb in ('step', 'next', 'until', 'return'):
            return True
        self.carry_on(decision, call.run, call.thread)
        return False

    def _after(self, call: Call, tests: Tests | None, outputs: list[Any], stop_after: bool) -> Outputs | None:
        """Stop after the call if there is a reason; what stands as its outputs, None to make the call again."""
        hits = tests.after(call, outputs) if tests is not None else ()
        flow = self.flows.get(call.thread)
        if not hits and not (stop_after and flow is not None and (flow.stepper.active or not flow.idle)) and not (
                stop_after and flow is None):
            return outputs
        if flow is not None:
            flow.stepper.disarm()
        decision = self.stopped(Stop('after', call=call, frame=sys._getframe(), hits=hits, reason=_why(hits) or 'return',
                                     outputs=outputs))
        if decision.verb == 'retry':
            return None
        self.carry_on(decision, call.run, call.thread)
        return outputs

    def _failed(self, call: Call, tests: Tests | None, error: Exception, stop_after: bool) -> bool:
        """Stop where the call raised if there is a reason; whether the user wants it again."""
        hits = tests.error(call, error) if tests is not None else ()
        if not hits and not (self.catching and call.site.kind == 'python') and not stop_after:
            return False
        flow = self.flows.get(call.thread)
        if flow is not None:
            flow.stepper.disarm()
        reason = _why(hits) or f'raised {type(error).__name__}'
        decision = self.stopped(Stop('error', call=call, frame=sys._getframe(), hits=hits, reason=reason,
                                     error=error))
        if decision.verb == 'retry':
            return True
        self.carry_on(decision, call.run, call.thread)
        return False

    # ------------------------------------------------------------------ stops
    def flow(self, thread: int) -> Flow:
        """What is wanted of a thread; of the one that asks, mostly."""
        found = self.flows.get(thread)
        if found is None:
            found = self.flows[thread] = Flow(Stepper(self._at_line))
        return found

    def stopped(self, stop: Stop) -> Decision:
        """Hold the thread until the user has decided; on the thread itself.

        Raises:
            RunAborted: The user ends the run.
        """
        flow = self.flow(stop.thread)
        flow.asking = True
        try:
            decision = self.broker.hold(stop)
        finally:
            flow.asking = False
            self._forget_idle(stop.thread)
        if decision.verb == 'abort':
            flow.stepper.disarm()
            self._forget_idle(stop.thread)
            raise RunAborted(f'aborted at stop {stop.number}')
        if decision.verb == 'quit':
            flow.stepper.disarm()
            self._forget_idle(stop.thread)
            self.leave()
        return decision

    def _forget_idle(self, thread: int) -> None:
        flow = self.flows.get(thread)
        if flow is not None and flow.idle:
            self.flows.pop(thread, None)

    def carry_on(self, decision: Decision, run: Run | None, thread: int) -> None:
        """What a decision at the boundary of a call asks of the rest of the run."""
        verb = decision.verb
        if verb in ('cont', 'run', 'quit', 'retry'):
            return
        if nodes.pausable(run):
            nodes.pause(self, run, decision)
        else:
            self.flow(thread).next_call = True

    def stop_here(self, frame: FrameType, reason: str) -> None:
        """Stop at the next line of this frame: what `breakpoint()` and a line breakpoint do, on the frame's thread."""
        flow = self.flow(threading.get_native_id())
        if not flow.asking:
            flow.stepper.here(frame, reason)

    def _at_line(self, phase: Phase, frame: FrameType, reason: str, value: Any) -> None:
        """The stepper has come to a line of the program."""
        call = current.get()
        flow = self.flow(threading.get_native_id())
        stop = Stop(phase, call=call, frame=frame, reason=reason, error=value if phase == 'exception' else None,
                    result=value if phase == 'return' else None, jumpable=phase == 'line')
        decision = self.stopped(stop)
        if decision.verb == 'retry' and call is not None:
            flow.stepper.disarm()
            raise Retried(call.id)
        flow.stepper.follow(decision, frame)
        if decision.verb not in ('step', 'next', 'until', 'return', 'jump'):
            self.carry_on(decision, call.run if call is not None else None, stop.thread)
        self._forget_idle(stop.thread)


def _why(hits: Sequence[Hit]) -> str:
    return ', '.join(f'breakpoint {hit.breakpoint.number}' for hit in hits)


debugger = Debugger()
"""The one of this process."""
