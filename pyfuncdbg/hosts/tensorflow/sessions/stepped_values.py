"""Tensor values of one stepped session run: known values by name, and the inputs of its nodes.

The walk writes it, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.unknown_value import NOT_KNOWN, UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import Plan


class SteppedValues:
    """Values by the names of tensors.

    Attributes:
        known: Eager tensors of what was computed alone, arrays of what a session gave and the program fed.
        injected: Names of those that a hook has replaced, or the program fed.
    """

    def __init__(self, plan: Plan, host: Host, feeds: Mapping[str, Any]) -> None:
        self._plan = plan
        self._host = host
        self.known: dict[str, Any] = dict(feeds)
        self.injected = set(feeds)
        self._constants = {tensor.name: tensor.op for op in plan.nodes for tensor in op.inputs if is_constant(tensor.op)
                           and tensor.name not in feeds}
        self._names = {tensor.name for op in plan.nodes for tensor in op.outputs} | feeds.keys() | self._constants.keys()

    def holds(self, tensor: str) -> bool:
        """Whether a value is there."""
        return tensor in self._constants if tensor not in self.known else type(self.known[tensor]) is not UnknownValue

    def value(self, tensor: str) -> Any:
        """The value of a tensor.

        Raises:
            KeyError: It is not of this run, not computed yet, not known, or in the hands of TensorFlow alone.
        """
        found = self._found(tensor)
        if type(found) is UnknownValue:
            raise KeyError(f'{tensor}: {NOT_KNOWN}: {found.reason}')
        if found is not None:
            return found
        if tensor not in self._names:
            raise KeyError(f'{tensor!r} is not in this run.{nearest(tensor, self._names)}')
        raise KeyError(f'{tensor}: not computed yet, or nothing that can be read')

    def keep(self, op: Any, outputs: Iterable[Any]) -> None:
        """The outputs of a node; None for one that cannot be read."""
        for tensor, value in zip(op.outputs, outputs, strict=True):
            if value is not None:
                self.known[tensor.name] = value

    def forget(self, op: Any) -> None:
        """The node has not run."""
        for tensor in op.outputs:
            self.known.pop(tensor.name, None)
            self.injected.discard(tensor.name)

    def of(self, op: Any) -> list[Any]:
        """The outputs of a node; None for one that is not known."""
        return [self.known.get(tensor.name) for tensor in op.outputs]

    def name_handles(self, op: Any) -> list[Any]:
        """Stand-ins for what a node gives that nothing but TensorFlow can hold."""
        return [Handle(f'<{tensor.dtype.base_dtype.name} {op.name!r} in the session>') for tensor in op.outputs]

    def inputs(self, op: Any) -> list[Any]:
        """Inputs of a node; None for handles, and what only TensorFlow has."""
        return [self._found(tensor.name) for tensor in op.inputs]

    def _found(self, tensor: str) -> Any:
        found = self.known.get(tensor)
        if found is None and tensor in self._constants:
            constants = self._plan.constants
            found = constants.get(tensor)
            if found is None:
                found = constants[tensor] = NodeKernel(self._constants[tensor])()[0]
        return found

    @contextmanager
    def replaced(self, op: Any, inputs: Sequence[Any]) -> Iterator[None]:
        """In this block a node is given other inputs, where a hook has put others."""
        others = {tensor.name: value for tensor, value in zip(op.inputs, inputs, strict=True)
                  if tensor.name in self.known and value is not self.known[tensor.name]}
        before = {name: self.known[name] for name in others}
        self.known.update(others)
        try:
            yield
        finally:
            self.known.update(before)

    def feeds(self, unit: RunUnit) -> dict[Any, Any]:
        """Feeds of a session's run of a unit, as `_do_run` takes them."""
        given = [*unit.feeds, *(tensor for tensor in unit.current if tensor.name in self.injected)]
        return {tensor.ref(): self._host.to_numpy(self.known[tensor.name]) for tensor in given if tensor.name in self.known}


class Handle:
    """Stand-in for a variable, a queue, a dataset: what a session never gives away."""

    __slots__ = ('_text',)

    def __init__(self, what: str) -> None:
        self._text = what

    def __repr__(self) -> str:
        return self._text


def own(value: Any) -> Any:
    """A value as a session returns it: the program's own, a scalar at rank 0."""
    if hasattr(value, '_numpy'):
        return value.numpy()
    return value.copy() if isinstance(value, np.ndarray) and value.ndim else value
