"""Initial values of variables made in a function, lifted out of it. They become values, or nodes of the outer graph.

A variable outlives the function that makes it. The inputs of its initial value are lifted: captured tensors, and in eager
code the arguments of the first call.
"""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hooks.output import numpy_errstate
from pyfuncdbg.hosts.numpy.graph.definitions.registry import INPUT
from pyfuncdbg.hosts.numpy.graph.graph import Graph, owner
from pyfuncdbg.hosts.numpy.graph.operation import Operation
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import conversion
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.execution import eager_execution
from pyfuncdbg.hosts.numpy.runtime.plans.executor import take_over
from pyfuncdbg.hosts.numpy.runtime.plans.plan import compile_plan, needed_ops


def lift_tensor(tensor: SymbolicTensor) -> EagerTensor:
    """The value of a tensor of a function, as an eager tensor.

    Raises:
        ValueError: It depends on an argument without a value.
    """
    before = numpy_errstate.state.set(numpy_errstate.IGNORE)
    try:
        with conversion(False):                     # only the function being traced is converted
            return EagerTensor(_value(tensor, tensor))
    finally:
        numpy_errstate.state.reset(before)


def _value(tensor: Any, initial_value: SymbolicTensor) -> Any:
    if not isinstance(tensor, SymbolicTensor):
        return tensor._value
    outside = _outside(tensor, initial_value, arguments=True)
    values = [_value(outer, initial_value) for outer in outside.values()]
    plan = compile_plan(owner(tensor), (), [op.outputs[0] for op in outside], [tensor], protect=True, hand_over=take_over)
    (value,) = plan.function(eager_execution(), *values)
    return value


def repeat_nodes(tensor: Any, graph: Graph) -> Any:
    """Copy the nodes that compute a tensor of a function to the current, outer graph.

    Raises:
        ValueError: It depends on an argument of the function.
    """
    return _repeat_nodes(tensor, tensor, graph)


def _repeat_nodes(tensor: Any, initial_value: SymbolicTensor, graph: Graph) -> Any:
    if not isinstance(tensor, SymbolicTensor) or tensor.graph is graph:
        return graph.admit(tensor)
    outputs_by_op = {op: [_repeat_nodes(outer, initial_value, graph)] for op,
                     outer in _outside(tensor, initial_value, arguments=False).items()}
    copies: dict[Operation, Operation] = {}
    for op in needed_ops([tensor.op], set()):
        if op not in outputs_by_op:
            with graph.control_dependencies([copies[before] for before in op.control_inputs if before in copies]):
                copies[op] = graph.create_op(op.type, [outputs_by_op[t.op][t.index] for t in op.inputs], op.attrs, op.type)
            outputs_by_op[op] = [*copies[op].outputs, *copies[op].hidden]
    return outputs_by_op[tensor.op][tensor.index]


def _outside(tensor: SymbolicTensor, initial_value: SymbolicTensor, arguments: bool) -> dict[Operation, Any]:
    """Outer values of the placeholders that a tensor depends on; with `arguments` those of the first call too."""
    graph = owner(tensor)
    outer_by_placeholder = {inner.op: outer for outer, inner in (*graph.captures, *(graph.arguments if arguments else ()))
                            if isinstance(outer, Tensor)}          # a function traced for specs has no arguments yet
    outer_by_op = {}
    for op in needed_ops([tensor.op], set()):
        if op.type == INPUT:
            if op not in outer_by_placeholder:
                raise ValueError(f'A variable made in a function cannot start with {initial_value!r}: its value depends on '
                                 f'an argument that is not known, {op.outputs[0]!r}. Make the variable outside, or give it '
                                 'a value that does not depend on arguments.')
            outer_by_op[op] = outer_by_placeholder[op]
    return outer_by_op
