"""Cursor of a run that is executed node by node: the position, the next pause, and the ways back.

A host makes one for a run, a function that a node calls, or one iteration of a loop; it is the control of the run meanwhile.
On the thread of the run.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pyfuncdbg.errors import RunAborted
from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import report_failure
from pyfuncdbg.hooks.host import Pausable, RunView

OnPause = Callable[[], None]


class NodeState(RunView, Protocol):
    """State of a run's nodes, with the position among them."""

    position: int


class RunNodes(Protocol):
    """The nodes of a run, executed and taken back by their host.

    Attributes:
        fixed_reason: The reason why nothing of the run can be changed any more; '' if it can.
        part: What is executed: the same for each iteration of a loop.
        outer: What that is a part of, if it repeats: the same for a loop's condition and body.
    """

    def __len__(self) -> int: ...

    @property
    def fixed_reason(self) -> str: ...

    @property
    def part(self) -> object: ...

    @property
    def outer(self) -> object: ...

    def execute(self, cursor: RunCursor, index: int) -> int:
        """Run the node at `index`, with those that run as one with it.

        Args:
            cursor: The run's.
            index: Of the node.

        Returns:
            The position after them.
        """

    def boundary(self, position: int) -> int:
        """The position nearest to `position` at which the run can pause; beyond the end, one in the outer part."""

    def remark(self) -> str:
        """A remark for the user on the nodes that come next; '' for none."""

    def look(self) -> RunView | None:
        """The state of the run from within one of its calls."""

    def keeps_result(self, index: int) -> bool:
        """Whether the node at `index` would not call its Python function, because the earlier result is kept."""

    def undo(self, position: int, failed: bool) -> None:
        """Restore the position, and everything else, to before the node at `position`, which has no obstacle.

        Args:
            position: Of the node.
            failed: The node at the present position has raised.
        """

    def forget(self, index: int, below: bool = False) -> None:
        """Discard the outputs of the node at `index`, with `below` also of those that depend on it: they run again."""

    def put(self, tensor: str, value: Any) -> None:
        """Replace the value of a tensor, which has one, by a host's value of the same kind."""


class RunCursor:
    """Cursor of one run, by which it is steered while it is paused: from within `on_pause`.

    Args:
        nodes: The nodes of the run.
        state: What they have computed.
        run: The run.

    Attributes:
        outer: The control of what these nodes are a part of, which pauses while one of them runs; None if there is none:
            then a pause comes after that node.
        paused: Whether the run is paused: a hook is asked.
        entering: Whether a function that the next node calls is to be entered.
        error: Raised by the node at the position, while a hook is asked about it. It goes on unless the hook goes back
            (`retry`, `rewind`).
        on_pause: Called where the run pauses; None if it shall not.
    """

    __slots__ = ('_goal', '_state', 'entering', 'error', 'nodes', 'on_pause', 'outer', 'paused', 'run')

    def __init__(self, nodes: RunNodes, state: NodeState, run: Run) -> None:
        self.nodes = nodes
        self.run = run
        self._state = state
        self.outer: Pausable | None = None
        self._goal: int | None = None
        self.paused = self.entering = False
        self.error: Exception | None = None
        self.on_pause: OnPause | None = None

    # ------------------------------------------------------------------ running
    def go(self) -> OnPause | None:
        """Run from the position to the end.

        Returns:
            The callback for a pause after that, in the outer part; None without.
        """
        state, execute, count = self._state, self.nodes.execute, len(self.nodes)
        while True:
            while self.on_pause is not None and self._goal == state.position:       # a pause may move the cursor
                self._ask()
            index = state.position
            if index >= count:
                return self.on_pause if self._goal is not None else None
            try:
                state.position = execute(self, index)
            except Exception as error:          # a node's: it goes on, unless who pauses goes back
                if not self._ask_about_error(error):
                    raise

    def _ask(self) -> None:
        """Call `on_pause`, which says where to pause next."""
        if isinstance(self.on_pause, NextIteration) and not self.on_pause.reached(self):
            return
        assert self.on_pause is not None
        self._goal, self.paused = None, True
        self.run.remark = self.nodes.remark()
        try:
            self.on_pause()
        except Exception as error:              # a mistake of who watches must not end the program
            self.resume()
            report_failure(f'the action at step {self.position} of run #{self.run.id} failed', error)
        except RunAborted as aborted:
            self.run.aborted = aborted
            raise
        finally:
            self.paused = False

    def _ask_about_error(self, error: Exception) -> bool:
        """Ask about a node that raised; whether the run goes back."""
        if self.on_pause is None:
            return False
        self.error = error
        try:
            self._ask()
            return self.error is None
        finally:
            self.error = None
            del error                           # its traceback leads here: a cycle

    # ------------------------------------------------------------------ looking
    @property
    def sites(self) -> Sequence[CallSite]:
        """The sites in execution order."""
        return self._state.sites

    @property
    def feeds(self) -> Sequence[str]:
        """The names of the tensors that were given."""
        return self._state.feeds

    @property
    def position(self) -> int:
        """Index of the node that is next, or that runs now."""
        return self._state.position

    @property
    def repeats(self) -> bool:
        """Whether this is one iteration of a loop."""
        return self._state.repeats

    @property
    def within(self) -> Sequence[CallSite]:
        """The conditions and loops that the nodes are a part of, outermost first."""
        return self._state.within

    def holds(self, tensor: str) -> bool:
        """Whether the value of a tensor is there."""
        return self._state.holds(tensor)

    def value(self, tensor: str) -> Any:
        """The value of a tensor of this run, such as 'mm:0'.

        Raises:
            KeyError: Unknown, not computed yet, or it cannot be had.
        """
        return self._state.value(tensor)

    def obstacle(self, position: int) -> str:
        """The reason why the run cannot go back to before the node at `position`; '' if it can."""
        return self._state.obstacle(position)

    def look(self) -> RunView | None:
        """The state of the run: this cursor if it is paused, else that from within a call of a node."""
        return self if self.paused else self.nodes.look()

    def mark(self) -> None:
        """Nothing to save here: the state before every node is kept."""

    # ------------------------------------------------------------------ steering
    def pause(self, on_pause: OnPause) -> None:
        """Call `on_pause` before the next node: after the one that runs now, or that the run is paused before."""
        if self.paused or self.outer is None:
            self.pause_at(self.position + 1, on_pause)
        else:
            self.outer.pause(on_pause)

    def pause_at(self, position: int, on_pause: OnPause | None) -> None:
        """Call `on_pause` when the run gets to `position`, or near it."""
        self.on_pause = on_pause
        self._goal = self.nodes.boundary(position)

    def resume(self) -> None:
        """Pause no more, in the outer part neither."""
        self._goal = self.on_pause = None
        self.entering = False
        if self.outer is not None:
            self.outer.resume()

    def go_to(self, position: int) -> None:
        """Run up to the node at `position` and pause before it: at the end for the number of nodes, for more in the outer
        part.

        In a loop, a node that has run is reached in the next iteration, or else the run is paused behind the loop.

        Raises:
            ValueError: It is behind the cursor.
        """
        if position >= self.position:
            self._goal = self.nodes.boundary(position)
        elif self.repeats and self.on_pause is not None:
            self.on_pause, self._goal = NextIteration(self.nodes, position, self.on_pause), sys.maxsize
        else:
            raise ValueError(f'step {position} has run already (next is {self.position}): use rewind')

    def enter(self) -> None:
        """Pause inside of the next node, if it has nodes of its own; else before the node after it.

        Raises:
            ValueError: Its Python function will not be called, because its earlier result is kept; nothing is changed.
        """
        runs = self.position < len(self.nodes)
        if runs and self.nodes.keeps_result(self.position):
            raise ValueError(_kept_result_message(self.sites[self.position].name))
        self.entering = runs
        self._goal = self.nodes.boundary(self.position + 1)

    def rewind(self, position: int) -> None:
        """Put the cursor before the node at an earlier `position`, with variables and random states as they were there.

        Python calls that were made give their recorded results when the run is there again, unless their inputs differ.

        Raises:
            ValueError: Not an earlier node, or one that cannot be gone back to; nothing is changed.
        """
        if not self.paused:
            raise ValueError('the run is not paused between two nodes')
        if obstacle := self.obstacle(position):
            raise ValueError(obstacle)
        self.nodes.undo(position, self.error is not None)
        self.error = None
        self._goal = self.position

    def inject(self, tensor: str, value: np.ndarray) -> None:
        """Replace a value. It stays until its node runs again.

        Raises:
            ValueError: Its shape or dtype is another, it is no tensor of values, or the run is fixed; nothing is changed.
            KeyError: No such tensor, or it has no value yet.
        """
        old = self.value(tensor)
        self._refuse_fixed()
        self.nodes.put(tensor, self.run.host.from_numpy(np.asarray(value), old))

    def swap(self, site: CallSite, function: Callable[..., Any]) -> None:
        """Replace the function of a Python site from now on. If it was called already, the run goes back before it.

        Python calls that depend on it run again then, effects included; the results of others are kept.

        Raises:
            ValueError: The site is not one of this run's Python calls, the function cannot be called with its inputs, or the
                run cannot go back to it; nothing is changed.
        """
        index = next((i for i, other in enumerate(self.sites) if other.id == site.id and other.kind == 'python'), None)
        if index is None:
            raise ValueError(f'{site.name!r} is not a Python call of this run')
        self._refuse_fixed()
        has_run = index < self.position
        if has_run and (obstacle := self.obstacle(index)):
            raise ValueError(obstacle)
        self.run.host.replace(site, function, len(site.inputs))
        if has_run:
            self.rewind(index)
        self.nodes.forget(index, below=True)    # after going back: results of before the hand-over stand until then

    def retry(self) -> None:
        """Go back before the node that raised, or that ran last, to run it again, its effects included.

        Raises:
            ValueError: There is none, or it cannot be gone back to.
        """
        self._refuse_fixed()
        position = self.position if self.error is not None else self.position - 1
        if position < 0:
            raise ValueError('nothing has run yet')
        self.rewind(position)
        self.nodes.forget(self.position)

    def _refuse_fixed(self) -> None:
        if self.nodes.fixed_reason:
            raise ValueError(self.nodes.fixed_reason)


class NextIteration:
    """Pause callback that lets a loop go on to its node's next execution, or to the loop's end.

    Args:
        nodes: Those of the present iteration.
        position: Of the node.
        on_pause: The callback there.
    """

    __slots__ = ('_on_pause', '_outer', '_part', '_position')

    def __init__(self, nodes: RunNodes, position: int, on_pause: OnPause) -> None:
        self._part, self._outer = nodes.part, nodes.outer
        self._position = position
        self._on_pause = on_pause

    def reached(self, cursor: RunCursor) -> bool:
        """Whether this cursor is where to pause; if not, it goes on."""
        nodes = cursor.nodes
        if nodes.part is self._part and cursor.position < self._position:
            cursor.go_to(self._position)
            return False
        if nodes.part is not self._part and nodes.outer is self._outer and cursor.repeats:
            cursor.go_to(sys.maxsize)           # the condition of the loop
            return False
        cursor.on_pause = self._on_pause
        return True

    def __call__(self) -> None:
        self._on_pause()


def _kept_result_message(node: str) -> str:
    """The message where a Python function cannot be entered, because it will not be called."""
    return (f"{node!r} was called already and its result is kept, so there is nothing to enter: 'break {node}', "
            "'node' and 'retry' repeat the call and stop before it")
