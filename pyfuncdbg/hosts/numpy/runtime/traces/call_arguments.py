"""The arguments of one call of a traced function: tensors, and Python values, which select a trace."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import components, spec_of
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor

Described = tuple[str, str, Any]
"""A parameter: its name, its kind of `inspect`, and the value with a named spec for each tensor."""
_BY_VALUE = (bool, int, float, complex, str, bytes, type(None), type, DType, TensorShape, frozenset, type(Ellipsis))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TensorArgument:
    """One tensor argument of a trace."""

    name: str
    dtype: DType
    shape: TensorShape


class CallArguments:
    """The parsed arguments of one call.

    Attributes:
        key: Equal for calls of one trace; its first element has a weak reference for each object argument.
        tensors: The tensor arguments in order; the handle for a variable.
        variables: The variables among the arguments.
        inputs: Names and types of the tensors.
    """

    __slots__ = ('_leaves', '_names', '_places', '_structure', 'inputs', 'key', 'tensors', 'variables')

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], allow_specs: bool,
                 wide: Mapping[int, TensorShape]) -> None:
        self.tensors: list[Any] = []
        self.variables: list[Any] = []
        self.inputs: list[TensorArgument] = []
        self._leaves: list[Any] = []
        self._places: list[Any] = []                # for each leaf the index of its tensor, -1 without, a range for several
        self._names = [*names[:len(args)], *sorted(kwargs)]
        self._structure = tuple(args), dict(kwargs)
        parts: list[Any] = []
        nested: list[Any] = []
        for name, value in [*zip(names, args, strict=False), *((name, kwargs[name]) for name in sorted(kwargs))]:
            if nest.is_nested(value):
                nested.append(_outline(value))
                for i, leaf in enumerate(nest.flatten(value)):
                    parts.append(self._read(f'{name}_{i}' if i else name, leaf, allow_specs, wide))
            else:
                nested.append(0)
                parts.append(self._read(name, value, allow_specs, wide))
        self.key = tuple(parts), tuple(nested), tuple(sorted(kwargs))

    def _read(self, name: str, leaf: Any, allow_specs: bool, wide: Mapping[int, TensorShape]) -> Any:
        """Add one leaf; returns its part of the key."""
        spec = None if type(leaf) is EagerTensor else spec_of(leaf)
        if spec is not None:
            return self._read_parts(name, leaf, spec, wide)
        self._leaves.append(leaf)
        variable = hasattr(leaf, 'standing_on')
        tensor = leaf.handle if variable else as_argument(leaf, allow_specs)
        if tensor is None:
            self._places.append(-1)
            return _static_key(leaf)
        index = len(self.inputs)
        self._places.append(index)
        self.tensors.append(tensor)
        if variable:
            same = next((i for i, other in enumerate(self.variables) if other is leaf), len(self.variables))
            self.variables.append(leaf)
            self.inputs.append(TensorArgument(name, tensor.dtype, tensor.shape))
            return 'variable', leaf.dtype, leaf.shape.sizes, leaf.trainable, same
        shape = wide.get(index, tensor.shape)
        self.inputs.append(TensorArgument(getattr(leaf, 'name', None) or name if isinstance(leaf, TensorSpec) else name,
                                          tensor.dtype,
                                          shape))
        return tensor.dtype, shape.sizes

    def _read_parts(self, name: str, leaf: Any, spec: Any, wide: Mapping[int, TensorShape]) -> Any:
        """Add a composite: its tensors and its spec; returns its part of the key."""
        first = len(self.inputs)
        parts = components(leaf)
        for index, (part, part_spec) in enumerate(zip(parts, spec._component_specs, strict=True), first):
            self.tensors.append(part)
            self.inputs.append(TensorArgument(name if index == first else f'{name}_{index - first}', part.dtype,
                                              wide.get(index, part_spec.shape)))
        self._leaves.append(spec)
        self._places.append(range(first, first + len(parts)))
        return spec

    def within(self, key: Any) -> bool:
        """Whether a trace for arguments of another key accepts these too, as it has wider shapes."""
        (parts, *rest), (wide, *other) = self.key, key
        return rest == other and len(parts) == len(wide) and all(
            own_part == its or _is_wider(its, own_part) for own_part, its in zip(parts, wide, strict=True))

    def rebuilt(self, stand_ins: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The (args, kwargs) for tracing: placeholders for tensors, and variables with placeholders as handles."""
        def filled(leaf: Any, place: Any) -> Any:
            if isinstance(place, range):
                return leaf._from_components([stand_ins[i] for i in place])
            if place < 0:
                return leaf
            return leaf.standing_on(stand_ins[place]) if hasattr(leaf, 'standing_on') else stand_ins[place]
        return self._packed(filled)

    def _packed(self, filled: Callable[[Any, Any], Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        leaves = iter([filled(leaf, place) for leaf, place in zip(self._leaves, self._places, strict=True)])
        args, kwargs = self._structure

        def packed(value: Any) -> Any:
            if not nest.is_nested(value):
                return next(leaves)
            return nest.pack_sequence_as(value, [next(leaves) for _ in nest.flatten(value)])
        new_args = tuple(packed(value) for value in args)
        new_kwargs = {name: packed(kwargs[name]) for name in sorted(kwargs)}
        return new_args, {name: new_kwargs[name] for name in kwargs}

    def described(self) -> list[Described]:
        """The parameters with specs for tensors, and text for objects of the user's classes, not to keep them alive."""
        args, kwargs = self._structure
        values = [*args, *(kwargs[name] for name in sorted(kwargs))]
        paths = iter([path for name, value in zip(self._names, values, strict=False) for path in _paths(name, value)])

        def described(leaf: Any, place: Any) -> Any:
            path = next(paths)
            if isinstance(place, range):
                return leaf
            if place < 0:
                return leaf if isinstance(leaf, _BY_VALUE) else repr(leaf)
            tensor = self.inputs[place]
            return TensorSpec(tensor.shape, tensor.dtype, leaf.name if isinstance(leaf, TensorSpec) and leaf.name else path)
        args, kwargs = self._packed(described)
        count = len(args)
        parameters = [(name, 'POSITIONAL_OR_KEYWORD', value) for name, value in zip(self._names, args, strict=False)]
        return [*parameters, *((name, 'KEYWORD_ONLY', kwargs[name]) for name in self._names[count:])]


def as_argument(leaf: Any, allow_specs: bool) -> Any:
    """The tensor (or spec) of an argument, None for a Python value."""
    if isinstance(leaf, Tensor) or (allow_specs and isinstance(leaf, TensorSpec)):
        return leaf
    if isinstance(leaf, (np.ndarray, np.generic)):
        return EagerTensor(to_array(np.array(leaf)))
    return None


def _is_wider(wide: Any, part: Any) -> bool:
    """Whether two parts of keys are tensors of one dtype, and `wide` includes each shape of `part`."""
    if type(wide) is not tuple or type(part) is not tuple or len(wide) != 2 or len(part) != 2 or wide[0] is not part[0]:
        return False
    if not isinstance(wide[0], DType):
        return False
    shape, sizes = wide[1], part[1]
    return shape is None or (sizes is not None and len(shape) == len(sizes) and all(
        wide_size is None or wide_size == size for wide_size, size in zip(shape, sizes, strict=True)))


def _static_key(leaf: Any) -> Any:
    """The part of the key for a Python argument: equal values share a trace; objects are held weakly."""
    if isinstance(leaf, _BY_VALUE):
        return leaf
    try:
        hash(leaf)
    except TypeError:
        raise TypeError(f'Could not generate a generic TraceType for {leaf!r}.Please verify that it is immutable/hashable. '
                        'Otherwise, consider implementing the Tracing Protocol for it.') from None
    try:
        return weakref.ref(leaf)
    except TypeError:
        return leaf


def _outline(value: Any) -> Any:
    """The nesting of an argument, without its values."""
    if not nest.is_nested(value):
        return 0
    if isinstance(value, Mapping):
        return type(value).__name__, tuple((key, _outline(value[key])) for key in sorted(value))
    return type(value).__name__, tuple(_outline(one) for one in value)


def _paths(name: str, value: Any) -> Iterator[str]:
    """A name for each leaf of an argument, by its path."""
    if not nest.is_nested(value):
        yield name
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _paths(f'{name}_{key}', value[key])
    else:
        for i, one in enumerate(value):
            yield from _paths(f'{name}_{i}', one)
