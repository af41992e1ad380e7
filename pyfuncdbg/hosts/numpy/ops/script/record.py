"""Gradient record of one py_function call: a value that lives on its hidden output.

Kernels make it, on the thread of the call; gradient kernels read it, on any thread.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import TapedOp, TapeRecording


class BodyRecord:
    """Ops and tensors of one call, recorded for its gradient. Never changed after it is made.

    Attributes:
        nodes: The ops that depend on an input, in order of execution.
        tracked: Ids of the tensors that do.
        inputs: The tensors that represented the op's inputs, in their order; in eager mode those met in the body after them.
        outputs: The tensors that were returned.
        call: Id of the Python call it was, 0 if unknown.
        lost: Tensors that a tape of the caller tracks and the body of a graph's function used without having them as input.
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
    """The caller's tapes, seen from the function of a node: they track tensors; reading variables is not their affair."""

    __slots__ = ('_recordings',)

    def __init__(self, recordings: Sequence[TapeRecording]) -> None:
        self._recordings = recordings

    def meet(self, tensor: Tensor) -> bool:
        return any(recording.meet(tensor) for recording in self._recordings)

    def read(self, handle: Tensor, variable: Any) -> None:
        """Nothing: handles are inputs of the node."""


class RecordCollector:
    """Collector of one call's record while it runs; for a call that a hook retries it starts anew.

    Attributes:
        call: Id of the Python call, 0 where no hook watches it.
        met: In eager mode, tensors beside the inputs that the outputs depend on.
    """

    __slots__ = ('_inputs', '_recording', '_traced', 'call')

    def __init__(self, traced: bool) -> None:
        self._traced = traced
        self._recording: TapeRecording | None = None
        self._inputs: Sequence[Any] = ()
        self.call = 0

    def begin(self, inputs: Sequence[Any], handles: Sequence[Any], suspended: Sequence[TapeRecording]) -> TapeRecording:
        """The recording for a call on these inputs, inside the caller's tapes."""
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
    def met(self) -> Sequence[Tensor]:
        return () if self._recording is None or self._traced else self._recording.met

    def record(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> BodyRecord:
        """The record, now that the outputs are known.

        Args:
            inputs: For a call that a hook skipped, the inputs it would have had.
            outputs: The final outputs, whether the function or a hook gave them.
        """
        recording = self._recording
        if recording is None:
            return BodyRecord((), frozenset(map(id, inputs)), inputs, outputs, 0)
        return BodyRecord(recording.nodes, frozenset(recording.tracked), (*self._inputs, *self.met), outputs, self.call,
                          recording.met if self._traced else ())
