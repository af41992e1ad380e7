"""Functions that give results to a program, which `pyfuncdbg verify` compares with and without watching."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

GET_NEXT = 'Iterator.get_next'
"""Label of the results of datasets, whose functions may run ahead of the program."""
_MOST_NAMES = 1000


class ResultSource(NamedTuple):
    """A function of a framework that gives results to a program.

    Attributes:
        module: Name of the module that it is in.
        path: Of the function in the module, with dots.
        describe: The label of a result and the names of its values, from the arguments of the call.
    """

    module: str
    path: str
    describe: Callable[[tuple[Any, ...]], tuple[str, Sequence[str]]]


Leaves = Callable[[Any], Iterable[Any] | None]
"""The type of `leaves`: NumPy arrays or further values in a value of the framework's; None for any other value."""


def session_fetches(args: tuple[Any, ...]) -> tuple[str, Sequence[str]]:
    """The label of a `Session.run`, and the names of what it fetches, as far as they are plain to see."""
    fetches = args[1] if len(args) > 1 else None
    listed = fetches if isinstance(fetches, list | tuple) else [fetches]
    names = [str(getattr(item, 'name', item if isinstance(item, str) else '')) for item in listed]
    return 'Session.run', names[:_MOST_NAMES]
