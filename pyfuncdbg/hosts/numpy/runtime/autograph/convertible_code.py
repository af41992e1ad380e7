"""Convertible code: which functions AutoGraph leaves as they are."""
from __future__ import annotations

from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType

from pyfuncdbg.hooks.own_files import is_library, is_machinery

OPERATORS = 'ag__'
"""The variable of converted code that holds what it calls."""
_SUSPENDS = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


def is_foreign(code: CodeType) -> bool:
    """Whether code is ours, of Python or of an installed library."""
    return is_machinery(code.co_filename) or is_library(code.co_filename)


def unconverted(code: CodeType) -> bool:
    """Whether functions of this code are left as they are: generators, coroutines, libraries, text that was executed."""
    return bool(code.co_flags & _SUSPENDS) or code.co_filename == '<string>' or OPERATORS in code.co_freevars or is_foreign(
        code)
