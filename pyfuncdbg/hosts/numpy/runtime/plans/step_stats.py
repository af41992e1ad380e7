"""`RunMetadata.step_stats`: start, end and thread of each node of a run. Filled when the run is over.

Nodes on tasks of other processes are timed there, by the clock of their machine.
"""
from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.numpy.graph.operation import Operation


@dataclass(frozen=True, slots=True)
class _Ran:
    """An execution of a node.

    Attributes:
        op: The node.
        started: In ns since 1970, by the clock of the machine that has run it.
        took: Duration in ns.
        thread: Native id.
        device: Of the task that has timed it, '' in this process.
    """

    op: Operation
    started: int
    took: int
    thread: int
    device: str = ''


class StepTimes:
    """The times of the steps of one run."""

    def __init__(self) -> None:
        self._ran: list[_Ran] = []
        self._epoch = time.time_ns() - time.perf_counter_ns()

    def add(self, op: Operation, started: int, ended: int) -> None:
        """Add the execution of a node on this thread, in `perf_counter_ns`."""
        self._ran.append(_Ran(op, self._epoch + started, ended - started, threading.get_native_id()))

    def to_data(self, name_of: Callable[[Operation], str]) -> list[list[Any]]:
        """The times as plain data, for the session: name of the node, start, duration, thread."""
        return [[name_of(ran.op), ran.started, ran.took, ran.thread] for ran in self._ran]

    def receive(self, data: Sequence[Sequence[Any]], op_of: Callable[[str], Operation], device: str) -> None:
        """Add the times of `to_data` of a task."""
        self._ran.extend(_Ran(op_of(name), started, took, thread, device) for name, started, took, thread in data)

    def write(self, metadata: Any, device: str) -> None:
        """Write the times to a RunMetadata; `device` is that of nodes without one."""
        metadata.Clear()
        devices: dict[str, Any] = {}
        for ran in sorted(self._ran, key=lambda ran: ran.started):
            name = ran.device or ran.op.device or device
            if name not in devices:
                devices[name] = metadata.step_stats.dev_stats.add(device=name)
            begin, took = ran.started, ran.took
            inputs = ', '.join(t.name.removesuffix(':0') for t in ran.op.inputs)
            devices[name].node_stats.add(
                node_name=ran.op.name, timeline_label=f'{ran.op.name} = {ran.op.type}({inputs})', thread_id=ran.thread,
                scheduled_micros=begin // 1000, scheduled_nanos=begin, all_start_micros=begin // 1000, all_start_nanos=begin,
                op_end_rel_micros=took // 1000, op_end_rel_nanos=took, all_end_rel_micros=took // 1000,
                all_end_rel_nanos=took)
