"""Data of a virtual list: columns that are sort keys, rows, and the source that they come from.

A list of any length gives a page at a time. Everything here is asked on worker threads; `cancel` on any.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.text import Text


@dataclass(frozen=True, slots=True)
class ListColumn:
    """One column.

    Attributes:
        key: What is typed to sort by it.
        title: Its header.
        width: Cells it takes; of the one that takes what is left (`fills`), at least.
        right: Aligned at the right, as numbers are.
        fills: Takes what is left.
        beyond: Shown only where the list has at least this many cells.
    """

    key: str
    title: str
    width: int
    right: bool = False
    fills: bool = False
    beyond: int = 0


@dataclass(frozen=True, slots=True)
class ListQuery:
    """Filters and order that are asked of a list.

    Attributes:
        filters: By name, as the command's options are called.
        sort: Key of a column.
        down: From the greatest to the least.
    """

    filters: tuple[tuple[str, object], ...] = ()
    sort: str = 'time'
    down: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One line: a cell for each column, and a key by which it is found in another list."""

    key: str
    cells: tuple[Text, ...]


class QueryRows(Protocol):
    """The rows of one query, in order.

    Attributes:
        count: How many there are; right after `build`.
        shown: The active filters as the first line names them.
        dropped: What is missing from the trace.
    """

    count: int
    shown: Mapping[str, object]
    dropped: int

    def preview(self, count: int) -> list[Row]:
        """The first rows, quickly, before `build`."""

    def build(self) -> int:
        """Find and sort them; how many there are."""

    def page(self, start: int, count: int) -> list[Row]:
        """Rows from a position on."""

    def position(self, key: str) -> int | None:
        """The index of a row, None if it is not among these."""

    def find(self, text: str, start: int, *, backwards: bool = False,
             go_on: Callable[[int], bool] = lambda searched: True) -> int | None:
        """The next row from `start` on, round the end, that holds the text; `go_on` is told how many it has looked at,
        and says whether to go on."""

    def cancel(self) -> None:
        """Break off what another thread does here: it gets `QueryCancelledError`."""

    def close(self) -> None:
        """Give everything back."""


class RowSource(Protocol):
    """The source of the rows of a list."""

    @property
    def noun(self) -> str:
        """The noun for a row: 'call'."""

    @property
    def columns(self) -> Sequence[ListColumn]:
        """In order."""

    @property
    def greatest_first(self) -> frozenset[str]:
        """Keys of columns that are sorted downwards when they are asked for first."""

    def open(self, query: ListQuery) -> QueryRows:
        """The rows of a query, not built yet.

        Raises:
            PyfuncdbgError: It cannot be fulfilled: why.
        """
