"""Containers of arguments and results: reading and copying without the methods of their classes. On the thread of a call.

A subclass of a container is the program's, and its methods are, which may print or count. So the methods of the class that
it derives from are called in their place.
"""
from __future__ import annotations

from collections import OrderedDict, UserDict, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

LEAF_TYPES: set[type] = set()
"""Types that are known to be no containers."""
_MOST_TYPES = 4096
_PLAIN: dict[type, str] = {list: 'list', tuple: 'tuple', dict: 'dict'}
_kinds: dict[type, str] = dict(_PLAIN)
_DICTS = OrderedDict, defaultdict, dict
_DEFAULT: Any = vars(defaultdict)['default_factory']
_DATA = 'data'
"""The attribute of a `UserDict` that is its dict."""
_CONSTANTS = frozenset((type(None), bool, int, float, str))
Attributes = tuple[tuple[str, bool, Any], ...]
"""Of each attribute of an instance: its name, whether it is an element, and the key of that element, or else the value."""


def container_kind(kind: type) -> str:
    """The kind of container that a type is.

    Returns:
        'list' or 'tuple', whose elements have places; 'dict', whose have keys; '' of no container, and of one that cannot be
        copied.
    """
    name = _kinds.get(kind)
    if name is not None:
        return name
    if kind in LEAF_TYPES:
        return ''
    name = _kind_of_subclass(kind)
    types: Any = _kinds if name else LEAF_TYPES
    if len(types) > _MOST_TYPES:
        types.clear()
        _kinds.update(_PLAIN)
    if name:
        _kinds[kind] = name
    else:
        LEAF_TYPES.add(kind)
    return name


def _kind_of_subclass(kind: type) -> str:
    classes: Sequence[type] = type.__getattribute__(kind, '__mro__')
    names = [vars(one) for one in classes[:-1]]
    if tuple in classes and any('n_sequence_fields' in each for each in names):     # `torch.return_types`
        return 'tuple'
    base = next((one for one in (UserDict, *_DICTS, tuple, list) if one in classes), None)
    if base is None:
        return ''
    added = names[:classes.index(base)]
    if any(each.get('__slots__') or type(each.get('__new__')) is type(len) for each in added):
        return ''                               # it has more than its elements and attributes
    return base.__name__ if base in (tuple, list) else 'dict'


def elements(value: Any) -> Sequence[Any]:
    """The elements of a list or tuple."""
    base: Any = tuple if issubclass(type(value), tuple) else list
    return base.__getitem__(value, slice(None))  # type: ignore[no-any-return]


def items(value: Any) -> Sequence[tuple[Any, Any]]:
    """The keys and values of a dict."""
    if not issubclass(type(value), dict):
        value = _instance_attributes(value).get(_DATA)
    return list(dict.items(value)) if isinstance(value, dict) else ()


def attributes(value: Any) -> Attributes:
    """The attributes of a container, beside its elements: a class may keep these as attributes, too."""
    by_id = {id(element): key for key, element in items(value)} if issubclass(type(value), dict) else {}
    return tuple([(name, id(one) in by_id, by_id.get(id(one), one)) for name, one in _instance_attributes(value).items()
                  if name != _DATA or issubclass(type(value), (dict, tuple, list))])


def are_constants(found: Attributes) -> bool:
    """Whether attributes have no values of one call, elements apart."""
    return all(is_element or type(one) in _CONSTANTS for _, is_element, one in found)


def default_of(value: Any) -> Any:
    """What makes the missing elements of a `defaultdict`; None of any other container."""
    return _DEFAULT.__get__(value) if issubclass(type(value), defaultdict) else None


def make_sequence(kind: type, parts: Sequence[Any], more: Attributes = ()) -> Any:
    """A list or tuple of a type.

    Args:
        kind: Its type.
        parts: Its elements.
        more: Its attributes.
    """
    if kind in _PLAIN or 'n_sequence_fields' in vars(kind):
        return kind(parts)
    made: Any = tuple.__new__(kind, parts) if issubclass(kind, tuple) else list.__new__(kind)
    if isinstance(made, list):
        list.extend(made, parts)
    _set(made, more, {})
    return made


def make_dict(kind: type, pairs: Iterable[tuple[Any, Any]], more: Attributes = (), default: Any = None) -> Any:
    """A dict of a type.

    Args:
        kind: Its type.
        pairs: Its keys and elements.
        more: Its attributes.
        default: As of `default_of`.
    """
    content = dict(pairs)
    if kind is dict:
        return content
    if not issubclass(kind, dict):
        made = object.__new__(kind)
        _instance_attributes(made)[_DATA] = content
    else:
        base: Any = next(one for one in _DICTS if issubclass(kind, one))
        made = base.__new__(kind)
        for key, part in content.items():
            base.__setitem__(made, key, part)
        if default is not None:
            _DEFAULT.__set__(made, default)
    _set(made, more, content)
    return made


def _set(made: Any, more: Attributes, content: dict[Any, Any]) -> None:
    if more:
        _instance_attributes(made).update({name: content[one] if is_element else one for name, is_element, one in more})


def _instance_attributes(value: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(value, '__dict__')
    except AttributeError:
        return {}
    return found if type(found) is dict else {}
