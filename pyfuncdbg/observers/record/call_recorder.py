# cython: annotation_typing=False, auto_pickle=False
"""Recording of calls, each on its own thread: copies of its values, what it says, a record in the queue.

The half of a recorder that its program waits for; `recorder` starts, forks and stops it. Compiled by `call_recorder.pxd`.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.errors import Retried
from pyfuncdbg.hooks import commit_points
from pyfuncdbg.hooks.call import Call, CallSite, Run
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.exception_message import is_missing
from pyfuncdbg.hooks.output.output import NO_OUTPUT
from pyfuncdbg.observers.record import live_sites
from pyfuncdbg.observers.record.log.queue import Backlog, QueuedOutput, Running
from pyfuncdbg.observers.record.log.queued_call import QueuedCall, queued_call
from pyfuncdbg.observers.record.snapshots.call_state import NO_STATE, CallStates, StateNumbers
from pyfuncdbg.observers.record.snapshots.error_capture import Failure
from pyfuncdbg.observers.record.snapshots.shared_arrays import SharedArrays
from pyfuncdbg.observers.record.snapshots.site_notes import RunNames, SiteNote, plan_key, remember
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshots


class CallRecorder:
    """Recorder of calls in one process, with an empty queue and nothing announced; a forked child makes another one.

    Attributes:
        backlog: The queue.
        snapshots: Takes the copies.
        scalars: Types of the values that are queued as they are.
        capture: Hears what calls say; None without.
        shared: Where graph nodes are recorded: the arrays that they share.
        states: Takes the states that calls begin in; None without.
        restart: Starts the writer's thread, where it does not run.
    """

    __slots__ = ('backlog', 'capture', 'known_runs', 'known_sites', 'plans', 'restart', 'rows', 'running', 'scalars',
                 'shared', 'snapshots', 'states')

    def __init__(self, backlog: Backlog, snapshots: Snapshots, scalars: frozenset[type], capture: Capture | None,
                 shared: SharedArrays | None, states: CallStates | None, restart: Callable[[], None]) -> None:
        self.backlog = backlog
        self.rows = backlog.rows
        self.running = backlog.running
        self.snapshots = snapshots
        self.scalars = scalars
        self.capture = capture
        self.shared = shared
        self.states = states
        self.restart = restart
        self.known_runs: dict[int, None] = {}
        self.known_sites: dict[int, None] = {}
        self.plans: dict[tuple[Any, ...], int] = {}

    def on_begin(self, call: Call) -> Running:
        """Copy the inputs of a call that begins, and start its capture.

        Args:
            call: The call.

        Returns:
            Its entry among the running calls.
        """
        run, site = call.run, call.site
        if run.id not in self.known_runs or site.id not in self.known_sites:
            self.announce(run, site)
        if self.shared is not None:
            if site.kind == 'op' and (site.steady or self.shared.has_arrays):     # another op has made it, mostly
                node_entry = self.running[call.id] = (call, self.shared.inputs(call), None, NO_STATE)
                return node_entry
            if site.kind != 'op':
                self.shared.forget_fed()
        inputs = self.snapshots.take_all(call.inputs, site.host, self.scalars)
        capture_state, state = None, NO_STATE
        if site.kind == 'python':
            if self.states is not None:
                state = self.states.take(call)
            if self.capture is not None:        # a hook of its own for the capture would cost 0.2 µs more
                capture_state = self.capture.on_begin(call)
        entry = self.running[call.id] = (call, inputs, capture_state, state)
        return entry

    def on_return(self, call: Call, kept: Running, outputs: Sequence[Any]) -> None:
        """Queue a call that has returned, with copies of its outputs.

        Args:
            call: The call.
            kept: Its entry, from `on_begin`.
            outputs: As the function returned them.
        """
        _, inputs, capture_state, state = kept
        site = call.site
        if capture_state is not None and self.capture is not None:
            self.capture.on_return(call, capture_state, outputs)
        self.running.pop(call.id, None)         # asked for again: after a fork it is another one
        if self.shared is not None and site.kind == 'op' and call.output is None:
            taken = (self.shared.outputs(call, outputs) if site.steady
                     else self.snapshots.take_all(outputs, site.host, self.scalars))
            self._queue(queued_call(call, tuple(inputs), tuple(taken), call.finished or perf_counter_ns(),
                                    call.forward and self.backlog.recorded_forward(call.forward), True))
        else:
            self.finish(call, inputs, outputs, None, None, state)

    def on_error(self, call: Call, kept: Running, error: BaseException) -> None:
        """Queue a call that has raised, with its variables where the function is Python.

        Args:
            call: The call.
            kept: Its entry, from `on_begin`.
            error: With its traceback.
        """
        self.running.pop(call.id, None)
        site, (_, inputs, capture_state, state) = call.site, kept
        if isinstance(error, Retried) and not error.begun:
            if self.capture is not None:
                self.capture.on_break_off(call, capture_state)
            return
        if capture_state is not None and self.capture is not None:
            self.capture.on_error(call, capture_state, error)
        failure = None if isinstance(error, Retried) else Failure(
            error, site.host, None if site.kind in ('run', 'op') else self.snapshots)
        self.finish(call, inputs, (), failure, None, state)
        if failure is not None and is_missing(failure.message):
            commit_points.reach(True)           # a native caller that cannot have the text either may end the process

    def on_break_off(self, call: Call, kept: Running) -> None:
        """Undo the rest of a call that was dropped; one that was not queued counts as lost.

        Args:
            call: The call.
            kept: Its entry, from `on_begin`.
        """
        if self.capture is not None:
            self.capture.on_break_off(call, kept[2])
        if self.running.pop(call.id, None) is not None:
            self.backlog.losses.add({'calls': 1})

    def finish(self, call: Call, inputs: Sequence[Any], values: Sequence[Any], failure: Failure | None = None,
               snapshots: Snapshots | None = None, state: StateNumbers = NO_STATE) -> None:
        """Queue a call that is over.

        Args:
            call: The call.
            inputs: Copies of its inputs.
            values: Its outputs.
            failure: Its exception.
            snapshots: Take the copies of its outputs; by default this recorder's.
            state: Numbers of the state that it began in.
        """
        site = call.site
        if snapshots is None:
            snapshots = self.snapshots
        if type(inputs) is list and site.kind == 'python':
            snapshots.note_changes(inputs, call.inputs, site.host)
        outputs = snapshots.take_all(values, site.host, self.scalars)
        # Tuples, for the garbage collector stops looking at those that hold nothing but numbers and bytes.
        row = queued_call(call, tuple(inputs), tuple(outputs), call.finished or perf_counter_ns(),
                          call.forward and self.backlog.recorded_forward(call.forward),
                          type(inputs) is list or type(outputs) is list)
        row.state = state
        if (output := call.output) is not NO_OUTPUT and output is not None:
            row.output = QueuedOutput(output.entries, output.dropped_bytes, self.snapshots.charge)
        if failure is not None or call.error is not None:
            row.error = failure
            row.broken_off = isinstance(call.error, Retried)
        self._queue(row)

    def _queue(self, row: QueuedCall) -> None:
        backlog = self.backlog
        if len(self.rows) < backlog.mark:
            self.rows.append(row)
            return
        if backlog.mark == 0:                   # the writer's thread does not run: after a fork
            self.restart()
        if backlog.has_room():
            self.rows.append(row)
        else:
            backlog.drop(row, self.snapshots)

    def announce(self, run: Run, site: CallSite) -> None:
        """Queue what the log does not have yet: the run with all its sites, and this site.

        After a fork the run is announced again, so that a call that never returns has a writer that says that it runs.

        Args:
            run: Of a call that begins.
            site: Of that call.
        """
        if self.backlog.mark == 0:
            self.restart()
        self.announce_again(run, site)

    def announce_again(self, run: Run, site: CallSite) -> None:
        """As `announce`, in a child that has just been forked: its writer starts with its first call.

        Args:
            run: Of a running call.
            site: Of that call.
        """
        if run.id not in self.known_runs:
            key = plan_key(run) if run.form is None else (run.form,)    # looking at all sites costs more than their runs
            number = self.plans.get(key)
            if number is None:
                number = next(self.backlog.plan_numbers)
                for announced in run.sites:
                    self._announce_site(announced)
                self.backlog.plans.append((number, RunNames(run), tuple([s.id for s in run.sites])))
                remember(self.plans, key, number)
            element = () if run.element is None else (run.element,)
            self.backlog.runs.append((run.id, number, run.started, *element))
            remember(self.known_runs, run.id, None)
        self._announce_site(site)

    def _announce_site(self, site: CallSite) -> None:
        if site.id not in self.known_sites:
            self.backlog.note_host(site.host)
            self.backlog.sites.append(SiteNote(site))
            live_sites.remember(site)
            remember(self.known_sites, site.id, None)

    def call_of(self, inputs: object) -> Call | None:
        """Find the running call with this very list of inputs.

        Args:
            inputs: The list, compared by identity.

        Returns:
            The call; None if none runs with it.
        """
        return next((call for call, *_ in self.backlog.running_calls() if call.inputs is inputs), None)
