"""`Graph.create_op` as programs call it, with TensorFlow's arguments: checked, and the attrs as plain values."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.errors import NotFoundError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import is_registered
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor


def outside_call(op_type: str, inputs: Sequence[Any], settings: Mapping[str, Any]) -> tuple[list[Tensor], dict[str, Any]]:
    """The inputs and the attrs of a node.

    Raises:
        RuntimeError: There is no such op.
        TypeError: An input is no tensor.
    """
    from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
    inputs = list(inputs)
    for place, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise TypeError(f'Input #{place} is not a tensor: {value}')
    if not is_registered(op_type):
        from pyfuncdbg.hosts.numpy.graph.proto.graphdef_checks import check_known  # the protobuf library takes 60 ms to load
        try:
            check_known(op_type)
        except NotFoundError as error:
            raise RuntimeError(error.message) from None
    return inputs, {name: value_of(value) for name, value in (settings.get('attrs') or {}).items()}
