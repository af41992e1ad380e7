"""Execution of a command line to its answer, for the prompt, the inspector, the magics and `pyfuncdbg show`.

Runs on the caller's thread. What the user did wrong is a CommandError; nothing exits.
"""
from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from pyfuncdbg.errors import CommandError, TypedCommand
from pyfuncdbg.hooks.capture import divert
from pyfuncdbg.observers.debug.inspecting.evaluate import MissingExpressionError
from pyfuncdbg.observers.debug.inspecting.stack import selected_frame
from pyfuncdbg.ui.commands.alias import aliases, expand_alias
from pyfuncdbg.ui.commands.engine.answer import MARK, Answer
from pyfuncdbg.ui.commands.engine.command import Command, CommandTable, Context, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import (
    join_expression,
    join_words,
    refuse_overlong,
    split_commands,
    split_expression,
    split_redirect,
    words,
)
from pyfuncdbg.ui.commands.help import SHOWS_HELP, describe_command, find_command, instead_of
from pyfuncdbg.ui.commands.remote_answer import answer_of
from pyfuncdbg.ui.commands.table import TABLE

_ASSIGNMENT = re.compile(r'\s*([-+*/@&|^%]|//|\*\*|<<|>>)?=')
"""Behind the name of a variable."""


def execute(line: str | Sequence[str], context: Context, table: CommandTable = TABLE) -> Answer:
    """Carry out one command.

    Args:
        line: As typed, with `>> FILE` at its end perhaps; or words that a shell has taken apart.
        context: What the command acts on.
        table: The commands there are.

    At a stop, a line whose first word is no command is Python, and so is one that begins with '!'. Of what an alias stands
    for the first command is carried out; the answer has the others. At a stop of another process it is done there.

    Raises:
        CommandError: The line cannot be read, names nothing that exists, or needs a stop.
        TraceError: The trace cannot be read, or does not hold what was asked for.
    """
    context = replace(context, table=table)
    if isinstance(line, str):
        refuse_overlong(line)
        if line.split(None, 1)[:1] and line.split(None, 1)[0] in aliases:
            return _of_alias(line, context, table)
    if context.stop is not None and context.stop.remote is not None and not is_of_prompt(line, table):
        return answer_of(context.stop.remote, line if isinstance(line, str) else join_words(line), context)
    if isinstance(line, str):
        line = as_command(line, at_stop=context.stop is not None)
    text, redirect = line if isinstance(line, str) else _join(line, context, table), ''
    if isinstance(line, str) and context.stop is not None and is_for_python(line, table):
        return _in_python(line, context, table)
    first = next(words(text), None)
    if first is None:
        raise CommandError('no command given: ', TypedCommand('help'), ' lists the commands.')
    if context.stop is None and (first.text.startswith(('$', '!')) or (first.text.endswith('?') and first.text != '?')):
        raise CommandError(f'{first.text!r} needs a stopped thread, and no thread is stopped')
    if isinstance(line, str) and not _takes_expression(first.text, table):
        text, redirect = split_redirect(text)
    command = find_command(first.text, table, context)
    answer = _carry_out(command, text[first.end:], context, first.text)
    if redirect:
        _write(redirect, answer, text.strip(), context.width)
        return Answer(answer.command, answer.result, answer.as_json, redirect)
    return answer


def _of_alias(line: str, context: Context, table: CommandTable) -> Answer:
    first, *rest = split_commands(expand_alias(line)) or ['']
    return replace(execute(first, context, table), later=tuple(rest))


def _join(argv: Sequence[str], context: Context, table: CommandTable) -> str:
    if argv and _takes_expression(argv[0], table):
        parser = parser_of(find_command(argv[0], table), context.width)
        return f'{join_words(argv[:1])} {join_expression(argv[1:], parser)}'
    return join_words(argv)


def name_of(line: str, table: CommandTable = TABLE) -> str:
    """The name of the command in a line, none of its other names; '' if it is none."""
    try:
        first = next(words(expand_alias(line)), None)
        return find_command(first.text, table).name if first is not None else ''
    except CommandError:
        return ''


def is_of_prompt(line: str | Sequence[str], table: CommandTable = TABLE) -> bool:
    """Whether a line is carried out in the process that has the prompt, whichever process is stopped."""
    command = table.find(name_of(line if isinstance(line, str) else join_words(line[:1]), table))
    return command is not None and command.of_prompt


def repeats(line: str) -> bool:
    """Whether an empty line typed after this one does the same again."""
    command = TABLE.find(name_of(line))
    return command is not None and command.repeats


def is_for_python(line: str, table: CommandTable = TABLE) -> bool:
    """Whether a line typed at a stop is Python: its first word is no command. An empty one is not."""
    first = line.split(None, 1)[:1]
    return bool(first) and (line.lstrip().startswith('!') or not (
        first[0] in table or first[0] in aliases or as_command(line, at_stop=True) is not line))


def _in_python(line: str, context: Context, table: CommandTable) -> Answer:
    """An expression or a statement; where it is no Python, it may be a mistyped command."""
    text, python = line.strip(), find_command('!', table)
    if text.startswith('!'):
        return _carry_out(python, text[1:], context)
    try:
        return _carry_out(python, f' -- {text}', context)
    except CommandError as error:
        names = [*aliases, *table.names]
        first = '/regex' if text.startswith('/') else text.split(None, 1)[0]
        known = first.isidentifier() or first == '/regex'
        if known and str(error).startswith(('SyntaxError', f"NameError: name '{first}'")):
            instead = instead_of(first, names)
            raise CommandError(f"unknown command {first!r}.{instead} As Python: {error}") from None
        raise


def _with_hint(error: CommandError, typed: str, rest: str, context: Context) -> CommandError:
    """`n = 5` at a stop: which of the two is meant, the command or the variable, is the user's to say."""
    if context.stop is None or not typed.isidentifier():
        return error
    frame = selected_frame(context.stop)
    is_variable = frame is not None and (typed in frame.f_locals or typed in frame.f_globals)
    assigned = _ASSIGNMENT.match(rest)
    if frame is None and assigned:
        return CommandError(f'{typed!r} is a command here, and a node has no variables: "${typed}{rest}" sets one of this '
                            f'session. ({error})')
    if not (is_variable or assigned):
        return error
    return CommandError(f'{typed!r} is a command here: for the variable type "!{typed}{rest}" or "p {typed}". ({error})')


def _takes_expression(name: str, table: CommandTable) -> bool:
    command = table.find(name)
    return command is not None and bool(command.expression)


def _parse(parser: argparse.ArgumentParser, option_words: list[str]) -> argparse.Namespace:
    try:
        return parser.parse_args(option_words)
    except CommandError:
        # `export npz -o x.npz 17`. It writes the usage first, for which `re` is imported by name: maybe the program's.
        return parser.parse_intermixed_args(option_words)


def _carry_out(command: Command, rest: str, context: Context, typed: str = '') -> Answer:
    parser = parser_of(command, context.width)
    if command.expression:
        option_words, expression = split_expression(rest, parser, command)
    else:
        option_words, expression = [word.text for word in words(rest)], ''
    options = option_words[:option_words.index('--')] if '--' in option_words else option_words
    if '-h' in options or '--help' in options:
        page = describe_command(command, context.width)
        return Answer(SHOWS_HELP, page, '--json' in options)
    try:
        args = _parse(parser, option_words)
    except CommandError as error:
        raise _with_hint(error, typed, rest, context) from None
    if command.expression:
        setattr(args, command.expression, expression)
    if command.needs_stop and context.stop is None:
        raise CommandError(f'{command.name!r} needs a stopped thread, and no thread is stopped')
    if command.needs_program and context.debugger is None:
        raise CommandError(f'{command.name!r} needs a running program, and this is a finished trace')
    try:
        with divert(context.receive) if context.debugger is not None else nullcontext():
            return Answer(command, command.run(context, args), args.json)
    except MissingExpressionError:
        raise CommandError(f'an expression is missing: type one, such as "{command.examples[0]}"') from None
    except CommandError as error:
        raise (_with_hint(error, typed, rest, context) if _ASSIGNMENT.match(rest) else error) from None


def _write(name: str, answer: Answer, line: str, width: int) -> None:
    """At the end of a file; a picture is a file of its own, in which another one of ours is replaced."""
    try:
        if name.lower().endswith('.svg') and not answer.as_json:
            _refuse_foreign(name)
            Path(name).write_text(answer.picture(f'(pfd) {line}', width), encoding='utf-8')
            return
        with open(name, 'a', encoding='utf-8') as file:
            file.write(answer.text(width))
    except OSError as error:
        raise CommandError(f'cannot write {name!r}: {error.strerror or error}') from None


def _refuse_foreign(name: str) -> None:
    path = Path(name)
    if not path.exists():
        return
    if not path.is_file():
        raise CommandError(f'cannot write {name!r}: it is not a regular file')
    with path.open('rb') as file:
        if file.read(len(MARK)) not in (MARK.encode(), b''):
            raise CommandError(f'{name!r} exists already, and pyfuncdbg did not write it: choose another name')


_QUESTION = re.compile(r'\s*(?:(?P<front>\?\??)\s*(?P<after>[^?\s]+)|(?P<before>[^?\s]+)\s*(?P<back>\?\??))\s*')
_ELEMENTS = re.compile(r'\s*@\s*(\[[^\[\]]*\]|[-+\d:.][-+\d:.,\s]*)\s*')


def as_command(line: str, *, at_stop: bool) -> str:
    """'pinfo x' for 'x?', 'pinfo2 x' for 'x??' at a stop; 'pt @[1, 0]' for tfdbg's '@1,0'; any other line as it is."""
    if (elements := _ELEMENTS.fullmatch(line)) is not None:
        return f'pt @[{elements[1].strip().removeprefix("[").removesuffix("]")}]'
    if not at_stop:
        return line
    match = _QUESTION.fullmatch(line) if '?' in line else None
    if match is None:
        return line
    name = 'pinfo2' if len(match['front'] or match['back']) == 2 else 'pinfo'
    return f'{name} {match["after"] or match["before"]}'
