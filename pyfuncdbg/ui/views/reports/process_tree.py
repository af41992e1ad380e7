"""The processes of a program, each below the one that started it, with what is known of its end. Pure."""
from __future__ import annotations

import os
from collections.abc import Sequence

from rich.text import Text

from pyfuncdbg.observers.record.index.process_tree import ProgramProcess
from pyfuncdbg.ui.views.escape import one_line
from pyfuncdbg.ui.views.units import count, seconds

LISTED = 30
_LONGEST_COMMAND = 60
_DEEPEST = 8
_SPAWN = 'from multiprocessing.spawn import spawn_main'
_FORKSERVER = 'from multiprocessing.forkserver import main'
_LOKY = 'loky.backend.popen_loky_posix'
_LOKY_TRACKER = 'loky.backend.resource_tracker'


def process_tree(processes: Sequence[ProgramProcess]) -> Text:
    """The tree, a line for each process.

    Args:
        processes: In order of their start.

    Returns:
        '4711 train.py' and below it '  4712 a copy of it by fork, #2: ended after 1.2 s'; of many those that say most:
        the first, those that failed or have no end, those that were recorded.
    """
    ordered = _ordered(processes)
    listed = sorted(sorted(range(len(ordered)), key=lambda place: (_rank(ordered[place][0], place), place))[:LISTED])
    lines = [Text.assemble('  ' * depth, f'{one.pid}  ', *_line(one)) for one, depth in map(ordered.__getitem__, listed)]
    if len(ordered) > LISTED:
        lines.append(Text(f'and {_left_out([one for place, (one, _) in enumerate(ordered) if place not in {*listed}])}; '
                          f'"processes -n {len(ordered)}" lists all', 'dim'))
    return Text('\n').join(lines)


def _rank(process: ProgramProcess, place: int) -> int:
    """How much there is to say of a process: 0 is most."""
    if place == 0:
        return 0
    if process.unrecorded or process.error:
        return 1
    if process.ended is None and not process.executed:
        return 2
    return 3 if process.log else 4


def _left_out(processes: Sequence[ProgramProcess]) -> str:
    """'471 processes more, 4 of them recorded'."""
    text = f'{count(len(processes), "process", "processes")} more'
    kinds = [(sum(1 for one in processes if one.unrecorded), 'not recorded'),
             (sum(1 for one in processes if one.error), 'ended by an exception'),
             (sum(1 for one in processes if _rank(one, 1) == 2), 'without an end'),
             (sum(1 for one in processes if one.log), 'with a log')]
    return ', '.join([text, *[f'{number:,} {words}' for number, words in kinds if number]])


def _ordered(processes: Sequence[ProgramProcess]) -> list[tuple[ProgramProcess, int]]:
    """Each process behind the one that started it, with how deep it is."""
    places: dict[tuple[str, int], int] = {}     # of those so far: an id comes again, on another machine too
    below: dict[int, list[int]] = {}
    for place, one in enumerate(processes):
        below.setdefault(places.get((one.host, one.parent), -1), []).append(place)
        places[one.host, one.pid] = place
    ordered: list[tuple[ProgramProcess, int]] = []
    waiting = [(place, 0) for place in reversed(below.get(-1, []))]
    while waiting:
        place, depth = waiting.pop()
        ordered.append((processes[place], min(depth, _DEEPEST)))
        waiting += [(child, depth + 1) for child in reversed(below.get(place, []))]
    return ordered


def _line(process: ProgramProcess) -> list[Text | tuple[str, str]]:
    number = f'#{process.log} ' if process.log > 1 else ''
    if process.label:
        number += f'{one_line(process.label, 60)} '
    command = one_line(short_command(process.command, process.is_forked), _LONGEST_COMMAND)
    what: list[Text | tuple[str, str]] = [Text(command), (f'  {number}', 'cyan')]
    if process.unrecorded:
        what.append((f'not recorded: {one_line(process.unrecorded, 200)}', 'yellow'))
    elif process.executed:
        new = one_line(short_command(process.replaced_by, False), _LONGEST_COMMAND)
        what.append((f'replaced by {new}' if new else 'became another program', 'dim'))
        if why := process.replaced_unfollowed:
            what.append((f', which is not recorded: {one_line(why, 200)}', 'yellow'))
    elif process.ended is None and process.of_pool:
        what.append(('no end: its multiprocessing.Pool has killed it, or it runs', 'dim'))
    elif process.ended is None:
        what.append(('no end: killed, os.setuid, or running', 'yellow'))
    elif process.error:
        what.append((f'{one_line(process.error, 100)} after {seconds(process.ended - process.started)}', 'red'))
    else:
        what.append((seconds(process.ended - process.started), 'dim'))
    return what


def short_command(command: Sequence[str], is_forked: bool) -> str:
    """The command line in short: without the folder of the interpreter, and of those of the library what they are.

    Args:
        command: The program and its arguments.
        is_forked: Whether the process is a copy of its parent.
    """
    if is_forked:
        return 'fork'
    words = list(command)
    if any(_SPAWN in word for word in words):
        return 'multiprocessing spawn'
    if any(_FORKSERVER in word for word in words):
        return 'multiprocessing forkserver'
    if any(word.endswith(_LOKY) for word in words):
        return 'loky worker'
    if any(_LOKY_TRACKER in word for word in words):
        return 'loky resource tracker'
    return ' '.join([os.path.basename(word) if place == 0 else word for place, word in enumerate(words)])


if __name__ == '__main__':
    from pyfuncdbg.ui.views.sample_trace import demo
    spawned = ('python', '-c', 'from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=8)')
    demo(process_tree([
        ProgramProcess(4711, 1, 'host', ('train.py', '--epochs', '3'), 0.0, ended=12.5, log=1),
        ProgramProcess(4712, 4711, 'host', spawned, 1.0, ended=9.0, log=2, ranks=(('RANK', '0'),)),
        ProgramProcess(4713, 4711, 'host', spawned, 1.0, log=3, ranks=(('RANK', '1'),)),
        ProgramProcess(4714, 4713, 'host', ('train.py',), 2.0, is_forked=True, ended=3.0, error='ValueError: no rows'),
        ProgramProcess(4715, 4711, 'host', ('python', '-I', 'tool.py'), 3.0, unrecorded='-I hides the environment'),
        ProgramProcess(4716, 4711, 'host', ('python', 'x.py'), 3.0, executed=True, replaced_by=('/bin/sh', '-c', 'ls'))]))
