"""The text of a plan: one line of Python for each op."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyfuncdbg.graph.registry import kernel_for
from pyfuncdbg.runtime.sharing import Sharing

if TYPE_CHECKING:
    from pyfuncdbg.runtime.plan import Plan, Step


def plan_source(plan: Plan, sharing: Sharing) -> tuple[str, dict[str, Any]]:
    """The source of `plan(x, t0, t1, ...)` and the names it uses.

    Returns:
        Its text, in which a comment '  # i' marks the line of step i; and its globals.
    """
    names: dict[str, Any] = {f't{slot}': value for slot, value in plan.constants.items()}
    parameters = ''.join(f', t{plan.slots[id(t)]}' for t in dict.fromkeys(plan.feeds))
    lines = [f'def plan(x{parameters}):']
    ends: dict[int, list[int]] = {}
    for slot, index in sharing.last_use.items():
        ends.setdefault(index, []).append(slot)
    for index, step in enumerate(plan.steps):
        lines.append(f'    {_line(step, index, sharing, names)}  # {index}')
        if step.op.definition.python:
            lines.append(f'    if x.paused: return hand_over(x, {index + 1}, locals())')
        for number, group in enumerate(step.gradients):
            lines.append('    ' + _gradient_line(plan, group, f'g{index}_{number}', names))
        dead = [f't{slot}' for slot in sorted(ends.get(index, ())) if slot >= 0 and slot not in plan.constants]
        if dead:
            lines.append(f'    del {", ".join(dead)}')
    fetched = ''.join(f'{_fetched(plan, slot, sharing, names)}, ' for slot in sharing.fetched)
    lines.append(f'    return ({fetched})')
    return '\n'.join(lines), names


def _line(step: Step, index: int, sharing: Sharing, names: dict[str, Any]) -> str:
    definition = step.op.definition
    arguments = [f't{slot}' for slot in step.inputs]
    targets = [f't{slot}' if slot >= 0 else '_' for slot in step.outputs]
    infix = definition.infix if definition.infix and kernel_for(definition, step.op.inputs[0].dtype.array) is not definition.kernel else None
    reused = sharing.reusable(step, index)
    if reused is not None:
        names[f'k{index}'] = definition.kernel
        return f'{targets[0]} = k{index}({", ".join(arguments)}, t{reused})'
    if infix is not None:
        return f'{targets[0]} = {arguments[0]} {infix} {arguments[1]}'
    names[f'k{index}'] = step.kernel
    if definition.in_execution:
        arguments.insert(0, 'x')
    if definition.python:
        arguments.append(f'owned={set(sharing.owned(step, index)) or "()"}')
    if step.recorded:
        names['unpacked'] = unpacked
        return f'{", ".join(targets)}, = unpacked(k{index}({", ".join(arguments)}, record=True))'
    call = f'k{index}({", ".join(arguments)})'
    if definition.outputs == 1:
        return f'{targets[0]} = {call}'
    return f'{", ".join(targets)}, = {call}' if targets else call


def unpacked(recorded: Any) -> tuple[Any, ...]:
    """All outputs of a `Recorded`, the hidden ones last."""
    return (*recorded.outputs, *recorded.hidden)


def _gradient_line(plan: Plan, group: Any, name: str, names: dict[str, Any]) -> str:
    """A line that reports one backward step as a gradient call."""
    names[name] = group.report
    given, results, (record,) = ([f't{plan.slots[id(t)]}' if t is not None and id(t) in plan.slots else 'None' for t in tensors]
                                 for tensors in (group.incoming, group.outgoing, [group.record]))
    return f'{name}(x, ({"".join(g + ", " for g in given)}), ({"".join(r + ", " for r in results)}), {record})'


def _fetched(plan: Plan, slot: int, sharing: Sharing, names: dict[str, Any]) -> str:
    """A fetched value as the caller gets it."""
    tensor = next(t for t in plan.fetches if plan.slots[id(t)] == slot)
    if slot in sharing.to_copy:
        names['own'], names['own_feed'] = own, own_feed
        return f'own_feed(t{slot})' if any(t is tensor for t in plan.feeds) else f'own(t{slot})'
    if tensor.shape.rank:
        return f't{slot}'
    names['settled'] = settled
    return f'settled(t{slot})'


def own(value: Any) -> Any:
    """A copy for the caller to write to; a scalar at rank 0."""
    if isinstance(value, np.ndarray):
        return value.copy() if value.ndim else value[()]
    return value


def own_feed(value: Any) -> Any:
    """A copy of a fed value; a scalar comes back as an array of rank 0, as from TensorFlow."""
    return np.array(value)


def settled(value: Any) -> Any:
    """A scalar instead of an array of rank 0."""
    return value if not isinstance(value, np.ndarray) or value.ndim else value[()]
