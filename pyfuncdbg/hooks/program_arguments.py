"""Arguments of the program, which may have put anything there. No state; any thread."""
from __future__ import annotations

import sys


def program_arguments() -> list[str]:
    """`sys.argv` as text.

    Returns:
        Its elements, of what is no text the type; none where the program has made something else of it.
    """
    words = getattr(sys, 'argv', None)
    if not issubclass(type(words), list):
        return []
    return [word if type(word) is str else f'<{type(word).__name__}>' for word in words or ()]


def program_name() -> str:
    """The first of them: the script as the user wrote it, '' where there is none."""
    return next(iter(program_arguments()), '')
