"""`tf.compat.v1.errors`: the exceptions, and their codes."""
import warnings as _warnings
from typing import Any as _Any

from pyfuncdbg.hooks.public_function import stack_level as _stack_level
from pyfuncdbg.tf import errors as _errors
from pyfuncdbg.tf.errors import *  # noqa: F403
from pyfuncdbg.tf.errors import OperatorNotAllowedInGraphError as _OnlyInVersion2, OpError, UnknownError
from pyfuncdbg.tf.public import publish as _publish

del globals()[_OnlyInVersion2.__name__]

_CLASSES: dict[int, type[OpError]] = {kind.code: kind for kind in vars(_errors).values()
                                      if isinstance(kind, type) and issubclass(kind, OpError) and kind.code is not None}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The class of a code.

    Raises:
        KeyError: There is no such code.
    """
    return _CLASSES[error_code]


def error_code_from_exception_type(cls: _Any) -> _Any:
    """The code of a class; for other classes a warning, and an UnknownError is returned, as in TensorFlow."""
    code = getattr(cls, 'code', None)
    if code not in _CLASSES or _CLASSES[code] is not cls:
        _warnings.warn('Unknown class exception', stacklevel=_stack_level())
        return UnknownError(None, None, 'Unknown class exception')
    return code


class raise_exception_on_not_ok_status:  # noqa: N801  TensorFlow's name
    """Context of calls that report by status. Here all calls raise, so exceptions pass and there is no status."""

    def __enter__(self) -> _Any:
        return None

    def __exit__(self, *exception: object) -> None:
        pass

_publish(globals())
