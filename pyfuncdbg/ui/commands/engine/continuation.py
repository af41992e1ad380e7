"""Commands of several lines: a Python block, the list of `commands`, the answer to a question.

A front end that has read a line asks `prompt_for_more`, reads on with that prompt as long as there is one, and hands each
further line to `add_line`. Pure; nothing is carried out.
"""
from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Sequence

from pyfuncdbg.observers.debug.conditions.session_variables import translate
from pyfuncdbg.ui.commands.engine.line_parser import LONGEST, split_commands
from pyfuncdbg.ui.commands.execute import is_for_python, name_of

MORE = '...   '
"""Prompt within a block of Python, as pdb's."""
LISTED = '(com) '
"""Prompt within the list of `commands`, as pdb's."""
QUESTION = 'Clear all breakpoints? [y/n] '
_INCOMPLETE = 0x400 | 0x4000
"""PyCF_ONLY_AST and PyCF_ALLOW_INCOMPLETE_INPUT, which `codeop` uses too; that one resets the program's warning filters."""
_NO_DEDENT = 0x200
"""PyCF_DONT_IMPLY_DEDENT: a block goes on to an empty line."""
_FURTHER = re.compile(r'(?:elif|else|except|finally|case)\b')
_BLOCK = re.compile(r'commands(?:\s+\d+)?\s*')


def prompt_for_more(text: str, *, at_stop: bool) -> str:
    """The prompt for the rest of a command.

    Args:
        text: What was typed or pasted so far.
        at_stop: Whether lines that are no commands are Python.

    Returns:
        The prompt; '' if the command is complete.
    """
    if len(text) > LONGEST:                     # refused where commands are carried out
        return ''
    lines = text.split('\n')
    if at_stop and is_for_python(text):
        return MORE if _python_goes_on(text.lstrip().removeprefix('!'), lines) else ''
    name = name_of(lines[0])
    if name == 'commands' and _BLOCK.fullmatch(lines[0]):
        return LISTED if lines[-1].strip() != 'end' else ''
    return QUESTION if name == 'clear' and text.split() == text.split()[:1] else ''


def add_line(text: str, line: str) -> str:
    """Add a line to an incomplete command.

    Args:
        text: The command so far.
        line: The next line; for `clear`, the answer to its question.

    Returns:
        The longer command; '' if the user has refused it.
    """
    if name_of(text) == 'clear':
        return f'{text.strip()} all' if line.strip().lower() in ('y', 'yes') else ''
    return f'{text}\n{line}'


def end_command(text: str) -> str:
    """End an incomplete command at the end of input.

    Args:
        text: The command so far.

    Returns:
        A complete command; '' for one that needs a confirmation.
    """
    return '' if name_of(text) == 'clear' else f'{text}\nend' if _BLOCK.fullmatch(text.split('\n')[0]) else f'{text}\n'


def _python_goes_on(text: str, lines: Sequence[str]) -> bool:
    if len(lines) == 1 or lines[-1].strip():
        typed = len(lines) > 1
        return _unfinished(text, single=typed)
    return _in_string(text)                     # an empty line ends any other block


def _unfinished(text: str, *, single: bool) -> bool:
    """Whether more lines could make Python of it. `single`: they are typed one by one; an empty one ends a block."""
    if not single:
        return _incomplete(f'{text}\n', 'exec', 0)
    return _incomplete(text, 'single', _NO_DEDENT) or _incomplete(f'{text}\n', 'single', _NO_DEDENT)


def _incomplete(text: str, mode: str, flags: int) -> bool:
    try:
        compile(translate(text), '<pfd>', mode, _INCOMPLETE | flags, dont_inherit=True)
    except SyntaxError as error:
        return 'incomplete input' in str(error) or 'unexpected EOF' in str(error)
    except (ValueError, MemoryError, RecursionError):
        return False
    return False


def _in_string(text: str) -> bool:
    """Whether a string of several lines is open at the end."""
    try:
        for _ in tokenize.generate_tokens(io.StringIO(translate(text)).readline):
            pass
    except tokenize.TokenError as error:
        return 'string' in str(error.args[0])
    except SyntaxError:
        return False
    return False


def blocks(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Split the lines of a command file into commands.

    A block of Python ends where a line is not indented any more: it needs no empty line, and may have some.

    Args:
        lines: The lines of the file.

    Returns:
        Number of the first line and text of each command.
    """
    ends: list[tuple[int, str]] = []
    position = 0
    while position < len(lines):
        first = position
        text = lines[position]
        position += 1
        if not text.strip() or text.lstrip().startswith('#'):
            continue
        while position < len(lines) and (prompt := prompt_for_more(text, at_stop=True)):
            if prompt == MORE and not _belongs(text, lines[position]):
                break
            if prompt == MORE and not lines[position].strip() and not _in_string(text):
                position += 1
                continue
            text = add_line(text, lines[position])
            position += 1
        if text:
            ends.append((first + 1, text))
    return ends


def _belongs(text: str, line: str) -> bool:
    """Whether a line goes on with an unfinished block of Python."""
    return (not line.strip() or line[0].isspace() or bool(_FURTHER.match(line)) or '\n' not in text
            or _incomplete(f'{text}\n', 'exec', 0))


def commands_of(text: str) -> list[str]:
    """Split a line at ';;', but not within quotes, aliases and blocks.

    The list of `commands` takes the whole rest of the line.

    Args:
        text: The line.

    Returns:
        The commands.
    """
    if '\n' in text or name_of(text) == 'alias':
        return [text.rstrip(' \t')]
    parts = split_commands(text)
    first = next((index for index, part in enumerate(parts) if name_of(part) == 'commands'), len(parts))
    return [*parts[:first], *(['\n'.join(parts[first:])] if first < len(parts) else [])]


Read = Callable[[str, str], str | None]
"""`read(prompt, text so far)`: the next line; None where it is not wanted any more."""


def read_rest(text: str, read: Read, *, at_stop: bool) -> str | None:
    """Read lines until a command is complete.

    Args:
        text: Its first line.
        read: Reads a line for a prompt and the text so far; None cancels the command.
        at_stop: Whether lines that are no commands are Python.

    Returns:
        The command; '' if it was refused, None if it was cancelled.
    """
    while prompt := prompt_for_more(text, at_stop=at_stop):
        try:
            line = read(prompt, text)
        except EOFError:
            return end_command(text)
        if line is None:
            return None
        text = add_line(text, line.rstrip('\r\n'))
        if not text:
            return ''
    return text
