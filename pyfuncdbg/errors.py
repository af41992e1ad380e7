"""Every exception class of pyfuncdbg.

    BaseException
     +-- RunAborted                          the user said abort: passes through user code, ends the run
     |    +-- RunInterrupted (KeyboardInterrupt)     the same, by interrupting the kernel of a notebook
     +-- Exception
          +-- PyfuncdbgError                 said to the user in one line: what was wrong, what was expected, what to do
          |    +-- UsageError                a command line that cannot be read (exit code 2)
          |    +-- CommandError              a debugger command that cannot be carried out; the session goes on
          |    +-- AttachError               a framework that cannot be attached to; it goes on unwatched
          |    +-- TraceError                a trace that cannot be opened or written
          |         +-- NotATraceError
          |         +-- TraceVersionError
          |         +-- NoRoomError          the disk has no room for a new trace
          |         +-- DroppedError         the value was not kept
          +-- OpError                        TensorFlow's tree: what the runtime raises to a program
          |    +-- CancelledError, UnknownError, InvalidArgumentError, DeadlineExceededError, NotFoundError,
          |        AlreadyExistsError, PermissionDeniedError, UnauthenticatedError, ResourceExhaustedError,
          |        FailedPreconditionError, AbortedError, OutOfRangeError, UnimplementedError, InternalError,
          |        UnavailableError, DataLossError
          +-- OperatorNotAllowedInGraphError (TypeError)
          +-- InaccessibleTensorError        (ValueError)
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class RunAborted(BaseException):
    """End of the run by the user's `abort`. A BaseException, so that `except Exception` in a program does not keep it."""


class RunInterrupted(RunAborted, KeyboardInterrupt):
    """Interrupt of the kernel at a stop. It bears the name under which users, and front ends, know interrupts."""


RunInterrupted.__name__ = RunInterrupted.__qualname__ = 'KeyboardInterrupt'
RunInterrupted.__module__ = 'builtins'


class Retried(BaseException):
    """A request to make a call again, raised inside of it: passes through the function up to the call.

    Attributes:
        call: Its id.
        begun: Whether a line of the function has run; if not, the call has no record, and is executed under its number.
    """

    def __init__(self, call: int, begun: bool = True) -> None:
        super().__init__(call)
        self.call = call
        self.begun = begun


@dataclass(frozen=True, slots=True)
class TypedCommand:
    """A command in a message, whose spelling depends on the front end."""

    line: str


class PyfuncdbgError(Exception):
    """Something the user can mend; `str()` is the whole message, for a prompt.

    Args:
        *parts: Of the message: text, and `TypedCommand` where it names a command.
    """

    def __str__(self) -> str:
        return self.worded('')

    def worded(self, before: str) -> str:
        """The message, for a face where every command has this before it."""
        return ''.join(f"'{before}{part.line}'" if isinstance(part, TypedCommand) else str(part) for part in self.args)


class UsageError(PyfuncdbgError):
    """A command line that cannot be read."""


class CommandError(PyfuncdbgError):
    """A debugger command that cannot be carried out."""


class AttachError(PyfuncdbgError):
    """A framework that cannot be attached to."""


class TraceError(PyfuncdbgError):
    """A trace that cannot be opened, read or written."""


class NotATraceError(TraceError):
    """The path holds no trace."""


class TraceVersionError(TraceError):
    """The trace was written by a newer version."""


class NoRoomError(TraceError):
    """The disk has no room for a new trace; a program can go on unrecorded."""


class DroppedError(TraceError):
    """The value asked for was not kept (snapshot level, byte budget, or a damaged log)."""


def nearest(name: str, names: Iterable[str], count: int = 3) -> str:
    """' Did you mean ...?' with the closest known names, or '' if none is close."""
    import difflib  # only needed for an error message
    close = difflib.get_close_matches(name, list(names), count)
    return ' Did you mean ' + ' or '.join(repr(c) for c in close) + '?' if close else ''


class OpError(Exception):
    """TensorFlow's base class for errors in a graph.

    Args:
        node_def, op, message: As the attributes.
        *rest: For this class itself the error code; then, for it and those that have their code, a dict of payloads.

    Attributes:
        node_def: Of the node that failed, or None (eager).
        op: The `Operation` that failed, or None.
        message: The whole text; `str()` gives the same.
        error_code: TensorFlow's integer code.
        experimental_payloads: Details by name.
    """

    code: int | None = None

    def __init__(self, node_def: Any, op: Any, message: str, *rest: Any, error_code: int | None = None) -> None:
        super().__init__()
        if self.code is None and error_code is None:
            if not rest:
                raise TypeError(f"{type(self).__name__}.__init__() missing 1 required positional argument: 'error_code'")
            error_code, *rest = rest  # type: ignore[assignment]
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code: int = self.code if self.code is not None else error_code  # type: ignore[assignment]
        self._payloads: Mapping[Any, Any] = rest[0] if rest and isinstance(rest[0], Mapping) else {}
        self._appendix = ''
        self.located = False

    def locate(self, op: Any, node_def: Any, message: str, appendix: str = '') -> None:
        """Say at which node of a graph it happened; `appendix` is shown by `str()` only."""
        self._op, self._node_def, self._message, self._appendix = op, node_def, message, appendix
        self.located = True

    @property
    def message(self) -> str:
        return self._message

    @property
    def op(self) -> Any:
        return self._op

    @property
    def error_code(self) -> int:
        return self._error_code

    @property
    def node_def(self) -> Any:
        return self._node_def

    @property
    def experimental_payloads(self) -> Mapping[Any, Any]:
        return self._payloads

    def __str__(self) -> str:
        return self._message + self._appendix

    def __reduce__(self) -> tuple[Any, ...]:
        # TensorFlow loses the message when pickled; ours keeps it, without the graph the op belongs to.
        return type(self), (None, None, self._message, *([self._error_code] if self.code is None else []), self._payloads)


class CancelledError(OpError):
    """The operation or run was cancelled."""

    code = 1


class UnknownError(OpError):
    """A failure that no other class names, such as most Python exceptions in a wrapped function."""

    code = 2


class InvalidArgumentError(OpError):
    """An operation received an invalid argument."""

    code = 3


class DeadlineExceededError(OpError):
    """A run took longer than its `timeout_in_ms`."""

    code = 4


class NotFoundError(OpError):
    """A file, device or target does not exist."""

    code = 5


class AlreadyExistsError(OpError):
    """An entity that was to be created already exists."""

    code = 6


class PermissionDeniedError(OpError):
    """The caller may not do that."""

    code = 7


class ResourceExhaustedError(OpError):
    """Out of memory or of another resource."""

    code = 8


class FailedPreconditionError(OpError):
    """The system is not in the state that the operation needs, such as an uninitialized variable."""

    code = 9


class AbortedError(OpError):
    """The operation was aborted by a concurrent one."""

    code = 10


class OutOfRangeError(OpError):
    """An iteration ran past its end."""

    code = 11


class UnimplementedError(OpError):
    """The operation is not implemented for these types."""

    code = 12


class InternalError(OpError):
    """The runtime met a state that should not occur."""

    code = 13


class UnavailableError(OpError):
    """The runtime is not there now."""

    code = 14


class DataLossError(OpError):
    """Data was lost or is corrupt."""

    code = 15


class UnauthenticatedError(OpError):
    """The caller is not known."""

    code = 16


class OperatorNotAllowedInGraphError(TypeError):
    """Use of a symbolic tensor where Python needs a value."""


class InaccessibleTensorError(ValueError):
    """A tensor was used outside the function or graph it belongs to."""
