"""Signature of a traced function, which parses, checks and casts the arguments of a call."""
from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import Ascribed, components, is_composite_spec, spec_of
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec, TypeSpec
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments, as_argument

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class _Text:
    """Text for a type or default of a parameter in a displayed signature."""

    __slots__ = ('_text',)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """The parameters of a traced function.

    Attributes:
        parameters: Of `inspect`; None for a callable without a signature.
        specs: The `input_signature`, None without.
        shapes_by_kind: Shapes so far by kind of arguments, for `reduce_retracing`; None without.
        plain: The names, where all parameters are positional.
    """

    parameters: inspect.Signature | None
    specs: tuple[Any, ...] | None
    shapes_by_kind: dict[Any, dict[int, TensorShape]] | None
    plain: tuple[str, ...] | None

    @staticmethod
    def of(func: Callable[..., Any], input_signature: Any, relax: bool) -> FunctionSignature:
        """The signature of a function.

        Raises:
            TypeError: `input_signature` is no sequence of specs, or does not match the function.
        """
        try:
            parameters = inspect.signature(func)
        except (TypeError, ValueError):
            parameters = None
        if input_signature is not None:
            _check_specs(input_signature, parameters)
        return _make_spec(parameters, None if input_signature is None else tuple(input_signature), {} if relax else None)

    def without_self(self) -> FunctionSignature:
        """The signature of the bound method."""
        if self.parameters is None:
            return self
        rest = list(self.parameters.parameters.values())[1:]
        return _make_spec(self.parameters.replace(parameters=rest), self.specs, self.shapes_by_kind)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], allow_specs: bool = False) -> CallArguments:
        """Parse the arguments of a call.

        Raises:
            TypeError: They do not match the parameters or the specs.
        """
        if self.specs is not None and allow_specs and not args and not kwargs:
            args = self.specs
        if not kwargs and self.plain is not None and len(args) == len(self.plain):
            names: Sequence[str] = self.plain
        else:
            args, kwargs, names = self._bind(args, kwargs)
        if self.specs is not None:
            count = len(self.specs)
            fitted = [self._fitted(spec, value, args, allow_specs) for spec, value in zip(self.specs, args, strict=False)]
            self._check_defaults(args, kwargs)
            return self._widened([*fitted, *args[count:]], kwargs, names, allow_specs)
        return self._widened(args, kwargs, names, allow_specs)

    def _check_defaults(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Check that parameters without a spec have their default, for which the trace was made."""
        if self.parameters is None or self.specs is None:
            return
        for parameter, value in list(zip(self.parameters.parameters.values(), args, strict=False))[len(self.specs):]:
            default = parameter.default
            if default is not inspect.Parameter.empty and value is not default and isinstance(
                    default, (int, float, str, bytes, type(None))) and value != default:
                raise self._binding_error(f'Can not cast {value!r} to {type_text(default)}', args, kwargs)

    def _bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any],
                                                                             Sequence[str]]:
        """Positional arguments, keyword arguments and the names of the positional ones, defaults filled in."""
        if self.parameters is None:
            return args, kwargs, [f'args_{i}' for i in range(len(args))]
        try:
            binding = self.parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise self._binding_error(str(error), args, kwargs) from None
        binding.apply_defaults()
        names = []
        for name, parameter in self.parameters.parameters.items():
            if parameter.kind in _POSITIONAL:
                names.append(name)
            elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                names += [f'{name}_{i}' for i in range(len(binding.arguments[name]))]
        return binding.args, binding.kwargs, names

    def _binding_error(self, why: str, args: Sequence[Any], kwargs: Mapping[str, Any],
                       signature_text: str = '') -> TypeError:
        return TypeError(f'Binding inputs to tf.function failed due to `{why}`. Received args: {tuple(args)} and kwargs: '
                         f'{dict(kwargs)} for signature: {signature_text or self.text()}.')

    def _widened(self, args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str],
                 allow_specs: bool) -> CallArguments:
        """The arguments; with `reduce_retracing` their shapes are widened to those of all calls so far."""
        if self.specs is not None:
            shapes = {i: spec.shape for i, spec in enumerate(nest.flatten(list(self.specs), expand_composites=True))}
            return CallArguments(args, kwargs, names, allow_specs, shapes)
        plain = CallArguments(args, kwargs, names, allow_specs, {})
        if self.shapes_by_kind is None:
            return plain
        kind = plain.key[1], tuple(i.dtype for i in plain.inputs)
        wide = self.shapes_by_kind.setdefault(kind, {i: inp.shape for i, inp in enumerate(plain.inputs)})
        for i, inp in enumerate(plain.inputs):
            wide[i] = wide[i].most_specific_compatible_shape(inp.shape)
        return CallArguments(args, kwargs, names, allow_specs, dict(wide))

    def text(self) -> str:
        """The parameters with their specs, in the form of TensorFlow's messages."""
        if self.parameters is None:
            return '(...)'
        parameters = []
        for i, parameter in enumerate(self.parameters.parameters.values()):
            kind: Any = inspect.Parameter.empty
            if self.specs is not None and parameter.kind in _POSITIONAL:
                if i < len(self.specs):
                    kind = _Text(type_text(self.specs[i]))
                elif parameter.default is not inspect.Parameter.empty:
                    kind = _Text(type_text(parameter.default))
            default = parameter.default
            if default is not inspect.Parameter.empty:
                default = _Text('<captured_default_value>')
            parameters.append(parameter.replace(annotation=kind, default=default))
        return str(self.parameters.replace(parameters=parameters, return_annotation=inspect.Signature.empty))

    def _fitted(self, spec: Any, value: Any, args: Sequence[Any], allow_specs: bool) -> Any:
        """An argument converted to its spec or structure of specs."""
        if nest.is_nested(spec):
            try:
                nest.assert_same_structure(spec, value, check_types=isinstance(spec, Mapping))
            except (TypeError, ValueError) as error:
                raise self._binding_error(misfit(spec, value) or str(error), args, {}) from None
            leaves = zip(nest.flatten(spec), nest.flatten(value), strict=True)
            return nest.pack_sequence_as(spec, [self._fitted(s, v, args, allow_specs) for s, v in leaves])
        if is_composite_spec(spec):
            if not spec.is_compatible_with(value):
                raise self._binding_error(_misfit(spec, value), args, {})
            return value if is_composite_spec(value) else Ascribed(value, spec)
        tensor = value._as_tensor() if hasattr(value, 'standing_on') else as_argument(value, allow_specs)
        if tensor is None or (isinstance(value, (np.ndarray, np.generic)) and tensor.dtype != spec.dtype):
            try:
                tensor = EagerTensor(to_array(value, spec.dtype))
            except (TypeError, ValueError) as error:
                raise self._binding_error(str(error), args, {}) from None
        if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(tensor.shape):
            raise self._binding_error(f'Can not cast {TensorSpec(tensor.shape, tensor.dtype)} to {spec}', args, {})
        return tensor


def _misfit(spec: Any, value: Any) -> str:
    """The message on a mismatched part of a composite, or on the composite."""
    actual = spec_of(value)
    for part_spec, part in zip(spec._component_specs, [] if actual is None else components(value), strict=False):
        if not part_spec.is_compatible_with(part):
            return f'Can not cast {TensorSpec(part.shape, part.dtype)} to {part_spec}'
    return f'Can not cast {value if actual is None else actual!r} to {spec!r}'


def _make_spec(parameters: inspect.Signature | None, specs: tuple[Any, ...] | None, counter: Any) -> FunctionSignature:
    plain = None
    if parameters is not None and all(p.kind in _POSITIONAL for p in parameters.parameters.values()):
        plain = tuple(parameters.parameters)
    return FunctionSignature(parameters, specs, counter, plain)


def _check_specs(specs: Any, parameters: inspect.Signature | None) -> None:
    if not isinstance(specs, (list, tuple)):
        raise TypeError(f'input_signature must be either a tuple or a list, got {type(specs)}.')
    leaves = nest.flatten(list(specs))
    if any(not hasattr(spec, 'is_subtype_of') or not hasattr(spec, 'dtype') for spec in leaves):
        raise TypeError('input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args '
                        f'{leaves} with types {[type(spec) for spec in leaves]}.')
    if parameters is None:
        return
    kinds = [p for p in parameters.parameters.values() if p.kind in _POSITIONAL]
    kinds = kinds[1:] if kinds and kinds[0].name == 'self' else kinds
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters.parameters.values()):
        return
    if len(specs) > len(kinds):
        raise TypeError(f'input_signature contains {len(specs) - len(kinds)} extra type constraints.')
    for parameter in parameters.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is inspect.Parameter.empty:
            raise TypeError(f'Since input_signature is defined, keyword-only parameter `{parameter.name}` must have a '
                            'default value')
    missing = [p.name for p in kinds[len(specs):] if p.default is inspect.Parameter.empty]
    if missing:
        raise TypeError(f"input_signature missing type constraint for {missing[0]}")


def type_text(value: Any) -> str:
    """The type of a structure of specs and Python values, in TensorFlow's form, without names of specs."""
    if isinstance(value, TensorSpec):
        return str(TensorSpec(value.shape, value.dtype))
    if isinstance(value, TypeSpec):
        return repr(value)
    if not nest.is_nested(value):
        return f'Literal[{value!r}]'
    if isinstance(value, Mapping):
        return f'Dict[{", ".join(f"[{key!r}, {type_text(one)}]" for key, one in value.items())}]'
    inner = ', '.join(type_text(one) for one in value)
    return f'List[{inner}]' if isinstance(value, list) else f'Tuple[{inner}]'


def misfit(expected: Any, value: Any) -> str | None:
    """TensorFlow's message on a mismatch of a value with the structure of a spec; None if it matches."""
    if not nest.is_nested(expected):
        return None
    if isinstance(expected, Mapping):
        if not isinstance(value, Mapping):
            return f'Can not cast {value!r} to a Dict type.'
        if set(expected) != set(value):
            return f'{value!r} has different keys with the TraceType {type_text(expected)}.'
        return next((why for key in expected if (why := misfit(expected[key], value[key])) is not None), None)
    kind = list if isinstance(expected, list) else tuple
    if not isinstance(value, kind):
        return f'Can not cast {value!r} to {kind.__name__} type.'
    if len(value) != len(expected):
        return f'Can not cast {value!r} to {type_text(expected)}'
    return next((why for a, b in zip(expected, value, strict=True) if (why := misfit(a, b)) is not None), None)
