"""Runs of a program: a call of a module, a backward pass, or a thread's eager code. On the thread of each."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyfuncdbg.hooks.call import Run
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.torch.host import TorchHost


class ThreadRuns:
    """The active runs, by thread.

    Attributes:
        eager: The runs of the program's own code.
    """

    def __init__(self, host: TorchHost) -> None:
        self.eager = EagerRuns(host)
        self._thread = threading.local()

    @property
    def active(self) -> Run | None:
        """The innermost module call or pass of this thread."""
        return getattr(self._thread, 'run', None)

    def current(self) -> Run:
        """The run that a call on this thread belongs to."""
        run: Run | None = getattr(self._thread, 'run', None)
        return run if run is not None else self.eager.of_thread()

    @contextmanager
    def within(self, run: Run) -> Iterator[None]:
        """A block whose calls belong to a run."""
        outer = getattr(self._thread, 'run', None)
        self._thread.run = run
        try:
            yield
        finally:
            self._thread.run = outer
