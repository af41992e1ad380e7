"""Transparent frames: those of ours that `stacklevel` of warnings and of logging does not count.

Both pass over the frames of the import system, which they know by the name of the file. Functions between a program's
function and what calls it without us have a name of that kind. Marked once, at import; a call costs nothing.
"""
from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any, TypeVar

_T = TypeVar('_T')
TRANSPARENT = ' (transparent, as importlib._bootstrap)'
"""What names of files end in; they begin as they did, by which stacks and tracebacks leave the frames out."""


def transparent(marked: _T) -> _T:
    """Make the frames of a function transparent, or those of the methods of a class, and of all functions within.

    Compiled code has no frames, and stays as it is.

    Args:
        marked: The function, property or class, which is changed.

    Returns:
        `marked`.
    """
    for member in list(vars(marked).values()) if isinstance(marked, type) else (marked,):
        for function in _functions_of(member):
            function.__code__ = _transparent_code(function.__code__)
    return marked


def _functions_of(member: Any) -> tuple[Any, ...]:
    if isinstance(member, FunctionType):
        return member,
    if isinstance(member, (classmethod, staticmethod)):
        return _functions_of(member.__func__)
    if isinstance(member, property):
        return _functions_of(member.fget) + _functions_of(member.fset)
    return ()


def _transparent_code(code: CodeType) -> CodeType:
    if code.co_filename.endswith(TRANSPARENT):      # of a function that is marked itself, too
        return code
    constants = tuple([_transparent_code(value) if isinstance(value, CodeType) else value for value in code.co_consts])
    return code.replace(co_filename=code.co_filename + TRANSPARENT, co_consts=constants)
