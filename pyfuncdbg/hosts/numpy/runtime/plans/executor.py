"""Stepwise executor of a plan, with a cursor that can be paused and moved.

A plan hands over to it after a Python call when a pause was requested; with hooks on op calls a run starts in it. It
runs on the thread of the run. Same kernels, same order, same values as the plan.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.chain import around, hooks, say_failed
from pyfuncdbg.hooks.host import result_stands
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.plans.execution_history import ExecutionHistory, has_effects
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan, op_site, sites_around
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import own, own_feed, unpacked
from pyfuncdbg.hosts.numpy.runtime.plans.stack_position import innermost
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

if TYPE_CHECKING:
    from pyfuncdbg.hooks.host import RunView


def execute(plan: CompiledPlan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    """Run a plan at full speed, or step by step if a hook watches ops. The caller has turned NumPy's warnings off."""
    if hooks.op or execution.paused:
        return Executor(plan, execution).start(values)
    outer, execution.feeds = execution.feeds, values
    try:
        return plan.function(execution, *values)
    finally:
        execution.feeds = outer


def take_over(plan: CompiledPlan, execution: Execution, position: int, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """Go on step by step where a plan stopped; `names` are its locals."""
    executor = Executor(plan, execution)
    executor.history.values.load(execution.feeds, names, plan.live[position])
    executor.history.position = position
    mark, execution.marked = execution.marked, None
    if mark is not None and mark.plan is plan and mark.position == position - 1:
        executor.history.ran_since(mark)
    return executor.run()


class Executor:
    """Stepwise execution of a plan; the `RunControl` of its run meanwhile.

    Attributes:
        execution: What it is part of.
        history: What ran. Everything is kept, so that a rewind has it, unless all hooks are passive: then
            nothing can rewind, and memory that is used again at once costs a tenth of memory that was never touched.
        error: What the step at the position has raised, while a hook is asked about it.
    """

    __slots__ = ('_around', '_asking', '_dropping', '_entering', '_goal', '_on_pause', '_plan', 'error', 'execution',
                 'history')

    def __init__(self, plan: CompiledPlan, execution: Execution) -> None:
        self._plan = plan
        self.execution = execution
        self.history = ExecutionHistory(plan, execution)
        self._around: Any = None
        self._on_pause: Callable[[], None] | None = None
        self._goal: int | None = None
        self._asking = self._entering = self._dropping = False
        self.error: Exception | None = None

    # ------------------------------------------------------------------ running
    def start(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Run from the first step."""
        self.history.values.load(feeds)
        return self.run()

    def run(self) -> tuple[Any, ...]:
        """Run from the position; the control of the run meanwhile."""
        self._around = self.execution.steer(self)
        try:
            return self._walk()
        finally:
            self.execution.steer(self._around)
            self._around = None

    def _walk(self) -> tuple[Any, ...]:
        steps, execution, history, known = self._plan.steps, self.execution, self.history, self.history.values.known
        watching: Any = None
        while True:
            if execution.paused:
                execution.paused = False
                self._on_pause, self._goal = execution.on_pause, history.position
                watching = None
            if hooks.op is not watching:
                watching = hooks.op
                self._dropping = self._on_pause is None and hooks.passive
            # A pause may move the cursor. None at the end of a branch or iteration: the node after it comes next.
            while self._goal == history.position and self._on_pause is not None and not (
                    self._plan.graph.place and self._goal == len(steps)):
                self._ask()
            index = history.position
            if index >= len(steps):
                return self._left()
            try:
                self._execute(index, steps[index])
            except Exception as error:          # a node's: it goes on, unless who pauses goes back
                if self._asked_about(error):
                    continue
                execution.failed = steps[index]
                raise
            except BaseException:
                execution.failed = steps[index]
                raise
            history.position = index + 1
            if self._dropping:
                for slot in self._plan.ends.get(index, ()):
                    known.pop(slot, None)

    def _ask(self) -> None:
        """Let who pauses look, and say where to pause next."""
        if isinstance(self._on_pause, NextIteration) and not self._on_pause.asks(self):
            return
        assert self._on_pause is not None
        self._goal, self._asking = None, True
        try:
            self._on_pause()
        except Exception as error:              # a mistake of who watches must not end the program
            self.resume()
            say_failed(f'what was to be done at step {self.position} of run #{self.execution.run.id} failed', error)
        except RunAborted as aborted:
            self.execution.run.aborted = aborted
            raise
        finally:
            self._asking = False

    def _asked_about(self, error: Exception) -> bool:
        """Ask about a step that raised; whether it is gone back to."""
        if self.execution.paused:               # asked for in the call that raised
            self.execution.paused = False
            self._on_pause = self.execution.on_pause
        if self._on_pause is None:
            return False
        self.error = error
        try:
            self._ask()
            return self.error is None
        finally:
            self.error = None
            del error                           # its traceback leads here: a cycle

    def _left(self) -> tuple[Any, ...]:
        """The results. Who wants to pause behind the end pauses in the plan around, if there is one."""
        if self._goal is not None and self._on_pause is not None:
            self.execution.pause(self._on_pause)
        fed = {id(t) for t in self._plan.feeds}
        known = self.history.values.known
        return tuple((own_feed if id(t) in fed else own)(known[self._plan.slots[id(t)]]) for t in self._plan.fetches)

    # ------------------------------------------------------------------ one step
    def _execute(self, index: int, step: Step) -> None:
        history, values = self.history, self.history.values
        inputs = values.inputs(step, index)
        watched = self._plan.watched.get(index)
        if watched is not None and hooks.op:
            values.keep(step, around(watched[0], watched[1], self.execution.run, inputs))
            return
        if self._dropping or not has_effects(step):
            values.keep(step, self.outputs(index, step, inputs))
        elif history.stood(index, step, inputs):
            self._entering = False
            return
        else:
            if self._entering and self._on_pause is not None:
                self._entering = False
                self.execution.pause(self._on_pause)
            values.keep(step, history.ran(index, step, inputs, lambda: self.outputs(index, step, inputs)))
        self.report_gradients(step, values.known)

    def report_gradients(self, step: Step, known: Mapping[int, Any]) -> None:
        """Report the backward steps that are complete with a step, where a hook watches them."""
        for group in step.gradients:
            incoming, outgoing, (record,) = (tuple(known.get(self._plan.slots.get(id(t), -1)) for t in tensors)
                                             for tensors in (group.incoming, group.outgoing, [group.record]))
            group.report(self.execution, incoming, outgoing, record)

    def outputs(self, index: int, step: Step, inputs: Sequence[Any]) -> tuple[Any, ...]:
        """Run a step's kernel, in an op call where a hook watches those."""
        definition = step.op.definition
        extra = {'record': True} if step.recorded else {}

        def compute(*values: Any) -> tuple[Any, ...]:
            result = step.kernel(self.execution, *values, **extra) if definition.in_execution else step.kernel(*values)
            if step.recorded:
                return unpacked(result)
            return (result,) if definition.outputs == 1 else tuple(result or ())

        if not hooks.op:
            return compute(*inputs)
        site = op_site(step.op)
        if not has_effects(step) and not step.recorded and not step.gradients:
            self._plan.watched[index] = site, _plain(step)
        return tuple(around(site, compute, self.execution.run, list(inputs)))

    # ------------------------------------------------------------------ what a debugger sees
    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites in execution order."""
        return self._plan.sites()

    @property
    def feeds(self) -> Sequence[str]:
        """Names of the tensors that were given."""
        return self.history.feeds

    @property
    def position(self) -> int:
        """Index of the step that is next, or that runs now."""
        return self.history.position

    def mark(self) -> None:
        """Every step is kept as it stood before it."""

    def look(self) -> RunView | None:
        """This, or the plan inside of the step that runs now."""
        return self if self._asking else innermost(self.execution)

    @property
    def repeats(self) -> bool:
        """Whether this is one iteration of a loop."""
        return self._plan.graph.repeats

    @property
    def within(self) -> Sequence[CallSite]:
        """The conditions and loops that the plan is a part of, outermost first."""
        return sites_around(self._plan.graph)

    def holds(self, tensor: str) -> bool:
        """Whether the value of a tensor is there."""
        return self.history.holds(tensor)

    def value(self, tensor: str) -> Any:
        """The value of a tensor of this run, such as 'mm:0'.

        Raises:
            KeyError: Unknown, not computed yet, or dropped and not pure.
        """
        return self.history.value(tensor)

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back to a step; '' if it can."""
        return self.history.obstacle(position)

    # ------------------------------------------------------------------ steering
    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the next step: after the one that runs now, or that the run is paused before."""
        if not self._asking:
            self.execution.pause(on_pause)
            return
        self._on_pause = on_pause
        self._goal = self.position + 1

    def resume(self) -> None:
        """Pause no more, in the plans around either."""
        self._goal = self._on_pause = None
        self._entering = False
        self.execution.resume() if self._around is None else self._around.resume()

    def go_to(self, position: int) -> None:
        """Pause again before the step at `position`; at the end for the number of steps, and for more in the plan around.

        Raises:
            ValueError: It is behind the cursor.
        """
        if position < self.position:
            if not self.repeats or self._on_pause is None:
                raise ValueError(f'step {position} has run already (next is {self.position}): use rewind')
            self._on_pause = NextIteration(self._plan, position, self._on_pause)
            position = len(self._plan.steps) + 1
        self._goal = position

    def enter(self) -> None:
        """Pause inside of the next step, if it has steps of its own; else before the step after it.

        Raises:
            ValueError: It calls a Python function whose earlier result stands; nothing is changed.
        """
        if self.position < len(self._plan.steps) and self._plan.steps[self.position].op.definition.python and (
                self.history.stands(self.position)):
            raise ValueError(result_stands(self._plan.steps[self.position].op.name))
        self._entering = self.position < len(self._plan.steps)
        self._goal = self.position + 1

    def rewind(self, position: int) -> None:
        """Put the cursor before an earlier step, with variables and random states as they were there.

        Raises:
            ValueError: Not an earlier step, or one that cannot be gone back to; nothing is changed.
        """
        if not self._asking:
            raise ValueError('the run is not paused between two steps')
        self.history.go_back(position, self.error is not None)
        self.error = None
        self._goal = position

    def inject(self, tensor: str, value: np.ndarray) -> None:
        """Replace a value. It stays until its step runs again.

        Raises:
            ValueError: Its shape or dtype is another, or it is no tensor of numbers or strings; nothing is changed.
            KeyError: No such tensor, or it has no value yet.
        """
        values = self.history.values
        new = self.execution.run.host.from_numpy(np.asarray(value), self.value(tensor))
        values.settle(values.slot(tensor), self.position)
        values.known[values.slot(tensor)] = new

    def swap(self, site: CallSite, function: Callable[..., Any]) -> None:
        """Replace the function of a Python site from now on. If it was called already, the run goes back before it.

        Python calls that depend on it run again then, effects included; what others returned stands.

        Raises:
            ValueError: The site is not one of this run's Python calls, the function cannot be called with its inputs, or the
                run cannot go back to it; nothing is changed.
        """
        index = next((i for i, step in enumerate(self._plan.steps) if step.op.attrs.get('_py_function') is not None
                      and step.op.attrs['_py_function'].site.id == site.id), None)
        if index is None:
            raise ValueError(f'{site.name!r} is no Python call of this run')
        wrapped = self._plan.steps[index].op.attrs['_py_function']
        made = index < self.position
        if made and (obstacle := self.obstacle(index)):
            raise ValueError(obstacle)
        wrapped.replace(function, len(wrapped.site.inputs))
        if made:
            self.rewind(index)
        self.history.forget_below(index)        # after going back: results of before the hand-over stand until then

    def retry(self) -> None:
        """Go back before the step that raised, or the one before the cursor, to run it once more, its effects included.

        Raises:
            ValueError: There is none, or it cannot be gone back to.
        """
        position = self.position if self.error is not None else self.position - 1
        if position < 0:
            raise ValueError('nothing has run yet')
        self.rewind(position)
        self.history.forget(position)


class NextIteration:
    """Pause callback that resumes until a loop's step repeats, or the loop ends."""

    __slots__ = ('_on_pause', '_plan', '_position')

    def __init__(self, plan: CompiledPlan, position: int, on_pause: Callable[[], None]) -> None:
        self._plan = plan
        self._position = position
        self._on_pause = on_pause

    def asks(self, executor: Executor) -> bool:
        """Whether `executor` is where to pause; if not, it is sent on."""
        plan = executor._plan
        if plan is self._plan and executor.position < self._position:
            executor._goal = self._position
            return False
        if plan is not self._plan and plan.graph.outer is self._plan.graph.outer and plan.graph.repeats:
            executor._goal = len(plan.steps) + 1        # the condition of the loop
            return False
        executor._on_pause = self._on_pause
        return True

    def __call__(self) -> None:
        self._on_pause()


def _plain(step: Step) -> Callable[..., tuple[Any, ...]]:
    """A step without effects as a function of its inputs."""
    kernel = step.kernel
    if step.op.definition.outputs == 1:
        return lambda *values: (kernel(*values),)
    return lambda *values: tuple(kernel(*values) or ())
