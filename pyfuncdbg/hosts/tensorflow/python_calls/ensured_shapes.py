"""Shapes that a graph promises of a function's outputs, and calls whose result TensorFlow refuses for them.

`ensure_shape` looks at a result, an iterator at each element. Where that node runs at every call, as in the function of a
dataset, the refusal is known at once. Elsewhere TensorFlow alone knows, also of elements, which may be made and never taken,
and of the nodes that take what `set_shape` or a TensorSpec says something untrue of: a call whose result does not fit waits
until an error of TensorFlow's reports it. Then recorders get it again, with that.
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
_WAITING = 32
_AGAIN = 'Graph execution error:'
"""Beginning of the message of an error that TensorFlow makes of one it has made before."""
_DATASET = 'Dataset_'
"""Name prefix of graphs that `tf.data` traces; no node of such a function is left out that its elements need."""
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
        component: The component of a dataset's elements that has it; -1 if a node looks at it.
        certain: Whether it is looked at after every call.
        users: Names of the nodes that take a tensor of this shape, where it is said of the tensor alone.
        said_by: Who says it, where nothing looks at it.
    """

    output: int
    shape: Shape
    name: str
    component: int = -1
    certain: bool = False
    users: tuple[str, ...] = ()
    said_by: str = ''

    def reported(self, message: str, found: Shape) -> str:
        """The part of an error's message on a result of this shape; '' if it is not about that."""
        if self.said_by:
            return self._reported_by_user(message, _shown(found))
        head, tail = self.refusal(found)
        told = re.search(re.escape(head) + (r'(?:\S*/)?' if head else '') + re.escape(tail), message)
        return told[0] if told is not None else ''

    def _reported_by_user(self, message: str, found: str) -> str:
        """The same of what nothing looks at: the error of a node that takes the tensor, or of a batch, names its shape."""
        if self.component >= 0:
            told = _BATCH.search(message)
            if told is None or found not in told[0] or (told[1] and int(told[1]) != self.component):
                return ''
            failed = told[0]
        else:
            names = '|'.join(map(re.escape, self.users))
            told = re.search(rf'^([^\n]*)\s*\[\[\{{\{{node (?:[^\s}}]*/)?(?:{names})\}}\}}\]\]', message, re.MULTILINE)
            if told is None or found not in told[1]:
                return ''
            failed = _SCOPE.sub('', told[1])
        return f'output {self.output} has shape {found}, and {self.said_by} says {_shown(self.shape)}: {failed.strip()}'

    def refusal(self, found: Shape) -> tuple[str, str]:
        """TensorFlow's message on another shape: before the name of the node, to which it may add scopes, and from it."""
        wanted, given = _shown(self.shape), _shown(found)
        if self.component >= 0:
            return '', f'Incompatible shapes at component {self.component}: expected {wanted} but got {given}.'
        return 'Shape of tensor ', f'{self.name} {given} is not compatible with expected shape {wanted}.'


class _Misfit(NamedTuple):
    """A call, and what TensorFlow says of its result if it refuses that."""

    promise: EnsuredShape
    found: Shape
    call: Call

    def refused_by(self, message: str) -> str:
        """The sentence of a message that refuses it; '' if there is none."""
        return self.promise.reported(message, self.found)


class EnsuredShapes:
    """Calls that may be refused.

    Attributes:
        waiting: Misfits that no error has reported yet.
    """

    def __init__(self, parts: TensorFlowParts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self.waiting: deque[_Misfit] = deque(maxlen=_WAITING)

    def look(self, promises: Sequence[EnsuredShape], result: Any) -> str:
        """A function has given a result: what TensorFlow is about to say if it certainly refuses that, else ''."""
        values = result if isinstance(result, (list, tuple)) else (result,)
        for promise in promises:
            if promise.output >= len(values):   # of another number no call comes here
                continue
            found = tuple(values[promise.output].shape)
            if _fits(found, promise.shape):
                continue
            if promise.certain:
                return ''.join(promise.refusal(found))
            call = current.get()
            if call is not None and call.id:
                with self._lock:
                    self.waiting.append(_Misfit(promise, found, call))
        return ''

    def refused(self, message: Any) -> None:
        """TensorFlow makes an error: if it reports a call that waits, that is the call's error."""
        text = message.decode(errors='replace') if isinstance(message, bytes) else str(message)
        if text.startswith(_AGAIN):
            return
        with self._lock:
            reports = [(one, said) for one in self.waiting if (said := one.refused_by(text))]
            if not reports:
                return
            # Elements are taken in order: the first one. Of other nodes an older misfit was not looked at, or it would have
            # been refused before.
            misfit, said = reports[0 if reports[0][0].promise.component >= 0 else -1]
            kept = [one for one in self.waiting if one.call is not misfit.call and one.call.run is misfit.call.run]
            self.waiting.clear()
            self.waiting.extend(kept)
        call = misfit.call
        call.error = self._parts.errors.InvalidArgumentError(None, None, said)
        for hook in hooks.python:
            keep = getattr(hook, 'keep', None)
            if keep is not None:
                keep(call, call.inputs, call.outputs or ())


def ensured(op: Any, specs: Sequence[Any] = ()) -> tuple[EnsuredShape, ...]:
    """The shapes that the graph of a Python call promises of its outputs, and `specs`, the TensorSpecs in its `Tout`."""
    dataset = str(getattr(op.graph, 'name', '')).startswith(_DATASET)
    needed: set[Any] | None = None
    found: list[EnsuredShape] = []
    for index, tensor in enumerate(op.outputs):
        alike = _of_same_shape(tensor)
        users = [node for one in alike for node in one.consumers()]
        for node in tensor.consumers():
            if node.type != 'EnsureShape' or (shape := node.get_attr('shape')).unknown_rank:
                continue
            needed = _needed(op.graph) if dataset and needed is None else needed
            found.append(EnsuredShape(index, tuple([part.size if part.size >= 0 else None for part in shape.dim]), op.name,
                                      certain=needed is not None and node in needed))
        components = [] if not dataset else [
            component for component, output in enumerate(op.graph.outputs) if any(_origin(output) is one for one in alike)]
        if tensor.shape.rank is not None:
            said = tuple(tensor.shape.as_list())
            found += [EnsuredShape(index, said, op.name, component) for component in components]
            found += _said(index, said, op.name, components, users, 'its graph (set_shape)')
        if index < len(specs) and getattr(getattr(specs[index], 'shape', None), 'rank', None) is not None:
            found += _said(index, tuple(specs[index].shape.as_list()), op.name, components, users, 'the TensorSpec in Tout')
    return tuple(found)


def _said(index: int, shape: Shape, name: str, components: Sequence[int], users: Sequence[Any],
          who: str) -> list[EnsuredShape]:
    """A shape that is said of an output, for the nodes of its graph that take it, and for the datasets that do."""
    names = tuple(dict.fromkeys(node.name for node in users))
    return [*([EnsuredShape(index, shape, name, users=names, said_by=who)] if names else []),
            *(EnsuredShape(index, shape, name, component, said_by=who) for component in components)]


def _of_same_shape(tensor: Any) -> list[Any]:
    """A tensor, and those that nodes make of it which have its shape in every run."""
    found = [tensor]
    for one in found:
        for node in one.consumers():
            if (node.type in _UNARY or (node.type in _BINARY and any(
                    other.shape.rank == 0 for other in node.inputs if other is not one))) and not any(
                        known is node.outputs[0] for known in found):
                found.append(node.outputs[0])
    return found


def _needed(graph: Any) -> set[Any]:
    """The nodes that run whenever a function does: what its outputs are made of; none where a switch may leave one out."""
    found: set[Any] = set()
    ahead = [*(output.op for output in graph.outputs), *getattr(graph, 'control_outputs', ())]
    while ahead:
        node = ahead.pop()
        if node.type in SWITCHES:
            return set()
        if node not in found:
            found.add(node)
            ahead += _before(node)
    return found


def _before(node: Any) -> Iterator[Any]:
    yield from (tensor.op for tensor in node.inputs)
    yield from node.control_inputs


def _origin(tensor: Any) -> Any:
    """The tensor that a chain of identities hands on."""
    while tensor.op.type == 'Identity':
        tensor = tensor.op.inputs[0]
    return tensor


def _fits(found: Shape, shape: Shape) -> bool:
    return len(found) == len(shape) and all(size in (None, other) for size, other in zip(shape, found, strict=True))


def _shown(shape: Shape) -> str:
    """A shape as C++ writes it."""
    return f'[{",".join("?" if size is None else str(size) for size in shape)}]'
