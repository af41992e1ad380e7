"""TensorFlow 1's `Dimension`: one size of a shape, or None, with arithmetic in which unknown stays unknown.

Programs of TensorFlow 1 get them from `TensorShape.dims`; shapes have plain ints. Immutable.
"""
from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def dimension_value(value: Any) -> int | None:
    """The size of a value.

    Raises:
        TypeError: It is neither None, an integer nor a `Dimension`.
        ValueError: It is negative.
    """
    if value is None:
        return None
    if isinstance(value, Dimension):
        return value.value
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError('Dimension value must be integer or None or have an __index__ method, '
                        f"got value '{value!r}' with type '{type(value)!r}'") from None
    if size < 0:
        raise ValueError(f'Dimension {size} must be >= 0')
    return size


def value_of(dimension: Any) -> Any:
    """`tf.compat.dimension_value`: the size of a `Dimension`, anything else unchanged."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


class Dimension:
    """One size, or None if unknown.

    Comparisons with an unknown size give None, as in TensorFlow; `hash` is not defined for that reason.
    """

    __slots__ = ('value',)
    __hash__ = None  # type: ignore[assignment]
    value: int | None

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, 'value', dimension_value(value))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Dimension does not change; cannot set '{name}'")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both can be the same size."""
        other_value = dimension_value(other)
        return self.value is None or other_value is None or self.value == other_value

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError if both are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f'Dimensions {self} and {other} are not compatible')

    def merge_with(self, other: Any) -> Dimension:
        """The known one of two; ValueError if both are known and differ."""
        self.assert_is_compatible_with(other)
        return self if self.value is not None else Dimension(other)

    def _combine(self, other: Any, operation: Callable[[int, int], int]) -> Any:
        try:
            other_value = dimension_value(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self.value is None or other_value is None:
            return Dimension(None)
        return Dimension(operation(self.value, other_value))

    def __add__(self, other: Any) -> Any:
        return self._combine(other, operator.add)

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return Dimension(other) - self

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __floordiv__(self, other: Any) -> Any:
        return self._combine(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return Dimension(other) // self

    def __mod__(self, other: Any) -> Any:
        return self._combine(Dimension(other), operator.mod)

    def __rmod__(self, other: Any) -> Any:
        return Dimension(other) % self

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', "
                        'please use // instead')

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', "
                        'please use // instead')

    def _compare(self, other: Any, operation: Callable[[int, int], bool]) -> Any:
        other_value = dimension_value(other)
        return None if self.value is None or other_value is None else operation(self.value, other_value)

    def __eq__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return False

    def __ne__(self, other: object) -> Any:
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return True

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, operator.ge)

    def __index__(self) -> int:
        return self.value  # type: ignore[return-value]  # unknown: Python's own TypeError, as in TensorFlow

    __int__ = __index__

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f'Dimension({self.value!r})'

    def __str__(self) -> str:
        return '?' if self.value is None else str(self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self.value,)


class _Version:
    """Setting for all threads: whether items of shapes are sizes, as in TensorFlow 2, or `Dimension`s."""

    sizes = True


version = _Version()


def enable_v2_tensorshape() -> None:
    """`shape[0]` is a size, as in TensorFlow 2: the default."""
    version.sizes = True


def disable_v2_tensorshape() -> None:
    """`shape[0]` is a `Dimension`, as in TensorFlow 1."""
    version.sizes = False
