"""One backward pass: the steps that gave each gradient, and the forward op that each step differentiates.

TensorFlow hands gradients on as objects; some rules hand on the very one they got, so an object alone does not tell whose
it is. The tensors that ops were made of do, where the tape's log has them; else the latest that is left. Thread of the pass.

Gradients are known by TensorFlow's numbers, which it gives once only, so none needs to be held or watched; those that have
none, such as rows of a table, by their places in memory.
"""
from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp

_Flow = tuple[int, int]
"""A gradient call, and which of its outputs."""


_Parts = tuple[int, list[_Flow]]
"""Summands of one tensor's gradient, behind the number of that tensor, 0 if that is not known."""


class BackwardPass:
    """Gradients on their way.

    Attributes:
        run: What it is shown as.
        eager: Whether it computes; else it makes nodes of a graph.
        log: What the tape recorded, None if no hook wanted gradients then.
        targets: Numbers of the tensors that are differentiated.
        forward: Id of the wrapped call that it goes back through, 0 for none.
        ended: By id the ops whose rules gave nothing.
    """

    __slots__ = ('_done', '_held', '_known', 'eager', 'ended', 'forward', 'log', 'run', 'targets')

    def __init__(self, run: Run, eager: bool, log: ForwardLog | None, targets: Sequence[int], forward: int) -> None:
        self.run = run
        self.eager = eager
        self.log = log
        self.targets = targets
        self.forward = forward
        self.ended: set[int] = set()
        self._known: dict[int, list[_Parts]] = {}
        self._held: dict[int, Any] = {}         # weakly: TensorFlow lets a gradient go when it has been used
        self._done: set[int] = set()

    # ------------------------------------------------------------------ what comes into a step
    def incoming(self, op_type: str, inputs: Any, outputs: Any, gradients: Sequence[Any],
                 made: LoggedOp | None) -> tuple[LoggedOp | None, list[_Flow]]:
        """The op that a step differentiates, and the flows that its gradients are sums of.

        Args:
            op_type: Of what it differentiates.
            inputs, outputs: The tensors of that which TensorFlow has kept; None for others.
            gradients: Of its outputs.
            made: What it is, where that is known.
        """
        flows: list[_Flow] = []
        for gradient in gradients:
            if gradient is None or not (known := self._known.get(getattr(gradient, '_id', 0) or -id(gradient))):
                continue
            at = len(known) - 1
            if not at and made is None:         # the usual: of one tensor, and who made that is no question
                maker = self.log.by_output.get(known[0][0]) if self.log is not None else None
                if maker is not None and maker.type == op_type and id(maker) not in self._done:
                    made = maker
            for i in range(at, -1, -1) if at else ():
                maker = self._maker(known[i][0])
                if maker is not None and (maker is made or (
                        made is None and self._fits(maker, op_type, inputs, outputs))):
                    at, made = i, maker
                    break
            flows += known.pop(at)[1]
        if made is None and not flows:
            makers = [self._maker(target) for target in self.targets]
            made = next((maker for maker in makers if maker is not None
                         and self._fits(maker, op_type, inputs, outputs)), None)
        if made is not None:
            self._done.add(id(made))
        return made, flows

    def _maker(self, tensor: int) -> LoggedOp | None:
        return self.log.by_output.get(tensor) if self.log is not None else None

    def _fits(self, made: LoggedOp, op_type: str, inputs: Any, outputs: Any) -> bool:
        return (made.type == op_type and id(made) not in self._done and _are(made.inputs, inputs)
                and _are(made.outputs, outputs))

    # ------------------------------------------------------------------ what comes out of it
    def gave(self, call: int, made: LoggedOp | None, gradients: Sequence[Any]) -> None:
        """A step has given gradients of its inputs."""
        tensors = made.inputs if made is not None and len(made.inputs) == len(gradients) else ()
        ended = True
        all_known = self._known
        for slot, gradient in enumerate(gradients):
            if gradient is not None:
                ended = False
                parts = tensors[slot] if tensors else 0, [(call, slot)]
                key = getattr(gradient, '_id', 0)
                if key and key not in all_known:
                    all_known[key] = [parts]
                else:
                    self._add(gradient, parts)
        if ended and made is not None:
            self.ended.add(id(made))

    def added(self, whole: Any, gradients: Sequence[Any]) -> None:
        """Gradients of one tensor were added."""
        lists = [self._known.get(_key(gradient), []) for gradient in gradients]
        common = set.intersection(*({tensor for tensor, _ in known} for known in lists)) if lists else set()
        flows: list[_Flow] = []
        tensor = max(common, default=0)
        for known in lists:
            if known:
                flows += _taken(known, tensor)
        self._add(whole, (tensor, flows))

    def _add(self, gradient: Any, parts: _Parts) -> None:
        key = _key(gradient)
        known = self._known.get(key)
        if known is not None:
            known.append(parts)
            return
        self._known[key] = [parts]
        if key < 0:
            self._hold(gradient)

    def _hold(self, gradient: Any) -> None:
        """An object that is gone gives its place to another, which is not this gradient."""
        key, known, held = _key(gradient), self._known, self._held

        def gone(_: Any) -> None:
            known.pop(key, None)
            held.pop(key, None)
        try:
            held[key] = weakref.ref(gradient, gone)
        except TypeError:                       # takes no weak references
            held[key] = gradient

    def knows(self, gradient: Any) -> bool:
        """Whether anything has given a gradient."""
        return _key(gradient) in self._known

    def of_source(self, gradient: Any, tensor: int) -> list[_Flow]:
        """The flows that the gradient of a source is the sum of."""
        known = self._known.get(_key(gradient))
        return _taken(known, tensor) if known else []


def _key(gradient: Any) -> int:
    """TensorFlow's number of a tensor; of what has none something below 0."""
    return getattr(gradient, '_id', 0) or -id(gradient)


def _taken(known: list[_Parts], tensor: int) -> list[_Flow]:
    """Takes the parts of one tensor's gradient out, the latest if that is not known."""
    at = next((i for i in range(len(known) - 1, -1, -1) if known[i][0] == tensor), len(known) - 1)
    return known.pop(at)[1]


def _are(numbers: Sequence[int], tensors: Any) -> bool:
    """Whether tensors are those with these numbers, as far as they are there."""
    if not tensors:
        return True
    if len(tensors) != len(numbers):
        return False
    for i, tensor in enumerate(tensors):
        if tensor is not None and getattr(tensor, '_id', numbers[i]) != numbers[i]:
            return False
    return True
