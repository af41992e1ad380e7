"""Execution of While nodes: a traced body, repeated within the run of the outer graph. On the thread of the run.

Loops are closed under differentiation (`loop_gradient`):

    carried   goes from one iteration to the next          its gradient is carried backwards
    item      one cell of a list for each iteration        its gradient is stacked
    fixed     the same in every iteration                  its gradient is summed
    stacked   one value of each iteration, as a list       its gradient is an item
    summed    the sum over all iterations                  its gradient is fixed
"""
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyfuncdbg.errors import InvalidArgumentError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.numpy.graph.definitions.registry import Output
from pyfuncdbg.hosts.numpy.graph.graph import Graph
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean
from pyfuncdbg.hosts.numpy.runtime.control_flow.nested_plan import run_inner
from pyfuncdbg.hosts.numpy.runtime.control_flow.tensor_list import TensorList, zero_of
from pyfuncdbg.hosts.numpy.runtime.eager.tape_recording import RecordedResult
from pyfuncdbg.hosts.numpy.runtime.execution.execution import Execution
from pyfuncdbg.hosts.numpy.runtime.execution.failure import KERNEL_ERRORS
from pyfuncdbg.hosts.numpy.runtime.plans.plan import CompiledPlan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step
from pyfuncdbg.hosts.numpy.runtime.traces.traced_function import TracedFunction

_OWN_NAMES = re.compile(r'\b([rckaog]\d+(?:_\d+)?)\b')
"""Names of locals, constants, kernels and attrs in a plan: those of the condition are prefixed."""


@dataclass(frozen=True, slots=True)
class Loop:
    """Definition of a While node. Its inputs are a counter, a maximum, and the pool: carried values, lists of items, fixed
    values.

    Attributes:
        condition: Whether there is another iteration; None: up to the maximum.
        body: One iteration.
        carried: The number of carried values.
        items: The number of lists.
        asks: For each input and captured tensor of the condition, its index in the pool.
        feeds: The same for the body, which gets an item where the pool has a list.
        next: For each carried value, the index of the body's output with its next value.
        stacked: Outputs of the body to stack.
        summed: Outputs of the body to sum, each with the index in the pool of a value like it.
        limited: Whether there is a maximum.
        backwards: Whether items are taken from the last one on.
        types: Static types of the node's outputs: counter, maximum, carried and, where there is a condition, fixed values;
            then stacked and summed ones.
        compiled: The loop compiled to one function, after its first run.
    """

    condition: TracedFunction | None
    body: TracedFunction
    carried: int
    items: int
    asks: tuple[int, ...]
    feeds: tuple[int, ...]
    next: tuple[int, ...]
    stacked: tuple[int, ...]
    summed: tuple[tuple[int, int], ...]
    limited: bool
    backwards: bool
    types: tuple[Output, ...]
    compiled: list[LoopSource] = field(default_factory=list, compare=False, repr=False)

    def results_of(self, graph: Graph) -> Iterator[tuple[Tensor, int]]:
        """Results of the body, if this is its graph, each with the output of the node for its last value."""
        if self.body.graph is graph:            # the counter and the maximum are before the carried values
            yield from ((self.body.outputs[result], place) for place, result in enumerate(self.next, 2))

    def calls(self) -> Iterator[tuple[TracedFunction, Sequence[int]]]:
        """Its functions, each with the node's inputs that it gets, by index."""
        for function, places in ((self.condition, self.asks), (self.body, self.feeds)):
            if function is not None:
                yield function, [2 + place for place in places]

    def library(self, node: Any) -> list[Any]:
        """The functions of a node that runs it, for the library of a GraphDef."""
        from pyfuncdbg.hosts.numpy.runtime.control_flow.loop_library import library  # only needed to write a graph
        return [*library(self, node)]


class LoopSource:
    """One loop, compiled.

    Attributes:
        text: The source of `loop(x, limit, carried..., fixed of the condition..., fixed of the body...)`.
        function: The function: returns (number of iterations, whether the loop is over, *carried values).
    """

    __slots__ = ('_ask', '_step', 'function', 'text')

    def __init__(self, ask: CompiledPlan, step: CompiledPlan, carried: int) -> None:
        self._ask = ask
        self._step = step
        test_feeds, test, (condition,) = _parts(ask, 'p_')
        feeds, body, outputs = _parts(step, '')
        values = [f'v{i}' for i in range(carried)]
        fixed = [f'p_f{i}' for i in range(len(test_feeds) - carried)]
        constant = [f'f{i}' for i in range(len(feeds) - carried)]
        lines = [f'def loop({", ".join(["x", "limit", *values, *fixed, *constant])}):', '    n = 0',
                 '    while n != limit and not x.paused:', *_assignment_lines(test_feeds, [*values, *fixed]), *test,
                 f'        if not {condition}: return (n, True, {", ".join(values)})',
                 *_assignment_lines(feeds, [*values, *constant]), *body, *_assignment_lines(values, outputs),
                 '        n += 1',
                 f'    return (n, n == limit, {", ".join(values)})']
        self.text = '\n'.join(lines)
        names = {**step.names, **{_OWN_NAMES.sub(r'p_\1', name): value for name, value in ask.names.items()}}
        exec(compile(self.text, f'<loop of {len(step.steps)} ops>', 'exec'), names)
        self.function: Callable[..., tuple[Any, ...]] = names.pop('loop')        # not a cycle

    def of(self, ask: CompiledPlan, step: CompiledPlan) -> bool:
        """Whether it was compiled from these plans."""
        return self._ask is ask and self._step is step

    def failed_step(self, error: BaseException) -> Step | None:
        """The step that raised an error of `function`."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not self.function.__code__:
            traceback = traceback.tb_next
        if traceback is None:
            return None
        for line in reversed(self.text.split('\n')[:traceback.tb_lineno]):
            _, mark, index = line.rpartition('  # ')
            if mark:
                return self._ask.steps[int(index[2:])] if index.startswith('p_') else self._step.steps[int(index)]
        return None


def compilable(ask: CompiledPlan, step: CompiledPlan) -> bool:
    """Whether a loop of these plans can be compiled: no Python calls, no gradient calls, a plain condition."""
    (condition,) = ask.fetches
    return (condition.dtype is boolean and condition.shape.rank == 0 and not ask.during and not step.during
            and not any(one.gradients for one in (*ask.steps, *step.steps)))


def _parts(plan: CompiledPlan, prefix: str) -> tuple[list[str], list[str], list[str]]:
    """The feeds of a plan, its lines one level deeper, and the expressions of its results."""
    head, *lines, last = plan.source.split('\n')
    if prefix:
        head, last = _OWN_NAMES.sub(prefix + r'\1', head), _OWN_NAMES.sub(prefix + r'\1', last)
        lines = [_OWN_NAMES.sub(prefix + r'\1', line).replace('  # ', f'  # {prefix}') for line in lines]
    feeds = head[head.index('(') + 1:head.rindex(')')].split(', ')[1:]
    results = last[last.index('(') + 1:last.rindex(')')].rstrip(', ')
    return feeds, [f'    {line}' for line in lines], results.split(', ') if results else []


def _assignment_lines(targets: Sequence[str], values: Sequence[str]) -> list[str]:
    return [f'        {", ".join(targets)} = {", ".join(values)}'] if targets else []


_Iterations = tuple[int, Sequence[Any], list[Any], list[TensorList]]
"""The number of iterations, carried values, stacked and summed ones, and intermediate ones for a gradient."""


def run(execution: Execution, counter: Any, maximum: Any, *pool: Any, _py_loop: Loop, hidden_needed: Sequence[bool] = (),
        owned: Any = (), record: bool = False) -> Any:
    """Kernel of While: runs all iterations."""
    loop = _py_loop
    places = tuple(i for i, is_needed in enumerate(hidden_needed[1:]) if is_needed) if record else ()
    limit = max(int(maximum), 0) if loop.limited else -1
    gathering = places or loop.items or loop.stacked or loop.summed
    count, carried, rest, gathered = (_run_gathering(loop, execution, limit, pool, places) if gathering else
                                      _run_plain(loop, execution, limit, pool))
    fixed = pool[loop.carried + loop.items:] if loop.condition is not None else ()
    outputs = [counter.dtype.type(count), maximum, *carried, *fixed, *rest]
    if not record:
        return outputs
    hidden: list[Any] = [np.int32(count), *[None] * (len(hidden_needed) - 1)]
    for place, cells in zip(places, gathered, strict=True):
        hidden[1 + place] = cells
    return RecordedResult(outputs, hidden)


def _run_plain(loop: Loop, execution: Execution, limit: int, pool: Sequence[Any]) -> _Iterations:
    """Iterations without stored values."""
    assert loop.condition is not None
    carried: Sequence[Any] = pool[:loop.carried]
    count, straight = 0, loop.next == tuple(range(len(loop.body.outputs)))
    ask, step = loop.condition.plan(()), loop.body.plan(())
    for_ask, for_step = [pool[i] for i in loop.asks[loop.carried:]], [pool[i] for i in loop.feeds[loop.carried:]]
    if straight and execution.deadline is None and not hooks.op and compilable(ask, step):
        count, over, *carried = _run_compiled(loop, ask, step, execution, [limit, *carried, *for_ask, *for_step])
        if over:
            return count, carried, [], []
    while count != limit and _true(run_inner(ask, execution, (*carried, *for_ask))[0]):
        results = run_inner(step, execution, (*carried, *for_step))
        carried = results if straight else tuple([results[i] for i in loop.next])
        count += 1
    return count, carried, [], []


def _run_compiled(loop: Loop, ask: CompiledPlan, step: CompiledPlan, execution: Execution,
                  values: Sequence[Any]) -> tuple[Any, ...]:
    """The iterations as one function: their number, whether the loop is over, and the carried values."""
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


def _run_gathering(loop: Loop, execution: Execution, limit: int, pool: Sequence[Any], places: Sequence[int]) -> _Iterations:
    """Iterations that take items, or whose values are stacked, summed or stored."""
    body, first = loop.body, len(loop.feeds)
    way = -1 if loop.backwards else 1
    carried, fixed = pool[:loop.carried], pool[loop.carried + loop.items:]
    lists = [cells.items()[::way] for cells in pool[loop.carried:loop.carried + loop.items]]
    inside = tuple(place for place in places if place >= first)
    ask, step = None if loop.condition is None else loop.condition.plan(()), body.plan(inside)
    stacked: list[list[Any]] = [[] for _ in loop.stacked]
    gathered: dict[int, list[Any]] = {place: [] for place in places}
    sums: list[Any] = [None] * len(loop.summed)
    count = 0
    while count != limit:
        now = [*carried, *[cells[count] for cells in lists], *fixed]
        if ask is not None and not _true(run_inner(ask, execution, [now[i] for i in loop.asks])[0]):
            break
        results = run_inner(step, execution, [now[i] for i in loop.feeds])
        for place, cells in gathered.items():
            if place < first:
                cells.append(now[loop.feeds[place]])
        for place, value in zip(inside, results[len(body.outputs):], strict=True):
            gathered[place].append(value)
        for cells, place in zip(stacked, loop.stacked, strict=True):
            cells.append(results[place])
        for k, (place, _) in enumerate(loop.summed):
            sums[k] = results[place] if sums[k] is None else sums[k] + results[place]
        carried = [results[i] for i in loop.next]
        count += 1
    totals = [zero_of(pool[like]) if total is None else total for total, (_, like) in zip(sums, loop.summed, strict=True)]
    return (count, carried, [*(TensorList(cells[::way]) for cells in stacked), *totals],
            [TensorList(cells[::way]) for cells in gathered.values()])


def _true(value: Any) -> bool:
    """The bool of a condition's value."""
    if value.dtype.kind != 'b':
        raise InvalidArgumentError(None, None, f"Input 'input' passed {value.dtype} expected bool: the condition of a loop")
    if np.ndim(value):
        raise InvalidArgumentError(None, None, f'The loop condition must be a scalar, got shape {list(np.shape(value))}')
    return bool(value)
