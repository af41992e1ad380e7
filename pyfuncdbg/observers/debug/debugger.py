"""The debugger: the hook that stops calls, one per process (`debugger`).

Breakpoints say where, the broker asks the user, the stepper goes through Python and `nodes` through the graph. `around` runs
on the thread of each call. Nothing here is active before debugging starts.
"""
# long: one hook; its stops, what is decided at them and what is executed again change the same plans
from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.errors import Retried, RunAborted, RunInterrupted
from pyfuncdbg.hooks.call import Call, CallSite, Kind, Run, begin_retry, current, in_reexecution, reset_call
from pyfuncdbg.hooks.call_frames import is_function_frame
from pyfuncdbg.hooks.chain import Gate, Outputs, hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.debug.breakpoints.table import Breakpoints, Hit, Tests
from pyfuncdbg.observers.debug.conditions.session_variables import session_variables
from pyfuncdbg.observers.debug.inspecting.saved_inputs import restore, save
from pyfuncdbg.observers.debug.inspecting.stack import nearest_entrance, selected_frame
from pyfuncdbg.observers.debug.inspecting.tensor_differences import copied_outputs, differences
from pyfuncdbg.observers.debug.live_trace import LiveTrace
from pyfuncdbg.observers.debug.processes.program_changes import ProgramChanges
from pyfuncdbg.observers.debug.processes.program_halt import ProgramHalt
from pyfuncdbg.observers.debug.stepping import debugged_runs, node_stepper
from pyfuncdbg.observers.debug.stepping.function_start import is_at_start, is_enterable, stops_inside
from pyfuncdbg.observers.debug.stepping.python_stepper import ExitError, Stepper, program_around, restore_tracing
from pyfuncdbg.observers.debug.stepping.replaced_functions import SwappedFunctions
from pyfuncdbg.observers.debug.stepping.thread_plan import ThreadPlan, ThreadPlans
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import PYTHON, STEPS, Decision, Phase, Stop

if TYPE_CHECKING:
    from pyfuncdbg.observers.debug.comparison.live_comparison import LiveComparison, Match
    from pyfuncdbg.observers.record.recorder import Recorder

DEPTH = -100
"""Depth of the hook: outside of recorders, so that they see what a function really got."""


class Debugger:
    """The hook of the debugger, with its breakpoints, broker and thread plans.

    Attributes:
        kinds: The calls it wants; changes with breakpoints.
        left: The user has said quit, and debugging has not started again.
        quit_explained: Whether the user has been told what quit does.
        plans: By native thread, the user's plan for it; a thread without a plan is not in it.
        comparison: With a recording, at whose first divergence the program stops; None without.
        changes: What reaches the other processes of the program, too.
        halt: What makes all other threads of the program wait while one is at the prompt.
    """

    def __init__(self) -> None:
        self.kinds: frozenset[Kind] = frozenset(('python',))
        self.broker = Broker()
        self.live = LiveTrace()
        self.runs = debugged_runs.DebuggedRuns()
        self.swaps = SwappedFunctions()
        self.changes = ProgramChanges()
        self.halt = ProgramHalt()
        self.broker.on_waiting = self._halt_others
        if hasattr(os, 'register_at_fork'):
            os.register_at_fork(after_in_child=self.halt.after_fork)
        self.changes.on_orphan = self.broker.recheck
        self.breakpoints = Breakpoints(self._update_kinds, self, self.changes)
        self._catching = False
        self.comparison: LiveComparison | None = None
        self.left = self.quit_explained = self._quit_told = False
        self.plans = ThreadPlans()
        self._lock = new_rlock()
        self._extra: frozenset[Kind] = frozenset()
        self._told: dict[int, int] = {}         # by thread: id of the error it stopped for, without keeping it alive

    # ------------------------------------------------------------------ on and off
    def start(self) -> None:
        """Begin to watch calls; starting twice is allowed."""
        was_left, self.left, self._quit_told = self.left, False, False
        hooks.add(self, depth=DEPTH)
        if was_left:
            with self.changes.changing():
                self.changes.tell({'change': 'start'})

    def quit(self) -> None:
        """The user wants no more debugging, in no process of the program."""
        self.leave()
        self.announce_quit()

    def announce_quit(self) -> None:
        """The other processes leave debugging; told once until it starts again."""
        if not self._quit_told:
            self._quit_told = True
            with self.changes.changing():
                self.changes.tell({'change': 'quit'})

    def leave(self) -> None:
        """Stop debugging: no hook, no tracing, no swapped function, every waiting thread goes on. Breakpoints are kept, and
        asleep."""
        self.left = True
        hooks.remove(self)
        self.runs.left()
        self.live.sleep()
        for plan in list(self.plans.values()):
            plan.entering = plan.next_call = plan.ops = False
            plan.stepper.give_up()
        self.swaps.put_back()
        session_variables.clear()               # they may keep large objects alive
        self.broker.release()

    @property
    def on(self) -> bool:
        """Whether calls are watched."""
        return self in hooks

    @property
    def catching(self) -> bool:
        """Stop where a wrapped function raises."""
        return self._catching

    @catching.setter
    def catching(self, on: bool) -> None:
        with self.changes.changing():
            self._catching = on
            hooks.invalidate_interest()
            self.changes.tell({'change': 'catch', 'on': on})

    @property
    def stops_all(self) -> bool:
        """Whether all other threads of the program wait at their next call while one is at the prompt."""
        return self.halt.on

    @stops_all.setter
    def stops_all(self, on: bool) -> None:
        with self.changes.changing():
            self.halt.on = on
            hooks.invalidate_interest()
            self.changes.tell({'change': 'stop-all', 'on': on})
        self._halt_others(bool(self.broker.stops))

    def _halt_others(self, is_waiting: bool) -> None:
        """A stop waits for the user, or none does any more; other processes leave that to the first one of the program."""
        self.broker.holds_others = self.halt.on and self.broker.is_first
        if self.broker.is_first:
            self.halt.set(is_waiting and self.halt.on)

    @property
    def watching(self) -> bool:
        """Whether the calling thread is debugged now: not at a prompt, and debugging has not ended."""
        plan = self.plans.get(threading.get_native_id())
        return self.on and not (plan is not None and plan.asking)

    def recorder(self) -> Recorder:
        """A recording that is on."""
        return self.live.recorder()

    def compare_with(self, comparison: LiveComparison) -> None:
        """Stop where the program first differs from a recording."""
        self.comparison = comparison
        self.want(*comparison.kinds)
        self.start()

    def end_comparison(self) -> None:
        """Compare with no recording any more."""
        self.comparison = None
        hooks.invalidate_interest()

    def note_swap(self, site: CallSite, original: Any, count: int) -> None:
        """A site calls another function than `original` now, until the user leaves debugging."""
        self.swaps.note(site, original, count)
        self.breakpoints.forget_sites()         # conditions name the parameters of the new one

    def want(self, *kinds: Kind) -> None:
        """Watch calls of these kinds too, from now on."""
        self._extra |= frozenset(kinds)
        self._update_kinds()

    def _update_kinds(self) -> None:
        """Watch the calls that the changed breakpoints need."""
        with self._lock:
            stepping: tuple[Kind, ...] = ('op', 'run') if any(plan.ops for plan in list(self.plans.values())) else ()
            kinds = frozenset[Kind](('python', *stepping)) | self.breakpoints.kinds | self._extra
            if kinds != self.kinds:
                self.kinds = kinds
                hooks.refresh()
            else:
                hooks.invalidate_interest()

    # ------------------------------------------------------------------ the hook
    def wants(self, site: CallSite, run: Run) -> bool | Gate:
        """Whether calls of a site are needed now; see `Hook`."""
        if self.plans or self.runs.attended or ((self._catching or self.halt.on) and site.kind == 'python') or (
                site.kind == 'run' and (self.runs.has_policies or self.runs.has_objects)) or (
                self.comparison is not None and self.comparison.wants(site.kind)):
            return True
        return _has_breakpoint_call(site.function) or self.breakpoints.wants(site, run)

    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        if call.site.kind == 'run':
            return self._around_run(call, proceed)
        return self._around_call(call, proceed)

    @transparent
    def _around_run(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """A run: its ops are watched if a breakpoint is on one of them."""
        of_ops = self.breakpoints.begin(call.run)
        call.run.stepwise = call.run.stepwise or of_ops
        try:
            policy = self.runs.policy_of(call)
            plan = self.plans.get(call.thread)
            if policy is None and plan is not None and plan.ops and not plan.asking and node_stepper.can_pause(call.run):
                node_stepper.pause(self, call.run, Decision('node'))
            return policy.around(self, call, proceed) if policy is not None else self._around_call(call, proceed)
        finally:
            if of_ops:
                self.breakpoints.end()

    @transparent
    def _around_call(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        tests = self.breakpoints.at(call)
        plan = self.plans.of(call, self.plan) if self.plans else None
        if plan is not None and plan.asking:
            return proceed()
        reason = self._wait_for_prompt(call, plan) if self.halt.on else ''
        hits: Sequence[Hit] = () if tests is None else tests.hits_before(call) if plan is None else _test(
            plan, lambda: tests.hits_before(call))
        match = self.comparison.begin(call) if self.comparison is not None else None
        reason = ', '.join(filter(None, (reason, match.reason if match is not None else '')))
        early: Sequence[Hit] = ()
        if call.site.traits.seen_afterwards:
            early, reason = hits, reason or ('node' if plan is not None and self._is_next(plan, call) else '')
        elif hits or plan is not None or reason:
            self._stop_before(call, hits, reason)
            reason = ''
        if call.site.kind == 'python' and call.saved_inputs is None and (
                hits or plan is not None or match is not None or self._catching or (tests is not None and tests.later)
                or self.breakpoints.at_lines or _has_breakpoint_call(call.site.function)):
            call.saved_inputs = save(call.inputs)      # it may stop in there or after it, and be retried then
        try:
            return self._execute(call, tests, proceed, match, early, reason)
        finally:
            call.saved_inputs = None

    def _wait_for_prompt(self, call: Call, plan: ThreadPlan | None) -> str:
        """Wait while another thread of the program is at the prompt; the reason to stop here, '' for none."""
        is_free = call.site.kind == 'python' and (plan is None or plan.is_idle)     # of steps, which the user waits for
        return 'stop-all' if is_free and self.halt.is_set and self.halt.wait() else ''

    @transparent
    def _execute(self, call: Call, tests: Tests | None, proceed: Callable[[], Outputs], match: Match | None,
                 early: Sequence[Hit], early_reason: str) -> Outputs:
        """Execute a call until the user does not want it again; `early` are hits of before it that stop after it."""
        while True:
            try:
                outputs = proceed()
            except BaseException as error:
                if not self._retry_after_error(call, tests, error, match):
                    raise
                self._renew(call, tests, error)
                continue
            # A line of the function may have begun to step the thread: a condition that is false costs no more than this.
            plan = self._plan_after(call) if self.plans else None
            hits = early
            if tests is not None and tests.later:
                hits = [*hits, *(tests.hits_after(call, outputs) if plan is None else _test(
                    plan, partial(tests.hits_after, call, outputs)))]
            reason = (match.end(call, outputs) if match is not None else '') or early_reason
            if not hits and plan is None and not reason:
                return outputs
            if (result := self._stop_after(call, hits, list(outputs), reason)) is not None:
                return result
            self._renew(call, tests)

    def _renew(self, call: Call, tests: Tests | None, error: BaseException | None = None) -> None:
        """A call is to be executed once more: on its inputs as they were, with a record of its own, and a stop after."""
        if isinstance(error, Retried) and not error.begun:
            self._begin_again(call)
            return
        restore(call)
        begin_retry(call)
        self.plan(call.thread).after = call.id
        if tests is not None:
            tests.begin(call)
        self._stop_before(call, ())                  # `step` may enter it

    def _begin_again(self, call: Call) -> None:
        """A call whose function has not begun is to be executed: on its inputs as they are now, under its number."""
        reset_call(call, perf_counter_ns())
        call.saved_inputs = save(call.inputs)
        plan = self.plan(call.thread)
        decided, plan.decided = plan.decided or Decision('retry'), None
        asks = decided.verb in ('retry', 'swap')
        if is_enterable(call.site):
            plan.stepper.begin(decided.verb, None if asks else decided)
        elif asks:                              # another function, without Python code
            self._stop_before(call, (), decided.verb)
        elif decided.verb in STEPS:             # skipped: no line runs
            plan.after = call.id
        else:
            self.apply_decision(decided, call.run, call.thread)

    def _plan_after(self, call: Call) -> ThreadPlan | None:
        """The plan for the thread of a call that is over; its function may not have begun, where a stop was to be."""
        plan = self.plans.get(call.thread)
        if plan is not None:
            plan.stepper.clear_begin()
            self._forget_idle(call.thread)
        return self.plans.get(call.thread)

    def _retry_after_error(self, call: Call, tests: Tests | None, error: BaseException, match: Match | None) -> bool:
        """Handle an error that came out of a call; returns whether the call is made again."""
        restore_tracing()
        if isinstance(error, Exception):
            self._plan_after(call)
            return self._stop_at_error(call, tests, error, match.end(call, (), error) if match is not None else '')
        plan = self.plans.get(call.thread)
        if plan is not None:
            plan.stepper.left = 0               # no stop after it: the steps go on in the caller
        return isinstance(error, Retried) and error.call == call.id

    def _stop_before(self, call: Call, hits: Sequence[Hit], reason: str = '') -> None:
        """Stop before the call if there is a reason, and arm what the user wants of it."""
        plan = self.plans.get(call.thread)
        is_wanted = plan is not None and self._is_next(plan, call)
        if hits and stops_inside(call.site, hits):
            if call.run.control is not None:
                call.run.control.mark()
            self.plan(call.thread).stepper.begin(_hit_reason(hits))
            return
        if not hits and not is_wanted and not reason:
            if plan is not None and plan.entering and call.site.kind == 'python':
                plan.entering = False
                plan.after = call.id
                plan.stepper.enter('into')
            return
        if plan is not None:
            plan.next_call = False
        reason = ', '.join(filter(None, (_hit_reason(hits), reason))) or 'node'
        decision = self.stop_thread(Stop('before', call=call, frame=sys._getframe(), hits=hits, reason=reason))
        if call.site.kind == 'python' and call.run.control is not None:
            call.run.control.mark()
        if decision.verb in ('step', 'into') and call.site.can_be_entered and node_stepper.can_pause(call.run):
            node_stepper.pause(self, call.run, Decision('node'))        # before its first node
        elif decision.verb in STEPS or (decision.verb == 'into' and call.site.kind == 'python'):
            plan = self.plan(call.thread)
            plan.after = call.id
            if decision.verb in ('step', 'into') and call.site.kind == 'python':
                plan.stepper.enter(decision.verb)
        else:
            self.apply_decision(decision, call.run, call.thread)

    @staticmethod
    def _is_next(plan: ThreadPlan, call: Call) -> bool:
        """Whether a thread is to stop at a call because it is the next one."""
        return plan.next_call and (call.site.kind == 'python' or (
            plan.ops and call.site.kind != 'run' and not node_stepper.can_pause(call.run)))

    def _stop_after(self, call: Call, hits: Sequence[Hit], outputs: list[Any], reason: str) -> Outputs | None:
        """Stop after the call if there is a reason; its outputs, None to repeat the call."""
        plan = self.plans.get(call.thread)
        if not hits and not reason and not (plan is not None and plan.ends(call)):
            return outputs
        reason = ', '.join(filter(None, (_hit_reason(hits), reason))) or 'return'
        stop = Stop('after', call=call, frame=sys._getframe(), hits=hits, reason=reason, outputs=outputs)
        if plan is not None and plan.compare:
            stop.differences = differences(plan.compare, copied_outputs(call.site.host, call.site.outputs, outputs))
        decision = self.stop_thread(stop)
        if decision.verb == 'retry':
            self._prepare_retry(call, decision, copied_outputs(call.site.host, call.site.outputs, outputs))
            return None
        self.apply_decision(decision, call.run, call.thread)
        return outputs

    def _prepare_retry(self, call: Call, decision: Decision, before: dict[str, np.ndarray]) -> None:
        """Prepare a repeated call: stop in it if requested, and after it, and compare."""
        plan = self.plan(call.thread)
        plan.entering = decision.argument == 'into'
        plan.compare = before

    def _stop_at_error(self, call: Call, tests: Tests | None, error: Exception, reason: str) -> bool:
        """Stop where the call raised if there is a reason; whether to repeat the call."""
        plan = self.plans.get(call.thread)
        hits = _test(plan, lambda: tests.hits_on_error(call, error)) if tests is not None else ()
        caught = self.catching and call.site.kind == 'python'
        if not hits and not caught and not reason and not (plan is not None and plan.ends(call)):
            return False
        reason = ', '.join(filter(None, (_hit_reason(hits), reason))) or f'raised {type(error).__name__}'
        decision = self.stop_thread(Stop('error', call=call, frame=sys._getframe(), hits=hits, reason=reason, error=error))
        if decision.verb in (*STEPS, 'node', 'into') and self.step_out(decision, call.thread):
            return False                        # the stepper continues where the error is handled
        if decision.verb == 'retry':
            self._prepare_retry(call, decision, {})
        else:
            self.apply_decision(decision, call.run, call.thread)
        return decision.verb == 'retry'

    # ------------------------------------------------------------------ stops
    def plan(self, thread: int) -> ThreadPlan:
        """The plan for a thread, made if there is none."""
        plan = self.plans.get(thread)
        if plan is None:
            plan = self.plans[thread] = ThreadPlan(Stepper(self._at_line, self))
        return plan

    def stop_thread(self, stop: Stop) -> Decision:
        """Hold the thread until the user has decided; on the thread itself.

        Raises:
            RunAborted: The user ends the run.
        """
        plan = self.plan(stop.thread)
        plan.after, plan.compare = 0, {}
        self._told[stop.thread] = id(stop.error)
        plan.entering = plan.next_call = False
        if plan.ops:
            plan.ops = False
            self._update_kinds()
        if stop.phase not in PYTHON:
            plan.stepper.disarm()
        plan.asking = True
        stop.stands = self.breakpoints.stand(stop.reason)
        started = perf_counter_ns()
        try:
            decision = self.broker.hold(stop)
            self.changes.settle()
        finally:
            plan.asking = False
            self._forget_idle(stop.thread)
            call = stop.call or current.get()
            if call is not None and call.site.kind == 'python' and not call.finished:
                call.started += perf_counter_ns() - started           # exclude the time that the user took
        if decision.verb == 'abort':
            plan.stepper.disarm()
            self._forget_idle(stop.thread)
            if decision.argument is RunInterrupted:
                raise RunInterrupted(f'at stop {stop.number}')
            raise RunAborted(f'aborted at stop {stop.number}')
        if decision.verb == 'quit':
            plan.stepper.disarm()
            self._forget_idle(stop.thread)
            self.quit()
        return decision

    def _forget_idle(self, thread: int) -> None:
        if (plan := self.plans.get(thread)) is not None and plan.is_idle:
            self.plans.pop(thread, None)

    def apply_decision(self, decision: Decision, run: Run | None, thread: int) -> None:
        """Apply a decision, made at the boundary of a call, to the rest of the run."""
        verb = decision.verb
        if verb in ('cont', 'run', 'quit'):
            node_stepper.resume(run)            # the stop may have interrupted 'to' or 'node'
        elif verb == 'retry':
            return
        elif verb == 'into' and not node_stepper.is_paused(run):      # the next function may be in this run or after it
            self.plan(thread).entering = True
        elif node_stepper.can_pause(run):
            node_stepper.pause(self, run, decision)
        elif verb not in STEPS or not self.step_out(decision, thread):
            self.stop_at_next_call(thread)

    def stop_at_next_call(self, thread: int) -> None:
        """Stop where the thread next calls anything: a wrapped function, an eager op, the first node of a run."""
        plan = self.plan(thread)
        plan.next_call = plan.ops = True
        self._update_kinds()

    def was_stopped_for(self, error: BaseException) -> bool:
        """Whether the last stop of this thread was about this error, or the one that it was raised from."""
        last = self._told.get(threading.get_native_id())
        cause: BaseException | None = error
        while cause is not None and id(cause) != last:
            cause = cause.__cause__
        return cause is not None

    def step_out(self, decision: Decision, thread: int) -> bool:
        """Stop where the program goes on around what runs now; False on a thread that has none of its frames."""
        frame = outside_machinery(sys._getframe(1))
        if frame is not None:
            self.plan(thread).stepper.follow(Decision('step' if decision.verb == 'step' else 'next'), frame)
        return frame is not None

    def stop_here(self, frame: FrameType, reason: str) -> None:
        """Stop at the next line of this frame: what `breakpoint()` and a line breakpoint do, on the frame's thread."""
        plan = self.plan(threading.get_native_id())
        if not plan.asking and not in_reexecution():
            plan.stepper.here(frame, reason)

    def stop_at_start(self, frame: FrameType, reason: str) -> None:
        """Stop where the function of this frame begins, before any line of it."""
        plan = self.plan(threading.get_native_id())
        if not plan.asking and not in_reexecution():
            plan.stepper.at_start(frame, reason)

    def _at_line(self, phase: Phase, frame: FrameType, reason: str, value: Any) -> None:
        """The stepper has come to a line of the program."""
        entrance = nearest_entrance(frame)
        call, run = None, None
        if entrance is not None:
            run = entrance.run
            call = entrance.call if self in entrance.hooks else None    # else no hook can repeat the call
        plan = self.plan(threading.get_native_id())
        error = value.error if isinstance(value, ExitError) else value if phase == 'exception' else None
        result = value if phase == 'return' and error is None else None
        stop = Stop(phase, call=call, run=run, frame=frame, reason=f'left by {type(error).__name__}' if isinstance(
            value, ExitError) else reason, error=error, result=result, jumpable=phase == 'line')
        if phase == 'call' and isinstance(value, Decision):
            decision = value
        else:
            stop.changed = plan.names.changes(frame, returned=phase == 'return')
            decision = self.stop_thread(stop)
            if self.plans.get(stop.thread) is not plan:
                self.plans[stop.thread] = plan  # the plan was dropped while the thread was stopped
        if (decision.verb == 'retry' or stop.anew) and call is not None:
            plan.stepper.disarm()
            if stop.anew:
                self.plan(stop.thread).decided = decision
            else:
                self._prepare_retry(call, decision, {})
            raise Retried(call.id, begun=not stop.anew)
        if decision.verb == 'into' and is_at_start(stop):
            decision = Decision('step', times=decision.times)
        # Past the end of a function that no hook is around: its call cannot stop after it, the run can.
        over = phase == 'return' and call is None and node_stepper.can_pause(run) and is_function_frame(frame)
        outermost = phase == 'return' and call is None and not over and not program_around(frame)
        if over or outermost:                   # no frame of the program is left to step in
            plan.stepper.disarm()
        else:
            plan.stepper.follow(decision, selected_frame(stop) or frame)
        if over or decision.verb not in STEPS:
            self.apply_decision(decision, run, stop.thread)
        self._forget_idle(stop.thread)


def _test(plan: ThreadPlan | None, test: Callable[[], Sequence[Hit]]) -> Sequence[Hit]:
    """Test a breakpoint; the user's predicate is not stepped through."""
    return test() if plan is None else plan.stepper.run_unseen(test)


def _has_breakpoint_call(function: Any) -> bool:
    """Whether a function has a `breakpoint()` in it: stopped there one asks for its call."""
    return not {'breakpoint', 'set_trace'}.isdisjoint(getattr(getattr(function, '__code__', None), 'co_names', ()))


def _hit_reason(hits: Sequence[Hit]) -> str:
    return ', '.join(hit.reason for hit in hits)


debugger = Debugger()
"""The debugger of this process."""
