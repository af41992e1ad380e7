"""Results that TensorFlow gives to a program, for `pyfuncdbg verify`.

Not those of calls on its own threads, whose order is never the same.
"""
from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.interception.result_source import GET_NEXT, ResultSource, session_fetches


def _function_name(args: tuple[Any, ...]) -> tuple[str, Sequence[str]]:
    return str(getattr(args[0], '_name', 'function')), ()


def _source(module: str, path: str, label: str) -> ResultSource:
    return ResultSource(f'tensorflow.python.{module}', path, lambda args: (label, ()))


RESULT_SOURCES = (
    ResultSource('tensorflow.python.client.session', 'BaseSession.run', session_fetches),
    ResultSource('tensorflow.python.eager.polymorphic_function.polymorphic_function', 'Function.__call__', _function_name),
    _source('eager.backprop', 'GradientTape.gradient', 'GradientTape.gradient'),
    _source('data.ops.iterator_ops', 'OwnedIterator._next_internal', GET_NEXT),
    _source('ops.script_ops', 'py_func_common', 'numpy_function'),
    _source('ops.gen_script_ops', 'eager_py_func', 'py_function'),
)


def leaves(value: Any) -> Iterable[Any] | None:
    """The arrays in a tensor, or the values in an Optional or a composite tensor; None for any other value."""
    if type(value).__name__ == 'EagerTensor' and hasattr(value, 'numpy'):
        return () if value.dtype.name in ('resource', 'variant') else (np.asarray(value.numpy()),)
    if hasattr(value, 'has_value') and hasattr(value, 'get_value'):     # an Optional, as Keras's steps give one
        return (value.get_value(),) if bool(value.has_value()) else ()
    if hasattr(value, '_type_spec') and (nest := sys.modules.get('tensorflow.python.util.nest')) is not None:
        flat: Sequence[Any] = nest.flatten(value, expand_composites=True)       # ragged, sparse, rows of a table
        return [leaf for leaf in flat if leaf is not value]
    return None
