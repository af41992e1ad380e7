"""A process that a recorded program has started: it is recorded into the same trace, and attached to its frameworks.

Called once in such a process, on the thread that imports the first framework.
"""
from __future__ import annotations

import atexit
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyfuncdbg import hosts
from pyfuncdbg.observers.record.delayed_recorder import DelayedRecorder
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.processes.followed_process import FollowedProcess

if TYPE_CHECKING:
    from pyfuncdbg.observers.record.recorder import Recorder


def record(process: FollowedProcess, module: str) -> None:
    """Record this process from now to its end.

    Args:
        process: Its part in the program.
        module: What it has imported.

    Raises:
        TraceError, OSError: The trace was removed.
    """
    path = Path(process.folder)
    options = trace_folder.read_manifest(path).options
    DelayedRecorder(partial(_start, process, path, trace_folder.identity(path), options)).install()
    hosts.attach_on_import(module)


def _start(process: FollowedProcess, path: Path, identity: tuple[int, int], options: dict[str, Any],
           waiting: DelayedRecorder) -> Recorder:
    from pyfuncdbg.observers.record.recorder import join_recording
    process.list_ranks()
    recorder = join_recording(str(path), identity, options, waiting)
    atexit.unregister(recorder.stop)
    process.before_end.append(recorder.stop)
    return recorder
