"""Description of an error on a task, as plain data: the session raises it anew. On the thread of a piece."""
from __future__ import annotations

import traceback
from typing import Any

from pyfuncdbg.errors import CancelledError, OpError
from pyfuncdbg.hosts.numpy.runtime.cluster.task_messages import keep_exception
from pyfuncdbg.hosts.numpy.runtime.execution.failure import host_error, kernel_text

_LONGEST = 20_000
"""Characters of a traceback."""


def describe_error(error: BaseException, node: str = '', *, derived: bool = False) -> dict[str, Any]:
    """Describe an error.

    Args:
        error: The error.
        node: The node that failed, by its name in the session's graph; '' if it is none.
        derived: Whether it follows from an error of another task.
    """
    if not isinstance(error, Exception):
        return {'key': keep_exception(error), 'code': None, 'type': type(error).__name__, 'arguments': _plain(error),
                'node': node, 'derived': derived, 'message': f'{type(error).__name__}: {error}', 'located': False,
                'appendix': '', 'cause': None}
    raised = host_error(error)
    cause = raised.__cause__
    described = None if cause is None else (
        type(cause).__name__, _plain(cause), str(cause), ''.join(traceback.format_exception(cause))[-_LONGEST:])
    return {'key': keep_exception(raised), 'code': raised.error_code, 'type': type(raised).__name__, 'arguments': [],
            'node': node, 'derived': derived, 'message': raised.message, 'located': raised.located,
            'appendix': str(raised)[len(raised.message):], 'cause': described}


def _plain(error: BaseException) -> list[Any]:
    """The arguments of an exception as plain data."""
    return [argument if isinstance(argument, bool | int | float | str | None) and abs(
        argument if type(argument) is int else 0) < 1 << 62 else str(argument) for argument in error.args]


def unlocated_error(error: Exception) -> OpError:
    """The error of a node for the session, which completes it by the program's own stack."""
    if isinstance(error, OpError):
        return error
    raised = host_error(error)
    if raised is not error and not isinstance(error, MemoryError):
        raised._message = kernel_text(error)
    return raised


def aborted() -> dict[str, Any]:
    """The description of a step that was ended because another task has failed."""
    return describe_error(CancelledError(None, None, 'Step was cancelled by an explicit call to `Session::Close()`.'),
                          derived=True)
