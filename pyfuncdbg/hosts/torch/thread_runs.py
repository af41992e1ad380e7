"""Runs of a program: a call of a module, a backward pass, or a thread's eager code. On the thread of each."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple, Protocol

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hosts.interception.eager_runs import EagerRuns
from pyfuncdbg.hosts.interception.program_line import program_line
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.tapes.forward_notes import ForwardNotes


class StepMaker(Protocol):
    """Maker of the steps of a backward pass."""

    def make_step(self, node: Any, gradients: Sequence[Any], compute: Callable[..., Any]) -> Any:
        """Make the step of a node in Python, around what computes it."""


NODES = 1 << 14
"""Backward nodes of a thread whose forward ops are known: the newest."""


class ForwardTables:
    """Tables of the operations of one thread, by the sequence numbers of their nodes, which are its own.

    Attributes:
        notes: Lines of the program, and lost gradients.
        last_op: The sequence number after the newest op.
        op_sites: Number and site of the newest ops.
    """

    __slots__ = ('last_op', 'notes', 'op_sites')

    def __init__(self) -> None:
        self.notes = ForwardNotes()
        self.last_op = 0
        self.op_sites: list[tuple[int, CallSite] | None] = [None] * NODES


class _Active(threading.local):
    """Active run and steps of this thread. The class has the defaults: a miss in a `threading.local` costs 0.2 us."""

    run: Run | None = None
    steps: StepMaker | None = None

    def __init__(self) -> None:
        self.forward = ForwardTables()


class _Pass(NamedTuple):
    """A pass of PyTorch's engine that is under way.

    Attributes:
        run, steps: Of it.
        forward: The tables of the thread that has begun it.
        frame: The frame that has.
    """

    run: Run
    steps: StepMaker | None
    forward: ForwardTables
    frame: FrameType


class ThreadRuns:
    """The active runs, by thread.

    PyTorch's engine executes the nodes of a device on a thread of its own, which knows the number of its pass alone.

    Args:
        host: Of the runs.
        current_pass: PyTorch's `_current_graph_task_id`: the number of the pass that this thread executes, -1 without one.

    Attributes:
        host: As the argument.
        eager: The runs of the program's own code.
        thread: Its `run` is the innermost module call or pass that has begun on this thread, None without one; its `forward`
            is of the operations that this thread has made.
    """

    def __init__(self, host: TorchHost, current_pass: Callable[[], int]) -> None:
        self.host = host
        self.eager = EagerRuns(host)
        self.thread = _Active()
        self._current_pass = current_pass
        self._passes: dict[int, _Pass] = {}

    def _engine_pass(self) -> _Pass | None:
        """The pass whose node the engine executes on this thread, one of its own; None on a thread of the program."""
        return self._passes.get(self._current_pass()) if self._passes and self.thread.run is None else None

    @property
    def active(self) -> Run | None:
        """The innermost module call or pass of this thread."""
        run = self.thread.run
        if run is None and (engine_pass := self._engine_pass()) is not None:
            return engine_pass.run
        return run

    def current(self) -> Run:
        """The run that a call on this thread belongs to."""
        run = self.active
        return run if run is not None else self.eager.of_thread()

    @property
    def steps(self) -> StepMaker | None:
        """The steps of the innermost pass of this thread, if they are watched."""
        engine_pass = self._engine_pass()
        return engine_pass.steps if engine_pass is not None else self.thread.steps

    @property
    def forward(self) -> ForwardTables:
        """The tables of the operations that nodes executed on this thread belong to."""
        engine_pass = self._engine_pass()
        return engine_pass.forward if engine_pass is not None else self.thread.forward

    def frame_with_line(self, frame: FrameType | None) -> FrameType | None:
        """The frame whose line of the program a call on this thread has.

        Args:
            frame: The innermost; None where this thread executes no Python.

        Returns:
            That; where the engine executes a node with no line of the program on its stack, the frame that began the pass.
        """
        engine_pass = self._engine_pass()
        if engine_pass is None or (frame is not None and program_line(frame) is not None):
            return frame
        return engine_pass.frame

    @contextmanager
    def on_all_threads(self, nodes: Sequence[Any], run: Run, steps: StepMaker | None, frame: FrameType) -> Iterator[None]:
        """A block in which PyTorch's engine makes one pass; its calls belong to a run on whatever thread it makes them.

        Args:
            nodes: With which the pass begins: hooks of theirs tell its number, which PyTorch gives it in the block.
            run, steps: As of `within`.
            frame: The frame that begins the pass.
        """
        number, forward = -1, self.thread.forward

        def note(_: Any) -> None:
            nonlocal number
            if number < 0:
                number = self._current_pass()
                self._passes[number] = _Pass(run, steps, forward, frame)
        handles = [node.register_prehook(note) for node in nodes]
        try:
            with self.within(run, steps):
                yield
        finally:
            for handle in handles:
                handle.remove()
            self._passes.pop(number, None)

    @contextmanager
    def within(self, run: Run, steps: StepMaker | None = None) -> Iterator[None]:
        """A block whose calls belong to a run, and are within the steps of a pass if that is one."""
        outer = self.thread.run, self.thread.steps
        self.thread.run, self.thread.steps = run, steps
        try:
            yield
        finally:
            self.thread.run, self.thread.steps = outer
