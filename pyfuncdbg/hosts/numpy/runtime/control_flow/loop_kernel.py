"""The kernel of While: iterations one after another, each a run of the condition's plan and of the body's.

On the thread of the run. A loop of a program keeps nothing; one that a gradient needs stacks what is asked for of each
iteration.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.runtime.control_flow.loop import Loop
from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_source import LoopSource, compilable
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import run_inner
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList, zero_of
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import Recorded
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS
from pyfuncdbg.hosts.numpy.runtime.plans.plan import Plan

_Iterations = tuple[int, Sequence[Any], list[Any], list[TensorList]]
"""How many there were, the carried values, what is stacked and summed, and what is kept for a gradient."""


def run(execution: Execution, counter: Any, maximum: Any, *pool: Any, _py_loop: Loop, asked: Sequence[bool] = (),
        owned: Any = (), record: bool = False) -> Any:
    """All iterations."""
    loop = _py_loop
    places = tuple(i for i, wanted in enumerate(asked[1:]) if wanted) if record else ()
    limit = max(int(maximum), 0) if loop.limited else -1
    gathering = places or loop.items or loop.stacked or loop.summed
    count, carried, rest, kept = (_gathered(loop, execution, limit, pool, places) if gathering else
                                  _plain(loop, execution, limit, pool))
    fixed = pool[loop.carried + loop.items:] if loop.condition is not None else ()
    outputs = [counter.dtype.type(count), maximum, *carried, *fixed, *rest]
    if not record:
        return outputs
    hidden: list[Any] = [np.int32(count), *[None] * (len(asked) - 1)]
    for place, cells in zip(places, kept, strict=True):
        hidden[1 + place] = cells
    return Recorded(outputs, hidden)


def _plain(loop: Loop, execution: Execution, limit: int, pool: Sequence[Any]) -> _Iterations:
    """Iterations of which nothing is kept."""
    assert loop.condition is not None
    carried: Sequence[Any] = pool[:loop.carried]
    count, straight = 0, loop.next == tuple(range(len(loop.body.outputs)))
    ask, step = loop.condition.plan(()), loop.body.plan(())
    for_ask, for_step = [pool[i] for i in loop.asks[loop.carried:]], [pool[i] for i in loop.feeds[loop.carried:]]
    if straight and execution.deadline is None and not hooks.op and compilable(ask, step):
        count, over, *carried = _at_full_speed(loop, ask, step, execution, [limit, *carried, *for_ask, *for_step])
        if over:
            return count, carried, [], []
    while count != limit and _true(run_inner(ask, execution, (*carried, *for_ask))[0]):
        found = run_inner(step, execution, (*carried, *for_step))
        carried = found if straight else tuple([found[i] for i in loop.next])
        count += 1
    return count, carried, [], []


def _at_full_speed(loop: Loop, ask: Plan, step: Plan, execution: Execution, values: Sequence[Any]) -> tuple[Any, ...]:
    """The iterations as one function: how many there were, whether the loop is over, and the carried values."""
    source = loop.compiled[0] if loop.compiled else None
    if source is None or not source.of(ask, step):
        source = LoopSource(ask, step, loop.carried)
        loop.compiled[:] = [source]
    try:
        return source.function(execution, *values)
    except KERNEL_ERRORS as error:
        if execution.failed is None:
            execution.failed = source.failed_step(error)
        raise


def _gathered(loop: Loop, execution: Execution, limit: int, pool: Sequence[Any], places: Sequence[int]) -> _Iterations:
    """Iterations that take items, or of which something is stacked, summed or kept."""
    body, first = loop.body, len(loop.feeds)
    way = -1 if loop.backwards else 1
    carried, fixed = pool[:loop.carried], pool[loop.carried + loop.items:]
    lists = [cells.items()[::way] for cells in pool[loop.carried:loop.carried + loop.items]]
    inside = tuple(place for place in places if place >= first)
    ask, step = None if loop.condition is None else loop.condition.plan(()), body.plan(inside)
    stacked: list[list[Any]] = [[] for _ in loop.stacked]
    kept: dict[int, list[Any]] = {place: [] for place in places}
    sums: list[Any] = [None] * len(loop.summed)
    count = 0
    while count != limit:
        now = [*carried, *[cells[count] for cells in lists], *fixed]
        if ask is not None and not _true(run_inner(ask, execution, [now[i] for i in loop.asks])[0]):
            break
        found = run_inner(step, execution, [now[i] for i in loop.feeds])
        for place, cells in kept.items():
            if place < first:
                cells.append(now[loop.feeds[place]])
        for place, value in zip(inside, found[len(body.outputs):], strict=True):
            kept[place].append(value)
        for cells, place in zip(stacked, loop.stacked, strict=True):
            cells.append(found[place])
        for k, (place, _) in enumerate(loop.summed):
            sums[k] = found[place] if sums[k] is None else sums[k] + found[place]
        carried = [found[i] for i in loop.next]
        count += 1
    totals = [zero_of(pool[like]) if total is None else total for total, (_, like) in zip(sums, loop.summed, strict=True)]
    return (count, carried, [*(TensorList(cells[::way]) for cells in stacked), *totals],
            [TensorList(cells[::way]) for cells in kept.values()])


def _true(value: Any) -> bool:
    """Whether a condition's value says that there is another iteration."""
    if value.dtype.kind != 'b':
        raise InvalidArgumentError(None, None, f"Input 'input' passed {value.dtype} expected bool: the condition of a loop")
    if np.ndim(value):
        raise InvalidArgumentError(None, None, f'The loop condition must be a scalar, got shape {list(np.shape(value))}')
    return bool(value)
