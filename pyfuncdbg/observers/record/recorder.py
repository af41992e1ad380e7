"""The recorder: the hook that writes every call into a trace.

`around` runs on the thread of each call and does the least: copy what may change, put one tuple into a queue. The writer
thread does the rest.
"""
# long: one hook; its ways of starting, recording, forking and stopping change the same few fields
from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from pyfuncdbg.errors import TraceError
from pyfuncdbg.hooks import commit_points, op_cost, process_invitations
from pyfuncdbg.hooks.call import Call, next_id
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.installed_hooks import Hook, Watcher
from pyfuncdbg.hooks.locks import new_rlock
from pyfuncdbg.hooks.process_invitations import Invitation
from pyfuncdbg.hooks.program_arguments import program_arguments
from pyfuncdbg.hooks.transparent_frames import transparent
from pyfuncdbg.observers.record import delayed_recorder
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.installation import DEPTH, carry_on, forking_calls, install, uninstall
from pyfuncdbg.observers.record.log import trace_folder
from pyfuncdbg.observers.record.log.log_segments import log_limits
from pyfuncdbg.observers.record.log.notice import Notices
from pyfuncdbg.observers.record.log.queue import Backlog, Running
from pyfuncdbg.observers.record.log.trace_folders import EXIST, Exist, create_trace
from pyfuncdbg.observers.record.log.writer import Writer, failure_reason
from pyfuncdbg.observers.record.op_recorder import OpRecorder
from pyfuncdbg.observers.record.policy import RecordingPolicy, recording_policy
from pyfuncdbg.observers.record.processes.abrupt_ends import commit_while_recorded
from pyfuncdbg.observers.record.processes.recorded_process import RecordedProcess
from pyfuncdbg.observers.record.records import OPS, SWITCH
from pyfuncdbg.observers.record.snapshots.call_state import CallStates
from pyfuncdbg.observers.record.snapshots.error_capture import Failure
from pyfuncdbg.observers.record.snapshots.shared_arrays import SharedArrays
from pyfuncdbg.observers.record.snapshots.site_notes import plain_data
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshots
from pyfuncdbg.observers.record.snapshots.snapshot_memory import Allowance, BufferPool
from pyfuncdbg.observers.record.snapshots.tensor_content import TensorContent

if TYPE_CHECKING:
    from pyfuncdbg.hooks.op_batch import OpBatch
    from pyfuncdbg.observers.record.selective_calls import SelectiveCalls
    from pyfuncdbg.observers.record.trace import Trace

_QUEUE_SHARE = 8
_LARGEST_QUEUE = 64 << 20

_on: list[Recorder] = []


def recorders() -> tuple[Recorder, ...]:
    """The recorders that are on.

    Returns:
        In order of starting; one that waits for the first call begins.
    """
    delayed_recorder.begin_all()
    return tuple(_on)


def queue_limit(budget: int) -> int:
    """The part of a budget that is for calls in memory.

    Args:
        budget: Bytes of a trace.

    Returns:
        Bytes.
    """
    return min(budget // _QUEUE_SHARE, _LARGEST_QUEUE)


@transparent
def watch(watcher: Watcher, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
    """The `around` of a watcher: its methods before and after the call.

    Args:
        watcher: The hook.
        call: The call.
        proceed: Executes it.

    Returns:
        Its outputs.
    """
    entry = watcher.on_begin(call)
    try:
        try:
            outputs = proceed()
        except BaseException as error:
            watcher.on_error(call, entry, error)
            raise
        watcher.on_return(call, entry, outputs)
    except BaseException:
        watcher.on_break_off(call, entry)
        raise
    return outputs


class Recorder:
    """Records into one trace from `start` to `stop`; also a context manager.

    Forked children go on recording into the same trace, each process into a log of its own.
    """

    passive = True
    """For hosts: it never pauses a run nor changes a value."""

    def __init__(self, path: str | os.PathLike[str], *, budget: int = 256 << 20, full_limit: int = 64 << 10,
                 level: str = 'stats', every: int = 1, ops: bool = False, capture: Literal['tee', 'only', 'off'] = 'tee',
                 exist: Exist = 'error', segment: int | None = None, keep_newest: bool = False) -> None:
        """Prepare; nothing is written before `start`.

        Args:
            path: Folder of the trace.
            budget: Bytes that the trace may take, on disk and in the queue. Never exceeded: tensor values are dropped
                first, then prints, then whole calls, and all of it is counted. An almost full disk is a smaller budget;
                calls wait for a slow one, for 5 s at most without progress.
            full_limit: At level 'stats', tensors up to this many bytes are kept whole.
            level: What is kept of each tensor: 'none', 'stats' or 'full'; or rules by site or element type; the first
                that matches counts: 'loss=full,float64=none,*=stats'.
            every: N records each Nth call of a site. The others are counted, and kept where they raise.
            ops: Also record every graph node.
            capture: What calls print is recorded and printed; 'only' recorded; or with 'off' only printed.
            exist: What to do if `path` exists: 'error', unless it is an empty folder; 'number' takes the first free of
                NAME-2.pfd, NAME-3.pfd, ...; 'replace' removes a trace there, and nothing else.
            segment: Bytes from which on the log of a process goes on in another file; by default 1 GiB.
            keep_newest: Where the budget is used up, remove the oldest segment of the process and count its calls, instead
                of leaving out new ones; by default a segment is an eighth of the budget then.

        Raises:
            TraceError: The budget, the level, the segment or `exist` is none.
        """
        trace_folder.check_budget(budget)
        policy = recording_policy(level, full_limit, ops, every)
        if exist not in EXIST:
            raise TraceError(f'exist={exist!r}: expected one of {", ".join(map(repr, EXIST))}')
        self.path = Path(path)
        self._exist: Exist = exist
        self.budget = budget
        self._policy = policy
        self._options = {'budget': budget, 'full_limit': full_limit, 'level': level, 'every': every, 'ops': ops,
                         'capture': capture, 'segment': segment, 'keep_newest': keep_newest}
        self.summaries = level == 'stats' and not policy.full_limit and not policy.is_selective
        """For hosts: counts of a graph node's values are enough."""
        self._op_cost = op_cost.total()
        self.kinds = policy.kinds
        self._queue_limit = queue_limit(budget)
        self._limits = log_limits(budget - self._queue_limit, segment, keep_newest)
        self._scalars = policy.scalars(policy.usual)
        self._capture = Capture(capture) if capture != 'off' else None
        self._writer: Writer | None = None
        self._put_back_ends: Callable[[], None] | None = None
        self._state: Literal['new', 'on', 'off'] = 'new'
        self._is_paused = False
        self._is_first = True
        self._lock = new_rlock()
        self._notices = Notices()
        self._reset()

    def _reset(self) -> None:
        """An empty queue and nothing announced: at the start, and in a forked child."""
        self._backlog = Backlog(self._queue_limit // 4)
        level, shares = self._policy.usual.level, self._policy.ops and not self._policy.is_selective
        self._snapshots = Snapshots(level, self._policy.full_limit, Allowance(self._queue_limit // 2),
                                    BufferPool(self._queue_limit // 4), self._backlog.pressure.wait_for, self._write_through)
        shared = SharedArrays(self._snapshots, self._scalars) if shares and level != 'none' else None
        states = CallStates(partial(self._backlog.put_state, self._snapshots)) if self._policy.keeps_values else None
        if states is not None:
            self._backlog.states_in_force = states.numbers_in_force
        self.calls = CallRecorder(self._backlog, self._snapshots, self._scalars, self._capture, shared, states,
                                  self._restart)
        if shares:
            self.on_ops: Callable[[OpBatch], None] = OpRecorder(self.calls).on_ops
        # The halves of a `Watcher`, called without a frame of this class around them.
        halves = _select_calls(self.calls, self._policy) if self._policy.is_selective else self.calls
        self.on_begin: Callable[[Call], Running | None] = halves.on_begin
        self.on_return: Callable[[Call, Any, Outputs], None] = halves.on_return
        self.on_error: Callable[[Call, Any, BaseException], None] = halves.on_error
        self.on_break_off: Callable[[Call, Any], None] = halves.on_break_off

    def start(self) -> Recorder:
        """Create the trace and install the hooks.

        Returns:
            The recorder itself.

        Raises:
            TraceError: The path is taken or cannot be written, or this recorder was started before.
        """
        if self._state != 'new':
            raise TraceError(f'{self.path}: this recorder was already used; make a new one')
        self.path, is_new_folder = create_trace(self.path, self._exist, self.budget, options=self._options)
        self.path = self.path.resolve()
        try:
            self._identity = trace_folder.identity(self.path)
            self._open_log()
        except OSError as error:
            trace_folder.remove(self.path, is_new_folder)
            raise trace_folder.cannot_record_error(self.path, error) from error
        self._put_back_ends = commit_while_recorded(RecordedProcess(str(self.path), program_arguments()))
        self._install()
        return self

    def join(self, identity: tuple[int, int], *, is_first: bool = False, replaced: Hook | None = None) -> Recorder:
        """Record into a trace that is made; the log of a process that has not made it is made with its first call.

        Args:
            identity: Of the folder, as `trace_folder.identity` gives it.
            is_first: This process has made it.
            replaced: The hook that has waited for this one.

        Returns:
            The recorder itself.

        Raises:
            OSError: The trace was removed, moved or replaced, or it cannot be written.
        """
        trace_folder.check_identity(self.path, identity)
        self._identity, self._is_first = identity, is_first
        if is_first:
            self._open_log()
        self._install(replaced)
        return self

    def invitation(self) -> Invitation | None:
        """What a process that starts now needs to record into this trace, too.

        Returns:
            The invitation; None while nothing is recorded.
        """
        if self._state != 'on' or self._is_paused or self.gone:
            return None
        return Invitation(__name__, 'join_recording', {'path': str(self.path), 'identity': self._identity,
                                                       'options': self._options})

    def _install(self, replaced: Hook | None = None) -> None:
        """Install the hooks."""
        self._state = 'on'
        process_invitations.offer(self.invitation)
        commit_points.add(self._commit)
        _on.append(self)
        install(self, self._capture, replaced)
        self._backlog.first = next_id()         # calls may have begun after this recorder was made

    @property
    def gone(self) -> bool:
        """Whether the trace was removed, moved or replaced while it was being recorded."""
        return self._writer is not None and self._writer.gone

    def stop(self) -> None:
        """Remove the hooks, write what waits and close the log. Calls still running stay in the trace as unfinished."""
        hooks.deliver_ops()
        if (cost := op_cost.total().since(self._op_cost)).calls:
            self.note(OPS, dataclasses.asdict(cost))
        with self._lock:
            if self._state != 'on':
                return
            self._state = 'off'
        self.withdraw()
        uninstall(self, self._capture)
        process_invitations.withdraw(self.invitation)
        commit_points.remove(self._commit)
        if self._put_back_ends is not None:
            self._put_back_ends()
        if self._writer is None and (self._backlog.rows or self._backlog.ops or self._backlog.notes):
            with contextlib.suppress(OSError):
                self._open_log(thread=False)
        if self._writer is not None:
            self._writer.close()

    @property
    def is_paused(self) -> bool:
        """Whether it sees no calls until `resume`."""
        return self._is_paused

    def pause(self) -> None:
        """See no calls that begin from now on, until `resume`; the trace says so."""
        if self._state == 'on' and not self._is_paused:
            self._is_paused = True
            self.note(SWITCH, {'on': False})
            self.withdraw()

    def resume(self) -> None:
        """See calls again."""
        if self._state == 'on' and self._is_paused:
            self._is_paused = False
            self.note(SWITCH, {'on': True})
            _on.append(self)
            hooks.add(self, depth=DEPTH)

    def withdraw(self) -> None:
        """See no calls any more but those that another hook hands to `around`; the log stays open until `stop`."""
        if self in _on:
            _on.remove(self)
        hooks.remove(self)

    def __enter__(self) -> Recorder:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def flush(self) -> None:
        """Write what waits: then calls that finished before are in the trace, and those still running as unfinished."""
        hooks.deliver_ops()
        if self._writer is not None and self._state == 'on':
            self._writer.flush(everything=True)

    def _commit(self, at_once: bool) -> None:
        """Write what waits, at a commit point."""
        if at_once:
            self.flush()
        else:
            hooks.deliver_ops()
            self._backlog.wake.set()

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Put something that is no call into the trace, such as a stop or a breakpoint.

        Args:
            kind: Its kind, for `Trace.notes`.
            data: What msgpack can write.
        """
        if self._state == 'on' and self._backlog.cap:
            self._backlog.notes.append([kind, perf_counter_ns(), plain_data(data)])
            self._backlog.wake.set()

    def keep(self, call: Call, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Record a call that is over once more, with every value whole, whatever the level: the later record counts.

        Args:
            call: Recorded by now, or of a kind that is not recorded otherwise.
            inputs: Copies of its inputs.
            outputs: Its outputs, nothing if it raised.
        """
        if self._state == 'on':
            snapshots = self._snapshots.keeping_all()
            self.calls.announce(call.run, call.site)
            input_snapshots = snapshots.take_all(inputs, call.site.host, self._scalars)
            failure = Failure(call.error, call.site.host, self._snapshots) if call.error is not None else None
            self.calls.finish(call, input_snapshots, outputs, failure, snapshots)

    def trace(self) -> Trace:
        """Open the trace so far for reading.

        Returns:
            The trace; the caller closes it.
        """
        from pyfuncdbg.observers.record.trace import Trace
        self.flush()
        return Trace.open(self.path)

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

    def _write_through(self, content: TensorContent) -> list[Any] | None:
        """Write a tensor that has no room in the queue at once; None if it has none on disk either."""
        if self._backlog.mark == 0:
            self._restart()
        return self._writer.write_through(content) if self._writer is not None else None

    def _open_log(self, *, thread: bool = True) -> None:
        """Create this process's log and start its writer thread."""
        trace_folder.check_identity(self.path, self._identity)
        self._writer = Writer(self.path, self._limits, self._backlog, self._snapshots,
                              self._policy.facts(self.budget), self._notices, lambda: hooks.remove(self), self._is_first)
        if thread:
            self._writer.start()
            self._backlog.mark = self._backlog.usual_mark

    def _restart(self) -> None:
        with self._lock:
            if self._backlog.mark or not self._backlog.cap or self._state != 'on':
                return
            if self._writer is not None:
                self._writer.start()
                self._backlog.mark = self._backlog.usual_mark
                return
            try:
                self._open_log()
            except OSError as error:
                self._backlog.close(self._snapshots)
                hooks.remove(self)
                self._notices.ended(self.path, failure_reason(error))

    @property
    def thread(self) -> int:
        """`threading.get_ident()` of the writer's thread, 0 if there is none."""
        return self._writer.thread if self._writer is not None else 0

    def before_fork(self) -> None:
        """Let the writer thread end and write everything; the next call starts it again."""
        hooks.deliver_ops()
        if self.calls.states is not None:       # else a child waits for ever for the thread that was importing
            self.calls.states.look_up_generators()
        if self._writer is not None and self._state == 'on':
            self._writer.end_thread()
            self._backlog.mark = 0
            self.calls.known_runs.clear()
            self._writer.flush(everything=True, wait=False)

    def after_fork(self) -> None:
        """In the child: leave the parent's log and queue alone, and go on with what this thread was doing."""
        entries = forking_calls(self._backlog)
        if self._writer is not None:
            self._writer.abandon()
        self._writer, self._is_first = None, False
        self._op_cost = op_cost.total()
        self._reset()
        if self._state != 'on':                 # another thread of the parent was stopping it
            self.withdraw()
        carry_on(entries, self.calls)
        self.calls.known_runs.clear()


def join_recording(path: str, identity: tuple[int, int], options: Mapping[str, Any],
                   replaced: Hook | None = None) -> Recorder:
    """Record into the trace of the process that has started this one, from now to its end.

    Args:
        path: Folder of the trace.
        identity: Of the folder.
        options: Of the recorder, as in that process.
        replaced: As of `Recorder.join`.

    Returns:
        The recorder; that of an earlier call if this process has joined already.

    Raises:
        OSError: The trace was removed, moved or replaced.
    """
    for recorder in _on:
        if recorder._identity == identity:
            return recorder
    return Recorder(path, **options).join(identity, replaced=replaced)


def _select_calls(calls: CallRecorder, policy: RecordingPolicy) -> SelectiveCalls:
    from pyfuncdbg.observers.record.selective_calls import SelectiveCalls  # for --every and for levels by site
    return SelectiveCalls(calls, policy)


__all__ = ['DEPTH', 'Recorder']
