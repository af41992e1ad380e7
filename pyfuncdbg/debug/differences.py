"""What has changed between two moments of a run, tensor by tensor: after `swap` and `retry`. On the stopped thread."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hooks.host import Host, RunView


@dataclass(frozen=True, slots=True)
class Difference:
    """One tensor, before and after.

    Attributes:
        tensor: Its name.
        dtypes, shapes: Before and after.
        elements: How many elements are others; -1 if dtype or shape are.
        greatest: Greatest absolute difference among elements that are finite in both; None if there are none.
        bad: How many were not finite before, and are after.
    """

    tensor: str
    dtypes: tuple[str, str]
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    elements: int
    greatest: float | None
    bad: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether nothing is different."""
        return self.elements == 0


def held(view: RunView, host: Host, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The values of those tensors that are there, copied."""
    return {name: np.array(host.to_numpy(view.value(name))) for name in names if name and view.holds(name)}


def arrays(host: Host, names: Sequence[str], values: Sequence[Any]) -> dict[str, np.ndarray]:
    """Outputs of a call by name, copied."""
    return {names[i] if i < len(names) else f'out{i}': np.array(host.to_numpy(value)) for i, value in enumerate(values)}


def differences(before: Mapping[str, np.ndarray], after: Mapping[str, np.ndarray]) -> tuple[Difference, ...]:
    """Tensor by tensor, those that are in both."""
    return tuple(_difference(name, one, after[name]) for name, one in before.items() if name in after)


def _difference(name: str, one: np.ndarray, two: np.ndarray) -> Difference:
    dtypes, shapes = (str(one.dtype), str(two.dtype)), (one.shape, two.shape)
    numbers = all(np.issubdtype(array.dtype, np.number) for array in (one, two))
    bad = (_bad(one), _bad(two))
    if one.dtype != two.dtype or one.shape != two.shape:
        return Difference(name, dtypes, shapes, -1, None, bad)
    if not numbers:
        return Difference(name, dtypes, shapes, int(np.sum(np.asarray(one != two, bool))), None, bad)
    equal = (one == two) | ((one != one) & (two != two))
    with np.errstate(all='ignore'):
        wide = np.complex128 if np.iscomplexobj(one) else np.float64
        apart = np.abs(one.astype(wide) - two.astype(wide))
    finite = apart[np.isfinite(apart)]
    return Difference(name, dtypes, shapes, int(equal.size - np.count_nonzero(equal)),
                      float(finite.max()) if finite.size else None, bad)


def _bad(array: np.ndarray) -> int:
    try:
        return int(array.size - np.count_nonzero(np.isfinite(array)))
    except TypeError:                           # text, objects
        return 0
