"""Argument binding of concrete functions: by the Python function's parameters, or by tensor name."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.spec import TensorSpec
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.traces.call_arguments import CallArguments, Described, TensorArgument, as_argument
from pyfuncdbg.hosts.numpy.runtime.traces.type_text import misfit, type_text


class _MisfitError(Exception):
    """The arguments are not of the parameters."""


def arguments_of_call(args: Sequence[Any], kwargs: Mapping[str, Any], parameters: Sequence[Described],
                      inputs: Sequence[TensorArgument], name: str, shown: str) -> tuple[list[Any], list[Any]]:
    """The tensors of a call, and the variables among its arguments.

    Args:
        args: Of the call.
        kwargs: Of the call.
        parameters: Those of the trace; Python values must be those it was made for.
        inputs: Its tensors.
        name: Of the function.
        shown: Its signature, for messages.

    Raises:
        TypeError: The arguments fit neither the parameters nor the tensors.
    """
    try:
        found = _by_parameters(args, kwargs, parameters)
        return found.tensors, found.variables
    except _MisfitError as problem:
        why = str(problem)
    try:
        return _by_tensors(args, kwargs, [one.name for one in inputs], name), []
    except _MisfitError as also:
        raise TypeError(f'Binding inputs to tf.function failed due to `{why}`. Received args: {tuple(args)} and kwargs: '
                        f'{dict(kwargs)} for signature: {shown}.\nFallback to flat signature also failed due to: '
                        f'{also}') from None


def _by_parameters(args: Sequence[Any], kwargs: Mapping[str, Any], parameters: Sequence[Described]) -> CallArguments:
    positional = [name for name, kind, _ in parameters if kind != 'KEYWORD_ONLY']
    if len(args) > len(positional):
        raise _MisfitError('too many positional arguments')
    given = dict(zip(positional, args, strict=False))
    for name in kwargs:
        if name in given:
            raise _MisfitError(f"multiple values for argument '{name}'")
    given |= kwargs
    names = [name for name, _, _ in parameters]
    for name in names:
        if name not in given:
            raise _MisfitError(f"missing a required argument: '{name}'")
    for name in kwargs:
        if name not in names:
            raise _MisfitError(f"got an unexpected keyword argument '{name}'")
    return CallArguments([_fitted(expected, given[name]) for name, _, expected in parameters], {}, names, False, {})


def _fitted(expected: Any, given: Any) -> Any:
    why = misfit(expected, given)
    if why is not None:
        raise _MisfitError(why)
    if nest.is_nested(expected):
        return nest.pack_sequence_as(given, [_fitted(a, b) for a, b in zip(nest.flatten(expected), nest.flatten(given),
                                                                           strict=True)])
    if isinstance(expected, TensorSpec):
        if as_argument(given, False) is not None or hasattr(given, 'standing_on'):
            return given
        try:
            return EagerTensor(to_array(given, expected.dtype))
        except (TypeError, ValueError) as error:
            raise _MisfitError(str(error)) from None
    if not hasattr(expected, '_component_specs') and not bool(expected == given):
        raise _MisfitError(f'Can not cast {given!r} to {type_text(expected)}')
    return given


def _by_tensors(args: Sequence[Any], kwargs: Mapping[str, Any], names: Sequence[str], function: str) -> list[Any]:
    shown = f'{function}({", ".join(names)})'
    if len(args) > len(names):
        raise _MisfitError(f'{shown} takes {len(names)} positional arguments, got {len(args)}.')
    found, rest = list(args), dict(kwargs)
    for name in names[len(args):]:
        if name not in rest:
            missing = sorted(set(names) - set(names[:len(args)]) - set(kwargs))
            raise _MisfitError(f'{shown} missing required arguments: {", ".join(missing)}.')
        found.append(rest.pop(name))
    for name in rest:
        if name in names:
            raise _MisfitError(f"{shown} got two values for '{name}'.")
        raise _MisfitError(f'{shown} got unexpected keyword arguments: {", ".join(sorted(rest))}.')
    for i, value in enumerate(found):
        if not isinstance(value, Tensor):
            raise _MisfitError(f'{shown}: expected argument #{i}(zero-based) to be a Tensor; got {type(value).__name__} '
                               f'({value}).')
    return found
