"""Function calls in converted code: the program's own functions are converted too."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.ops.autograph.builtin import OVERLOADS
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import converted_callable, status


def callee(function: Any) -> Any:
    """The function to call instead of another; where nothing is traced, as in the body of a py_function, the function
    itself."""
    if not status.enabled:
        return function
    try:
        overload = OVERLOADS.get(function)
    except TypeError:                           # cannot be hashed
        overload = None
    return overload if overload is not None else converted_callable(function)
