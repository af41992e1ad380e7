"""`pyfuncdbg connect`: the prompt for a program that runs elsewhere, on this machine or another one.

A process of its own: the main thread reads lines and waits for answers, a second one shows what the program does meanwhile.
"""
from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, wait as wait_for
from typing import Any, Protocol

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.answer import MOST_LATER
from pyfuncdbg.ui.commands.engine.continuation import blocks, commands_of, read_rest
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST, refuse_overlong
from pyfuncdbg.ui.commands.execute import name_of, repeats
from pyfuncdbg.ui.commands.socket.protocol import LineBuffer
from pyfuncdbg.ui.prompt.connecting.connection import (
    PATIENCE,
    BrokenOffError,
    Connection,
    LostConnectionError,
    SilentError,
)
from pyfuncdbg.ui.prompt.connecting.output import has_color, width, write, write_json
from pyfuncdbg.ui.prompt.connecting.program_choice import find
from pyfuncdbg.ui.prompt.connecting.remote_host import Destination, connect_by_ssh
from pyfuncdbg.ui.prompt.pending_commands import PendingCommand, command_file
from pyfuncdbg.ui.prompt.terminal_io.conversation import PROMPT
from pyfuncdbg.ui.prompt.terminal_io.terminal_modes import lacks_cursor_control
from pyfuncdbg.ui.views.escape import keep_styles, one_line, visible

DETACH = 'detach'
_MOST_ECHOED = 200
_FAREWELL = 2.0
"""Seconds that the program has to let go of a user who leaves; it does so as well when the connection ends."""
_MOST_LEFT = 1_000
"""Numbers of stops that are remembered as over."""


def connect(where: Destination, file: str | None = None, *, as_json: bool = False, command: str = 'pyfuncdbg') -> int:
    """Talk to a program that listens; the exit code: 1 if it was killed meanwhile or does not answer, 130 after Ctrl-C.

    Args:
        where: The program.
        file: Commands to begin with.
        as_json: Print JSON, a message a line.
        command: How pyfuncdbg is called on another machine.

    Raises:
        UsageError: There is no such program, or no such file.
    """
    first = command_file(file) if file is not None else []
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='backslashreplace')       # a program may say what the terminal cannot show
    try:
        if where.host:
            connection = connect_by_ssh(where, command)
        else:
            asks = sys.stdin is not None and sys.stdin.isatty() and not as_json
            connection = Connection(find(where.pid, asks=asks))
        prompt = RemotePrompt(connection, as_json=as_json)
        with reader_for(connection, as_json=as_json) as reader:
            return prompt.talk(first, reader)
    except KeyboardInterrupt:                   # while a program that does not answer is waited for
        return 128 + signal.SIGINT


class LineReader(Protocol):
    """The source of typed lines."""

    def read(self, prompt: str = PROMPT) -> str:
        """The next one.

        Raises:
            EOFError: There is no more.
            KeyboardInterrupt: The user gave up this line.
        """

    def end(self) -> None:
        """The program is gone: let `read` raise EOFError. Called from another thread."""


class PipeReader:
    """Lines of stdin, shown as if they had been typed.

    Args:
        echo: Whether to show them.
    """

    def __init__(self, *, echo: bool) -> None:
        self._echo = echo
        self._lines: deque[bytes] = deque()
        self._parts = LineBuffer(4 * LONGEST)        # bytes of so many characters
        self._over = self._begun = False
        self._hears, self._bell = os.pipe()

    def read(self, prompt: str = PROMPT) -> str:
        while not self._lines:
            if self._over:
                raise EOFError
            data = self._more()
            self._over = not data
            if data:
                self._begun = not data.endswith(b'\n')
                self._lines += self._parts.feed(data)
            elif self._begun:                   # the last line may lack a newline
                self._lines += self._parts.feed(b'\n')
        line = self._lines.popleft().decode('utf-8', 'replace')
        if self._echo:
            write(prompt + one_line(line, _MOST_ECHOED) + '\n')
        return line

    def _more(self) -> bytes:
        """The next bytes; none at the end. A program that is gone ends the wait for a line."""
        ready, _, _ = select.select([0, self._hears], [], [])
        if self._hears in ready:
            raise EOFError
        return os.read(0, 1 << 16)

    def end(self) -> None:
        os.write(self._bell, b'!')


class RemotePrompt:
    """A user at the prompt of a program elsewhere.

    Args:
        connection: To the program.
        as_json: Print what the program sends, a message a line, and draw nothing.
    """

    def __init__(self, connection: Connection, *, as_json: bool = False) -> None:
        self._connection = connection
        self._json = as_json
        self._news = threading.Condition()
        self._stop: int | None = None           # number of the stop shown last; None if it is over
        self._met: int | None = None            # number of the stop that the commands so far have reached
        self._left: deque[int] = deque(maxlen=_MOST_LEFT)
        self._over = ''
        self._leaving = False
        self._waiting: bool = connection.hello['waiting']
        self._last = ''
        self._later: list[str] = []             # commands left of an alias
        self._number: int = connection.hello['client']
        self._reader: LineReader | None = None

    # ------------------------------------------------------------------ main thread
    def talk(self, first: list[PendingCommand], reader: LineReader) -> int:
        """Carry out commands until the user leaves or the program ends; the exit code."""
        self._reader = reader
        hello = self._connection.hello
        if self._json:
            write_json(hello)
        else:
            program = one_line(' '.join(hello['program']), 60)
            write(f'connected to {hello["pid"]} {program}; Ctrl-D disconnects, "interrupt" stops it at the next call\n')
            if self._waiting:
                write('the program waits to start: set breakpoints, then "cont"\n')
        try:
            try:
                self._shown_stop(self._connection.ask(patience=PATIENCE, attach=True)['stop'])
                self._met = self._stop
            finally:
                threading.Thread(target=self._follow, name='pyfuncdbg news', daemon=True).start()
            self._carry_out_all(first, reader)
        except LostConnectionError:
            with self._news:
                self._news.wait_for(lambda: self._over, PATIENCE)
        except SilentError as error:
            self._leaving = True
            self._complain(str(error))
            self._connection.close()
            return 1
        self._connection.close()
        return 1 if self._over == 'lost' else 0

    def _carry_out_all(self, first: list[PendingCommand], reader: LineReader) -> None:
        pending = list(first)
        rest: list[PendingCommand] = []                  # commands left of an alias
        carried = 0
        while not self._over:
            if rest:
                typed = rest.pop(0)
                carried += 1
            elif pending:
                typed = pending.pop(0)
                carried = 0
                if typed.place and not self._json:
                    write(f'{PROMPT}{typed.text}\n')
            else:
                try:
                    pending = self._read(reader)
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    break
                continue
            if typed.text == DETACH:
                break
            try:
                refuse_overlong(typed.text)
                if self._carry_out(typed):
                    return
                if carried + len(rest) + len(self._later) > MOST_LATER:
                    rest = []
                    raise CommandError(f'a line expands to more than {MOST_LATER:,} commands; the rest is dropped')
                rest = [*(PendingCommand(line, typed.place) for line in self._later), *rest]
            except (KeyboardInterrupt, BrokenOffError):
                pending, rest = [], []
            except (LostConnectionError, SilentError):
                raise
            except CommandError as error:
                self._complain(str(error), typed)
        if not self._over:
            self._leaving = True
            self._connection.ask(patience=_FAREWELL, detach=True)

    def _read(self, reader: LineReader) -> list[PendingCommand]:
        """The commands of the next line, with all lines of the last of them."""
        line = reader.read()
        if len(line) > LONGEST:                 # refused where commands are carried out
            return [PendingCommand(line)]
        if not line.strip():
            return [PendingCommand(self._last)] if self._last else []
        commands = [command for _, text in blocks(line.splitlines()) for command in commands_of(text)]
        if not commands:
            return []
        last = read_rest(commands.pop(), lambda prompt, text: reader.read(prompt), at_stop=self._stop is not None)
        return [PendingCommand(command) for command in [*commands, *([last] if last else [])]]

    def _carry_out(self, typed: PendingCommand) -> bool:
        """One command; whether it was the last one."""
        name = name_of(typed.text)
        self._later = []
        self._last = typed.text if repeats(typed.text) else ''
        if name == 'cont' and not self._waiting and (self._stop is None or self._is_early(typed)):
            self._await_stop()
            return False
        before = self._stop
        self._leaving = name == 'quit'
        answer = self._answer(self._connection.begin(line=typed.text, width=width(), color=has_color()))
        self._later = answer['later']
        self._show(answer, typed)
        if answer['error'] is None and answer['command'] == 'quit':
            return True
        if answer['left'] is not None:
            with self._news:
                self._left.append(answer['left'])
                if self._stop == answer['left']:
                    self._stop = None
            self._await_stop()
        elif answer['command'] == 'interrupt' and self._scripted(typed):
            self._await_stop()                  # it may have come before the answer: then it is met, too
        elif self._waiting and name == 'cont':
            self._waiting = False
            self._await_stop()
        elif answer['stop'] is None and self._stop == before:
            self._stop = None                   # resumed by another front end
        return False

    def _scripted(self, typed: PendingCommand) -> bool:
        """Whether no user sees when the stop comes: the next command is for it."""
        return bool(typed.place) or isinstance(self._reader, PipeReader)

    def _is_early(self, typed: PendingCommand) -> bool:
        """Whether the program has stopped before the command that was written to wait for it."""
        return self._stop != self._met and self._scripted(typed)

    def _answer(self, future: Future[dict[str, Any]]) -> dict[str, Any]:
        """Wait for an answer; the first Ctrl-C breaks the command off, the second gives up waiting."""
        try:
            wait_for([future])
        except KeyboardInterrupt:
            self._connection.cancel(future)
            try:
                wait_for([future])
            except KeyboardInterrupt:
                write('*** the command still runs in the program\n')
                raise
        return future.result()

    def _await_stop(self) -> None:
        """Wait until the program stops or is gone."""
        try:
            with self._news:
                self._news.wait_for(lambda: self._stop is not None or self._over)
                self._met = self._stop
        except KeyboardInterrupt:
            if not self._json:
                write('the program runs; "interrupt" stops it at the next call, Ctrl-D disconnects\n')

    def _complain(self, error: str, typed: PendingCommand | None = None) -> None:
        if self._json:
            write_json({'error': error})
        else:
            write(visible(f'*** {typed.place}: {error}' if typed is not None and typed.place else f'*** {error}') + '\n')

    def _show(self, answer: dict[str, Any], typed: PendingCommand) -> None:
        if self._json:
            write_json({'line': typed.text, **{key: answer[key] for key in ('command', 'data', 'error', 'stop', 'printed')}})
            return
        write(keep_styles(answer['printed']))
        if answer['error'] is not None:
            self._complain(answer['error'], typed)
        else:
            write(keep_styles(answer['text']))

    # ------------------------------------------------------------------ the second thread
    def _follow(self) -> None:
        """Show what happens."""
        while not self._over:
            event = self._connection.events.get()
            kind = event['event']
            if self._json and kind != 'hello':
                write_json(event)
            if kind == 'stopped':
                self._shown_stop(event['stop'])
            elif kind == 'resumed':
                self._resumed(event)
            elif kind == 'log' and not self._json:
                write(visible(event['text']) + '\n')
            elif kind in ('ended', 'lost'):
                self._ended(kind, event.get('text', ''))

    def _shown_stop(self, stop: dict[str, Any] | None) -> None:
        """Draw where the program has stopped."""
        if stop is None:
            return
        if not self._json:
            with contextlib.suppress(LostConnectionError):
                answer = self._connection.ask(line='stop', width=width(), color=has_color())
                if answer['error'] is None:     # else another client has resumed it already
                    write(keep_styles(answer['text']))
        with self._news:
            if stop['number'] not in self._left:
                self._stop = stop['number']
            self._news.notify_all()

    def _resumed(self, event: dict[str, Any]) -> None:
        with self._news:
            by_others = self._stop == event['stop'] and event['stop'] not in self._left
            self._left.append(event['stop'])
            if self._stop == event['stop']:
                self._stop = None
        if by_others and not (self._json or self._leaving) and event['by'] != self._number:
            write(f'the program continues: {one_line(event["verb"], 40)}, by another user\n')

    def _ended(self, kind: str, why: str) -> None:
        left = self._leaving and kind == 'lost'         # after 'detach' the program closes the connection
        with self._news:
            self._over = 'left' if left else kind
            self._news.notify_all()
        if not self._json and not left:
            write('the program has ended\n' if kind == 'ended' else
                  f'the connection is lost: {one_line(why) or "the program was killed"}\n')
        if self._reader is not None:
            self._reader.end()


@contextlib.contextmanager
def reader_for(connection: Connection, *, as_json: bool) -> Iterator[LineReader]:
    """The best reader that stdin allows; within, prints of other threads come above the line that is typed."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield PipeReader(echo=not as_json)
        return
    if lacks_cursor_control():
        from pyfuncdbg.ui.prompt.connecting.plain_line import PlainLineReader
        yield PlainLineReader()
        return
    from pyfuncdbg.ui.prompt.connecting.remote_line import RemoteLineEditor
    with RemoteLineEditor(connection) as editor:
        yield editor
