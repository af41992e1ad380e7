"""Generated Python source of a plan: one line per op. Local names are reused when their values die."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pyfuncdbg.hooks.op_batch import deliver
from pyfuncdbg.hosts.numpy.graph.definitions.registry import kernel_for
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.runtime.plans.buffer_reuse import BufferSharing
from pyfuncdbg.hosts.numpy.runtime.plans.recorded_steps import Section, batch_maker, is_quiet, pooled_output

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.backward.gradient_step import GradientStep
    from pyfuncdbg.hosts.numpy.runtime.plans.step import Step


class PlanParts(Protocol):
    """The parts of a plan that its source is generated from; see `plan.CompiledPlan`."""

    steps: tuple[Step, ...]
    feeds: tuple[SymbolicTensor, ...]
    fetches: tuple[SymbolicTensor, ...]
    slots: Mapping[int, int]
    constants: Mapping[int, Any]


@dataclass(frozen=True, slots=True)
class Recording:
    """Names and sections of a plan's form for a recorder.

    Attributes:
        hooks: The installed hooks.
        sections: By the index of their first step.
        ends: Indices of their last steps.
        call_step: `call_step(step, execution, inputs)`: the outputs of a step that is a call.
    """

    hooks: Any
    sections: Mapping[int, Section]
    ends: frozenset[int]
    call_step: Callable[..., tuple[Any, ...]]


class PlanSource:
    """Generator of one plan's source.

    Attributes:
        text: The source of `plan(x, r0, r1, ...)`; a comment '  # i' marks the line of step i.
        names: The globals it uses.
        live: For each position at which the plan may be left: the slot of each local.
        during: For each step that calls Python, the slot of each local during the call.
        ends: For each step the slots of steps' outputs that are dead after it.
    """

    def __init__(self, plan: PlanParts, sharing: BufferSharing, recording: Recording | None = None) -> None:
        self._plan = plan
        self._recording = recording
        self._sharing = sharing
        self._local: dict[int, str] = {}
        self._free: list[str] = []
        self._count = 0
        self.names: dict[str, Any] = {f'c{slot}': value for slot, value in plan.constants.items()}
        self.live: dict[int, dict[str, int]] = {}
        self.during: dict[int, dict[str, int]] = {}
        feeds = [self._take(slot) for slot in dict.fromkeys(plan.slots[id(t)] for t in plan.feeds)]
        self._lines = [f'def plan({", ".join(["x", *feeds])}):']
        if recording is not None:
            self.names.update(hooks=recording.hooks, now=perf_counter_ns, deliver=deliver)
            self._lines.append('    w, o = hooks.op_recorder, None')
        ends: dict[int, list[int]] = {}
        for slot, index in sharing.last_use.items():
            ends.setdefault(index, []).append(slot)
        written_slots = {slot for step in plan.steps for slot in step.outputs if slot >= 0}
        self.ends = {index: tuple(slot for slot in slots if slot in written_slots) for index, slots in ends.items()}
        for index, step in enumerate(plan.steps):
            self._step(index, step, ends.get(index, ()))
        fetched = ''.join(f'{self._fetched(t)}, ' for t in plan.fetches)
        self._lines.append(f'    return ({fetched})')
        self.text = '\n'.join(self._lines)

    # ------------------------------------------------------------------ locals
    def _take(self, slot: int) -> str:
        """A local for a new value."""
        if slot < 0:
            return '_'
        if self._free:
            name = self._free.pop()
        else:
            name = f'r{self._count}'
            self._count += 1
        self._local[slot] = name
        return name

    def _of(self, slot: int) -> str:
        """The name of a slot's value."""
        return f'c{slot}' if slot in self._plan.constants else self._local[slot]

    def _name(self, tensor: SymbolicTensor | None) -> str:
        """The name of a tensor's value, 'None' if it is not in the plan."""
        slot = None if tensor is None else self._plan.slots.get(id(tensor))
        return 'None' if slot is None or (slot not in self._local and slot not in self._plan.constants) else self._of(slot)

    # ------------------------------------------------------------------ lines
    def _step(self, index: int, step: Step, ends: Sequence[int]) -> None:
        """The lines of one step. Without gradient calls a result may reuse the local of an input that dies here."""
        python, dying = step.op.definition.python, []
        self._begin_section(index)
        if python:
            self.during[index] = {name: slot for slot, name in self._local.items()}
        arguments = [self._of(slot) for slot in step.inputs]
        for slot in sorted(ends):
            name = self._local.get(slot)
            if name is not None and slot in step.inputs:
                dying.append(name)
        early = dying if not step.gradients else []
        reused = self._sharing.reusable(step, index) if self._recording is None else None
        target = None if reused is None else self._local[reused]
        if target is not None and target in early:
            early = [*(name for name in early if name != target), target]
        self._free.extend(early)
        targets = [self._take(slot) for slot in step.outputs]
        line = self._line if self._recording is None else self._recorded_line
        self._lines.append(f'    {line(index, step, arguments, targets, target)}  # {index}')
        for number, group in enumerate(step.gradients):
            self._lines.append(f'    {self._gradient_line(group, f"g{index}_{number}")}')
        dead = [name for name in dying if name not in targets]
        if step.gradients:
            self._free.extend(dying)
        for slot in ends:
            name = self._local.pop(slot, None)
            if name is not None and slot not in step.inputs:      # an unused result
                dead.append(name)
                self._free.append(name)
        if dead:
            self._lines.append(f'    del {", ".join(dict.fromkeys(dead))}')
        self._end_step(index, step)

    def _begin_section(self, index: int) -> None:
        """The line that begins a batch, before the first step of a section."""
        section = None if self._recording is None else self._recording.sections.get(index)
        if section is not None:
            self.names[f'b{index}'] = batch_maker(section)
            before = ', '.join(self._of(slot) for slot in section.before)
            self._lines.append(f'    o = b{index}(x.run, [{before}]); a, u = o.values.append, o.times.append')

    def _end_step(self, index: int, step: Step) -> None:
        """The lines that deliver a batch, and at which the plan may be left."""
        if self._recording is not None and index in self._recording.ends:
            self._lines.append('    o = deliver(w, o)')
        if step.op.definition.python if self._recording is None else not is_quiet(step):
            self.live[index + 1] = {name: slot for slot, name in self._local.items()}
            condition = 'x.paused' if self._recording is None else 'x.paused or w is None or hooks.op_recorder is not w'
            self._lines.append(f'    if {condition}: return hand_over(x, {index + 1}, locals())')

    def _recorded_line(self, index: int, step: Step, arguments: list[str], targets: Sequence[str], _: str | None) -> str:
        """A step whose outputs are kept for the recorder, or that is a call."""
        assert self._recording is not None
        if not is_quiet(step):
            self.names[f's{index}'] = partial(self._recording.call_step, step)
            call = f's{index}(x, [{", ".join(arguments)}])'
            return f'{", ".join(targets)}, = {call}' if targets else call
        pool = pooled_output(step, self._sharing)
        if pool is None:
            line = self._line(index, step, arguments, targets, None)
        else:
            self.names[f'p{index}'], self.names[f'm{index}'] = pool
            place = f'p{index}.pop() if p{index} else m{index}()'
            if len(pool[1].args[0]) > 1:        # elsewhere the result has the order of the inputs, and so have sums of it
                ordered = ' and '.join(f'{name}.flags.c_contiguous' for name in dict.fromkeys(arguments))
                place = f'({place}) if {ordered} else None'
            line = self._line(index, step, arguments, targets, place)
        return '; '.join([line, *(f'a({target})' for target in targets), 'u(now())'])

    def _line(self, index: int, step: Step, arguments: list[str], targets: Sequence[str], reused: str | None) -> str:
        definition = step.op.definition
        if reused is not None:
            self.names[f'k{index}'] = definition.kernel
            # By position: 0.04 µs less than by keyword, which is needed only where a third array is ambiguous.
            place = reused if definition.infix else f'out={reused}'
            return f'{targets[0]} = k{index}({", ".join(arguments)}, {place})'
        if definition.infix and kernel_for(definition, step.op.inputs[0].dtype.array) is not definition.kernel:
            return f'{targets[0]} = {arguments[0]} {definition.infix} {arguments[1]}'
        kernel = step.kernel
        arguments = [*(['x'] if definition.in_execution else []), *arguments]
        if isinstance(kernel, partial):             # 0.2 µs less than merging its keywords at each call
            for number, (key, value) in enumerate(kernel.keywords.items()):
                self.names[f'a{index}_{number}'] = value
                arguments.append(f'{key}=a{index}_{number}')
            kernel = kernel.func
        self.names[f'k{index}'] = kernel
        if definition.python:
            owned = self._sharing.owned(step, index)
            self.names[f'o{index}'] = owned
            arguments.append(f'owned=o{index}')
        if step.recorded:
            self.names['unpacked'] = unpack_outputs
            return f'{", ".join(targets)}, = unpacked(k{index}({", ".join(arguments)}, record=True))'
        call = f'k{index}({", ".join(arguments)})'
        if definition.outputs == 1:
            return f'{targets[0]} = {call}'
        return f'{", ".join(targets)}, = {call}' if targets else call

    def _gradient_line(self, group: GradientStep, name: str) -> str:
        """A line that reports one backward step as a gradient call."""
        self.names[name] = group.report
        grads, results = (''.join(f'{self._name(t)}, ' for t in tensors) for tensors in (group.incoming, group.outgoing))
        return f'{name}(x, ({grads}), ({results}), {self._name(group.record)})'

    def _fetched(self, tensor: SymbolicTensor) -> str:
        """The expression of a fetched value for the caller."""
        slot = self._plan.slots[id(tensor)]
        name = self._of(slot)
        if slot in self._sharing.to_copy:
            self.names['own'], self.names['own_feed'] = copy_value, copy_feed
            return f'own_feed({name})' if any(t is tensor for t in self._plan.feeds) else f'own({name})'
        if tensor.shape.rank:
            return name
        self.names['settled'] = to_scalar
        return f'settled({name})'


def unpack_outputs(recorded: Any) -> tuple[Any, ...]:
    """All outputs of a `Recorded`, the hidden ones last."""
    return (*recorded.outputs, *recorded.hidden)


def copy_value(value: Any) -> Any:
    """A writable copy for the caller; a scalar at rank 0, except strings."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim or value.dtype.hasobject else value[()]
    return value


def copy_feed(value: Any) -> Any:
    """A copy of a fed value; a scalar as an array of rank 0, as in TensorFlow."""
    return np.array(value)


def to_scalar(value: Any) -> Any:
    """An array of rank 0 as a scalar, except strings."""
    return value if not isinstance(value, np.ndarray) or value.ndim or value.dtype.hasobject else value[()]
