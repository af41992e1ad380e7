"""Recording of eager ops for differentiation: nodes in order of execution.

`dispatch` records onto every active recording of its thread; `tape` and the Python ops read them.
"""
from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pyfuncdbg.hooks.chain import current_call
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor


class TapedOp:
    """One op under a tape, executed or added to a graph: the node for gradient rules.

    Attributes:
        inputs: The program's inputs: in a function's graph not replaced by captures.
        hidden: Hidden outputs, recorded for its gradient.
        call: Id of the Python call that contains it, or that it is; 0 if none.
        name: Its name in messages and displays.
        op: Its node in a graph, None if it was computed.
    """

    __slots__ = ('_hidden', 'attrs', 'call', 'definition', 'inputs', 'name', 'op', 'outputs')

    def __init__(self, definition: OpDef, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: Attrs,
                 hidden: Sequence[Tensor] = (), call: int = 0, name: str = '', op: Operation | None = None) -> None:
        self.definition = definition
        self.inputs = inputs
        self.outputs = outputs
        self.attrs = attrs
        self._hidden = hidden
        self.call = call or current_call()
        self.name = name or definition.name
        self.op = op

    @property
    def type(self) -> str:
        """The op type."""
        return self.definition.name

    @property
    def hidden(self) -> Sequence[Any]:
        """The hidden outputs so far."""
        return self._hidden if self.op is None else self.op.hidden

    def recorded(self) -> Sequence[Any]:
        """The hidden outputs; adds them to a node of a graph if missing, and every tape with the node tracks them."""
        if self.op is None:
            return self._hidden
        hidden = self.op.recorded()
        for recording in active.recordings:
            if any(id(output) in recording.tracked for output in self.outputs):
                recording.tracked.update(map(id, hidden))
        return hidden

    def __repr__(self) -> str:
        return f'<TapeNode {self.name!r} type={self.type}>'


class RecordedResult(NamedTuple):
    """Result of a kernel with hidden outputs for `record=True`.

    Attributes:
        outputs: The public output values.
        hidden: The values of the hidden outputs.
        captured: In eager mode, tensors besides the inputs that the outputs depend on.
        call: Id of the Python call; 0 if unknown.
    """

    outputs: Sequence[Any]
    hidden: Sequence[Any]
    captured: Sequence[Tensor] = ()
    call: int = 0


class TapeRecording:
    """A growing list of nodes that depend on watched tensors.

    Attributes:
        nodes: In order of execution.
        tracked: Ids of tensors that are watched or depend on one that is. The nodes keep them alive.
        watched: The tensors watched, in order.
        variables: The trainable variables that were read or watched, in order, by id of the handle.
        accessed: Whether variables are watched as they are read.
        outer: Suspended recordings that were active where this one began: a tensor that one of them tracks becomes
            a captured one here.
        captured: These tensors, in order.
    """

    __slots__ = ('accessed', 'captured', 'nodes', 'outer', 'tracked', 'variables', 'watched')

    def __init__(self, accessed: bool = True, outer: Sequence[TapeRecording] = ()) -> None:
        self.nodes: list[Any] = []
        self.tracked: set[int] = set()
        self.watched: list[Tensor] = []
        self.variables: dict[int, Any] = {}
        self.accessed = accessed
        self.outer = outer
        self.captured: list[Tensor] = []

    def watch(self, tensor: Tensor, variable: Any = None) -> None:
        """Record ops that depend on this tensor, which is the handle of `variable` if given."""
        if variable is not None:
            self.variables.setdefault(id(tensor), variable)
        if id(tensor) not in self.tracked:
            self.tracked.add(id(tensor))
            self.watched.append(tensor)

    def read(self, handle: Tensor, variable: Any = None) -> None:
        """Record that a variable is read in this thread."""
        if self.outer:
            for recording in self.outer:
                recording.read(handle, variable)
            self.tracks(handle)
        elif self.accessed:
            self.watch(handle, variable)

    def tracks(self, tensor: Tensor) -> bool:
        """Whether the tensor is tracked here; captures one that a suspended recording tracks."""
        key = id(tensor)
        if key in self.tracked:
            return True
        for recording in self.outer:
            if recording.tracks(tensor):
                self.tracked.add(key)
                self.captured.append(tensor)
                return True
        return False

    def add(self, node: Any) -> None:
        """Append a node whose inputs are tracked."""
        self.nodes.append(node)
        self.tracked.update(map(id, node.outputs))
        self.tracked.update(map(id, node.hidden))


class _Active(threading.local):
    def __init__(self) -> None:
        self.recordings: list[TapeRecording] = []
        self.op_call = 0                        # id of the latest op call


active = _Active()


@contextmanager
def suspend_recordings(inner: TapeRecording | None = None) -> Iterator[None]:
    """Suspend this thread's recordings; `inner` records instead."""
    before = active.recordings
    active.recordings = [] if inner is None else [inner]
    try:
        yield
    finally:
        active.recordings = before


def is_tracked(inputs: Sequence[Tensor]) -> bool:
    """Whether any active recording of this thread tracks one of these tensors."""
    for recording in active.recordings:
        for tensor in inputs:
            if id(tensor) in recording.tracked or (recording.outer and recording.tracks(tensor)):
                return True
    return False


def record(node: Any) -> None:
    """Add a node to every active recording that tracks one of its inputs."""
    for recording in active.recordings:
        depends = False
        for tensor in node.inputs:
            if recording.tracks(tensor):
                depends = True
                if not recording.outer:
                    break                           # otherwise continue: captured tensors become inputs of the outer node
        if depends:
            recording.add(node)


def read(handle: Tensor, variable: Any = None) -> None:
    """Tell active recordings that a trainable variable is read."""
    for recording in active.recordings:
        recording.read(handle, variable)
