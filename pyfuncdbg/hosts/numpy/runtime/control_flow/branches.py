"""If and Case nodes: one of several traced branches; and their gradients. A branch runs within the run of the outer graph.

`ops` builds the branches; kernels run on the thread of the run. The gradient is such a node again, over the same selector:
its branches are the backward functions of the branches. Values of the forward call that they need are hidden outputs; those
of branches that were not taken are an unused zero.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.graph.definitions.attributes import FunctionName
from pyfuncdbg.hosts.numpy.graph.definitions.registry import (
    CASE,
    IDENTITY,
    IF,
    STATELESS_CASE,
    STATELESS_IF,
    Attrs,
    Node,
    OpDef,
    Output,
    TypedInput,
    register,
)
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, int64
from pyfuncdbg.hosts.numpy.graph.types.shapes import UNKNOWN, TensorShape, common
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import IndexedSlices, SlicesType
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import has_state, run_inner
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList, zero_of
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import RecordedResult
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


@dataclass(frozen=True, slots=True)
class Branches:
    """Branches of an If or Case node, with their mapping of inputs and outputs.

    Attributes:
        branches: In order of the selector's values; of an If the one for true comes first.
        feeds: For each branch, the indices of the node's inputs (without the selector) for its inputs and captured tensors.
        results: For each branch and output of the node: the index of the branch's output; -1 - i: zeros like input i.
        types: Static types of the node's outputs.
    """

    branches: tuple[TracedFunction, ...]
    feeds: tuple[tuple[int, ...], ...]
    results: tuple[tuple[int, ...], ...]
    types: tuple[Output, ...]

    def calls(self) -> Iterator[tuple[TracedFunction, Sequence[int]]]:
        """Its branches, each with the node's inputs that it gets, by index."""
        for branch, places in zip(self.branches, self.feeds, strict=True):
            yield branch, [1 + place for place in places]

    def library(self, node: Any) -> list[Any]:
        """The functions of a node's branches, for the library of a GraphDef."""
        from pyfuncdbg.hosts.numpy.runtime.traces.function_def import BranchFunction  # only needed to write a graph
        return [BranchFunction(branch, feeds, node.inputs[1:])
                for branch, feeds in zip(self.branches, self.feeds, strict=True)]

    def results_of(self, graph: Graph) -> Iterator[tuple[Tensor, int]]:
        """Results of the branch with this graph, each with the corresponding output of the node."""
        for branch, results in zip(self.branches, self.results, strict=True):
            if branch.graph is graph:
                yield from ((branch.outputs[result], place) for place, result in enumerate(results) if result >= 0)

    def intermediates(self) -> list[list[Tensor]]:
        """The intermediate values of each branch for a gradient."""
        return [list(branch.intermediates()) for branch in self.branches]


# ---------------------------------------------------------------- running
def _select_branch(selector: Any, branches: Branches, two: bool) -> int:
    if not two:
        index = int(selector)
        return index if 0 <= index < len(branches.branches) else len(branches.branches) - 1
    if np.ndim(selector):
        raise InvalidArgumentError(None, None, f'If: the predicate must be a scalar, got shape {list(np.shape(selector))}')
    if selector.dtype.hasobject:
        return 0 if selector[()] else 1
    return 0 if selector else 1


def _kernel(two: bool) -> Any:
    def run(execution: Execution, selector: Any, *values: Any, _py_branches: Branches, hidden_needed: Sequence[bool] = (),
            owned: Any = (), record: bool = False) -> Any:
        index = _select_branch(selector, _py_branches, two)
        branch = _py_branches.branches[index]
        fed = [values[i] for i in _py_branches.feeds[index]]
        if not record:
            results: Sequence[Any] = run_inner(branch.plan(()), execution, fed)
            intermediates: list[Any] = []
        else:
            places, hidden = _places(_py_branches, index, hidden_needed)
            results = run_inner(branch.plan(tuple(places)), execution, fed)
            count = len(branch.outputs)
            intermediates = [absent(dtype) if is_needed else None for is_needed,
                             dtype in zip(hidden_needed, hidden, strict=True)]
            first = sum(len(other.intermediates()) for other in _py_branches.branches[:index])
            offset = len(branch.inputs) + len(branch.graph.captures) + count
            for place, value in zip(places, results[count:], strict=True):
                intermediates[first + place - offset] = value
        outputs = [results[place] if place >= 0 else zero_of(values[-1 - place]) for place in _py_branches.results[index]]
        return RecordedResult(outputs, intermediates) if record else outputs
    return run


def _places(branches: Branches, index: int, hidden_needed: Sequence[bool]) -> tuple[list[int], list[DType]]:
    """The indices of the needed intermediate values of the taken branch, and the dtypes of all hidden outputs."""
    intermediates = branches.intermediates()
    branch = branches.branches[index]
    offset = len(branch.inputs) + len(branch.graph.captures) + len(branch.outputs)
    first = sum(map(len, intermediates[:index]))
    return ([offset + i for i in range(len(intermediates[index])) if hidden_needed[first + i]],
            [tensor.dtype for one in intermediates for tensor in one])


def absent(dtype: DType) -> Any:
    """Placeholder for a value of a branch that was not taken."""
    if not dtype.is_numpy_compatible:
        return TensorList([])
    return np.full((), b'', object) if dtype.array.hasobject else dtype.array.type(0)


# ---------------------------------------------------------------- making a node
def choose(op_type: str, selector: Any, tensors: Sequence[Any], branches: Branches, attrs: Attrs,
           name: str | None = None) -> list[Any]:
    """Add a node that runs one of the branches; its outputs."""
    names = [FunctionName(branch.name) for branch in branches.branches]
    functions: dict[str, Any] = ({'then_branch': names[0], 'else_branch': names[1]} if op_type in (IF, STATELESS_IF) else
                                 {'branches': names})
    outputs = apply(op_type, (selector, *tensors), {
        **functions, 'Tin': [t.dtype for t in tensors], 'Tout': [dtype for dtype, _ in branches.types],
        'output_shapes': [shape for _, shape in branches.types], **attrs, '_py_branches': branches}, name)
    return outputs if isinstance(outputs, list) else []


class InputPool:
    """Distinct tensors that become the inputs of a node."""

    def __init__(self) -> None:
        self.tensors: list[Any] = []
        self._places: dict[int, int] = {}

    def place(self, tensor: Any) -> int:
        """The index of a tensor among them."""
        place = self._places.get(id(tensor))
        if place is None:
            place = self._places[id(tensor)] = len(self.tensors)
            self.tensors.append(tensor)
        return place


def _restore_branches(inputs: Sequence[Any], attrs: Attrs, functions: Any) -> Attrs:
    """The branches of a node from a GraphDef: each takes all inputs and returns all outputs."""
    names = attrs['branches'] if 'branches' in attrs else [attrs['then_branch'], attrs['else_branch']]
    branches = tuple(functions(name.name) for name in names)
    count = len(attrs['Tout'])
    shapes = attrs['output_shapes'] or [UNKNOWN] * count
    for branch in branches:
        if len(branch.inputs) != len(inputs) - 1 or [t.dtype for t in branch.outputs] != attrs['Tout']:
            raise ValueError(f'Function {branch.name} has not the inputs and outputs of the node')
    return {'_py_branches': Branches(branches, (tuple(range(len(inputs) - 1)),) * len(branches),
                                     (tuple(range(count)),) * len(branches), tuple(zip(attrs['Tout'], shapes, strict=True)))}


def _hidden(node: Node) -> Sequence[Output]:
    return [(t.dtype, t.shape) for intermediates in node.attrs['_py_branches'].intermediates() for t in intermediates]


def _gradient(node: Node, *grads: Any) -> Sequence[Any]:
    branches: Branches = node.attrs['_py_branches']
    inputs = node.inputs[1:]
    hidden, count = node.recorded(), len(node.outputs)
    incoming = [*grads, *[None] * (count + len(hidden) - len(grads))]
    pool, first = InputPool(), 0
    places, values = [], []                     # of each branch: indices of incoming gradients, values of the forward call
    for number, branch in enumerate(branches.branches):
        count_kept = len(branch.intermediates())
        known_values = [*(inputs[i] for i in branches.feeds[number]), *[None] * len(branch.outputs),
                        *hidden[first:first + count_kept]]
        offset = len(known_values) - count_kept - len(branch.outputs)
        for k, place in enumerate(branches.results[number]):
            if place >= 0:
                known_values[offset + place] = node.outputs[k]
        seeds = [(offset + place, incoming[k]) for k, place in enumerate(branches.results[number])
                 if place >= 0 and incoming[k] is not None]
        seeds += [(len(known_values) - count_kept + i, g) for i,
                  g in enumerate(incoming[count + first:count + first + count_kept])
                  if g is not None]
        places.append(seeds)
        values.append(known_values)
        first += count_kept
    backwards = _backwards(branches, inputs, [[place for place, _ in seeds] for seeds in places])
    feeds = [tuple(pool.place(t) for t in (*(seed for _, seed in seeds),
                                           *(known_values[n] if isinstance(n, int) else n for n in one.needed)))
             for one, seeds, known_values in zip(backwards, places, values, strict=True)]
    return [None, *_differentiate(node, backwards, feeds, pool)]


@dataclass(frozen=True, slots=True)
class _Backward:
    """The backward function of a branch.

    Attributes:
        trace: The traced function.
        needed: Values of the forward call that it needs.
        place_by_input: By input of the node: the index of the output with its gradient, or three for `IndexedSlices`.
    """

    trace: TracedFunction
    needed: list[Any]
    place_by_input: dict[int, Any]

    @classmethod
    def of(cls, branch: TracedFunction, feeds: Sequence[int], targets: Sequence[int], slices: Any, absent: Any) -> _Backward:
        """The backward function of a branch, with slices where requested."""
        trace, needed = branch.backward(targets, (), slices, [(tensor, kind) for _, tensor, kind in absent])
        packed = trace.pack(range(len(trace.outputs)))
        return cls(trace, needed, {i: place for i, place in zip([*feeds, *(i for i, _, _ in absent)], packed, strict=True)
                                   if place is not None})

    def types(self, i: int) -> list[Output]:
        """The output types of the gradient of an input."""
        return [(self.trace.outputs[place].dtype,
                 self.trace.outputs[place].shape) for place in _parts(self.place_by_input[i])]


def _backwards(branches: Branches, inputs: Sequence[Any], targets: Sequence[Sequence[int]]) -> list[_Backward]:
    """The backward functions of all branches; a gradient of slices in one is of slices in all, as in TensorFlow."""
    backwards = [_Backward.of(branch, feeds, places, None, ())
                 for branch, feeds, places in zip(branches.branches, branches.feeds, targets, strict=True)]
    sliced: dict[int, SlicesType] = {}
    for one in backwards:
        for i, place in one.place_by_input.items():
            if isinstance(place, IndexedSlices):
                values, indices = one.trace.outputs[place.values], one.trace.outputs[place.indices]
                wide = int64 in (indices.dtype, sliced[i].indices if i in sliced else None)
                rows = UNKNOWN if values.shape.sizes is None else TensorShape((None, *values.shape.sizes[1:]))
                sliced[i] = SlicesType(values.dtype, rows, int64 if wide else indices.dtype)
    if not sliced:
        return backwards
    return [_Backward.of(branch, feeds, places, tuple((at, sliced[i]) for at, i in enumerate(feeds) if i in sliced),
                         [(i, inputs[i], kind) for i, kind in sliced.items() if i not in feeds])
            for branch, feeds, places in zip(branches.branches, branches.feeds, targets, strict=True)]


def _parts(place: Any) -> list[int]:
    """The output indices of a gradient."""
    if not isinstance(place, IndexedSlices):
        return [place]
    return [place.values, place.indices, *([] if place.dense_shape is None else [place.dense_shape])]


def _differentiate(node: Node, backwards: Sequence[_Backward], feeds: Sequence[tuple[int, ...]],
                   pool: InputPool) -> list[Any]:
    """The gradients of the inputs, from the node that runs the backward branches."""
    selector, *inputs = node.inputs
    reached = sorted({i for one in backwards for i in one.place_by_input})
    if not reached:
        return [None] * len(inputs)
    types: list[Output] = []
    for i in reached:
        kinds = [one.types(i) for one in backwards if i in one.place_by_input]
        types += [(dtype, common([kind[k][1] for kind in kinds])) for k, (dtype, _) in enumerate(kinds[0])]
    results = tuple(tuple(place for i in reached
                          for place in (_parts(one.place_by_input[i]) if i in one.place_by_input
                                        else [-1 - pool.place(inputs[i])]))
                    for one in backwards)
    backward_branches = Branches(tuple(one.trace for one in backwards), tuple(feeds), results, tuple(types))
    two = node.type in (IF, STATELESS_IF)
    stateful = any(has_state(one.trace.graph) for one in backwards)
    kind = (IF if stateful else STATELESS_IF) if two else (CASE if stateful else STATELESS_CASE)
    outputs = iter(choose(kind, selector, pool.tensors, backward_branches, {}))
    gradients: list[Any] = [None] * len(inputs)
    for i in reached:
        first = next(one.place_by_input[i] for one in backwards if i in one.place_by_input)
        parts = [apply(IDENTITY, (next(outputs),)) for _ in _parts(first)]
        gradients[i] = IndexedSlices(*parts) if isinstance(first, IndexedSlices) else parts[0]
    return gradients


def _types(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return attrs['_py_branches'].types  # type: ignore[no-any-return]


for _name in (IF, STATELESS_IF, CASE, STATELESS_CASE):
    register(OpDef(_name, _kernel(_name in (IF, STATELESS_IF)), _types, _gradient, outputs=-1,
                   stateful=_name in (IF, CASE), kernel_attrs=('_py_branches', 'hidden_needed'), in_execution=True,
                   hidden=_hidden,
                   python=True, sealed=True, sparse=True, restore=_restore_branches))
