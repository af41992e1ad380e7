"""One backward pass: the steps that gave each gradient, and the forward op that each step differentiates.

TensorFlow passes gradients on as objects, and some rules return the very object they got: an object may be the gradient of
several tensors. The right one is found by the inputs of ops in the tape's log; without it, the latest. Thread of the pass.

Gradients are known by TensorFlow's unique numbers, so none needs to be held; those without, such as rows of a table, by id.
"""
from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hosts.tensorflow.tapes.forward_log import ForwardLog, LoggedOp

_Flow = tuple[int, int]
"""Id of a gradient call, and index of its output."""


_Parts = tuple[int, list[_Flow]]
"""Number of a tensor, 0 if unknown, and the summands of its gradient."""


class BackwardPass:
    """Gradients on their way.

    Attributes:
        run: The pass as a `Run`.
        eager: Whether it computes; else it makes nodes of a graph.
        log: The tape's log, None if no hook wanted gradients then.
        targets: Numbers of the tensors that are differentiated.
        forward: Id of the wrapped call that it goes back through, 0 for none.
        dead_ends: Ids of the ops whose rules gave no gradient.
    """

    __slots__ = (
        '_differentiated',
        '_parts_by_gradient',
        '_references',
        'dead_ends',
        'eager',
        'forward',
        'log',
        'run',
        'targets',
    )

    def __init__(self, run: Run, eager: bool, log: ForwardLog | None, targets: Sequence[int], forward: int) -> None:
        self.run = run
        self.eager = eager
        self.log = log
        self.targets = targets
        self.forward = forward
        self.dead_ends: set[int] = set()
        self._parts_by_gradient: dict[int, list[_Parts]] = {}
        self._references: dict[int, Any] = {}         # weak: TensorFlow frees gradients after use
        self._differentiated: set[int] = set()

    # ------------------------------------------------------------------ what comes into a step
    def step_sources(self, op_type: str, inputs: Any, outputs: Any, gradients: Sequence[Any],
                     op: LoggedOp | None) -> tuple[LoggedOp | None, list[_Flow]]:
        """The op that a step differentiates, and the flows that its gradients are sums of.

        Args:
            op_type: Of the op.
            inputs, outputs: The op's tensors that TensorFlow has kept; None for others.
            gradients: Of its outputs.
            op: The op, if known.
        """
        flows: list[_Flow] = []
        for gradient in gradients:
            if gradient is None or not (parts := self._parts_by_gradient.get(getattr(gradient, '_id', 0) or -id(gradient))):
                continue
            at = len(parts) - 1
            if not at and op is None:         # mostly: the gradient of one tensor
                maker = self.log.by_output.get(parts[0][0]) if self.log is not None else None
                if maker is not None and maker.type == op_type and id(maker) not in self._differentiated:
                    op = maker
            for i in range(at, -1, -1) if at else ():
                maker = self._maker(parts[i][0])
                if maker is not None and (maker is op or (
                        op is None and self._fits(maker, op_type, inputs, outputs))):
                    at, op = i, maker
                    break
            flows += parts.pop(at)[1]
        if op is None and not flows:
            makers = [self._maker(target) for target in self.targets]
            op = next((maker for maker in makers if maker is not None
                       and self._fits(maker, op_type, inputs, outputs)), None)
        if op is not None:
            self._differentiated.add(id(op))
        return op, flows

    def _maker(self, tensor: int) -> LoggedOp | None:
        return self.log.by_output.get(tensor) if self.log is not None else None

    def _fits(self, op: LoggedOp, op_type: str, inputs: Any, outputs: Any) -> bool:
        return (op.type == op_type and id(op) not in self._differentiated and _match(op.inputs, inputs)
                and _match(op.outputs, outputs))

    # ------------------------------------------------------------------ what comes out of it
    def note_step(self, call: int, op: LoggedOp | None, gradients: Sequence[Any]) -> None:
        """Note the gradients that a step has computed."""
        tensors = op.inputs if op is not None and len(op.inputs) == len(gradients) else ()
        ended = True
        parts_by_gradient = self._parts_by_gradient
        for slot, gradient in enumerate(gradients):
            if gradient is not None:
                ended = False
                parts = tensors[slot] if tensors else 0, [(call, slot)]
                key = getattr(gradient, '_id', 0)
                if key and key not in parts_by_gradient:
                    parts_by_gradient[key] = [parts]
                else:
                    self._add(gradient, parts)
        if ended and op is not None:
            self.dead_ends.add(id(op))

    def note_sum(self, total: Any, gradients: Sequence[Any]) -> None:
        """Note a sum of gradients of one tensor."""
        lists = [self._parts_by_gradient.get(_key(gradient), []) for gradient in gradients]
        common = set.intersection(*({tensor for tensor, _ in parts} for parts in lists)) if lists else set()
        flows: list[_Flow] = []
        tensor = max(common, default=0)
        for parts in lists:
            if parts:
                flows += _take_parts(parts, tensor)
        self._add(total, (tensor, flows))

    def _add(self, gradient: Any, parts: _Parts) -> None:
        key = _key(gradient)
        known_parts = self._parts_by_gradient.get(key)
        if known_parts is not None:
            known_parts.append(parts)
            return
        self._parts_by_gradient[key] = [parts]
        if key < 0:
            self._hold(gradient)

    def _hold(self, gradient: Any) -> None:
        """Notice the end of an object, whose id another may get then."""
        key, parts_by_gradient, references = _key(gradient), self._parts_by_gradient, self._references

        def gone(_: Any) -> None:
            parts_by_gradient.pop(key, None)
            references.pop(key, None)
        try:
            references[key] = weakref.ref(gradient, gone)
        except TypeError:                       # no weak references
            references[key] = gradient

    def knows(self, gradient: Any) -> bool:
        """Whether a step has computed a gradient."""
        return _key(gradient) in self._parts_by_gradient

    def source_flows(self, gradient: Any, tensor: int) -> list[_Flow]:
        """The flows that the gradient of a source is the sum of."""
        parts = self._parts_by_gradient.get(_key(gradient))
        return _take_parts(parts, tensor) if parts else []


def _key(gradient: Any) -> int:
    """TensorFlow's number of a tensor; for other objects a negative number."""
    return getattr(gradient, '_id', 0) or -id(gradient)


def _take_parts(parts: list[_Parts], tensor: int) -> list[_Flow]:
    """Take out the parts of one tensor's gradient, the latest if the tensor is unknown."""
    at = next((i for i in range(len(parts) - 1, -1, -1) if parts[i][0] == tensor), len(parts) - 1)
    return parts.pop(at)[1]


def _match(numbers: Sequence[int], tensors: Any) -> bool:
    """Whether tensors have these numbers, as far as they are known."""
    if not tensors:
        return True
    if len(tensors) != len(numbers):
        return False
    for i, tensor in enumerate(tensors):
        if tensor is not None and getattr(tensor, '_id', numbers[i]) != numbers[i]:
            return False
    return True
