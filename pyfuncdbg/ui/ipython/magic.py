"""`%pyfunc COMMAND ...`: the commands of the table in IPython.

Runs on the main thread, within the cell that the magic stands in.
"""
from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.hooks import notebook_cell as cell_now
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.commands.execute import execute, name_of
from pyfuncdbg.ui.ipython.cells import ShellCells, complaint
from pyfuncdbg.ui.ipython.options import MAGIC, WIDTH
from pyfuncdbg.ui.ipython.recordings import Recordings
from pyfuncdbg.ui.ipython.result import CommandResult
from pyfuncdbg.ui.ipython.session_commands import commands_of
from pyfuncdbg.ui.prompt.install import install

_SILENCED = re.compile(r"^(.*\bget_ipython\(\)\.run_line_magic\('pyfunc', )('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\)$")


class PyfuncMagics:
    """The magics of one shell.

    Args:
        shell: IPython's.
        recordings: Of the session.
        cells: What records a cell.
    """

    def __init__(self, shell: Any, recordings: Recordings, cells: ShellCells) -> None:
        self._shell = shell
        self._recordings = recordings
        self._cells = cells
        self.table = commands_of(recordings)

    @no_var_expand
    def line(self, line: str) -> CommandResult:
        """Debug and trace the Python functions inside dataflow graphs: %pyfunc COMMAND ...

        %pyfunc alone tells how things stand, %pyfunc help lists the commands, %pyfunc help COMMAND tells all about one.
        The answer is an object: r = %pyfunc lt
        """
        text = line.strip() or 'status'
        name = name_of(text, self.table)
        needs_program = any(row.name == name and row.needs_program for row in self.table)
        try:
            if needs_program:
                install(debugger)
            context = self._recordings.context(WIDTH, of_program=needs_program)
            answer = execute(text, context, self.table)
            for line in answer.later:           # the rest of what an alias stands for; the last answer is the cell's
                answer = execute(line, context, self.table)
            return CommandResult(answer)
        except PyfuncdbgError as error:
            raise UsageError(complaint(error, '%pyfunc')) from None

    @no_var_expand
    def cell(self, line: str, cell: str) -> None:
        """Run a cell recorded, and show the report: %%pyfunc [--break SPEC] [--if PRED] [--ops] [--record PATH] ..."""
        # Below another magic: else the line never comes to be a magic.
        options = self._cells.options(line)
        if not cell.strip():
            raise UsageError('%%pyfunc: there is no code below it')
        try:
            begun = self._cells.begin(options, cell_now.label)
        except PyfuncdbgError as error:
            raise UsageError(complaint(error, MAGIC)) from None
        try:
            self._shell.run_cell(cell)
        finally:
            self._cells.finish(begun)


def outside(lines: list[str]) -> list[str]:
    """A transformer of what IPython makes of a cell: the ';' behind a `%pyfunc` line is the cell's, not the command's."""
    return [_outside(line) for line in lines]


def _outside(line: str) -> str:
    found = _SILENCED.match(line.rstrip('\n'))
    if found is None:
        return line
    argument = literal_eval(found[2]).rstrip()
    return f'{found[1]}{argument.rstrip(";")!r});\n' if argument.endswith(';') else line
