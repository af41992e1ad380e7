"""Output of `pyfuncdbg connect`: text and JSON messages on its stdout, from any thread, as the terminal allows."""
from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import lacks_cursor_control


def write(text: str) -> None:
    """Print, from any thread; the reader may be gone."""
    with contextlib.suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()


def write_json(message: dict[str, Any]) -> None:
    """Print a message as JSON, in ASCII and on one line."""
    try:
        text = json.dumps(message)
    except RecursionError:                      # reading and writing have different depth limits
        text = json.dumps({'error': 'a message is nested too deeply'})
    write(text.replace('\x7f', '\\u007f') + '\n')


def width() -> int:
    """Columns of the terminal."""
    with contextlib.suppress(OSError, ValueError):
        return max(20, os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80)
    wanted = os.environ.get('COLUMNS', '')
    return max(20, int(wanted)) if wanted.isdigit() else 100


def has_color() -> bool:
    """Whether the terminal shows colours and the user wants them."""
    return (sys.__stdout__ is not None and sys.__stdout__.isatty() and not os.environ.get('NO_COLOR')
            and not lacks_cursor_control())
