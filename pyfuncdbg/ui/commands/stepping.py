"""`step`, `next`, `until`, `return`, `jump`: through Python, with pdb's meaning.

On the stopped thread. At a stop before a call or node, `next` goes over it; where a function
begins, to its first line.
"""
from __future__ import annotations

import argparse
import warnings
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks.source_map import frame_line, place
from pyfuncdbg.observers.debug.inspecting.backtrace import StackRow, selected_row
from pyfuncdbg.observers.debug.inspecting.stack import selected_frame
from pyfuncdbg.observers.debug.stops.stop import UserFrame
from pyfuncdbg.ui.commands.engine.arguments import positive
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.resume import (
    ResumeReport,
    draw_resumed,
    refuse_after_death,
    refuse_in_copies,
    resume,
    resume_command,
    stop_of,
)
from pyfuncdbg.ui.views.calls.stack import row_view


def _until(context: Context, args: argparse.Namespace) -> ResumeReport:
    frame = selected_frame(stop_of(context))
    if args.line is not None and frame is not None and args.line <= frame_line(frame):
        here = place(frame)
        raise CommandError(f'until: line {args.line} is not after line {here.line}, where {here.function} is. '
                           'Use a breakpoint for an earlier line.')
    return resume(context, 'until', args.line)


def _until_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('line', metavar='LINE', type=positive, nargs='?',
                        help='a later line; by default the next one, so that loops run to their end')


def _jump(context: Context, args: argparse.Namespace) -> StackRow | None:
    stop = stop_of(context)
    frame = stop.frame
    refuse_after_death(stop, 'jump')
    refuse_in_copies(stop, 'jump')
    if not stop.jumpable or frame is None:
        raise CommandError(f"jump: needs a thread at a line of Python, and this one is at '{stop.phase}'")
    if selected_frame(stop) is not frame:
        raise CommandError('jump: needs the innermost frame; "down" selects it')
    if frame.f_code.co_flags & CO_OPTIMIZED and args.line == frame.f_code.co_firstlineno:
        # Python would start the call again: that crashes in a generator, and nests cells elsewhere.
        raise CommandError(f'jump: line {args.line} begins the definition of {frame.f_code.co_name!r}: give a line in it')
    try:
        _set_line(frame, args.line)
    except (ValueError, RuntimeWarning) as error:
        raise CommandError(f'jump: Python refuses line {args.line}: {error}') from None
    stop.frames = tuple(UserFrame(frame, frame_line(frame)) if one.frame is frame else one for one in stop.frames)
    stop.stack, stop.listed = None, 0
    return selected_row(stop)


def _set_line(frame: FrameType, line: int) -> None:
    """Set it. From 3.12 on Python warns, in our name, that unset variables are None then: no warning of the program."""
    show = warnings.showwarning

    def others(message: Warning | str, category: type[Warning], filename: str, *place: Any, **options: Any) -> None:
        if filename != __file__:
            show(message, category, filename, *place, **options)
    warnings.showwarning = others
    try:
        frame.f_lineno = line  # type: ignore[misc]
    finally:
        if warnings.showwarning is others:
            warnings.showwarning = show


def _jump_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('line', metavar='LINE', type=positive,
                        help='the line of the same function that runs next; from Python 3.12 on, unset variables '
                             'become None')


STEP = resume_command('step', 'go to the next line, into called functions', 's', counted=True)
NEXT = resume_command('next', 'go to the next line of this function; at a call or node, past it', 'n', counted=True)
RETURN = resume_command('return', 'continue until this function returns', 'r')
UNTIL = Command('until', 'go to a later line, or until this function returns', 'run', _until, draw_resumed,
                _until_arguments, ('unt',), needs_stop=True, repeats=True,
                examples=('until', 'until 45'))
JUMP = Command('jump', 'set the line that runs next; lines between are skipped', 'run', _jump, row_view, _jump_arguments,
               ('j',), needs_stop=True,
               examples=('jump 43',))
COMMANDS: tuple[Command, ...] = (STEP, NEXT, UNTIL, RETURN, JUMP)
