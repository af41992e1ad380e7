"""Results of wrapped functions that TensorFlow refuses, for their number, dtype or shape, or because they are no tensors.

TensorFlow checks a result in C++ after the call. Called inside of the hooks, on the thread of the call: a refusal is raised
there as the call's error; outside of the hooks TensorFlow gets the original result and refuses it itself.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import ErrorCauses
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_RESULT = '_pyfuncdbg_refused'
"""Attribute of a refusal's error that holds the result."""
_NONE: Any = object()
_PLAIN = frozenset('biufc')
_NO_TENSORS = (set, frozenset, object, type, FunctionType)


@transparent
class ResultChecker:
    """Caller of functions as TensorFlow calls them, which raises TensorFlow's coming error on the result.

    Args:
        parts: Of TensorFlow.
        call: TensorFlow's own `FuncRegistry.__call__`.
        causes: Holds the abort that is under way; no other error is raised instead of it.
    """

    def __init__(self, parts: TensorFlowParts, call: Callable[..., Any], causes: ErrorCauses) -> None:
        self._parts = parts
        self._call = call
        self._causes = causes
        self._eager: Any = parts.scripts.EagerFunc

    # ------------------------------------------------------------------ registered functions
    def call(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        """Call a registered function.

        Raises:
            BaseException: The function's, or one with the class and text of TensorFlow's refusal.
        """
        try:
            result = self._call(registry, token, device, args)
        except StopIteration as error:
            entry = getattr(registry.get(token, None), MARK, None)
            if entry is None or not entry.takes_element:
                raise
            return GeneratorEnd(error)
        reference = registry._funcs.data.get(token)     # its `get` is Python code
        registered = reference() if reference is not None else None
        entry = getattr(registered, MARK, None)
        if isinstance(registered, self._eager):         # TensorFlow has cast the values already
            count, expected = _count(result), len(registered._out_dtypes)
            if count != expected:
                self._refuse('InvalidArgumentError', _count_message(token, count, expected), result)
        types = entry.output_types if entry is not None else None
        if types is not None and not (type(result) is np.ndarray and len(types) == 1 and result.dtype is types[0][0]):
            self._check(token, result, [dtype for _, dtype in types])
        if entry is not None and entry.ensured_shapes and (
                text := self._causes.ensured_shapes.check_result(entry.ensured_shapes, result)):
            self._refuse('InvalidArgumentError', text, result)
        return result

    def _check(self, token: str, result: Any, expected: Sequence[Any]) -> None:
        """The checks of TensorFlow's `PyFunc`, in its order."""
        values = result if isinstance(result, list) else [] if _is_none(result) else [result]
        dtypes = []
        for value in values:
            dtype, why = self._tensor_dtype(value)
            if why:
                self._refuse('InternalError', why, result)
            dtypes.append(dtype)
        if len(dtypes) != len(expected):
            self._refuse('InvalidArgumentError', _count_message(token, len(dtypes), len(expected)), result)
        for index, (dtype, expected_dtype) in enumerate(zip(dtypes, expected, strict=True)):
            if dtype is not None and dtype != expected_dtype:
                self._refuse('InvalidArgumentError', f'{index}-th value returned by {token} is {_name(dtype)}, but expects '
                                                     f'{_name(expected_dtype)}', result)

    def _tensor_dtype(self, value: Any) -> tuple[Any, str]:
        """The dtype of the tensor that an array becomes, None if unknown; and why it cannot become one, '' if it can."""
        kind = value.dtype.kind
        if kind not in 'OSU':
            try:
                return self._parts.dtypes.as_dtype(value.dtype.newbyteorder('=')), ''
            except TypeError:
                pass
        elif kind != 'O' or all(type(item) is bytes or (type(item) is str and item.isascii()) for item in value.flat):
            return self._parts.dtypes.as_dtype('string'), ''
        error = self._conversion_error(value)
        if error is None:
            return None, ''
        return None, str(error).partition('(')[2].rpartition(')')[0] or str(error)

    def _conversion_error(self, value: Any) -> Exception | None:
        """TensorFlow's error on a value that cannot become a tensor."""
        try:
            with self._parts.context.eager_mode():
                self._parts.ops.convert_to_tensor(value)
        except Exception as error:              # any error of TensorFlow's is the answer
            return error
        return None

    def _refuse(self, kind: str, message: str, result: Any) -> None:
        if self._causes.aborted is None:
            raise _with_result(getattr(self._parts.errors, kind)(None, None, message), result)

    # ------------------------------------------------------------------ eager numpy_function
    def call_numpy_function(self, function: Any, *arrays: Any) -> Any:
        """Call a function as an eager `numpy_function` does, which takes whatever can become a tensor.

        Raises:
            BaseException: The function's, or TensorFlow's coming error on its result.
        """
        result = function(*arrays)
        if (type(result) is not np.ndarray or result.dtype.kind not in _PLAIN or result.dtype.itemsize > 8) and (
                not isinstance(result, (float, np.float32))):
            for value in _leaves(result):
                if _may_be_refused(value) and (error := self._conversion_error(value)) is not None:
                    raise _with_result(error, result)
            return _convert_numbers(result)
        return result if type(result) is not float else _to_float32(result)


mark_function_caller(ResultChecker.call_numpy_function)


def refused_result(error: BaseException, default: Any) -> Any:
    """The result that TensorFlow refuses, from an error raised here; `default` for any other error."""
    return vars(error).pop(_RESULT, default) if _RESULT in getattr(error, '__dict__', ()) else default


def _with_result(error: Exception, result: Any) -> Exception:
    setattr(error, _RESULT, result)
    return error


def _convert_numbers(result: Any) -> Any:
    """A result whose Python numbers have TensorFlow's dtypes: float32 and int32, not NumPy's."""
    if type(result) is float:
        return _to_float32(result)
    if type(result) is int and -1 << 31 <= result < 1 << 31:
        return np.int32(result)
    return [_convert_numbers(value) for value in result] if type(result) in (list, tuple) else result


def _to_float32(number: float) -> np.float32:
    with np.errstate(over='ignore'):            # TensorFlow makes Inf of it without a warning
        return np.float32(number)


def _count(result: Any) -> int:
    return len(result) if isinstance(result, (list, tuple)) else 0 if result is None else 1


def _is_none(result: Any) -> bool:
    """Whether it is None, or the array that TensorFlow converts None to."""
    return result is None or (isinstance(result, np.ndarray) and result.dtype.kind == 'O' and not result.ndim
                              and result.item() is None)


def _count_message(token: str, count: int, expected: int) -> str:
    return f'{token} returns {count} values, but expects to see {expected} values.'


def _name(dtype: Any) -> str:
    """As C++ names it: 'float', 'double', 'half'."""
    return {'float32': 'float', 'float64': 'double', 'float16': 'half'}.get(dtype.name, str(dtype.name))


def _leaves(result: Any) -> Iterator[Any]:
    """The values in lists, tuples and dicts; other structures that TensorFlow takes apart may run code of the program."""
    if type(result) in (list, tuple):
        for value in result:
            yield from _leaves(value)
    elif type(result) is dict:
        for value in result.values():
            yield from _leaves(value)
    else:
        yield result


def _may_be_refused(value: Any) -> bool:
    """Whether TensorFlow may refuse to convert a value. Only NumPy's and Python's own types: others may run their code."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind not in _PLAIN or value.dtype.itemsize > 8
    if type(value) is int:
        return value.bit_length() > 31
    return (type(value) is str and not value.isascii()) or type(value) in _NO_TENSORS
