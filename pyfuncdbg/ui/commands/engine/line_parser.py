"""Parser of command lines: words with quotes and brackets, the redirection at the end, the raw expression.

The faces hand lines in as typed, or word lists that a shell has already taken apart.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import Command, options_of

LONGEST = 10_000
"""Characters of a command line. What is longer was pasted by mistake, and is refused before anything looks into it."""


def refuse_overlong(line: str) -> None:
    """Let pass what may be a command line.

    Raises:
        CommandError: It is too long for one.
    """
    if len(line) > LONGEST:
        raise CommandError(f'a line of more than {LONGEST} characters is too long; it begins {line[:40]!r}')


@dataclass(frozen=True, slots=True)
class CommandWord:
    """One word: its text without quotes, and its position in the line."""

    text: str
    start: int
    end: int
    quoted: bool


def words(line: str, start: int = 0) -> Iterator[CommandWord]:
    """The words of a line.

    Quotes keep blanks together, and so do square brackets: `pt norm:0[1:3, 0]` has two words.

    Args:
        line: The line.
        start: Position to begin at.

    Yields:
        Each word.

    Raises:
        CommandError: A quote is not closed, once the reader gets there.
    """
    position = start
    while True:
        while position < len(line) and line[position].isspace():
            position += 1
        if position == len(line):
            return
        word = _word(line, position, brackets=True) or _word(line, position, brackets=False)
        assert word is not None
        yield word
        position = word.end


def split_redirect(line: str) -> tuple[str, str]:
    """Split off `>> FILE`.

    Args:
        line: The line.

    Returns:
        The line without it, and the file ('' if none).

    Raises:
        CommandError: No file name follows, or more than one word.
    """
    parts = list(words(line))
    for i, word in enumerate(parts):
        if not word.quoted and word.text.startswith('>>'):
            names = [word.text[2:]] * (len(word.text) > 2) + [later.text for later in parts[i + 1:]]
            if len(names) != 1:
                raise CommandError(f"'>>' takes one file name at the end, not {len(names)}: {line[word.start:]!r}")
            return line[:word.start], names[0]
    return line, ''


def split_expression(line: str, parser: argparse.ArgumentParser, command: Command) -> tuple[list[str], str]:
    """Split a line into words for argparse and the raw expression.

    Options come first, then as many positionals as the parser has. A word that is no option of this command begins the next
    part, so `eval -x + 1` needs no `--`; `--` ends the options.

    Args:
        line: The line without the name of the command.
        parser: Of the command.
        command: The command.

    Returns:
        The words, and the expression.
    """
    options = options_of(parser)
    positionals = sum(1 for action in parser._actions if not action.option_strings)
    option_words: list[str] = []
    position, values, open_options = 0, 0, True
    while True:
        # Only what is ours is read as a word: the quotes of an expression need not match.
        option = re.match(r'\s*(-[^\s=]*)', line[position:]) if open_options and not values else None
        if option is not None and option[1] == '--':
            open_options = False
            position += option.end()
            continue
        is_option = option is not None and option[1] in options
        if not (values or is_option or positionals):
            break
        word = next(words(line, position), None)
        if word is None:
            break
        if option is not None and is_option:
            nargs = options[option[1]].nargs
            values = 0 if '=' in word.text or nargs == 0 else nargs if isinstance(nargs, int) else 1
        elif values:
            values -= 1
        else:
            positionals -= 1
        option_words.append(word.text)
        position = word.end
    return option_words, line[position:].strip()


def join_words(argv: Sequence[str]) -> str:
    """Join words to a line that is read back as the same words.

    Args:
        argv: The words.

    Returns:
        The line.
    """
    return ' '.join(_quote(word) for word in argv)


def join_expression(argv: Sequence[str], parser: argparse.ArgumentParser) -> str:
    """Join words of a command with an expression: options are quoted if needed, the expression is not.

    A shell has removed the quotes already: `show T eval 'x[1, 2] + 1'` comes as one word.

    Args:
        argv: The words.
        parser: Of the command.

    Returns:
        The line.
    """
    options = options_of(parser)
    positionals = sum(1 for action in parser._actions if not action.option_strings)
    end = 0
    while end < len(argv):
        word = argv[end]
        if word == '--':
            end += 1
            break
        action = options.get(word.partition('=')[0]) if word.startswith('-') else None
        if action is not None:
            end += 1 if '=' in word or action.nargs == 0 else 2
        elif positionals:
            end, positionals = end + 1, positionals - 1
        else:
            break
    return ' '.join([*map(_quote, argv[:end]), *argv[end:]])


def _quote(word: str) -> str:
    plain = word and not any(c.isspace() or c in '\'"\\[]' for c in word) and not word.startswith('>>')
    return word if plain else '"' + word.replace('\\', '\\\\').replace('"', '\\"') + '"'


def _word(line: str, start: int, *, brackets: bool) -> CommandWord | None:
    """The word that begins at `start`; None if a bracket is not closed."""
    text: list[str] = []
    position, depth, quote, quoted = start, 0, '', False
    while position < len(line):
        char = line[position]
        if quote:
            if char == '\\' and quote == '"' and line[position + 1:position + 2] in ('"', '\\'):
                position += 1
                text.append(line[position])
            elif char == quote:
                quote = ''
            else:
                text.append(char)
        elif char in '\'"':
            quote, quoted = char, True
        elif char == '\\' and line[position + 1:position + 2] in ('"', "'", '\\', ' '):
            position += 1
            text.append(line[position])
        elif char.isspace() and not depth:
            break
        else:
            depth += (char == '[') - (char == ']') if brackets else 0
            depth = max(depth, 0)
            text.append(char)
        position += 1
    if quote:
        raise CommandError(f'a {quote} is not closed: {line[start:]!r}')
    return None if depth else CommandWord(''.join(text), start, position, quoted)


def split_commands(line: str) -> list[str]:
    """Split a line at ';;', but not within quotes.

    Args:
        line: The line.

    Returns:
        The parts that are not blank.
    """
    return [part.strip() for part in _parts(line) if part.strip()]


def _parts(line: str) -> Iterator[str]:
    start, position, quote = 0, 0, ''
    while position < len(line):
        char = line[position]
        if char == '\\' and quote:
            position += 1
        elif quote:
            quote = '' if char == quote else quote
        elif char in '\'"' and char in line[position + 1:]:
            quote = char
        elif line.startswith(';;', position):
            yield line[start:position]
            start = position + 2
            position += 1
        position += 1
    yield line[start:]
