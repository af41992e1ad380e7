"""A function whose source file was edited while the program runs: its code is compiled again and put in place.

`retry` asks for it on the stopped thread. The function object stays, so that every alias and every closure cell does.
"""
from __future__ import annotations

import functools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.patched_code import original_code
from pyfuncdbg.hooks.source_map import maker_of


@dataclass(frozen=True, slots=True)
class ReloadReport:
    """Result of reloading a function from its file.

    Attributes:
        function: Its name.
        filename: Its file.
        line: Where it begins now.
        changed: Whether it has new code.
        note: Why it has not, '' if the file is as it was.
    """

    function: str
    filename: str
    line: int
    changed: bool
    note: str = ''


def reload_function(function: Any) -> ReloadReport | None:
    """Give a function the code that its file has now; None if it has no file.

    Raises:
        CommandError: The file cannot be compiled, or the function now uses other variables of the functions around it;
            nothing is changed.
    """
    plain = _plain_function(function)
    if plain is None:
        return None
    code = original_code(plain.__code__)
    if maker := maker_of(plain.__code__):
        return ReloadReport(code.co_qualname, code.co_filename, code.co_firstlineno, False,
                            f'{maker} runs a copy of it: an edit needs a new run')
    name, filename = code.co_qualname, code.co_filename
    try:
        with open(filename, 'rb') as file:
            module = compile(file.read(), filename, 'exec', dont_inherit=True)
    except (OSError, ValueError):
        return None
    except SyntaxError as error:
        raise CommandError(f'{filename}:{error.lineno}: {error.msg}: the edited file is not valid Python. Correct it and '
                           "type 'retry' again.") from None
    candidates = [one for one in _codes(module) if one.co_qualname == name]
    if any(one == code for one in candidates):
        return ReloadReport(name, filename, code.co_firstlineno, False)
    nearest = [one for one in candidates if one.co_firstlineno == code.co_firstlineno] or candidates
    if len(nearest) != 1:
        what = 'no function' if not nearest else f'{len(nearest)} functions'
        return ReloadReport(name, filename, code.co_firstlineno, False, f'the file was edited and has {what} {name!r} now')
    (new,) = nearest
    if new.co_freevars != code.co_freevars:
        before, after = (', '.join(names) or 'none' for names in (code.co_freevars, new.co_freevars))
        raise CommandError(f'{filename}:{new.co_firstlineno}: {name!r} was edited and uses other variables of the functions '
                           f'around it ({after}, before: {before}): that needs a new run.')
    plain.__code__ = new
    linecache.checkcache(filename)
    return ReloadReport(name, filename, new.co_firstlineno, True)


def _plain_function(function: Any) -> FunctionType | None:
    """The function behind a method or partial object."""
    while isinstance(function, MethodType | functools.partial):
        function = function.__func__ if isinstance(function, MethodType) else function.func
    if not isinstance(function, FunctionType):
        function = vars(type(function)).get('__call__')
    return function if isinstance(function, FunctionType) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
