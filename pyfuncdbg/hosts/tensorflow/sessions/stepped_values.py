"""Tensor values of one stepped session run: known values by name, and the inputs of its nodes.

Written by `SteppedRun`, on the thread of the run.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pyfuncdbg.errors import nearest
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.value_placeholders import NOT_KNOWN, UnknownValue
from pyfuncdbg.hosts.tensorflow.nodes.node_kernel import NodeKernel, is_constant
from pyfuncdbg.hosts.tensorflow.sessions.run_units import RunUnit
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import SessionPlan


class SteppedValues:
    """Values by the names of tensors.

    Attributes:
        by_name: Eager tensors that were computed alone, arrays that a session returned or the program fed.
        injected: Names of those that a hook has replaced, or the program fed.
    """

    def __init__(self, plan: SessionPlan, host: Host, feeds: Mapping[str, Any]) -> None:
        self._plan = plan
        self._host = host
        self.by_name: dict[str, Any] = dict(feeds)
        self.injected = set(feeds)
        self._constants = {tensor.name: tensor.op for op in plan.nodes for tensor in op.inputs if is_constant(tensor.op)
                           and tensor.name not in feeds}
        self._names = {tensor.name for op in plan.nodes for tensor in op.outputs} | feeds.keys() | self._constants.keys()

    def holds(self, tensor: str) -> bool:
        """Whether a value is known."""
        return tensor in self._constants if tensor not in self.by_name else type(self.by_name[tensor]) is not UnknownValue

    def value(self, tensor: str) -> Any:
        """The value of a tensor.

        Raises:
            KeyError: It is not of this run, not computed yet, not known, or held by TensorFlow alone.
        """
        value = self._lookup(tensor)
        if type(value) is UnknownValue:
            raise KeyError(f'{tensor}: {NOT_KNOWN}: {value.reason}')
        if value is not None:
            return value
        if tensor not in self._names:
            raise KeyError(f'{tensor!r} is not in this run.{nearest(tensor, self._names)}')
        raise KeyError(f'{tensor}: not computed yet, or not readable')

    def store(self, op: Any, outputs: Iterable[Any]) -> None:
        """Store the outputs of a node; None for one that cannot be read."""
        for name, value in zip(self._plan.names(op)[1], outputs, strict=True):
            if value is not None:
                self.by_name[name] = value

    def forget(self, op: Any) -> None:
        """Discard the outputs of a node, which has not run."""
        for tensor in op.outputs:
            self.by_name.pop(tensor.name, None)
            self.injected.discard(tensor.name)

    def outputs_of(self, op: Any) -> list[Any]:
        """The outputs of a node; None for one that is unknown."""
        return [self.by_name.get(tensor.name) for tensor in op.outputs]

    def name_handles(self, op: Any) -> list[Any]:
        """Stand-ins for outputs that only TensorFlow can hold."""
        return [Handle(f'<{tensor.dtype.base_dtype.name} {op.name!r} in the session>') for tensor in op.outputs]

    def inputs(self, op: Any) -> list[Any]:
        """The inputs of a node; None for handles, and for values that only TensorFlow has."""
        return [self._lookup(name) for name in self._plan.names(op)[0]]

    def _lookup(self, tensor: str) -> Any:
        value = self.by_name.get(tensor)
        if value is None and tensor in self._constants:
            constants = self._plan.constants
            value = constants.get(tensor)
            if value is None:
                value = constants[tensor] = NodeKernel(self._constants[tensor])()[0]
        return value

    @contextmanager
    def replace_inputs(self, op: Any, inputs: Sequence[Any]) -> Iterator[None]:
        """In this block a node has other inputs, where a hook has replaced some."""
        replacements = {tensor.name: value for tensor, value in zip(op.inputs, inputs, strict=True)
                        if tensor.name in self.by_name and value is not self.by_name[tensor.name]}
        originals = {name: self.by_name[name] for name in replacements}
        self.by_name.update(replacements)
        try:
            yield
        finally:
            self.by_name.update(originals)

    def feeds(self, unit: RunUnit) -> dict[Any, Any]:
        """The feeds of a unit, as `_do_run` takes them."""
        tensors = [*unit.feeds, *(tensor for tensor in unit.late_reads if tensor.name in self.injected)]
        return {tensor.ref(): self._host.to_numpy(self.by_name[tensor.name]) for tensor in tensors
                if tensor.name in self.by_name}


class Handle:
    """Stand-in for a variable, a queue or a dataset, which a session never returns."""

    __slots__ = ('_text',)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def copy_for_program(value: Any) -> Any:
    """A value as a session returns it: the program's own, a scalar at rank 0."""
    if hasattr(value, '_numpy'):
        return value.numpy()
    return value.copy() if isinstance(value, np.ndarray) and value.ndim else value
