"""`doctor`: faults of a framework's own, in a trace; and `pyfuncdbg doctor`, which runs a program under examination first.

The program runs in a process of its own, so that however it ends, the findings follow. That process gathers facts when it
ends, and now and then before: who is killed or leaves by `os._exit` has left those.
"""
from __future__ import annotations

import _thread
import argparse
import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pyfuncdbg import hosts
from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.observers.debug.diagnosis.diagnose import Diagnosis, diagnose
from pyfuncdbg.ui.commands.engine.arguments import one_of
from pyfuncdbg.ui.commands.engine.command import Command, Context
from pyfuncdbg.ui.commands.engine.to_json import to_json
from pyfuncdbg.ui.commands.programs.uncaught_exception import uncaught
from pyfuncdbg.ui.views.page import print_page
from pyfuncdbg.ui.views.reports.doctor import NAMES, doctor_view

_FIRST, _LONGER, _LONGEST = 0.5, 1.5, 30.0
"""Seconds to the first gathering, by how much longer each next one takes, and the longest."""
_EXAMINING = 'examining the trace, kinds of faults'
"""Text of the progress bar."""


def _doctor(context: Context, args: argparse.Namespace) -> Diagnosis:
    with context.progress(_EXAMINING) as tell:
        diagnosis = diagnose(context.trace, hosts.doctors(), tell)
    if args.kind is None:
        return diagnosis
    findings = tuple(finding for finding in diagnosis.findings if finding.kind == args.kind)
    return replace(diagnosis, findings=findings)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument('--kind', metavar='KIND', type=one_of(tuple(NAMES), 'kind of finding'),
                        help=f'only this kind: {", ".join(NAMES)}')


DOCTOR = Command('doctor', 'leaks, lost shapes and gradients, slow loaders, compilations, waiting; and their fixes', 'judge',
                 _doctor, doctor_view, _arguments,
                 examples=('doctor', 'doctor --kind leak'))


# ---------------------------------------------------------------- in the program's process
def examine(path: Path, argv: Sequence[str], budget: int | None) -> None:
    """Record and examine this process until the interpreter's exit.

    Args:
        path: Folder of the trace, to be made.
        argv: The program's `sys.argv`, which it gets now.
        budget: Bytes that the trace may take; None for the recorder's own limit.
    """
    from pyfuncdbg.hooks.facts import Fact
    from pyfuncdbg.observers.debug.diagnosis.evidence import FactWriter
    from pyfuncdbg.observers.debug.diagnosis.gil_use import GilUse
    from pyfuncdbg.observers.debug.diagnosis.graph_context_hook import GraphContextHook
    from pyfuncdbg.observers.debug.diagnosis.reported_facts import record_reports
    from pyfuncdbg.observers.record.recorder import Recorder
    sys.argv = list(argv)
    recorder = (Recorder(path) if budget is None else Recorder(path, budget=budget)).start()
    hosts.await_imports(examine=True)
    gatherer, lock, owner = FactWriter(recorder), threading.Lock(), os.getpid()
    watchers = occupancy, surroundings = GilUse(), GraphContextHook()
    for watcher in watchers:
        watcher.start()

    def gather(*more: Fact) -> bool:
        with lock:
            facts = *hosts.facts(), *occupancy.facts(), *surroundings.facts(), *more
            return gatherer.write(facts, occupancy.stacks())

    def finish() -> None:
        ended.append(True)
        if os.getpid() == owner:                    # a forked child has the facts of its parent, but those that it reports
            gather(Fact('ended', data={'raised': uncaught()}))
        for watcher in watchers:
            watcher.stop()
        recorder.stop()

    ended: list[bool] = []
    gather(Fact('begun'))
    record_reports(recorder)
    _thread.start_new_thread(_now_and_then, (gather, ended))
    # First in, last out: after the program's own threads and atexit handlers, whose calls belong to the trace.
    atexit.register(finish)


def _now_and_then(gather: Callable[[], bool], end_flag: Sequence[bool]) -> None:
    """Gather again and again until the program has ended, on a thread of its own; not in a forked child."""
    owner, interval = os.getpid(), _FIRST
    while True:
        time.sleep(interval)
        if end_flag or os.getpid() != owner:
            return
        with contextlib.suppress(Exception):    # the program is changing these tables; the next pass reads them again
            if gather():
                interval = min(interval * _LONGER, _LONGEST)


# ---------------------------------------------------------------- in the process of the command
def attend(args: Sequence[str], path: Path, as_json: bool, unasked: bool) -> int:
    """Run the program in a process of its own, and report the findings when it has ended.

    Args:
        args: What the process gets after `pyfuncdbg doctor --examined PATH`.
        path: Folder of its trace.
        as_json: Tell it as one line of JSON.
        unasked: The user has not asked for a trace at this path: one that holds nothing is taken away.

    Returns:
        The program's exit code; 128 and the number of the signal that killed it.
    """
    command = [sys.executable, *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
               '-m', 'pyfuncdbg', 'doctor', '--examined', str(path), *args]
    with _signals() as told, subprocess.Popen(command) as child:
        told.append(child)
        code = child.wait()
    if any(path.glob('*')) and not _tell(path, as_json) and unasked:
        shutil.rmtree(path, ignore_errors=True)
    if code >= 0:
        return code
    if -code in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):     # end by the same signal, so that a loop in a shell ends
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return 128 - code


@contextlib.contextmanager
def _signals() -> Iterator[list[subprocess.Popen[bytes]]]:
    """While the program runs: Ctrl-C is its affair, and a request to end is handed on to it."""
    child: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, frame: object) -> None:
        for process in child:
            process.send_signal(number)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        for number, old in before.items():
            if old is not signal.SIG_IGN:           # a handler, not SIG_IGN: a child process would keep that
                signal.signal(number, (lambda number, frame: None) if number == signal.SIGINT else hand_on)
        yield child
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _tell(path: Path, as_json: bool) -> bool:
    """Write the findings to stderr: stdout holds only what the program wrote. Whether the trace is worth a look."""
    import shlex

    from rich.console import Console

    from pyfuncdbg.observers.record.trace import Trace
    from pyfuncdbg.ui.views.progress import work_progress
    try:
        with Trace.open(path) as trace, work_progress(_EXAMINING) as tell:
            diagnosis = diagnose(trace, hosts.doctors(), tell)
    except PyfuncdbgError as error:
        print(f'pyfuncdbg: {error}', file=sys.stderr)
        return True
    if as_json:
        print(to_json(diagnosis), file=sys.stderr, flush=True)
        return bool(diagnosis.calls or diagnosis.findings)
    console = Console(file=sys.stderr, highlight=False, markup=False)
    print_page(doctor_view(diagnosis), console)
    if not diagnosis.calls and not diagnosis.findings:
        return False
    number = next((finding.calls[0] for finding in diagnosis.findings if finding.calls and finding.calls[0]), '')
    console.print(f'pyfuncdbg show {shlex.quote(str(path))} ' + (f'call {number}' if number else 'doctor'), style='cyan',
                  soft_wrap=True)
    return True
COMMANDS: tuple[Command, ...] = (DOCTOR,)
