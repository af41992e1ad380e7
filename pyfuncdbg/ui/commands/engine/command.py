"""A command: name, aliases, parser, one-line help, action, view; and the table of them, for all front ends."""
from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.ui.views.escape import visible

if TYPE_CHECKING:                               # the report of a run needs none of them
    from rich.console import RenderableType
    from typing_extensions import TypeVar

    from pyfuncdbg.observers.debug.debugger import Debugger
    from pyfuncdbg.observers.debug.stops.stop import Stop
    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.views.progress import Tell

    _Result = TypeVar('_Result', default=Any)
else:
    from typing import TypeVar

    _Result = TypeVar('_Result')

Group = Literal['run', 'stop', 'look', 'judge', 'keep']


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a command: trace, stop, debugger and output width.

    Attributes:
        trace: Finished or growing.
        stop: The stop that the user is at, None without one; its commands run on the stopped thread.
        debugger: Of the program that runs in this process, None where a finished trace is shown.
        width: Columns for text that goes to a file and for help; views on a console take its width.
        progress: Begins work, named for the user, and gives what takes how far it has come; None without a viewer.
        announce: Shows a sentence before the command does what it says.
        receive: Gets what the command prints on its thread; None: it goes to the program's own streams.
        table: The commands there are: `execute` puts in the table that it looks in.
    """

    trace: Trace
    stop: Stop | None = None
    width: int = 100
    debugger: Debugger | None = None
    progress: Callable[[str], AbstractContextManager[Tell | None]] = lambda what: nullcontext()
    announce: Callable[[str], object] = lambda text: None
    receive: Callable[[str], object] | None = None
    table: CommandTable = field(default_factory=lambda: CommandTable(()))


@dataclass(frozen=True, slots=True)
class Command(Generic[_Result]):
    """One row of the table.

    Attributes:
        name: As typed.
        help: One line.
        group: Where `help` lists it.
        run: The action; its result is plain data: records, dataclasses, lists, arrays.
        view: Draws the result: the type checker compares it with what `run` returns.
        arguments: Adds options and positional arguments to an argparse parser.
        aliases: Other names.
        needs_stop: Whether it acts on a stopped thread.
        needs_program: Whether it acts on a program that runs, stopped or not.
        of_prompt: Whether it acts on the prompt, or on all processes of the program: it is carried out in the process that
            has the prompt, not in the one that is stopped.
        expression: Name under which the raw rest of the line, after options and positionals, reaches `run`; '' for a
            command without one.
        repeats: Whether an empty line does it again.
        tail: How the usage line shows the expression; by default its name in capitals.
        examples: Lines to type, at least one; `help` shows them.
        answer: The class of its result, where `help` shows the keys that `--json` gives: the attributes of its docstring.
    """

    name: str
    help: str
    group: Group
    run: Callable[[Context, argparse.Namespace], _Result]
    view: Callable[[_Result], RenderableType]
    arguments: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    aliases: tuple[str, ...] = ()
    needs_stop: bool = False
    needs_program: bool = False
    of_prompt: bool = False
    expression: str = ''
    repeats: bool = False
    tail: str = ''
    examples: tuple[str, ...] = ()
    answer: type | None = None


@dataclass(frozen=True, slots=True)
class TableEntry:
    """One command of a table.

    Attributes:
        names: Its name and its aliases.
        load: Gives the command.
    """

    names: tuple[str, ...]
    load: Callable[[], Command]

    @classmethod
    def of(cls, command: Command) -> TableEntry:
        """The entry of a loaded command.

        Args:
            command: The command.

        Returns:
            Its entry.
        """
        return cls((command.name, *command.aliases), lambda: command)


class CommandTable:
    """Commands in the order of `help`. Each is loaded when it is asked for: all of them take 0.3 s.

    Args:
        entries: Entries of the commands.
    """

    def __init__(self, entries: Iterable[TableEntry]) -> None:
        self.entries = tuple(entries)
        self._by_name = {name: entry for entry in reversed(self.entries) for name in entry.names}

    @property
    def names(self) -> tuple[str, ...]:
        """Every name and alias."""
        return tuple(name for entry in self.entries for name in entry.names)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def find(self, name: str) -> Command | None:
        """Load a command.

        Args:
            name: Its name or an alias.

        Returns:
            The command, None if there is none.
        """
        entry = self._by_name.get(name)
        return entry.load() if entry is not None else None

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Command]:
        """All commands, loaded."""
        return (entry.load() for entry in self.entries)


def is_usable(command: Command, context: Context) -> bool:
    """Whether the context has what the command needs: a stop, a program.

    Args:
        command: The command.
        context: The context.

    Returns:
        Whether it can be executed.
    """
    return (context.stop is not None or not command.needs_stop) and (context.debugger is not None or
                                                                     not command.needs_program)


def parser_of(command: Command, width: int = 100) -> argparse.ArgumentParser:
    """The parser of a command.

    Args:
        command: The command.
        width: Columns of its help.

    Returns:
        The parser, with `--json` and `--help`.

    Raises:
        CommandError: By the parser, where argparse would exit.
    """
    parser = argparse.ArgumentParser(
        prog=command.name, description=command.help, add_help=False, allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, max_help_position=28, width=width))
    command.arguments(parser)
    parser.add_argument('--json', action='store_true',
                        help="answer in JSON; NaN and infinities as 'NaN', 'Infinity', '-Infinity'")
    parser.add_argument('-h', '--help', action='store_true', help='show this')

    def fail(message: str) -> NoReturn:
        raise CommandError(_explain(command, parser, message))
    parser.error = fail  # type: ignore[method-assign]
    return parser


def usage(command: Command, parser: argparse.ArgumentParser) -> str:
    """Usage of a command on one line: 'break [--once] ... [SPEC] [if CONDITION]'.

    Args:
        command: The command.
        parser: Its parser.

    Returns:
        The line.
    """
    tail = (command.tail or command.expression.upper()) if command.expression else ''
    line = ' '.join(parser.format_usage().removeprefix('usage:').split())
    if tail.startswith('[-'):                   # an option that the expression belongs to
        line = line.replace(f' {tail.split()[0]}]', '')
    return f'{line} {tail}'.rstrip()


def options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The options of a parser.

    Args:
        parser: The parser.

    Returns:
        Actions by each spelling of the option.
    """
    return {spelling: action for action in parser._actions for spelling in action.option_strings}


def _explain(command: Command, parser: argparse.ArgumentParser, message: str) -> str:
    unknown = message.removeprefix('unrecognized arguments: ')
    hint = nearest(unknown.split()[0], options_of(parser)) if unknown != message and unknown.startswith('-') else ''
    end = '' if message.endswith(('.', '?')) else '.'
    return visible(f'{parser.prog}: {message}{end}{hint} Usage: {usage(command, parser)}').replace('\n', ' ')
