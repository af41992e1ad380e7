"""AutoGraph conversion of callees: the program's own functions are converted while tracing."""
from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType
from typing import Any

from pyfuncdbg.hooks.tracing_notice import notify_tracing
from pyfuncdbg.hosts.numpy.graph.definitions import lazy_ops
from pyfuncdbg.hosts.numpy.runtime.autograph.conversion import is_unconverted
from pyfuncdbg.hosts.numpy.runtime.execution.logger import warn


class _Status(threading.local):
    enabled = False


status = _Status()
operators = CellType()
"""Operators of converted code, its variable `ag__`; set by `ops` at the first conversion."""
_warned_codes: set[int] = set()


@contextmanager
def conversion(enabled: bool) -> Iterator[None]:
    """Set whether functions called from converted code of this thread are converted too."""
    before, status.enabled = status.enabled, enabled
    try:
        yield
    finally:
        status.enabled = before


def converted_callable(function: Any) -> Any:
    """A function, method, partial or callable object, converted if it is the program's."""
    if not status.enabled:
        code = getattr(getattr(function, '__func__', function), '__code__', None)
        if code is not None:
            notify_tracing(code)
        return function
    if isinstance(function, FunctionType):
        return _convert_once(function)
    if isinstance(function, MethodType):
        inner = function.__func__
        return MethodType(_convert_once(inner), function.__self__) if isinstance(inner, FunctionType) else function
    if type(function) is functools.partial:
        inner = converted_callable(function.func)
        return function if inner is function.func else functools.partial(inner, *function.args, **function.keywords)
    if isinstance(function, type):
        return function
    call = getattr(type(function), '__call__', None)    # noqa: B004  the function, not whether there is one
    if isinstance(call, FunctionType):
        converted = _convert_once(call)
        return function if converted is call else MethodType(converted, function)
    return function


def _convert_once(function: FunctionType) -> FunctionType:
    if is_unconverted(function.__code__):
        return function
    from pyfuncdbg.hosts.numpy.runtime.autograph.conversion import convert_function  # programs that trace nothing do without
    from pyfuncdbg.hosts.numpy.runtime.autograph.source import NoSourceError
    lazy_ops.load(lazy_ops.AUTOGRAPH)
    try:
        converted = convert_function(function, operators)
    except NoSourceError as error:
        if id(function.__code__) not in _warned_codes:
            _warned_codes.add(id(function.__code__))
            warn(f'AutoGraph could not transform {function} and will run it as-is.\nCause: Unable to locate the source code '
                f'of {function}. Note that functions defined in certain environments, like the interactive Python shell, do '
                'not expose their source code. If that is the case, you should define them in a .py source file. If you are '
                'certain the code is graph-compatible, wrap the call using @tf.autograph.experimental.do_not_convert. '
                f'Original error: {error}\nTo silence this warning, decorate the function with '
                '@tf.autograph.experimental.do_not_convert')
        converted = function
    notify_tracing(converted.__code__)
    return converted
