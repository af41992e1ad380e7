"""Short text of a program's value made without running its code: no `__repr__`, property or `__len__`.

Called on the thread of a call that raised, so that looking at its variables can neither fail, nor hang, nor change anything.
What is no plain value of Python is shown by its type alone.
"""
from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.record.snapshots.snapshot import SCALARS

LONGEST = 200
"""Characters of a text."""
_LONGEST_STRING = 80
_MOST_ITEMS = 6
_DEEPEST = 2
_LARGEST_INT_BITS = 400
"""Of an int that is written out: Python takes quadratic time for it, and refuses beyond 4,300 digits."""

_qualname = type.__dict__['__qualname__'].__get__
_namespace = type.__dict__['__dict__'].__get__
_PLAIN = frozenset((bool, float, complex, type(None), type(...), type(NotImplemented)))
_BRACKETS: dict[type, tuple[str, str]] = {list: ('[', ']'), tuple: ('(', ')'), set: ('{', '}'), frozenset: ('{', '}'),
                                          dict: ('{', '}')}
_BASES: tuple[type, ...] = (str, bytes, int, *_BRACKETS)


def type_name(kind: type) -> str:
    """The qualified name of a type, read past whatever a metaclass makes of names.

    Args:
        kind: The type.

    Returns:
        'Model', 'Outer.Inner'; at most 60 characters.
    """
    return str.__getitem__(_qualname(kind), slice(60))


def safe_text(value: Any, depth: int = _DEEPEST, special: Callable[[Any], str] = lambda value: '') -> str:
    """Format a value without running its code.

    Args:
        value: Anything.
        depth: Containers inside of containers that are looked into.
        special: The text of values that the caller knows more about, '' of others.

    Returns:
        At most about `LONGEST` characters.
    """
    return _shorten(_text(value, depth, special))


def _text(value: Any, depth: int, special: Callable[[Any], str]) -> str:
    said = special(value)
    if said:
        return said
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in SCALARS:
        return str(value)
    # `issubclass` of the type, never `isinstance`: that asks the value for its `__class__`.
    base = next((base for base in _BASES if issubclass(kind, base)), None)
    if base is not None:
        text = (_container(value, base, depth, special) if base in _BRACKETS else
                _int(value) if base is int else _string(value, base))
        return text if kind is base else f'{type_name(kind)}{text if base is tuple else f"({text})"}'
    if issubclass(kind, type):
        return f'<class {type_name(value)}>'
    if kind is FunctionType:
        return f'<function {program_code(value.__code__).co_qualname[:80]}>'
    if kind is MethodType:
        return f'<method {_text(value.__func__, 0, special).strip("<>").removeprefix("function ")}>'
    if kind is BuiltinFunctionType:
        return f'<built-in {value.__name__[:80]}>'
    return f'<{type_name(kind)} object>'


def _string(value: Any, base: Any) -> str:
    if base.__len__(value) <= _LONGEST_STRING:
        return repr(base.__getitem__(value, slice(None)))
    return f'{base.__getitem__(value, slice(_LONGEST_STRING))!r}... ({base.__len__(value):,} long)'


def _int(value: Any) -> str:
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= _LARGEST_INT_BITS else f'an int of {bits:,} bits'


def _container(value: Any, base: Any, depth: int, special: Callable[[Any], str]) -> str:
    opening, closing = _BRACKETS[base]
    size = base.__len__(value)
    if not size and base in (set, frozenset):
        return f'{base.__name__}()'
    if depth <= 0 and size:
        return f'{opening}...{closing}'
    parts = [': '.join(_text(part, depth - 1, special) for part in item) if base is dict else _text(item, depth - 1, special)
             for item in itertools.islice(_items(value, base), _MOST_ITEMS)]
    if size > _MOST_ITEMS:
        parts.append(f'... {size - _MOST_ITEMS:,} more')
    return f'{opening}{", ".join(parts)}{"," if base is tuple and size == 1 else ""}{closing}'


def _items(value: Any, base: Any) -> Iterable[Any]:
    items: Iterable[Any] = dict.items(value) if base is dict else base.__iter__(value)
    return items


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f'{text[:LONGEST * 3 // 4]}...{text[-LONGEST // 4:]}'
