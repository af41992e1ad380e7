"""Argument types of several commands: errors show what was expected, and the nearest valid word."""
from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from pyfuncdbg.errors import nearest


def positive(text: str) -> int:
    """Parse an integer from 1 on; an argparse type.

    Args:
        text: As typed.

    Returns:
        The integer.

    Raises:
        argparse.ArgumentTypeError: It is not one.
    """
    return _integer(text, 1)


def from_zero(text: str) -> int:
    """Parse an integer from 0 on; an argparse type.

    Args:
        text: As typed.

    Returns:
        The integer.

    Raises:
        argparse.ArgumentTypeError: It is not one.
    """
    return _integer(text, 0)


def _integer(text: str, least: int) -> int:
    if not text.isdecimal() or len(text) > 12 or int(text) < least:
        raise argparse.ArgumentTypeError(f'{text!r} is not an integer from {least} on')
    return int(text)


@dataclass(frozen=True, slots=True)
class OneOf:
    """A word of a list: the type of an argument, which faces can ask for the words."""

    names: tuple[str, ...]
    what: str

    def __call__(self, text: str) -> str:
        """The word, if it is one of them."""
        if text not in self.names:
            raise argparse.ArgumentTypeError(f'{text!r} is not a {self.what}: expected {", ".join(self.names[:-1])} or '
                                             f'{self.names[-1]}.{nearest(text, self.names, 1)}')
        return text


def one_of(names: Sequence[str], what: str) -> OneOf:
    """An argparse type for a word of a list.

    Args:
        names: The words.
        what: Noun for one of them, for the error.

    Returns:
        The type.
    """
    return OneOf(tuple(names), what)


def filters_of(args: argparse.Namespace, *names: str) -> dict[str, object]:
    """The filters that were given, for the first line of a list.

    Args:
        args: Parsed arguments.
        *names: Names of the filters.

    Returns:
        Values by name.
    """
    return {name: value for name in names if (value := getattr(args, name)) not in (None, False)}
