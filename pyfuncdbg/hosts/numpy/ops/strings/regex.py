"""Splitting of strings, and regular expressions (Python's `re`, whose syntax is close to TensorFlow's RE2)."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pyfuncdbg.hosts.numpy.graph.definitions.registry import Attrs, OpDef, Output, TypedInput, no_gradient, register
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import dtypes
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape, unknown
from pyfuncdbg.hosts.numpy.ops.definition.constant import convert_to_tensor
from pyfuncdbg.hosts.numpy.ops.definition.shape_rules import invalid
from pyfuncdbg.hosts.numpy.ops.elementwise.unary import scalar
from pyfuncdbg.hosts.numpy.runtime.eager.dispatch import apply


# ---------------------------------------------------------------- patterns
@functools.lru_cache(256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    text = _text(pattern)
    try:
        return re.compile(text)
    except re.error as error:
        raise invalid(f'Invalid pattern: {text}, error: {error.msg.split(",")[0]}: {text}') from None


def _text(value: bytes | str) -> str:
    """Bytes as text; invalid UTF-8 survives the way back."""
    return value if isinstance(value, str) else value.decode('utf-8', 'surrogateescape')


def _bytes(value: bytes | str) -> bytes:
    return value if isinstance(value, bytes) else value.encode('utf-8', 'surrogateescape')


def _only_string(value: Any) -> Any:
    """One string: an attr, or a tensor of rank 0."""
    return value if isinstance(value, (str, bytes)) else np.asarray(value)[()]


def _map_elements(x: Any, function: Callable[[bytes], Any], dtype: Any = object) -> Any:
    return scalar(np.asarray(np.frompyfunc(function, 1, 1)(x)).astype(dtype))


def _replace(x: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Any:
    regex = _compiled(_bytes(_only_string(pattern)))
    rewrite_text = _text(_only_string(rewrite))
    largest = max((int(n) for n in re.findall(r'\\(\d)', rewrite_text)), default=0)
    if largest > regex.groups:
        raise invalid(f'Invalid rewrite pattern: {rewrite_text}')
    template = re.sub(r'\\(\d)', r'\\g<\1>', rewrite_text)
    return _map_elements(x, lambda value: _bytes(regex.sub(template, _text(value), 0 if replace_global else 1)))


def _full_match(x: Any, pattern: Any) -> Any:
    regex = _compiled(_bytes(_only_string(pattern)))
    return _map_elements(x, lambda value: regex.fullmatch(_text(value)) is not None, np.bool_)


def _like_input(dtype: dtypes.DType) -> Callable[[Sequence[TypedInput], Attrs], Sequence[Output]]:
    return lambda inputs, attrs: [(dtype, inputs[0].shape)]


register(OpDef('RegexReplace', _replace, _like_input(dtypes.string), no_gradient, kernel_attrs=('replace_global',)))
register(OpDef('StaticRegexReplace', _replace, _like_input(dtypes.string), no_gradient,
               kernel_attrs=('pattern', 'rewrite', 'replace_global')))
register(OpDef('RegexFullMatch', _full_match, _like_input(dtypes.bool), no_gradient))
register(OpDef('StaticRegexFullMatch', _full_match, _like_input(dtypes.bool), no_gradient, kernel_attrs=('pattern',)))


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Tensor:
    r"""Each string with matches of a pattern replaced.

    Args:
        input: Strings.
        pattern: A regular expression.
        rewrite: The replacement; `\0` is the whole match, `\1` the first group.
        replace_global: Whether all matches, or the first only.
        name: Of the node.

    Raises:
        InvalidArgumentError: The pattern is invalid, or has fewer groups than `rewrite` uses.
    """
    x = convert_to_tensor(input, dtypes.string)
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        attrs = {'pattern': pattern, 'rewrite': rewrite, 'replace_global': replace_global}
        return apply('StaticRegexReplace', (x,), attrs, name)
    inputs = x, convert_to_tensor(pattern, dtypes.string), convert_to_tensor(rewrite, dtypes.string)
    return apply('RegexReplace', inputs, {'replace_global': replace_global}, name)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether the whole of each string matches a pattern.

    Raises:
        InvalidArgumentError: The pattern is invalid.
    """
    x = convert_to_tensor(input, dtypes.string)
    if isinstance(pattern, (str, bytes)):
        return apply('StaticRegexFullMatch', (x,), {'pattern': pattern}, name)
    return apply('RegexFullMatch', (x, convert_to_tensor(pattern, dtypes.string)), None, name)


# ---------------------------------------------------------------- parts
def _places(parts: Sequence[Sequence[bytes]]) -> tuple[Any, Any, Any]:
    """Rows of parts as a sparse matrix: coordinates, values and dense shape."""
    places = [(i, j) for i, row in enumerate(parts) for j in range(len(row))]
    values = np.empty(len(places), object)
    values[:] = [part for row in parts for part in row]
    sizes = len(parts), max(map(len, parts), default=0)
    return np.array(places, np.int64).reshape(-1, 2), values, np.array(sizes, np.int64)


def _split_v2(x: Any, sep: Any, maxsplit: int = -1) -> tuple[Any, Any, Any]:
    if x.ndim != 1:
        raise invalid(f'input must be a vector, got shape: {list(x.shape)}')
    between = _only_string(sep)
    return _places([value.split(between or None, maxsplit) for value in x.tolist()])


def _split_at_any(x: Any, delimiter: Any, skip_empty: bool = True) -> tuple[Any, Any, Any]:
    if x.ndim != 1:
        raise invalid(f'input must be a vector, got shape: {list(x.shape)}')
    characters = _only_string(delimiter)
    rows = []
    for value in x.tolist():
        parts = re.split(b'[' + re.escape(characters) + b']', value) if characters else [
            value[i:i + 1] for i in range(len(value))]
        rows.append([part for part in parts if part or not skip_empty])
    return _places(rows)


def _split_types(inputs: Sequence[TypedInput], attrs: Attrs) -> list[Output]:
    return [(dtypes.int64, TensorShape.of((None, 2))), (dtypes.string, unknown(1)), (dtypes.int64, TensorShape.of((2,)))]


register(OpDef('StringSplitV2', _split_v2, _split_types, no_gradient, outputs=3, kernel_attrs=('maxsplit',)))
register(OpDef('StringSplit', _split_at_any, _split_types, no_gradient, outputs=3, kernel_attrs=('skip_empty',)))


# ---------------------------------------------------------------- joined again
def _unsorted_join(x: Any, segments: Any, count: Any, separator: str = '') -> Any:
    rows: list[list[bytes]] = [[] for _ in range(int(count))]
    for value, segment in zip(x.reshape(-1).tolist(), segments.reshape(-1).tolist(), strict=True):
        if segment >= int(count):
            raise invalid(f'Number of segments should be greater than the max segment id. {segment} >= {count}')
        if segment >= 0:
            rows[segment].append(value)
    result = np.empty(int(count), object)
    result[:] = [_bytes(separator).join(row) for row in rows]
    return result


register(OpDef('UnsortedSegmentJoin', _unsorted_join, lambda inputs, attrs: [(dtypes.string, unknown(1))], no_gradient,
               kernel_attrs=('separator',)))


def unsorted_segment_join(inputs: Any, segment_ids: Any, num_segments: Any, separator: str = '',
                          name: str | None = None) -> Tensor:
    """The strings of each segment, joined."""
    values = (convert_to_tensor(inputs, dtypes.string), convert_to_tensor(segment_ids), convert_to_tensor(num_segments))
    return apply('UnsortedSegmentJoin', values, {'separator': separator}, name)
