"""Flight recorder: keeps the newest calls in memory, and writes a trace of them only where a trigger trips.

A hook like the recorder; runs on the threads of the calls. Each process has a ring of its own.
"""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import Any, Literal

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks.call import Call
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.notice import say
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.flight.call_ring import Ring
from pyfuncdbg.observers.record.flight.trigger import Trigger
from pyfuncdbg.observers.record.flight.window import FlightWindow
from pyfuncdbg.observers.record.installation import DEPTH, carry_on, forking_calls, install, uninstall
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.queue import ROW_SIZE, Backlog, Running
from pyfuncdbg.observers.record.log.writer import failure_reason
from pyfuncdbg.observers.record.policy import recording_policy
from pyfuncdbg.observers.record.recorder import queue_limit, watch
from pyfuncdbg.observers.record.records import SWITCH
from pyfuncdbg.observers.record.selective_calls import SelectiveCalls
from pyfuncdbg.observers.record.snapshots.call_state import CallStates
from pyfuncdbg.observers.record.snapshots.site_notes import plain_data
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshots
from pyfuncdbg.observers.record.snapshots.snapshot_memory import Allowance, BufferPool
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent


class FlightRecorder:
    """Records into memory from `start` to `stop`, and into a trace around each trip; also a context manager.

    Attributes:
        traces: Folders of the traces that this process has written.
        missed: Trips that no trace was written for.
    """

    passive = True
    """For hosts: it never pauses a run nor changes a value."""

    def __init__(self, path: str | os.PathLike[str], trigger: Trigger, *, before: int = 200, after: int = 50,
                 keep_most: int = 10, memory: int = 64 << 20, budget: int = 256 << 20, full_limit: int = 64 << 10,
                 level: str = 'stats', ops: bool = False, capture: Literal['tee', 'only', 'off'] = 'tee') -> None:
        """Prepare; nothing is written before the first trip.

        Args:
            path: NAME.pfd: each trace takes the first of that, NAME-2.pfd, NAME-3.pfd, ... that does not exist.
            trigger: What trips.
            before: Calls of the process to keep before the one that trips: of functions, backward steps, runs, and nodes.
            after: Calls to keep after it; a trip within them begins these anew.
            keep_most: Traces that each process may write.
            memory: Bytes that the calls in memory may take; values of many bytes leave less than `before` of them.
            budget, full_limit, level, ops, capture: As for `Recorder`, for each trace.

        Raises:
            TraceError: A number is too small, or there is no such level.
        """
        for name, number, least in (('before', before, 0), ('after', after, 0), ('keep_most', keep_most, 1)):
            if number < least:
                raise TraceError(f'{name} is {number}; expected an integer from {least} on')
        if before * ROW_SIZE > memory // 4:
            raise TraceError(f'{before:,} calls before a trip take {4 * ROW_SIZE * before:,} bytes of memory at least, '
                             f'more than {memory:,}: keep less calls, or give more memory')
        trace_folder.check_budget(budget)
        self.path = Path(path)
        self.trigger = trigger
        self._trips = trigger.trips
        self.before, self.after, self.keep_most = before, after, keep_most
        self.memory, self.budget = memory, budget
        self._policy = recording_policy(level, full_limit, ops, 1)
        self.kinds = self._policy.kinds
        self.traces: list[Path] = []
        self.missed = 0
        self._not_written = 0
        self._capture = Capture(capture) if capture != 'off' else None
        self._state: Literal['new', 'on', 'off'] = 'new'
        self._is_paused = False
        self._lock = new_rlock()
        self._resting = 0
        self._is_opening = self._is_failure_told = False
        self._retired: Backlog | None = None
        self._window: FlightWindow | None = None
        self._begin()

    def _begin(self) -> None:
        """An empty ring in fresh memory: at the start, and in a forked child."""
        self._snapshots = Snapshots(
            self._policy.usual.level, self._policy.full_limit, Allowance(self.memory // 2), BufferPool(self.memory // 4),
            lambda condition: self._ring.calls.backlog.overflow(condition), self._write_through)
        self._arm(None)

    def _arm(self, before: CallRecorder | None) -> None:
        """A new ring; calls that run now, recorded by `before`, will be in it."""
        backlog = Backlog(queue_limit(self.budget) // 4)
        if before is not None:
            backlog.running = before.running
        usual = self._policy.usual
        states = CallStates(partial(backlog.put_state, self._snapshots)) if self._policy.keeps_values else None
        if states is not None:
            backlog.states_in_force = states.numbers_in_force
        calls = CallRecorder(backlog, self._snapshots, self._policy.scalars(usual), self._capture, None, states,
                             self._resume_writer)
        halves = SelectiveCalls(calls, self._policy) if self._policy.is_selective else calls
        self._ring = Ring(calls, self.before)
        self._calls_and_halves = calls, halves              # read at once: another thread may be closing a trace
        self.on_begin: Callable[[Call], Any] = self._begin_remembered if self.trigger.remembers else halves.on_begin
        self.on_break_off: Callable[[Call, Any], None] = halves.on_break_off

    @property
    def calls(self) -> CallRecorder:
        """The recorder that has the queue now."""
        return self._calls_and_halves[0]

    def start(self) -> FlightRecorder:
        """Install the hook.

        Returns:
            The recorder itself.

        Raises:
            TraceError: It was started before, or no trace can be made beside its path.
        """
        if self._state != 'new':
            raise TraceError(f'{self.path}: this recorder was already used; make a new one')
        if not self.path.absolute().parent.is_dir():
            raise TraceError(f'{self.path}: cannot record there: there is no folder {self.path.absolute().parent}')
        self.path = self.path.absolute()        # the program may change its folder before anything trips
        self._process = os.getpid()
        self._state = 'on'
        install(self, self._capture)
        return self

    def stop(self) -> None:
        """Remove the hook, close the trace that is being written, and report what was not written."""
        with self._lock:
            if self._state != 'on':
                return
            self._state = 'off'
        uninstall(self, self._capture)
        with self._lock:
            if self._window is not None:
                self._close(self._window)
        self._report()

    @property
    def is_paused(self) -> bool:
        """Whether it sees no calls until `resume`."""
        return self._is_paused

    def pause(self) -> None:
        """See no calls that begin from now on, until `resume`; what is in memory stays."""
        if self._state == 'on' and not self._is_paused:
            self._is_paused = True
            self.calls.backlog.notes.append([SWITCH, perf_counter_ns(), {'on': False}])
            hooks.remove(self)

    def resume(self) -> None:
        """See calls again."""
        if self._state == 'on' and self._is_paused:
            self._is_paused = False
            self.calls.backlog.notes.append([SWITCH, perf_counter_ns(), {'on': True}])
            hooks.add(self, depth=DEPTH)

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Put something that is no call into the trace that is being written; without one it is not kept.

        Args:
            kind: Its kind, for `Trace.notes`.
            data: What msgpack can write.
        """
        with self._lock:
            if self._window is not None:
                self.calls.backlog.notes.append([kind, perf_counter_ns(), plain_data(data)])

    def __enter__(self) -> FlightRecorder:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    # ------------------------------------------------------------------ calls
    @transparent
    def around(self, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Record one call.

        Args:
            call: The call.
            proceed: Executes it.

        Returns:
            Its outputs.
        """
        return watch(self, call, proceed)

    def _begin_remembered(self, call: Call) -> Any:
        """`on_begin` of a trigger that looks back at earlier calls."""
        self.trigger.begin(call)
        return self._calls_and_halves[1].on_begin(call)

    def on_return(self, call: Call, entry: Running, outputs: Sequence[Any]) -> None:
        """Keep a call that has returned, and ask the trigger.

        Args:
            call: The call.
            entry: Its entry, from `on_begin`.
            outputs: As the function returned them.
        """
        if condition := self._trips(call, outputs, None):
            self._trip(call, condition, lambda halves: halves.on_return(call, entry, outputs))
            return
        self._halves_for(call).on_return(call, entry, outputs)
        if self._window is not None or self._resting:
            self._advance()

    def on_error(self, call: Call, entry: Running, error: BaseException) -> None:
        """Keep a call that has raised, and ask the trigger.

        Args:
            call: The call.
            entry: Its entry, from `on_begin`.
            error: With its traceback.
        """
        if condition := self._trips(call, None, error):
            self._trip(call, condition, lambda halves: halves.on_error(call, entry, error))
            return
        self._halves_for(call).on_error(call, entry, error)
        if self._window is not None or self._resting:
            self._advance()

    def _halves_for(self, call: Call) -> CallRecorder | SelectiveCalls:
        """What queues the end of a call; that may have begun with another, or its run be forgotten."""
        calls, halves = self._calls_and_halves
        if call.run.id not in calls.known_runs or call.site.id not in calls.known_sites:
            calls.announce_again(call.run, call.site)
        return halves

    def _trip(self, call: Call, condition: str, finish: Callable[[CallRecorder | SelectiveCalls], None]) -> None:
        """Open a trace, or keep the one that is open for longer, and queue the call there: no other thread evicts it."""
        with self._lock:
            window = self._window
            if window is None:
                # A signal handler of the program may make calls while a trace is opened.
                is_armed = self._state == 'on' and not (self._resting or self._is_opening)
                window = self._open(condition) if is_armed and len(self.traces) < self.keep_most else None
                if window is None:
                    self.missed += 1
                    self._resting = self.after + 1 if self._resting else 0
                    finish(self._halves_for(call))
                    return
            window.note_trip(call, condition)
            finish(self._halves_for(call))
            window.secure()
            self._close_if_done(window)

    def _open(self, condition: str) -> FlightWindow | None:
        ring = self._ring
        self._is_opening = True
        try:
            window = FlightWindow(self.path, ring, self.after,
                                  (self.budget, self.budget - queue_limit(self.budget)), self._policy.facts(self.budget))
        except (TraceError, OSError) as error:
            if not self._is_failure_told:
                self._is_failure_told = True
                why = str(error) if isinstance(error, TraceError) else f'{self.path}: {failure_reason(error)}'
                say(f'{why}. {condition} was met and could not be kept; the program continues.')
            return None
        except BaseException:                   # of a signal handler of the program
            self._arm(self.calls)
            raise
        finally:
            self._is_opening = False
        self._window = window
        self._not_written += ring.evicted
        self.traces.append(window.path)
        return window

    def _advance(self) -> None:
        """A call without a trip has ended."""
        with self._lock:
            window = self._window
            if window is None:
                self._resting = max(self._resting - 1, 0)
                return
            window.left -= 1
            self._close_if_done(window)

    def _close_if_done(self, window: FlightWindow) -> None:
        if window.is_full:                      # a condition that holds all the time is no reason for another trace
            self._resting = self.after + 1
        if window.left <= 0 or window.is_broken or window.is_full:
            self._close(window)

    def _close(self, window: FlightWindow) -> None:
        """Close a trace; calls go into a new ring from now on."""
        self._window, retired = None, self.calls.backlog
        self._arm(self.calls)
        window.close()
        self._count_late()
        self._retired = retired

    def _count_late(self) -> None:
        """Count calls that were queued for a trace which another thread was closing."""
        if self._retired is not None:
            self._not_written += len(self._retired.rows)
            self._retired = None

    def _write_through(self, content: TensorContent) -> list[Any] | None:
        """A tensor that has no room in memory: it goes into the trace at once, or is not kept."""
        window = self._window
        return window.writer.write_through(content) if window is not None else None

    def _resume_writer(self) -> None:
        """Start the writer's thread again, which has ended for a fork."""
        with self._lock:
            window, backlog = self._window, self.calls.backlog
            if window is not None and not backlog.mark and backlog.cap:
                window.writer.start()
                backlog.mark = backlog.usual_mark

    def _report(self) -> None:
        """Count what is in no trace."""
        self._count_late()
        not_written = self._not_written + self._ring.evicted + len(self.calls.backlog.rows)
        if not (not_written or self.traces or self.missed) and self._process != os.getpid():
            return
        kept = f'{len(self.traces)} {"trace" if len(self.traces) == 1 else "traces"}' if self.traces else 'no trace'
        why = f': at most {self.keep_most} traces' if len(self.traces) >= self.keep_most else ''
        missed = f'it held at {self.missed:,} more, not kept{why}'
        said = [f'{not_written:,} {"call" if not_written == 1 else "calls"} not written', *([missed] if self.missed else []),
                self.trigger.complaint()]
        whose = '' if os.getpid() == self._process else f', process {os.getpid()}'
        say(f'{self.trigger.text}{whose}: {kept}; {"; ".join([one for one in said if one])}')

    # ------------------------------------------------------------------ forks
    @property
    def thread(self) -> int:
        """`threading.get_ident()` of the writer's thread, 0 if there is none."""
        return self._window.writer.thread if self._window is not None else 0

    def before_fork(self) -> None:
        """Let the writer thread end and write everything; the next call starts it again."""
        window = self._window
        if window is not None:
            window.writer.end_thread()
            self.calls.backlog.mark = 0
            window.writer.flush(everything=True, wait=False)

    def after_fork(self) -> None:
        """In the child: a ring of its own, with what this thread was doing; the parent's trace is the parent's."""
        entries = forking_calls(self.calls.backlog)
        if self._window is not None:
            self._window.writer.abandon()
        self._window = self._retired = None
        self._is_opening = False
        self.traces, self.missed, self._not_written = [], 0, 0
        self._begin()
        carry_on(entries, self.calls)
