"""Loops of converted code: `while` and `for`."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.errors import OperatorNotAllowedInGraphError
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.symbolic_tensor import SymbolicTensor
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.ops.autograph.builtin import len_
from pyfuncdbg.hosts.numpy.ops.autograph.conditional import as_tensor, is_tensor
from pyfuncdbg.hosts.numpy.ops.autograph.state import Undefined, VariableState
from pyfuncdbg.hosts.numpy.ops.autograph.traced_loop import LoopVariables, traced_loop
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.control.tensor_array import TensorArray
from pyfuncdbg.hosts.numpy.ops.definition.constant import get_static_value
from pyfuncdbg.hosts.numpy.ops.elementwise.comparison import logical_and, logical_or

Test = Callable[[], Any]
_MORE = ('\nSee https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/'
         'limitations.md#consistency-of-control-flow-types for more info.')


# ---------------------------------------------------------------- while
def while_stmt(test: Test, body: Test, names: Sequence[str], composites: Sequence[Any], options: dict[str, Any]) -> None:
    """Run a block again and again; where the condition is a tensor, as a node."""
    graph = context.current_graph()
    if graph is None:
        first = test()
    else:                                       # its nodes belong to a scratch graph: the test runs again inside of the loop
        with Graph(name='tmp', outer=graph, building_function=True).as_default():
            first = test()
    if is_tensor(first):
        state = VariableState(names, composites, (test, body))
        traced_loop(test, body, LoopVariables(state.names, state.get, state.set), options)
        return
    if not first:
        return
    body()
    while _truth(test, 'The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either '
                       'because variables changed type, or when a break or return statement inside the loop depends on a '
                       'Tensor condition. In both cases, changing to a TF loop should remove the error.'):
        body()


def _truth(test: Test, problem: str) -> bool:
    value = test()
    try:
        return bool(value)
    except OperatorNotAllowedInGraphError as error:
        raise NotImplementedError(problem + _MORE) from error


# ---------------------------------------------------------------- for
def for_stmt(values: Any, stop: Test | None, body: Callable[[Any], Any], names: Sequence[str], composites: Sequence[Any],
             options: dict[str, Any]) -> None:
    """Run a block for each of some values; where they are a tensor, as a node.

    Args:
        values: The iterable.
        stop: Whether to go on, where the loop has a `break` or `return`.
        body: Takes one value.
        names: The variables that it changes.
        composites: Owners of those that are attributes or items.
        options: Of the loop; `iterate_names` is its target.
    """
    values = as_tensor(values)
    if isinstance(values, Tensor):
        state = VariableState(names, composites, (body, stop) if stop is not None else (body,))
        if isinstance(values, SymbolicTensor) and values.op.type == 'Range':
            _over_range(values, stop, body, state, options)
        else:
            _over_tensor(values, stop, body, state, options)
        return
    over = getattr(values, '_autograph_for', None)      # a dataset or an iterator
    if over is not None and context.current_graph() is not None:
        over(stop, body, VariableState(names, composites, (body, stop) if stop is not None else (body,)), options)
        return
    problem = ('break and return statements which depend on a TF condition are not supported in Python for loops. Did you '
               'intend to make it a TF loop?')
    if stop is not None and not _truth(stop, problem):
        return
    for value in values:
        body(value)
        if stop is not None and not _truth(stop, problem):
            break


def _over_tensor(values: Tensor, stop: Test | None, body: Callable[[Any], Any], state: VariableState,
                 options: dict[str, Any]) -> None:
    count = len_(values)
    items = TensorArray(values.dtype, size=count).unstack(values)
    index: Any = 0

    def get() -> tuple[Any, ...]:
        return (index, *state.get())

    def put(values: Sequence[Any]) -> None:
        nonlocal index
        index = values[0]
        state.set(values[1:])

    def step() -> None:
        nonlocal index
        body(items.read(index))
        index = index + 1
    variables = LoopVariables(('<internal iterate>', *state.names), get, put)
    traced_loop(_until(lambda: index < count, stop), step, variables, options)


def _until(test: Test, stop: Test | None) -> Test:
    return test if stop is None else lambda: cond(test(), stop, lambda: False)


def _over_range(values: SymbolicTensor, stop: Test | None, body: Callable[[Any], Any], state: VariableState,
                options: dict[str, Any]) -> None:
    """A loop over a range: a counter, without the tensor of its values."""
    start, limit, delta = values.op.inputs
    current: Any = start

    def get() -> tuple[Any, ...]:
        values = (current if name == options.get('iterate_names') and isinstance(value, Undefined) else value
                  for name, value in zip(state.names, state.get(), strict=True))
        return (current, *values)

    def put(values: Sequence[Any]) -> None:
        nonlocal current
        current = values[0]
        state.set(values[1:])

    def step() -> None:
        nonlocal current
        body(current)
        current = current + delta

    def test() -> Any:
        step = get_static_value(delta)
        if step is not None:
            return current < limit if step >= 0 else current > limit
        return logical_or(logical_and(delta >= 0, current < limit), logical_and(delta < 0, current > limit))
    traced_loop(_until(test, stop), step, LoopVariables(('<internal iterate>', *state.names), get, put), options)
