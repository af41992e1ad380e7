"""The condition of a line breakpoint. Made by whoever sets one; what it compiles to runs on the threads of the lines."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyfuncdbg.observers.debug.conditions.predicate import Predicate


class LineCondition(Predicate):
    """The condition of a line: its names are those of the function there, so whoever puts it there reads it.

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
