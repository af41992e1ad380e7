"""The options `--break SPEC --if PRED`, any number of them, for the command line and for notebook cells.

argparse calls them on the thread that parses; they load nothing. `break_commands.breakpoint_of` reads what was given.
"""
from __future__ import annotations

import argparse
from typing import Any


def add_breaks(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add the two; what is given becomes `breaks`, pairs of texts, the second of them None without `--if`."""
    group.add_argument('--break', metavar='SPEC', dest='breaks', action=_Break, default=[],
                       help='stop before a node, an op type or a call (norm[3]), in a function where it begins '
                            '(function:NAME if a node has its name too), at each execution of a line (model.py:41);'
                            " may be given several times, also as 'SPEC if PRED', with the options of break behind it: "
                            "'norm --every 3'")
    group.add_argument('--if', metavar='PRED', dest='breaks', action=_If,
                       help='condition of the --break before it')
    group.add_argument('--catch', action='store_true', help='stop where a wrapped function raises')


class _Break(argparse.Action):
    """One more breakpoint."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), (values, None)])


class _If(argparse.Action):
    """The condition of the breakpoint before."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        breaks = getattr(namespace, self.dest)
        if not breaks or breaks[-1][1] is not None:
            parser.error(f'--if {values}: it needs a --break before it, and there is '
                         f'{"another --if" if breaks else "none"}')
        setattr(namespace, self.dest, [*breaks[:-1], (breaks[-1][0], values)])
