"""The command line of a list, for another order or with its filter open at the end. Pure.

What a command can sort and filter by is read from its parser: every list of the table has what its command has.
"""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.arguments import OneOf
from pyfuncdbg.ui.commands.engine.command import options_of, parser_of
from pyfuncdbg.ui.commands.engine.line_parser import join_words, split_redirect, words
from pyfuncdbg.ui.commands.table import TABLE

_REVERSING = ('--reverse', '--newest')
_PATTERN = 'GLOB'
_OTHERWISE = frozenset(('--json', '--help', '-h'))


@dataclass(frozen=True, slots=True)
class ListLine:
    """A line of a command that lists.

    Attributes:
        given: Its words without order and pattern, the command's name first.
        keys: What it can sort by; none for a command without an order.
        sort: What it is sorted by; `ordered`: because the line says so.
        reversing: The option that turns the order round, '' if there is none; `reversed`: the line has it.
        narrowing: The option that filters by a pattern, '' if there is none; `pattern`: what the line gives it.
    """

    given: tuple[str, ...]
    keys: tuple[str, ...]
    sort: str
    ordered: bool
    reversing: str
    reversed: bool
    narrowing: str
    pattern: str

    def sorted_by(self, key: str) -> str:
        """The line for this order; for the order that it has, the other way round."""
        back = self.reversing and key == self.sort and not self.reversed
        pattern = [self.narrowing, self.pattern] if self.pattern else []
        return join_words([*self.given, *pattern, '--sort', key, *([self.reversing] if back else [])])

    def sorted_after(self, by: int) -> str:
        """The line for the next key, or (0) for the same the other way round."""
        at = self.keys.index(self.sort) if self.sort in self.keys else -by
        return self.sorted_by(self.keys[(at + by) % len(self.keys)])

    def to_narrow(self) -> str:
        """The line with its pattern at the end, to be typed on; '' if the command takes none."""
        if not self.narrowing:
            return ''
        order = [*(['--sort', self.sort] if self.ordered else []), *([self.reversing] if self.reversed else [])]
        return join_words([*self.given, *order, self.narrowing]) + ' ' + (join_words([self.pattern]) if self.pattern else '')


def list_line(line: str) -> ListLine | None:
    """The list that a command line asks for; None for a line that cannot be read, goes to a file, or asks for JSON or
    help."""
    try:
        rest, file = split_redirect(line)
        list_words = [word.text for word in words(rest)]
    except CommandError:
        return None
    command = TABLE.find(list_words[0]) if list_words else None
    if command is None or file or not _OTHERWISE.isdisjoint(list_words):
        return None
    options = options_of(parser_of(command))
    sort = options.get('--sort')
    reversing = next((name for name in _REVERSING if name in options), '')
    narrowing = next((name for name, action in options.items() if action.metavar == _PATTERN and name.startswith('--')), '')
    other_words, order, pattern, back = [list_words.pop(0)], '', '', False
    while list_words:
        word = list_words.pop(0)
        name, equals, value = word.partition('=')
        action = options.get(name)
        if action is None or action.nargs == 0:
            back = back or (action is not None and action is options.get(reversing))
            other_words += [] if action is not None and action is options.get(reversing) else [word]
            continue
        value = value if equals else list_words.pop(0) if list_words else ''
        if action is sort:
            order = value
        elif action is options.get(narrowing):
            pattern = value
        else:
            other_words += [word] if equals else [word, value]
    keys = sort.type.names if sort is not None and isinstance(sort.type, OneOf) else ()
    default = str(sort.default) if sort is not None else ''
    return ListLine(tuple(other_words), keys, order or default, bool(order), reversing, back, narrowing, pattern)


def key_at(header: str, index: int, keys: tuple[str, ...]) -> str:
    """The sort key of a place in the line of headers: the word there, else the first of its column.

    '' if it has none. Columns stand two blanks apart, as in 'time ms v  name  min |hist| max'.
    """
    start = header.rfind('  ', 0, index + 1) + 2 if '  ' in header[:index + 1] else 0
    end = header.find('  ', index)
    column = header[start:end if end >= 0 else len(header)]
    at = index - start
    here = column[:at + 1].rpartition(' ')[2] + column[at + 1:].partition(' ')[0]
    return next((word for word in (here, *column.split()[:1]) if word in keys), '')
