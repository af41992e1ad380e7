"""Second form of a plan, for a recorder that alone watches ops: outputs are kept and handed over together.

Steps that nothing but their inputs decides make no calls: their outputs and times go into an `OpBatch`, at most
`MOST_OPS` or a megabyte at a time. All others, which run code of the program or another plan, are calls as in the executor;
the batch before them is delivered first. `PlanSource` asks for the lines; `executor` runs the plan.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.op_batch import MOST_OPS, OpBatch, OpSequence
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.runtime.plans.buffer_reuse import BufferSharing
from pyfuncdbg.hosts.numpy.runtime.plans.output_pool import recycle, unused_arrays

if TYPE_CHECKING:
    from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

_MOST_BYTES = 1 << 20
"""Static bytes of the outputs in one batch: what is in the processor's caches is written in half the time."""
_UNKNOWN = 64 << 10
"""Counted for an output of unknown shape."""
_MOST_TENSORS = 4096
_WORTH_POOLING = 64


@dataclass(frozen=True, slots=True)
class Section:
    """Steps that are handed over together.

    Attributes:
        first, last: Indices of the first and the last.
        before: Slots whose values were there before, in the order of their places.
        sequence: Of their sites.
        continues: Whether the next section follows with nothing between.
    """

    first: int
    last: int
    before: tuple[int, ...]
    sequence: OpSequence
    continues: bool


def is_quiet(step: Step) -> bool:
    """Whether a step runs no code of the program and no other plan, and leaves no trace but its outputs."""
    definition = step.op.definition
    return not (definition.python or definition.stateful or definition.in_execution or step.recorded or step.gradients
                or -1 in step.outputs or len(step.inputs) + len(step.outputs) > _MOST_TENSORS)


def sections(steps: Sequence[Step], constants: Mapping[int, Any], sharing: BufferSharing,
             site_of: Callable[[Operation], CallSite]) -> dict[int, Section]:
    """The sections of a plan, by the index of their first step.

    Args:
        steps: In order of execution.
        constants: Static values by slot.
        sharing: Of the plan.
        site_of: Gives the site of a node as an op.
    """
    groups: list[list[int]] = []
    size = 0
    for index, step in enumerate(steps):
        if not is_quiet(step):
            continue
        nbytes = sum(_nbytes(sharing, slot) for slot in step.outputs)
        if not groups or groups[-1][-1] != index - 1 or len(groups[-1]) == MOST_OPS or size + nbytes > _MOST_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(index)
        size += nbytes
    firsts = {group[0] for group in groups}
    quiet = {slot for group in groups for index in group for slot in steps[index].outputs}
    private = {slot for slot in quiet if sharing.is_private(slot)} | set(constants)
    return {group[0]: _section([steps[index] for index in group], group[0], private, site_of, group[-1] + 1 in firsts)
            for group in groups}


def _section(steps: Sequence[Step], first: int, private: set[int], site_of: Callable[[Operation], CallSite],
             continues: bool) -> Section:
    made = {slot for step in steps for slot in step.outputs}
    before = tuple(dict.fromkeys(slot for step in steps for slot in step.inputs if slot not in made))
    places = {slot: place for place, slot in enumerate((*before, *(slot for step in steps for slot in step.outputs)))}
    sequence = OpSequence([site_of(step.op) for step in steps], [[places[slot] for slot in step.inputs] for step in steps],
                          [[places[slot] for slot in step.outputs] for step in steps],
                          [place for slot, place in places.items() if slot not in private])
    return Section(first, first + len(steps) - 1, before, sequence, continues)


def _nbytes(sharing: BufferSharing, slot: int) -> int:
    shape = sharing.static_shape(slot)
    return _UNKNOWN if shape is None else int(np.prod(shape, dtype=np.int64)) * 8


def pooled_output(step: Step, sharing: BufferSharing) -> tuple[Any, partial[np.ndarray]] | None:
    """The unused arrays for the output of a step, and what makes another; None if its kernel makes its own."""
    definition, tensor = step.op.definition, step.op.outputs[0] if step.op.outputs else None
    if not definition.into or len(step.outputs) != 1 or tensor is None or not isinstance(tensor.dtype.array, np.dtype):
        return None
    shape = sharing.static_shape(step.outputs[0])
    if shape is None or np.prod(shape) < _WORTH_POOLING:
        return None
    return unused_arrays(tensor.dtype.array, tuple(map(int, shape)))


def batch_maker(section: Section) -> Callable[[Run, list[Any]], OpBatch]:
    """A function that begins a batch of a section.

    Args:
        section: The section.
    """
    return partial(_begin, section.sequence, section.continues)


def _begin(sequence: OpSequence, continues: bool, run: Run, values: list[Any]) -> OpBatch:
    batch = OpBatch(sequence, run, values, recycle)
    batch.continues = continues
    return batch
