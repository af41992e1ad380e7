"""Publication of names: functions and classes in the form that a program gets from `tf`.

Of its errors the program sees its own frames (`hooks/public_function.py`), of its signature TensorFlow's names and defaults,
without the annotations of this package. Called at the end of each namespace's module, and for what is loaded later, on the
thread that loads it.
"""
from __future__ import annotations

from collections.abc import MutableMapping
from types import FunctionType, SimpleNamespace
from typing import Any

from pyfuncdbg.hooks.public_function import hide_own_frames, hide_own_frames_in_methods

_PACKAGE_PREFIX = 'pyfuncdbg.'
_wrappers: dict[Any, Any] = {}
"""Wrapper of each function: under all its names it is the same object."""
_classes: set[type] = set()


def publish(namespace: MutableMapping[str, Any]) -> None:
    """Publish all names of a module of `tf`."""
    home = namespace['__name__']
    for name, value in [*namespace.items()]:
        if name.startswith('__') or not name.startswith('_'):
            namespace[name] = published(value, home, name)


def published(value: Any, home: str, name: str) -> Any:
    """The object that a name of a namespace gives.

    Args:
        value: What the package has under the name; anything but functions and classes of this package is given as it is.
        home: The module by which, with the name, pickle finds it.
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
    """Methods in place: of the class, of those it is made from, and of those made from it until now."""
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
