"""Static shapes: sizes of tensors known before the graph runs, and their algebra.

For shape rules, `Tensor`, specs and programs; values are immutable, so any thread may use them. An unknown size
is None; a shape of unknown rank has no sizes. Results and error texts are TensorFlow 2's.
"""
from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Any, overload

from pyfuncdbg.hooks.own_files import is_machinery
from pyfuncdbg.hooks.public_function import calling_frame, mark_unwrapped
from pyfuncdbg.hosts.numpy.graph.types.dimension import Dimension, dimension_value, version

Sizes = tuple[int | None, ...]


def _sizes(dims: Any) -> Sizes | None:
    if dims is None:
        return None
    if isinstance(dims, TensorShape):
        return dims.sizes
    if isinstance(dims, (list, tuple)):
        return tuple([d if d is None or (type(d) is int and d >= 0) else dimension_value(d) for d in dims])
    if isinstance(dims, Dimension):
        return (dims.value,)
    if hasattr(dims, 'unknown_rank'):               # a TensorShapeProto
        return None if dims.unknown_rank else tuple([None if dim.size == -1 else dim.size for dim in dims.dim])
    if hasattr(dims, '__index__'):
        try:
            return (dimension_value(dims),)
        except TypeError:  # an array: it is iterated
            pass
    try:
        items = iter(dims)
    except TypeError:
        return (dimension_value(dims),)
    sizes = []
    for item in items:
        try:
            sizes.append(dimension_value(item))
        except TypeError:
            raise TypeError(
                f"Failed to convert '{dims!r}' to a shape: '{item!r}'could not be converted to a dimension. A shape should "
                'either be single dimension (e.g. 10), or an iterable of dimensions (e.g. [1, 10, None]).') from None
    return tuple(sizes)


class TensorShape:
    """Static shape of a tensor; its rank or sizes may be unknown.

    Args:
        dims: None (unknown rank), a size, or an iterable of sizes; a size is an int, None, a `Dimension` or anything with
            `__index__`.

    Attributes:
        sizes: The sizes as a tuple with None for unknown ones, or None if the rank is unknown.

    Raises:
        TypeError: A size is no integer.
        ValueError: A size is negative.
    """

    __slots__ = ('sizes',)
    sizes: Sizes | None

    def __init__(self, dims: Any) -> None:
        object.__setattr__(self, 'sizes', _sizes(dims))

    @classmethod
    @mark_unwrapped
    def of(cls, sizes: Sizes | None) -> TensorShape:
        """A shape from a valid tuple, unchecked: the fast path of eager ops and shape rules."""
        shape = cls.__new__(cls)
        object.__setattr__(shape, 'sizes', sizes)
        return shape

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TensorShape does not change; cannot set '{name}'")

    @property
    @mark_unwrapped
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def ndims(self) -> int | None:
        """The same as `rank`."""
        return None if self.sizes is None else len(self.sizes)

    @property
    def dims(self) -> list[Dimension] | None:
        """The sizes as TensorFlow 1's `Dimension` objects."""
        return None if self.sizes is None else [Dimension(d) for d in self.sizes]

    def as_list(self) -> list[int | None]:
        """The sizes as a list; ValueError if the rank is unknown."""
        if self.sizes is None:
            raise ValueError('as_list() is not defined on an unknown TensorShape.')
        return list(self.sizes)

    def as_proto(self) -> Any:
        """The shape as a TensorShapeProto."""
        from pyfuncdbg.hosts.numpy.graph.proto.messages import shape_proto  # the protobuf library takes 60 ms to load
        return shape_proto(self.sizes)

    def num_elements(self) -> int | None:
        """The number of elements, or None if a size is unknown."""
        return prod(self.sizes) if self.sizes is not None and None not in self.sizes else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Whether every size is known."""
        return self.sizes is not None and None not in self.sizes

    def is_compatible_with(self, other: Any) -> bool:
        """Whether one tensor can have both shapes."""
        other_sizes = _sizes(other)
        if self.sizes is None or other_sizes is None:
            return True
        return len(self.sizes) == len(other_sizes) and all(
            a == b or a is None or b is None for a, b in zip(self.sizes, other_sizes, strict=True))

    def is_subtype_of(self, other: Any) -> bool:
        """Whether every tensor of this shape also has the shape `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other.sizes is None:
            return True
        return self.sizes is not None and len(self.sizes) == len(other.sizes) and all(
            b is None or a == b for a, b in zip(self.sizes, other.sizes, strict=True))

    def merge_with(self, other: Any) -> TensorShape:
        """The static shape of a tensor that has both shapes.

        Raises:
            ValueError: No tensor has both.
        """
        shape = as_shape(other)
        if shape.sizes is None:
            return self
        if self.sizes is None:
            return shape
        if not self.is_compatible_with(shape):
            raise ValueError(f'Shapes {self} and {shape} are not compatible')
        return TensorShape.of(tuple([b if a is None else a for a, b in zip(self.sizes, shape.sizes, strict=True)]))

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The narrowest shape that tensors of either shape have: sizes that differ become unknown."""
        other_sizes = _sizes(other)
        if self.sizes is None or other_sizes is None or len(self.sizes) != len(other_sizes):
            return UNKNOWN
        return TensorShape.of(tuple([a if a == b else None for a, b in zip(self.sizes, other_sizes, strict=True)]))

    def most_specific_common_supertype(self, others: Iterable[Any]) -> TensorShape | None:
        """The narrowest shape that includes these shapes; None if one of them is no shape."""
        result = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            result = result.most_specific_compatible_shape(other)
        return result

    def concatenate(self, other: Any) -> TensorShape:
        """The sizes of `self`, then those of `other`."""
        other_sizes = _sizes(other)
        return UNKNOWN if self.sizes is None or other_sizes is None else TensorShape.of(self.sizes + other_sizes)

    def with_rank(self, rank: int) -> TensorShape:
        """This shape, known to have `rank` dimensions; ValueError if it has another number."""
        if self.sizes is None:
            return unknown(rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have fewer dimensions."""
        if self.sizes is not None and len(self.sizes) < rank:
            raise ValueError(f'Shape {self} must have rank at least {rank}')
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        """This shape; ValueError if it is known to have more dimensions."""
        if self.sizes is not None and len(self.sizes) > rank:
            raise ValueError(f'Shape {self} must have rank at most {rank}')
        return self

    def assert_has_rank(self, rank: int) -> None:
        """ValueError if the rank is known to differ."""
        if self.sizes is not None and len(self.sizes) != rank:
            raise ValueError(f'Shape {self} must have rank {rank}')

    def assert_same_rank(self, other: Any) -> None:
        """ValueError if both ranks are known and differ."""
        shape = as_shape(other)
        if self.sizes is not None and shape.sizes is not None and len(self.sizes) != len(shape.sizes):
            raise ValueError(f'Shapes {self} and {shape} must have the same rank')

    def assert_is_compatible_with(self, other: Any) -> None:
        """ValueError if no tensor has both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f'Shapes {self} and {other} are incompatible')

    def assert_is_fully_defined(self) -> None:
        """ValueError if a size is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f'Shape {self} is not fully defined')

    def __len__(self) -> int:
        if self.sizes is None:
            raise ValueError('Cannot take the length of shape with unknown rank.')
        return len(self.sizes)

    def __bool__(self) -> bool:
        return self.sizes is not None

    def __iter__(self) -> Iterator[int | None]:
        if self.sizes is None:
            raise ValueError('Cannot iterate over a shape with unknown rank.')
        return iter(self.sizes if version.sizes or _called_from_here() else map(Dimension, self.sizes))  # type: ignore[arg-type]

    @overload
    def __getitem__(self, key: int) -> int | None: ...
    @overload
    def __getitem__(self, key: slice) -> TensorShape: ...
    def __getitem__(self, key: int | slice) -> int | TensorShape | None:
        if self.sizes is not None:
            if isinstance(key, slice):
                return TensorShape.of(self.sizes[key])
            return self.sizes[key] if version.sizes or _called_from_here() else Dimension(self.sizes[key])  # type: ignore[return-value]
        if not isinstance(key, slice):
            return None if version.sizes or _called_from_here() else Dimension(None)  # type: ignore[return-value]
        if key.step is not None:
            raise ValueError('Steps are not yet handled')
        start, stop = key.start or 0, key.stop
        if stop is None or start < 0 or stop < 0:
            return UNKNOWN
        return unknown(max(0, stop - start))

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        if type(other) is TensorShape:
            return self.sizes == other.sizes
        try:
            return self.sizes == _sizes(other)
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return hash(self.sizes)

    def __repr__(self) -> str:
        if self.sizes is not None and not version.sizes:
            return f'TensorShape({self.dims})'
        return f'TensorShape({"None" if self.sizes is None else list(self.sizes)})'

    def __str__(self) -> str:
        text = '<unknown>' if self.sizes is None else str(self.sizes)
        return text if version.sizes else text.replace('None', '?')

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self.sizes,)


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """`tf.compat.dimension_at_index`: a size as `Dimension`, with shapes of both versions."""
    return Dimension(None if shape.sizes is None else shape.sizes[index])


def _called_from_here() -> bool:
    """Whether the caller of the caller is this package: in programs of TensorFlow 1 only they get `Dimension`s."""
    return is_machinery(calling_frame().f_code.co_filename)


UNKNOWN = TensorShape(None)
SCALAR = TensorShape([])


def as_shape(value: Any) -> TensorShape:
    """`value` as a TensorShape; itself if it is one."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown(rank: int | None = None) -> TensorShape:
    """The shape with unknown sizes, or of unknown rank."""
    return UNKNOWN if rank is None else TensorShape.of((None,) * operator.index(rank))


def broadcast(a: TensorShape, b: TensorShape) -> TensorShape:
    """The static shape of an elementwise op on two tensors.

    Raises:
        ValueError: Two known sizes differ and neither is 1; callers with a node replace the text.
    """
    if a.sizes == b.sizes:
        return a
    if a.sizes is None or b.sizes is None:
        return UNKNOWN
    long, short = (a.sizes, b.sizes) if len(a.sizes) >= len(b.sizes) else (b.sizes, a.sizes)
    sizes = list(long)
    for i, n in enumerate(short, len(long) - len(short)):
        m = long[i]
        if m == n or n == 1:
            continue
        if m == 1:
            sizes[i] = n
        elif m is None or n is None:  # the other size is neither 1 nor unknown here, so it is the result's
            sizes[i] = n if m is None else m
        else:
            raise ValueError(
                'Incompatible shapes for broadcasting. Two shapes are compatible if for each dimension pair they are either '
                f'equal or one of them is 1. Received: {a} and {b}.')
    return TensorShape.of(tuple(sizes))


def common(shapes: Sequence[TensorShape]) -> TensorShape:
    """The narrowest shape that includes all of them."""
    shape_of_all = shapes[0]
    for shape in shapes[1:]:
        shape_of_all = shape_of_all.most_specific_compatible_shape(shape)
    return shape_of_all
