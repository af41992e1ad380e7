"""Shell completion of `pyfuncdbg`: subcommands, options, traces, and names in a trace.

A shell starts `pyfuncdbg completion --line TEXT SHELL` at each Tab, as the scripts here tell it; where there is nothing to
offer, it completes names of files.
"""
from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.reports.trace_list import size_of
from pyfuncdbg.observers.record.log.trace_folder import MANIFEST
from pyfuncdbg.observers.record.log.trace_folders import newest_in
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.command_line import SUBCOMMANDS, actions_of, options_with_value, split_arguments
from pyfuncdbg.ui.commands.completion import completions, trace_names
from pyfuncdbg.ui.commands.engine.command import Context, options_of, parser_of
from pyfuncdbg.ui.commands.help import find_command
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.commands.topics import TOPICS

_LARGEST = 64 << 20
"""Bytes of the largest trace that is read: the user waits at a key."""
_BREAKS = ':='
"""Characters at which bash begins a new word, that names of ours have."""

SCRIPTS = {
    'bash': r'''_pyfuncdbg() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        [ -n "$word" ] && COMPREPLY+=("$word")
    done < <(pyfuncdbg completion --line "${COMP_LINE:0:COMP_POINT}" bash 2>/dev/null)
}
complete -o default -F _pyfuncdbg pyfuncdbg''',
    'zsh': r'''#compdef pyfuncdbg
_pyfuncdbg() {
    local -a found
    found=("${(@f)$(pyfuncdbg completion --line "${words[1,CURRENT-1]} $PREFIX" zsh 2>/dev/null)}")
    found=(${found:#})
    if (( $#found )); then compadd -a found; else _files; fi
}
compdef _pyfuncdbg pyfuncdbg''',
    'fish': r"""function __pyfuncdbg
    set -l found (pyfuncdbg completion --line (commandline -cp | string collect) fish 2>/dev/null | string match -v '')
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c pyfuncdbg -f -a '(__pyfuncdbg)'"""}
"""By shell: what it has to read."""


def words(line: str, shell: str) -> list[str]:
    """Replacements for the last word.

    Args:
        line: What is typed, up to the cursor, quotes and all.
        shell: Whose; bash is given words as they are to be typed, others as they are meant.
    """
    typed, quoted = _split(line)
    before, word = typed[1:-1], typed[-1] if len(typed) > 1 else ''
    candidates = sorted({name for name in _candidates(before, word) if name.startswith(word) and name.isprintable()})
    if shell != 'bash' or quoted:
        return candidates
    done = max((word.rfind(char) for char in _BREAKS), default=-1) + 1
    return [re.sub(r'([^\w@%+=:,./-])', r'\\\1', name[done:], flags=re.ASCII) for name in candidates]


def _split(line: str) -> tuple[list[str], bool]:
    """The words of a line that is not finished, and whether a quote is open at its end."""
    for end in ('', '"', "'"):
        with contextlib.suppress(ValueError):
            parts = shlex.split(f'{line}.{end}')       # the last word may be empty
            return [*parts[:-1], parts[-1][:-1]], bool(end)
    return [], False


def _candidates(before: Sequence[str], word: str) -> Iterable[str]:
    if not before:
        return ['--help', '--version'] if word.startswith('-') else SUBCOMMANDS
    subcommand = SUBCOMMANDS.get(before[0])
    if subcommand is None:
        return ()
    if before[0] == 'show':
        return _of_trace(before[1:], word)
    if before[0] == 'help':
        return {*TOPICS, *SUBCOMMANDS, *_commands()} if not before[1:] else ()
    parser, rest = subcommand.parser(), list(before[1:])
    if subcommand.takes_program and split_arguments(rest, parser)[1]:
        return ()                               # its arguments are the program's
    if rest and rest[-1] in options_with_value(parser):
        option = actions_of(parser)[rest[-1]]
        return trace_names() if option.metavar == 'TRACE' else map(str, option.choices or ())
    if word.startswith('-'):
        return actions_of(parser)
    if before[0] in ('open', 'diff'):
        return trace_names()
    return [str(choice) for action in parser._actions if not action.option_strings for choice in action.choices or ()]


def _of_trace(before: Sequence[str], word: str) -> Iterable[str]:
    """Words that can follow `pyfuncdbg show`."""
    path, rest = newest_in(Path()), list(before)
    if before and ('/' in before[0] or Path(before[0], MANIFEST).is_file()):
        path, rest = Path(before[0]), list(before[1:])
    elif not before and '/' in word:
        return ()
    offered = set(trace_names()) if not before else set()
    if not rest:
        return offered | _commands(of_trace=True)
    if word.startswith('-'):
        with contextlib.suppress(PyfuncdbgError):
            return options_of(parser_of(find_command(rest[0], TABLE)))
    if path is None or size_of(path) > _LARGEST:
        return ()
    text = ' '.join([*rest, word])
    with contextlib.suppress(PyfuncdbgError), Trace.open(path) as trace:
        found = completions(text, Context(trace))
        kept = text[len(text) - len(word):found.start]
        return [kept + name for name in found.words]
    return ()


def _commands(*, of_trace: bool = False) -> set[str]:
    """The commands that are words; `of_trace` leaves out those of no use for a finished trace."""
    return {name for command in TABLE if not (of_trace and (command.needs_stop or command.needs_program))
            for name in (command.name, *command.aliases) if name[0].isalpha()}
