"""A stop: one thread that waits for the user, and what the user decides.

Made on the thread that stops. Other threads (a prompt that switches, the command socket) read it and hand it work; all
that needs the thread's frames or values is done on the stopped thread itself.
"""
from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pyfuncdbg.errors import CommandError
from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.native_thread import thread_name
from pyfuncdbg.hooks.own_files import is_cell_runner, is_machinery
from pyfuncdbg.hooks.program_traceback import whole_traceback
from pyfuncdbg.hooks.source_map import frame_line, program_code, program_line

if TYPE_CHECKING:
    from pyfuncdbg.hooks.call import Call, Run
    from pyfuncdbg.hooks.run_cursor import RunCursor
    from pyfuncdbg.observers.debug.stops.remote_stop import RemoteStop

Phase = Literal['before', 'after', 'error', 'call', 'line', 'return', 'exception', 'node', 'run', 'end', 'post-mortem']
"""Where a thread is: before a call, after it, where it raised; where a Python function begins, at a line, at a return,
where a line raised; before a node of a paused run; before and after a whole run; nowhere any more, with the frames of an
error."""

Verb = Literal['cont', 'step', 'next', 'until', 'return', 'jump', 'node', 'into', 'to', 'rewind', 'retry', 'swap', 'run',
               'quit', 'abort']

PYTHON: tuple[Phase, ...] = ('call', 'line', 'return', 'exception')
"""Phases that a trace function came to."""
STEPS: tuple[Verb, ...] = ('step', 'next', 'until', 'return')
"""Verbs that are about Python."""
FORWARD: tuple[Verb, ...] = (*STEPS, 'node', 'into', 'to')
"""Verbs that go on to a later place of the same thread."""
STOPS_AGAIN: frozenset[Verb] = frozenset((*FORWARD, 'jump', 'rewind', 'swap', 'retry'))
"""Verbs after which the user expects the next stop soon, on the same thread."""

DIFFERS = 'differs from'
"""How the reason of a stop begins at which the program diverges from a recording."""

_numbers = itertools.count(1)
_Result = TypeVar('_Result')


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision at a stop: how the program goes on.

    Attributes:
        verb: The command.
        argument: Line for `until` and `jump`, position for `to` and `rewind`, `stepping.node_stepper.Rerun` for `swap` at a
            node, a run policy for `run`; 'into' for a `retry` that stops in the function; `RunInterrupted` for an `abort` by
            interrupting a kernel; else None.
        times: How often to do so before the user is asked again; a breakpoint on the way of steps, or an error, ends that.
    """

    verb: Verb
    argument: Any = None
    times: int = 1


@dataclass(frozen=True, slots=True)
class UserFrame:
    """A live frame of the program and the program's line it is at."""

    frame: FrameType
    line: int


class Stop:
    """A thread that waits for the user.

    Attributes:
        number: Of the stop in this process.
        phase: Where the thread is.
        thread: Native thread id; `thread_name` as Python knows it.
        call: The call that it is before, after or inside of; None outside of any, and at a node.
        run: The run, None if unknown.
        reason: Why, in one line: 'breakpoint 2', 'step', 'raised ValueError'.
        hits: The breakpoints that stopped it (`breakpoints.breakpoint.Hit`).
        error: What was raised, at an error.
        outputs: What the call gave, after it; a command may replace elements.
        result: What a function returns, at its return.
        frames: The program's frames, outermost first, without ours; of an error, to where it was raised.
        selected: Which entry of the stack is selected (`inspecting.stack`), None: the innermost.
        decision: What the user said; None as long as the thread waits.
        jumpable: Whether Python lets `jump` set the line here.
        changed: Names that the frame's last stop did not have, or with another value; None where there was none.
        anew: Whether the call is to begin anew, with what was changed of it where its function began.
        stack: As `inspecting.stack` has worked it out, None before that.
        listed: Last line that `list` has shown, 0 before that.
        differences: After `swap` or `retry`: what came out before, and now (`inspecting.tensor_differences.Difference`).
        printed: The value that was printed last here, in a tuple; () before that. Not kept beyond the stop: the program may
            ask who else holds it, as NumPy's `resize` does.
        stands: Whether what it stops for is still wanted: while it waited its breakpoint may have been cleared.
        shown: Whether the user knows of it: it had the prompt, or was asked for.
        attended: Whether the commands of its breakpoints have been begun.
        since: `time.monotonic()` when it was made.
        chain: The errors that led to `error`, the first one first, once they were asked for; () before that.
        remote: The stop of another process of the program that this one represents at the prompt; None for one of this
            process. `thread` is then the one that holds its place here.
    """

    def __init__(self, phase: Phase, *, call: Call | None = None, run: Run | None = None, frame: FrameType | None = None,
                 reason: str = '', hits: Sequence[Any] = (), error: BaseException | None = None,
                 outputs: list[Any] | None = None, result: Any = None, jumpable: bool = False,
                 remote: RemoteStop | None = None) -> None:
        self.number = next(_numbers)
        self.phase: Phase = phase
        self.thread = threading.get_native_id()
        self.thread_name = thread_name()
        self.call = call
        self.run = run if run is not None or call is None else call.run
        self.reason = reason
        self.hits = tuple(hits)
        self.error = error
        self.outputs = outputs
        self.result = result
        self.jumpable = jumpable
        self.remote = remote
        self.frame = frame
        self.frames = _frames(frame, whole_traceback(error) if error is not None else None)
        self.selected: int | None = None
        self.changed: tuple[str, ...] | None = None
        self.stack: tuple[Any, ...] | None = None
        self.listed = 0
        self.anew = False
        self.differences: tuple[Any, ...] = ()
        self.printed: tuple[Any, ...] = ()
        self.stands: Callable[[], bool] = lambda: True
        self.attended = self.shown = False
        self.chain: tuple[BaseException, ...] = ()
        self.decision: Decision | None = None
        self._left = False
        self.since = time.monotonic()
        self._lock = new_rlock()          # re-entrant: a signal handler may decide while its thread holds it
        self._work: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()

    @property
    def returns(self) -> bool:
        """Whether a function returns `result` here, and is not left by an error."""
        return self.phase == 'return' and self.error is None

    @property
    def control(self) -> RunCursor | None:
        """The control of the run, None where it is not paused at a node boundary."""
        control = self.run.control if self.run is not None else None
        return control if hasattr(control, 'go_to') else None  # type: ignore[return-value]

    def show_error(self, error: BaseException) -> None:
        """Show the frames of this error, one that led to the raised one."""
        self.error = error
        self.frames = _frames(self.frame, whole_traceback(error))
        self.selected = self.stack = None
        self.listed = 0

    def decide(self, verb: Verb, argument: Any = None, times: int = 1) -> Decision:
        """Say how it goes on; the thread leaves its stop. Any thread may call it.

        Raises:
            CommandError: It was decided before.
        """
        with self._lock:
            if self.decision is not None:
                raise CommandError(f'this stop is over already, by {self.decision.verb!r}')
            decision = self.decision = Decision(verb, argument, times)
        self._work.put(None)
        return decision

    def do(self, action: Callable[[], _Result]) -> _Result:
        """Have the stopped thread do something, and wait for the result. Called by other threads.

        Raises:
            CommandError: The thread has left the stop.
            Exception: What `action` raised.
        """
        if threading.get_native_id() == self.thread:
            return action()
        if self.decision is not None:
            raise CommandError('the thread is not stopped any more')
        future: Future[_Result] = Future()
        self._work.put((future, action))
        if self._left:
            self.leave()                        # it has resumed and reads no more requests
        return future.result()

    def wake(self) -> None:
        """Make a thread that waits in `serve` look again."""
        self._work.put(None)

    def serve(self) -> None:
        """On the stopped thread: do what other threads ask for, until `wake` or a decision."""
        while (work := self._work.get()) is not None:
            future, action = work
            try:
                future.set_result(action())
            except BaseException as error:      # raised by the thread that asked
                future.set_exception(error)

    def leave(self) -> None:
        """On the stopped thread, when it goes on: refuse what is still asked for."""
        self._left = True
        while True:
            try:
                work = self._work.get_nowait()
            except queue.Empty:
                return
            if work is not None:
                work[0].set_exception(CommandError('the thread is not stopped any more'))

    def __repr__(self) -> str:
        return f'<Stop {self.number} {self.phase} {self.call!r} thread {self.thread}>'


def _frames(frame: FrameType | None, traceback: TracebackType | None) -> tuple[UserFrame, ...]:
    """The program's frames around `frame`, outermost first, then those that an error went through."""
    entries = []
    outer = frame
    while outer is not None:
        if not is_machinery(outer.f_code.co_filename):
            entries.append(UserFrame(outer, frame_line(outer)))
        elif is_cell_runner(outer.f_code):
            break
        outer = outer.f_back
    entries.reverse()
    ids = {id(entry.frame) for entry in entries}
    while traceback is not None:
        inner = traceback.tb_frame
        if not is_machinery(inner.f_code.co_filename) and id(inner) not in ids:
            entries.append(UserFrame(inner, program_line(inner.f_code, traceback.tb_lineno)))
        traceback = traceback.tb_next
    return tuple(entries)


def location_text(stop: Stop) -> str:
    """'before norm[3]', 'norm at model.py:41', 'entering norm at model.py:40', 'before node c', 'after run #2'."""
    if stop.remote is not None:
        return f'{stop.remote.place} in {stop.remote.process}'
    if stop.phase in PYTHON or stop.phase == 'post-mortem':
        inside = f', {_call(stop)}' if stop.call is not None else ''
        return f'{"entering " if stop.phase == "call" else ""}{_line(stop)}{inside}'
    if stop.phase in ('run', 'end') and stop.run is not None:
        return f'{"before" if stop.phase == "run" else "after"} run #{stop.run.id}'
    if stop.phase == 'node':
        return _node(stop)
    return f'{"in" if stop.phase == "error" else stop.phase} {_call(stop)}'


def _call(stop: Stop) -> str:
    if stop.call is None:
        return 'a call'
    return f'{stop.call.site.name}[{stop.call.ordinal}]' if stop.call.site.kind != 'run' else f'run #{stop.call.run.id}'


def _line(stop: Stop) -> str:
    if not stop.frames:
        return 'nowhere'
    code = program_code(stop.frames[-1].frame.f_code)
    return f'{code.co_name} at {notebook_cell.short_place(code.co_filename, stop.frames[-1].line)}'


def _node(stop: Stop) -> str:
    control = stop.control
    if control is None or stop.run is None:
        return 'between two nodes'
    sites, position = control.sites, control.position
    return f'before node {sites[position].name}' if position < len(sites) else f'after the last node of run #{stop.run.id}'
