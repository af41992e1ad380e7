"""Variables of a session, saved and restored. A paused run needs that to go back over a node that writes to them.

Through the nodes that the program has for that: a variable's own read and its initializer, which is fed another value. A run
that fails makes TensorFlow write to the program's stderr: a variable that may have no value is asked for that first. On the
thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hosts.tensorflow.nodes.op_types import VARIABLES
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit

SessionRun = Callable[[Sequence[Any], Sequence[Any], Mapping[Any, Any]], list[Any]]
"""`(targets, fetches, feeds)`: one run of the session, past everything that watches."""
_READING = frozenset(('ReadVariableOp', 'VarIsInitializedOp', 'IsVariableInitialized', 'Identity', 'ResourceGather'))
_ASKING = frozenset(('VarIsInitializedOp', 'IsVariableInitialized'))
_ASSIGNING = frozenset(('AssignVariableOp', 'Assign'))
_RESTORING = frozenset(('RestoreV2', 'Restore', 'RestoreSlice'))
_PASSING = frozenset(('Identity', 'RefIdentity', 'Enter', 'RefEnter', 'Switch', 'RefSwitch'))


class _Way(NamedTuple):
    """Nodes for one variable: its reader, its assigner, and its test for a value."""

    reader: Any
    assigner: Any
    asker: Any = None


class SessionVariableNodes:
    """Variables that the nodes of one unit may write to.

    Attributes:
        obstacle: Why one of them cannot be put back; '' if all can.
    """

    def __init__(self, unit: RunUnit) -> None:
        handles = [tensor for node in unit.nodes if node.type not in _READING for tensor in node.inputs
                   if tensor.dtype.name == 'resource' or tensor.dtype._is_ref_dtype]
        found = dict.fromkeys(op for op in map(_origin, handles) if op is not None)
        ways = {op: way for op in found if (way := _ways(op)) is not None}
        first = [op for op, way in ways.items() if way.asker is None and _is_first(way, unit.nodes)]
        self._ways = {op: way for op, way in ways.items() if op not in first}
        lost = [op.name for op in found if op not in ways and op.type in (*VARIABLES, 'VarHandleOp')]
        self.obstacle = (f'the graph has no node that puts the variable {lost[0]!r} back' if lost else
                         f'the graph has no node that says whether the variable {first[0].name!r} had a value before'
                         if first else '')

    def __bool__(self) -> bool:
        return bool(self._ways)

    def read(self, run: SessionRun) -> dict[Any, Any]:
        """The values; of one that is not initialized there is none."""
        askers = {op: way.asker for op, way in self._ways.items() if way.asker is not None}
        answers = dict(zip(askers, run([], list(askers.values()), {}), strict=True)) if askers else {}
        return _read({op: way.reader for op, way in self._ways.items() if answers.get(op, True)}, run)

    def write(self, run: SessionRun, values: Mapping[Any, Any]) -> None:
        """Put values back."""
        for op, value in values.items():
            assigner = self._ways[op].assigner
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
        if op.type == 'VarHandleOp' or op.type in VARIABLES:
            return op
        if op.type not in _PASSING and not (op.outputs and op.outputs[0].dtype._is_ref_dtype and op.inputs):
            return None
        op = op.inputs[0].op
    return None


def _ways(op: Any) -> _Way | None:
    """The nodes for a variable that wait for nothing; None if it cannot be read or written to."""
    users = [user for user in op.outputs[0].consumers() if not user.control_inputs]
    reader = op.outputs[0] if op.type in VARIABLES else _first(user for user in users if user.type == 'ReadVariableOp')
    assigner = next((user for user in users if user.type in _ASSIGNING and user.inputs[0].op is op), None)
    if reader is None or assigner is None:
        return None
    return _Way(reader, assigner, _first(user for user in users if user.type in _ASKING))


def _first(nodes: Iterable[Any]) -> Any:
    return next((node.outputs[0] for node in nodes), None)


def _is_first(way: _Way, nodes: Sequence[Any]) -> bool:
    """Whether these nodes may give a variable its first value: they do nothing with it but initialize or restore it."""
    users = [node for node in nodes if node.type not in _READING
             and any(_origin(tensor) is way.assigner.inputs[0].op for tensor in node.inputs if tensor.dtype._is_ref_dtype)]
    return bool(users) and all(node is way.assigner or (node.type in _ASSIGNING and _is_restored(node.inputs[1]))
                               for node in users)


def _is_restored(tensor: Any) -> bool:
    while tensor.op.type == 'Identity':
        tensor = tensor.op.inputs[0]
    return tensor.op.type in _RESTORING
