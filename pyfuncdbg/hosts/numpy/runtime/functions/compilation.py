"""`jit_compile=True`: refusals of TensorFlow's compiler. A trace is compiled to a plan in any case."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import Branches
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def check_compilable(trace: TracedFunction) -> None:
    """Refuse a trace that calls a Python function, directly or in a nested graph.

    Raises:
        InvalidArgumentError: It calls one.
    """
    for op in _python_ops(trace):
        node = f'{{{{node {op.name}}}}}'
        name = f'{trace.name}[_XlaMustCompile=true,config_proto=0,executor_type=0]'
        created = ''.join(f'File "{frame.filename}", line {frame.line}, in {frame.function}\n' for frame in op.stack)
        raise InvalidArgumentError(
            None, None, f'Detected unsupported operations when trying to compile graph {name} on XLA_CPU_JIT: {op.type} (No '
                        f"registered '{op.type}' OpKernel for XLA_CPU_JIT devices compatible with node {node}){node}\n"
                        f'The op is created at: \n{created} [Op:{trace.name}]')


def _python_ops(trace: TracedFunction) -> Iterator[Any]:
    """Nodes that call a Python function of the program."""
    for op in trace.graph.operations:
        inner = [part for value in op.attrs.values() for part in parts_of(value)]
        for part in inner:
            yield from _python_ops(part)
        if op.definition.python and not inner:
            yield op


def parts_of(value: Any) -> tuple[TracedFunction, ...]:
    """The functions in an attr of a node."""
    if isinstance(value, TracedFunction):
        return (value,)
    if isinstance(value, Branches):
        return value.branches
    if isinstance(value, Loop):
        return tuple(part for part in (value.condition, value.body) if part is not None)
    return ()
