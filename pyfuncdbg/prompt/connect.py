"""`pyfuncdbg connect`: the prompt for a program that runs elsewhere on this machine.

A process of its own: the main thread reads lines and waits for answers, a second one shows what the program does meanwhile.
"""
from __future__ import annotations

import contextlib
import json
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any, Protocol

from pyfuncdbg.commands.execute import name_of
from pyfuncdbg.prompt.conversation import PROMPT, REPEATED
from pyfuncdbg.prompt.pending import Typed, command_file, separated
from pyfuncdbg.prompt.remote import BrokenOffError, Connection, LostError, find
from pyfuncdbg.views.escape import one_line, visible

DETACH = 'detach'


def connect(number: int | None, file: str | None = None, *, as_json: bool = False) -> int:
    """Talk to a program that listens; the exit code: 1 if it was killed meanwhile.

    Args:
        number: Its process number; None for the only one there is.
        file: Commands to begin with.
        as_json: Print JSON, a message a line.

    Raises:
        UsageError: There is no such program, or no such file.
    """
    first = command_file(file) if file is not None else []
    connection = Connection(find(number))
    prompt = RemotePrompt(connection, as_json=as_json)
    with reader_for(connection, as_json=as_json) as reader:
        return prompt.talk(first, reader)


class Reader(Protocol):
    """Where lines come from."""

    def read(self) -> str:
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
        self._lines: deque[str] = deque()
        self._rest = b''
        self._hears, self._bell = os.pipe()

    def read(self) -> str:
        while not self._lines:
            data = self._more()
            if not data and not self._rest:
                raise EOFError
            *lines, self._rest = (self._rest + (data or b'\n')).split(b'\n')
            self._lines.extend(line.decode('utf-8', 'replace') for line in lines)
        line = self._lines.popleft()
        if self._echo:
            write(PROMPT + visible(line) + '\n')
        return line

    def _more(self) -> bytes:
        """What comes next; nothing at the end. A program that is gone ends the wait for a line."""
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
        self._stop: int | None = None           # number of the stop that was shown last, and still is one
        self._met: int | None = None            # that of a stop that the commands so far have waited for, or began at
        self._left: set[int] = set()
        self._over = ''
        self._leaving = False
        self._waiting = bool(connection.hello.get('waiting'))
        self._last = ''
        self._number = connection.hello.get('client')
        self._reader: Reader | None = None

    # ------------------------------------------------------------------ main thread
    def talk(self, first: list[Typed], reader: Reader) -> int:
        """Carry out commands until the user leaves or the program ends; the exit code."""
        self._reader = reader
        hello = self._connection.hello
        if self._json:
            write(json.dumps(hello) + '\n')
        else:
            program = one_line(' '.join(hello.get('program', ())), 60)
            write(f'connected to {hello.get("pid")} {program}; Ctrl-D leaves it, "interrupt" stops it at the next call\n')
            if self._waiting:
                write('the program waits to begin: set breakpoints, then "cont"\n')
        try:
            self._shown_stop(self._connection.ask(attach=True).get('stop'))
            self._met = self._stop
            threading.Thread(target=self._follow, name='pyfuncdbg news', daemon=True).start()
            self._carry_out_all(first, reader)
        except LostError:
            with self._news:
                self._news.wait_for(lambda: self._over, 2.0)
        self._connection.close()
        return 1 if self._over == 'lost' else 0

    def _carry_out_all(self, first: list[Typed], reader: Reader) -> None:
        pending = list(first)
        while not self._over:
            if pending:
                typed = pending.pop(0)
                if typed.place and not self._json:
                    write(f'{PROMPT}{typed.text}\n')
            else:
                try:
                    line = reader.read()
                except KeyboardInterrupt:
                    continue
                except EOFError:
                    break
                pending = [Typed(command) for command in separated(line)] or ([Typed(self._last)] if self._last else [])
                continue
            if typed.text == DETACH:
                break
            try:
                if self._carry_out(typed):
                    return
            except (KeyboardInterrupt, BrokenOffError):
                pending = []
        if not self._over:
            self._leaving = True
            self._connection.ask(detach=True)

    def _carry_out(self, typed: Typed) -> bool:
        """One command; whether it was the last one."""
        name = name_of(typed.text)
        self._last = typed.text if name in REPEATED else ''
        if name == 'cont' and not self._waiting and (self._stop is None or self._is_early(typed)):
            self._await_stop()
            return False
        before = self._stop
        self._leaving = name == 'quit'
        answer = self._answer(self._connection.begin(line=typed.text, width=width(), color=has_color()))
        self._show(answer, typed)
        if answer['error'] is None and answer['command'] == 'quit':
            return True
        if answer.get('left') is not None:
            with self._news:
                self._left.add(answer['left'])
                if self._stop == answer['left']:
                    self._stop = None
            self._await_stop()
        elif answer['command'] == 'interrupt' and self._stop is None and self._scripted(typed):
            self._await_stop()
        elif self._waiting and name == 'cont':
            self._waiting = False
            self._await_stop()
        elif answer.get('stop') is None and self._stop == before:
            self._stop = None                   # left by somebody else, who is no client
        return False

    def _scripted(self, typed: Typed) -> bool:
        """Whether nobody sees when the stop comes: the next command is for it."""
        return bool(typed.place) or isinstance(self._reader, PipeReader)

    def _is_early(self, typed: Typed) -> bool:
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
                write('the program runs; "interrupt" stops it at the next call, Ctrl-D leaves it\n')

    def _show(self, answer: dict[str, Any], typed: Typed) -> None:
        if self._json:
            kept = ('command', 'data', 'error', 'stop')
            write(json.dumps({'line': typed.text, **{key: answer[key] for key in kept if key in answer}}) + '\n')
        elif answer['error'] is not None:
            write(visible(f'*** {typed.place}: {answer["error"]}' if typed.place else f'*** {answer["error"]}') + '\n')
        else:
            write(answer['text'])

    # ------------------------------------------------------------------ the second thread
    def _follow(self) -> None:
        """Show what happens."""
        while not self._over:
            event = self._connection.events.get()
            kind = event['event']
            if self._json and kind != 'hello':
                write(json.dumps(event) + '\n')
            if kind == 'stopped':
                self._shown_stop(event['stop'])
            elif kind == 'resumed':
                self._resumed(event)
            elif kind == 'log' and not self._json:
                write(visible(event['text']) + '\n')
            elif kind in ('ended', 'lost'):
                self._ended(kind)

    def _shown_stop(self, stop: dict[str, Any] | None) -> None:
        """Draw where the program has stopped."""
        if stop is None:
            return
        if not self._json:
            with contextlib.suppress(LostError):
                answer = self._connection.ask(line='stop', width=width(), color=has_color())
                if answer['error'] is None:     # else another client has let it go on already
                    write(answer['text'])
        with self._news:
            if stop['number'] not in self._left:
                self._stop = stop['number']
            self._news.notify_all()

    def _resumed(self, event: dict[str, Any]) -> None:
        with self._news:
            by_others = self._stop == event['stop'] and event['stop'] not in self._left
            self._left.add(event['stop'])
            if self._stop == event['stop']:
                self._stop = None
        if by_others and not self._json and event['by'] != self._number:
            write(f'the program goes on: {event["verb"]}, by another user\n')

    def _ended(self, kind: str) -> None:
        left = self._leaving and kind == 'lost'         # the program hangs up on who has said so
        with self._news:
            self._over = 'left' if left else kind
            self._news.notify_all()
        if not self._json and not left:
            write('the program has ended\n' if kind == 'ended' else 'the connection is lost: the program was killed\n')
        if self._reader is not None:
            self._reader.end()


def write(text: str) -> None:
    """Print, from any thread; whoever read it may be gone."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(text)
        sys.stdout.flush()


def width() -> int:
    """Columns of the terminal."""
    with contextlib.suppress(OSError, ValueError):
        return max(20, os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80)
    wanted = os.environ.get('COLUMNS', '')
    return max(20, int(wanted)) if wanted.isdigit() else 100


def has_color() -> bool:
    """Whether the terminal shows colours and the user wants them."""
    return (sys.__stdout__ is not None and sys.__stdout__.isatty() and not os.environ.get('NO_COLOR')
            and os.environ.get('TERM') not in ('dumb', 'unknown'))


@contextlib.contextmanager
def reader_for(connection: Connection, *, as_json: bool) -> Iterator[Reader]:
    """The best reader that stdin allows; within, prints of other threads come above the line that is typed."""
    if sys.stdin is None or not sys.stdin.isatty():
        yield PipeReader(echo=not as_json)
        return
    from pyfuncdbg.prompt.remote_line import LineEditor
    with LineEditor(connection) as editor:
        yield editor
