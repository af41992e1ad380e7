"""Table of the processes that share the memory, with how far each has read the list of changes."""
from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

from pyfuncdbg.observers.debug.processes.shared_memory import CHANGES, PROCESSES

_ROW = struct.Struct('=QQ')
_ROWS = (CHANGES - PROCESSES) // _ROW.size


def note_position(memory: mmap.mmap, position: int) -> None:
    """Note how far this process has read; where the table is full of living ones, it is not in it.

    Args:
        memory: The shared memory.
        position: In the list of changes.
    """
    row = _row_of(memory, os.getpid())
    if row is not None:
        _ROW.pack_into(memory, row, os.getpid(), position)


def remove(memory: mmap.mmap) -> None:
    """This process ends."""
    for row in _rows():
        if _ROW.unpack_from(memory, row)[0] == os.getpid():
            _ROW.pack_into(memory, row, 0, 0)


def positions(memory: mmap.mmap) -> dict[int, int]:
    """How far each living process has read, by its number."""
    entries = [_ROW.unpack_from(memory, row) for row in _rows()]
    return {process: position for process, position in entries if process and _is_alive(process)}


def _rows() -> range:
    return range(PROCESSES, PROCESSES + _ROWS * _ROW.size, _ROW.size)


def _row_of(memory: mmap.mmap, process: int) -> int | None:
    """The row of a process, else a free one, else that of a process that has ended."""
    owners = {row: _ROW.unpack_from(memory, row)[0] for row in _rows()}
    own = [row for row, owner in owners.items() if owner == process]
    free = own or [row for row, owner in owners.items() if not owner]
    return next(iter(free or [row for row, owner in owners.items() if not _is_alive(owner)]), None)


def _is_alive(process: int) -> bool:
    """Whether a process runs: one that was killed and is not waited for yet does not."""
    try:
        os.kill(process, 0)
        state = Path(f'/proc/{process}/stat').read_text(encoding='utf-8', errors='replace').rpartition(')')[2].split()[:1]
    except ProcessLookupError:
        return False
    except OSError:                             # another user's, or a system without these files
        return True
    return state != ['Z']
