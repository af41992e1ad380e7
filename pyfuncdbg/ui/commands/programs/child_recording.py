"""A process that a recorded program has started: recorded into the same trace, debugged, attached to its frameworks.

Called once in such a process, on the thread that imports the first framework.
"""
from __future__ import annotations

import atexit
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyfuncdbg import hosts
from pyfuncdbg.distributed.worker_label import note_worker
from pyfuncdbg.hooks import process_invitations, rank_variables
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.observers.record.delayed_recorder import DelayedRecorder
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.processes.followed_process import FollowedProcess
from pyfuncdbg.ui.commands.socket.first_process import LATER, ask, invitations_to_prompt, path_of

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
    manifest = trace_folder.read_manifest(path)
    recorder = DelayedRecorder(partial(_start, process, path, trace_folder.identity(path), manifest.options))
    recorder.install()
    rank_variables.namers.append(note_worker)               # a worker has its name after its first import of us
    note_worker()
    if (first := path_of(manifest.id)) and _is_debugged(first):
        recorder.begin()                        # a debugger reads the trace while it grows
    hosts.attach_on_import(module)


def _is_debugged(first: str) -> bool:
    """Debug this process as the first one of the program; whether that can be.

    Args:
        first: Where the first process listens.
    """
    answer = ask(first, 'breakpoints')
    if answer == LATER:
        process_invitations.expect(partial(invitations_to_prompt, first))
    if not answer or answer == LATER:
        return False
    process_invitations.accept([Invitation(**answer)])
    return True


def _start(process: FollowedProcess, path: Path, identity: tuple[int, int], options: dict[str, Any],
           waiting: DelayedRecorder) -> Recorder:
    from pyfuncdbg.observers.record.recorder import join_recording
    note_worker()
    process.list_ranks()
    recorder = join_recording(str(path), identity, options, waiting)
    atexit.unregister(recorder.stop)
    process.before_end.append(recorder.stop)
    return recorder
