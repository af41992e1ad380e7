"""Registry of this process's debugged runs: the orders given by `run`, their policies, and the runs that have begun.

Read and changed on the threads of the runs, and by commands at their stops.
"""
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol
from weakref import WeakSet

from pyfuncdbg.hooks.call import Call, Run, begin_retry
from pyfuncdbg.hooks.called_objects import CALLED_OBJECTS
from pyfuncdbg.hooks.chain import Outputs, hooks
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.observers.debug.conditions.tensor_condition import TensorTest
from pyfuncdbg.observers.debug.stepping.node_watch import NodeWatch
from pyfuncdbg.observers.debug.stepping.thread_control import ThreadControl


@dataclass(frozen=True, slots=True)
class RunOrder:
    """An order given by the command `run`.

    Attributes:
        times: Runs without a card, with the one that it is said at; the last of them stops at its end. 0: not given.
        plain: That one run is not debugged at all.
        until: Go on, run by run, until a tensor passes.
    """

    times: int = 0
    plain: bool = False
    until: TensorTest | None = None

    def rest(self) -> RunOrder | None:
        """The order for the next run, None if nothing is left of it."""
        if self.until is not None:
            return self
        return replace(self, times=self.times - 1) if self.times > 1 else None


class Policy(Protocol):
    """Protocol of run policies; implemented by `run_policy.RunPolicy`.

    Attributes:
        title: What cards call the runs.
        order: What an earlier `run` asks for of the next run; None: a card.
    """

    title: str
    order: RunOrder | None

    @property
    def on(self) -> bool:
        """Whether runs are debugged."""

    def around(self, threads: ThreadControl, call: Call, proceed: Callable[[], Outputs]) -> Outputs:
        """Execute one run, from its card to the stop at its end."""


class DebuggedRun:
    """One run that is debugged.

    Attributes:
        run: The run.
        call: Its own call, with feeds and fetches.
        policy: Whose run it is.
        number: How many runs of that session there were, with this one.
        thread: Native thread id.
        plain: It goes on without being debugged.
        watched: Its nodes are recorded.
        stops: It stops at its end.
        watch: Its nodes, once it is under way.
        card: Number of the stop before it, 0 if there was none.
        begun: `time.perf_counter_ns()` when it began after that.
    """

    __slots__ = ('begun', 'call', 'card', 'number', 'plain', 'policy', 'run', 'stops', 'thread', 'watch', 'watched')

    def __init__(self, call: Call, policy: Policy, number: int) -> None:
        self.run: Run = call.run
        self.call = call
        self.policy = policy
        self.number = number
        self.thread = call.thread
        self.plain = False
        self.watched = True
        self.stops = False
        self.watch: NodeWatch | None = None
        self.card = 0
        self.begun = call.started

    def renew(self) -> None:
        """Prepare another execution."""
        begin_retry(self.call)
        self.begun = self.call.started

    def obey(self, order: RunOrder) -> None:
        """Carry out `run`, before or during this run."""
        self.plain = order.plain
        self.watched = not order.plain and order.times <= 1
        self.stops = self.watched and order.until is None
        self.policy.order = order.rest()
        if self.watch is not None:
            self.watch.test = order.until


class DebuggedRuns:
    """The debugged runs of this process.

    Attributes:
        sessions: How the runs of all sessions are debugged that the program has not wrapped itself; None: not at all.
        attended: How many debugged runs are under way that may stop.
    """

    def __init__(self) -> None:
        self._lock = new_lock()
        self._under_way: dict[int, DebuggedRun] = {}
        self._policies: WeakSet[Policy] = WeakSet()
        self.generation = 0
        self.sessions: Policy | None = None
        self._objects: dict[int, tuple[weakref.ref[Any], Policy]] = {}
        self.attended = 0

    @property
    def has_objects(self) -> bool:
        """Whether the calls of any object are debugged."""
        return bool(self._objects)

    def debug_object(self, called: Any, policy: Policy) -> None:
        """Debug the runs that are calls of an object, until it is gone.

        Args:
            called: The object, which can be referenced weakly.
            policy: How they are debugged.
        """
        key = id(called)
        self._objects[key] = weakref.ref(called, lambda _: self._objects.pop(key, None)), policy
        hooks.invalidate_interest()

    @property
    def has_policies(self) -> bool:
        """Whether any runs are debugged."""
        with self._lock:
            return any(one.on for one in self._policies)

    def add_policy(self, one: Policy) -> None:
        """There is one more policy."""
        with self._lock:
            self._policies.add(one)

    def left(self) -> None:
        """The user has left debugging: no policy that was on before is on any more."""
        self.generation += 1
        hooks.invalidate_interest()

    @contextmanager
    def attend(self) -> Iterator[None]:
        """In this block a debugged run is under way that may stop: the calls in it are wanted."""
        self._change_attended(1)
        try:
            yield
        finally:
            self._change_attended(-1)

    def _change_attended(self, by: int) -> None:
        with self._lock:
            self.attended += by
        hooks.invalidate_interest()

    def policy_of(self, call: Call) -> Policy | None:
        """The policy of a run that begins; None if it is not debugged, or as part of the one that it is in."""
        run_policy = policy.get()
        if run_policy is None and self._objects and (find := call.site.attrs.get(CALLED_OBJECTS)) is not None:
            for called in find(call.run.id):
                entry = self._objects.get(id(called))
                if entry is not None and entry[0]() is called and self.on_thread(call.thread) is None:
                    return entry[1]
        if run_policy is None and self.sessions is not None and call.site.traits.fed_run and (
                self.on_thread(call.thread) is None):
            return self.sessions
        return run_policy

    def add(self, debugged: DebuggedRun) -> None:
        """A run begins."""
        with self._lock:
            self._under_way[id(debugged)] = debugged    # a run that is retried has another number then

    def remove(self, debugged: DebuggedRun) -> None:
        """A run is over, its last stop too."""
        with self._lock:
            self._under_way.pop(id(debugged), None)

    @property
    def count(self) -> int:
        """The number of debugged runs under way."""
        return len(self._under_way)

    def on_thread(self, thread: int) -> DebuggedRun | None:
        """The innermost one of a thread."""
        with self._lock:
            found = [one for one in self._under_way.values() if one.thread == thread]
        return max(found, key=lambda one: one.run.id) if found else None


@contextmanager
def debugged_by(run_policy: Policy) -> Iterator[None]:
    """Runs in this block are debugged by a policy.

    Args:
        run_policy: The policy.
    """
    token = policy.set(run_policy)
    try:
        yield
    finally:
        policy.reset(token)


policy: ContextVar[Policy | None] = ContextVar('pyfuncdbg_run_policy', default=None)
"""Policy for runs that begin in this context; None: they are not debugged."""
