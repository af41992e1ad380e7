"""The variables of a session, read and put back: what a paused run needs to go back over a node that writes to them.

Through the nodes that the program has for that: a variable's own read and its initializer, which is fed another value. On
the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyfuncdbg.adapters.tensorflow.units import Unit

SessionRun = Callable[[Sequence[Any], Sequence[Any], Mapping[Any, Any]], list[Any]]
"""`(targets, fetches, feeds)`: one run of the session, past everything that watches."""
_REFERENCES = frozenset(('VariableV2', 'Variable'))
_READING = frozenset(('ReadVariableOp', 'VarIsInitializedOp', 'IsVariableInitialized', 'Identity', 'ResourceGather'))
_ASSIGNING = frozenset(('AssignVariableOp', 'Assign'))
_PASSING = frozenset(('Identity', 'RefIdentity', 'Enter', 'RefEnter', 'Switch', 'RefSwitch'))


class Variables:
    """Those that the nodes of one unit may write to.

    Attributes:
        lost: Names of variables that cannot be read or put back.
    """

    def __init__(self, unit: Unit) -> None:
        handles = [tensor for node in unit.nodes if node.type not in _READING for tensor in node.inputs
                   if tensor.dtype.name == 'resource' or tensor.dtype._is_ref_dtype]
        found = dict.fromkeys(op for op in map(_origin, handles) if op is not None)
        self._ways = {op: way for op in found if (way := _ways(op)) is not None}
        self.lost = [op.name for op in found if op not in self._ways and op.type in (*_REFERENCES, 'VarHandleOp')]

    def __bool__(self) -> bool:
        return bool(self._ways)

    def read(self, run: SessionRun) -> dict[Any, Any]:
        """The values; of one that is not initialized there is none."""
        return _read({op: reader for op, (reader, _) in self._ways.items()}, run)

    def write(self, run: SessionRun, values: Mapping[Any, Any]) -> None:
        """Put values back."""
        for op, value in values.items():
            assigner = self._ways[op][1]
            run([assigner], [], {assigner.inputs[1].ref(): value})


def values_of(variables: Sequence[Any], run: SessionRun) -> dict[Any, Any]:
    """The values of v1 variables; of one that is not initialized there is none."""
    return _read({op: op.outputs[0] for op in variables}, run)


def _read(readers: Mapping[Any, Any], run: SessionRun) -> dict[Any, Any]:
    if not readers:
        return {}
    try:
        return dict(zip(readers, run([], list(readers.values()), {}), strict=True))
    except Exception:                           # one of them has no value yet: each is asked for by itself
        found = {}
        for op, reader in readers.items():
            try:
                found[op] = run([], [reader], {})[0]
            except Exception:                   # this one has none: it is left out
                continue
        return found


def written(nodes: Sequence[Any], wanted: Callable[[Any], bool], run: SessionRun) -> dict[str, Any]:
    """Values of tensors that these nodes have written to variables, by name: of each variable that one node alone writes to.

    Args:
        nodes: They.
        wanted: Whether a tensor is asked for.
        run: Reads the variables.
    """
    writers: dict[Any, list[Any]] = {}
    for node in nodes:
        if node.type not in _READING:
            for tensor in node.inputs:
                if (tensor.dtype.name == 'resource' or tensor.dtype._is_ref_dtype) and (op := _origin(tensor)) is not None:
                    writers.setdefault(op, []).append(node)
    readers = {by[0].inputs[1].name: way[0] for op, by in writers.items() if len(by) == 1 and by[0].type in _ASSIGNING
               and wanted(by[0].inputs[1]) and (way := _ways(op)) is not None}
    return dict(zip(readers, run([], list(readers.values()), {}), strict=True)) if readers else {}


def _origin(tensor: Any) -> Any:
    """The variable that a handle or reference is of; None for a queue, an iterator, a table."""
    op = tensor.op
    for _ in range(64):
        if op.type == 'VarHandleOp' or op.type in _REFERENCES:
            return op
        if op.type not in _PASSING and not (op.outputs and op.outputs[0].dtype._is_ref_dtype and op.inputs):
            return None
        op = op.inputs[0].op
    return None


def _ways(op: Any) -> tuple[Any, Any] | None:
    """What reads a variable, and the node that writes to it what it is fed; neither waits for anything."""
    users = op.outputs[0].consumers()
    reader = op.outputs[0] if op.type in _REFERENCES else next(
        (user.outputs[0] for user in users if user.type == 'ReadVariableOp' and not user.control_inputs), None)
    assigner = next((user for user in users if user.type in _ASSIGNING and not user.control_inputs
                     and user.inputs[0].op is op), None)
    return (reader, assigner) if reader is not None and assigner is not None else None
