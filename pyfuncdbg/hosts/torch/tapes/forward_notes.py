"""Notes of the forward operations of one thread: their lines, and where gradients are lost. On that thread.

Nothing here keeps a tensor alive, nor a graph.
"""
from __future__ import annotations

import weakref
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pyfuncdbg.hooks.call import Frame

_MOST_LINES = 1 << 17
_MOST_KEPT = 1 << 12
_MOST_LOSSES = 1 << 12
_MOST_LEAVES = 1 << 12
WAYS = {'numpy': 'to NumPy', '__array__': 'to NumPy', 'tolist': 'to a list',
        **dict.fromkeys(('item', '__float__', '__int__', '__index__', '__complex__'), 'to a number')}
"""Operations that take the elements out of tensors."""
READING = frozenset((*WAYS, '__bool__', '__repr__', '__format__', 'cpu', 'to'))
"""Operations that bring elements of tensors to the CPU, some of them only with such arguments."""


@dataclass(slots=True)
class GradientLoss:
    """An operation whose result has no gradient though an input has one.

    Attributes:
        kind: 'detach', 'data', 'no_grad', 'dtype', 'out' for one that takes the elements out, or 'op'.
        name: Of the operation.
        line: Of the program.
        dtype: Of the result, where that is the reason.
        out: What the result was then made, if its elements were taken out: 'to NumPy'.
        leaves: The leaves that the inputs depend on, by id.
        epoch: Number of the last epoch that it happened in.
        searched: Sequence numbers of the nodes that were searched for leaves in that epoch.
    """

    kind: str
    name: str
    line: Frame
    dtype: str = ''
    out: str = ''
    leaves: dict[int, weakref.ref[Any]] = field(default_factory=dict)
    epoch: int = 0
    searched: set[int] = field(default_factory=set)

    def add_leaves(self, leaves: Sequence[Any]) -> None:
        """Note leaves that the inputs of a call depend on."""
        for leaf in leaves:
            if len(self.leaves) >= _MOST_LEAVES:
                return
            self.leaves[id(leaf)] = weakref.ref(leaf)


class ForwardNotes:
    """Notes of one thread. An epoch ends with a backward pass.

    Attributes:
        epoch: Number of the present epoch.
        losses: Where gradients are lost.
    """

    def __init__(self) -> None:
        self.epoch = 1
        self.losses: dict[tuple[Any, ...], GradientLoss] = {}
        self._uses: dict[int, tuple[weakref.ref[Any], int, Frame, str]] = {}
        self._starts: list[int] = []
        self._epoch_start = 0
        self._spans: list[tuple[int, Frame]] = []
        self._last_loss: tuple[weakref.ref[Any], GradientLoss] | None = None

    def end_epoch(self) -> None:
        """A backward pass has ended: later operations are those of the next one. Graphs that are kept lose their lines
        after one more."""
        self.epoch += 1
        if len(self._starts) > _MOST_KEPT:
            del self._starts[:self._epoch_start], self._spans[:self._epoch_start]
        self._epoch_start = len(self._starts)

    # ------------------------------------------------------------------ lines
    def note_nodes(self, start: int, end: int, line: Frame) -> None:
        """Note that the nodes with these sequence numbers were made at a line."""
        if len(self._starts) > _MOST_LINES:
            del self._starts[:_MOST_LINES // 2], self._spans[:_MOST_LINES // 2]
            self._epoch_start = 0
        if self._starts and self._starts[-1] >= start:      # the numbers began anew
            self._starts.clear()
            self._spans.clear()
            self._epoch_start = 0
        self._starts.append(start)
        self._spans.append((end, line))

    def line_of(self, sequence_number: int) -> Frame | None:
        """The line at which the node with a sequence number was made; None if unknown."""
        place = bisect_right(self._starts, sequence_number) - 1
        if place < 0:
            return None
        end, line = self._spans[place]
        return line if sequence_number < end else None

    # ------------------------------------------------------------------ gradients
    def note_use(self, leaf: Any, line: Frame, name: str) -> None:
        """Note that an operation used a leaf."""
        if len(self._uses) > _MOST_LEAVES:
            self._uses.clear()
        self._uses[id(leaf)] = weakref.ref(leaf), self.epoch, line, name

    def last_use(self, leaf: Any) -> tuple[Frame, str] | None:
        """The line and name of the last operation of this epoch that used a leaf."""
        use = self._uses.get(id(leaf))
        return use[2:] if use is not None and use[1] == self.epoch and use[0]() is leaf else None

    def note_loss(self, loss: GradientLoss, result: Any) -> GradientLoss:
        """Note an operation whose result has no gradient.

        Args:
            loss: Of this call of the operation.
            result: Of the operation.

        Returns:
            The loss of all its calls at that line, to which this one's leaves are added.
        """
        key = loss.kind, loss.name, loss.line
        known = self.losses.get(key)
        if known is None:
            if len(self.losses) > _MOST_LOSSES:
                self.losses.clear()
            known = self.losses[key] = loss
        if known.epoch != self.epoch:
            known.epoch = self.epoch
            known.leaves.clear()
            known.searched.clear()
        if len(known.searched) > _MOST_KEPT:
            known.searched.clear()
        if hasattr(result, 'grad_fn'):
            self._last_loss = weakref.ref(result), known
        return known

    def note_taken_out(self, tensor: Any, way: str) -> None:
        """Note that the elements of a tensor without gradient were taken out: of what lost its gradient just before."""
        if self._last_loss is not None and self._last_loss[0]() is tensor:
            self._last_loss[1].out = way

    def losses_of(self, leaf: Any) -> list[GradientLoss]:
        """The operations of this epoch in which the gradient of a leaf is lost."""
        return [loss for loss in self.losses.values() if loss.epoch == self.epoch
                and (reference := loss.leaves.get(id(leaf))) is not None and reference() is leaf]
