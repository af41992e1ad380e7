"""Variables that a converted statement changes, in the cells of its blocks."""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from types import CellType
from typing import Any


class Undefined:
    """Placeholder for a variable that has no value."""

    __slots__ = ('name',)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


class UndefinedReturnValue:
    """Placeholder for the return value of a function that has not returned yet."""


def returned(value: Any, _: Any) -> Any:
    """The return value of a converted function; the flag that it has is read, so that it is kept where it depends on a
    tensor."""
    return None if isinstance(value, UndefinedReturnValue) else value


class VariableState:
    """The variables.

    Attributes:
        names: As in the source: simple names, and symbols like `self.x`.
    """

    def __init__(self, names: Sequence[str], composites: Sequence[Callable[[], tuple[str, Any, Any, bool]]],
                 parts: Sequence[Callable[..., Any]]) -> None:
        self.names = tuple(names)
        self._cells: dict[str, CellType] = {}
        for part in parts:
            self._cells |= zip(part.__code__.co_freevars, part.__closure__ or (), strict=True)
        self._globals = parts[0].__globals__
        self._owners = {}
        for composite in composites:
            try:
                text, *owner = composite()
            except (NameError, AttributeError, KeyError, IndexError):
                continue                        # the owner does not exist yet
            self._owners[text] = owner

    def get(self) -> tuple[Any, ...]:
        """Their values; `Undefined` where there is none."""
        return tuple(self._value(name) for name in self.names)

    def _value(self, name: str) -> Any:
        try:
            if name in self._owners:
                owner, key, attribute = self._owners[name]
                return getattr(owner, key) if attribute else owner[key]
            if name in self._cells:
                return self._cells[name].cell_contents
            return self._globals[name]
        except (ValueError, KeyError, AttributeError, IndexError):
            return Undefined(name)

    def set(self, values: Sequence[Any]) -> None:
        """Give them values; `Undefined`: none."""
        for name, value in zip(self.names, values, strict=True):
            undefined = isinstance(value, Undefined)
            if name in self._owners:
                owner, key, attribute = self._owners[name]
                if not undefined:
                    if attribute:
                        setattr(owner, key, value)
                    else:
                        owner[key] = value
            elif name in self._cells:
                if undefined:
                    self._emptied(self._cells[name])
                else:
                    self._cells[name].cell_contents = value
            elif not undefined:
                self._globals[name] = value

    @staticmethod
    def _emptied(cell: CellType) -> None:
        with contextlib.suppress(ValueError):
            del cell.cell_contents
