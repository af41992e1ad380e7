"""Recording of some calls only, or of more of the tensors at some sites than at others.

The halves of a `Watcher` in place of those of a `CallRecorder`, for a policy that asks for it; on the thread of each call.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyfuncdbg.hooks.call import Call, CallSite
from pyfuncdbg.observers.record.call_recorder import CallRecorder
from pyfuncdbg.observers.record.level_rules import SiteLevel, site_level
from pyfuncdbg.observers.record.log.queue import Running
from pyfuncdbg.observers.record.policy import RecordingPolicy
from pyfuncdbg.observers.record.records import UNSAMPLED, UNSAMPLED_RUNS
from pyfuncdbg.observers.record.snapshots.error_capture import Failure
from pyfuncdbg.observers.record.snapshots.snapshot import Snapshots

_MOST_SITES = 1 << 14


class SelectiveCalls:
    """A `CallRecorder` for each level of values, which share queue and announcements; and the sample.

    Attributes:
        calls: The recorder of the sites of the usual level.
    """

    def __init__(self, calls: CallRecorder, policy: RecordingPolicy) -> None:
        """Prepare.

        Args:
            calls: Has the queue, and the memory for copies.
            policy: What is kept.
        """
        self.calls = calls
        self._policy = policy
        self._by_level: dict[SiteLevel, CallRecorder] = {}
        self._by_site: dict[int, CallRecorder] = {}

    def on_begin(self, call: Call) -> Running | None:
        """Copy the inputs of a call that begins, if it belongs to the sample.

        Args:
            call: The call.

        Returns:
            Its entry among the running calls; None if it does not.
        """
        if call.ordinal % self._policy.every:
            return None
        return self._recorder(call.site).on_begin(call)

    def on_return(self, call: Call, entry: Running | None, outputs: Sequence[Any]) -> None:
        """Queue a call that has returned, or count it.

        Args:
            call: The call.
            entry: From `on_begin`.
            outputs: As the function returned them.
        """
        if entry is None:
            self.calls.backlog.losses.add({UNSAMPLED_RUNS if call.site.kind == 'run' else UNSAMPLED: 1})
        else:
            self._recorder(call.site).on_return(call, entry, outputs)

    def on_error(self, call: Call, entry: Running | None, error: BaseException) -> None:
        """Queue a call that has raised; one outside of the sample without the values of its inputs.

        Args:
            call: The call.
            entry: From `on_begin`.
            error: With its traceback.
        """
        if entry is not None:
            self._recorder(call.site).on_error(call, entry, error)
            return
        site, calls = call.site, self.calls
        inputs = self._snapshots(SiteLevel('none')).take_all(call.inputs, site.host, frozenset())
        calls.announce(call.run, site)
        calls.finish(call, inputs, (), Failure(error, site.host, None if site.kind in ('run', 'op') else calls.snapshots))

    def on_break_off(self, call: Call, entry: Running | None) -> None:
        """Undo the rest of a call that was dropped.

        Args:
            call: The call.
            entry: From `on_begin`.
        """
        if entry is not None:
            self.calls.on_break_off(call, entry)

    def _snapshots(self, level: SiteLevel) -> Snapshots:
        return self.calls.snapshots.at_level(level.level, self._policy.full_limit, self._policy.limits(level))

    def _recorder(self, site: CallSite) -> CallRecorder:
        recorder = self._by_site.get(site.id)
        if recorder is None:
            recorder = self._at_level(site_level(self._policy.rules, site))
            if len(self._by_site) < _MOST_SITES:
                self._by_site[site.id] = recorder
        return recorder

    def _at_level(self, level: SiteLevel) -> CallRecorder:
        recorder = self._by_level.get(level)
        if recorder is None:
            calls = self.calls
            recorder = CallRecorder(calls.backlog, self._snapshots(level), self._policy.scalars(level), calls.capture, None,
                                    calls.states if level != SiteLevel('none') else None, calls.restart)
            recorder.known_runs, recorder.known_sites, recorder.plans = calls.known_runs, calls.known_sites, calls.plans
            self._by_level[level] = recorder
        return recorder
