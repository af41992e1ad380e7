"""Publication of names: functions and classes in the form of `tf`'s public API.

Their errors have frames of the program only (`hooks/public_function.py`), their signatures TensorFlow's names and defaults,
without annotations. Called at the end of each namespace's module, and for names that are loaded later, on the
thread that loads it.
"""
from __future__ import annotations

from collections.abc import MutableMapping
from types import FunctionType, SimpleNamespace
from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames, hide_own_frames_in_methods

_PACKAGE_PREFIX = 'pyfuncdbg.'
_wrappers: dict[Any, Any] = {}
"""Wrapper of each function: one object for all its names."""
_classes: set[type] = set()


def publish(namespace: MutableMapping[str, Any]) -> None:
    """Publish all names of a module of `tf`."""
    home = namespace['__name__']
    for name, value in [*namespace.items()]:
        if name.startswith('__') or not name.startswith('_'):
            namespace[name] = published(value, home, name)


def published(value: Any, home: str, name: str) -> Any:
    """The public object for a name of a namespace.

    Args:
        value: Its object in the package; anything but functions and classes of this package stays unchanged.
        home: The module of its qualified name, for pickle.
        name: The name.
    """
    if isinstance(value, FunctionType):
        return _function(value, home, name) if value.__module__.startswith(_PACKAGE_PREFIX) else value
    if isinstance(value, type):
        if value.__module__.startswith(_PACKAGE_PREFIX):
            _class(value)
    elif isinstance(value, SimpleNamespace):
        for key, function in vars(value).items():
            setattr(value, key, published(function, home, f'{name}.{key}'))
    return value


def _function(function: Any, home: str, name: str) -> Any:
    wrapper = _wrappers.get(function)
    if wrapper is None:
        wrapper = hide_own_frames(function)
        _strip(wrapper)
        if wrapper is not function:
            wrapper.__module__, wrapper.__qualname__ = home, name
        _wrappers[function] = _wrappers[wrapper] = wrapper
    return wrapper


def _class(kind: type) -> None:
    """Wrap methods in place: of the class, its bases and its subclasses so far."""
    classes: list[type] = [*kind.__mro__[:-1], *_below(kind)]
    for one in classes:
        if one not in _classes and one.__module__.startswith(_PACKAGE_PREFIX):
            _classes.add(one)
            hide_own_frames_in_methods(one)
            for method in vars(one).values():
                if isinstance(method, FunctionType):
                    _strip(method)


def _below(kind: Any) -> list[type]:
    return [below for one in kind.__subclasses__() for below in (one, *_below(one))]


def _strip(function: Any) -> None:
    while isinstance(function, FunctionType) and function.__module__.startswith(_PACKAGE_PREFIX):
        function.__annotations__ = {}
        function = getattr(function, '__wrapped__', None)
