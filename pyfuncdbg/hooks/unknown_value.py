"""Placeholder for a value that a host cannot know, so that no other value is shown for it.

Hosts put it into a call; the recorder keeps its type and the reason. On the thread of the call.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

NOT_KNOWN = 'not known'
"""What faces say of such a value, before the reason."""


@dataclass(frozen=True, slots=True)
class UnknownValue:
    """One tensor without its value.

    Attributes:
        dtype, shape: What is certain of it; `object` and () where its shape is not.
        reason: The reason, in a few words.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    reason: str

    def __repr__(self) -> str:
        return f'<{NOT_KNOWN}: {self.reason}>'
