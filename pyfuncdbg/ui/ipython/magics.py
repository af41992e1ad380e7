"""The magics: `%pyfunc COMMAND ...`, and `%%pyfunc` above a cell, which runs line by line with a recorder on.

The line of `%%pyfunc` becomes an empty one before IPython compiles the cell, so top-level await, `%` lines, line numbers
and history are those of any cell. Called by IPython on the main thread.

The result of a magic is one command's answer as an object that can be displayed and converted. It holds plain data only, so
it lives as long as the user wants.
"""
from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from IPython import version_info
from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand
from IPython.display import display
from rich.console import Console, ConsoleOptions, RenderResult

from pyfuncdbg.errors import CommandError, PyfuncdbgError
from pyfuncdbg.hooks import notebook_cell, notebook_cell as cell_now
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.observers.debug.breakpoints.never_hit import unhit_warnings
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.engine.to_json import plain
from pyfuncdbg.ui.commands.execute import execute, name_of
from pyfuncdbg.ui.ipython.conversion import array_of, frame_of, rows_of
from pyfuncdbg.ui.ipython.displays import answer_bundle, plain_text
from pyfuncdbg.ui.ipython.options import CELL, MAGIC, WIDTH, RecordingOptions, read_options
from pyfuncdbg.ui.ipython.recordings import CellRecording, Recordings
from pyfuncdbg.ui.ipython.session_commands import commands_of
from pyfuncdbg.ui.prompt.install import expect_stop, install
from pyfuncdbg.ui.views.escape import one_line, visible


class CommandResult:
    """The answer of one command.

    In a notebook it displays as HTML, elsewhere as text. A list has a length, can be indexed and iterated over.

    Args:
        answer: What `commands.execute` gave.

    Attributes:
        data: The plain data: records, dataclasses, lists, arrays.
    """

    __slots__ = ('_answer',)

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    @property
    def data(self) -> Any:
        return self._answer.result

    @property
    def text(self) -> str:
        """The picture as text without colour, 100 columns wide; the JSON document where `--json` was asked for."""
        return plain_text(self._answer)

    def to_dict(self) -> Any:
        """The data as `--json` gives it, made of dicts, lists, strings, numbers, bools and None; nothing is cut."""
        return plain(self._answer.result, limit=2**62)

    def to_numpy(self) -> np.ndarray:
        """The values of a tensor.

        Raises:
            CommandError: The command gave no tensor; which would.
            DroppedError: The values were not kept.
        """
        return array_of(self._answer.command.name, self._answer.result)

    def to_pandas(self) -> Any:
        """A list as a DataFrame with a row for each of its lines, or a tensor of at most two axes.

        Raises:
            CommandError: pandas is not installed, or the answer is neither.
        """
        return frame_of(self._answer.command.name, self._answer.result)

    def __len__(self) -> int:
        return len(rows_of(self._answer.command.name, self._answer.result))

    def __iter__(self) -> Iterator[Any]:
        return iter(rows_of(self._answer.command.name, self._answer.result))

    def __getitem__(self, index: int | slice) -> Any:
        return rows_of(self._answer.command.name, self._answer.result)[index]

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Collection[str] | None = None,
                          exclude: Collection[str] | None = None) -> dict[str, str]:
        return answer_bundle(self._answer)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._answer


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

        %pyfunc alone shows the state, %pyfunc help lists the commands, %pyfunc help COMMAND tells all about one.
        The answer is an object: r = %pyfunc lt
        """
        text = line.strip() or 'status'
        name = name_of(text, self.table)
        needs_program = any(row.name == name and row.needs_program for row in self.table)
        try:
            if needs_program or name == 'replay':       # which may stop in the function
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
            recording = self._cells.begin(options, cell_now.label)
        except PyfuncdbgError as error:
            raise UsageError(complaint(error, MAGIC)) from None
        try:
            self._shell.run_cell(cell)
        finally:
            self._cells.finish(recording)


def outside(lines: list[str]) -> list[str]:
    """A transformer of what IPython makes of a cell: the ';' behind a `%pyfunc` line is the cell's, not the command's."""
    return [_outside(line) for line in lines]


_SILENCED = re.compile(r"^(.*\bget_ipython\(\)\.run_line_magic\('pyfunc', )('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\)$")


def _outside(line: str) -> str:
    match = _SILENCED.match(line.rstrip('\n'))
    if match is None:
        return line
    argument = literal_eval(match[2]).rstrip()
    return f'{match[1]}{argument.rstrip(";")!r});\n' if argument.endswith(';') else line


@dataclass(slots=True)
class _Running:
    """A cell that IPython runs now; one may run others."""

    info: Any
    count: int
    begun: CellRecording | None = None


class ShellCells:
    """Callbacks that IPython makes for each cell of one shell.

    Args:
        shell: The shell.
        recordings: Of its session.
    """

    has_side_effects = True
    """For IPython: not to be tried while the cell is still typed."""

    def __init__(self, shell: Any, recordings: Recordings) -> None:
        self._shell = shell
        self._table = commands_of(recordings)
        self._recordings = recordings
        self._running: list[_Running] = []
        self._ahead = 1 if version_info >= (9,) else 0      # whether IPython counts a cell before it tells of it, or after
        for name, number in self._names().items():      # of cells that ran before the extension was loaded
            notebook_cell.add_cell_file(f'In[{number}]', name)

    def __call__(self, lines: list[str]) -> list[str]:
        """The transformer: takes the line of the magic out of a cell.

        Raises:
            UsageError: It makes no sense: IPython shows the one line, and runs nothing.
        """
        header = _header(lines)
        if header is None or self._running or not any(line.strip() for line in lines[1:]):
            return lines                        # inside of another magic it is one that IPython calls
        options = self.options(header)
        if options.help:
            return [f"get_ipython().run_line_magic('pyfunc', 'help {MAGIC}')\n"]
        return lines[1:] if lines[1].startswith('%%') else ['\n', *lines[1:]]

    def options(self, header: str) -> RecordingOptions:
        """The options in the line of the magic.

        Raises:
            UsageError: It makes no sense.
        """
        try:
            return read_options(header, CELL)
        except PyfuncdbgError as error:
            raise UsageError(complaint(error, MAGIC)) from None

    # ------------------------------------------------------------------ events
    def before(self, info: Any) -> None:
        """A cell is about to run."""
        count = self._shell.execution_count - (self._ahead if info.store_history else 0)
        label = f'In[{count}]'
        if not self._running:
            notebook_cell.begin(label)
            self._await_stops()
        code = getattr(info, 'transformed_cell', None)      # since IPython 9.16; else the name is known afterwards
        if code is not None:
            notebook_cell.add_cell_file(label, self._shell.compile.get_code_name(info.raw_cell, code, count))
        entry = _Running(info, count)
        self._running.append(entry)
        header = None if len(self._running) > 1 else _header(self._cleaned(info.raw_cell))
        if header is None or not info.raw_cell.strip().partition('\n')[2].strip():
            return
        try:
            options = self.options(header)
            if not options.help:
                entry.begun = self.begin(options, label)
        except UsageError:
            return                              # the transformer has reported it already
        except PyfuncdbgError as error:
            say(f'the cell is not recorded: {one_line(str(error))}')

    def _await_stops(self) -> None:
        """Let the cell stop though the user quit in the one before, and record from its start."""
        enabled = [entry for entry in debugger.breakpoints.entries.values() if entry.breakpoint.enabled]
        if enabled or debugger.catching:
            debugger.start()
        if debugger.catching or any(entry.breakpoint.do == 'stop' for entry in enabled):
            debugger.live.recorder()

    def after(self, result: Any) -> None:
        """A cell has run, or could not."""
        while self._running and (result is None or any(one.info is result.info for one in self._running)):
            entry = self._running.pop()
            if result is not None and entry.info is result.info and entry.info.store_history and result.execution_count:
                self._ahead += entry.count - result.execution_count
            self._note_file(entry.count)
            if entry.begun is not None and result is not None and result.error_before_exec is not None:
                self._recordings.end(entry.begun)     # a syntax error: nothing has run
            elif entry.begun is not None:
                self.finish(entry.begun)
            if result is None or entry.info is result.info:
                break
        self._recordings.tidy()
        if not self._running:
            if self._recordings.session is not None:
                self._recordings.session.flush()    # the cell is in the trace even if the kernel dies
            for text in left_behind(self._shell.user_ns, notebook_cell.label):
                print(f'pyfuncdbg: {one_line(text)}')

    def begin(self, options: RecordingOptions, label: str) -> CellRecording:
        """Record from now on; stops may come.

        Raises:
            PyfuncdbgError: It cannot be.
        """
        recording = self._recordings.begin(options, label)
        if options.breaks or options.catch:
            expect_stop(debugger)
        return recording

    def finish(self, recording: CellRecording) -> None:
        """End a recording and show the report."""
        warnings = unhit_warnings(debugger.breakpoints, recording.breakpoints) if not debugger.left else []
        try:
            context = Context(self._recordings.end(recording), None, WIDTH, debugger)
            answer = execute('report --json' if recording.options.as_json else 'report', context, self._table)
        except PyfuncdbgError as error:
            say(f'no report: {one_line(str(error))}')
            return
        except KeyboardInterrupt:
            say('no report: interrupted; %pyfunc report shows it')
            return
        display(CommandResult(answer))  # type: ignore[no-untyped-call]
        for sentence in warnings:
            print(f'pyfuncdbg: {one_line(sentence)}')
        names = [name for label, held in self._recordings.lingering if label == recording.label for name in held.names()]
        if names:
            what = 'goes on: what it calls' if len(names) == 1 else 'go on: what they call'
            print(f'{", ".join(map(one_line, names))} {what} is added to the trace of {recording.label}')

    def close(self) -> None:
        """The extension goes in the middle of a cell."""
        for entry in self._running:
            if entry.begun is not None:
                self._recordings.end(entry.begun)
                entry.begun = None
        notebook_cell.begin('')

    def _cleaned(self, raw: str) -> list[str]:
        """The lines of a cell as they come to the transformer."""
        lines = raw.splitlines(keepends=True)
        for transform in self._shell.input_transformers_cleanup:
            if transform is self:
                break
            lines = transform(lines)
        return lines

    def _note_file(self, count: int) -> None:
        """Under which file name the code of a cell goes."""
        for name, number in self._names().items():
            if number == count:
                notebook_cell.add_cell_file(f'In[{number}]', name)

    def _names(self) -> dict[str, int]:
        """File names of the code of cells, with their numbers."""
        names: dict[str, int] = getattr(self._shell.compile, '_filename_map', {})
        return dict(names)


def _header(lines: list[str]) -> str | None:
    """The arguments of the magic in the first line of a cell, None if it is no such cell."""
    if not lines or not lines[0].startswith(MAGIC):
        return None
    rest = lines[0].removeprefix(MAGIC)
    return rest.strip() if not rest or rest[0].isspace() else None


def complaint(error: PyfuncdbgError, magic: str) -> str:
    """The mistake on one line; in an expression it is marked on a line of its own."""
    text = error.worded('%pyfunc ')
    text = visible(text) if text.endswith('^') else one_line(text)
    return text if text.startswith(magic) else f'{magic}: {text}'


def left_behind(names: Mapping[str, Any], label: str) -> Iterator[str]:
    """Notices of breakpoints in functions that the cell has redefined.

    Args:
        names: The user's variables.
        label: Of the cell that is over.
    """
    filename = notebook_cell.files.get(label)
    for number, entry in list(debugger.breakpoints.entries.items()):
        spec = entry.breakpoint.spec
        if (spec.kind != 'line' or not entry.breakpoint.enabled or spec.name not in notebook_cell.labels
                or spec.name == filename):
            continue
        try:
            placement = entry.placement
        except CommandError:
            continue
        function = _named(names, placement.function) if placement is not None else None
        if placement is not None and function is not None and function.__code__.co_filename == filename:
            line, old = function.__code__.co_firstlineno, notebook_cell.labels[spec.name]
            yield (f"breakpoint {number} stays in the {placement.function} of {old}; {label} has defined it again: "
                   f"'%pyfunc break {label}:LINE' stops in the new one, which begins at line {line}")


def _named(names: Mapping[str, Any], qualified: str) -> FunctionType | None:
    """The function of a qualified name such as 'Model.step'."""
    first, *rest = qualified.split('.')
    value = names.get(first)
    for name in rest:
        value = vars(value).get(name) if isinstance(value, type) else None
    return value if isinstance(value, FunctionType) else None
