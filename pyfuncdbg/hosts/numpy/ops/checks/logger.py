"""The logger 'tensorflow': `tf.get_logger` and TensorFlow 1's functions over it; and `tf.compat.v1.app.run`."""
from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hooks.public_function import calling_frame, stack_level
from pyfuncdbg.hosts.numpy.runtime.execution.logger import get_logger as get_logger

_lock = new_lock()
_counts: Counter[tuple[str, int]] = Counter()


def get_verbosity() -> int:
    """The lowest level that is shown."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: Any) -> None:
    """Show this level and those above it."""
    get_logger().setLevel(v)


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at any level."""
    get_logger().log(level, msg, *args, stacklevel=stack_level(), **kwargs)


vlog = log


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at level DEBUG."""
    get_logger().debug(msg, *args, stacklevel=stack_level(), **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at level INFO."""
    get_logger().info(msg, *args, stacklevel=stack_level(), **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at level WARN."""
    get_logger().warning(msg, *args, stacklevel=stack_level(), **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at level ERROR."""
    get_logger().error(msg, *args, stacklevel=stack_level(), **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Log a message at level FATAL; the program goes on."""
    get_logger().critical(msg, *args, stacklevel=stack_level(), **kwargs)


def _count_visit() -> int:
    """Count one visit of the line of the caller's caller; the number of earlier ones."""
    frame = calling_frame()
    with _lock:
        key = frame.f_code.co_filename, frame.f_lineno
        _counts[key] += 1
        return _counts[key] - 1


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log a message at the first and then every `n`th visit of the line."""
    if not _count_visit() % n:
        get_logger().log(level, msg, *args, stacklevel=stack_level())


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Log a message at the first `n` visits of the line."""
    if _count_visit() < n:
        get_logger().log(level, msg, *args, stacklevel=stack_level())


def run(main: Callable[[Sequence[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Call the program's `main` with its arguments and leave with what it returns."""
    sys.exit((main or sys.modules['__main__'].main)(list(argv or sys.argv)))
