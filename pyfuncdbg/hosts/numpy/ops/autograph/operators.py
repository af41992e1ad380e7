"""`ag__`: what converted code calls."""
from __future__ import annotations

from typing import Any

from pyfuncdbg.hosts.numpy.ops.autograph.builtin import OVERLOADS
from pyfuncdbg.hosts.numpy.ops.autograph.conditional import and_, assert_stmt, compared, if_exp, if_stmt, not_, or_
from pyfuncdbg.hosts.numpy.ops.autograph.loops import for_stmt, while_stmt
from pyfuncdbg.hosts.numpy.ops.autograph.state import UndefinedReturnValue, returned
from pyfuncdbg.hosts.numpy.runtime.autograph.converted_call import converted_callable, status


def callee(function: Any) -> Any:
    """The function to call instead of another; outside of tracing, as in the body of a py_function, the function
    itself."""
    if not status.enabled:
        return function
    try:
        overload = OVERLOADS.get(function)
    except TypeError:                           # cannot be hashed
        overload = None
    return overload if overload is not None else converted_callable(function)


__all__ = ['UndefinedReturnValue', 'and_', 'assert_stmt', 'callee', 'compared', 'for_stmt', 'if_exp', 'if_stmt', 'not_',
           'or_', 'returned', 'while_stmt']
