"""`tf.while_loop`: calls of a function while a condition holds."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.definitions.registry import IDENTITY, STATELESS_WHILE, WHILE
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite
from pyfuncdbg.hosts.numpy.graph.types.dtypes import int32
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TypeSpec
from pyfuncdbg.hosts.numpy.ops.control.parts import (
    entered,
    flat_tensors,
    graph_around,
    inner_shape,
    is_array,
    packed,
    scalar_condition,
    waited_for,
)
from pyfuncdbg.hosts.numpy.ops.control.version import named_as_first
from pyfuncdbg.hosts.numpy.ops.definition.constant import constant, convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.public_scopes import name_scope
from pyfuncdbg.hosts.numpy.runtime.control_flow.branches import InputPool
from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_gradient import repeat
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import has_state, traced_inner
from pyfuncdbg.hosts.numpy.runtime.control_flow.while_loop import Loop
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction


def while_loop(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
               back_prop: bool = True, swap_memory: bool = False, maximum_iterations: Any = None,
               name: str | None = None) -> Any:
    """Call `body` on the loop variables while `cond` of them is true; in a graph, as a node that does so when it runs.

    Args:
        cond: From the loop variables to a boolean scalar.
        body: From the loop variables to the next ones, in the same structure, of the same dtypes and shapes.
        loop_vars: Initial values: a list or tuple of (structures of) tensors and TensorArrays.
        shape_invariants: In the structure of `loop_vars`: a shape that each has in all iterations.
        parallel_iterations: Accepted; iterations run one after another.
        back_prop: Whether the loop can be differentiated.
        swap_memory: Accepted.
        maximum_iterations: The loop ends after so many.
        name: The name scope of the node.

    Returns:
        The last loop variables.

    Raises:
        TypeError: `cond` or `body` is no function, or a dtype changes.
        ValueError: No loop variables, another structure, or a shape that changes without an invariant that allows it.
    """
    return _while(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, name, maximum_iterations, True)


def while_loop_v1(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
                  back_prop: bool = True, swap_memory: bool = False, name: str | None = None,
                  maximum_iterations: Any = None, return_same_structure: bool = False) -> Any:
    """`while_loop` of TensorFlow 1: a single loop variable is returned as itself, without `return_same_structure`."""
    return _while(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, name, maximum_iterations,
                  return_same_structure)


def _while(cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, parallel_iterations: int, back_prop: bool,
           name: str | None, maximum_iterations: Any, same: bool) -> Any:
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if context.current_graph() is not None:
        len(loop_vars)                                  # a number or a tensor has none
    loop_vars = nest.map_structure(lambda v: v._as_tensor() if hasattr(v, '_as_tensor') and not is_composite(v) else v,
                                   loop_vars)
    graph = graph_around(nest.flatten(loop_vars))
    if graph is None:
        with name_scope(name or 'while'):
            return _repeated(cond, body, loop_vars, maximum_iterations, same)
    with entered(graph):
        outputs = _node(graph, cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name)
        if not back_prop:
            outputs = [apply('StopGradient', (output,)) for output in outputs]
    result = packed(loop_vars, outputs)
    leaves = nest.flatten(result)
    return result if same or len(leaves) != 1 else leaves[0]


# ---------------------------------------------------------------- eager
def _repeated(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any, same: bool) -> Any:
    """The loop as Python."""
    if _is_empty(loop_vars):
        raise ValueError("'loop_vars' must be provided.")
    alone = len(loop_vars) == 1 and not same
    single = False
    limit = -1
    if maximum_iterations is not None:
        maximum = convert_to_tensor(maximum_iterations)
        if maximum.shape.rank != 0:
            raise ValueError(f"'maximum_iterations' must be a scalar. Received shape: {maximum.shape}")
        limit = max(int(maximum), 0)
    # With a maximum, TensorFlow keeps the type of what the body returns: a list is no tuple.
    as_it_is = maximum_iterations is not None and not alone
    structure, count = loop_vars if as_it_is else list(loop_vars), 0
    while count != limit and cond(*loop_vars):
        loop_vars = body(*loop_vars)
        if alone and not isinstance(loop_vars, (list, tuple)):
            single, loop_vars = True, (loop_vars,)
        nest.assert_same_structure(structure, loop_vars if as_it_is else list(loop_vars))
        count += 1
    loop_vars = nest.map_structure(lambda v: v if is_array(v) or is_composite(v) else convert_to_tensor(v), loop_vars)
    return loop_vars[0] if single else loop_vars


def _is_empty(loop_vars: Any) -> bool:
    return (not isinstance(loop_vars, Tensor) or loop_vars.shape.rank == 0) and (
        isinstance(loop_vars, Tensor) or not loop_vars)


# ---------------------------------------------------------------- graphs
def _node(graph: Graph, cond: Any, body: Any, loop_vars: Any, shape_invariants: Any, parallel_iterations: int,
          maximum_iterations: Any, name: str | None) -> list[Any]:
    """Add the node; the last values of the loop variables."""
    start = flat_tensors(loop_vars)
    shapes = _invariants(loop_vars, start, shape_invariants)
    types = [(tensor.dtype, shape) for tensor, shape in zip(start, shapes, strict=True)]
    with graph.name_scope(name or 'while') as scope:
        limit = convert_to_tensor(-1 if maximum_iterations is None else maximum_iterations, int32, name='maximum_iterations')
        counter = constant(np.int32(0), name='loop_counter')
        condition = traced_inner(scope, 'cond', lambda given: [
            scalar_condition(cond(*packed(loop_vars, given)))], types, True)
        step = traced_inner(scope, 'body', lambda given: _next(body, loop_vars, given), types, True)
        _check_shapes(step.outputs, shapes, start)
        _check_dtypes(step.outputs, start)
        pool, loop = _loop(condition, step, start, types, (counter, limit), maximum_iterations is not None)
        stateful = has_state(condition.graph) or has_state(step.graph)
        with graph.control_dependencies(waited_for((condition, step))):
            outputs = repeat(WHILE if stateful else STATELESS_WHILE, (counter, limit), pool, loop,
                             {'parallel_iterations': parallel_iterations, '_lower_using_switch_merge': True,
                              '_num_original_outputs': len(loop.types), '_read_only_resource_inputs': []}, scope)
        if graph.building_function:
            return outputs[2:2 + len(start)]
        if named_as_first(graph):
            return [apply(IDENTITY, (output,), None, 'Exit') for output in outputs[2:2 + len(start)]]
        return [apply(IDENTITY, (output,)) for output in outputs][2:2 + len(start)]


def _next(body: Callable[..., Any], loop_vars: Any, tensors: Sequence[Any]) -> list[Any]:
    """One iteration."""
    result = body(*packed(loop_vars, tensors))
    if not nest.is_nested(result):
        result = [result]
    nest.assert_same_structure(result, loop_vars, check_types=False)
    return flat_tensors(result)


def _loop(condition: TracedFunction, step: TracedFunction, start: Sequence[Any], types: Sequence[Any], first: Sequence[Any],
          limited: bool) -> tuple[list[Any], Loop]:
    """The inputs of the node, and its `Loop`."""
    count = len(start)
    captured = InputPool()
    asks, feeds = ([count + captured.place(outer) for outer, _ in part.graph.captures] for part in (condition, step))
    carried = range(count)
    loop = Loop(condition=condition, body=step, carried=count, items=0, asks=(*carried, *asks), feeds=(*carried, *feeds),
                next=tuple(carried), stacked=(), summed=(), limited=limited, backwards=False,
                types=(*((t.dtype, t.shape) for t in first), *types, *((t.dtype, t.shape) for t in captured.tensors)))
    return [*start, *captured.tensors], loop


def _invariants(loop_vars: Any, start: Sequence[Any], shape_invariants: Any) -> list[TensorShape]:
    """The shape that each tensor of the loop variables has in all iterations."""
    if shape_invariants is not None:
        nest.assert_same_structure(loop_vars, shape_invariants, check_types=False)
    leaves = nest.flatten(loop_vars)
    shapes, tensors = [], iter(start)
    for leaf, shape in zip(leaves, [None] * len(leaves) if shape_invariants is None else nest.flatten(shape_invariants),
                           strict=True):
        if is_composite(leaf):
            spec = leaf._type_spec if shape is None or isinstance(shape, TensorShape) else shape
            shapes += [inner_shape(part.shape) for part in spec._component_specs]
            for _ in spec._component_specs:
                next(tensors)
        else:
            tensor = next(tensors)
            shapes.append(tensor.shape if shape is None or is_array(leaf) else _invariant(tensor, shape))
    return shapes


def _invariant(tensor: Any, shape: Any) -> TensorShape:
    if isinstance(shape, TensorShape):
        return shape
    if not isinstance(shape, TypeSpec):
        raise TypeError(f"'shape' must be one of TypeSpec, TensorShape or None. Received: {type(shape)}")
    if not shape.is_compatible_with(tensor):
        raise ValueError(f'TypeSpec {shape} must be compatible with {tensor!r}')
    return inner_shape(shape.shape)  # type: ignore[attr-defined]


def _check_shapes(outputs: Sequence[Any], shapes: Sequence[TensorShape], start: Sequence[Any]) -> None:
    for output, shape, tensor in zip(outputs, shapes, start, strict=True):
        if not _fits(output.shape, shape):
            raise ValueError(f'Input tensor `{_name(tensor)}` enters the loop with shape {shape}, but has shape '
                             f'{output.shape} after one iteration. To allow the shape to vary across iterations, use the '
                             '`shape_invariants` argument of tf.while_loop to specify a less-specific shape.')


def _fits(shape: TensorShape, invariant: TensorShape) -> bool:
    """Whether every tensor of a shape satisfies an invariant."""
    if invariant.sizes is None:
        return True
    if shape.sizes is None or len(shape.sizes) != len(invariant.sizes):
        return False
    return all(fixed_size is None or fixed_size == size for size,
               fixed_size in zip(shape.sizes, invariant.sizes, strict=True))


def _check_dtypes(outputs: Sequence[Any], start: Sequence[Any]) -> None:
    for output, tensor in zip(outputs, start, strict=True):
        if output.dtype != tensor.dtype:
            name = _name(tensor)
            raise TypeError(f'Loop var {name} enters the loop with type {tensor.dtype} but has type {output.dtype} after 1 '
                            f'iteration. {name} type should remain constant.')


def _name(tensor: Any) -> str:
    return str(getattr(tensor, 'name', tensor))
