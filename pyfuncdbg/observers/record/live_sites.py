"""Map from a recorded call to the live site it was made at, while the program keeps its function.

Recorders add every site they announce, on the thread of the first call; commands that repeat a call ask, on any
thread. It keeps no function, site or graph alive.
"""
from __future__ import annotations

import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite

_MOST = 1 << 16

Find = Callable[[], CallSite | None]
_finders: dict[int, Find] = {}


def remember(site: CallSite) -> None:
    """Note a site; where the site ends with its call or its graph, its function and how to make a site for that.

    Args:
        site: As it is announced.
    """
    _finders[site.id] = _finder(site)
    while len(_finders) > _MOST:
        _finders.pop(next(iter(_finders)), None)


def find(id: int) -> CallSite | None:
    """Find a live site.

    Args:
        id: Its number in this process.

    Returns:
        The site; None if it or its function is gone.
    """
    finder = _finders.get(id)
    return finder() if finder is not None else None


def _finder(site: CallSite) -> Find:
    reference = weakref.ref(site)
    remake: Callable[[Any], CallSite] | None = site.attrs.get('_remake')
    function = site.function
    if remake is None or function is None:
        return reference
    if isinstance(function, np.ufunc | types.BuiltinFunctionType):
        return lambda: reference() or remake(function)      # lives as long as the interpreter
    try:
        function_reference: Callable[[], Any] = (weakref.WeakMethod(function) if isinstance(function, types.MethodType)
                                   else weakref.ref(function))
    except TypeError:                           # a callable that takes no weak references
        return reference

    def again() -> CallSite | None:
        site, function = reference(), function_reference()
        if site is not None or function is None:
            return site
        return remake(function)
    return again
