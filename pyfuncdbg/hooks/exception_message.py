"""Message of an exception of the program, whose `__str__` may raise anything. On any thread."""
from __future__ import annotations

RAISED_AS = ', raised as '
"""In its text between the error of a function and the class that the program got of it."""
IN_PROCESS = ', in '
"""In its text between the error of another process and the name of that process."""

_NO_MESSAGE = '<no message: str() of the exception raised '


def exception_message(error: BaseException) -> str:
    """The message of an exception, or the reason why it has none.

    Args:
        error: Of the program. Its `__str__` may raise SystemExit, which must not end the program: we asked, not it.

    Returns:
        One line or several.
    """
    try:
        return str(error)
    except (Exception, SystemExit, GeneratorExit) as broken:    # not KeyboardInterrupt, which is the user's
        return f'{_NO_MESSAGE}{type(broken).__name__}>'


def is_missing(message: str) -> bool:
    """Whether a message says why there is none."""
    return message.startswith(_NO_MESSAGE)
