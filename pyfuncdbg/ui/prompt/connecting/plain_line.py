"""Line reader of `pyfuncdbg connect` at a terminal without cursor control: the system's own line editing.

On the main thread. What other threads print meanwhile comes behind what was typed.
"""
from __future__ import annotations

from pyfuncdbg.ui.prompt.terminal_io.conversation import PROMPT
from pyfuncdbg.ui.prompt.terminal_io.plain_line_editor import PlainEditor
from pyfuncdbg.ui.prompt.terminal_io.screen import Screen


class PlainLineReader:
    """Reads lines from the terminal on stdin."""

    def __init__(self) -> None:
        self._screen = Screen(1)
        self._editor = PlainEditor(0, self._screen)
        self._over = False

    def read(self, prompt: str = PROMPT) -> str:
        """The next line; EOFError at Ctrl-D or after `end`, KeyboardInterrupt at Ctrl-C."""
        if self._over:
            raise EOFError
        try:
            return self._editor.read(prompt)
        except (EOFError, KeyboardInterrupt):
            if self._over:
                raise EOFError from None
            self._screen.write('\n')
            raise

    def end(self) -> None:
        """Break off the line, from another thread."""
        self._over = True
        self._editor.cancel()
