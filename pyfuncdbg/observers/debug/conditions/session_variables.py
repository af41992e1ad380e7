"""Convenience variables of a debugging session: `$name`, as in pdb, and what is assigned at a node of the graph.

`$name` is Python's to none: the text is translated to an identifier of the same length before it is compiled. The preset
ones (`$_`, `$_exception`, `$_retval`, `$_frame`) come from the stop. Set on stopped threads; conditions of breakpoints read
them on the threads of the program, each time anew.
"""
from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

from pyfuncdbg.errors import CommandError, nearest

MARK = '\u0298'
"""The bilabial click, for '$' in compiled text: a letter, so that columns stay as typed."""

_DOLLAR = re.compile(r'''("""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|'''
                     r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*)'''
                     r'|\$(?=[A-Za-z_])', re.DOTALL)

Presets = Mapping[str, Callable[[], Any]]
PRESETS = ('_', '_exception', '_frame', '_retval')


def translate(text: str) -> str:
    """Python in which MARK replaces the '$' of variables; strings and comments stay as they are."""
    return _DOLLAR.sub(lambda match: match[1] or MARK, text) if '$' in text else text


def untranslate(text: str) -> str:
    """Translated text as it was."""
    return text.replace(MARK, '$')


class SessionVariables:
    """The variables by name, without '$'."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __iter__(self) -> Any:
        return iter(tuple(self._values))

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def get(self, name: str, presets: Presets) -> Any:
        """The value of `$name`.

        Raises:
            CommandError: It has none.
        """
        if name in presets:
            return presets[name]()
        if name in self._values:
            return self._values[name]
        if name in PRESETS:
            raise CommandError(f'${name} exists only at a stop')
        raise CommandError(f"${name} has no value: '${name} = EXPR' sets it."
                           f'{nearest("$" + name, ["$" + one for one in (*self._values, *presets)])}')

    def set(self, name: str, value: Any) -> None:
        """Set `$name`.

        Raises:
            CommandError: The debugger itself sets it.
        """
        if name in PRESETS:
            raise CommandError(f'${name} is set by the debugger at each stop; choose another name')
        self._values[name] = value

    def delete(self, name: str) -> None:
        """Forget it; KeyError if there is none."""
        del self._values[name]

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()


session_variables = SessionVariables()
"""The variables of this process."""


def value_of(name: str) -> Any:
    """The value of `$name` where nothing is stopped.

    Raises:
        LookupError: It has none; a condition that raises stops once, and shows why.
    """
    try:
        return session_variables.get(name, {})
    except CommandError as error:
        raise LookupError(str(error)) from None


class AsCalls(ast.NodeTransformer):
    """In the tree of translated text, each variable as a call of `value_of`, under the name MARK.

    Args:
        refuse: Is called for a preset one, which exists only at a stop, with its node and what is wrong.

    Attributes:
        used: Whether there is one.
    """

    def __init__(self, refuse: Callable[[ast.expr, str], Any]) -> None:
        self._refuse = refuse
        self.used = False

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not node.id.startswith(MARK):
            return node
        name = node.id.removeprefix(MARK)
        if name in PRESETS:
            self._refuse(node, f'${name} exists only at a stop')
        self.used = True
        call = ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(name)], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))
