"""Runs of a program's own code, outside of any graph: one for each thread.

In a notebook there is one for each cell.
"""
from __future__ import annotations

import threading
from time import perf_counter_ns

from pyfuncdbg.hooks import notebook_cell
from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hooks.host import Host
from pyfuncdbg.hooks.native_thread import thread_name


class EagerRuns:
    """The eager runs of a host.

    Attributes:
        thread: Its `run` is that of this thread, once there is one.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self.thread = threading.local()
        notebook_cell.call_at_begin(self._end)

    def of_thread(self) -> Run:
        """The run of the program's own code on this thread."""
        run: Run | None = getattr(self.thread, 'run', None)
        return run if run is not None else self._begin()

    def new(self, label: str) -> Run:
        """A run of the program's own code that belongs to no single thread."""
        return Run(label, self._host, perf_counter_ns(), kind='eager')

    def _begin(self) -> Run:
        where = f' in {notebook_cell.label}' if notebook_cell.label else ''
        self.thread.run = run = self.new(f'eager code of {thread_name()}{where}')
        return run

    def _end(self) -> None:
        """End the run of this thread: later code belongs to another one."""
        self.thread.__dict__.pop('run', None)
