"""Shapes that `ensure_shape` wants of a function's outputs, and calls whose result it has refused.

Whether such a node runs at all TensorFlow alone knows: a call whose result does not fit waits, on its thread, until an error
of TensorFlow's tells that it was refused. Then recorders get it once more, with that as its error.
"""
from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from pyfuncdbg.adapters.tensorflow.parts import Parts
from pyfuncdbg.hooks.call import Call, current
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hooks.locks import new_lock

Shape = tuple[int | None, ...]
_WAITING = 8
_TEXT = re.compile(r'Shape of tensor \S+ (\S+ is not compatible with expected shape [^\s.]+)')


class _Misfit(NamedTuple):
    """A call, and what TensorFlow says of its result if it refuses that."""

    text: str
    call: Call


class Ensured:
    """Calls that may be refused.

    Attributes:
        waiting: Misfits that no error has reported yet.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = new_lock()
        self.waiting: deque[_Misfit] = deque(maxlen=_WAITING)

    def look(self, wanted: Sequence[tuple[int, Shape]], result: Any) -> None:
        """A function has given a result; `wanted` are shapes by output."""
        values = result if isinstance(result, (list, tuple)) else (result,)
        for index, shape in wanted:
            found = tuple(values[index].shape) if index < len(values) else shape        # of another number is no call made
            call = current.get() if not _fits(found, shape) else None
            if call is not None and call.id:
                text = f'{_shown(found)} is not compatible with expected shape {_shown(shape)}'
                with self._lock:
                    self.waiting.append(_Misfit(text, call))

    def refused(self, message: Any) -> None:
        """TensorFlow makes an error: if it tells of a call that waits, that is the call's error."""
        found = _TEXT.search(message.decode(errors='replace') if isinstance(message, bytes) else str(message))
        if found is None:
            return
        with self._lock:
            misfit = next((one for one in reversed(self.waiting) if one.text == found[1]), None)
            if misfit is None:
                return
            # One of an earlier run was not refused. Of this run others were, with an error each.
            kept = [one for one in self.waiting if one is not misfit and one.call.run is misfit.call.run]
            self.waiting.clear()
            self.waiting.extend(kept)
        call = misfit.call
        call.error = self._parts.errors.InvalidArgumentError(None, None, f'{found[0]}.')
        for hook in hooks.python:
            keep = getattr(hook, 'keep', None)
            if keep is not None:
                keep(call, call.inputs, call.outputs or ())


def ensured(op: Any) -> tuple[tuple[int, Shape], ...]:
    """The shapes that nodes behind a Python call want of its outputs, by output."""
    found = [(index, node.get_attr('shape')) for index, tensor in enumerate(op.outputs) for node in tensor.consumers()
             if node.type == 'EnsureShape']
    return tuple([(index, tuple([part.size if part.size >= 0 else None for part in shape.dim])) for index, shape in found
                  if not shape.unknown_rank])


def _fits(found: Shape, shape: Shape) -> bool:
    return len(found) == len(shape) and all(size in (None, other) for size, other in zip(shape, found, strict=True))


def _shown(shape: Shape) -> str:
    """A shape as C++ writes it."""
    return f'[{",".join("?" if size is None else str(size) for size in shape)}]'
