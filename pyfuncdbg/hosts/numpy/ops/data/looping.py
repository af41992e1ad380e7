"""`for element in dataset` in a traced function: a loop of the graph that goes on while the iterator gives something."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.ops.autograph.state import State
from pyfuncdbg.hosts.numpy.ops.autograph.traced_loop import Variables, traced_loop
from pyfuncdbg.hosts.numpy.ops.control.cond import cond
from pyfuncdbg.hosts.numpy.ops.data.iterator import Optional, OwnedIterator


def over(iterator: OwnedIterator, stop: Callable[[], Any] | None, body: Callable[[Any], Any], state: State,
         options: dict[str, Any]) -> None:
    """Run a block for each element.

    Args:
        iterator: What is read.
        stop: Whether to go on, where the loop has a `break` or `return`.
        body: Takes one element.
        state: The variables that it changes.
        options: Of the loop.
    """
    spec = iterator.element_spec
    current = iterator.get_next_as_optional()._variant_tensor

    def get() -> tuple[Any, ...]:
        return (current, *state.get())

    def put(given: Sequence[Any]) -> None:
        nonlocal current
        current = given[0]
        state.set(given[1:])

    def test() -> Any:
        there = Optional(current, spec).has_value()
        return there if stop is None else cond(there, stop, lambda: False)

    def step() -> None:
        nonlocal current
        body(Optional(current, spec).get_value())
        current = iterator.get_next_as_optional()._variant_tensor
    traced_loop(test, step, Variables(('<internal iterate>', *state.names), get, put), options)
