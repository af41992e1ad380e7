"""Placeholders for values in a call: summarised, read later, or not known.

A value in a foreign process or graph has its type, shape and counts, computed where it is; hosts put the summary into a call
where every hook is content with it, and the recorder keeps it. Of an unknown value the recorder keeps type and reason, so
that no other value is shown for it. On the thread of the call.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NOT_KNOWN = 'not known'
"""Text of front ends for such a value, before the reason."""
OCTAVES = 16
"""Powers of two that a histogram tells apart, from that of the largest magnitude on; the last has all smaller ones, too."""
NOT_COMPUTED = 'not computed yet'
"""Reason of a value that will be there later, and that nothing can write to: it may be read after a call that has got it."""


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


class ValueNotKnown(Exception):  # noqa: N818
    """A host cannot read a value now, and does not wait for it.

    Attributes:
        value: What is certain of it.
    """

    def __init__(self, value: UnknownValue) -> None:
        super().__init__(value.reason)
        self.value = value


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """One tensor by numbers. The counts are of elements; all 0 for a type that the host does not count.

    Attributes:
        note: Why the value itself is not there, as `TensorRecord.note`.
        min, max, mean, std: Of the finite elements; None where the host does not compute them.
        histogram: As `Stats.histogram` of a trace; () where the host makes none.
        first_bad: Index of the first NaN or infinity; None if there is none, or the host does not look for it.
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    nan: int = 0
    neg_inf: int = 0
    neg: int = 0
    zero: int = 0
    pos: int = 0
    pos_inf: int = 0
    note: str = ''
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    histogram: tuple[int, ...] = ()
    first_bad: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """The number of elements."""
        count = 1
        for length in self.shape:
            count *= length
        return count


class LaterSummary:
    """Summary of a value in the memory of a device, which computes its counts: no call waits for them.

    Attributes:
        summary: The summary without counts.
    """

    __slots__ = ('_counted', 'summary')

    def __init__(self, summary: ValueSummary, counted: Callable[[], ValueSummary | np.ndarray]) -> None:
        """Make one.

        Args:
            summary: As the attribute.
            counted: Gives the summary with counts, or a copy of the elements where that is cheaper. May wait for the device,
                and raise where that has failed.
        """
        self.summary = summary
        self._counted = counted

    def counted(self) -> ValueSummary | np.ndarray | None:
        """The summary with its counts, or the elements to count, which are waited for; None where the device has failed."""
        try:
            return self._counted()
        except Exception:                       # of the device, which tells the program at its next use
            return None


class LaterValue:
    """Tensor of a batch of ops that the recorder reads when it writes it.

    It may not be computed yet. The recorder writes on a thread of its own, or where it is flushed.

    Attributes:
        dtype, shape: Of the tensor.
        nbytes: Of its elements.
    """

    __slots__ = ('__weakref__', '_elements', '_read', 'dtype', 'nbytes', 'shape')

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], read: Callable[[], np.ndarray]) -> None:
        """Make one.

        Args:
            dtype, shape: As the attributes.
            read: Gives the elements; may wait for them, but not without end.
        """
        self.dtype = dtype
        self.shape = shape
        self.nbytes = math.prod(shape) * dtype.itemsize
        self._read: Callable[[], np.ndarray] | None = read
        self._elements: Any = None

    def elements(self) -> np.ndarray | UnknownValue:
        """The elements, the same array each time; what is certain of the value if they cannot be read."""
        if self._read is not None:
            try:
                self._elements = self._read()
            except ValueNotKnown as error:
                self._elements = error.value
            self._read = None
        return self._elements  # type: ignore[no-any-return]
