"""The gradient of py_function: an op that runs a backward pass over the record of the call.

Its inputs are the differentiable inputs of the forward op, the forward op's record, and the gradients of its
outputs. Its record continues the forward one, so the same rule serves every order. The record is a value on the call's
hidden output: kernels make it, on the thread of the call; gradient kernels read it, on any thread. The op can be
differentiated itself.
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import OpError
from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, Node, OpDef, Output, TypedInput, register
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.ops.script.errors import op_error, word_for_eager
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import zeros_like
from pyfuncdbg.hosts.numpy.runtime.backward.indexed_slices import dense
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import differentiate
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import RecordedResult, TapedOp, TapeRecording, active
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution


class BodyRecord:
    """Immutable record of the ops and tensors of one call, for its gradient.

    Attributes:
        nodes: The ops that depend on an input, in order of execution.
        tracked: Ids of the tensors that depend on an input.
        inputs: The tensors for the op's inputs, in order; in eager mode followed by those that the body captured.
        outputs: The returned tensors.
        call: Id of the Python call, 0 if unknown.
        lost: Tensors tracked by a tape of the caller that the body of a function in a graph used, although no inputs.
    """

    __slots__ = ('call', 'inputs', 'lost', 'nodes', 'outputs', 'tracked')

    def __init__(self, nodes: Sequence[TapedOp], tracked: frozenset[int], inputs: Sequence[Any], outputs: Sequence[Any],
                 call: int, lost: Sequence[Tensor] = ()) -> None:
        self.nodes = tuple(nodes)
        self.tracked = tracked
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.call = call
        self.lost = tuple(lost)

    def __repr__(self) -> str:
        return f'<record of call #{self.call}: {len(self.nodes)} ops>'


class _Bystanders:
    """The caller's tapes in the function of a node: they track tensors, but no reads of variables."""

    __slots__ = ('_recordings',)

    def __init__(self, recordings: Sequence[TapeRecording]) -> None:
        self._recordings = recordings

    def tracks(self, tensor: Tensor) -> bool:
        return any(recording.tracks(tensor) for recording in self._recordings)

    def read(self, handle: Tensor, variable: Any) -> None:
        """Do nothing: handles are inputs of the node."""


class RecordCollector:
    """Collector of one call's record while it runs; it restarts where a hook retries the call.

    Attributes:
        call: Id of the Python call, 0 where no hook watches it.
        captured: In eager mode, tensors besides the inputs that the outputs depend on.
    """

    __slots__ = ('_inputs', '_recording', '_traced', 'call')

    def __init__(self, traced: bool) -> None:
        self._traced = traced
        self._recording: TapeRecording | None = None
        self._inputs: Sequence[Any] = ()
        self.call = 0

    def begin(self, inputs: Sequence[Any], handles: Sequence[Any], suspended: Sequence[TapeRecording]) -> TapeRecording:
        """Start the recording of a call on these inputs, within the caller's tapes."""
        outer: Any = [_Bystanders(suspended)] if self._traced and suspended else suspended
        recording = self._recording = TapeRecording(outer=outer)
        for tensor in inputs:
            if tensor.dtype.is_trainable and tensor.dtype.array.kind != 'O':
                recording.watch(tensor)
        for handle in handles:
            recording.watch(handle)
        self._inputs = (*inputs, *handles)
        return recording

    @property
    def captured(self) -> Sequence[Tensor]:
        return () if self._recording is None or self._traced else self._recording.captured

    def record(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> BodyRecord:
        """The finished record.

        Args:
            inputs: For a call that a hook skipped, its inputs.
            outputs: The final outputs, of the function or of a hook.
        """
        recording = self._recording
        if recording is None:
            return BodyRecord((), frozenset(map(id, inputs)), inputs, outputs, 0)
        return BodyRecord(recording.nodes, frozenset(recording.tracked), (*self._inputs, *self.captured), outputs, self.call,
                          recording.captured if self._traced else ())


GRADIENT, PUBLIC_TYPE = 'EagerPyFuncGrad', 'EagerPyFunc'
"""The op type of the gradient, and the type that TensorFlow shows for it."""


def hidden(node: Any) -> Sequence[Output]:
    """The type of the hidden output: the record."""
    return [(dtypes.variant, TensorShape([]))]


# ---------------------------------------------------------------- rule
def gradient(node: Node, *dys: Any) -> Sequence[Any]:
    """Gradients of a py_function or of its gradient; None for non-differentiable inputs, zeros for unused ones."""
    types = [_differentiable(node, i) for i in range(len(node.inputs))]
    sources = tuple(i for i, kind in enumerate(types) if kind is not None)
    seeds = tuple(i for i, output in enumerate(node.outputs) if output.dtype.is_trainable)
    grads: list[Any] = [None] * len(node.inputs)
    if not sources or not seeds:
        return grads
    inputs = [*(node.inputs[i] for i in sources), *node.recorded(),
              *(zeros_like(node.outputs[i]) if dys[i] is None else dys[i] for i in seeds)]
    gradients = _applied(node, inputs, {
        'token': node.attrs.get('token', b''), 'Tin': [t.dtype for t in inputs], 'Tout': [types[i][0] for i in sources],  # type: ignore[index]
        'is_async': False, '_py_sources': sources, '_py_seeds': seeds, '_py_types': [types[i] for i in sources],
        '_py_traced': context.current_graph() is not None or any(isinstance(t, SymbolicTensor) for t in inputs),
        '_py_variables': {at: types[i] for at, i in enumerate(sources) if node.inputs[i].dtype is dtypes.resource}})
    for i, value in zip(sources, gradients, strict=True):
        grads[i] = value
    return grads


def _differentiable(node: Node, position: int) -> Output | None:
    """The type of one input's gradient, None if it is not differentiable."""
    tensor = node.inputs[position]
    if tensor.dtype is dtypes.resource:
        variables: Mapping[int, Output] = node.attrs.get('_py_variables', {})
        if position in variables:
            return variables[position]
        value = getattr(getattr(tensor, '_value', None), 'value', None)      # captured in eager mode
        return None if value is None else (dtypes.of_value(value), TensorShape(value.shape))
    if tensor.dtype is dtypes.variant or not tensor.dtype.is_trainable:
        return None
    return tensor.dtype, tensor.shape


def _applied(node: Node, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Sequence[Any]:
    """Call the gradient op; its node gets the type that TensorFlow shows."""
    try:
        outputs: Sequence[Any] = apply(GRADIENT, inputs, attrs, PUBLIC_TYPE)
    except OpError as error:
        if context.current_graph() is None:
            word_for_eager(error, inputs, len(attrs['Tout']), '')
        raise
    if isinstance(outputs[0], SymbolicTensor):
        op = outputs[0].op
        op.type = PUBLIC_TYPE
        forward = node if isinstance(node, Operation) else getattr(node, 'op', None)
        if forward is not None and forward.graph is op.graph and forward not in op.control_inputs:
            op.control_inputs.append(forward)
    return outputs


# ---------------------------------------------------------------- kernel
def _differentiate(execution: Execution, *values: Any, _py_sources: Sequence[int], _py_seeds: Sequence[int],
                   _py_traced: bool, owned: Collection[int] = (), record: bool = False) -> Any:
    """Run a backward pass over the record with the thread's tapes suspended."""
    count = len(_py_sources)
    forward: BodyRecord = values[count]
    if forward.lost:
        raise LookupError(f'py_function used {len(forward.lost)} tensor(s) of the surrounding code that a GradientTape '
                          f'watches, such as {forward.lost[0]!r}. In a function or graph their gradient is only known if '
                          'they are inputs: pass them in `inp`.')
    sources = [forward.inputs[i] for i in _py_sources]
    seeds = [EagerTensor(value) for value in values[count + 1:]]
    suspended = active.recordings
    backward = _continued(forward, seeds, () if _py_traced else suspended) if record else None
    active.recordings = [] if backward is None else [backward]
    graphs = context.state.graphs
    depth = len(graphs)
    graphs.append(None)
    numpy_errstate.state.set(execution.errstate)
    try:
        grads = differentiate(forward.nodes, [forward.outputs[i] for i in _py_seeds], sources, seeds, inner=True)
        outputs = [_zeros(value) if g is None else dense(g) for g, value in zip(grads, values, strict=False)]
    except (Exception, GeneratorExit) as error:     # a rule may be the user's: custom_gradient
        raise op_error(error) from error
    finally:
        execution.errstate = numpy_errstate.current_state()
        numpy_errstate.state.set(numpy_errstate.IGNORE)
        del graphs[depth:]
        active.recordings = suspended
    results = [tensor._value for tensor in outputs]
    if backward is None:
        return results
    inputs = [*sources, None, *seeds, *backward.captured]
    backward_record = BodyRecord(backward.nodes, frozenset(backward.tracked), inputs, outputs, forward.call)
    return RecordedResult(results, (backward_record,), backward.captured, forward.call)


def _continued(forward: BodyRecord, seeds: Sequence[EagerTensor], outer: Sequence[TapeRecording]) -> TapeRecording:
    """A recording that continues that of the forward call."""
    recording = TapeRecording(outer=outer)
    recording.nodes = list(forward.nodes)
    recording.tracked = set(forward.tracked)
    for seed in seeds:
        recording.watch(seed)
    return recording


def _zeros(value: Any) -> EagerTensor:
    """Zeros like the value of an input, or of the variable behind a handle."""
    value = getattr(value, 'value', value)
    return EagerTensor(np.zeros(value.shape, value.dtype) if value.shape else value.dtype.type(0))


def _infer(inputs: Sequence[TypedInput], attrs: Attrs) -> Sequence[Output]:
    return list(attrs['_py_types'])


register(OpDef(GRADIENT, _differentiate, _infer, gradient, outputs=-1, stateful=True, in_execution=True, hidden=hidden,
               python=True, kernel_attrs=('_py_sources', '_py_seeds', '_py_traced')))
