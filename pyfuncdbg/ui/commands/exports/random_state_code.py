"""States of random generators in generated code: the array that is stored, and the statement that restores it."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.index.state_records import CallState

RESTORES = {
    'numpy.random': "np.random.set_state(('MT19937', VALUES[{0}][:-1], int(VALUES[{0}][-1])))",
    'random': 'random.setstate((3, tuple(VALUES[{0}].tolist()), None))'}
"""Statements by the module whose generator they restore; `{0}` is the key of the array."""
_WORDS = 624


def random_states(state: CallState, source: str) -> dict[str, np.ndarray]:
    """The states that a function may draw from, as arrays: 624 words and a position.

    Args:
        state: That its call began in.
        source: Of the function: one that does not name a module of random numbers is taken to draw none.

    Returns:
        By module; none of a generator whose state was not kept or holds half of a pair of normal numbers.
    """
    if 'random' not in source or not isinstance(state.generators, Mapping):
        return {}
    states = {}
    for module, read in (('numpy.random', _of_numpy), ('random', _of_python)):
        try:
            words = read(state.generators[module])
        except (KeyError, TypeError, ValueError, IndexError):
            continue
        if words is not None and words.size == _WORDS + 1:
            states[module] = words
    return states


def _of_numpy(state: Any) -> np.ndarray | None:
    tag, name, content, has_gauss, _ = state
    if (tag, name, has_gauss) != ('numpy', 'MT19937', 0):
        return None
    key = np.frombuffer(content['state']['key'][1], '<u4')
    return np.append(key, np.uint32(content['state']['pos']))


def _of_python(state: Any) -> np.ndarray | None:
    tag, words, position, gauss = state
    if tag != 'python' or gauss is not None:
        return None
    return np.append(np.frombuffer(words, '<u4'), np.uint32(position))
