"""Links from backward nodes to the calls that they differentiate. On the thread of the call."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from pyfuncdbg.hooks.call import Frame

CALL = 'pyfuncdbg'
"""Key in the metadata of a backward node, of its `ForwardCall`."""


class ForwardCall(NamedTuple):
    """The call that a backward node differentiates.

    Attributes:
        number: Its id.
        name, op_type: Of its site.
        line: Of the program.
        places: Which of the arguments are tensors: of these the node has gradients. None if all are.
    """

    number: int
    name: str
    op_type: str
    line: Frame | None
    places: tuple[int, ...] | None = None


class GradientLinks:
    """Notes of the calls whose backward node PyTorch makes next.

    Args:
        no_modes: A context manager in which PyTorch hands nothing to modes, the watcher of gradients for one.
    """

    def __init__(self, no_modes: Callable[[], AbstractContextManager[Any]]) -> None:
        self._no_modes = no_modes
        self._thread = threading.local()

    def note_op_call(self, call: int, site: Any, result: Any) -> None:
        """Note a call of an op's kernel: its node is made when it has returned."""
        self._thread.last = ForwardCall(call, site.name, site.op_type, site.stack[-1] if site.stack else None)

    def take_op_call(self) -> ForwardCall | None:
        """The op call of this thread that has no node yet."""
        last: ForwardCall | None = self._thread.__dict__.pop('last', None)
        return last

    def link_function(self, args: Sequence[Any], call: int, site: Any, result: Any) -> None:
        """Note in the backward node of an `autograd.Function`'s result which call it differentiates."""
        self.link(result, ForwardCall(call, site.name, site.op_type, site.stack[-1] if site.stack else None), args)

    def link(self, result: Any, forward: ForwardCall, args: Sequence[Any]) -> None:
        """Note a call in the backward node of its result, if that has one.

        Args:
            result: What the call returned.
            forward: The call.
            args: The arguments of the node's function.
        """
        with self._no_modes():                  # each `grad_fn` would be a call of theirs
            for value in result if isinstance(result, (list, tuple)) else (result,):
                node = getattr(value, 'grad_fn', None)
                if node is not None:
                    places = tuple([i for i, value in enumerate(args) if hasattr(value, 'grad_fn')])
                    node.metadata[CALL] = forward if len(places) == len(args) else forward._replace(places=places)
                    return
