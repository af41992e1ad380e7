"""The executor: the steps of a plan one by one, with a cursor that can be paused and moved.

A plan hands over to it after a Python call when somebody asked to pause; with hooks on op calls a run starts in it. It
runs on the thread of the run. Same kernels, same order, same values as the plan.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import nearest
from pyfuncdbg.graph.dtypes import resource
from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.chain import around, hooks, say_failed
from pyfuncdbg.runtime.execution import Execution
from pyfuncdbg.runtime.plan import Plan, Step, op_site, site_of
from pyfuncdbg.runtime.source import own, own_feed, unpacked


def execute(plan: Plan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    """Run a plan at full speed, or step by step if somebody watches ops. The caller has turned NumPy's warnings off."""
    if hooks.op or execution.paused:
        return Executor(plan, execution).start(values)
    outer, execution.feeds = execution.feeds, values
    try:
        return plan.function(execution, *values)
    finally:
        execution.feeds = outer


def take_over(plan: Plan, execution: Execution, position: int, names: Mapping[str, Any]) -> tuple[Any, ...]:
    """Go on step by step where a plan stopped."""
    return Executor(plan, execution).take_over(position, names)


class State:
    """What a step may change beside its outputs: the variables among its inputs, and random generators."""

    __slots__ = ('_generators', '_resources', '_rng', '_stored')

    def __init__(self, step: Step, inputs: Sequence[Any], execution: Execution) -> None:
        self._stored = [(storage, storage.value) for storage in inputs if hasattr(storage, 'variable')]
        self._rng = execution.run.host.rng_state() if step.op.definition.python else None
        self._resources = execution.resources
        self._generators = {key: generator.bit_generator.state for key, generator in execution.resources.items()
                            if isinstance(generator, np.random.Generator)}

    def restore(self, execution: Execution) -> None:
        """Put it back. A generator that was not there yet is made again when it is needed."""
        for storage, value in self._stored:
            storage.value = value
        if self._rng is not None:
            execution.run.host.set_rng_state(self._rng)
        for key, generator in list(self._resources.items()):
            if isinstance(generator, np.random.Generator):
                if key in self._generators:
                    generator.bit_generator.state = self._generators[key]
                else:
                    del self._resources[key]


class Executor:
    """Runs a plan's steps; the `RunControl` of its run while it does.

    Attributes:
        position: Index of the step that is next.
        values: Values by slot; everything is kept, so that a rewind has it, unless all hooks are passive: then nobody is
            there to rewind, and memory that is used again at once costs a tenth of memory that was never touched.
    """

    __slots__ = ('_asking', '_execution', '_goal', '_on_pause', '_plan', '_recorded', '_undo', 'position', 'values')

    def __init__(self, plan: Plan, execution: Execution) -> None:
        self._plan = plan
        self._execution = execution
        self._on_pause = execution.on_pause
        self._goal: int | None = None
        self._asking = False
        self._undo: dict[int, State] = {}
        self._recorded: dict[int, tuple[tuple[Any, ...], State | None]] = {}
        self.position = 0
        self.values: dict[int, Any] = dict(plan.constants)

    # ------------------------------------------------------------------ running
    def start(self, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Run from the first step."""
        self.values.update((self._plan.slots[id(t)], value) for t, value in zip(self._plan.feeds, feeds, strict=True))
        return self._loop()

    def take_over(self, position: int, names: Mapping[str, Any]) -> tuple[Any, ...]:
        """Go on where a plan stopped; `names` are its locals."""
        self.values.update((self._plan.slots[id(t)], value) for t,
                           value in zip(self._plan.feeds, self._execution.feeds, strict=True))
        self.values.update((slot, names[name]) for name, slot in self._plan.live[position].items())
        self.position = position
        if self._on_pause is not None and self._goal is None:
            self._goal = position
        return self._loop()

    def _loop(self) -> tuple[Any, ...]:
        run = self._execution.run
        around_this, run.control = run.control, self
        try:
            return self._walk()
        finally:
            run.control = around_this

    def _walk(self) -> tuple[Any, ...]:
        steps = self._plan.steps
        if self._execution.paused and self._goal is None:
            self._on_pause = self._execution.on_pause
            self._goal = self.position
        self._execution.paused = False
        watching: Any = None
        dropping = False
        while True:
            if hooks.op is not watching:
                watching = hooks.op
                dropping = self._on_pause is None and hooks.passive
            while self._goal is not None and self.position == self._goal and self._on_pause is not None:
                self._goal = None
                self._paused(self._on_pause)
            if self.position >= len(steps):
                return self._results()
            index = self.position
            try:
                self._execute(index, steps[index])
            except BaseException as error:
                self._execution.failed = steps[index]
                raise error
            if self.position == index:
                self.position = index + 1
                if dropping:
                    for slot in self._plan.ends.get(index, ()):
                        self.values.pop(slot, None)
            if self._execution.paused:
                self._execution.paused = False
                self._on_pause = self._execution.on_pause
                self._goal = self.position
                dropping = False

    def _paused(self, on_pause: Callable[[], None]) -> None:
        self._asking = True
        try:
            on_pause()
        except Exception as error:              # a mistake of who watches must not end the program
            self._on_pause = self._goal = None
            say_failed(f'what was to be done at step {self.position} of run #{self._execution.run.id} failed', error)
        finally:
            self._asking = False

    def _execute(self, index: int, step: Step) -> None:
        watched = self._plan.watched.get(index)
        if watched is not None and hooks.op:
            values = self.values
            try:
                inputs = [values[slot] for slot in step.inputs]
            except KeyError:
                inputs = [self._value_of(slot, t.name) for slot, t in zip(step.inputs, step.op.inputs, strict=True)]
            self._keep(step, around(watched[0], watched[1], self._execution.run, inputs))
            return
        inputs = [self._value_of(slot, step.op.inputs[i].name) for i, slot in enumerate(step.inputs)]
        definition = step.op.definition
        if definition.in_execution:
            self._undo[index] = State(step, inputs, self._execution)
            if definition.python and index in self._recorded:
                recorded, after = self._recorded[index]
                self._keep(step, recorded)
                if after is not None:
                    after.restore(self._execution)
                return
        outputs = self._outputs(step, inputs)
        if definition.python:
            self._recorded[index] = outputs, State(step, inputs, self._execution)
        self._keep(step, outputs)
        for group in step.gradients:
            incoming, outgoing, (record,) = (tuple(self.values.get(self._plan.slots.get(id(t), -1)) for t in tensors)
                                             for tensors in (group.incoming, group.outgoing, [group.record]))
            group.report(self._execution, incoming, outgoing, record)

    def _outputs(self, step: Step, inputs: Sequence[Any]) -> tuple[Any, ...]:
        definition = step.op.definition
        extra = {'record': True} if step.recorded else {}

        def compute(*values: Any) -> tuple[Any, ...]:
            result = step.kernel(self._execution, *values, **extra) if definition.in_execution else step.kernel(*values)
            if step.recorded:
                return unpacked(result)
            return (result,) if definition.outputs == 1 else tuple(result or ())

        if not hooks.op:
            return compute(*inputs)
        site = op_site(step.op)
        if not definition.in_execution and not step.recorded and not step.gradients:
            self._plan.watched[self.position] = site, _plain(step)
        return tuple(around(site, compute, self._execution.run, list(inputs)))

    def _keep(self, step: Step, outputs: Sequence[Any]) -> None:
        for slot, value in zip(step.outputs, outputs, strict=True):
            if slot >= 0:
                self.values[slot] = value

    def _results(self) -> tuple[Any, ...]:
        fed = {id(t) for t in self._plan.feeds}
        return tuple(own_feed(self.values[self._plan.slots[id(t)]]) if id(t) in fed
                     else own(self.values[self._plan.slots[id(t)]])
                     for t in self._plan.fetches)

    def _value_of(self, slot: int, name: str) -> Any:
        try:
            return self.values[slot]
        except KeyError:
            return self._recomputed(slot, name)

    def _recomputed(self, slot: int, name: str) -> Any:
        """A value that the plan dropped, computed again if everything it comes from is pure."""
        for index, step in enumerate(self._plan.steps[:self.position]):
            if slot in step.outputs and not step.op.definition.stateful and not step.op.definition.python:
                inputs = [self._value_of(s, step.op.inputs[i].name) for i, s in enumerate(step.inputs)]
                self._keep(step, self._outputs_unwatched(step, inputs))
                return self.values[slot]
            if slot in step.outputs and index in self._recorded:
                self._keep(step, self._recorded[index][0])
                return self.values[slot]
            if slot in step.outputs:
                raise KeyError(f'{name}: not kept, and step {index} ({step.op.type}) cannot be computed again without its '
                               f'effects')
        raise KeyError(f'{name}: not computed yet')

    def _outputs_unwatched(self, step: Step, inputs: Sequence[Any]) -> tuple[Any, ...]:
        result = step.kernel(*inputs)
        return (result,) if step.op.definition.outputs == 1 else tuple(result)

    # ------------------------------------------------------------------ RunControl
    @property
    def sites(self) -> Sequence[CallSite]:
        """The run's sites in execution order."""
        return [site_of(step.op) for step in self._plan.steps]

    def _slot(self, tensor: str) -> int:
        known = {t.name: self._plan.slots[id(t)] for step in self._plan.steps for t in step.op.outputs
                 if id(t) in self._plan.slots}
        known.update({t.name: self._plan.slots[id(t)] for t in self._plan.feeds})
        known.update({t.name: slot for t in self._plan.graph.tensors() if (slot := self._plan.slots.get(id(t))) is not None})
        if tensor not in known:
            raise KeyError(f'{tensor!r} is not in this run.{nearest(tensor, known)}')
        return known[tensor]

    def value(self, tensor: str) -> Any:
        """The value of a tensor of this run, such as 'mm:0'.

        Raises:
            KeyError: Unknown, not computed yet, or dropped and not pure.
        """
        return self._value_of(self._slot(tensor), tensor)

    def pause(self, on_pause: Callable[[], None]) -> None:
        """Call `on_pause` before the next step: after the one that runs now, or that the run is paused before."""
        if not self._asking:
            self._execution.pause(on_pause)
            return
        self._on_pause = on_pause
        self._goal = min(self.position + 1, len(self._plan.steps))

    def resume(self) -> None:
        """Pause no more."""
        self._on_pause = self._goal = None
        self._execution.paused = False

    def go_to(self, position: int) -> None:
        """Pause again before the step at `position`, or at the end for a position behind the last.

        Raises:
            ValueError: It is behind the cursor.
        """
        if position < self.position:
            raise ValueError(f'step {position} has run already (next is {self.position}): use rewind')
        self._goal = min(position, len(self._plan.steps))

    def rewind(self, position: int) -> None:
        """Put the cursor before an earlier step, with variables and random states as they were there.

        Raises:
            ValueError: Not an earlier step, or one that ran before the executor took over.
        """
        if not 0 <= position <= self.position:
            raise ValueError(f'cannot rewind to step {position}: next is {self.position}, the first is 0')
        for index in range(self.position - 1, position - 1, -1):
            undo = self._undo.pop(index, None)
            if undo is None:
                if self._plan.steps[index].op.definition.in_execution:
                    self._restore_missing(index)
                continue
            undo.restore(self._execution)
        self.position = position
        self._goal = position

    def _restore_missing(self, index: int) -> None:
        """A step that the plan ran before the hand-over left no undo: a Python call's outputs stand instead; a handle, or
        what was read from a variable, can be had again."""
        step = self._plan.steps[index]
        kinds = [t.dtype is resource for t in step.op.outputs]
        if not step.op.definition.python and kinds and (all(kinds) or any(t.dtype is resource for t in step.op.inputs)):
            return
        kept = [self.values.get(slot) for slot in step.outputs if slot >= 0]
        if not step.op.definition.python or any(value is None for value in kept):
            raise ValueError(f'cannot rewind over {step.op.name!r}: it ran before the run was paused')
        self._recorded[index] = tuple(kept), None

    def inject(self, tensor: str, value: np.ndarray) -> None:
        """Replace a computed value.

        Raises:
            ValueError: Its shape or dtype is another; nothing is changed.
            KeyError: No such tensor, or not computed yet.
        """
        slot = self._slot(tensor)
        old = self._value_of(slot, tensor)
        self.values[slot] = self._execution.run.host.from_numpy(np.asarray(value), old)

    def swap(self, site: CallSite, function: Callable[..., Any]) -> None:
        """Replace the function of a Python site from now on. If it was called already, the run is paused before it again.

        Python calls that depend on it run again then, effects included; what others returned stands.

        Raises:
            ValueError: The site is not one of this run's Python calls, or ran before the run was paused and cannot be
                gone back to; nothing is changed.
        """
        for index, step in enumerate(self._plan.steps):
            wrapped = step.op.attrs.get('_py_function')
            if wrapped is not None and wrapped.site.id == site.id:
                if index < self.position:
                    self.rewind(index)
                    self._forget_below(index)
                wrapped.replace(function)
                return
        raise ValueError(f'{site.name!r} is no Python call of this run')

    def _forget_below(self, index: int) -> None:
        """The recorded results of a step, and of those that depend on it, no longer stand."""
        reached: set[int] = set(self._plan.steps[index].outputs)
        self._recorded.pop(index, None)
        for later, step in enumerate(self._plan.steps[index + 1:], index + 1):
            if not reached.isdisjoint(step.inputs):
                reached.update(step.outputs)
                self._recorded.pop(later, None)

    def retry(self) -> None:
        """Run the step before the cursor once more, its effects included.

        Raises:
            ValueError: There is none.
        """
        if self.position == 0:
            raise ValueError('nothing has run yet')
        self.rewind(self.position - 1)
        self._recorded.pop(self.position, None)


def _plain(step: Step) -> Callable[..., tuple[Any, ...]]:
    """A step without effects as a function of its inputs."""
    kernel = step.kernel
    if step.op.definition.outputs == 1:
        return lambda *values: (kernel(*values),)
    return lambda *values: tuple(kernel(*values) or ())
