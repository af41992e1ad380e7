"""The options of a recording on a command line: size of the trace, amount kept of calls.

Added to the parsers of `run` and of the magics; read on the main thread before the program or the cell starts.
"""
from __future__ import annotations

import argparse
from typing import Any

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.commands.byte_size import byte_size


def add_recording_options(parser: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add `--record`, `--ops`, `--budget` and what says more about the trace."""
    parser.add_argument('--record', metavar='PATH', help='folder for the trace (default: NAME.pfd in this folder)')
    parser.add_argument('--ops', action='store_true', help='record every node of the graph too')
    parser.add_argument('--budget', metavar='SIZE', help='largest size of the trace, such as 256MB')
    parser.add_argument('--segment', metavar='SIZE',
                        help='size from which on the log of a process goes on in another file (default: 1GB)')
    parser.add_argument('--keep-newest', action='store_true',
                        help='where the budget is used up, remove the oldest calls instead of leaving out new ones')
    parser.add_argument('--level', metavar='LEVELS', help='what is kept of tensors: none, stats, full; or rules by site or '
                        "element type, and the first that fits counts: 'loss=full,float64=none,*=stats'")
    parser.add_argument('--every', metavar='N', help='record each Nth call of a site; the others are counted')


def recording_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of a recorder that were given, beside its path and its budget.

    Raises:
        UsageError: A number or a size is none.
    """
    given: dict[str, Any] = {'ops': options.ops}
    if options.keep_newest:
        given['keep_newest'] = True
    if options.level is not None:
        given['level'] = options.level
    if options.every is not None:
        if not options.every.isdecimal() or int(options.every) < 1:
            raise UsageError(f'--every {options.every!r} is not an integer from 1 on')
        given['every'] = int(options.every)
    if options.segment is not None:
        try:
            given['segment'] = byte_size(options.segment)
        except UsageError as error:
            raise UsageError(f'--segment: {error}') from None
    return given
