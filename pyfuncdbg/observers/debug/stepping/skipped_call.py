"""One call that does not run its function: what it returns is given at the stop where it would begin.

Put in place on the stopped thread; called on the thread of each call of the site.
"""
from __future__ import annotations

from types import FunctionType
from typing import Any

from pyfuncdbg.hooks.call import Call, current


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
