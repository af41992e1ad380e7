"""Table of the processes that share the memory: what each has read, holds, and is called.

Any thread; each process writes its own row.
"""
from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path
from typing import NamedTuple

from pyfuncdbg.observers.debug.processes.process_label import own_label
from pyfuncdbg.observers.debug.processes.shared_memory import CHANGES, PROCESSES

_ROW = struct.Struct('=QQQ48s')
_ROWS = (CHANGES - PROCESSES) // _ROW.size


class TableRow(NamedTuple):
    """One process.

    Attributes:
        pid: Its id, 0 of a free row.
        position: How far it has read the list of changes.
        held: How many threads of it wait until the prompt is free.
        label: 'worker:3', '' where nothing says which of many it is.
    """

    pid: int = 0
    position: int = 0
    held: int = 0
    label: str = ''


def note(memory: mmap.mmap, *, position: int | None = None, held: int | None = None) -> None:
    """Note what has changed in this process; where the table is full of living ones, it is not in it.

    Args:
        memory: The shared memory.
        position: In the list of changes; None: as before.
        held: The number of threads that wait until the prompt is free; None: as before.
    """
    place = _place_of(memory, os.getpid())
    if place is not None:
        before = _read(memory, place)
        if before.pid != os.getpid():
            before = TableRow()
        _write(memory, place, TableRow(os.getpid(), before.position if position is None else position,
                                       before.held if held is None else held, own_label()))


def remove(memory: mmap.mmap) -> None:
    """This process ends."""
    for place in _places():
        if _read(memory, place).pid == os.getpid():
            _write(memory, place, TableRow())


def rows(memory: mmap.mmap) -> list[TableRow]:
    """The rows of the living processes."""
    return [row for row in (_read(memory, place) for place in _places()) if row.pid and is_alive(row.pid)]


def _read(memory: mmap.mmap, place: int) -> TableRow:
    pid, position, held, label = _ROW.unpack_from(memory, place)
    return TableRow(pid, position, held, label.rstrip(b'\0').decode('utf-8', 'replace'))


def _write(memory: mmap.mmap, place: int, row: TableRow) -> None:
    _ROW.pack_into(memory, place, row.pid, row.position, row.held, row.label.encode('utf-8', 'replace'))


def _places() -> range:
    return range(PROCESSES, PROCESSES + _ROWS * _ROW.size, _ROW.size)


def _place_of(memory: mmap.mmap, process: int) -> int | None:
    """The row of a process, else a free one, else that of a process that has ended.

    Each looks from another row on, by its id: two that start at once must not take the same.
    """
    places = _places()
    first = process % _ROWS
    owners = {place: struct.unpack_from('=Q', memory, place)[0] for place in (*places[first:], *places[:first])}
    own = [place for place, owner in owners.items() if owner == process]
    free = own or [place for place, owner in owners.items() if not owner]
    return next(iter(free or [place for place, owner in owners.items() if not is_alive(owner)]), None)


def is_alive(process: int) -> bool:
    """Whether a process runs: one that was killed and is not waited for yet does not."""
    try:
        os.kill(process, 0)
        state = Path(f'/proc/{process}/stat').read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()[:1]
    except ProcessLookupError:
        return False
    except OSError:                             # another user's, or a system without these files
        return True
    return state != ['Z']
