"""The options that say what counts as a difference, of `diff` and of `run --against`.

argparse calls them on the thread that parses; they load nothing. `ui.commands.diff.rules_of` reads what was given.
"""
from __future__ import annotations

import argparse


def add_rules(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add them; what is given becomes texts, None of those that are not."""
    group.add_argument('--ignore', metavar='KINDS',
                       help='kinds of differences that do not count, such as time,print: value, shape, dtype, exception, '
                            'unfinished, calls, print, warning, rng, source, versions, environment, time')
    group.add_argument('--rtol', metavar='X', help='elements are equal up to X times the second one (default: bit for bit)')
    group.add_argument('--atol', metavar='X', help='elements are equal up to X')
    group.add_argument('--ulp', metavar='N', help='floats are equal if at most N representable numbers apart')


def add_against(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add `--against` with these."""
    group.add_argument('--against', metavar='TRACE',
                       help='compare each call with this recording of the program, and stop at the first that differs')
    add_rules(group)
