"""A process that a recorded program has started: it is recorded into the same trace, and attached to its frameworks.

Called once in such a process, on the thread that imports the first framework.
"""
from __future__ import annotations

import atexit
from functools import partial
from pathlib import Path

from pyfuncdbg import hosts
from pyfuncdbg.hooks import delayed_start
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.processes.followed_process import FollowedProcess


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
    delayed_start.delay(partial(_start, path, trace_folder.identity(path), options))
    hosts.attach_on_import(module)


def _start(path: Path, identity: tuple[int, int], options: dict[str, object]) -> None:
    from pyfuncdbg.observers.record.recorder import join_recording
    recorder = join_recording(str(path), identity, options)
    atexit.register(recorder.stop)
