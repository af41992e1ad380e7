"""The window and filter that a command line `timeline ...` asks the timeline pane for. Pure."""
from __future__ import annotations

from dataclasses import dataclass

from pyfuncdbg.errors import CommandError
from pyfuncdbg.ui.commands.engine.command import parser_of
from pyfuncdbg.ui.commands.engine.line_parser import join_words, words
from pyfuncdbg.ui.commands.timeline import TIMELINE


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """A window of time, in seconds since the trace began, and a glob of sites. None: as far as there are calls; all
    sites."""

    start: float | None = None
    end: float | None = None
    site: str | None = None

    def to_narrow(self) -> str:
        """The command line for it with the glob at the end, to be typed on."""
        times = [word for option, at in (('--from', self.start), ('--to', self.end)) if at is not None
                 for word in (option, f'{at * 1e3:.6g}')]
        return join_words(['timeline', *times, '--site']) + ' ' + (join_words([self.site]) if self.site is not None else '')


def time_query(line: str) -> TimeQuery | None:
    """The query of a command line; None if the pane cannot show that, or it goes to a file."""
    try:
        args = parser_of(TIMELINE).parse_args([word.text for word in words(line)][1:])
    except CommandError:
        return None
    plain = parser_of(TIMELINE).parse_args([])
    if any(value != getattr(plain, name) for name, value in vars(args).items() if name not in ('start', 'end', 'site')):
        return None
    return TimeQuery(args.start, args.end, args.site)
