"""`RunMetadata.step_stats`: start, end and thread of each node of a run. Filled when the run is over."""
from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.numpy.graph.operation import Operation


@dataclass(frozen=True, slots=True)
class _Ran:
    op: Operation
    started: int
    ended: int
    thread: int


class StepTimes:
    """The times of the steps of one run."""

    def __init__(self) -> None:
        self._ran: list[_Ran] = []
        self._epoch = time.time_ns() - time.perf_counter_ns()

    def add(self, op: Operation, started: int, ended: int) -> None:
        """Add the execution of a node on this thread, in `perf_counter_ns`."""
        self._ran.append(_Ran(op, started, ended, threading.get_native_id()))

    def write(self, metadata: Any, device: str) -> None:
        """Write the times to a RunMetadata; `device` is that of nodes without one."""
        metadata.Clear()
        devices: dict[str, Any] = {}
        for ran in sorted(self._ran, key=lambda ran: ran.started):
            name = ran.op.device or device
            if name not in devices:
                devices[name] = metadata.step_stats.dev_stats.add(device=name)
            begin, took = self._epoch + ran.started, ran.ended - ran.started
            inputs = ', '.join(t.name.removesuffix(':0') for t in ran.op.inputs)
            devices[name].node_stats.add(
                node_name=ran.op.name, timeline_label=f'{ran.op.name} = {ran.op.type}({inputs})', thread_id=ran.thread,
                scheduled_micros=begin // 1000, scheduled_nanos=begin, all_start_micros=begin // 1000, all_start_nanos=begin,
                op_end_rel_micros=took // 1000, op_end_rel_nanos=took, all_end_rel_micros=took // 1000,
                all_end_rel_nanos=took)
