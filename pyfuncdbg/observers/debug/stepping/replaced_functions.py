"""Functions of sites that the user replaced: by `swap`, until the user leaves the debugger; by `skip`, for one call.

Written on stopped threads, by commands; read by whichever thread leaves or makes a call of the site.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.call import Call, CallSite, current
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.weak_keys import WeakKeys


class SwappedFunctions:
    """The function of each site before its first swap."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._originals: WeakKeys[CallSite, tuple[Callable[..., Any], int]] = WeakKeys()

    def note(self, site: CallSite, original: Callable[..., Any] | None, count: int) -> None:
        """A site's function was replaced.

        Args:
            site: Whose.
            original: What it was just before.
            count: Of inputs that it is called with.
        """
        if original is not None:
            with self._lock:
                known = self._originals.setdefault(site, (original, count))
                if known[0] is site.function:
                    del self._originals[site]   # the user has brought it back

    def put_back(self) -> None:
        """Let every site call the program's own function again, from its next call on."""
        with self._lock:
            originals = list(self._originals.items())
            self._originals.clear()
        for site, (function, count) in originals:
            with contextlib.suppress(ValueError):           # the program has replaced the site's function by itself
                site.host.replace(site, function, count)


class SkippedCall:
    """Temporary replacement for a site's function: returns a value in one call, calls the function in all others.

    Other threads may call the site meanwhile; once the one call has been made, the site has its function again.

    Args:
        call: The call that is skipped; its site has the function.
        value: What it returns.

    Raises:
        ValueError: The site's function cannot be replaced; nothing is changed.
    """

    def __init__(self, call: Call, value: Any) -> None:
        self._function = call.site.function
        self._call: Call | None = call
        self._value = value
        if isinstance(self._function, FunctionType):            # it has the function's name meanwhile
            self.__name__, self.__qualname__ = self._function.__name__, self._function.__qualname__
        call.site.host.replace(call.site, self, len(call.inputs))

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        call = self._call
        assert self._function is not None
        if call is None or current.get() is not call:
            return self._function(*inputs, **named)
        value, self._call, self._value = self._value, None, None
        if call.site.function is self:
            call.site.host.replace(call.site, self._function, len(call.inputs))
        return value
