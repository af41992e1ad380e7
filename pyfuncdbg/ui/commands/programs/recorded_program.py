"""A program under the recorder: the place of its trace, and the report at its end.

Called by the command line on the main thread. The report is drawn by a process of its own from the finished trace,
so that nothing the program did to this one (its own `rich.py`, a closed stdout, a limit on memory) can spoil it.
"""
from __future__ import annotations

import argparse
import atexit
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyfuncdbg.errors import NoRoomError, UsageError
from pyfuncdbg.hooks.own_process import own_start
from pyfuncdbg.hosts import await_imports
from pyfuncdbg.ui.commands.byte_size import byte_size
from pyfuncdbg.ui.commands.configuration import Configuration, configuration, location, traces_folder
from pyfuncdbg.ui.commands.programs.flight_options import FlightOptions, flight_recorder
from pyfuncdbg.ui.commands.programs.recording_options import recording_options
from pyfuncdbg.ui.commands.programs.run_script import Program
from pyfuncdbg.ui.commands.programs.uncaught_exception import keep_interrupted, uncaught

_DEBUGGER = 'pyfuncdbg.observers.debug.debugger'
_SHOW = ('import os, sys; sys.argv[0] = "pyfuncdbg"; sys.path.append(sys.argv[1]); from pyfuncdbg.cli import main; '
         'code = main(["show", sys.argv[2]]); sys.stdout.flush(); '
         'os._exit(code)')                      # without the threads and exit handlers of a `sitecustomize`


def free_path(name: str, folder: Path = Path()) -> Path:
    """The first of NAME.pfd, NAME-2.pfd, ... in a folder that does not exist: made, and empty."""
    from pyfuncdbg.observers.record.log.trace_folders import free_path
    return free_path(folder / f'{name}.pfd')


def settings(*, quiet: bool = False) -> Configuration:
    """The user's configuration, whose mistakes are reported unless another process of ours has done so."""
    from pyfuncdbg.hooks.notice import say
    return configuration((lambda text: None) if quiet else say)


def budget_of(option: str | None, settings: Configuration) -> int | None:
    """The bytes that a trace may take: by the command line, else by the configuration.

    Raises:
        UsageError: The option is not a size.
    """
    text = option if option is not None else settings.budget
    return byte_size(text) if option is not None or text else None


def recorder_options(options: argparse.Namespace, budget: int | None) -> dict[str, Any]:
    """The options of a recorder that `run` was given.

    Raises:
        UsageError: A number is none.
    """
    try:
        given = recording_options(options)
    except UsageError as error:
        raise UsageError(f'run: {error}') from None
    return given if budget is None else given | {'budget': budget}


def install_signal() -> None:
    """Let SIGUSR1 switch the recording, until the interpreter's exit.

    Raises:
        TraceError: The program has a handler of its own for the signal.
    """
    from pyfuncdbg.observers.record.recording_switch import SignalSwitch
    atexit.register(SignalSwitch().end)


def folder_in(settings: Configuration) -> Path:
    """The folder that the user's configuration names for traces, made if need be; else the current one."""
    folder = traces_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        from pyfuncdbg.hooks.notice import say
        say(f'{location()}: traces: {str(folder)!r}: {error.strerror}; the trace goes to the current folder')
        return Path()
    return folder


def give_up(path: Path) -> None:
    """Nothing is recorded at this free path after all."""
    with contextlib.suppress(OSError):          # not empty, or never made
        path.rmdir()


def begin(path: Path, program: Program, *, draws_report: bool = True, inspected: bool = False, children: bool = True,
          **options: Any) -> str:
    """Record every wrapped call of this process, and of those that it starts, until the interpreter's exit.

    Args:
        path: Folder of the trace, to be made.
        program: It gets its `sys.argv` now: the trace says what was run.
        draws_report: Whether to draw the report at the exit.
        inspected: Whether the inspector shows the trace: without one, it raises.
        children: Whether processes that start afresh are recorded too.
        **options: As for `Recorder`.

    Returns:
        The id of the trace by which processes that start afresh find this one, '' if none is followed.

    On a full disk the program runs unrecorded, and a line says so.

    Raises:
        TraceError: The trace cannot be made there, or an option is not valid.
    """
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.ui.commands.programs.program_recording import ProgramRecording
    sys.argv = list(program.argv)
    folder, environment, started = _current_folder(), dict(os.environ), time.time()
    try:
        recording = ProgramRecording(path, program.command, options, at_once=inspected or _DEBUGGER in sys.modules,
                                     children=children)
    except NoRoomError as error:
        if inspected:
            raise
        give_up(path)
        say(f'{error}. The program runs unrecorded.')
        await_imports()
        return ''
    await_imports()

    def finish() -> None:
        # A forked child that ends the usual way comes here too.
        error = uncaught()
        if recording.finish(error) and draws_report:
            if recording.is_empty:
                from pyfuncdbg.ui.commands.programs.empty_report import write_empty_report
                write_empty_report(path, time.time() - started, error)
            else:
                draw_report(path, folder, environment)

    # First in, last out: after the program's own threads and atexit handlers, whose calls belong to the trace.
    atexit.register(finish)
    return recording.id if children else ''


def begin_flight(path: Path, argv: Sequence[str], flight: FlightOptions, **options: Any) -> None:
    """Keep the calls around those where a condition holds, until the interpreter's exit; nothing else is written.

    Args:
        path: NAME.pfd of the traces.
        argv: As for `begin`.
        flight: What is kept.
        **options: As for `FlightRecorder`, of each trace.

    Raises:
        CommandError: It is no condition.
        TraceError: No trace can be made beside this path, or a number is too small.
    """
    from pyfuncdbg.observers.record.records import UNCAUGHT
    sys.argv = list(argv)
    recorder = flight_recorder(path, flight.conditions, **flight.numbers, **options).start()
    await_imports()

    def finish() -> None:
        if error := uncaught():
            recorder.note(UNCAUGHT, {'error': error})
        recorder.stop()

    atexit.register(finish)


def _current_folder() -> str:
    """The current folder; where that was removed, any."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.sep


def tell_unhit() -> Callable[[], object]:
    """Warn of breakpoints that stopped nothing when the program is over, unless the user has left debugging.

    To be called before `begin`: then it comes below the report.

    Returns:
        A function after which nothing is said.
    """
    from pyfuncdbg.hooks.notice import say

    def tell(sentences: list[str]) -> None:
        for sentence in sentences:
            say(sentence)
    return _at_end_of_breakpoints(tell)


def note_unhit() -> None:
    """The same in the trace, for the process that draws the report: `tell_noted_unhit`. To be called after `begin`."""
    from pyfuncdbg.observers.record.recorder import recorders
    from pyfuncdbg.observers.record.records import UNHIT

    def note(sentences: list[str]) -> None:
        for recorder in recorders()[-1:]:
            recorder.note(UNHIT, {'sentences': sentences})
    _at_end_of_breakpoints(note)


def _at_end_of_breakpoints(take: Callable[[list[str]], object]) -> Callable[[], object]:
    owner = os.getpid()

    def end() -> None:
        from pyfuncdbg.observers.debug.breakpoints.never_hit import unhit_warnings
        from pyfuncdbg.observers.debug.debugger import debugger
        if os.getpid() == owner and not debugger.left:
            take(unhit_warnings(debugger.breakpoints, debugger.breakpoints.entries))
            keep_interrupted()
    atexit.register(end)
    return partial(atexit.unregister, end)


def tell_noted_unhit(path: Path) -> None:
    """Print what `note_unhit` has put into a trace."""
    from pyfuncdbg.errors import TraceError
    from pyfuncdbg.hooks.notice import say
    from pyfuncdbg.observers.record.records import UNHIT
    from pyfuncdbg.observers.record.trace import Trace
    with contextlib.suppress(TraceError), Trace.open(path) as trace:
        for note in trace.notes(UNHIT):
            sentences = note.data.get('sentences')
            for sentence in sentences if isinstance(sentences, list) else ():       # the program may write such notes too
                say(str(sentence))


def draw_report(path: Path, folder: str, environment: dict[str, str]) -> None:
    """Draw the report on stderr, so that stdout holds only what the program wrote."""
    import subprocess
    for name in ('stdout', 'stderr'):
        with contextlib.suppress(Exception):    # the program's own object may raise anything, or be gone
            getattr(sys, name).flush()
    command = [sys.executable, '-P', '-c', _SHOW, str(Path(__file__).resolve().parents[4]), str(path)]
    try:
        with own_start():
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, cwd=folder, env=environment, check=False)
        if done.returncode != 0:
            os.write(2, f'pyfuncdbg: recorded to {path}\n'.encode(errors='backslashreplace'))
    except OSError:
        pass                                    # no stderr or no process: the trace is written already
    except KeyboardInterrupt:
        pass                                    # a second Ctrl-C means the report, and the program has ended
