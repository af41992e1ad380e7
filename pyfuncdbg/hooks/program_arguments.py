"""Arguments of the program, which may have put anything there. No state; any thread."""
from __future__ import annotations

import sys


def program_arguments() -> list[str]:
    """`sys.argv` as text.

    Returns:
        Its elements, and '<int>' for an element of type int: no method of the program's objects is called. Empty where the
        program has made `sys.argv` something else than a list, or removed it.
    """
    words = getattr(sys, 'argv', None)
    if not issubclass(type(words), list):
        return []
    return [word if type(word) is str else f'<{type(word).__name__}>' for word in words or ()]


def program_name() -> str:
    """The script as the user wrote it.

    Returns:
        The first of the arguments, '' where there is none.
    """
    return next(iter(program_arguments()), '')
