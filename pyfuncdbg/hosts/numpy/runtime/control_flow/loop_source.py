"""A loop without Python calls as one Python function: the lines of its two plans inside of a real `while`.

Compiled once for each pair of plans; `loop_kernel` calls it where nobody watches nodes. It leaves the loop when the run is
to be paused, and the iterations that are left run plan by plan.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.dtypes import bool as boolean
from pyfuncdbg.hosts.numpy.runtime.plans.plan import Plan
from pyfuncdbg.hosts.numpy.runtime.plans.step import Step

_OWN_NAMES = re.compile(r'\b([rckaog]\d+(?:_\d+)?)\b')
"""What a plan calls its locals, constants, kernels and attrs: those of the condition get a name of their own."""


class LoopSource:
    """One loop, compiled.

    Attributes:
        text: The source of `loop(x, limit, carried..., fixed of the condition..., fixed of the body...)`.
        function: It: gives (how many iterations, whether the loop is over, *carried values).
    """

    __slots__ = ('_ask', '_step', 'function', 'text')

    def __init__(self, ask: Plan, step: Plan, carried: int) -> None:
        self._ask = ask
        self._step = step
        test_feeds, test, (condition,) = _parts(ask, 'p_')
        feeds, body, outputs = _parts(step, '')
        values = [f'v{i}' for i in range(carried)]
        fixed = [f'p_f{i}' for i in range(len(test_feeds) - carried)]
        constant = [f'f{i}' for i in range(len(feeds) - carried)]
        lines = [f'def loop({", ".join(["x", "limit", *values, *fixed, *constant])}):', '    n = 0',
                 '    while n != limit and not x.paused:', *_assigned(test_feeds, [*values, *fixed]), *test,
                 f'        if not {condition}: return (n, True, {", ".join(values)})',
                 *_assigned(feeds, [*values, *constant]), *body, *_assigned(values, outputs), '        n += 1',
                 f'    return (n, n == limit, {", ".join(values)})']
        self.text = '\n'.join(lines)
        names = {**step.names, **{_OWN_NAMES.sub(r'p_\1', name): value for name, value in ask.names.items()}}
        exec(compile(self.text, f'<loop of {len(step.steps)} ops>', 'exec'), names)
        self.function: Callable[..., tuple[Any, ...]] = names.pop('loop')        # not a cycle

    def of(self, ask: Plan, step: Plan) -> bool:
        """Whether it was compiled from these plans."""
        return self._ask is ask and self._step is step

    def failed_step(self, error: BaseException) -> Step | None:
        """The step in which an error that came out of `function` was raised."""
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


def compilable(ask: Plan, step: Plan) -> bool:
    """Whether a loop of these plans can be one function: no Python calls, no gradient calls, a plain condition."""
    (condition,) = ask.fetches
    return (condition.dtype is boolean and condition.shape.rank == 0 and not ask.during and not step.during
            and not any(one.gradients for one in (*ask.steps, *step.steps)))


def _parts(plan: Plan, prefix: str) -> tuple[list[str], list[str], list[str]]:
    """The feeds of a plan, its lines one level deeper, and the expressions of its results."""
    head, *lines, last = plan.source.split('\n')
    if prefix:
        head, last = _OWN_NAMES.sub(prefix + r'\1', head), _OWN_NAMES.sub(prefix + r'\1', last)
        lines = [_OWN_NAMES.sub(prefix + r'\1', line).replace('  # ', f'  # {prefix}') for line in lines]
    feeds = head[head.index('(') + 1:head.rindex(')')].split(', ')[1:]
    results = last[last.index('(') + 1:last.rindex(')')].rstrip(', ')
    return feeds, [f'    {line}' for line in lines], results.split(', ') if results else []


def _assigned(targets: Sequence[str], values: Sequence[str]) -> list[str]:
    return [f'        {", ".join(targets)} = {", ".join(values)}'] if targets else []
