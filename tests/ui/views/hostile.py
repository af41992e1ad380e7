"""Strategies for the worst data that fits a type: what a damaged or hostile trace, or an odd program, could hold.

A view's arguments are made from their annotations, so that a new view is tried because it exists.
"""
from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from typing import Any, Literal, Union

import ml_dtypes
import numpy as np
from hypothesis import strategies as st
from rich.console import RenderableType
from rich.text import Text
from written_trace import tensor

from pyfuncdbg.observers.record.elements import Elements, elements_of
from pyfuncdbg.observers.record.record_contents import load_tensor
from pyfuncdbg.observers.record.records import ABSENT, Stats, TensorRecord
from pyfuncdbg.observers.record.snapshots.statistics import stats_of
from pyfuncdbg.observers.record.sources.source_text import SourceReader, SourceText

TEXTS = (
    '', 'norm', 'norm:0', '[blink]x[/blink]', '[/]', '[link=file:///etc/passwd]y', 'a\x1b[5mb\x1b]0;t\x07',
    'tab\tcr\rnl\nend', '\u202eright\u2066', '\ud800', '\U0001f600\u200d', '日本語' * 30, 'n' * 500, '\x00\x7f\x9b31m',
    '{}%s', ' ', 'a/b' * 200, '/home/of another/machine.py', '<ipython-input-3>', 'C:\\temp\\x.py', '(unclosed',
    'def f(x):\n    return x', '-1', '`')
"""What names, messages and prints may be."""
ARRAYS = (
    np.zeros((0, 3)), np.array(2.5), np.array(np.nan), np.full((3, 4), np.nan), np.full(40, np.inf),
    np.full((5, 9), -np.inf), np.array([1e308, -1e308, 5e-324] * 20), np.arange(240.0).reshape(12, 20),
    np.linspace(-1, 1, 500), np.ones((2, 3, 4, 5)), np.array([[1, np.nan], [np.inf, -0.0]] * 30, np.float16),
    np.array([2**63 - 1, -2**63]), np.array([2**64 - 1], np.uint64), np.array([True, False] * 30),
    np.array([1 + 2j, complex(np.nan, 0), complex(0, np.inf)] * 15), np.array([1.5] * 40, ml_dtypes.bfloat16),
    np.array([1.5, np.nan], ml_dtypes.float8_e5m2), np.array(list(TEXTS)),
    np.array([b'\x1b[31m\xff', b'', b'x' * 9000], object), np.array([None, {}, object()], object),
    np.array(['2020-01-02', 'NaT'], 'M8[D]'), np.zeros((1,) * 12), np.zeros((3, 1, 1, 40)),
    np.array([(1, 2.0)], [('a', 'i4'), ('b', 'f8')]), np.array([np.finfo(np.longdouble).max, 1], np.longdouble),
    np.zeros((70, 2)))
"""Values of every kind."""


def stored(array: np.ndarray) -> TensorRecord:
    """A tensor as a trace would hold it."""
    if array.dtype.hasobject or array.dtype.kind in 'SU':
        return TensorRecord('', 'string', array.shape, array.nbytes, 'stats', Stats(array.size), note='it holds text')
    return tensor('', array)


_numbers = st.sampled_from([0, 1, 2, 3, 7, 12, 100, 4711, 10**6, 10**12, 2**63, 2**64 - 1])
_floats = st.sampled_from([0.0, 1e-9, 0.25, 1.5, 1e4, 1e300, 5e-324, 1e-310, -1.0, -1e300, float('nan'), float('inf'),
                           float('-inf')])
_texts = st.sampled_from(TEXTS)
_arrays = st.sampled_from(ARRAYS)


@st.composite
def tensors(draw: Any) -> TensorRecord:
    """Kept in full, in statistics, not at all; bytes that are lost; a type that nobody knows."""
    record = stored(draw(_arrays))
    kind = draw(st.integers(0, 5))
    name, note = draw(_texts), draw(_texts)
    if kind == 0:
        return dataclasses.replace(record, name=name, level='stats', key=None, note=note)
    if kind == 1:
        return TensorRecord(name, draw(_texts), (2,) * draw(st.integers(0, 30)), 10**15, 'none', note=note)
    if kind == 2:
        return TensorRecord(name, 'object', (), 0, 'none', note=ABSENT)
    if kind == 3:
        return load_tensor(dataclasses.replace(record, name=name, _read=None, changed=True))
    return load_tensor(dataclasses.replace(record, name=name, changed=draw(st.booleans())))


_sources = _texts.map(lambda text: lambda filename, line: SourceText(line - 1, ('', *text.split('\n')), ''))
"""Readers of records that name lines of source."""
_KNOWN: dict[Any, st.SearchStrategy[Any]] = {
    str: _texts, int: _numbers, float: _floats, bool: st.booleans(), bytes: st.just(b'\x1b\xff'), type(None): st.none(),
    np.ndarray: _arrays, Elements: st.one_of(_arrays.map(elements_of), _texts.map(lambda text: Elements(missing=text))),
    TensorRecord: tensors(), Stats: _arrays.map(stats_of).filter(bool),
    SourceText: _texts.map(lambda text: SourceText(missing=text or 'not here')), SourceReader: _sources,
    object: st.one_of(_texts, _numbers, st.just(True)), Any: st.one_of(_texts, _numbers, st.none()),
    RenderableType: st.none(), Text: _texts.map(Text)}


_PLAIN: Mapping[Any, st.SearchStrategy[Any]] = {}
_made: dict[tuple[int, Any, int], tuple[Mapping[Any, st.SearchStrategy[Any]], st.SearchStrategy[Any]]] = {}
"""By special strategies, type and depth. A type that is in a record in many places is one strategy there: with one for each
place, their number would grow by the depth."""


def of(kind: Any, depth: int = 0, special: Mapping[Any, st.SearchStrategy[Any]] | None = None) -> st.SearchStrategy[Any]:
    """Values of a type, by its annotation.

    Raises:
        TypeError: This kind of annotation is not known here.
    """
    given = special or _PLAIN
    if not _hashable(kind):
        return _strategy(kind, depth, given)
    known = given.get(kind, _KNOWN.get(kind))
    if known is not None:
        return known
    key = id(given), kind, depth
    if key not in _made:
        _made[key] = given, _strategy(kind, depth, given)
    return _made[key][1]


def _strategy(kind: Any, depth: int, given: Mapping[Any, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    most = 3 if depth < 3 else 1 if depth < 5 else 0
    if origin in (Union, types.UnionType):
        options = [of(one, depth, given) for one in arguments if depth < 6 or one is type(None) or one not in (kind,)]
        return st.one_of(*options) if depth < 5 or type(None) not in arguments else st.none()
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return st.lists(_deferred(arguments[0], depth, given), max_size=most).map(tuple) if most else st.just(())
    if origin is tuple:
        return st.tuples(*(of(one, depth + 1, given) for one in arguments))
    if origin in (list, Sequence):
        return st.lists(_deferred(arguments[0], depth, given), max_size=most) if most else st.just([])
    if origin in (frozenset, set, AbstractSet):
        return st.frozensets(_deferred(arguments[0], depth, given), max_size=most)
    if origin in (dict, Mapping):
        return st.dictionaries(of(arguments[0], depth + 1, given), _deferred(arguments[1], depth, given),
                               max_size=min(most, 2))
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, '_fields')):
        return _fields(kind, depth, given)
    raise TypeError(f'no strategy for {kind!r}')


def _fields(kind: Any, depth: int, given: Mapping[Any, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    hints = typing.get_type_hints(kind)
    names = kind._fields if not dataclasses.is_dataclass(kind) else [
        field.name for field in dataclasses.fields(kind) if field.init]
    return st.builds(kind, **{name: given[kind, name] if (kind, name) in given else of(hints[name], depth + 1, given)
                              for name in names})


def _deferred(kind: Any, depth: int, given: Mapping[Any, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    return st.deferred(lambda: of(kind, depth + 1, given))


def arguments(function: Callable[..., Any],
              special: Mapping[Any, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for a function, by their annotations."""
    hints = typing.get_type_hints(function)
    hints.pop('return', None)
    own = {name: special.get((function.__name__, name)) for name in hints}
    return st.fixed_dictionaries({name: of(kind, 0, special) if (known := own[name]) is None else known
                                  for name, kind in hints.items()})


def _hashable(kind: Any) -> bool:
    try:
        hash(kind)
    except TypeError:
        return False
    return True
