"""Parallel runner of a plan's steps on several threads, for sessions with `inter_op_parallelism_threads`.

The thread of the run takes part, so a nested run never waits for a thread. Runs with a deadline, and those with
timed steps, use it too, on one thread.

A step runs as soon as it is ready. Steps that write to a variable keep their order relative to those that use
it, and in functions all steps with effects keep their order, so the result is that of serial execution.
"""
from __future__ import annotations

import contextvars
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import DeadlineExceededError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hooks.weak_keys import WeakKeys
from pyfuncdbg.hosts.numpy.graph.types.dtypes import resource
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.execution_history import CallMark, ExecutionHistory
from pyfuncdbg.hosts.numpy.runtime.plans.executor import Executor
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import copy_feed, copy_value
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.plans.step_stats import StepTimes


class StepOrder:
    """Dependencies between the steps of a plan, computed once.

    Attributes:
        waits: Number of steps that each step waits for.
        followers: For each step the steps that wait for it.
        uses: Number of steps that use each slot, plus one for fetched slots.
    """

    __slots__ = ('followers', 'uses', 'waits')

    def __init__(self, plan: CompiledPlan) -> None:
        makers = {slot: index for index, step in enumerate(plan.steps) for slot in step.outputs if slot >= 0}
        places = {step.op: index for index, step in enumerate(plan.steps)}
        chains = _Chains()
        effect: int | None = None               # the last step with effects: in functions they keep their order
        self.followers: list[list[int]] = [[] for _ in plan.steps]
        self.waits: list[int] = []
        for index, step in enumerate(plan.steps):
            before = {makers[slot] for slot in step.inputs if slot in makers}
            before.update(places[op] for op in step.op.control_inputs if op in places)
            before |= chains.before(index, step)
            if plan.graph.building_function and step.op.definition.stateful:
                before |= set() if effect is None else {effect}
                effect = index
            before.discard(index)
            self.waits.append(len(before))
            for earlier in before:
                self.followers[earlier].append(index)
        self.uses = Counter(slot for step in plan.steps for slot in dict.fromkeys(step.inputs))
        self.uses.update(plan.slots[id(t)] for t in plan.fetches)


class _Chains:
    """Dependencies through variables, by the slot of the handle."""

    def __init__(self) -> None:
        self._wrote: dict[int, int] = {}
        self._read: dict[int, list[int]] = {}

    def before(self, index: int, step: Step) -> set[int]:
        """The steps that a step waits for because of its variables: a reader for the last writer, a writer for all since."""
        steps: set[int] = set()
        writes = not step.op.outputs or (step.op.definition.python and '_py_function' not in step.op.attrs)
        for slot, tensor in zip(step.inputs, step.op.inputs, strict=True):
            if tensor.dtype is not resource:
                continue
            if slot in self._wrote:
                steps.add(self._wrote[slot])
            if writes:
                steps.update(self._read.pop(slot, ()))
                self._wrote[slot] = index
            else:
                self._read.setdefault(slot, []).append(index)
        return steps


class RunProgress:
    """Progress of one run of a plan. Its owner serializes access.

    Attributes:
        ready: Ready steps, the earliest first (a heap).
        done: Finished steps, in order of completion.
    """

    __slots__ = ('_order', '_uses', '_waits', 'done', 'ready')

    def __init__(self, order: StepOrder) -> None:
        self._order = order
        self._waits = list(order.waits)
        self._uses = order.uses.copy()
        self.ready = [index for index, count in enumerate(self._waits) if not count]
        heapify(self.ready)
        self.done: list[int] = []

    def next(self) -> int:
        """The next step to begin."""
        return heappop(self.ready)

    def finish(self, index: int) -> int:
        """Record the end of a step; returns the number of steps that became ready."""
        self.done.append(index)
        count = len(self.ready)
        for follower in self._order.followers[index]:
            self._waits[follower] -= 1
            if not self._waits[follower]:
                heappush(self.ready, follower)
        return len(self.ready) - count

    def drop(self, step: Step, values: dict[int, Any]) -> None:
        """Drop the values that no later step needs."""
        for slot in dict.fromkeys(step.inputs):
            self._uses[slot] -= 1
            if not self._uses[slot]:
                values.pop(slot, None)
        for slot in step.outputs:
            if slot >= 0 and not self._uses[slot]:
                values.pop(slot, None)


_orders: WeakKeys[CompiledPlan, StepOrder] = WeakKeys()


class ThreadPool:
    """Worker threads of one session, which end with it.

    Args:
        size: Most overlapping steps of a run.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._threads = ThreadPoolExecutor(size - 1, thread_name_prefix='pyfuncdbg session') if size > 1 else None

    def help(self, work: Any, count: int) -> list[Future[None]]:
        """Run `work` on up to `count` threads, each in a copy of the caller's context."""
        if self._threads is None:
            return []
        return [self._threads.submit(contextvars.copy_context().run, work) for _ in range(min(self.size - 1, count))]

    def close(self) -> None:
        """End the threads; waits for running steps, unless called by one of them."""
        if self._threads is not None:
            self._threads.shutdown(wait=not threading.current_thread().name.startswith('pyfuncdbg session'))


class StepExecution(Execution):
    """The execution for the steps of one thread of a run; shares the run's state.

    Attributes:
        control: Control of this thread's steps for a debugger.
    """

    __slots__ = ('_pooled_run', 'control', 'index')

    def __init__(self, pooled_run: PooledRun, execution: Execution) -> None:
        super().__init__(execution.run, execution.resources, execution.errstate)
        self.gradient_calls = execution.gradient_calls
        self.deadline, self.tasks = execution.deadline, execution.tasks
        self._pooled_run = pooled_run
        self.control: Any = self
        self.index = 0

    def steer(self, control: Any) -> Any:
        before, self.control = self.control, control
        return before

    def outside_position(self) -> ExecutionHistory:
        plan, position = self._pooled_run.arranged(self.index)
        history = ExecutionHistory(plan, self)
        history.values.value_by_slot.update(self._pooled_run.value_by_slot)
        history.position = position
        return history


class ParallelControl:
    """Control of a run on several threads: each thread controls its own steps."""

    __slots__ = ('_pooled_run',)

    def __init__(self, pooled_run: PooledRun) -> None:
        self._pooled_run = pooled_run

    def __getattr__(self, name: str) -> Any:
        execution = self._pooled_run.executions.get(threading.get_ident())
        return getattr(self._pooled_run.execution if execution is None else execution.control, name)


@dataclass(frozen=True, slots=True)
class _Pause:
    """A pause requested after a step: its callback, the step, and the state before that step."""

    on_pause: Callable[[], None]
    after: int
    marked: CallMark | None


class PooledRun:
    """One run of a plan.

    Attributes:
        execution: Of the run.
        value_by_slot: Values by slot.
        executions: By id of the participating threads.
    """

    def __init__(self, plan: CompiledPlan, execution: Execution, pool: ThreadPool, timing: StepTimes | None = None) -> None:
        order = _orders.get(plan)
        if order is None:
            order = _orders[plan] = StepOrder(plan)
        self.execution = execution
        self.value_by_slot: dict[int, Any] = dict(plan.constants)
        self.executions: dict[int, StepExecution] = {}
        self._plan, self._pool, self._timing = plan, pool, timing
        self._progress = RunProgress(order)
        self._changed = threading.Condition(new_lock())
        self._running: set[int] = set()
        self._error: BaseException | None = None
        self._pause: _Pause | None = None
        self._dropping = hooks.passive

    def run(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Run the plan; the results.

        Raises:
            DeadlineExceededError: The deadline passed before the last step began.
            Exception: Of the first step that failed; no other begins then, and running ones are awaited.
        """
        plan, execution = self._plan, self.execution
        execution.feeds = values
        if execution.paused:                    # a debugger steps from the start
            return Executor(plan, execution).start(values)
        self.value_by_slot.update((plan.slots[id(t)], value) for t, value in zip(plan.feeds, values, strict=True))
        before = execution.steer(ParallelControl(self))
        try:
            helpers = self._pool.help(self._work, sum(step.op.definition.python for step in plan.steps) - 1)
            self._work()
            self._settle(helpers)
        finally:
            execution.steer(before)
        if self._error is not None:
            try:
                raise self._error
            finally:
                self._error = None              # its traceback refers to this frame: a cycle
        if self._pause is not None:
            return self._handed_over(self._pause)
        fed = {id(t) for t in plan.feeds}
        return tuple((copy_feed if id(t) in fed else copy_value)(self.value_by_slot[plan.slots[id(t)]])
                     for t in plan.fetches)

    def _settle(self, helpers: Sequence[Future[None]]) -> None:
        """Wait until no thread works for this run; Ctrl-C ends it."""
        for helper in helpers:
            while not helper.cancel() and not helper.done():
                try:
                    helper.result()
                except KeyboardInterrupt as error:
                    self._fail(error, None)

    # ------------------------------------------------------------------ on each thread
    def _work(self) -> None:
        """Run steps until none remains. An exception stops the other threads too."""
        execution = StepExecution(self, self.execution)
        outer = numpy_errstate.state.set(numpy_errstate.IGNORE)
        self.executions[threading.get_ident()] = execution
        try:
            while (index := self._next_step(execution)) is not None:
                self._step(execution, index)
        except BaseException as error:          # Ctrl-C while this thread waits: the others finish their step
            self._fail(error, None)
        finally:
            del self.executions[threading.get_ident()]
            numpy_errstate.state.reset(outer)

    def _next_step(self, execution: StepExecution) -> int | None:
        """The next step for this thread, waiting for one; None at the end."""
        with self._changed:
            while not self._stopped():
                if self._progress.ready:
                    index = self._progress.next()
                    self._running.add(index)
                    execution.index = index
                    return index
                if not self._running:
                    break
                self._changed.wait()
            self._changed.notify_all()
            return None

    def _stopped(self) -> bool:
        return self._error is not None or self._pause is not None

    def _step(self, execution: StepExecution, index: int) -> None:
        step = self._plan.steps[index]
        try:
            execution.check_deadline()
            self._run(execution, index, step)
        except BaseException as error:          # any error of the step, Ctrl-C and an abort included
            self._fail(error, execution.failed or step, index)
            return
        with self._changed:
            self._running.discard(index)
            woken = self._progress.finish(index)
            if self._dropping:
                self._progress.drop(step, self.value_by_slot)
            paused_execution = execution if execution.paused else self.execution if self.execution.paused else None
            if paused_execution is not None and paused_execution.on_pause is not None and self._pause is None:
                self._pause = _Pause(paused_execution.on_pause, index, execution.marked)
            if woken > 1 or not self._running or self._stopped():
                self._changed.notify_all()

    def _run(self, execution: StepExecution, index: int, step: Step) -> None:
        executor = Executor(self._plan, execution)
        inputs = [self.value_by_slot[slot] for slot in step.inputs]
        started = perf_counter_ns()
        outputs = executor.outputs(index, step, inputs)
        if self._timing is not None:
            self._timing.add(step.op, started, perf_counter_ns())
        for slot, value in zip(step.outputs, outputs, strict=True):
            if slot >= 0:
                self.value_by_slot[slot] = value
        executor.report_gradients(step, self.value_by_slot)

    def _fail(self, error: BaseException, step: Step | None, index: int = -1) -> None:
        """Record the first failure of the run."""
        with self._changed:
            self._running.discard(index)
            if self._error is None:
                self._error = error
                if step is not None and not isinstance(error, DeadlineExceededError):
                    self.execution.failed = step
            self._changed.notify_all()

    # ------------------------------------------------------------------ for debuggers
    def arranged(self, last: int) -> tuple[CompiledPlan, int]:
        """The plan reordered: finished steps, then `last`, then the others; and the index of `last`."""
        with self._changed:
            finished = set(self._progress.done) - {last}
        rest = [index for index in range(len(self._plan.steps)) if index != last and index not in finished]
        return self._plan.arranged([*sorted(finished), last, *rest]), len(finished)

    def _handed_over(self, pause: _Pause) -> tuple[Any, ...]:
        """Continue step by step, on the thread of the run."""
        plan, place = self.arranged(pause.after)
        executor = Executor(plan, self.execution)
        executor.history.values.value_by_slot.update(self.value_by_slot)
        executor.history.position = place + 1
        if pause.marked is not None:
            executor.history.record_marked(replace(pause.marked, plan=plan, position=place))
        self.execution.pause(pause.on_pause)
        return executor.run()
