"""Convenience variables of a debugging session: `$name`, as in pdb, and what is assigned at a node of the graph.

`$name` is Python's to none: the text is translated to an identifier of the same length before it is compiled. The preset
ones (`$_`, `$_exception`, `$_retval`, `$_frame`) come from the stop. Read and set on stopped threads.
"""
from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from pyfuncdbg.errors import CommandError, nearest

MARK = '\N{LATIN LETTER BILABIAL CLICK}'
"""Stands for '$' in compiled text: a letter, so that columns stay as typed."""

_DOLLAR = re.compile(r'''("""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|'''
                     r'''"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\n]*)'''
                     r'|\$(?=[A-Za-z_])', re.DOTALL)

Presets = Mapping[str, Callable[[], Any]]
PRESETS = ('_', '_exception', '_frame', '_retval')


def translated(text: str) -> str:
    """Python in which MARK stands for the '$' of variables; strings and comments stay as they are."""
    return _DOLLAR.sub(lambda match: match[1] or MARK, text) if '$' in text else text


def as_typed(text: str) -> str:
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
            raise CommandError(f'${name} has a value at a stop only')
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
"""Those of this process."""
