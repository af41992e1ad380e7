"""Stepwise executor of a plan, which a cursor pauses and moves; and the execution of a plan for a program.

A plan hands over to it after a Python call when a pause was requested; with hooks on op calls a run starts in it. It
runs on the thread of the run, with the kernels, order and values of the plan. A kernel's error becomes the program's
error, which names the node, within the run's call, so that hooks on runs see it too.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.call_frames import mark_failure_frame
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.op_batch import deliver
from pyfuncdbg.hooks.run_cursor import RunCursor
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS
from pyfuncdbg.hosts.numpy.runtime.plans.execution_history import CallMark, ExecutionHistory, has_effects
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, failed_in, op_site
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import copy_feed, copy_value, unpack_outputs
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView


def execute(plan: CompiledPlan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    """Run a plan at full speed, or step by step if a hook watches ops; for a recorder alone there is a form between.

    NumPy's warnings are off.
    """
    if hooks.op_recorder is not None and not execution.paused:
        return _execute_recorded(plan.recorded(_call_step), execution, values)
    if hooks.op or execution.paused:
        return Executor(plan, execution).start(values)
    outer, execution.feeds = execution.feeds, values
    try:
        return plan.function(execution, *values)
    finally:
        execution.feeds = outer


def _execute_recorded(plan: CompiledPlan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    outer, execution.feeds = execution.feeds, values
    try:
        return plan.function(execution, *values)
    except BaseException as error:
        _record_failure(plan, execution, error)
        raise
    finally:
        execution.feeds = outer


def _record_failure(plan: CompiledPlan, execution: Execution, error: BaseException) -> None:
    """Deliver the ops before one that raised, and record that as a call with its error."""
    traceback = entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code is not plan.function.__code__:
        entry = entry.tb_next
    index = None if entry is None else plan.step_at(entry.tb_lineno)
    if entry is None or index is None:
        return
    step = plan.steps[index]
    if execution.failed is None:
        execution.failed = step
    batch, recorder = entry.tb_frame.f_locals.get('o'), entry.tb_frame.f_locals.get('w')
    if batch is None:
        return
    count, sites = len(batch), batch.sequence.sites
    inputs = [batch.values[place] for place in batch.sequence.inputs[count]] if count < len(sites) else []
    deliver(recorder, batch)
    if count < len(sites) and sites[count] is op_site(step.op):
        def fail(*_: Any) -> tuple[Any, ...]:
            raise error.with_traceback(None if entry is None else entry.tb_next)
        try:
            invoke(sites[count], fail, execution.run, inputs)
        except BaseException as raised:
            if raised is not error:
                raise
        finally:
            error.__traceback__ = traceback


def _call_step(step: Step, execution: Execution, inputs: list[Any]) -> tuple[Any, ...]:
    """The outputs of a step that is a call while a hook watches ops."""
    return tuple(invoke(op_site(step.op), partial(_compute, step, execution), execution.run, inputs))


def _compute(step: Step, execution: Execution, *values: Any) -> tuple[Any, ...]:
    """Run a step's kernel."""
    definition = step.op.definition
    extra = {'record': True} if step.recorded else {}
    result = step.kernel(execution, *values, **extra) if definition.in_execution else step.kernel(*values)
    if step.recorded:
        return unpack_outputs(result)
    return (result,) if definition.outputs == 1 else tuple(result or ())


def take_over(plan: CompiledPlan, execution: Execution, position: int, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """Continue a stopped plan step by step; `names` are its locals."""
    executor = Executor(plan, execution)
    executor.history.values.load(execution.feeds, names, plan.live[position])
    executor.history.position = position
    mark, execution.marked = execution.marked, None
    if mark is not None and mark.plan is plan and mark.position == position - 1:
        executor.history.record_marked(mark)
    return executor.run()


class Executor:
    """Stepwise execution of a plan: the `RunNodes` of its cursor.

    Attributes:
        execution: Of the run.
        history: The executed steps. All values are kept for a rewind, unless all hooks are passive: then
            there is no rewind, and memory that is reused at once costs a tenth of new memory.
    """

    __slots__ = ('_dropping', '_plan', '_watching', 'execution', 'history')
    fixed_reason = ''

    def __init__(self, plan: CompiledPlan, execution: Execution) -> None:
        self._plan = plan
        self.execution = execution
        self.history = ExecutionHistory(plan, execution)
        self._watching: Any = None
        self._dropping = False

    # ------------------------------------------------------------------ running
    def start(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Run from the first step."""
        self.history.values.load(feeds)
        return self.run()

    def run(self) -> tuple[Any, ...]:
        """Run from the position, under the control of a cursor."""
        execution = self.execution
        cursor = RunCursor(self, self.history, execution.run)
        if execution.paused:
            self._pause(cursor, self.history.position)
        before = execution.steer(cursor)
        cursor.outer = execution if before is None else before
        try:
            on_pause = cursor.go()
        finally:
            execution.steer(before)
        if on_pause is not None:
            execution.pause(on_pause)
        fed = {id(t) for t in self._plan.feeds}
        values = self.history.values.value_by_slot
        slots = self._plan.slots
        return tuple((copy_feed if id(t) in fed else copy_value)(values[slots[id(t)]]) for t in self._plan.fetches)

    def execute(self, cursor: RunCursor, index: int) -> int:
        """Run a step; returns the index of the next."""
        execution, step = self.execution, self._plan.steps[index]
        if hooks.op is not self._watching:
            self._watching = hooks.op
            self._dropping = cursor.on_pause is None and hooks.passive
        try:
            self._run(cursor, index, step)
        except BaseException:
            execution.failed = step
            raise
        finally:
            if execution.paused:                # requested in a call of the step
                self._pause(cursor, index + 1)
        if self._dropping:
            for slot in self._plan.ends.get(index, ()):
                self.history.values.value_by_slot.pop(slot, None)
        return index + 1

    def _pause(self, cursor: RunCursor, position: int) -> None:
        self.execution.paused = False
        self._watching = None
        cursor.pause_at(position, self.execution.on_pause)

    def _run(self, cursor: RunCursor, index: int, step: Step) -> None:
        history, values = self.history, self.history.values
        inputs = values.inputs(step, index)
        watched = self._plan.watched.get(index)
        if watched is not None and hooks.op:
            values.keep(step, invoke(watched[0], watched[1], self.execution.run, inputs))
            return
        if self._dropping or not has_effects(step):
            values.keep(step, self.outputs(index, step, inputs))
        elif history.reuse_outcome(index, step, inputs):
            cursor.entering = False
            return
        else:
            if cursor.entering and cursor.on_pause is not None:
                cursor.entering = False
                self.execution.pause(cursor.on_pause)
            values.keep(step, history.run_with_undo(index, step, inputs, lambda: self.outputs(index, step, inputs)))
        self.report_gradients(step, values.value_by_slot)

    def report_gradients(self, step: Step, values: Mapping[int, Any]) -> None:
        """Report the backward steps that are complete with a step, where a hook watches them."""
        for group in step.gradients:
            incoming, outgoing, (record,) = (tuple(values.get(self._plan.slots.get(id(t), -1)) for t in tensors)
                                             for tensors in (group.incoming, group.outgoing, [group.record]))
            group.report(self.execution, incoming, outgoing, record)

    def outputs(self, index: int, step: Step, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Run a step's kernel, as an op call if a hook watches ops."""
        compute = partial(_compute, step, self.execution)
        if not hooks.op:
            return compute(*inputs)
        site = op_site(step.op)
        if not has_effects(step) and not step.recorded and not step.gradients:
            self._plan.watched[index] = site, _plain_function(step)
        return tuple(invoke(site, compute, self.execution.run, list(inputs)))

    # ------------------------------------------------------------------ for the cursor
    def __len__(self) -> int:
        return len(self._plan.steps)

    @property
    def part(self) -> CompiledPlan:
        """The plan."""
        return self._plan

    @property
    def outer(self) -> Graph | None:
        """The graph that contains the plan's graph."""
        return self._plan.graph.outer

    def boundary(self, position: int) -> int:
        """The position; one beyond it at the end of a branch or iteration, where the outer node's successor is next."""
        return position + 1 if self._plan.graph.place and position == len(self._plan.steps) else position

    def remark(self) -> str:
        """Do nothing."""
        return ''

    def look(self) -> RunView | None:
        """The nested plan in the current step."""
        return innermost(self.execution)

    def keeps_result(self, index: int) -> bool:
        """Whether a step calls a Python function whose earlier result is kept."""
        return self._plan.steps[index].op.definition.python and self.history.keeps_result(index)

    def undo(self, position: int, failed: bool) -> None:
        """Undo a step and those after it."""
        self.execution.failed = None
        self.history.go_back(position, failed)

    def forget(self, index: int, below: bool = False) -> None:
        """Discard the outcome of a step; with `below` also of those that depend on it."""
        self.history.forget_below(index) if below else self.history.forget(index)

    def put(self, tensor: str, value: Any) -> None:
        """Replace a value; values that depend on the old one stay."""
        values = self.history.values
        values.settle(values.slot(tensor), self.history.position)
        values.value_by_slot[values.slot(tensor)] = value


def _plain_function(step: Step) -> Callable[..., tuple[Any, ...]]:
    """A step without effects as a function of its inputs."""
    kernel = step.kernel
    if step.op.definition.outputs == 1:
        return lambda *values: (kernel(*values),)
    return lambda *values: tuple(kernel(*values) or ())


def innermost(execution: Execution) -> RunView | None:
    """Position of the innermost active plan of an execution on this thread; a run at full speed keeps no records
    for it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename.startswith('<plan of ') and frame.f_locals.get('x') is execution:
            return _of_plan(frame, execution)
        cursor = frame.f_locals.get('cursor') if frame.f_code.co_name == 'execute' else None
        if isinstance(cursor, RunCursor) and getattr(cursor.nodes, 'execution', None) is execution:
            return cursor
        frame = frame.f_back
    return execution.outside_position()


def mark_of_call(execution: Execution) -> CallMark | None:
    """State before the current Python call of a plan at full speed; None in one that runs step by step."""
    earlier = execution.marked
    if execution.touched is not None and (earlier is None or execution.touched is not earlier.touched):
        return None                             # an outer executor has its own history
    view = innermost(execution)
    if not isinstance(view, ExecutionHistory):
        return None
    mark = view.mark()
    execution.touched = mark.touched
    return mark


def _of_plan(frame: FrameType, execution: Execution) -> ExecutionHistory | None:
    plan: CompiledPlan = frame.f_globals['hand_over'].args[0]
    position = plan.step_at(frame.f_lineno)
    if position is None or position not in plan.during:
        return None
    history = ExecutionHistory(plan, execution)
    history.values.load(execution.feeds, frame.f_locals, plan.during[position])
    history.position = position
    return history


Execution.locator = sys.modules[__name__]


@mark_failure_frame(failed_in)
def run_plan(plan: CompiledPlan, execution: Execution, values: Sequence[Any],
             error_of: Callable[[Exception, Operation], OpError],
             pooled: Callable[[Sequence[Any]], tuple[Any, ...]] | None = None) -> tuple[Any, ...]:
    """The results of a plan.

    Args:
        plan: The plan.
        execution: Of the run.
        values: Values of its feeds.
        error_of: Makes the program's error from a kernel's exception and the node.
        pooled: Runs it in parallel, timed or with a deadline; None: serially on this thread.

    Raises:
        OpError: A node failed.
    """
    try:
        return pooled(values) if pooled is not None else execute(plan, execution, values)
    except KERNEL_ERRORS as error:
        step = execution.failed or plan.failed_step(error)
        if step is None:
            raise
        raised: Any = error_of(error, step.op)
        if raised is error:
            raise
        raise raised from raised.__cause__ or error
    finally:
        raised = None                           # its traceback refers to this frame: a cycle with the run's arrays
