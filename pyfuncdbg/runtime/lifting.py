"""The value of a tensor of a function's graph before the function runs: what a variable made there starts with."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.graph.tensor import SymbolicTensor
from pyfuncdbg.hooks import errstate
from pyfuncdbg.runtime.eager import EagerTensor
from pyfuncdbg.runtime.execution import eager_execution
from pyfuncdbg.runtime.executor import take_over
from pyfuncdbg.runtime.plan import compiled


def lifted(tensor: SymbolicTensor) -> Any:
    """The tensor as an eager one.

    Raises:
        ValueError: It depends on an argument of the function.
    """
    graph = tensor.graph
    captured = [(outer, inner) for outer, inner in (*graph.captures, *graph.given) if isinstance(outer, EagerTensor)]
    plan = compiled(graph, (), [inner for _, inner in captured], [tensor], protect=True, hand_over=take_over)
    before = errstate.state.set(errstate.IGNORE)
    try:
        (value,) = plan.function(eager_execution(), *(outer._value for outer, _ in captured))
    except InvalidArgumentError as error:
        raise ValueError(f'A variable made in a function cannot start with {tensor!r}: its value depends on arguments '
                         'that are not known. Make the variable outside, or give a function as initial value.') from error
    finally:
        errstate.state.reset(before)
    return EagerTensor(value)
