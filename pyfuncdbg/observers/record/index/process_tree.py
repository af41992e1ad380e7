"""The processes of a recorded program, read from the list in its trace: who started whom, and how each ended.

The list is data of other processes, and may hold anything. Any thread.
"""
from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import CommandError, nearest
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.processes.followed_process import LARGEST, LIST
from pyfuncdbg.observers.record.processes.rank_label import is_meant, label_of

PART = 'part'
"""Event of the list of a merged trace: what follows is of another machine."""
_MOST = 10_000
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class ProgramProcess:
    """One process of a program.

    Attributes:
        pid, parent: Its process id, and that of the process that started it.
        host: The machine.
        command: The program and its arguments; of a forked process those of its parent.
        started: Unix time, seconds.
        is_forked: It is a copy of its parent.
        ended: Unix time; None if it did not say that it ends: it runs, was killed, or ended in native code.
        error: The exception that ended it, or 'os._exit(3)'; '' for none.
        executed: It has become another program, by `os.execv`; if that is followed, it is a later entry of the same id.
        replaced_by: The command of that, as far as it is known.
        replaced_unfollowed: Why it is not followed, where it is one of Python and cannot be; else ''.
        of_pool: It is a worker of a `multiprocessing.Pool`, which kills it; no call whose result the pool has is lost.
        unrecorded: Why calls in it were not recorded, '' where they were, or none was made.
        ranks: Environment variables that say which of many processes it is.
        log: Number of its log in the trace; 0 where it has none.
        python: The version of Python that ran it.
    """

    pid: int
    parent: int
    host: str
    command: tuple[str, ...]
    started: float
    is_forked: bool = False
    ended: float | None = None
    error: str = ''
    executed: bool = False
    replaced_by: tuple[str, ...] = ()
    replaced_unfollowed: str = ''
    of_pool: bool = False
    unrecorded: str = ''
    ranks: tuple[tuple[str, str], ...] = ()
    log: int = 0
    python: str = ''

    @property
    def label(self) -> str:
        """Which of many processes it is: 'worker:3', 'rank:3', '' where nothing says so."""
        return label_of(dict(self.ranks))


def program_processes(folder: Path, logs: Mapping[int, tuple[int, str]]) -> tuple[ProgramProcess, ...]:
    """Read the list of a trace.

    Args:
        folder: Of the trace.
        logs: Process id and machine of each log, by its number.

    Returns:
        In order of their start; none of a trace that has no list. Lines that make no sense are passed over.
    """
    found: list[ProgramProcess] = []
    newest: dict[tuple[str, int], int] = {}
    for fields in process_lines(folder):
        pid, at, event = fields.get('pid'), fields.get('at'), fields.get('event')
        if event == PART:
            newest.clear()
        if type(pid) is not int or (event in ('begin', 'unfollowed') and len(found) >= _MOST):
            continue
        if event in ('begin', 'unfollowed') and (process := _process(pid, fields)) is not None:
            place = newest.get((process.host, pid))
            if place is not None and found[place].ended is None and not process.is_forked:
                found[place] = replace(found[place], executed=True)
            newest[process.host, pid] = len(found)
            found.append(process)
            continue
        place = next((newest[key] for key in reversed(newest) if key[1] == pid), None)
        if place is not None and event == 'end' and isinstance(at, float | int):
            found[place] = replace(found[place], ended=float(at), error=_text(fields.get('error')))
        elif place is not None and event == 'pool':
            found[place] = replace(found[place], of_pool=True)
        elif place is not None and event == 'exec':
            found[place] = _replaced(found[place], fields)
        elif place is not None and event == 'ranks':
            found[place] = replace(found[place], ranks=_variables(fields.get('ranks')))
        elif place is not None and event == 'unrecorded':
            found[place] = replace(found[place], unrecorded=_text(fields.get('why')))
    return _with_logs(found, logs)


def list_is_full(folder: Path) -> bool:
    """Whether the list of a trace has no room, so that processes that began later are not in it.

    Args:
        folder: Of the trace.
    """
    try:
        return os.lstat(Path(folder) / LIST).st_size >= LARGEST
    except (OSError, ValueError):
        return False


def _with_logs(found: list[ProgramProcess], logs: Mapping[int, tuple[int, str]]) -> tuple[ProgramProcess, ...]:
    """The processes with the numbers of their logs, without forks that only became another program.

    `os.fork` and `os.execv` are how some libraries start a process: the fork has no log, and what it became has its id.
    """
    places: dict[tuple[str, int], list[int]] = {}
    for place, one in enumerate(found):
        places.setdefault((one.host, one.pid), []).append(place)
    numbers: dict[tuple[str, int], list[int]] = {}
    for number, (pid, host) in sorted(logs.items()):
        numbers.setdefault((host, pid), []).append(number)
    left_out: set[int] = set()
    for key, same in places.items():
        own = numbers.get(key, [])
        steps = [place for place in same[:-1] if found[place].is_forked and found[place].executed]
        left_out.update(steps[:max(len(same) - len(own), 0)])
        kept = [place for place in same if place not in left_out]
        for place, number in zip(kept, own, strict=False):
            found[place] = replace(found[place], log=number)
    return tuple([one for place, one in enumerate(found) if place not in left_out])


def process_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The lines of the list that are whole.

    Args:
        folder: Of the trace.

    Yields:
        Their content, of strings, numbers, lists and mappings.
    """
    try:
        with open(open_regular(Path(folder) / LIST), 'rb') as file:
            content = file.read(LARGEST + (1 << 20))
    except (OSError, ValueError):               # no file of this name can be: a null byte, half a character
        return
    for line in content.split(b'\n'):
        try:
            fields = json.loads(line) if line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(fields, dict):
            yield fields


def _process(pid: int, fields: Mapping[str, Any]) -> ProgramProcess | None:
    parent, at, command, ranks = (fields.get(name) for name in ('parent', 'at', 'command', 'ranks'))
    if type(parent) is not int or not isinstance(at, float | int) or not isinstance(command, list):
        return None
    return ProgramProcess(pid, parent, _text(fields.get('host')), tuple(map(_text, command)), float(at),
                          bool(fields.get('fork')), unrecorded=_text(fields.get('why')), ranks=_variables(ranks),
                          python=_text(fields.get('python'))[:40])


def _replaced(process: ProgramProcess, fields: Mapping[str, Any]) -> ProgramProcess:
    """A process that has become another program, or has not, as that could not be started."""
    if fields.get('failed'):
        return replace(process, executed=False, replaced_by=(), replaced_unfollowed='')
    words = fields.get('command')
    return replace(process, executed=True, replaced_by=tuple(map(_text, words)) if isinstance(words, list) else (),
                   replaced_unfollowed=_text(fields.get('why')))


def _text(value: object) -> str:
    return str(value)[:_LONGEST] if isinstance(value, str) else ''


def _variables(ranks: object) -> tuple[tuple[str, str], ...]:
    return tuple([(str(name), _text(value)) for name, value in ranks.items()]) if isinstance(ranks, dict) else ()


def processes_of(tree: Sequence[ProgramProcess], name: str) -> tuple[int, ...]:
    """Find processes by what a user types.

    Args:
        tree: Of a program.
        name: A number of a process in the trace, '#3', a process id, or a label: 'worker:3'; ':3' is that of any kind.

    Returns:
        Numbers of their logs.

    Raises:
        CommandError: There is none; the message names those that there are.
    """
    recorded = [one for one in tree if one.log]
    number = int(name.removeprefix('#')) if name.removeprefix('#').isdecimal() else 0
    found = [one for one in recorded if one.log == number] or [
        one for one in recorded if one.pid == number or is_meant(one.label, name)]
    if not found:
        names = dict.fromkeys(one.label or f'#{one.log}' for one in recorded)
        raise CommandError(f'No recorded process is {name!r}; there are {", ".join([*names][:20]) or "none"}.'
                           + nearest(name, names))
    return tuple([one.log for one in found])
