"""Errors in a function that is being traced: told with the user's own lines, as TensorFlow's AutoGraph tells them."""
from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from pyfuncdbg.hooks.machinery import is_machinery

_REWORDED = (AssertionError, AttributeError, NameError, NotImplementedError, RuntimeError, StopIteration, TypeError,
             UnboundLocalError, ValueError)
"""Types whose only argument is their text, so that one with more text can stand for them; subclasses may differ."""
_HEAD = 'in user code:\n\n'


@contextmanager
def in_user_code(function: Callable[..., Any], reworded: bool) -> Iterator[None]:
    """Add the user's frames to the text of what `function` raises. The error itself is the cause of the new one."""
    try:
        yield
    except _REWORDED as error:
        if not reworded or type(error) not in _REWORDED or str(error).startswith(_HEAD):
            raise
        frames = ''.join(_frames(error.__traceback__))
        if not frames:
            raise
        raise type(error)(f'{_HEAD}{frames}\n    {type(error).__name__}: {error}\n') from error


def _frames(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        code, line = traceback.tb_frame.f_code, traceback.tb_lineno
        if not is_machinery(code.co_filename):
            text = linecache.getline(code.co_filename, line).strip()
            yield f'    File "{code.co_filename}", line {line}, in {code.co_name}  *\n        {text}\n'
        traceback = traceback.tb_next
