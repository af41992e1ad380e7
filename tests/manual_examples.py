"""Examples on pages of the manual, carried out: programs, shell commands, prompts and IPython cells, with what they print.

A page is worked through from top to bottom in one folder:

- `python`, `toml` and `json` blocks begin with a comment that names the file they are; `~` is a folder of their own;
- `console` blocks are a terminal: `$ ` a command of the shell, `(pfd) ` a line typed at the prompt it has led to;
- `ipython` blocks are an IPython terminal: `In [N]: ` a cell, `   ...: ` its further lines.

The lines between are what comes, compared word by word. `...` stands for anything in a line, on a line of its own for any
lines; times, numbers of threads and processes, and how many blanks and empty lines there are, do not count.
"""
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pexpect
from listening import CONNECT

import pyfuncdbg

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]
MANUAL = files('pyfuncdbg.ui.manual')
COLUMNS = 76
"""Of the terminals: what they show fits on a page at 80."""
PROMPT = '(pfd) '
PATIENCE = 120
_CELL = r'In \[\d+\]: | {3}\.\.\.: ?|\(pfd\) '
_FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r'(?:#|//) ([\w./~-]+\.\w+)\n')
_PIPED = re.compile(r'\| (?:pyfuncdbg|python) | < ')
_VARYING = ((re.compile(r'\b\d[\d,.]* (?:ns|us|µs|ms|s|min)\b'), 'TIME'),
            (re.compile(r'\b(thread|process|pid) \d+'), r'\1 N'),
            (re.compile(r'[\u2500-]{4,}'), '----'), (re.compile(r'[ \t]+'), ' '))
_LANGUAGES = ('python', 'console', 'ipython', 'toml', 'json', 'text')


@dataclass(frozen=True, slots=True)
class Block:
    """An example: its language, and its text."""

    language: str
    text: str

    @property
    def file(self) -> str:
        """The file that it is, '' if it is none."""
        match = _NAMED.match(self.text)
        return match[1] if match is not None and self.language in ('python', 'toml', 'json') else ''


def blocks(page: str) -> list[Block]:
    """The examples of a page, from top to bottom."""
    return [Block(language, text) for language, text in _FENCE.findall(page)]


def steps(text: str, begin: str) -> Iterator[tuple[str, str]]:
    """What is typed behind `begin`, and the lines that follow it."""
    parts = re.split(f'^{re.escape(begin)}', text, flags=re.MULTILINE)
    assert parts[0] == '', f'a block begins with {begin!r}, not with {parts[0]!r}'
    for part in parts[1:]:
        typed, _, rest = part.partition('\n')
        yield typed, rest


def mismatch(expected: str, came: str) -> str:
    """'' if what came is what the page shows, else both."""
    wanted, found = (_settled(text) for text in (expected, came))
    pattern = ''.join(r'(?:.*\n)*?' if line == '...' else _line_pattern(line) + r'\n' for line in wanted.splitlines())
    return '' if re.fullmatch(pattern, found) else f'the page shows\n{expected}\nand there came\n{came}'


def _line_pattern(line: str) -> str:
    return r'.*?'.join(map(re.escape, line.split('...')))


def _settled(text: str) -> str:
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return ''.join(line.strip() + '\n' for line in text.splitlines() if line.strip())


class Reader:
    """Somebody who works through a page.

    Args:
        folder: Where the programs are and run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / 'work'
        programs = folder / 'bin'
        for new in (self.folder, programs):
            new.mkdir()
        connect = f'[ "$1" = connect ] && exec {shlex.join(CONNECT[:-1])} "$@"\n'
        for name, begin, words in (('pyfuncdbg', connect, '-m pyfuncdbg '), ('python', '', '')):
            (programs / name).write_text(f'#!/bin/sh\n{begin}exec "{sys.executable}" {words}"$@"\n')
            (programs / name).chmod(0o755)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith('PYFUNCDBG_')} | {
            'PATH': f'{programs}:{os.environ["PATH"]}', 'PYTHONPATH': str(HERE), 'TERM': 'dumb', 'COLUMNS': str(COLUMNS),
            'XDG_STATE_HOME': str(folder / 'state'), 'XDG_CONFIG_HOME': str(folder / '.config'), 'HOME': str(folder),
            'XDG_RUNTIME_DIR': str(folder), 'IPYTHONDIR': str(folder / 'ipython'), 'TF_CPP_MIN_LOG_LEVEL': '3'}

    def carry_out(self, block: Block) -> None:
        """Do what a block says.

        Raises:
            AssertionError: Something else came than it shows.
        """
        assert block.language in _LANGUAGES, f'nothing tries a block of {block.language!r}'
        if block.file:
            path = self.folder / block.file.replace('~', '..')
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding='utf-8')
            return
        assert block.language in ('console', 'ipython'), f'the first line names no file: {block.text}'
        if block.language == 'ipython':
            wrong = mismatch(block.text, self._ipython(block.text))
            assert not wrong, wrong
            return
        for command, shown in steps(block.text, '$ '):
            if 'pyfuncdbg connect' in command:
                self._wait_for_listener()
            asks = re.search(f'^{re.escape(PROMPT)}', shown, re.MULTILINE) and not _PIPED.search(command)
            came = self._prompts(command, shown) if asks else self._command(command)
            wrong = mismatch(shown, came)
            assert not wrong, f'$ {command}\n{wrong}'

    def _wait_for_listener(self) -> None:
        """A program that an earlier command left running may still be starting."""
        end, before = time.monotonic() + PATIENCE, None
        while not (now := {path for path in self.folder.parent.rglob('*') if path.is_socket()}) or now != before:
            assert time.monotonic() < end, 'no program listens'
            before = now
            time.sleep(0.2)                     # a socket gets its name when it listens

    def _command(self, command: str) -> str:
        done = subprocess.run(['bash', '-c', command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE, check=False)
        return done.stdout

    def _prompts(self, command: str, shown: str) -> str:
        """A command that asks, at a terminal."""
        lines = [line.removeprefix(PROMPT) for line in shown.splitlines() if line.startswith(PROMPT)]
        return self._typed(['bash', '-c', command], lines, re.escape(PROMPT))

    def _ipython(self, shown: str) -> str:
        """Cells, typed at IPython's own prompt."""
        lines = [line[found.end():] for line in shown.splitlines() if (found := re.match(_CELL, line))]
        program = ['python', '-m', 'IPython', '--simple-prompt', '--no-banner', '--colors=NoColor', '--no-confirm-exit']
        came = self._typed(program, [*lines, 'exit'], _CELL)
        return re.sub(r'In \[\d+\]: exit\s*$', '', came)

    def _typed(self, program: list[str], lines: list[str], prompt: str) -> str:
        """Types each line when a prompt has come; all that is on the screen in the end."""
        child = pexpect.spawn(program[0], program[1:], cwd=str(self.folder), env=self.environment, encoding='utf-8',
                              codec_errors='replace', dimensions=(50, COLUMNS), timeout=PATIENCE)
        child.delaybeforesend = None
        came = ''
        try:
            for line in lines:
                child.expect(prompt)
                came += child.before + child.after
                child.sendline(line)
            child.expect(pexpect.EOF)
        except (pexpect.TIMEOUT, pexpect.EOF):
            raise AssertionError(f'no prompt came, or the program did not end; there was\n{came}{child.before}') from None
        finally:
            child.close(force=True)
        return (came + child.before).replace('\r', '')
