"""Variables of a session, saved and restored when a paused run goes back over a node that writes to them.

Uses the program's own nodes: a variable's read, and its initializer, which is fed another value. A failing run makes
TensorFlow write to the program's stderr: a variable that may have no value is tested first. On the thread of the run.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyfuncdbg.hosts.tensorflow.nodes.op_types import VARIABLES
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit

SessionRun = Callable[[Sequence[Any], Sequence[Any], Mapping[Any, Any]], list[Any]]
"""`(targets, fetches, feeds)`: one run of the session, past all hooks."""
_READING = frozenset(('ReadVariableOp', 'VarIsInitializedOp', 'IsVariableInitialized', 'Identity', 'ResourceGather'))
_ASKING = frozenset(('VarIsInitializedOp', 'IsVariableInitialized'))
_ASSIGNING = frozenset(('AssignVariableOp', 'Assign'))
_RESTORING = frozenset(('RestoreV2', 'Restore', 'RestoreSlice'))
_PASSING = frozenset(('Identity', 'RefIdentity', 'Enter', 'RefEnter', 'Switch', 'RefSwitch'))


class _VariableNodes(NamedTuple):
    """Nodes for one variable: its reader, its assigner, and its test for a value."""

    reader: Any
    assigner: Any
    test: Any = None


class SessionVariableNodes:
    """Variables that the nodes of one unit may write to.

    Attributes:
        obstacle: Why one of them cannot be restored; '' if all can.
    """

    def __init__(self, unit: RunUnit) -> None:
        handles = [tensor for node in unit.nodes if node.type not in _READING for tensor in node.inputs
                   if tensor.dtype.name == 'resource' or tensor.dtype._is_ref_dtype]
        variables = dict.fromkeys(op for op in map(_origin, handles) if op is not None)
        nodes = {op: way for op in variables if (way := _variable_nodes(op)) is not None}
        uncertain = [op for op, way in nodes.items() if way.test is None and _may_initialize(way, unit.nodes)]
        self._nodes = {op: way for op, way in nodes.items() if op not in uncertain}
        lost = [op.name for op in variables if op not in nodes and op.type in (*VARIABLES, 'VarHandleOp')]
        self.obstacle = (f'the graph has no node that restores the variable {lost[0]!r}' if lost else
                         f'the graph has no node that says whether the variable {uncertain[0].name!r} had a value before'
                         if uncertain else '')

    def __bool__(self) -> bool:
        return bool(self._nodes)

    def read(self, run: SessionRun) -> dict[Any, Any]:
        """The values of the initialized variables."""
        askers = {op: way.test for op, way in self._nodes.items() if way.test is not None}
        answers = dict(zip(askers, run([], list(askers.values()), {}), strict=True)) if askers else {}
        return _read({op: way.reader for op, way in self._nodes.items() if answers.get(op, True)}, run)

    def write(self, run: SessionRun, values: Mapping[Any, Any]) -> None:
        """Restore values."""
        for op, value in values.items():
            assigner = self._nodes[op].assigner
            run([assigner], [], {assigner.inputs[1].ref(): value})


def read_variables(variables: Sequence[Any], run: SessionRun) -> dict[Any, Any]:
    """The values of those v1 variables that are initialized."""
    return _read({op: op.outputs[0] for op in variables}, run)


def _read(readers: Mapping[Any, Any], run: SessionRun) -> dict[Any, Any]:
    if not readers:
        return {}
    try:
        return dict(zip(readers, run([], list(readers.values()), {}), strict=True))
    except Exception:                           # one of them has no value yet: each is read by itself
        values = {}
        for op, reader in readers.items():
            try:
                values[op] = run([], [reader], {})[0]
            except Exception:                   # this one has none
                continue
        return values


def read_written(nodes: Sequence[Any], is_wanted: Callable[[Any], bool], run: SessionRun) -> dict[str, Any]:
    """Values of tensors that these nodes have written to variables, by name: of each variable that one node alone writes to.

    Args:
        nodes: The nodes.
        is_wanted: Whether a tensor is asked for.
        run: Reads the variables.
    """
    writers: dict[Any, list[Any]] = {}
    for node in nodes:
        if node.type not in _READING:
            for tensor in node.inputs:
                if (tensor.dtype.name == 'resource' or tensor.dtype._is_ref_dtype) and (op := _origin(tensor)) is not None:
                    writers.setdefault(op, []).append(node)
    readers = {by[0].inputs[1].name: way[0] for op, by in writers.items() if len(by) == 1 and by[0].type in _ASSIGNING
               and is_wanted(by[0].inputs[1]) and (way := _variable_nodes(op)) is not None}
    return dict(zip(readers, run([], list(readers.values()), {}), strict=True)) if readers else {}


def _origin(tensor: Any) -> Any:
    """The variable behind a handle or reference; None for a queue, an iterator, a table."""
    op = tensor.op
    for _ in range(64):
        if op.type == 'VarHandleOp' or op.type in VARIABLES:
            return op
        if op.type not in _PASSING and not (op.outputs and op.outputs[0].dtype._is_ref_dtype and op.inputs):
            return None
        op = op.inputs[0].op
    return None


def _variable_nodes(op: Any) -> _VariableNodes | None:
    """The nodes for a variable that have no control inputs; None if it cannot be read or written to."""
    users = [user for user in op.outputs[0].consumers() if not user.control_inputs]
    reader = op.outputs[0] if op.type in VARIABLES else _first_output(
        user for user in users if user.type == 'ReadVariableOp')
    assigner = next((user for user in users if user.type in _ASSIGNING and user.inputs[0].op is op), None)
    if reader is None or assigner is None:
        return None
    return _VariableNodes(reader, assigner, _first_output(user for user in users if user.type in _ASKING))


def _first_output(nodes: Iterable[Any]) -> Any:
    return next((node.outputs[0] for node in nodes), None)


def _may_initialize(variable_nodes: _VariableNodes, nodes: Sequence[Any]) -> bool:
    """Whether these nodes may give a variable its first value: they do nothing with it but initialize or restore it."""
    variable = variable_nodes.assigner.inputs[0].op
    users = [node for node in nodes if node.type not in _READING
             and any(_origin(tensor) is variable for tensor in node.inputs if tensor.dtype._is_ref_dtype)]
    return bool(users) and all(node is variable_nodes.assigner or (node.type in _ASSIGNING and _is_restored(node.inputs[1]))
                               for node in users)


def _is_restored(tensor: Any) -> bool:
    while tensor.op.type == 'Identity':
        tensor = tensor.op.inputs[0]
    return tensor.op.type in _RESTORING
