"""Reasons why parameters get no gradient in a pass, with the line and the fix. On the thread of the pass."""
from __future__ import annotations

from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.notebook_cell import short_place
from pyfuncdbg.hosts.torch.tapes.forward_notes import ForwardNotes, GradientLoss


class MissingGradient(NamedTuple):
    """The reason of a missing gradient.

    Attributes:
        reason: In words, with the line.
        fix: What to do about it.
    """

    reason: str
    fix: str


def missing_gradient(notes: ForwardNotes, leaf: Any, name: str) -> MissingGradient:
    """The reason why a leaf got no gradient in the pass that ends the present epoch.

    Args:
        notes: Of the thread.
        leaf: The leaf.
        name: Its name.
    """
    if not leaf.requires_grad:
        return MissingGradient('requires_grad is False', f'{name}.requires_grad_(True), if it is to be trained')
    losses = notes.losses_of(leaf)
    use = notes.last_use(leaf)
    if losses:
        loss = losses[0]
        reason, fix = _described(loss)
        if use is not None:
            reason += f'; what is computed of it by {use[1]}{_place(use[0])} does not lead to the target'
        return MissingGradient(reason, fix)
    if use is not None:
        return MissingGradient(f'not used: what is computed of it by {use[1]}{_place(use[0])} does not lead to the target',
                               'use the result in what backward() is called on, or leave the parameter out')
    return MissingGradient('not used: no operation has taken it since the last backward pass',
                           'use it in forward, or leave it out of the optimizer')


def _described(loss: GradientLoss) -> tuple[str, str]:
    at = _place(loss.line)
    then = f', then its elements go {loss.out}' if loss.out and loss.kind != 'out' else ''
    if loss.kind == 'detach':
        return f'detach(){at} cuts it off{then}', 'remove the detach() if it is not intended' if not then else (
            'compute with torch, not with NumPy, from it to the target')
    if loss.kind == 'data':
        return f'.data{at} cuts it off{then}', 'use the tensor itself, not its .data'
    if loss.kind == 'no_grad':
        return (f'{loss.name}{at} computes with it under torch.no_grad or inference_mode, which record nothing{then}',
                'compute it outside of the no_grad block')
    if loss.kind == 'dtype':
        return (f'{loss.name}{at} makes {loss.dtype} of it: whole numbers and bools have no gradient',
                'keep floating point from it to the target')
    if loss.kind == 'out':
        return f'{loss.name}(){at} takes its elements out, {loss.out}', 'keep it a tensor from it to the target'
    return f'{loss.name}{at} has no gradient', 'use an operation that has one, or an autograd.Function'


def _place(line: Frame) -> str:
    return f' ({short_place(line.filename, line.line)})' if line.filename else ''
