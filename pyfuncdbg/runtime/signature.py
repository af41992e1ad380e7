"""How a traced function reads its arguments: which are tensors, and which Python values a trace belongs to."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.graph import nest
from pyfuncdbg.graph.convert import to_array
from pyfuncdbg.graph.dtypes import DType
from pyfuncdbg.graph.shapes import TensorShape
from pyfuncdbg.graph.spec import TensorSpec
from pyfuncdbg.graph.tensor import Tensor
from pyfuncdbg.runtime.eager import EagerTensor


@dataclass(frozen=True, slots=True)
class Input:
    """One tensor argument of a trace."""

    name: str
    dtype: DType
    shape: TensorShape


class Arguments:
    """The arguments of one call, read.

    Attributes:
        key: Equal for calls that one trace serves.
        tensors: The tensor arguments, in order.
        inputs: Their names and types.
        rebuild: Puts stand-ins for the tensors back: the (args, kwargs) to trace with.
    """

    __slots__ = ('_structure', 'inputs', 'key', 'rebuild', 'signature', 'tensors')

    def __init__(self, signature: Signature, structure: tuple[Any, Any], leaves: Sequence[Any], names: Sequence[str],
                 allow_specs: bool, wide: Mapping[int, TensorShape]) -> None:
        self.signature = signature
        self._structure = structure
        self.tensors: list[Any] = []
        self.inputs: list[Input] = []
        places: list[int] = []
        parts: list[Any] = []
        for leaf, name in zip(leaves, names, strict=True):
            tensor = as_argument(leaf, allow_specs)
            if tensor is None:
                places.append(-1)
                parts.append(_static_key(leaf))
                continue
            index = len(self.inputs)
            shape = wide.get(index, tensor.shape)
            places.append(index)
            self.tensors.append(tensor)
            self.inputs.append(Input(name, tensor.dtype, shape))
            parts.append((tensor.dtype, shape.sizes))
        self.key = (tuple(parts), _outline(structure))

        def rebuild(stand_ins: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            filled = [leaf if place < 0 else stand_ins[place] for leaf, place in zip(leaves, places, strict=True)]
            args, kwargs = nest.pack_sequence_as(list(structure), filled)
            return tuple(args), kwargs
        self.rebuild = rebuild

    def rebound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The tensor arguments of another call of the same trace.

        Raises:
            TypeError: A tensor is missing or of another type.
        """
        given = [as_argument(leaf, False) for leaf in nest.flatten([list(args), dict(kwargs)])]
        tensors = [tensor for tensor in given if tensor is not None]
        if len(tensors) != len(self.inputs):
            raise TypeError(f'Expected {len(self.inputs)} tensor arguments ({", ".join(i.name for i in self.inputs)}), got {len(tensors)}')
        for tensor, expected in zip(tensors, self.inputs, strict=True):
            if tensor.dtype != expected.dtype or not expected.shape.is_compatible_with(tensor.shape):
                raise TypeError(f'Binding inputs to tf.function failed due to `Can not cast '
                                f'{TensorSpec(tensor.shape, tensor.dtype)} to {TensorSpec(expected.shape, expected.dtype)}`. '
                                f'Received args: {tuple(args)} and kwargs: {dict(kwargs)} for signature: ...')
        return tensors


def as_argument(leaf: Any, allow_specs: bool) -> Any:
    """The tensor (or spec) that an argument is, None for a Python value."""
    if isinstance(leaf, Tensor) or (allow_specs and isinstance(leaf, TensorSpec)):
        return leaf
    if isinstance(leaf, (np.ndarray, np.generic)):
        return EagerTensor(to_array(np.array(leaf)))
    return None


def _static_key(leaf: Any) -> Any:
    """What a Python argument contributes to the key: equal values share a trace, other objects by identity."""
    if hasattr(leaf, 'handle'):
        return 'variable', id(leaf)
    try:
        hash(leaf)
    except TypeError:
        return 'object', id(leaf)
    return leaf


def _outline(structure: Any) -> Any:
    """The nesting of arguments, without their values."""
    return str(nest.map_structure(lambda leaf: 0, list(structure)))


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a traced function.

    Attributes:
        parameters: As `inspect` gives them.
        specs: The `input_signature`, None without.
        seen: Shapes met so far by kind of arguments, for `reduce_retracing`; None without.
    """

    parameters: inspect.Signature | None
    specs: tuple[Any, ...] | None
    seen: dict[Any, dict[int, TensorShape]] | None

    @staticmethod
    def of(func: Callable[..., Any], input_signature: Any, relax: bool) -> Signature:
        """The signature of a function.

        Raises:
            TypeError: `input_signature` is no sequence of specs.
        """
        try:
            parameters = inspect.signature(func)
        except (TypeError, ValueError):
            parameters = None
        if input_signature is not None and not isinstance(input_signature, (list, tuple)):
            raise TypeError(f'input_signature must be either a tuple or a list, got {type(input_signature)}')
        return Signature(parameters, None if input_signature is None else tuple(input_signature), {} if relax else None)

    def without_self(self) -> Signature:
        """The signature of the bound method."""
        if self.parameters is None:
            return self
        rest = list(self.parameters.parameters.values())[1:]
        return Signature(self.parameters.replace(parameters=rest), self.specs, self.seen)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], allow_specs: bool = False) -> Arguments:
        """Read the arguments of a call.

        Raises:
            TypeError: They do not fit the parameters or the specs.
        """
        names: list[str] = []
        if self.parameters is not None:
            try:
                bound = self.parameters.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f'Binding inputs to tf.function failed due to `{error}`. Received args: {tuple(args)} and '
                                f'kwargs: {dict(kwargs)} for signature: {self.parameters}.') from None
            if self.specs is None:
                bound.apply_defaults()
            args, kwargs = list(bound.args), dict(bound.kwargs)
            names = list(bound.arguments)
        if self.specs is not None:
            args = self._cast(args or ([*self.specs] if allow_specs else []), allow_specs)
        structure = [list(args), dict(kwargs)]
        leaves, leaf_names = [], []
        for i, value in enumerate(args):
            flat = nest.flatten(value)
            leaves += flat
            leaf_names += [names[i] if i < len(names) else f'args_{i}'] * len(flat)
        for key in sorted(kwargs):
            flat = nest.flatten(kwargs[key])
            leaves += flat
            leaf_names += [key] * len(flat)
        return self._widened(structure, leaves, leaf_names, allow_specs)

    def _widened(self, structure: Any, leaves: Sequence[Any], names: Sequence[str], allow_specs: bool) -> Arguments:
        """The arguments, with shapes that fit all calls so far where retracing is to be reduced."""
        if self.specs is not None:
            shapes = {i: spec.shape for i, spec in enumerate(s for s in nest.flatten(list(self.specs)))}
            return Arguments(self, structure, leaves, names, allow_specs, shapes)
        if self.seen is None:
            return Arguments(self, structure, leaves, names, allow_specs, {})
        plain = Arguments(self, structure, leaves, names, allow_specs, {})
        kind = (plain.key[1], tuple(i.dtype for i in plain.inputs))
        wide = self.seen.setdefault(kind, {i: inp.shape for i, inp in enumerate(plain.inputs)})
        for i, inp in enumerate(plain.inputs):
            wide[i] = wide[i].most_specific_compatible_shape(inp.shape)
        return Arguments(self, structure, leaves, names, allow_specs, wide)

    def _cast(self, args: Sequence[Any], allow_specs: bool) -> list[Any]:
        """Arguments as the specs want them."""
        specs = self.specs or ()
        if len(args) != len(specs):
            raise TypeError(f'Binding inputs to tf.function failed due to `too {"many" if len(args) > len(specs) else "few"} '
                            f'positional arguments`. Received args: {tuple(args)} and kwargs: {{}} for signature: {self.shown()}.')
        return [nest.map_structure(lambda s, v: self._fitted(s, v, args, allow_specs), spec, value)
                for spec, value in zip(specs, args, strict=True)]

    def shown(self) -> str:
        """The parameters with their specs, as TensorFlow's messages show them."""
        names = list(self.parameters.parameters) if self.parameters is not None else []
        return '(' + ', '.join(f'{name}: {spec}' for name, spec in zip(names, self.specs or (), strict=False)) + ')'

    def _fitted(self, spec: TensorSpec, value: Any, args: Sequence[Any], allow_specs: bool) -> Any:
        tensor = as_argument(value, allow_specs)
        if tensor is None:
            convert = getattr(value, '_as_tensor', None)
            try:
                tensor = convert() if convert is not None else EagerTensor(to_array(value, spec.dtype))
            except (TypeError, ValueError) as error:
                raise TypeError(f'Binding inputs to tf.function failed due to `Can not cast {value!r} to {spec}: {error}`. '
                                f'Received args: {tuple(args)} and kwargs: {{}} for signature: {self.shown()}.') from None
        elif isinstance(value, (np.ndarray, np.generic)) and tensor.dtype != spec.dtype:
            tensor = EagerTensor(to_array(value, spec.dtype))
        if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
            raise TypeError(f'Binding inputs to tf.function failed due to `Can not cast {TensorSpec(tensor.shape, tensor.dtype)} '
                            f'to {spec}`. Received args: {tuple(args)} and kwargs: {{}} for signature: {self.shown()}.')
        return tensor
