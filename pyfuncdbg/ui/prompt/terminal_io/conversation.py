"""A conversation at a stop: a command is read, carried out and answered, until the program goes on.

Runs on the stopped thread, whatever reads the lines: a terminal, a pipe, a notebook.
"""
from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.debugger import Debugger
from pyfuncdbg.observers.debug.stops.broker import Broker
from pyfuncdbg.observers.debug.stops.stop import Stop
from pyfuncdbg.ui.commands.breakpoint_commands import carry_out_commands, is_silent
from pyfuncdbg.ui.commands.engine.answer import Answer
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.engine.continuation import blocks, commands_of, read_rest
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST
from pyfuncdbg.ui.commands.execute import execute, repeats
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand, PendingCommands
from pyfuncdbg.ui.prompt.terminal_io.ctrl_c import interruptible

if TYPE_CHECKING:
    from pyfuncdbg.ui.commands.completion import Completions
    from pyfuncdbg.ui.views.progress import Tell

PROMPT = '(pfd) '


@dataclass(frozen=True, slots=True)
class LineRequest:
    """A line that is wanted.

    Attributes:
        prompt: What stands in front of it.
        before: The lines of the same command, '' for its first one.
    """

    prompt: str = PROMPT
    before: str = ''


class Display(Protocol):
    """The output of a conversation: answers, notices and progress."""

    @property
    def width(self) -> int:
        """Columns."""

    def write(self, text: str) -> None:
        """Text as it is: what a command prints.

        Raises:
            EOFError: The user is gone.
        """

    def say(self, text: str) -> None:
        """One line of ours.

        Raises:
            EOFError: The user is gone.
        """

    def show(self, answer: Answer) -> None:
        """Draw an answer.

        Raises:
            EOFError: The user is gone.
        """

    def progress(self, what: str) -> AbstractContextManager[Tell | None]:
        """Begin work that may take long; what it gives takes how far the work has come."""


class CommandReader(Protocol):
    """The source of commands."""

    def read(self, stop: Stop, broker: Broker, request: LineRequest) -> str | None:
        """The next line; None where another client has decided the stop or moved the prompt meanwhile.

        Raises:
            EOFError: There is no more to come.
            KeyboardInterrupt: The user gave up this line.
        """


class Conversation:
    """Asks and answers.

    Args:
        debugger: Whose program it is.
        pending: Commands that come before those that are read.
    """

    def __init__(self, debugger: Debugger, pending: PendingCommands) -> None:
        self._debugger = debugger
        self._pending = pending
        self._last = ''

    def hold(self, stop: Stop, reader: CommandReader, display: Display) -> None:
        """Talk until the stop is decided or the prompt is somewhere else.

        Raises:
            EOFError: The user is lost.
        """
        broker, breakpoints = self._debugger.broker, self._debugger.breakpoints
        self._debugger.changes.catch_up()       # the user may have said quit in the process that asked before
        if stop.decision is None and not is_silent(stop, breakpoints):
            self.carry_out(PendingCommand('stop'), stop, display)
        carry_out_commands(stop, breakpoints, lambda line: self._follow(line, stop, display))
        while stop.decision is None and broker.focus is stop:
            typed = self._pending.take()
            if typed is not None:
                display.say(prompt_at(stop) + typed.text)
            else:
                try:
                    typed = self._read(stop, broker, reader)
                except KeyboardInterrupt:
                    continue
            if typed is not None:
                self._last = typed.text if len(typed.text) <= LONGEST and repeats(typed.text) else ''
                self.carry_out(typed, stop, display)
        if stop.decision is not None and stop.decision.verb in ('quit', 'abort'):
            self._pending.clear()

    def _follow(self, line: str, stop: Stop, display: Display) -> None:
        """A command of a breakpoint."""
        display.say(prompt_at(stop) + line)
        self.carry_out(PendingCommand(line), stop, display)

    @property
    def is_orphan(self) -> bool:
        """Whether the process that has started this one has ended."""
        return self._debugger.changes.is_orphan

    def announce_quit(self) -> None:
        """The user has said quit: the other processes of the program leave debugging, too."""
        self._debugger.announce_quit()

    def completions(self, text: str, stop: Stop, before: str = '') -> Completions:
        """Completions of a line, after others of the same command; on the stopped thread."""
        from pyfuncdbg.ui.commands.completion import completions
        return completions(text, self._context(stop), before)

    def _context(self, stop: Stop, display: Display | None = None) -> Context:
        if stop.remote is None:
            self._debugger.live.recorder()      # what happens from now on can be asked for later
        context = Context(self._debugger.live.on_demand(stop), stop, debugger=self._debugger)
        return context if display is None else replace(context, width=display.width, progress=display.progress,
                                                       announce=display.say, receive=display.write)

    def _read(self, stop: Stop, broker: Broker, reader: CommandReader) -> PendingCommand | None:
        """The next command, with all its lines; the commands behind a ';;' wait."""
        line = reader.read(stop, broker, LineRequest(prompt_at(stop)))
        if line is None:
            return None
        if len(line) > LONGEST:                 # refused where commands are carried out
            return PendingCommand(line)
        if not line.strip():
            return PendingCommand(self._last) if self._last else None
        commands = [command for _, text in blocks(line.splitlines()) for command in commands_of(text)]      # of a paste
        if not commands:
            return None
        last = read_rest(commands.pop(), lambda prompt, text: reader.read(stop, broker, LineRequest(prompt, text)),
                         at_stop=True)
        if last is None:
            return None
        commands += [last] if last else []
        self._pending.put_first([PendingCommand(command) for command in commands[1:]])
        return PendingCommand(commands[0]) if commands else None

    def carry_out(self, typed: PendingCommand, stop: Stop, display: Display) -> None:
        """One command, and its answer or what is wrong with it."""
        try:
            with interruptible():
                answer = execute(typed.text, self._context(stop, display))
                display.show(answer)
            self._pending.put_first([PendingCommand(line, typed.place) for line in answer.later])
        except KeyboardInterrupt:
            self._pending.clear()
            display.say('interrupted')
        except EOFError:
            raise
        except PyfuncdbgError as error:
            if stop.remote is None or stop.decision is None:    # else it has gone on meanwhile, or ended
                display.say(_complaint(typed, str(error)))
        except Exception as error:  # an error in a command or view must not end the program
            display.say(_complaint(typed, f'{typed.text}: {type(error).__name__}: {error}'))


def prompt_at(stop: Stop) -> str:
    """The prompt, behind the name of the process where that is not this one."""
    return PROMPT if stop.remote is None else f'{stop.remote.process} {PROMPT}'


def _complaint(typed: PendingCommand, text: str) -> str:
    return f'*** {typed.place}: {text}' if typed.place else f'*** {text}'
