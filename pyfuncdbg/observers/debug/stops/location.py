"""Short text for the location of a stop, for lists of threads and the line of an unattended stop.

Any thread may ask.
"""
from __future__ import annotations

import os

from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.source_map import program_code
from pyfuncdbg.observers.debug.stops.stop import PYTHON, Stop


def whereabouts(stop: Stop) -> str:
    """'before norm[3]', 'norm at model.py:41', 'entering norm at model.py:40', 'before node c', 'after run #2'."""
    if stop.phase in PYTHON or stop.phase == 'post-mortem':
        inside = f', {_call(stop)}' if stop.call is not None else ''
        return f'{"entering " if stop.phase == "call" else ""}{_line(stop)}{inside}'
    if stop.phase in ('run', 'end') and stop.run is not None:
        return f'{"before" if stop.phase == "run" else "after"} run #{stop.run.id}'
    if stop.phase == 'node':
        return _node(stop)
    return f'{"in" if stop.phase == "error" else stop.phase} {_call(stop)}'


def _call(stop: Stop) -> str:
    if stop.call is None:
        return 'a call'
    return f'{stop.call.site.name}[{stop.call.ordinal}]' if stop.call.site.kind != 'run' else f'run #{stop.call.run.id}'


def _line(stop: Stop) -> str:
    if not stop.frames:
        return 'nowhere'
    code = program_code(stop.frames[-1].frame.f_code)
    return f'{code.co_name} at {os.path.basename(notebook_cell.display_name(code.co_filename))}:{stop.frames[-1].line}'


def _node(stop: Stop) -> str:
    control = stop.control
    if control is None or stop.run is None:
        return 'between two nodes'
    sites, position = control.sites, control.position
    return f'before node {sites[position].name}' if position < len(sites) else f'after the last node of run #{stop.run.id}'
