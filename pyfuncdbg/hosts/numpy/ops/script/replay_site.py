"""Sites of no graph for replays: calls of a function as an op makes them, and its gradient.

`host.replay_site` for who replays a recorded call, on that thread.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.host import HOSTS
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.script.calls import py_function
from pyfuncdbg.hosts.numpy.ops.script.function import EAGER, NUMPY, STATELESS, PythonFunction
from pyfuncdbg.hosts.numpy.ops.script.results import ANY, output_types
from pyfuncdbg.hosts.numpy.runtime.differentiation.tape import GradientTape
from pyfuncdbg.hosts.numpy.runtime.execution.host import host


def replay_site(op_type: str, function: Callable[..., Any], types: Sequence[str], is_node: bool,
                is_gradient: bool) -> CallSite:
    """Make a site.

    Args:
        op_type: Of the op that called the function.
        function: The function.
        types: Names of the output types that the op declared; none where it did not.
        is_node: Whether the op was a node of a graph.
        is_gradient: Whether the calls are of its backward step: their inputs are those of the function, then the gradients
            of its outputs.

    Returns:
        The site.

    Raises:
        ValueError: An op of this type calls no Python function, or has no gradient.
    """
    if op_type not in (EAGER, NUMPY, STATELESS):
        raise ValueError(f'{op_type} is none of py_function, numpy_function and py_func')
    dtypes = [as_dtype(name) for name in types]
    if is_gradient:
        if op_type != EAGER:
            raise ValueError(f'{op_type} has no gradient')
        again: Callable[[list[Any]], Sequence[Any]] = partial(_differentiated, function, dtypes)
    else:
        outputs = output_types(dtypes) if types or is_node or op_type == EAGER else ANY
        again = PythonFunction(function, op_type, outputs, traced=is_node, number=0).again
    return CallSite(op_type, op_type, 'python', host, function=function, attrs={'_call': again})


def _differentiated(function: Callable[..., Any], dtypes: Sequence[DType], values: list[Any]) -> Sequence[Any]:
    """The gradients of the inputs, of those of the outputs."""
    count = len(values) - len(dtypes)
    inputs = [convert_to_tensor(value) for value in values[:count]]
    with GradientTape() as tape:
        for tensor in inputs:
            if tensor.dtype.is_floating or tensor.dtype.is_complex:
                tape.watch(tensor)
        outputs = py_function(function, inputs, list(dtypes))
    seeds = [None if value is None else convert_to_tensor(value) for value in values[count:]]
    return tape.gradient(list(outputs), inputs, output_gradients=seeds)


host.replay_site = replay_site
HOSTS[host.name] = host
