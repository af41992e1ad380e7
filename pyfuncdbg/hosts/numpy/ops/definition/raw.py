"""`tf.raw_ops`: each op as a function of keywords, with the arguments of TensorFlow's registry."""
from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import is_registered, lookup, registered_ops
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import Argument, Signature, signature
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import check_types
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply

_PRIVATE = frozenset(('PyFunc', 'PyFuncStateless', 'EagerPyFunc', 'If', 'StatelessIf', 'Case', 'StatelessCase', 'While',
                      'StatelessWhile', 'PartitionedCall', 'StatefulPartitionedCall', 'Placeholder', 'Const'))
"""Ops with functions in their attrs, or with private kernel attrs."""
_RENAMED = {'reduction_indices': 'axis', 'squeeze_dims': 'axis', 'split_dim': 'axis'}
_OF_OP = {'ExpandDims': {'dim': 'axis'}, 'Where': {'input': 'condition'}}
"""Arguments with another name in TensorFlow's Python functions than in its registry: of every op, and by op."""


def renamed(op: str) -> Mapping[str, str]:
    """Parameter names that differ from the registry's."""
    return _RENAMED | _OF_OP.get(op, {})


def names() -> list[str]:
    """The op types that have a function here."""
    return [d.name for d in registered_ops() if d.name not in _PRIVATE and signature(d.name) is not None]


@functools.cache
def function(op: str) -> Callable[..., Any]:
    """The function of an op type.

    Raises:
        AttributeError: There is no such op.
    """
    sig = signature(op)
    if sig is None or op in _PRIVATE or not is_registered(op):
        raise AttributeError(f"module 'pyfuncdbg.tf.raw_ops' has no attribute {op!r}")
    snake = _snake(op)
    derived = {a.type for a in sig.inputs} | {a.number for a in sig.inputs}
    attrs = {name: kind for name, kind in sig.attrs.items() if name not in derived}
    other = renamed(op)
    parameters = [*(a.name for a in sig.inputs), *attrs]
    accepted = [*(other.get(key, key) for key in parameters), 'name']

    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(f'{snake} only takes keyword args (possible keys: {accepted}). Please pass these args as kwargs '
                            'instead.')
        strange = next((key for key in kwargs if key not in accepted), None)
        if strange is not None:
            raise TypeError(f'{snake}() got an unexpected keyword argument {strange!r}')
        kwargs = {**kwargs, **{key: kwargs[other[key]] for key in parameters if other.get(key) in kwargs}}
        missing = [other.get(key, key) for key in parameters if key not in kwargs and key not in sig.defaults]
        if missing:
            raise TypeError(f'{snake}() missing {len(missing)} required positional argument{"s" * (len(missing) > 1)}: '
                            + ' and '.join(map(repr, missing)))
        attr_values = {key: _attr(key, attrs[key], kwargs.get(key, sig.defaults.get(key))) for key in attrs}
        inputs = _inputs(sig, kwargs)
        check_types(op, inputs)
        return _named(op, sig, apply(op, inputs, {k: v for k, v in attr_values.items() if v is not None},
                                     kwargs.get('name')))

    call.__name__ = call.__qualname__ = op
    call.__doc__ = f'TensorFlow\'s op `{op}`: {sig.text}'
    return call


def _snake(name: str) -> str:
    return ''.join(('_' if c.isupper() and i and not name[i - 1].isupper() else '') + c.lower() for i, c in enumerate(name))


def _attr(name: str, kind: str, value: Any) -> Any:
    if kind == 'type' and value is not None:
        try:
            return as_dtype(value)
        except TypeError:
            raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from None
    if kind == 'string' and isinstance(value, bytes):
        return value.decode('utf-8', 'replace')
    return value


def _inputs(sig: Signature, kwargs: Mapping[str, Any]) -> list[Any]:
    """The tensors of a node: values of one type attr have the dtype of the first tensor or array among them."""
    kinds: dict[str, DType] = {}
    for argument in sig.inputs:
        for value in _listed(sig, argument, kwargs[argument.name]):
            if hasattr(value, 'dtype') and argument.type in sig.attrs:
                kinds.setdefault(argument.type, as_dtype(value.dtype))
    tensors = []
    for argument in sig.inputs:
        for value in _listed(sig, argument, kwargs[argument.name]):
            if isinstance(value, Tensor):
                tensors.append(value)
                continue
            dtype = kinds.get(argument.type) if argument.type in sig.attrs else _fixed(argument)
            tensor = convert_to_tensor(value, None if isinstance(value, np.ndarray) else dtype, name=argument.name)
            if argument.type in sig.attrs and sig.attrs[argument.type] == 'type':
                kinds.setdefault(argument.type, tensor.dtype)
            tensors.append(tensor)
    return tensors


def _listed(sig: Signature, argument: Argument, value: Any) -> Sequence[Any]:
    """The tensors of one argument: several where it has a number, or a list of types."""
    several = argument.number or sig.attrs.get(argument.type, '').startswith('list(')
    return list(value) if several else [value]


def _fixed(argument: Argument) -> DType | None:
    return None if argument.type in ('resource', 'variant') else as_dtype(argument.type)


def _named(op: str, sig: Signature, result: Any) -> Any:
    if lookup(op).outputs in (0, 1) or len(sig.outputs) < 2 or not isinstance(result, (list, tuple)):
        return result
    return namedtuple(op, [a.name for a in sig.outputs])(*result)
