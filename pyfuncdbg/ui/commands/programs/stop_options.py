"""The options `--break SPEC --if PRED`, any number of them, for the command line and for notebook cells. The words of the
`break` command, 'SPEC if PRED', do as well.

argparse calls them on the thread that parses; they load nothing.
"""
from __future__ import annotations

import argparse
import re
from typing import Any

_IF = re.compile(r'\s(if)(?:\s+|(?=\()|$)')


def add_breaks(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add the two; what is given becomes `breaks`, pairs of SPEC and condition or None."""
    group.add_argument('--break', metavar='SPEC', dest='breaks', action=_Break, default=[],
                       help='stop before a node, an op type or a call (norm[3]), in a function where it begins '
                            '(function:NAME if a node has its name too), at each execution of a line (model.py:41);'
                            " may be given several times, also as 'SPEC if PRED', with the options of break behind it: "
                            "'norm --every 3'")
    group.add_argument('--if', metavar='PRED', dest='breaks', action=_If,
                       help='only if this is true; belongs to the --break before it')
    group.add_argument('--catch', action='store_true', help='stop where a wrapped function raises')


class _Break(argparse.Action):
    """One more breakpoint, with the condition that stands behind an 'if'."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        place, found, condition = _IF.split(values, 1) if _IF.search(values) else (values, '', None)
        if found and not condition:
            parser.error(f"--break {values}: a condition is missing behind 'if'")
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), (place.strip(), condition)])


class _If(argparse.Action):
    """The condition of the breakpoint before."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
                 option_string: str | None = None) -> None:
        breaks = getattr(namespace, self.dest)
        if not breaks or breaks[-1][1] is not None:
            parser.error(f'--if {values}: it belongs to the --break before it, and there is '
                         f'{"another --if" if breaks else "none"}')
        setattr(namespace, self.dest, [*breaks[:-1], (breaks[-1][0], values)])
