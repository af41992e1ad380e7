"""The options of a flight recorder on the command line: `--keep-on PRED`, and how much to keep around a trip.

Added to the parser of `run`; read on the main thread before the program starts.
"""
from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyfuncdbg.errors import UsageError

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder

_NUMBERS = (('before', 'N', 'calls to keep before the one where PRED holds (default: 200)', 0),
            ('after', 'N', 'calls to keep after it (default: 50)', 0),
            ('keep_most', 'N', 'traces to write at most (default: 10)', 1))


@dataclass(frozen=True, slots=True)
class FlightOptions:
    """Condition of a flight recorder, and how much it keeps.

    Attributes:
        conditions: Each PRED.
        numbers: `before`, `after` and `keep_most`, those that were given.
    """

    conditions: tuple[str, ...]
    numbers: dict[str, int]


def add_flight_options(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """Add `--keep-on` and what belongs to it."""
    group.add_argument('--keep-on', metavar='PRED', action='append',
                       help='record into memory, and write a trace only of the calls around one where PRED holds, such as '
                            "'has_nan(out)', error or 'slow > 3 * p95'; may be given several times")
    for name, metavar, text, _ in _NUMBERS:
        group.add_argument(f'--{name.replace("_", "-")}', metavar=metavar, help=text)


def flight_options(options: argparse.Namespace) -> FlightOptions | None:
    """What was given; None without `--keep-on`.

    Raises:
        UsageError: A number is none, or there is one without `--keep-on`.
    """
    numbers: dict[str, int] = {}
    for name, _, _, least in _NUMBERS:
        option, text = f'--{name.replace("_", "-")}', getattr(options, name)
        if text is None:
            continue
        if options.keep_on is None:
            raise UsageError(f'run: {option} {text}: it needs --keep-on PRED')
        if not text.isdecimal() or int(text) < least:
            raise UsageError(f'run: {option} {text!r} is not an integer from {least} on')
        numbers[name] = int(text)
    if options.keep_on is None:
        return None
    if options.every is not None:
        raise UsageError('run: --every cannot be combined with --keep-on, which tests every call')
    for option, is_given in (('--segment', options.segment is not None), ('--keep-newest', options.keep_newest)):
        if is_given:
            raise UsageError(f'run: {option} cannot be combined with --keep-on, whose traces are small')
    if options.live or options.ui == 'inspector':
        raise UsageError('run: --keep-on cannot be combined with the full screen, which shows a whole trace')
    return FlightOptions(tuple(options.keep_on), numbers)


def flight_recorder(path: str | Path, keep_on: object, **options: Any) -> FlightRecorder:
    """A flight recorder that keeps what a condition holds for.

    Args:
        path: NAME.pfd of its traces.
        keep_on: The condition: text, a Python function of the call, or one made of `has_nan` and its kin; or a list of them.
        **options: As for `FlightRecorder`.

    Raises:
        CommandError: It is no condition.
        TraceError: An option is not valid.
    """
    from pyfuncdbg.observers.debug.conditions.call_trigger import CallTrigger
    from pyfuncdbg.observers.record.flight.flight_recorder import FlightRecorder
    several = keep_on if isinstance(keep_on, list | tuple) and keep_on else (keep_on,)
    return FlightRecorder(path, CallTrigger(*several), **options)
