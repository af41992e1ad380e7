"""`tape`: the gradients of a run as a tree."""
from __future__ import annotations

import argparse

from pyfuncdbg.commands.arguments import positive
from pyfuncdbg.commands.command import Command, Context
from pyfuncdbg.debug.tape import Tape, tape_of
from pyfuncdbg.views.tape import tape_view


def _tape(context: Context, args: argparse.Namespace) -> Tape:
    return tape_of(context.trace, args.run)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--run', metavar='N', type=positive, help='of run N (default: the newest with gradients)')


TAPE = Command('tape', 'the gradients of a run as a tree, with their magnitudes', 'judge', _tape, tape_view, _arguments)
