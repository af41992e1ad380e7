"""Common subexpression elimination of calls: stateless functions with equal inputs are called once, as in TensorFlow.

Limited to calls of Python functions: others are not worth it. Nodes that compute their inputs may be duplicates themselves.
Used when a plan is compiled.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.operation import Operation


def doubles(ops: Sequence[Operation], fed: Collection[int]) -> dict[Operation, Operation]:
    """For each node that another replaces, that other, which comes earlier in `ops`; `fed` are ids of fed tensors."""
    tokens = Counter(op.attrs['token'] for op in ops if _is_call(op))
    if not tokens or max(tokens.values()) < 2:
        return {}
    search = _Search(fed)
    first: dict[Any, Operation] = {}
    found = {}
    for op in ops:
        if _is_call(op) and tokens[op.attrs['token']] > 1 and not any(id(t) in fed for t in op.outputs):
            known = first.setdefault(search.key(op), op)
            if known is not op:
                found[op] = known
    return found


def _is_call(op: Operation) -> bool:
    return op.definition.python and not op.definition.stateful and 'token' in op.attrs


class _Search:
    """Value numbering: nodes that compute the same have equal keys."""

    def __init__(self, fed: Collection[int]) -> None:
        self._fed = fed
        self._keys: dict[Operation, Any] = {}

    def key(self, op: Operation) -> Any:
        """A key of the node; of one with effects, itself."""
        found = self._keys.get(op)
        if found is None:
            found = self._keys[op] = self._made(op)
        return found

    def _made(self, op: Operation) -> Any:
        definition = op.definition
        if definition.stateful or (definition.in_execution and not _is_call(op)):
            return op
        attrs = tuple(sorted((name, _plain(value)) for name, value in op.attrs.items() if not name.startswith('_')))
        inputs = tuple(id(t) if id(t) in self._fed else (self.key(t.op), t.index) for t in op.inputs)
        return op.type, attrs, inputs, tuple(op.control_inputs)


def _plain(value: Any) -> Any:
    """An attr as text or bytes."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != 'O':
        return f'{value.dtype} {value.shape}', value.tobytes()
    return repr(value), b''
