"""Plan: the nodes that one set of fetches needs, as straight-line Python.

One local per tensor, kernels as globals, `del` after the last use. `Session.run` and traced functions compile a plan once
and call it; `executor` runs the same steps one by one when a pause is requested.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.graph_context import RETURNED
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.numpy.graph.definitions.registry import ZEROS, Kernel, kernel_for
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.runtime.backward.gradient_step import GradientStep
from pyfuncdbg.hosts.numpy.runtime.cluster.server import check_function
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import computed_again
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.host import host
from pyfuncdbg.hosts.numpy.runtime.execution.node_facts import is_constant, reads_returned, site_attrs
from pyfuncdbg.hosts.numpy.runtime.plans.buffer_reuse import BufferSharing
from pyfuncdbg.hosts.numpy.runtime.plans.plan_source import PlanSource, Recording
from pyfuncdbg.hosts.numpy.runtime.plans.recorded_steps import sections
from pyfuncdbg.hosts.numpy.runtime.plans.remote_step import FunctionTasks, in_stages, remote_step
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

HandOver = Callable[['CompiledPlan', Execution, int, Mapping[str, Any]], tuple[Any, ...]]
"""`hand_over(plan, execution, position, locals)`: the results of the run."""


class CompiledPlan:
    """A compiled plan.

    Attributes:
        steps: In order of execution.
        feeds: The fed tensors; `execute` takes their values in this order.
        fetches: The fetched tensors; `execute` returns their values in this order.
        slots: The slot of every tensor that has a value in this plan.
        constants: Static values by slot.
        source: Its Python source.
        live: For each position at which it may be left, the slot of each local.
        during: For each step that calls Python, the slot of each local during the call.
        ends: For each step the slots that are dead after it, without feeds and constants.
        watched: Site and function of the steps without effects that ran as calls, by index.
        recording: What a recorded form has besides; None in the usual form.
    """

    __slots__ = ('__weakref__', '_by_name', '_recorded', '_sharing', '_sites', 'constants', 'during', 'ends', 'feeds',
                 'fetches', 'function', 'graph', 'live', 'names', 'recording', 'slots', 'source', 'steps', 'watched')

    def __init__(self, graph: Graph, steps: Sequence[Step], feeds: Sequence[SymbolicTensor],
                 fetches: Sequence[SymbolicTensor],
                 slots: Mapping[int, int], constants: Mapping[int, Any], sharing: BufferSharing,
                 hand_over: HandOver, recording: Recording | None = None) -> None:
        self.graph = graph
        self.steps = tuple(steps)
        self.feeds = tuple(feeds)
        self.fetches = tuple(fetches)
        self.slots = slots
        self.constants = constants
        self.recording = recording
        self._sharing = sharing
        self._recorded: CompiledPlan | None = None
        source = PlanSource(self, sharing, recording)
        self.source, self.names, self.live, self.ends = source.text, source.names, source.live, source.ends
        self.during = source.during
        self._by_name: dict[str, int] | None = None
        self.watched: dict[int, tuple[CallSite, Callable[..., tuple[Any, ...]]]] = {}
        self.names['hand_over'] = partial(hand_over, self)
        self._sites: tuple[CallSite, ...] | None = None
        filename = f'<plan of {len(self.steps)} ops>'
        exec(compile(self.source, filename, 'exec'), self.names)
        self.function: Callable[..., tuple[Any, ...]] = self.names['plan']

    def sites(self) -> tuple[CallSite, ...]:
        """The site of every step, in order."""
        if self._sites is None:
            self._sites = tuple(site_of(step.op) for step in self.steps)
        return self._sites

    def arranged(self, order: Sequence[int]) -> CompiledPlan:
        """This plan with its steps in another valid order, given by their indices."""
        hand_over = self.names['hand_over'].func
        steps = [self.steps[index] for index in order]
        sharing = BufferSharing(steps, self.feeds, self.fetches, self.slots, True)
        return CompiledPlan(self.graph, steps, self.feeds, self.fetches, self.slots, self.constants, sharing, hand_over)

    def recorded(self, call_step: Callable[..., tuple[Any, ...]]) -> CompiledPlan:
        """The form for a recorder that alone watches ops, compiled when it is first asked for.

        Args:
            call_step: As in `Recording`.
        """
        if self._recorded is None:
            by_first = sections(self.steps, self.constants, self._sharing, op_site)
            recording = Recording(hooks, by_first, frozenset(section.last for section in by_first.values()), call_step)
            self._recorded = CompiledPlan(self.graph, self.steps, self.feeds, self.fetches, self.slots, self.constants,
                                          self._sharing, self.names['hand_over'].func, recording)
        return self._recorded

    def failed_step(self, error: BaseException) -> Step | None:
        """The step that raised an error of `function`, by the line of the plan's frame."""
        traceback = error.__traceback__
        while traceback is not None:
            if traceback.tb_frame.f_code is self.function.__code__:
                index = self.step_at(traceback.tb_lineno)
                return None if index is None else self.steps[index]
            traceback = traceback.tb_next
        return None

    def step_at(self, line: int) -> int | None:
        """Index of the step of a source line."""
        lines = self.source.split('\n')
        for number in range(line - 1, -1, -1):
            _, mark, index = lines[number].rpartition('  # ')
            if mark:
                return int(index)
        return None

    @property
    def by_name(self) -> Mapping[str, int]:
        """The slot of each tensor that has a value in this plan, by name."""
        if self._by_name is None:
            self._by_name = {t.name: slot for t in self.graph.tensors() if (slot := self.slots.get(id(t))) is not None}
        return self._by_name


def failed_in(frame: FrameType) -> tuple[CallSite, Run] | None:
    """The node that failed in a frame of a function with `step` and `execution`, for debuggers."""
    step, execution = frame.f_locals.get('step'), frame.f_locals['execution']
    return (site_of(step.op), execution.run) if step is not None else None


def overlaps(plan: CompiledPlan) -> bool:
    """Whether it has two or more Python calls, which may overlap."""
    return plan.graph.tasks is None and sum(step.op.definition.python for step in plan.steps) > 1


def site_of(op: Operation) -> CallSite:
    """The call site of a node: that of its Python function, or one for the op."""
    function = op.attrs.get('_py_function')
    return op_site(op) if function is None else function.site


def op_site(op: Operation) -> CallSite:
    """The site of a node as an op; a Python op has one around its Python call too."""
    sites = op.graph.sites
    site = sites.get(op.serial)
    if site is None:
        site = sites[op.serial] = CallSite(
            op.name, op.type, 'op', host, stack=op.stack, inputs=[t.name for t in op.inputs],
            outputs=[t.name for t in op.outputs],
            attrs={**site_attrs(op), '_call': partial(computed_again, op.definition, op.attrs),
                   RETURNED: reads_returned(op)}, traits=op_traits(op.type),
            steady=not op.definition.python and not op.definition.stateful and not op.definition.in_execution)
    return site


def sites_around(graph: Graph) -> tuple[CallSite, ...]:
    """The sites of the nodes that contain a graph, outermost first."""
    sites: list[CallSite] = []
    while graph.outer is not None and len(graph.place) > len(graph.outer.place):
        node = graph.outer.find(graph.place[len(graph.outer.place):-1])
        if node is not None:
            sites.insert(0, op_site(node))
        graph = graph.outer
    return tuple(sites)


def needed_ops(roots: Iterable[Operation], fed: set[int], finished: Collection[Operation] = ()) -> list[Operation]:
    """The ops that must run for `roots`, in dependency order, without inputs of fed tensors and finished ops."""
    needed: set[Operation] = set()
    recording: set[Operation] = set()           # must run for their record, even if their outputs are fed
    stack = list(roots)
    while stack:
        op = stack.pop()
        if op in needed or op in finished or (op.outputs and op not in recording and all(id(t) in fed for t in op.outputs)):
            continue
        needed.add(op)
        recording.update(t.op for t in op.inputs if t.index >= len(t.op.outputs))
        stack.extend(t.op for t in op.inputs if id(t) not in fed)
        stack.extend(op.control_inputs)
    return in_order(needed)


def in_order(ops: set[Operation]) -> list[Operation]:
    """The ops in dependency order: in order of creation, except for inputs that were added later.

    Raises:
        InvalidArgumentError: There is a cycle.
    """
    ordered = sorted(ops, key=lambda op: op.serial)
    position = {op: i for i, op in enumerate(ordered)}
    if all(position.get(t.op, -1) < i for i, op in enumerate(ordered) for t in op.inputs) and all(
            position.get(c, -1) < i for i, op in enumerate(ordered) for c in op.control_inputs):
        return ordered
    from graphlib import CycleError, TopologicalSorter
    sorter = TopologicalSorter({op: [*(t.op for t in op.inputs if t.op in ops), *(c for c in op.control_inputs if c in ops)]
                                for op in ordered})
    try:
        return list(sorter.static_order())
    except CycleError as error:
        cycle = list(dict.fromkeys(op.name for op in error.args[1]))
        text = f'Graph is invalid, contains a cycle with {len(cycle)} nodes, including: {", ".join(cycle)}'
        raise InvalidArgumentError(None, None, f'Graph execution error:\n\n{text}') from None


def compile_plan(graph: Graph, roots: Iterable[Operation], feeds: Sequence[SymbolicTensor],
                 fetches: Sequence[SymbolicTensor], *,
                 protect: bool, hand_over: HandOver, gradients: Sequence[GradientStep] = (),
                 finished: Collection[Operation] = (), merge: bool = True) -> CompiledPlan:
    """Compile a plan.

    Args:
        graph: The graph.
        roots: Ops that must run, besides those that the fetches need.
        feeds: The fed tensors.
        fetches: The fetched tensors.
        protect: The caller may write to fetched arrays.
        hand_over: Continues a plan that is left after a Python call.
        gradients: The backward steps to report as calls.
        finished: Ops that have run already, whose needed outputs are fed.
        merge: Whether equal stateless calls are merged.
    """
    fed = {id(t) for t in feeds}
    ops = needed_ops([*roots, *(t.op for t in fetches if id(t) not in fed)], fed, finished)
    if graph.building_function:                 # a session places its whole graph
        check_function(ops)
    needed_ids = {id(t) for op in ops for t in op.inputs} | {id(t) for t in fetches}
    slots: dict[int, int] = {}
    for tensor in feeds:
        slots.setdefault(id(tensor), len(slots))
    steps: list[Step] = []
    constants: dict[int, Any] = {}
    tasks = graph.tasks
    after = _completed_gradients(ops, gradients, fed) if tasks is None else {}
    same = doubles(ops, fed) if merge and tasks is None else {}
    for op in ops if tasks is None else in_stages(ops, tasks):
        if isinstance(op, list):
            steps.append(_remote(op, _outside(op, ops, fetches), tasks, slots))
            continue
        if op in same:
            slots.update((id(t), slots[id(other)]) for t, other in zip(op.outputs, same[op].outputs, strict=True))
            continue
        recorded = any(id(t) in needed_ids for t in op.hidden)
        outputs = [*op.outputs, *(op.hidden if recorded else ())]
        fed_outputs = [t for t in op.outputs if id(t) in fed]
        for tensor in outputs:
            slots.setdefault(id(tensor), len(slots))
        kernel = _bind_kernel(op, needed_ids if recorded else ())
        numbers = tuple(slots[id(t)] for t in outputs) if not fed_outputs else tuple(
            slots[id(t)] if id(t) not in fed else -1 for t in outputs)
        if is_constant(op):
            value = kernel()
            constants.update(zip(numbers, (value,) if op.definition.outputs == 1 else value, strict=True))
            continue
        steps.append(Step(op, kernel, tuple(slots[id(t)] for t in op.inputs), numbers, recorded, after.get(op, ())))
    return CompiledPlan(graph, steps, feeds, fetches, slots, constants, BufferSharing(steps, feeds, fetches, slots, protect),
                        hand_over)


def _outside(part: Sequence[Operation], ops: Sequence[Operation], fetches: Sequence[SymbolicTensor]) -> set[int]:
    """Ids of the tensors that are fetched, or that nodes need which are not among `part`."""
    inside = set(part)
    return {id(t) for op in ops if op not in inside for t in op.inputs} | {id(t) for t in fetches}


def _remote(part: Sequence[Operation], needed: Collection[int], tasks: FunctionTasks, slots: dict[int, int]) -> Step:
    """The step of nodes of another task; their outputs get slots."""
    node, kernel, taken, given = remote_step(part, needed, tasks)
    for tensor in given:
        slots.setdefault(id(tensor), len(slots))
    return Step(node, kernel, tuple(slots[id(t)] for t in taken), tuple(slots[id(t)] for t in given), False)


def _bind_kernel(op: Operation, needed_ids: Collection[int]) -> Kernel:
    definition = op.definition
    dtype = op.inputs[0].dtype.array if op.inputs and not definition.in_execution else None
    kernel = kernel_for(definition, dtype if isinstance(dtype, np.dtype) else None)
    attrs = {key: op.attrs[key] for key in definition.kernel_attrs if key in op.attrs}
    if 'node' in definition.kernel_attrs:
        attrs['node'] = op.name
    if 'device' in definition.kernel_attrs:
        attrs['device'] = op.device
    if needed_ids and 'hidden_needed' in definition.kernel_attrs:
        attrs['hidden_needed'] = tuple(id(t) in needed_ids for t in op.hidden)
    return partial(kernel, **attrs) if attrs else kernel


def _completed_gradients(ops: Sequence[Operation], gradients: Sequence[GradientStep], fed: set[int]) -> dict[Operation,
                                                                                                   tuple[GradientStep, ...]]:
    """For each op, the backward steps whose results are complete after it."""
    position = {op: i for i, op in enumerate(ops)}
    after: dict[Operation, tuple[GradientStep, ...]] = {}
    for step in gradients:
        producers = [t.op for t in step.outgoing if t is not None and t.op in position]
        incoming = [t.op for t in step.incoming if t is not None and t.op in position]
        # Unused zeros for an output without a gradient are not in the plan.
        if producers and all(t is None or t.op in position or id(t) in fed or t.op.type == ZEROS for t in step.incoming):
            last = max([*producers, *incoming], key=position.__getitem__)
            after[last] = (*after.get(last, ()), step)
    return after


def doubles(ops: Sequence[Operation], fed: Collection[int]) -> dict[Operation, Operation]:
    """For each redundant node the earlier node in `ops` that replaces it; `fed` are ids of fed tensors.

    Common subexpression elimination as in TensorFlow, but for stateless Python functions only. Nodes that compute their
    inputs may be duplicates themselves.
    """
    tokens = Counter(op.attrs['token'] for op in ops if _is_call(op))
    if not tokens or max(tokens.values()) < 2:
        return {}
    search = _Search(fed)
    first: dict[Any, Operation] = {}
    original_by_double = {}
    for op in ops:
        if _is_call(op) and tokens[op.attrs['token']] > 1 and not any(id(t) in fed for t in op.outputs):
            original = first.setdefault(search.key(op), op)
            if original is not op:
                original_by_double[op] = original
    return original_by_double


def _is_call(op: Operation) -> bool:
    return op.definition.python and not op.definition.stateful and 'token' in op.attrs


class _Search:
    """Value numbering: equivalent nodes have equal keys."""

    def __init__(self, fed: Collection[int]) -> None:
        self._fed = fed
        self._keys: dict[Operation, Any] = {}

    def key(self, op: Operation) -> Any:
        """The key of a node; for a stateful one the node itself."""
        key = self._keys.get(op)
        if key is None:
            key = self._keys[op] = self._make_key(op)
        return key

    def _make_key(self, op: Operation) -> Any:
        definition = op.definition
        if definition.stateful or (definition.in_execution and not _is_call(op)):
            return op
        attrs = tuple(sorted((name, _plain_attr(value)) for name, value in op.attrs.items() if not name.startswith('_')))
        inputs = tuple(id(t) if id(t) in self._fed else (self.key(t.op), t.index) for t in op.inputs)
        return op.type, attrs, inputs, tuple(op.control_inputs)


def _plain_attr(value: Any) -> Any:
    """An attr as text or bytes."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != 'O':
        return f'{value.dtype} {value.shape}', value.tobytes()
    return repr(value), b''
