"""Results of wrapped functions that TensorFlow refuses. Number, dtype or shape are not as the graph says, or it is no
tensor.

TensorFlow looks at a result in C++ when the call is over. Asked inside of the hooks, on the thread of the call: what will be
refused is raised there as the call's error, and outside of them TensorFlow gets the result as it is and refuses it itself.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call_frames import mark_function_caller
from pyfuncdbg.hooks.generator_end import GeneratorEnd
from pyfuncdbg.hosts.tensorflow.python_calls.original_errors import Causes
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

_RESULT = '_pyfuncdbg_refused'
"""Attribute in which the error of a refusal keeps the result."""
_NONE: Any = object()
_PLAIN = frozenset('biufc')
_NO_TENSORS = (set, frozenset, object, type, FunctionType)


class Refusals:
    """Caller of functions as TensorFlow calls them, which raises TensorFlow's coming error on the result.

    Args:
        parts: Of TensorFlow.
        call: TensorFlow's own `FuncRegistry.__call__`.
        causes: Knows of an abort under way; no other error is raised instead of it.
    """

    def __init__(self, parts: TensorFlowParts, call: Callable[..., Any], causes: Causes) -> None:
        self._parts = parts
        self._call = call
        self._causes = causes
        self._eager: Any = parts.scripts.EagerFunc

    # ------------------------------------------------------------------ registered functions
    def call(self, registry: Any, token: str, device: Any, args: Any) -> Any:
        """Call a registered function.

        Raises:
            BaseException: What it raised, or of the class and with the text of TensorFlow's refusal.
        """
        try:
            result = self._call(registry, token, device, args)
        except StopIteration as error:
            entry = getattr(registry.get(token, None), MARK, None)
            if entry is None or not entry.generated:
                raise
            return GeneratorEnd(error)
        reference = registry._funcs.data.get(token)     # its `get` is Python code
        registered = reference() if reference is not None else None
        entry = getattr(registered, MARK, None)
        if isinstance(registered, self._eager):         # TensorFlow has cast the values already
            count, expected = _count(result), len(registered._out_dtypes)
            if count != expected:
                self._refuse('InvalidArgumentError', _counted(token, count, expected), result)
        types = entry.types if entry is not None else None
        if types is not None and not (type(result) is np.ndarray and len(types) == 1 and result.dtype is types[0][0]):
            self._check(token, result, [dtype for _, dtype in types])
        if entry is not None and entry.ensured and (text := self._causes.ensured.look(entry.ensured, result)):
            self._refuse('InvalidArgumentError', text, result)
        return result

    def _check(self, token: str, result: Any, expected: Sequence[Any]) -> None:
        """The checks of TensorFlow's `PyFunc`, in its order."""
        values = result if isinstance(result, list) else [] if _is_none(result) else [result]
        found = []
        for value in values:
            dtype, why = self._type(value)
            if why:
                self._refuse('InternalError', why, result)
            found.append(dtype)
        if len(found) != len(expected):
            self._refuse('InvalidArgumentError', _counted(token, len(found), len(expected)), result)
        for index, (dtype, wanted) in enumerate(zip(found, expected, strict=True)):
            if dtype is not None and dtype != wanted:
                self._refuse('InvalidArgumentError', f'{index}-th value returned by {token} is {_name(dtype)}, but expects '
                                                     f'{_name(wanted)}', result)

    def _type(self, value: Any) -> tuple[Any, str]:
        """The dtype of the tensor that an array becomes, None if it is not known; and why it can be none, '' if it can."""
        kind = value.dtype.kind
        if kind not in 'OSU':
            try:
                return self._parts.dtypes.as_dtype(value.dtype.newbyteorder('=')), ''
            except TypeError:
                pass
        elif kind != 'O' or all(type(item) is bytes or (type(item) is str and item.isascii()) for item in value.flat):
            return self._parts.dtypes.as_dtype('string'), ''
        error = self._conversion(value)
        if error is None:
            return None, ''
        return None, str(error).partition('(')[2].rpartition(')')[0] or str(error)

    def _conversion(self, value: Any) -> Exception | None:
        """TensorFlow's message on a value that can be no tensor."""
        try:
            with self._parts.context.eager_mode():
                self._parts.ops.convert_to_tensor(value)
        except Exception as error:              # whatever TensorFlow says of it is the answer
            return error
        return None

    def _refuse(self, kind: str, message: str, result: Any) -> None:
        if self._causes.aborted is None:
            raise _carrying(getattr(self._parts.errors, kind)(None, None, message), result)

    # ------------------------------------------------------------------ eager numpy_function
    def plainly(self, function: Any, *arrays: Any) -> Any:
        """Call a function as an eager `numpy_function` does, which takes whatever can be a tensor.

        Raises:
            BaseException: What it raised, or what TensorFlow is about to raise of its result.
        """
        result = function(*arrays)
        if (type(result) is not np.ndarray or result.dtype.kind not in _PLAIN or result.dtype.itemsize > 8) and (
                not isinstance(result, (float, np.float32))):
            for value in _leaves(result):
                if _is_odd(value) and (error := self._conversion(value)) is not None:
                    raise _carrying(error, result)
            return _as_converted(result)
        return result if type(result) is not float else _single(result)


mark_function_caller(Refusals.plainly)


def refused(error: BaseException, otherwise: Any) -> Any:
    """The result that an error from here tells of, for TensorFlow; `otherwise` for any other error."""
    return vars(error).pop(_RESULT, otherwise) if _RESULT in getattr(error, '__dict__', ()) else otherwise


def _carrying(error: Exception, result: Any) -> Exception:
    setattr(error, _RESULT, result)
    return error


def _as_converted(result: Any) -> Any:
    """A result whose Python numbers have the dtype that TensorFlow gives them: of float32 and int32, not NumPy's."""
    if type(result) is float:
        return _single(result)
    if type(result) is int and -1 << 31 <= result < 1 << 31:
        return np.int32(result)
    return [_as_converted(value) for value in result] if type(result) in (list, tuple) else result


def _single(number: float) -> np.float32:
    with np.errstate(over='ignore'):            # TensorFlow makes Inf of it without a warning
        return np.float32(number)


def _count(result: Any) -> int:
    return len(result) if isinstance(result, (list, tuple)) else 0 if result is None else 1


def _is_none(result: Any) -> bool:
    """None, and what TensorFlow's own conversion to an array makes of it."""
    return result is None or (isinstance(result, np.ndarray) and result.dtype.kind == 'O' and not result.ndim
                              and result.item() is None)


def _counted(token: str, count: int, expected: int) -> str:
    return f'{token} returns {count} values, but expects to see {expected} values.'


def _name(dtype: Any) -> str:
    """As C++ names it: 'float', 'double', 'half'."""
    return {'float32': 'float', 'float64': 'double', 'float16': 'half'}.get(dtype.name, str(dtype.name))


def _leaves(result: Any) -> Iterator[Any]:
    """The values in lists, tuples and dicts; what else TensorFlow takes apart may run code of the program's."""
    if type(result) in (list, tuple):
        for value in result:
            yield from _leaves(value)
    elif type(result) is dict:
        for value in result.values():
            yield from _leaves(value)
    else:
        yield result


def _is_odd(value: Any) -> bool:
    """Whether TensorFlow may refuse to convert a value. Only NumPy's and Python's own types: others may run their code."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind not in _PLAIN or value.dtype.itemsize > 8
    if type(value) is int:
        return value.bit_length() > 31
    return (type(value) is str and not value.isascii()) or type(value) in _NO_TENSORS
