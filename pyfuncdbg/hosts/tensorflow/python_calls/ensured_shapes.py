"""Shapes that a graph promises of a function's outputs, and calls whose result TensorFlow refuses for them.

`ensure_shape` checks a result, an iterator each element. Where that node runs at every call, as in the function of a
dataset, the refusal is known at once. Otherwise only TensorFlow knows: elements may never be taken, and a shape that
`set_shape` or a TensorSpec declares is checked by none but the nodes that take the tensor. A call whose result does not fit
waits until an error of TensorFlow's reports it; then recorders get it again, with that error.
"""
from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Call, current
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.tensorflow.nodes.op_types import SWITCHES
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

Shape = tuple[int | None, ...]
_MOST_MISFITS = 32
_REPEATED = 'Graph execution error:'
"""Begins the message of an error that TensorFlow makes of an earlier one."""
_DATASET = 'Dataset_'
"""Name prefix of graphs that `tf.data` traces, in which all nodes run that the elements need."""
_UNARY = frozenset(('Identity', 'Cast', 'Neg', 'Abs', 'Square', 'Sqrt', 'Exp', 'Log', 'Tanh', 'Sigmoid', 'Relu',
                    'StopGradient', 'ZerosLike', 'OnesLike', 'CheckNumerics', 'Snapshot'))
_BINARY = frozenset(('Add', 'AddV2', 'Sub', 'Mul', 'Div', 'RealDiv', 'FloorDiv', 'Maximum', 'Minimum', 'Pow', 'FloorMod'))
"""Ops whose output has the shape of their input; of these where the other one is a number."""
_BATCH = re.compile(r'Cannot batch tensors with different shapes in component (\d+)\.[^\n]*|'
                    r'Cannot add tensor to the batch: [^\n]*?Shapes are: \[tensor\]: \S+, \[batch\]: [\d,\[\]]+')
_SCOPE = re.compile(r'^(?:.*\}\} )?(?:.*Iterator::\S+:\s)?')
"""Place of an error, in front of its text."""


class EnsuredShape(NamedTuple):
    """A shape that one output of a function must have.

    Attributes:
        output: Its index.
        shape: The shape.
        name: Of the node whose output it is.
        component: The component of a dataset's elements that has it; -1 if a node checks it.
        always_checked: Whether it is checked after every call.
        users: Names of the nodes that take a tensor of this shape, where only the tensor declares it.
        source: What declares it, where nothing checks it.
    """

    output: int
    shape: Shape
    name: str
    component: int = -1
    always_checked: bool = False
    users: tuple[str, ...] = ()
    source: str = ''

    def find_refusal(self, message: str, actual: Shape) -> str:
        """The part of an error's message about a result of this shape; '' if there is none."""
        if self.source:
            return self._find_user_error(message, _shape_text(actual))
        head, tail = self.refusal(actual)
        match = re.search(re.escape(head) + (r'(?:\S*/)?' if head else '') + re.escape(tail), message)
        return match[0] if match is not None else ''

    def _find_user_error(self, message: str, actual_text: str) -> str:
        """The same for an unchecked shape: the error of a node that takes the tensor, or of a batch, names its shape."""
        if self.component >= 0:
            match = _BATCH.search(message)
            if match is None or actual_text not in match[0] or (match[1] and int(match[1]) != self.component):
                return ''
            failure = match[0]
        else:
            names = '|'.join(map(re.escape, self.users))
            match = re.search(rf'^([^\n]*)\s*\[\[\{{\{{node (?:[^\s}}]*/)?(?:{names})\}}\}}\]\]', message, re.MULTILINE)
            if match is None or actual_text not in match[1]:
                return ''
            failure = _SCOPE.sub('', match[1])
        return (f'output {self.output} has shape {actual_text}, and {self.source} says {_shape_text(self.shape)}: '
                f'{failure.strip()}')

    def refusal(self, actual: Shape) -> tuple[str, str]:
        """TensorFlow's message about another shape: the part before the node's name, where it may add scopes; the rest."""
        expected_text, actual_text = _shape_text(self.shape), _shape_text(actual)
        if self.component >= 0:
            return '', f'Incompatible shapes at component {self.component}: expected {expected_text} but got {actual_text}.'
        return 'Shape of tensor ', f'{self.name} {actual_text} is not compatible with expected shape {expected_text}.'


class _Misfit(NamedTuple):
    """A call, and the shape of its result that TensorFlow may refuse."""

    ensured_shape: EnsuredShape
    shape: Shape
    call: Call

    def find_refusal(self, message: str) -> str:
        """The sentence of a message that refuses it; '' if there is none."""
        return self.ensured_shape.find_refusal(message, self.shape)


class EnsuredShapes:
    """Calls that may be refused.

    Attributes:
        misfits: Those that no error has reported yet.
    """

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self.misfits: deque[_Misfit] = deque(maxlen=_MOST_MISFITS)

    def check_result(self, ensured_shapes: Sequence[EnsuredShape], result: Any) -> str:
        """TensorFlow's coming error on a function's result, if it certainly refuses that; else ''."""
        values = result if isinstance(result, (list, tuple)) else (result,)
        for ensured_shape in ensured_shapes:
            if ensured_shape.output >= len(values):   # another number of results is refused before
                continue
            actual = tuple(values[ensured_shape.output].shape)
            if _fits(actual, ensured_shape.shape):
                continue
            if ensured_shape.always_checked:
                return ''.join(ensured_shape.refusal(actual))
            call = current.get()
            if call is not None and call.id:
                with self._lock:
                    self.misfits.append(_Misfit(ensured_shape, actual, call))
        return ''

    def match_refusal(self, message: Any) -> None:
        """Give an error that TensorFlow makes to the call whose result it refuses."""
        text = message.decode(errors='replace') if isinstance(message, bytes) else str(message)
        if text.startswith(_REPEATED):
            return
        with self._lock:
            reports = [(misfit, refusal) for misfit in self.misfits if (refusal := misfit.find_refusal(text))]
            if not reports:
                return
            # Elements are taken in order: the first misfit. Other nodes would have refused an older one before: the last.
            reported, refusal = reports[0 if reports[0][0].ensured_shape.component >= 0 else -1]
            remaining = [misfit for misfit in self.misfits
                         if misfit.call is not reported.call and misfit.call.run is reported.call.run]
            self.misfits.clear()
            self.misfits.extend(remaining)
        call = reported.call
        call.error = self._parts.errors.InvalidArgumentError(None, None, refusal)
        for hook in hooks.python:
            keep = getattr(hook, 'keep', None)
            if keep is not None:
                keep(call, call.inputs, call.outputs or ())


def ensured_shapes(op: Any, specs: Sequence[Any] = ()) -> tuple[EnsuredShape, ...]:
    """The shapes that the graph of a Python call, or `specs`, the TensorSpecs in its `Tout`, promise of its outputs."""
    dataset = str(getattr(op.graph, 'name', '')).startswith(_DATASET)
    needed: set[Any] | None = None
    shapes: list[EnsuredShape] = []
    for index, tensor in enumerate(op.outputs):
        tensors = _tensors_of_same_shape(tensor)
        users = [node for one in tensors for node in one.consumers()]
        for node in tensor.consumers():
            if node.type != 'EnsureShape' or (shape := node.get_attr('shape')).unknown_rank:
                continue
            needed = _needed_nodes(op.graph) if dataset and needed is None else needed
            shapes.append(EnsuredShape(index, tuple([part.size if part.size >= 0 else None for part in shape.dim]), op.name,
                                       always_checked=needed is not None and node in needed))
        components = [] if not dataset else [
            component for component, output in enumerate(op.graph.outputs) if any(_origin(output) is one for one in tensors)]
        if tensor.shape.rank is not None:
            sizes = tuple(tensor.shape.as_list())
            shapes += [EnsuredShape(index, sizes, op.name, component) for component in components]
            shapes += _declared_shapes(index, sizes, op.name, components, users, 'its graph (set_shape)')
        if index < len(specs) and getattr(getattr(specs[index], 'shape', None), 'rank', None) is not None:
            shapes += _declared_shapes(index, tuple(specs[index].shape.as_list()), op.name, components, users,
                                       'the TensorSpec in Tout')
    return tuple(shapes)


def _declared_shapes(index: int, shape: Shape, name: str, components: Sequence[int], users: Sequence[Any],
                     source: str) -> list[EnsuredShape]:
    """A shape that an output is declared to have, for the nodes of its graph that take it, and for datasets."""
    names = tuple(dict.fromkeys(node.name for node in users))
    return [*([EnsuredShape(index, shape, name, users=names, source=source)] if names else []),
            *(EnsuredShape(index, shape, name, component, source=source) for component in components)]


def _tensors_of_same_shape(tensor: Any) -> list[Any]:
    """A tensor, and those computed from it that have its shape in every run."""
    tensors = [tensor]
    for one in tensors:
        for node in one.consumers():
            if (node.type in _UNARY or (node.type in _BINARY and any(
                    other.shape.rank == 0 for other in node.inputs if other is not one))) and not any(
                        known is node.outputs[0] for known in tensors):
                tensors.append(node.outputs[0])
    return tensors


def _needed_nodes(graph: Any) -> set[Any]:
    """The nodes that run whenever a function does, since its outputs need them; none where a switch may skip one."""
    nodes: set[Any] = set()
    pending = [*(output.op for output in graph.outputs), *getattr(graph, 'control_outputs', ())]
    while pending:
        node = pending.pop()
        if node.type in SWITCHES:
            return set()
        if node not in nodes:
            nodes.add(node)
            pending += _inputs_of(node)
    return nodes


def _inputs_of(node: Any) -> Iterator[Any]:
    yield from (tensor.op for tensor in node.inputs)
    yield from node.control_inputs


def _origin(tensor: Any) -> Any:
    """The tensor that a chain of identities passes on."""
    while tensor.op.type == 'Identity':
        tensor = tensor.op.inputs[0]
    return tensor


def _fits(actual: Shape, shape: Shape) -> bool:
    return len(actual) == len(shape) and all(size in (None, other) for size, other in zip(shape, actual, strict=True))


def _shape_text(shape: Shape) -> str:
    """A shape as C++ writes it."""
    return f'[{",".join("?" if size is None else str(size) for size in shape)}]'
