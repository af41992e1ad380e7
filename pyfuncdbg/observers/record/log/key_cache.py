"""Direct-mapped cache of content hashes, of a fixed size: which tensors are in the log already.

Used by the writer of one log, one thread at a time. A key that is lost to another of its slot costs a blob that is written
once more, which readers do not mind.
"""
from __future__ import annotations

import numpy as np

SLOTS = 1 << 19
"""Slots by default: 4 MB. Of 60,000 keys that come again in turn, as the items of a dataset do, it keeps nine in ten."""


class KeyCache:
    """A set of keys that forgets.

    Args:
        slots: How many keys it has room for, a power of two. Memory, 8 bytes each, is taken when it is used.
    """

    __slots__ = ('_mask', '_slots')

    def __init__(self, slots: int = SLOTS) -> None:
        self._mask = slots - 1
        self.clear()

    def clear(self) -> None:
        """Forget all keys."""
        self._slots = np.zeros(self._mask + 1, np.int64).data

    def __contains__(self, key: bytes) -> bool:
        # By Python's own hash of 64 bits: that of another key is taken for this one in 2**45 look-ups of full slots.
        digest = hash(key)
        return bool(self._slots[digest & self._mask] == digest)

    def add(self, key: bytes) -> None:
        """Remember a key, and forget the one in its slot."""
        digest = hash(key)
        self._slots[digest & self._mask] = digest
