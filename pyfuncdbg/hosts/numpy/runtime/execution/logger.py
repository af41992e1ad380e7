"""The logger of the runtime, under TensorFlow's name: programs set its level and its handlers. Any thread."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pyfuncdbg.hooks.locks import new_lock

if TYPE_CHECKING:
    import logging


_lock = new_lock()


def get_logger() -> logging.Logger:
    """Python's logger 'tensorflow'; by default it writes warnings to stderr."""
    import logging  # 8 ms, for programs with warnings only
    logger = logging.getLogger('tensorflow')
    with _lock:
        if not logger.handlers and not logging.getLogger().handlers:
            handler = logging.StreamHandler(sys.stderr)
            handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
            logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.WARNING)
    return logger


def warn(text: str) -> None:
    """Log a warning."""
    get_logger().warning(text)
