"""Reasons why an argument of a program has no gradient but zeros. Read from the program when it is lowered."""
from __future__ import annotations

from typing import NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hosts.jax.graph_ops.observed_program import ObservedProgram
from pyfuncdbg.hosts.jax.graph_ops.op_observer import OpObserver

_FLAT = frozenset(('floor', 'ceil', 'round', 'sign', 'nextafter'))
"""Ops whose derivative is zero wherever there is one."""
_MOST = 10_000


class DeadReason(NamedTuple):
    """A reason, a fix, and the line of the op where the gradient ends."""

    text: str
    fix: str
    line: Frame | None


def reason_of(program: ObservedProgram, argument: str) -> DeadReason:
    """The reason why no gradient reaches an argument: the first op on the way from it that passes none back.

    Args:
        program: The observed program.
        argument: Name of the argument.
    """
    waiting, seen = [argument], {argument}
    used = False
    while waiting and len(seen) < _MOST:
        name = waiting.pop(0)
        for observer in program.by_input.get(name, ()):
            if 'backward' in observer.site.attrs:
                continue
            used = True
            if (reason := _blocks(observer, name)) is not None:
                return reason
            for output in observer.site.outputs:
                if output not in seen:
                    seen.add(output)
                    waiting.append(output)
    if not used:
        return DeadReason('it is not used', f'leave {argument} out of the arguments that are differentiated', None)
    return DeadReason('the differentiated value does not depend on it', '', None)


def _blocks(observer: OpObserver, name: str) -> DeadReason | None:
    """The reason why an op passes no gradient back to its input of a name; None if it passes one."""
    site = observer.site
    line = site.stack[-1] if site.stack else None
    where = f', line {line.line}' if line is not None else ''
    if site.op_type == 'stop_gradient':
        return DeadReason(f'stop_gradient{where}', 'take jax.lax.stop_gradient away', line)
    if site.op_type in _FLAT:
        return DeadReason(f'{site.op_type}{where}: its derivative is zero everywhere',
                          'use a smooth function, or a straight-through estimator by jax.custom_vjp', line)
    if not site.traits.runs_graph and observer.has_whole_outputs:
        return DeadReason(f'{site.op_type}{where}: its result is of whole numbers or booleans',
                          'keep floating-point numbers up to the loss', line)
    return None
