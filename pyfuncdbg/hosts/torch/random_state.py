"""State of PyTorch's random generator on the CPU: a mark that changes with it, and the state as bytes. Any thread.

A recorder compares marks at each call, so they are words read from where the generator keeps them; `get_state` takes 1 µs.
The place is searched for once, and compared with what `get_state` says; where it is not found, `get_state` is asked.
"""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_LAYOUT = 24
"""Bytes of `get_state` before the words of the Mersenne Twister, eight for each: seed, words left, seeded, next word."""
_WORDS = 624
_HEAD = 8
"""Words that are compared to find the place; as many are before it."""
_SEARCHED = 2600
"""Bytes of a generator in which the place is searched for."""


class TorchRandom:
    """Random generator on the CPU.

    Args:
        generator: PyTorch's default generator.
        tensor: Makes a tensor of an array.
    """

    def __init__(self, generator: Any, tensor: Any) -> None:
        self._generator = generator
        self._tensor = tensor
        self._words = self._find()

    def _find(self) -> memoryview | None:
        """Where the generator keeps its words, those before them included; None if that is not known."""
        state = self._generator.get_state().numpy().view(np.uint64)
        words = state[_LAYOUT // 8:_LAYOUT // 8 + _WORDS].astype(np.uint32)
        address = getattr(self._generator, '_cdata', 0)
        if not address:
            return None
        memory = memoryview((ctypes.c_uint32 * (_SEARCHED // 4)).from_address(address)).cast('B').cast('I')
        head = words[:_HEAD].tolist()
        for place in range(_HEAD, len(memory) - _HEAD):
            if memory[place] == head[0] and memory[place:place + _HEAD].tolist() == head:
                found = memory[place - _HEAD:place + 2]
                return found if found[_HEAD - 3] == int(state[1]) & 0xffffffff else None
        return None

    def mark(self) -> Any:
        """A mark of the state.

        Returns:
            Equal as long as nothing was drawn and the generator was not seeded.
        """
        words = self._words
        if words is None:
            return self.state()
        return words[5], words[7], words[8], words[9]

    def state(self) -> bytes:
        """The whole state."""
        return self._generator.get_state().numpy().tobytes()  # type: ignore[no-any-return]

    def restore(self, state: Any) -> None:
        """Put the generator into a state.

        Raises:
            ValueError: It is none of `state`.
        """
        if not isinstance(state, bytes) or len(state) != len(self.state()):
            raise ValueError("the state of PyTorch's random generator is damaged")
        try:
            self._generator.set_state(self._tensor(np.frombuffer(state, np.uint8).copy()))
        except RuntimeError as error:
            raise ValueError(f"the state of PyTorch's random generator is damaged: {error}") from None
