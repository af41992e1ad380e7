"""Merge of traces of several machines into one.

Their logs are copied as they are: a process is numbered anew by the name of its log, and the times of a log count from a
reading of the clock in it, so that all fit to one beginning. On the thread of the command.
"""
from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pyfuncdbg.errors import TraceError
from pyfuncdbg.observers.record.index.process_tree import PART, process_lines
from pyfuncdbg.observers.record.log import log_names
from pyfuncdbg.observers.record.log.descriptor import open_regular
from pyfuncdbg.observers.record.log.log_names import ProcessLog
from pyfuncdbg.observers.record.log.trace_folder import (
    LEDGER,
    LEDGER_CONTENT,
    Manifest,
    TracePart,
    read_manifest,
    recording_process,
)
from pyfuncdbg.observers.record.processes.followed_process import LIST
from pyfuncdbg.observers.record.transfer.new_trace import new_trace

_CHUNK = 1 << 20


def merge_traces(sources: Sequence[Path], target: Path, clocks: Mapping[Path, float],
                 names: Mapping[Path, str] | None = None, uncertainties: Mapping[Path, float] | None = None) -> int:
    """Merge traces.

    Args:
        sources: Their folders.
        target: The folder of the new trace, which must not exist; on failure nothing is left of it.
        clocks: Seconds that are added to the times of a trace, for a machine whose clock is wrong; 0 where none are given.
        names: What the traces are called in the new one, where they are copies that nothing records into: whether the
            process with the number of one of theirs runs on this machine too says nothing then. By default the names of
            their folders.
        uncertainties: Seconds by which clocks may be wrong after that, where they were compared with each other.

    Returns:
        Bytes of its logs.

    Raises:
        TraceError: One cannot be read, is still recorded, or is there twice; or the new one cannot be made.
    """
    manifests = [read_manifest(source) for source in sources]
    logs = [log_names.logs(source) for source in sources]
    _check(sources, manifests, logs, are_copies=names is not None)
    called = {source: (names or {}).get(source, source.name) for source in sources}
    parts, first = [], 1
    for source, manifest, own in zip(sources, manifests, logs, strict=True):
        shift, last = clocks.get(source, 0.0), first + max(log.process for log in own) - 1
        # One of several itself: that its parts were compared with each other says nothing of those of the others.
        inner = [TracePart(f'{called[source]}/{part.name}', part.first + first - 1, part.last + first - 1,
                           part.clock + shift) for part in manifest.parts]
        parts += inner or [TracePart(called[source], first, last, shift, (uncertainties or {}).get(source))]
        first = last + 1
    created = min(manifest.created + clocks.get(source, 0.0) for source, manifest in zip(sources, manifests, strict=True))
    budget = sum(manifest.budget for manifest in manifests)
    with new_trace(target, sources, budget, created, parts), open(target / LIST, 'x', encoding='ascii') as processes:
        nbytes, before = 0, 0
        for source, own in zip(sources, logs, strict=True):
            for log in own:
                nbytes += _copy_log(log, target, log.process + before)
            _copy_processes(source, processes.write, clocks.get(source, 0.0))
            before += max(log.process for log in own)
        (target / LEDGER).write_bytes(LEDGER_CONTENT.pack(nbytes, before))
    return nbytes


def _check(sources: Sequence[Path], manifests: Sequence[Manifest], logs: Sequence[Sequence[ProcessLog]],
           are_copies: bool) -> None:
    """Refuse what cannot be merged, before anything is written."""
    known: dict[str, Path] = {}
    for source, manifest, own in zip(sources, manifests, logs, strict=True):
        if manifest.id in known:
            raise TraceError(f'{source}: is the same trace as {known[manifest.id]}; name each once')
        if not are_copies and (process := recording_process(source)):
            raise TraceError(f'{source}: process {process} records there; merge it when that has ended')
        if not own:
            raise TraceError(f'{source}: holds no log: there is nothing to merge')
        known[manifest.id] = source


def _copy_log(log: ProcessLog, target: Path, process: int) -> int:
    """Copy the segments of a log under another number; how many bytes they have."""
    nbytes = 0
    for segment, path in log.segments.items():
        first = target / f'{path.name.partition("-")[0]}-{process:04d}.log'
        with open(open_regular(path), 'rb') as source, open(log_names.segment_path(first, segment), 'xb') as copy:
            shutil.copyfileobj(source, copy, _CHUNK)
            nbytes += os.fstat(copy.fileno()).st_size
    return nbytes


def _copy_processes(source: Path, write: Callable[[str], object], shift: float) -> None:
    """Copy the list of processes. A process id of one machine means another process on the next."""
    lines = [{'event': PART}, *process_lines(source)]
    for fields in lines:
        at = fields.get('at')
        if isinstance(at, float | int):
            fields['at'] = at + shift
        write(json.dumps(fields) + '\n')
