"""The condition of a line breakpoint. Created on the thread that sets the breakpoint; the compiled test runs on the threads
of the lines."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.observers.debug.conditions.predicate import Predicate


class LineCondition(Predicate):
    """A condition over the variables at a line. Its names are those of the function there, so it is parsed in its file.

    Attributes:
        expression: Over the variables at the line.
        functions: What it calls, by the names that it has for them.
    """

    __slots__ = ('_of', 'expression', 'functions')

    def __init__(self, of: str | Predicate) -> None:
        self._of = of
        self.functions: dict[str, Callable[..., Any]] = {}
        self.expression = of.strip() if isinstance(of, str) else of.source(self.functions)

    @property
    def text(self) -> str | None:
        return None if self.functions else self.expression

    @property
    def parts(self) -> tuple[object, ...]:
        return (self._of if self.functions else self.expression,)

    def __repr__(self) -> str:
        return repr(self._of) if isinstance(self._of, Predicate) else f'condition({self._of!r})'
