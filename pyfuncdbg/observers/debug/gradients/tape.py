"""The gradient tape of one run as data: backward steps, the gradients that flow between them, and where they end.

Read from a recorded trace, on any thread; the `tape` command and pictures draw it.
"""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.notebook_cell import short_place
from pyfuncdbg.observers.debug.batched_calls import Tell, read_calls
from pyfuncdbg.observers.debug.gradients.forward_names import ForwardNames, forward_name, input_names
from pyfuncdbg.observers.debug.gradients.traced_tape import (
    TRACED,
    enclosing_calls,
    fill_values,
    has_values,
    traced_graph,
)
from pyfuncdbg.observers.record.display import mimebundle
from pyfuncdbg.observers.record.records import CallRecord, Stats, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

Remark = Literal['NaN', 'Inf', 'exactly zero', 'vanishing', 'exploding']

VANISHING, EXPLODING = 1e-6, 1e3
"""Largest magnitudes below and above which a gradient is remarked on."""
CHECK = 'check'
"""Kind of the notes in which a trace keeps what `check` found."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """A gradient that flows along an edge.

    Attributes:
        name: Of the tensor it is the gradient of: 'w:0', or 'input 0 of mul' where that has no name.
        tensor: As recorded.
        magnitude: Largest magnitude of its finite elements; None if unknown or if there is none.
        log10: Of the magnitude; None for zero too.
        remarks: What is remarkable about it.
    """

    name: str
    tensor: TensorRecord
    magnitude: float | None
    log10: float | None
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class TapeNode:
    """One backward step.

    Attributes:
        number: Of the gradient call; `label` is its site and ordinal.
        name: Of the forward node; `op_type` is its type.
        forward: Number of the forward call, '' if that was not recorded.
        function: The user's function that it goes back through, '' if none.
        incoming: The gradients of the forward node's outputs.
        inner_steps: How many steps went back through the function's own ops.
        place: The program's line of the forward node, 'model.py:12'; '' if that is not known.
        outer_step: Number of the step back through a traced function that this one is a part of, '' if of none. Other parts
            are nodes of a graph, so the gradients between them are not known.
    """

    number: str
    label: str
    name: str
    op_type: str
    forward: str
    function: str
    incoming: tuple[Gradient, ...]
    inner_steps: int = 0
    place: str = ''
    outer_step: str = ''


@dataclass(frozen=True, slots=True)
class TapeEdge:
    """A gradient from one step to the next.

    Attributes:
        source: Number of the step that made it.
        target: Number of the step that it goes into, '' where it leaves the tape: at a variable or another source.
        slot: Which output of the source it is; -1 where only the sum that came in is known.
        gradient: What flows.
    """

    source: str
    target: str
    slot: int
    gradient: Gradient


@dataclass(frozen=True, slots=True)
class TapeSource:
    """A source of the backward pass: a variable or tensor whose gradient the program asked for. Not all hosts report them.

    Attributes:
        number: Of its gradient call.
        name: Of the variable or tensor; `kind` says which it is.
        gradient: The whole of it; None if there is none.
        dead: Why there is none, '' otherwise; `fix` is what mends that, '' if unknown.
        rows: Whether only rows of it have a gradient (`IndexedSlices`).
    """

    number: str
    name: str
    kind: str
    gradient: Gradient | None
    dead: str = ''
    fix: str = ''
    rows: bool = False


@dataclass(frozen=True, slots=True)
class EdgeMark:
    """Result of `check` for one gradient.

    Attributes:
        step: Number of the gradient call; `slot` is which of its outputs.
        verdict: 'OK', 'BAD', 'kink' or 'unchecked'.
        error: Relative difference to what was expected.
        actual, expected: Of the element that is wrong most.
    """

    step: str
    slot: int
    verdict: str
    error: float | None = None
    actual: float | None = None
    expected: float | None = None


@dataclass(frozen=True, slots=True)
class Tape:
    """The steps of one run.

    Attributes:
        nodes: In order of time.
        edges: All, those to leaves included, by source and slot.
        roots: Numbers of the steps that begin: at what is differentiated. None is within another.
        other_runs: Further runs with gradients, with how many steps.
        checks: What `check` has found so far.
        sources: What the program asked for, in its order; empty where the host does not tell.
        traced: Whether it was made into nodes of a graph: there are no values yet.
    """

    run: int
    process: int
    source: str
    nodes: tuple[TapeNode, ...]
    edges: tuple[TapeEdge, ...]
    roots: tuple[str, ...]
    other_runs: tuple[tuple[int, int], ...] = ()
    checks: tuple[EdgeMark, ...] = ()
    _repr_mimebundle_ = mimebundle
    sources: tuple[TapeSource, ...] = ()
    traced: bool = False

    @property
    def dead(self) -> tuple[TapeSource, ...]:
        """The sources without a gradient."""
        return tuple(source for source in self.sources if source.dead)

    @property
    def leaves(self) -> tuple[TapeEdge, ...]:
        """The edges that leave the tape."""
        return tuple(edge for edge in self.edges if not edge.target)


def tape_of(trace: Trace, run: int | None = None, tell: Tell | None = None) -> Tape:
    """The tape of a run; of the newest with gradients if None. `tell` is called with the number of backward steps read.

    Raises:
        CommandError: No such run, or no gradients were recorded there; which runs have some.
    """
    all_steps = read_calls(trace, tell, kind='gradient')
    steps = [step for step in all_steps if not is_source(step)]
    counts: dict[tuple[int, int], int] = {}
    inside: dict[str, int] = {}
    inner = {(record.process, record.id) for record in trace.runs() if record.kind == 'inner'}
    for step in all_steps:
        counts.setdefault((step.process, step.run), 0)
    for step in steps:
        if (step.process, step.run) in inner:
            inside[step.forward] = inside.get(step.forward, 0) + 1
        counts[step.process, step.run] += 1
    outer = [key for key in counts if key not in inner] or list(counts)
    if run is None and not outer:
        raise CommandError('no gradients were recorded: none were computed during the recording')
    if run is not None and not any(run == known for _, known in counts):
        trace.run(run)                              # raises an error that lists the runs
        earlier = f'{len(counts) - 8:,} earlier, ' if len(counts) > 8 else ''
        which = earlier + ', '.join(f'#{number}' for _, number in list(counts)[-8:])
        raise CommandError(f'run #{run} has no gradients' + (f'; these have: {which}' if which else '; no run has'))
    reported_runs = {(step.process, step.run) for step in all_steps if is_source(step)}
    run_key = ([key for key in outer if key in reported_runs] or outer)[-1] if run is None else next(
        key for key in counts if key[1] == run)
    own_steps = [step for step in steps if (step.process, step.run) == run_key]
    sources = [step for step in all_steps if is_source(step) and (step.process, step.run) == run_key]
    names = ForwardNames(trace)
    label = trace.run(run_key[1], run_key[0]).label
    if label.endswith(TRACED):
        graph = traced_graph(own_steps)
        own_steps, sources = fill_values(trace, own_steps, steps, graph), fill_values(trace, sources, (), graph)
    within = {} if label.endswith(TRACED) else enclosing_calls(own_steps)
    nodes = tuple(_node(step, names, {} if run_key in inner else inside, within.get(step.number, '')) for step in own_steps)
    others = tuple((number, count) for (process, number), count in counts.items() if (process, number) != run_key)
    numbers = {step.number for step in own_steps}
    return Tape(run_key[1], run_key[0], label, nodes, tuple(_edges(own_steps, names, sources)),
                tuple(step.number for step in own_steps if not numbers.intersection(step.sources)
                      and step.number not in within),
                others,
                tuple(mark for mark in checks_of(trace) if mark.step in numbers), tuple(map(_source, sources)),
                label.endswith(TRACED))


def checks_of(trace: Trace) -> list[EdgeMark]:
    """The verdicts of `check` that a trace holds, the newest of each gradient; a trace may be hostile."""
    marks: dict[tuple[str, int], EdgeMark] = {}
    for note in trace.notes(CHECK):
        edges = note.data.get('edges')
        for entry in edges if isinstance(edges, list) else ():
            if not isinstance(entry, list) or len(entry) != 6 or not isinstance(entry[0], str):
                continue
            step, slot, verdict, *numbers = entry
            if type(slot) is int and isinstance(verdict, str) and all(
                    number is None or type(number) is float for number in numbers):
                marks[step, slot] = EdgeMark(step, slot, verdict, *numbers)
    return list(marks.values())


def gradient_of(name: str, tensor: TensorRecord) -> Gradient:
    """A gradient with what is remarkable about it."""
    stats = tensor.stats
    magnitude = _magnitude(stats)
    return Gradient(name, tensor, magnitude, math.log10(magnitude) if magnitude else None, tuple(_remarks(stats, magnitude)))


def _magnitude(stats: Stats | None) -> float | None:
    if stats is None or stats.min is None or stats.max is None:
        return None
    return max(abs(float(stats.min)), abs(float(stats.max)))


def _remarks(stats: Stats | None, magnitude: float | None) -> list[Remark]:
    if stats is None:
        return []
    remarks: list[Remark] = []
    if stats.nan:
        remarks.append('NaN')
    if stats.neg_inf or stats.pos_inf:
        remarks.append('Inf')
    if stats.size and stats.zero == stats.size:
        remarks.append('exactly zero')
    elif magnitude is not None and 0 < magnitude < VANISHING:
        remarks.append('vanishing')
    if magnitude is not None and magnitude > EXPLODING:
        remarks.append('exploding')
    return remarks


def is_source(step: CallRecord) -> bool:
    """Whether a gradient call only reports the gradient of a source: it differentiates nothing."""
    return bool(step.site.attrs.get('source'))


def _source(step: CallRecord) -> TapeSource:
    name, attrs = forward_name(step), step.site.attrs
    gradient = next((gradient_of(name, tensor) for tensor in step.outputs if not tensor.absent), None)
    return TapeSource(step.number, name, step.site.op_type, gradient, str(attrs.get('dead', '')), str(attrs.get('fix', '')),
                      bool(attrs.get('rows')))


def _node(step: CallRecord, names: ForwardNames, inside: Mapping[str, int], within: str) -> TapeNode:
    """`inside` has the steps inside of functions, by the number of the function's call."""
    name = forward_name(step)
    steps = inside.get(step.forward, 0) if step.forward and step.site.traits.wraps_python else 0
    incoming = tuple(gradient_of(f'{name}:{i}', tensor) for i, tensor in enumerate(step.inputs) if not tensor.absent)
    frame = step.site.stack[-1] if step.site.stack else None
    place = short_place(frame.filename, frame.line) if frame is not None else ''
    return TapeNode(step.number, step.label, name, step.site.op_type, step.forward, names.function(step),
                    incoming, steps, place, within)


def _edges(steps: Sequence[CallRecord], names: ForwardNames, sources: Sequence[CallRecord]) -> list[TapeEdge]:
    """The edges from outputs of steps to their consumers; an output that no step takes leaves the tape. If sources are
    known, only at these."""
    targets: dict[str, list[CallRecord]] = {}
    for step in (*steps, *sources):
        for source in dict.fromkeys(step.sources):
            targets.setdefault(source, []).append(step)
    edges: list[TapeEdge] = []
    for step in steps:
        outputs = {i: tensor for i, tensor in enumerate(step.outputs) if not tensor.absent}
        consumers: dict[int, CallRecord] = {}
        unknown = []
        for target in targets.get(step.number, ()):
            slots = _slots(step, target, outputs, consumers, names)
            consumers.update(dict.fromkeys(slots, target))
            if not slots:
                unknown.append(target)
        rest = [slot for slot in outputs if slot not in consumers]
        if len(rest) == len(unknown) == 1:
            consumers[rest[0]] = unknown.pop()
        edges += [_edge(step, slot, tensor, consumers.get(slot), names) for slot, tensor in outputs.items()
                  if slot in consumers or not (unknown or sources)]
        edges += [TapeEdge(step.number, target.number, -1, gradient_of(f'{forward_name(target)}:0', target.inputs[0]))
                  for target in unknown if target.inputs]
    return edges


def _edge(step: CallRecord, slot: int, tensor: TensorRecord, target: CallRecord | None, names: ForwardNames) -> TapeEdge:
    if target is not None and is_source(target):
        return TapeEdge(step.number, '', slot, gradient_of(forward_name(target), tensor))
    if target is not None and tensor.stats is None and len(target.inputs) == 1 and has_values(target.inputs):
        tensor = target.inputs[0]               # of a traced pass: what came in is known, not what went out
    return TapeEdge(step.number, target.number if target is not None else '', slot,
                    gradient_of(_name(step, slot, names), tensor))


def _name(step: CallRecord, slot: int, names: ForwardNames) -> str:
    name, own = forward_name(step), input_names(step.site)      # of eager reads of variables all have one name
    return (own[slot] if slot < len(own) else '') or names.input(step, slot) or f'input {slot} of {name}'


def _slots(step: CallRecord, target: CallRecord, outputs: Mapping[int, TensorRecord], consumers: Mapping[int, CallRecord],
           names: ForwardNames) -> list[int]:
    """The outputs of a step that go into another: as the host says, by name in a graph, else by value, else by shape if that
    is clear."""
    told = target.site.attrs.get('slots')
    if isinstance(told, list) and len(told) == len(target.sources):
        return [slot for source, slot in zip(target.sources, told, strict=True)
                if source == step.number and type(slot) is int and slot in outputs]
    free = [slot for slot in outputs if slot not in consumers]
    named = [slot for slot in free if names.input(step, slot).rpartition(':')[0] == forward_name(target)]
    if named:
        return named
    incoming = [tensor for tensor in target.inputs if not tensor.absent]
    if len(set(target.sources)) == 1:
        same = [slot for slot in free if any(_same(outputs[slot], tensor) for tensor in incoming)]
        if same:
            return same[:1]
    fitting = [slot for slot in free if any(outputs[slot].shape == tensor.shape for tensor in incoming)]
    return fitting if len(fitting) == 1 else []


def _same(one: TensorRecord, other: TensorRecord) -> bool:
    return one.shape == other.shape and (one.key == other.key if one.key is not None else one.stats == other.stats)
