"""Local names that changed since a frame's last stop, for the stop card.

Kept for each thread that is stepped, used on that thread.
"""
from __future__ import annotations

from types import FrameType
from typing import Any

import numpy as np
import xxhash

from pyfuncdbg.hooks.source_map import variables
from pyfuncdbg.hooks.tracing_notice import OURS
from pyfuncdbg.observers.debug.value import array_of

_FRAMES = 32
"""Frames that are remembered; a deep recursion forgets its outer ones."""
_DIGESTED = 1 << 20
_NOTHING = object()


class NamesSeen:
    """Values of names at the last stops in one thread's frames. Only small values are kept alive."""

    __slots__ = ('_seen',)

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, dict[str, Any]]] = {}

    def changes(self, frame: FrameType, *, returned: bool = False) -> tuple[str, ...] | None:
        """The names that are new or have another value than at the frame's last stop; None at its first one.

        Args:
            frame: Where the thread stops.
            returned: The frame ends: it is forgotten.
        """
        if frame.f_code.co_name == '<module>':
            return ()
        key, code = id(frame), id(frame.f_code)
        now = {name: _mark(value) for name, value in variables(frame.f_code, frame.f_locals).items()
               if not name.startswith(OURS)}
        before = self._seen.pop(key, None)
        if not returned:
            self._seen[key] = code, now
            if len(self._seen) > _FRAMES:
                del self._seen[next(iter(self._seen))]
        if before is None or before[0] != code:
            return None
        return tuple(name for name, mark in now.items() if before[1].get(name, _NOTHING) != mark)


def _mark(value: Any) -> Any:
    """Something that is equal only for values that look the same, as far as a short look can tell."""
    if value is None or isinstance(value, bool | int | float | complex):
        return type(value).__name__, repr(value)
    if isinstance(value, str | bytes):
        return type(value).__name__, len(value), hash(value)
    array = array_of(value)
    if array is None or array.dtype.hasobject or (array.nbytes > _DIGESTED and not array.flags.c_contiguous):
        size = len(value) if isinstance(value, list | tuple | dict | set) else 0
        return id(value), type(value).__name__, size
    data = np.ascontiguousarray(array.reshape(-1)[::max(1, array.nbytes // _DIGESTED)])
    return array.shape, array.dtype.str, xxhash.xxh3_64_intdigest(data.tobytes())
