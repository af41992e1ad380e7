"""The code of a function as the program wrote it, before breakpoint tests or a framework's conversion.

Hosts ask where the identity of a function's code counts, such as for the place of an eager call; observers publish here
what they replace. Any thread.
"""
from __future__ import annotations

from functools import partial
from types import CodeType, FunctionType
from typing import Any

from pyfuncdbg.hooks.code_table import CodeTable
from pyfuncdbg.hooks.source_map import is_generated, program_code

_originals = CodeTable[CodeType]()


def publish_patch(code: CodeType, original: CodeType) -> None:
    """Note that `code` runs instead of `original`, as long as it lives."""
    _originals.put(code, original)


def unpatched_code(code: CodeType) -> CodeType:
    """The code without a debugger's tests."""
    return (_originals.get(code) or code) if _originals.entries else code


def original_code(code: CodeType) -> CodeType:
    """The code as the program made it."""
    return unpatched_code(program_code(code))


def name_of(function: Any) -> Any:
    """A function's `__name__` as the program gave it; None if it has none."""
    if type(function) is FunctionType and is_generated(function.__code__) and (own := original_code(function.__code__)):
        return own.co_name
    return getattr(function, '__name__', None)


def qualified_name_of(function: Any) -> Any:
    """A function's `__qualname__` as the program gave it; None if it has none."""
    if type(function) is FunctionType and is_generated(function.__code__) and (own := original_code(function.__code__)):
        return own.co_qualname
    return getattr(function, '__qualname__', None)


def code_number(func: Any) -> int:
    """A number for the code behind the callable `func`: closures of one `def` share it."""
    while isinstance(func, partial):
        func = func.func
    code = getattr(func, '__code__', None)
    if not isinstance(code, CodeType):
        return hash(type(func))
    code = original_code(code)                       # whose own hash is the same of `x + 1` and `x - 1`, in Python 3.11
    return hash((code, code.co_filename, code.co_firstlineno, code.co_code))
