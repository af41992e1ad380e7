"""`%pyfunc COMMAND ...`: the commands of the table in IPython.

Runs on the main thread, within the cell that the magic stands in.
"""
from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from pyfuncdbg.commands.execute import execute
from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ipython.subject import Subject
from pyfuncdbg.views.escape import one_line


class PyfuncMagics:
    """The magics of one shell.

    Args:
        shell: IPython's.
        subject: What commands are about.
    """

    def __init__(self, shell: Any, subject: Subject) -> None:
        self._shell = shell
        self._subject = subject

    @no_var_expand
    def line(self, line: str) -> Any:
        """%pyfunc COMMAND ...: debug and trace wrapped functions; %pyfunc help lists the commands."""
        try:
            return execute(line or 'help', self._subject.context(100))
        except PyfuncdbgError as error:
            raise UsageError(f'%pyfunc: {one_line(str(error))}') from None
