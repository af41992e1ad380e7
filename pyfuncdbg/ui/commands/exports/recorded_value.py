"""Expressions for values that a trace holds beside inputs: attributes of objects, variables of closures.

A trace may be hostile: an expression consists of literals, arrays and empty objects of classes of the program; nothing is
called that the trace names.
"""
from __future__ import annotations

import keyword
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.observers.record.snapshots import value_encoding as tags

MADE = '''def made(kind, attributes):
    """An object with the attributes that it had, without a call of its class."""
    found = object.__new__(kind)
    vars(found).update(attributes)
    return found
'''
"""The function that expressions for objects call."""
GENERATOR = '''def generator(kind, bits, state):
    """A random generator of NumPy in the state that it had."""
    source = getattr(np.random, bits)()
    source.state = {'bit_generator': bits, **state}
    return getattr(np.random, kind)(source)
'''
"""The function that expressions for random generators call."""
FUNCTIONS = {'made(': MADE, 'generator(': GENERATOR}
"""Functions of a generated file by how their calls begin."""
_KINDS = frozenset(('Generator', 'RandomState'))
_BITS = frozenset(('MT19937', 'PCG64', 'PCG64DXSM', 'Philox', 'SFC64'))
_OPEN = {tags.LIST: '[{}]', tags.SET: '{{{}}}', tags.FROZENSET: 'frozenset([{}])'}
_DEEPEST = 2 * tags.DEEPEST


class UnknownValueError(ValueError):
    """A value that the trace has not, or that no expression may have."""


class ValueWriter:
    """Writes expressions, for one generated file.

    Args:
        add: Stores an array, and gives the expression for it.
        import_name: Imports a class of a module, and gives its name in the file.

    Attributes:
        missing: Attributes of the last object that were left out.
    """

    def __init__(self, add: Callable[[np.ndarray], str], import_name: Callable[[str, str], str]) -> None:
        self._add = add
        self._import_name = import_name
        self.missing: list[str] = []

    def text_of(self, encoded: Any, depth: int = 0) -> str:
        """The expression for a value.

        Args:
            encoded: As in the trace.
            depth: Of the containers around it.

        Raises:
            UnknownValueError: There is none.
        """
        try:
            tag, *parts = encoded
            if depth > _DEEPEST:
                raise UnknownValueError('nested too deeply')
            return self._text(tag, parts, depth + 1)
        except UnknownValueError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise UnknownValueError(f'damaged: {error}') from error

    def object_text(self, encoded: Any) -> str:
        """The expression for an object of a class of the program; attributes without a value are left out.

        Args:
            encoded: As in the trace.

        Raises:
            UnknownValueError: It is no such object.
        """
        if not isinstance(encoded, list) or len(encoded) != 4 or encoded[0] != tags.OBJECT:
            raise UnknownValueError('no object of a class of the program')
        return self._object(encoded[1:], 0)

    def _text(self, tag: Any, parts: list[Any], depth: int) -> str:
        if tag == tags.PLAIN and (parts[0] is None or type(parts[0]) in (bool, int, float, str, bytes)):
            return _literal(parts[0])
        if tag == tags.INTEGER:
            return str(int(str(parts[0])[:5000]))
        if tag == tags.COMPLEX:
            real, imaginary = map(float, parts)
            return f'complex({_literal(real)}, {_literal(imaginary)})'
        if tag in (tags.ARRAY, tags.SCALAR):
            return self._add(_array(*parts)) + ('[()]' if tag == tags.SCALAR else '')
        if tag == tags.DICT:
            pairs = (f'{self.text_of(key, depth)}: {self.text_of(value, depth)}' for key, value in parts[0])
            return f'{{{", ".join(pairs)}}}'
        if tag == tags.TUPLE:
            items = [self.text_of(part, depth) for part in parts[0]]
            return f'({", ".join(items)}{"," * (len(items) == 1)})'
        if tag in _OPEN:
            items = [self.text_of(part, depth) for part in parts[0]]
            return 'set()' if tag == tags.SET and not items else _OPEN[tag].format(', '.join(items))
        if tag == tags.OBJECT:
            return self._object(parts, depth)
        if tag == tags.GENERATOR and parts[0] in _KINDS:
            return self._generator(*parts)
        if tag == tags.NAMED and parts[0] == 'numpy' and isinstance(getattr(np, str(parts[1]), None), np.ufunc | type):
            return f'np.{parts[1]}'
        raise UnknownValueError(str(parts[-1]) if tag == tags.UNKNOWN else 'a function or a generator')

    def _generator(self, kind: str, state: Any) -> str:
        family, bits, content, *gauss = state
        if family != 'numpy' or bits not in _BITS or any(gauss):
            raise UnknownValueError('a generator in the middle of a pair of numbers, or none of NumPy')
        return f'generator({kind!r}, {bits!r}, {self._state(content)})'

    def _state(self, content: Any) -> str:
        """A part of a state: numbers are there as text, arrays as type and bytes."""
        if isinstance(content, dict):
            return f'{{{", ".join(f"{str(key)!r}: {self._state(part)}" for key, part in content.items())}}}'
        if isinstance(content, list):
            dtype, data = content
            return self._add(np.frombuffer(data, np.dtype(str(dtype))))
        return str(int(str(content)[:50]))

    def _object(self, parts: list[Any], depth: int) -> str:
        module, name, attributes = parts
        kind = self._import_name(str(module), str(name))
        texts = []
        for key, value in attributes:
            try:
                texts.append(f'{str(key)!r}: {self.text_of(value, depth)}')
            except UnknownValueError:
                if depth:                       # of an attribute: that is not what it was
                    raise
                self.missing.append(''.join(char if char.isalnum() else '_' for char in str(key)[:60]))
        return f'made({kind}, {{{", ".join(texts)}}})'


def _literal(value: Any) -> str:
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    return repr(value)


def _array(dtype: Any, shape: Any, data: Any) -> np.ndarray:
    kind = np.dtype(str(dtype))
    if kind.hasobject or kind.kind == 'V' or not isinstance(data, bytes):
        raise UnknownValueError(f'an array of {dtype}')
    return np.frombuffer(data, kind).reshape([int(size) for size in shape])


def is_generator(encoded: Any) -> bool:
    """Whether a value of a trace is a random generator."""
    return isinstance(encoded, list) and encoded[:1] == [tags.GENERATOR]


def is_library_module(module: str) -> bool:
    """Whether a name is that of a module of Python itself: a trace is no reason to call those."""
    return module.partition('.')[0] in sys.stdlib_module_names


def is_name(text: str) -> bool:
    """Whether a text is a name of Python, so that it may stand in code."""
    return text.isidentifier() and not keyword.iskeyword(text)
